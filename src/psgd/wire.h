// SPDX-License-Identifier: Apache-2.0
/* wire.h - what trainers and parameter servers say to each other
 *
 * A message is a header of WIRE_HEAD bytes and a body of `len` bytes.  A trainer asks, the server answers, one question
 * at a time on a connection.  All numbers are little-endian; a body of floats is the memory of the array itself, which
 * is why nothing is converted on the way.
 *
 *	HELLO    struct hello          WELCOME  flags say how the server stands
 *	INIT     floats of the slice   WELCOME
 *	PULL     -                     WEIGHTS  floats of the slice
 *	PUSH     floats of the slice   WEIGHTS  begins to arrive while the push is still under way
 *	SHARE    -                     DOOR     struct invitation, or nothing: the server has no door, see share.h
 *	SAVE     -                     WELCOME  after the checkpoint is on disk
 *	DONE     -                     WELCOME  the server ends when its connections have
 *	any                            ERROR    text; the server closes the connection
 *
 * Of a PUSH or WEIGHTS that is WIRE_MAPPED the floats are in memory that both sides see; its body has one byte for each
 * block of WIRE_BLOCK floats, which says that the block is there.
 */
#ifndef STOKER_PSGD_WIRE_H
#define STOKER_PSGD_WIRE_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "psgd/model.h"

#define WIRE_VERSION     2
#define WIRE_HEAD        40
#define WIRE_HELLO       128
#define WIRE_MAX_TEXT    512
#define WIRE_MAX_FLOATS  (1u << 28) /* of one slice: 1 GiB */
#define WIRE_BLOCK       65536      /* floats: 256 KiB, which stays in a core's cache from recv() to send() */
#define WIRE_MAX_BLOCKS  (WIRE_MAX_FLOATS / WIRE_BLOCK)
#define WIRE_SECRET      16
#define WIRE_DOOR_NAME   32 /* with its end */
#define WIRE_DOOR        (WIRE_SECRET + WIRE_DOOR_NAME)
#define WIRE_MAX_SERVERS 256
#define WIRE_MAX_RANKS   4096

enum wire_type {
	WIRE_ERROR = 1,
	WIRE_HELLO_MSG,
	WIRE_WELCOME,
	WIRE_INIT,
	WIRE_PULL,
	WIRE_PUSH,
	WIRE_WEIGHTS,
	WIRE_SAVE,
	WIRE_DONE,
	WIRE_SHARE,
	WIRE_DOOR_MSG,
	WIRE__COUNT
};

enum wire_flag {
	WIRE_READY = 1,   /* the server has parameters */
	WIRE_ENDED = 2,   /* training is over */
	WIRE_CLOCKED = 4, /* HELLO: `round` is the trainer's clock; without, the server proposes one */
	WIRE_MAPPED = 8,  /* PUSH, WEIGHTS: the floats are in shared memory */
};

struct wire_head {
	enum wire_type type;
	unsigned flags;
	uint32_t len;   /* bytes of body */
	uint64_t round; /* PUSH: the round of the trainer's parameters, or its clock; answers: the same at the server */
	uint64_t ticks; /* answers: progress of the whole training, see slice.h */
	float rate;     /* PUSH: the learning rate */
};

void wire_head_encode(const struct wire_head *h, uint8_t out[WIRE_HEAD]);
/* Checks everything that can be checked without knowing the sender. */
int wire_head_decode(const uint8_t in[WIRE_HEAD], struct wire_head *ret, struct err *e);
const char *wire_type_name(enum wire_type type);

enum mode { MODE_SYNC, MODE_ASYNC, MODE_SSP, MODE_EASGD, MODE_EAMSGD, MODE__COUNT };
#define MODE_CHOICES "sync|async|ssp|easgd|eamsgd"
const char *mode_name(enum mode mode);
enum mode mode_of(const char *name); /* MODE__COUNT if there is none */
static inline bool mode_is_elastic(enum mode mode)
{
	return mode == MODE_EASGD || mode == MODE_EAMSGD;
}

#define HELLO_WATCHER UINT32_MAX /* rank of one who only looks */

/* What both sides must agree on.  The first trainer settles it, later ones are compared with it. */
struct hello {
	enum mode mode;
	uint32_t rank;
	uint32_t ranks;
	uint32_t server; /* which slice the trainer takes the server for */
	uint32_t servers;
	uint32_t backup;    /* sync: so many slowest trainers are not waited for */
	uint32_t staleness; /* ssp: so many steps a trainer may be ahead of the slowest */
	uint64_t params;    /* of the whole model */
	float alpha;        /* elastic modes */
	char model[MODEL_TEXT];
};

void hello_encode(const struct hello *h, uint8_t out[WIRE_HELLO]);
int hello_decode(const uint8_t *in, size_t n, struct hello *ret, struct err *e);
/* Whether two trainers want the same; the error says what differs. */
int hello_compare(const struct hello *agreed, const struct hello *other, struct err *e);

/* How to find a server's door. */
struct invitation {
	uint8_t secret[WIRE_SECRET];
	char name[WIRE_DOOR_NAME];
};

void invitation_encode(const struct invitation *v, uint8_t out[WIRE_DOOR]);
/* The name is one of a file, without any path. */
int invitation_decode(const uint8_t in[WIRE_DOOR], struct invitation *ret, struct err *e);

/* The body of a mapped message, or a part of it. */
extern const uint8_t wire_tokens[WIRE_MAX_BLOCKS];
static inline size_t wire_blocks(size_t floats)
{
	return (floats + WIRE_BLOCK - 1) / WIRE_BLOCK;
}

#endif
