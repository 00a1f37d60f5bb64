// SPDX-License-Identifier: Apache-2.0
/* sched.c - tells the world what happens in the API, and does what it decides
 *
 * In the work phase of a turn a slice of a pass is made (world.h): what it starts is bound, what it evicts is evicted,
 * all in one transaction, so a gang has all its nodes or none even if the server dies.  A seat is taken from the moment
 * of the decision; if a binding fails, it is given back and the pod waits again.
 *
 * A pod that waits is told why only after a moment: in a burst most of them have a node by then, and two writes for
 * each would be most of the work.
 */
#include "sched/sched.h"

#include "base/clock.h"
#include "base/jsonx.h"
#include "base/log.h"
#include "base/mem.h"
#include "client/events.h"
#include "kinds/condition.h"
#include "kinds/pbs_nodes.h"
#include "sched/books.h"
#include "sched/bound_notes.h"
#include "sched/budgets.h"
#include "sched/door.h"
#include "sched/feed.h"
#include "sched/owner_notes.h"
#include "sched/pace.h"
#include "sched/pbs_books.h"
#include "sched/pod_work.h"
#include "sched/queue_status.h"
#include "sched/reserve.h"
#include "sched/rules.h"
#include "sched/why.h"
#include "sched/world_ask.h"

#define TURN_NS   (4 * 1000000LL) /* of work in one turn; telling everybody about it takes half as long again */
#define TURN_STEP 8               /* decisions between two looks at the clock */
#define SAY_AFTER 200             /* ms without a node before a pod is told why, */
#define SAY_LATER 2000            /* and a process: most of a storm of them have run by then */
#define SAY_NS    (4 * 1000000LL) /* of telling in one turn; the others follow, */
#define SAY_NEXT  4               /* ms later, */
#define SAY_REST  80              /* and after all of them that many ms for each turn it took */
#define SAY_PASS  10000           /* ms that passes under way may put it off, and the first until its end */
#define SAY_LOOKS 8192            /* works looked at in one turn: the line may be any length, */
#define SAY_TIRED 250             /* and the others follow that many ms later */
#define RETRY_MS  1000            /* after a binding that failed for no fault of the pod's */
#define COMPONENT "default-scheduler"

/* PBS jobs come by the hundred thousand, and what they wait for changes all at once: a write for each, and one more for
 * its job, would keep the server from starting any.  Who is not told yet, and who was told something else before. */
enum { PACE_FIRST, PACE_AGAIN, PACE__COUNT };
static const struct pace paces[PACE__COUNT] = {
	[PACE_FIRST] = { .every_ms = 50, .burst = 256 },
	[PACE_AGAIN] = { .every_ms = 250, .burst = 64 },
};

struct sched {
	struct client *client;
	struct events *events;
	struct informer *pods, *nodes, *queues, *servers, *namespaces;
	struct world *world;
	struct feed feed;
	struct queue_status *status;
	struct door *door;
	struct owner_notes owners;
	struct bound_notes bound;
	struct books *books; /* or NULL */
	struct pbs_books *pbs_books;
	struct rules *rules;
	struct reserve *reserve;
	struct budgets *budgets;
	struct loop_hook work;
	struct loop_timer say, resay, wake;
	size_t say_at; /* how far telling has come, and what it has found on the way, as struct saying has it */
	int64_t say_again, say_later;
	int64_t say_turns;            /* that going through all of them has taken so far */
	int64_t say_rest;             /* on the monotonic clock: not before */
	int64_t say_off;              /* the same: since when a pass puts it off; 0: it does not */
	uint64_t say_pass;            /* which */
	struct pace pbs[PACE__COUNT]; /* of telling pods of PBS */
	unsigned calls;               /* under way; the last frees us if `freed` */
	bool freed;
};

/* A binding or an eviction under way. */
struct call {
	struct sched *sched;
	char *uid;
};

/* The client may be gone by now. */
static void sched_done(struct sched *s)
{
	owner_notes_done(&s->owners);
	bound_notes_done(&s->bound);
	feed_done(&s->feed);
	world_free(s->world);
	events_free(s->events);
	free(s);
}

