// SPDX-License-Identifier: Apache-2.0
/* ps_rows.c - see ps_rows.h
 *
 * Every object is a node, found by its uid; its controller's uid leads to who made it.  A pod counts for each workload
 * on that way up, so that a Deployment and its ReplicaSet both know it.
 */
#include "cli/ps_rows.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/jsonx.h"
#include "base/map.h"
#include "base/mem.h"
#include "cli/event_rows.h"
#include "cli/find.h"
#include "kinds/core.h"
#include "kinds/pod_templates.h"
#include "kinds/rest.h"

#define MAX_DEPTH 8 /* of workloads that make each other; owners in a circle are no reason to hang */

struct node {
	const struct kind *kind;
	const json_t *obj;
	json_t *pods; /* or NULL */
};

struct forest {
	struct node *nodes;
	size_t n;
	struct map by_uid;
};

static struct node *parent(const struct forest *t, const json_t *obj)
{
	const char *uid = jsonx_str(find_controller(obj), "uid");

	return uid ? map_find(&t->by_uid, uid) : NULL;
}

static void add_list(struct forest *t, const struct kind *k, const json_t *list)
{
	json_t *obj;
	size_t i;

	json_array_foreach (json_object_get(list, "items"), i, obj) {
		struct node *n = &t->nodes[t->n++];

		*n = (struct node){ .kind = k, .obj = obj };
		map_set(&t->by_uid, jsonx_str_or(obj, "metadata.uid", ""), n);
	}
}

static void give_pod(const struct forest *t, const json_t *pod)
{
	struct node *n = parent(t, pod);

	for (int depth = 0; n && depth < MAX_DEPTH; depth++) {
		if (!n->pods)
			n->pods = json_array();
		json_array_append(n->pods, (json_t *)pod);
		n = parent(t, n->obj);
	}
}

static void plant(struct forest *t, json_t *const *lists)
{
	size_t n = 0;

	for (size_t i = 0; workloads[i]; i++)
		n += json_array_size(json_object_get(lists[i], "items"));
	*t = (struct forest){ .nodes = xcalloc(n + 1, sizeof(*t->nodes)) };
	map_init(&t->by_uid, NULL);
	for (size_t i = 0; workloads[i]; i++)
		add_list(t, workloads[i], lists[i]);
	for (size_t i = 0; i < t->n; i++)
		if (t->nodes[i].kind == &kind_pod)
			give_pod(t, t->nodes[i].obj);
}

const char *ps_user(const json_t *obj)
{
	const char *who =
		json_string_value(json_object_get(jsonx_at(obj, "metadata.annotations"), "stoker.dev/creator"));

	return who ? who : jsonx_str_or(obj, "metadata.namespace", "");
}

static bool kind_is_asked(const struct ps_filter *f, const struct kind *k)
{
	for (size_t i = 0; i < f->nkinds; i++)
		if (f->kinds[i] == k)
			return true;
	return false;
}

static bool is_shown(const struct forest *t, const struct ps_filter *f, const struct node *n)
{
	if (f->user && !streq(ps_user(n->obj), f->user))
		return false;
	return f->nkinds ? kind_is_asked(f, n->kind) : !parent(t, n->obj);
}

static bool is_recent(const struct ps_filter *f, const struct work *w)
{
	int64_t since = w->ended ? w->ended : w->started ? w->started : w->created;

	return f->all || !work_is_over(w) || f->now - since <= PS_RECENT_SECONDS;
}

static int by_age(const void *a, const void *b)
{
	const struct ps_row *x = a;
	const struct ps_row *y = b;

	if (x->work.created != y->work.created)
		return x->work.created < y->work.created ? -1 : 1;
	return strcmp(jsonx_str_or(x->obj, "metadata.name", ""), jsonx_str_or(y->obj, "metadata.name", ""));
}

