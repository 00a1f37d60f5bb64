// SPDX-License-Identifier: Apache-2.0
/* queue_rules_test.c - which queue work is in, and what queues refuse */
#include "kinds/queue.h"

#include "server.h"
#include "store/store_impl.h"

#define QUEUES "stoker.dev/v1/queues"
#define JOBS   "batch/v1/jobs"
#define TFJOBS "kubeflow.org/v1/tfjobs"

static const char *const users[] = { "system:authenticated", "vision", NULL };
/* An account that is on every machine, and one that is on none. */
static const struct caller daemon_user = { .user = "daemon", .uid = "1", .groups = users, .local = true };
static const struct caller ci = { .user = "ci", .uid = "", .groups = users };

static struct server lab_new(void)
{
	struct server s = server_new();

	server_do(&s, VERB_CREATE, "rbac.authorization.k8s.io/v1/clusterroles", "", NULL,
		  "{'metadata':{'name':'work'},'rules':[{'apiGroups':['','batch','apps','kubeflow.org'],"
		  "'resources':['*'],'verbs':['*']}]}");
	server_do(&s, VERB_CREATE, "rbac.authorization.k8s.io/v1/clusterrolebindings", "", NULL,
		  "{'metadata':{'name':'work'},'roleRef':{'apiGroup':'rbac.authorization.k8s.io','kind':'ClusterRole',"
		  "'name':'work'},'subjects':[{'kind':'Group','name':'system:authenticated','apiGroup':"
		  "'rbac.authorization.k8s.io'}]}");
	return s;
}

static void make_queue(struct server *s, const char *name, const char *spec)
{
	auto_free char *body = xasprintf("{'metadata':{'name':'%s'},'spec':{%s}}", name, spec);

	server_do(s, VERB_CREATE, QUEUES, "", NULL, body);
}

static json_t *patch_as(struct server *s, const struct caller *c, const char *what, const char *ns, const char *name,
			const char *body)
{
	struct api_request req = server_request(s, VERB_PATCH, what, ns, name);

	req.caller = c;
	req.patch = PATCH_MERGE;
	return server_call(s, &req, body);
}

static bool patched(struct server *s, const struct caller *c, const char *what, const char *ns, const char *name,
		    const char *body)
{
	json_auto_t *answer = patch_as(s, c, what, ns, name, body);

	return answer != NULL;
}

static json_t *make_as(struct server *s, const struct caller *c, const char *what, const char *body)
{
	struct api_request req = server_request(s, VERB_CREATE, what, "default", NULL);

	req.caller = c;
	return server_call(s, &req, body);
}

static bool made(struct server *s, const struct caller *c, const char *what, const char *body)
{
	json_auto_t *answer = make_as(s, c, what, body);

	return answer != NULL;
}

/* `meta` and `spec` end in commas, or are empty. */
static char *pod(const char *name, const char *meta, const char *spec)
{
	return xasprintf("{'metadata':{%s'name':'%s'},'spec':{%s'containers':[{'name':'c','image':'host'}]}}", meta,
			 name, spec);
}

static char *job(const char *name, const char *meta, const char *spec)
{
	return xasprintf("{'metadata':{%s'name':'%s'},'spec':{%s'template':{'spec':{'restartPolicy':'Never',"
			 "'containers':[{'name':'c','image':'host'}]}}}}",
			 meta, name, spec);
}

#define IN_(queue_)     "'labels':{'stoker.dev/queue':'" queue_ "'}"
#define IN(queue_)      IN_(queue_) ","
#define FOR_(walltime_) "'annotations':{'stoker.dev/walltime':'" walltime_ "'}"
#define FOR(walltime_)  FOR_(walltime_) ","

static bool made_pod(struct server *s, const struct caller *c, const char *name, const char *meta, const char *spec)
{
	auto_free char *body = pod(name, meta, spec);

	return made(s, c, "v1/pods", body);
}

static bool made_job(struct server *s, const struct caller *c, const char *name, const char *meta, const char *spec)
{
	auto_free char *body = job(name, meta, spec);

	return made(s, c, JOBS, body);
}

