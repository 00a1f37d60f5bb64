// SPDX-License-Identifier: Apache-2.0
/* about.c - see about.h */
#include "cli/about.h"

#include "base/clock.h"
#include "base/jsonx.h"
#include "base/limits.h"
#include "base/mem.h"
#include "cli/event_rows.h"
#include "kinds/core.h"
#include "kinds/rest.h"

/* What a name without a kind may mean if no workload has it. */
static const struct kind *const others[] = { &kind_service,        &kind_pvc,        &kind_node,   &kind_namespace,
					     &kind_resource_quota, &kind_config_map, &kind_secret, &kind_queue };

void about_init(struct about *a)
{
	*a = (struct about){ .pods = json_array(),
			     .made = json_array(),
			     .beside = json_array(),
			     .metrics = json_array(),
			     .events = json_array(),
			     .logs = json_array(),
			     .now = clock_wall() };
}

void about_done(struct about *a)
{
	free(a->ns);
	free(a->name);
	json_decref(a->obj);
	json_decref(a->pods);
	json_decref(a->made);
	json_decref(a->beside);
	json_decref(a->metrics);
	json_decref(a->events);
	json_decref(a->logs);
	*a = (struct about){ 0 };
}

char *about_argument(char **words, int n)
{
	return n == 2 ? xasprintf("%s/%s", words[0], words[1]) : xstrdup(words[0]);
}

/* ---- lists ---- */

/* The items of one kind; none if they may not be seen. */
static void add_list(struct client *c, const struct kind *k, const char *ns, const struct list_options *o, json_t *out)
{
	json_auto_t *list = NULL;
	struct err e = ERR_INIT;

	if (find_lists(c, &k, 1, ns, o, &list, &e) == 0)
		json_array_extend(out, json_object_get(list, "items"));
}

int about_list_events(struct client *c, const char *ns, json_t **ret, struct err *e)
{
	struct ref ref = { .api_version = "v1", .plural = "events", .ns = ns };
	json_auto_t *list = NULL;

	if (client_list_wait(c, &ref, NULL, &list, e) < 0)
		return -1;
	find_type_items(list, &kind_event);
	*ret = events_sorted(json_object_get(list, "items"));
	return 0;
}

const char *about_events_ns(const struct about *a)
{
	/* What has no namespace has its events in "default", or wherever its agents put them. */
	if (a->kind == &kind_namespace)
		return a->name;
	return a->kind && !a->kind->namespaced ? NULL : a->ns;
}

/* ---- who it is ---- */

static int check_word(const char *arg, struct err *e)
{
	const char *slash = strchr(arg, '/');

	if (slash && !find_kind((struct str){ arg, (size_t)(slash - arg) }))
		return err_set(
			e, ERR_BAD_REQUEST,
			"\"%.*s\" is no kind; there are the workloads (job, pod, deployment, tfjob ...), service, "
			"node, pvc, namespace, resourcequota and the other kinds that are built in. For kinds of "
			"your own there is `kubectl describe`",
			(int)(slash - arg), arg);
	return 0;
}

static int several(const char *name, const json_t *all, struct err *e)
{
	auto_sbuf struct sbuf text = SBUF(700);
	json_t *obj;
	size_t i;

	json_array_foreach ((json_t *)all, i, obj) {
		const struct kind *k = find_kind(str_of(jsonx_str_or(obj, "kind", "")));

		sbuf_addf(&text, "%s%s/%s", i ? ", " : "", k ? k->singular : "", name);
	}
	return err_set(e, ERR_CONFLICT, "\"%s\" is the name of several objects; say which one: %s", name, text.p);
}

/* 0: found, 1: there is none, -1: error. */
static int find_other(struct client *c, const char *name, const char *ns, struct found *ret, struct err *e)
{
	auto_free char *field = xasprintf("metadata.name=%s", name);
	json_t *lists[ARRAY_SIZE(others)] = { 0 };
	json_auto_t *all = json_array();
	struct err ignored = ERR_INIT;
	const json_t *obj;

	find_lists(c, others, ARRAY_SIZE(others), ns, &(struct list_options){ .fields = field }, lists, &ignored);
	for (size_t i = 0; i < ARRAY_SIZE(others); i++) {
		json_array_extend(all, json_object_get(lists[i], "items"));
		json_decref(lists[i]);
	}
	if (json_array_size(all) > 1)
		return several(name, all, e);
	obj = json_array_get(all, 0);
	if (!obj)
		return 1;
	found_init(ret, find_kind(str_of(jsonx_str_or(obj, "kind", ""))), obj);
	return 0;
}

