// SPDX-License-Identifier: Apache-2.0
/* pod_status.c - from what the node knows of a pod to its status
 *
 * Fields that others own (qosClass, nominatedNodeName, conditions of readiness gates) are kept.  A condition's
 * transition time moves only when its status does, so that a status that says the same is byte for byte the same and
 * causes no write.
 */
#include "node/pod_status.h"

#include "base/clock.h"
#include "base/jsonx.h"
#include "base/mem.h"
#include "kinds/activity.h"
#include "kinds/condition.h"
#include "kinds/idle_gpu.h"

static json_t *time_json(int64_t us)
{
	char text[CLOCK_RFC3339_LEN];

	clock_rfc3339(us / 1000000, text);
	return json_string(text);
}

static const char *end_reason(const struct ctr_end *end)
{
	if (end->reason)
		return end->reason;
	if (end->exit.unknown)
		return "ContainerStatusUnknown";
	if (end->exit.oom)
		return "OOMKilled";
	return end->exit.code == 0 ? "Completed" : "Error";
}

static json_t *terminated(const struct ctr_end *end)
{
	json_t *t = json_pack("{s:i, s:s}", "exitCode", end->exit.code, "reason", end_reason(end));

	if (end->signalled)
		json_object_set_new(t, "signal", json_integer(end->exit.signal));

	if (end->message && *end->message)
		json_object_set_new(t, "message", jsonx_string(end->message));
	/* One that never started did so in 1970, as everywhere. */
	if (!end->exit.unknown || end->started_us)
		json_object_set_new(t, "startedAt", time_json(end->started_us));
	json_object_set_new(t, "finishedAt", time_json(end->exit.finished_us));
	if (end->id)
		json_object_set_new(t, "containerID", json_string(end->id));
	return json_pack("{s:o}", "terminated", t);
}

/* As the kubelet has it, any pod with init containers is initializing until the container is there. */
static json_t *waiting(const struct ctr_report *c, bool has_init)
{
	const char *reason = c->waiting_reason ? c->waiting_reason : has_init ? "PodInitializing" : "ContainerCreating";
	json_t *w = json_pack("{s:s}", "reason", reason);

	if (c->waiting_message)
		json_object_set_new(w, "message", jsonx_string(c->waiting_message));
	return json_pack("{s:o}", "waiting", w);
}

static json_t *state_of(const struct ctr_report *c, bool has_init)
{
	switch (c->state) {
	case CTR_RUNNING:
	case CTR_STOPPING:
		return json_pack("{s:{s:o}}", "running", "startedAt", time_json(c->started_us));
	case CTR_EXITED:
		/* Between two runs it waits; the end itself is lastState. */
		return c->waiting_reason ? waiting(c, has_init) : terminated(&c->end);
	default:
		return waiting(c, has_init);
	}
}

static json_t *container_status(const struct ctr_report *c, bool has_init)
{
	json_t *last = c->state == CTR_EXITED && c->waiting_reason ? terminated(&c->end)
		       : c->last.known                             ? terminated(&c->last)
								   : json_object();
	json_t *s = json_pack("{s:s, s:s, s:s, s:i, s:b, s:b, s:o, s:o}", "name", c->name, "image", c->image, "imageID",
			      c->image_id ? c->image_id : "", "restartCount", c->restarts, "ready", c->ready, "started",
			      c->started, "state", state_of(c, has_init), "lastState", last);

	if (c->id)
		json_object_set_new(s, "containerID", json_string(c->id));
	return s;
}

static void add_condition(json_t *list, const json_t *old, const char *type, bool value, const char *reason,
			  const char *message, int64_t now_us)
{
	const json_t *was = condition_in(json_object_get(old, "conditions"), type);
	const char *status = value ? "True" : "False";
	json_t *c = json_pack("{s:s, s:s, s:n}", "type", type, "status", status, "lastProbeTime");

	if (was && str_same(jsonx_str(was, "status"), status) && json_object_get(was, "lastTransitionTime"))
		json_object_set(c, "lastTransitionTime", json_object_get(was, "lastTransitionTime"));
	else
		json_object_set_new(c, "lastTransitionTime", time_json(now_us));
	if (reason)
		json_object_set_new(c, "reason", json_string(reason));
	if (message)
		json_object_set_new(c, "message", jsonx_string(message));
	json_array_append_new(list, c);
}

