// SPDX-License-Identifier: Apache-2.0
/* fetch.h - libcurl's door: outgoing HTTP(S), also over a Unix socket
 *
 * libcurl is loaded with dlopen on first use: the server never pays for the thirty libraries it brings along.  A
 * fetcher has a few requests under way at a time, and as many streams as were asked for.
 */
#ifndef STOKER_LOOP_FETCH_H
#define STOKER_LOOP_FETCH_H

#include "base/err.h"
#include "base/str.h"
#include "loop/loop.h"

/* Where and as whom; strings are borrowed for the life of the fetcher. PEM texts, not files. */
struct fetch_config {
	const char *base_url;    /* https://127.0.0.1:6443; http://localhost for a socket */
	const char *unix_socket; /* or NULL */
	const char *ca_pem;
	const char *cert_pem, *key_pem;
	const char *token;
	bool insecure; /* kubeconfig's insecure-skip-tls-verify */
	const char *user_agent;
	const char *const *headers; /* NULL-terminated extra headers (impersonation), or NULL */
};

struct fetcher;
struct fetch;

int fetcher_new(struct loop *loop, const struct fetch_config *config, struct fetcher **ret, struct err *e);
void fetcher_free(struct fetcher *f);
/* Another token for what has not begun yet. */
void fetcher_set_token(struct fetcher *f, const char *token);

/* The address that answered last, or NULL: nobody has yet. */
const char *fetcher_peer(const struct fetcher *f);

struct fetch_request {
	const char *method;
	const char *path;         /* with query */
	const char *content_type; /* or NULL */
	const char *accept;       /* or NULL */
	struct str body;
	/* The whole reply, or the transport's error (e->kind != ERR_NONE, code 0).  Called once; the fetch is gone
	 * after it. */
	void (*done)(void *arg, int code, struct str body, const struct err *e);
	/* For streams: called for each piece as it arrives (code is 200), `done` then gets an empty body.  NULL:
	 * collect. */
	void (*piece)(void *arg, struct str piece);
	void *arg;
};

struct fetch *fetch_start(struct fetcher *f, const struct fetch_request *req);
/* No callback will follow. */
void fetch_cancel(struct fetch *fetch);

#endif
