// SPDX-License-Identifier: Apache-2.0
#include "cli/find.h"

#include "api/front.h"
#include "capture.h"
#include "cli/connect.h"
#include "kinds/core.h"
#include "kinds/rest.h"

TEST("kinds go by every name that kubectl knows")
{
	static const struct {
		const char *word;
		const struct kind *kind;
	} rows[] = {
		{ "job", &kind_job },
		{ "jobs", &kind_job },
		{ "Job", &kind_job },
		{ "jobs.batch", &kind_job },
		{ "jobs.v1.batch", &kind_job },
		{ "job.batch", &kind_job },
		{ "jobs.apps", NULL },
		{ "jobs.", NULL },
		{ "po", &kind_pod },
		{ "deploy", &kind_deployment },
		{ "deployments.apps", &kind_deployment },
		{ "sts", &kind_stateful_set },
		{ "ds", &kind_daemon_set },
		{ "rs", &kind_replica_set },
		{ "rc", &kind_replication_controller },
		{ "cj", &kind_cron_job },
		{ "PyTorchJob", &kind_pytorchjob },
		{ "tfjobs.kubeflow.org", &kind_tfjob },
		{ "isvc", &kind_inference_service },
		{ "svc", &kind_service },
		{ "", NULL },
		{ "nonsense", NULL },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (find_kind(str_of(rows[i].word)) != rows[i].kind)
			test_fail(__FILE__, __LINE__, "\"%s\"", rows[i].word);
	CHECK(is_workload(&kind_job) && !is_workload(&kind_service));
	CHECK_INT(workloads_count(), 16);
}

struct lab {
	struct front f;
	char *arg;
	const char *ns;
	bool pods;
};

static void lab_turn(void *arg)
{
	front_turn(&((struct lab *)arg)->f);
}

/* In a child: prints what was found, its namespace and its pods, or the error. */
static int look(void *arg)
{
	struct lab *lab = arg;
	struct connection c;
	struct err e = ERR_INIT;
	struct found f;
	json_auto_t *pods = NULL;
	json_t *pod;
	size_t i;

	if (connect_open(&(struct connect_settings){ .socket = lab->f.path }, &c, &e) < 0 ||
	    find_one(c.client, lab->arg, lab->ns, false, &f, &e) < 0) {
		printf("%s", e.text);
		return 1;
	}
	printf("%s/%s %s %s", f.kind->singular, f.name, f.ns, jsonx_str_or(f.obj, "kind", "?"));
	if (lab->pods && find_pods(c.client, &f, &pods, &e) == 0)
		json_array_foreach (pods, i, pod)
			printf(" %s", jsonx_str_or(pod, "metadata.name", "?"));
	return 0;
}

#define SPEC "'spec':{'containers':[{'name':'c','image':'host'}]}"
#define OWNED(kind_, version_, name_, uid_)                                                                            \
	"'ownerReferences':[{'apiVersion':'" version_ "','kind':'" kind_ "','name':'" name_ "','uid':'" uid_           \
	"','controller':true}]"

static char *make(struct lab *lab, const char *kind, const char *ns, const char *text)
{
	json_auto_t *obj = server_ask(&lab->f.s, VERB_CREATE, kind, ns, NULL, text);

	return xstrdup(jsonx_str_or(obj, "metadata.uid", ""));
}

TEST("a name is looked up among all workloads; what another one made does not count")
{
	static const struct {
		const char *arg, *ns, *text;
		bool pods;
	} rows[] = {
		{ "one", "default", "pod/one default Pod" },
		{ "po/one", "default", "pod/one default Pod" },
		{ "one", NULL, "pod/one default Pod" },
		{ "jobs.batch/one", "default",
		  "there is no job \"one\" in namespace \"default\"; `stoker ps -a` shows" },
		{ "none", "default", "there is no workload \"none\" in namespace \"default\"; `stoker ps -a` shows" },
		{ "none", NULL, "there is no workload \"none\" in any namespace" },
		{ "web", "default", "deployment/web default Deployment web-1-a", .pods = true },
		{ "web-1", "default", "replicaset/web-1 default ReplicaSet web-1-a", .pods = true },
		{ "twice", "default",
		  "\"twice\" is the name of several workloads; say which one: job/twice -n default, "
		  "pod/twice -n default" },
		{ "pod/twice", "default", "pod/twice default Pod" },
		{ "sock/one", "default", "\"sock\" is no kind of workload; there are pod, job, " },
		{ "svc/one", "default", "svc/one is no workload" },
		{ "a,b", "default", "\"a,b\" cannot be a name: " },
		{ "job/", "default", "\"job/\" has no name" },
		{ "7", "default", "pbsjob/7 default PBSJob" },
		{ "7.Ghead", "default", "pbsjob/7 default PBSJob" },
		{ "7.Ghead", NULL, "pbsjob/7 default PBSJob" },
		{ "pbsjob/7.Ghead", "default", "pbsjob/7 default PBSJob" },
		{ "7[]", "default", "pbsjob/7 default PBSJob" },
		{ "7[].Ghead", "default", "pbsjob/7 default PBSJob" },
		{ "7[3].Ghead", "default", "pod/7-3-0 default Pod" },
		{ "pbsjob/7[3]", "default", "pod/7-3-0 default Pod" },
		{ "7[4]", "default", "element 4 of pbsjob/7 has no pod now; `qstat -f '7[4]'` shows" },
		{ "8.Ghead", "default", "there is no pbsjob \"8\" in namespace \"default\"" },
		{ "2.run", "default", "pod/2.run default Pod" },
		{ "pod/7.Ghead", "default", "\"7.Ghead\" cannot be a name: " },
		{ "7[2-4]", "default", "\"7[2-4]\" cannot be a name: " },
	};
	struct lab lab = { .f = front_new() };
	auto_free char *uid = NULL;
	auto_free char *rs = NULL;
	auto_free char *text = NULL;
	auto_free char *pod = NULL;

	free(make(&lab, "v1/pods", "default", "{'metadata':{'name':'one'}," SPEC "}"));
	free(make(&lab, "v1/pods", "default", "{'metadata':{'name':'twice'}," SPEC "}"));
	free(make(&lab, "v1/pods", "default", "{'metadata':{'name':'2.run'}," SPEC "}"));
	free(make(&lab, "v1/pods", "default",
		  "{'metadata':{'name':'7-3-0','labels':{'stoker.dev/pbsjob':'7','stoker.dev/pbs-index':'3'}}," SPEC
		  "}"));
	free(make(&lab, "stoker.dev/v1/pbsjobs", "default", "{'metadata':{'name':'7'},'spec':{'script':'true'}}"));
	free(make(&lab, "batch/v1/jobs", "default",
		  "{'metadata':{'name':'twice'},'spec':{'template':{'spec':{'restartPolicy':'Never','containers':[{'"
		  "name':'c',"
		  "'image':'host'}]}}}}"));
	uid = make(&lab, "apps/v1/deployments", "default",
		   "{'metadata':{'name':'web'},'spec':{'selector':{'matchLabels':{'a':'b'}},'template':{'metadata':{'"
		   "labels':{'a':"
		   "'b'}}," SPEC "}}}");
	text = xasprintf("{'metadata':{'name':'web-1'," OWNED("Deployment", "apps/v1", "web",
							      "%s") "},"
								    "'spec':{'selector':{'matchLabels':{'a':'b'}},'"
								    "template':{'metadata':{'labels':{'a':'b'}}," SPEC
								    "}}}",
			 uid);
	rs = make(&lab, "apps/v1/replicasets", "default", text);
	pod = xasprintf("{'metadata':{'name':'web-1-a'," OWNED("ReplicaSet", "apps/v1", "web-1", "%s") "}," SPEC "}",
			rs);
	free(make(&lab, "v1/pods", "default", pod));
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct capture c;

		lab.arg = (char *)rows[i].arg;
		lab.ns = rows[i].ns;
		lab.pods = rows[i].pods;
		c = capture_run(look, &lab, lab_turn, &lab);
		if (!str_starts(c.out.p, rows[i].text))
			test_fail(__FILE__, __LINE__, "row %zu (%s): %s", i, rows[i].arg, c.out.p);
		capture_done(&c);
	}
	front_done(&lab.f);
}
