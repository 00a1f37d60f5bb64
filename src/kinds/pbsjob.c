// SPDX-License-Identifier: Apache-2.0
/* pbsjob.c - stoker.dev/v1 PBSJob: what qsub submits
 *
 * Fields hold what the PBS options say, in PBS's own notation where that is what qstat shows again (resources, mail
 * points, holds).  The room pbs/ reads and writes that notation; here is checked only what any client could get wrong.
 */
#include "kinds/cells.h"
#include "kinds/core.h"
#include "kinds/rest.h"
#include "kinds/rest_rules.h"

enum { LOWEST_PRIORITY = -1024, HIGHEST_PRIORITY = 1023, MAX_NAME = 236 };

static const struct field mail_fields[] = {
	F(0, "points", STRING, .doc = "When to write: letters of abef, n for never (-m). a by default."),
	FL(0, "users", STRING, .doc = "To whom (-M); the owner by default."),
};

static const struct message mail = MESSAGE("dev.stoker.v1.PBSMail", mail_fields, .doc = "When to write to whom.");

static const struct field dependency_fields[] = {
	F(0, "type", STRING, .flags = FIELD_REQUIRED,
	  .values = "after|afterok|afternotok|afterany|before|beforeok|beforenotok|beforeany|on|synccount|syncwith|"
		    "afterstartarray|afterokarray|afternotokarray|afteranyarray|beforestartarray|beforeokarray|"
		    "beforenotokarray|beforeanyarray|runone",
	  .doc = "What must happen to the other jobs."),
	FL(0, "jobs", STRING, .doc = "The other jobs."),
	F(0, "count", INT32, .has_min = true, .doc = "How many jobs, for on and synccount."),
};

static const struct message dependency =
	MESSAGE("dev.stoker.v1.PBSDependency", dependency_fields, .doc = "Other jobs that this one waits for.");

static const struct field array_fields[] = {
	F(0, "request", STRING, .flags = FIELD_REQUIRED, .doc = "Indexes, such as 0-9,20 (-t)."),
	F(0, "slots", INT32, .has_min = true, .min = 1, .doc = "How many elements may run at the same time."),
};

static const struct message array =
	MESSAGE("dev.stoker.v1.PBSArray", array_fields, .doc = "The same job for several indexes.");

static const struct field cancel_fields[] = {
	F(0, "by", STRING, .doc = "Who asked for it; set by the server."),
	F(0, "message", STRING, .doc = "Why (qdel -m)."),
	F(0, "delaySeconds", INT32, .has_min = true, .doc = "Between SIGTERM and SIGKILL (qdel -W)."),
	F(0, "elements", STRING, .doc = "Which of an array, such as 2-4 (qdel -t); all without."),
	F(0, "purge", BOOL, .doc = "Without waiting for its node (qdel -p)."),
};

static const struct message cancel =
	MESSAGE("dev.stoker.v1.PBSCancel", cancel_fields, .doc = "That the job is to end, or some elements of it.");

/* Without defaults: what is not said is the array's. */
static const struct field element_fields[] = {
	F(0, "indexes", STRING, .flags = FIELD_REQUIRED, .doc = "Which elements, such as 2-4,7."),
	F(0, "account", STRING, .doc = "Account (-A)."),
	FM(0, "env", STRING, .doc = "Variables that differ (-v)."),
	F(0, "errorPath", STRING, .doc = "Where standard error goes (-e)."),
	F(0, "executionTime", TIME, .doc = "Not before this time (-a)."),
	F(0, "hold", STRING, .doc = "Holds of operators and of the system (qhold -h): letters of os."),
	F(0, "joinPath", STRING, .values = "n|oe|eo", .doc = "Both to the output (oe) or the error file (-j)."),
	F(0, "keepFiles", STRING, .doc = "Files kept in the home directory (-k)."),
	F(0, "killDelaySeconds", INT32, .has_min = true, .doc = "Seconds between SIGTERM and SIGKILL (-K)."),
	F(0, "mail", OBJECT, .msg = &mail, .doc = "When to write to whom."),
	F(0, "name", STRING, .doc = "Name (-N); the index comes behind it."),
	F(0, "outputPath", STRING, .doc = "Where standard output goes (-o)."),
	F(0, "place", INT32, .has_min = true, .doc = "Index of the element whose turn they take (qorder)."),
	F(0, "priority", INT32, .doc = "From -1024 to 1023 (-p)."),
	F(0, "queue", STRING, .doc = "The queue (qmove)."),
	F(0, "rerunAfter", INT32, .has_min = true,
	  .doc = "The run, counted as in status.active, that is to be ended and done again (qrerun)."),
	F(0, "rerunnable", BOOL, .doc = "Whether they may be run again from the start (-r)."),
	FM(0, "resources", STRING, .doc = "Resources that differ (-l)."),
	FL(0, "runHosts", STRING, .doc = "On which nodes they are to run (qrun -H)."),
	F(0, "runNow", BOOL, .doc = "Whether they start before all others (qrun)."),
	F(0, "shell", STRING, .doc = "Shell that runs the script (-S)."),
	F(0, "suspend", BOOL, .doc = "Whether their processes are stopped (qsig -s suspend)."),
	F(0, "umask", STRING, .doc = "Mask of the modes of their files (-W umask)."),
};