/* Its two times are data: idle_gpu.h. */
static void add_idle(json_t *list, const struct pod_report *r)
{
	if (r->idle_text)
		json_array_append_new(list, json_pack("{s:s, s:s, s:o, s:o, s:s, s:o}", "type", POD_GPU_ACTIVE,
						      "status", "False", "lastProbeTime", time_json(r->idle_at_us),
						      "lastTransitionTime", time_json(r->idle_since_us), "reason",
						      r->idle_long ? GPU_IDLE_LONG : GPU_IDLE, "message",
						      jsonx_string(r->idle_text)));
	else
		json_array_append_new(list, json_pack("{s:s, s:s, s:n, s:o}", "type", POD_GPU_ACTIVE, "status", "True",
						      "lastProbeTime", "lastTransitionTime", time_json(r->idle_at_us)));
}

/* Conditions that someone else put there stay. */
static void keep_foreign(json_t *list, const json_t *old, const struct pod_report *r)
{
	static const char *const ours[] = { "PodReadyToStartContainers", "Initialized", "Ready", "ContainersReady",
					    "PodScheduled" };
	json_t *c;
	size_t i;

	json_array_foreach (json_object_get(old, "conditions"), i, c) {
		bool mine = (r->activity_us && str_same(jsonx_str(c, "type"), POD_ACTIVE)) ||
			    (r->idle_at_us && str_same(jsonx_str(c, "type"), POD_GPU_ACTIVE));

		for (size_t k = 0; k < ARRAY_SIZE(ours); k++)
			mine |= str_same(jsonx_str(c, "type"), ours[k]);
		if (!mine)
			json_array_append(list, c);
	}
}

/* Why a pod whose containers are ready is not, or NULL; malloc'ed. */
static char *gate_problem(const json_t *spec, const json_t *old)
{
	auto_sbuf struct sbuf text = SBUF(4096);
	json_t *g;
	size_t i;

	json_array_foreach (json_object_get(spec, "readinessGates"), i, g) {
		const char *type = jsonx_str_or(g, "conditionType", "");
		const json_t *c = condition_in(json_object_get(old, "conditions"), type);
		const char *status = jsonx_str_or(c, "status", "");

		if (c && streq(status, "True"))
			continue;
		sbuf_adds(&text, text.n ? ", " : "");
		if (c)
			sbuf_addf(&text, "the status of pod readiness gate \"%s\" is not \"True\", but %s", type,
				  status);
		else
			sbuf_addf(&text, "corresponding condition of pod readiness gate \"%s\" does not exist.", type);
	}
	return text.n ? sbuf_steal(&text) : NULL;
}

/* ---- conditions ---- */

/* "containers with WHAT status: [a b]" for those the test picks out, or NULL; malloc'ed. */
static char *names_of(const struct pod_report *r, const char *what, bool (*pick)(const struct ctr_report *c))
{
	auto_sbuf struct sbuf text = SBUF(4096);

	for (size_t i = 0; i < r->n; i++)
		if (pick(&r->ctrs[i]))
			sbuf_addf(&text, "%s%s", text.n ? " " : "", r->ctrs[i].name);
	return text.n ? xasprintf("containers with %s status: [%s]", what, text.p) : NULL;
}

static bool is_incomplete(const struct ctr_report *c)
{
	return c->init && !(c->sidecar ? c->started : c->ready);
}

static bool is_unready(const struct ctr_report *c)
{
	return (!c->init || c->sidecar) && !c->ready;
}

static bool has_begun(const struct pod_report *r)
{
	for (size_t i = 0; i < r->n; i++)
		if (!r->ctrs[i].init && (r->ctrs[i].started || r->ctrs[i].state == CTR_EXITED || r->ctrs[i].restarts))
			return true;
	return false;
}

