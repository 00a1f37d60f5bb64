// SPDX-License-Identifier: Apache-2.0
/* pbs_past.c - see pbs_past.h */
#include "sched/pbs_past.h"

#include <stdlib.h>

#include "base/day_files.h"
#include "base/mem.h"
#include "kinds/pbs_account.h"

struct scheduler_past {
	struct day_files *days;
	int64_t sequence;
	struct sbuf *out;
};

struct scheduler_past *pbs_past_open(const char *dir, int64_t since)
{
	struct scheduler_past *p = xcalloc(1, sizeof(*p));

	p->days = day_files_open(dir, since);
	return p;
}

void pbs_past_close(struct scheduler_past *p)
{
	day_files_close(p->days);
	free(p);
}

static void on_line(void *arg, struct str line)
{
	const struct scheduler_past *p = arg;
	struct pbs_account_line l;

	if (pbs_account_line(line, &l) && l.id.sequence == p->sequence)
		sbuf_add(p->out, line.p, line.n);
}

bool pbs_past_read(struct scheduler_past *p, int64_t sequence, struct sbuf *out)
{
	p->sequence = sequence;
	p->out = out;
	return day_files_read(p->days, on_line, p);
}
