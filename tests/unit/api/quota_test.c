// SPDX-License-Identifier: Apache-2.0
#include "base/clock.h"
#include "kinds/quantity.h"
#include "server.h"
#include "store/store_impl.h"

#define QUOTAS "v1/resourcequotas"
#define PODS   "v1/pods"
#define CLAIMS "v1/persistentvolumeclaims"
#define POD(name_, spec_, resources_)                                                                                  \
	"{'metadata':{'name':'" name_ "'},'spec':{" spec_                                                              \
	"'containers':[{'name':'c','image':'host','resources':{" resources_ "}}]}}"
#define ASKS(cpu_, memory_) "'requests':{'cpu':'" cpu_ "','memory':'" memory_ "'}"

static void make_quota(struct server *s, const char *name, const char *spec)
{
	auto_free char *body = xasprintf("{'metadata':{'name':'%s'},'spec':{%s}}", name, spec);

	server_do(s, VERB_CREATE, QUOTAS, "default", NULL, body);
}

static bool make(struct server *s, const char *what, const char *body)
{
	json_auto_t *made = server_ask(s, VERB_CREATE, what, "default", NULL, body);

	return made != NULL;
}

static bool make_pod(struct server *s, const char *name)
{
	auto_free char *body = xasprintf(SERVER_POD, name);

	return make(s, PODS, body);
}

static json_t *patch(struct server *s, const char *what, const char *name, const char *subresource, const char *body)
{
	struct api_request req = server_request(s, VERB_PATCH, what, "default", name);

	req.patch = PATCH_MERGE;
	req.subresource = subresource;
	return server_call(s, &req, body);
}

static bool patched(struct server *s, const char *what, const char *name, const char *subresource, const char *body)
{
	json_auto_t *answer = patch(s, what, name, subresource, body);

	return answer != NULL;
}

/* status.used of one name, in a buffer for the test to look at. */
static const char *used(struct server *s, const char *quota, const char *name)
{
	static char text[QUANTITY_TEXT];
	json_auto_t *obj = server_ask(s, VERB_GET, QUOTAS, "default", quota, NULL);
	const char *v = json_string_value(json_object_get(jsonx_at(obj, "status.used"), name));

	snprintf(text, sizeof(text), "%s", v ? v : "none");
	return text;
}

static const char *version(struct server *s, const char *quota)
{
	static char text[32];
	json_auto_t *obj = server_ask(s, VERB_GET, QUOTAS, "default", quota, NULL);

	snprintf(text, sizeof(text), "%s", jsonx_str_or(obj, "metadata.resourceVersion", ""));
	return text;
}

TEST("what is over a quota is refused in Kubernetes' words, and the status tells what is used")
{
	struct server s = server_new();

	make_quota(&s, "few", "'hard':{'pods':2}");
	CHECK_STR(used(&s, "few", "pods"), "0");
	CHECK(make_pod(&s, "a") && make_pod(&s, "b"));
	CHECK_STR(used(&s, "few", "pods"), "2");
	CHECK(!make_pod(&s, "x"));
	CHECK_INT(s.code, 403);
	CHECK_STR(s.message, "pods \"x\" is forbidden: exceeded quota: few, requested: pods=1, used: pods=2, limited: "
			     "pods=2");
	server_do(&s, VERB_DELETE, PODS, "default", "a", NULL);
	CHECK_STR(used(&s, "few", "pods"), "1");
	CHECK(make_pod(&s, "x"));
	server_done(&s);
}

TEST("every amount that is too large is named, and only those")
{
	struct server s = server_new();

	make_quota(&s, "q", "'hard':{'requests.cpu':'2','requests.memory':'1Gi','pods':9}");
	CHECK(make(&s, PODS, POD("a", "", ASKS("1500m", "512Mi"))));
	CHECK(!make(&s, PODS, POD("b", "", ASKS("600m", "768Mi"))));
	CHECK_STR(s.message, "pods \"b\" is forbidden: exceeded quota: q, requested: requests.cpu=600m,requests.memory="
			     "768Mi, used: requests.cpu=1500m,requests.memory=512Mi, limited: requests.cpu=2,"
			     "requests.memory=1Gi");
	CHECK(!make(&s, PODS, POD("b", "", ASKS("600m", "1Mi"))));
	CHECK_STR(s.message, "pods \"b\" is forbidden: exceeded quota: q, requested: requests.cpu=600m, used: "
			     "requests.cpu=1500m, limited: requests.cpu=2");
	CHECK(make(&s, PODS, POD("b", "", ASKS("500m", "512Mi"))));
	CHECK_STR(used(&s, "q", "requests.cpu"), "2");
	CHECK_STR(used(&s, "q", "requests.memory"), "1Gi");
	server_done(&s);
}

