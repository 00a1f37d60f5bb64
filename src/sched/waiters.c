// SPDX-License-Identifier: Apache-2.0
/* waiters.c - see waiters.h
 *
 * A waiter is an object with the annotation; a target is one that is named in it.  Targets are shared by all who wait
 * for them.  A waiter that is waited for itself may stand in a circle: then its words say so.
 *
 * Nothing is told or freed from inside a question: that is for the next turn (on_sweep).
 */
#include "sched/waiters.h"

#include "base/clock.h"
#include "base/jsonx.h"
#include "base/log.h"
#include "base/map.h"
#include "base/mem.h"
#include "kinds/work_rules.h"
#include "kinds/workloads.h"
#include "sched/depend.h"

#define GRACE_MS    10000 /* a target that is submitted after its waiter comes within that time */
#define CIRCLE_MOST 200   /* waiters in a circle; a longer one is not noticed */
#define WORDS_MOST  2048

struct target {
	struct waiters *waiters;
	char *key;
	const struct kind *kind;
	struct informer *informer;
	enum depend_state state;
	int64_t since_ms; /* it is missing; monotonic */
	size_t refs;
};

struct waiter {
	char *uid, *key; /* key as a target's */
	const struct kind *kind;
	char *ns, *name;
	char *text; /* of the annotation */
	struct after *items;
	struct target **targets;
	size_t n;
	enum depend_verdict verdict;
	char *words;
	bool circular;
	unsigned mark;
};

struct waiters {
	struct client *client;
	void (*changed)(void *arg, const char *uid);
	void *arg;
	struct map waiters; /* uid -> struct waiter */
	struct map by_key;  /* key -> struct waiter, borrowed */
	struct map targets; /* key -> struct target */
	unsigned marks;
	bool judge; /* those that wait are to be looked at again */
	struct loop_timer grace, sweep;
	unsigned calls;
	bool freed;
};

/* ---- targets ---- */

static char *key_for(const struct kind *k, const char *ns, const char *name)
{
	return xasprintf("%s/%s/%s", k->plural, ns, name);
}

static void target_free(void *v)
{
	struct target *t = v;

	informer_free(t->informer);
	free(t->key);
	free(t);
}

static void judge_all_of(struct waiters *w, const struct target *t);

static void target_moves(struct target *t, enum depend_state s)
{
	if (s == t->state)
		return;
	t->state = s;
	if (s == DEPEND_MISSING) {
		t->since_ms = clock_mono_ms();
		if (!loop_timer_pending(&t->waiters->grace))
			loop_timer_set(t->waiters->client->loop, &t->waiters->grace, GRACE_MS);
	}
	judge_all_of(t->waiters, t);
}

static void on_target(void *arg, const json_t *obj, const json_t *old)
{
	struct target *t = arg;

	(void)old;
	target_moves(t, depend_seen(t->state, t->kind, obj));
}

static void on_target_synced(void *arg)
{
	struct target *t = arg;

	if (t->state == DEPEND_UNKNOWN)
		target_moves(t, DEPEND_MISSING);
}

static struct target *target_get(struct waiters *w, const struct after *a, const char *ns)
{
	auto_free char *key = key_for(a->kind, ns, a->name);
	struct target *t = map_find(&w->targets, key);
	auto_free char *fields = xasprintf("metadata.name=%s", a->name);
	struct informer_handlers handlers = { .change = on_target, .synced = on_target_synced };
	struct list_options o = { .fields = fields };
	char version[64];

	if (!t) {
		t = xcalloc(1, sizeof(*t));
		*t = (struct target){ .waiters = w, .key = TAKE(key), .kind = a->kind };
		map_set(&w->targets, t->key, t);
		kind_api_version(a->kind, version, sizeof(version));
		handlers.arg = t;
		t->informer = informer_new(w->client,
					   &(struct ref){ .api_version = version, .plural = a->kind->plural, .ns = ns },
					   &o, &handlers);
	}
	t->refs++;
	return t;
}

static void sweep_soon(struct waiters *w)
{
	loop_timer_set(w->client->loop, &w->sweep, 1);
}

/* This may be the target's own informer speaking. */
static void target_put(struct target *t)
{
	if (--t->refs == 0)
		sweep_soon(t->waiters);
}

/* ---- circles ---- */

static void sbuf_cut(struct sbuf *b, size_t n)
{
	b->n = n;
	if (b->p)
		b->p[n] = '\0';
}

