// SPDX-License-Identifier: Apache-2.0
/* Pods of PBS jobs on another cluster. */
#include "control/pbs_abroad.h"

#include "api/sample_json.h"
#include "base/jsonx.h"
#include "base/mem.h"
#include "control/pbs_parts.h"
#include "kinds/pbs_id.h"
#include "test.h"

static const char *find_node(void *arg, const char *word)
{
	(void)arg;
	return streq(word, "box") ? "box" : NULL;
}

static bool is_shared(void *arg, const char *path)
{
	(void)arg;
	return !streq(path, "/gone");
}

struct scene {
	json_t *job, *server, *groups;
	struct pbs_account account;
	struct pbs_abroad abroad;
	struct pbs_settings set;
	struct pbs_order o;
};

static void scene_init(struct scene *s, const char *spec, const char *server)
{
	auto_free char *text = xasprintf("{'metadata':{'name':'7','namespace':'anna','uid':'u'},"
					 "'status':{'sequence':7,'id':'7.head'},'spec':%s}",
					 spec);
	struct err e = ERR_INIT;

	*s = (struct scene){ .job = sample_json(text), .server = sample_json(server), .groups = sample_json("[5]") };
	s->account = (struct pbs_account){ .name = "anna", .home = "/home/anna", .uid = 1001, .gid = 100 };
	s->account.groups = s->groups;
	s->abroad = (struct pbs_abroad){ .account = &s->account, .node = find_node, .shared = is_shared };
	s->set = pbs_settings_of(s->server, NULL);
	s->set.abroad = &s->abroad;
	CHECK_INT(pbs_order_init(&s->o, s->job, &s->set, "1/7", &e), 0);
}

static void scene_done(struct scene *s)
{
	pbs_order_done(&s->o);
	json_decref(s->job);
	json_decref(s->server);
	json_decref(s->groups);
}

static const json_t *container(const json_t *pod)
{
	return json_array_get(jsonx_at(pod, "spec.containers"), 0);
}

static const char *word(const json_t *pod, size_t i)
{
	return json_string_value(json_array_get(json_object_get(container(pod), "command"), i));
}

static const char *env(const json_t *pod, const char *name)
{
	json_t *v;
	size_t i;

	json_array_foreach (json_object_get(container(pod), "env"), i, v)
		if (str_same(jsonx_str(v, "name"), name))
			return jsonx_str(v, "value");
	return NULL;
}

/* "/a /b(ro) ..." */
static void mounts(const json_t *pod, struct sbuf *out)
{
	json_t *v;
	size_t i;

	json_array_foreach (json_object_get(container(pod), "volumeMounts"), i, v)
		sbuf_addf(out, "%s%s%s", out->n ? " " : "", jsonx_str(v, "mountPath"),
			  jsonx_bool_or(v, "readOnly", false) ? "(ro)" : "");
}

TEST("a pod abroad has its user, its directories and a wrapper around the script")
{
	struct scene s;
	json_auto_t *pod = NULL;
	auto_sbuf struct sbuf where = SBUF(1024);

	scene_init(
		&s,
		"{'owner':'anna','image':'img','name':'n','script':'x','workingDir':'/ghome/w','arguments':['$(A) $$'],"
		"'resources':{'nodes':'1:ppn=2:gpus=2:box:fast'},'env':{'A':'$(B)','BASH_FUNC_m%%':'x'}}",
		"{'hostRoots':['/ghome','/gone'],'readOnlyRoots':['/gpub','/ghome/pub']}");
	pod = pbs_pod(&s.o, PBS_PLAIN, 0, 0);
	CHECK_JSON(jsonx_at(pod, "spec.securityContext"),
		   "{'runAsUser':1001,'runAsGroup':100,'runAsNonRoot':true,'supplementalGroups':[5]}");
	CHECK(jsonx_at(pod, "spec.runtimeClassName") == NULL);
	mounts(pod, &where);
	CHECK_STR(where.p, "/var/spool/pbs/aux /var/spool/pbs/spool(ro) /ghome /home/anna /gpub(ro)");
	CHECK_STR(jsonx_str(container(pod), "workingDir"), "/home/anna");
	CHECK_STR(word(pod, 4), "/ghome/w/n.o7");
	CHECK_STR(word(pod, 5), "/ghome/w/n.e7");
	CHECK_STR(word(pod, 7), "077");
	CHECK_STR(word(pod, 9), "/bin/bash");
	CHECK_STR(word(pod, 10), "/var/spool/pbs/spool/7.head.SC");
	CHECK_STR(word(pod, 11), "$$(A) $$$$");
	CHECK_STR(env(pod, "A"), "$$(B)");
	CHECK_STR(env(pod, "PBS_NODEFILE"), "/var/spool/pbs/aux/7.head");
	CHECK_STR(env(pod, "CUDA_VISIBLE_DEVICES"), "1,0");
	CHECK_STR(env(pod, "PBS_NP"), "2");
	CHECK(env(pod, "BASH_FUNC_m%%") == NULL);
	CHECK(env(pod, "PATH") == NULL);
	CHECK_JSON(jsonx_at(pod, "spec.nodeSelector"), "{'property.stoker.dev/fast':''}");
	CHECK_JSON(
		jsonx_at(pod, "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution"),
		"{'nodeSelectorTerms':[{'matchFields':[{'key':'metadata.name','operator':'In','values':['box']}]}]}");
	scene_done(&s);
}

