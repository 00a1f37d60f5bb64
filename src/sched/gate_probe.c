// SPDX-License-Identifier: Apache-2.0
/* gate_probe.c - one question after the other
 *
 *	/version -> may nodes be listed? -> are there Queues? -> does a pod keep its gate?
 *
 * The last is asked by a pod that is only tried (dryRun): a server that does not know the field drops it without a
 *word, and so does one that has it switched off.  If it takes no pod at all in that namespace, its version decides. The
 * version is asked for again now and then: whoever upgrades a server does not tell its clients.
 */
#include "sched/gate_probe.h"

#include "base/jsonx.h"
#include "base/log.h"
#include "base/mem.h"
#include "loop/gate.h"

#define RETRY_MS 2000
#define AGAIN_MS (5 * 60 * 1000)

struct gate_probe {
	struct client *client;
	char *ns;
	void (*done)(void *arg, const struct gate_found *found);
	void *arg;
	struct loop_timer timer;
	struct gate_found found;
	char *denied;
	json_t *version; /* NULL: not answered yet */
	bool waiting;    /* for an answer, */
	bool freed;      /* which is to free us */
};

static void ask_version(void *arg);

static void probe_done(struct gate_probe *p)
{
	loop_timer_done(&p->timer);
	json_decref(p->version);
	free(p->denied);
	free(p->ns);
	free(p);
}

/* True if the answer is of use.  One that never came is asked for again, from the beginning. */
static bool is_answer(struct gate_probe *p, const struct err *e)
{
	p->waiting = false;
	if (p->freed) {
		probe_done(p);
		return false;
	}
	if (e->kind != ERR_UNAVAILABLE && e->kind != ERR_TIMEOUT && e->kind != ERR_TOO_MANY && e->kind != ERR_INTERNAL)
		return true;
	json_decref(p->version);
	p->version = NULL;
	loop_timer_set(p->client->loop, &p->timer, RETRY_MS);
	return false;
}

bool gate_version_has(const json_t *version)
{
	long major = strtol(jsonx_str_or(version, "major", "0"), NULL, 10);
	long minor = strtol(jsonx_str_or(version, "minor", "0"), NULL, 10); /* "27+" is 27 */

	return major > 1 || (major == 1 && minor >= 27);
}

static void tell(struct gate_probe *p)
{
	p->found.denied = p->denied;
	loop_timer_set(p->client->loop, &p->timer, AGAIN_MS);
	p->done(p->arg, &p->found);
}

static void on_tried(void *arg, const json_t *pod, const struct err *e)
{
	struct gate_probe *p = arg;

	if (!is_answer(p, e))
		return;
	p->found.gates = e->kind == ERR_NONE ? json_array_size(jsonx_at(pod, "spec.schedulingGates")) > 0
					     : gate_version_has(p->version);
	tell(p);
}

static void try_pod(struct gate_probe *p)
{
	struct ref ref = { .api_version = "v1", .plural = "pods", .ns = p->ns, .dry_run = true };
	json_auto_t *pod = json_pack("{s:s, s:s, s:{s:s}, s:{s:[{s:s}], s:[{s:s, s:s}]}}", "apiVersion", "v1", "kind",
				     "Pod", "metadata", "generateName", "stoker-try-", "spec", "schedulingGates",
				     "name", GATE_NAME, "containers", "name", "c", "image", "none");

	p->waiting = true;
	p->client->ops->create(p->client, &ref, pod, on_tried, p);
}

static void on_queues(void *arg, const json_t *list, const struct err *e)
{
	struct gate_probe *p = arg;

	(void)list;
	if (!is_answer(p, e))
		return;
	if (e->kind == ERR_FORBIDDEN)
		log_warn("list queues: %s, so there is one queue for all", e->text);
	p->found.queues = e->kind == ERR_NONE;
	try_pod(p);
}

static void ask_list(struct gate_probe *p, const char *api_version, const char *plural, client_done *done)
{
	struct ref ref = { .api_version = api_version, .plural = plural };
	struct list_options one = { .limit = 1 };

	p->waiting = true;
	p->client->ops->list(p->client, &ref, &one, done, p);
}

static void on_nodes(void *arg, const json_t *list, const struct err *e)
{
	struct gate_probe *p = arg;

	(void)list;
	if (!is_answer(p, e))
		return;
	p->found.nodes = e->kind == ERR_NONE;
	free(p->denied);
	p->denied = e->kind == ERR_NONE ? NULL : xstrdup(e->text);
	if (p->denied)
		tell(p);
	else
		ask_list(p, "stoker.dev/v1", "queues", on_queues);
}

static void on_version(void *arg, int code, struct str body, const struct err *e)
{
	struct gate_probe *p = arg;
	struct err ignored = ERR_INIT;
	json_t *version = NULL;

	if (!is_answer(p, e))
		return;
	if (e->kind != ERR_NONE || code != 200 || jsonx_parse(body.p, body.n, NULL, NULL, &version, &ignored) < 0)
		version = json_object();
	if (p->version && json_equal(p->version, version)) {
		json_decref(version);
		loop_timer_set(p->client->loop, &p->timer, AGAIN_MS);
		return;
	}
	json_decref(p->version);
	p->version = version;
	ask_list(p, "v1", "nodes", on_nodes);
}

static void ask_version(void *arg)
{
	struct gate_probe *p = arg;

	p->waiting = true;
	p->client->ops->raw(p->client, "GET", "/version", STR(""), on_version, p);
}

struct gate_probe *gate_probe_new(struct client *c, const char *ns,
				  void (*done)(void *arg, const struct gate_found *found), void *arg)
{
	struct gate_probe *p = xcalloc(1, sizeof(*p));

	p->client = c;
	p->ns = xstrdup(ns);
	p->done = done;
	p->arg = arg;
	p->timer = (struct loop_timer){ .fire = ask_version, .arg = p };
	ask_version(p);
	return p;
}

void gate_probe_free(struct gate_probe *p)
{
	if (!p)
		return;
	loop_timer_done(&p->timer);
	p->freed = true;
	if (!p->waiting)
		probe_done(p);
}
