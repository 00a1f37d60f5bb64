// SPDX-License-Identifier: Apache-2.0
#include "cli/describe_page.h"

#include "about_text.h"
#include "kinds/core.h"
#include "kinds/rest.h"

static void expect_page(const struct about *a, int width, const char *want)
{
	auto_sbuf struct sbuf out = SBUF(65536);
	struct page p = { .out = &out, .width = width };

	describe_page(a, &p);
	CHECK_STR(out.p, want);
}

static void expect_state(const struct kind *k, const char *obj, const char *pods, const char *want)
{
	struct about a = about_of(k, obj, pods, NULL);
	auto_sbuf struct sbuf out = SBUF(4096);

	describe_state(&a, &out);
	CHECK_STR(out.p, want);
	about_done(&a);
}

#define AT(s_) "'2025-12-31T23:" s_ "Z'"
#define RUNNING(node_)                                                                                                 \
	"{'metadata':{'name':'p'},'spec':{'nodeName':'" node_                                                          \
	"'},'status':{'phase':'Running','startTime':" AT("57:00") ",'conditions':[{'type':'Ready','status':'True'}]}}"

TEST("the state is one sentence for every kind")
{
	expect_state(&kind_pod, RUNNING("vm"), "[" RUNNING("vm") "]", "Running for 3m on vm");
	expect_state(&kind_pod, "{'metadata':{'creationTimestamp':" AT("58:00") "},'status':{'phase':'Pending'}}", NULL,
		     "Pending for 2m");
	expect_state(&kind_pod,
		     "{'status':{'phase':'Failed','startTime':" AT(
			     "50:00") ",'containerStatuses':[{'state':{"
				      "'terminated':{'exitCode':3,'finishedAt':" AT("55:00") "}}}]}}",
		     NULL, "Failed 5m ago after 5m: exit status 3");
	expect_state(&kind_job,
		     "{'spec':{'completions':3,'parallelism':3},'status':{'ready':2,'active':3,'startTime':" AT(
			     "57:00") "}}",
		     "[" RUNNING("a") "," RUNNING("b") "]", "Running for 3m on 2 nodes: 2 of 3 pods ready");
	expect_state(&kind_job, "{'spec':{'suspend':true}}", NULL, "Suspended");
	expect_state(&kind_job,
		     "{'metadata':{'deletionTimestamp':'2026-01-01T00:00:20Z','deletionGracePeriodSeconds':30}}", NULL,
		     "Being deleted for 10s");
	expect_state(&kind_deployment, "{'spec':{'replicas':0}}", NULL, "Stopped: it wants no pods");
	expect_state(&kind_deployment, "{'spec':{'replicas':2},'status':{'readyReplicas':2}}", "[" RUNNING("vm") "]",
		     "Running on vm: 2 of 2 pods ready");
	expect_state(&kind_cron_job, "{'spec':{'schedule':'30 2 * * *','timeZone':'UTC'}}", NULL,
		     "Scheduled: the next run is in 150m");
	expect_state(&kind_cron_job, "{'spec':{'schedule':'what'}}", NULL, "Scheduled: what");
	expect_state(&kind_service, "{'spec':{}}", NULL, "No pod answers for it: connections to it fail");
	expect_state(&kind_service, "{'spec':{'externalName':'db.lab'}}", NULL, "Another name for db.lab");
	expect_state(&kind_node,
		     "{'spec':{'unschedulable':true},'status':{'conditions':[{'type':'Ready','status':'True',"
		     "'lastTransitionTime':" AT("59:00") "}]}}",
		     NULL, "Ready for 60s; it takes no new pods (cordoned)");
	expect_state(&kind_node,
		     "{'status':{'conditions':[{'type':'Ready','status':'Unknown','message':'silent','"
		     "lastTransitionTime':" AT("59:00") "}]}}",
		     NULL, "Not ready for 60s: silent");
	expect_state(&kind_pvc, "{'spec':{'volumeName':'v'},'status':{'phase':'Bound','capacity':{'storage':'1Gi'}}}",
		     NULL, "Bound to volume v of 1Gi");
	expect_state(&kind_config_map, "{'metadata':{'creationTimestamp':" AT("59:00") "}}", NULL, "60s old");
	expect_state(&kind_tfjob, "{'spec':{'tfReplicaSpecs':{'PS':{},'Worker':{'replicas':2}}}}", NULL,
		     "Pending for -: 0 of 3 pods ready");
}

