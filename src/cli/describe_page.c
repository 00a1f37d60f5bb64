// SPDX-License-Identifier: Apache-2.0
/* describe_page.c - see describe_page.h
 *
 * Every page has the same order: what it is, how it stands, its facts, its parts, what is not as it should be, what
 * happened, and what to do next, which a terminal shows last and thus is seen first.
 */
#include "cli/describe_page.h"

#include "base/clock.h"
#include "base/jsonx.h"
#include "base/mem.h"
#include "cli/advice.h"
#include "cli/describe_parts.h"
#include "cli/event_rows.h"
#include "cli/work.h"
#include "kinds/cells.h"
#include "kinds/core.h"

#define EVENTS_SHOWN 10

/* ---- for all parts ---- */

int64_t time_in(const json_t *obj, const char *path)
{
	int64_t us;

	return clock_parse_rfc3339(jsonx_str_or(obj, path, ""), &us) ? us / 1000000 : 0;
}

const char *since(const struct about *a, int64_t then, char buf[32])
{
	return output_age(!then ? -1 : a->now > then ? a->now - then : 0, buf);
}

void map_words(const json_t *map, struct sbuf *out)
{
	size_t n;
	auto_free const char **keys = cells_sorted_keys(map, &n);

	for (size_t i = 0; i < n; i++) {
		const char *v = json_string_value(json_object_get(map, keys[i]));

		sbuf_addf(out, "%s%s=%s", i ? ", " : "", keys[i], v ? v : "");
	}
}

/* ---- the sentence ---- */

/* The time in an object under deletion is when its grace ends. */
static int64_t deletion_began(const json_t *obj)
{
	return time_in(obj, "metadata.deletionTimestamp") - jsonx_int_or(obj, "metadata.deletionGracePeriodSeconds", 0);
}

/* " on vm", " on 3 nodes". */
static void add_where(const struct about *a, struct sbuf *out)
{
	json_auto_t *nodes = json_object();
	const char *node = NULL;
	json_t *pod;
	size_t i;

	json_array_foreach (a->pods, i, pod) {
		node = jsonx_str(pod, "spec.nodeName");
		if (node && streq(jsonx_str_or(pod, "status.phase", ""), "Running"))
			json_object_set_new(nodes, node, json_true());
	}
	if (json_object_size(nodes) == 1)
		sbuf_addf(out, " on %s", json_object_iter_key(json_object_iter(nodes)));
	else if (json_object_size(nodes))
		sbuf_addf(out, " on %zu nodes", json_object_size(nodes));
}

static void add_ready(const struct about *a, const struct work *w, struct sbuf *out)
{
	if (a->kind == &kind_pod) {
		if (w->ready < w->wanted)
			sbuf_adds(out, ", not ready");
	} else if (w->wanted) {
		sbuf_addf(out, ": %lld of %lld pod%s ready", (long long)w->ready, (long long)w->wanted,
			  w->wanted == 1 ? "" : "s");
	}
}

static void add_end(const struct about *a, const struct work *w, struct sbuf *out)
{
	char ago[32];
	char took[32];

	if (w->ended)
		sbuf_addf(out, " %s ago", since(a, w->ended, ago));
	if (w->ended && w->started && w->ended >= w->started)
		sbuf_addf(out, " after %s", output_age(w->ended - w->started, took));
}

static enum tint workload_state(const struct about *a, struct sbuf *out)
{
	struct work w;
	char age[32];

	work_read(a->kind, a->obj, a->pods, &w);
	sbuf_adds(out, w.phase == WORK_ENDING ? "Being deleted" : work_phase_name(w.phase));
	if (work_is_over(&w)) {
		add_end(a, &w, out);
	} else if (w.phase == WORK_RUNNING) {
		if (w.started)
			sbuf_addf(out, " for %s", since(a, w.started, age));
		add_where(a, out);
		add_ready(a, &w, out);
	} else if (w.phase == WORK_ENDING) {
		sbuf_addf(out, " for %s", since(a, deletion_began(a->obj), age));
	} else if (w.phase == WORK_PENDING) {
		sbuf_addf(out, " for %s", since(a, w.created, age));
		if (w.wanted > 1)
			add_ready(a, &w, out);
	} else if (w.phase == WORK_STOPPED) {
		sbuf_adds(out, ": it wants no pods");
	} else if (w.phase == WORK_SCHEDULED && cron_words(a, out)) {
		w.reason[0] = '\0';
	}
	if (w.reason[0])
		sbuf_addf(out, "%s%s", strchr(out->p, ':') ? "; " : ": ", w.reason);
	return work_phase_tint(w.phase);
}

