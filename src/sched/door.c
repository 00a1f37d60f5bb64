// SPDX-License-Identifier: Apache-2.0
/* door.c - see door.h
 *
 * Each question gets a forecast that is up to date, if one can be had in a few milliseconds; else it is made in the
 * work phases of the next turns, and the question is answered with what is there.  Making forecasts takes at most a
 * tenth of the time, and none is begun while a pass is under way, for both walk the same line.
 */
#include "sched/door.h"

#include <ctype.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/jsonx.h"
#include "base/mem.h"
#include "kinds/idle_gpu.h"
#include "kinds/pbs_id.h"
#include "kinds/workloads.h"
#include "sched/door_usage.h"
#include "sched/forecast.h"
#include "sched/owner_notes.h"
#include "sched/parts.h"
#include "sched/pbs_past.h"
#include "sched/pod_work.h"
#include "sched/why.h"
#include "sched/world_ask.h"

#define STEP_NS     (5 * 1000000LL)
#define WORDS_NS    (10 * 1000000LL) /* for the sentences of one answer */
#define REST_FACTOR 9                /* times the time that the last one took */
#define KEEP_MS     10000            /* without a change; time passes all the same */

struct door {
	struct scheduler base;
	struct door_config config;
	struct books *books; /* or NULL */
	char *past;          /* PBS's accounts, or NULL */
	struct forecast *forecast;
	struct loop_hook work;
	int64_t spent_ns; /* on the present one, or the last */
	int64_t made_ns;  /* when that was done; monotonic */
	char *name;       /* what was last given away by name_other() or find_source() */
};

static struct door *door_of(struct scheduler *s)
{
	return (struct door *)((char *)s - offsetof(struct door, base));
}

static int64_t now_ms(void)
{
	return clock_wall_micros() / 1000;
}

/* ---- forecasts ---- */

static bool is_over(void *arg)
{
	return clock_mono_ns() >= *(const int64_t *)arg;
}

static void step(struct door *d)
{
	int64_t begin = clock_mono_ns();
	int64_t end = begin + STEP_NS;
	bool whole;

	if (!forecast_is_busy(d->forecast))
		d->spent_ns = 0;
	whole = forecast_step(d->forecast, now_ms(), is_over, &end);
	d->made_ns = clock_mono_ns();
	d->spent_ns += d->made_ns - begin;
	if (!whole)
		loop_schedule(d->config.loop, &d->work);
}

static void on_work(void *arg)
{
	step(arg);
}

static void look_ahead(struct door *d)
{
	bool first = !forecast_made_ms(d->forecast);
	bool due = forecast_is_old(d->forecast) || now_ms() - forecast_made_ms(d->forecast) > KEEP_MS;

	if (forecast_is_busy(d->forecast))
		return;
	if (first ||
	    (due && !world_is_passing(d->config.world) && clock_mono_ns() - d->made_ns >= d->spent_ns * REST_FACTOR))
		step(d);
}

/* A start that should have been is no longer expected just then. */
static int64_t expected(const struct door *d, const struct work *work)
{
	int64_t at_ms = work_has_begun(work) ? TIME_UNKNOWN : forecast_start(d->forecast, work->key);

	return at_ms != TIME_UNKNOWN && at_ms < forecast_made_ms(d->forecast) ? now_ms() : at_ms;
}

static bool next_node(void *arg, size_t *pos, const json_t **ret)
{
	return informer_next(((struct door *)arg)->config.nodes, pos, ret);
}

static bool next_queue(void *arg, size_t *pos, const json_t **ret)
{
	return informer_next(((struct door *)arg)->config.queues, pos, ret);
}

static const json_t *pod_of(void *arg, const char *uid)
{
	const struct door *d = arg;
	const struct feed_pod *p = feed_find(d->config.feed, uid);

	return p ? informer_find(d->config.pods, p->ns, p->name) : NULL;
}

/* ---- names ---- */

static const struct feed_pod *first_pod(const struct door *d, const struct work *work)
{
	for (size_t i = 0; i < work->n; i++) {
		const struct feed_pod *p = feed_find(d->config.feed, work->members[i].id);

		if (p)
			return p;
	}
	return NULL;
}

