// SPDX-License-Identifier: Apache-2.0
/* What a Job needs next, by table.  Pods are written in words:
 *
 *	a:R  a is running (P pending, S succeeded, F failed), with its finalizer
 *	...  further letters: r ready, n without finalizer, x being deleted, g on a node (implied by R)
 *	...  further numbers: #2 its index, @30 ended 30 s ago, !7 exit code, ^1 earlier failures of its index, *3
 *restarts
 *
 * The answer: +2 pods to create (+#0,2 with these indexes), -a to remove, xa to end with the Job, ua to let go, then
 * what the status says that differs from its defaults, conditions as Type=Reason, events as !Reason.
 */
#include "control/job_plan.h"

#include "api/sample_json.h"
#include "base/clock.h"
#include "base/jsonx.h"
#include "base/mem.h"
#include "test.h"

#define NOW      1000000000
#define MAX_PODS 40

static long number_after(const char *word, char mark, long fallback)
{
	const char *at = strchr(word, mark);

	return at ? strtol(at + 1, NULL, 10) : fallback;
}

static json_t *pod_of(const char *word)
{
	static const struct {
		char letter;
		const char *phase;
	} phases[] = { { 'P', "Pending" }, { 'R', "Running" }, { 'S', "Succeeded" }, { 'F', "Failed" } };
	const char *colon = strchr(word, ':');
	auto_free char *name = xstrndup(word, (size_t)(colon - word));
	json_t *pod = json_pack("{s:{s:s, s:s, s:s, s:{}}, s:{}, s:{}}", "metadata", "name", name, "namespace", "ns",
				"uid", name, "annotations", "spec", "status");
	json_t *notes = jsonx_at(pod, "metadata.annotations");
	char text[CLOCK_RFC3339_LEN];
	const char *c = colon + 1;
	json_t *status;

	for (size_t i = 0; i < ARRAY_SIZE(phases); i++)
		if (*c == phases[i].letter)
			jsonx_set_new(pod, "status.phase", json_string(phases[i].phase));
	if (*c != 'P' || strchr(c, 'g'))
		jsonx_set_new(pod, "spec.nodeName", json_string("box"));
	if (!strchr(c, 'n'))
		jsonx_set_new(pod, "metadata.finalizers", json_pack("[s]", JOB_FINALIZER));
	clock_rfc3339(NOW - number_after(c, '@', 1000), text);
	if (strchr(c, 'x'))
		jsonx_set_new(pod, "metadata.deletionTimestamp", json_string(text));
	if (strchr(c, 'r'))
		jsonx_set_new(pod, "status.conditions", json_pack("[{s:s, s:s}]", "type", "Ready", "status", "True"));
	if (strchr(c, 'd'))
		jsonx_set_new(pod, "status.conditions",
			      json_pack("[{s:s, s:s}]", "type", "DisruptionTarget", "status", "True"));
	status = json_pack("{s:s, s:I}", "name", "main", "restartCount", (json_int_t)number_after(c, '*', 0));
	if (*c == 'S' || *c == 'F')
		jsonx_set_new(status, "state.terminated",
			      json_pack("{s:s, s:I}", "finishedAt", text, "exitCode",
					(json_int_t)number_after(c, '!', *c == 'F')));
	jsonx_set_new(pod, "status.containerStatuses", json_pack("[o]", status));
	if (strchr(c, '#'))
		json_object_set_new(notes, JOB_INDEX, jsonx_stringf("%ld", number_after(c, '#', 0)));
	if (strchr(c, '^'))
		json_object_set_new(notes, JOB_INDEX_FAILURES, jsonx_stringf("%ld", number_after(c, '^', 0)));
	return pod;
}

static void add_names(struct sbuf *out, const char *mark, const struct pod_facts **pods, size_t n)
{
	for (size_t i = 0; i < n; i++)
		sbuf_addf(out, "%s%s%s", out->n ? " " : "", mark, pods[i]->name);
}

static void add_creations(struct sbuf *out, const struct job_plan *p)
{
	if (!p->ncreate)
		return;
	if (p->create[0].index < 0) {
		sbuf_addf(out, "+%zu", p->ncreate);
		return;
	}
	for (size_t i = 0; i < p->ncreate; i++) {
		sbuf_addf(out, "%s%d", i ? "," : "+#", p->create[i].index);
		if (p->create[i].failures)
			sbuf_addf(out, "^%d", p->create[i].failures);
	}
}

