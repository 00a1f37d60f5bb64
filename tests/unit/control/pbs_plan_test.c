// SPDX-License-Identifier: Apache-2.0
/* What a PBS job does next, by table.  Pods are written in words:
 *
 *	0:P  rank 0 is pending, 1:R@G102 rank 1 runs on G102 (S succeeded, F failed); 3/0:R is of element 3
 *	...  further: !3 exit code, $9 signal, %OOMKilled reason of the pod, ^OOMKilled reason of the container,
 *	     &9 is process 9, #1 of that run, x somebody deletes it (y: and it should be gone by now), =4,5 has those
 *	     cards, ~ made from something else, <9 has so many seconds, c 90 of processor time, D taken away by its node
 *
 * The answer: the state, then what is told: start=, exit=, host=, gpus=, then +0#1 a pod to make (rank, run; 3/0 of
 * element 3), -0 one to delete (-0(5) in that time), z0 one to suspend, Z0 to go on, <0(9) one to give so
 * many seconds in all; expired; again=.
 */
#include "control/pbs_plan.h"

#include "base/clock.h"
#include "base/jsonx.h"
#include "base/mem.h"
#include "kinds/pbs_id.h"
#include "test.h"

#define NOW      1000000000
#define MAX_PODS 40

struct scene {
	json_t *job, *server, *pods;
	struct pod_facts facts[MAX_PODS];
	const struct pod_facts *list[MAX_PODS];
	struct pbs_settings set;
	struct pbs_judgement others;
	struct pbs_slots slots;
};

static json_t *loose(const char *text)
{
	auto_free char *copy = xasprintf("{%s}", text);
	json_error_t error;
	json_t *v;

	for (char *c = copy; *c; c++)
		*c = *c == '\'' ? '"' : *c;
	v = json_loads(copy, 0, &error);
	if (!v)
		test_fail(__FILE__, __LINE__, "%s: %s", copy, error.text);
	return v;
}

static void set_at(json_t *obj, const char *path, int64_t seconds)
{
	char text[CLOCK_RFC3339_LEN];

	clock_rfc3339(seconds, text);
	jsonx_set_new(obj, path, json_string(text));
}

static long after(const char *word, char mark)
{
	const char *at = strchr(word, mark);

	return at ? strtol(at + 1, NULL, 10) : 0;
}

