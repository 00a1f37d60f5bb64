// SPDX-License-Identifier: Apache-2.0
/* fuzz_ask_text.c - wherever a server sends us, we stay on its host and ask one well-formed question */
#include "base/mem.h"
#include "loop/ask_text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	auto_free char *location = xstrndup((const char *)data, n);
	struct ask_place at = { .host = xstrdup("10.0.0.1"), .path = xstrdup("/a/b?c=/d"), .port = 80 };
	auto_sbuf struct sbuf out = SBUF(1 << 20);
	const char *end;

	ask_text_redirect(&at, location);
	ask_text_question(&at, "fuzz", NULL, &out);
	if (!streq(at.host, "10.0.0.1") || at.port < 0 || at.port > 65535 || at.path[0] != '/')
		__builtin_trap();
	for (const char *p = at.path; *p; p++)
		if (*p <= ' ' || *p == 0x7f)
			__builtin_trap();
	end = out.p ? strstr(out.p, "\r\n\r\n") : NULL;
	if (!end || end[4])
		__builtin_trap();
	free(at.host);
	free(at.path);
	return 0;
}
