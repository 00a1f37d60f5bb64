// SPDX-License-Identifier: Apache-2.0
/* gate_plan.c - see gate_plan.h
 *
 * Pods of jobs that are looked after here are members of works, each job one work, under the key "namespace/gang".  A
 * pod that is only wished for is a member too, under an id of its own; when the pod comes it takes over the seat.  Of
 * everybody else's pods there may be a hundred times as many, so nothing is kept of them but where they sit.
 */
#include "sched/gate_plan.h"

#include "base/jsonx.h"
#include "base/mem.h"
#include "sched/why.h"
#include "sched/world_ask.h"

/* A gang of which something was said, or that is half in. */
struct gang {
	char *said; /* or NULL */
	enum work_why said_why;
	int64_t said_ms, half_ms; /* monotonic; half_ms 0: it is not */
};

struct gate_plan {
	struct world *world;
	struct feed feed;
	struct map others; /* uid -> struct seat */
	struct map gangs;  /* key -> struct gang */
	struct map held;   /* keys of those whose jobs are not to start */
	int64_t until_ms;  /* so long it waits for those who look after half-made gangs; 0: nobody has asked yet */
};

static void gang_free(void *v)
{
	struct gang *g = v;

	free(g->said);
	free(g);
}

struct gate_plan *gate_plan_new(void)
{
	struct gate_plan *p = xcalloc(1, sizeof(*p));
	struct world_config config = WORLD_CONFIG;

	/* What runs is not ours to end. */
	config.preemption = false;
	p->world = world_new(&config);
	world_queue(p->world, QUEUE_DEFAULT, NULL);
	feed_init(&p->feed, p->world);
	map_init(&p->others, NULL);
	map_init(&p->gangs, gang_free);
	map_init(&p->held, NULL);
	return p;
}

static void other_free(struct gate_plan *p, struct seat *seat)
{
	struct space *space = world_space(p->world);

	space_rise(space, seat);
	space_shape_unref(space, seat->shape);
	free(seat);
}

void gate_plan_free(struct gate_plan *p)
{
	size_t pos = 0;
	void *seat;

	if (!p)
		return;
	while (map_next(&p->others, &pos, NULL, &seat))
		other_free(p, seat);
	map_done(&p->others);
	map_done(&p->gangs);
	map_done(&p->held);
	feed_done(&p->feed);
	world_free(p->world);
	free(p);
}

struct world *gate_plan_world(struct gate_plan *p)
{
	return p->world;
}

/* ---- pods of others ---- */

static void other_gone(struct gate_plan *p, const char *uid)
{
	struct seat *seat = map_take(&p->others, uid);

	if (!seat)
		return;
	other_free(p, seat);
	world_touch(p->world);
}

static void other_pod(struct gate_plan *p, const json_t *pod, const struct pod_work *pw)
{
	struct space *space = world_space(p->world);
	struct seat *seat;

	if (!*pw->node || pw->ended) {
		other_gone(p, pw->uid);
		return;
	}
	if (map_find(&p->others, pw->uid))
		return;
	seat = xcalloc(1, sizeof(*seat));
	seat->shape = space_shape(space, pod);
	space_sit(space, seat, space_node(space, pw->node), pw->cards);
	map_set(&p->others, pw->uid, seat);
}

/* ---- our own ---- */

bool gate_is_closed(const json_t *pod)
{
	const json_t *gate;
	size_t i;

	json_array_foreach (jsonx_at(pod, "spec.schedulingGates"), i, gate)
		if (str_same(jsonx_str(gate, "name"), GATE_NAME))
			return true;
	return false;
}

/* Until others have taken theirs away, it does not matter what we do about ours. */
static bool has_other_gates(const json_t *pod)
{
	return json_array_size(jsonx_at(pod, "spec.schedulingGates")) > gate_is_closed(pod);
}

static const char *gang_of(const json_t *pod)
{
	return work_note(pod, "stoker.dev/gang");
}

static bool is_leaving(const json_t *pod)
{
	return jsonx_at(pod, "metadata.deletionTimestamp") != NULL;
}

/* A job of one pod is a gang here too, and its age is that of its first pod.  One that is on its way out only takes
 * room: who comes after it has not begun by that. */