static enum tint thing_state(const struct about *a, struct sbuf *out)
{
	const char *phase = jsonx_str(a->obj, "status.phase");
	char age[32];

	if (jsonx_at(a->obj, "metadata.deletionTimestamp")) {
		sbuf_addf(out, "Being deleted for %s", since(a, deletion_began(a->obj), age));
		return TINT_BUSY;
	}
	sbuf_addf(out, "%s%s%s old", phase ? phase : "", phase ? ", " : "",
		  since(a, time_in(a->obj, "metadata.creationTimestamp"), age));
	return TINT_NONE;
}

/* ---- one that is deleted ---- */

/* When the last of its pods was deleted, if the logs know. */
static enum tint gone_state(const struct about *a, struct sbuf *out)
{
	int64_t last = 0;
	json_t *item;
	size_t i;
	char age[32];

	json_array_foreach (a->logs, i, item) {
		int64_t t = time_in(item, "ended");

		last = t > last ? t : last;
	}
	if (last)
		sbuf_addf(out, "Deleted %s ago; this is what is left of it", since(a, last, age));
	else
		sbuf_adds(out, "Deleted; this is what is left of it");
	return TINT_DIM;
}

/* What its own last event says of its end. */
static void result_field(const struct about *a, struct page *p)
{
	static const struct {
		const char *reason, *result;
	} ends[] = {
		{ "Completed", "it had succeeded" },
		{ "BackoffLimitExceeded", "it had failed, and was not to be tried again" },
		{ "DeadlineExceeded", "it had reached its time limit" },
	};
	const char *result = "";
	json_t *e;
	size_t i;

	json_array_foreach (a->events, i, e)
		for (size_t k = 0; k < ARRAY_SIZE(ends); k++)
			if (streq(jsonx_str_or(e, "involvedObject.name", ""), a->name) &&
			    streq(jsonx_str_or(e, "reason", ""), ends[k].reason))
				result = ends[k].result;
	page_field(p, "Result", "%s", result);
}

static void gone_fields(const struct about *a, struct page *p)
{
	const json_t *first = json_array_get(a->logs, 0);
	const char *created = jsonx_str_or(first, "created", "");
	const char *owner = jsonx_str_or(first, "owner.name", "");
	char age[32];

	if (*created)
		page_field(p, "Made", "%s ago (%s)", since(a, time_in(first, "created"), age), created);
	if (a->kind == &kind_pod && *owner)
		page_field(p, "Was of", "%s %s", jsonx_str_or(first, "owner.kind", ""), owner);
	result_field(a, p);
}

/* ---- the sentence of all ---- */

enum tint describe_state(const struct about *a, struct sbuf *out)
{
	const struct describer *d = a->kind ? describer_of(a->kind) : NULL;

	if (!a->obj)
		return gone_state(a, out);
	if (d && d->state)
		return d->state(a, out);
	return is_workload(a->kind) ? workload_state(a, out) : thing_state(a, out);
}

/* ---- facts ---- */

/* Who has written the object first: the program, if the server kept it. */
static const char *first_manager(const json_t *obj)
{
	const json_t *first = json_array_get(jsonx_at(obj, "metadata.managedFields"), 0);

	return jsonx_str_or(first, "manager", "");
}

static void made_field(const struct about *a, struct page *p)
{
	const json_t *owner = find_controller(a->obj);
	const json_t *notes = jsonx_at(a->obj, "metadata.annotations");
	const char *creator = json_string_value(json_object_get(notes, "stoker.dev/creator"));
	const char *manager = first_manager(a->obj);
	const char *created = jsonx_str_or(a->obj, "metadata.creationTimestamp", "");
	auto_sbuf struct sbuf by = SBUF(1024);
	char age[32];

	if (owner) {
		const struct kind *k = workload_of(owner);

		sbuf_addf(&by, ", by %s/%s", k ? k->singular : jsonx_str_or(owner, "kind", ""),
			  jsonx_str_or(owner, "name", ""));
	} else if (creator) {
		sbuf_addf(&by, ", by %s", creator);
	}
	if (!owner && *manager)
		sbuf_addf(&by, ", with %s", manager);
	page_field(p, "Made", "%s ago (%s)%s", since(a, time_in(a->obj, "metadata.creationTimestamp"), age), created,
		   by.n ? by.p : "");
}

