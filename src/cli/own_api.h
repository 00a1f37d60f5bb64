// SPDX-License-Identifier: Apache-2.0
/* own_api.h - an API in this process: its directory, keys, store, and the client of the process itself */
#ifndef STOKER_CLI_OWN_API_H
#define STOKER_CLI_OWN_API_H

#include "api/api.h"
#include "client/client.h"
#include "loop/http.h"

struct own_api {
	struct seal *seal;
	struct store *store;
	struct pki *pki;
	struct api *api;
	struct client *client;
};

struct own_api_config {
	const char *dir;         /* made if it is missing */
	const char *const *sans; /* further names of the server, NULL-terminated; or NULL */
	int64_t history_seconds;
};

/* One after the other.  What was opened is for own_api_close(), also after a failure; a directory is one process's. */
int own_api_open_store(struct own_api *o, struct loop *loop, const struct own_api_config *config, struct err *e);
int own_api_open(struct own_api *o, struct loop *loop, const struct api_config *config, struct err *e);
void own_api_close(struct own_api *o);

/* Listens on a Unix socket, whose directory is made if it is missing. */
int own_api_socket(struct http_server *http, const char *path, struct err *e);

#endif