static void read_ours(struct gate_plan *p, const json_t *pod, struct pod_work *pw)
{
	const struct work *work;

	pw->ours = !*pw->node && !pw->ended && !is_leaving(pod) && !has_other_gates(pod);
	if (is_leaving(pod))
		return;
	free(pw->key);
	pw->key = xasprintf("%s/%s", pw->ns, gang_of(pod));
	pw->facts.key = pw->key;
	work = world_find(p->world, pw->key);
	if (work && work->submitted_ms && work->submitted_ms < pw->facts.submitted_ms)
		pw->facts.submitted_ms = work->submitted_ms;
	if (map_find(&p->held, pw->key))
		pw->facts.holds |= HOLD_AFTER;
	/* As they were made, in whatever order they are listed. */
	if (!pw->facts.place)
		pw->facts.place = place_at(pw->facts.submitted_ms / 1000, 0, 0);
}

/* No uid has a slash. */
static char *wish_id(const char *key, const char *name)
{
	return xasprintf("%s/%s", key, name);
}

static bool is_wish_of(const char *id, const char *key)
{
	return str_starts(id, key) && id[strlen(key)] == '/';
}

static void our_pod(struct gate_plan *p, const json_t *pod, struct pod_work *pw, int64_t now_ms)
{
	bool pending = streq(jsonx_str_or(pod, "status.phase", "Pending"), "Pending");
	auto_free char *wish = NULL;
	struct feed_pod *f;

	read_ours(p, pod, pw);
	wish = wish_id(pw->key, pw->name);
	if (!feed_find(&p->feed, pw->uid) && !is_leaving(pod))
		feed_rename(&p->feed, wish, pw->uid);
	f = feed_read(&p->feed, pod, NULL, pw, now_ms);
	if (!f)
		return;
	f->marks = (gate_is_closed(pod) ? GATE_CLOSED : 0) | (pending ? 0 : GATE_STARTED);
	if (!f->marks && !*pw->node)
		work_let_in(p->world, f->work, pw->uid, now_ms);
}

void gate_plan_pod(struct gate_plan *p, const json_t *pod, bool ours, int64_t now_ms)
{
	struct pod_work pw;

	pod_work_read(pod, &pw);
	if (ours && *gang_of(pod)) {
		other_gone(p, pw.uid);
		our_pod(p, pod, &pw, now_ms);
	} else {
		feed_forget(&p->feed, pw.uid, now_ms);
		other_pod(p, pod, &pw);
	}
	pod_work_done(&pw);
}

void gate_plan_gone(struct gate_plan *p, const char *uid, int64_t now_ms)
{
	other_gone(p, uid);
	feed_forget(&p->feed, uid, now_ms);
}

/* A hold that pods do not have of themselves: of what they wait for, only their job knows. */
bool gate_plan_hold(struct gate_plan *p, const char *key, bool held)
{
	struct work *work = world_find(p->world, key);

	if (held == (map_find(&p->held, key) != NULL))
		return false;
	if (held)
		map_set(&p->held, key, p);
	else
		map_remove(&p->held, key);
	if (work)
		work_hold(p->world, work, held ? work->holds | HOLD_AFTER : work->holds & ~(unsigned)HOLD_AFTER);
	return true;
}

void gate_plan_failed(struct gate_plan *p, const char *uid)
{
	const struct feed_pod *f = feed_find(&p->feed, uid);

	if (f && f->marks & GATE_CLOSED)
		work_unbound(p->world, f->work, uid);
}

/* ---- wishes ---- */

static void enter_wish(struct gate_plan *p, const struct gate_wish *w, const json_t *pod, const char *id,
		       int64_t now_ms)
{
	json_auto_t *made = json_copy((json_t *)pod);
	json_t *meta = json_copy(json_object_get(pod, "metadata"));
	struct feed_pod *f;
	struct pod_work pw;

	json_object_set_new(made, "metadata", meta);
	json_object_set_new(meta, "uid", jsonx_string(id));
	json_object_set_new(meta, "namespace", jsonx_string(w->ns));
	pod_work_read(made, &pw);
	pw.facts.submitted_ms = w->since_ms;
	read_ours(p, made, &pw);
	f = feed_read(&p->feed, made, NULL, &pw, now_ms);
	if (f)
		f->marks = GATE_WISHED;
	pod_work_done(&pw);
}

static void drop_old_wishes(struct gate_plan *p, const struct gate_wish *w, const char *key, int64_t now_ms)
{
	const struct work *work = world_find(p->world, key);
	size_t i = work ? work->n : 0;
	struct map names;

	map_init(&names, NULL);
	for (size_t k = 0; i > 0 && k < w->n; k++)
		map_set(&names, jsonx_str_or(w->pods[k], "metadata.name", ""), p);
	/* From the end: the last takes the place of who goes, and a work without members goes itself. */
	while (i > 0) {
		const char *id = work->members[--i].id;

		if (is_wish_of(id, key) && !map_find(&names, id + strlen(key) + 1)) {
			auto_free char *gone = xstrdup(id);

			feed_forget(&p->feed, gone, now_ms);
		}
	}
	map_done(&names);
}