static int64_t now_ms(void)
{
	return clock_wall_micros() / 1000;
}

static void work_soon(struct sched *s)
{
	if (s->door)
		door_touch(s->door);
	loop_schedule(s->client->loop, &s->work);
}

static bool is_synced(const struct sched *s)
{
	return informer_synced(s->pods) && informer_synced(s->nodes) && informer_synced(s->queues) &&
	       informer_synced(s->servers) && informer_synced(s->namespaces) && rules_synced(s->rules) &&
	       reserve_synced(s->reserve) && budgets_synced(s->budgets) && (!s->books || books_ready(s->books));
}

/* Also who is held is told why. */
static void say_soon(struct sched *s)
{
	int64_t rest = s->say_rest - clock_mono_ms();

	loop_timer_set_sooner(s->client->loop, &s->say, rest > SAY_AFTER ? rest : SAY_AFTER);
}

/* ---- what changes ---- */

static void on_pod(void *arg, const json_t *obj, const json_t *old)
{
	struct sched *s = arg;

	if (obj && feed_pod(&s->feed, obj, old, now_ms()) && !jsonx_str(obj, "spec.nodeName"))
		say_soon(s);
	if (!obj)
		feed_forget(&s->feed, jsonx_str_or(old, "metadata.uid", ""), now_ms());
	work_soon(s);
}

static void tell_books(struct sched *s)
{
	if (s->books && informer_synced(s->nodes))
		books_nodes(s->books);
}

static void on_node(void *arg, const json_t *obj, const json_t *old)
{
	struct sched *s = arg;

	if (obj)
		world_set_node(s->world, obj);
	else
		world_remove_node(s->world, jsonx_str_or(old, "metadata.name", ""));
	if (!obj || !old || !jsonx_equal(jsonx_at(obj, "metadata.labels"), jsonx_at(old, "metadata.labels")))
		reserve_nodes_changed(s->reserve);
	tell_books(s);
	work_soon(s);
}

static void on_queue(void *arg, const json_t *obj, const json_t *old)
{
	struct sched *s = arg;
	const char *name = jsonx_str_or(obj ? obj : old, "metadata.name", "");

	/* Its status is our own word. */
	if (obj && old && jsonx_equal(json_object_get(obj, "spec"), json_object_get(old, "spec")))
		return;
	if (obj)
		world_queue(s->world, name, json_object_get(obj, "spec"));
	else if (streq(name, QUEUE_DEFAULT))
		world_queue(s->world, name, NULL);
	else
		world_remove_queue(s->world, name);
	work_soon(s);
}

static void on_namespace(void *arg, const json_t *obj, const json_t *old)
{
	struct sched *s = arg;

	world_set_namespace(s->world, jsonx_str_or(obj ? obj : old, "metadata.name", ""),
			    jsonx_at(obj, "metadata.labels"));
	work_soon(s);
}

static void on_synced(void *arg)
{
	work_soon(arg);
}

static void on_nodes_synced(void *arg)
{
	tell_books(arg);
	work_soon(arg);
}

static void on_server(void *arg, const json_t *obj, const json_t *old)
{
	struct sched *s = arg;

	if (!streq(jsonx_str_or(obj ? obj : old, "metadata.name", ""), "default"))
		return;
	world_pbs_server(s->world, json_object_get(obj, "spec"));
	work_soon(s);
}

static void read_rules(void *arg, const json_t *pod, struct pod_work *pw)
{
	rules_read(((struct sched *)arg)->rules, pod, pw);
}

static void forget_rules(void *arg, const char *uid)
{
	rules_forget(((struct sched *)arg)->rules, uid);
}

static void on_rules(void *arg, const char *uid)
{
	struct sched *s = arg;
	const struct feed_pod *p = feed_find(&s->feed, uid);
	const json_t *pod = p ? informer_find(s->pods, p->ns, p->name) : NULL;

	if (!pod || !str_same(jsonx_str(pod, "metadata.uid"), uid))
		return;
	feed_pod(&s->feed, pod, pod, now_ms());
	work_soon(s);
	say_soon(s);
}

/* What has a node may have been told before the workloads above it were known, and then takes none of their slots; who
 * waits is told of each of them.  Nothing is decided before that. */