/* A pod as the controller of an object makes it. */
static json_t *make_child(struct server *s, const char *api_version, const char *kind, const json_t *of,
			  const char *what, const char *name, const char *meta)
{
	auto_free char *more = xasprintf("%s'ownerReferences':[{'apiVersion':'%s','kind':'%s','name':'%s','uid':'%s',"
					 "'controller':true}],",
					 meta, api_version, kind, jsonx_str_or(of, "metadata.name", ""),
					 jsonx_str_or(of, "metadata.uid", ""));
	auto_free char *body = streq(what, "v1/pods")
				       ? pod(name, more, "")
				       : xasprintf("{'metadata':{%s'name':'%s'},'spec':{'selector':{'matchLabels':{'a':"
						   "'b'}},'template':{'metadata':{'labels':{'a':'b'}},'spec':{"
						   "'containers':[{'name':'c','image':'host'}]}}}}",
						   more, name);

	return make_as(s, &caller_system, what, body);
}

static const char *note(const json_t *obj, const char *key)
{
	return json_string_value(json_object_get(jsonx_at(obj, "metadata.annotations"), key));
}

static const char *queue_of(const json_t *obj)
{
	return json_string_value(json_object_get(jsonx_at(obj, "metadata.labels"), QUEUE_LABEL));
}

TEST("batch is there from the start and stays")
{
	struct server s = server_new();
	json_auto_t *gone = server_ask(&s, VERB_DELETE, QUEUES, "", "batch", NULL);

	CHECK_INT(s.code, 403);
	CHECK(strstr(s.message, "everything goes there that names no queue") != NULL);
	CHECK(server_has(&s, QUEUES, "", "batch"));
	make_queue(&s, "mcc", "");
	server_do(&s, VERB_DELETE, QUEUES, "", "mcc", NULL);
	CHECK(!gone);
	server_done(&s);
}

TEST("a pod is in the queue that it, a controller or its namespace names, else in batch")
{
	struct server s = server_new();
	json_auto_t *plain = NULL, *own = NULL, *deployment = NULL, *set = NULL, *below = NULL, *other = NULL;
	auto_free char *body = pod("a", "", "");
	auto_free char *labelled = pod("b", IN("mcc"), "");
	auto_free char *elsewhere = pod("e", "", "'schedulerName':'volcano',");
	json_auto_t *foreign = NULL, *by_label = NULL, *by_note = NULL;

	make_queue(&s, "mcc", "");
	make_queue(&s, "night", "");
	plain = make_as(&s, &caller_system, "v1/pods", body);
	CHECK_STR(queue_of(plain), "batch");
	own = make_as(&s, &caller_system, "v1/pods", labelled);
	CHECK_STR(queue_of(own), "mcc");
	foreign = make_as(&s, &caller_system, "v1/pods", elsewhere);
	CHECK_STR(queue_of(foreign), NULL);
	deployment =
		make_as(&s, &caller_system, "apps/v1/deployments",
			"{'metadata':{'name':'d'," IN("night") "'annotations':{}},'spec':{'selector':{'matchLabels'"
							       ":{'a':'b'}},'template':{'metadata':{'labels':{'a':'b'}}"
							       ",'spec':{'containers':[{'name':'c',"
							       "'image':'host'}]}}}}");
	set = make_child(&s, "apps/v1", "Deployment", deployment, "apps/v1/replicasets", "d-1", "");
	below = make_child(&s, "apps/v1", "ReplicaSet", set, "v1/pods", "d-1-x", "");
	CHECK_STR(queue_of(below), "night");
	other = make_child(&s, "apps/v1", "ReplicaSet", set, "v1/pods", "d-1-y", IN("mcc"));
	CHECK_STR(queue_of(other), "mcc");
	server_do(&s, VERB_CREATE, "v1/namespaces", "", NULL, "{'metadata':{'name':'l'," IN_("mcc") "}}");
	server_do(&s, VERB_CREATE, "v1/namespaces", "", NULL,
		  "{'metadata':{'name':'n','annotations':{'stoker.dev/queue':'night'}}}");
	by_label = server_ask(&s, VERB_CREATE, "v1/pods", "l", NULL, body);
	by_note = server_ask(&s, VERB_CREATE, "v1/pods", "n", NULL, body);
	CHECK_STR(queue_of(by_label), "mcc");
	CHECK_STR(queue_of(by_note), "night");
	server_done(&s);
}