/* "job a1": by who made its pods, else by its pod.  A new text, or NULL. */
static char *name_work(struct door *d, const struct work *work, char between)
{
	const struct feed_pod *p = first_pod(d, work);
	const json_t *pod = p ? pod_of(d, p->uid) : NULL;
	const json_t *owner = pod ? pod_controller(pod) : NULL;
	const json_t *element = json_object_get(jsonx_at(pod, "metadata.labels"), PBS_INDEX_LABEL);
	const char *index = owner && element ? json_string_value(element) : "";
	char *name;

	if (!p)
		return NULL;
	name = xasprintf("%s%c%s%s%s%s", owner ? jsonx_str_or(owner, "kind", "") : "pod", between,
			 owner ? jsonx_str_or(owner, "name", "") : p->name, *index ? "[" : "", index,
			 *index ? "]" : "");
	for (char *c = name; *c && *c != between; c++)
		*c = (char)tolower((unsigned char)*c);
	return name;
}

/* Only of the same namespace: whoever may see the one may see the other. */
struct reader {
	struct door *door;
	const struct work *work;
	const char *ns;
	char pbs[264]; /* why_view.pbs */
};

static const char *find_source(void *arg, unsigned holds)
{
	const struct reader *r = arg;
	struct door *d = r->door;

	for (size_t i = 0; d->config.rules && i < r->work->n; i++) {
		const json_t *pod = pod_of(d, r->work->members[i].id);
		const json_t *who = pod ? rules_source(d->config.rules, pod, holds) : NULL;
		const struct kind *kind = who == pod ? NULL : workload_of(who);

		if (!who || (who != pod && !kind))
			continue;
		free(d->name);
		d->name = xasprintf("%s/%s", kind ? kind->singular : "pod", jsonx_str_or(who, "metadata.name", ""));
		return d->name;
	}
	return NULL;
}

static char *name_within(struct door *d, const struct work *work, const char *ns, char between)
{
	const struct feed_pod *p = first_pod(d, work);

	return p && streq(p->ns, ns) ? name_work(d, work, between) : NULL;
}

char *door_name(struct door *d, const struct work *work, const char *ns)
{
	return name_within(d, work, ns, '/');
}

static const char *name_other(void *arg, const struct work *other)
{
	const struct reader *r = arg;

	free(r->door->name);
	r->door->name = name_within(r->door, other, r->ns, ' ');
	return r->door->name;
}

/* ---- rows ---- */

static void set_time(json_t *row, const char *field, int64_t at_ms)
{
	char text[CLOCK_RFC3339_LEN];

	if (!at_ms || at_ms == TIME_UNKNOWN)
		return;
	clock_rfc3339(at_ms / 1000, text);
	json_object_set_new(row, field, json_string(text));
}

static int64_t wants(const struct work *work, size_t resource)
{
	int64_t sum = 0;

	for (size_t i = 0; i < work->n; i++)
		sum += shape_wants(work->members[i].seat.shape, resource);
	return sum;
}

static void add_pods(const struct door *d, const struct work *work, json_t *row)
{
	json_t *uids = json_array();
	json_t *pods = json_array();

	for (size_t i = 0; i < work->n; i++) {
		const struct feed_pod *p = feed_find(d->config.feed, work->members[i].id);

		json_array_append_new(uids, jsonx_string(work->members[i].id));
		if (p)
			json_array_append_new(pods, jsonx_string(p->name));
	}
	json_object_set_new(row, "uids", uids);
	json_object_set_new(row, "pods", pods);
}

/* If all its pods with GPUs leave them unused, in the words of the one that does so for the shortest time. */
static void say_idle(struct door *d, const struct work *work, struct sbuf *out)
{
	const char *words = NULL;
	int64_t shortest = 0;

	for (size_t i = 0; i < work->n; i++) {
		const json_t *pod = pod_of(d, work->members[i].id);
		struct idle_word word = pod_idle_word(pod);

		if (!pod_wants_gpu(pod))
			continue;
		if (!word.idle)
			return;
		if (!words || word.seconds < shortest) {
			words = word.message;
			shortest = word.seconds;
		}
	}
	if (words)
		sbuf_addf(out, "; %s", words);
}

/* That it ran already, and was preempted. */
static void say_before(struct door *d, const struct work *work, struct sbuf *out)
{
	const struct feed_pod *p = first_pod(d, work);
	const json_t *pod = p ? pod_of(d, p->uid) : NULL;

	if (pod && d->config.rules)
		say_preempted(rules_preempted(d->config.rules, pod), now_ms(), out);
}

