// SPDX-License-Identifier: Apache-2.0
/* books.h - keeps the accounts, and remembers the shares across restarts
 *
 * Follows every pod of the API, has a tally of what runs (tally.h) and writes its lines down (account_file.h): the
 * journal at once, records at most once a second.  Every workload that ran is recorded once, whenever the server is
 *killed:
 *
 *	the journal has it, the API does not     it ended about when the server did
 *	the API has it ended, no record does     it ended now
 *	there is a record of it                  it is done with
 *
 * At the start the tree of shares gets its memory back: from shares.json as it was some minutes before the end, and
 *from the accounts for the time since, or for ten half-lives without that file.
 */
#ifndef STOKER_SCHED_BOOKS_H
#define STOKER_SCHED_BOOKS_H

#include "client/client.h"
#include "sched/world.h"

struct books;

struct books_config {
	const char *dir; /* of the accounts */
	struct world *world;
	struct informer *nodes;
	int64_t half_life; /* seconds; 0: nothing of the past counts, and no shares are kept */
	void (*ready)(void *arg);
	void *arg;
};

int books_new(struct client *c, const struct books_config *config, struct books **ret, struct err *e);
/* Writes down what there is.  The world is still there. */
void books_free(struct books *b);
/* Nodes are known: begin.  Later calls say that they have changed. */
void books_nodes(struct books *b);
/* The past is known; before, nobody's turn is right. */
bool books_ready(const struct books *b);
/* As struct scheduler_ops says. */
int books_usage(struct books *b, const char *by, int64_t from, int64_t to, const char *user, json_t **ret,
		struct err *e);

#endif
