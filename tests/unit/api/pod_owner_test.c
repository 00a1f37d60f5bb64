// SPDX-License-Identifier: Apache-2.0
/* pod_owner_test.c - whose rights a pod gets, and that there is no way around it */
#include "api/pod_owner.h"

#include "server.h"

#define POD(name_) "{'metadata':{'name':'" name_ "'},'spec':{'containers':[{'name':'c','image':'host'}]}}"
#define ROOT(name_)                                                                                                    \
	"{'metadata':{'name':'" name_ "'},'spec':{'securityContext':{'runAsUser':0},"                                  \
	"'containers':[{'name':'c','image':'host'}]}}"
#define TEMPLATE                                                                                                       \
	"'template':{'metadata':{'labels':{'a':'b'}},'spec':{'restartPolicy':'Never',"                                 \
	"'containers':[{'name':'c','image':'host'}]}}"

static const char *const users[] = { "system:authenticated", NULL };
/* An account that is on every machine, and one that is on none. */
static const struct caller daemon_user = { .user = "daemon", .uid = "1", .groups = users, .local = true };
static const struct caller ci = { .user = "ci:robot", .uid = "", .groups = users };

/* default has no owner, "daemon" belongs to daemon; both callers may do anything in both. */
static struct server server_with_users(void)
{
	struct server s = server_new();

	server_do(&s, VERB_CREATE, "v1/namespaces", "", NULL,
		  "{'metadata':{'name':'daemon','annotations':{'stoker.dev/owner':'daemon'}}}");
	server_do(&s, VERB_CREATE, "rbac.authorization.k8s.io/v1/clusterrolebindings", "", NULL,
		  "{'metadata':{'name':'all'},'roleRef':{'apiGroup':'rbac.authorization.k8s.io','kind':'ClusterRole',"
		  "'name':'all'},'subjects':[{'kind':'User','name':'daemon','apiGroup':'rbac.authorization.k8s.io'},"
		  "{'kind':'User','name':'ci:robot','apiGroup':'rbac.authorization.k8s.io'}]}");
	server_do(&s, VERB_CREATE, "rbac.authorization.k8s.io/v1/clusterroles", "", NULL,
		  "{'metadata':{'name':'all'},'rules':[{'apiGroups':['*'],'resources':['*'],'verbs':['*']}]}");
	return s;
}

static json_t *ask_as(struct server *s, const struct caller *c, enum verb verb, const char *what, const char *ns,
		      const char *name, const char *body)
{
	struct api_request req = server_request(s, verb, what, ns, name);

	req.caller = c;
	return server_call(s, &req, body);
}

static const char *uid_of(const json_t *pod)
{
	return json_string_value(json_object_get(jsonx_at(pod, "metadata.annotations"), POD_UID_ANNOTATION));
}

