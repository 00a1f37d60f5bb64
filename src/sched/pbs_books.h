// SPDX-License-Identifier: Apache-2.0
/* pbs_books.h - keeps PBS's accounts: DIR/20261116, a file a day, with a line for each change of a job (pbs_records.h)
 *
 * Lines are on disk a second after the change at the latest; what a killed server had not written by then is found out
 * at the next start from the jobs and from the last lines there are.  An end is never written twice.
 */
#ifndef STOKER_SCHED_PBS_BOOKS_H
#define STOKER_SCHED_PBS_BOOKS_H

#include "client/client.h"

struct pbs_books;

/* `servers` (PBSServers) is borrowed: where it says how, users are told by mail what they asked to be told of. */
int pbs_books_new(struct client *c, const char *dir, const struct informer *servers, struct pbs_books **ret,
		  struct err *e);
/* Writes down what there is. */
void pbs_books_free(struct pbs_books *b);

#endif
