// SPDX-License-Identifier: Apache-2.0
/* server_parts.h - what server.c and server_conn.c share */
#ifndef STOKER_PSGD_SERVER_PARTS_H
#define STOKER_PSGD_SERVER_PARTS_H

#include "psgd/server.h"
#include "psgd/share.h"
#include "psgd/slice.h"

struct server;

/* One connection.  It asks one thing at a time; while a push comes in, its answer may already go out. */
struct conn {
	struct server *server;
	int fd;
	unsigned interest; /* what epoll was told */
	bool greeted;
	int64_t since; /* when it was accepted */
	uint32_t rank;
	bool dead; /* closed at the end of the turn */

	uint8_t head[WIRE_HEAD];
	size_t head_got;
	struct wire_head ask; /* valid once head_got == WIRE_HEAD */
	size_t body_got;
	uint8_t small[WIRE_HELLO];

	uint8_t secret[WIRE_SECRET]; /* of the invitation */
	bool invited;
	struct region peer; /* what the trainer pushes, if we see its memory */

	float *room;       /* of a push: one block, or in elastic modes the slice, for it is also the answer */
	uint64_t *want;    /* by block: the round at which it may be sent back */
	size_t blocks_in;  /* that have arrived */
	size_t blocks_out; /* that may be sent */

	bool answering;
	bool last;                                /* close when the answer is out */
	bool full;                                /* the socket takes no more just now */
	uint8_t front[WIRE_HEAD + WIRE_MAX_TEXT]; /* the answer's head and a short body */
	size_t front_n, front_sent;
	const uint8_t *body; /* floats */
	size_t body_n, body_sent;
	uint8_t rest[sizeof(float)]; /* of a float that went out in part: the parameters may change meanwhile */
	size_t rest_n;
};

struct server {
	const struct server_settings *settings;
	int epoll;
	struct slice slice;
	struct conn **conns;
	size_t nconns, cap;
	int64_t *away_since; /* by rank; -1 = here, -2 = given up */
	int64_t quiet_since; /* no trainer is connected; -1 = some are */
	int64_t saved_at;
	uint64_t saved_ticks;
	float rate;
	int64_t ended_at; /* -1 = training goes on */
	int64_t now;
	struct door door;      /* for trainers that see our directory */
	struct region weights; /* the slice's, if there is a door */
	struct err failure;    /* kind != ERR_NONE: end with it */
};

struct conn *conn_new(struct server *s, int fd);
void conn_free(struct conn *c);
/* Reads what is there, acts on it, and sends what may be sent. */
void conn_readable(struct conn *c);
void conn_send(struct conn *c);
/* Sends blocks that others' pushes have set free. */
void conn_pump(struct conn *c);
/* Tells epoll what the connection waits for. */
void conn_arm(struct conn *c);

/* server.c's part in questions. */
int server_greet(struct server *s, struct conn *c, const struct hello *h, struct err *e);
/* Where the trainer finds our memory; false if there is no door. */
bool server_invite(struct server *s, struct conn *c, struct invitation *ret);
int server_save(struct server *s, struct err *e);
void server_end(struct server *s);

#endif
