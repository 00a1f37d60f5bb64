// SPDX-License-Identifier: Apache-2.0
#include "api/front.h"
#include "capture.h"

static void turn(void *arg)
{
	front_turn(arg);
}

static char *last_line(char *text)
{
	size_t n = strlen(text);
	char *start;

	while (n && text[n - 1] == '\n')
		text[--n] = '\0';
	start = strrchr(text, '\n');
	return start ? start + 1 : text;
}

TEST("a token is made, works, is listed and revoked")
{
	struct front f = front_new();
	char *socket = xasprintf("--socket=%s", f.path);
	struct capture made = CAPTURE(turn, &f, (char *)"token", (char *)"create", (char *)"--user=ci",
				      (char *)"--group=system:masters", (char *)"--ttl=1h",
				      (char *)"--description=for tests", socket);
	const char *token = last_line(made.out.p);
	auto_free char *header = xasprintf("Authorization: Bearer %s\r\n", token);
	auto_free char *name = xstrndup(token + 4, strcspn(token + 4, "_"));

	CHECK_INT(made.status, 0);
	CHECK_STR(made.err.p, "");
	CHECK(str_starts(token, "stk_"));
	CHECK_INT(front_ask(&f, "GET /api/v1/secrets", header, NULL), 200);
	struct capture list = CAPTURE(turn, &f, (char *)"token", (char *)"list", socket);
	CHECK_INT(list.status, 0);
	CHECK(strstr(list.out.p, name) && strstr(list.out.p, "system:masters") && strstr(list.out.p, "for tests"));
	CHECK(!strstr(list.out.p, token));
	struct capture json = CAPTURE(turn, &f, (char *)"token", (char *)"list", (char *)"-o", (char *)"json", socket);
	json_auto_t *doc = json_loads(json.out.p, 0, NULL);
	CHECK_INT(json_array_size(doc), 1);
	struct capture gone = CAPTURE(turn, &f, (char *)"token", (char *)"revoke", name, (char *)"absent", socket);
	CHECK_INT(gone.status, 1);
	CHECK(strstr(gone.out.p, "revoked") && strstr(gone.err.p, "tokens.stoker.dev \"absent\" not found"));
	CHECK_INT(front_ask(&f, "GET /api/v1/secrets", header, NULL), 401);
	capture_done(&made);
	capture_done(&list);
	capture_done(&json);
	capture_done(&gone);
	free(socket);
	front_done(&f);
}

TEST("a token in JSON is JSON, whatever the user is called")
{
	struct front f = front_new();
	char *socket = xasprintf("--socket=%s", f.path);
	struct capture c = CAPTURE(turn, &f, (char *)"token", (char *)"create", (char *)"--user=a\"b\\c", (char *)"-o",
				   (char *)"json", socket);
	json_auto_t *doc = json_loads(c.out.p, 0, NULL);

	CHECK_INT(c.status, 0);
	CHECK_STR(jsonx_str(doc, "user"), "a\"b\\c");
	CHECK(jsonx_str(doc, "token") && jsonx_str(doc, "expires") && jsonx_str(doc, "name"));
	capture_done(&c);
	free(socket);
	front_done(&f);
}

TEST("a command without a server says how to get one")
{
	struct capture c = CAPTURE(NULL, NULL, (char *)"token", (char *)"list", (char *)"--kubeconfig=/nowhere/config");
	struct capture d = CAPTURE(NULL, NULL, (char *)"token", (char *)"list", (char *)"--socket=/nowhere/sock");

	CHECK_INT(c.status, 1);
	CHECK_STR(c.err.p, "stoker token list: /nowhere/config: No such file or directory\n");
	CHECK_INT(d.status, 1);
	CHECK(strstr(d.err.p, "/nowhere/sock") != NULL);
	capture_done(&c);
	capture_done(&d);
}