static void add_words(struct door *d, const struct why_view *v, json_t *row)
{
	auto_sbuf struct sbuf sentence = SBUF(4096);
	auto_sbuf struct sbuf help = SBUF(4096);

	why_sentence(v, &sentence);
	say_idle(d, v->work, &sentence);
	say_before(d, v->work, &sentence);
	why_help(v, &help);
	json_object_set_new(row, "sentence", jsonx_string(sentence.p ? sentence.p : ""));
	json_object_set_new(row, "help", jsonx_string(help.p ? help.p : ""));
}

static void add_times(const struct why_view *v, json_t *row)
{
	const struct work *work = v->work;

	set_time(row, "submitted", work->submitted_ms);
	set_time(row, "expectedStart", v->expected_ms);
	if (work->started_ms) {
		set_time(row, "started", work->started_ms);
		set_time(row, "endsBy", work_end(work, work->started_ms));
	}
	if (work_walltime(work) != WALLTIME_NONE)
		json_object_set_new(row, "walltime", json_integer(work_walltime(work) / 1000));
}

/* "" if it is of none. */
static void name_pbs(struct door *d, const struct feed_pod *p, char *out, size_t n)
{
	const json_t *pod = p ? pod_of(d, p->uid) : NULL;
	const json_t *owner = pod ? pod_controller(pod) : NULL;
	const char *name = str_same(jsonx_str(owner, "kind"), "PBSJob") ? jsonx_str_or(owner, "name", "") : "";
	bool number = *name && !name[strspn(name, "0123456789")];
	bool element = json_object_get(jsonx_at(pod, "metadata.labels"), "stoker.dev/pbs-index");

	snprintf(out, n, number && element ? "'%s[]'" : "%s", name);
}

/* Without what is foretold. */
static struct why_view view_of(struct door *d, struct work *work, struct reader *reader)
{
	const struct feed_pod *p = first_pod(d, work);

	*reader = (struct reader){ .door = d, .work = work, .ns = p ? p->ns : "" };
	name_pbs(d, p, reader->pbs, sizeof(reader->pbs));
	return (struct why_view){
		.world = d->config.world,
		.work = work,
		.ns = reader->ns,
		.pod = p ? p->name : "",
		.pbs = *reader->pbs ? reader->pbs : NULL,
		.expected_ms = TIME_UNKNOWN,
		.now_ms = now_ms(),
		.name = name_other,
		.source = find_source,
		.arg = reader,
	};
}

void door_condition(struct door *d, struct work *work, struct sbuf *out)
{
	struct reader reader;
	struct why_view v = view_of(d, work, &reader);

	why_condition(&v, out);
	if (out->n)
		say_before(d, work, out);
}

/* The other may have gone since it was foretold, or be held. */
static const struct work *work_of(const struct door *d, const char *key)
{
	return key ? world_find(d->config.world, key) : NULL;
}

static void foretell(const struct door *d, struct why_view *v)
{
	const char *key = v->work->key;

	v->position = work_has_begun(v->work) || v->work->holds ? 0 : forecast_position(d->forecast, key);
	v->expected_ms = expected(d, v->work);
	v->foretold = forecast_covers(d->forecast, key);
	v->after = work_of(d, forecast_after(d->forecast, key));
	v->behind = work_of(d, forecast_behind(d->forecast, key));
}

static json_t *row_of(struct door *d, struct work *work, bool words)
{
	auto_free char *name = name_work(d, work, '/');
	struct reader reader;
	struct why_view v = view_of(d, work, &reader);
	const char *state;
	json_t *row;

	foretell(d, &v);
	state = why_state(&v);
	row = json_pack("{s:s, s:s*, s:s, s:s, s:s, s:s, s:I, s:I, s:I, s:I, s:I}", "namespace", reader.ns, "name",
			name, "queue", work->queue->name, "user", work->user, "group", work->group, "state", state,
			"priority", (json_int_t)work->priority, "size", (json_int_t)work->n, "gpus",
			(json_int_t)wants(work, RESOURCE_GPU), "cpuMilli", (json_int_t)wants(work, RESOURCE_CPU),
			"memory", (json_int_t)wants(work, RESOURCE_MEMORY));
	if (wants(work, RESOURCE_GPU_MEMORY))
		json_object_set_new(row, "gpuMemoryMiB", json_integer((json_int_t)wants(work, RESOURCE_GPU_MEMORY)));
	if (!streq(state, "running"))
		json_object_set_new(row, "why", json_string(why_word(world_why(v.world, work, v.now_ms))));
	if (v.position)
		json_object_set_new(row, "position", json_integer((json_int_t)v.position));
	add_pods(d, work, row);
	add_times(&v, row);
	if (words)
		add_words(d, &v, row);
	return row;
}

