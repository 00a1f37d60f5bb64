// SPDX-License-Identifier: Apache-2.0
/* workload.c - what every kind with a pod template has in common */
#include "kinds/workload.h"

#include "kinds/cells.h"
#include "kinds/rest_rules.h"
#include "kinds/selector.h"

void workload_check_labels(const json_t *spec, const struct path *at, struct err *e)
{
	const json_t *labels = jsonx_at(spec, "template.metadata.labels");
	json_auto_t *none = json_object();
	struct selector *selector = NULL;
	struct err ignored = ERR_INIT;

	/* What is wrong with the selector itself is told by its own message. */
	if (selector_from_json(json_object_get(spec, "selector"), &selector, &ignored) < 0)
		return;
	if (!selector_match_labels(selector, labels))
		path_invalid(PATH_FIELD(at, "template.metadata.labels"), e, labels ? labels : none,
			     "`selector` does not match template `labels`");
	selector_free(selector);
}

void workload_check_selector(const json_t *spec, const struct path *at, const char *what, struct err *e)
{
	const json_t *selector = json_object_get(spec, "selector");

	if (!selector)
		return; /* its row says that it is required */
	if (value_is_empty(json_object_get(selector, "matchLabels")) &&
	    value_is_empty(json_object_get(selector, "matchExpressions")))
		path_invalid(PATH_FIELD(at, "selector"), e, selector, "empty selector is invalid for %s", what);
	else if (json_object_get(spec, "template"))
		workload_check_labels(spec, at, e);
}

void workload_check_restart(const json_t *spec, const struct path *at, const char *what, struct err *e)
{
	const char *policy = jsonx_str_or(spec, "template.spec.restartPolicy", "Always");

	if (!streq(policy, "Always"))
		path_unsupported(PATH_FIELD(at, "template.spec.restartPolicy"), e, policy, "Always");
	if (jsonx_at(spec, "template.spec.activeDeadlineSeconds"))
		path_forbidden(PATH_FIELD(at, "template.spec.activeDeadlineSeconds"), e,
			       "activeDeadlineSeconds in %s is not Supported", what);
}

void workload_check_counts(const json_t *status, const struct path *at, struct err *e)
{
	static const struct {
		const char *part, *whole, *said;
	} rows[] = {
		{ "fullyLabeledReplicas", "replicas", "status.replicas" },
		{ "updatedReplicas", "replicas", "status.replicas" },
		{ "readyReplicas", "replicas", "status.replicas" },
		{ "availableReplicas", "replicas", "status.replicas" },
		{ "availableReplicas", "readyReplicas", "readyReplicas" },
		{ "currentReplicas", "replicas", "status.replicas" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (jsonx_int_or(status, rows[i].part, 0) > 0 &&
		    jsonx_int_or(status, rows[i].part, 0) > jsonx_int_or(status, rows[i].whole, 0))
			path_invalid(PATH_FIELD(at, rows[i].part), e, json_object_get(status, rows[i].part),
				     "cannot be greater than %s", rows[i].said);
}

json_t *workload_cell_containers(const json_t *obj, int64_t now)
{
	(void)now;
	return cell_containers(jsonx_at(obj, "spec.template.spec"));
}

json_t *workload_cell_images(const json_t *obj, int64_t now)
{
	(void)now;
	return cell_images(jsonx_at(obj, "spec.template.spec"));
}

json_t *workload_cell_selector(const json_t *obj, int64_t now)
{
	(void)now;
	return cell_label_selector(jsonx_at(obj, "spec.selector"));
}
