// SPDX-License-Identifier: Apache-2.0
#include "server.h"

#define CLASSES   "scheduling.k8s.io/v1/priorityclasses"
#define POD(more) "{'metadata':{'generateName':'p-'},'spec':{" more "'containers':[{'name':'c','image':'host'}]}}"

#define MORE "{'metadata':{'name':'more'},'value':6,'globalDefault':true}"
#define ONLY_ONE                                                                                                       \
	"priorityclasses.scheduling.k8s.io \"more\" is forbidden: PriorityClass usual is already marked as default. "  \
	"Only one default can exist"

static json_t *replace(struct server *s, const json_t *pod)
{
	auto_free char *text = sample_text(pod);

	return server_ask(s, VERB_UPDATE, "v1/pods", "default", jsonx_str(pod, "metadata.name"), text);
}

static void make_class(struct server *s, const char *body)
{
	server_do(s, VERB_CREATE, CLASSES, "", NULL, body);
	CHECK_STR(s->message, "");
}

/* Class, priority and policy of a new pod, or why there is none. */
static void check_pod(struct server *s, const char *body, const char *want)
{
	json_auto_t *pod = server_ask(s, VERB_CREATE, "v1/pods", "default", NULL, body);
	auto_free char *got = pod ? xasprintf("%s %lld %s", jsonx_str_or(pod, "spec.priorityClassName", "-"),
					      (long long)jsonx_int_or(pod, "spec.priority", -1),
					      jsonx_str_or(pod, "spec.preemptionPolicy", "-"))
				  : xstrdup(s->message);

	CHECK_STR(got, want);
}

TEST("a pod has the priority of its class, and no other")
{
	static const struct {
		const char *body, *want;
	} rows[] = {
		{ POD(""), "- 0 PreemptLowerPriority" },
		{ POD("'priority':0,"), "- 0 PreemptLowerPriority" },
		{ POD("'priorityClassName':'high',"), "high 1000 Never" },
		{ POD("'priorityClassName':'high','priority':1000,'preemptionPolicy':'Never',"), "high 1000 Never" },
		{ POD("'priorityClassName':'system-node-critical',"),
		  "system-node-critical 2000001000 PreemptLowerPriority" },
		{ POD("'priorityClassName':'none',"),
		  "pods \"p-\" is forbidden: no PriorityClass with name none was found" },
		{ POD("'priority':7,"),
		  "pods \"p-\" is forbidden: the integer value of priority (7) must not be provided in pod spec; "
		  "priority admission controller computed 0 from the given PriorityClass name" },
		{ POD("'priorityClassName':'high','preemptionPolicy':'PreemptLowerPriority',"),
		  "pods \"p-\" is forbidden: the string value of PreemptionPolicy (PreemptLowerPriority) must not be "
		  "provided in pod spec; priority admission controller computed Never from the given PriorityClass "
		  "name" },
	};
	struct server s = server_new();

	make_class(&s, "{'metadata':{'name':'high'},'value':1000,'preemptionPolicy':'Never'}");
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		check_pod(&s, rows[i].body, rows[i].want);
	server_done(&s);
}

TEST("pods without a class get the default one, of which there is one")
{
	struct server s = server_new();

	make_class(&s, "{'metadata':{'name':'usual'},'value':5,'globalDefault':true}");
	check_pod(&s, POD(""), "usual 5 PreemptLowerPriority");
	json_auto_t *second = server_ask(&s, VERB_CREATE, CLASSES, "", NULL, MORE);
	CHECK(!second);
	CHECK_STR(s.message, ONLY_ONE);
	make_class(&s, "{'metadata':{'name':'more'},'value':6}");
	json_auto_t *changed = server_ask(&s, VERB_UPDATE, CLASSES, "", "more", MORE);
	CHECK(!changed);
	CHECK_STR(s.message, ONLY_ONE);
	/* the default itself may change, and give way */
	server_do(&s, VERB_UPDATE, CLASSES, "", "usual",
		  "{'metadata':{'name':'usual','labels':{'a':'b'}},'value':5,'globalDefault':true}");
	CHECK_STR(s.message, "");
	server_do(&s, VERB_UPDATE, CLASSES, "", "usual", "{'metadata':{'name':'usual'},'value':5}");
	check_pod(&s, POD(""), "- 0 PreemptLowerPriority");
	server_done(&s);
}

TEST("a pod keeps its priority when its class changes hands or it is replaced")
{
	struct server s = server_new();
	json_auto_t *pod = NULL;

	make_class(&s, "{'metadata':{'name':'high'},'value':1000}");
	server_do(&s, VERB_CREATE, "v1/pods", "default", NULL,
		  "{'metadata':{'name':'a'},'spec':{'automountServiceAccountToken':false,'priorityClassName':'high',"
		  "'containers':[{'name':'c','image':'host'}]}}");
	server_do(&s, VERB_DELETE, CLASSES, "", "high", NULL);
	pod = server_ask(&s, VERB_GET, "v1/pods", "default", "a", NULL);
	jsonx_del(pod, "spec.priority");
	jsonx_del(pod, "spec.preemptionPolicy");
	jsonx_set_new(pod, "metadata.labels", json_pack("{s:s}", "x", "y"));
	json_auto_t *after = replace(&s, pod);
	CHECK_STR(s.message, "");
	CHECK_INT(jsonx_int_or(after, "spec.priority", -1), 1000);
	jsonx_set_new(after, "spec.priority", json_integer(5));
	json_auto_t *refused = replace(&s, after);
	CHECK(!refused);
	CHECK(strstr(s.message, "pod updates may not change fields other than") != NULL);
	server_done(&s);
}
