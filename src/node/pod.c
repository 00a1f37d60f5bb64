// SPDX-License-Identifier: Apache-2.0
/* pod.c - the worker of one pod
 *
 * Whatever happens (the object changed, a container ended, a timer fired, an image arrived) kicks the worker; at the
 *end of the turn it looks at everything once:
 *
 *	view of the containers -> pod_plan() -> start, stop -> report to the API -> wait
 *
 * It starts nothing before what containers share is there (pod_setup.c), and gives nothing back before the API has the
 * final status, so that a crash at any point is found again by the next server.
 */
#include <stdarg.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/jsonx.h"
#include "base/log.h"
#include "base/mem.h"
#include "kinds/idle_gpu.h"
#include "node/pod_parts.h"
#include "node/pod_pbs.h"

#define SETUP_RETRY_MS     500
#define SETUP_RETRY_MAX_MS 30000
#define MOUNTING_MS        50
#define EMPTY_MS           5 /* between looks whether the last process has gone, */
#define STUCK_TRIES        1000
#define STUCK_MS           1000   /* and when it will not */
#define STABLE_MS          600000 /* a run this long forgives earlier failures, as in Kubernetes */
#define EVICTION_GRACE_S   1      /* a pod that fills the disk does so while it is asked to end */
#define LAST_TURN_MS       500    /* for a sidecar after others have used up the grace period */
#define START_MS           20     /* a start that takes no longer is told by its outcome alone, */
#define PROCESS_MS         100    /* and so is a whole process among many that start */

/* ---- containers ---- */

void ctr_wait(struct ctr *c, const char *reason, const char *message)
{
	free(c->wait_reason);
	free(c->wait_message);
	c->wait_reason = reason ? xstrdup(reason) : NULL;
	c->wait_message = message ? xstrdup(message) : NULL;
}

void ctr_event(struct ctr *c, const char *type, const char *reason, const char *fmt, ...)
{
	auto_free char *field = xasprintf("spec.%s{%s}", c->init ? "initContainers" : "containers", c->name);
	auto_free char *text = NULL;
	va_list ap;

	va_start(ap, fmt);
	text = xvasprintf(fmt, ap);
	va_end(ap);
	events_note_field(c->pod->parts->events, c->pod->obj, field, type, reason, "%s", text);
}

static void end_done(struct ctr_end *end)
{
	free(end->reason);
	free(end->message);
	free(end->id);
	*end = (struct ctr_end){ 0 };
}

struct ticket *ctr_ticket(struct ctr *c)
{
	c->ticket = xcalloc(1, sizeof(*c->ticket));
	c->ticket->ctr = c;
	return c->ticket;
}

struct ctr *ticket_use(struct ticket *t)
{
	struct ctr *c = t->ctr;

	if (c)
		c->ticket = NULL;
	free(t);
	return c;
}

void ctr_free(struct ctr *c)
{
	if (c->ticket)
		c->ticket->ctr = NULL;
	ctr_probes_stop(c);
	ctr_stop_cancel(c);
	loop_timer_done(&c->stop_timer);
	end_done(&c->end);
	end_done(&c->last);
	json_decref(c->process);
	free(c->joins);
	free(c->name);
	free(c->id);
	free(c->cgroup);
	free(c->log_path);
	free(c->last_log_path);
	free(c->image_id);
	free(c->wait_reason);
	free(c->wait_message);
	free(c->stop_reason);
	free(c->told);
}

struct ctr *pod_ctr(const struct pod *p, const char *name)
{
	for (size_t i = 0; i < p->n; i++)
		if (streq(p->ctrs[i].name, name))
			return &p->ctrs[i];
	return NULL;
}

static void add_containers(struct pod *p, const char *field, bool init)
{
	auto_free char *above = pod_inside_group(p);
	json_t *spec;
	size_t i;

	json_array_foreach (json_object_get(json_object_get(p->obj, "spec"), field), i, spec) {
		struct ctr *c = &p->ctrs[p->n++];

		c->pod = p;
		c->spec = spec;
		c->name = xstrdup(jsonx_str_or(spec, "name", ""));
		c->init = init;
		c->sidecar = init && str_same(jsonx_str(spec, "restartPolicy"), "Always");
		/* No group for the whole pod: each costs a directory in a dozen hierarchies on older machines. */
		c->cgroup = p->parts->rootless
				    ? xstrdup("")
				    : xasprintf("/stoker-%s%s/%s_%s", p->parts->prefix, above, p->uid, c->name);
	}
}

