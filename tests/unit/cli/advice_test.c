// SPDX-License-Identifier: Apache-2.0
#include "cli/advice.h"

#include "about_text.h"
#include "kinds/core.h"
#include "kinds/rest.h"

#define META "'metadata':{'name':'p','namespace':'lab'}"
#define POD(phase_, state_)                                                                                            \
	"{" META ",'spec':{'containers':[{'name':'main','image':'no/such:1','resources':{'limits':{'memory':'32Mi'"    \
	"}}}]},'status':{'phase':'" phase_ "','containerStatuses':[{'name':'main'," state_ "}]}}"
#define WAITS(reason_, message_) POD("Pending", "'state':{'waiting':{'reason':'" reason_ "','message':'" message_ "'}}")
#define ENDED(reason_, code_)    POD("Failed", "'state':{'terminated':{'reason':'" reason_ "','exitCode':" code_ "}}")
#define UNPLACED(message_)                                                                                             \
	"{" META                                                                                                       \
	",'status':{'phase':'Pending','conditions':[{'type':'PodScheduled','status':'False','message':'" message_      \
	"'}]}}"

TEST("each way to wait or fail has its advice")
{
	static const struct {
		const char *pod;
		const char *says[2]; /* parts of the first sentence */
	} rows[] = {
		{ WAITS("ImagePullBackOff", "Back-off pulling image: ErrImagePull: manifest unknown"),
		  { "\"no/such:1\" could not be had: manifest unknown.", "stoker image pull" } },
		{ WAITS("InvalidImageName", ""), { "\"no/such:1\" is no name of an image", "" } },
		{ WAITS("CreateContainerConfigError", "configmap x not found"), { "configmap x not found", "Create" } },
		{ ENDED("OOMKilled", "137"), { "more memory than its limit of 32Mi", "--mem" } },
		{ ENDED("Error", "3"), { "exit status 3.", "`stoker logs pod/p -n lab`" } },
		{ ENDED("Error", "127"), { "exit status 127: the command was not found", "" } },
		{ ENDED("StartError", "128"), { "could not be started", "path" } },
		{ POD("Running", "'state':{'waiting':{'reason':'CrashLoopBackOff'}},'lastState':{'terminated':{"
				 "'exitCode':3}}"),
		  { "exit status 3", "stoker logs --previous pod/p -n lab" } },
		{ POD("Running", "'state':{'waiting':{'reason':'CrashLoopBackOff'}},'lastState':{'terminated':{"
				 "'exitCode':0}}"),
		  { "ends soon after each start", "--previous" } },
		{ UNPLACED("0/1 nodes are available: 1 Insufficient nvidia.com/gpu."),
		  { "1 Insufficient nvidia.com/gpu", "`stoker gpus`" } },
		{ UNPLACED("0/1 nodes are available: 1 Insufficient memory."), { "stoker top nodes -o wide", "" } },
		{ UNPLACED("something else"), { "something else", "" } },
		{ "{" META ",'status':{'phase':'Failed','reason':'Evicted','message':'disk is full'}}",
		  { "driven off its node: disk is full", "" } },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		auto_sbuf struct sbuf pods = SBUF(8192);
		struct about a;
		json_auto_t *advice = NULL;
		const char *first;

		sbuf_addf(&pods, "[%s]", rows[i].pod);
		a = about_of(&kind_pod, rows[i].pod, pods.p, NULL);
		advice = advice_for(&a);
		first = json_string_value(json_array_get(advice, 0));
		for (size_t k = 0; k < 2; k++)
			if (!first || !strstr(first, rows[i].says[k]))
				test_fail(__FILE__, __LINE__, "\"%s\" is not in \"%s\"", rows[i].says[k],
					  first ? first : "");
		about_done(&a);
	}
}

TEST("a container is named where a pod has several")
{
	static const char pod[] =
		"{" META ",'spec':{'containers':[{'name':'main'},{'name':'side'}]},'status':{'phase':"
		"'Failed','containerStatuses':[{'name':'side','state':{'terminated':{'exitCode':1}}}]}}";
	auto_free char *pods = xasprintf("[%s]", pod);
	struct about a = about_of(&kind_pod, pod, pods, NULL);
	json_auto_t *advice = advice_for(&a);

	CHECK(strstr(json_string_value(json_array_get(advice, 0)), "stoker logs pod/p -c side -n lab"));
	about_done(&a);
}

