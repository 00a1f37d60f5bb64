// SPDX-License-Identifier: Apache-2.0
/* job_rules.c - what holds between the fields of a Job, and what may not change once it exists */
#include "base/jsonx.h"
#include "base/mem.h"
#include "kinds/job.h"
#include "kinds/names.h"
#include "kinds/rest_rules.h"
#include "kinds/rules.h"
#include "kinds/selector.h"
#include "kinds/workload.h"

enum { MAX_INDEXED_PARALLELISM = 100000, MAX_MANAGER = 63 };

static bool has(const json_t *spec, const char *name)
{
	return json_object_get(spec, name) != NULL;
}

static void check_indexed(const json_t *spec, const struct path *at, struct err *e)
{
	const json_t *parallelism = json_object_get(spec, "parallelism");

	if (!has(spec, "completions"))
		path_required(PATH_FIELD(at, "completions"), e, "when completion mode is Indexed");
	if (json_integer_value(parallelism) > MAX_INDEXED_PARALLELISM)
		path_invalid(PATH_FIELD(at, "parallelism"), e, parallelism,
			     "must be less than or equal to %d when completion mode is Indexed",
			     MAX_INDEXED_PARALLELISM);
}

/* Fields that only make sense where completions are numbered. */
static void check_not_indexed(const json_t *spec, const struct path *at, struct err *e)
{
	static const char *const names[] = { "backoffLimitPerIndex", "maxFailedIndexes", "successPolicy" };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (has(spec, names[i]))
			path_invalid(PATH_FIELD(at, names[i]), e, json_object_get(spec, names[i]),
				     "requires indexed completion mode");
}

static void check_index_limits(const json_t *spec, const struct path *at, struct err *e)
{
	const json_t *failed = json_object_get(spec, "maxFailedIndexes");
	const json_t *completions = json_object_get(spec, "completions");

	if (!failed)
		return;
	if (!has(spec, "backoffLimitPerIndex"))
		path_required(PATH_FIELD(at, "backoffLimitPerIndex"), e, "when maxFailedIndexes is specified");
	if (completions && json_integer_value(failed) > json_integer_value(completions))
		path_invalid(PATH_FIELD(at, "maxFailedIndexes"), e, failed,
			     "must be less than or equal to completions");
}

static bool has_container(const json_t *spec, const char *name)
{
	static const char *const lists[] = { "template.spec.containers", "template.spec.initContainers" };
	json_t *c;
	size_t i;

	for (size_t n = 0; n < ARRAY_SIZE(lists); n++)
		json_array_foreach (jsonx_at(spec, lists[n]), i, c)
			if (str_same(jsonx_str(c, "name"), name))
				return true;
	return false;
}

static void check_failure_rule(const json_t *spec, const json_t *rule, const struct path *at, struct err *e)
{
	const json_t *container = jsonx_at(rule, "onExitCodes.containerName");

	if (str_same(jsonx_str(rule, "action"), "FailIndex") && !has(spec, "backoffLimitPerIndex"))
		path_invalid(PATH_FIELD(at, "action"), e, json_object_get(rule, "action"),
			     "requires the backoffLimitPerIndex to be set");
	if (container && !has_container(spec, json_string_value(container)))
		path_invalid(PATH_FIELD(at, "onExitCodes.containerName"), e, container,
			     "must be one of the container or initContainer names in the pod template");
}

static void check_failure_policy(const json_t *spec, const struct path *at, struct err *e)
{
	const char *replace = jsonx_str_or(spec, "podReplacementPolicy", "Failed");
	const json_t *restart = jsonx_at(spec, "template.spec.restartPolicy");
	const struct path rules = { .up = at, .name = "podFailurePolicy.rules" };
	json_t *rule;
	size_t i;

	if (!has(spec, "podFailurePolicy"))
		return;
	if (restart && str_same(json_string_value(restart), "OnFailure"))
		path_invalid(PATH_FIELD(at, "template.spec.restartPolicy"), e, restart,
			     "only \"Never\" is supported when podFailurePolicy is specified");
	if (!streq(replace, "Failed"))
		path_unsupported(PATH_FIELD(at, "podReplacementPolicy"), e, replace, "Failed");
	json_array_foreach (jsonx_at(spec, "podFailurePolicy.rules"), i, rule)
		check_failure_rule(spec, rule, PATH_INDEX(&rules, i), e);
}

static void check_manager(const json_t *manager, const struct path *at, struct err *e)
{
	const char *s = json_string_value(manager);

	if (!s)
		return;
	if (!*s)
		path_required(at, e, NULL);
	rule_text(manager, at, e, name_check_domain_path);
	if (strlen(s) > MAX_MANAGER)
		rule_too_long(at, e, MAX_MANAGER);
}

void job_spec_validate(const json_t *spec, const struct path *at, struct err *e)
{
	const char *restart = jsonx_str_or(spec, "template.spec.restartPolicy", "Always");

	if (str_same(jsonx_str(spec, "completionMode"), "Indexed"))
		check_indexed(spec, at, e);
	else
		check_not_indexed(spec, at, e);
	if (str_same(jsonx_str(spec, "completionMode"), "Indexed"))
		job_success_validate(spec, at, e);
	check_index_limits(spec, at, e);
	if (jsonx_at(spec, "template.spec") && !streq(restart, "OnFailure") && !streq(restart, "Never"))
		path_required(PATH_FIELD(at, "template.spec.restartPolicy"), e,
			      "valid values: \"OnFailure\", \"Never\"");
	check_failure_policy(spec, at, e);
	check_manager(json_object_get(spec, "managedBy"), PATH_FIELD(at, "managedBy"), e);
}

