// SPDX-License-Identifier: Apache-2.0
/* pod_gang.c - the programs of a gang start when all its pods here can start theirs
 *
 * Pods that say in annotations that they belong together get their nodes together (sched/world.h).  The first of them
 * would start looking for the others before these have an address, and would hold its cards for nothing while another
 * has no image.  So each gathers all that its programs need (images, objects, bundles), and none starts before all of
 * them on this node have done so, however long that takes: whoever cannot says why in its status.
 *
 * How many are on other nodes nobody here knows; for those that may only not have been heard of yet a pod waits a
 * moment.  Where fewer than all are enough to begin, and so many are ready, the rest are not waited for for ever.  A
 * gang that has begun holds nobody up: what is started again is started at once.
 */
#include "base/clock.h"
#include "base/jsonx.h"
#include "node/pod_parts.h"

#define GANG_SIZE "stoker.dev/gang-size"

#define HEAR_MS 500   /* for pods that were bound in the same moment */
#define MOST_MS 30000 /* for those without whom there are enough */

static const char *note_of(const struct pod *p, const char *key)
{
	return json_string_value(json_object_get(jsonx_at(p->obj, "metadata.annotations"), key));
}

static bool is_peer(const struct pod *p, const struct pod *other, const char *gang)
{
	return str_same(note_of(other, POD_GANG), gang) && streq(other->ns, p->ns);
}

static bool has_begun(const struct pod *p)
{
	for (size_t i = 0; i < p->n; i++)
		if (p->ctrs[i].attempt || p->ctrs[i].state != CTR_WAITING)
			return true;
	return p->let_go;
}

static bool is_to_come(const struct pod *p)
{
	return !p->gathered && !p->deleting && !p->gone && !p->failed && !p->over && !p->finished && !has_begun(p);
}

static void wake_by(int64_t *wake_ms, int64_t at_ms)
{
	if (!*wake_ms || at_ms < *wake_ms)
		*wake_ms = at_ms;
}

/* ---- its own part ---- */

static bool has_all(struct ctr *c, enum ctr_act act, int64_t *wake_ms)
{
	if (c->pulling)
		return false;
	if (c->not_before_ms > clock_mono_ms()) {
		wake_by(wake_ms, c->not_before_ms);
		return false;
	}
	/* What comes later may need what the first ones make, but its image can be had now. */
	return act == ACT_START ? ctr_prepare(c) : ctr_fetch(c);
}

static bool gather(struct pod *p, const enum ctr_act *acts, int64_t *wake_ms)
{
	bool all = true;

	for (size_t i = 0; i < p->n; i++)
		all &= has_all(&p->ctrs[i], acts[i], wake_ms);
	if (all && !p->gathered) {
		p->gathered = true;
		pod_gang_ready(p);
	}
	return all;
}

/* ---- and the others ---- */

struct muster {
	int64_t here, ready;
};

static struct muster count_peers(const struct pod *p, const char *gang)
{
	struct muster m = { 0 };
	size_t pos = 0;
	void *other;

	while (map_next(p->parts->pods, &pos, NULL, &other))
		if (is_peer(p, other, gang)) {
			m.here++;
			m.ready += !is_to_come(other);
		}
	return m;
}

void pod_gang_ready(struct pod *p)
{
	const char *gang = note_of(p, POD_GANG);
	struct muster m;
	size_t pos = 0;
	void *other;

	if (!gang || !p->parts->pods)
		return;
	m = count_peers(p, gang);
	while (m.ready == m.here && map_next(p->parts->pods, &pos, NULL, &other))
		if (other != p && is_peer(p, other, gang))
			pod_kick(other);
}

bool pod_gang_holds(struct pod *p, const enum ctr_act *acts, int64_t *wake_ms)
{
	const char *gang = note_of(p, POD_GANG);
	const char *size_text = note_of(p, GANG_SIZE);
	int64_t now = clock_mono_ms();
	struct muster m;
	int64_t size;
	int64_t until;

	if (!gang || !size_text || !p->parts->pods || !str_int64(size_text, 2, INT32_MAX, &size) || has_begun(p))
		return false;
	if (!gather(p, acts, wake_ms))
		return true;
	m = count_peers(p, gang);
	if (!p->gang_ms || (m.ready < m.here && m.ready < size))
		p->gang_ms = now;
	if (m.ready < m.here && m.ready < size)
		return true; /* the last of them wakes it */
	until = p->gang_ms + (m.ready < m.here ? MOST_MS : m.here < size ? HEAR_MS : 0);
	p->let_go = now >= until;
	if (!p->let_go)
		wake_by(wake_ms, until);
	return !p->let_go;
}