#define JOB                                                                                                            \
	"{'metadata':{'name':'train','namespace':'lab','uid':'j','creationTimestamp':" AT(                             \
		"55:00") ",'labels':{"                                                                                 \
			 "'stoker.dev/queue':'gpu'},'annotations':{'stoker.dev/"                                       \
			 "creator':'alice'},'managedFields':[{'manager':"                                              \
			 "'stoker'}]},'spec':{'backoffLimit':0,'template':{'spec':{'containers':[{'name':'main','"     \
			 "image':'host',"                                                                              \
			 "'command':['sh','-c','echo it\\u0027s; exit "                                                \
			 "7'],'resources':{'limits':{'memory':'64Mi','nvidia.com/gpu':"                                \
			 "'1'},'requests':{'memory':'64Mi'}},'volumeMounts':[{'name':'data','mountPath':'/"            \
			 "data','readOnly':true}]}],"                                                                  \
			 "'volumes':[{'name':'data','persistentVolumeClaim':{'claimName':'data'}}]}}},"                \
			 "'status':{'failed':1,'startTime':" AT(                                                       \
				 "55:00") ",'conditions':[{'type':'Failed','status':'True','reason':"                  \
					  "'BackoffLimitExceeded','message':'limit','lastTransitionTime':" AT(         \
						  "56:00") "}]}}"
#define FAILED_POD                                                                                                     \
	"[{'metadata':{'name':'train-x','namespace':'lab','creationTimestamp':" AT(                                    \
		"55:00") "},'spec':{'nodeName':"                                                                       \
			 "'vm','containers':[{'name':'main'}],'volumes':[{'name':'data','persistentVolumeClaim':{'"    \
			 "claimName':'data'}}"                                                                         \
			 "]},'status':{'phase':'Failed','containerStatuses':[{'name':'main','state':{'terminated':{'"  \
			 "exitCode':7,"                                                                                \
			 "'reason':'Error','finishedAt':" AT("56:00") "}}}]}}]"

TEST("the page of a job that failed says all there is to know")
{
	struct about a =
		about_of(&kind_job, JOB, FAILED_POD,
			 "[{'type':'Normal','reason':'Started','message':'Started container main','lastTimestamp':" AT(
				 "55:01") ",'involvedObject':{'kind':'Pod','name':'train-x'}}]");

	about_add(a.beside, "[{'metadata':{'name':'data'},'status':{'phase':'Bound','capacity':{'storage':'1Gi'}}}]");
	expect_page(&a, 0,
		    "job/train in namespace lab\n"
		    "Failed 4m ago after 60s: exit status 7\n"
		    "\n"
		    "  Made        5m ago (2025-12-31T23:55:00Z), by alice, with stoker\n"
		    "  Queue       gpu\n"
		    "  Ends        0 succeeded, 1 failed; it gives up after 1 failure\n"
		    "  Image       host\n"
		    "  Command     sh -c 'echo it'\\''s; exit 7'\n"
		    "  Asks for    64Mi memory, 1 GPU for each pod\n"
		    "  Limit       64Mi memory for each pod\n"
		    "  Logs        stoker logs job/train -n lab\n"
		    "\n"
		    "Pods\n"
		    "  NAME     STATE  READY  NODE  RESTARTS  AGE  EXIT  REASON\n"
		    "  train-x  Error    0/1  vm           0  5m      7  -\n"
		    "\n"
		    "Volumes\n"
		    "  VOLUME  IS                       AT\n"
		    "  data    claim data (Bound, 1Gi)  /data (read-only)\n"
		    "\n"
		    "Not as it should be\n"
		    "  CONDITION  IS    FOR  REASON                MESSAGE\n"
		    "  Failed     True  4m   BackoffLimitExceeded  limit\n"
		    "\n"
		    "Last events\n"
		    "  AGE    TYPE    OBJECT       REASON   MESSAGE\n"
		    "  4m59s  Normal  pod/train-x  Started  Started container main\n"
		    "\n"
		    "What to do\n"
		    "  Its command ended with exit status 7. `stoker logs pod/train-x -n lab` shows what it said.\n");
	about_done(&a);
}

