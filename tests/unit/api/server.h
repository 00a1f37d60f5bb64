// SPDX-License-Identifier: Apache-2.0
/* server.h - a store and an API in a directory of their own, and short words for what tests ask of them
 *
 *	struct server s = server_new();
 *	json_auto_t *pod = server_ask(&s, VERB_CREATE, "v1/pods", "default", NULL, "{'metadata':{'name':'a'},...}");
 *
 * Bodies are written with single quotes (sample_json.h).  Each call is committed before it returns.
 */
#ifndef STOKER_TEST_SERVER_H
#define STOKER_TEST_SERVER_H

#include <stdlib.h>

#include "api/api.h"
#include "api/object.h"
#include "api/status.h"
#include "base/jsonx.h"
#include "base/log.h"
#include "base/mem.h"
#include "sample_json.h"
#include "test.h"

/* A pod that passes validation; %s is its name. */
#define SERVER_POD "{'metadata':{'name':'%s'},'spec':{'containers':[{'name':'c','image':'host'}]}}"

struct server {
	struct loop *loop;
	struct seal *seal;
	struct pki *pki; /* or NULL: see server_new_with_pki() */
	struct store *store;
	struct api *api;
	char *dir;
	bool batch; /* calls are not committed one by one */
	/* of the last call */
	struct err e;
	int code;
	json_t *warnings;
	char message[2048]; /* what a Status would say; empty on success */
};

static inline void server_turn(struct server *s)
{
	loop_turn(s->loop, true);
}

/* Enough turns for everything that does not wait for a timer. */
static inline void server_settle(struct server *s)
{
	for (int i = 0; i < 12; i++)
		server_turn(s);
}

static inline void server_open(struct server *s)
{
	auto_free char *key = xasprintf("%s.key", s->dir);
	struct store_config config = {
		.dir = s->dir, .history_seconds = 600, .history_rows = 100000, .event_seconds = 3600
	};
	struct api_config api = { .data_dir = s->dir, .audit_bytes = 1 << 20, .advertise = "127.0.0.1:6443" };

	s->e = ERR_INIT;
	if (seal_open(key, &s->seal, &s->e) < 0) {
		printf("%s\n", s->e.text);
		abort();
	}
	config.seal = s->seal;
	if (store_open(s->loop, &config, &s->store, &s->e) < 0 ||
	    api_new(s->loop, s->store, s->pki, &api, &s->api, &s->e) < 0) {
		printf("%s\n", s->e.text);
		abort();
	}
	server_turn(s);
}

static inline void server_close(struct server *s)
{
	api_free(s->api);
	store_close(s->store);
	seal_free(s->seal);
}

static inline struct server server_make(bool with_pki)
{
	struct server s = { .loop = loop_new() };

	log_set_level(LOG_ERROR);
	s.dir = xasprintf("%s/api-XXXXXX", test_dir());
	if (!mkdtemp(s.dir))
		abort();
	if (with_pki)
		CHECK_INT(pki_open(s.dir, NULL, &s.pki, &s.e), 0);
	server_open(&s);
	return s;
}

static inline struct server server_new(void)
{
	return server_make(false);
}

/* For service-account tokens, which are signed. */
static inline struct server server_new_with_pki(void)
{
	return server_make(true);
}

static inline void server_done(struct server *s)
{
	server_close(s);
	pki_free(s->pki);
	loop_free(s->loop);
	json_decref(s->warnings);
	free(s->dir);
}

/* "v1/pods", "apps/v1/deployments". */
static inline const struct kind *server_kind(struct server *s, const char *what)
{
	struct str rest = str_of(what);
	struct str parts[3];
	size_t n = 0;
	const struct kind *k;

	while (n < 3 && str_split(&rest, '/', &parts[n]))
		n++;
	auto_free char *group = n == 3 ? xstrndup(parts[0].p, parts[0].n) : xstrdup("");
	auto_free char *version = xstrndup(parts[n - 2].p, parts[n - 2].n);
	auto_free char *plural = xstrndup(parts[n - 1].p, parts[n - 1].n);

	k = registry_find(api_registry(s->api), group, version, plural);
	if (!k) {
		printf("a test asks for %s, which is not served\n", what);
		abort();
	}
	return k;
}

