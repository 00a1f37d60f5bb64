// SPDX-License-Identifier: Apache-2.0
#include "cli/work.h"

#include "base/jsonx.h"
#include "base/mem.h"
#include "kinds/core.h"
#include "kinds/rest.h"
#include "test.h"

/* JSON with single quotes. */
static json_t *read_json(const char *text)
{
	auto_free char *copy = xstrdup(text);

	for (char *p = copy; *p; p++)
		if (*p == '\'')
			*p = '"';
	json_t *v = json_loads(copy, 0, NULL);
	if (!v)
		test_fail(__FILE__, __LINE__, "%s", text);
	return v;
}

#define COND(type_, more_) "'conditions':[{'type':'" type_ "','status':'True'" more_ "}]"
#define GPU(n_)            "'containers':[{'resources':{'limits':{'nvidia.com/gpu':'" n_ "'}}}]"
#define WAITING                                                                                                        \
	"{'spec':{" GPU("2") "},'status':{'phase':'Pending','conditions':[{'type':'PodScheduled','status':'False',"    \
			     "'message':'0/1 nodes are available'}]}}"
#define ENDED(reason_, code_)                                                                                          \
	"{'status':{'phase':'Failed','containerStatuses':[{'state':{'terminated':{'exitCode':" code_                   \
	",'reason':'" reason_ "','finishedAt':'2026-01-01T00:01:00Z'}}}]}}"
#define ALIVE "{'spec':{" GPU("1") "},'status':{'phase':'Running','conditions':[{'type':'Ready','status':'True'}]}}"

#define STARTED "'comment':'Job started on Mon Nov 16 at 13:00'"