TEST("a pod's page has its containers and what they use, and fits the terminal")
{
	static const char pod[] = "{'metadata':{'name':'web','namespace':'lab','creationTimestamp':" AT(
		"59:00") ",'ownerReferences':[{"
			 "'kind':'Job','apiVersion':'batch/"
			 "v1','name':'train','controller':true}]},'spec':{'nodeName':'vm',"
			 "'containers':[{'name':'main','image':'host','resources':{'limits':{'cpu':'1','memory':'100Mi'"
			 "}}}]},"
			 "'status':{'phase':'Running','startTime':" AT(
				 "59:00") ",'podIP':'10.0.0.2','conditions':[{'type':'Ready',"
					  "'status':'True'}],'containerStatuses':[{'name':'main','ready':true,'"
					  "restartCount':1,'state':{'running':{"
					  "'startedAt':" AT("59:30") "}},'lastState':{'terminated':{'exitCode':137,'"
								     "reason':'OOMKilled'}}}]}}";
	auto_free char *pods = xasprintf("[%s]", pod);
	struct about a = about_of(&kind_pod, pod, pods, NULL);

	about_add(a.metrics, "[{'metadata':{'name':'web','namespace':'lab'},'containers':[{'usage':{'cpu':'500m',"
			     "'memory':'25Mi'}}]}]");
	expect_page(&a, 50,
		    "pod/web in namespace lab\n"
		    "Running for 60s on vm\n"
		    "\n"
		    "  Made        60s ago (2025-12-31T23:59:00Z), by\n"
		    "              job/train\n"
		    "  Node        vm\n"
		    "  Address     10.0.0.2\n"
		    "  Image       host\n"
		    "  Asks for    1 CPU, 100Mi memory\n"
		    "  Limit       1 CPU, 100Mi memory\n"
		    "  Uses        500m CPU (50% of the limit), 25Mi\n"
		    "              memory (25% of the limit)\n"
		    "  Logs        stoker logs pod/web -n lab\n"
		    "\n"
		    "Containers\n"
		    "  CONTAINER  STATE    READY  RESTARTS  SINCE  EXIT  REASON\n"
		    "  main       Running  yes           1  30s     137  OOMKilled\n");
	about_done(&a);
}

TEST("of a deleted job its logs and events are left")
{
	struct about a;

	about_init(&a);
	a.now = ABOUT_NOW;
	a.kind = &kind_job;
	a.ns = xstrdup("lab");
	a.name = xstrdup("gone");
	about_add(a.logs,
		  "[{'pod':'gone-x','created':" AT("50:00") ",'ended':" AT(
			  "55:00") ",'owner':{'kind':'Job','name':"
				   "'gone'},'containers':[{'name':'main','attempts':[{'attempt':0,'bytes':44}]}]}]");
	about_add(a.events, "[{'type':'Normal','reason':'Completed','message':'Job completed','lastTimestamp':" AT(
				    "54:00") ",'involvedObject':{'kind':'Job','name':'gone'}}]");
	expect_page(&a, 0,
		    "job/gone in namespace lab\n"
		    "Deleted 5m ago; this is what is left of it\n"
		    "\n"
		    "  Made        10m ago (2025-12-31T23:50:00Z)\n"
		    "  Result      it had succeeded\n"
		    "\n"
		    "Logs\n"
		    "  POD     CONTAINER  RUN  BYTES  DELETED  OF\n"
		    "  gone-x  main         0     44  5m ago   gone\n"
		    "  `stoker logs job/gone -n lab` shows them\n"
		    "\n"
		    "Last events\n"
		    "  AGE  TYPE    OBJECT    REASON     MESSAGE\n"
		    "  6m   Normal  job/gone  Completed  Job completed\n");
	about_done(&a);
}