TEST("output outside shared directories stays in the log, and PATH that was submitted counts")
{
	struct scene s;
	json_auto_t *pod = NULL;

	scene_init(&s,
		   "{'owner':'anna','image':'img','name':'n','script':'x','outputPath':'/tmp/o','errorPath':'/homes/e',"
		   "'env':{'PATH':'/opt'}}",
		   "{'hostRoots':['/ghome'],'readOnlyRoots':[]}");
	pod = pbs_pod(&s.o, PBS_PLAIN, 0, 0);
	CHECK_STR(word(pod, 4), "");
	CHECK_STR(word(pod, 5), "");
	CHECK_STR(env(pod, "PATH"), "/opt");
	scene_done(&s);
}

TEST("what cannot run abroad is refused in words")
{
	static const struct {
		const char *spec;
		bool account;
		const char *why;
	} rows[] = {
		{ "{'owner':'anna','image':'i','script':'x'}", true, "" },
		{ "{'owner':'anna','script':'x'}", true, "neither -l image= nor its queue" },
		{ "{'owner':'anna','image':'i','script':'x'}", false, "\"anna\" has no account" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct scene s;
		struct err e = ERR_INIT;

		scene_init(&s, rows[i].spec, "{}");
		if (!rows[i].account)
			s.abroad.account = NULL;
		CHECK_INT(pbs_abroad_check(&s.o, &e), *rows[i].why ? -1 : 0);
		CHECK(strstr(e.text, rows[i].why) != NULL);
		scene_done(&s);
	}
}

TEST("the first of several pods hears where they are, once that is known")
{
	struct scene s;
	json_auto_t *pod = sample_json("{'metadata':{'annotations':{}}}");
	json_auto_t *told = sample_json("{'metadata':{'annotations':{'stoker.dev/pbs-nodes':'x'}}}");
	struct pod_facts first = { .obj = pod };
	struct pod_facts again = { .obj = told };
	auto_free char *lines = NULL;

	scene_init(&s, "{'owner':'anna','image':'i','script':'x','resources':{'nodes':'2:ppn=2'}}", "{}");
	CHECK(pbs_abroad_nodes(&s.o, PBS_PLAIN, &first) == NULL);
	jsonx_set_new(s.job, "status.execHost", json_string("a/0-1+b/0-1"));
	lines = pbs_abroad_nodes(&s.o, PBS_PLAIN, &first);
	CHECK_STR(lines, "a\na\nb\nb\n");
	CHECK(pbs_abroad_nodes(&s.o, PBS_PLAIN, &again) == NULL);
	scene_done(&s);
}

TEST("what the wrapper says of a failed start is an end that PBS has a number for, abroad only")
{
	struct scene s;
	json_auto_t *pod = sample_json("{'status':{'phase':'Failed','containerStatuses':[{'state':{'terminated':"
				       "{'exitCode':1,'reason':'Error','message':'OutputUnwritable\\n'}}}]}}");
	struct pod_facts facts = { .obj = pod, .phase = POD_IS_FAILED };
	int code = 0;

	scene_init(&s, "{'owner':'anna','image':'i','script':'x'}", "{}");
	CHECK(pbs_exit_of(&facts, &s.set, &code));
	CHECK_INT(code, PBS_EXIT_OUTPUT);
	s.set.abroad = NULL;
	CHECK(pbs_exit_of(&facts, &s.set, &code));
	CHECK_INT(code, 1);
	scene_done(&s);
}

TEST("the script of a job of several nodes knows its pods, and has an account if there is one")
{
	static const char *const accounts[] = { NULL, "launcher" };

	for (size_t i = 0; i < ARRAY_SIZE(accounts); i++) {
		json_auto_t *pod = NULL;
		json_auto_t *sister = NULL;
		struct scene s;

		scene_init(&s, "{'owner':'anna','image':'i','resources':{'nodes':'2:ppn=3'}}", "{}");
		s.abroad.launch = accounts[i];
		pod = pbs_pod(&s.o, PBS_PLAIN, 0, 1);
		sister = pbs_pod(&s.o, PBS_PLAIN, 1, 1);
		CHECK_STR(env(pod, "STOKER_PBS_JOB"), "{\"namespace\":\"anna\",\"pods\":[\"7-0-r1\",\"7-1-r1\"],"
						      "\"resources\":{\"nodes\":\"2:ppn=3\"}}");
		CHECK(!env(sister, "STOKER_PBS_JOB"));
		CHECK(str_same(jsonx_str(pod, "spec.serviceAccountName"), accounts[i]));
		CHECK_INT(jsonx_bool_or(pod, "spec.automountServiceAccountToken", true), accounts[i] != NULL);
		CHECK_INT(jsonx_bool_or(sister, "spec.automountServiceAccountToken", true), false);
		CHECK(jsonx_bool_or(pod, "spec.shareProcessNamespace", false));
		scene_done(&s);
	}
}

TEST("a container that does not begin says why, unless it is about to")
{
	static const struct {
		const char *waiting, *why;
	} rows[] = {
		{ "{'waiting':{'reason':'ErrImagePull','message':'no such host'}}", "ErrImagePull: no such host" },
		{ "{'waiting':{'reason':'InvalidImageName'}}", "InvalidImageName" },
		{ "{'waiting':{'reason':'ContainerCreating','message':'x'}}", NULL },
		{ "{'waiting':{'reason':'PodInitializing'}}", NULL },
		{ "{'waiting':{}}", NULL },
		{ "{'running':{}}", NULL },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		auto_free char *text = xasprintf("{'status':{'containerStatuses':[{'state':%s}]}}", rows[i].waiting);
		json_auto_t *pod = sample_json(text);
		struct pod_facts facts = { .obj = pod };
		char why[64] = "";

		CHECK_INT(pbs_pod_stuck(&facts, why, sizeof(why)), rows[i].why != NULL);
		CHECK_STR(why, rows[i].why ? rows[i].why : "");
	}
}
