// SPDX-License-Identifier: Apache-2.0
#include "api/limit_range.h"
#include "server.h"

#define RANGES "v1/limitranges"
#define PODS   "v1/pods"
#define CLAIMS "v1/persistentvolumeclaims"
#define CLAIM(name_, size_)                                                                                            \
	"{'metadata':{'name':'" name_                                                                                  \
	"'},'spec':{'accessModes':['ReadWriteOnce'],'resources':{'requests':{'storage':'" size_ "'}}}}"

static void make_range(struct server *s, const char *name, const char *limits)
{
	auto_free char *body = xasprintf("{'metadata':{'name':'%s'},'spec':{'limits':[%s]}}", name, limits);

	server_do(s, VERB_CREATE, RANGES, "default", NULL, body);
}

static json_t *make_pod(struct server *s, const char *resources)
{
	auto_free char *body = xasprintf("{'metadata':{'generateName':'p-'},'spec':{'containers':[{'name':'c','image':"
					 "'host','resources':{%s}}]}}",
					 resources);

	return server_ask(s, VERB_CREATE, PODS, "default", NULL, body);
}

/* Every complaint of one item about one object, joined by " | ". */
static char *complaints(const char *plural, const char *item, const char *obj)
{
	auto_free char *text = xasprintf("{'spec':{'limits':[%s]}}", item);
	json_auto_t *range = sample_json(text);
	json_auto_t *doc = sample_json(obj);
	json_auto_t *wrong = limit_rules_check(range, plural, doc);
	struct sbuf all = SBUF(4096);
	json_t *v;
	size_t i;

	json_array_foreach (wrong, i, v)
		sbuf_addf(&all, "%s%s", i ? " | " : "", json_string_value(v));
	return sbuf_steal(&all);
}