TEST("a quota in the way is named")
{
	struct about a =
		about_of(&kind_job, "{'metadata':{'name':'j','namespace':'lab'},'spec':{}}", NULL,
			 "[{'type':'Warning','reason':'FailedCreate','message':'Error creating: pods \\\"j-x\\\" is "
			 "forbidden: exceeded quota: few, requested: pods=1, used: pods=1, limited: pods=1'}]");
	json_auto_t *advice = advice_for(&a);
	const char *first = json_string_value(json_array_get(advice, 0));

	CHECK_INT(json_array_size(advice), 1);
	CHECK(first && strstr(first, "The quota \"few\" of namespace lab") &&
	      strstr(first, "(requested: pods=1, used: pods=1, limited: pods=1)") &&
	      strstr(first, "`stoker describe resourcequota/few -n lab`"));
	about_done(&a);
}

TEST("what is well needs no advice, what is suspended one command")
{
	struct about well = about_of(
		&kind_pod, "{" META ",'status':{'phase':'Running','conditions':[{'type':'Ready','status':'True'}]}}",
		NULL, "[{'type':'Warning','reason':'FailedMount','message':'old'}]");
	struct about waits =
		about_of(&kind_job, "{'metadata':{'name':'j','namespace':'lab'},'spec':{'suspend':true}}", NULL, NULL);
	struct about alone = about_of(
		&kind_service, "{'metadata':{'name':'s','namespace':'lab'},'spec':{'selector':{'a':'b'}}}", NULL, NULL);
	json_auto_t *none = advice_for(&well);
	json_auto_t *one = advice_for(&waits);
	json_auto_t *service = advice_for(&alone);

	CHECK_INT(json_array_size(none), 0);
	CHECK(strstr(json_string_value(json_array_get(one, 0)), "kubectl patch job j -n lab"));
	CHECK(strstr(json_string_value(json_array_get(service, 0)), "No pod answers"));
	about_done(&well);
	about_done(&waits);
	about_done(&alone);
}

#define JOB(spec_, status_)                                                                                            \
	"{'metadata':{'name':'7','namespace':'lab'},'spec':{" spec_ "},'status':{'sequence':7,'state':" status_ "}}"

TEST("a held PBS job is told the PBS command that releases it")
{
	static const struct {
		const char *job, *says;
	} rows[] = {
		{ JOB("'hold':'u'", "'H'"), "`qrls 7` releases it." },
		{ JOB("'hold':'uo'", "'H'"), "An operator releases it: `qrls -h uo 7`." },
		{ JOB("'hold':'u','array':{'request':'0-3'}", "'H'"), "`qrls '7[]'` releases it." },
		{ JOB("'elementHold':'0-3','array':{'request':'0-3'}", "'H'"), "`qrls '7[]'` releases it." },
		{ JOB("'hold':'n','dependencies':[{'type':'afterok','jobs':['6']}]", "'H'"),
		  "It goes on by itself when that has come true; `qstat -f 7` shows what it depends on." },
		{ JOB("'hold':'n'", "'S'"), "`qsig -s resume 7` lets it go on." },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct about a = about_of(&kind_pbsjob, rows[i].job, NULL, NULL);
		json_auto_t *advice = advice_for(&a);

		CHECK_INT(json_array_size(advice), 1);
		CHECK_STR(json_string_value(json_array_get(advice, 0)), rows[i].says);
		about_done(&a);
	}
}

#define KILLED(resources_, comment_)                                                                                   \
	JOB("'resources':{" resources_ "}", "'C','exitStatus':-10,'comment':'" comment_ "'")

TEST("a PBS job that a limit has ended is told how to ask for more")
{
	static const struct {
		const char *job, *says;
	} rows[] = {
		{ KILLED("'mem':'20mb'", "Job killed: mem 20975616 exceeded limit 20971520"), "`-l mem=20mb`" },
		{ KILLED("'vmem':'1gb'", "Job killed: it has exceeded its memory"), "`-l vmem=1gb`" },
		{ KILLED("'walltime':'00:01:00','mem':'1gb'", "Job killed: it has exceeded its walltime of 00:01:00"),
		  "`-l walltime=00:01:00`" },
		{ KILLED("'cput':'5'", "Job killed: it has exceeded its processor time"), "`-l cput=5`" },
		{ KILLED("", "Job killed: it has exceeded its walltime"), "`qsub -l walltime=...`" },
		{ KILLED("'mem':'20mb'", "Job deleted at request of ben: exceeded my mem"), "" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct about a = about_of(&kind_pbsjob, rows[i].job, NULL, NULL);
		json_auto_t *advice = advice_for(&a);
		const char *first = json_string_value(json_array_get(advice, 0));

		if (!strstr(first ? first : "", rows[i].says) || !first != !*rows[i].says)
			test_fail(__FILE__, __LINE__, "row %zu: %s", i, first ? first : "nothing");
		about_done(&a);
	}
}
