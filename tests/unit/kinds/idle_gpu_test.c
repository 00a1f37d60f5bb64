// SPDX-License-Identifier: Apache-2.0
#include "base/jsonx.h"
#include "base/mem.h"
#include "kinds/idle_gpu.h"
#include "test.h"

static json_t *parse(const char *text)
{
	return json_loads(text, JSON_DECODE_ANY, NULL);
}

TEST("a queue's word on idle GPUs is read, and no word is no policy")
{
	static const struct {
		const char *spec;
		int64_t warn, end;
		int below;
	} rows[] = {
		{ "{}", 0, 0, 0 },
		{ "{\"idleGpu\":{\"warnAfter\":\"30m\",\"endAfter\":\"2h\",\"below\":10}}", 1800, 7200, 10 },
		{ "{\"idleGpu\":{\"warnAfter\":\"00:10:00\"}}", 600, 0, 5 },
		{ "{\"idleGpu\":{\"warnAfter\":\"never\",\"endAfter\":\"2h\"}}", 0, 0, 0 },
		{ "{\"idleGpu\":{\"endAfter\":\"2h\"}}", 0, 0, 0 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		json_auto_t *spec = parse(rows[i].spec);
		struct idle_policy p = idle_policy_of(spec);

		CHECK_INT(p.warn_s, rows[i].warn);
		CHECK_INT(p.end_s, rows[i].end);
		CHECK_INT(p.below, rows[i].below);
	}
	CHECK_INT(idle_policy_of(NULL).warn_s, 0);
}

#define IDLE(status_, reason_, since_, until_)                                                                         \
	"{\"status\":{\"conditions\":[{\"type\":\"Ready\",\"status\":\"False\"},{\"type\":\"stoker.dev/GPUActive\","   \
	"\"status\":\"" status_ "\",\"reason\":\"" reason_ "\",\"message\":\"m\",\"lastTransitionTime\":" since_       \
	",\"lastProbeTime\":" until_ "}]}}"

TEST("a pod's condition says for how long it was seen idle, whatever the time is now")
{
	static const struct {
		const char *pod;
		bool idle, too_long;
		int64_t seconds;
	} rows[] = {
		{ "{}", false, false, 0 },
		{ IDLE("True", "", "null", "null"), false, false, 0 },
		{ IDLE("Unknown", "", "null", "null"), false, false, 0 },
		{ IDLE("False", "GPUIdle", "\"2026-01-01T10:00:00Z\"", "\"2026-01-01T10:30:00Z\""), true, false, 1800 },
		{ IDLE("False", "GPUIdleTooLong", "\"2026-01-01T10:00:00Z\"", "\"2026-01-01T12:00:00Z\""), true, true,
		  7200 },
		{ IDLE("False", "GPUIdle", "\"2026-01-01T10:00:00Z\"", "null"), true, false, 0 },
		{ IDLE("False", "GPUIdle", "\"2026-01-01T10:00:00Z\"", "\"2026-01-01T09:00:00Z\""), true, false, 0 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		json_auto_t *pod = parse(rows[i].pod);
		struct idle_word w = pod_idle_word(pod);

		CHECK_INT(w.idle, rows[i].idle);
		CHECK_INT(w.too_long, rows[i].too_long);
		CHECK_INT(w.seconds, rows[i].seconds);
	}
}

TEST("pods with cards, or a part of one, are those that a policy is about")
{
	static const struct {
		const char *limits;
		bool wants;
	} rows[] = { { "{}", false },
		     { "{\"cpu\":\"1\"}", false },
		     { "{\"nvidia.com/gpu\":\"0\"}", false },
		     { "{\"nvidia.com/gpu\":\"1\"}", true },
		     { "{\"alpha.kubernetes.io/nvidia-gpu\":\"2\"}", true },
		     { "{\"stoker.dev/gpu-memory\":\"4Gi\"}", true } };

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		json_auto_t *pod = json_pack("{s:{s:[{s:s, s:{s:o}}]}}", "spec", "containers", "name", "a", "resources",
					     "limits", parse(rows[i].limits));

		CHECK_INT(pod_wants_gpu(pod), rows[i].wants);
	}
}