void ps_rows_make(json_t *const *lists, const struct ps_filter *f, struct ps_row **ret, size_t *ret_n)
{
	struct ps_row *rows = NULL;
	size_t n = 0;
	size_t cap = 0;
	struct forest t;

	plant(&t, lists);
	for (size_t i = 0; i < t.n; i++) {
		struct ps_row row = { .kind = t.nodes[i].kind, .obj = t.nodes[i].obj };

		if (!is_shown(&t, f, &t.nodes[i]))
			continue;
		work_read(row.kind, row.obj, t.nodes[i].pods, &row.work);
		if (!is_recent(f, &row.work))
			continue;
		row.pods = json_incref(t.nodes[i].pods);
		ARRAY_PUSH(rows, n, cap, row);
	}
	for (size_t i = 0; i < t.n; i++)
		json_decref(t.nodes[i].pods);
	free(t.nodes);
	map_done(&t.by_uid);
	if (n)
		qsort(rows, n, sizeof(*rows), by_age);
	*ret = rows;
	*ret_n = n;
}

void ps_rows_free(struct ps_row *rows, size_t n)
{
	for (size_t i = 0; i < n; i++)
		json_decref(rows[i].pods);
	free(rows);
}

/* ---- pods that cannot be made ---- */

/* How many it should have at this moment. */
static int64_t pods_due(const struct ps_row *row)
{
	int64_t parallel = jsonx_int_or(row->obj, "spec.parallelism", 1);
	int64_t left = row->work.wanted - jsonx_int_or(row->obj, "status.succeeded", 0);

	if (row->kind != &kind_job)
		return row->work.wanted;
	return left < parallel ? left : parallel;
}

static bool is_unexplained(const struct ps_row *row)
{
	int64_t alive = 0;
	json_t *pod;
	size_t i;

	if (row->kind == &kind_pod || row->work.reason[0] ||
	    (row->work.phase != WORK_PENDING && row->work.phase != WORK_RUNNING))
		return false;
	json_array_foreach (row->pods, i, pod) {
		const char *phase = jsonx_str_or(pod, "status.phase", "");

		alive += !streq(phase, "Failed") && !streq(phase, "Succeeded");
	}
	return alive < pods_due(row);
}

bool ps_rows_unexplained(const struct ps_row *rows, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (is_unexplained(&rows[i]))
			return true;
	return false;
}

static const json_t *newest_refusal(const json_t *events, const char *uid)
{
	const json_t *newest = NULL;
	json_t *event;
	size_t i;

	json_array_foreach ((json_t *)events, i, event)
		if (str_same(jsonx_str(event, "involvedObject.uid"), uid) &&
		    (streq(jsonx_str_or(event, "reason", ""), "FailedCreate") ||
		     streq(jsonx_str_or(event, "reason", ""), "Waiting")) &&
		    (!newest || event_last(event) >= event_last(newest)))
			newest = event;
	return newest;
}

/* Without what every such message begins with, and a name that no pod ever got. */
static const char *refusal_words(const char *message)
{
	static const char *const heads[] = { " is forbidden: ", "Error creating: ", "Waiting: " };

	for (size_t i = 0; i < ARRAY_SIZE(heads); i++) {
		const char *at = strstr(message, heads[i]);

		if (at)
			return at + strlen(heads[i]);
	}
	return message;
}

void ps_rows_explain(struct ps_row *rows, size_t n, const json_t *events)
{
	for (size_t i = 0; i < n; i++) {
		const json_t *event = is_unexplained(&rows[i])
					      ? newest_refusal(events, jsonx_str(rows[i].obj, "metadata.uid"))
					      : NULL;

		if (event)
			snprintf(rows[i].work.reason, sizeof(rows[i].work.reason), "%s",
				 refusal_words(jsonx_str_or(event, "message", "")));
	}
}

/* ---- the table ---- */

static const struct table_column columns[] = {
	{ "NAMESPACE" },
	{ "NAME" },
	{ "STATE" },
	{ "PODS", .right = true },
	{ "GPUS", .right = true },
	{ "AGE" },
	{ "DURATION" },
	{ "USER", .wide = true },
	{ "QUEUE", .wide = true },
	{ "NODES", .wide = true },
	{ "COMMAND", .wide = true, .cut = true },
	{ "REASON", .cut = true },
};

