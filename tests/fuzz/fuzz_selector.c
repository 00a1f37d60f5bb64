// SPDX-License-Identifier: Apache-2.0
/* fuzz_selector.c - label selectors survive their own canonical text; field selectors never fail in a worse way than an
 * error */
#include "base/mem.h"
#include "kinds/selector.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static const struct selectable fields[] = { { "a", "a", NULL }, { "b", "b.c", "x" } };
static const struct kind kind = { .group = "",
				  .version = "v1",
				  .kind = "K",
				  .plural = "ks",
				  .namespaced = true,
				  .selectable = fields,
				  .nselectable = ARRAY_SIZE(fields) };

static void try_labels(const char *input)
{
	auto_sbuf struct sbuf text = SBUF(1 << 20);
	auto_sbuf struct sbuf twice = SBUF(1 << 20);
	struct selector *s = NULL;
	struct selector *again = NULL;
	struct err e = ERR_INIT;

	if (selector_parse_labels(input, &s, &e) < 0)
		return;
	selector_match_labels(s, NULL);
	selector_text(s, &text);
	if (selector_parse_labels(sbuf_str(&text).p, &again, &e) < 0)
		__builtin_trap();
	selector_text(again, &twice);
	if (!streq(sbuf_str(&text).p, sbuf_str(&twice).p))
		__builtin_trap();
	selector_free(s);
	selector_free(again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	auto_free char *input = xstrndup((const char *)data, n);
	json_auto_t *obj = json_pack("{s:s,s:{s:i}}", "a", "b", "b", "c", 1);
	struct selector *s = NULL;
	struct err e = ERR_INIT;

	try_labels(input);
	if (selector_parse_fields(input, &kind, &s, &e) == 0) {
		selector_match_fields(s, obj);
		selector_free(s);
	}
	return 0;
}