static void on_rules_synced(void *arg)
{
	struct sched *s = arg;
	const json_t *pod;
	size_t pos = 0;

	while (informer_next(s->pods, &pos, &pod))
		if (jsonx_str(pod, "spec.nodeName") && pod_controller(pod))
			feed_pod(&s->feed, pod, pod, now_ms());
	work_soon(s);
}

/* ---- binding and evicting ---- */

static struct call *call_new(struct sched *s, const char *uid)
{
	struct call *call = xcalloc(1, sizeof(*call));

	*call = (struct call){ .sched = s, .uid = xstrdup(uid) };
	s->calls++;
	return call;
}

static void call_done(struct call *call)
{
	struct sched *s = call->sched;

	free(call->uid);
	free(call);
	if (--s->calls == 0 && s->freed)
		sched_done(s);
}

/* Of PBS: they come by the thousand, and their job says where it runs and why it waits. */
static bool is_process(const json_t *pod)
{
	return str_same(jsonx_str(pod, "spec.runtimeClassName"), PBS_HOST_CLASS);
}

static void on_bound(void *arg, const json_t *obj, const struct err *e)
{
	struct call *call = arg;
	struct sched *s = call->sched;
	struct feed_pod *p = s->freed ? NULL : feed_find(&s->feed, call->uid);

	(void)obj;
	/* Without an entry, or a binding under way, the informer has told more than this answer. */
	if (e->kind != ERR_NONE && p && p->binding) {
		log_warn("bind a pod: %s, trying again if it is still there", e->text);
		p->binding = false;
		work_unbound(s->world, p->work, call->uid);
		loop_timer_set(s->client->loop, &s->wake, RETRY_MS);
	}
	call_done(call);
}

static void bind_pod(struct sched *s, struct feed_pod *p, const struct seat *seat)
{
	const json_t *pod = informer_find(s->pods, p->ns, p->name);
	const char *node = node_name(seat->node);
	struct ref ref = { .api_version = "v1",
			   .plural = "pods",
			   .ns = p->ns,
			   .name = p->name,
			   .subresource = "binding",
			   .seen = pod };
	json_auto_t *body = json_pack("{s:s, s:s, s:{s:s, s:s, s:s}, s:{s:s, s:s, s:s}}", "apiVersion", "v1", "kind",
				      "Binding", "metadata", "name", p->name, "namespace", p->ns, "uid", p->uid,
				      "target", "apiVersion", "v1", "kind", "Node", "name", node);
	char cards[256];

	if (seat->cards) {
		card_set_text(seat->cards, cards);
		jsonx_set_new(body, "metadata.annotations", json_pack("{s:s}", GIVEN_ANNOTATION, cards));
	}
	p->binding = true;
	s->client->ops->create(s->client, &ref, body, on_bound, call_new(s, p->uid));
	/* Not when the answer has come: as a rule one commit has both, and a binding hardly ever fails. */
	if (pod && !is_process(pod))
		bound_note(&s->bound, pod, node);
}

static void start(struct sched *s, struct work *work)
{
	for (size_t i = 0; i < work->n; i++) {
		struct member *m = &work->members[i];
		struct feed_pod *p = m->fresh ? feed_find(&s->feed, m->id) : NULL;

		m->fresh = false;
		if (p)
			bind_pod(s, p, &m->seat);
	}
}

static void on_evicted(void *arg, const json_t *obj, const struct err *e)
{
	struct call *call = arg;
	struct sched *s = call->sched;
	struct feed_pod *p = s->freed ? NULL : feed_find(&s->feed, call->uid);

	(void)obj;
	if (e->kind != ERR_NONE && e->kind != ERR_NOT_FOUND && p) {
		log_warn("evict a pod for another: %s, looking again", e->text);
		p->work->evicted_for = NULL;
		world_touch(s->world);
		loop_timer_set(s->client->loop, &s->wake, RETRY_MS);
	}
	call_done(call);
}

