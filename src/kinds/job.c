// SPDX-License-Identifier: Apache-2.0
/* job.c - batch/v1 Job: pods that run to their end, a number of times
 *
 * Rules are in job_rules.c and job_success.c, the two policies in job_policy.c.  JobSpec is also the inside of a
 * CronJob's template, so nothing here looks at metadata except the Job's own functions.
 */
#include "kinds/job.h"

#include "base/clock.h"
#include "base/jsonx.h"
#include "kinds/cells.h"
#include "kinds/condition.h"
#include "kinds/core.h"
#include "kinds/rest.h"
#include "kinds/rest_rules.h"
#include "kinds/workload.h"

static const struct field spec_fields[] = {
	FP(1, "parallelism", INT32, .has_min = true, .doc = "How many pods may run at the same time; 1 by default."),
	FP(2, "completions", INT32, .has_min = true,
	   .doc = "How many pods must succeed. Without it, one success ends the Job and parallelism says how many "
		  "try."),
	FP(3, "activeDeadlineSeconds", INT64, .has_min = true,
	   .doc = "Seconds after its start at which the Job is stopped and fails."),
	F(4, "selector", OBJECT, .msg = &meta_label_selector,
	  .doc = "Which pods belong to this Job. The server makes one; set it only with manualSelector."),
	FP(5, "manualSelector", BOOL, .doc = "True if selector and the template's labels are yours to keep unique."),
	F(6, "template", OBJECT, .msg = &core_pod_template_spec, .flags = FIELD_REQUIRED,
	  .doc = "The pods to run. Their restartPolicy is Never or OnFailure."),
	FP(7, "backoffLimit", INT32, .has_min = true, .doc = "How many failures are tried again; 6 by default."),
	FP(8, "ttlSecondsAfterFinished", INT32, .has_min = true,
	   .doc = "Seconds after its end at which the Job is deleted with its pods; kept for ever by default."),
	FP(9, "completionMode", STRING, .dflt = "\"NonIndexed\"", .values = "Indexed|NonIndexed",
	   .doc = "Indexed gives each completion a number from 0, which its pod finds in JOB_COMPLETION_INDEX."),
	FP(10, "suspend", BOOL, .dflt = "false", .doc = "While true, no pods run; those that do are stopped."),
	F(11, "podFailurePolicy", OBJECT, .msg = &job_pod_failure_policy, .doc = "What the failure of a pod means."),
	FP(12, "backoffLimitPerIndex", INT32, .has_min = true,
	   .doc = "How many failures of one index are tried again; for Indexed Jobs."),
	FP(13, "maxFailedIndexes", INT32, .has_min = true,
	   .doc = "How many indexes may fail before the Job does; with backoffLimitPerIndex."),
	FP(14, "podReplacementPolicy", STRING, .values = "Failed|TerminatingOrFailed",
	   .doc = "When a new pod takes the place of one that ends: once it has failed, or already while it "
		  "terminates."),
	FP(15, "managedBy", STRING, .doc = "The controller that runs this Job, if it is not the built-in one."),
	F(16, "successPolicy", OBJECT, .msg = &job_success_policy,
	  .doc = "When an Indexed Job has succeeded before all its indexes have."),
};

static void spec_defaults(json_t *obj)
{
	if (!json_object_get(obj, "completions") && !json_object_get(obj, "parallelism"))
		json_object_set_new(obj, "completions", json_integer(1));
	set_if_absent(obj, "parallelism", json_integer(1));
	/* With a limit for each index the one for all must not cut in. */
	set_if_absent(obj, "backoffLimit", json_integer(json_object_get(obj, "backoffLimitPerIndex") ? INT32_MAX : 6));
	set_if_absent(obj, "podReplacementPolicy",
		      json_string(json_object_get(obj, "podFailurePolicy") ? "Failed" : "TerminatingOrFailed"));
}

