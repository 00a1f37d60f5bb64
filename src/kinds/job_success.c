// SPDX-License-Identifier: Apache-2.0
/* job_success.c - what a successPolicy may ask of an Indexed Job: indexes that it has, and not more than it names
 *
 * The policy's own fields are in job_policy.c; these rules need to know the Job's completions.
 */
#include "base/jsonx.h"
#include "base/mem.h"
#include "kinds/job.h"
#include "kinds/rules.h"

enum { MAX_TEXT = 65536, MAX_DIGITS = 9, SHOWN = 40 /* bytes of a bad index in a message */ };

static bool is_number(struct str s)
{
	for (size_t i = 0; i < s.n; i++)
		if (s.p[i] < '0' || s.p[i] > '9')
			return false;
	return s.n > 0;
}

static int parse_index(struct str s, int64_t completions, int64_t *ret, struct err *e)
{
	int shown = s.n < SHOWN ? (int)s.n : SHOWN;
	int64_t v = 0;

	if (!is_number(s))
		return err_set(e, ERR_INVALID, "cannot convert string to integer for index: \"%.*s\"", shown, s.p);
	for (size_t i = 0; i < s.n && i < MAX_DIGITS; i++)
		v = v * 10 + (s.p[i] - '0');
	if (v >= completions || s.n > MAX_DIGITS)
		return err_set(e, ERR_INVALID, "too large index: \"%.*s\"", shown, s.p);
	*ret = v;
	return 0;
}

/* "3" or "3-5", after `last` (-1: the first). */
static int parse_span(struct str span, int64_t completions, int64_t *last, int64_t *count, struct err *e)
{
	struct str rest = span, part;
	int64_t at[2] = { 0 };
	size_t n = 0;

	while (str_split(&rest, '-', &part)) {
		if (n == ARRAY_SIZE(at))
			return err_set(e, ERR_INVALID,
				       "the fragment \"%.*s\" violates the requirement that an index interval can have "
				       "at most two parts separated by '-'",
				       span.n < SHOWN ? (int)span.n : SHOWN, span.p);
		if (parse_index(part, completions, &at[n], e) < 0)
			return -1;
		if (at[n] <= *last)
			return err_set(e, ERR_INVALID, "non-increasing order, previous: %lld, current: %lld",
				       (long long)*last, (long long)at[n]);
		*last = at[n++];
	}
	*count += *last - at[0] + 1;
	return 0;
}

/* How many indexes "1,3-5" names. */
static int count_indexes(const char *text, int64_t completions, int64_t *ret, struct err *e)
{
	struct str rest = str_of(text), span;
	int64_t last = -1;

	*ret = 0;
	while (*text && str_split(&rest, ',', &span))
		if (parse_span(span, completions, &last, ret, e) < 0)
			return -1;
	return 0;
}

static void check_rule(const json_t *rule, int64_t completions, const struct path *at, struct err *e)
{
	const json_t *indexes = json_object_get(rule, "succeededIndexes");
	const json_t *count = json_object_get(rule, "succeededCount");
	struct err why = ERR_INIT;
	int64_t named = 0;

	if (json_string_length(indexes) > MAX_TEXT) {
		rule_too_long(PATH_FIELD(at, "succeededIndexes"), e, MAX_TEXT);
		return;
	}
	if (indexes && count_indexes(json_string_value(indexes), completions, &named, &why) < 0) {
		path_invalid(PATH_FIELD(at, "succeededIndexes"), e, indexes, "error parsing succeededIndexes: %s",
			     why.text);
		return;
	}
	if (json_integer_value(count) > completions)
		path_invalid(PATH_FIELD(at, "succeededCount"), e, count,
			     "must be less than or equal to %lld (the number of specified completions)",
			     (long long)completions);
	else if (indexes && json_integer_value(count) > named)
		path_invalid(PATH_FIELD(at, "succeededCount"), e, count,
			     "must be less than or equal to %lld (the number of indexes in the specified "
			     "succeededIndexes field)",
			     (long long)named);
}

void job_success_validate(const json_t *spec, const struct path *at, struct err *e)
{
	const json_t *completions = json_object_get(spec, "completions");
	const struct path rules = { .up = at, .name = "successPolicy.rules" };
	json_t *rule;
	size_t i;

	if (!completions)
		return;
	json_array_foreach (jsonx_at(spec, "successPolicy.rules"), i, rule)
		check_rule(rule, json_integer_value(completions), PATH_INDEX(&rules, i), e);
}