/* "by job/urgent, which has a higher priority"; a new text */
static char *name_preemptor(struct sched *s, const struct feed_pod *p, const struct work *whom)
{
	auto_free char *name = door_name(s->door, whom, p->ns);
	const char *other = streq(whom->user, p->work->user) ? "work of another namespace" : "work of another user";

	if (p->work->gives_back)
		return xasprintf("by %s: queue %s gives back what it borrowed", name ? name : other,
				 p->work->queue->name);
	return xasprintf("by %s, which has a higher priority", name ? name : other);
}

static void on_noted(void *arg, const json_t *obj, const struct err *e)
{
	struct sched *s = arg;

	(void)obj;
	if (e->kind != ERR_NONE && e->kind != ERR_NOT_FOUND && !s->freed)
		log_warn("note that a workload was preempted: %s, ignoring", e->text);
	if (--s->calls == 0 && s->freed)
		sched_done(s);
}

static void evict_pod(struct sched *s, const struct feed_pod *p, const json_t *pod, const char *words)
{
	struct ref ref = {
		.api_version = "v1", .plural = "pods", .ns = p->ns, .name = p->name, .subresource = "eviction"
	};
	json_auto_t *body = json_pack("{s:s, s:s, s:{s:s, s:s}, s:{s:{s:s}}}", "apiVersion", "policy/v1", "kind",
				      "Eviction", "metadata", "name", p->name, "namespace", p->ns, "deleteOptions",
				      "preconditions", "uid", p->uid);

	s->client->ops->create(s->client, &ref, body, on_evicted, call_new(s, p->uid));
	if (pod)
		events_note(s->events, pod, "Normal", "Preempted", "Preempted %s", words);
}

/* Of a gang's pods most have the same owner, who is told once. */
static void evict(struct sched *s, const struct decision *d)
{
	auto_free char *told = NULL;
	for (size_t i = 0; i < d->work->n; i++) {
		const struct feed_pod *p = feed_find(&s->feed, d->work->members[i].id);
		const json_t *pod = p ? informer_find(s->pods, p->ns, p->name) : NULL;
		auto_free char *words = p ? name_preemptor(s, p, d->whom) : NULL;
		const char *owner = jsonx_str(pod_controller(pod), "uid");

		if (!p)
			continue;
		/* Before its pod goes, so that what is made anew finds it. */
		s->calls++;
		if (!owner || str_same(owner, told) || !owner_preempted(s->client, s->events, pod, words, on_noted, s))
			s->calls--;
		free(told);
		told = owner ? xstrdup(owner) : NULL;
		evict_pod(s, p, pod, words);
	}
}

/* ---- the turn ---- */

static bool is_over(void *arg)
{
	return clock_mono_ns() >= *(const int64_t *)arg;
}

/* Time alone may let something start. */
static void wake_at(struct sched *s, int64_t at_ms, int64_t now)
{
	if (at_ms != TIME_UNKNOWN)
		loop_timer_set_sooner(s->client->loop, &s->wake, at_ms > now ? at_ms - now + 1 : 1);
}

static void carry_out(struct sched *s, const struct decisions *d)
{
	for (size_t i = 0; i < d->n; i++) {
		if (d->items[i].what == DECIDE_START)
			start(s, d->items[i].work);
		else
			evict(s, &d->items[i]);
	}
}

static void on_work(void *arg)
{
	struct sched *s = arg;
	int64_t end_ns = clock_mono_ns() + TURN_NS;
	struct world_slice slice = { .now_ms = now_ms(), .stop = is_over, .arg = &end_ns, .most = TURN_STEP };
	struct decisions d = { 0 };

	if (!is_synced(s))
		return;
	do {
		world_pass(s->world, &slice, &d);
		carry_out(s, &d);
	} while (d.more && d.n && !is_over(&end_ns));
	while (!is_over(&end_ns) && bound_notes_tell(&s->bound, s->events))
		;
	if (d.more)
		work_soon(s);
	else if (s->bound.n)
		loop_schedule(s->client->loop, &s->work);
	wake_at(s, d.next_ms, slice.now_ms);
	queue_status_touch(s->status);
	decisions_done(&d);
	if (fair_waiting(world_fair(s->world)))
		say_soon(s);
}

static void on_wake(void *arg)
{
	struct sched *s = arg;

	world_touch(s->world);
	work_soon(s);
}