/* ---- the operations ---- */

static bool means(const json_t *pod, const char *kind, const char *name)
{
	const json_t *owner = pod_controller(pod);
	bool is_pod = !kind || !*kind || strcasecmp(kind, "pod") == 0;

	if (is_pod && str_same(jsonx_str(pod, "metadata.name"), name))
		return true;
	return owner && str_same(jsonx_str(owner, "name"), name) &&
	       (!kind || !*kind || strcasecmp(jsonx_str_or(owner, "kind", ""), kind) == 0);
}

static json_t *op_find(struct scheduler *s, const char *ns, const char *kind, const char *name)
{
	const struct door *d = door_of(s);
	json_t *uids = json_array();
	const json_t *pod;
	size_t pos = 0;

	while (informer_next(d->config.pods, &pos, &pod))
		if (str_same(jsonx_str(pod, "metadata.namespace"), ns) && means(pod, kind, name))
			json_array_append(uids, jsonx_at(pod, "metadata.uid"));
	return uids;
}

static json_t *op_why(struct scheduler *s, const json_t *uids)
{
	struct door *d = door_of(s);
	int64_t end = clock_mono_ns() + WORDS_NS;
	json_t *rows = json_array();
	const json_t *uid;
	struct map seen;
	size_t i;

	look_ahead(d);
	map_init(&seen, NULL);
	json_array_foreach ((json_t *)uids, i, uid) {
		const struct feed_pod *p = feed_find(d->config.feed, json_string_value(uid));

		if (!p || map_find(&seen, p->work->key))
			continue;
		map_set(&seen, p->work->key, d);
		json_array_append_new(rows, row_of(d, p->work, !json_array_size(rows) || !is_over(&end)));
	}
	map_done(&seen);
	return rows;
}

static bool op_obstacle(struct scheduler *s, const char *ns, const char *pod, struct sbuf *out)
{
	struct door *d = door_of(s);
	const json_t *obj = informer_find(d->config.pods, ns, pod);
	const struct feed_pod *p = obj ? feed_find(d->config.feed, jsonx_str_or(obj, "metadata.uid", "")) : NULL;

	if (!p || work_has_begun(p->work))
		return false;
	door_condition(d, p->work, out);
	return true;
}

struct line {
	const char *queue;
	const struct forecast *forecast;
	struct work **works;
	size_t n, cap, most;
};

static bool is_asked(const struct line *l, const struct work *work)
{
	return l->n < l->most && (!l->queue || streq(work->queue->name, l->queue));
}

static bool add_running(void *arg, struct work *work)
{
	struct line *l = arg;

	if (!l->queue || streq(work->queue->name, l->queue))
		ARRAY_PUSH(l->works, l->n, l->cap, work);
	return true;
}

static bool add_held(void *arg, struct work *work)
{
	struct line *l = arg;

	if (work->holds && !work_has_begun(work) && is_asked(l, work))
		ARRAY_PUSH(l->works, l->n, l->cap, work);
	return l->n < l->most;
}

/* It has come since the last forecast, or stands behind all whose place that looked for. */
static bool add_unforeseen(void *arg, struct work *work)
{
	struct line *l = arg;

	if (!work->holds && !work_has_begun(work) && !forecast_position(l->forecast, work->key) &&
	    (!l->queue || streq(work->queue->name, l->queue)))
		ARRAY_PUSH(l->works, l->n, l->cap, work);
	return true;
}

static int by_age(const void *a, const void *b)
{
	const struct work *x = *(struct work *const *)a;
	const struct work *y = *(struct work *const *)b;

	if (x->submitted_ms != y->submitted_ms)
		return x->submitted_ms < y->submitted_ms ? -1 : 1;
	return strcmp(x->key, y->key);
}