static void check_letters(const json_t *spec, const char *name, const char *letters, const struct path *at,
			  struct err *e);
static void check_priority(const json_t *spec, const struct path *at, struct err *e);
static void check_name(const json_t *spec, const struct path *at, struct err *e);

static void element_validate(const json_t *obj, const struct path *at, struct err *e)
{
	check_name(obj, at, e);
	check_priority(obj, at, e);
	check_letters(obj, "hold", "os", at, e);
	check_letters(obj, "keepFiles", "oed", at, e);
}

static const struct message element =
	MESSAGE("dev.stoker.v1.PBSElement", element_fields, .doc = "Elements of an array that differ from the others.",
		.validate = element_validate);

static const struct field spec_fields[] = {
	F(0, "script", STRING, .doc = "Text of the script."),
	FL(0, "command", STRING, .doc = "A program and its arguments instead of a script (qsub -- COMMAND)."),
	FL(0, "arguments", STRING, .doc = "Arguments of the script (-F)."),
	F(0, "shell", STRING, .doc = "Shell that runs it (-S); the login shell by default."),
	F(0, "image", STRING, .doc = "Image to run it in; the host's own system by default."),
	F(0, "name", STRING, .dflt = "\"STDIN\"", .doc = "Name of the job (-N)."),
	F(0, "owner", STRING, .doc = "Who submitted it; set by the server."),
	F(0, "queue", STRING, .doc = "The queue (-q); the default one without."),
	F(0, "account", STRING, .doc = "Account (-A)."),
	F(0, "project", STRING, .doc = "Project (-P)."),
	F(0, "priority", INT32, .dflt = "0", .doc = "From -1024 to 1023 (-p); higher goes first among the owner's."),
	FM(0, "resources", STRING,
	   .doc = "Resources asked for (-l), such as nodes: 1:gpus=1:S and walltime: 24:00:00."),
	FM(0, "env", STRING, .doc = "Environment (-v, -V) and the PBS_O_ variables."),
	F(0, "workingDir", STRING, .doc = "PBS_O_WORKDIR (-w): the directory it was submitted from."),
	F(0, "initialDir", STRING, .doc = "Directory it starts in (-d); the home directory by default."),
	F(0, "outputPath", STRING, .doc = "Where standard output goes (-o)."),
	F(0, "errorPath", STRING, .doc = "Where standard error goes (-e)."),
	F(0, "joinPath", STRING, .dflt = "\"n\"", .values = "n|oe|eo",
	  .doc = "Both to the output (oe) or the error file (-j)."),
	F(0, "keepFiles", STRING, .dflt = "\"n\"",
	  .doc = "Files kept in the home directory (-k): letters of oe, n for none."),
	F(0, "umask", STRING, .doc = "Mask of the modes of its files (-W umask)."),
	F(0, "mail", OBJECT, .msg = &mail, .doc = "When to write to whom."),
	F(0, "hold", STRING, .dflt = "\"n\"", .doc = "Holds (-h): letters of uos, n for none."),
	F(0, "executionTime", TIME, .doc = "Not before this time (-a)."),
	FL(0, "dependencies", OBJECT, .msg = &dependency, .doc = "Other jobs that this one waits for (-W depend)."),
	F(0, "array", OBJECT, .msg = &array, .doc = "The same job for several indexes."),
	F(0, "rerunnable", BOOL, .dflt = "true", .doc = "Whether it may be run again from the start (-r)."),
	F(0, "interactive", BOOL, .doc = "Whether it is a terminal session (-I)."),
	F(0, "nodeExclusive", BOOL, .doc = "Whether it wants its nodes for itself (-n)."),
	F(0, "checkpoint", STRING, .doc = "Checkpointing (-c); kept, without effect."),
	F(0, "killDelaySeconds", INT32, .has_min = true, .doc = "Seconds between SIGTERM and SIGKILL (-K)."),
	FL(0, "userList", STRING, .doc = "Users to run as (-u)."),
	FL(0, "groupList", STRING, .doc = "Groups to run as (-W group_list)."),
	FL(0, "stageIn", STRING, .doc = "Files to copy before the start (-W stagein)."),
	FL(0, "stageOut", STRING, .doc = "Files to copy after the end (-W stageout)."),
	FM(0, "attributes", STRING, .doc = "Further attributes of -W, kept as they are."),
	F(0, "cancel", OBJECT, .msg = &cancel, .doc = "That it is to end (qdel)."),
	F(0, "rerunAfter", INT32, .has_min = true,
	  .doc = "The run, counted as in status.startCount, that is to be ended and done again (qrerun)."),
	F(0, "rerunMessage", STRING, .doc = "Why (qrerun -m)."),
	F(0, "suspend", BOOL, .doc = "Whether its processes are stopped (qsig -s suspend)."),
	F(0, "runNow", BOOL, .doc = "Whether it starts before all others (qrun)."),
	FL(0, "runHosts", STRING, .doc = "On which nodes it is to run (qrun -H)."),
	F(0, "rank", INT64, .doc = "Its place among the owner's jobs (qorder); its number without."),
	F(0, "elementHold", STRING, .doc = "Elements of an array that are held, such as 2-4 (qhold -t)."),
	FL(0, "elements", OBJECT, .msg = &element,
	   .doc = "Elements of an array that differ from the others; each index once."),
	F(0, "submitHost", STRING, .doc = "Host it was submitted from."),
	F(0, "submitArgs", STRING, .doc = "Command line of qsub."),
};