/* ---- telling those that wait ---- */

static void on_told(void *arg, const json_t *obj, const struct err *e)
{
	struct sched *s = arg;

	(void)obj;
	if (e->kind != ERR_NONE && e->kind != ERR_NOT_FOUND && !s->freed)
		log_warn("say why a pod waits: %s, ignoring", e->text);
	if (--s->calls == 0 && s->freed)
		sched_done(s);
}

/* In which it is told that it waits; NULL: it was not told. */
static const json_t *waiting_condition(const json_t *pod)
{
	const json_t *c = condition_of(pod, "PodScheduled");

	return str_same(jsonx_str(c, "status"), "False") ? c : NULL;
}

static void note_said(struct feed_pod *p, const char *why)
{
	free(p->said);
	p->said = xstrdup(why);
	p->said_why = p->work->why;
	p->said_ms = clock_mono_ms();
}

/* By the server before this one: after a start that is most of those that wait. */
static bool was_told(struct sched *s, struct feed_pod *p, const char *why)
{
	const json_t *pod = p->said ? NULL : informer_find(s->pods, p->ns, p->name);

	if (!pod || !str_same(jsonx_str(waiting_condition(pod), "message"), why))
		return false;
	note_said(p, why);
	return true;
}

static void tell_waiting(struct sched *s, struct feed_pod *p, const char *why)
{
	const json_t *pod = informer_find(s->pods, p->ns, p->name);
	struct ref ref = {
		.api_version = "v1", .plural = "pods", .ns = p->ns, .name = p->name, .subresource = "status"
	};
	json_auto_t *patch = NULL;
	char now[CLOCK_RFC3339_LEN];

	clock_rfc3339(clock_wall(), now);
	note_said(p, why);
	patch = json_pack("{s:{s:s}, s:{s:[{s:s, s:s, s:s, s:s, s:n, s:s}]}}", "metadata", "uid", p->uid, "status",
			  "conditions", "type", "PodScheduled", "status", "False", "reason", "Unschedulable", "message",
			  why, "lastProbeTime", "lastTransitionTime",
			  jsonx_str_or(waiting_condition(pod), "lastTransitionTime", now));
	s->calls++;
	s->client->ops->patch(s->client, &ref, "strategic", patch, on_told, s);
	if (!pod || is_process(pod))
		return;
	events_note(s->events, pod, "Warning", "FailedScheduling", "%s", why);
	owner_note(&s->owners, s->events, pod, p->said_why, why);
}

struct saying {
	struct sched *sched;
	int64_t now;
	int64_t end_ns; /* of the time for it in this turn */
	int64_t again;  /* ms until there is more to say; 0: nothing */
	int64_t later;  /* the same for what only has other words than before */
	size_t looks;
	bool spent[PACE__COUNT];
};

/* Words that change only because somebody does something, and who does wants to see them. */
static bool is_held_by_rules(const struct work *work)
{
	return work->why == WHY_HELD && !(work->holds & HOLD_MEMBERS);
}

/* What the pod was told last may stand for now, whatever the words are by now. */
static bool is_said_lately(struct saying *y, const struct feed_pod *p, const struct work *work)
{
	if (!p->said || is_held_by_rules(work) || why_is_due(p->said_why, y->now - p->said_ms, work->why))
		return false;
	y->later = WHY_SAME_MS;
	return true;
}

static bool is_too_early(struct saying *y, const struct feed_pod *p)
{
	int64_t waited = y->now - p->since_ms;
	int64_t left = SAY_LATER - waited;

	if (left > 0 && !is_process(informer_find(y->sched->pods, p->ns, p->name)))
		left = SAY_AFTER - waited;
	y->again = left > y->again ? left : y->again;
	return left > 0;
}

static int pace_of(const struct feed_pod *p)
{
	return p->said ? PACE_AGAIN : PACE_FIRST;
}

/* Too many of PBS have been told of late. */
static bool is_out_of_pace(struct saying *y, const struct feed_pod *p, const struct work *work)
{
	int which = pace_of(p);
	struct pace *pace = &y->sched->pbs[which];

	if (!work->pbs || (!y->spent[which] && pace_take(pace, y->now)))
		return false;
	y->spent[which] = true;
	y->again = pace->every_ms * pace->burst / 4 > y->again ? pace->every_ms * pace->burst / 4 : y->again;
	return true;
}