TEST("a pod must say what it needs of cpu and memory where those are rationed")
{
	struct server s = server_new();

	make_quota(&s, "q", "'hard':{'limits.cpu':2,'memory':'1Gi','requests.nvidia.com/gpu':1}");
	CHECK(!make(
		&s, PODS,
		"{'metadata':{'name':'p'},'spec':{'initContainers':[{'name':'b','image':'host'}],'containers':[{'name'"
		":'c','image':'host','resources':{'requests':{'memory':'1Mi'}}},{'name':'a','image':'host'}]}}"));
	CHECK_INT(s.code, 403);
	CHECK_STR(s.message,
		  "pods \"p\" is forbidden: failed quota: q: must specify limits.cpu for: a,b,c; memory for: "
		  "a,b");
	CHECK(make(&s, PODS, POD("p", "", "'limits':{'cpu':1},'requests':{'memory':'1Mi'}")));
	server_done(&s);
}

TEST("creates of one turn see each other, and a write that fails takes nothing")
{
	struct server s = server_new();
	struct api_request dry = server_request(&s, VERB_CREATE, PODS, "default", NULL);
	const char *before;
	int made = 0;

	make_quota(&s, "few", "'hard':{'pods':10}");
	before = version(&s, "few");
	s.batch = true;
	for (int i = 0; i < 40; i++) {
		auto_free char *name = xasprintf("p%d", i);
		auto_free char *body = xasprintf(SERVER_POD, name);

		dry.dry_run = true;
		json_decref(server_call(&s, &dry, body));
		CHECK_INT(s.code, made < 10 ? 201 : 403);
		made += make_pod(&s, name);
		CHECK(!make(&s, PODS, "{'metadata':{'name':'bad'},'spec':{}}")); /* invalid */
	}
	CHECK_INT(made, 10);
	CHECK_STR(used(&s, "few", "pods"), "0"); /* told once, with the commit */
	s.batch = false;
	server_turn(&s);
	CHECK_STR(used(&s, "few", "pods"), "10");
	CHECK(!streq(before, "") && !make_pod(&s, "more"));
	server_done(&s);
}

TEST("many creates of a turn are one write of the status")
{
	struct server s = server_new();
	int64_t before;

	make_quota(&s, "few", "'hard':{'pods':50}");
	CHECK(make_pod(&s, "first")); /* which brings what all pods of a namespace share */
	before = store_revision(s.store);
	s.batch = true;
	for (int i = 0; i < 20; i++) {
		auto_free char *name = xasprintf("p%d", i);

		CHECK(make_pod(&s, name));
	}
	server_turn(&s);
	CHECK_INT(store_revision(s.store) - before, 21);
	server_settle(&s);
	CHECK_INT(store_revision(s.store) - before, 21);
	CHECK(patched(&s, PODS, "p3", "status", "{'status':{'message':'nothing that counts'}}"));
	server_settle(&s);
	CHECK_INT(store_revision(s.store) - before, 22);
	server_done(&s);
}

TEST("ended pods count no more, but for count/pods")
{
	struct server s = server_new();

	make_quota(&s, "q", "'hard':{'pods':1,'count/pods':2}");
	CHECK(make_pod(&s, "a"));
	CHECK(!make_pod(&s, "b"));
	CHECK(patched(&s, PODS, "a", "status", "{'status':{'phase':'Succeeded'}}"));
	CHECK_STR(used(&s, "q", "pods"), "0");
	CHECK_STR(used(&s, "q", "count/pods"), "1");
	CHECK(make_pod(&s, "b"));
	CHECK(patched(&s, PODS, "b", "status", "{'status':{'phase':'Failed'}}"));
	CHECK(!make_pod(&s, "c"));
	CHECK(strstr(s.message, "requested: count/pods=1, used: count/pods=2, limited: count/pods=2"));
	server_done(&s);
}

