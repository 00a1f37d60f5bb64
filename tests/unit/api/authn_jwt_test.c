// SPDX-License-Identifier: Apache-2.0
#include "api/authn.h"
#include "base/clock.h"
#include "server.h"

static json_t *review(struct server *s, const char *token, const char *audiences)
{
	auto_free char *body = xasprintf("{'spec':{'token':'%s','audiences':%s}}", token, audiences);

	return server_ask(s, VERB_CREATE, "authentication.k8s.io/v1/tokenreviews", "", NULL, body);
}

static char *issue(struct server *s, const char *spec)
{
	struct api_request req = server_request(s, VERB_CREATE, "v1/serviceaccounts", "default", "robot");
	json_auto_t *got = NULL;

	req.subresource = "token";
	got = server_call(s, &req, spec);
	return xstrdup(jsonx_str_or(got, "status.token", ""));
}

static struct server with_robot(void)
{
	struct server s = server_new_with_pki();

	server_do(&s, VERB_CREATE, "v1/serviceaccounts", "default", NULL, "{'metadata':{'name':'robot'}}");
	return s;
}

TEST("a service account's token says who it is, until the account goes")
{
	struct server s = with_robot();
	auto_free char *token = issue(&s, "{'spec':{}}");

	CHECK_INT(s.code, 201);
	CHECK(*token);
	json_auto_t *good = review(&s, token, "[]");
	CHECK(jsonx_bool_or(good, "status.authenticated", false));
	CHECK_STR(jsonx_str(good, "status.user.username"), "system:serviceaccount:default:robot");
	server_do(&s, VERB_DELETE, "v1/serviceaccounts", "default", "robot", NULL);
	json_auto_t *gone = review(&s, token, "[]");
	CHECK(!jsonx_bool_or(gone, "status.authenticated", false));
	server_do(&s, VERB_CREATE, "v1/serviceaccounts", "default", NULL, "{'metadata':{'name':'robot'}}");
	json_auto_t *another = review(&s, token, "[]"); /* of the same name, but not the same */
	CHECK(!jsonx_bool_or(another, "status.authenticated", false));
	server_done(&s);
}

TEST("a token that was bent, or is too old, is nobody's")
{
	struct server s = with_robot();
	auto_free char *token = issue(&s, "{'spec':{'expirationSeconds':600}}");
	auto_free char *bent = xstrdup(token);
	auto_free char *cut = xstrndup(token, strlen(token) / 2);

	CHECK(strlen(token) > 20);
	bent[strlen(bent) / 2] = bent[strlen(bent) / 2] == 'A' ? 'B' : 'A';
	const char *const bad[] = { bent, cut, "", "a.b.c", "..", "stk_x_y" };
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		json_auto_t *got = review(&s, bad[i], "[]");

		CHECK(!jsonx_bool_or(got, "status.authenticated", false));
	}
	clock_fake(clock_wall() + 599);
	json_auto_t *still = review(&s, token, "[]");
	CHECK(jsonx_bool_or(still, "status.authenticated", false));
	clock_fake(clock_wall() + 60);
	json_auto_t *old = review(&s, token, "[]");
	CHECK(!jsonx_bool_or(old, "status.authenticated", false));
	clock_fake(-1);
	server_done(&s);
}

TEST("a token for a pod ends with the pod")
{
	struct server s = with_robot();

	json_auto_t *pod = server_ask(&s, VERB_CREATE, "v1/pods", "default", NULL,
				      "{'metadata':{'name':'p'},'spec':{'serviceAccountName':'robot','containers':[{"
				      "'name':'c','image':'i'}]}}");
	auto_free char *spec =
		xasprintf("{'spec':{'boundObjectRef':{'kind':'Pod','apiVersion':'v1','name':'p','uid':'%s'}}}",
			  jsonx_str(pod, "metadata.uid"));
	auto_free char *token = issue(&s, spec);
	json_auto_t *good = review(&s, token, "[]");
	CHECK(jsonx_bool_or(good, "status.authenticated", false));
	server_do(&s, VERB_DELETE, "v1/pods", "default", "p", NULL);
	json_auto_t *gone = review(&s, token, "[]");
	CHECK(!jsonx_bool_or(gone, "status.authenticated", false));
	server_done(&s);
}

