// SPDX-License-Identifier: Apache-2.0
/* pod_gang.c - the programs of a gang start when all its pods here can be found by name
 *
 * Pods that say in annotations that they belong together get their nodes together (sched/world.h).  The first of them
 * would start looking for the others before these have an address, so it waits until all of them on this node are set
 * up.  How many are on other nodes nobody here knows; for those that may only not have been heard of yet it waits a
 * moment.  A pod that cannot be set up does not hold the others for ever.
 */
#include "base/clock.h"
#include "base/jsonx.h"
#include "node/pod_parts.h"

#define GANG_SIZE "stoker.dev/gang-size"

#define HEAR_MS 500   /* for pods that were bound in the same moment */
#define MOST_MS 30000 /* for those that are being set up */

static const char *note_of(const struct pod *p, const char *key)
{
	return json_string_value(json_object_get(jsonx_at(p->obj, "metadata.annotations"), key));
}

static bool is_peer(const struct pod *p, const struct pod *other, const char *gang)
{
	return str_same(note_of(other, POD_GANG), gang) && streq(other->ns, p->ns);
}

static bool is_to_come(const struct pod *p)
{
	return !p->volumes && !p->deleting && !p->gone && !p->failed && !p->over && !p->finished;
}

void pod_gang_ready(struct pod *p)
{
	const char *gang = note_of(p, POD_GANG);
	size_t pos = 0;
	void *other;

	while (gang && p->parts->pods && map_next(p->parts->pods, &pos, NULL, &other))
		if (other != p && is_peer(p, other, gang))
			pod_kick(other);
}

bool pod_gang_waits(struct pod *p, int64_t *wake_ms)
{
	const char *gang = note_of(p, POD_GANG);
	const char *size_text = note_of(p, GANG_SIZE);
	int64_t now = clock_mono_ms();
	int64_t until;
	int64_t size;
	int64_t here = 0;
	bool coming = false;
	size_t pos = 0;
	void *other;

	if (!gang || !size_text || !p->parts->pods || !str_int64(size_text, 2, INT32_MAX, &size))
		return false;
	if (!p->gang_ms)
		p->gang_ms = now;
	while (map_next(p->parts->pods, &pos, NULL, &other))
		if (is_peer(p, other, gang)) {
			here++;
			coming = coming || is_to_come(other);
		}
	until = p->gang_ms + (coming ? MOST_MS : here < size ? HEAR_MS : 0);
	if (now >= until)
		return false;
	if (!*wake_ms || until < *wake_ms)
		*wake_ms = until;
	return true;
}
