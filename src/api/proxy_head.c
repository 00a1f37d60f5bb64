// SPDX-License-Identifier: Apache-2.0
/* proxy_head.c - headers on their way through the proxy
 *
 * What is about one connection stays on it, and so does what says who the client is to us: a pod must not get the token
 * of everyone who looks at its pages.
 */
#include <strings.h>

#include "api/proxy.h"
#include "base/mem.h"

static const char *const kept[] = {
	"Connection",
	"Keep-Alive",
	"Proxy-Authenticate",
	"Proxy-Authorization",
	"Proxy-Connection",
	"TE",
	"Trailer",
	"Transfer-Encoding",
	"Upgrade",
	"Expect",
	"Host",
	"Authorization",
	"Content-Length",
	"X-Forwarded-For",
	"X-Forwarded-Host",
	"X-Forwarded-Proto",
	"X-Forwarded-Uri",
};

bool proxy_keeps(const char *name, const char *connection)
{
	struct str rest = str_of(connection);
	struct str part;

	for (size_t i = 0; i < ARRAY_SIZE(kept); i++)
		if (strcasecmp(name, kept[i]) == 0)
			return true;
	if (strncasecmp(name, "Impersonate-", 12) == 0)
		return true;
	while (connection && str_split(&rest, ',', &part)) {
		part = str_trim(part);
		if (part.n == strlen(name) && strncasecmp(part.p, name, part.n) == 0)
			return true;
	}
	return false;
}

/* "127.0.0.1:4711" without its port. */
static struct str address_of(const struct http_request *req)
{
	const char *peer = http_peer(req)->address;
	const char *colon = strrchr(peer, ':');

	return colon ? (struct str){ peer, (size_t)(colon - peer) } : str_of(peer);
}

/* What a header may not carry becomes a space, so that nobody can add lines. */
static void add_line(struct sbuf *out, const char *name, const char *value)
{
	sbuf_adds(out, name);
	sbuf_adds(out, ": ");
	for (const char *p = value; *p; p++)
		sbuf_addc(out, (unsigned char)*p < ' ' || *p == 0x7f ? ' ' : *p);
	sbuf_adds(out, "\r\n");
}

static void add_forwarded(const struct http_request *req, struct sbuf *out)
{
	const char *before = http_header(req, "X-Forwarded-For");
	const char *host = http_header(req, "Host");
	bool local = http_peer(req)->local;

	auto_free char *path = xstrndup(http_path(req).p, http_path(req).n);
	auto_free char *from =
		xasprintf("%s%s%.*s", before ? before : "", before ? ", " : "", STR_FMT(address_of(req)));

	if (!local)
		add_line(out, "X-Forwarded-For", from);
	if (host)
		add_line(out, "X-Forwarded-Host", host);
	add_line(out, "X-Forwarded-Proto", local ? "http" : "https");
	add_line(out, "X-Forwarded-Uri", path);
}

void proxy_request_head(const struct http_request *req, const char *method, struct str path, const char *host,
			const char *upgrade, struct sbuf *out)
{
	const char *connection = http_header(req, "Connection");
	struct str query = http_query(req);
	struct str body = http_body(req);
	const char *name;
	const char *value;

	sbuf_addf(out, "%s %.*s%s%.*s HTTP/1.1\r\nHost: %s\r\n", method, STR_FMT(path), query.n ? "?" : "",
		  STR_FMT(query), host);
	for (size_t pos = 0; http_header_each(req, &pos, &name, &value);)
		if (!proxy_keeps(name, connection))
			add_line(out, name, value);
	add_forwarded(req, out);
	add_line(out, "Connection", upgrade ? "Upgrade" : "close");
	if (upgrade)
		add_line(out, "Upgrade", upgrade);
	if (body.n || streq(method, "POST") || streq(method, "PUT") || streq(method, "PATCH"))
		sbuf_addf(out, "Content-Length: %zu\r\n", body.n);
	sbuf_adds(out, "\r\n");
}

/* Behind scheme and host, if those are the backend's; NULL if they are someone else's. */
static const char *own_path(const char *location, const char *host)
{
	const char *scheme = strstr(location, "://");
	size_t n = strlen(host);
	const char *rest;

	if (!scheme)
		return location[0] == '/' && location[1] != '/' ? location : NULL;
	if (strncasecmp(scheme + 3, host, n) != 0)
		return NULL;
	rest = scheme + 3 + n;
	return *rest == '/' || *rest == '\0' ? rest : NULL;
}

void proxy_location(const char *location, const char *host, const char *prefix, struct sbuf *out)
{
	const char *path = own_path(location, host);
	size_t n = strlen(prefix);

	if (!path) {
		sbuf_adds(out, location);
		return;
	}
	/* A server that was told where it lives says so itself. */
	if (strncmp(path, prefix, n) != 0 || (path[n] != '/' && path[n] != '\0'))
		sbuf_adds(out, prefix);
	sbuf_adds(out, *path ? path : "/");
}