/* ---- one that is deleted ---- */

static void add_logs(struct client *c, const struct about *a)
{
	auto_sbuf struct sbuf path = SBUF(LIMIT_URL);
	json_auto_t *list = NULL;
	struct err e = ERR_INIT;

	sbuf_adds(&path, "/apis/stoker.dev/v1/namespaces/");
	client_escape(&path, a->ns);
	sbuf_adds(&path, "/logs/");
	client_escape(&path, a->name);
	sbuf_addf(&path, "?list=1%s%s", a->kind ? "&kind=" : "", a->kind ? a->kind->singular : "");
	if (client_raw_wait(c, path.p, &list, &e) == 0)
		json_array_extend(a->logs, json_object_get(list, "items"));
}

static void fill_events(struct client *c, struct about *a)
{
	json_auto_t *all = NULL;
	struct err e = ERR_INIT;
	struct circle circle;

	if (about_list_events(c, about_events_ns(a), &all, &e) < 0)
		return;
	json_decref(a->events);
	if (a->kind == &kind_namespace) {
		a->events = TAKE(all);
		return;
	}
	about_circle(a, &circle);
	a->events = circle_events(&circle, all);
	circle_done(&circle);
}

/* What kind the deleted one was, as its logs and events have it. */
static const struct kind *kind_of_gone(const struct about *a)
{
	const json_t *log = json_array_get(a->logs, 0);
	json_t *e;
	size_t i;

	if (streq(jsonx_str_or(log, "pod", ""), a->name))
		return &kind_pod;
	if (streq(jsonx_str_or(log, "owner.name", ""), a->name))
		return find_kind(str_of(jsonx_str_or(log, "owner.kind", "")));
	json_array_foreach (a->events, i, e)
		if (streq(jsonx_str_or(e, "involvedObject.name", ""), a->name))
			return find_kind(str_of(jsonx_str_or(e, "involvedObject.kind", "")));
	return NULL;
}

static int find_gone(struct client *c, const char *arg, const char *ns, struct about *a)
{
	struct err e = ERR_INIT;
	const char *name = NULL;
	struct find_pbs id;

	if (!ns || find_cut(arg, &a->kind, &name, &e) < 0)
		return -1;
	if (find_pbs_id(a->kind, name, &id) && id.element < 0) {
		a->kind = &kind_pbsjob;
		name = id.job;
	}
	a->ns = xstrdup(ns);
	a->name = xstrdup(name);
	add_logs(c, a);
	fill_events(c, a);
	if (!a->kind)
		a->kind = kind_of_gone(a);
	return json_array_size(a->logs) || json_array_size(a->events) ? 0 : -1;
}

/* ---- one that is there ---- */

/* What stands between it and its pods, or is as good to know. */
static const struct {
	const struct kind *kind, *makes;
} makers[] = {
	{ &kind_deployment, &kind_replica_set },
	{ &kind_cron_job, &kind_job },
	{ &kind_inference_service, &kind_deployment },
	{ &kind_notebook, &kind_stateful_set },
};

static void add_made(struct client *c, const struct about *a)
{
	const char *uid = jsonx_str_or(a->obj, "metadata.uid", "");
	json_auto_t *all = json_array();
	json_t *obj;
	size_t i;

	for (size_t k = 0; k < ARRAY_SIZE(makers); k++)
		if (makers[k].kind == a->kind)
			add_list(c, makers[k].makes, a->ns, NULL, all);
	json_array_foreach (all, i, obj)
		if (str_same(jsonx_str(find_controller(obj), "uid"), uid))
			json_array_append(a->made, obj);
}

static bool mounts(const json_t *pod, const char *claim)
{
	json_t *v;
	size_t i;

	json_array_foreach (jsonx_at(pod, "spec.volumes"), i, v)
		if (str_same(jsonx_str(v, "persistentVolumeClaim.claimName"), claim))
			return true;
	return false;
}

