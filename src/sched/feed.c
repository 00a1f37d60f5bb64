// SPDX-License-Identifier: Apache-2.0
/* feed.c - see feed.h
 *
 * A pod is told when it is to be placed, when it has a node, and when it no longer takes room.  In between only facts
 * about its work change.
 */
#include "sched/feed.h"

#include "base/clock.h"
#include "base/jsonx.h"
#include "base/mem.h"
#include "sched/pod_work.h"

static void entry_free(void *v)
{
	struct feed_pod *p = v;

	free(p->uid);
	free(p->ns);
	free(p->name);
	free(p->said);
	free(p);
}

void feed_init(struct feed *f, struct world *w)
{
	*f = (struct feed){ .world = w };
	map_init(&f->pods, entry_free);
}

void feed_done(struct feed *f)
{
	map_done(&f->pods);
}

struct feed_pod *feed_find(const struct feed *f, const char *uid)
{
	return map_find(&f->pods, uid);
}

void feed_forget(struct feed *f, const char *uid, int64_t now_ms)
{
	struct feed_pod *p = map_find(&f->pods, uid);

	if (!p)
		return;
	work_gone(f->world, p->work, uid, now_ms);
	if (f->rules.forget)
		f->rules.forget(f->rules.arg, uid);
	map_remove(&f->pods, uid);
}

static struct feed_pod *enter(struct feed *f, const json_t *pod, const struct pod_work *pw, struct work *work)
{
	struct feed_pod *p = xcalloc(1, sizeof(*p));

	*p = (struct feed_pod){ .uid = xstrdup(pw->uid),
				.ns = xstrdup(pw->ns),
				.name = xstrdup(pw->name),
				.work = work,
				.since_ms = clock_mono_ms() };
	map_set(&f->pods, pw->uid, p);
	work_member(f->world, work, pw->uid, space_shape(world_space(f->world), pod));
	return p;
}

/* It asks for something else than before, or with others: it begins anew. */
static bool is_another(const struct feed_pod *p, const struct pod_work *pw, const json_t *pod, const json_t *old)
{
	if (!streq(p->work->key, pw->key))
		return true;
	return !*pw->node && !p->binding && old &&
	       !jsonx_equal(json_object_get(old, "spec"), json_object_get(pod, "spec"));
}

static struct feed_pod *tell(struct feed *f, const json_t *pod, const json_t *old, struct pod_work *pw, int64_t now_ms)
{
	struct feed_pod *p = feed_find(f, pw->uid);
	struct work *evicted_for = NULL;
	bool gives_back = false;
	struct work *work;

	if (p && is_another(p, pw, pod, old)) {
		evicted_for = *pw->node ? p->work->evicted_for : NULL;
		gives_back = p->work->gives_back;
		feed_forget(f, pw->uid, now_ms);
		p = NULL;
	}
	if (f->rules.read)
		f->rules.read(f->rules.arg, pod, pw);
	work = world_work(f->world, &pw->facts);
	if (!p)
		p = enter(f, pod, pw, work);
	/* One of a gang's that is on its way out stands alone, but nobody needs to evict it again. */
	if (evicted_for) {
		work->evicted_for = evicted_for;
		work->gives_back = gives_back;
	}
	if (*pw->node) {
		p->binding = false;
		work_bound(f->world, p->work, pw->uid, pw->node, pw->cards, pw->started_ms ? pw->started_ms : now_ms);
	}
	return p;
}

struct feed_pod *feed_read(struct feed *f, const json_t *pod, const json_t *old, struct pod_work *pw, int64_t now_ms)
{
	const char *before = jsonx_str(old, "metadata.uid");

	if (before && !streq(before, pw->uid)) {
		feed_forget(f, before, now_ms);
		old = NULL;
	}
	if (pw->ours || (*pw->node && !pw->ended))
		return tell(f, pod, old, pw, now_ms);
	feed_forget(f, pw->uid, now_ms);
	return NULL;
}

struct feed_pod *feed_pod(struct feed *f, const json_t *pod, const json_t *old, int64_t now_ms)
{
	struct feed_pod *p;
	struct pod_work pw;

	pod_work_read(pod, &pw);
	p = feed_read(f, pod, old, &pw, now_ms);
	pod_work_done(&pw);
	return p;
}

void feed_rename(struct feed *f, const char *uid, const char *new_uid)
{
	struct feed_pod *p = map_take(&f->pods, uid);

	if (!p)
		return;
	work_rename(p->work, uid, new_uid);
	free(p->uid);
	p->uid = xstrdup(new_uid);
	map_set(&f->pods, new_uid, p);
}