TEST("a pod belongs to the namespace's owner, to its creator, or to an admin")
{
	struct server s = server_with_users();
	const struct {
		const struct caller *who;
		const char *ns;
		int64_t uid; /* -1: an admin's, -2: made up */
	} rows[] = {
		{ &caller_system, "default", -1 },
		{ &caller_system, "daemon", 1 },
		{ &daemon_user, "daemon", 1 },
		{ &daemon_user, "default", 1 },
		{ &ci, "daemon", 1 },
		{ &ci, "default", -2 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		auto_free char *name = xasprintf("p%zu", i);
		auto_free char *body = xasprintf(POD("%s"), name);
		json_auto_t *pod = ask_as(&s, rows[i].who, VERB_CREATE, "v1/pods", rows[i].ns, NULL, body);
		int64_t uid = jsonx_int_or(pod, "spec.securityContext.runAsUser", -1);
		auto_free char *text = xasprintf("%lld", (long long)uid);

		CHECK_STR(s.message, "");
		if (rows[i].uid == -2)
			CHECK(uid >= 0x70000000);
		else
			CHECK_INT(uid, rows[i].uid);
		CHECK_STR(uid_of(pod), uid < 0 ? NULL : text);
	}
	server_done(&s);
}

TEST("root is refused to users and in their namespaces, also to controllers")
{
	struct server s = server_with_users();
	const struct {
		const struct caller *who;
		const char *ns;
		bool fine;
	} rows[] = {
		{ &caller_system, "default", true }, { &caller_system, "daemon", false },
		{ &daemon_user, "daemon", false },   { &daemon_user, "default", false },
		{ &ci, "default", false },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		json_auto_t *pod = ask_as(&s, rows[i].who, VERB_CREATE, "v1/pods", rows[i].ns, NULL, ROOT("r"));

		CHECK_INT(s.code, rows[i].fine ? 201 : 403);
		if (i == 2)
			CHECK_STR(s.message, "pods \"r\" is forbidden: beyond the rights of user \"daemon\": "
					     "spec.securityContext.runAsUser: 0 is not allowed, only 1");
	}
	server_done(&s);
}

static const char *cards_of(const json_t *pod)
{
	return json_string_value(json_object_get(jsonx_at(pod, "metadata.annotations"), POD_CARDS_ANNOTATION));
}

#define BINDING(notes) "{'metadata':{'name':'p','annotations':{" notes "}},'target':{'kind':'Node','name':'n'}}"

TEST("a binding's annotations become the pod's, and the scheduler alone chooses cards")
{
	static const struct {
		const struct caller *who;
		const char *body;
		int code;
		const char *cards, *a; /* of the pod after it */
	} rows[] = {
		{ &caller_system, BINDING("'stoker.dev/cards':'0,2','a':'c'"), 201, "0,2", "c" },
		{ &ci, BINDING("'stoker.dev/cards':'0,2','a':'c'"), 201, NULL, "c" },
		{ &caller_system, BINDING("'stoker.dev/uid':'0'"), 201, NULL, "b" },
		{ &caller_system, BINDING("'a b':'1'"), 422, NULL, "b" },
		{ &caller_system, "{'metadata':{'name':'p'},'target':{'kind':'Node','name':'n'}}", 201, NULL, "b" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct server s = server_with_users();
		struct api_request bind = server_request(&s, VERB_CREATE, "v1/pods", "default", "p");

		server_do(&s, VERB_CREATE, "v1/pods", "default", NULL,
			  "{'metadata':{'name':'p','annotations':{'a':'b','stoker.dev/cards':'7'}},'spec':{"
			  "'containers':[{'name':'c','image':'host'}]}}");
		bind.subresource = "binding";
		bind.caller = rows[i].who;
		json_decref(server_call(&s, &bind, rows[i].body));
		CHECK_INT(s.code, rows[i].code);
		json_auto_t *pod = server_ask(&s, VERB_GET, "v1/pods", "default", "p", NULL);

		CHECK_STR(cards_of(pod), rows[i].cards);
		CHECK_STR(json_string_value(json_object_get(jsonx_at(pod, "metadata.annotations"), "a")), rows[i].a);
		CHECK_STR(uid_of(pod), NULL);
		CHECK_STR(jsonx_str(pod, "spec.nodeName"), rows[i].code == 201 ? "n" : NULL);
		server_done(&s);
	}
}

TEST("the choice of cards stays as the scheduler made it")
{
	struct server s = server_with_users();
	struct api_request bind = server_request(&s, VERB_CREATE, "v1/pods", "default", "p");
	struct api_request patch = server_request(&s, VERB_PATCH, "v1/pods", "default", "p");

	server_do(&s, VERB_CREATE, "v1/pods", "default", NULL,
		  "{'metadata':{'name':'p'},'spec':{'containers':[{'name':'c','image':'host'}]}}");
	bind.subresource = "binding";
	json_decref(server_call(&s, &bind, BINDING("'stoker.dev/cards':'1'")));
	for (size_t i = 0; i < 2; i++) {
		static const char *const patches[] = {
			"{'metadata':{'annotations':{'stoker.dev/cards':'0,1','x':'1'}}}",
			"{'metadata':{'annotations':{'stoker.dev/cards':null,'x':'2'}}}",
		};
		json_auto_t *after = NULL;

		patch.patch = PATCH_MERGE;
		patch.caller = &ci;
		after = server_call(&s, &patch, patches[i]);
		CHECK_INT(s.code, 200);
		CHECK_STR(cards_of(after), "1");
	}
	server_done(&s);
}

TEST("nobody but the server says whose a pod is")
{
	struct server s = server_with_users();
	json_auto_t *forged =
		ask_as(&s, &daemon_user, VERB_CREATE, "v1/pods", "daemon", NULL,
		       "{'metadata':{'name':'p','annotations':{'stoker.dev/uid':'0','stoker.dev/gpus':'0,1',"
		       "'a':'b'}},'spec':{'containers':[{'name':'c','image':'host'}]}}");
	json_auto_t *admin = server_ask(&s, VERB_CREATE, "v1/pods", "default", NULL,
					"{'metadata':{'name':'q','annotations':{'stoker.dev/uid':'7'}},'spec':"
					"{'containers':[{'name':'c','image':'host'}]}}");
	struct api_request patch = server_request(&s, VERB_PATCH, "v1/pods", "daemon", "p");

	CHECK_STR(uid_of(forged), "1");
	CHECK(!json_object_get(jsonx_at(forged, "metadata.annotations"), "stoker.dev/gpus"));
	CHECK_STR(json_string_value(json_object_get(jsonx_at(forged, "metadata.annotations"), "a")), "b");
	CHECK_STR(uid_of(admin), NULL);
	for (size_t i = 0; i < 2; i++) {
		static const char *const patches[] = {
			"{'metadata':{'annotations':{'stoker.dev/uid':'0','x':'1'}}}",
			"{'metadata':{'annotations':{'stoker.dev/uid':null,'x':'2'}}}",
		};
		json_auto_t *after = NULL;

		patch.patch = PATCH_MERGE;
		patch.caller = i ? &daemon_user : &caller_system;
		after = server_call(&s, &patch, patches[i]);
		CHECK_STR(s.message, "");
		CHECK_STR(uid_of(after), "1");
	}
	server_done(&s);
}

static json_t *set_image(struct server *s, const struct caller *c, const char *ns, const char *name)
{
	struct api_request patch = server_request(s, VERB_PATCH, "v1/pods", ns, name);

	patch.caller = c;
	patch.patch = PATCH_STRATEGIC;
	return server_call(s, &patch, "{'spec':{'containers':[{'name':'c','image':'other'}]}}");
}

TEST("whoever changes a pod's image must have its rights")
{
	struct server s = server_with_users();
	json_auto_t *a = server_ask(&s, VERB_CREATE, "v1/pods", "default", NULL, ROOT("admins"));
	json_auto_t *b = ask_as(&s, &ci, VERB_CREATE, "v1/pods", "default", NULL, POD("robots"));
	json_auto_t *r1 = set_image(&s, &ci, "default", "admins");

	CHECK_STR(s.message, "pods \"admins\" is forbidden: it has the rights of an admin, not of user \"ci:robot\"");
	json_auto_t *r2 = set_image(&s, &daemon_user, "default", "robots");

	CHECK_INT(s.code, 403);
	CHECK(strstr(s.message, "it has the rights of uid ") != NULL);
	json_auto_t *r3 = set_image(&s, &ci, "default", "robots");

	CHECK_STR(s.message, "");
	json_auto_t *r4 = set_image(&s, &caller_system, "default", "admins");

	CHECK_STR(s.message, "");
	CHECK(!r1 && !r2 && r3 && r4);
	server_done(&s);
}

static bool may_exec(struct server *s, const struct caller *c, const json_t *pod)
{
	struct api_request req = server_request(s, VERB_CREATE, "v1/pods", "default", jsonx_str(pod, "metadata.name"));
	struct err e = ERR_INIT;

	req.caller = c;
	return pod_owner_check_hands(s->api, &req, pod, &e) == 0;
}

TEST("whoever runs commands in a pod must have its rights, or be a pod that has them")
{
	static const char *const groups[] = { "system:serviceaccounts:default", NULL };
	struct server s = server_with_users();
	json_auto_t *a = server_ask(&s, VERB_CREATE, "v1/pods", "default", NULL, POD("admins"));
	json_auto_t *b = ask_as(&s, &ci, VERB_CREATE, "v1/pods", "default", NULL, POD("robots"));
	json_auto_t *bound = json_pack("{s:[s], s:[s]}", "authentication.kubernetes.io/pod-name", "robots",
				       "authentication.kubernetes.io/pod-uid", jsonx_str(b, "metadata.uid"));
	json_auto_t *stale = json_pack("{s:[s], s:[s]}", "authentication.kubernetes.io/pod-name", "robots",
				       "authentication.kubernetes.io/pod-uid", "0");
	const struct caller inside = {
		.user = "system:serviceaccount:default:x", .uid = "", .groups = groups, .extra = bound
	};
	struct caller other = inside;

	other.extra = stale;
	CHECK(may_exec(&s, &caller_system, a) && may_exec(&s, &caller_system, b));
	CHECK(!may_exec(&s, &ci, a) && may_exec(&s, &ci, b));
	CHECK(!may_exec(&s, &daemon_user, a) && !may_exec(&s, &daemon_user, b));
	CHECK(!may_exec(&s, &inside, a) && may_exec(&s, &inside, b));
	CHECK(!may_exec(&s, &other, a) && !may_exec(&s, &other, b));
	server_done(&s);
}

/* As a controller would. */
static json_t *make_for(struct server *s, const json_t *owner, const char *what, const char *name, const char *spec)
{
	auto_free char *body = xasprintf(
		"{'metadata':{'name':'%s','labels':{'a':'b'},'ownerReferences':[{'apiVersion':'%s','kind':'%s','name':"
		"'%s','uid':'%s','controller':true}]},'spec':%s}",
		name, jsonx_str(owner, "apiVersion"), jsonx_str(owner, "kind"), jsonx_str(owner, "metadata.name"),
		jsonx_str(owner, "metadata.uid"), spec);

	return server_ask(s, VERB_CREATE, what, "default", NULL, body);
}

#define SET_SPEC "{'selector':{'matchLabels':{'a':'b'}}," TEMPLATE_ALWAYS "}"
#define TEMPLATE_ALWAYS                                                                                                \
	"'template':{'metadata':{'labels':{'a':'b'}},'spec':{'containers':[{'name':'c','image':'host'}]}}"
#define POD_SPEC "{'containers':[{'name':'c','image':'host'}]}"

TEST("pods of controllers belong to who wrote what they are made from")
{
	struct server s = server_with_users();
	json_auto_t *job =
		ask_as(&s, &daemon_user, VERB_CREATE, "batch/v1/jobs", "default", NULL,
		       "{'metadata':{'name':'j','annotations':{'stoker.dev/creator':'root'}},'spec':{" TEMPLATE "}}");
	json_auto_t *pod = make_for(&s, job, "v1/pods", "j-1", POD_SPEC);
	json_auto_t *dep = ask_as(&s, &ci, VERB_CREATE, "apps/v1/deployments", "default", NULL,
				  "{'metadata':{'name':'d'},'spec':" SET_SPEC "}");
	json_auto_t *set = make_for(&s, dep, "apps/v1/replicasets", "d-1", SET_SPEC);
	json_auto_t *deep = make_for(&s, set, "v1/pods", "d-1-1", POD_SPEC);
	json_auto_t *own = server_ask(&s, VERB_CREATE, "batch/v1/jobs", "default", NULL,
				      "{'metadata':{'name':'o'},'spec':{" TEMPLATE "}}");
	json_auto_t *admins = make_for(&s, own, "v1/pods", "o-1", POD_SPEC);

	CHECK_STR(uid_of(pod), "1");
	CHECK_INT(jsonx_int_or(pod, "spec.securityContext.runAsUser", -1), 1);
	CHECK(uid_of(deep) != NULL);
	CHECK(jsonx_int_or(deep, "spec.securityContext.runAsUser", -1) >= 0x70000000);
	CHECK_STR(uid_of(admins), NULL);
	CHECK(!json_object_get(jsonx_at(own, "metadata.annotations"), CREATOR_ANNOTATION));
	server_done(&s);
}

TEST("what a user changes is the user's from then on, and an admin's change does not give it back")
{
	struct server s = server_with_users();
	json_auto_t *dep = server_ask(&s, VERB_CREATE, "apps/v1/deployments", "default", NULL,
				      "{'metadata':{'name':'d'},'spec':" SET_SPEC "}");
	struct api_request patch = server_request(&s, VERB_PATCH, "apps/v1/deployments", "default", "d");
	static const char *const steps[] = {
		"{'metadata':{'labels':{'x':'1'}}}",
		"{'metadata':{'annotations':{'stoker.dev/creator':null}},'spec':{'replicas':3}}",
	};

	CHECK(!json_object_get(jsonx_at(dep, "metadata.annotations"), CREATOR_ANNOTATION));
	patch.patch = PATCH_MERGE;
	for (size_t i = 0; i < ARRAY_SIZE(steps); i++) {
		json_auto_t *after = NULL;

		patch.caller = i ? &caller_system : &daemon_user;
		after = server_call(&s, &patch, steps[i]);
		CHECK_STR(
			json_string_value(json_object_get(jsonx_at(after, "metadata.annotations"), CREATOR_ANNOTATION)),
			"daemon");
	}
	server_done(&s);
}

TEST("a pod whose controller is gone is refused")
{
	struct server s = server_with_users();
	json_auto_t *job = ask_as(&s, &daemon_user, VERB_CREATE, "batch/v1/jobs", "default", NULL,
				  "{'metadata':{'name':'j'},'spec':{" TEMPLATE "}}");

	json_object_set_new(json_object_get(job, "metadata"), "uid", json_string("another"));
	json_auto_t *pod = make_for(&s, job, "v1/pods", "j-1", POD_SPEC);

	CHECK_INT(s.code, 403);
	CHECK_STR(s.message, "pods \"j-1\" is forbidden: its controller, Job \"j\", is gone");
	CHECK(!pod);
	server_done(&s);
}

TEST("only an admin gives a namespace away")
{
	struct server s = server_with_users();
	struct api_request patch = server_request(&s, VERB_PATCH, "v1/namespaces", "", "daemon");
	json_auto_t *made = ask_as(&s, &ci, VERB_CREATE, "v1/namespaces", "", NULL,
				   "{'metadata':{'name':'mine','annotations':{'stoker.dev/owner':'ci:robot'}}}");

	CHECK_INT(s.code, 403);
	patch.caller = &daemon_user;
	patch.patch = PATCH_MERGE;
	json_auto_t *freed = server_call(&s, &patch, "{'metadata':{'annotations':{'stoker.dev/owner':null}}}");

	CHECK_STR(s.message, "namespaces \"daemon\" is forbidden: only an admin may change the annotation "
			     "stoker.dev/owner");
	json_auto_t *labelled = server_call(&s, &patch, "{'metadata':{'labels':{'a':'b'}}}");

	CHECK_STR(s.message, "");
	CHECK(!made && !freed && labelled);
	server_done(&s);
}