TEST("what a namespace chose for a workload holds when it chooses another")
{
	struct server s = server_new();
	auto_free char *first = job("i", "", "");
	auto_free char *body = job("j", "", "");
	json_auto_t *in_batch = NULL, *j = NULL, *p = NULL, *same = NULL;

	make_queue(&s, "mcc", "");
	in_batch = make_as(&s, &caller_system, JOBS, first);
	CHECK_STR(queue_of(in_batch), NULL); /* nothing to say */
	CHECK(patched(&s, &caller_system, "v1/namespaces", "", "default", "{'metadata':{" IN_("mcc") "}}"));
	j = make_as(&s, &caller_system, JOBS, body);
	CHECK_STR(queue_of(j), "mcc");
	CHECK(patched(&s, &caller_system, "v1/namespaces", "", "default", "{'metadata':{'labels':null}}"));
	p = make_child(&s, "batch/v1", "Job", j, "v1/pods", "j-1", "");
	CHECK_STR(queue_of(p), "mcc");
	same = patch_as(&s, &caller_system, "v1/pods", "default", "j-1", "{'metadata':{'labels':null}}");
	CHECK_STR(queue_of(same), "mcc");
	server_done(&s);
}

TEST("whose a pod is, and which group is charged, is the server's word")
{
	struct server s = lab_new();
	auto_free char *body = pod("a", "'annotations':{'stoker.dev/user':'anna','stoker.dev/group':'x'},", "");
	auto_free char *second = pod("b", "'annotations':{'stoker.dev/user':'anna','stoker.dev/group':'x'},", "");
	auto_free char *third = pod("c", "'annotations':{'stoker.dev/user':'anna','stoker.dev/group':'x'},", "");
	json_auto_t *real = make_as(&s, &daemon_user, "v1/pods", body);
	json_auto_t *made_up = make_as(&s, &ci, "v1/pods", second);
	json_auto_t *admins = make_as(&s, &caller_system, "v1/pods", third);
	json_auto_t *forged =
		patch_as(&s, &daemon_user, "v1/pods", "default", "a",
			 "{'metadata':{'annotations':{'stoker.dev/user':'anna','stoker.dev/group':'x'}}}");

	CHECK_STR(note(real, USER_ANNOTATION), "daemon");
	CHECK_STR(note(real, GROUP_ANNOTATION), "daemon");
	CHECK_STR(note(made_up, USER_ANNOTATION), "ci");
	CHECK_STR(note(made_up, GROUP_ANNOTATION), NULL);
	CHECK_STR(note(admins, USER_ANNOTATION), NULL);
	CHECK_STR(note(forged, USER_ANNOTATION), "daemon");
	CHECK_STR(note(forged, GROUP_ANNOTATION), "daemon");
	server_done(&s);
}

