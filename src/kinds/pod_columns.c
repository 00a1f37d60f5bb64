// SPDX-License-Identifier: Apache-2.0
/* pod_columns.c - what `kubectl get pods` shows
 *
 * Ready, Status and Restarts come from one walk over the container statuses (pod_summarise), in the order in which a
 * person would look: first the init container that holds the pod up, else the containers from last to first.
 */
#include "kinds/pod_columns.h"

#include "base/jsonx.h"
#include "kinds/cells.h"
#include "kinds/condition.h"

#define REASON_BYTES 128

struct pod_summary {
	char reason[REASON_BYTES];
	int64_t total, ready, restarts;
	const char *last_restart; /* RFC3339, borrowed from the pod; NULL if none */
};

static const char *condition_member(const json_t *pod, const char *type, const char *member)
{
	return jsonx_str_or(condition_of(pod, type), member, "");
}

static void set_reason(struct pod_summary *s, const char *prefix, const char *reason)
{
	snprintf(s->reason, sizeof(s->reason), "%s%s", prefix, reason);
}

/* "Error", or what is known of a container that left no reason. */
static void set_terminated(struct pod_summary *s, const char *prefix, const json_t *terminated)
{
	const char *reason = jsonx_str_or(terminated, "reason", "");
	long long signal = jsonx_int_or(terminated, "signal", 0);

	if (*reason)
		set_reason(s, prefix, reason);
	else if (signal)
		snprintf(s->reason, sizeof(s->reason), "%sSignal:%lld", prefix, signal);
	else
		snprintf(s->reason, sizeof(s->reason), "%sExitCode:%lld", prefix,
			 (long long)jsonx_int_or(terminated, "exitCode", 0));
}

static void count_restarts(struct pod_summary *s, const json_t *status)
{
	const char *end = jsonx_str(status, "lastState.terminated.finishedAt");

	s->restarts += jsonx_int_or(status, "restartCount", 0);
	/* RFC3339 in UTC sorts as text. */
	if (end && (!s->last_restart || strcmp(s->last_restart, end) < 0))
		s->last_restart = end;
}

static bool is_sidecar(const json_t *pod, const char *name)
{
	size_t i;
	json_t *container;

	json_array_foreach (jsonx_at(pod, "spec.initContainers"), i, container)
		if (streq(jsonx_str_or(container, "name", ""), name))
			return streq(jsonx_str_or(container, "restartPolicy", ""), "Always");
	return false;
}

/* The state of one init container; true if the pod waits for it. */
static bool init_holds(struct pod_summary *s, const json_t *pod, const json_t *status, size_t i)
{
	const json_t *terminated = jsonx_at(status, "state.terminated");
	const char *waiting = jsonx_str_or(status, "state.waiting.reason", "");

	if (terminated && !jsonx_int_or(terminated, "exitCode", 0))
		return false;
	if (is_sidecar(pod, jsonx_str_or(status, "name", "")) && jsonx_bool_or(status, "started", false)) {
		s->ready += jsonx_bool_or(status, "ready", false);
		return false;
	}
	if (terminated)
		set_terminated(s, "Init:", terminated);
	else if (*waiting && !streq(waiting, "PodInitializing"))
		set_reason(s, "Init:", waiting);
	else
		snprintf(s->reason, sizeof(s->reason), "Init:%zu/%zu", i,
			 json_array_size(jsonx_at(pod, "spec.initContainers")));
	return true;
}

/* Walks init containers up to the one that holds the pod up, and says whether there is one.  Restarts of sidecars are
 * also counted apart, into `sidecars`: they are all that is left to show once the pod has started. */
static bool summarise_init(struct pod_summary *s, struct pod_summary *sidecars, const json_t *pod)
{
	size_t i;
	json_t *status;

	json_array_foreach (jsonx_at(pod, "status.initContainerStatuses"), i, status) {
		count_restarts(s, status);
		if (is_sidecar(pod, jsonx_str_or(status, "name", "")))
			count_restarts(sidecars, status);
		if (init_holds(s, pod, status, i))
			return true;
	}
	return false;
}

static void summarise_containers(struct pod_summary *s, const json_t *pod)
{
	const json_t *statuses = jsonx_at(pod, "status.containerStatuses");
	bool running = false;

	for (size_t i = json_array_size(statuses); i-- > 0;) {
		const json_t *status = json_array_get(statuses, i), *terminated = jsonx_at(status, "state.terminated");
		const char *waiting = jsonx_str_or(status, "state.waiting.reason", "");

		count_restarts(s, status);
		if (*waiting) {
			set_reason(s, "", waiting);
		} else if (terminated) {
			set_terminated(s, "", terminated);
		} else if (jsonx_bool_or(status, "ready", false) && jsonx_at(status, "state.running")) {
			running = true;
			s->ready++;
		}
	}
	if (running && streq(s->reason, "Completed"))
		set_reason(s, "", streq(condition_member(pod, "Ready", "status"), "True") ? "Running" : "NotReady");
}