static json_t *conditions_of(const json_t *spec, const json_t *old, const struct pod_report *r, int64_t now_us)
{
	json_t *list = json_array();
	bool done = r->phase == PHASE_SUCCEEDED;
	bool ended = done || r->phase == PHASE_FAILED;
	const char *why = done ? "PodCompleted" : ended ? "PodFailed" : "ContainersNotReady";
	auto_free char *incomplete = names_of(r, "incomplete", is_incomplete);
	auto_free char *unready = names_of(r, "unready", is_unready);
	auto_free char *gates = gate_problem(spec, old);
	bool initialized = done || !incomplete || has_begun(r);
	bool ready = !unready && !ended;

	add_condition(list, old, "PodReadyToStartContainers", r->has_network && !ended, NULL, NULL, now_us);
	add_condition(list, old, "Initialized", initialized,
		      done           ? "PodCompleted"
		      : !initialized ? "ContainersNotInitialized"
				     : NULL,
		      initialized ? NULL : incomplete, now_us);
	if (ready && gates)
		add_condition(list, old, "Ready", false, "ReadinessGatesNotReady", gates, now_us);
	else
		add_condition(list, old, "Ready", ready, ready ? NULL : why, ended ? NULL : unready, now_us);
	add_condition(list, old, "ContainersReady", ready, ready ? NULL : why, ended ? NULL : unready, now_us);
	add_condition(list, old, "PodScheduled", true, NULL, NULL, now_us);
	if (r->activity_us)
		add_condition(list, old, POD_ACTIVE, !r->silence, r->silence ? "Silent" : NULL, r->silence,
			      r->activity_us);
	if (r->idle_at_us)
		add_idle(list, r);
	keep_foreign(list, old, r);
	return list;
}

static void set_addresses(json_t *s, const struct pod_report *r)
{
	if (r->host_ip) {
		json_object_set_new(s, "hostIP", json_string(r->host_ip));
		json_object_set_new(s, "hostIPs", json_pack("[{s:s}]", "ip", r->host_ip));
	}
	if (r->pod_ip) {
		json_object_set_new(s, "podIP", json_string(r->pod_ip));
		json_object_set_new(s, "podIPs", json_pack("[{s:s}]", "ip", r->pod_ip));
	}
}

/* In a pod that has ended nobody waits for a next run: how the last one ended is how it stands. */
static struct ctr_report at_rest(struct ctr_report c)
{
	if (c.state == CTR_WAITING && c.last.known) {
		c.state = CTR_EXITED;
		c.end = c.last;
		c.last = (struct ctr_end){ 0 };
	}
	if (c.state == CTR_EXITED)
		c.waiting_reason = NULL;
	return c;
}

json_t *pod_status_make(const json_t *spec, const json_t *old, const struct pod_report *r, int64_t now_us)
{
	json_t *s = old ? json_copy((json_t *)old) : json_object();
	json_t *init = json_array();
	json_t *rest = json_array();
	bool has_init = r->n && r->ctrs[0].init;

	for (size_t i = 0; i < r->n; i++) {
		bool ended = r->phase == PHASE_SUCCEEDED || r->phase == PHASE_FAILED;
		struct ctr_report c = ended ? at_rest(r->ctrs[i]) : r->ctrs[i];

		json_array_append_new(c.init ? init : rest, container_status(&c, has_init));
	}
	json_object_set_new(s, "phase", json_string(pod_phase_name(r->phase)));
	json_object_set_new(s, "conditions", conditions_of(spec, old, r, now_us));
	set_addresses(s, r);
	if (r->start_us)
		json_object_set_new(s, "startTime", time_json(r->start_us));
	if (json_array_size(init))
		json_object_set(s, "initContainerStatuses", init);
	json_object_set_new(s, "containerStatuses", rest);
	json_decref(init);
	if (r->used && (r->phase == PHASE_SUCCEEDED || r->phase == PHASE_FAILED))
		json_object_set(s, "used", (json_t *)r->used);
	/* Why a pod failed is told when it has: until its containers have ended, it runs. */
	if (r->phase == PHASE_FAILED && r->reason)
		json_object_set_new(s, "reason", json_string(r->reason));
	if (r->phase == PHASE_FAILED && r->message)
		json_object_set_new(s, "message", jsonx_string(r->message));
	return s;
}