TEST("a queue that is unknown or not enabled takes nothing, and says so at once")
{
	struct server s = lab_new();
	json_auto_t *j = NULL, *p = NULL;
	auto_free char *body = job("old", IN("mcc"), "");

	make_queue(&s, "mcc", "");
	CHECK(!made_job(&s, &ci, "j", IN("nosuch"), ""));
	CHECK_INT(s.code, 422);
	CHECK(strstr(s.message, "metadata.labels[stoker.dev/queue]: Invalid value: \"nosuch\": there is no such queue, "
				"only batch, mcc") != NULL);
	CHECK(!made(&s, &ci, JOBS,
		    "{'metadata':{'name':'j','labels':{'a':'b'}},'spec':{'template':{'metadata':{'labels':{"
		    "'stoker.dev/queue':'nosuch'}},"
		    "'spec':{'restartPolicy':'Never','containers':[{'name':'c','image':'host'}]}}}}"));
	CHECK(strstr(s.message, "template.metadata.labels[stoker.dev/queue]: Invalid value: \"nosuch\"") != NULL);
	j = make_as(&s, &ci, JOBS, body);
	CHECK(j != NULL);
	CHECK(patched(&s, &caller_system, QUEUES, "", "mcc", "{'spec':{'enabled':false}}"));
	CHECK(!made_job(&s, &ci, "j", IN("mcc"), ""));
	CHECK_INT(s.code, 403);
	CHECK_STR(s.message, "jobs.batch \"j\" is forbidden: queue mcc is not enabled: it takes no new work");
	CHECK(!made_pod(&s, &caller_system, "p", IN("mcc"), ""));
	/* What is in it goes on. */
	p = make_child(&s, "batch/v1", "Job", j, "v1/pods", "old-1", "");
	CHECK_STR(queue_of(p), "mcc");
	CHECK(patched(&s, &ci, JOBS, "default", "old", "{'metadata':{'labels':{'a':'b'}}}"));
	/* Not so what only looks like it. */
	CHECK(!made_pod(&s, &ci, "forged",
			IN("mcc") "'ownerReferences':[{'apiVersion':'v1','kind':'ConfigMap','name':"
				  "'m','uid':'u','controller':true}],",
			""));
	CHECK_INT(s.code, 403);
	server_do(&s, VERB_DELETE, QUEUES, "", "mcc", NULL);
	p = (json_decref(p), make_child(&s, "batch/v1", "Job", j, "v1/pods", "old-2", ""));
	CHECK_STR(queue_of(p), "mcc");
	CHECK(patched(&s, &caller_system, "v1/namespaces", "", "default", "{'metadata':{" IN_("mcc") "}}"));
	CHECK(!made_job(&s, &ci, "j", "", ""));
	CHECK_STR(s.message,
		  "jobs.batch \"j\" is forbidden: queue mcc of namespace default does not exist, only batch");
	server_done(&s);
}

TEST("who is not let in hears by which rule; an admin is")
{
	struct server s = lab_new();
	auto_free char *owned = job("o", "", "");

	make_queue(&s, "mcc", "'acl':{'users':['daemon']}");
	make_queue(&s, "img", "'acl':{'groups':['vision']}");
	make_queue(&s, "unix", "'acl':{'groups':['daemon']}");
	CHECK(!made_job(&s, &ci, "a", IN("mcc"), ""));
	CHECK_STR(s.message, "jobs.batch \"a\" is forbidden: queue mcc: user ci is not in acl.users");
	CHECK(!made_pod(&s, &ci, "a", IN("mcc"), ""));
	CHECK_STR(s.message, "pods \"a\" is forbidden: queue mcc: user ci is not in acl.users");
	CHECK(made_job(&s, &daemon_user, "a", IN("mcc"), ""));
	CHECK(made_job(&s, &caller_system, "b", IN("mcc"), ""));
	CHECK(made_job(&s, &ci, "c", IN("img"), "")); /* by a group that the caller came with */
	CHECK(!made_job(&s, &ci, "d", IN("unix"), ""));
	CHECK_STR(s.message, "jobs.batch \"d\" is forbidden: queue unix: user ci is in no group of acl.groups");
	CHECK(made_job(&s, &daemon_user, "d", IN("unix"), ""));
	/* A move is a submission. */
	CHECK(!patched(&s, &ci, JOBS, "default", "c", "{'metadata':{" IN_("mcc") "}}"));
	CHECK_INT(s.code, 403);
	CHECK(made_pod(&s, &ci, "p", "", ""));
	CHECK(!patched(&s, &ci, "v1/pods", "default", "p", "{'metadata':{" IN_("mcc") "}}"));
	CHECK(patched(&s, &ci, "v1/pods", "default", "p", "{'metadata':{" IN_("img") "}}"));
	server_smuggle(&s, "v1/pods", "default", "p", "{'spec':{'nodeName':'n'}}");
	CHECK(!patched(&s, &caller_system, "v1/pods", "default", "p", "{'metadata':{" IN_("batch") "}}"));
	CHECK_STR(s.message, "pods \"p\" is forbidden: it has a node, so it stays in queue img");
	server_done(&s);
}