const struct message batch_job_spec = MESSAGE("io.k8s.api.batch.v1.JobSpec", spec_fields, .doc = "How a Job runs.",
					      .defaults = spec_defaults, .validate = job_spec_validate);

static const struct field condition_fields[] = {
	F(1, "type", STRING, .flags = FIELD_REQUIRED,
	  .doc = "Complete, Failed, Suspended, FailureTarget or SuccessCriteriaMet."),
	F(2, "status", STRING, .flags = FIELD_REQUIRED, .doc = "True, False or Unknown."),
	F(3, "lastProbeTime", TIME, .doc = "When this condition was last looked at."),
	F(4, "lastTransitionTime", TIME, .doc = "When status last changed."),
	F(5, "reason", STRING, .doc = "One word for programs: why status is what it is."),
	F(6, "message", STRING, .doc = "The same for people."),
};

static const struct message condition =
	MESSAGE("io.k8s.api.batch.v1.JobCondition", condition_fields, .doc = "One fact about a Job.");

static const struct field uncounted_fields[] = {
	FL(1, "succeeded", STRING, .flags = FIELD_SET, .doc = "UIDs of pods that succeeded."),
	FL(2, "failed", STRING, .flags = FIELD_SET, .doc = "UIDs of pods that failed."),
};

static const struct message uncounted =
	MESSAGE("io.k8s.api.batch.v1.UncountedTerminatedPods", uncounted_fields,
		.doc = "Pods that have ended but are not yet in the counters of the status.");

static const struct field status_fields[] = {
	FL(1, "conditions", OBJECT, .msg = &condition, .merge_key = "type", .flags = FIELD_ATOMIC,
	   .doc = "How the Job stands; Complete or Failed once it has ended."),
	F(2, "startTime", TIME, .doc = "When the Job was first worked on; set anew when it is resumed."),
	F(3, "completionTime", TIME, .doc = "When the Job succeeded."),
	F(4, "active", INT32, .doc = "Pods that are pending or running and not being deleted."),
	F(5, "succeeded", INT32, .doc = "Pods that ended well."),
	F(6, "failed", INT32, .doc = "Pods that failed."),
	F(7, "completedIndexes", STRING, .doc = "Indexes that have succeeded, such as 1,3-5,7."),
	F(8, "uncountedTerminatedPods", OBJECT, .msg = &uncounted, .doc = "Ended pods that are not yet counted."),
	FP(9, "ready", INT32, .doc = "Active pods that are ready."),
	FP(10, "failedIndexes", STRING, .doc = "Indexes that have failed for good, such as 1,3-5,7."),
	FP(11, "terminating", INT32, .doc = "Pods that are being deleted but have not ended."),
};

static const struct message status =
	MESSAGE("io.k8s.api.batch.v1.JobStatus", status_fields, .doc = "What the controller last saw of a Job.");

static const struct field fields[] = {
	FIELDS_OBJECT,
	F(2, "spec", OBJECT, .msg = &batch_job_spec, .dflt = "{}", .doc = "How the Job runs."),
	F(3, "status", OBJECT, .msg = &status, .doc = "How it stands; written by the controller."),
};

static const struct message job = MESSAGE("io.k8s.api.batch.v1.Job", fields,
					  .doc = "Runs pods to their end until enough of them have succeeded.");

/* A label that is already there stays: if it contradicts the Job, validation says so. */
static void label(json_t *labels, const char *key, const char *value)
{
	if (labels && value)
		set_if_absent(labels, key, jsonx_string(value));
}

static void generate_selector(json_t *spec, const char *uid, const char *name)
{
	json_t *template = object_in(spec, "template");
	json_t *metadata = template ? object_in(template, "metadata") : NULL;
	json_t *labels = metadata ? object_in(metadata, "labels") : NULL;
	json_t *selector = object_in(spec, "selector");

	label(labels, LABEL_JOB_NAME, name);
	label(labels, LABEL_JOB_NAME_LEGACY, name);
	label(labels, LABEL_CONTROLLER_UID, uid);
	label(labels, LABEL_CONTROLLER_UID_LEGACY, uid);
	label(selector ? object_in(selector, "matchLabels") : NULL, LABEL_CONTROLLER_UID, uid);
}

