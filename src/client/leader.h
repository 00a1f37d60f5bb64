// SPDX-License-Identifier: Apache-2.0
/* leader.h - one of several programs acts, by a Lease, in the way of Kubernetes' own programs
 *
 * Whoever has written its name into the Lease last leads, as long as it writes again in time.  Nobody trusts another's
 * clock: that a holder is gone is concluded from seeing its record unchanged for as long as the record says, by one's
 * own monotonic clock.  A leader that could not write for two thirds of that time stops by itself, before anyone can
 * take over.
 */
#ifndef STOKER_CLIENT_LEADER_H
#define STOKER_CLIENT_LEADER_H

#include "client/client.h"

struct leader;

struct leader_config {
	const char *ns, *name; /* of the Lease */
	const char *identity;  /* unique: see leader_identity() */
	int64_t lease_seconds; /* 15 */
};

/* Both from the loop, and neither may free the leader. */
struct leader_handlers {
	void (*started)(void *arg);
	/* It goes on as a candidate. */
	void (*stopped)(void *arg);
	void *arg;
};

/* The client should have nothing else to do: a renewal behind a thousand writes comes too late. */
struct leader *leader_new(struct client *c, const struct leader_config *config, const struct leader_handlers *h);
void leader_free(struct leader *l);
bool leader_leads(const struct leader *l);
/* Lets the next one lead without waiting; calls `done` when that is written, or has failed.  The caller has stopped. */
void leader_release(struct leader *l, void (*done)(void *arg), void *arg);
/* HOST_UUID (owned). */
char *leader_identity(void);

/* --- the pure half --- */

/* What is known of the Lease. */
struct lease_view {
	bool exists;
	bool held;            /* by anyone */
	bool ours;            /* by us */
	int64_t lease_ms;     /* as its record says */
	int64_t unchanged_ms; /* for how long we have seen the same record */
};

enum leader_step {
	LEADER_WAIT,   /* someone else's */
	LEADER_CREATE, /* there is none */
	LEADER_TAKE,   /* it is free, or its holder is gone */
	LEADER_RENEW,
	LEADER_RELEASE /* never planned: leader_release() */
};

enum leader_step leader_plan(const struct lease_view *v);
/* The Lease's new spec for a step other than waiting (owned).  `old` is the one there, or NULL. */
json_t *leader_record(const json_t *old, enum leader_step step, const char *identity, int64_t lease_seconds,
		      int64_t now_micros);

#endif