TEST("every kind's state comes down to one word, counts and a reason")
{
	static const struct {
		const struct kind *kind;
		const char *obj, *pods;
		const char *phase, *reason;
		int64_t ready, wanted, gpus;
	} rows[] = {
		{ &kind_pod, ALIVE, NULL, "Running", "", 1, 1, 1 },
		{ &kind_pod, WAITING, NULL, "Pending", "0/1 nodes are available", 0, 1, 2 },
		{ &kind_pod, ENDED("Error", "3"), NULL, "Failed", "exit status 3", 0, 1, 0 },
		{ &kind_pod, ENDED("OOMKilled", "137"), NULL, "Failed", "OOMKilled (exit status 137)", 0, 1, 0 },
		{ &kind_pod, ENDED("Error", "143"), NULL, "Failed", "exit status 143 (signal 15)", 0, 1, 0 },
		{ &kind_pod, "{'status':{'phase':'Failed','reason':'Evicted','message':'too large'}}", NULL, "Failed",
		  "Evicted: too large", 0, 1, 0 },
		{ &kind_pod, "{'status':{'phase':'Succeeded'}}", NULL, "Succeeded", "", 1, 1, 0 },
		{ &kind_pod, "{'metadata':{'deletionTimestamp':'2026-01-01T00:00:00Z'},'status':{'phase':'Running'}}",
		  NULL, "Ending", "", 0, 1, 0 },
		{ &kind_pod,
		  "{'status':{'phase':'Running','containerStatuses':[{'state':{'waiting':{'reason':'CrashLoopBackOff',"
		  "'message':'back-off'}}}]}}",
		  NULL, "Running", "CrashLoopBackOff: back-off", 0, 1, 0 },
		{ &kind_pod,
		  "{'status':{'phase':'Pending','containerStatuses':[{'state':{'waiting':{'reason':'ContainerCreating'}"
		  "}}]}}",
		  NULL, "Pending", "", 0, 1, 0 },
		{ &kind_job, "{'spec':{'parallelism':2,'template':{'spec':{" GPU("1") "}}}}", NULL, "Pending", "", 0, 2,
		  2 },
		{ &kind_job, "{'spec':{},'status':{'active':1,'ready':0}}", "[" WAITING "]", "Pending",
		  "0/1 nodes are available", 0, 1, 2 },
		{ &kind_job, "{'spec':{},'status':{'active':1,'ready':1}}", "[" ALIVE "]", "Running", "", 1, 1, 1 },
		{ &kind_job, "{'spec':{},'status':{'active':1,'ready':0}}", "[" ALIVE "]", "Running", "", 0, 1, 1 },
		{ &kind_job, "{'spec':{},'status':{'active':1}}", NULL, "Running", "", 0, 1, 0 },
		{ &kind_job, "{'spec':{'completions':3},'status':{'succeeded':3," COND("Complete", "") "}}", NULL,
		  "Succeeded", "", 3, 3, 0 },
		{ &kind_job, "{'status':{" COND("Failed", ",'reason':'BackoffLimitExceeded','message':'m'") "}}",
		  "[" ENDED("Error", "3") "]", "Failed", "exit status 3", 0, 1, 0 },
		{ &kind_job, "{'status':{" COND("Failed", ",'reason':'DeadlineExceeded','message':'m'") "}}",
		  "[" ENDED("Error", "3") "]", "Failed", "DeadlineExceeded: m", 0, 1, 0 },
		{ &kind_job, "{'spec':{'suspend':true}}", NULL, "Suspended", "", 0, 1, 0 },
		{ &kind_cron_job, "{'spec':{'schedule':'0 3 * * *'}}", NULL, "Scheduled", "0 3 * * *", 0, 0, 0 },
		{ &kind_cron_job, "{'spec':{'suspend':true}}", NULL, "Suspended", "", 0, 0, 0 },
		{ &kind_cron_job, "{'status':{'active':[{}]}}", "[" ALIVE "]", "Running", "", 1, 1, 1 },
		{ &kind_pytorchjob,
		  "{'spec':{'pytorchReplicaSpecs':{'Master':{'template':{'spec':{" GPU(
			  "1") "}}},'Worker':{'replicas':3,"
			       "'template':{'spec':{" GPU("2") "}}}}}}",
		  NULL, "Pending", "", 0, 4, 7 },
		{ &kind_tfjob,
		  "{'spec':{'tfReplicaSpecs':{'Worker':{'replicas':2}}},'status':{" COND(
			  "Running", "") ",'replicaStatuses':{'Worker':{'active':2}}}}",
		  NULL, "Running", "", 2, 2, 0 },
		{ &kind_tfjob, "{'status':{" COND("Failed", ",'reason':'r','message':'m'") "}}", NULL, "Failed", "r: m",
		  0, 0, 0 },
		{ &kind_tfjob,
		  "{'status':{" COND("Queued",
				     ",'reason':'r','message':'TFJob a/b waits: in queue batch; no room.'") "}}",
		  "[]", "Pending", "in queue batch; no room", 0, 0, 0 },
		{ &kind_pbsjob, "{'status':{'state':'H','comment':'Not Running: held'}}", NULL, "Held", "held", 0, 0,
		  0 },
		{ &kind_pbsjob, "{'status':{'state':'S','comment':'stopped'}}", NULL, "Suspended", "stopped", 0, 0, 0 },
		{ &kind_pbsjob, "{'status':{'state':'C','exitStatus':2}}", NULL, "Failed", "exit status 2", 0, 0, 0 },
		{ &kind_pbsjob, "{'status':{'state':'C','exitStatus':0}}", NULL, "Succeeded", "", 0, 0, 0 },
		{ &kind_pbsjob, "{'status':{'state':'C','exitStatus':0," STARTED "}}", NULL, "Succeeded", "", 0, 0, 0 },
		{ &kind_pbsjob, "{'status':{'state':'C','exitStatus':2," STARTED "}}", NULL, "Failed", "exit status 2",
		  0, 0, 0 },
		{ &kind_pbsjob, "{'status':{'state':'C','exitStatus':271,'comment':'Job deleted'}}", NULL, "Failed",
		  "Job deleted (exit status 271)", 0, 0, 0 },
		{ &kind_pbsjob, "{'status':{'state':'R'," STARTED "}}", NULL, "Running", "", 0, 0, 0 },
		{ &kind_pbsjob, "{'status':{'state':'C','comment':'deleted'}}", NULL, "Failed", "deleted", 0, 0, 0 },
		{ &kind_build, "{'status':{'phase':'Failed','message':'no such file'}}", NULL, "Failed", "no such file",
		  0, 0, 0 },
		{ &kind_deployment, "{'spec':{'replicas':2},'status':{'readyReplicas':2}}", NULL, "Running", "", 2, 2,
		  0 },
		{ &kind_deployment, "{'spec':{'replicas':2}}", "[" ALIVE "," WAITING "]", "Pending",
		  "0/1 nodes are available", 0, 2, 3 },
		{ &kind_deployment, "{'spec':{'replicas':0}}", NULL, "Stopped", "", 0, 0, 0 },
		{ &kind_daemon_set, "{'status':{'desiredNumberScheduled':1,'numberReady':1}}", NULL, "Running", "", 1,
		  1, 0 },
		{ &kind_notebook, "{'metadata':{'annotations':{'kubeflow-resource-stopped':'x'}}}", NULL, "Stopped", "",
		  0, 0, 0 },
		{ &kind_inference_service, "{'status':{" COND("Ready", "") "}}", NULL, "Running", "", 0, 0, 0 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		json_auto_t *obj = read_json(rows[i].obj);
		json_auto_t *pods = rows[i].pods ? read_json(rows[i].pods) : NULL;
		struct work w;

		work_read(rows[i].kind, obj, pods, &w);
		if (!streq(work_phase_name(w.phase), rows[i].phase) || !streq(w.reason, rows[i].reason) ||
		    w.ready != rows[i].ready || w.wanted != rows[i].wanted || w.gpus != rows[i].gpus)
			test_fail(__FILE__, __LINE__, "row %zu: %s \"%s\" %lld/%lld gpus %lld", i,
				  work_phase_name(w.phase), w.reason, (long long)w.ready, (long long)w.wanted,
				  (long long)w.gpus);
	}
}

TEST("times are those of the work")
{
	json_auto_t *job = read_json(
		"{'metadata':{'creationTimestamp':'1970-01-01T00:00:10Z'},'status':{'startTime':"
		"'1970-01-01T00:00:20Z'," COND("Failed", ",'lastTransitionTime':'1970-01-01T00:00:50Z'") "}}");
	json_auto_t *pod = read_json(ENDED("Error", "3"));
	struct work w;

	work_read(&kind_job, job, NULL, &w);
	CHECK_INT(w.created, 10);
	CHECK_INT(w.started, 20);
	CHECK_INT(w.ended, 50);
	CHECK_INT(work_exit_status(pod), 3);
	json_auto_t *alive = read_json(ALIVE);
	CHECK_INT(work_exit_status(alive), -1);
	CHECK(work_ends(&kind_job) && work_ends(&kind_pod) && !work_ends(&kind_deployment) &&
	      !work_ends(&kind_cron_job));
}

#define UNSTARTED(why_)                                                                                                \
	"{'status':{'phase':'Failed','containerStatuses':[{'state':{'terminated':{'exitCode':128,"                     \
	"'reason':'StartError','message':'failed to start container \\'main\\': " why_ "'}}}]}}"

TEST("a command that cannot be started ends as shells say it, and says why")
{
	static const struct {
		const char *why;
		int status;
	} rows[] = {
		{ "executable file `nosuch` not found in $PATH", 127 },
		{ "exec: stat /bin/nosuch: No such file or directory", 127 },
		{ "open executable: Permission denied", 126 },
		{ "open executable: Operation not permitted", 126 },
		{ "exec /bin/x: Exec format error", 126 },
		{ "mount /data: Permission denied", 128 },
		{ "", 128 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		auto_free char *text = xasprintf(UNSTARTED("%s"), rows[i].why);
		json_auto_t *pod = read_json(text);
		auto_free char *reason = xasprintf("could not start: %s", rows[i].why);
		struct work w;

		CHECK_INT(work_exit_status(pod), rows[i].status);
		CHECK_STR(work_start_error(pod), rows[i].why);
		work_read(&kind_pod, pod, NULL, &w);
		CHECK_STR(w.reason, *rows[i].why ? reason : "StartError (exit status 128)");
	}
	json_auto_t *ended = read_json(ENDED("Error", "3"));
	CHECK(!work_start_error(ended));
}

TEST("what ran out of memory says what its limit was")
{
#define HUNGRY(limits_, reason_)                                                                                       \
	"{'spec':{'containers':[{'name':'c','resources':{" limits_                                                     \
	"}}]},'status':{'phase':'Failed','containerStatuses':[{'name':'c','state':{'terminated':{'exitCode':137,"      \
	"'reason':'" reason_ "'}}}]}}"
	static const struct {
		const char *pod, *text;
	} rows[] = {
		{ HUNGRY("'limits':{'memory':'64Mi'}", "OOMKilled"), "out of memory (limit 64Mi)" },
		{ HUNGRY("", "OOMKilled"), "out of memory" },
		{ HUNGRY("'limits':{'memory':'64Mi'}", "Error"), "" },
		{ "{}", "" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		json_auto_t *pod = read_json(rows[i].pod);
		auto_sbuf struct sbuf out = SBUF(WORK_REASON);

		work_out_of_memory(pod, &out);
		CHECK_STR(out.n ? out.p : "", rows[i].text);
	}
}
