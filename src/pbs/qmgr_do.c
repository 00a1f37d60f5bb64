// SPDX-License-Identifier: Apache-2.0
/* qmgr_do.c - see qmgr_do.h
 *
 * An object is read, changed (setting_write.h) and written back as a whole, and read again if somebody else was
 * quicker.
 */
#include "pbs/qmgr_do.h"

#include <ctype.h>
#include <strings.h>

#include "base/jsonx.h"
#include "base/limits.h"
#include "base/mem.h"
#include "client/client.h"
#include "kinds/pbs_error.h"
#include "kinds/pbs_nodes.h"
#include "pbs/board.h"
#include "pbs/nodes_text.h"
#include "pbs/qmgr_print.h"

#define TRIES 10

static const char *const paths[] = {
	[QMGR_SERVER] = PBS_API "/pbsservers",
	[QMGR_QUEUE] = PBS_API "/queues",
	[QMGR_NODE] = "/api/v1/nodes",
};

/* What an object is called in its metadata: Kubernetes has no capital letters for hosts. */
static char *object_name(enum qmgr_object kind, const char *name)
{
	char *own = xstrndup(name, strcspn(name, "@"));

	for (char *c = own; kind == QMGR_NODE && *c; c++)
		*c = (char)tolower((unsigned char)*c);
	return own;
}

static void path_of(enum qmgr_object kind, const char *name, struct sbuf *out)
{
	auto_free char *own = object_name(kind, name);

	sbuf_addf(out, "%s/", paths[kind]);
	client_escape(out, kind == QMGR_SERVER ? "default" : own);
}

static int change(const struct qmgr_command *c, json_t *object, struct err *e)
{
	const struct setting *table = qmgr_settings(c->object);

	for (size_t i = 0; i < c->nitems; i++) {
		const struct qmgr_item *item = &c->items[i];

		if (setting_write(table, object, item->name, item->resource, item->op, item->value, e) < 0)
			return -1;
	}
	return 0;
}

/* A Route may be made before the queues that it leads to; who mistyped a name wants to know. */
static void warn_of_route(struct qmgr_work *w, const struct qmgr_command *c, const json_t *object)
{
	const json_t *v;
	size_t i;

	if (c->object != QMGR_QUEUE || !streq(jsonx_str_or(object, "spec.type", ""), "Route"))
		return;
	json_array_foreach (jsonx_at(object, "spec.destinations"), i, v) {
		auto_sbuf struct sbuf path = SBUF(LIMIT_URL);
		json_auto_t *queue = NULL;
		struct err e = ERR_INIT;

		path_of(QMGR_QUEUE, json_string_value(v), &path);
		if (pbs_get(w->pbs, path.p, &queue, &e) < 0 && e.kind == ERR_NOT_FOUND)
			fprintf(stderr, "qmgr: warning: queue %s leads to %s, which does not exist\n",
				jsonx_str_or(object, "metadata.name", ""), json_string_value(v));
	}
}

static int do_set(struct qmgr_work *w, const struct qmgr_command *c, const char *name, struct err *e)
{
	auto_sbuf struct sbuf path = SBUF(LIMIT_URL);
	int r = -1;

	path_of(c->object, name, &path);
	for (int i = 0; i < TRIES && r < 0; i++) {
		json_auto_t *object = NULL;

		err_clear(e);
		if (pbs_get(w->pbs, path.p, &object, e) < 0 || change(c, object, e) < 0)
			return -1;
		r = pbs_put(w->pbs, path.p, object, NULL, e);
		if (r < 0 && e->kind != ERR_CONFLICT)
			return -1;
		if (r == 0)
			warn_of_route(w, c, object);
	}
	return r;
}

