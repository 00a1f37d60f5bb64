// SPDX-License-Identifier: Apache-2.0
/* fuzz_negotiate.c - any Accept or Content-Type header: a form that was offered, or a refusal */
#include "api/negotiate.h"

#include <stdlib.h>

#include "base/mem.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	static const unsigned offers[] = { FORMS_OBJECT, FORMS_DOCUMENT, FORMS_DOCUMENT | FORM(DISCOVERY),
					   FORM(TABLE) };
	auto_free char *header = xstrndup((const char *)data, n);

	for (size_t i = 0; i < ARRAY_SIZE(offers); i++) {
		struct accept a = { 0 };
		struct err e = ERR_INIT;

		if (negotiate_accept(header, offers[i], &a, &e) < 0) {
			if (e.kind != ERR_NOT_ACCEPTABLE)
				abort();
			continue;
		}
		/* An empty header takes JSON, whatever is offered. */
		if (!(offers[i] & (1u << a.form)) && str_trim(str_of(header)).n)
			abort();
		if (!a.meta_version || a.meta_version[0] != 'v')
			abort();
	}
	if ((unsigned)negotiate_body(header) > BODY_UNKNOWN || (unsigned)negotiate_patch(header) > PATCH_APPLY)
		abort();
	return 0;
}
