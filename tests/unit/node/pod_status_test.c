// SPDX-License-Identifier: Apache-2.0
#include "base/jsonx.h"
#include "node/pod_status.h"
#include "test.h"

#define NOW 1794773009000000ll

static const char *condition(const json_t *status, const char *type, const char *field)
{
	json_t *c;
	size_t i;

	json_array_foreach (json_object_get(status, "conditions"), i, c)
		if (str_same(jsonx_str(c, "type"), type))
			return jsonx_str(c, field);
	return NULL;
}

TEST("a running pod shows its container's start and is ready")
{
	struct ctr_report c = { .name = "c",
				.image = "busybox",
				.id = "stoker://1",
				.state = CTR_RUNNING,
				.started_us = NOW,
				.ready = true,
				.started = true };
	struct pod_report r = {
		.phase = PHASE_RUNNING, .pod_ip = "10.244.0.2", .ctrs = &c, .n = 1, .start_us = NOW, .has_network = true
	};
	json_auto_t *s = pod_status_make(NULL, NULL, &r, NOW);

	CHECK_STR(jsonx_str(s, "phase"), "Running");
	CHECK_STR(condition(s, "Ready", "status"), "True");
	CHECK_STR(jsonx_str(s, "podIP"), "10.244.0.2");
	CHECK_STR(jsonx_str(json_array_get(json_object_get(s, "containerStatuses"), 0), "state.running.startedAt"),
		  "2026-11-15T20:03:29Z");
}

