// SPDX-License-Identifier: Apache-2.0
/* ask.c - see ask.h
 *
 * libcurl cannot do it, so the connection is our own, with the same certificates and token.  Names are not looked up
 * here, which could take long: libcurl has done that for the requests before this one, and says what it found.
 */
#include "client/ask.h"

#include <arpa/inet.h>

#include "base/mem.h"
#include "client/http_parts.h"

bool server_url_parse(const char *text, struct server_url *ret)
{
	static const struct {
		const char *scheme;
		int port;
		bool plain;
	} schemes[] = { { "https://", 443, false }, { "http://", 80, true } };
	size_t i = 0;
	const char *end;
	int64_t port;

	while (i < ARRAY_SIZE(schemes) && !str_starts(text, schemes[i].scheme))
		i++;
	if (i == ARRAY_SIZE(schemes))
		return false;
	text += strlen(schemes[i].scheme);
	*ret = (struct server_url){ .port = schemes[i].port, .plain = schemes[i].plain };
	if (*text == '[') {
		end = strchr(text, ']');
		if (!end)
			return false;
		ret->host = xstrndup(text + 1, (size_t)(end - text - 1));
		end++;
	} else {
		end = text + strcspn(text, ":/");
		ret->host = xstrndup(text, (size_t)(end - text));
	}
	ret->prefix = end + strcspn(end, "/");
	if (*end == ':') {
		auto_free char *number = xstrndup(end + 1, (size_t)(ret->prefix - end - 1));

		if (!str_int64(number, 1, 65535, &port))
			port = 0;
		ret->port = (int)port;
	}
	if (!*ret->host || !ret->port) {
		free(TAKE(ret->host));
		return false;
	}
	if (streq(ret->prefix, "/"))
		ret->prefix = "";
	return true;
}

static bool is_address(const char *host)
{
	unsigned char raw[sizeof(struct in6_addr)];

	return inet_pton(AF_INET, host, raw) == 1 || inet_pton(AF_INET6, host, raw) == 1;
}

int client_ask(struct client *c, const char *path, const struct remote_ask_handlers *h, struct remote_ask **ret,
	       struct err *e)
{
	struct http_client *http = (struct http_client *)c;
	struct remote_ask_place to = { .socket = http->socket, .headers = http->impersonate ? http->headers : NULL };
	struct server_url url = { 0 };
	int r;

	if (c->ops != &http_ops)
		return err_set(e, ERR_INVALID, "%s: has no commands in pods", client_server(c));
	if (to.socket)
		return remote_ask_new(c->loop, &to, path, h, ret, e);
	if (!server_url_parse(http->config.server, &url))
		return err_set(e, ERR_INVALID, "%s: is not the URL of a server", http->config.server);
	to.address = is_address(url.host) ? url.host : fetcher_peer(http->fetcher);
	to.port = url.port;
	to.plain = url.plain;
	to.prefix = url.prefix;
	if (http->token_file && token_file_changed(http->token_file))
		fetcher_set_token(http->fetcher, token_file_text(http->token_file));
	to.token = http->token_file ? token_file_text(http->token_file) : http->config.token;
	to.trust = (struct tls_trust){ .host = url.host,
				       .ca_pem = http->config.ca_pem,
				       .cert_pem = http->config.cert_pem,
				       .key_pem = http->config.key_pem,
				       .insecure = http->config.insecure };
	r = to.address ? remote_ask_new(c->loop, &to, path, h, ret, e)
		       : err_set(e, ERR_UNAVAILABLE, "%s does not answer", http->config.server);
	free(url.host);
	return r;
}
