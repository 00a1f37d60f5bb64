// SPDX-License-Identifier: Apache-2.0
/* pbsserver.c - stoker.dev/v1 PBSServer: what qmgr's "set server" changes
 *
 * There is one, "default", from the start; its defaults are those of a Torque server that torque.setup has set up.
 * Limits of single queues stand in the queues.
 */
#include "kinds/cells.h"
#include "kinds/core.h"
#include "kinds/pbs_id.h"
#include "kinds/pbs_values.h"
#include "kinds/rest.h"
#include "kinds/rest_rules.h"

enum { HIGHEST_NUMBER = 99999999 };

static const struct field spec_fields[] = {
	F(0, "serverName", STRING,
	  .doc = "What stands behind the dot of job ids, such as Ghead; the host's name without domain by default."),
	F(0, "defaultQueue", STRING, .flags = FIELD_POINTER, .dflt = "\"batch\"",
	  .doc = "Queue of jobs that name none; empty: those are refused."),
	F(0, "scheduling", BOOL, .dflt = "true", .doc = "Whether jobs are started."),
	F(0, "keepCompletedSeconds", INT32, .dflt = "300", .has_min = true,
	  .doc = "How long qstat shows jobs that have ended."),
	F(0, "killDelaySeconds", INT32, .dflt = "2", .has_min = true, .doc = "Seconds between SIGTERM and SIGKILL."),
	FL(0, "managers", STRING, .flags = FIELD_SET, .doc = "Users (user[@host]) who may change everything."),
	FL(0, "operators", STRING, .flags = FIELD_SET,
	   .doc = "Users (user[@host]) who may act on all jobs, and take nodes out of use."),
	F(0, "queryOtherJobs", BOOL, .dflt = "true", .doc = "Whether users see jobs of others in qstat."),
	FM(0, "resourcesDefault", STRING, .doc = "Resources of jobs that ask for none and whose queue has no default."),
	FM(0, "resourcesMax", STRING, .doc = "Most of a resource that a job may ask for, unless its queue says more."),
	FM(0, "resourcesAvailable", STRING, .doc = "How much there is of a resource for all jobs together."),
	F(0, "maxRunning", INT32, .has_min = true, .doc = "Jobs that may run at the same time; 0 for no limit."),
	F(0, "maxUserRun", INT32, .has_min = true, .doc = "Of one user."),
	F(0, "maxUserQueuable", INT32, .has_min = true, .doc = "Jobs a user may have here, running ones too."),
	F(0, "maxJobArraySize", INT32, .has_min = true, .doc = "Most elements of a job array."),
	F(0, "maxSlotLimit", INT32, .has_min = true,
	  .doc = "Most elements of an array that may run at the same time; also for arrays that say nothing."),
	FL(0, "submitHosts", STRING, .flags = FIELD_SET, .doc = "Hosts from which one may submit. All without."),
	F(0, "automaticRequeueExitCode", INT32, .doc = "A script that exits with it is run again."),
	F(0, "exitCodeCanceledJob", INT32, .doc = "Exit status of jobs that are deleted before they ran."),
	F(0, "comment", STRING, .doc = "Shown by qstat -B."),
	F(0, "nextJobNumber", INT64, .has_min = true, .doc = "Write it to set the number of the next job."),
	F(0, "mailCommand", STRING, .doc = "Program that sends mail, such as /usr/sbin/sendmail. No mail without."),
	F(0, "mailFrom", STRING, .dflt = "\"adm\"", .doc = "From whom mail is."),
	F(0, "qstatLayout", INT32, .dflt = "6", .doc = "Columns of qstat -a as in Torque 6 or 4."),
	F(0, "execHostStyle", INT32, .dflt = "6", .doc = "Slots of a job as G102/0-1 (6) or G102/0+G102/1 (4)."),
	FL(0, "hostRoots", STRING,
	   .doc = "Directories of this machine, such as /gdata, that jobs in containers see beside the user's home."),
	FL(0, "readOnlyRoots", STRING, .doc = "The same, but they cannot be written, such as /gpub."),
	FL(0, "rootQuotas", STRING, .flags = FIELD_SET,
	   .doc = "What each user may take of them, such as /ghome=50gb: chk_quota reports it, nothing enforces it."),
	F(0, "registry", STRING, .doc = "Where images of startdocker come from, such as bit:5000."),
	F(0, "walltimeExitStatus", INT32, .dflt = "-11",
	  .doc = "Exit status of jobs that ran too long: -11 as Torque has it, or 271."),
};

static void check_choice(const json_t *obj, const char *field, int a, int b, const struct path *at, struct err *e)
{
	const json_t *v = json_object_get(obj, field);

	if (json_is_integer(v) && json_integer_value(v) != a && json_integer_value(v) != b)
		path_invalid(PATH_FIELD(at, field), e, v, "must be %d or %d", a, b);
}

