// SPDX-License-Identifier: Apache-2.0
/* daemonset_update.c - a new template goes from node to node
 *
 * Without surge an old pod goes first and the new one is made when it is gone: never so many at once that more than
 * maxUnavailable nodes are without.  With surge the new one is made beside the old, on maxSurge nodes at a time, and
 * the old one goes when the new one is available.  Pods that do not work anyway may be replaced at any time.
 */
#include "control/daemonset_parts.h"

struct pair {
	struct daemon *old, *new;
	bool clear; /* there is at most one of each */
};

static struct pair pair_of(const struct spot *s)
{
	struct pair p = { .clear = true };

	for (size_t i = 0; i < s->n; i++) {
		struct daemon *d = &s->daemons[i];
		struct daemon **at = d->updated ? &p.new : &p.old;

		if (d->goes)
			continue;
		if (*at)
			p.clear = false;
		*at = d;
	}
	return p;
}

/* Old pods that work, as many as still may go. */
static void replace_some(struct daemon_work *w, int64_t most)
{
	for (size_t i = 0; i < w->nspots && most > 0; i++) {
		struct pair p = pair_of(&w->spots[i]);

		if (p.clear && p.old && !p.new &&p.old->available) {
			daemon_remove(w, p.old);
			most--;
		}
	}
}

static void replace(struct daemon_work *w)
{
	int64_t missing = 0;

	for (size_t i = 0; i < w->nspots; i++) {
		const struct spot *s = &w->spots[i];
		struct pair p = pair_of(s);
		struct daemon *only = p.old ? p.old : p.new;

		if (!s->n && !s->fit.run)
			continue;
		if (p.clear && only && !(p.old && p.new) && only->available)
			continue;
		missing++;
		if (p.clear && p.old && !p.new)
			daemon_remove(w, p.old);
	}
	replace_some(w, w->unavailable - missing);
}

static void surge_some(struct daemon_work *w, int64_t most)
{
	for (size_t i = 0; i < w->nspots && most > 0; i++) {
		struct pair p = pair_of(&w->spots[i]);

		if (p.old && !p.new &&p.old->available && w->spots[i].fit.run) {
			daemon_create(w, w->spots[i].name);
			most--;
		}
	}
}

static void surge(struct daemon_work *w)
{
	int64_t beside = 0;

	for (size_t i = 0; i < w->nspots; i++) {
		struct pair p = pair_of(&w->spots[i]);

		if (!p.clear || !p.old)
			continue;
		if (p.new &&p.new->available)
			daemon_remove(w, p.old);
		else if (p.new)
			beside++;
		else if (!p.old->available && w->spots[i].fit.run)
			daemon_create(w, w->spots[i].name);
	}
	surge_some(w, w->surge - beside);
}

void daemon_update(struct daemon_work *w)
{
	if (w->surge > 0)
		surge(w);
	else
		replace(w);
}