/* Members that wait wait for the same. */
static bool say_work(void *arg, struct work *work)
{
	struct saying *y = arg;
	auto_sbuf struct sbuf why = SBUF(4096);
	bool looked = false;

	if (y->looks == SAY_LOOKS || is_over(&y->end_ns))
		return false;
	y->looks++;
	for (size_t i = 0; i < work->n; i++) {
		struct feed_pod *p =
			work->members[i].seat.node ? NULL : feed_find(&y->sched->feed, work->members[i].id);

		if (!p || (work->pbs && y->spent[pace_of(p)]))
			continue;
		if (!looked)
			world_why(y->sched->world, work, now_ms());
		looked = true;
		if (is_said_lately(y, p, work) || is_too_early(y, p))
			continue;
		if (!why.n)
			door_condition(y->sched->door, work, &why);
		if (!why.n || str_same(p->said, why.p) || was_told(y->sched, p, why.p))
			continue;
		if (is_over(&y->end_ns))
			return false;
		if (is_out_of_pace(y, p, work))
			continue;
		tell_waiting(y->sched, p, why.p);
	}
	return true;
}

/* Goes through all that waits, a piece at a time, and then rests until there is a reason to begin again. */
static void say_some(struct sched *s)
{
	struct saying y = { .sched = s,
			    .now = clock_mono_ms(),
			    .end_ns = clock_mono_ns() + SAY_NS,
			    .again = s->say_again,
			    .later = s->say_later };
	bool whole = world_each_from(s->world, &s->say_at, say_work, &y);
	bool tired = !whole && y.looks == SAY_LOOKS;
	int64_t rest;

	rest = s->say_turns * SAY_REST;
	s->say_turns = whole ? 0 : s->say_turns + 1;
	s->say_again = whole ? 0 : y.again;
	s->say_later = whole ? 0 : y.later;
	if (!whole)
		loop_timer_set(s->client->loop, &s->say, tired ? SAY_TIRED : SAY_NEXT);
	else if (y.again)
		loop_timer_set(s->client->loop, &s->say, y.again > rest ? y.again : rest);
	if (whole || tired)
		s->say_rest = y.now + (tired ? SAY_TIRED : rest);
	if (whole && y.later && !loop_timer_pending(&s->resay))
		loop_timer_set(s->client->loop, &s->resay, y.later);
}

/* Whose turn has not come yet in a pass that is under way has a node in a moment, or other words. */
static bool is_put_off(struct sched *s)
{
	uint64_t pass = world_pass_under_way(s->world);
	int64_t now = clock_mono_ms();

	if (!pass) {
		s->say_off = 0;
		return false;
	}
	if (!s->say_off) {
		s->say_off = now;
		s->say_pass = pass;
	}
	return s->say_pass == pass || now - s->say_off < SAY_PASS;
}

static void on_say(void *arg)
{
	struct sched *s = arg;

	if (is_put_off(s))
		loop_timer_set(s->client->loop, &s->say, SAY_AFTER);
	else
		say_some(s);
}

/* ---- life ---- */

static int open_books(struct sched *s, const struct sched_config *config, struct err *e)
{
	struct books_config books = { .dir = config->accounts,
				      .world = s->world,
				      .nodes = s->nodes,
				      .half_life = config->half_life,
				      .ready = on_synced,
				      .arg = s };

	auto_free char *pbs = xasprintf("%s/pbs", config->accounts);

	if (books_new(s->client, &books, &s->books, e) < 0 ||
	    pbs_books_new(s->client, pbs, s->servers, &s->pbs_books, e) < 0)
		return -1;
	door_set_books(s->door, s->books);
	door_set_past(s->door, pbs);
	return 0;
}