static int64_t count_shown(const json_t *pod)
{
	int64_t n = (int64_t)json_array_size(jsonx_at(pod, "spec.containers"));
	size_t i;
	json_t *container;

	json_array_foreach (jsonx_at(pod, "spec.initContainers"), i, container)
		n += streq(jsonx_str_or(container, "restartPolicy", ""), "Always");
	return n;
}

static void pod_summarise(const json_t *pod, struct pod_summary *s)
{
	const char *phase = jsonx_str_or(pod, "status.phase", ""), *reason = jsonx_str_or(pod, "status.reason", "");
	struct pod_summary sidecars = { .restarts = 0 };
	bool terminal = streq(phase, "Succeeded") || streq(phase, "Failed"), held;

	*s = (struct pod_summary){ .total = count_shown(pod) };
	set_reason(s, "", *reason ? reason : phase);
	if (streq(condition_member(pod, "PodScheduled", "reason"), "SchedulingGated"))
		set_reason(s, "", "SchedulingGated");
	held = summarise_init(s, &sidecars, pod);
	if (!held || streq(condition_member(pod, "Initialized", "status"), "True")) {
		s->restarts = sidecars.restarts;
		s->last_restart = sidecars.last_restart;
		summarise_containers(s, pod);
	}
	if (jsonx_at(pod, "metadata.deletionTimestamp")) {
		if (streq(reason, "NodeLost"))
			set_reason(s, "", "Unknown");
		else if (!terminal)
			set_reason(s, "", "Terminating");
	}
}

static json_t *pod_ready(const json_t *pod, int64_t now)
{
	struct pod_summary s;

	(void)now;
	pod_summarise(pod, &s);
	return jsonx_stringf("%lld/%lld", (long long)s.ready, (long long)s.total);
}

static json_t *pod_status(const json_t *pod, int64_t now)
{
	struct pod_summary s;

	(void)now;
	pod_summarise(pod, &s);
	return jsonx_string(s.reason);
}

static json_t *pod_restarts(const json_t *pod, int64_t now)
{
	struct pod_summary s;
	json_auto_t *age = NULL;

	pod_summarise(pod, &s);
	if (!s.restarts || !s.last_restart)
		return jsonx_stringf("%lld", (long long)s.restarts);
	age = cell_age_of(s.last_restart, now);
	return jsonx_stringf("%lld (%s ago)", (long long)s.restarts, json_string_value(age));
}

static json_t *pod_ip(const json_t *pod, int64_t now)
{
	const json_t *first = json_array_get(jsonx_at(pod, "status.podIPs"), 0);

	(void)now;
	if (first)
		return cell_text_or(first, "ip", "<none>");
	return cell_text_or(pod, "status.podIP", "<none>");
}

static json_t *pod_node(const json_t *pod, int64_t now)
{
	(void)now;
	return cell_text_or(pod, "spec.nodeName", "<none>");
}

static json_t *pod_nominated(const json_t *pod, int64_t now)
{
	(void)now;
	return cell_text_or(pod, "status.nominatedNodeName", "<none>");
}

static json_t *pod_gates(const json_t *pod, int64_t now)
{
	const json_t *gates = jsonx_at(pod, "spec.readinessGates");
	size_t i, open = 0;
	json_t *gate;

	(void)now;
	if (!json_array_size(gates))
		return json_string("<none>");
	json_array_foreach (gates, i, gate)
		open += streq(condition_member(pod, jsonx_str_or(gate, "conditionType", ""), "status"), "True");
	return jsonx_stringf("%zu/%zu", open, json_array_size(gates));
}

const struct column pod_columns[POD_COLUMNS] = {
	COLUMN_NAME,
	COLUMN("Ready", "Containers that are ready, of all.", pod_ready),
	COLUMN("Status", "What the pod is doing, in one word.", pod_status),
	COLUMN("Restarts", "How often its containers were started again, and when last.", pod_restarts),
	COLUMN_AGE,
	COLUMN_WIDE("IP", "Address of the pod.", pod_ip),
	COLUMN_WIDE("Node", "Node on which the pod runs.", pod_node),
	COLUMN_WIDE("Nominated Node", "Node that is being cleared for the pod.", pod_nominated),
	COLUMN_WIDE("Readiness Gates", "Readiness gates that are open, of all.", pod_gates),
};