/* Each letter one of `letters`, none twice; or "n" alone. */
static void check_letters(const json_t *spec, const char *name, const char *letters, const struct path *at,
			  struct err *e)
{
	const json_t *v = json_object_get(spec, name);
	const char *s = json_is_string(v) ? json_string_value(v) : "n";

	if (streq(s, "n"))
		return;
	for (const char *c = s; *c; c++)
		if (!strchr(letters, *c) || strchr(c + 1, *c)) {
			path_invalid(PATH_FIELD(at, name), e, v, "must be n or letters of %s", letters);
			return;
		}
}

static void check_name(const json_t *spec, const struct path *at, struct err *e)
{
	const json_t *v = json_object_get(spec, "name");
	const char *s = json_is_string(v) ? json_string_value(v) : "";

	if (strlen(s) > MAX_NAME)
		path_invalid(PATH_FIELD(at, "name"), e, v, "must be no more than %d characters", MAX_NAME);
	for (const char *c = s; *c; c++)
		if ((unsigned char)*c <= ' ' || *c == 0x7f || strchr("&;|<>$`'\"\\()/*?", *c)) {
			path_invalid(PATH_FIELD(at, "name"), e, v, "must have no blanks and none of &;|<>$`'\"\\()/*?");
			return;
		}
}

static void check_priority(const json_t *spec, const struct path *at, struct err *e)
{
	const json_t *priority = json_object_get(spec, "priority");

	if (json_integer_value(priority) < LOWEST_PRIORITY || json_integer_value(priority) > HIGHEST_PRIORITY)
		path_invalid(PATH_FIELD(at, "priority"), e, priority, "must be between %d and %d, inclusive",
			     LOWEST_PRIORITY, HIGHEST_PRIORITY);
}

