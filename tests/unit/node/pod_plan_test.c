// SPDX-License-Identifier: Apache-2.0
#include "node/pod_plan.h"
#include "test.h"

/* A container in one word: state, then exit code where it has ended. */
#define WAITING                                                                                                        \
	{                                                                                                              \
		.state = CTR_WAITING                                                                                   \
	}
#define STARTING(ran_)                                                                                                 \
	{                                                                                                              \
		.state = CTR_STARTING, .ran = (ran_)                                                                   \
	}
#define RUNNING                                                                                                        \
	{                                                                                                              \
		.state = CTR_RUNNING, .started = true                                                                  \
	}
#define EXITED(code_)                                                                                                  \
	{                                                                                                              \
		.state = CTR_EXITED, .exit_code = (code_)                                                              \
	}
#define INIT_WAITING                                                                                                   \
	{                                                                                                              \
		.init = true, .state = CTR_WAITING                                                                     \
	}
#define INIT_RUNNING                                                                                                   \
	{                                                                                                              \
		.init = true, .state = CTR_RUNNING, .started = true                                                    \
	}
#define INIT_EXITED(code_)                                                                                             \
	{                                                                                                              \
		.init = true, .state = CTR_EXITED, .exit_code = (code_)                                                \
	}
#define SIDECAR(state_, started_)                                                                                      \
	{                                                                                                              \
		.init = true, .sidecar = true, .state = (state_), .started = (started_)                                \
	}

TEST("containers start, restart and end as the policy says")
{
	static const struct {
		const char *what;
		struct ctr_view ctrs[3];
		size_t n;
		enum restart_policy restart;
		bool deleting, failed;
		enum ctr_act acts[3];
		enum pod_phase phase;
		bool over;
	} rows[] = {
		{ "all start together",
		  { WAITING, WAITING },
		  2,
		  RESTART_NEVER,
		  false,
		  false,
		  { ACT_START, ACT_START },
		  PHASE_PENDING,
		  false },
		{ "one runs, one starts",
		  { RUNNING, WAITING },
		  2,
		  RESTART_NEVER,
		  false,
		  false,
		  { ACT_NONE, ACT_START },
		  PHASE_PENDING,
		  false },
		{ "both done",
		  { EXITED(0), EXITED(0) },
		  2,
		  RESTART_NEVER,
		  false,
		  false,
		  { ACT_NONE },
		  PHASE_SUCCEEDED,
		  true },
		{ "one failed, one runs",
		  { EXITED(1), RUNNING },
		  2,
		  RESTART_NEVER,
		  false,
		  false,
		  { ACT_NONE },
		  PHASE_RUNNING,
		  false },
		{ "one failed, all over",
		  { EXITED(1), EXITED(0) },
		  2,
		  RESTART_NEVER,
		  false,
		  false,
		  { ACT_NONE },
		  PHASE_FAILED,
		  true },
		{ "failure is retried",
		  { EXITED(1) },
		  1,
		  RESTART_ON_FAILURE,
		  false,
		  false,
		  { ACT_START },
		  PHASE_RUNNING,
		  false },
		{ "success is not",
		  { EXITED(0) },
		  1,
		  RESTART_ON_FAILURE,
		  false,
		  false,
		  { ACT_NONE },
		  PHASE_SUCCEEDED,
		  true },
		{ "always means always",
		  { EXITED(0) },
		  1,
		  RESTART_ALWAYS,
		  false,
		  false,
		  { ACT_START },
		  PHASE_RUNNING,
		  false },
		{ "init first",
		  { INIT_WAITING, WAITING },
		  2,
		  RESTART_NEVER,
		  false,
		  false,
		  { ACT_START, ACT_NONE },
		  PHASE_PENDING,
		  false },
		{ "init runs",
		  { INIT_RUNNING, WAITING },
		  2,
		  RESTART_NEVER,
		  false,
		  false,
		  { ACT_NONE },
		  PHASE_PENDING,
		  false },
		{ "init done",
		  { INIT_EXITED(0), WAITING },
		  2,
		  RESTART_NEVER,
		  false,
		  false,
		  { ACT_NONE, ACT_START },
		  PHASE_PENDING,
		  false },
		{ "second init",
		  { INIT_EXITED(0), INIT_WAITING, WAITING },
		  3,
		  RESTART_NEVER,
		  false,
		  false,
		  { ACT_NONE, ACT_START, ACT_NONE },
		  PHASE_PENDING,
		  false },
		{ "init failed for good",
		  { INIT_EXITED(3), WAITING },
		  2,
		  RESTART_NEVER,
		  false,
		  false,
		  { ACT_NONE },
		  PHASE_FAILED,
		  true },
		{ "init retried",
		  { INIT_EXITED(3), WAITING },
		  2,
		  RESTART_ON_FAILURE,
		  false,
		  false,
		  { ACT_START, ACT_NONE },
		  PHASE_PENDING,
		  false },
		{ "sidecar not up yet",
		  { SIDECAR(CTR_RUNNING, false), WAITING },
		  2,
		  RESTART_NEVER,
		  false,
		  false,
		  { ACT_NONE },
		  PHASE_PENDING,
		  false },
		{ "sidecar up",
		  { SIDECAR(CTR_RUNNING, true), WAITING },
		  2,
		  RESTART_NEVER,
		  false,
		  false,
		  { ACT_NONE, ACT_START },
		  PHASE_PENDING,
		  false },
		{ "sidecar goes last",
		  { SIDECAR(CTR_RUNNING, true), EXITED(0) },
		  2,
		  RESTART_NEVER,
		  false,
		  false,
		  { ACT_STOP, ACT_NONE },
		  PHASE_RUNNING,
		  false },
		{ "sidecar is restarted",
		  { SIDECAR(CTR_EXITED, true), RUNNING },
		  2,
		  RESTART_NEVER,
		  false,
		  false,
		  { ACT_START, ACT_NONE },
		  PHASE_RUNNING,
		  false },
		{ "sidecar that comes back holds nobody up",
		  { SIDECAR(CTR_STARTING, false), EXITED(0) },
		  2,
		  RESTART_NEVER,
		  false,
		  false,
		  { ACT_NONE, ACT_NONE },
		  PHASE_RUNNING,
		  false },
		{ "sidecar that never came up does",
		  { SIDECAR(CTR_EXITED, false), WAITING },
		  2,
		  RESTART_NEVER,
		  false,
		  false,
		  { ACT_START, ACT_NONE },
		  PHASE_PENDING,
		  false },
		{ "sidecars end after the others",
		  { SIDECAR(CTR_RUNNING, true), SIDECAR(CTR_RUNNING, true), RUNNING },
		  3,
		  RESTART_ALWAYS,
		  true,
		  false,
		  { ACT_NONE, ACT_NONE, ACT_STOP },
		  PHASE_RUNNING,
		  false },
		{ "the last one first",
		  { SIDECAR(CTR_RUNNING, true), SIDECAR(CTR_RUNNING, true), EXITED(0) },
		  3,
		  RESTART_ALWAYS,
		  true,
		  false,
		  { ACT_NONE, ACT_STOP, ACT_NONE },
		  PHASE_RUNNING,
		  false },
		{ "how they end does not matter",
		  { SIDECAR(CTR_EXITED, false), EXITED(0) },
		  2,
		  RESTART_ALWAYS,
		  true,
		  false,
		  { ACT_NONE },
		  PHASE_SUCCEEDED,
		  true },
		{ "starting is not running",
		  { STARTING(false) },
		  1,
		  RESTART_ALWAYS,
		  false,
		  false,
		  { ACT_NONE },
		  PHASE_PENDING,
		  false },
		{ "unless it is starting again",
		  { STARTING(true) },
		  1,
		  RESTART_ALWAYS,
		  false,
		  false,
		  { ACT_NONE },
		  PHASE_RUNNING,
		  false },
		{ "deleted before it ran",
		  { WAITING },
		  1,
		  RESTART_ALWAYS,
		  true,
		  false,
		  { ACT_NONE },
		  PHASE_FAILED,
		  true },
		{ "deleting stops all",
		  { RUNNING, EXITED(0) },
		  2,
		  RESTART_ALWAYS,
		  true,
		  false,
		  { ACT_STOP, ACT_NONE },
		  PHASE_RUNNING,
		  false },
		{ "deleted and over",
		  { EXITED(143), EXITED(0) },
		  2,
		  RESTART_ALWAYS,
		  true,
		  false,
		  { ACT_NONE },
		  PHASE_FAILED,
		  true },
		{ "deadline stops all",
		  { RUNNING },
		  1,
		  RESTART_ALWAYS,
		  false,
		  true,
		  { ACT_STOP },
		  PHASE_RUNNING,
		  false },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct ctr_view ctrs[3];
		enum ctr_act acts[3];
		struct pod_view v = { .ctrs = ctrs,
				      .n = rows[i].n,
				      .restart = rows[i].restart,
				      .deleting = rows[i].deleting,
				      .failed = rows[i].failed,
				      .now_ms = 1000 };
		struct pod_plan p;

		memcpy(ctrs, rows[i].ctrs, sizeof(ctrs));
		p = pod_plan(&v, acts);
		for (size_t k = 0; k < rows[i].n; k++)
			if (acts[k] != rows[i].acts[k])
				test_fail(__FILE__, __LINE__, "%s: act %zu is %d", rows[i].what, k, acts[k]);
		if (p.phase != rows[i].phase || p.over != rows[i].over)
			test_fail(__FILE__, __LINE__, "%s: phase %s over %d", rows[i].what, pod_phase_name(p.phase),
				  p.over);
	}
}