/* What ends first goes first; what never does, last. */
static int by_end(const void *a, const void *b)
{
	const struct work *x = *(struct work *const *)a;
	const struct work *y = *(struct work *const *)b;
	int64_t xe = work_end(x, x->started_ms);
	int64_t ye = work_end(y, y->started_ms);

	if (xe != ye)
		return xe < ye ? -1 : 1;
	return x->started_ms != y->started_ms ? (x->started_ms < y->started_ms ? -1 : 1) : strcmp(x->key, y->key);
}

static void gather_waiting(struct door *d, struct line *l)
{
	struct world *w = d->config.world;
	size_t known = 0;
	size_t from;

	for (size_t i = 0; i < forecast_count(d->forecast); i++) {
		struct work *work = world_find(w, forecast_key(d->forecast, i));

		if (!work || work_has_begun(work) || work->holds)
			continue;
		known++;
		if (is_asked(l, work))
			ARRAY_PUSH(l->works, l->n, l->cap, work);
	}
	from = l->n;
	if (from >= l->most || known >= fair_waiting(world_fair(w)))
		return;
	world_each(w, add_unforeseen, l);
	if (l->n > from)
		qsort(l->works + from, l->n - from, sizeof(*l->works), by_age);
	l->n = l->n < l->most ? l->n : l->most;
}

static void gather(struct door *d, struct line *l)
{
	struct world *w = d->config.world;

	world_each_running(w, add_running, l);
	if (l->n)
		qsort(l->works, l->n, sizeof(*l->works), by_end);
	l->n = l->n < l->most ? l->n : l->most;
	gather_waiting(d, l);
	if (world_has_held(w))
		world_each(w, add_held, l);
}

static json_t *op_line(struct scheduler *s, const char *queue, size_t most)
{
	struct door *d = door_of(s);
	struct line l = { .queue = queue, .forecast = d->forecast, .most = most };
	json_t *rows = json_array();
	int64_t end;

	look_ahead(d);
	gather(d, &l);
	end = clock_mono_ns() + WORDS_NS;
	for (size_t i = 0; i < l.n; i++)
		json_array_append_new(rows, row_of(d, l.works[i], !is_over(&end)));
	free(l.works);
	return rows;
}

/* ---- life ---- */

static int op_usage(struct scheduler *s, const char *by, int64_t from, int64_t to, const char *user, json_t **ret,
		    struct err *e)
{
	return door_usage(door_of(s)->books, by, from, to, user, ret, e);
}

static json_t *op_shares(struct scheduler *s)
{
	return door_shares(door_of(s)->config.world);
}

static struct scheduler_past *op_past_open(struct scheduler *s, int64_t since)
{
	const char *dir = door_of(s)->past;

	return dir ? pbs_past_open(dir, since) : NULL;
}

static const struct scheduler_ops ops = { .find = op_find,
					  .why = op_why,
					  .obstacle = op_obstacle,
					  .line = op_line,
					  .usage = op_usage,
					  .shares = op_shares,
					  .past_open = op_past_open,
					  .past_read = pbs_past_read,
					  .past_close = pbs_past_close };

void door_set_past(struct door *d, const char *dir)
{
	free(d->past);
	d->past = xstrdup(dir);
}

void door_set_books(struct door *d, struct books *b)
{
	d->books = b;
}

struct door *door_new(const struct door_config *config)
{
	struct door *d = xcalloc(1, sizeof(*d));
	struct forecast_source source = {
		.world = config->world,
		.config = config->world_config,
		.next_node = next_node,
		.next_queue = next_queue,
		.pod = pod_of,
		.arg = d,
	};

	d->base.ops = &ops;
	d->config = *config;
	d->forecast = forecast_new(&source);
	d->work = (struct loop_hook){ .run = on_work, .arg = d, .phase = LOOP_WORK };
	return d;
}

void door_free(struct door *d)
{
	if (!d)
		return;
	loop_unschedule(d->config.loop, &d->work);
	forecast_free(d->forecast);
	free(d->name);
	free(d->past);
	free(d);
}

struct scheduler *door_scheduler(struct door *d)
{
	return &d->base;
}

void door_touch(struct door *d)
{
	forecast_touch(d->forecast);
}
