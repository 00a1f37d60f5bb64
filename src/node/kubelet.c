// SPDX-License-Identifier: Apache-2.0
/* kubelet.c - what the API asks of this machine, handed to those who can do it
 *
 * Each operation finds the container and passes on; logs are log_door.c's, commands and streams session.c's,
 * connections netns.c's, figures usage.c's.
 */
#include "node/kubelet.h"

#include "base/clock.h"
#include "base/jsonx.h"
#include "base/mem.h"
#include "node/log_door.h"
#include "node/netns.h"
#include "node/session.h"

struct node_kubelet {
	struct kubelet base;
	struct kubelet_config config;
	struct session_list sessions;
	struct usage *usage;
};

static int find(struct kubelet *k, const struct kubelet_target *of, struct pod_container *ret, struct err *e)
{
	const struct kubelet_config *c = &((struct node_kubelet *)k)->config;

	return c->find(c->arg, of->uid, of->container, false, ret, e);
}

static int find_running(struct kubelet *k, const struct kubelet_target *of, struct pod_container *ret, struct err *e)
{
	if (find(k, of, ret, e) < 0)
		return -1;
	if (!ret->running || !ret->id || !ret->process)
		return err_set(e, ERR_NOT_FOUND, "container not found (\"%s\")", of->container);
	return 0;
}

static struct session_where where(struct kubelet *k)
{
	struct node_kubelet *nk = (struct node_kubelet *)k;

	return (struct session_where){ nk->config.loop, nk->config.runtime, &nk->sessions };
}

static int do_exec(struct kubelet *k, const struct kubelet_exec_request *q, const struct kubelet_session_handlers *h,
		   struct kubelet_session **ret, struct err *e)
{
	struct session_where at = where(k);
	struct pod_container c;

	if (!json_array_size(q->command))
		return err_set(e, ERR_BAD_REQUEST, "you must specify at least one command for the container");
	return find_running(k, &q->of, &c, e) < 0 ? -1 : session_exec(&at, &c, q, h, ret, e);
}

static int do_attach(struct kubelet *k, const struct kubelet_exec_request *q, const struct kubelet_session_handlers *h,
		     struct kubelet_session **ret, struct err *e)
{
	struct session_where at = where(k);
	struct pod_container c;

	return find_running(k, &q->of, &c, e) < 0 ? -1 : session_attach(&at, &c, q, h, ret, e);
}

static int do_dial(struct kubelet *k, const struct kubelet_target *of, int port, struct err *e)
{
	struct pod_container c;

	if (find(k, of, &c, e) < 0)
		return -1;
	/* A pod's own network is there as long as the pod; without one, only a running container is a reason. */
	if (!c.net_ns && !c.running)
		return err_set(e, ERR_NOT_FOUND, "container not found (\"%s\")", of->container);
	return netns_dial(c.net_ns, port, e);
}

/* --- logs --- */

static int do_log(struct kubelet *k, const struct kubelet_log_request *q, const struct kubelet_log_handlers *h,
		  struct kubelet_log **ret, struct err *e)
{
	const struct kubelet_config *c = &((struct node_kubelet *)k)->config;
	struct pod_container container;

	if (c->find(c->arg, q->of.uid, q->of.container, q->previous, &container, e) < 0)
		return -1;
	return log_door_open(c->loop, c->logs, &container, q, h, ret, e);
}

static json_t *do_logs_find(struct kubelet *k, const char *ns, const char *name)
{
	return log_door_find(((struct node_kubelet *)k)->config.logs, ns, name);
}

static json_t *do_measures(struct kubelet *k, const char *ns, const json_t *pods)
{
	return log_door_measures(((struct node_kubelet *)k)->config.logs, ns, pods);
}

static int do_log_kept(struct kubelet *k, const struct kubelet_log_request *q, const struct kubelet_log_handlers *h,
		       struct kubelet_log **ret, struct err *e)
{
	const struct kubelet_config *c = &((struct node_kubelet *)k)->config;

	return log_door_kept(c->loop, c->logs, q, h, ret, e);
}

/* --- figures --- */

static json_t *rate_json(const struct usage_rate *r)
{
	char at[CLOCK_RFC3339_LEN];
	int64_t seconds = (r->window_ms + 500) / 1000;

	clock_rfc3339(r->wall_us / 1000000, at);
	return json_pack("{s:s, s:I, s:I, s:I, s:I}", "timestamp", at, "window",
			 (json_int_t)(seconds > 0 ? seconds : 1), "cpu_nano", (json_int_t)r->cpu_nano, "cpu_total_nano",
			 (json_int_t)r->total_ns, "memory_bytes", (json_int_t)r->memory_bytes);
}