/* The labels by which the server tells this Job's pods from others must be the ones it made, and the selector must ask
 * for nothing else: a further label would be the author's, whom only manualSelector lets choose. */
static void check_generated(const json_t *obj, struct err *e)
{
	static const char *const keys[][2] = {
		{ LABEL_CONTROLLER_UID, "metadata.uid" },
		{ LABEL_CONTROLLER_UID_LEGACY, "metadata.uid" },
		{ LABEL_JOB_NAME, "metadata.name" },
		{ LABEL_JOB_NAME_LEGACY, "metadata.name" },
	};
	const json_t *labels = jsonx_at(obj, "spec.template.metadata.labels");
	const json_t *selector = jsonx_at(obj, "spec.selector");
	const struct path at = { .name = "spec.template.metadata.labels" };
	json_auto_t *made = json_object();
	struct selector *s = NULL;
	struct err ignored = ERR_INIT;

	for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
		const char *want = jsonx_str_or(obj, keys[i][1], "");
		const json_t *have = json_object_get(labels, keys[i][0]);

		json_object_set_new(made, keys[i][0], jsonx_string(want));
		if (!have)
			path_required(PATH_KEY(&at, keys[i][0]), e, "must be set by the server");
		else if (!str_same(json_string_value(have), want))
			path_invalid(PATH_KEY(&at, keys[i][0]), e, have, "must be '%s'", want);
	}
	/* A selector that cannot be read has been complained about. */
	if (selector && selector_from_json(selector, &s, &ignored) == 0 && !selector_match_labels(s, made))
		path_invalid(PATH_FIELD(NULL, "spec.selector"), e, selector, "`selector` not auto-generated");
	selector_free(s);
}

/* The pods of an Indexed Job are named after it and their index, and so are the hosts they believe to be. */
static void check_host_name(const json_t *obj, struct err *e)
{
	const json_t *name = jsonx_at(obj, "metadata.name");
	json_int_t completions = json_integer_value(jsonx_at(obj, "spec.completions"));
	auto_free char *last = NULL;

	if (!str_same(jsonx_str(obj, "spec.completionMode"), "Indexed") || completions < 1 || !json_is_string(name))
		return;
	last = xasprintf("%s-%lld", json_string_value(name), (long long)completions - 1);
	if (name_check_label(last))
		path_invalid(PATH_FIELD(NULL, "metadata.name"), e, name,
			     "will not able to create pod with invalid DNS label: %s", last);
}

void job_validate(const json_t *obj, struct err *e)
{
	const json_t *spec = json_object_get(obj, "spec");

	if (!has(spec, "template"))
		return;
	if (!has(spec, "selector"))
		path_required(PATH_FIELD(NULL, "spec.selector"), e, NULL);
	else
		workload_check_labels(spec, PATH_FIELD(NULL, "spec"), e);
	if (!jsonx_bool_or(spec, "manualSelector", false))
		check_generated(obj, e);
	check_host_name(obj, e);
}

/* Until a suspended Job has first started, a queue may still decide where its pods go. */
static const char *const placement[] = {
	"metadata.labels",  "metadata.annotations", "spec.nodeSelector",
	"spec.tolerations", "spec.affinity",        "spec.schedulingGates",
};

static bool same_template(const json_t *obj, const json_t *old)
{
	json_auto_t *now = jsonx_copy(jsonx_at(obj, "spec.template"));
	json_auto_t *was = jsonx_copy(jsonx_at(old, "spec.template"));
	bool open = jsonx_bool_or(old, "spec.suspend", false) && !jsonx_at(old, "status.startTime");

	for (size_t i = 0; open && i < ARRAY_SIZE(placement); i++) {
		jsonx_del(now, placement[i]);
		jsonx_del(was, placement[i]);
	}
	return now && was && jsonx_equal(now, was);
}

/* Indexed Jobs may grow and shrink, but only whole: completions and parallelism go together. */
static void check_completions(const json_t *obj, const json_t *old, struct err *e)
{
	const json_t *now = jsonx_at(obj, "spec.completions");

	if (!str_same(jsonx_str(obj, "spec.completionMode"), "Indexed")) {
		rule_fixed(obj, old, "spec.completions", e);
		return;
	}
	if (now && !jsonx_equal(now, jsonx_at(old, "spec.completions")) &&
	    !jsonx_equal(now, jsonx_at(obj, "spec.parallelism")))
		path_invalid(PATH_FIELD(NULL, "spec.completions"), e, now,
			     "can only be modified in tandem with spec.parallelism");
}

void job_validate_update(const json_t *obj, const json_t *old, struct err *e)
{
	static const char *const fixed[] = { "spec.selector",         "spec.completionMode",
					     "spec.podFailurePolicy", "spec.backoffLimitPerIndex",
					     "spec.managedBy",        "spec.successPolicy" };

	check_completions(obj, old, e);
	for (size_t i = 0; i < ARRAY_SIZE(fixed); i++)
		rule_fixed(obj, old, fixed[i], e);
	if (!same_template(obj, old))
		path_invalid(PATH_FIELD(NULL, "spec.template"), e, jsonx_at(obj, "spec.template"),
			     "field is immutable");
}