static void spec_validate(const json_t *obj, const struct path *at, struct err *e)
{
	check_name(obj, at, e);
	check_letters(obj, "hold", "uosp", at, e);
	check_letters(obj, "keepFiles", "oed", at, e);
	if (json_object_get(obj, "mail") && !streq(jsonx_str_or(obj, "mail.points", "n"), "p"))
		check_letters(json_object_get(obj, "mail"), "points", "abefj", PATH_FIELD(at, "mail"), e);
	check_priority(obj, at, e);
	if (jsonx_bool_or(obj, "interactive", false) && json_object_get(obj, "array"))
		path_forbidden(PATH_FIELD(at, "array"), e, "interactive job can not be job array");
	if (!jsonx_bool_or(obj, "interactive", false) && value_is_empty(json_object_get(obj, "script")) &&
	    value_is_empty(json_object_get(obj, "command")))
		path_required(PATH_FIELD(at, "script"), e, NULL);
}

static const struct message spec = MESSAGE("dev.stoker.v1.PBSJobSpec", spec_fields,
					   .doc = "What is to be run, and how.", .validate = spec_validate);

/* What is told of one run; an array's elements have one each. */
#define FIELDS_RUN                                                                                                     \
	F(0, "startTime", TIME, .doc = "When it was last started."),                                                   \
		F(0, "startCount", INT32, .doc = "How often it was started."),                                         \
		F(0, "execHost", STRING, .doc = "Where it runs, such as G102/0-1."),                                   \
		F(0, "execGpus", STRING, .doc = "GPUs it has, such as G102-gpu/1+G102-gpu/0."),                        \
		F(0, "sessionId", INT64, .doc = "Session of its processes."),                                          \
		F(0, "quickRuns", INT32, .doc = "Runs in a row that asked at once to be done again."),                 \
		F(0, "retryTime", TIME, .doc = "When it may be, for that."),                                           \
		F(0, "totalRuntime", STRING, .doc = "Seconds from its start to its end, such as 7.250000."),           \
		F(0, "suspendTime", TIME, .doc = "Since when it is suspended."),                                       \
		F(0, "suspendedSeconds", INT64, .doc = "How long it was suspended before that."),                      \
		FL(0, "pods", STRING, .doc = "Its pods, the one of the script first.")

static const struct field active_fields[] = {
	F(0, "index", INT32, .doc = "Which element."),
	F(0, "state", STRING, .values = "Q|R|S|E",
	  .doc = "R running, S suspended, E ending, Q waiting to be run again."),
	FIELDS_RUN,
};

static const struct message active =
	MESSAGE("dev.stoker.v1.PBSActiveElement", active_fields, .doc = "An element of an array that runs.");

static const struct field ended_fields[] = {
	F(0, "index", INT32, .doc = "Which element."),
	F(0, "exitStatus", INT32, .doc = "As that of a job."),
	FIELDS_RUN,
	F(0, "completionTime", TIME, .doc = "When it ended."),
	F(0, "comment", STRING, .doc = "Why it was ended, or not begun, if it did not end by itself."),
	FM(0, "resourcesUsed", STRING, .doc = "What it used: cput, mem, vmem, walltime."),
};

static const struct message ended =
	MESSAGE("dev.stoker.v1.PBSEndedElement", ended_fields, .doc = "An element of an array that has run.");

