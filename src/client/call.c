// SPDX-License-Identifier: Apache-2.0
/* call.c - any request of a command, for what is not an object by itself */
#include "client/http_parts.h"

struct call {
	bool done;
	int code;
	struct sbuf *reply;
	struct err *e;
};

static void on_reply(void *arg, int code, struct str body, const struct err *e)
{
	struct call *c = arg;

	c->done = true;
	c->code = code;
	*c->e = *e;
	sbuf_add(c->reply, body.p, body.n);
}

int client_call_wait(struct client *c, const char *method, const char *path, const char *type, struct str body,
		     int *ret_code, struct sbuf *reply, struct err *e)
{
	struct http_client *h = (struct http_client *)c;
	struct call call = { .reply = reply, .e = e };

	fetch_start(h->fetcher, &(struct fetch_request){ .method = method,
							 .path = path,
							 .content_type = type,
							 .accept = "application/json,*/*",
							 .body = body,
							 .done = on_reply,
							 .arg = &call });
	while (!call.done)
		loop_turn(c->loop, false);
	*ret_code = call.code;
	return e->kind == ERR_NONE ? 0 : -1;
}
