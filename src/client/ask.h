// SPDX-License-Identifier: Apache-2.0
/* ask.h - exec and attach in a pod, through the server of a client over HTTP */
#ifndef STOKER_CLIENT_ASK_H
#define STOKER_CLIENT_ASK_H

#include "client/client.h"
#include "loop/remote_ask.h"

/* `path` is .../pods/NAME/exec or attach, with its query.  By a kubeconfig only after another request to the same
 * server has been answered: ERR_UNAVAILABLE. */
int client_ask(struct client *c, const char *path, const struct remote_ask_handlers *h, struct remote_ask **ret,
	       struct err *e);

/* The parts of "https://HOST[:PORT][/PREFIX]"; false if it is none. */
struct server_url {
	char *host;
	const char *prefix; /* "" or from its first slash on; borrowed from the text */
	int port;
	bool plain; /* http */
};
bool server_url_parse(const char *text, struct server_url *ret);

#endif