static void common_fields(const struct about *a, struct page *p)
{
	const json_t *labels = jsonx_at(a->obj, "metadata.labels");
	const char *queue = json_string_value(json_object_get(labels, "stoker.dev/queue"));

	made_field(a, p);
	page_field(p, "Queue", "%s", queue ? queue : "");
	if (a->kind == &kind_pod) {
		page_field(p, "Node", "%s", jsonx_str_or(a->obj, "spec.nodeName", ""));
		page_field(p, "Address", "%s", jsonx_str_or(a->obj, "status.podIP", ""));
	}
}

static void logs_field(const struct about *a, struct page *p)
{
	if (!is_workload(a->kind) || !json_array_size(a->pods))
		return;
	page_field(p, "Logs", "stoker logs %s/%s -n %s", a->kind->singular, a->name, a->ns);
}

/* ---- conditions ---- */

static const struct table_column condition_columns[] = {
	{ "CONDITION" }, { "IS" }, { "FOR" }, { "REASON" }, { "MESSAGE", .cut = true },
};

/* What a condition should be, where "True" is not good; NULL: it may be either. */
static const struct {
	const char *type, *good;
} conditions[] = {
	{ "MemoryPressure", "False" },
	{ "DiskPressure", "False" },
	{ "PIDPressure", "False" },
	{ "NetworkUnavailable", "False" },
	{ "Failed", "False" },
	{ "ReplicaFailure", "False" },
	{ "DisruptionTarget", "False" },
	{ "NamespaceDeletionDiscoveryFailure", "False" },
	{ "NamespaceDeletionGroupVersionParsingFailure", "False" },
	{ "NamespaceDeletionContentFailure", "False" },
	{ "NamespaceContentRemaining", "False" },
	{ "NamespaceFinalizersRemaining", "False" },
	{ "FailureTarget", NULL },   /* Failed says the same, a moment later */
	{ "ContainersReady", NULL }, /* as Ready */
	{ "PodReadyToStartContainers", NULL },
	{ "Suspended", NULL },
	{ "Complete", NULL },
	{ "SuccessCriteriaMet", NULL },
	{ "Created", NULL },
	{ "Running", NULL },
	{ "Restarting", NULL },
	{ "Succeeded", NULL },
};

static bool is_as_it_should_be(const json_t *c)
{
	const char *type = jsonx_str_or(c, "type", "");
	const char *status = jsonx_str_or(c, "status", "");

	if (streq(jsonx_str_or(c, "reason", ""), "PodCompleted") || streq(jsonx_str_or(c, "reason", ""), "PodFailed"))
		return true; /* of a pod that has ended */
	for (size_t i = 0; i < ARRAY_SIZE(conditions); i++)
		if (streq(conditions[i].type, type))
			return !conditions[i].good || streq(conditions[i].good, status);
	return streq(status, "True");
}

static void conditions_table(const struct about *a, struct page *p)
{
	auto_table struct table t = TABLE(condition_columns);
	json_t *c;
	size_t i;

	json_array_foreach (jsonx_at(a->obj, "status.conditions"), i, c) {
		char age[32];

		if (is_as_it_should_be(c))
			continue;
		table_add(&t, TINT_NONE, jsonx_str_or(c, "type", ""));
		table_add(&t, TINT_BAD, jsonx_str_or(c, "status", ""));
		table_add(&t, TINT_NONE, since(a, time_in(c, "lastTransitionTime"), age));
		table_add(&t, TINT_NONE, jsonx_str_or(c, "reason", ""));
		table_add(&t, TINT_NONE, jsonx_str_or(c, "message", ""));
	}
	if (!table_rows(&t))
		return;
	page_section(p, "Not as it should be");
	page_table(p, &t);
}

/* ---- events, logs, advice ---- */

static const struct table_column event_columns[] = {
	{ "AGE" }, { "TYPE" }, { "OBJECT" }, { "REASON" }, { "MESSAGE", .cut = true },
};

static void events_section(const struct about *a, struct page *p)
{
	size_t n = json_array_size(a->events);
	auto_table struct table t = TABLE(event_columns);

	if (!n)
		return;
	for (size_t i = n > EVENTS_SHOWN ? n - EVENTS_SHOWN : 0; i < n; i++) {
		const json_t *e = json_array_get(a->events, i);
		const char *type = jsonx_str_or(e, "type", "");
		auto_sbuf struct sbuf when = SBUF(128);
		auto_sbuf struct sbuf object = SBUF(1024);

		event_age(e, a->now, &when);
		event_object(e, &object);
		table_add(&t, TINT_NONE, when.p);
		table_add(&t, streq(type, "Warning") ? TINT_BUSY : TINT_NONE, type);
		table_add(&t, TINT_NONE, object.p);
		table_add(&t, TINT_NONE, jsonx_str_or(e, "reason", ""));
		table_add(&t, TINT_NONE, jsonx_str_or(e, "message", ""));
	}
	page_section(p, "Last events");
	page_table(p, &t);
	if (n > EVENTS_SHOWN)
		page_note(p, "%zu more before them; `stoker events %s%s%s` shows all", n - EVENTS_SHOWN,
			  a->kind ? a->kind->singular : "", a->kind ? "/" : "", a->name);
}

