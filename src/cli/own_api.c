// SPDX-License-Identifier: Apache-2.0
/* own_api.c - what `stoker serve` and `stoker operate --pbs` open before anything else, in this order */
#include "cli/own_api.h"

#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"

#define HISTORY_ROWS  100000
#define EVENT_SECONDS 3600

/* A new key would make every stored Secret unreadable: better to stop and let someone look for the old one. */
static int check_key(const char *dir, const char *key, struct err *e)
{
	auto_free char *db = xasprintf("%s/stoker.db", dir);

	if (access(db, F_OK) == 0 && access(key, F_OK) < 0)
		return err_set(
			e, ERR_INTERNAL,
			"%s is missing, and without it the Secrets in %s cannot be read; restore it from the backup",
			key, db);
	return 0;
}

int own_api_open_store(struct own_api *o, struct loop *loop, const struct own_api_config *config, struct err *e)
{
	auto_free char *key = xasprintf("%s/secrets.key", config->dir);
	struct store_config store = {
		.dir = config->dir,
		.history_seconds = config->history_seconds,
		.history_rows = HISTORY_ROWS,
		.event_seconds = EVENT_SECONDS,
	};

	if (file_make_dirs(config->dir, 0700, e) < 0 || check_key(config->dir, key, e) < 0 ||
	    seal_open(key, &o->seal, e) < 0)
		return -1;
	store.seal = o->seal;
	/* The store's lock comes before anything else is written that a second server could disturb. */
	if (store_open(loop, &store, &o->store, e) < 0)
		return -1;
	return pki_open(config->dir, config->sans, &o->pki, e);
}

int own_api_open(struct own_api *o, struct loop *loop, const struct api_config *config, struct err *e)
{
	if (api_new(loop, o->store, o->pki, config, &o->api, e) < 0)
		return -1;
	o->client = client_local_new(o->api, &caller_system);
	return 0;
}

void own_api_close(struct own_api *o)
{
	client_free(o->client);
	api_free(o->api);
	store_close(o->store);
	pki_free(o->pki);
	seal_free(o->seal);
	*o = (struct own_api){ 0 };
}

int own_api_socket(struct http_server *http, const char *path, struct err *e)
{
	const char *slash = strrchr(path, '/');
	auto_free char *dir = xstrndup(path, slash ? (size_t)(slash - path) : 0);

	if (*dir && file_make_dirs(dir, 0755, e) < 0)
		return -1;
	return http_listen_unix(http, path, e);
}
