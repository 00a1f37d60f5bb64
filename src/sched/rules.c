// SPDX-License-Identifier: Apache-2.0
/* rules.c - see rules.h
 *
 * Pods that wait are kept by who controls them, so that a workload's word finds them.
 */
#include "sched/rules.h"

#include "base/jsonx.h"
#include "base/map.h"
#include "base/mem.h"
#include "sched/owners.h"
#include "sched/slots.h"
#include "sched/waiters.h"

#define HIGHEST 5 /* a pod, a ReplicaSet, a Deployment, an InferenceService, and one to spare */

/* A pod that waits, and its place among those of its controller. */
struct waiting {
	char *uid, *controller;
	size_t at;
};

/* Pods that one workload controls and that wait. */
struct crowd {
	struct waiting **pods; /* borrowed */
	size_t n, cap;
};

struct rules {
	struct rules_handlers handlers;
	struct owners *owners;
	struct waiters *waiters;
	struct slots slots;
	struct map crowds; /* the controller's uid -> struct crowd */
	struct map pods;   /* uid -> struct waiting */
	struct sbuf words;
};

/* ---- who belongs to whom ---- */

static void crowd_free(void *v)
{
	struct crowd *c = v;

	free(c->pods);
	free(c);
}

static void waiting_free(void *v)
{
	struct waiting *p = v;

	free(p->uid);
	free(p->controller);
	free(p);
}

static void crowd_leave(struct rules *r, const char *pod)
{
	struct waiting *p = map_find(&r->pods, pod);
	struct crowd *c = p ? map_find(&r->crowds, p->controller) : NULL;

	if (!c)
		return;
	c->pods[p->at] = c->pods[--c->n];
	c->pods[p->at]->at = p->at;
	if (!c->n)
		map_remove(&r->crowds, p->controller);
	map_remove(&r->pods, pod);
}

static void crowd_enter(struct rules *r, const char *pod, const char *controller)
{
	struct waiting *p = map_find(&r->pods, pod);
	struct crowd *c;

	if (str_same(p ? p->controller : NULL, controller))
		return;
	crowd_leave(r, pod);
	if (!controller)
		return;
	c = map_find(&r->crowds, controller);
	if (!c) {
		c = xcalloc(1, sizeof(*c));
		map_set(&r->crowds, controller, c);
	}
	p = xcalloc(1, sizeof(*p));
	*p = (struct waiting){ .uid = xstrdup(pod), .controller = xstrdup(controller), .at = c->n };
	ARRAY_PUSH(c->pods, c->n, c->cap, p);
	map_set(&r->pods, pod, p);
}

struct collecting {
	const struct rules *rules;
	json_t *pods;
	int depth;
};

static void collect(void *arg, const char *uid)
{
	struct collecting *g = arg;
	const struct crowd *c = map_find(&g->rules->crowds, uid);

	for (size_t i = 0; c && i < c->n; i++)
		json_array_append_new(g->pods, json_string(c->pods[i]->uid));
	if (g->depth == HIGHEST)
		return;
	g->depth++;
	owners_each_below(g->rules->owners, uid, collect, g);
	g->depth--;
}

/* All pods below an object. */
static void tell_below(struct rules *r, const char *uid)
{
	json_auto_t *pods = json_array();
	struct collecting g = { .rules = r, .pods = pods };
	json_t *pod;
	size_t i;

	collect(&g, uid);
	json_array_foreach (pods, i, pod)
		r->handlers.changed(r->handlers.arg, json_string_value(pod));
}

/* ---- what changes ---- */

static void on_owner(void *arg, const char *uid, bool gone)
{
	struct rules *r = arg;

	if (gone)
		waiters_forget(r->waiters, uid);
	tell_below(r, uid);
}

static void on_waiter(void *arg, const char *uid)
{
	struct rules *r = arg;

	r->handlers.changed(r->handlers.arg, uid);
	tell_below(r, uid);
}

static void on_slot(void *arg, const char *pod)
{
	struct rules *r = arg;

	r->handlers.changed(r->handlers.arg, pod);
}

static void on_synced(void *arg)
{
	struct rules *r = arg;

	r->handlers.synced(r->handlers.arg);
}

/* ---- reading ---- */

