// SPDX-License-Identifier: Apache-2.0
/* http_request.c - bytes to a request, within limits
 *
 * libhttp-parser calls back with slices of whatever piece has arrived; here they are put together: URL and headers into
 * one text with a NUL after each part, the body into a buffer that grows as bytes really come.  Knows no sockets, so
 * the fuzzer feeds it directly.  The parser itself refuses what two readers could take for two different messages: a
 * repeated Content-Length, one beside Transfer-Encoding, a coding other than chunked at the end.
 */
#include <strings.h>

#include "base/mem.h"
#include "loop/http_internal.h"

#define TEXT_FIRST   1024u        /* a kubectl request's head */
#define TEXT_KEPT    (8u * 1024)  /* larger buffers are given back between requests */
#define BODY_FIRST   (64u * 1024) /* the announced length is believed up to this */
#define BODY_KEPT    (16u * 1024)
#define HEADERS_MAX  256u         /* lines */
#define EXTRA_MAX    (64u * 1024) /* a relayed reply may have many; our own stay below HEAD_MAX */
#define PARSER_SLACK (64u * 1024) /* the parser's own ceiling lies above ours, so that ours decides */

#define LIMIT(field) offsetof(struct http_limits, field)

static const struct fault fault_url = { ERR_TOO_LARGE, 414, "the request's URL is too long", LIMIT(url) };
static const struct fault fault_headers = { ERR_TOO_LARGE, 431, "the request's headers are too large", LIMIT(headers) };
static const struct fault fault_body = { ERR_TOO_LARGE, 413, "the request's body is too large", LIMIT(body) };
static const struct fault fault_version = { ERR_BAD_REQUEST, 505, "only HTTP/1.0 and HTTP/1.1 are spoken here", 0 };
static const struct fault fault_lengths = { ERR_BAD_REQUEST, 400,
					    "the request has conflicting Content-Length or Transfer-Encoding headers",
					    0 };
static const struct fault fault_syntax = { ERR_BAD_REQUEST, 400, "the request is not valid HTTP", 0 };
const struct fault fault_timeout = { ERR_TIMEOUT, 408, "the request did not arrive in time", 0 };

static struct http_request *request_of(const http_parser *p)
{
	return p->data;
}

static int refuse(struct http_request *req, const struct fault *fault)
{
	req->fault = fault;
	return -1;
}

static void text_add(struct http_request *req, const char *p, size_t n)
{
	if (req->text_n + n + 1 > req->text_cap) {
		size_t cap = req->text_cap ? req->text_cap : TEXT_FIRST;

		while (cap < req->text_n + n + 1)
			cap *= 2;
		req->text = xrealloc(req->text, cap);
		req->text_cap = cap;
	}
	memcpy(req->text + req->text_n, p, n);
	req->text_n += n;
}

static int on_url(http_parser *p, const char *at, size_t n)
{
	struct http_request *req = request_of(p);

	if (req->text_n + n > req->limits->url)
		return refuse(req, &fault_url);
	text_add(req, at, n);
	return 0;
}

/* Ends the header whose value has been coming in; trailing blanks are not part of it. */
static void end_value(struct http_request *req)
{
	struct header *h = &req->headers[req->nheaders - 1];

	if (!req->in_value) { /* a name, and then nothing */
		text_add(req, "", 1);
		h->value = (uint32_t)req->text_n;
	}
	while (req->text_n > h->value && (req->text[req->text_n - 1] == ' ' || req->text[req->text_n - 1] == '\t'))
		req->text_n--;
	text_add(req, "", 1);
	req->in_value = false;
}

/* Ends the URL, or the header before this one. */
static void end_line(struct http_request *req)
{
	if (req->nheaders) {
		end_value(req);
		return;
	}
	req->url_n = req->text_n;
	text_add(req, "", 1);
}

static bool headers_full(const struct http_request *req, size_t more)
{
	return req->nheaders > HEADERS_MAX || (req->nheaders && req->text_n - req->url_n + more > req->limits->headers);
}

static int on_header_field(http_parser *p, const char *at, size_t n)
{
	struct http_request *req = request_of(p);

	if (req->head_done) /* trailers of a chunked body: nobody asks for them */
		return 0;
	if (req->nheaders == 0 || req->in_value) {
		end_line(req);
		ARRAY_PUSH(req->headers, req->nheaders, req->headers_cap,
			   ((struct header){ .name = (uint32_t)req->text_n }));
	}
	if (headers_full(req, n))
		return refuse(req, &fault_headers);
	text_add(req, at, n);
	req->headers[req->nheaders - 1].name_len += (uint32_t)n;
	return 0;
}

static int on_header_value(http_parser *p, const char *at, size_t n)
{
	struct http_request *req = request_of(p);

	if (req->head_done)
		return 0;
	if (!req->in_value) {
		text_add(req, "", 1);
		req->headers[req->nheaders - 1].value = (uint32_t)req->text_n;
		req->in_value = true;
	}
	if (headers_full(req, n))
		return refuse(req, &fault_headers);
	text_add(req, at, n);
	return 0;
}

/* /path?query, http://host/path?query, or * and host:port, which are all path.  A fragment is not sent by anyone sane.
 */
static void split_url(struct http_request *req)
{
	struct str url = { req->text, strcspn(req->text, "#") };
	const char *scheme = url.n && url.p[0] != '/' ? memmem(url.p, url.n, "://", 3) : NULL;

	if (scheme) {
		size_t skip = (size_t)(scheme - url.p) + 3;

		skip += strcspn(url.p + skip, "/?#");
		url = (struct str){ url.p + skip, url.n - skip };
	}
	str_split(&url, '?', &req->path);
	if (!req->path.n)
		req->path = STR("/");
	req->query = url.p ? url : STR("");
}

