// SPDX-License-Identifier: Apache-2.0
/* deployment_scale.c - another number of replicas, also in the middle of a roll-out or while it is paused
 *
 * Each ReplicaSet has a note of the number it was sized for.  If that is not the wanted one, all are sized anew before
 * anything else: each in proportion to its size, and what rounding leaves goes to the largest.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "control/deployment_parts.h"

/* The only one with replicas, or the newest if none has any; NULL if there are several or none at all. */
static struct replica_set *only_one(const struct rollout *r)
{
	struct replica_set *one = NULL;
	size_t active = 0;

	for (size_t i = 0; i < r->n; i++)
		if (r->sets[i].replicas > 0) {
			one = &r->sets[i];
			active++;
		}
	if (active)
		return active == 1 ? one : NULL;
	return r->fresh || !r->n ? r->fresh : &r->sets[r->n - 1];
}

bool scale_needed(const struct rollout *r)
{
	/* Where all old pods go first there are no proportions to keep: the roll-out itself makes the number right. */
	if (!r->rolling && !only_one(r))
		return false;
	for (size_t i = 0; i < r->n; i++)
		if (r->sets[i].replicas > 0 && r->sets[i].desired >= 0 && r->sets[i].desired != r->want)
			return true;
	return false;
}

/* What a size becomes if its note (or else `total`) was allowed when it was made, and want + surge is now. */
static int64_t share(const struct rollout *r, const struct replica_set *s, int64_t total)
{
	int64_t most = s->most > 0 ? s->most : total;

	if (!r->want)
		return 0;
	return (s->replicas * (r->want + r->surge) + most / 2) / most;
}

static int by_size(const struct replica_set *a, const struct replica_set *b)
{
	return (a->replicas < b->replicas) - (a->replicas > b->replicas);
}

static int larger_newer(const void *a, const void *b)
{
	const struct replica_set *const *x = a, *const *y = b;

	return by_size(*x, *y) ? by_size(*x, *y) : (*x < *y) - (*x > *y);
}

static int larger_older(const void *a, const void *b)
{
	const struct replica_set *const *x = a, *const *y = b;

	return by_size(*x, *y) ? by_size(*x, *y) : (*x > *y) - (*x < *y);
}

static void scale_by_share(struct rollout *r)
{
	auto_free struct replica_set **active = xcalloc(r->n + 1, sizeof(struct replica_set *));
	int64_t total = rollout_total(r);
	int64_t add = (r->want ? r->want + r->surge : 0) - total;
	int64_t left = add;
	size_t n = 0;

	for (size_t i = 0; i < r->n; i++)
		if (r->sets[i].replicas > 0)
			active[n++] = &r->sets[i];
	qsort(active, n, sizeof(struct replica_set *), add > 0 ? larger_newer : larger_older);
	for (size_t i = 0; i < n; i++) {
		int64_t more = add ? share(r, active[i], total) - active[i]->replicas : 0;

		if (add > 0 ? more > left : more < left)
			more = left;
		set_size(active[i], active[i]->replicas + more);
		left -= more;
	}
	if (n)
		set_size(active[0], active[0]->size + left > 0 ? active[0]->size + left : 0);
}

void scale_to_want(struct rollout *r)
{
	struct replica_set *one = only_one(r);
	const struct replica_set *f = r->fresh;

	if (one) {
		set_size(one, r->want);
	} else if (f && f->replicas == r->want && f->desired == r->want && f->available == r->want) {
		for (size_t i = 0; i < r->n; i++)
			if (is_old(r, &r->sets[i]) && r->sets[i].replicas > 0)
				set_size(&r->sets[i], 0);
	} else if (r->rolling) {
		scale_by_share(r);
	}
}
