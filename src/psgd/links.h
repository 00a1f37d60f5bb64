// SPDX-License-Identifier: Apache-2.0
/* links.h - a trainer's connections to all parameter servers, used as one
 *
 * A question goes to every server at once; each sends and receives its slice of the caller's vectors.  A connection
 * that breaks is made again and its question is asked again, for as long as `give_up_ms`; callers do not notice, except
 * that a server may have gone back to its checkpoint.
 *
 * With a directory to share (links_share()) each server that sees the same directory reads pushes where they are and
 * shows its parameters; only short messages go over TCP then.  With the other servers all goes over TCP.
 */
#ifndef STOKER_PSGD_LINKS_H
#define STOKER_PSGD_LINKS_H

#include <signal.h>
#include <stdbool.h>

#include "psgd/share.h"
#include "psgd/split.h"
#include "psgd/wire.h"

struct link {
	const char *address;
	struct part part;
	int fd; /* -1 = none */
	uint64_t round;
	uint64_t ticks;
	unsigned flags; /* of the last answer */

	struct wire_head ask;
	uint8_t out_head[WIRE_HEAD], in_head[WIRE_HEAD];
	size_t out_at, in_at; /* bytes of head and body that are done */
	size_t in_len;
	bool open;          /* the question at hand is not answered yet */
	struct region peer; /* the server's parameters, if we see them */
};

struct links {
	struct hello hello; /* .server is filled in for each */
	struct link *all;
	size_t n;
	uint64_t clock; /* ssp: steps of this trainer */
	bool clocked;
	bool leads;           /* gives servers that have no parameters those of `restore` */
	const float *restore; /* the whole vector */
	uint64_t restore_ticks;
	int64_t give_up_ms;
	const sigset_t *waiting;
	uint64_t bytes;        /* sent and received */
	uint64_t shared_bytes; /* not sent because both sides see them */
	const char *share_dir; /* or NULL */
	struct region own;     /* what is pushed, if there is a directory */
	float *vector;
};

/* Addresses are borrowed. */
void links_init(struct links *l, const struct hello *hello, const char *const *addresses, size_t n);
void links_done(struct links *l);
/* Looks for servers' doors in dir from now on; before links_vector() and links_open().  Not possible: says so, goes on.
 */
void links_share(struct links *l, const char *dir);
/* Room for the whole vector, from which a push needs no copy.  It is l's. */
float *links_vector(struct links *l);
/* Connects to all servers and waits until all have parameters. */
int links_open(struct links *l, struct err *e);

enum links_result {
	LINKS_OK,
	LINKS_ENDED,   /* training is over; for DONE: all servers know */
	LINKS_STOPPED, /* a signal came */
	LINKS_FAILED,
	LINKS_OPEN, /* within links.c: not all have answered */
};

/* PUSH, PULL, SAVE or DONE to all.  `out` and `in` are whole vectors or NULL; they may be the same. */
enum links_result links_ask(struct links *l, enum wire_type type, const float *out, float *in, float rate,
			    struct err *e);
/* Progress of the whole training, as server 0 has it. */
uint64_t links_ticks(const struct links *l);

#endif