static int on_headers_complete(http_parser *p)
{
	struct http_request *req = request_of(p);
	bool has_body = (p->flags & F_CHUNKED) || (p->content_length && p->content_length != UINT64_MAX);
	const char *expect;

	end_line(req);
	req->head_done = true;
	split_url(req);
	req->http10 = p->http_minor == 0;
	req->is_head = p->method == HTTP_HEAD;
	if (p->http_major != 1)
		return refuse(req, &fault_version);
	if (has_body && !(p->flags & F_CHUNKED) && p->content_length > req->limits->body)
		return refuse(req, &fault_body);
	expect = has_body && !req->http10 ? http_header(req, "Expect") : NULL;
	req->wants_continue = expect && strcasecmp(expect, "100-continue") == 0;
	return 0;
}

static int on_body(http_parser *p, const char *at, size_t n)
{
	struct http_request *req = request_of(p);

	req->wants_continue = false;
	if (n > req->limits->body - req->body_n)
		return refuse(req, &fault_body);
	if (req->body_n + n + 1 > req->body_cap) {
		/* content_length is what is still to come after this piece. */
		size_t rest = p->flags & F_CHUNKED ? 0 : (size_t)p->content_length;
		size_t cap = req->body_n + n + 1 + (rest < BODY_FIRST ? rest : BODY_FIRST);

		if (cap < req->body_cap * 2)
			cap = req->body_cap * 2;
		req->body = xrealloc(req->body, cap);
		req->body_cap = cap;
	}
	memcpy(req->body + req->body_n, at, n);
	req->body_n += n;
	req->body[req->body_n] = '\0';
	return 0;
}

static int on_message_complete(http_parser *p)
{
	struct http_request *req = request_of(p);

	req->done = true;
	req->wants_continue = false;
	req->keep_alive = http_should_keep_alive(p);
	http_parser_pause(p, 1);
	return 0;
}

static const http_parser_settings settings = {
	.on_url = on_url,
	.on_header_field = on_header_field,
	.on_header_value = on_header_value,
	.on_headers_complete = on_headers_complete,
	.on_body = on_body,
	.on_message_complete = on_message_complete,
};

struct http_request *request_new(const struct http_limits *limits)
{
	struct http_request *req = xcalloc(1, sizeof(*req));

	req->limits = limits;
	http_parser_set_max_header_size((uint32_t)(limits->url + limits->headers + PARSER_SLACK));
	sbuf_init(&req->extra, EXTRA_MAX);
	request_reset(req);
	return req;
}

void request_reset(struct http_request *req)
{
	struct http_request kept = {
		.limits = req->limits,
		.text = req->text,
		.text_cap = req->text_cap,
		.headers = req->headers,
		.headers_cap = req->headers_cap,
		.body = req->body,
		.body_cap = req->body_cap,
		.extra = req->extra,
	};

	if (kept.text_cap > TEXT_KEPT) {
		free(kept.text);
		kept.text = NULL;
		kept.text_cap = 0;
	}
	if (kept.body_cap > BODY_KEPT) {
		free(kept.body);
		kept.body = NULL;
		kept.body_cap = 0;
	}
	*req = kept;
	sbuf_reset(&req->extra);
	http_parser_init(&req->parser, HTTP_REQUEST);
	req->parser.data = req;
}

void request_free(struct http_request *req)
{
	if (!req)
		return;
	free(req->text);
	free(req->headers);
	free(req->body);
	sbuf_done(&req->extra);
	free(req);
}

static const struct fault *fault_of(enum http_errno code)
{
	switch (code) {
	case HPE_HEADER_OVERFLOW:
		return &fault_headers;
	case HPE_UNEXPECTED_CONTENT_LENGTH:
	case HPE_INVALID_CONTENT_LENGTH:
	case HPE_INVALID_TRANSFER_ENCODING:
		return &fault_lengths;
	case HPE_INVALID_VERSION:
		return &fault_version;
	default:
		return &fault_syntax;
	}
}

size_t request_feed(struct http_request *req, const char *p, size_t n)
{
	size_t used = http_parser_execute(&req->parser, &settings, p, n);

	if (!req->done && !req->fault && HTTP_PARSER_ERRNO(&req->parser) != HPE_OK)
		req->fault = fault_of(HTTP_PARSER_ERRNO(&req->parser));
	return used;
}

const char *http_method(const struct http_request *req)
{
	return http_method_str((enum http_method)req->parser.method);
}

struct str http_path(const struct http_request *req)
{
	return req->path;
}

struct str http_query(const struct http_request *req)
{
	return req->query;
}

const char *http_header_next(const struct http_request *req, const char *name, size_t *pos)
{
	size_t n = strlen(name);

	while (*pos < req->nheaders) {
		const struct header *h = &req->headers[(*pos)++];

		if (h->name_len == n && strncasecmp(req->text + h->name, name, n) == 0)
			return req->text + h->value;
	}
	return NULL;
}

const char *http_header(const struct http_request *req, const char *name)
{
	size_t pos = 0;

	return http_header_next(req, name, &pos);
}

bool http_header_each(const struct http_request *req, size_t *pos, const char **ret_name, const char **ret_value)
{
	const struct header *h;

	if (*pos >= req->nheaders)
		return false;
	h = &req->headers[(*pos)++];
	*ret_name = req->text + h->name;
	*ret_value = req->text + h->value;
	return true;
}

struct str http_body(const struct http_request *req)
{
	return (struct str){ req->body_n ? req->body : "", req->body_n };
}