/* As in PBS, a new queue takes and starts nothing until it is told to. */
static json_t *new_object(enum qmgr_object kind, const char *name)
{
	bool queue = kind == QMGR_QUEUE;
	auto_free char *own = object_name(kind, name);
	json_t *object = json_pack("{s:s,s:s,s:{s:o,s:{}}}", "apiVersion", queue ? "stoker.dev/v1" : "v1", "kind",
				   queue ? "Queue" : "Node", "metadata", "name", jsonx_string(own), "annotations");

	if (queue)
		json_object_set_new(object, "spec", json_pack("{s:b,s:b}", "enabled", 0, "started", 0));
	else
		json_object_set_new(jsonx_at(object, "metadata.annotations"), PBS_HOST_ANNOTATION,
				    jsonx_stringn(name, strcspn(name, "@")));
	return object;
}

static int do_create(struct qmgr_work *w, const struct qmgr_command *c, const char *name, struct err *e)
{
	json_auto_t *object = new_object(c->object, name);

	if (c->object == QMGR_SERVER)
		return pbs_error_set(e, ERR_INVALID, PBSE_IVALREQ, "there is one server");
	if (change(c, object, e) < 0 || pbs_post(w->pbs, paths[c->object], object, NULL, e) < 0)
		return -1;
	warn_of_route(w, c, object);
	return 0;
}

static int count_jobs(struct qmgr_work *w, const char *queue, struct job_counts *ret, struct err *e)
{
	struct board_query ask = { .elements = true, .queue = queue };
	auto_board struct board b = { 0 };
	struct board_job j;

	if (board_get(w->pbs, &ask, &b, e) < 0)
		return -1;
	while (board_next(&b, &j))
		job_counts_add(ret, &j.row);
	return 0;
}

/* The Node at the path, and what runs on it. */
static int check_idle(struct qmgr_work *w, const char *path, struct err *e)
{
	struct board_query ask = { .elements = true };
	auto_board struct board b = { 0 };
	json_auto_t *node = NULL;
	struct board_job j;
	struct node_view v;
	int r = 0;

	if (pbs_get(w->pbs, path, &node, e) < 0 || board_get(w->pbs, &ask, &b, e) < 0)
		return -1;
	node_view_init(&v, node);
	while (board_next(&b, &j))
		node_view_job(&v, &j.row);
	if (v.n)
		r = pbs_error_set(e, ERR_CONFLICT, PBSE_IVALREQ, "jobs run on node %.200s", v.name);
	node_view_done(&v);
	return r;
}

static int do_delete(struct qmgr_work *w, const struct qmgr_command *c, const char *name, struct err *e)
{
	auto_sbuf struct sbuf path = SBUF(LIMIT_URL);
	auto_free char *own = xstrndup(name, strcspn(name, "@"));
	struct job_counts counts = { 0 };

	if (c->object == QMGR_SERVER)
		return pbs_error_set(e, ERR_INVALID, PBSE_IVALREQ, "the server cannot be deleted");
	if (c->object == QMGR_QUEUE) {
		if (count_jobs(w, own, &counts, e) < 0)
			return -1;
		if (job_counts_total(&counts) > counts.n[COUNT_COMPLETE])
			return pbs_error_set(e, ERR_CONFLICT, PBSE_QUEBUSY, NULL);
	}
	path_of(c->object, name, &path);
	if (c->object == QMGR_NODE && check_idle(w, path.p, e) < 0)
		return -1;
	return pbs_delete(w->pbs, path.p, e);
}

/* ---- showing ---- */

static int list_node(struct qmgr_work *w, const json_t *node, struct pbs_attributes *a, struct err *e)
{
	struct board_query ask = { .elements = true };
	auto_board struct board b = { 0 };
	struct board_job j;
	struct node_view v;

	if (board_get(w->pbs, &ask, &b, e) < 0)
		return -1;
	node_view_init(&v, node);
	while (board_next(&b, &j))
		node_view_job(&v, &j.row);
	node_attributes(&v, NULL, a);
	node_view_done(&v);
	return 0;
}