static bool has_seat(const struct gate_plan *p, const char *id)
{
	const struct feed_pod *f = feed_find(&p->feed, id);

	for (size_t i = 0; f && i < f->work->n; i++)
		if (streq(f->work->members[i].id, id))
			return f->work->members[i].seat.node != NULL;
	return false;
}

void gate_plan_wish(struct gate_plan *p, const struct gate_wish *w, bool *ret_go, int64_t now_ms)
{
	auto_free char *key = xasprintf("%s/%s", w->ns, w->gang);
	struct work *work;

	drop_old_wishes(p, w, key, now_ms);
	for (size_t i = 0; i < w->n; i++) {
		auto_free char *id = wish_id(key, jsonx_str_or(w->pods[i], "metadata.name", ""));

		if (!feed_find(&p->feed, id))
			enter_wish(p, w, w->pods[i], id, now_ms);
		ret_go[i] = has_seat(p, id);
	}
	work = world_find(p->world, key);
	if (!work || work->arg)
		return;
	work->arg = p; /* somebody looks after it */
	world_touch(p->world);
}

/* ---- what to do ---- */

void gate_decisions_done(struct gate_decisions *d)
{
	for (size_t i = 0; i < d->n; i++) {
		free(d->items[i].key);
		free(d->items[i].ns);
		free(d->items[i].name);
		free(d->items[i].uid);
	}
	free(d->items);
	*d = (struct gate_decisions){ 0 };
}

static void decide_pod(struct gate_decisions *d, int what, const struct feed_pod *f)
{
	struct gate_decision one = {
		.what = what, .ns = xstrdup(f->ns), .name = xstrdup(f->name), .uid = xstrdup(f->uid)
	};

	ARRAY_PUSH(d->items, d->n, d->cap, one);
}

static void decide_look(struct gate_decisions *d, const char *key)
{
	ARRAY_PUSH(d->items, d->n, d->cap, ((struct gate_decision){ .what = GATE_LOOK, .key = xstrdup(key) }));
}

static void let_in(struct gate_plan *p, struct work *work, struct gate_decisions *ret)
{
	for (size_t i = 0; i < work->n; i++) {
		struct member *m = &work->members[i];
		const struct feed_pod *f = m->fresh ? feed_find(&p->feed, m->id) : NULL;

		m->fresh = false;
		if (f && f->marks & GATE_CLOSED)
			decide_pod(ret, GATE_OPEN, f);
	}
	if (work->nseated == work->n)
		map_remove(&p->gangs, work->key);
	decide_look(ret, work->key);
}

static bool see_half_made(void *arg, struct work *work)
{
	bool *half = arg;

	*half = work_has_begun(work) && work->n < work->size && !work->arg;
	return !*half;
}

/* An operator that was killed while it made the pods of a gang has left some of them.  Until the next one has looked at
 * that job, nobody knows how many are to come, and another gang would take their room. */
static bool waits_for_looks(struct gate_plan *p, int64_t now_ms)
{
	bool half = false;

	if (!p->until_ms)
		p->until_ms = now_ms + GATE_BACK_MS;
	if (now_ms < p->until_ms)
		world_each(p->world, see_half_made, &half);
	return half;
}

void gate_plan_pass(struct gate_plan *p, const struct world_slice *slice, struct gate_decisions *ret)
{
	struct decisions d = { 0 };

	gate_decisions_done(ret);
	if (waits_for_looks(p, slice->now_ms)) {
		ret->next_ms = p->until_ms;
		return;
	}
	world_pass(p->world, slice, &d);
	for (size_t i = 0; i < d.n; i++)
		let_in(p, d.items[i].work, ret);
	ret->more = d.more;
	ret->next_ms = d.next_ms;
	decisions_done(&d);
}

void gate_plan_open_all(struct gate_plan *p, struct gate_decisions *ret)
{
	size_t pos = 0;
	void *v;

	gate_decisions_done(ret);
	while (map_next(&p->feed.pods, &pos, NULL, &v))
		if (((const struct feed_pod *)v)->marks & GATE_CLOSED)
			decide_pod(ret, GATE_OPEN, v);
}

/* ---- what is said ---- */

