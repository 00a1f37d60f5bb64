// SPDX-License-Identifier: Apache-2.0
/* http_open.c - finds the server: a socket, a kubeconfig, or the cluster whose pod this is */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/file.h"
#include "base/limits.h"
#include "base/mem.h"
#include "client/http_parts.h"

#define PAGE        250 /* of pods it is a megabyte of text, and ten of memory until they are lean */
#define ACCOUNT_DIR "/var/run/secrets/kubernetes.io/serviceaccount"

/* The service account of the pod that this is, if it is one. */
static int read_pod_account(struct kubeconfig *k, struct err *e)
{
	auto_sbuf struct sbuf ca = SBUF(LIMIT_BODY);
	auto_sbuf struct sbuf token = SBUF(LIMIT_BODY);
	const char *host = getenv("KUBERNETES_SERVICE_HOST");
	const char *port = getenv("KUBERNETES_SERVICE_PORT");

	if (file_read(ACCOUNT_DIR "/ca.crt", LIMIT_BODY, &ca, e) < 0 ||
	    file_read(ACCOUNT_DIR "/token", LIMIT_BODY, &token, e) < 0)
		return -1;
	k->server = xasprintf(strchr(host, ':') ? "https://[%s]:%s" : "https://%s:%s", host, port ? port : "443");
	k->ca_pem = sbuf_steal(&ca);
	k->token = xstrndup(str_trim(sbuf_str(&token)).p, str_trim(sbuf_str(&token)).n);
	k->token_file = xstrdup(ACCOUNT_DIR "/token");
	return 0;
}

/* Fills socket or config by the order of the contract. */
static int find_server(struct http_client *h, const struct client_options *o, struct err *e)
{
	const char *env_socket = getenv("STOKER_SOCKET");
	const char *env_config = getenv("KUBECONFIG");
	const char *file = o->kubeconfig ? o->kubeconfig : env_config && *env_config ? env_config : NULL;
	auto_sbuf struct sbuf path = SBUF(LIMIT_URL);
	auto_free char *first = NULL;
	bool found;

	if (o->socket || (env_socket && *env_socket && !o->kubeconfig)) {
		h->socket = xstrdup(o->socket ? o->socket : env_socket);
		return 0;
	}
	if (file) {
		first = xstrndup(file, strcspn(file, ":"));
		return kubeconfig_read(first, o->context, &h->config, e);
	}
	found = usual_socket_path(&path);
	if (!found && getenv("KUBERNETES_SERVICE_HOST") && access(ACCOUNT_DIR "/token", R_OK) == 0)
		return read_pod_account(&h->config, e);
	if (!found)
		return err_set(
			e, ERR_UNAVAILABLE,
			"no server found: %s does not exist. Start one with `stoker serve`, or name one with --socket, "
			"--kubeconfig, $STOKER_SOCKET or $KUBECONFIG",
			path.p);
	h->socket = sbuf_steal(&path);
	return 0;
}

int client_http_new(struct loop *loop, const struct client_options *o, struct client **ret, struct err *e)
{
	struct http_client *h = xcalloc(1, sizeof(*h));
	struct fetch_config fc = { .user_agent = "stoker/" STOKER_VERSION };

	h->base = (struct client){ .ops = &http_ops, .loop = loop };
	h->patient = o->patient;
	h->base.page = o->patient ? PAGE : 0;
	LIST_INIT(&h->calls);
	LIST_INIT(&h->creations);
	if (find_server(h, o, e) < 0) {
		client_free(&h->base);
		return -1;
	}
	if (h->config.token_file)
		h->token_file = token_file_new(h->config.token_file, h->config.token);
	h->ns = h->socket ? client_own_namespace() : xstrdup(h->config.ns ? h->config.ns : "default");
	fc.unix_socket = h->socket;
	fc.base_url = h->socket ? "http://localhost" : h->config.server;
	h->base.ca_pem = h->socket ? NULL : h->config.ca_pem;
	fc.ca_pem = h->config.ca_pem;
	fc.cert_pem = h->config.cert_pem;
	fc.key_pem = h->config.key_pem;
	fc.token = h->config.token;
	fc.insecure = h->config.insecure;
	if (o->as) {
		h->impersonate = xasprintf("Impersonate-User: %s", o->as);
		h->headers[0] = h->impersonate;
		fc.headers = h->headers;
	}
	if (fetcher_new(loop, &fc, &h->fetcher, e) < 0) {
		client_free(&h->base);
		return -1;
	}
	*ret = &h->base;
	return 0;
}

bool client_is_local(const struct client *c)
{
	static const char *const here[] = { "https://127.", "https://localhost:", "https://localhost/",
					    "https://[::1]" };
	const struct http_client *h = (const struct http_client *)c;
	bool is = c->ops != &http_ops || h->socket;

	for (size_t i = 0; !is && i < ARRAY_SIZE(here); i++)
		is = str_starts(h->config.server, here[i]);
	return is;
}

const char *client_default_namespace(const struct client *c)
{
	return c->ops == &http_ops ? ((const struct http_client *)c)->ns : "default";
}

const char *client_server(const struct client *c)
{
	const struct http_client *h = (const struct http_client *)c;

	return c->ops != &http_ops ? "this process" : h->socket ? h->socket : h->config.server;
}
