// SPDX-License-Identifier: Apache-2.0
#include "node/probe_plan.h"

#include "test.h"

static struct probe_spec spec(enum probe_kind kind, int successes, int failures)
{
	return (struct probe_spec){ .kind = kind, .period_ms = 1000, .successes = successes, .failures = failures };
}

/* Results as letters (s f u), what was told as letters (o b, - for nothing), ! for a stop. */
static void run(const struct probe_spec *s, const char *results, char *out)
{
	struct probe_count count = { 0 };

	for (; *results; results++) {
		struct probe_step step = probe_plan(s, &count,
						    *results == 's'   ? PROBE_SUCCESS
						    : *results == 'f' ? PROBE_FAILURE
								      : PROBE_UNKNOWN,
						    0);

		*out++ = step.tell ? (step.ok ? 'o' : 'b') : '-';
		if (step.stop)
			*out++ = '!';
	}
	*out = '\0';
}

TEST("a verdict needs as many equal results in a row as its threshold says, and is told once")
{
	static const struct {
		enum probe_kind kind;
		int successes, failures;
		const char *results, *told;
	} rows[] = {
		{ PROBE_READINESS, 1, 3, "sssfffssf", "o----bo--" },
		{ PROBE_READINESS, 2, 2, "sfssffss", "---o-b-o" },
		{ PROBE_READINESS, 1, 3, "ffsffsfff", "--o-----b" },
		{ PROBE_READINESS, 1, 3, "fffff", "--b--" },
		{ PROBE_LIVENESS, 1, 3, "sfff", "o--b!" },
		{ PROBE_LIVENESS, 1, 1, "f", "b!" },
		{ PROBE_STARTUP, 1, 3, "ffs", "--o!" },
		{ PROBE_STARTUP, 1, 3, "fff", "--b!" },
		/* What could not be asked counts neither way. */
		{ PROBE_LIVENESS, 1, 2, "ufuf", "---b!" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct probe_spec s = spec(rows[i].kind, rows[i].successes, rows[i].failures);
		char told[64];

		run(&s, rows[i].results, told);
		CHECK_STR(told, rows[i].told);
	}
}

TEST("questions begin every period, and at once after an answer that took longer")
{
	struct probe_spec s = spec(PROBE_READINESS, 1, 1);
	struct probe_count count = { 0 };

	CHECK_INT(probe_plan(&s, &count, PROBE_SUCCESS, 0).wait_ms, 1000);
	CHECK_INT(probe_plan(&s, &count, PROBE_SUCCESS, 300).wait_ms, 700);
	CHECK_INT(probe_plan(&s, &count, PROBE_SUCCESS, 5000).wait_ms, 0);
	CHECK_INT(probe_plan(&s, &count, PROBE_UNKNOWN, 300).wait_ms, 700);
}

TEST("absent and senseless numbers of a probe are Kubernetes' defaults")
{
	json_t *given = json_pack("{s:i,s:i,s:i,s:i,s:i}", "initialDelaySeconds", 5, "periodSeconds", 2,
				  "timeoutSeconds", 4, "successThreshold", 6, "failureThreshold", 7);
	json_t *bad = json_pack("{s:i,s:i,s:i,s:i,s:i}", "initialDelaySeconds", -5, "periodSeconds", 0,
				"timeoutSeconds", 0, "successThreshold", 0, "failureThreshold", -1);
	struct probe_spec s = probe_spec_of(given, PROBE_STARTUP), d = probe_spec_of(bad, PROBE_LIVENESS);

	CHECK_INT(s.initial_delay_ms, 5000);
	CHECK_INT(s.period_ms, 2000);
	CHECK_INT(s.timeout_ms, 4000);
	CHECK_INT(s.successes, 6);
	CHECK_INT(s.failures, 7);
	CHECK_INT(s.kind, PROBE_STARTUP);
	CHECK_INT(d.initial_delay_ms, 0);
	CHECK_INT(d.period_ms, 10000);
	CHECK_INT(d.timeout_ms, 1000);
	CHECK_INT(d.successes, 1);
	CHECK_INT(d.failures, 3);
	json_decref(given);
	json_decref(bad);
}