static const struct field status_fields[] = {
	F(0, "state", STRING, .values = "Q|H|W|T|R|S|E|C",
	  .doc = "Q queued, H held, W waiting for a time, T moving, R running, S suspended, E ending, C completed."),
	F(0, "id", STRING, .doc = "Identifier that the PBS commands show, such as 380963.Ghead."),
	F(0, "sequence", INT64, .doc = "Its number."),
	F(0, "comment", STRING, .doc = "Why it is as it is, for people."),
	F(0, "exitStatus", INT32,
	  .doc = "The script's own, 256 and more for a signal, or negative if it could not run."),
	F(0, "queueTime", TIME, .doc = "When it came into the queue."),
	F(0, "eligibleTime", TIME, .doc = "Since when it could run."),
	FIELDS_RUN,
	F(0, "completionTime", TIME, .doc = "When it ended."),
	F(0, "egroup", STRING, .doc = "Group it runs as."),
	FM(0, "resourcesUsed", STRING, .doc = "What it used: cput, mem, vmem, walltime."),
	FM(0, "elements", STRING,
	   .doc = "Elements of an array that do not wait any more: the indexes by state, R, or C and the exit status, "
		  "such as C:0: 0-99,103; C alone: deleted before they ran."),
	FL(0, "active", OBJECT, .msg = &active, .doc = "Elements of an array that have been started and not ended."),
	FL(0, "ended", OBJECT, .msg = &ended, .doc = "Elements of an array that ended last; of all others only how."),
	FM(0, "parents", STRING,
	   .doc = "How jobs that it waits for ended: elements started, ended, ended well and all, by the job's "
		  "number."),
	F(0, "cancelled", BOOL, .doc = "Whether it was ended by qdel."),
	F(0, "observedGeneration", INT64, .doc = "The metadata.generation that this status is about."),
};

static const struct message status =
	MESSAGE("dev.stoker.v1.PBSJobStatus", status_fields, .doc = "How a PBSJob stands.");

static const struct field fields[] = {
	FIELDS_OBJECT,
	F(0, "spec", OBJECT, .msg = &spec, .dflt = "{}", .doc = "What is to be run, and how."),
	F(0, "status", OBJECT, .msg = &status, .doc = "How it stands; written by the controller."),
};

static const struct message pbsjob = MESSAGE("dev.stoker.v1.PBSJob", fields, .doc = "A script, as qsub submits it.");

/* A new job is queued, or held if it was submitted so, until the controller has looked at it. */
static void prepare_create(json_t *obj)
{
	const char *hold = jsonx_str_or(obj, "spec.hold", "n");

	json_object_set_new(obj, "status", json_pack("{s:s}", "state", streq(hold, "n") ? "Q" : "H"));
}

static void validate_update(const json_t *obj, const json_t *old, struct err *e)
{
	rule_fixed(obj, old, "spec.script", e);
	rule_fixed(obj, old, "spec.owner", e);
}

static json_t *cell_exit(const json_t *obj, int64_t now)
{
	const json_t *v = jsonx_at(obj, "status.exitStatus");

	(void)now;
	return json_is_integer(v) ? json_integer(json_integer_value(v)) : json_null();
}

CELL_STR(cell_job, "spec.name", "")
CELL_STR(cell_owner, "spec.owner", "")
CELL_STR(cell_state, "status.state", "Q")
CELL_STR(cell_queue, "spec.queue", "<none>")
CELL_STR(cell_host, "status.execHost", "<none>")
CELL_STR(cell_comment, "status.comment", "")

static const struct column columns[] = {
	COLUMN_NAME,
	COLUMN("Job", "Name of the job.", cell_job),
	COLUMN("User", "Who submitted it.", cell_owner),
	COLUMN("State", "As qstat shows it.", cell_state),
	COLUMN("Queue", "The queue it is in.", cell_queue),
	COLUMN_INT("Exit", "Exit status.", cell_exit),
	COLUMN_AGE,
	COLUMN_WIDE("Host", "Where it runs.", cell_host),
	COLUMN_WIDE("Comment", "Why it is as it is.", cell_comment),
};

static const struct selectable selectable[] = {
	{ "status.sequence", "status.sequence", NULL },
	{ "status.state", "status.state", "Q" },
	{ "spec.owner", "spec.owner", NULL },
	{ "spec.queue", "spec.queue", NULL },
};

const struct kind kind_pbsjob = {
	.group = "stoker.dev",
	.version = "v1",
	.kind = "PBSJob",
	.plural = "pbsjobs",
	.singular = "pbsjob",
	.categories = category_all,
	.namespaced = true,
	.flags = KIND_STATUS | KIND_GENERATION,
	.verbs = VERBS_ALL,
	.message = &pbsjob,
	KIND_COLUMNS(columns),
	KIND_SELECTABLE(selectable),
	KIND_SUBRESOURCES(status_only),
	.prepare_create = prepare_create,
	.validate_update = validate_update,
};