/* The specs are borrowed from the object: a new object has new ones. */
static void rebind_specs(struct pod *p)
{
	static const char *const fields[] = { "initContainers", "containers" };

	for (size_t f = 0; f < ARRAY_SIZE(fields); f++) {
		json_t *spec;
		size_t i;

		json_array_foreach (json_object_get(json_object_get(p->obj, "spec"), fields[f]), i, spec) {
			struct ctr *c = pod_ctr(p, jsonx_str_or(spec, "name", ""));

			if (c)
				c->spec = spec;
		}
	}
}

/* ---- the plan ---- */

static enum restart_policy restart_policy(const struct pod *p)
{
	const char *text = jsonx_str_or(p->obj, "spec.restartPolicy", "Always");

	return streq(text, "Never") ? RESTART_NEVER : streq(text, "OnFailure") ? RESTART_ON_FAILURE : RESTART_ALWAYS;
}

static struct ctr_view view_of(const struct ctr *c)
{
	return (struct ctr_view){
		.init = c->init,
		.sidecar = c->sidecar,
		.state = c->state,
		.ran = c->attempt > 0,
		.started = c->started,
		.exit_code = c->end.exit.code,
		.failures = c->failures,
		.exited_ms = c->exited_ms,
		.not_before_ms = c->not_before_ms,
	};
}

static struct pod_plan make_plan(struct pod *p, struct ctr_view *views, enum ctr_act *acts)
{
	struct pod_view v = { .ctrs = views,
			      .n = p->n,
			      .restart = restart_policy(p),
			      .deleting = p->deleting || p->gone,
			      .failed = p->failed,
			      .hurry = p->end_ms && clock_mono_ms() >= p->end_ms,
			      .now_ms = clock_mono_ms() };

	for (size_t i = 0; i < p->n; i++)
		views[i] = view_of(&p->ctrs[i]);
	return pod_plan(&v, acts);
}

/* How long containers have to end by themselves. */
static int64_t grace_ms(const struct pod *p)
{
	int64_t s = p->gone ? 0
			    : jsonx_int_or(p->obj, "metadata.deletionGracePeriodSeconds",
					   jsonx_int_or(p->obj, "spec.terminationGracePeriodSeconds", 30));

	if (p->failed && str_same(p->reason, "Evicted") && s > EVICTION_GRACE_S)
		s = EVICTION_GRACE_S;
	return clock_ms_of(s);
}

/* The same for one whose turn comes now: all of them together have the grace period. */
static int64_t grace_left_ms(const struct pod *p)
{
	int64_t whole = grace_ms(p);
	int64_t left = p->end_ms ? p->end_ms - clock_mono_ms() : whole;

	return whole <= 0 ? 0 : left > LAST_TURN_MS ? left : LAST_TURN_MS;
}

/* The pod ends: from now on time runs. */
static void start_end(struct pod *p)
{
	int64_t end_ms = clock_mono_ms() + grace_ms(p);

	if (!p->end_ms || end_ms < p->end_ms)
		p->end_ms = end_ms;
}

/* A container that ended and will be started later says so. */
static void mark_back_off(struct ctr *c, const struct pod *p)
{
	char delay[CLOCK_DURATION_LEN];

	if (c->wait_reason)
		return;
	clock_duration(pod_restart_ms(c->failures) / 1000, delay);
	auto_free char *text = xasprintf("back-off %s restarting failed container=%s pod=%s_%s(%s)", delay, c->name,
					 p->name, p->ns, p->uid);
	ctr_wait(c, "CrashLoopBackOff", text);
	ctr_event(c, "Warning", "BackOff", "Back-off restarting failed container %s in pod %s_%s(%s)", c->name, p->name,
		  p->ns, p->uid);
}

static void set_wake(struct pod *p, int64_t at_ms)
{
	int64_t now = clock_mono_ms();

	if (p->deadline_ms && !p->failed && !p->over && (!at_ms || p->deadline_ms < at_ms))
		at_ms = p->deadline_ms;
	if (!at_ms) {
		loop_timer_clear(&p->wake);
		return;
	}
	loop_timer_set(p->parts->loop, &p->wake, at_ms > now ? at_ms - now : 0);
}

/* Containers that wait say what for; NULL: it is here. */
static void say_setup(struct pod *p, const char *why)
{
	for (size_t i = 0; i < p->n; i++)
		if (p->ctrs[i].state == CTR_WAITING && !p->ctrs[i].wait_reason)
			ctr_wait(&p->ctrs[i], NULL, why);
}