TEST("a token for others is not good here, and the other way round")
{
	struct server s = with_robot();
	auto_free char *theirs = issue(&s, "{'spec':{'audiences':['vault']}}");
	json_auto_t *ours = review(&s, theirs, "[]");
	json_auto_t *vault = review(&s, theirs, "['vault','other']");

	CHECK(*theirs);
	CHECK(!jsonx_bool_or(ours, "status.authenticated", false));
	CHECK(jsonx_bool_or(vault, "status.authenticated", false));
	CHECK_JSON(jsonx_at(vault, "status.audiences"), "['vault']");
	server_done(&s);
}

TEST("what a token may not be asked for is refused")
{
	static const char *const rows[] = {
		"{'spec':{'expirationSeconds':5}}",
		"{'spec':{'boundObjectRef':{'kind':'Node','apiVersion':'v1','name':'n'}}}",
		"{'spec':{'boundObjectRef':{'kind':'Pod','apiVersion':'v1','name':'absent'}}}",
	};
	struct server s = with_robot();

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		auto_free char *token = issue(&s, rows[i]);

		CHECK_STR(token, "");
		CHECK(s.code >= 400);
	}
	server_done(&s);
}

TEST("a token's reply says what was filled in, and a wrong request what is wrong")
{
	static const struct {
		const char *body;
		int code;
		const char *want;
	} rows[] = {
		{ "{'spec':{'expirationSeconds':10}}", 422,
		  "spec.expirationSeconds: Invalid value: 10: may not specify a duration less than 10 minutes" },
		{ "{'spec':{'expirationSeconds':'600'}}", 400, "spec.expirationSeconds" },
		{ "{'spec':{'audiences':'vault'}}", 400, "spec.audiences" },
		{ "{'spec':[]}", 400, "spec" },
		{ "{'kind':'Pod'}", 400, "TokenRequest" },
		{ "{'metadata':{'name':'other'},'spec':{}}", 422, "must match the service account name" },
		{ "{'spec':{'boundObjectRef':{'kind':'Box'}}}", 422, "spec.boundObjectRef.kind: Unsupported value" },
	};
	struct server s = with_robot();
	struct api_request req = server_request(&s, VERB_CREATE, "v1/serviceaccounts", "default", "robot");
	json_auto_t *got = NULL;

	req.subresource = "token";
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		CHECK(!server_call(&s, &req, rows[i].body));
		if (s.code != rows[i].code || !strstr(s.message, rows[i].want))
			test_fail(__FILE__, __LINE__, "%s gives %d: %s", rows[i].body, s.code, s.message);
	}
	got = server_call(&s, &req, "{'kind':'TokenRequest','apiVersion':'authentication.k8s.io/v1'}");
	CHECK_INT(jsonx_int_or(got, "spec.expirationSeconds", 0), 3600);
	CHECK_INT(json_array_size(jsonx_at(got, "spec.audiences")), 1);
	CHECK(jsonx_at(got, "metadata.creationTimestamp") != NULL);
	server_done(&s);
}

TEST("a dry run makes no token")
{
	struct server s = with_robot();
	struct api_request req = server_request(&s, VERB_CREATE, "v1/serviceaccounts", "default", "robot");
	json_auto_t *got = NULL;

	req.subresource = "token";
	req.dry_run = true;
	got = server_call(&s, &req, "{}");
	CHECK_INT(s.code, 201);
	CHECK_STR(jsonx_str(got, "status.token"), "");
	CHECK(jsonx_str(got, "status.expirationTimestamp") != NULL);
	server_done(&s);
}

TEST("who is no admin makes tokens for oneself only")
{
	static const char *const groups[] = { "system:authenticated", "devs", NULL };
	const struct caller ann = { .user = "ann", .uid = "", .groups = groups };
	static const struct {
		const char *spec;
		bool good;
	} rows[] = {
		{ "{'spec':{'user':'ann','groups':[]}}", true },
		{ "{'spec':{'user':'ann','groups':['devs']}}", true },
		{ "{'spec':{'user':'ann','groups':['system:masters']}}", false },
		{ "{'spec':{'user':'bob','groups':[]}}", false },
	};
	struct server s = server_new();

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		json_auto_t *token = sample_json(rows[i].spec);
		struct err e = ERR_INIT;

		CHECK_INT(authn_check_token_write(api_authn(s.api), &ann, token, &e) == 0, rows[i].good);
		err_clear(&e);
		CHECK_INT(authn_check_token_write(api_authn(s.api), &caller_system, token, &e), 0);
	}
	server_done(&s);
}