TEST("the first restart is immediate, later ones wait 10, 20, 40 seconds and never more than five minutes")
{
	struct ctr_view c = { .state = CTR_EXITED, .exit_code = 1, .failures = 1, .exited_ms = 1000 };
	struct pod_view v = { .ctrs = &c, .n = 1, .restart = RESTART_ALWAYS, .now_ms = 5000 };
	enum ctr_act act;
	struct pod_plan p = pod_plan(&v, &act);

	CHECK_INT(act, ACT_START);
	c.failures = 3;
	p = pod_plan(&v, &act);
	CHECK_INT(act, ACT_BACK_OFF);
	CHECK_INT(p.wake_ms, 21000);
	v.now_ms = 21000;
	p = pod_plan(&v, &act);
	CHECK_INT(act, ACT_START);
	CHECK_INT(pod_restart_ms(1), 0);
	CHECK_INT(pod_restart_ms(2), 10000);
	CHECK_INT(pod_restart_ms(50), 300000);
	CHECK_INT(pod_backoff_ms(1), 10000);
}

TEST("a sidecar waits for the others, but not for ever")
{
	struct ctr_view c[] = { SIDECAR(CTR_RUNNING, true), { .state = CTR_STOPPING } };
	struct pod_view v = { .ctrs = c, .n = 2, .deleting = true };
	enum ctr_act acts[2];
	struct pod_plan p = pod_plan(&v, acts);

	CHECK_INT(acts[0], ACT_NONE);
	CHECK(p.held);
	v.hurry = true;
	p = pod_plan(&v, acts);
	CHECK_INT(acts[0], ACT_STOP);
	CHECK(!p.held);
}