TEST("a quota made in a full namespace counts what is there, and a raised one lets more in")
{
	struct server s = server_new();

	CHECK(make_pod(&s, "a") && make_pod(&s, "b") && make_pod(&s, "c"));
	server_make_map(&s, "m", "{}");
	make_quota(&s, "q", "'hard':{'pods':2,'configmaps':5}");
	CHECK_STR(used(&s, "q", "pods"), "3");
	CHECK_STR(used(&s, "q", "configmaps"), "1");
	CHECK(!make_pod(&s, "d"));
	server_make_map(&s, "n", "{}");
	CHECK_STR(used(&s, "q", "configmaps"), "2");
	CHECK(patched(&s, QUOTAS, "q", NULL, "{'spec':{'hard':{'pods':'4'}}}"));
	CHECK(make_pod(&s, "d"));
	CHECK(!make_pod(&s, "e"));
	CHECK(patched(&s, QUOTAS, "q", NULL, "{'spec':{'hard':{'configmaps':null,'secrets':'1'}}}"));
	CHECK_STR(used(&s, "q", "configmaps"), "none");
	CHECK_STR(used(&s, "q", "secrets"), "0");
	CHECK_STR(used(&s, "q", "pods"), "4");
	server_do(&s, VERB_DELETE, QUOTAS, "default", "q", NULL);
	CHECK(make_pod(&s, "e"));
	server_done(&s);
}

TEST("updates that take more are checked, and those that give back are welcome")
{
#define CLAIM(size) "'resources':{'requests':{'storage':'" size "'}}"
	struct server s = server_new();

	make_quota(&s, "q", "'hard':{'requests.storage':'10Gi','services.nodeports':1,'services.loadbalancers':0}");
	CHECK(make(&s, CLAIMS, "{'metadata':{'name':'c'},'spec':{'accessModes':['ReadWriteOnce']," CLAIM("6Gi") "}}"));
	CHECK(!make(&s, CLAIMS, "{'metadata':{'name':'d'},'spec':{'accessModes':['ReadWriteOnce']," CLAIM("5Gi") "}}"));
	CHECK_STR(s.message,
		  "persistentvolumeclaims \"d\" is forbidden: exceeded quota: q, requested: requests.storage="
		  "5Gi, used: requests.storage=6Gi, limited: requests.storage=10Gi");
	CHECK(make(&s, "v1/services",
		   "{'metadata':{'name':'s'},'spec':{'ports':[{'port':1,'name':'a'},{'port':2,'name':"
		   "'b'}]}}"));
	CHECK(!patched(&s, "v1/services", "s", NULL, "{'spec':{'type':'NodePort'}}"));
	CHECK_STR(s.message, "services \"s\" is forbidden: exceeded quota: q, requested: services.nodeports=2, used: "
			     "services.nodeports=0, limited: services.nodeports=1");
	CHECK(patched(&s, "v1/services", "s", NULL, "{'spec':{'type':'NodePort','ports':[{'port':1}]}}"));
	CHECK_STR(used(&s, "q", "services.nodeports"), "1");
	CHECK(!patched(&s, "v1/services", "s", NULL, "{'spec':{'type':'LoadBalancer'}}"));
	CHECK(patched(&s, QUOTAS, "q", NULL, "{'spec':{'hard':{'services.nodeports':'0'}}}"));
	CHECK(patched(&s, "v1/services", "s", NULL, "{'metadata':{'labels':{'a':'b'}}}"));
	CHECK(patched(&s, "v1/services", "s", NULL, "{'spec':{'type':'ClusterIP'}}"));
	CHECK_STR(used(&s, "q", "services.nodeports"), "0");
	server_done(&s);
}

TEST("a deadline moves a pod from one scope into another")
{
	struct server s = server_new();

	make_quota(&s, "short", "'hard':{'pods':1},'scopes':['Terminating']");
	make_quota(&s, "long", "'hard':{'pods':5},'scopes':['NotTerminating']");
	CHECK(make_pod(&s, "a") && make_pod(&s, "b"));
	CHECK(patched(&s, PODS, "a", NULL, "{'spec':{'activeDeadlineSeconds':60}}"));
	CHECK_STR(used(&s, "short", "pods"), "1");
	CHECK_STR(used(&s, "long", "pods"), "1");
	CHECK(!patched(&s, PODS, "b", NULL, "{'spec':{'activeDeadlineSeconds':60}}"));
	CHECK_STR(s.message,
		  "pods \"b\" is forbidden: exceeded quota: short, requested: pods=1, used: pods=1, limited: "
		  "pods=1");
	server_done(&s);
}

