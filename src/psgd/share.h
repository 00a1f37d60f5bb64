// SPDX-License-Identifier: Apache-2.0
/* share.h - memory that a trainer and a parameter server on one machine both see, and the door through which it is
 * given
 *
 * Each side owns the memory that it makes.  It is a file without a name, sealed against any change of its size before
 * it leaves the house: no peer can pull it from under the other, and it is gone when the last of both has ended,
 * whichever way.  What the other side may only read is also sealed against writing.
 *
 * Files without a name travel through a door: a socket in a directory that both see.  Its name and a secret for one
 * visit are told over TCP, so who finds the door is who was invited, and no other training's.
 */
#ifndef STOKER_PSGD_SHARE_H
#define STOKER_PSGD_SHARE_H

#include <signal.h>

#include "psgd/split.h"
#include "psgd/wire.h"

#define SHARE_MAX_DIR 70 /* bytes of a door's directory: the rest of a socket's address is the door's name */

struct region {
	int fd; /* of one that was made here */
	void *base;
	size_t size;   /* of the mapping */
	float *floats; /* NULL: there is none */
};

#define REGION_NONE ((struct region){ .fd = -1 })

/* n floats, all zero, that others may see, and change if `changed`. */
int region_new(size_t n, bool changed, struct region *ret, struct err *e);
/* One part of another's n floats.  Owner, size and seals are checked first.  The caller keeps fd. */
int region_map(int fd, size_t n, struct part part, bool change, struct region *ret, struct err *e);
void region_done(struct region *r);

struct door {
	int fd; /* -1 = none */
	char *path;
	char name[WIRE_DOOR_NAME];
};

#define DOOR_NONE ((struct door){ .fd = -1 })

/* A new door in dir.  Doors that dead servers of the same user have left there are removed. */
int door_open(struct door *d, const char *dir, struct err *e);
void door_close(struct door *d);
void door_invite(const struct door *d, struct invitation *ret);

struct visit {
	uint8_t secret[WIRE_SECRET];
	int region; /* what the visitor brings */
	int reply;
};

/* The next visitor, false if nobody is there. */
bool door_next(const struct door *d, struct visit *ret);
/* Gives the visitor fd, or nothing if it is -1.  The visit is over then. */
void visit_end(struct visit *v, int fd);
/* The visitor's side: brings own, receives the other's.  Waits a few seconds at most. */
int door_visit(const char *dir, const struct invitation *to, int own, const sigset_t *waiting, int *ret_fd,
	       struct err *e);

#endif
