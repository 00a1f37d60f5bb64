// SPDX-License-Identifier: Apache-2.0
#include "api/authn.h"
#include "server.h"

static const char *const groups[] = { "system:authenticated", NULL };

/* What a local user's first request does. */
static bool arrive(struct server *s, const char *user, const char *uid, bool local)
{
	const struct caller c = { .user = user, .uid = uid, .groups = groups, .local = local };

	s->e = ERR_INIT;
	CHECK_INT(authn_ensure_namespace(api_authn(s->api), &c, &s->e), 0);
	server_turn(s);
	return server_has(s, "rbac.authorization.k8s.io/v1/rolebindings", user, "owner");
}

TEST("a local user owns the namespace of the same name, and nobody else's")
{
	struct server s = server_new();
	const struct caller ann = { .user = "ann", .uid = "1001", .groups = groups, .local = true };
	struct api_request own = server_request(&s, VERB_CREATE, "v1/configmaps", "ann", NULL);
	struct api_request other = server_request(&s, VERB_CREATE, "v1/configmaps", "default", NULL);

	CHECK(arrive(&s, "ann", "1001", true));
	own.caller = other.caller = &ann;
	json_auto_t *made = server_call(&s, &own, "{'metadata':{'name':'m'}}");
	CHECK_STR(s.message, "");
	json_auto_t *refused = server_call(&s, &other, "{'metadata':{'name':'m'}}");
	CHECK(made && !refused);
	CHECK_INT(s.code, 403);
	CHECK(!arrive(&s, "remote", "1002", false));
	CHECK(!arrive(&s, "kube-system", "1003", true));
	CHECK(!arrive(&s, "default", "1004", true));
	server_done(&s);
}

TEST("a namespace made ahead is handed over once, one with an owner never")
{
	struct server s = server_new();

	server_do(&s, VERB_CREATE, "v1/namespaces", "", NULL, "{'metadata':{'name':'ann'}}");
	server_do(&s, VERB_CREATE, "v1/namespaces", "", NULL,
		  "{'metadata':{'name':'bob','annotations':{'stoker.dev/owner':'someone'}}}");
	server_do(&s, VERB_CREATE, "v1/namespaces", "", NULL, "{'metadata':{'name':'mail'}}");
	CHECK(arrive(&s, "ann", "1001", true));
	CHECK(!arrive(&s, "bob", "1002", true));
	CHECK(!arrive(&s, "mail", "8", true)); /* a service's account */
	server_do(&s, VERB_DELETE, "rbac.authorization.k8s.io/v1/rolebindings", "ann", "owner", NULL);
	CHECK(!arrive(&s, "ann", "1001", true)); /* whoever took it away has the last word */
	server_done(&s);
}
