// SPDX-License-Identifier: Apache-2.0
/* cronjob.c - batch/v1 and batch/v1beta1 CronJob: Jobs at given times
 *
 * The two versions have the same fields; kubectl before 1.21 knows only v1beta1.
 */
#include <ctype.h>
#include <strings.h>

#include "kinds/cells.h"
#include "kinds/core.h"
#include "kinds/cron_schedule.h"
#include "kinds/rest.h"
#include "kinds/rest_rules.h"

/* Jobs are named after the CronJob with 11 more characters, and their pods' labels hold at most 63. */
enum { MAX_NAME = 52 };

static const struct field template_fields[] = {
	F(1, "metadata", OBJECT, .msg = &meta_object, .doc = "Labels and annotations of the Jobs."),
	F(2, "spec", OBJECT, .msg = &batch_job_spec, .dflt = "{}", .doc = "How the Jobs run."),
};

static const struct message template =
	MESSAGE("io.k8s.api.batch.v1.JobTemplateSpec", template_fields, .doc = "The Jobs to create.");

static const struct field spec_fields[] = {
	F(1, "schedule", STRING, .flags = FIELD_REQUIRED,
	  .doc = "When to run: minute, hour, day of the month, month, day of the week; or @hourly, @daily and so on."),
	FP(2, "startingDeadlineSeconds", INT64, .has_min = true,
	   .doc = "How late a Job may still be started; without it, however late."),
	F(3, "concurrencyPolicy", STRING, .dflt = "\"Allow\"", .values = "Allow|Forbid|Replace",
	  .doc = "If the last Job still runs: start the next one too, skip it, or put it in its place."),
	FP(4, "suspend", BOOL, .dflt = "false", .doc = "While true, no further Jobs are started."),
	F(5, "jobTemplate", OBJECT, .msg = &template, .flags = FIELD_REQUIRED, .doc = "The Jobs to create."),
	FP(6, "successfulJobsHistoryLimit", INT32, .dflt = "3", .has_min = true,
	   .doc = "How many Jobs that succeeded are kept."),
	FP(7, "failedJobsHistoryLimit", INT32, .dflt = "1", .has_min = true,
	   .doc = "How many Jobs that failed are kept."),
	FP(8, "timeZone", STRING, .doc = "Time zone of the schedule, such as Asia/Shanghai; the server's by default."),
};

static void check_schedule(const json_t *spec, const struct path *at, struct err *e)
{
	const json_t *v = json_object_get(spec, "schedule");
	struct cron_schedule parsed;
	struct err why = ERR_INIT;

	if (value_is_empty(v))
		return;
	if (strstr(json_string_value(v), "TZ"))
		path_invalid(PATH_FIELD(at, "schedule"), e, v,
			     "cannot use TZ or CRON_TZ in schedule, use timeZone field instead");
	else if (cron_schedule_parse(json_string_value(v), &parsed, &why) < 0)
		path_invalid(PATH_FIELD(at, "schedule"), e, v, "%s", why.text);
}

/* The form of a name in the time zone database; whether this machine has it, its user sees at run time. */
static const char *time_zone_complaint(const char *s)
{
	if (!s[0])
		return "timeZone must be nil or non-empty string";
	if (strcasecmp(s, "Local") == 0)
		return "timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones";
	if (s[0] == '/' || strstr(s, ".."))
		return "unknown time zone";
	for (const char *c = s; *c; c++)
		if (!isalnum((unsigned char)*c) && !strchr("_+-/", *c))
			return "unknown time zone";
	return NULL;
}

static void spec_validate(const json_t *obj, const struct path *at, struct err *e)
{
	const json_t *zone = json_object_get(obj, "timeZone");
	const json_t *job = jsonx_at(obj, "jobTemplate.spec");
	const char *complaint = zone ? time_zone_complaint(json_string_value(zone)) : NULL;

	check_schedule(obj, at, e);
	if (complaint)
		path_invalid(PATH_FIELD(at, "timeZone"), e, zone, "%s", complaint);
	if (json_object_get(job, "selector"))
		path_invalid(PATH_FIELD(at, "jobTemplate.spec.selector"), e, json_object_get(job, "selector"),
			     "`selector` will be auto-generated");
	if (jsonx_bool_or(job, "manualSelector", false))
		path_unsupported(PATH_FIELD(at, "jobTemplate.spec.manualSelector"), e, "true", "nil|false");
}

static const struct message spec = MESSAGE("io.k8s.api.batch.v1.CronJobSpec", spec_fields,
					   .doc = "When Jobs are created, and which.", .validate = spec_validate);