static void add_status(struct sbuf *out, const json_t *status)
{
	static const char *const counts[] = { "active", "ready", "succeeded", "failed", "terminating" };
	static const char *const texts[] = { "completedIndexes", "failedIndexes" };
	static const char *const lists[] = { "succeeded", "failed" };
	json_t *v;
	size_t n;

	for (size_t i = 0; i < ARRAY_SIZE(counts); i++)
		if (jsonx_int_or(status, counts[i], 0))
			sbuf_addf(out, " %s=%lld", counts[i], (long long)jsonx_int_or(status, counts[i], 0));
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		if (*jsonx_str_or(status, texts[i], ""))
			sbuf_addf(out, " %s=%s", texts[i], jsonx_str(status, texts[i]));
	for (size_t i = 0; i < ARRAY_SIZE(lists); i++)
		json_array_foreach (json_object_get(json_object_get(status, "uncountedTerminatedPods"), lists[i]), n, v)
			sbuf_addf(out, " %s?%s", lists[i], json_string_value(v));
	json_array_foreach (json_object_get(status, "conditions"), n, v)
		sbuf_addf(out, " %s%s=%s", jsonx_str_or(v, "type", ""),
			  str_same(jsonx_str(v, "status"), "True") ? "" : "(no)", jsonx_str_or(v, "reason", ""));
}

/* A server that has no uncountedTerminatedPods, which is before Kubernetes 1.22, is said by "old" in their place. */
static char *answer(const char *spec, const char *status, const char *words)
{
	bool old = str_starts(status, "old");
	bool has = strstr(status, "uncountedTerminatedPods");
	const char *more = old ? status + strlen("old") : status;
	auto_free char *text =
		xasprintf("{'metadata':{'name':'j','namespace':'ns','uid':'u'},'spec':{%s},'status':{'startTime':"
			  "'2001-09-09T01:46:30Z'%s%s%s}}",
			  spec, old || has ? "" : ",'uncountedTerminatedPods':{}", *more && !old ? "," : "", more);
	json_auto_t *job = sample_json(text);
	json_auto_t *objects = json_array();
	struct pod_facts facts[MAX_PODS];
	const struct pod_facts *pods[MAX_PODS];
	struct job_view v = { .job = job, .pods = pods, .now = NOW, .create_most = JOB_CREATE_MOST };
	auto_sbuf struct sbuf out = SBUF(4000);
	struct str rest = str_of(words);
	struct str word;
	struct job_plan p;

	while (*words && str_split(&rest, ' ', &word)) {
		auto_free char *one = xstrndup(word.p, word.n);

		json_array_append_new(objects, pod_of(one));
		facts[v.n] = pod_facts(json_array_get(objects, v.n));
		pods[v.n] = &facts[v.n];
		v.n++;
	}
	job_plan(&v, &p);
	add_creations(&out, &p);
	add_names(&out, "-", p.remove, p.nremove);
	add_names(&out, "x", p.end, p.nend);
	add_names(&out, "u", p.untrack, p.nuntrack);
	sbuf_adds(&out, " |");
	if (p.status)
		add_status(&out, p.status);
	else
		sbuf_adds(&out, " same");
	if (p.expired)
		sbuf_adds(&out, " expired");
	if (p.again >= 0)
		sbuf_addf(&out, " again=%lld", (long long)p.again);
	for (size_t i = 0; i < p.nevents; i++)
		sbuf_addf(&out, " !%s", p.events[i].reason);
	job_plan_done(&p);
	return sbuf_steal(&out);
}

struct row {
	const char *spec, *status, *pods, *want;
};

static void check_rows(const struct row *rows, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		auto_free char *got = answer(rows[i].spec, rows[i].status, rows[i].pods);

		if (!streq(got, rows[i].want))
			test_fail(__FILE__, __LINE__, "{%s} {%s} [%s]\n      \"%s\"\n  not \"%s\"", rows[i].spec,
				  rows[i].status, rows[i].pods, got, rows[i].want);
	}
}

#define CHECK_ROWS(rows) check_rows(rows, ARRAY_SIZE(rows))
#define ONE              "'parallelism':1,'completions':1,'backoffLimit':6"
#define FIVE             "'parallelism':2,'completions':5,'backoffLimit':6"
#define QUEUE            "'parallelism':3,'backoffLimit':6"
#define INDEXED          "'completionMode':'Indexed','parallelism':3,'completions':5,'backoffLimit':6"
#define EACH             "'completionMode':'Indexed','parallelism':3,'completions':3,'backoffLimit':100,'backoffLimitPerIndex':1"
#define MET              "{'type':'SuccessCriteriaMet','status':'True','reason':'CompletionsReached'}"
#define TARGET           "{'type':'FailureTarget','status':'True','reason':'BackoffLimitExceeded'}"