static inline struct api_request server_request(struct server *s, enum verb verb, const char *what, const char *ns,
						const char *name)
{
	return (struct api_request){ .caller = &caller_system,
				     .verb = verb,
				     .kind = server_kind(s, what),
				     .ns = ns,
				     .name = name,
				     .field_manager = "test",
				     .grace_seconds = -1 };
}

/* The answer with kind and apiVersion, a new reference; NULL after an error.  `body` may be NULL. */
static inline json_t *server_call(struct server *s, struct api_request *req, const char *body)
{
	json_auto_t *doc = body ? sample_json(body) : NULL;
	struct api_result res = { 0 };
	json_auto_t *answer = NULL;

	s->e = ERR_INIT;
	s->message[0] = '\0';
	s->code = 0;
	json_decref(s->warnings);
	s->warnings = NULL;
	req->body = doc;
	if (api_call(s->api, req, &res, &s->e) < 0) {
		json_auto_t *status = status_from_err(&s->e, &(struct status_subject){ req->kind, req->name });

		snprintf(s->message, sizeof(s->message), "%s", jsonx_str_or(status, "message", ""));
		s->code = (int)jsonx_int_or(status, "code", 0);
	} else {
		s->code = res.code;
		s->warnings = json_incref(res.warnings);
		if (!res.object)
			object_parse((struct str){ res.text, res.text_len }, &res.object, &s->e);
		answer = res.kind ? object_with_type(res.kind, res.object) : json_incref(res.object);
		api_result_done(&res);
	}
	req->body = NULL;
	if (!s->batch)
		server_turn(s);
	return jsonx_copy(answer); /* stored objects never change; tests do as they like */
}

static inline json_t *server_ask(struct server *s, enum verb verb, const char *what, const char *ns, const char *name,
				 const char *body)
{
	struct api_request req = server_request(s, verb, what, ns, name);

	return server_call(s, &req, body);
}

/* As server_ask() where only success matters: the answer is dropped, an error fails the test. */
static inline void server_do(struct server *s, enum verb verb, const char *what, const char *ns, const char *name,
			     const char *body)
{
	json_auto_t *answer = server_ask(s, verb, what, ns, name, body);

	if (!answer)
		test_fail(__FILE__, __LINE__, "%s %s: %s", verb_name(verb), what, s->message);
}

static inline void server_make_pod(struct server *s, const char *name)
{
	auto_free char *body = xasprintf(SERVER_POD, name);

	server_do(s, VERB_CREATE, "v1/pods", "default", NULL, body);
}

/* Changes an object behind the API's back, as if it came from a server that lets such things pass.  `body` is merged.
 */
static inline void server_smuggle(struct server *s, const char *what, const char *ns, const char *name,
				  const char *body)
{
	json_auto_t *more = sample_json(body);
	json_auto_t *old = NULL, *obj = NULL;
	struct record r;
	int64_t rv;
	int kind;

	s->e = ERR_INIT;
	if (api_store_kind(s->api, server_kind(s, what), &kind, &s->e) < 0 ||
	    store_get(s->store, kind, ns, name, &r, &s->e) < 0 || object_parse(r.body, &old, &s->e) < 0) {
		test_fail(__FILE__, __LINE__, "%s %s: %s", what, name, s->e.text);
		return;
	}
	obj = jsonx_copy(old);
	json_object_update_recursive(obj, more);
	CHECK_INT(store_put(s->store, kind, ns, name, obj, old, &rv, &s->e), 0);
	server_turn(s);
}

/* A ConfigMap in default; `labels` as "{'a':'b'}". */
static inline void server_make_map(struct server *s, const char *name, const char *labels)
{
	auto_free char *body = xasprintf("{'metadata':{'name':'%s','labels':%s}}", name, labels);

	server_do(s, VERB_CREATE, "v1/configmaps", "default", NULL, body);
}

static inline bool server_has(struct server *s, const char *what, const char *ns, const char *name)
{
	json_auto_t *obj = server_ask(s, VERB_GET, what, ns, name, NULL);

	return obj != NULL;
}

#endif
