// SPDX-License-Identifier: Apache-2.0
/* deployment_rolling.c - one step of a rolling update
 *
 * Never more pods than want + surge, counted by what ReplicaSets were told to have; never fewer available ones than
 * want - unavailable, counted by what they have and may keep.  A new pod that is not available yet may fail for ever,
 * so nothing old gives way to it.
 */
#include "control/deployment_parts.h"

int64_t rollout_total(const struct rollout *r)
{
	int64_t sum = 0;

	for (size_t i = 0; i < r->n; i++)
		sum += r->sets[i].size;
	return sum;
}

int64_t rolling_fresh_size(const struct rollout *r, int64_t size)
{
	int64_t room = r->want + r->surge;

	if (!r->rolling || size > r->want)
		return r->want;
	for (size_t i = 0; i < r->n; i++)
		room -= r->sets[i].size > r->sets[i].have ? r->sets[i].size : r->sets[i].have;
	return room > 0 ? size + least(room, r->want - size) : size;
}

/* Takes up to `most` replicas from old sets, the oldest first; only such as are not available if `unhealthy`. */
static int64_t take(struct rollout *r, int64_t most, bool unhealthy)
{
	int64_t taken = 0;

	for (size_t i = 0; i < r->n && taken < most; i++) {
		struct replica_set *s = &r->sets[i];
		int64_t spare = unhealthy ? s->size - available(s) : s->size;
		int64_t n = least(spare, most - taken);

		if (!is_old(r, s) || n <= 0)
			continue;
		set_size(s, s->size - n);
		taken += n;
	}
	return taken;
}

static bool shrink_old(struct rollout *r)
{
	int64_t floor = r->want - r->unavailable;
	int64_t waiting = r->fresh->size - available(r->fresh);
	int64_t most = rollout_total(r) - floor - waiting;
	int64_t have = 0;
	int64_t taken;

	if (most <= 0)
		return false;
	/* Broken ones first, so that they cannot stand in the way of the healthy ones' successors. */
	taken = take(r, most, true);
	for (size_t i = 0; i < r->n; i++)
		have += available(&r->sets[i]);
	return taken + take(r, have - floor, false) > 0;
}

bool rolling_step(struct rollout *r)
{
	int64_t size = rolling_fresh_size(r, r->fresh->size);

	if (size != r->fresh->size) {
		set_size(r->fresh, size);
		return true;
	}
	return shrink_old(r);
}
