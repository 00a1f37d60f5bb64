// SPDX-License-Identifier: Apache-2.0
/* drain.c - `stoker drain`: a node without pods, now or from a time on
 *
 * Now: nothing new is placed there, and its pods are evicted as fast as their PodDisruptionBudgets allow; the command
 * comes back when the last has gone.  At a time: a Reservation for nobody keeps work away that would still run then,
 * and the work that runs into it is listed.
 */
#include <signal.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/jsonx.h"
#include "base/mem.h"
#include "cli/connect.h"
#include "cli/drain_pods.h"
#include "cli/find.h"
#include "cli/output.h"
#include "cli/when.h"

#define STATUS_TIMEOUT 124
#define AGAIN_MS       2000 /* before a budget is asked again */

struct drain_settings {
	struct connect_settings connect;
	const char *at, *reason;
	int64_t timeout;
	bool force, undo;
};

#define AT(field) offsetof(struct drain_settings, field)
static const struct opt drain_opts[] = {
	{ .name = "at",
	  .type = OPT_STRING,
	  .offset = AT(at),
	  .arg = "TIME",
	  .help = "not now but then: 14:00, \"tomorrow 9:00\", \"2026-11-20 09:00\", +2h" },
	{ .name = "timeout",
	  .letter = 't',
	  .type = OPT_DURATION,
	  .offset = AT(timeout),
	  .arg = "TIME",
	  .help = "wait no longer than that (default: as long as it takes)" },
	{ .name = "force", .type = OPT_FLAG, .offset = AT(force), .help = "also pods that nobody would start again" },
	{ .name = "undo", .type = OPT_FLAG, .offset = AT(undo), .help = "let the node take pods again" },
	{ .name = "reason", .type = OPT_STRING, .offset = AT(reason), .arg = "TEXT", .help = "with --at: what for" },
	CONNECT_OPTS,
	OPT_END,
};

/* A pod that has to go. */
struct leaver {
	char *ns, *name, *uid;
	bool asked; /* its eviction was accepted */
	bool gone, told;
};

struct session {
	const struct command *cmd;
	const struct drain_settings *s;
	struct connection c;
	const char *node;
	struct leaver *pods;
	size_t n, cap, left;
	struct informer *informer;
	struct loop_timer late, again;
	bool is_late, interrupted, ask;
};

static struct ref node_ref(const struct session *s)
{
	return (struct ref){ .api_version = "v1", .plural = "nodes", .name = s->node };
}

/* The Reservation by which a node is drained at a time. */
static struct ref reservation_ref(const char *name)
{
	return (struct ref){ .api_version = "stoker.dev/v1", .plural = "reservations", .name = name };
}

static int set_unschedulable(struct session *s, bool on, struct err *e)
{
	struct ref ref = node_ref(s);
	json_auto_t *patch = json_pack("{s:{s:o}}", "spec", "unschedulable", on ? json_true() : json_null());

	return client_patch_wait(s->c.client, &ref, "merge", patch, NULL, e);
}

static int list_pods(struct session *s, json_t **ret, struct err *e)
{
	auto_free char *fields = xasprintf("spec.nodeName=%s,status.phase!=Succeeded,status.phase!=Failed", s->node);
	struct ref ref = { .api_version = "v1", .plural = "pods" };

	return client_list_wait(s->c.client, &ref, &(struct list_options){ .fields = fields }, ret, e);
}

/* ---- back again ---- */

static int undo(struct session *s, struct err *e)
{
	auto_free char *name = xasprintf("drain-%s", s->node);
	struct ref ref = reservation_ref(name);

	if (set_unschedulable(s, false, e) < 0)
		return -1;
	if (client_delete_wait(s->c.client, &ref, NULL, e) < 0) {
		if (e->kind != ERR_NOT_FOUND)
			return -1;
		err_clear(e);
	}
	printf("node/%s takes pods again\n", s->node);
	return 0;
}

/* ---- at a time ---- */

