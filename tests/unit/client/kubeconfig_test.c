// SPDX-License-Identifier: Apache-2.0
#include "client/kubeconfig.h"

#include "base/file.h"
#include "base/mem.h"
#include "test.h"

#define CLUSTERS "clusters: [{name: c, cluster: {server: 'https://h:1'}}]\n"
#define CONTEXTS                                                                                                       \
	"contexts: [{name: one, context: {cluster: c, user: u, namespace: lab}}, {name: two, context: {cluster: d, "   \
	"user: u}}, {name: bare, context: {cluster: c}}]\n"
#define USERS "users: [{name: u, user: {token: t0k}}]\n"

static char *put(const char *name, const char *text)
{
	char *path = xasprintf("%s/%s", test_dir(), name);
	struct err e = ERR_INIT;

	CHECK_INT(file_write(path, 0600, str_of(text), &e), 0);
	return path;
}

TEST("a context leads to its server, credential and namespace")
{
	static const struct {
		const char *text, *context, *token, *ns;
	} rows[] = {
		{ CLUSTERS CONTEXTS USERS "current-context: one\n", NULL, "t0k", "lab" },
		{ CLUSTERS CONTEXTS USERS "current-context: two\n", "one", "t0k", "lab" },
		{ CLUSTERS CONTEXTS USERS, "bare", NULL, NULL },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct kubeconfig k = { 0 };
		struct err e = ERR_INIT;

		CHECK_INT(kubeconfig_parse(str_of(rows[i].text), "f", rows[i].context, &k, &e), 0);
		CHECK_STR(e.text, "");
		CHECK_STR(k.server, "https://h:1");
		CHECK_STR(k.token, rows[i].token);
		CHECK_STR(k.ns, rows[i].ns);
		CHECK(!k.insecure && !k.ca_pem && !k.cert_pem && !k.key_pem);
		kubeconfig_done(&k);
	}
}

TEST("what is wrong is said with the file and the entry")
{
	static const struct {
		const char *text, *context, *message;
	} rows[] = {
		{ CLUSTERS CONTEXTS USERS, NULL, "f: current-context is not set; use --context NAME" },
		{ CLUSTERS CONTEXTS USERS "current-context: ''\n", NULL,
		  "f: current-context is not set; use --context NAME" },
		{ CLUSTERS CONTEXTS USERS, "three", "f: there is no context \"three\"" },
		{ CLUSTERS CONTEXTS USERS, "two", "f: context \"two\" names cluster \"d\", which has no server" },
		{ CLUSTERS CONTEXTS, "one", "f: context \"one\" names user \"u\", who is not in the file" },
		{ CLUSTERS CONTEXTS "users: [{name: u, user: {exec: {command: x}}}]\n", "one",
		  "f: user credentials by \"exec\" are not supported; use a token or a client certificate" },
		{ CLUSTERS CONTEXTS "users: [{name: u, user: {client-key-data: '%%%'}}]\n", "one",
		  "f: client-key-data is not base64" },
		{ CLUSTERS CONTEXTS "users: [{name: u, user: {client-key: /nowhere/key}}]\n", "one",
		  "f: client-key: /nowhere/key: No such file or directory" },
		{ CLUSTERS CONTEXTS "users: [{name: u, user: {tokenFile: /nowhere/token}}]\n", "one",
		  "f: tokenFile: /nowhere/token: No such file or directory" },
		{ "", NULL, "f: expected one YAML document, found 0" },
		{ "just words", NULL, "f: current-context is not set; use --context NAME" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct kubeconfig k = { 0 };
		struct err e = ERR_INIT;

		CHECK_INT(kubeconfig_parse(str_of(rows[i].text), "f", rows[i].context, &k, &e), -1);
		CHECK_STR(e.text, rows[i].message);
		CHECK(!k.server);
	}
}

TEST("text that is no YAML is refused with its place")
{
	struct kubeconfig k = { 0 };
	struct err e = ERR_INIT;

	CHECK_INT(kubeconfig_parse(STR("a: [b"), "f", NULL, &k, &e), -1);
	CHECK(str_starts(e.text, "f: "));
}

TEST("credentials may be data or files beside the kubeconfig")
{
	auto_free char *cert = put("the.crt", "CERT\n");
	auto_free char *token = put("the.token", "  sec-ret\n");
	auto_free char *absolute = xasprintf("users: [{name: u, user: {client-certificate: %s, client-key-data: S0VZ, "
					     "tokenFile: %s}}]\n",
					     cert, token);
	auto_free char *whole = xasprintf(CLUSTERS CONTEXTS "%s", absolute);
	auto_free char *one = put("one.kubeconfig", whole);
	auto_free char *two =
		put("two.kubeconfig", CLUSTERS CONTEXTS "users: [{name: u, user: {client-certificate: the.crt, "
							"client-key-data: S0VZ, tokenFile: the.token}}]\n");
	const char *const paths[] = { one, two };

	for (size_t i = 0; i < ARRAY_SIZE(paths); i++) {
		struct kubeconfig k = { 0 };
		struct err e = ERR_INIT;

		CHECK_INT(kubeconfig_read(paths[i], "one", &k, &e), 0);
		CHECK_STR(e.text, "");
		CHECK_STR(k.cert_pem, "CERT\n");
		CHECK_STR(k.key_pem, "KEY");
		CHECK_STR(k.token, "sec-ret");
		kubeconfig_done(&k);
	}
}

TEST("a file that is not there, or empty, says so")
{
	auto_free char *empty = put("empty.kubeconfig", "");
	struct kubeconfig k = { 0 };
	struct err e = ERR_INIT;

	CHECK_INT(kubeconfig_read("/nowhere/config", NULL, &k, &e), -1);
	CHECK_STR(e.text, "/nowhere/config: No such file or directory");
	err_clear(&e);
	CHECK_INT(kubeconfig_read(empty, NULL, &k, &e), -1);
	CHECK(str_ends(e.text, "empty.kubeconfig: expected one YAML document, found 0"));
}

TEST("what is written can be read again")
{
	static const struct {
		struct str cert, key;
		const char *token;
	} rows[] = {
		{ { "CERT", 4 }, { "KEY", 3 }, NULL },
		{ { "", 0 }, { "", 0 }, "tok" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		auto_sbuf struct sbuf text = SBUF(4096);
		struct kubeconfig k = { 0 };
		struct err e = ERR_INIT;

		kubeconfig_write("https://127.0.0.1:6443", STR("CA"), rows[i].cert, rows[i].key, rows[i].token, "admin",
				 "default", &text);
		CHECK_INT(kubeconfig_parse(sbuf_str(&text), "f", NULL, &k, &e), 0);
		CHECK_STR(e.text, "");
		CHECK_STR(k.server, "https://127.0.0.1:6443");
		CHECK_STR(k.ca_pem, "CA");
		CHECK_STR(k.cert_pem, rows[i].cert.n ? rows[i].cert.p : NULL);
		CHECK_STR(k.key_pem, rows[i].key.n ? rows[i].key.p : NULL);
		CHECK_STR(k.token, rows[i].token);
		CHECK_STR(k.ns, "default");
		kubeconfig_done(&k);
	}
}