struct saying {
	struct gate_plan *p;
	int64_t now_ms, mono_ms;
	size_t left;
	struct gate_decisions *ret;
};

/* Names are for those of the same namespace only. */
static const char *name_of(void *arg, const struct work *other)
{
	const struct work *work = arg;
	size_t n = strcspn(work->key, "/");

	return strncmp(work->key, other->key, n + 1) == 0 ? other->key + n + 1 : NULL;
}

static struct gang *gang_named(struct gate_plan *p, const char *key)
{
	struct gang *g = map_find(&p->gangs, key);

	if (g)
		return g;
	g = xcalloc(1, sizeof(*g));
	map_set(&p->gangs, key, g);
	return g;
}

static void say_why(struct saying *y, struct work *work, struct gang *g)
{
	auto_sbuf struct sbuf text = SBUF(4096);
	struct why_view v = { .world = y->p->world,
			      .work = work,
			      .expected_ms = TIME_UNKNOWN,
			      .now_ms = y->now_ms,
			      .name = name_of,
			      .arg = work };
	bool due =
		!g->said || why_is_due(g->said_why, y->mono_ms - g->said_ms, world_why(y->p->world, work, y->now_ms));

	if (!due)
		return;
	if (!y->left) {
		y->ret->more = true;
		return;
	}
	y->left--;
	why_sentence(&v, &text);
	g->said_why = work->why;
	g->said_ms = y->mono_ms;
	if (!text.n || str_same(g->said, text.p))
		return;
	free(g->said);
	g->said = xstrdup(text.p);
	decide_look(y->ret, work->key);
}

/* Some of it are in and fewer than it needs, none has done anything yet, and there is no room for the others. */
static bool is_half_in(const struct gate_plan *p, const struct work *work)
{
	if (!work_has_begun(work) || work->nseated >= work->size)
		return false;
	for (size_t i = 0; i < work->n; i++) {
		const struct feed_pod *f = feed_find(&p->feed, work->members[i].id);

		if (f && f->marks & GATE_STARTED)
			return false;
	}
	return true;
}

/* Two gangs that are half in may keep each other out for ever. */
static void take_back(struct saying *y, struct work *work)
{
	for (size_t i = work->n; i > 0; i--) {
		const struct member *m = &work->members[i - 1];
		const struct feed_pod *f = feed_find(&y->p->feed, m->id);

		if (f && !f->marks)
			decide_pod(y->ret, GATE_TAKE_BACK, f);
		else if (f && f->marks & GATE_WISHED)
			work_unbound(y->p->world, work, m->id);
	}
}

static bool say_one(void *arg, struct work *work)
{
	struct saying *y = arg;
	struct gang *g;

	if (work->nseated == work->n) {
		/* Who was let in by others is in no decision. */
		if (map_remove(&y->p->gangs, work->key))
			decide_look(y->ret, work->key);
		return true;
	}
	g = gang_named(y->p, work->key);
	say_why(y, work, g);
	if (!is_half_in(y->p, work)) {
		g->half_ms = 0;
	} else if (!g->half_ms) {
		g->half_ms = y->mono_ms;
	} else if (y->mono_ms - g->half_ms >= GATE_BACK_MS) {
		g->half_ms = y->mono_ms;
		take_back(y, work);
	}
	return true;
}

static void forget_gone(struct gate_plan *p)
{
	const char *key;
	size_t pos = 0;

	while (map_next(&p->gangs, &pos, &key, NULL))
		if (!world_find(p->world, key))
			map_remove(&p->gangs, key);
}

void gate_plan_say(struct gate_plan *p, int64_t now_ms, int64_t mono_ms, size_t most, struct gate_decisions *ret)
{
	struct saying y = { .p = p, .now_ms = now_ms, .mono_ms = mono_ms, .left = most, .ret = ret };

	gate_decisions_done(ret);
	forget_gone(p);
	world_each(p->world, say_one, &y);
}

enum gate_state gate_plan_state(const struct gate_plan *p, const char *key, const char **ret_why)
{
	const struct work *work = world_find(p->world, key);
	const struct gang *g = map_find(&p->gangs, key);

	if (!work)
		return GATE_UNKNOWN;
	if (work->nseated == work->n)
		return GATE_IN;
	if (!g || !g->said)
		return GATE_UNKNOWN;
	*ret_why = g->said;
	return GATE_WAITS;
}

bool gate_plan_waiting(const struct gate_plan *p)
{
	return p->gangs.n > 0 || fair_waiting(world_fair(p->world)) > 0 || world_has_held(p->world);
}