static int reserve(struct session *s, int64_t at, struct err *e)
{
	auto_free char *name = xasprintf("drain-%s", s->node);
	struct ref ref = reservation_ref(name);
	json_auto_t *spec = NULL;
	json_auto_t *obj = NULL;
	char start[CLOCK_RFC3339_LEN];

	clock_rfc3339(at, start);
	spec = json_pack("{s:s, s:n, s:[s], s:o}", "start", start, "end", "nodes", s->node, "reason",
			 jsonx_string(s->s->reason ? s->s->reason : "maintenance"));
	obj = json_pack("{s:O}", "spec", spec);
	if (client_patch_wait(s->c.client, &ref, "merge", obj, NULL, e) == 0)
		return 0;
	if (e->kind != ERR_NOT_FOUND)
		return -1;
	err_clear(e);
	json_object_del(spec, "end");
	jsonx_set_new(obj, "apiVersion", json_string("stoker.dev/v1"));
	jsonx_set_new(obj, "kind", json_string("Reservation"));
	jsonx_set_new(obj, "metadata.name", json_string(name));
	ref.name = NULL;
	return client_create_wait(s->c.client, &ref, obj, NULL, e);
}

static const struct table_column later_columns[] = {
	{ .title = "NAMESPACE" },
	{ .title = "POD" },
	{ .title = "OF" },
	{ .title = "ENDS BY" },
};

static void list_later(const json_t *pods, int64_t at, int64_t now)
{
	auto_table struct table t = TABLE(later_columns);
	json_t *pod;
	size_t i;

	json_array_foreach (json_object_get(pods, "items"), i, pod) {
		char text[CLOCK_SHORT_LEN] = "no walltime";
		int64_t end = drain_pod_end(pod, now);
		const json_t *owner = find_controller(pod);

		if (drain_pod_stays(pod) || (end && end <= at))
			continue;
		if (end)
			clock_short(end, now, text);
		table_add(&t, TINT_NONE, jsonx_str(pod, "metadata.namespace"));
		table_add(&t, TINT_NONE, jsonx_str(pod, "metadata.name"));
		if (owner)
			table_addf(&t, TINT_NONE, "%s/%s", jsonx_str_or(owner, "kind", ""),
				   jsonx_str_or(owner, "name", ""));
		else
			table_add(&t, TINT_NONE, NULL);
		table_add(&t, TINT_NONE, text);
	}
	if (!table_rows(&t)) {
		puts("Everything that runs there ends before.");
		return;
	}
	puts("What runs there now and may run longer:");
	table_print(&t, false);
	printf("`stoker drain` then ends it, or `stoker kill` before.\n");
}

static int drain_at(struct session *s, struct err *e)
{
	json_auto_t *pods = NULL;
	int64_t now = clock_wall();
	char text[CLOCK_SHORT_LEN];
	int64_t at;

	if (when_parse("--at", s->s->at, now, &at, e) < 0)
		return -1;
	if (at <= now)
		return err_set(e, ERR_BAD_REQUEST, "--at: \"%s\" is over; leave --at out to drain the node now",
			       s->s->at);
	if (reserve(s, at, e) < 0 || list_pods(s, &pods, e) < 0)
		return -1;
	clock_short(at, now, text);
	printf("node/%s is reserved for maintenance from %s on: nothing starts there that may still run then\n",
	       s->node, text);
	list_later(pods, at, now);
	return 0;
}

/* ---- now ---- */

static int collect(struct session *s, struct err *e)
{
	auto_sbuf struct sbuf lost = SBUF(4096);
	json_auto_t *pods = NULL;
	json_t *pod;
	size_t i;

	if (list_pods(s, &pods, e) < 0)
		return -1;
	json_array_foreach (json_object_get(pods, "items"), i, pod) {
		struct leaver l = { 0 };

		if (drain_pod_stays(pod))
			continue;
		if (!find_controller(pod))
			sbuf_addf(&lost, "%s%s/%s", lost.n ? ", " : "", jsonx_str_or(pod, "metadata.namespace", ""),
				  jsonx_str_or(pod, "metadata.name", ""));
		l.ns = xstrdup(jsonx_str_or(pod, "metadata.namespace", ""));
		l.name = xstrdup(jsonx_str_or(pod, "metadata.name", ""));
		l.uid = xstrdup(jsonx_str_or(pod, "metadata.uid", ""));
		ARRAY_PUSH(s->pods, s->n, s->cap, l);
	}
	s->left = s->n;
	if (lost.n && !s->s->force)
		return err_set(e, ERR_CONFLICT,
			       "nobody would start these pods again: %s. --force ends them all the same", lost.p);
	return 0;
}