/* Is the line on the page? */
static void expect_line(const struct kind *k, const char *obj, const char *beside, const char *line)
{
	struct about a = about_of(k, obj, NULL, NULL);
	auto_sbuf struct sbuf out = SBUF(65536);
	struct page p = { .out = &out };

	about_add(a.beside, beside);
	describe_page(&a, &p);
	if (!strstr(out.p, line))
		test_fail(__FILE__, __LINE__, "\"%s\" is not in\n%s", line, out.p);
	about_done(&a);
}

TEST("other kinds have facts of their own")
{
	expect_line(&kind_cron_job, "{'spec':{'schedule':'0 12 * * *','timeZone':'UTC','concurrencyPolicy':'Forbid'}}",
		    NULL,
		    "  Next        2026-01-01 12:00, 2026-01-02 12:00, 2026-01-03 12:00\n"
		    "  Last        never\n"
		    "  Overlap     no run begins while one goes on\n");
	expect_line(
		&kind_service,
		"{'metadata':{'name':'web','namespace':'lab'},'spec':{'clusterIP':'None','selector':{'a':'b','c':'d'},"
		"'ports':[{'name':'http','port':80,'targetPort':8080,'nodePort':30080}]}}",
		"[{'endpoints':[{'addresses':['10.0.0.2'],'conditions':{'ready':false},'targetRef':{'kind':'Pod',"
		"'name':'w'},'nodeName':'vm'}]}]",
		"  Ports       http 80/TCP to the pods' port 8080, 30080 on every node\n"
		"  Selects     a=b, c=d\n"
		"\n"
		"Endpoints\n"
		"  ADDRESS   READY  OBJECT  NODE\n"
		"  10.0.0.2  no     pod/w   vm\n");
	expect_line(&kind_namespace, "{'metadata':{'name':'lab'}}",
		    "[{'metadata':{'name':'q'},'status':{'hard':{'pods':'2','requests.cpu':'1'},'used':{'pods':'1'}}}]",
		    "Quotas\n"
		    "  QUOTA  OF            USED  ALLOWED\n"
		    "  q      pods             1        2  50%\n"
		    "  q      requests.cpu     -        1   0%\n");
	expect_line(&kind_secret, "{'data':{'password':'c2VjcmV0','empty':''}}", NULL,
		    "  KEY       BYTES\n"
		    "  empty         0\n"
		    "  password      6\n");
	expect_line(&kind_tfjob,
		    "{'spec':{'tfReplicaSpecs':{'Worker':{'replicas':2,'template':{'spec':{'containers':[{'image':'tf'}"
		    "]}}}}},"
		    "'status':{'replicaStatuses':{'Worker':{'active':1,'failed':1}}}}",
		    NULL,
		    "  PART    WANTED  ACTIVE  SUCCEEDED  FAILED  IMAGES\n"
		    "  Worker       2       1          0       1  tf\n");
}

TEST("programs get the facts, the state and the advice")
{
	struct about a = about_of(&kind_job, JOB, FAILED_POD, NULL);
	json_auto_t *doc = describe_json(&a);

	CHECK_STR(jsonx_str(doc, "state"), "Failed 4m ago after 60s: exit status 7");
	CHECK_STR(jsonx_str(doc, "object.metadata.name"), "train");
	CHECK(!jsonx_at(doc, "object.metadata.managedFields"));
	CHECK_INT(json_array_size(json_object_get(doc, "pods")), 1);
	CHECK_INT(json_array_size(json_object_get(doc, "advice")), 1);
	about_done(&a);
}