static void check_users(const json_t *obj, const char *field, const struct path *at, struct err *e)
{
	json_t *v;
	size_t i;

	json_array_foreach (json_object_get(obj, field), i, v)
		if (!strcspn(json_string_value(v), "@") || strpbrk(json_string_value(v), " \t\n,"))
			path_invalid(PATH_INDEX(PATH_FIELD(at, field), i), e, v, "must be user or user@host");
}

static void check_roots(const json_t *obj, const char *field, const struct path *at, struct err *e)
{
	json_t *v;
	size_t i;

	json_array_foreach (json_object_get(obj, field), i, v) {
		const char *s = json_string_value(v);

		if (s[0] != '/' || !s[1] || strstr(s, "/.."))
			path_invalid(PATH_INDEX(PATH_FIELD(at, field), i), e, v,
				     "must be the absolute path of a directory other than /, without ..");
	}
}

static void check_quotas(const json_t *obj, const struct path *at, struct err *e)
{
	json_t *v;
	size_t i;
	int64_t bytes;

	json_array_foreach (json_object_get(obj, "rootQuotas"), i, v)
		if (!pbs_root_quota_parse(json_string_value(v), &bytes))
			path_invalid(PATH_INDEX(PATH_FIELD(at, "rootQuotas"), i), e, v,
				     "must be an absolute path and a size, such as /ghome=50gb");
}

static bool is_server_name(const char *s)
{
	for (const char *c = s; *c; c++)
		if ((unsigned char)*c <= ' ' || (unsigned char)*c >= 0x7f || strchr("#@[]/:", *c))
			return false;
	return *s && strlen(s) < PBS_SERVER_NAME;
}

static void spec_validate(const json_t *obj, const struct path *at, struct err *e)
{
	const json_t *name = json_object_get(obj, "serverName");
	const json_t *number = json_object_get(obj, "nextJobNumber");

	if (name && !is_server_name(json_string_value(name)))
		path_invalid(PATH_FIELD(at, "serverName"), e, name,
			     "must be a name of printable characters without blanks and none of #@[]/:");
	if (json_integer_value(number) > HIGHEST_NUMBER)
		path_invalid(PATH_FIELD(at, "nextJobNumber"), e, number, "must be no more than %d", HIGHEST_NUMBER);
	check_choice(obj, "qstatLayout", 4, 6, at, e);
	check_choice(obj, "execHostStyle", 4, 6, at, e);
	check_choice(obj, "walltimeExitStatus", -11, 271, at, e);
	check_users(obj, "managers", at, e);
	check_users(obj, "operators", at, e);
	check_roots(obj, "hostRoots", at, e);
	check_roots(obj, "readOnlyRoots", at, e);
	check_quotas(obj, at, e);
}

static const struct message spec = MESSAGE("dev.stoker.v1.PBSServerSpec", spec_fields,
					   .doc = "How PBS jobs are taken and run.", .validate = spec_validate);

static const struct field fields[] = {
	FIELDS_OBJECT,
	F(0, "spec", OBJECT, .msg = &spec, .dflt = "{}", .doc = "How PBS jobs are taken and run."),
};

static const struct message pbsserver =
	MESSAGE("dev.stoker.v1.PBSServer", fields, .doc = "Settings for all PBS jobs, as qmgr changes them.");

static void name_validate(const json_t *obj, struct err *e)
{
	const json_t *name = jsonx_at(obj, "metadata.name");

	if (!str_same(json_string_value(name), "default"))
		path_invalid(PATH_FIELD(NULL, "metadata.name"), e, name, "there is one PBSServer, default");
}

CELL_STR(cell_server, "spec.serverName", "")
CELL_STR(cell_queue, "spec.defaultQueue", "")
CELL_STR(cell_comment, "spec.comment", "")

static json_t *cell_scheduling(const json_t *obj, int64_t now)
{
	(void)now;
	return json_boolean(jsonx_bool_or(obj, "spec.scheduling", true));
}

static const struct column columns[] = {
	COLUMN_NAME,
	COLUMN("Server", "Name in job ids.", cell_server),
	COLUMN("Queue", "Queue of jobs that name none.", cell_queue),
	COLUMN("Scheduling", "Whether jobs are started.", cell_scheduling),
	COLUMN_AGE,
	COLUMN_WIDE("Comment", "For people.", cell_comment),
};

const struct kind kind_pbsserver = {
	.group = "stoker.dev",
	.version = "v1",
	.kind = "PBSServer",
	.plural = "pbsservers",
	.singular = "pbsserver",
	.flags = KIND_GENERATION,
	.verbs = VERBS_ALL,
	.message = &pbsserver,
	KIND_COLUMNS(columns),
	.validate = name_validate,
};
