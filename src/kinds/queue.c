// SPDX-License-Identifier: Apache-2.0
/* queue.c - stoker.dev/v1 Queue: where workloads of all sorts wait for their turn
 *
 * One Queue is both a PBS queue, set by qmgr, and what the label stoker.dev/queue names on other objects.
 */
#include "kinds/queue.h"

#include "kinds/cells.h"
#include "kinds/core.h"
#include "kinds/idle_gpu.h"
#include "kinds/quantity.h"
#include "kinds/rest.h"
#include "kinds/rest_rules.h"
#include "kinds/walltime.h"

#define LONGEST_NAME 63

static void check_quantity(const json_t *obj, const char *field, const struct path *at, struct err *e)
{
	const json_t *v = json_object_get(obj, field);
	struct quantity q;

	if (json_is_string(v) && quantity_parse(json_string_value(v), &q) && q.nano < 0)
		path_invalid(PATH_FIELD(at, field), e, v, "must be greater than or equal to 0");
}

static void amount_validate(const json_t *obj, const struct path *at, struct err *e)
{
	check_quantity(obj, "cpus", at, e);
	check_quantity(obj, "memory", at, e);
}

/* A sign alone, or nothing before an @, is nobody. */
static void acl_validate(const json_t *obj, const struct path *at, struct err *e)
{
	static const char *const lists[] = { "users", "groups", "hosts" };
	json_t *v;
	size_t i;

	for (size_t k = 0; k < ARRAY_SIZE(lists); k++)
		json_array_foreach (json_object_get(obj, lists[k]), i, v) {
			const char *name = json_string_value(v);

			if (name && !strcspn(name + (*name == '-' || *name == '+'), "@"))
				path_invalid(PATH_INDEX(PATH_FIELD(at, lists[k]), i), e, v,
					     "must be a name, +name or -name");
		}
}

static const struct field acl_fields[] = {
	FL(0, "users", STRING, .flags = FIELD_SET,
	   .doc = "Users who may submit; -name keeps one out; the first that fits decides. All without."),
	FL(0, "groups", STRING, .flags = FIELD_SET, .doc = "Groups whose members may submit. All without."),
	FL(0, "hosts", STRING, .flags = FIELD_SET, .doc = "Hosts from which one may submit. All without."),
	F(0, "groupSloppy", BOOL,
	  .doc = "Whether all groups of a PBS job's user count rather than the one it runs in. Of others all do."),
	F(0, "anyOf", BOOL, .doc = "Whether it is enough to be in one of the lists rather than in each."),
};

static const struct message acl =
	MESSAGE("dev.stoker.v1.QueueACL", acl_fields, .doc = "Who may submit.", .validate = acl_validate);

static const struct field amount_fields[] = {
	F(0, "running", INT32, .has_min = true, .doc = "Workloads that run."),
	F(0, "queued", INT32, .has_min = true, .doc = "Workloads in the queue, running ones too."),
	F(0, "gpus", INT32, .has_min = true, .doc = "GPUs in use."),
	F(0, "cpus", QUANTITY, .doc = "Processors in use."),
	F(0, "memory", QUANTITY, .doc = "Memory in use."),
};

static const struct message amount =
	MESSAGE("dev.stoker.v1.QueueAmount", amount_fields,
		.doc = "How much of each; no limit where there is no number.", .validate = amount_validate);

static const struct field limits_fields[] = {
	F(0, "total", OBJECT, .msg = &amount, .doc = "Of all together."),
	F(0, "perUser", OBJECT, .msg = &amount, .doc = "Of each user."),
	F(0, "perGroup", OBJECT, .msg = &amount, .doc = "Of each group."),
};

static const struct message limits =
	MESSAGE("dev.stoker.v1.QueueLimits", limits_fields, .doc = "How much of the machine the queue may use.");

#define IDLE_TIME_RULE "must be a time of at least 1s, such as 30m, 2h or 02:00:00"

/* -1 if there is none, or none that can be understood. */
static int64_t check_idle_time(const json_t *obj, const char *field, const struct path *at, struct err *e)
{
	const json_t *v = json_object_get(obj, field);
	int64_t seconds;

	if (value_is_empty(v))
		return -1;
	if (walltime_parse(json_string_value(v), &seconds) && seconds >= 1)
		return seconds;
	path_invalid(PATH_FIELD(at, field), e, v, IDLE_TIME_RULE);
	return -1;
}