static const struct table_column log_columns[] = {
	{ "POD" }, { "CONTAINER" }, { "RUN", .right = true }, { "BYTES", .right = true }, { "DELETED" }, { "OF" },
};

static void add_log(const struct about *a, const json_t *item, struct table *t)
{
	const char *owner = jsonx_str_or(item, "owner.name", jsonx_str_or(item, "job", ""));
	char age[32];
	json_t *c;
	json_t *run;
	size_t i;
	size_t k;

	json_array_foreach (json_object_get(item, "containers"), i, c)
		json_array_foreach (json_object_get(c, "attempts"), k, run) {
			table_add(t, TINT_NONE, jsonx_str_or(item, "pod", ""));
			table_add(t, TINT_NONE, jsonx_str_or(c, "name", ""));
			table_addf(t, TINT_NONE, "%lld", (long long)jsonx_int_or(run, "attempt", 0));
			table_addf(t, TINT_NONE, "%lld", (long long)jsonx_int_or(run, "bytes", 0));
			table_addf(t, TINT_NONE, "%s ago", since(a, time_in(item, "ended"), age));
			table_add(t, TINT_NONE, owner);
		}
}

static void logs_section(const struct about *a, struct page *p)
{
	auto_table struct table t = TABLE(log_columns);
	json_t *item;
	size_t i;

	json_array_foreach (a->logs, i, item)
		add_log(a, item, &t);
	if (!table_rows(&t))
		return;
	page_section(p, "Logs");
	page_table(p, &t);
	page_note(p, "`stoker logs %s%s%s -n %s%s` shows them", a->kind ? a->kind->singular : "", a->kind ? "/" : "",
		  a->name, a->ns, json_array_size(a->logs) > 1 ? " --all-pods" : "");
}

static void advice_section(const struct about *a, struct page *p)
{
	json_auto_t *advice = advice_for(a);
	json_t *text;
	size_t i;

	if (!json_array_size(advice))
		return;
	page_section(p, "What to do");
	json_array_foreach (advice, i, text)
		page_note(p, "%s", json_string_value(text));
}

/* ---- the page ---- */

static void living(const struct about *a, struct page *p)
{
	const struct describer *d = describer_of(a->kind);

	common_fields(a, p);
	if (d && d->fields)
		d->fields(a, p);
	if (is_workload(a->kind))
		template_fields(a, p);
	logs_field(a, p);
	if (d && d->tables)
		d->tables(a, p);
	if (is_workload(a->kind)) {
		pods_tables(a, p);
		volumes_table(a, p);
	}
	conditions_table(a, p);
}

void describe_page(const struct about *a, struct page *p)
{
	auto_sbuf struct sbuf title = SBUF(1024);
	auto_sbuf struct sbuf state = SBUF(2048);
	enum tint tint = describe_state(a, &state);

	sbuf_addf(&title, "%s%s%s", a->kind ? a->kind->singular : "", a->kind ? "/" : "", a->name);
	if (a->ns && *a->ns)
		sbuf_addf(&title, " in namespace %s", a->ns);
	page_title(p, title.p);
	page_line(p, tint, state.p);
	sbuf_addc(p->out, '\n');
	if (a->obj) {
		living(a, p);
	} else {
		gone_fields(a, p);
		logs_section(a, p);
	}
	events_section(a, p);
	advice_section(a, p);
}

static json_t *readable_all(const json_t *objects)
{
	json_t *out = json_array();
	json_t *obj;
	size_t i;

	json_array_foreach ((json_t *)objects, i, obj)
		json_array_append_new(out, output_readable(obj));
	return out;
}

json_t *describe_json(const struct about *a)
{
	auto_sbuf struct sbuf state = SBUF(2048);

	describe_state(a, &state);
	return json_pack("{s:o, s:o?, s:o, s:o, s:o, s:o, s:O, s:o}", "state", jsonx_string(state.p), "object",
			 a->obj ? output_readable(a->obj) : NULL, "pods", readable_all(a->pods), "made",
			 readable_all(a->made), "beside", readable_all(a->beside), "events", readable_all(a->events),
			 "logs", a->logs, "advice", advice_for(a));
}