static int list_one(struct qmgr_work *w, const struct qmgr_command *c, const json_t *object, struct err *e)
{
	const char *name = qmgr_name(c->object, object);
	auto_attributes struct pbs_attributes a = { 0 };
	struct job_counts counts = { 0 };

	if (c->object == QMGR_NODE) {
		if (list_node(w, object, &a, e) < 0)
			return -1;
	} else {
		if (count_jobs(w, c->object == QMGR_QUEUE ? name : NULL, &counts, e) < 0)
			return -1;
		if (c->object == QMGR_QUEUE)
			queue_attributes(object, &counts, &a);
		else
			server_attributes(object, &counts, &a);
	}
	qmgr_list(c->object, c->object == QMGR_SERVER ? pbs_server_name(w->pbs) : name, &a, c, &w->out);
	return 0;
}

static int show_one(struct qmgr_work *w, const struct qmgr_command *c, const json_t *object, struct err *e)
{
	if (c->verb == QMGR_LIST)
		return list_one(w, c, object, e);
	qmgr_print(c->object, object, c, &w->out);
	return 0;
}

/* All of a kind, in the order in which the server has them. */
static int show_all(struct qmgr_work *w, const struct qmgr_command *c, struct err *e)
{
	json_auto_t *list = NULL;
	json_t *v;
	size_t i;

	if (pbs_get(w->pbs, paths[c->object], &list, e) < 0)
		return -1;
	json_array_foreach (json_object_get(list, "items"), i, v)
		if (show_one(w, c, v, e) < 0)
			return -1;
	return 0;
}

/* With the queues, if all of it is to be printed. */
static int show_server(struct qmgr_work *w, const struct qmgr_command *c, struct err *e)
{
	const struct qmgr_command queues = { .verb = QMGR_PRINT, .object = QMGR_QUEUE };
	auto_sbuf struct sbuf path = SBUF(LIMIT_URL);
	json_auto_t *object = NULL;

	path_of(QMGR_SERVER, "", &path);
	if (pbs_get(w->pbs, path.p, &object, e) < 0)
		return -1;
	if (c->verb == QMGR_PRINT && !c->nitems) {
		qmgr_print_head(&w->out);
		if (show_all(w, &queues, e) < 0)
			return -1;
		qmgr_print_server_head(&w->out);
	}
	return show_one(w, c, object, e);
}

/* Attributes that there are not; PBS's that only it sets are, too. */
static int check_asked(const struct qmgr_command *c, struct err *e)
{
	static const char *const others[] = { "total_jobs",        "state_count", "server_state",
					      "pbs_version",       "jobs",        "status",
					      "gpu_status",        "power_state", "mtime",
					      "resources_assigned" };

	for (size_t i = 0; i < c->nitems; i++) {
		const char *name = c->items[i].name;
		bool known = false;

		for (const struct setting *s = qmgr_settings(c->object); s->name; s++)
			known |= strcasecmp(s->name, name) == 0;
		for (size_t k = 0; k < ARRAY_SIZE(others); k++)
			known |= streq(others[k], name);
		if (!known)
			return pbs_error_set(e, ERR_INVALID, PBSE_NOATTR, "%.60s", name);
	}
	return 0;
}

static int do_show(struct qmgr_work *w, const struct qmgr_command *c, const char *name, struct err *e)
{
	auto_sbuf struct sbuf path = SBUF(LIMIT_URL);
	json_auto_t *object = NULL;

	if (check_asked(c, e) < 0)
		return -1;
	if (c->object == QMGR_SERVER)
		return show_server(w, c, e);
	if (!*name || *name == '@')
		return show_all(w, c, e);
	path_of(c->object, name, &path);
	if (pbs_get(w->pbs, path.p, &object, e) < 0)
		return -1;
	return show_one(w, c, object, e);
}

static int (*const doers[])(struct qmgr_work *w, const struct qmgr_command *c, const char *name, struct err *e) = {
	[QMGR_CREATE] = do_create, [QMGR_DELETE] = do_delete, [QMGR_SET] = do_set,
	[QMGR_UNSET] = do_set,     [QMGR_LIST] = do_show,     [QMGR_PRINT] = do_show,
};

int qmgr_do(struct qmgr_work *w, const struct qmgr_command *c, const char *name, struct err *e)
{
	return doers[c->verb](w, c, name, e);
}