static void on_pod(void *arg, const json_t *obj, const json_t *old)
{
	struct session *s = arg;
	const char *uid = jsonx_str_or(old, "metadata.uid", "");

	/* What has ended no longer matches the watch. */
	for (size_t i = 0; !obj && i < s->n; i++)
		if (!s->pods[i].gone && streq(s->pods[i].uid, uid)) {
			s->pods[i].gone = true;
			s->left--;
			printf("pod %s/%s is gone, %zu left\n", s->pods[i].ns, s->pods[i].name, s->left);
			fflush(stdout);
		}
}

/* It may have gone before anybody watched. */
static void on_listed(void *arg)
{
	struct session *s = arg;

	for (size_t i = 0; i < s->n; i++) {
		const json_t *pod = informer_find(s->informer, s->pods[i].ns, s->pods[i].name);

		if (s->pods[i].gone || str_same(jsonx_str(pod, "metadata.uid"), s->pods[i].uid))
			continue;
		s->pods[i].gone = true;
		s->left--;
	}
}

static void watch(struct session *s)
{
	auto_free char *fields = xasprintf("spec.nodeName=%s,status.phase!=Succeeded,status.phase!=Failed", s->node);
	struct informer_handlers h = { .change = on_pod, .synced = on_listed, .arg = s };

	s->informer = informer_new(s->c.client, &(struct ref){ .api_version = "v1", .plural = "pods" },
				   &(struct list_options){ .fields = fields }, &h);
}

/* 0: accepted, or it is gone; 1: not now. */
static int evict(struct session *s, struct leaver *l, struct err *e)
{
	struct ref ref = {
		.api_version = "v1", .plural = "pods", .ns = l->ns, .name = l->name, .subresource = "eviction"
	};
	json_auto_t *body = json_pack("{s:s, s:s, s:{s:s, s:s}, s:{s:{s:s}}}", "apiVersion", "policy/v1", "kind",
				      "Eviction", "metadata", "name", l->name, "namespace", l->ns, "deleteOptions",
				      "preconditions", "uid", l->uid);

	if (client_create_wait(s->c.client, &ref, body, NULL, e) == 0)
		return 0;
	if (e->kind == ERR_NOT_FOUND || e->kind == ERR_CONFLICT) {
		err_clear(e);
		return 0;
	}
	if (e->kind != ERR_TOO_MANY)
		return err_prefix(e, "pod %s/%s", l->ns, l->name);
	if (!l->told)
		fprintf(stderr, "pod %s/%s may not go yet: %s Asking again.\n", l->ns, l->name, e->text);
	l->told = true;
	err_clear(e);
	return 1;
}

static int ask_all(struct session *s, struct err *e)
{
	bool refused = false;

	s->ask = false;
	for (size_t i = 0; i < s->n && !s->interrupted; i++) {
		struct leaver *l = &s->pods[i];
		int r;

		if (l->asked || l->gone)
			continue;
		r = evict(s, l, e);
		if (r < 0)
			return -1;
		l->asked = r == 0;
		refused |= r == 1;
	}
	if (refused)
		loop_timer_set(s->c.loop, &s->again, AGAIN_MS);
	return 0;
}

static void on_again(void *arg)
{
	((struct session *)arg)->ask = true;
}

static void on_late(void *arg)
{
	((struct session *)arg)->is_late = true;
}