static void add_nodes(const struct ps_row *row, struct sbuf *out)
{
	json_auto_t *seen = json_object();
	json_auto_t *self = json_array();
	const json_t *pods = row->pods;
	json_t *pod;
	size_t i;

	if (row->kind == &kind_pod) {
		json_array_append(self, (json_t *)row->obj);
		pods = self;
	}
	json_array_foreach ((json_t *)pods, i, pod) {
		const char *node = jsonx_str(pod, "spec.nodeName");

		if (!node || json_object_get(seen, node))
			continue;
		json_object_set_new(seen, node, json_true());
		sbuf_addf(out, "%s%s", out->n ? "," : "", node);
	}
}

static void add_words(struct sbuf *out, const json_t *words)
{
	json_t *w;
	size_t i;

	json_array_foreach ((json_t *)words, i, w)
		if (json_is_string(w))
			sbuf_addf(out, "%s%s", out->n ? " " : "", json_string_value(w));
}

/* What the first container runs; its image if that has a program of its own. */
static void add_command(struct sbuf *out, const json_t *spec)
{
	const json_t *c = json_array_get(json_object_get(spec, "containers"), 0);

	if (out->n)
		return;
	add_words(out, json_object_get(c, "command"));
	add_words(out, json_object_get(c, "args"));
	if (!out->n)
		sbuf_adds(out, jsonx_str_or(c, "image", ""));
}

static void on_template(void *arg, const json_t *tpl)
{
	add_command(arg, json_object_get(tpl, "spec"));
}

static void add_wide(const struct ps_row *row, struct table *t)
{
	auto_sbuf struct sbuf nodes = SBUF(1024);
	auto_sbuf struct sbuf command = SBUF(1024);
	const json_t *labels = jsonx_at(row->obj, "metadata.labels");

	add_nodes(row, &nodes);
	if (row->kind == &kind_pod)
		add_command(&command, json_object_get(row->obj, "spec"));
	else
		pod_templates_each(row->kind, row->obj, on_template, &command);
	table_add(t, TINT_NONE, ps_user(row->obj));
	table_add(t, TINT_NONE, json_string_value(json_object_get(labels, "stoker.dev/queue")));
	table_add(t, TINT_NONE, nodes.p);
	table_add(t, TINT_NONE, command.p);
}

static void add_row(const struct ps_row *row, bool with_namespace, int64_t now, struct table *t)
{
	const struct work *w = &row->work;
	int64_t until = w->ended ? w->ended : now;
	bool ran = w->started && until >= w->started && w->phase != WORK_PENDING && w->phase != WORK_SUSPENDED &&
		   w->phase != WORK_HELD;
	char age[32];
	char lasted[32];

	if (with_namespace)
		table_add(t, TINT_NONE, jsonx_str_or(row->obj, "metadata.namespace", ""));
	table_addf(t, TINT_NONE, "%s/%s", row->kind->singular, jsonx_str_or(row->obj, "metadata.name", ""));
	table_add(t, work_phase_tint(w->phase), work_phase_name(w->phase));
	table_addf(t, TINT_NONE, "%lld/%lld", (long long)w->ready, (long long)w->wanted);
	table_addf(t, TINT_NONE, "%lld", (long long)w->gpus);
	table_add(t, TINT_NONE, output_age(w->created ? now - w->created : -1, age));
	table_add(t, TINT_NONE, output_age(ran ? until - w->started : -1, lasted));
	add_wide(row, t);
	table_add(t, w->phase == WORK_FAILED ? TINT_BAD : TINT_NONE, w->reason);
}

void ps_rows_table(const struct ps_row *rows, size_t n, bool with_namespace, int64_t now, struct table *ret)
{
	*ret = TABLE(columns);
	if (!with_namespace)
		table_drop_first(ret);
	for (size_t i = 0; i < n; i++)
		add_row(&rows[i], with_namespace, now, ret);
}