TEST("walltimes: default, bounds, and what controllers say, enforced by the pod's deadline")
{
	static const struct {
		const char *meta, *spec, *walltime;
		int64_t deadline; /* -1: none */
	} rows[] = {
		{ IN("mcc"), "", NULL, 3600 },
		{ IN("mcc") FOR("30:00"), "", "30:00", 1800 },
		{ IN("mcc"), "'activeDeadlineSeconds':60,", NULL, 60 },
		{ IN("max"), "", NULL, 86400 },
		{ IN("batch"), "", NULL, -1 },
		{ IN("batch") FOR("2h"), "", "2h", 7200 },
	};
	static const struct {
		const char *meta, *spec, *text;
	} wrong[] = {
		{ IN("mcc") FOR("2d"), "",
		  "metadata.annotations[stoker.dev/walltime]: Invalid value: \"2d\": queue mcc allows at most "
		  "24:00:00" },
		{ IN("mcc") FOR("0"), "", "must be a time such as 168:00:00, 7d or 3600" },
		{ FOR("soon"), "", "\"soon\": must be a time such as 168:00:00, 7d or 3600" },
		{ IN("mcc"), "'activeDeadlineSeconds':90000,",
		  "spec.activeDeadlineSeconds: Invalid value: 90000: queue mcc allows at most 24:00:00" },
		{ IN("mcc"), "'activeDeadlineSeconds':59,", "queue mcc takes only work of at least 00:01:00" },
	};
	struct server s = server_new();
	json_auto_t *j = NULL, *p = NULL;
	auto_free char *body = job("j", IN("mcc"), "'activeDeadlineSeconds':7200,");

	make_queue(&s, "mcc", "'defaultWalltime':'1h','maxWalltime':'1d','minWalltime':'60'");
	make_queue(&s, "max", "'maxWalltime':'1d'");
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		auto_free char *name = xasprintf("p%zu", i);
		auto_free char *text = pod(name, rows[i].meta, rows[i].spec);
		json_auto_t *made_one = make_as(&s, &caller_system, "v1/pods", text);

		CHECK_STR(s.message, "");
		CHECK_STR(note(made_one, WALLTIME_ANNOTATION), rows[i].walltime);
		CHECK_INT(jsonx_int_or(made_one, "spec.activeDeadlineSeconds", -1), rows[i].deadline);
	}
	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
		CHECK(!made_pod(&s, &caller_system, "w", wrong[i].meta, wrong[i].spec));
		CHECK_INT(s.code, 422);
		CHECK(strstr(s.message, wrong[i].text) != NULL);
		CHECK(!made_job(&s, &caller_system, "w", wrong[i].meta, wrong[i].spec));
		CHECK(strstr(s.message, wrong[i].text) != NULL);
	}
	j = make_as(&s, &caller_system, JOBS, body);
	p = make_child(&s, "batch/v1", "Job", j, "v1/pods", "j-1", "");
	CHECK_STR(note(p, WALLTIME_ANNOTATION), "02:00:00");
	CHECK_INT(jsonx_int_or(p, "spec.activeDeadlineSeconds", -1), 7200);
	/* A maximum that is lower by now bounds it. */
	CHECK(patched(&s, &caller_system, QUEUES, "", "mcc", "{'spec':{'maxWalltime':'1h'}}"));
	p = (json_decref(p), make_child(&s, "batch/v1", "Job", j, "v1/pods", "j-2", ""));
	CHECK_STR(note(p, WALLTIME_ANNOTATION), "01:00:00");
	CHECK_INT(jsonx_int_or(p, "spec.activeDeadlineSeconds", -1), 3600);
	CHECK(!patched(&s, &caller_system, "v1/pods", "default", "p0", "{'metadata':{" FOR_("9d") "}}"));
	CHECK_INT(s.code, 422);
	server_done(&s);
}