TEST("ends are Completed, Error or OOMKilled, and the run before is kept")
{
	static const struct {
		struct exit_info exit;
		const char *reason;
	} rows[] = {
		{ { .code = 0, .finished_us = NOW }, "Completed" },
		{ { .code = 3, .finished_us = NOW }, "Error" },
		{ { .code = 137, .signal = 9, .oom = true, .finished_us = NOW }, "OOMKilled" },
		{ { .code = 255, .unknown = true, .finished_us = NOW }, "ContainerStatusUnknown" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct ctr_report c = {
			.name = "c", .image = "i", .state = CTR_EXITED, .end = { .exit = rows[i].exit, .known = true }
		};
		struct pod_report r = { .phase = PHASE_FAILED, .ctrs = &c, .n = 1 };
		json_auto_t *s = pod_status_make(NULL, NULL, &r, NOW);
		const json_t *cs = json_array_get(json_object_get(s, "containerStatuses"), 0);

		CHECK_STR(jsonx_str(cs, "state.terminated.reason"), rows[i].reason);
		CHECK_INT(jsonx_int_or(cs, "state.terminated.exitCode", -1), rows[i].exit.code);
		c.waiting_reason = "CrashLoopBackOff";
		r.phase = PHASE_RUNNING;
		json_auto_t *again = pod_status_make(NULL, s, &r, NOW);
		cs = json_array_get(json_object_get(again, "containerStatuses"), 0);
		CHECK_STR(jsonx_str(cs, "state.waiting.reason"), "CrashLoopBackOff");
		CHECK_STR(jsonx_str(cs, "lastState.terminated.reason"), rows[i].reason);
	}
}

TEST("in a pod that has ended nothing waits for its next run")
{
	static const enum ctr_state states[] = { CTR_EXITED, CTR_WAITING };
	static const struct ctr_end end = { .exit = { .code = 5 }, .known = true };

	for (size_t i = 0; i < 2; i++) {
		struct ctr_report c = { .name = "c", .image = "i", .state = states[i], .restarts = 1 };
		struct pod_report r = { .phase = PHASE_FAILED, .reason = "DeadlineExceeded", .ctrs = &c, .n = 1 };

		c.waiting_reason = i ? "ErrImagePull" : "CrashLoopBackOff";
		*(i ? &c.last : &c.end) = end;
		json_auto_t *s = pod_status_make(NULL, NULL, &r, NOW);
		const json_t *cs = json_array_get(json_object_get(s, "containerStatuses"), 0);

		CHECK(!jsonx_at(cs, "state.waiting"));
		CHECK_INT(jsonx_int_or(cs, "state.terminated.exitCode", -1), 5);
	}
}

TEST("the same news twice is the same status, later too")
{
	struct ctr_report c = { .name = "c", .image = "i", .state = CTR_RUNNING, .started_us = NOW };
	struct pod_report r = { .phase = PHASE_RUNNING, .ctrs = &c, .n = 1, .start_us = NOW };
	json_auto_t *first = pod_status_make(NULL, NULL, &r, NOW);
	json_auto_t *later = pod_status_make(NULL, first, &r, NOW + 5000000);

	CHECK(jsonx_equal(first, later));
	CHECK_STR(condition(first, "Ready", "message"), "containers with unready status: [c]");
	c.ready = true;
	json_auto_t *ready = pod_status_make(NULL, later, &r, NOW + 9000000);
	CHECK_STR(condition(ready, "Ready", "lastTransitionTime"), "2026-11-15T20:03:38Z");
	CHECK_STR(condition(ready, "PodScheduled", "lastTransitionTime"), "2026-11-15T20:03:29Z");
}

TEST("others wait for init containers, and say so")
{
	struct ctr_report c[] = {
		{ .name = "i", .image = "x", .init = true, .state = CTR_RUNNING, .id = "1", .started_us = NOW },
		{ .name = "c", .image = "x", .state = CTR_WAITING }
	};
	struct pod_report r = { .phase = PHASE_PENDING, .ctrs = c, .n = 2 };
	json_auto_t *s = pod_status_make(NULL, NULL, &r, NOW);

	CHECK_STR(jsonx_str(json_array_get(json_object_get(s, "containerStatuses"), 0), "state.waiting.reason"),
		  "PodInitializing");
	CHECK_STR(condition(s, "Initialized", "status"), "False");
	CHECK_STR(condition(s, "Initialized", "reason"), "ContainersNotInitialized");
	CHECK_STR(condition(s, "Initialized", "message"), "containers with incomplete status: [i]");
}

TEST("a sidecar counts for readiness, and one that comes back undoes nothing")
{
	struct ctr_report c[] = {
		{ .name = "s", .image = "x", .init = true, .sidecar = true, .state = CTR_EXITED, .restarts = 1 },
		{ .name = "c", .image = "x", .state = CTR_RUNNING, .started = true, .ready = true }
	};
	struct pod_report r = { .phase = PHASE_RUNNING, .ctrs = c, .n = 2 };
	json_auto_t *s = pod_status_make(NULL, NULL, &r, NOW);

	CHECK_STR(condition(s, "Initialized", "status"), "True");
	CHECK_STR(condition(s, "ContainersReady", "message"), "containers with unready status: [s]");
	c[0] = (struct ctr_report){ .name = "s", .image = "x", .init = true, .sidecar = true, .state = CTR_RUNNING };
	c[0].started = c[0].ready = true;
	json_auto_t *later = pod_status_make(NULL, s, &r, NOW);
	CHECK_STR(condition(later, "Ready", "status"), "True");
}

TEST("a readiness gate says what it waits for")
{
	json_auto_t *spec = json_pack("{s:[{s:s}]}", "readinessGates", "conditionType", "lab/ok");
	json_auto_t *no = json_pack("{s:[{s:s, s:s}]}", "conditions", "type", "lab/ok", "status", "False");
	struct ctr_report c = { .name = "c", .image = "x", .state = CTR_RUNNING, .started = true, .ready = true };
	struct pod_report r = { .phase = PHASE_RUNNING, .ctrs = &c, .n = 1 };
	json_auto_t *absent = pod_status_make(spec, NULL, &r, NOW);
	json_auto_t *closed = pod_status_make(spec, no, &r, NOW);

	CHECK_STR(condition(absent, "Ready", "reason"), "ReadinessGatesNotReady");
	CHECK_STR(condition(absent, "Ready", "message"),
		  "corresponding condition of pod readiness gate \"lab/ok\" does not exist.");
	CHECK_STR(condition(closed, "Ready", "message"),
		  "the status of pod readiness gate \"lab/ok\" is not \"True\", but False");
	CHECK_STR(condition(closed, "ContainersReady", "status"), "True");
}

TEST("one that could not be started did so in 1970, one of which nothing is known never")
{
	static const struct {
		struct ctr_end end;
		const char *started;
	} rows[] = {
		{ { .exit = { .code = 128, .finished_us = NOW }, .known = true, .reason = "StartError" },
		  "1970-01-01T00:00:00Z" },
		{ { .exit = { .code = 137, .unknown = true, .finished_us = NOW }, .known = true }, NULL },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct ctr_report c = { .name = "c", .image = "i", .state = CTR_EXITED, .end = rows[i].end };
		struct pod_report r = { .phase = PHASE_FAILED, .ctrs = &c, .n = 1 };
		json_auto_t *s = pod_status_make(NULL, NULL, &r, NOW);
		const json_t *cs = json_array_get(json_object_get(s, "containerStatuses"), 0);

		CHECK_STR(jsonx_str(cs, "state.terminated.startedAt"), rows[i].started);
	}
}

TEST("why a pod fails is told when its containers have ended")
{
	struct ctr_report c = { .name = "c", .image = "i", .state = CTR_STOPPING, .started_us = NOW };
	struct pod_report r = {
		.phase = PHASE_RUNNING, .reason = "DeadlineExceeded", .message = "late", .ctrs = &c, .n = 1
	};
	json_auto_t *before = pod_status_make(NULL, NULL, &r, NOW);

	CHECK(!jsonx_at(before, "reason") && !jsonx_at(before, "message"));
	r.phase = PHASE_FAILED;
	json_auto_t *after = pod_status_make(NULL, before, &r, NOW);

	CHECK_STR(jsonx_str(after, "reason"), "DeadlineExceeded");
	CHECK_STR(jsonx_str(after, "message"), "late");
}

TEST("a pod that leaves its GPUs unused says since when, and until when that was seen")
{
	struct pod_report r = { .phase = PHASE_RUNNING,
				.idle_since_us = NOW - 600000000,
				.idle_at_us = NOW,
				.idle_text = "its GPU was used less than 5% for 10m" };
	json_auto_t *first = pod_status_make(NULL, NULL, &r, NOW);
	json_auto_t *kept = NULL;
	json_auto_t *over = NULL;
	json_auto_t *used = NULL;
	static const char type[] = "stoker.dev/GPUActive";

	CHECK_STR(condition(first, type, "status"), "False");
	CHECK_STR(condition(first, type, "reason"), "GPUIdle");
	CHECK_STR(condition(first, type, "lastTransitionTime"), "2026-11-15T19:53:29Z");
	CHECK_STR(condition(first, type, "lastProbeTime"), "2026-11-15T20:03:29Z");
	/* Another server, which has seen nothing yet, keeps the word of the one before. */
	kept = pod_status_make(NULL, first, &(struct pod_report){ .phase = PHASE_RUNNING }, NOW + 9000000);
	CHECK_STR(condition(kept, type, "lastProbeTime"), "2026-11-15T20:03:29Z");
	r.idle_long = true;
	over = pod_status_make(NULL, kept, &r, NOW);
	CHECK_STR(condition(over, type, "reason"), "GPUIdleTooLong");
	used = pod_status_make(NULL, over, &(struct pod_report){ .phase = PHASE_RUNNING, .idle_at_us = NOW }, NOW);
	CHECK_STR(condition(used, type, "status"), "True");
	CHECK(!condition(used, type, "reason"));
}
