// SPDX-License-Identifier: Apache-2.0
/* pbs_book.h - all PBS jobs by number, who waits for whom, and how those ended that are gone
 *
 * A job that is gone is remembered for as long as there are not 100000 later ones, and only in memory: jobs that wait
 * for it have noted in their own status how it ended before it may go (pbs_depend.h), so this is for those that are
 * submitted later.
 */
#ifndef STOKER_CONTROL_PBS_BOOK_H
#define STOKER_CONTROL_PBS_BOOK_H

#include "base/map.h"
#include "control/pbs_depend.h"

#define PBS_REMEMBERED 100000

struct pbs_book {
	struct map entries; /* number -> struct pbs_entry */
	int64_t *gone;      /* a ring of numbers, oldest first */
	size_t first, n;
};

struct pbs_entry {
	char *key;         /* "namespace/name" of the job, or NULL: there is none */
	struct map asking; /* keys of jobs that name it in their dependencies */
	bool past;         /* there was one, and this is how it ended: */
	struct pbs_standing standing;
	int64_t created;
};

void pbs_book_init(struct pbs_book *b);
void pbs_book_done(struct pbs_book *b);
/* A job came (old NULL), changed, or went (job NULL). */
void pbs_book_change(struct pbs_book *b, const char *key, const json_t *job, const json_t *old);
/* NULL if nobody has heard of it. */
const struct pbs_entry *pbs_book_find(const struct pbs_book *b, int64_t number);

#endif