TEST("a pod that could not be made is not counted as active before it exists")
{
	json_auto_t *job = sample_json("{'metadata':{'name':'j','namespace':'ns','uid':'u'},'spec':{" FIVE
				       "},'status':{'startTime':'2001-09-09T01:46:30Z','active':2}}");
	struct job_view v = { .job = job, .now = NOW, .create_most = 1 };
	struct job_plan p;

	job_plan(&v, &p);
	CHECK_INT(p.ncreate, 1);
	CHECK(p.status && jsonx_int_or(p.status, "active", 0) == 0);
	job_plan_done(&p);
}

TEST("a job makes as many pods as it may and still needs")
{
	static const struct row rows[] = {
		{ ONE, "", "", "+1 | active=1" },
		{ ONE, "'active':1", "a:P", " | active=1" },
		{ ONE, "'active':1,'ready':0,'terminating':0,'uncountedTerminatedPods':{}", "a:P", " | same" },
		{ ONE, "'active':1", "a:R", " | active=1" },
		{ ONE, "'active':1", "a:Rr", " | active=1 ready=1" },
		{ FIVE, "", "", "+2 | active=2" },
		{ FIVE, "", "a:R", "+1 | active=2" },
		{ FIVE, "", "a:R b:R", " | active=2" },
		{ FIVE, "'succeeded':3", "", "+2 | active=2 succeeded=3" },
		{ FIVE, "'succeeded':4", "", "+1 | active=1 succeeded=4" },
		{ FIVE, "'succeeded':4", "a:R", " | active=1 succeeded=4" },
		{ QUEUE, "", "", "+3 | active=3" },
		{ QUEUE, "", "a:R", "+2 | active=3" },
		{ QUEUE, "'succeeded':1", "a:R", " | active=1 succeeded=1" },
		{ "'parallelism':0,'completions':3,'backoffLimit':6", "", "", " |" },
		{ "'parallelism':200,'completions':200,'backoffLimit':6", "", "", "+100 | active=100" },
		{ "'parallelism':0,'backoffLimit':6", "", "", " |" },
		{ "'completions':0,'parallelism':1,'backoffLimit':6", "", "",
		  " | SuccessCriteriaMet=CompletionsReached Complete=CompletionsReached !Completed" },
	};

	CHECK_ROWS(rows);
}

TEST("too many pods lose those with the least work in them")
{
	static const struct row rows[] = {
		{ ONE, "", "a:R b:P", "-b | active=1 terminating=1" },
		{ ONE, "", "a:P b:Pg", "-a | active=1 terminating=1" },
		{ ONE, "", "a:Rr b:R", "-b | active=1 ready=1 terminating=1" },
		{ ONE, "", "a:R*3 b:R", "-a | active=1 terminating=1" },
		{ FIVE, "", "a:R b:P c:R d:P", "-d -b | active=2 terminating=2" },
		{ FIVE, "'succeeded':4", "a:R b:P", "-b | active=1 succeeded=4 terminating=1" },
		{ FIVE, "'succeeded':5", "a:R", "-a | succeeded=5 terminating=1" },
		{ "'parallelism':0,'completions':5,'backoffLimit':6", "", "a:R b:R", "-b -a | terminating=2" },
		{ ONE, "", "a:R b:Rx", " | active=1 terminating=1 failed?b" },
		{ INDEXED, "", "a:R#0 b:P#0", "-b | active=1 terminating=1" },
		{ INDEXED, "", "a:R#7", "-a | terminating=1" },
		{ INDEXED, "", "a:R", "-a | terminating=1" },
	};

	CHECK_ROWS(rows);
}