static void idle_validate(const json_t *obj, const struct path *at, struct err *e)
{
	int64_t warn = check_idle_time(obj, "warnAfter", at, e);
	int64_t end = check_idle_time(obj, "endAfter", at, e);
	const json_t *below = json_object_get(obj, "below");

	if (warn >= 0 && end >= 0 && end < warn)
		path_invalid(PATH_FIELD(at, "endAfter"), e, json_object_get(obj, "endAfter"),
			     "must not be shorter than warnAfter");
	if (json_integer_value(below) > 100)
		path_invalid(PATH_FIELD(at, "below"), e, below, "must be a percentage from 1 to 100");
}

static const struct field idle_fields[] = {
	F(0, "warnAfter", STRING, .flags = FIELD_REQUIRED,
	  .doc = "How long all GPUs of a workload must be unused before it is warned, such as 30m."),
	F(0, "endAfter", STRING, .doc = "How long before it is ended, such as 2h; never without."),
	F(0, "below", INT32, .dflt = IDLE_GPU_BELOW_TEXT, .has_min = true, .min = 1,
	  .doc = "A GPU that is used less than so many percent of the time is unused."),
};

static const struct message idle =
	MESSAGE("dev.stoker.v1.QueueIdleGPU", idle_fields,
		.doc = "What happens to work that holds GPUs without using them.", .validate = idle_validate);

static const struct field own_fields[] = {
	F(0, "gpus", INT32, .has_min = true, .doc = "GPUs."),
	F(0, "cpus", QUANTITY, .doc = "Processors."),
	F(0, "memory", QUANTITY, .doc = "Memory."),
};

static const struct message own =
	MESSAGE("dev.stoker.v1.QueueQuota", own_fields, .doc = "How much of each; what has no number is not counted.",
		.validate = amount_validate);

static const struct field spec_fields[] = {
	F(0, "type", STRING, .dflt = "\"Execution\"", .values = "Execution|Route",
	  .doc = "Route passes workloads on to the first of destinations that takes them."),
	F(0, "priority", INT32, .dflt = "0", .doc = "Queues with a higher priority go first."),
	F(0, "enabled", BOOL, .dflt = "true", .doc = "Whether workloads may be submitted."),
	F(0, "started", BOOL, .dflt = "true", .doc = "Whether workloads are started."),
	F(0, "weight", INT32, .dflt = "1", .has_min = true, .min = 1,
	  .doc = "Share of the machine among queues of the same priority."),
	F(0, "borrowing", BOOL, .dflt = "true", .doc = "Whether it may use what other queues leave idle."),
	F(0, "quota", OBJECT, .msg = &own,
	  .doc = "What is the queue's own: more than that it can only borrow from others of its cohort."),
	F(0, "cohort", STRING, .doc = "Queues with the same one lend each other what they do not use of their quotas."),
	F(0, "borrowingLimit", OBJECT, .msg = &own, .doc = "Most that it may borrow of each."),
	F(0, "reclaim", STRING, .values = "Any|LowerPriority|Never",
	  .doc = "Whose work is evicted to get back what others have borrowed of its quota; Any without."),
	F(0, "acl", OBJECT, .msg = &acl, .doc = "Who may submit; everyone without."),
	F(0, "limits", OBJECT, .msg = &limits, .doc = "How much of the machine the queue may use."),
	F(0, "idleGpu", OBJECT, .msg = &idle,
	  .doc = "What happens to work that holds GPUs without using them; nothing without."),
	F(0, "defaultWalltime", STRING, .doc = "Running time of workloads that ask for none, such as 168:00:00 or 7d."),
	F(0, "maxWalltime", STRING, .doc = "Longest running time a workload may ask for."),
	F(0, "minWalltime", STRING, .doc = "Shortest running time a workload may ask for."),
	FL(0, "nodeProperties", STRING, .flags = FIELD_SET, .doc = "Properties that nodes must have to be used."),
	FM(0, "resourcesDefault", STRING, .doc = "Other resources of PBS jobs that ask for none, such as mem: 4gb."),
	FM(0, "resourcesMax", STRING, .doc = "Most of a resource that a PBS job may ask for."),
	FM(0, "resourcesMin", STRING, .doc = "Least of a resource that a PBS job may ask for."),
	FL(0, "disallowedTypes", STRING, .flags = FIELD_SET,
	   .values = "interactive|batch|rerunable|nonrerunable|fault_tolerant|fault_intolerant|job_array",
	   .doc = "Sorts of PBS jobs that are refused."),
	F(0, "fromRouteOnly", BOOL, .doc = "Whether workloads come only from other queues."),
	FL(0, "destinations", STRING, .doc = "Queues that a Route queue passes workloads on to."),
	F(0, "keepCompletedSeconds", INT32, .has_min = true, .doc = "How long qstat shows jobs that have ended."),
	F(0, "killDelaySeconds", INT32, .has_min = true, .doc = "Seconds between SIGTERM and SIGKILL."),
	F(0, "containers", STRING, .dflt = "\"allowed\"", .values = "allowed|required",
	  .doc = "Whether programs of PBS jobs must run in containers: the script itself does not, but can execute "
		 "only small tools and startdocker."),
	F(0, "image", STRING, .doc = "Image of PBS jobs that name none; without, they run in the host's own system."),
};

