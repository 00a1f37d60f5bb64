// SPDX-License-Identifier: Apache-2.0
/* http_create_test.c - a patient client and a server that does what a script says */
#include <stdio.h>

#include "api/sample_json.h"
#include "base/clock.h"
#include "base/jsonx.h"
#include "base/limits.h"
#include "base/mem.h"
#include "client/client.h"
#include "loop/http.h"
#include "test.h"

struct script {
	struct loop *loop;
	struct http_server *http;
	struct client *client;
	const char *steps; /* of each request: l lost, 1 created, 9 exists, g the object, o another's, n not found, w
			      wait */
	unsigned requests;
	char names[8][80]; /* that were sent */
	unsigned calls;
	enum err_kind kind;
	char made[80];
};

static void on_request(void *arg, struct http_request *req)
{
	struct script *s = arg;
	json_auto_t *doc = NULL;
	struct err e = ERR_INIT;
	char *name = s->names[s->requests % 8];
	char step = s->steps[s->requests++];
	auto_free char *text = NULL;

	if (http_body(req).n && jsonx_parse(http_body(req).p, http_body(req).n, NULL, NULL, &doc, &e) == 0)
		snprintf(name, sizeof(s->names[0]), "%s", jsonx_str_or(doc, "metadata.name", ""));
	else
		snprintf(name, sizeof(s->names[0]), "%s %.*s", http_method(req), STR_FMT(http_path(req)));
	switch (step) {
	case 'l':
		http_stream_start(req, 200, "application/json");
		http_stream_abort(req);
		return;
	case '1':
		http_reply(req, 201, "application/json", http_body(req).p, http_body(req).n);
		return;
	case 'g':
	case 'o':
		text = xasprintf("{\"metadata\":{\"name\":\"there\",\"ownerReferences\":[{\"uid\":\"%s\"}]}}",
				 step == 'g' ? "u" : "other");
		http_reply(req, 200, "application/json", text, strlen(text));
		return;
	case 'n':
		text = xstrdup("{\"status\":\"Failure\",\"reason\":\"NotFound\",\"message\":\"gone\"}");
		http_reply(req, 404, "application/json", text, strlen(text));
		return;
	case 'w':
		return;
	default:
		text = xstrdup("{\"status\":\"Failure\",\"reason\":\"AlreadyExists\",\"message\":\"is there\"}");
		http_reply(req, 409, "application/json", text, strlen(text));
	}
}

static void on_bad(void *arg, const struct err *e, int code, struct sbuf *body, const char **ret_type)
{
	(void)arg;
	(void)e;
	(void)code;
	(void)body;
	*ret_type = "text/plain";
}

static void on_done(void *arg, const json_t *obj, const struct err *e)
{
	struct script *s = arg;

	s->calls++;
	s->kind = e->kind;
	snprintf(s->made, sizeof(s->made), "%s", jsonx_str_or(obj, "metadata.name", ""));
}

static void script_start(struct script *s, const char *name, const char *steps)
{
	static const struct ref pods = { .api_version = "v1", .plural = "pods", .ns = "default" };
	auto_free char *path = xasprintf("%s/%s", test_dir(), name);
	json_auto_t *pod = sample_json("{'metadata':{'generateName':'p-','ownerReferences':[{'uid':'u'}]}}");
	struct err e = ERR_INIT;

	*s = (struct script){ .loop = loop_new(), .steps = steps };
	s->http = http_server_new(s->loop,
				  &(struct http_handlers){ .request = on_request, .bad_request = on_bad, .arg = s });
	CHECK_INT(http_listen_unix(s->http, path, &e), 0);
	CHECK_INT(client_http_new(s->loop, &(struct client_options){ .socket = path, .patient = true }, &s->client, &e),
		  0);
	s->client->ops->create(s->client, &pods, pod, on_done, s);
	for (int64_t end = clock_mono_ms() + 20000;
	     !s->calls && s->requests < strlen(steps) + 1 && clock_mono_ms() < end;) {
		loop_turn(s->loop, false);
		if (steps[strlen(steps) - 1] == 'w' && s->requests == strlen(steps))
			break;
	}
}

static void script_end(struct script *s)
{
	client_free(s->client);
	http_server_free(s->http);
	loop_free(s->loop);
}

TEST("a creation whose answer was lost is sent again under the same name, and counts if it is there")
{
	struct script s;

	script_start(&s, "lost", "l9g");
	CHECK_INT(s.calls, 1);
	CHECK_INT(s.kind, ERR_NONE);
	CHECK_STR(s.made, "there");
	CHECK_INT(s.requests, 3);
	CHECK(str_starts(s.names[0], "p-") && strlen(s.names[0]) == 7);
	CHECK_STR(s.names[1], s.names[0]);
	CHECK(str_starts(s.names[2], "GET /api/v1/namespaces/default/pods/p-"));
	script_end(&s);
	script_start(&s, "again", "ll1");
	CHECK_INT(s.kind, ERR_NONE);
	CHECK_STR(s.made, s.names[0]);
	script_end(&s);
}

TEST("a name that is taken by someone else is not ours, and another one is tried")
{
	struct script s;

	script_start(&s, "taken", "91");
	CHECK_INT(s.kind, ERR_NONE);
	CHECK(!streq(s.names[0], s.names[1]));
	CHECK_STR(s.made, s.names[1]);
	script_end(&s);
	script_start(&s, "others", "l9o");
	CHECK_INT(s.kind, ERR_EXISTS);
	script_end(&s);
	script_start(&s, "gone", "l9ln");
	CHECK_INT(s.kind, ERR_NOT_FOUND);
	script_end(&s);
}

TEST("whoever still waits hears that the client is gone")
{
	struct script s;

	script_start(&s, "waits", "w");
	CHECK_INT(s.calls, 0);
	client_free(s.client);
	s.client = NULL;
	CHECK_INT(s.calls, 1);
	CHECK_INT(s.kind, ERR_UNAVAILABLE);
	script_end(&s);
	script_start(&s, "lostwaits", "lw");
	client_free(s.client);
	s.client = NULL;
	CHECK_INT(s.calls, 1);
	script_end(&s);
}