static void on_setup_failed(struct pod *p, const struct err *e)
{
	int64_t delay = SETUP_RETRY_MS;

	if (p->texts && e->kind == ERR_UNAVAILABLE) {
		/* A volume is being mounted by a child process. */
		p->setup_after_ms = clock_mono_ms() + MOUNTING_MS;
		return;
	}
	for (int i = 0; i < p->setup_failures && delay < SETUP_RETRY_MAX_MS; i++)
		delay *= 2;
	p->setup_failures++;
	p->setup_after_ms = clock_mono_ms() + delay;
	say_setup(p, e->text);
	events_note(p->parts->events, p->obj, "Warning", p->setup_reason, "%s", e->text);
}

/* True when containers may be started. */
static bool set_up(struct pod *p, int64_t *wake_ms)
{
	struct err e = ERR_INIT;
	int r;

	if (p->volumes)
		return true;
	if (p->setup_after_ms > clock_mono_ms()) {
		if (!*wake_ms || p->setup_after_ms < *wake_ms)
			*wake_ms = p->setup_after_ms;
		return false;
	}
	r = pod_setup(p, &e);
	if (r < 0) {
		on_setup_failed(p, &e);
		*wake_ms = p->setup_after_ms;
	}
	if (r == 0) {
		pod_disk_watch(p);
		pod_active_watch(p);
		say_setup(p, NULL);
	}
	return r == 0;
}

/* A process begins: just after another?  In a crowd of short jobs most are over before anyone could look; a lone one
 * may be signalled as soon as it speaks, and at a terminal somebody waits. */
static bool joins_crowd(const struct pod *p, int64_t now)
{
	struct process_pace *pace = p->parts->pace;

	if (pace->last != p)
		pace->other_ms = pace->last_ms;
	pace->last = p;
	pace->last_ms = now;
	return pace->other_ms && now - pace->other_ms < PROCESS_MS && !jsonx_bool_or(p->ctrs[0].spec, "tty", false);
}

static void keep_quiet(struct pod *p)
{
	int64_t now = clock_mono_ms();

	if (!p->process)
		p->quiet_ms = now + START_MS;
	else if (joins_crowd(p, now))
		p->quiet_ms = now + PROCESS_MS;
}

static void act(struct pod *p, const enum ctr_act *acts, struct pod_plan *plan)
{
	bool starts = false;

	if (plan->ending && !p->end_ms) {
		start_end(p);
		pod_gang_ready(p);
	}
	if (plan->held)
		plan->wake_ms = p->end_ms;
	for (size_t i = 0; i < p->n; i++)
		starts |= acts[i] == ACT_START;
	if (starts)
		starts = set_up(p, &plan->wake_ms) && !pod_gang_holds(p, acts, &plan->wake_ms);
	if (starts)
		keep_quiet(p);
	for (size_t i = 0; i < p->n; i++) {
		/* The next run makes the runtime forget this one: the API must know of it first. */
		if (acts[i] == ACT_START && starts && !p->ctrs[i].end_new)
			ctr_start(&p->ctrs[i]);
		else if (acts[i] == ACT_STOP)
			ctr_stop(&p->ctrs[i], grace_left_ms(p), NULL);
		else if (acts[i] == ACT_BACK_OFF)
			mark_back_off(&p->ctrs[i], p);
	}
}

static void check_deadline(struct pod *p)
{
	static const char reason[] = "DeadlineExceeded";
	static const char message[] = "Pod was active on the node longer than the specified deadline";

	if (!p->deadline_ms || clock_mono_ms() < p->deadline_ms || p->failed || p->deleting || p->over)
		return;
	events_note(p->parts->events, p->obj, "Normal", reason, "%s", message);
	if (p->pbs)
		pod_pbs_tell_walltime(p);
	pod_fail(p, reason, message);
}

/* Somebody above has decided that it fails. */
static void check_target(struct pod *p)
{
	const json_t *target = p->failed || p->deleting || p->over ? NULL : pod_failure_target(p->obj);

	if (!target)
		return;
	events_note(p->parts->events, p->obj, "Warning", jsonx_str_or(target, "reason", "Failed"), "%s",
		    jsonx_str_or(target, "message", ""));
	pod_fail(p, jsonx_str_or(target, "reason", "Failed"), jsonx_str_or(target, "message", ""));
}