/* A Job without labels takes those that its author gave the template, else those generated for it. */
static void prepare_create(json_t *obj)
{
	json_t *spec = object_in(obj, "spec");
	json_t *metadata = object_in(obj, "metadata");
	json_auto_t *labels = jsonx_copy(jsonx_at(spec, "template.metadata.labels"));

	status_begin(obj);
	/* A template that is missing must stay missing, so that validation can say so. */
	if (!spec || !metadata || !json_object_get(spec, "template"))
		return;
	if (!jsonx_bool_or(spec, "manualSelector", false))
		generate_selector(spec, jsonx_str(metadata, "uid"), jsonx_str(metadata, "name"));
	if (!value_is_empty(json_object_get(metadata, "labels")))
		return;
	if (value_is_empty(labels))
		json_object_set_new(metadata, "labels", jsonx_copy(jsonx_at(spec, "template.metadata.labels")));
	else
		json_object_set(metadata, "labels", labels);
}

static json_t *cell_status(const json_t *obj, int64_t now)
{
	(void)now;
	if (condition_holds(obj, "Complete"))
		return json_string("Complete");
	if (condition_holds(obj, "Failed"))
		return json_string("Failed");
	if (jsonx_at(obj, "metadata.deletionTimestamp"))
		return json_string("Terminating");
	if (condition_holds(obj, "Suspended"))
		return json_string("Suspended");
	return json_string(condition_holds(obj, "FailureTarget") ? "FailureTarget" : "Running");
}

static json_t *cell_completions(const json_t *obj, int64_t now)
{
	long long succeeded = jsonx_int_or(obj, "status.succeeded", 0);
	long long parallelism = jsonx_int_or(obj, "spec.parallelism", 0);
	const json_t *completions = jsonx_at(obj, "spec.completions");

	(void)now;
	if (json_is_integer(completions))
		return jsonx_stringf("%lld/%lld", succeeded, (long long)json_integer_value(completions));
	if (parallelism > 1)
		return jsonx_stringf("%lld/1 of %lld", succeeded, parallelism);
	return jsonx_stringf("%lld/1", succeeded);
}

static json_t *cell_duration(const json_t *obj, int64_t now)
{
	const char *start = jsonx_str(obj, "status.startTime"), *end = jsonx_str(obj, "status.completionTime");
	int64_t from, to = now * 1000000;
	char text[32];

	if (!start || !clock_parse_rfc3339(start, &from))
		return json_string("");
	if (end && !clock_parse_rfc3339(end, &to))
		return json_string("");
	clock_age(to / 1000000 - from / 1000000, text, sizeof(text));
	return json_string(text);
}

static const struct column columns[] = {
	COLUMN_NAME,
	COLUMN("Status", "How the Job stands.", cell_status),
	COLUMN("Completions", "Successes of those wanted.", cell_completions),
	COLUMN("Duration", "From the start to the end, or to now.", cell_duration),
	COLUMN_AGE,
	COLUMN_CONTAINERS,
	COLUMN_IMAGES,
	COLUMN_SELECTOR,
};

static const struct selectable selectable[] = { { "status.successful", "status.succeeded", "0" } };

const struct kind kind_job = {
	.group = "batch",
	.version = "v1",
	.kind = "Job",
	.plural = "jobs",
	.singular = "job",
	.categories = category_all,
	.namespaced = true,
	.flags = KIND_STATUS | KIND_GENERATION | KIND_ORPHAN,
	.verbs = VERBS_ALL,
	.message = &job,
	KIND_COLUMNS(columns),
	KIND_SELECTABLE(selectable),
	KIND_SUBRESOURCES(status_only),
	.prepare_create = prepare_create,
	.validate = job_validate,
	.validate_update = job_validate_update,
};
