// SPDX-License-Identifier: Apache-2.0
/* connect.c - from --socket, --kubeconfig and the environment to a client */
#include "cli/connect.h"

int connect_open(const struct connect_settings *s, struct connection *ret, struct err *e)
{
	struct client_options o = {
		.socket = s->socket, .kubeconfig = s->kubeconfig, .context = s->context, .as = s->as
	};
	struct connection c = { .loop = loop_new() };

	if (client_http_new(c.loop, &o, &c.client, e) < 0) {
		loop_free(c.loop);
		return -1;
	}
	*ret = c;
	return 0;
}

void connect_close(struct connection *c)
{
	client_free(c->client);
	loop_free(c->loop);
}