void pod_fail(struct pod *p, const char *reason, const char *message)
{
	if (p->failed || p->over)
		return;
	p->failed = true;
	p->reason = xstrdup(reason);
	p->message = xstrdup(message);
	pod_kick(p);
}

/* Containers have ended, but perhaps not every process: until the last has gone it may use the pod's cards, files and
 * address, and nobody must think that the pod is not there any more. */
static bool is_empty(struct pod *p)
{
	bool empty = true;

	for (size_t i = 0; i < p->n && !p->parts->fake; i++)
		empty &= !p->ctrs[i].id || !*p->ctrs[i].cgroup ||
			 cgroup_try_remove(&p->parts->runtime->groups, p->ctrs[i].cgroup);
	if (empty)
		return true;
	if (++p->empty_tries == STUCK_TRIES)
		events_note(p->parts->events, p->obj, "Warning", "FailedKillPod",
			    "a process of the pod does not end although it was killed; trying again");
	loop_timer_set(p->parts->loop, &p->wake, p->empty_tries < STUCK_TRIES ? EMPTY_MS : STUCK_MS);
	return false;
}

/* Everything has ended and the API knows: what the pod had on this machine goes, then the pod itself. */
static void finish(struct pod *p)
{
	if (!p->swept && !is_empty(p))
		return;
	if (!p->swept) {
		p->swept = true;
		pod_teardown(p);
		p->parts->swept(p->parts->arg);
	}
	if (p->gone)
		p->parts->gone(p->parts->arg, p);
	else if (p->deleting)
		pod_delete_object(p);
}

static void refresh(struct pod *p)
{
	struct err e = ERR_INIT;

	p->objects_new = false;
	p->gathered = false;
	for (size_t i = 0; i < p->n; i++)
		p->ctrs[i].prepared = false;
	if (p->volumes && !p->over && pod_refresh(p, &e) < 0)
		events_note(p->parts->events, p->obj, "Warning", "FailedMount", "%s", e.text);
}

/* Here and not where it is heard, so that event and status are one commit. */
static void tell_starts(struct pod *p)
{
	for (size_t i = 0; i < p->n; i++) {
		struct ctr *c = &p->ctrs[i];

		if (c->start_new)
			ctr_event(c, "Normal", "Started", "Started container %s", c->name);
		c->start_new = false;
	}
}

/* Is all there is to say that a container is being started, or a process runs that may be over in a moment? */
static bool says_little(const struct pod *p)
{
	bool starts = false;

	for (size_t i = 0; i < p->n; i++) {
		const struct ctr *c = &p->ctrs[i];

		if (c->end_new || c->wait_reason || c->pulling)
			return false;
		starts |= c->state == CTR_STARTING || p->process;
	}
	return starts && !p->failed && !p->deleting && !p->over;
}

static void on_work(void *arg)
{
	struct pod *p = arg;
	auto_free struct ctr_view *views = xcalloc(p->n + 1, sizeof(*views));
	auto_free enum ctr_act *acts = xcalloc(p->n + 1, sizeof(*acts));
	struct pod_plan plan;
	bool quiet;

	if (p->finished) {
		finish(p);
		return;
	}
	tell_starts(p);
	if (p->pbs)
		pod_pbs_look(p);
	check_deadline(p);
	check_target(p);
	if (p->objects_new)
		refresh(p);
	if (p->deleting || p->gone || p->failed)
		for (size_t i = 0; i < p->n; i++)
			ctr_pull_cancel(&p->ctrs[i]);
	plan = make_plan(p, views, acts);
	if (p->revived && !plan.over)
		set_up(p, &plan.wake_ms);
	act(p, acts, &plan);
	p->phase = plan.phase;
	p->over = plan.over;
	quiet = p->quiet_ms && says_little(p);
	if (quiet && (!plan.wake_ms || p->quiet_ms < plan.wake_ms))
		plan.wake_ms = p->quiet_ms;
	set_wake(p, plan.over ? 0 : plan.wake_ms);
	if (p->over) {
		loop_timer_clear(&p->disk);
		loop_timer_clear(&p->watch);
	}
	if (p->over && (p->told_end || p->gone)) {
		finish(p);
		return;
	}
	if (!quiet)
		pod_report(p);
}

static void on_wake(void *arg)
{
	struct pod *p = arg;

	p->quiet_ms = 0;
	pod_kick(p);
}

void pod_kick(struct pod *p)
{
	loop_schedule(p->parts->loop, &p->work);
}