/* Whether one of those that `at` waits for is, or waits for, the goal; the path says by whom. */
static bool leads_to(struct waiters *w, struct waiter *at, const struct waiter *goal, unsigned depth, struct sbuf *path)
{
	if (at->mark == w->marks || depth > CIRCLE_MOST)
		return false;
	at->mark = w->marks;
	for (size_t i = 0; i < at->n; i++) {
		struct waiter *next = at->verdict == DEPEND_MET ? NULL : map_find(&w->by_key, at->targets[i]->key);
		size_t n = path->n;

		if (!next)
			continue;
		sbuf_addf(path, "%s waits for %s/%s", depth ? ", which" : "", next->kind->singular, next->name);
		if (next == goal || leads_to(w, next, goal, depth + 1, path))
			return true;
		sbuf_cut(path, n);
	}
	return false;
}

static bool is_in_circle(struct waiters *w, struct waiter *one, struct sbuf *words)
{
	auto_sbuf struct sbuf path = SBUF(WORDS_MOST);

	w->marks++;
	if (!leads_to(w, one, one, 0, &path))
		return false;
	sbuf_addf(words, "can never start: %s/%s%s", one->kind->singular, one->name, path.p);
	return true;
}

/* ---- waiters ---- */

static void waiter_free(void *v)
{
	struct waiter *one = v;

	for (size_t i = 0; i < one->n; i++)
		if (one->targets[i])
			target_put(one->targets[i]);
	free(one->targets);
	free(one->items);
	free(one->uid);
	free(one->key);
	free(one->ns);
	free(one->name);
	free(one->text);
	free(one->words);
	free(one);
}

static void waiters_done(struct waiters *w)
{
	free(w);
}

static void on_met(void *arg, const json_t *obj, const struct err *e)
{
	struct waiters *w = arg;

	(void)obj;
	if (e->kind != ERR_NONE && e->kind != ERR_NOT_FOUND && !w->freed)
		log_warn("note that a workload waits for no other any more: %s, ignoring", e->text);
	if (--w->calls == 0 && w->freed)
		waiters_done(w);
}

static void note_met(struct waiters *w, const struct waiter *one)
{
	json_auto_t *patch = json_pack("{s:{s:s, s:{s:o}}}", "metadata", "uid", one->uid, "annotations",
				       AFTER_MET_ANNOTATION, jsonx_string(one->text));
	char version[64];

	kind_api_version(one->kind, version, sizeof(version));
	w->calls++;
	w->client->ops->patch(
		w->client,
		&(struct ref){ .api_version = version, .plural = one->kind->plural, .ns = one->ns, .name = one->name },
		"merge", patch, on_met, w);
}

/* Nothing is watched for who waits no more. */
static void let_go(struct waiter *one)
{
	for (size_t i = 0; i < one->n; i++)
		target_put(one->targets[i]);
	one->n = 0;
}

static enum depend_verdict judge(struct waiters *w, struct waiter *one, struct sbuf *words)
{
	enum depend_state states[AFTER_MOST];
	enum depend_verdict v;

	for (size_t i = 0; i < one->n; i++)
		states[i] = one->targets[i]->state;
	v = depend_all(one->items, states, one->n, words);
	one->circular = v != DEPEND_MET && map_find(&w->by_key, one->key) == one;
	if (one->circular) {
		auto_sbuf struct sbuf circle = SBUF(WORDS_MOST);

		one->circular = is_in_circle(w, one, &circle);
		if (one->circular) {
			sbuf_reset(words);
			sbuf_adds(words, circle.p);
		}
	}
	return one->circular ? DEPEND_STUCK : v;
}

/* Returns whether the answer is another now. */
static bool rejudge(struct waiters *w, struct waiter *one)
{
	auto_sbuf struct sbuf words = SBUF(WORDS_MOST);
	bool was_met = one->verdict == DEPEND_MET;

	if (was_met)
		return false;
	one->verdict = judge(w, one, &words);
	if (one->verdict == DEPEND_MET) {
		note_met(w, one);
		sweep_soon(w);
	} else if (str_same(one->words, words.p)) {
		return false;
	}
	free(one->words);
	one->words = sbuf_steal(&words);
	return true;
}

/* Telling may come back to ask, or to forget. */
static void tell(struct waiters *w, const json_t *uids)
{
	json_t *uid;
	size_t i;

	json_array_foreach ((json_t *)uids, i, uid)
		w->changed(w->arg, json_string_value(uid));
}

static void judge_if(struct waiters *w, bool (*which)(const struct waiter *one, const void *arg), const void *arg)
{
	json_auto_t *told = json_array();
	size_t pos = 0;
	void *v;

	while (map_next(&w->waiters, &pos, NULL, &v)) {
		struct waiter *one = v;

		if (which(one, arg) && rejudge(w, one))
			json_array_append_new(told, json_string(one->uid));
	}
	tell(w, told);
}

static bool waits_for(const struct waiter *one, const void *target)
{
	for (size_t i = 0; i < one->n; i++)
		if (one->targets[i] == target)
			return true;
	return false;
}

static void judge_all_of(struct waiters *w, const struct target *t)
{
	judge_if(w, waits_for, t);
}

