// SPDX-License-Identifier: Apache-2.0
/* authn_text_test.c - tokens by their looks, claims, audiences, names of homes, impersonation headers */
#include "api/authn_parts.h"

#include "base/jsonx.h"
#include "base/mem.h"
#include "test.h"

static const struct {
	const char *token;
	enum token_form form;
	const char *name;
} forms[] = {
	{ "stk_ci_abcDEF-1", TOKEN_STATIC, "ci" },
	{ "stk_my-token.x_a_b_c", TOKEN_STATIC, "my-token.x" },
	{ "stk__secret", TOKEN_BAD, NULL },
	{ "stk_name_", TOKEN_BAD, NULL },
	{ "stk_name", TOKEN_BAD, NULL },
	{ "stk_Name_x", TOKEN_BAD, NULL },
	{ "stk_../x_y", TOKEN_BAD, NULL },
	{ "stk_", TOKEN_BAD, NULL },
	{ "eyJh.eyJp.c2ln", TOKEN_JWT, NULL },
	{ "a.b", TOKEN_BAD, NULL },
	{ "a.b.c.d", TOKEN_BAD, NULL },
	{ "a.b!.c", TOKEN_BAD, NULL },
	{ "", TOKEN_BAD, NULL },
};

TEST("a token is known by its form")
{
	for (size_t i = 0; i < ARRAY_SIZE(forms); i++) {
		struct str name = { "", 0 };

		CHECK_INT(token_form(str_of(forms[i].token), &name), forms[i].form);
		if (forms[i].name)
			CHECK(str_eq(name, forms[i].name));
	}
}

TEST("only a bearer header carries a token")
{
	CHECK(str_eq(token_of_header("Bearer abc"), "abc"));
	CHECK(str_eq(token_of_header("bearer   abc "), "abc"));
	CHECK(str_eq(token_of_header("Basic abc"), ""));
	CHECK(str_eq(token_of_header("Bearer"), ""));
	CHECK(str_eq(token_of_header(NULL), ""));
}

TEST("a service account's user name is taken apart")
{
	struct str ns, name;

	CHECK(token_service_account("system:serviceaccount:a:b", &ns, &name));
	CHECK(str_eq(ns, "a") && str_eq(name, "b"));
	CHECK(!token_service_account("system:serviceaccount:a", &ns, &name));
	CHECK(!token_service_account("system:serviceaccount:a:", &ns, &name));
	CHECK(!token_service_account("system:serviceaccount::b", &ns, &name));
	CHECK(!token_service_account("system:serviceaccount:a:b:c", &ns, &name));
	CHECK(!token_service_account("alice", &ns, &name));
}

static json_t *good_claims(void)
{
	return json_pack("{s:s,s:s,s:i,s:i,s:{s:s,s:{s:s,s:s}}}", "iss", API_AUDIENCE, "sub",
			 "system:serviceaccount:n:bot", "exp", 2000, "nbf", 1000, "kubernetes.io", "namespace", "n",
			 "serviceaccount", "name", "bot", "uid", "u");
}

static const struct {
	const char *path;
	const char *value; /* JSON */
	const char *why;   /* NULL: fine */
} claims_rows[] = {
	{ "jti", "\"x\"", NULL },
	{ "iss", "\"https://elsewhere\"", "issued by someone else" },
	{ "sub", "\"alice\"", "no service account" },
	{ "sub", "\"system:serviceaccount:n:root\"", "subject and claims differ" },
	{ "sub", "\"system:serviceaccount:m:bot\"", "subject and claims differ" },
	{ "kubernetes.io", "{}", "subject and claims differ" },
	{ "exp", "1500", "expired" },
	{ "exp", "\"2000\"", "expired" },
	{ "exp", "null", "expired" },
	{ "nbf", "1501", "not valid yet" },
};

TEST("claims that do not hold are refused")
{
	for (size_t i = 0; i < ARRAY_SIZE(claims_rows); i++) {
		json_auto_t *claims = good_claims();
		json_t *value = NULL;
		struct err e = ERR_INIT;

		CHECK_INT(jsonx_parse(claims_rows[i].value, strlen(claims_rows[i].value), NULL, NULL, &value, &e), 0);
		json_object_set_new(claims, claims_rows[i].path, value);
		CHECK_STR(token_check_claims(claims, 1500), claims_rows[i].why);
	}
}

TEST("audiences are those both sides name")
{
	json_auto_t *given = json_pack("[s,s]", "a", API_AUDIENCE);
	json_auto_t *wanted = json_pack("[s,s]", "b", "a");
	json_auto_t *text = json_string("a");
	json_auto_t *both = token_audiences(given, wanted);
	json_auto_t *own = token_audiences(given, NULL);
	json_auto_t *none = token_audiences(text, NULL);
	json_auto_t *one = token_audiences(text, wanted);

	CHECK_INT(json_array_size(both), 1);
	CHECK_STR(json_string_value(json_array_get(both, 0)), "a");
	CHECK_INT(json_array_size(own), 1);
	CHECK_INT(json_array_size(none), 0);
	CHECK_INT(json_array_size(one), 1);
}

TEST("a user's namespace is a DNS label made of the name")
{
	static const struct {
		const char *user, *ns;
	} rows[] = {
		{ "alice", "alice" },
		{ "Alice.B_C", "alice-b-c" },
		{ "uid:1234", "uid-1234" },
		{ "-_x_-", "x" },
		{ "___", "" },
		{ "", "" },
		{ "j\xc3\xb6rg", "j--rg" },
		{ "a@corp.example", "a-corp-example" },
	};
	char out[USER_NAMESPACE_LEN];

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		authn_user_namespace(rows[i].user, out);
		CHECK_STR(out, rows[i].ns);
	}
	authn_user_namespace("a123456789b123456789c123456789d123456789e123456789f123456789g123456789", out);
	CHECK_INT(strlen(out), 63);
}

TEST("impersonation headers are gathered in any case and order")
{
	struct impersonation i;

	impersonation_init(&i);
	impersonation_header(&i, "Accept", "x");
	impersonation_header(&i, "Imp", "x");
	CHECK(!i.asked);
	impersonation_header(&i, "IMPERSONATE-GROUP", "a");
	impersonation_header(&i, "Impersonate-Group", "b");
	impersonation_header(&i, "impersonate-user", "eve");
	impersonation_header(&i, "Impersonate-Uid", "7");
	impersonation_header(&i, "Impersonate-Extra-Acme.com%2FProject", "p1");
	impersonation_header(&i, "Impersonate-Extra-Acme.com%2FProject", "p2");
	impersonation_header(&i, "Impersonate-Extra-bad%zz", "q");
	CHECK(i.asked);
	CHECK_STR(i.user, "eve");
	CHECK_STR(i.uid, "7");
	CHECK(caller_in_group(identity_caller(i.rest), "a"));
	CHECK(caller_in_group(identity_caller(i.rest), "b"));
	CHECK_INT(json_array_size(json_object_get(identity_caller(i.rest)->extra, "acme.com/project")), 2);
	CHECK_INT(json_array_size(json_object_get(identity_caller(i.rest)->extra, "bad%zz")), 1);
	impersonation_done(&i);
}