/* Adds one container's figures; the pod's time and window are those of the first. */
static void add_container(json_t *doc, const char *name, const struct usage_rate *r)
{
	json_t *one = rate_json(r);

	if (!json_object_get(doc, "timestamp")) {
		json_object_set(doc, "timestamp", json_object_get(one, "timestamp"));
		json_object_set(doc, "window", json_object_get(one, "window"));
	}
	json_object_del(one, "timestamp");
	json_object_del(one, "window");
	json_object_set_new(one, "name", json_string(name));
	json_array_append_new(json_object_get(doc, "containers"), one);
}

static int do_pod_usage(struct kubelet *k, const char *uid, const json_t *containers, json_t **ret, struct err *e)
{
	struct node_kubelet *nk = (struct node_kubelet *)k;
	json_auto_t *doc = json_pack("{s:[]}", "containers");
	json_t *name;
	size_t i;

	json_array_foreach (containers, i, name) {
		struct kubelet_target of = { .uid = uid, .container = json_string_value(name) };
		struct pod_container c = { 0 };
		struct usage_rate rate;
		struct err skip = ERR_INIT;

		/* One that does not run uses nothing. */
		if (find(k, &of, &c, &skip) < 0 || !c.running || !c.cgroup)
			continue;
		if (usage_ask(nk->usage, c.cgroup, &rate, e) < 0)
			return -1;
		add_container(doc, of.container, &rate);
	}
	if (!json_array_size(json_object_get(doc, "containers")))
		return err_set(e, ERR_NOT_FOUND, "no container of the pod runs");
	*ret = TAKE(doc);
	return 0;
}

static int do_node_usage(struct kubelet *k, const char *node, json_t **ret, struct err *e)
{
	struct node_kubelet *nk = (struct node_kubelet *)k;
	struct usage_rate rate;
	double load;

	if (!streq(node, nk->config.node))
		return err_set(e, ERR_NOT_FOUND, "node %s is another machine", node);
	if (usage_ask(nk->usage, "", &rate, e) < 0)
		return -1;
	*ret = rate_json(&rate);
	if (getloadavg(&load, 1) == 1)
		json_object_set_new(*ret, "load_milli", json_integer((json_int_t)(load * 1000)));
	return 0;
}

/* --- jobs --- */

static int do_signal(struct kubelet *k, const struct kubelet_target *of, int signo, struct err *e)
{
	struct runtime *r = ((struct node_kubelet *)k)->config.runtime;
	struct pod_container c;

	return find_running(k, of, &c, e) < 0 ? -1 : r->ops->kill(r, c.id, signo, true, e);
}

static int do_message(struct kubelet *k, const struct kubelet_target *of, int stream, struct str text, struct err *e)
{
	struct runtime *r = ((struct node_kubelet *)k)->config.runtime;
	bool whole = text.n && text.p[text.n - 1] == '\n';
	auto_free char *line = xasprintf("%.*s%s", STR_FMT(text), whole ? "" : "\n");
	struct pod_container c;

	if (find_running(k, of, &c, e) < 0)
		return -1;
	if (!r->ops->say)
		return err_set(e, ERR_UNAVAILABLE, "nothing can be added to what containers of this node print");
	return r->ops->say(r, c.id, stream, str_of(line), e);
}

static const struct kubelet_ops ops = {
	.log = do_log,
	.log_pause = log_door_pause,
	.log_close = log_door_close,
	.logs_find = do_logs_find,
	.log_kept = do_log_kept,
	.measures = do_measures,
	.exec = do_exec,
	.attach = do_attach,
	.input = session_input,
	.input_pending = session_input_pending,
	.input_end = session_input_end,
	.resize = session_resize,
	.pause = session_pause,
	.close = session_close,
	.dial = do_dial,
	.pod_usage = do_pod_usage,
	.node_usage = do_node_usage,
	.signal = do_signal,
	.message = do_message,
};

struct kubelet *kubelet_new(const struct kubelet_config *config)
{
	struct node_kubelet *nk = xcalloc(1, sizeof(*nk));

	nk->base.ops = &ops;
	nk->config = *config;
	LIST_INIT(&nk->sessions);
	nk->usage = usage_new(config->loop, config->read_usage, config->arg);
	return &nk->base;
}

void kubelet_free(struct kubelet *k)
{
	struct node_kubelet *nk = (struct node_kubelet *)k;

	if (!nk)
		return;
	session_stop_all(&nk->sessions);
	usage_free(nk->usage);
	free(nk);
}