static struct sched *make(struct client *c, int64_t half_life, bool hasty)
{
	struct sched *s = xcalloc(1, sizeof(*s));
	struct informer_handlers pods = { .change = on_pod, .synced = on_synced, .arg = s };
	struct informer_handlers nodes = { .change = on_node, .synced = on_nodes_synced, .arg = s };
	struct informer_handlers queues = { .change = on_queue, .synced = on_synced, .arg = s };
	struct informer_handlers servers = { .change = on_server, .synced = on_synced, .arg = s };
	struct informer_handlers namespaces = { .change = on_namespace, .synced = on_synced, .arg = s };
	struct rules_handlers rules = { .changed = on_rules, .synced = on_rules_synced, .arg = s };
	struct world_config config = WORLD_CONFIG;
	/* What has finished takes no room. */
	struct list_options live = { .fields = "status.phase!=Succeeded,status.phase!=Failed" };

	config.half_life = half_life;
	config.fair_share = half_life > 0;
	config.young_ms = hasty ? 0 : config.young_ms;
	s->client = c;
	memcpy(s->pbs, paces, sizeof(paces));
	s->events = events_new(c, COMPONENT, NULL);
	s->world = world_new(&config);
	/* Where everything goes that names no queue: it works without an object too. */
	world_queue(s->world, QUEUE_DEFAULT, NULL);
	feed_init(&s->feed, s->world);
	owner_notes_init(&s->owners);
	s->feed.rules = (struct feed_rules){ .read = read_rules, .forget = forget_rules, .arg = s };
	s->rules = rules_new(c, &rules);
	s->work = (struct loop_hook){ .run = on_work, .arg = s, .phase = LOOP_WORK };
	s->say = (struct loop_timer){ .fire = on_say, .arg = s };
	s->resay = (struct loop_timer){ .fire = on_say, .arg = s };
	s->wake = (struct loop_timer){ .fire = on_wake, .arg = s };
	s->nodes = informer_new(c, &(struct ref){ .api_version = "v1", .plural = "nodes" }, NULL, &nodes);
	s->queues = informer_new(c, &(struct ref){ .api_version = "stoker.dev/v1", .plural = "queues" }, NULL, &queues);
	s->servers = informer_new(c, &(struct ref){ .api_version = "stoker.dev/v1", .plural = "pbsservers" }, NULL,
				  &servers);
	s->namespaces =
		informer_new(c, &(struct ref){ .api_version = "v1", .plural = "namespaces" }, NULL, &namespaces);
	s->reserve = reserve_new(c, s->world, s->nodes, on_synced, s);
	s->pods = informer_new(c, &(struct ref){ .api_version = "v1", .plural = "pods" }, &live, &pods);
	s->budgets = budgets_new(c, &s->feed, s->pods, on_wake, s);
	world_set_budgets(s->world, budgets_allow, s->budgets);
	s->status = queue_status_new(c, s->world, s->queues);
	s->door = door_new(&(struct door_config){ .loop = c->loop,
						  .world = s->world,
						  .world_config = config,
						  .feed = &s->feed,
						  .pods = s->pods,
						  .nodes = s->nodes,
						  .queues = s->queues,
						  .rules = s->rules });
	return s;
}

struct scheduler *sched_door(struct sched *s)
{
	return door_scheduler(s->door);
}

struct sched *sched_new(struct client *c)
{
	return make(c, FAIR_HALF_LIFE, true);
}

int sched_open(struct client *c, const struct sched_config *config, struct sched **ret, struct err *e)
{
	struct sched *s = make(c, config->half_life, false);

	if (config->accounts && open_books(s, config, e) < 0) {
		sched_free(s);
		return -1;
	}
	*ret = s;
	return 0;
}

void sched_free(struct sched *s)
{
	if (!s)
		return;
	books_free(s->books);
	pbs_books_free(s->pbs_books);
	queue_status_free(s->status);
	door_free(s->door);
	informer_free(s->pods);
	informer_free(s->nodes);
	informer_free(s->queues);
	informer_free(s->servers);
	informer_free(s->namespaces);
	rules_free(s->rules);
	reserve_free(s->reserve);
	budgets_free(s->budgets);
	loop_unschedule(s->client->loop, &s->work);
	loop_timer_done(&s->say);
	loop_timer_done(&s->resay);
	loop_timer_done(&s->wake);
	s->freed = true;
	if (!s->calls)
		sched_done(s);
}