TEST("containers, pods and claims are held against their bounds in Kubernetes' words")
{
#define C(resources)   "{'name':'c','resources':{" resources "}}"
#define ONE(resources) "{'spec':{'containers':[" C(resources) "]}}"
#define TWO(resources) "{'spec':{'containers':[" C(resources) "," C(resources) "]}}"
	static const char min[] = "{'type':'Container','min':{'cpu':'100m'}}";
	static const char max[] = "{'type':'Container','max':{'cpu':'1'}}";
	static const char ratio[] = "{'type':'Container','maxLimitRequestRatio':{'cpu':'2'}}";
	static const char pod_max[] = "{'type':'Pod','max':{'cpu':'1','memory':'1Gi'}}";
	static const char size[] = "{'type':'PersistentVolumeClaim','min':{'storage':'1Gi'},'max':{'storage':'2Gi'}}";
	static const struct {
		const char *plural, *item, *obj, *want;
	} rows[] = {
		{ "pods", min, ONE("'requests':{'cpu':'100m'}"), "" },
		{ "pods", min, ONE(""), "minimum cpu usage per Container is 100m.  No request is specified" },
		{ "pods", min, ONE("'requests':{'cpu':'50m'}"),
		  "minimum cpu usage per Container is 100m, but request is 50m" },
		{ "pods", min, ONE("'requests':{'cpu':'100m'},'limits':{'cpu':'50m'}"),
		  "minimum cpu usage per Container is 100m, but limit is 50m" },
		{ "pods", max, ONE("'limits':{'cpu':'1'}"), "" },
		{ "pods", max, ONE("'requests':{'cpu':'1'}"),
		  "maximum cpu usage per Container is 1.  No limit is specified" },
		{ "pods", max, ONE("'limits':{'cpu':'2'}"), "maximum cpu usage per Container is 1, but limit is 2" },
		{ "pods", max, TWO("'limits':{'cpu':'2'}"), "maximum cpu usage per Container is 1, but limit is 2" },
		{ "pods", max, ONE("'limits':{'cpu':'1'},'requests':{'cpu':'1500m'}"),
		  "maximum cpu usage per Container is 1, but request is 1500m" },
		{ "pods", max,
		  "{'spec':{'containers':[" C("'limits':{'cpu':'1'}") "],'initContainers':[" C(
			  "'limits':{'cpu':'3'}") "]}}",
		  "maximum cpu usage per Container is 1, but limit is 3" },
		{ "pods", ratio, ONE("'requests':{'cpu':'1'},'limits':{'cpu':'2'}"), "" },
		{ "pods", ratio, ONE("'requests':{'cpu':'500m'},'limits':{'cpu':'2'}"),
		  "cpu max limit to request ratio per Container is 2, but provided ratio is 4.000000" },
		{ "pods", ratio, ONE("'limits':{'cpu':'2'}"),
		  "cpu max limit to request ratio per Container is 2, but no request is specified or request is 0" },
		{ "pods", ratio, ONE("'requests':{'cpu':'1'}"),
		  "cpu max limit to request ratio per Container is 2, but no limit is specified or limit is 0" },
		{ "pods", pod_max, TWO("'limits':{'cpu':'500m','memory':'512Mi'}"), "" },
		{ "pods", pod_max, TWO("'limits':{'cpu':'600m','memory':'1Gi'}"),
		  "maximum cpu usage per Pod is 1, but limit is 1200m | maximum memory usage per Pod is 1Gi, but limit "
		  "is "
		  "2Gi" },
		{ "pods", pod_max,
		  "{'spec':{'containers':[" C("'limits':{'cpu':'1','memory':'1'}") "],'initContainers':[" C(
			  "'limits':{'cpu':'2'}") "]}}",
		  "maximum cpu usage per Pod is 1, but limit is 2" },
		{ "pods", "{'type':'Container','max':{'nvidia.com/gpu':1}}",
		  ONE("'limits':{'alpha.kubernetes.io/nvidia-gpu':'2'}"),
		  "maximum nvidia.com/gpu usage per Container is 1, but limit is 2" },
		{ "pods", size, ONE(""), "" },
		{ "persistentvolumeclaims", max, "{'spec':{}}", "" },
		{ "persistentvolumeclaims", size, "{'spec':{'resources':{'requests':{'storage':'1Gi'}}}}", "" },
		{ "persistentvolumeclaims", size, "{'spec':{'resources':{'requests':{'storage':'1Mi'}}}}",
		  "minimum storage usage per PersistentVolumeClaim is 1Gi, but request is 1Mi" },
		{ "persistentvolumeclaims", size, "{'spec':{'resources':{'requests':{'storage':'3Gi'}}}}",
		  "maximum storage usage per PersistentVolumeClaim is 2Gi, but request is 3Gi" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		auto_free char *got = complaints(rows[i].plural, rows[i].item, rows[i].obj);

		CHECK_STR(got, rows[i].want);
	}
}

TEST("a pod gets the defaults that it lacks, and an annotation says which")
{
	struct server s = server_new();
	json_auto_t *pod = NULL, *own = NULL;
	const json_t *c;

	make_range(&s, "r",
		   "{'type':'Container','default':{'cpu':'500m','memory':'64Mi'},'defaultRequest':{'cpu':'250m'}}");
	pod = server_ask(
		&s, VERB_CREATE, PODS, "default", NULL,
		"{'metadata':{'name':'p'},'spec':{'initContainers':[{'name':'i','image':'host'}],'containers':[{"
		"'name':'c','image':'host','resources':{'limits':{'cpu':'400m'}}}]}}");
	c = json_array_get(jsonx_at(pod, "spec.containers"), 0);
	CHECK_STR(jsonx_str_or(c, "resources.limits.cpu", ""), "400m");
	CHECK_STR(jsonx_str_or(c, "resources.requests.cpu", ""), "400m"); /* from its own limit */
	CHECK_STR(jsonx_str_or(c, "resources.limits.memory", ""), "64Mi");
	CHECK_STR(jsonx_str_or(c, "resources.requests.memory", ""), "64Mi");
	c = json_array_get(jsonx_at(pod, "spec.initContainers"), 0);
	CHECK_STR(jsonx_str_or(c, "resources.requests.cpu", ""), "250m");
	CHECK_STR(
		json_string_value(json_object_get(jsonx_at(pod, "metadata.annotations"), "kubernetes.io/limit-ranger")),
		"LimitRanger plugin set: memory request for container c; memory limit for container c; cpu, memory "
		"request for init container i; cpu, memory limit for init container i");
	CHECK_STR(jsonx_str_or(pod, "status.qosClass", ""), "Burstable");
	own = make_pod(&s, "'limits':{'cpu':1,'memory':1}");
	CHECK(own && !jsonx_at(own, "metadata.annotations"));
	CHECK_STR(jsonx_str_or(own, "status.qosClass", ""), "Guaranteed");
	server_done(&s);
}

TEST("defaults count for validation and for quotas")
{
	struct server s = server_new();

	make_range(&s, "r", "{'type':'Container','default':{'cpu':'1'}}");
	CHECK(!make_pod(&s, "'requests':{'cpu':'2'}"));
	CHECK_INT(s.code, 422);
	CHECK(strstr(s.message, "must be less than or equal to cpu limit of 1"));
	server_do(&s, VERB_CREATE, "v1/resourcequotas", "default", NULL,
		  "{'metadata':{'name':'q'},'spec':{'hard':{'limits.cpu':'1500m'}}}");
	json_decref(make_pod(&s, ""));
	CHECK_INT(s.code, 201);
	CHECK(!make_pod(&s, ""));
	CHECK(strstr(s.message,
		     "exceeded quota: q, requested: limits.cpu=1, used: limits.cpu=1, limited: limits.cpu=1500m"));
	server_done(&s);
}

TEST("what is out of bounds is refused with everything that is wrong, and changes of the bounds hold at once")
{
	struct server s = server_new();

	make_range(&s, "r", "{'type':'Container','max':{'cpu':'1','memory':'1Gi'}}");
	CHECK(!make_pod(&s, "'limits':{'cpu':'2','memory':'2Gi'}"));
	CHECK_INT(s.code, 403);
	CHECK(str_starts(s.message, "pods \"p-"));
	CHECK(str_ends(s.message,
		       "\" is forbidden: [maximum cpu usage per Container is 1, but limit is 2, maximum memory "
		       "usage per Container is 1Gi, but limit is 2Gi]"));
	s.batch = true;
	server_do(&s, VERB_DELETE, RANGES, "default", "r", NULL);
	make_range(&s, "b", "{'type':'Pod','max':{'cpu':'3'}}");
	json_decref(make_pod(&s, "'limits':{'cpu':'2','memory':'2Gi'}"));
	CHECK_INT(s.code, 201);
	CHECK(!make_pod(&s, "'limits':{'cpu':'4'}"));
	CHECK(str_ends(s.message, "\" is forbidden: maximum cpu usage per Pod is 3, but limit is 4"));
	server_turn(&s);
	server_done(&s);
}

TEST("a claim is held against its bounds when its size is new, not when anything else is")
{
	struct server s = server_new();
	struct api_request req = server_request(&s, VERB_PATCH, CLAIMS, "default", "a");

	server_do(&s, VERB_CREATE, CLAIMS, "default", NULL, CLAIM("a", "9Gi"));
	make_range(&s, "r", "{'type':'PersistentVolumeClaim','max':{'storage':'2Gi'}}");
	CHECK(!server_ask(&s, VERB_CREATE, CLAIMS, "default", NULL, CLAIM("b", "3Gi")));
	CHECK_STR(s.message,
		  "persistentvolumeclaims \"b\" is forbidden: maximum storage usage per PersistentVolumeClaim "
		  "is 2Gi, but request is 3Gi");
	req.patch = PATCH_MERGE;
	json_decref(server_call(&s, &req, "{'metadata':{'labels':{'a':'b'}}}"));
	CHECK_INT(s.code, 200);
	server_done(&s);
}