static const char *const walltimes[] = { "defaultWalltime", "maxWalltime", "minWalltime" };

/* What is only of use with something else. */
static void check_quota(const json_t *obj, const struct path *at, struct err *e)
{
	static const struct {
		const char *field, *needs;
	} rows[] = { { "cohort", "quota" }, { "borrowingLimit", "cohort" }, { "reclaim", "cohort" } };

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (!value_is_empty(json_object_get(obj, rows[i].field)) &&
		    value_is_empty(json_object_get(obj, rows[i].needs)))
			path_invalid(PATH_FIELD(at, rows[i].field), e, json_object_get(obj, rows[i].field),
				     "may only be set together with %s", rows[i].needs);
	if (json_object_get(obj, "borrowingLimit") && !jsonx_bool_or(obj, "borrowing", true))
		path_invalid(PATH_FIELD(at, "borrowingLimit"), e, json_object_get(obj, "borrowingLimit"),
			     "may not be set where borrowing is false");
}

static void spec_validate(const json_t *obj, const struct path *at, struct err *e)
{
	int64_t seconds[ARRAY_SIZE(walltimes)] = { -1, -1, -1 };

	for (size_t i = 0; i < ARRAY_SIZE(walltimes); i++) {
		const json_t *v = json_object_get(obj, walltimes[i]);

		if (!value_is_empty(v) && !walltime_parse(json_string_value(v), &seconds[i]))
			path_invalid(PATH_FIELD(at, walltimes[i]), e, v,
				     "must be a time such as 168:00:00, 7d or 3600");
	}
	if (seconds[1] >= 0 && seconds[0] > seconds[1])
		path_invalid(PATH_FIELD(at, "defaultWalltime"), e, json_object_get(obj, "defaultWalltime"),
			     "must not be longer than maxWalltime");
	if (seconds[1] >= 0 && seconds[2] > seconds[1])
		path_invalid(PATH_FIELD(at, "minWalltime"), e, json_object_get(obj, "minWalltime"),
			     "must not be longer than maxWalltime");
	if (seconds[0] >= 0 && seconds[0] < seconds[2])
		path_invalid(PATH_FIELD(at, "defaultWalltime"), e, json_object_get(obj, "defaultWalltime"),
			     "must not be shorter than minWalltime");
	check_quota(obj, at, e);
	if (streq(jsonx_str_or(obj, "type", ""), "Route"))
		rule_some(json_object_get(obj, "destinations"), PATH_FIELD(at, "destinations"), e,
			  "a Route queue passes workloads on");
}

static const struct message spec =
	MESSAGE("dev.stoker.v1.QueueSpec", spec_fields, .doc = "How the queue works.", .validate = spec_validate);