static void on_interrupt(void *arg, int signo)
{
	(void)signo;
	((struct session *)arg)->interrupted = true;
}

static int drain_now(struct session *s, struct err *e)
{
	if (collect(s, e) < 0 || set_unschedulable(s, true, e) < 0)
		return -1;
	printf("node/%s takes no new pods; %zu to go\n", s->node, s->n);
	fflush(stdout);
	if (loop_on_signal(s->c.loop, SIGINT, on_interrupt, s, e) < 0)
		return -1;
	if (s->s->timeout)
		loop_timer_set(s->c.loop, &s->late, s->s->timeout * 1000);
	if (s->n)
		watch(s);
	s->ask = s->n > 0;
	while (s->left && !s->is_late && !s->interrupted) {
		if (s->ask && ask_all(s, e) < 0)
			return -1;
		if (s->left)
			loop_turn(s->c.loop, false);
	}
	if (s->left && s->interrupted) {
		fprintf(stderr, "Left; node/%s still takes no new pods. `stoker drain %s --undo` takes that back.\n",
			s->node, s->node);
		return 128 + SIGINT;
	}
	if (s->left) {
		fprintf(stderr, "stoker drain: %zu pods are still there after %llds; the node takes no new ones\n",
			s->left, (long long)s->s->timeout);
		return STATUS_TIMEOUT;
	}
	printf("node/%s is empty\n", s->node);
	return 0;
}

/* ---- the command ---- */

static int drain(struct session *s, struct err *e)
{
	struct ref ref = node_ref(s);

	if (s->s->undo && (s->s->at || s->s->force))
		return err_set(e, ERR_BAD_REQUEST, "--undo goes with no other option");
	if (client_get_wait(s->c.client, &ref, NULL, e) < 0)
		return -1;
	if (s->s->undo)
		return undo(s, e);
	return s->s->at ? drain_at(s, e) : drain_now(s, e);
}

static int run_drain(const struct command *cmd, int argc, char **argv)
{
	struct drain_settings settings = { 0 };
	struct session s = { .cmd = cmd,
			     .s = &settings,
			     .late = { .fire = on_late, .arg = &s },
			     .again = { .fire = on_again, .arg = &s } };
	struct err e = ERR_INIT;
	char **rest;
	int nrest;
	int status;

	if (command_parse(cmd, &settings, argc, argv, 1, 1, &rest, &nrest) < 0)
		return 2;
	if (connect_open(&settings.connect, &s.c, &e) < 0)
		return command_fail(cmd, &e);
	s.node = str_starts(rest[0], "node/") ? rest[0] + strlen("node/") : rest[0];
	status = drain(&s, &e);
	if (status < 0)
		status = e.kind == ERR_BAD_REQUEST ? command_misused(cmd, &e) : command_fail(cmd, &e);
	for (size_t i = 0; i < s.n; i++) {
		free(s.pods[i].ns);
		free(s.pods[i].name);
		free(s.pods[i].uid);
	}
	free(s.pods);
	informer_free(s.informer);
	loop_timer_done(&s.late);
	loop_timer_done(&s.again);
	connect_close(&s.c);
	return status;
}

const struct command cmd_drain = {
	.name = "drain",
	.args = "NODE [--at TIME] [--timeout TIME] [--force] [--undo]",
	.summary = "Empty a node for maintenance, now or at a time",
	.details = "The node takes no new pods, and those that it has are evicted within their PodDisruptionBudgets; "
		   "what\n"
		   "started them starts them again elsewhere. Pods of DaemonSets stay. With --at nothing is ended: "
		   "from now\n"
		   "on only work starts there that ends before that time, by its walltime.\n\n"
		   "Exit status: 0 when the node is empty, 124 after the timeout, 130 after Ctrl-C.\n\n"
		   "Examples:\n"
		   "  stoker drain gpu3\n"
		   "  stoker drain gpu3 --at \"tomorrow 7:00\" --reason \"new fans\"\n"
		   "  stoker drain gpu3 --undo\n",
	.opts = drain_opts,
	.run = run_drain,
};
