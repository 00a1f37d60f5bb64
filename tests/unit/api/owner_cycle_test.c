// SPDX-License-Identifier: Apache-2.0
#include "server.h"

#define MAPS "v1/configmaps"

/* Makes a ConfigMap and remembers its uid. */
static char *make(struct server *s, const char *ns, const char *name)
{
	auto_free char *body = xasprintf("{'metadata':{'name':'%s'}}", name);
	json_auto_t *made = server_ask(s, VERB_CREATE, MAPS, ns, NULL, body);

	return xstrdup(jsonx_str_or(made, "metadata.uid", ""));
}

static char *ref(const char *name, const char *uid)
{
	return xasprintf("{'apiVersion':'v1','kind':'ConfigMap','name':'%s','uid':'%s'}", name, uid);
}

/* Sets the owners of a ConfigMap; refs are joined by commas. */
static bool own(struct server *s, const char *ns, const char *name, const char *refs)
{
	auto_free char *body = xasprintf("{'metadata':{'ownerReferences':[%s]}}", refs);
	struct api_request req = server_request(s, VERB_PATCH, MAPS, ns, name);
	json_auto_t *answer = NULL;

	req.patch = PATCH_MERGE;
	answer = server_call(s, &req, body);
	return answer != NULL;
}

TEST("an object cannot be made its own owner, directly or through others")
{
	struct server s = server_new();
	auto_free char *a = make(&s, "default", "a"), *b = make(&s, "default", "b"), *c = make(&s, "default", "c");
	auto_free char *to_a = ref("a", a), *to_b = ref("b", b), *to_c = ref("c", c);
	auto_free char *both = xasprintf("%s,%s", to_c, to_a);
	auto_free char *want =
		xasprintf("ConfigMap \"c\" is invalid: metadata.ownerReferences[0].uid: Invalid value: "
			  "\"%s\": must not make an object own itself: ConfigMap c, owned by ConfigMap a, "
			  "owned by ConfigMap b, owned by ConfigMap c",
			  a);

	CHECK(!own(&s, "default", "a", to_a));
	CHECK_INT(s.code, 422);
	CHECK(strstr(s.message, "must not make an object own itself: ConfigMap a, owned by ConfigMap a"));
	CHECK(own(&s, "default", "a", to_b));
	CHECK(own(&s, "default", "b", to_c));
	CHECK(!own(&s, "default", "c", to_a));
	CHECK_INT(s.code, 422);
	CHECK_STR(s.message, want);
	/* the one of several that is wrong is named */
	CHECK(own(&s, "default", "b", ""));
	CHECK(!own(&s, "default", "b", both));
	CHECK(strstr(s.message, "metadata.ownerReferences[1].uid"));
	CHECK(own(&s, "default", "c", to_b));
	CHECK(!own(&s, "default", "b", to_c));
	server_done(&s);
}

TEST("references that lead nowhere, and those of other namespaces, close no ring")
{
	struct server s = server_new();
	auto_free char *a = NULL, *b = NULL, *to_a = NULL, *to_b = NULL, *gone = ref("x", "00000000-1111");

	server_do(&s, VERB_CREATE, "v1/namespaces", "", NULL, "{'metadata':{'name':'n'}}");
	a = make(&s, "default", "a");
	b = make(&s, "n", "b");
	to_a = ref("a", a);
	to_b = ref("b", b);
	CHECK(own(&s, "default", "a", gone));
	CHECK(own(&s, "default", "a", to_b)); /* no b in this namespace */
	CHECK(own(&s, "n", "b", to_a));
	server_done(&s);
}

TEST("a ring that is there already does not stop other writes")
{
	struct server s = server_new();
	auto_free char *a = make(&s, "default", "a"), *b = make(&s, "default", "b");
	auto_free char *to_a = ref("a", a), *to_b = ref("b", b);
	auto_free char *body = xasprintf("{'metadata':{'ownerReferences':[%s]}}", to_a);

	json_decref(server_ask(&s, VERB_CREATE, MAPS, "default", NULL, "{'metadata':{'name':'c'}}"));
	CHECK(own(&s, "default", "a", to_b));
	server_smuggle(&s, MAPS, "default", "b", body);
	CHECK(own(&s, "default", "c", to_a));
	CHECK(own(&s, "default", "b", to_a));
	{
		struct api_request req = server_request(&s, VERB_PATCH, MAPS, "default", "b");

		req.patch = PATCH_MERGE;
		json_decref(server_call(&s, &req, "{'data':{'k':'v'}}"));
		CHECK_INT(s.code, 200);
	}
	CHECK(own(&s, "default", "b", ""));
	CHECK(!own(&s, "default", "b", to_a));
	server_done(&s);
}
