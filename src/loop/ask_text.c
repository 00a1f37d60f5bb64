// SPDX-License-Identifier: Apache-2.0
/* ask_text.c - the text of a question, and where a redirect leads.  Pure */
#include "loop/ask_text.h"

#include <http_parser.h>
#include <strings.h>

#include "base/limits.h"
#include "base/mem.h"

char *ask_text_address(const struct ask_place *at)
{
	return xasprintf(strchr(at->host, ':') ? "[%s]:%d" : "%s:%d", at->host, at->port);
}

/* What may not stand in a request line is escaped; what is escaped already stays. */
char *ask_text_path(const char *path)
{
	struct sbuf out = SBUF(LIMIT_URL);

	if (*path != '/')
		sbuf_addc(&out, '/');
	for (; *path; path++) {
		unsigned char c = (unsigned char)*path;

		if (c <= 0x20 || c >= 0x7f || c == '"' || c == '#')
			sbuf_addf(&out, "%%%02X", c);
		else
			sbuf_addc(&out, (char)c);
	}
	return sbuf_steal(&out);
}

static const char *header_of(const json_t *headers, const char *name)
{
	json_t *h;
	size_t i;

	json_array_foreach (headers, i, h) {
		const char *has = json_string_value(json_object_get(h, "name"));
		const char *value = json_string_value(json_object_get(h, "value"));

		if (has && strcasecmp(has, name) == 0)
			return value ? value : "";
	}
	return NULL;
}

/* A header that would end the line it stands in is not sent: it would be a second question. */
static bool fits_line(const char *s)
{
	for (; *s; s++)
		if ((unsigned char)*s < 0x20 && *s != '\t')
			return false;
	return true;
}

static void add_header(struct sbuf *out, const char *name, const char *value)
{
	if (*value && fits_line(name) && fits_line(value))
		sbuf_addf(out, "%s: %s\r\n", name, value);
}

static void add_usual(struct sbuf *out, const json_t *headers, const char *name, const char *value)
{
	const char *own = header_of(headers, name);

	add_header(out, name, own ? own : value);
}

void ask_text_question(const struct ask_place *to, const char *agent, const json_t *headers, struct sbuf *out)
{
	static const char *const usual[] = { "Host",       "User-Agent",     "Accept",
					     "Connection", "Content-Length", "Transfer-Encoding" };
	auto_free char *host = ask_text_address(to);
	json_t *h;
	size_t i;

	sbuf_addf(out, "GET %s HTTP/1.1\r\n", to->path);
	add_usual(out, headers, "Host", host);
	add_usual(out, headers, "User-Agent", agent);
	add_usual(out, headers, "Accept", "*/*");
	json_array_foreach (headers, i, h) {
		const char *name = json_string_value(json_object_get(h, "name"));
		const char *value = json_string_value(json_object_get(h, "value"));
		bool known = !name || !value;

		for (size_t k = 0; !known && k < ARRAY_SIZE(usual); k++)
			known = strcasecmp(name, usual[k]) == 0;
		if (!known)
			add_header(out, name, value);
	}
	sbuf_adds(out, "Connection: close\r\n\r\n");
}

static char *url_part(const char *url, const struct http_parser_url *u, int part)
{
	return xstrndup(url + u->field_data[part].off, u->field_data[part].len);
}

/* "http://same-host/...": false if it is another host's, or no URL we can ask. */
static bool follow_url(struct ask_place *at, const char *url)
{
	auto_free char *scheme = NULL, *host = NULL;
	struct http_parser_url u;
	bool https;

	http_parser_url_init(&u);
	if (http_parser_parse_url(url, strlen(url), 0, &u) != 0 || !(u.field_set & (1 << UF_HOST)))
		return false;
	scheme = url_part(url, &u, UF_SCHEMA);
	host = url_part(url, &u, UF_HOST);
	https = strcasecmp(scheme, "https") == 0;
	if ((!https && strcasecmp(scheme, "http") != 0) || strcasecmp(host, at->host) != 0)
		return false;
	at->https = https;
	at->port = u.field_set & (1 << UF_PORT) ? u.port : https ? 443 : 80;
	free(at->path);
	at->path = ask_text_path(u.field_set & (1 << UF_PATH) ? url + u.field_data[UF_PATH].off : "/");
	return true;
}

/* "/path", or one that is relative to where we are. */
static void follow_path(struct ask_place *at, const char *path)
{
	size_t dir = strcspn(at->path, "?");
	auto_free char *whole = NULL;

	while (dir && at->path[dir - 1] != '/')
		dir--;
	whole = *path == '/' ? xstrdup(path) : xasprintf("%.*s%s", (int)dir, at->path, path);
	free(at->path);
	at->path = ask_text_path(whole);
}

bool ask_text_redirect(struct ask_place *at, const char *location)
{
	auto_free char *to = xstrdup(location);

	to[strcspn(to, "#")] = '\0';
	if (!*to || str_starts(to, "//"))
		return false;
	if (*to != '/' && strstr(to, "://"))
		return follow_url(at, to);
	follow_path(at, to);
	return true;
}