/* The letters after a mark. */
static char *name_after(const char *word, char mark)
{
	const char *at = strchr(word, mark);

	return at ? xstrndup(at + 1, strspn(at + 1, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"))
		  : xstrdup("");
}

static void add_end(json_t *pod, const char *word)
{
	auto_free char *reason = name_after(word, '^');
	json_t *end =
		json_pack("{s:I, s:s}", "exitCode", (json_int_t)after(word, '!'), "reason", *reason ? reason : "Error");

	set_at(end, "finishedAt", NOW - 5);
	if (strchr(word, '$'))
		json_object_set_new(end, "signal", json_integer(after(word, '$')));
	jsonx_set_new(pod, "status.containerStatuses", json_pack("[{s:{s:o}}]", "state", "terminated", end));
	if (strchr(word, '&'))
		json_object_set_new(json_array_get(jsonx_at(pod, "status.containerStatuses"), 0), "containerID",
				    jsonx_stringf("process://%ld", after(word, '&')));
}

static json_t *pod_of(const struct pbs_order *o, const char *word)
{
	static const char *const phases[] = { "Pending", "Running", "Succeeded", "Failed" };
	const char *slash = strchr(word, '/') && strchr(word, '/') < strchr(word, ':') ? strchr(word, '/') : NULL;
	int index = slash ? (int)strtol(word, NULL, 10) : PBS_PLAIN;
	int rank = (int)strtol(slash ? slash + 1 : word, NULL, 10);
	const char *state = strchr(word, ':') + 1;
	auto_free char *node = name_after(state, '@');
	auto_free char *reason = name_after(state, '%');
	json_t *pod = pbs_pod(o, index, rank, (int)after(state, '#'));

	jsonx_set_new(pod, "metadata.uid", json_string(word));
	jsonx_set_new(pod, "status.phase", json_string(phases[strcspn("PRSF", (char[]){ *state, 0 })]));
	if (!strchr(state, '?'))
		set_at(pod, "status.startTime", NOW - 60);
	if (*node)
		jsonx_set_new(pod, "spec.nodeName", json_string(node));
	if (*reason)
		jsonx_set_new(pod, "status.reason", json_string(reason));
	if (strchr(state, 'x') || strchr(state, 'y'))
		set_at(pod, "metadata.deletionTimestamp", strchr(state, 'x') ? NOW + 10 : NOW - 60);
	if (strchr(state, '!'))
		jsonx_set_new(pod, "status.used", json_pack("{s:s, s:s}", "cput", "00:00:07", "runtime", "7.250000"));
	if (strchr(state, '<'))
		jsonx_set_new(pod, "spec.activeDeadlineSeconds", json_integer(after(state, '<')));
	if (strchr(state, 'c'))
		json_object_set_new(jsonx_at(pod, "metadata.annotations"), PBS_CPUT_NOTE, json_string("90"));
	if (strchr(state, '*'))
		json_object_set_new(jsonx_at(pod, "metadata.annotations"), PBS_CONFINED, json_string("required"));
	if (strchr(state, '~'))
		json_object_set_new(jsonx_at(pod, "metadata.annotations"), PBS_FROM_NOTE, json_string("other"));
	if (strchr(state, '='))
		json_object_set_new(jsonx_at(pod, "metadata.annotations"), PBS_CARDS_NOTE,
				    json_string(strchr(state, '=') + 1));
	if (strchr(state, 'D'))
		jsonx_set_new(pod, "status.conditions",
			      json_pack("[{s:s, s:s}]", "type", "DisruptionTarget", "status", "True"));
	if (*state == 'F' && !strchr(state, '%'))
		add_end(pod, state);
	return pod;
}

static void scene_init(struct scene *s, const char *spec, const char *status, const char *server)
{
	*s = (struct scene){ .server = loose(server), .pods = json_array() };
	s->job = json_pack("{s:{s:s, s:s, s:s, s:i}, s:o, s:o}", "metadata", "name", "7", "namespace", "anna", "uid",
			   "u7", "generation", 1, "spec", loose(spec), "status", loose(status));
	set_at(s->job, "metadata.creationTimestamp", NOW - 100);
	s->set = pbs_settings_of(s->server, NULL);
	pbs_slots_init(&s->slots);
}

static size_t scene_pods(struct scene *s, const char *words)
{
	struct str rest = str_of(words);
	struct pbs_order o;
	struct err e = ERR_INIT;
	struct str word;
	size_t n = 0;

	if (!rest.n)
		return 0;
	CHECK_INT(pbs_order_init(&o, s->job, &s->set, "1/7", &e), 0);
	while (rest.n && str_split(&rest, ' ', &word)) {
		auto_free char *text = xstrndup(word.p, word.n);

		json_array_append_new(s->pods, pod_of(&o, text));
		s->facts[n] = pod_facts(json_array_get(s->pods, n));
		s->list[n] = &s->facts[n];
		n++;
	}
	pbs_order_done(&o);
	return n;
}

static void scene_done(struct scene *s)
{
	json_decref(s->job);
	json_decref(s->server);
	json_decref(s->pods);
	pbs_slots_done(&s->slots);
}

static void say_pod(struct sbuf *out, char sign, const struct pod_facts *p)
{
	struct pbs_pod_is is = pbs_pod_is(p);

	sbuf_addf(out, " %c", sign);
	if (is.index >= 0)
		sbuf_addf(out, "%d/", is.index);
	sbuf_addf(out, "%d", is.rank);
}

static void say_status(const json_t *status, struct sbuf *out)
{
	static const char *const fields[][2] = { { "startCount", "start" },  { "exitStatus", "exit" },
						 { "execHost", "host" },     { "execGpus", "gpus" },
						 { "elements", "" },         { "sessionId", "session" },
						 { "suspendTime", "since" }, { "suspendedSeconds", "stood" } };
	json_t *ended;
	size_t n;

	sbuf_adds(out, jsonx_str_or(status, "state", "-"));
	for (size_t i = 0; i < ARRAY_SIZE(fields); i++) {
		const json_t *v = json_object_get(status, fields[i][0]);
		const char *key;
		json_t *part;

		if (json_is_integer(v))
			sbuf_addf(out, " %s=%lld", fields[i][1], (long long)json_integer_value(v));
		else if (json_is_string(v))
			sbuf_addf(out, " %s=%s", fields[i][1], json_string_value(v));
		json_object_foreach ((json_t *)v, key, part)
			sbuf_addf(out, " %s=%s", key, json_string_value(part));
	}
	json_array_foreach (json_object_get(status, "ended"), n, ended)
		sbuf_addf(out, " %lld:%lld/%s", (long long)jsonx_int_or(ended, "index", -1),
			  (long long)jsonx_int_or(ended, "exitStatus", -1),
			  jsonx_str_or(ended, "resourcesUsed.walltime", "-"));
}

static void say_plan(const struct pbs_plan *p, struct sbuf *out)
{
	say_status(p->status, out);
	for (size_t i = 0; i < p->nmake; i++) {
		sbuf_adds(out, " +");
		if (p->make[i].index >= 0)
			sbuf_addf(out, "%d/", p->make[i].index);
		sbuf_addf(out, "%d", p->make[i].rank);
		if (p->make[i].run)
			sbuf_addf(out, "#%d", p->make[i].run);
	}
	for (size_t i = 0; i < p->ndrop; i++) {
		say_pod(out, '-', p->drop[i].pod);
		if (p->drop[i].grace >= 0)
			sbuf_addf(out, "(%lld)", (long long)p->drop[i].grace);
	}
	for (size_t i = 0; i < p->nmark; i++)
		say_pod(out, p->mark[i].suspend ? 'z' : 'Z', p->mark[i].pod);
	for (size_t i = 0; i < p->nlimit; i++) {
		say_pod(out, '<', p->limit[i].pod);
		if (p->limit[i].seconds)
			sbuf_addf(out, "(%lld)", (long long)p->limit[i].seconds);
		if (p->limit[i].cput)
			sbuf_addf(out, "(cput %s)", p->limit[i].cput);
	}
	if (p->expired)
		sbuf_adds(out, " expired");
	if (p->released)
		sbuf_adds(out, " released");
	if (p->again >= 0)
		sbuf_addf(out, " again=%lld", (long long)p->again);
}

struct row {
	const char *what, *spec, *status, *pods, *want;
	const char *server;       /* spec of the PBSServer */
	enum pbs_verdict verdict; /* of other jobs */
	const char *comment;      /* or NULL */
	bool wanted;
	bool deleted; /* by kubectl */
};

#define ONE    "'resources':{'nodes':'1'}"
#define TWO    "'resources':{'nodes':'2:ppn=2'}"
#define HELD   "'resources':{'nodes':'1'},'hold':"
#define RAN    "'state':'R','startCount':1"
#define STANDS "'state':'S','startCount':1,'suspendTime':'2001-09-09T01:46:25Z'"
#define FOUR   "'array':{'request':'0-3'}," ONE
#define SLOTS  "'array':{'request':'0-9','slots':2}," ONE

static void check(const struct row *rows, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const struct row *r = &rows[i];
		auto_sbuf struct sbuf got = SBUF(4096);
		struct scene s;
		struct pbs_plan p;

		scene_init(&s, r->spec, r->status, r->server ? r->server : "");
		if (r->deleted) {
			set_at(s.job, "metadata.deletionTimestamp", NOW);
			jsonx_set_new(s.job, "metadata.finalizers", json_pack("[s]", PBS_FINALIZER));
		}
		s.others = (struct pbs_judgement){ .verdict = r->verdict, .culprit = "6", .words = "waits for job 6" };
		struct pbs_view v = { .job = s.job,
				      .pods = s.list,
				      .n = scene_pods(&s, r->pods),
				      .set = &s.set,
				      .others = &s.others,
				      .slots = &s.slots,
				      .place = "1/7",
				      .wanted = r->wanted,
				      .now = NOW,
				      .create_most = PBS_CREATE_MOST };

		pbs_plan(&v, &p);
		say_plan(&p, &got);
		if (!streq(got.p, r->want))
			test_fail(__FILE__, __LINE__, "%s:\n   got %s\n  want %s", r->what, got.p, r->want);
		if (r->comment && !str_same(jsonx_str(p.status, "comment"), r->comment))
			test_fail(__FILE__, __LINE__, "%s: comment %s", r->what, jsonx_str(p.status, "comment"));
		pbs_plan_done(&p);
		scene_done(&s);
	}
}

TEST("a PBS job waits for what keeps it, then for its pods")
{
	static const struct row rows[] = {
		{ "a new job gets its pod", ONE, "", "", "Q +0" },
		{ "and waits for a node", ONE, "", "0:P", "Q" },
		{ "all pods of one that wants two nodes", TWO, "", "0:P", "Q +1" },
		{ "held by its user", HELD "'u'", "", "", "H", .comment = "Not Running: Job is held by its user" },
		{ "held by an operator too", HELD "'uo'", "", "", "H",
		  .comment = "Not Running: Job is held by an operator" },
		{ "held by the system", HELD "'s'", "", "", "H", .comment = "Not Running: Job is held by the system" },
		{ "a hold takes pods away", HELD "'u'", "", "0:P", "H -0" },
		{ "but for a process that has a node it is too late", HELD "'u'", "", "0:P@G1?",
		  "R start=1 host=G1/0" },
		{ "not for the pods of several", "'resources':{'nodes':'2'},'hold':'u'", "", "0:P@G1? 1:P@G1?",
		  "H -0 -1" },
		{ "not before its time", ONE ",'executionTime':'2001-09-09T01:47:40Z'", "", "", "W again=60" },
		{ "its time has come", ONE ",'executionTime':'2001-09-09T01:46:40Z'", "'state':'W'", "", "Q +0" },
		{ "a hold goes before a time", HELD "'u','executionTime':'2001-09-09T01:47:40Z'", "", "", "H" },
		{ "another job", ONE, "", "", "H", .verdict = PBS_WAITS,
		  .comment = "Not Running: Job waits for job 6" },
		{ "another job that will never do", ONE, "'state':'H'", "", "C", .verdict = PBS_NEVER,
		  .comment = "Job deleted as result of dependency on job 6" },
		{ "which has a number of its own", ONE, "'state':'H'", "", "C exit=99", .verdict = PBS_NEVER,
		  .server = "'exitCodeCanceledJob':99" },
		{ "but never one that has been started", ONE, RAN, "0:R@G1", "R start=1", .verdict = PBS_NEVER },
		{ "the server starts nothing", ONE, "", "0:P", "Q -0", .server = "'scheduling':false",
		  .comment = "Not Running: The server starts no jobs at present" },
		{ "but what an operator runs", ONE ",'runNow':true", "", "", "Q +0", .server = "'scheduling':false" },
		{ "it was altered", ONE, "", "0:P~", "Q -0" },
		{ "somebody deletes its pod", ONE, "", "0:Px", "Q" },
		{ "nobody can tell what it wants", "'resources':{'nodes':'0'}", "", "", "C exit=-1" },
	};
	check(rows, ARRAY_SIZE(rows));
}

TEST("a PBS job starts when all its pods have nodes")
{
	static const struct row rows[] = {
		{ "one", ONE, "", "0:P@G1", "R start=1 host=G1/0" },
		{ "one process has begun when its node says so", ONE, "", "0:P@G1?", "Q" },
		{ "several wait for their nodes to be known", TWO, "", "0:P@G1? 1:P@G2?",
		  "R start=1 host=G1/0-1+G2/0-1" },
		{ "an image may take its time", ONE ",'image':'busybox'", "", "0:P@G1?", "R start=1 host=G1/0" },
		{ "two", TWO, "", "0:P@G1 1:P@G2", "R start=1 host=G1/0-1+G2/0-1" },
		{ "two on one node", TWO, "", "0:P@G1 1:P@G1", "R start=1 host=G1/0-1+G1/2-3" },
		{ "one of two has no node yet", TWO, "", "0:P@G1 1:P", "Q" },
		{ "as Torque 4 wrote it", TWO, "", "0:P@G1 1:P@G2", "R start=1 host=G1/0+G1/1+G2/0+G2/1",
		  .server = "'execHostStyle':4" },
		{ "with cards, the highest first", ONE, "", "0:P@G1=0,2,10",
		  "R start=1 host=G1/0 gpus=G1-gpu/10+G1-gpu/2+G1-gpu/0" },
		{ "those of several on one node together", TWO, "", "0:P@G1=0 1:P@G1=1,3",
		  "R start=1 host=G1/0-1+G1/2-3 gpus=G1-gpu/3+G1-gpu/1+G1-gpu/0" },
		{ "and on several node by node", "'resources':{'nodes':'3'}", "", "0:P@G2=0 1:P@G1=5 2:P@G2=7",
		  "R start=1 host=G2/0+G1/0+G2/1 gpus=G2-gpu/7+G2-gpu/0+G1-gpu/5" },
		{ "and has ended before anyone looked", ONE, "", "0:F@G1!3&9", "C start=1 exit=3 host=G1/0 session=9" },
		{ "though it is held by now", HELD "'u'", "", "0:S@G1", "C start=1 exit=0 host=G1/0" },
		{ "it runs, and is held too late", HELD "'u'", "", "0:R@G1", "R start=1 host=G1/0" },
		{ "or deleted", ONE ",'cancel':{}", "", "0:R@G1", "E start=1 host=G1/0 -0" },
		{ "a second time", ONE, "'state':'Q','startCount':1", "0:P@G1#1", "R start=2 host=G1/0" },
		{ "a pod of the first run is in the way", ONE, "'state':'Q','startCount':1", "0:R@G1", "Q start=1 -0" },
		{ "and goes", ONE, "'state':'Q','startCount':1", "0:R@G1x", "Q start=1 again=15" },
		{ "but nobody waits for ever", ONE, "'state':'Q','startCount':1", "0:R@G1y", "Q start=1 +0#1" },
	};
	check(rows, ARRAY_SIZE(rows));
}

TEST("a PBS job ends with Torque's numbers")
{
	static const struct row rows[] = {
		{ "well", ONE, RAN, "0:S@G1", "C start=1 exit=0" },
		{ "with its own status", ONE, RAN, "0:F@G1!255", "C start=1 exit=255" },
		{ "with the shell's for what may not run", ONE, RAN, "0:F@G1!126", "C start=1 exit=126" },
		{ "which may be the queue's will", ONE, RAN, "0:F@G1!126*", "C start=1 exit=126",
		  .comment = "Exit status 126: queue batch has containers = required and executes no programs of the "
			     "host; startdocker runs them in a container" },
		{ "by a signal", ONE, RAN, "0:F@G1!137$9", "C start=1 exit=265" },
		{ "too long", ONE, RAN, "0:F@G1%DeadlineExceeded", "C start=1 exit=-11",
		  .comment = "Job killed: it has exceeded its walltime" },
		{ "too long, as OpenPBS has it", ONE, RAN, "0:F@G1%DeadlineExceeded", "C start=1 exit=271",
		  .server = "'walltimeExitStatus':271" },
		{ "too large", ONE, RAN, "0:F@G1%MemoryExceeded", "C start=1 exit=-10" },
		{ "too large, as the kernel has it", ONE, RAN, "0:F@G1^OOMKilled!137", "C start=1 exit=-10",
		  .comment = "Job killed: it has exceeded its memory" },
		{ "too much processor time", ONE, RAN, "0:F@G1%CputExceeded", "C start=1 exit=-12" },
		{ "no output", ONE, RAN, "0:F@G1%OutputUnwritable", "C start=1 exit=-9",
		  .comment = "Job not started: its output cannot be written" },
		{ "no directory", ONE, RAN, "0:F@G1%ChdirFailed", "C start=1 exit=-2" },
		{ "no program", ONE, RAN, "0:F@G1%ExecFailed", "C start=1 exit=-8" },
		{ "a sister was too large", TWO, RAN, "0:R@G1 1:F@G2^OOMKilled!137", "C start=1 exit=-10",
		  .comment = "Job killed: it has exceeded its memory" },
		{ "it asks to be run again", ONE, RAN, "0:F@G1!99", "Q start=1",
		  .server = "'automaticRequeueExitCode':99" },
		{ "which is not at once", ONE,
		  "'state':'Q','startCount':1,'quickRuns':1,'retryTime':'2001-09-09T01:46:41Z'", "",
		  "Q start=1 again=1",
		  .comment = "Not Running: Job asked to be run again and waits 1 second for that, as it ended at once "
			     "1 of "
			     "at most 20 times" },
		{ "and ever later", ONE, "'state':'Q','startCount':9,'quickRuns':9,'retryTime':'2001-09-09T01:50:40Z'",
		  "", "Q start=9 again=240",
		  .comment = "Not Running: Job asked to be run again and waits 256 seconds for that, as it ended at "
			     "once 9 "
			     "of at most 20 times" },
		{ "then it is", ONE, "'state':'Q','startCount':9,'quickRuns':9,'retryTime':'2001-09-09T01:46:40Z'", "",
		  "Q start=9 +0#9" },
		{ "or when an operator says so", ONE ",'runNow':true",
		  "'state':'Q','startCount':9,'quickRuns':9,'retryTime':'2001-09-09T01:50:40Z'", "", "Q start=9 +0#9" },
		{ "until nobody believes in it", ONE,
		  "'state':'R','startCount':1,'quickRuns':19,'startTime':'2001-09-09T01:46:30Z'", "0:F@G1!99",
		  "C start=1 exit=99", .server = "'automaticRequeueExitCode':99",
		  .comment = "Job asked to be run again, and ended at once 20 times in a row" },
		{ "but what worked in between", ONE,
		  "'state':'R','startCount':1,'quickRuns':19,'startTime':'2001-09-09T01:40:00Z'", "0:F@G1!99",
		  "Q start=1", .server = "'automaticRequeueExitCode':99" },
		{ "of an array only what asks waits", "'array':{'request':'0-1','slots':1}," ONE,
		  "'state':'Q','active':[{'index':0,'state':'Q','startCount':1,'quickRuns':1,'retryTime':"
		  "'2001-09-09T01:46:41Z'}]",
		  "", "Q start=1 +1/0 again=1" },
		{ "which it must not", ONE ",'rerunnable':false", RAN, "0:F@G1!99", "C start=1 exit=99",
		  .server = "'automaticRequeueExitCode':99" },
	};
	check(rows, ARRAY_SIZE(rows));
}

TEST("a PBS job that is taken away runs again, or is aborted")
{
	static const struct row rows[] = {
		{ "its pod is gone", ONE, RAN ",'execHost':'G1/0'", "", "Q start=1" },
		{ "and it may not run again", ONE ",'rerunnable':false", RAN, "", "C start=1 exit=-4" },
		{ "one of its pods is gone", TWO, RAN, "0:R@G1", "Q start=1" },
		{ "its pod is being deleted", ONE, RAN, "0:R@G1x", "R start=1 again=15" },
		{ "and its node does not answer", ONE, RAN, "0:R@G1y", "Q start=1" },
		{ "its node lost it", ONE, RAN, "0:F@G1!137D", "Q start=1" },
		{ "and nobody knows its end", ONE, RAN, "0:F@G1!137^ContainerStatusUnknown", "Q start=1" },
		{ "a sister failed", TWO, RAN, "0:R@G1 1:F@G2!1", "Q start=1" },
		{ "it was done before it was deleted", ONE, RAN, "0:S@G1x", "C start=1 exit=0" },
		{ "qrerun", ONE ",'rerunAfter':1", RAN, "0:R@G1", "Q start=1" },
		{ "qrerun of an earlier run", ONE ",'rerunAfter':1", "'state':'R','startCount':2", "0:R@G1#1",
		  "R start=2" },
		{ "qrerun of one that waits", ONE ",'rerunAfter':1", "'state':'Q','startCount':1", "0:P#1",
		  "Q start=1" },
		{ "the old pod goes then", ONE ",'rerunAfter':1", "'state':'Q','startCount':1", "0:R@G1 0:P#1",
		  "Q start=1 -0" },
		{ "less time than before", "'resources':{'walltime':'60'}", RAN, "0:R@G1<90", "R start=1 <0(60)" },
		{ "more time than before", "'resources':{'walltime':'99'}", RAN, "0:R@G1<90", "R start=1 <0(99)" },
		{ "as much time as before", "'resources':{'walltime':'90'}", RAN, "0:R@G1<90", "R start=1" },
		{ "another limit of processor time", "'resources':{'cput':'60'}", RAN, "0:R@G1c",
		  "R start=1 <0(cput 60)" },
		{ "no limit of it any more", "'resources':{}", RAN, "0:R@G1c", "R start=1 <0(cput 0)" },
		{ "suspended", ONE ",'suspend':true", RAN, "0:R@G1", "S start=1 since=2001-09-09T01:46:40Z z0" },
		{ "still suspended is told once more if it was not heard", ONE ",'suspend':true", STANDS, "0:R@G1",
		  "S start=1 since=2001-09-09T01:46:25Z z0" },
		{ "it goes on", ONE, STANDS, "0:R@G1", "R start=1 stood=15" },
		{ "for the second time", ONE, STANDS ",'suspendedSeconds':100", "0:R@G1", "R start=1 stood=115" },
		{ "and is run again", ONE ",'rerunAfter':1", RAN ",'suspendedSeconds':100", "0:R@G1", "Q start=1" },
		{ "a hold does nothing to what runs", HELD "'u'", RAN, "0:R@G1", "R start=1" },
	};
	check(rows, ARRAY_SIZE(rows));
}

TEST("what a PBS job used is without the time in which it was suspended")
{
	struct scene s;
	struct pbs_plan p;

	scene_init(&s, ONE, RAN ",'startTime':'2001-09-09T01:45:00Z','suspendedSeconds':15", "");
	struct pbs_view v = { .job = s.job,
			      .pods = s.list,
			      .n = scene_pods(&s, "0:F@G1!3"),
			      .set = &s.set,
			      .others = &s.others,
			      .slots = &s.slots,
			      .place = "1/7",
			      .now = NOW };

	pbs_plan(&v, &p);
	CHECK_STR(jsonx_str(p.status, "resourcesUsed.walltime"), "00:01:20");
	CHECK_STR(jsonx_str(p.status, "resourcesUsed.cput"), "00:00:07");
	/* How long it was there is no resource, but qstat's total_runtime. */
	CHECK(!jsonx_str(p.status, "resourcesUsed.runtime"));
	CHECK_STR(jsonx_str(p.status, "totalRuntime"), "7.250000");
	pbs_plan_done(&p);
	scene_done(&s);
}

TEST("a PBS job that is deleted ends, and in time is forgotten")
{
#define ENDED(ago_) "'state':'C','completionTime':'2001-09-09T01:" ago_ "Z'"
	static const struct row rows[] = {
		{ "while it waits", ONE ",'cancel':{'by':'ben','message':'too large'}", "", "0:P", "C",
		  .comment = "Job deleted at request of ben: too large" },
		{ "while it waits, with a number", ONE ",'cancel':{}", "", "", "C exit=99",
		  .server = "'exitCodeCanceledJob':99" },
		{ "while it runs", ONE ",'cancel':{}", RAN, "0:R@G1", "E start=1 -0" },
		{ "in that time", ONE ",'cancel':{'delaySeconds':7}", RAN, "0:R@G1", "E start=1 -0(7)" },
		{ "it ends", ONE ",'cancel':{}", "'state':'E','startCount':1", "0:R@G1x", "E start=1" },
		{ "it has ended, however", ONE ",'cancel':{}", "'state':'E','startCount':1", "0:F@G1!143x",
		  "C start=1 exit=271" },
		{ "it is gone", ONE ",'cancel':{}", "'state':'E','startCount':1", "", "C start=1 exit=271" },
		{ "without its node", ONE ",'cancel':{'purge':true}", RAN, "0:R@G1", "C start=1 exit=271" },
		{ "it was faster", ONE ",'cancel':{}", RAN, "0:F@G1!3", "C start=1 exit=3" },
		{ "what is left of it goes", TWO, ENDED("46:30"), "0:S@G1 1:R@G2", "C -1 again=290" },
		{ "as long as it is shown", ONE, ENDED("41:41"), "0:S@G1", "C again=1" },
		{ "no longer", ONE, ENDED("41:40"), "0:S@G1", "C expired" },
		{ "unless another job has yet to see it", ONE, ENDED("41:40"), "", "C again=1", .wanted = true },
		{ "or as long as the server says", ONE, ENDED("46:39"), "", "C expired",
		  .server = "'keepCompletedSeconds':0" },
	};
	check(rows, ARRAY_SIZE(rows));
}

TEST("a PBS job whose object is deleted goes when its processes are gone")
{
	static const struct row rows[] = {
		{ "they are told to end", ONE ",'cancel':{}", RAN, "0:R@G1", "E start=1 -0", .deleted = true },
		{ "they end", ONE ",'cancel':{}", "'state':'E','startCount':1", "0:R@G1x", "E start=1",
		  .deleted = true },
		{ "they have ended", ONE ",'cancel':{}", "'state':'E','startCount':1", "0:F@G1!143x",
		  "C start=1 exit=271", .deleted = true },
		{ "that is written, then it goes", ONE ",'cancel':{}", ENDED("46:39"), "0:F@G1!143x", "C released",
		  .deleted = true },
		{ "not before all are gone", TWO ",'cancel':{}", ENDED("46:39"), "0:F@G1!143x 1:R@G2x", "C",
		  .deleted = true },
		{ "unless nobody is to wait", TWO ",'cancel':{'purge':true}", ENDED("46:39"), "0:F@G1!143x 1:R@G2x",
		  "C released", .deleted = true },
		{ "of an array, all", FOUR ",'cancel':{}",
		  "'state':'R','active':[{'index':1,'state':'R','startCount':1}]", "1/0:R@G1",
		  "R start=1 R=1 C=0,2-3 -1/0", .deleted = true },
	};
	check(rows, ARRAY_SIZE(rows));
}

TEST("an array has pods for what runs and for what comes next")
{
	static const struct row rows[] = {
		{ "all of a small one", FOUR, "", "", "Q +0/0 +1/0 +2/0 +3/0" },
		{ "as many as it has slots", SLOTS, "", "", "Q +0/0 +1/0" },
		{ "one starts", SLOTS, "", "0/0:P@G1 1/0:P", "R start=1 R=0" },
		{ "one has ended, the next gets a pod", SLOTS,
		  "'state':'R','startTime':'2001-09-09T01:46:40Z','startCount':1,"
		  "'elements':{'R':'0'},'active':[{'index':0,'state':'R','startCount':1}]",
		  "0/0:F@G1!3 1/0:P", "Q start=1 C:3=0 0:3/00:00:00" },
		{ "whose own goes then", SLOTS, "'state':'R','startTime':'x','startCount':1,'elements':{'C:3':'0'}",
		  "0/0:F@G1!3 1/0:P", "Q start=1 C:3=0 +2/0 -0/0" },
		{ "others run", FOUR,
		  "'startTime':'x','startCount':1,'elements':{'R':'1-2','C:0':'0'},'active':[{'index':2,'state':'R',"
		  "'startCount':1},{'index':1,'state':'R','startCount':1}]",
		  "2/0:S@G1 1/0:R@G1 3/0:P", "R start=1 R=1 C:0=0,2 2:0/00:00:00" },
		{ "the last one ends", FOUR,
		  "'startTime':'x','startCount':1,'elements':{'R':'3','C:0':'0-2'},'active':[{'index':3,'state':'R',"
		  "'startCount':1}]",
		  "3/0:F@G1!4", "C start=1 exit=4 C:0=0-2 C:4=3 3:4/00:00:00" },
		{ "one is to be run again", FOUR,
		  "'startTime':'x','startCount':1,'elements':{'R':'3','C:0':'0-2'},'active':[{'index':3,'state':'R',"
		  "'startCount':1}]",
		  "", "Q start=1 C:0=0-2" },
		{ "and is", FOUR,
		  "'startTime':'x','startCount':1,'elements':{'C:0':'0-2'},'active':[{'index':3,'state':'Q',"
		  "'startCount':1}]",
		  "", "Q start=1 C:0=0-2 +3/0#1" },
		{ "some are held", FOUR ",'elementHold':'0-1'", "", "", "Q +2/0 +3/0" },
		{ "all are held", FOUR ",'elementHold':'0-3'", "", "0/0:P", "H -0/0" },
		{ "the array is held", FOUR ",'hold':'u'", "", "0/0:P", "H -0/0" },
		{ "some are deleted", FOUR ",'cancel':{'elements':'0-1'}", "", "0/0:P", "Q C=0-1 +2/0 +3/0" },
		{ "one of them runs", FOUR ",'cancel':{'elements':'0-1'}",
		  "'startTime':'x','startCount':1,'elements':{'R':'0'},'active':[{'index':0,'state':'R','startCount':1}"
		  "]",
		  "0/0:R@G1 2/0:P 3/0:P", "R start=1 R=0 C=1 -0/0" },
		{ "and has ended", FOUR ",'cancel':{'elements':'0-1'}",
		  "'startTime':'x','startCount':1,'elements':{'R':'0','C':'1'},'active':[{'index':0,'state':'E',"
		  "'startCount':1}]",
		  "2/0:P 3/0:P", "Q start=1 C=1 C:271=0 0:271/00:00:00" },
		{ "all are deleted", FOUR ",'cancel':{}", "", "0/0:P", "C C=0-3" },
		{ "fewer slots than before", "'array':{'request':'0-9','slots':1}," ONE, "", "0/0:P 1/0:P", "Q -1/0" },
		{ "one waits at a time (-i)", FOUR ",'attributes':{'idle_slot_limit':'1'}", "", "", "Q +0/0" },
		{ "and the next when that runs", FOUR ",'attributes':{'idle_slot_limit':'1'}",
		  "'startCount':1,'active':[{'index':0,'state':'R','startCount':1}]", "0/0:R@G1",
		  "R start=1 R=0 +1/0" },
		{ "nonsense", "'array':{'request':'x'}," ONE, "", "", "C exit=-1" },
	};
	check(rows, ARRAY_SIZE(rows));
}

TEST("elements that were altered alone go their own way")
{
	static const struct row rows[] = {
		{ "one is held by an operator", FOUR ",'elements':[{'indexes':'1','hold':'o'}]", "", "",
		  "Q +0/0 +2/0 +3/0" },
		{ "one waits for its time", FOUR ",'elements':[{'indexes':'1','executionTime':'2001-09-09T01:46:50Z'}]",
		  "", "", "Q +0/0 +2/0 +3/0 again=10" },
		{ "one asks for two nodes", FOUR ",'elements':[{'indexes':'2','resources':{'nodes':'2'}}]", "", "",
		  "Q +0/0 +1/0 +2/0 +2/1 +3/0" },
		{ "a pod that waits is made anew", FOUR ",'elements':[{'indexes':'2','priority':3}]", "",
		  "0/0:P 1/0:P 2/0:P 3/0:P", "Q -2/0" },
		{ "two have changed places", SLOTS ",'elements':[{'indexes':'0','place':5},{'indexes':'5','place':0}]",
		  "", "", "Q +1/0 +5/0" },
		{ "one of them runs, and the other is not forgotten",
		  "'array':{'request':'0-1,5','slots':3}," ONE
		  ",'elements':[{'indexes':'0','place':5},{'indexes':'5','place':0}]",
		  "'startCount':1,'active':[{'index':5,'state':'R','startCount':1}]", "5/0:R@G1",
		  "R start=1 R=5 +0/0 +1/0" },
		{ "one is run now, though nothing is started", FOUR ",'elements':[{'indexes':'2','runNow':true}]", "",
		  "", "Q +2/0", .server = "'scheduling':false" },
		{ "one is run before the others", SLOTS ",'elements':[{'indexes':'7','runNow':true}]", "", "",
		  "Q +0/0 +7/0" },
		{ "one is suspended", FOUR ",'elements':[{'indexes':'1','suspend':true}]",
		  "'startCount':1,'active':[{'index':0,'state':'R','startCount':1},{'index':1,'state':'R',"
		  "'startCount':1}],'elements':{'C:0':'2-3'}",
		  "0/0:R@G1 1/0:R@G1", "R start=1 R=0-1 C:0=2-3 z1/0" },
		{ "all are but one", FOUR ",'suspend':true,'elements':[{'indexes':'1','suspend':false}]",
		  "'startCount':1,'active':[{'index':0,'state':'R','startCount':1},{'index':1,'state':'R',"
		  "'startCount':1}],'elements':{'C:0':'2-3'}",
		  "0/0:R@G1 1/0:R@G1", "R start=1 R=0-1 C:0=2-3 z0/0" },
		{ "one is run again", FOUR ",'elements':[{'indexes':'1','rerunAfter':1}]",
		  "'startCount':1,'active':[{'index':0,'state':'R','startCount':1},{'index':1,'state':'R',"
		  "'startCount':1}],'elements':{'C:0':'2-3'}",
		  "0/0:R@G1 1/0:R@G1", "R start=1 R=0 C:0=2-3" },
		{ "one has more time", FOUR ",'elements':[{'indexes':'1','resources':{'walltime':'99'}}]",
		  "'startCount':1,'active':[{'index':0,'state':'R','startCount':1},{'index':1,'state':'R',"
		  "'startCount':1}],'elements':{'C:0':'2-3'}",
		  "0/0:R@G1 1/0:R@G1<90", "R start=1 R=0-1 C:0=2-3 <1/0(99)" },
	};
	check(rows, ARRAY_SIZE(rows));
}

TEST("an array of a million elements is planned as quickly as a small one")
{
	struct scene s;
	struct pbs_plan p;
	int64_t began = clock_mono_ms();

	scene_init(&s, "'array':{'request':'0-999999'}," ONE, "'elements':{'C:0':'0-499999'}", "");
	struct pbs_view v = { .job = s.job,
			      .pods = s.list,
			      .set = &s.set,
			      .others = &s.others,
			      .slots = &s.slots,
			      .place = "1/7",
			      .now = NOW,
			      .create_most = PBS_CREATE_MOST };

	for (int i = 0; i < 100; i++) {
		pbs_plan(&v, &p);
		CHECK_INT(p.nmake, PBS_WINDOW);
		CHECK_INT(p.make[0].index, 500000);
		pbs_plan_done(&p);
	}
	CHECK(clock_mono_ms() - began < 5000); /* a walk over all elements a hundred times takes far longer */
	scene_done(&s);
}

TEST("a PBS job's first look costs no write of its own")
{
	static const char *const before[] = {
		"'state':'Q','queueTime':'2001-09-09T01:46:40Z','eligibleTime':'2001-09-09T01:46:40Z'",
		"'state':'Q','queueTime':'2001-09-09T01:46:40Z'",
		"'state':'Q','queueTime':'2001-09-09T01:46:40Z','eligibleTime':'2001-09-09T01:46:40Z','"
		"observedGeneration':0",
	};
	static const bool written[] = { false, true, true };

	for (size_t i = 0; i < ARRAY_SIZE(before); i++) {
		struct scene s;
		struct pbs_plan p;

		scene_init(&s, ONE, before[i], "");
		struct pbs_view v = { .job = s.job,
				      .set = &s.set,
				      .others = &s.others,
				      .slots = &s.slots,
				      .place = "1/7",
				      .now = NOW,
				      .create_most = PBS_CREATE_MOST };

		pbs_plan(&v, &p);
		CHECK_INT(p.nmake, 1);
		CHECK_INT(!json_equal(p.status, json_object_get(s.job, "status")), written[i]);
		pbs_plan_done(&p);
		scene_done(&s);
	}
}
