// SPDX-License-Identifier: Apache-2.0
/* pbs_slots.c - see pbs_slots.h
 *
 * The truth is in the jobs' status; this is told of every change of one, and of what has been decided but not been
 * written yet, so that two jobs that start at once do not get the same numbers.
 */
#include "control/pbs_slots.h"

#include "base/mem.h"
#include "kinds/pbs_array.h"

#define SLOTS_MOST 100000 /* of one node: a number beyond that in a status is nonsense */
#define STYLE_4    4

static void free_node(void *set)
{
	pbs_set_done(set);
	free(set);
}

void pbs_slots_init(struct pbs_slots *s)
{
	map_init(&s->nodes, free_node);
	map_init(&s->holders, free);
}

void pbs_slots_done(struct pbs_slots *s)
{
	map_done(&s->nodes);
	map_done(&s->holders);
}

static struct pbs_set *node_of(struct pbs_slots *s, struct str name)
{
	struct pbs_set *set = map_find_n(&s->nodes, name.p, name.n);
	auto_free char *key = NULL;

	if (set)
		return set;
	set = xcalloc(1, sizeof(*set));
	key = xstrndup(name.p, name.n);
	map_set(&s->nodes, key, set);
	return set;
}

/* "0-1,4" */
static void mark(struct pbs_set *node, struct str slots, bool held)
{
	auto_free char *text = xstrndup(slots.p, slots.n);
	struct pbs_set set = { 0 };
	struct err e = ERR_INIT;

	if (pbs_array_parse(text, &set, NULL, &e) < 0)
		return;
	for (size_t i = 0; i < set.n; i++) {
		if (set.r[i].last >= SLOTS_MOST)
			continue;
		if (held)
			pbs_set_add(node, set.r[i].first, set.r[i].last);
		else
			pbs_set_drop(node, set.r[i].first, set.r[i].last);
	}
	pbs_set_done(&set);
}

static void mark_all(struct pbs_slots *s, const char *exec_host, bool held)
{
	struct str rest = str_of(exec_host);
	struct str part;

	while (rest.n && str_split(&rest, '+', &part)) {
		struct str node;

		if (str_split(&part, '/', &node) && node.n && part.n)
			mark(node_of(s, node), part, held);
	}
}

void pbs_slots_hold(struct pbs_slots *s, const char *holder, const char *exec_host)
{
	const char *before = map_find(&s->holders, holder);

	if (str_same(before, exec_host))
		return;
	if (before)
		mark_all(s, before, false);
	if (!exec_host || !*exec_host) {
		map_remove(&s->holders, holder);
		return;
	}
	mark_all(s, exec_host, true);
	map_set(&s->holders, holder, xstrdup(exec_host));
}

/* The lowest that are free, into `got`. */
static void pick(const struct pbs_set *held, int wanted, struct pbs_set *got)
{
	int at = 0;

	for (size_t i = 0; i < held->n && wanted > 0; i++) {
		int room = held->r[i].first - at;

		if (room > wanted)
			room = wanted;
		if (room > 0)
			pbs_set_add(got, at, at + room - 1);
		wanted -= room > 0 ? room : 0;
		at = held->r[i].last + 1;
	}
	if (wanted > 0)
		pbs_set_add(got, at, at + wanted - 1);
}

static void say(const char *node, const struct pbs_set *got, int style, struct sbuf *out)
{
	int slot = -1;

	if (style != STYLE_4) {
		sbuf_addf(out, "%s%s/", out->n ? "+" : "", node);
		pbs_set_text(got, out);
		return;
	}
	while (pbs_set_next(got, &slot))
		sbuf_addf(out, "%s%s/%d", out->n ? "+" : "", node, slot);
}

void pbs_slots_take(struct pbs_slots *s, const char *holder, const struct pbs_seat *seats, size_t n, int style,
		    struct sbuf *out)
{
	pbs_slots_hold(s, holder, NULL);
	for (size_t i = 0; i < n; i++) {
		struct pbs_set *held = node_of(s, str_of(seats[i].node));
		struct pbs_set got = { 0 };

		pick(held, seats[i].slots < SLOTS_MOST ? seats[i].slots : SLOTS_MOST, &got);
		for (size_t k = 0; k < got.n; k++)
			pbs_set_add(held, got.r[k].first, got.r[k].last);
		say(seats[i].node, &got, style, out);
		pbs_set_done(&got);
	}
	if (out->n)
		map_set(&s->holders, holder, xstrdup(out->p));
}
