// SPDX-License-Identifier: Apache-2.0
/* fuzz_http_path.c - escapes and query strings: whatever is accepted is UTF-8 without NUL */
#include <assert.h>
#include <stdint.h>

#include "base/mem.h"
#include "loop/http.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct str rest = { (const char *)data, n };
	auto_sbuf struct sbuf key = SBUF(4096);
	auto_sbuf struct sbuf value = SBUF(4096);
	bool bad;

	if (http_unescape(rest, false, &key)) {
		assert(str_is_utf8(sbuf_str(&key).p, key.n));
		assert(!memchr(sbuf_str(&key).p, '\0', key.n));
	}
	while (http_query_next(&rest, &key, &value, &bad))
		assert(!memchr(sbuf_str(&value).p, '\0', value.n));
	return 0;
}