static const struct field status_fields[] = {
	FL(1, "active", OBJECT, .msg = &core_object_reference, .flags = FIELD_ATOMIC, .doc = "Jobs that run now."),
	F(4, "lastScheduleTime", TIME, .doc = "When a Job was last started."),
	F(5, "lastSuccessfulTime", TIME, .doc = "When a Job last succeeded."),
};

static const struct message status =
	MESSAGE("io.k8s.api.batch.v1.CronJobStatus", status_fields, .doc = "What the controller last did.");

static const struct field fields[] = {
	FIELDS_OBJECT,
	F(2, "spec", OBJECT, .msg = &spec, .dflt = "{}", .doc = "When Jobs are created, and which."),
	F(3, "status", OBJECT, .msg = &status, .doc = "What was done so far; written by the controller."),
};

#define CRON_JOB_DOC "Creates a Job at each of the times its schedule names."

static const struct message cron_job = MESSAGE("io.k8s.api.batch.v1.CronJob", fields, .doc = CRON_JOB_DOC);
static const struct message cron_job_v1beta1 = MESSAGE("io.k8s.api.batch.v1beta1.CronJob", fields, .doc = CRON_JOB_DOC);

static void validate(const json_t *obj, struct err *e)
{
	const json_t *name = jsonx_at(obj, "metadata.name");

	if (json_string_length(name) > MAX_NAME)
		path_invalid(PATH_FIELD(NULL, "metadata.name"), e, name, "must be no more than %d characters",
			     MAX_NAME);
}

CELL_STR(cell_schedule, "spec.schedule", "")
CELL_STR(cell_zone, "spec.timeZone", "<none>")

static json_t *cell_suspend(const json_t *obj, int64_t now)
{
	const json_t *v = jsonx_at(obj, "spec.suspend");

	(void)now;
	return json_string(!json_is_boolean(v) ? "<unset>" : json_is_true(v) ? "True" : "False");
}

static json_t *cell_active(const json_t *obj, int64_t now)
{
	(void)now;
	return json_integer((json_int_t)json_array_size(jsonx_at(obj, "status.active")));
}

static json_t *cell_last(const json_t *obj, int64_t now)
{
	const char *last = jsonx_str(obj, "status.lastScheduleTime");

	return last ? cell_age_of(last, now) : json_string("<none>");
}

static json_t *cell_job_containers(const json_t *obj, int64_t now)
{
	(void)now;
	return cell_containers(jsonx_at(obj, "spec.jobTemplate.spec.template.spec"));
}

static json_t *cell_job_images(const json_t *obj, int64_t now)
{
	(void)now;
	return cell_images(jsonx_at(obj, "spec.jobTemplate.spec.template.spec"));
}

static json_t *cell_job_selector(const json_t *obj, int64_t now)
{
	(void)now;
	return cell_label_selector(jsonx_at(obj, "spec.jobTemplate.spec.selector"));
}

static const struct column columns[] = {
	COLUMN_NAME,
	COLUMN("Schedule", "When Jobs are created.", cell_schedule),
	COLUMN("Timezone", "Time zone of the schedule.", cell_zone),
	{ .name = "Suspend",
	  .type = "boolean",
	  .format = "",
	  .doc = "Whether Jobs are held back.",
	  .cell = cell_suspend },
	COLUMN_INT("Active", "Jobs that run now.", cell_active),
	COLUMN("Last Schedule", "When a Job was last started.", cell_last),
	COLUMN_AGE,
	COLUMN_WIDE("Containers", "Names of the containers in the template.", cell_job_containers),
	COLUMN_WIDE("Images", "Images of the containers in the template.", cell_job_images),
	COLUMN_WIDE("Selector", "Which pods belong to the Jobs.", cell_job_selector),
};

static const char *const short_names[] = { "cj", NULL };

/* Everything but the version and the message. */
#define CRON_JOB_KIND                                                                                                  \
	.group = "batch", .kind = "CronJob", .plural = "cronjobs", .singular = "cronjob", .short_names = short_names,  \
	.categories = category_all, .namespaced = true, .flags = KIND_STATUS | KIND_GENERATION, .verbs = VERBS_ALL,    \
	KIND_COLUMNS(columns), KIND_SUBRESOURCES(status_only), .prepare_create = status_begin, .validate = validate

const struct kind kind_cron_job = { CRON_JOB_KIND, .version = "v1", .message = &cron_job };
const struct kind kind_cron_job_v1beta1 = {
	CRON_JOB_KIND,
	.version = "v1beta1",
	.message = &cron_job_v1beta1,
	.storage = &kind_cron_job,
};