/* ---- a run's end ---- */

void ctr_ended(struct ctr *c, const struct exit_info *exit)
{
	int64_t now = clock_mono_ms();
	bool lasted = c->started_us && exit->finished_us - c->started_us > STABLE_MS * 1000;

	ctr_probes_stop(c);
	ctr_stop_cancel(c);
	c->state = CTR_EXITED;
	c->ready = false;
	c->started = false;
	c->post_started = false;
	end_done(&c->end);
	c->end.exit = *exit;
	c->end.started_us = c->started_us;
	c->end.id = ctr_id_text(c);
	c->end.known = true;
	c->end.signalled = c->pod->process && exit->signal;
	c->end.reason = TAKE(c->stop_reason);
	c->end_new = true;
	c->end_telling = false;
	c->failures = lasted ? 1 : c->failures + 1;
	c->exited_ms = now;
	ctr_wait(c, NULL, NULL);
	if (c->pod->pbs)
		pod_pbs_ended(c);
	pod_inside_end(c->pod);
	if (c->log_path)
		logs_container_ended(c->pod->parts->logs, c->log_path);
	pod_kick(c->pod);
}

/* ---- life of the worker ---- */

/* Succeeded and Failed are for ever, whatever is found of the pod's containers. */
static bool has_finished(const json_t *obj)
{
	const char *phase = jsonx_str_or(obj, "status.phase", "");

	return streq(phase, "Succeeded") || streq(phase, "Failed");
}

void pod_start_clock(struct pod *p)
{
	const json_t *limit = jsonx_at(p->obj, "spec.activeDeadlineSeconds");
	const char *text = jsonx_str(p->obj, "status.startTime");
	int64_t from;

	if (!p->start_us && (!text || !clock_parse_rfc3339(text, &p->start_us)))
		p->start_us = clock_wall_micros();
	from = p->pbs ? pod_pbs_clock(p) : p->start_us;
	p->deadline_ms = 0;
	if (json_is_integer(limit) && from) {
		int64_t left = from / 1000 + clock_ms_of(json_integer_value(limit)) - clock_wall_micros() / 1000;

		p->deadline_ms = clock_mono_ms() + (left > 0 ? left : 0);
	}
}

struct pod *pod_new(const struct node_parts *parts, const json_t *obj)
{
	struct pod *p = xcalloc(1, sizeof(*p));
	const char *inside = json_string_value(json_object_get(jsonx_at(obj, "metadata.annotations"), POD_INSIDE));
	size_t n = json_array_size(jsonx_at(obj, "spec.initContainers")) +
		   json_array_size(jsonx_at(obj, "spec.containers"));

	p->parts = parts;
	p->obj = json_incref((json_t *)obj);
	p->uid = xstrdup(jsonx_str_or(obj, "metadata.uid", ""));
	p->ns = xstrdup(jsonx_str_or(obj, "metadata.namespace", ""));
	p->name = xstrdup(jsonx_str_or(obj, "metadata.name", ""));
	p->dir = xasprintf("%s/pods/%s", parts->dir, p->uid);
	p->run_dir = xasprintf("%s/run/pods/%s", parts->dir, p->uid);
	p->memory_dir = parts->run_in_memory ? xasprintf("%s/volumes", p->run_dir) : NULL;
	p->host_network = jsonx_bool_or(obj, "spec.hostNetwork", false) || !parts->net;
	p->inside = inside ? xstrdup(inside) : NULL;
	p->ctrs = xcalloc(n + 1, sizeof(*p->ctrs));
	add_containers(p, "initContainers", true);
	add_containers(p, "containers", false);
	p->deleting = jsonx_at(obj, "metadata.deletionTimestamp") != NULL;
	p->told = json_incref(json_object_get(obj, "status"));
	p->work = (struct loop_hook){ .run = on_work, .arg = p, .phase = LOOP_WORK };
	p->wake = (struct loop_timer){ .fire = on_wake, .arg = p };
	p->finished = p->over = has_finished(obj);
	pod_pbs_init(p);
	pod_recall(p);
	pod_start_clock(p);
	return p;
}

void pod_begin(struct pod *p)
{
	if (p->process)
		keep_quiet(p);
	pod_inside_begin(p);
	pod_kick(p);
}