TEST("objects of any kind are counted, also of kinds that come later")
{
	static const char crd[] =
		"{'metadata':{'name':'toys.example.com'},'spec':{'group':'example.com','scope':'Namespaced','names':{"
		"'plural':'toys','singular':'toy','kind':'Toy','listKind':'ToyList'},'versions':[{'name':'v1','served':"
		"true,"
		"'storage':true,'schema':{'openAPIV3Schema':{'type':'object'}}}]}}";
	struct server s = server_new();

	make_quota(&s, "q",
		   "'hard':{'count/toys.example.com':1,'count/jobs.batch':0,'resourcequotas':1,'count/events':0}");
	CHECK_STR(used(&s, "q", "resourcequotas"), "1");
	CHECK(!make(&s, QUOTAS, "{'metadata':{'name':'r'},'spec':{}}"));
	CHECK(!make(&s, "batch/v1/jobs",
		    "{'metadata':{'name':'j'},'spec':{'template':{'spec':{'restartPolicy':'Never',"
		    "'containers':[{'name':'c','image':'host'}]}}}}"));
	CHECK_STR(s.message, "jobs.batch \"j\" is forbidden: exceeded quota: q, requested: count/jobs.batch=1, used: "
			     "count/jobs.batch=0, limited: count/jobs.batch=0");
	CHECK(make(&s, "v1/events", "{'metadata':{'name':'e'},'involvedObject':{'namespace':'default'},'reason':'r'}"));
	server_do(&s, VERB_CREATE, "apiextensions.k8s.io/v1/customresourcedefinitions", "", NULL, crd);
	server_settle(&s);
	CHECK(make(&s, "example.com/v1/toys", "{'metadata':{'name':'a'}}"));
	CHECK(!make(&s, "example.com/v1/toys", "{'metadata':{'name':'b'}}"));
	CHECK_STR(used(&s, "q", "count/toys.example.com"), "1");
	server_done(&s);
}

TEST("a pod whose grace period is over counts no more, though it is still there")
{
	struct server s = server_new();
	int64_t now = clock_wall();

	clock_fake(now);
	make_quota(&s, "q", "'hard':{'pods':1}");
	CHECK(make_pod(&s, "a"));
	CHECK(make(&s, PODS, POD("x", "", "")) == false);
	{
		struct api_request bind = server_request(&s, VERB_CREATE, PODS, "default", "a");

		bind.subresource = "binding";
		json_decref(server_call(&s, &bind, "{'metadata':{'name':'a'},'target':{'kind':'Node','name':'gone'}}"));
		CHECK_STR(s.message, "");
	}
	server_do(&s, VERB_DELETE, PODS, "default", "a", NULL);
	CHECK_STR(used(&s, "q", "pods"), "1");
	clock_fake(now + 3600);
	server_close(&s);
	server_open(&s);
	server_settle(&s);
	CHECK_STR(used(&s, "q", "pods"), "0");
	CHECK(make_pod(&s, "b"));
	server_do(&s, VERB_DELETE, PODS, "default", "b", NULL);
	CHECK_STR(used(&s, "q", "pods"), "0");
	clock_fake(-1);
	server_done(&s);
}

TEST("a status that somebody else wrote is put right")
{
	struct server s = server_new();

	make_quota(&s, "q", "'hard':{'pods':1}");
	CHECK(make_pod(&s, "a"));
	CHECK(patched(&s, QUOTAS, "q", "status", "{'status':{'used':{'pods':'0'}}}"));
	server_turn(&s);
	CHECK_STR(used(&s, "q", "pods"), "1");
	CHECK(!make_pod(&s, "b"));
	server_done(&s);
}

TEST("quotas hold across a restart, and a status from before quotas were kept is filled in")
{
	struct server s = server_new();

	make_quota(&s, "q", "'hard':{'pods':2}");
	CHECK(make_pod(&s, "a") && make_pod(&s, "b"));
	server_close(&s);
	server_open(&s);
	CHECK(!make_pod(&s, "c"));
	CHECK_STR(used(&s, "q", "pods"), "2");
	server_done(&s);
}

TEST("a turn that fails gives back what it took")
{
	struct server s = server_new();

	make_quota(&s, "q", "'hard':{'pods':2}");
	CHECK(make_pod(&s, "a"));
	s.batch = true;
	CHECK(make_pod(&s, "b"));
	CHECK(!make_pod(&s, "c"));
	vfs_fail(s.store->vfs, &(struct store_fail){ .writes = true, .after = 1, .code = SQLITE_FULL });
	server_turn(&s);
	vfs_fail(s.store->vfs, &(struct store_fail){ 0 });
	s.store->full_timer.fire(s.store);
	s.batch = false;
	CHECK(!server_has(&s, PODS, "default", "b"));
	CHECK(make_pod(&s, "c"));
	CHECK(!make_pod(&s, "d"));
	server_settle(&s);
	CHECK_STR(used(&s, "q", "pods"), "2");
	server_done(&s);
}