static const struct field status_fields[] = {
	F(0, "total", INT32, .doc = "Workloads in the queue."),
	F(0, "queued", INT32, .doc = "Workloads that wait."),
	F(0, "held", INT32, .doc = "Workloads that are held."),
	F(0, "waiting", INT32, .doc = "Workloads that wait for a time."),
	F(0, "running", INT32, .doc = "Workloads that run."),
	F(0, "exiting", INT32, .doc = "Workloads that are ending."),
	F(0, "completed", INT32, .doc = "Workloads that have ended and are still shown."),
	F(0, "gpus", INT32, .doc = "GPUs in use."),
	F(0, "cpus", QUANTITY, .doc = "Processors in use."),
	F(0, "memory", QUANTITY, .doc = "Memory in use."),
	F(0, "observedGeneration", INT64, .doc = "The metadata.generation that this status is about."),
};

static const struct message status =
	MESSAGE("dev.stoker.v1.QueueStatus", status_fields, .doc = "What is in the queue.");

json_t *queue_properties(const json_t *from)
{
	const json_t *listed = json_object_get(from, "nodeProperties");
	const json_t *needed = json_object_get(json_object_get(from, "resourcesDefault"), "neednodes");
	struct str rest = str_of(json_is_string(needed) ? json_string_value(needed) : ""), part;
	json_t *all = json_is_array(listed) ? jsonx_copy(listed) : json_array();

	while (str_split(&rest, ':', &part))
		if (part.n)
			json_array_append_new(all, jsonx_stringn(part.p, part.n));
	return all;
}

/* Pods have it as the value of a label. */
static void name_validate(const json_t *obj, struct err *e)
{
	const json_t *name = jsonx_at(obj, "metadata.name");

	if (json_string_length(name) > LONGEST_NAME)
		path_invalid(PATH_FIELD(NULL, "metadata.name"), e, name, "must be no more than %d characters",
			     LONGEST_NAME);
}

static const struct field fields[] = {
	FIELDS_OBJECT,
	F(0, "spec", OBJECT, .msg = &spec, .dflt = "{}", .doc = "How the queue works."),
	F(0, "status", OBJECT, .msg = &status, .doc = "What is in it; written by the scheduler."),
};

static const struct message queue = MESSAGE("dev.stoker.v1.Queue", fields,
					    .doc = "Where workloads wait for their turn: PBS jobs, Jobs, training "
						   "jobs, notebooks and model servers alike.");

static json_t *yes_no(const json_t *obj, const char *path)
{
	return json_boolean(jsonx_bool_or(obj, path, true));
}

static json_t *cell_enabled(const json_t *obj, int64_t now)
{
	(void)now;
	return yes_no(obj, "spec.enabled");
}

static json_t *cell_started(const json_t *obj, int64_t now)
{
	(void)now;
	return yes_no(obj, "spec.started");
}

CELL_INT(cell_priority, "spec.priority")
CELL_INT(cell_queued, "status.queued")
CELL_INT(cell_running, "status.running")
CELL_INT(cell_gpus, "status.gpus")
CELL_STR(cell_walltime, "spec.maxWalltime", "<none>")

static const struct column columns[] = {
	COLUMN_NAME,
	COLUMN_INT("Priority", "Higher goes first.", cell_priority),
	COLUMN("Enabled", "Whether workloads may be submitted.", cell_enabled),
	COLUMN("Started", "Whether workloads are started.", cell_started),
	COLUMN_INT("Queued", "Workloads that wait.", cell_queued),
	COLUMN_INT("Running", "Workloads that run.", cell_running),
	COLUMN_AGE,
	COLUMN_WIDE("GPUs", "GPUs in use.", cell_gpus),
	COLUMN_WIDE("Max Walltime", "Longest running time.", cell_walltime),
};

const struct kind kind_queue = {
	.group = "stoker.dev",
	.version = "v1",
	.kind = "Queue",
	.plural = "queues",
	.singular = "queue",
	.flags = KIND_STATUS | KIND_GENERATION,
	.verbs = VERBS_ALL,
	.message = &queue,
	KIND_COLUMNS(columns),
	KIND_SUBRESOURCES(status_only),
	.prepare_create = status_begin,
	.validate = name_validate,
};