TEST("what a queue's limits can never hold is refused: a pod, a template, a gang in sum")
{
#define ASKS(gpus_)                                                                                                    \
	"'containers':[{'name':'tensorflow','image':'host','resources':{'limits':{'nvidia.com/gpu':" gpus_ "}}}]"
#define GANG(name_, workers_)                                                                                          \
	"{'metadata':{'name':'" name_                                                                                  \
	"'," IN_("mcc") "},'spec':{'tfReplicaSpecs':{'Worker':{'replicas':" workers_ ",'template':{'spec':{" ASKS(     \
		"2") "}}},'PS':{'replicas':1,'template':{'spec':{'containers':[{'name':"                               \
		     "'tensorflow','image':'host'}]}}}}}}"
	struct server s = lab_new();

	make_queue(&s, "mcc", "'limits':{'total':{'gpus':8},'perUser':{'gpus':4}}");
	CHECK(!made(&s, &ci, "v1/pods", "{'metadata':{'name':'p'," IN_("mcc") "},'spec':{" ASKS("5") "}}"));
	CHECK_INT(s.code, 403);
	CHECK_STR(s.message,
		  "pods \"p\" is forbidden: queue mcc allows each user 4 GPUs and this needs 5: it could never "
		  "start");
	CHECK(made(&s, &ci, "v1/pods", "{'metadata':{'name':'p'," IN_("mcc") "},'spec':{" ASKS("4") "}}"));
	CHECK(!made(&s, &ci, JOBS,
		    "{'metadata':{'name':'j'," IN_("mcc") "},'spec':{'parallelism':1,'template':{'spec':{"
							  "'restartPolicy':'Never'," ASKS("9") "}}}}"));
	CHECK(strstr(s.message, "queue mcc allows 8 GPUs in all and this needs 9") != NULL);
	CHECK(made(&s, &ci, JOBS,
		   "{'metadata':{'name':'j'," IN_("mcc") "},'spec':{'parallelism':9,'template':{'spec':{"
							 "'restartPolicy':'Never'," ASKS("1") "}}}}"));
	CHECK(!made(&s, &ci, TFJOBS, GANG("g", "3")));
	CHECK_STR(s.message,
		  "tfjobs.kubeflow.org \"g\" is forbidden: queue mcc allows each user 4 GPUs and this needs 6: "
		  "it could never start");
	CHECK(made(&s, &ci, TFJOBS, GANG("g", "2")));
	/* A limit that is lower by now does not touch what is in the queue, only what changes. */
	CHECK(patched(&s, &caller_system, QUEUES, "", "mcc", "{'spec':{'limits':{'perUser':{'gpus':1}}}}"));
	CHECK(patched(&s, &caller_system, TFJOBS, "default", "g", "{'metadata':{'labels':{'a':'b'}}}"));
	CHECK(!patched(&s, &ci, TFJOBS, "default", "g", "{'spec':{'tfReplicaSpecs':{'Worker':{'replicas':1}}}}"));
	server_done(&s);
}

TEST("what a queue's quota and what it may borrow can never hold is refused")
{
	struct server s = lab_new();

	make_queue(&s, "own", "'quota':{'gpus':2}");
	make_queue(&s, "a", "'quota':{'gpus':2},'cohort':'c','borrowingLimit':{'gpus':1}");
	make_queue(&s, "b", "'quota':{'gpus':4},'cohort':'c'");
	CHECK(!made(&s, &ci, "v1/pods", "{'metadata':{'name':'p'," IN_("own") "},'spec':{" ASKS("3") "}}"));
	CHECK_INT(s.code, 403);
	CHECK_STR(s.message,
		  "pods \"p\" is forbidden: queue own may use 2 GPUs, its quota, and this needs 3: it could never "
		  "start");
	CHECK(made(&s, &ci, "v1/pods", "{'metadata':{'name':'p'," IN_("own") "},'spec':{" ASKS("2") "}}"));
	CHECK(!made(&s, &ci, "v1/pods", "{'metadata':{'name':'q'," IN_("a") "},'spec':{" ASKS("4") "}}"));
	CHECK_STR(s.message,
		  "pods \"q\" is forbidden: queue a may use 3 GPUs with what it may borrow and this needs 4: it could "
		  "never start");
	CHECK(made(&s, &ci, "v1/pods", "{'metadata':{'name':'q'," IN_("a") "},'spec':{" ASKS("3") "}}"));
	CHECK(!made(&s, &ci, "v1/pods", "{'metadata':{'name':'r'," IN_("b") "},'spec':{" ASKS("7") "}}"));
	CHECK(strstr(s.message, "cohort c has 6 GPUs in all and this needs 7: it could never start") != NULL);
	CHECK(made(&s, &ci, "v1/pods", "{'metadata':{'name':'r'," IN_("b") "},'spec':{" ASKS("6") "}}"));
	server_done(&s);
}