static void read_after(struct rules *r, const json_t *obj, struct work_facts *f)
{
	const char *why = "";
	bool stuck = false;

	if (waiters_ask(r->waiters, obj, &why, &stuck))
		return;
	f->holds |= HOLD_AFTER;
	f->stuck |= stuck;
	sbuf_addf(&r->words, "%s%s", r->words.n ? "; " : "", why);
	f->after = r->words.p;
}

/* The lowest workload above the pod that has slots; a gang is one thing and waits for none. */
static bool lacks_slot(struct rules *r, const json_t *pod, const struct pod_work *pw)
{
	const json_t *obj = owners_above(r->owners, pod);
	int64_t most;

	for (int i = 1; obj && pw->facts.size < 2 && i < HIGHEST; i++) {
		if (str_int64(work_note(obj, SLOTS_ANNOTATION), 1, INT64_MAX, &most))
			return !slots_ask(&r->slots, jsonx_str_or(obj, "metadata.uid", ""), most, pw->uid, *pw->node);
		obj = owners_above(r->owners, obj);
	}
	slots_forget(&r->slots, pw->uid);
	return false;
}

static void read_waiting(struct rules *r, const json_t *obj, struct work_facts *f)
{
	int64_t not_before = work_not_before(obj);

	f->holds |= work_holds(obj);
	f->not_before_ms = not_before > f->not_before_ms ? not_before : f->not_before_ms;
	read_after(r, obj, f);
}

void rules_read(struct rules *r, const json_t *pod, struct pod_work *pw)
{
	const json_t *obj = pod;
	bool waits = !*pw->node;

	/* First: other pods may have to be read for it. */
	if (lacks_slot(r, pod, pw) && waits)
		pw->facts.holds |= HOLD_SLOT;
	crowd_enter(r, pw->uid, waits ? controller_uid(pod) : NULL);
	if (!waits) {
		waiters_forget(r->waiters, pw->uid);
		return;
	}
	sbuf_reset(&r->words);
	for (int i = 0; obj && i < HIGHEST; i++) {
		read_waiting(r, obj, &pw->facts);
		obj = owners_above(r->owners, obj);
	}
}

static bool waits_for_others(const json_t *obj)
{
	const char *after = work_note(obj, AFTER_ANNOTATION);

	return *after && !streq(after, work_note(obj, AFTER_MET_ANNOTATION));
}

const json_t *rules_source(const struct rules *r, const json_t *pod, unsigned holds)
{
	const json_t *latest = NULL;
	const json_t *obj = pod;

	for (int i = 0; obj && i < HIGHEST; i++) {
		if (holds & work_holds(obj) || (holds & HOLD_AFTER && waits_for_others(obj)))
			return obj;
		if (!holds && work_not_before(obj) > (latest ? work_not_before(latest) : 0))
			latest = obj;
		obj = owners_above(r->owners, obj);
	}
	return latest;
}

const char *rules_preempted(const struct rules *r, const json_t *pod)
{
	const json_t *obj = owners_above(r->owners, pod);

	for (int i = 0; obj && i < HIGHEST; i++) {
		if (*work_note(obj, PREEMPTED_ANNOTATION))
			return work_note(obj, PREEMPTED_ANNOTATION);
		obj = owners_above(r->owners, obj);
	}
	return "";
}

void rules_forget(struct rules *r, const char *uid)
{
	crowd_leave(r, uid);
	waiters_forget(r->waiters, uid);
	slots_forget(&r->slots, uid);
}

/* ---- life ---- */

struct rules *rules_new(struct client *c, const struct rules_handlers *h)
{
	struct rules *r = xcalloc(1, sizeof(*r));
	struct owners_handlers owners = { .changed = on_owner, .synced = on_synced, .arg = r };

	*r = (struct rules){ .handlers = *h, .words = SBUF(4096) };
	map_init(&r->crowds, crowd_free);
	map_init(&r->pods, waiting_free);
	slots_init(&r->slots, on_slot, r);
	r->waiters = waiters_new(c, on_waiter, r);
	r->owners = owners_new(c, &owners);
	return r;
}

void rules_free(struct rules *r)
{
	if (!r)
		return;
	owners_free(r->owners);
	waiters_free(r->waiters);
	slots_done(&r->slots);
	map_done(&r->crowds);
	map_done(&r->pods);
	sbuf_done(&r->words);
	free(r);
}

bool rules_synced(const struct rules *r)
{
	return owners_synced(r->owners);
}
