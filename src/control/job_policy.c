// SPDX-License-Identifier: Apache-2.0
/* job_policy.c - podFailurePolicy and successPolicy, rule by rule */
#include "control/job_policy.h"

#include "base/jsonx.h"

static bool code_listed(const json_t *values, json_int_t code)
{
	json_t *v;
	size_t i;

	json_array_foreach (values, i, v)
		if (json_integer_value(v) == code)
			return true;
	return false;
}

/* The container that a rule about exit codes is right about, or NULL.  Success is never meant. */
static const json_t *match_exit_codes(const json_t *pod, const json_t *rule)
{
	static const char *const lists[] = { "status.containerStatuses", "status.initContainerStatuses" };
	const char *only = jsonx_str(rule, "containerName");
	bool in = str_same(jsonx_str(rule, "operator"), "In");
	json_t *c;
	size_t n;

	for (int i = 0; i < 2; i++)
		json_array_foreach (jsonx_at(pod, lists[i]), n, c) {
			int64_t code = jsonx_int_or(c, "state.terminated.exitCode", 0);

			if (code != 0 && (!only || str_same(only, jsonx_str(c, "name"))) &&
			    code_listed(json_object_get(rule, "values"), code) == in)
				return c;
		}
	return NULL;
}

static const char *match_conditions(const json_t *pod, const json_t *patterns)
{
	json_t *pattern;
	json_t *c;
	size_t i;
	size_t n;

	json_array_foreach (jsonx_at(pod, "status.conditions"), n, c)
		json_array_foreach (patterns, i, pattern)
			if (str_same(jsonx_str(pattern, "type"), jsonx_str(c, "type")) &&
			    streq(jsonx_str_or(pattern, "status", "True"), jsonx_str_or(c, "status", "")))
				return jsonx_str(c, "type");
	return NULL;
}

static enum failure_means meaning_of(const json_t *rule)
{
	static const struct {
		const char *action;
		enum failure_means means;
	} rows[] = {
		{ "Ignore", FAILURE_IGNORED },
		{ "FailIndex", FAILURE_ENDS_INDEX },
		{ "FailJob", FAILURE_ENDS_JOB },
		{ "Count", FAILURE_COUNTS },
	};
	const char *action = jsonx_str_or(rule, "action", "");

	for (size_t i = 0; i < 4; i++)
		if (streq(rows[i].action, action))
			return rows[i].means;
	return FAILURE_COUNTS;
}

enum failure_means job_failure_means(const json_t *policy, const json_t *pod, struct sbuf *why)
{
	const char *ns = jsonx_str_or(pod, "metadata.namespace", "");
	const char *name = jsonx_str_or(pod, "metadata.name", "");
	json_t *rule;
	size_t i;

	json_array_foreach (json_object_get(policy, "rules"), i, rule) {
		const json_t *codes = json_object_get(rule, "onExitCodes");
		const json_t *container = codes ? match_exit_codes(pod, codes) : NULL;
		const char *condition = codes ? NULL : match_conditions(pod, json_object_get(rule, "onPodConditions"));
		const char *action = jsonx_str_or(rule, "action", "");

		if (!container && !condition)
			continue;
		if (why && meaning_of(rule) == FAILURE_ENDS_JOB && container)
			sbuf_addf(why,
				  "Container %s for pod %s/%s failed with exit code %lld matching %s rule at index "
				  "%zu",
				  jsonx_str_or(container, "name", ""), ns, name,
				  (long long)jsonx_int_or(container, "state.terminated.exitCode", 0), action, i);
		else if (why && meaning_of(rule) == FAILURE_ENDS_JOB)
			sbuf_addf(why, "Pod %s/%s has condition %s matching %s rule at index %zu", ns, name, condition,
				  action, i);
		return meaning_of(rule);
	}
	return FAILURE_COUNTS;
}

/* How many of `want` are in `have`. */
static int64_t common(const struct index_set *want, const struct index_set *have)
{
	int64_t n = 0;
	size_t a = 0;
	size_t b = 0;

	while (a < want->n && b < have->n) {
		struct index_span x = want->spans[a];
		struct index_span y = have->spans[b];
		int first = x.first > y.first ? x.first : y.first;
		int last = x.last < y.last ? x.last : y.last;

		if (first <= last)
			n += (int64_t)last - first + 1;
		if (x.last < y.last)
			a++;
		else
			b++;
	}
	return n;
}

bool job_success_met(const json_t *policy, int completions, const struct index_set *succeeded, struct sbuf *why)
{
	json_t *rule;
	size_t i;

	json_array_foreach (json_object_get(policy, "rules"), i, rule) {
		const char *text = jsonx_str(rule, "succeededIndexes");
		int64_t count = jsonx_int_or(rule, "succeededCount", -1);
		auto_index_set struct index_set want = { 0 };
		int64_t done;

		if (text)
			index_set_parse(&want, text, completions);
		else
			index_set_add_span(&want, 0, completions - 1);
		done = common(&want, succeeded);
		if (done >= (count >= 0 ? count : index_set_count(&want))) {
			sbuf_addf(why, "Matched rules at index %zu", i);
			return true;
		}
	}
	return false;
}