TEST("so many jobs in a queue and no more: in all, per user, in one turn, across a restart")
{
	struct server s = lab_new();
	int n = 0;

	CHECK(made_job(&s, &ci, "before", IN("batch"), ""));
	make_queue(&s, "mcc", "'limits':{'total':{'queued':3},'perUser':{'queued':2}}");
	s.batch = true;
	for (int i = 0; i < 5; i++) {
		auto_free char *name = xasprintf("j%d", i);

		n += made_job(&s, &ci, name, IN("mcc"), "");
		CHECK(!made_job(&s, &ci, "bad", IN("mcc"), "'parallelism':-1,"));
	}
	CHECK_INT(n, 2);
	CHECK(!made_job(&s, &ci, "x", IN("mcc"), ""));
	CHECK_STR(s.message,
		  "jobs.batch \"x\" is forbidden: queue mcc allows each user 2 jobs in the queue, ci has 2 and "
		  "this needs 1");
	s.batch = false;
	server_turn(&s);
	CHECK(made_pod(&s, &daemon_user, "p", IN("mcc"), ""));
	CHECK(!made_pod(&s, &daemon_user, "q", IN("mcc"), ""));
	CHECK(strstr(s.message, "queue mcc allows 3 jobs in the queue in all, 3 in use and this needs 1") != NULL);
	server_close(&s);
	server_open(&s);
	CHECK(!made_pod(&s, &daemon_user, "q", IN("mcc"), ""));
	/* What has ended, has moved or is gone makes room. */
	server_do(&s, VERB_DELETE, "v1/pods", "default", "p", NULL);
	CHECK(made_pod(&s, &daemon_user, "q", IN("mcc"), ""));
	CHECK(!made_pod(&s, &daemon_user, "r", IN("mcc"), ""));
	CHECK(patched(&s, &ci, JOBS, "default", "j0", "{'metadata':{" IN_("batch") "}}"));
	CHECK(made_pod(&s, &daemon_user, "r", IN("mcc"), ""));
	CHECK(!patched(&s, &ci, JOBS, "default", "j0", "{'metadata':{" IN_("mcc") "}}"));
	struct api_request status = server_request(&s, VERB_PATCH, "v1/pods", "default", "r");
	status.patch = PATCH_MERGE;
	status.subresource = "status";
	json_auto_t *ended = server_call(&s, &status, "{'status':{'phase':'Failed'}}");
	CHECK(ended != NULL);
	CHECK(patched(&s, &ci, JOBS, "default", "j0", "{'metadata':{" IN_("mcc") "}}"));
	server_done(&s);
}

TEST("a turn that fails takes no room in a queue")
{
	struct server s = lab_new();

	make_queue(&s, "mcc", "'limits':{'total':{'queued':2}}");
	CHECK(made_job(&s, &ci, "a", IN("mcc"), ""));
	s.batch = true;
	CHECK(made_job(&s, &ci, "b", IN("mcc"), ""));
	CHECK(!made_job(&s, &ci, "c", IN("mcc"), ""));
	vfs_fail(s.store->vfs, &(struct store_fail){ .writes = true, .after = 1, .code = SQLITE_FULL });
	server_turn(&s);
	vfs_fail(s.store->vfs, &(struct store_fail){ 0 });
	s.store->full_timer.fire(s.store);
	s.batch = false;
	CHECK(made_job(&s, &ci, "c", IN("mcc"), ""));
	CHECK(!made_job(&s, &ci, "d", IN("mcc"), ""));
	server_done(&s);
}

