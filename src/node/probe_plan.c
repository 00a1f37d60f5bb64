// SPDX-License-Identifier: Apache-2.0
/* probe_plan.c - what the results of a probe add up to, and when to ask again
 *
 * A verdict needs a number of equal results in a row, one number for success and one for failure.  Questions begin
 * every period, however long an answer takes; one that takes longer than the period is followed by the next at once.
 */
#include "node/probe_plan.h"

#include "base/jsonx.h"

#define SECONDS_MAX (365 * 24 * 3600LL)

static int64_t at_least(const json_t *probe, const char *key, int64_t min, int64_t fallback)
{
	int64_t n = jsonx_int_or(probe, key, fallback);

	return n < min ? fallback : n > SECONDS_MAX ? SECONDS_MAX : n;
}

struct probe_spec probe_spec_of(const json_t *probe, enum probe_kind kind)
{
	return (struct probe_spec){
		.kind = kind,
		.initial_delay_ms = 1000 * at_least(probe, "initialDelaySeconds", 0, 0),
		.period_ms = 1000 * at_least(probe, "periodSeconds", 1, 10),
		.timeout_ms = 1000 * at_least(probe, "timeoutSeconds", 1, 1),
		.successes = (int)at_least(probe, "successThreshold", 1, 1),
		.failures = (int)at_least(probe, "failureThreshold", 1, 3),
	};
}

/* Success is all that a startup probe waits for; failure ends the container a startup or liveness probe is about. */
static bool is_final(enum probe_kind kind, bool ok)
{
	return kind == PROBE_STARTUP || (kind == PROBE_LIVENESS && !ok);
}

struct probe_step probe_plan(const struct probe_spec *spec, struct probe_count *count, enum probe_result result,
			     int64_t took_ms)
{
	struct probe_step step = { .wait_ms = took_ms < spec->period_ms ? spec->period_ms - took_ms : 0 };
	enum probe_verdict verdict = result == PROBE_SUCCESS ? VERDICT_OK : VERDICT_BAD;

	if (result == PROBE_UNKNOWN)
		return step;
	count->run = count->run && count->last == result ? count->run + 1 : 1;
	count->last = result;
	if (count->run < (result == PROBE_SUCCESS ? spec->successes : spec->failures) || verdict == count->verdict)
		return step;
	count->verdict = verdict;
	step.tell = true;
	step.ok = verdict == VERDICT_OK;
	step.stop = is_final(spec->kind, step.ok);
	return step;
}