TEST("a success is recorded, let go and counted, in this order")
{
	static const struct row rows[] = {
		{ ONE, "'active':1", "a:S", " | succeeded?a SuccessCriteriaMet=CompletionsReached" },
		{ ONE, "'uncountedTerminatedPods':{'succeeded':['a']},'conditions':[" MET "]", "a:S",
		  "ua | succeeded?a SuccessCriteriaMet=CompletionsReached" },
		{ ONE, "'uncountedTerminatedPods':{'succeeded':['a']},'conditions':[" MET "]", "a:Sn",
		  " | succeeded=1 SuccessCriteriaMet=CompletionsReached Complete=CompletionsReached !Completed" },
		{ ONE, "'uncountedTerminatedPods':{'succeeded':['a']},'conditions':[" MET "]", "",
		  " | succeeded=1 SuccessCriteriaMet=CompletionsReached Complete=CompletionsReached !Completed" },
		{ FIVE, "", "a:S b:R", "+1 | active=2 succeeded?a" },
		{ FIVE, "'uncountedTerminatedPods':{'succeeded':['a']}", "a:S b:R", "+1 ua | active=2 succeeded?a" },
		{ FIVE, "'uncountedTerminatedPods':{'succeeded':['a']}", "a:Sn b:S c:R",
		  "+1 | active=2 succeeded=1 succeeded?b" },
		{ FIVE, "'succeeded':2", "a:Sn b:Sn c:R d:R", " | active=2 succeeded=2" },
		{ FIVE, "'succeeded':3,'uncountedTerminatedPods':{'succeeded':['a']}", "a:S b:S",
		  " | succeeded=3 succeeded?a succeeded?b SuccessCriteriaMet=CompletionsReached" },
		{ FIVE, "'succeeded':5", "",
		  " | succeeded=5 SuccessCriteriaMet=CompletionsReached "
		  "Complete=CompletionsReached !Completed" },
		{ QUEUE, "'active':2", "a:S b:R", " | active=1 succeeded?a" },
		{ QUEUE, "'succeeded':1", "b:S", " | succeeded=1 succeeded?b SuccessCriteriaMet=CompletionsReached" },
		/* deleted while it succeeded */
		{ ONE, "", "a:Sx", " | succeeded?a SuccessCriteriaMet=CompletionsReached" },
		/* a uid that is counted as failed stays so, whatever the pod says later */
		{ ONE, "'uncountedTerminatedPods':{'failed':['a']}", "a:S", "+1 ua | active=1 failed?a" },
	};

	CHECK_ROWS(rows);
}

TEST("where no uids are kept, pods are counted, never twice")
{
	static const struct row rows[] = {
		{ FIVE, "old", "a:R b:R", " | active=2" },
		/* counted first, then let go */
		{ FIVE, "old,'active':2", "a:S b:R", "+1 | active=2 succeeded=1" },
		{ FIVE, "old,'active':2,'succeeded':1", "a:S b:R", "+1 ua | active=2 succeeded=1" },
		{ FIVE, "old,'succeeded':1", "a:Sn b:R c:S", "+1 | active=2 succeeded=2" },
		{ FIVE, "old,'succeeded':2", "a:S b:R c:S", "+1 ua uc | active=2 succeeded=2" },
		/* what is gone stays counted */
		{ FIVE, "old,'succeeded':2", "c:R d:R", " | active=2 succeeded=2" },
		{ FIVE, "old,'succeeded':4", "c:Sn d:R", " | active=1 succeeded=4" },
		{ ONE, "old", "a:S", " | succeeded=1 SuccessCriteriaMet=CompletionsReached" },
		{ ONE, "old,'succeeded':1,'conditions':[" MET "]", "a:S",
		  "ua | succeeded=1 SuccessCriteriaMet=CompletionsReached" },
		{ ONE, "old,'succeeded':1,'conditions':[" MET "]", "a:Sn",
		  " | succeeded=1 SuccessCriteriaMet=CompletionsReached Complete=CompletionsReached !Completed" },
		{ ONE, "old", "a:F@3", " | failed=1 again=7" },
		{ ONE, "old,'failed':1", "a:F@3", "ua | failed=1 again=7" },
		{ ONE, "old,'failed':1", "a:Fn@30", "+1 | active=1 failed=1" },
		/* deleted by somebody, and by the Job itself */
		{ ONE, "old", "a:Rx", "+1 | active=1 failed=1 terminating=1" },
		{ ONE, "old", "a:Rnx b:R", " | active=1 terminating=1" },
		{ "'parallelism':1,'completions':1,'backoffLimit':1", "old,'failed':1", "a:Fn b:F",
		  " | failed=2 FailureTarget=BackoffLimitExceeded" },
		{ "'parallelism':1,'completions':1,'backoffLimit':1", "old,'failed':2,'conditions':[" TARGET "]",
		  "a:Fn b:Fn",
		  " | failed=2 FailureTarget=BackoffLimitExceeded Failed=BackoffLimitExceeded !BackoffLimitExceeded" },
		{ INDEXED, "old,'completedIndexes':'1','succeeded':1", "a:S#1 b:S#3 c:R#0",
		  "+#2,4 | active=3 succeeded=2 completedIndexes=1,3" },
	};

	CHECK_ROWS(rows);
}