static void end_faster(struct pod *p, const json_t *old)
{
	int64_t was = jsonx_int_or(old, "metadata.deletionGracePeriodSeconds", INT32_MAX);
	int64_t now = jsonx_int_or(p->obj, "metadata.deletionGracePeriodSeconds", INT32_MAX);

	if (now < was && p->end_ms)
		start_end(p);
	for (size_t i = 0; now < was && i < p->n; i++)
		if (p->ctrs[i].state == CTR_STOPPING)
			ctr_stop(&p->ctrs[i], grace_ms(p), NULL);
}

void pod_changed(struct pod *p, const json_t *obj)
{
	json_auto_t *old = p->obj;

	if (!obj) {
		p->obj = json_incref(old);
		p->gone = true;
		if (p->end_ms)
			start_end(p);
		for (size_t i = 0; i < p->n; i++)
			if (p->ctrs[i].state == CTR_STOPPING)
				ctr_stop(&p->ctrs[i], 0, NULL);
		pod_kick(p);
		return;
	}
	p->obj = json_incref((json_t *)obj);
	rebind_specs(p);
	if (pod_failure_target(obj))
		pod_kick(p);
	if (jsonx_at(obj, "metadata.deletionTimestamp")) {
		p->deleting = true;
		end_faster(p, old);
	}
	if (jsonx_equal(json_object_get(obj, "spec"), json_object_get(old, "spec")) &&
	    jsonx_equal(jsonx_at(obj, "metadata.labels"), jsonx_at(old, "metadata.labels")) &&
	    jsonx_equal(jsonx_at(obj, "metadata.annotations"), jsonx_at(old, "metadata.annotations")) && !p->deleting)
		return; /* a status, most likely our own */
	pod_start_clock(p);
	p->objects_new = true;
	pod_kick(p);
}

void pod_exited(struct pod *p, const char *id, const struct exit_info *exit)
{
	for (size_t i = 0; i < p->n; i++) {
		struct ctr *c = &p->ctrs[i];

		if (!c->id || !streq(c->id, id) || c->state == CTR_EXITED || c->state == CTR_WAITING)
			continue;
		ctr_ended(c, exit);
	}
}

void pod_free(struct pod *p)
{
	if (!p)
		return;
	/* The second time comes from the answer that was waited for: the node may be gone by then. */
	if (!p->freed)
		loop_unschedule(p->parts->loop, &p->work);
	loop_timer_done(&p->wake);
	loop_timer_done(&p->disk);
	loop_timer_done(&p->watch);
	pod_objects_stop(p);
	pod_pbs_done(p);
	for (size_t i = 0; i < p->n; i++) {
		ctr_free(&p->ctrs[i]);
		p->ctrs[i].pod = NULL;
	}
	p->n = 0;
	if (p->telling) {
		p->freed = true;
		return;
	}
	free(p->ctrs);
	json_decref(p->obj);
	json_decref(p->told);
	json_decref(p->used);
	json_decref(p->roots);
	free(p->uid);
	free(p->ns);
	free(p->name);
	free(p->dir);
	free(p->run_dir);
	free(p->memory_dir);
	free(p->ip);
	free(p->net_ns);
	free(p->hostname);
	free(p->inside);
	free(p->idle_text);
	free(p->reason);
	free(p->message);
	free(p->silence);
	free(p);
}

void pod_cards_changed(struct pod *p)
{
	if (p->cards || !p->setup_failures)
		return;
	p->setup_after_ms = 0;
	pod_kick(p);
}

const char *pod_uid(const struct pod *p)
{
	return p->uid;
}

bool pod_holds(const struct pod *p)
{
	return !p->swept;
}

/* ---- looking inside ---- */

int pod_container_get(const struct pod *p, const char *container, bool previous, struct pod_container *ret,
		      struct err *e)
{
	const struct ctr *c = pod_ctr(p, container);

	if (!c)
		return err_set(e, ERR_NOT_FOUND, "container not found (\"%s\")", container);
	if (previous && !c->last_log_path)
		return err_set(e, ERR_BAD_REQUEST, "previous terminated container \"%s\" in pod \"%s\" not found",
			       container, p->name);
	*ret = (struct pod_container){
		.id = c->id,
		.cgroup = *c->cgroup ? c->cgroup : NULL,
		.log_path = previous ? c->last_log_path : c->log_path,
		.process = c->process,
		.net_ns = p->net_ns,
		.running = !previous && (c->state == CTR_RUNNING || c->state == CTR_STOPPING),
		.tty = jsonx_bool_or(c->spec, "tty", false),
		.stdin_open = jsonx_bool_or(c->spec, "stdin", false),
	};
	return 0;
}
