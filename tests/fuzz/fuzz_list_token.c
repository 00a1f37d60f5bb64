// SPDX-License-Identifier: Apache-2.0
/* fuzz_list_token.c - anything as a continue token, and as what a token holds: a place in the past, or a refusal */
#include <stdlib.h>

#include "api/list.h"
#include "base/limits.h"
#include "base/mem.h"

#define NOW 1000

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static void resume(const char *token)
{
	struct list_walk w = { 0 };
	struct err e = ERR_INIT;

	if (list_walk_resume(&w, token, NOW, &e) < 0) {
		if (e.kind != ERR_BAD_REQUEST || w.after_name)
			abort();
		return;
	}
	if (w.at > NOW || !w.after_ns || !w.after_name)
		abort();
	list_walk_done(&w);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	auto_free char *text = xstrndup((const char *)data, n);
	auto_sbuf struct sbuf token = SBUF(LIMIT_BODY);

	resume(text);
	base64url_encode(data, n, &token);
	resume(token.p ? token.p : "");
	return 0;
}
