// SPDX-License-Identifier: Apache-2.0
/* http_parts.h - for the http*.c files of this room only */
#ifndef STOKER_CLIENT_HTTP_PARTS_H
#define STOKER_CLIENT_HTTP_PARTS_H

#include <sys/queue.h>

#include "client/client.h"
#include "client/kubeconfig.h"
#include "client/token_file.h"
#include "loop/fetch.h"

struct http_client {
	struct client base;
	struct kubeconfig config;
	struct token_file *token_file; /* or NULL */
	char *socket;
	char *ns;
	char *impersonate;
	const char *headers[2];
	struct fetcher *fetcher;
	char *trouble; /* why the last request had no answer; NULL: it had one */
	bool patient;
	bool closing;
	LIST_HEAD(, http_call) calls;    /* under way */
	LIST_HEAD(, creation) creations; /* of a patient client */
};

extern const struct client_ops http_ops;

void http_post(struct http_client *h, const struct ref *ref, struct str text, client_done *done, void *arg);

/* http_create.c: as http_post, until the server has said yes or no; false if it is not a thing with a name. */
bool creation_start(struct http_client *h, const struct ref *ref, const json_t *obj, client_done *done, void *arg);
void creations_end(struct http_client *h, const struct err *e);

#endif
