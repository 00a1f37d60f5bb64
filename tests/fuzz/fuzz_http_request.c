// SPDX-License-Identifier: Apache-2.0
/* fuzz_http_request.c - bytes through the request parser
 *
 * Each input is parsed twice, in one piece and in pieces whose size its first byte says; both must agree.
 */
#include <assert.h>
#include <stdint.h>

#include "base/limits.h"
#include "base/mem.h"
#include "loop/http_internal.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static const struct http_limits limits = { .url = 256, .headers = 1024, .body = 2048 };

static void touch(const struct http_request *req)
{
	const char *name;
	const char *value;

	for (size_t pos = 0; http_header_each(req, &pos, &name, &value);)
		assert(http_header(req, name) && strlen(value) <= limits.headers);
	assert(http_path(req).n <= limits.url && http_query(req).n <= limits.url);
	assert(http_body(req).n <= limits.body);
	assert(http_method(req));
}

static struct http_request *parse(const char *p, size_t n, size_t step)
{
	struct http_request *req = request_new(&limits);

	for (size_t at = 0; at < n && !req->done && !req->fault;) {
		size_t piece = n - at < step ? n - at : step;

		at += request_feed(req, p + at, piece);
	}
	if (req->done)
		touch(req);
	return req;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct http_request *whole;
	struct http_request *pieces;

	if (n < 2)
		return 0;
	whole = parse((const char *)data + 1, n - 1, n);
	pieces = parse((const char *)data + 1, n - 1, (size_t)data[0] % 16 + 1);
	assert(whole->done == pieces->done && !whole->fault == !pieces->fault);
	if (whole->done) {
		assert(whole->nheaders == pieces->nheaders && whole->body_n == pieces->body_n);
		assert(whole->keep_alive == pieces->keep_alive);
	}
	request_free(whole);
	request_free(pieces);
	return 0;
}
