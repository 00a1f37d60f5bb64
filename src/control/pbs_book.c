// SPDX-License-Identifier: Apache-2.0
/* pbs_book.c - see pbs_book.h */
#include "control/pbs_book.h"

#include <stdio.h>

#include "base/jsonx.h"
#include "base/mem.h"
#include "control/pod_facts.h"

static void free_entry(void *v)
{
	struct pbs_entry *e = v;

	free(e->key);
	map_done(&e->asking);
	free(e);
}

void pbs_book_init(struct pbs_book *b)
{
	*b = (struct pbs_book){ 0 };
	map_init(&b->entries, free_entry);
}

void pbs_book_done(struct pbs_book *b)
{
	map_done(&b->entries);
	free(b->gone);
}

static void name_of(int64_t number, char out[24])
{
	snprintf(out, 24, "%lld", (long long)number);
}

const struct pbs_entry *pbs_book_find(const struct pbs_book *b, int64_t number)
{
	char name[24];

	name_of(number, name);
	return map_find(&b->entries, name);
}

static struct pbs_entry *entry(struct pbs_book *b, int64_t number)
{
	struct pbs_entry *e;
	char name[24];

	name_of(number, name);
	e = map_find(&b->entries, name);
	if (e)
		return e;
	e = xcalloc(1, sizeof(*e));
	map_init(&e->asking, NULL);
	map_set(&b->entries, name, e);
	return e;
}

static void forget_if_empty(struct pbs_book *b, int64_t number)
{
	const struct pbs_entry *e = pbs_book_find(b, number);
	char name[24];

	name_of(number, name);
	if (e && !e->key && !e->past && !e->asking.n)
		map_remove(&b->entries, name);
}

/* Takes the place of the oldest one that is remembered. */
static void remember(struct pbs_book *b, int64_t number)
{
	if (!b->gone)
		b->gone = xcalloc(PBS_REMEMBERED, sizeof(*b->gone));
	if (b->n == PBS_REMEMBERED) {
		entry(b, b->gone[b->first])->past = false;
		forget_if_empty(b, b->gone[b->first]);
		b->gone[b->first] = number;
		b->first = (b->first + 1) % PBS_REMEMBERED;
		return;
	}
	b->gone[(b->first + b->n++) % PBS_REMEMBERED] = number;
}

static void ask(struct pbs_book *b, const char *key, const json_t *job, bool on)
{
	size_t pos = 0;
	int64_t number;
	bool before;

	while (pbs_depend_next(job, &pos, &number, &before)) {
		if (on) {
			map_set(&entry(b, number)->asking, key, b);
			continue;
		}
		map_remove(&entry(b, number)->asking, key);
		forget_if_empty(b, number);
	}
}

/* How one stands that was deleted: if that was before its end, it did not end well. */
static struct pbs_standing last_of(const json_t *job)
{
	struct pbs_standing s = pbs_standing_of(job, -1);

	s.ended = s.all;
	return s;
}

static void leave(struct pbs_book *b, const json_t *job)
{
	int64_t number = pbs_number(job);
	struct pbs_entry *e = entry(b, number);

	free(e->key);
	e->key = NULL;
	e->past = true;
	e->standing = last_of(job);
	remember(b, number);
}

void pbs_book_change(struct pbs_book *b, const char *key, const json_t *job, const json_t *old)
{
	int64_t number = job ? pbs_number(job) : 0;
	int64_t before = old ? pbs_number(old) : 0;
	bool same = json_equal(jsonx_at(job, "spec.dependencies"), jsonx_at(old, "spec.dependencies"));

	if (before && before != number)
		leave(b, old);
	if (number && number != before) {
		struct pbs_entry *e = entry(b, number);

		free(e->key);
		e->key = xstrdup(key);
		e->created = time_at(job, "metadata.creationTimestamp");
	}
	if (same)
		return;
	ask(b, key, old, false);
	ask(b, key, job, true);
}