TEST("holds of operators are theirs to set and to lift")
{
#define HOLD_(what_) "'annotations':{'stoker.dev/hold':'" what_ "'}"
#define HOLD(what_)  HOLD_(what_) ","
	struct server s = lab_new();

	CHECK(made_pod(&s, &ci, "p", HOLD("user"), ""));
	CHECK(!made_pod(&s, &ci, "q", HOLD("user, operator"), ""));
	CHECK_INT(s.code, 403);
	CHECK(strstr(s.message, "only who may update queues sets or lifts the holds operator and system") != NULL);
	CHECK(!made_job(&s, &ci, "q", HOLD("system"), ""));
	CHECK(patched(&s, &caller_system, "v1/pods", "default", "p", "{'metadata':{" HOLD_("operator") "}}"));
	CHECK(!patched(&s, &ci, "v1/pods", "default", "p", "{'metadata':{" HOLD_("user") "}}"));
	CHECK(patched(&s, &ci, "v1/pods", "default", "p", "{'metadata':{" HOLD_("user,operator") "}}"));
	server_do(&s, VERB_CREATE, "rbac.authorization.k8s.io/v1/clusterroles", "", NULL,
		  "{'metadata':{'name':'op'},'rules':[{'apiGroups':['stoker.dev'],'resources':['queues'],'verbs':"
		  "['update']}]}");
	server_do(&s, VERB_CREATE, "rbac.authorization.k8s.io/v1/clusterrolebindings", "", NULL,
		  "{'metadata':{'name':'op'},'roleRef':{'apiGroup':'rbac.authorization.k8s.io','kind':'ClusterRole',"
		  "'name':'op'},'subjects':[{'kind':'User','name':'ci','apiGroup':'rbac.authorization.k8s.io'}]}");
	CHECK(patched(&s, &ci, "v1/pods", "default", "p", "{'metadata':{" HOLD_("user") "}}"));
	server_done(&s);
}

TEST("a Route leads to the first queue that takes the work")
{
	struct server s = lab_new();
	auto_free char *long_one = job("a", IN("in"), "'activeDeadlineSeconds':7200,");
	auto_free char *short_one = job("b", IN("in"), "'activeDeadlineSeconds':60,");
	json_auto_t *a = NULL, *b = NULL;

	make_queue(&s, "short", "'maxWalltime':'1h','fromRouteOnly':true");
	make_queue(&s, "long", "'maxWalltime':'1d'");
	make_queue(&s, "in", "'type':'Route','destinations':['short','long@server']");
	make_queue(&s, "ring", "'type':'Route','destinations':['ring']");
	a = make_as(&s, &ci, JOBS, long_one);
	b = make_as(&s, &ci, JOBS, short_one);
	CHECK_STR(queue_of(a), "long");
	CHECK_STR(queue_of(b), "short");
	CHECK(!made_job(&s, &ci, "c", IN("short"), ""));
	CHECK(strstr(s.message, "queue short takes work only from other queues") != NULL);
	CHECK(!made_job(&s, &ci, "c", IN("in"), "'activeDeadlineSeconds':100000,"));
	CHECK(strstr(s.message, "queue long allows at most 24:00:00") != NULL);
	CHECK(!made_job(&s, &ci, "c", IN("ring"), ""));
	CHECK(strstr(s.message, "queue ring leads nowhere") != NULL);
	server_done(&s);
}

TEST("a Route to queues that are not there is made with a warning, and says so when work comes")
{
	struct server s = lab_new();

	make_queue(&s, "long", "'maxWalltime':'1d'");
	CHECK(!s.warnings);
	make_queue(&s, "in", "'type':'Route','destinations':['long','lnog','in']");
	CHECK_INT(json_array_size(s.warnings), 2);
	CHECK_STR(json_string_value(json_array_get(s.warnings, 0)),
		  "spec.destinations[1]: there is no such queue: nothing is passed on to it before there is one");
	CHECK_STR(json_string_value(json_array_get(s.warnings, 1)),
		  "spec.destinations[2]: a queue cannot pass work on to itself");
	make_queue(&s, "lost", "'type':'Route','destinations':['lnog']");
	CHECK(!made_job(&s, &ci, "c", IN("lost"), ""));
	CHECK(strstr(s.message, "queue lost passes work on to queue lnog, which does not exist, only batch, ") != NULL);
	make_queue(&s, "lnog", "");
	CHECK(!s.warnings);
	CHECK(made_job(&s, &ci, "c", IN("lost"), ""));
	server_done(&s);
}