static void add_users(struct client *c, const struct about *a)
{
	json_auto_t *all = json_array();
	json_t *pod;
	size_t i;

	add_list(c, &kind_pod, a->ns, NULL, all);
	json_array_foreach (all, i, pod)
		if (mounts(pod, a->name))
			json_array_append(a->pods, pod);
}

static void add_pods(struct client *c, const struct found *f, const struct about *a)
{
	json_auto_t *pods = NULL;
	struct err e = ERR_INIT;

	if (a->kind == &kind_node) {
		auto_free char *field = xasprintf("spec.nodeName=%s", a->name);

		add_list(c, &kind_pod, NULL, &(struct list_options){ .fields = field }, a->pods);
	} else if (a->kind == &kind_namespace) {
		add_list(c, &kind_pod, a->name, NULL, a->pods);
	} else if (a->kind == &kind_pvc) {
		add_users(c, a);
	} else if (is_workload(a->kind) && find_pods(c, f, &pods, &e) == 0) {
		json_array_extend(a->pods, pods);
	}
}

int about_find(struct client *c, const char *arg, const char *ns, struct about *ret, struct err *e)
{
	struct found f = { 0 };
	struct err other = ERR_INIT;
	struct about a;
	int r;

	if (check_word(arg, e) < 0)
		return -1;
	about_init(&a);
	r = find_one(c, arg, ns, true, &f, e);
	if (r < 0 && e->kind == ERR_NOT_FOUND && !strchr(arg, '/')) {
		r = find_other(c, arg, ns, &f, &other);
		if (r < 0)
			*e = other;
	}
	if (r == 0) {
		err_clear(e);
		a.kind = f.kind;
		a.ns = xstrdup(f.ns);
		a.name = xstrdup(f.name);
		a.obj = json_incref(f.obj);
		add_made(c, &a);
		add_pods(c, &f, &a);
		found_done(&f);
	} else if (e->kind == ERR_NOT_FOUND && find_gone(c, arg, ns, &a) == 0) {
		err_clear(e);
	} else {
		about_done(&a);
		return -1;
	}
	*ret = a;
	return 0;
}

void about_circle(const struct about *a, struct circle *c)
{
	json_t *obj;
	size_t i;

	circle_init(c);
	if (!a->obj) {
		circle_add_name(c, a->kind ? a->kind->kind : NULL, a->ns, a->name);
		json_array_foreach (a->logs, i, obj)
			circle_add_name(c, "Pod", a->ns, jsonx_str_or(obj, "pod", ""));
		return;
	}
	circle_add(c, a->kind->kind, a->obj);
	json_array_foreach (a->made, i, obj)
		circle_add(c, jsonx_str_or(obj, "kind", ""), obj);
	if (is_workload(a->kind))
		json_array_foreach (a->pods, i, obj)
			circle_add(c, "Pod", obj);
}

/* ---- the rest ---- */

static bool has_claims(const struct about *a)
{
	json_t *pod;
	json_t *v;
	size_t i;
	size_t k;

	json_array_foreach (a->pods, i, pod)
		json_array_foreach (jsonx_at(pod, "spec.volumes"), k, v)
			if (json_object_get(v, "persistentVolumeClaim"))
				return true;
	return false;
}

static void fill_beside(struct client *c, struct about *a)
{
	auto_free char *label = xasprintf("kubernetes.io/service-name=%s", a->name);

	if (a->kind == &kind_service)
		add_list(c, &kind_endpoint_slice, a->ns, &(struct list_options){ .labels = label }, a->beside);
	else if (a->kind == &kind_namespace)
		add_list(c, &kind_resource_quota, a->name, NULL, a->beside);
	else if (is_workload(a->kind) && has_claims(a))
		add_list(c, &kind_pvc, a->ns, NULL, a->beside);
}

static void fill_metrics(struct client *c, struct about *a)
{
	if (a->kind == &kind_node)
		add_list(c, &kind_node_metrics, NULL, NULL, a->metrics);
	else if (json_array_size(a->pods))
		add_list(c, &kind_pod_metrics, a->kind == &kind_namespace ? a->name : a->ns, NULL, a->metrics);
}

void about_fill(struct client *c, struct about *a)
{
	if (!a->obj)
		return; /* the search has filled it */
	fill_events(c, a);
	fill_beside(c, a);
	fill_metrics(c, a);
}