TEST("failed pods that are gone keep the back-off, until one succeeds")
{
	static const struct {
		struct job_past past;
		const char *pods;
		int64_t again;
	} rows[] = {
		{ { 0 }, "", -1 },
		{ { 1, NOW - 3 }, "", 7 },
		{ { 1, NOW - 10 }, "", -1 },
		{ { 2, NOW - 10 }, "", 10 },
		{ { 1, NOW - 30 }, "b:Fn@10", 10 },
		{ { 1, NOW - 10 }, "b:Fn@30", 10 },
		{ { 3, NOW - 10 }, "b:Sn@5", -1 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		json_auto_t *job =
			sample_json("{'metadata':{'name':'j','namespace':'ns','uid':'u'},'spec':{'parallelism':"
				    "1,'completions':5,'backoffLimit':6},'status':{'startTime':"
				    "'2001-09-09T01:46:30Z'}}");
		json_auto_t *pod = *rows[i].pods ? pod_of(rows[i].pods) : NULL;
		struct pod_facts facts = pod_facts(pod);
		const struct pod_facts *pods[] = { &facts };
		struct job_view v = {
			.job = job, .pods = pods, .n = pod != NULL, .now = NOW, .past = rows[i].past, .create_most = 1
		};
		struct job_plan p;

		job_plan(&v, &p);
		CHECK_INT(p.again, rows[i].again);
		CHECK_INT(p.ncreate, rows[i].again < 0);
		job_plan_done(&p);
	}
}

TEST("failures are counted, retried ever later, and end the job when there are too many")
{
	static const struct row rows[] = {
		{ ONE, "", "a:F@3", " | failed?a again=7" },
		{ ONE, "'uncountedTerminatedPods':{'failed':['a']}", "a:F@3", "ua | failed?a again=7" },
		{ ONE, "'uncountedTerminatedPods':{'failed':['a']}", "a:Fn@3", " | failed=1 again=7" },
		{ ONE, "'failed':1", "a:Fn@9", " | failed=1 again=1" },
		{ ONE, "'failed':1", "a:Fn@10", "+1 | active=1 failed=1" },
		{ ONE, "'failed':2", "a:Fn@30 b:Fn@10", " | failed=2 again=10" },
		{ ONE, "'failed':3", "a:Fn@90 b:Fn@50 c:Fn@39", " | failed=3 again=1" },
		{ ONE, "'failed':4", "a:Fn@90 b:Fn@50 c:Fn@39 d:Fn@1", " | failed=4 again=79" },
		{ "'parallelism':1,'completions':1,'backoffLimit':60", "'failed':7",
		  "a:Fn@90 b:Fn@50 c:Fn@39 d:Fn@1 e:Fn f:Fn g:Fn", " | failed=7 again=359" },
		{ FIVE, "'failed':2,'succeeded':1", "a:Fn@90 b:Fn@50 c:Sn@20", "+2 | active=2 succeeded=1 failed=2" },
		{ FIVE, "'failed':2,'succeeded':1", "a:Fn@90 b:Fn@5 c:Sn@20", " | succeeded=1 failed=2 again=5" },
		{ ONE, "'failed':6", "a:F", " | failed=6 failed?a FailureTarget=BackoffLimitExceeded" },
		{ ONE, "'failed':5,'uncountedTerminatedPods':{'failed':['a']}", "a:F b:F",
		  " | failed=5 failed?a failed?b FailureTarget=BackoffLimitExceeded" },
		{ ONE, "'failed':6,'uncountedTerminatedPods':{'failed':['a']},'conditions':[" TARGET "]", "a:F",
		  "ua | failed=6 failed?a FailureTarget=BackoffLimitExceeded" },
		{ ONE, "'failed':6,'uncountedTerminatedPods':{'failed':['a']},'conditions':[" TARGET "]", "a:Fn",
		  " | failed=7 FailureTarget=BackoffLimitExceeded Failed=BackoffLimitExceeded !BackoffLimitExceeded" },
		/* those that still run are ended, and fail with the Job */
		{ FIVE, "'failed':6", "a:F b:Rr",
		  "xb | failed=6 terminating=1 failed?a failed?b "
		  "FailureTarget=BackoffLimitExceeded" },
		{ FIVE, "'failed':7,'conditions':[" TARGET "]", "b:Rx",
		  " | failed=7 terminating=1 failed?b FailureTarget=BackoffLimitExceeded" },
		{ FIVE, "'failed':8,'conditions':[" TARGET "]", "b:Rnx",
		  " | failed=8 terminating=1 FailureTarget=BackoffLimitExceeded" },
		{ FIVE, "'failed':8,'conditions':[" TARGET "]", "b:Fnx",
		  " | failed=8 FailureTarget=BackoffLimitExceeded Failed=BackoffLimitExceeded !BackoffLimitExceeded" },
		{ "'parallelism':1,'completions':1,'backoffLimit':0", "", "a:F",
		  " | failed?a FailureTarget=BackoffLimitExceeded" },
		/* containers that restart in place */
		{ ONE ",'template':{'spec':{'restartPolicy':'OnFailure'}}", "", "a:R*5", " | active=1" },
		{ ONE ",'template':{'spec':{'restartPolicy':'OnFailure'}}", "", "a:R*6",
		  "xa | terminating=1 failed?a FailureTarget=BackoffLimitExceeded" },
		{ "'parallelism':1,'completions':1,'backoffLimit':0,'template':{'spec':{'restartPolicy':'OnFailure'}}",
		  "", "a:R*1", "xa | terminating=1 failed?a FailureTarget=BackoffLimitExceeded" },
		{ ONE ",'template':{'spec':{'restartPolicy':'Never'}}", "", "a:R*9", " | active=1" },
	};

	CHECK_ROWS(rows);
}

TEST("a pod that is being deleted is replaced at once or when it has ended, as the job says")
{
	static const char *const failed = ONE ",'podReplacementPolicy':'Failed'";
	const struct row rows[] = {
		{ ONE, "", "a:Rx@20", "+1 | active=1 terminating=1 failed?a" },
		{ failed, "", "a:Rx@20", " | terminating=1" },
		{ failed, "", "a:Rnx@20", " | terminating=1" },
		{ failed, "", "a:Fx@20", "+1 | active=1 failed?a" },
		{ failed, "'failed':1", "", "+1 | active=1 failed=1" },
		{ FIVE ",'podReplacementPolicy':'Failed'", "", "a:Rx b:R", " | active=1 terminating=1" },
		{ INDEXED ",'podReplacementPolicy':'Failed'", "", "a:Rx#0 b:R#1", "+#2 | active=2 terminating=1" },
	};

	CHECK_ROWS(rows);
}

TEST("a deadline ends a job, and time that has not come is waited for")
{
	/* it started at NOW - 10 */
	static const struct row rows[] = {
		{ ONE ",'activeDeadlineSeconds':11", "", "a:R", " | active=1 again=1" },
		{ ONE ",'activeDeadlineSeconds':10", "", "a:R",
		  "xa | terminating=1 failed?a FailureTarget=DeadlineExceeded" },
		{ ONE ",'activeDeadlineSeconds':10,'suspend':true",
		  "'conditions':[{'type':'Suspended','status':'True'}]", "", " | Suspended=" },
		{ ONE ",'activeDeadlineSeconds':3", "", "",
		  " | FailureTarget=DeadlineExceeded Failed=DeadlineExceeded !DeadlineExceeded" },
	};

	CHECK_ROWS(rows);
}

TEST("a suspended job has no pods, and what it loses is no failure")
{
	static const struct row rows[] = {
		{ ONE ",'suspend':true", "", "", " | Suspended=JobSuspended !Suspended" },
		{ ONE ",'suspend':true", "", "a:Rr", "-a | ready=1 terminating=1 Suspended=JobSuspended !Suspended" },
		{ ONE ",'suspend':true", "'conditions':[{'type':'Suspended','status':'True'}]", "a:Rxn",
		  " | terminating=1 Suspended=" },
		{ ONE, "'conditions':[{'type':'Suspended','status':'True'}]", "",
		  "+1 | active=1 Suspended(no)=JobResumed !Resumed" },
		{ ONE, "'conditions':[{'type':'Suspended','status':'True'}]", "a:Fnx@1",
		  "+1 | active=1 Suspended(no)=JobResumed !Resumed" },
		{ FIVE ",'suspend':true", "'succeeded':5", "",
		  " | succeeded=5 SuccessCriteriaMet=CompletionsReached Complete=CompletionsReached !Completed" },
	};

	CHECK_ROWS(rows);
}

TEST("an indexed job gives every index one pod and counts indexes")
{
	static const struct row rows[] = {
		{ INDEXED, "", "", "+#0,1,2 | active=3" },
		{ INDEXED, "", "a:R#1", "+#0,2 | active=3" },
		{ INDEXED, "'completedIndexes':'0,2','succeeded':2", "",
		  "+#1,3,4 | active=3 succeeded=2 completedIndexes=0,2" },
		{ INDEXED, "", "a:S#1 b:R#0 c:R#2", "+#3 | active=3 succeeded=1 completedIndexes=1" },
		{ INDEXED, "'completedIndexes':'1','succeeded':1", "a:S#1 b:R#0 c:R#2",
		  "+#3 ua | active=3 succeeded=1 completedIndexes=1" },
		{ INDEXED, "'completedIndexes':'0-3','succeeded':4", "a:S#4",
		  " | succeeded=5 completedIndexes=0-4 SuccessCriteriaMet=CompletionsReached" },
		{ INDEXED, "'completedIndexes':'0-4','succeeded':5,'conditions':[" MET "]", "a:S#4",
		  "ua | succeeded=5 completedIndexes=0-4 SuccessCriteriaMet=CompletionsReached" },
		{ INDEXED, "'completedIndexes':'0-4','succeeded':5,'conditions':[" MET "]", "a:Sn#4",
		  " | succeeded=5 completedIndexes=0-4 SuccessCriteriaMet=CompletionsReached "
		  "Complete=CompletionsReached !Completed" },
		/* twice the same index is one success */
		{ INDEXED, "'completedIndexes':'1','succeeded':1", "a:S#1 b:S#1 c:R#0 d:R#2 e:R#3",
		  "ua ub | active=3 succeeded=1 completedIndexes=1" },
		/* the Job was made smaller */
		{ "'completionMode':'Indexed','parallelism':2,'completions':2,'backoffLimit':6",
		  "'completedIndexes':'0-4','succeeded':5", "",
		  " | succeeded=2 completedIndexes=0,1 SuccessCriteriaMet=CompletionsReached "
		  "Complete=CompletionsReached !Completed" },
		{ INDEXED, "'failed':1", "a:Fn#0@3", " | failed=1 again=7" },
		{ INDEXED, "'failed':1", "a:Fn#0@13", "+#0,1,2 | active=3 failed=1" },
	};

	CHECK_ROWS(rows);
}

TEST("with a limit for each index an index fails alone")
{
	static const struct row rows[] = {
		{ EACH, "", "", "+#0,1,2 | active=3" },
		/* the failed pod keeps its finalizer until its place is taken */
		{ EACH, "", "a:F#0@3 b:R#1 c:R#2", " | active=2 again=7" },
		{ EACH, "", "a:F#0@10 b:R#1 c:R#2", "+#0^1 | active=3" },
		{ EACH, "", "a:F#0@11 b:R#1 c:R#2 d:R#0^1", " | active=3 failed?a" },
		{ EACH, "", "a:F#0^1@11 b:R#1 c:R#2", " | active=2 failedIndexes=0 failed?a" },
		{ EACH, "'failedIndexes':'0','failed':2", "b:S#1 c:R#2",
		  " | active=1 succeeded=1 failed=2 completedIndexes=1 failedIndexes=0" },
		{ EACH, "'failedIndexes':'0','failed':2,'completedIndexes':'1','succeeded':1", "c:S#2",
		  " | succeeded=2 failed=2 completedIndexes=1,2 failedIndexes=0 FailureTarget=FailedIndexes" },
		{ EACH ",'maxFailedIndexes':1", "'failedIndexes':'0','failed':2", "b:F#1^1 c:R#2",
		  "xc | failed=2 terminating=1 failedIndexes=0,1 failed?b failed?c "
		  "FailureTarget=MaxFailedIndexesExceeded" },
		{ EACH ",'maxFailedIndexes':1", "'failedIndexes':'0','failed':2", "b:R#1^1 c:R#2",
		  " | active=2 failed=2 failedIndexes=0" },
	};

	CHECK_ROWS(rows);
}

#define POLICY(rule) ONE ",'podFailurePolicy':{'rules':[" rule "]}"

TEST("podFailurePolicy says what a failure means")
{
	static const struct row rows[] = {
		{ POLICY("{'action':'FailJob','onExitCodes':{'operator':'In','values':[42]}}"), "", "a:F!42",
		  " | failed?a FailureTarget=PodFailurePolicy" },
		{ POLICY("{'action':'FailJob','onExitCodes':{'operator':'In','values':[42]}}"), "", "a:F!41@3",
		  " | failed?a again=7" },
		{ POLICY("{'action':'FailJob','onExitCodes':{'operator':'NotIn','values':[42]}}"), "", "a:F!41",
		  " | failed?a FailureTarget=PodFailurePolicy" },
		{ POLICY("{'action':'FailJob','onExitCodes':{'containerName':'side','operator':'In','values':[42]}}"),
		  "", "a:F!42@10", "+1 | active=1 failed?a" },
		{ POLICY("{'action':'Ignore','onExitCodes':{'operator':'In','values':[42]}}"), "", "a:F!42@10",
		  "+1 ua | active=1" },
		{ POLICY("{'action':'Ignore','onPodConditions':[{'type':'DisruptionTarget'}]}"), "", "a:Fd@10",
		  "+1 ua | active=1" },
		{ POLICY("{'action':'FailJob','onPodConditions':[{'type':'DisruptionTarget','status':'True'}]}"), "",
		  "a:Fd", " | failed?a FailureTarget=PodFailurePolicy" },
		{ POLICY("{'action':'FailJob','onPodConditions':[{'type':'DisruptionTarget','status':'False'}]}"), "",
		  "a:Fd@10", "+1 | active=1 failed?a" },
		{ POLICY("{'action':'Count','onExitCodes':{'operator':'In','values':[42]}},"
			 "{'action':'FailJob','onExitCodes':{'operator':'In','values':[42]}}"),
		  "", "a:F!42@10", "+1 | active=1 failed?a" },
		{ EACH ",'podFailurePolicy':{'rules':[{'action':'FailIndex','onExitCodes':{'operator':'In','values':"
		       "[42]}}]}",
		  "", "a:F#0!42 b:R#1 c:R#2", " | active=2 failedIndexes=0 failed?a" },
	};

	CHECK_ROWS(rows);
}

TEST("successPolicy ends an indexed job early")
{
	static const char *const leader = INDEXED ",'successPolicy':{'rules':[{'succeededIndexes':'0'}]}";
	const struct row rows[] = {
		{ leader, "", "a:R#0 b:R#1 c:R#2", " | active=3" },
		{ leader, "", "a:S#0 b:R#1 c:R#2",
		  "xb xc | succeeded=1 terminating=2 completedIndexes=0 SuccessCriteriaMet=SuccessPolicy" },
		{ leader,
		  "'completedIndexes':'0','succeeded':1,'conditions':[{'type':'SuccessCriteriaMet','status':'True',"
		  "'reason':'SuccessPolicy'}]",
		  "a:S#0 b:Rx#1",
		  "ua ub | succeeded=1 terminating=1 completedIndexes=0 "
		  "SuccessCriteriaMet=SuccessPolicy" },
		{ INDEXED ",'successPolicy':{'rules':[{'succeededIndexes':'0-2','succeededCount':2}]}",
		  "'completedIndexes':'1','succeeded':1", "a:R#0 b:S#2",
		  "xa | succeeded=2 terminating=1 completedIndexes=1,2 SuccessCriteriaMet=SuccessPolicy" },
		{ INDEXED ",'successPolicy':{'rules':[{'succeededIndexes':'0-2','succeededCount':2}]}",
		  "'completedIndexes':'3','succeeded':1", "a:R#0 b:S#2 c:R#1",
		  "+#4 | active=3 succeeded=2 completedIndexes=2,3" },
	};

	CHECK_ROWS(rows);
}

TEST("a finished job is left alone until its time is over")
{
	static const char *const done =
		"'conditions':[{'type':'Complete','status':'True','lastTransitionTime':'2001-09-09T01:46:30Z'}]";
	const struct row rows[] = {
		{ ONE, done, "", " | same" },
		{ ONE, done, "a:Sn", " | same" },
		{ ONE, done, "a:S", "ua | same" },
		{ ONE ",'ttlSecondsAfterFinished':11", done, "", " | same again=1" },
		{ ONE ",'ttlSecondsAfterFinished':10", done, "", " | same expired" },
		{ ONE ",'ttlSecondsAfterFinished':0", done, "", " | same expired" },
	};

	CHECK_ROWS(rows);
}