static bool waits(const struct waiter *one, const void *arg)
{
	(void)arg;
	return one->verdict != DEPEND_MET;
}

static void on_grace(void *arg)
{
	struct waiters *w = arg;
	int64_t now = clock_mono_ms();
	int64_t next = 0;
	size_t pos = 0;
	void *v;

	while (map_next(&w->targets, &pos, NULL, &v)) {
		struct target *t = v;
		int64_t left = t->since_ms + GRACE_MS - now;

		if (t->state != DEPEND_MISSING)
			continue;
		if (left <= 0)
			t->state = DEPEND_NEVER;
		else if (!next || left < next)
			next = left;
	}
	if (next)
		loop_timer_set(w->client->loop, &w->grace, next);
	judge_if(w, waits, NULL);
}

static void on_sweep(void *arg)
{
	struct waiters *w = arg;
	const char *key;
	size_t pos = 0;
	void *v;

	if (w->judge) {
		w->judge = false;
		judge_if(w, waits, NULL);
	}
	while (map_next(&w->waiters, &pos, NULL, &v))
		if (((struct waiter *)v)->verdict == DEPEND_MET)
			let_go(v);
	for (pos = 0; map_next(&w->targets, &pos, &key, &v);)
		if (((struct target *)v)->refs == 0)
			map_remove(&w->targets, key);
}

static struct waiter *waiter_new(struct waiters *w, const json_t *obj, const char *text)
{
	struct waiter *one = xcalloc(1, sizeof(*one));
	struct err e = ERR_INIT;

	*one = (struct waiter){ .uid = xstrdup(jsonx_str_or(obj, "metadata.uid", "")),
				.ns = xstrdup(jsonx_str_or(obj, "metadata.namespace", "")),
				.name = xstrdup(jsonx_str_or(obj, "metadata.name", "")),
				.kind = workload_of(obj),
				.text = xstrdup(text),
				.verdict = DEPEND_WAITS };
	one->key = key_for(one->kind, one->ns, one->name);
	if (after_parse(text, &one->items, &one->n, &e) < 0) {
		one->verdict = DEPEND_STUCK;
		one->words = xasprintf("its annotation " AFTER_ANNOTATION " is wrong: %s", e.text);
	}
	one->targets = xcalloc(one->n + 1, sizeof(*one->targets));
	for (size_t i = 0; i < one->n; i++)
		one->targets[i] = target_get(w, &one->items[i], one->ns);
	map_set(&w->waiters, one->uid, one);
	map_set(&w->by_key, one->key, one);
	return one;
}

bool waiters_ask(struct waiters *w, const json_t *obj, const char **ret_why, bool *ret_stuck)
{
	const char *text = work_note(obj, AFTER_ANNOTATION);
	const char *uid = jsonx_str_or(obj, "metadata.uid", "");
	struct waiter *one = map_find(&w->waiters, uid);

	if (one && !streq(one->text, text)) {
		waiters_forget(w, uid);
		one = NULL;
	}
	if (!*text || streq(text, work_note(obj, AFTER_MET_ANNOTATION)) || !workload_of(obj))
		return true;
	if (!one) {
		one = waiter_new(w, obj, text);
		if (one->n)
			rejudge(w, one);
		if (one->circular) {
			w->judge = true;
			sweep_soon(w);
		}
	}
	*ret_why = one->words ? one->words : "";
	*ret_stuck = one->verdict == DEPEND_STUCK;
	return one->verdict == DEPEND_MET;
}

void waiters_forget(struct waiters *w, const char *uid)
{
	struct waiter *one = map_find(&w->waiters, uid);

	if (!one)
		return;
	if (one->circular) {
		w->judge = true;
		sweep_soon(w);
	}
	if (map_find(&w->by_key, one->key) == one)
		map_remove(&w->by_key, one->key);
	map_remove(&w->waiters, uid);
}

/* ---- life ---- */

struct waiters *waiters_new(struct client *c, void (*changed)(void *arg, const char *uid), void *arg)
{
	struct waiters *w = xcalloc(1, sizeof(*w));

	*w = (struct waiters){ .client = c, .changed = changed, .arg = arg };
	map_init(&w->waiters, waiter_free);
	map_init(&w->by_key, NULL);
	map_init(&w->targets, target_free);
	w->grace = (struct loop_timer){ .fire = on_grace, .arg = w };
	w->sweep = (struct loop_timer){ .fire = on_sweep, .arg = w };
	return w;
}

void waiters_free(struct waiters *w)
{
	if (!w)
		return;
	map_done(&w->waiters);
	map_done(&w->by_key);
	map_done(&w->targets);
	loop_timer_done(&w->grace);
	loop_timer_done(&w->sweep);
	w->freed = true;
	if (!w->calls)
		waiters_done(w);
}
