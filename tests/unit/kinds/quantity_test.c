// SPDX-License-Identifier: Apache-2.0
#include "kinds/quantity.h"

#include "base/mem.h"
#include "test.h"

TEST("quantities are canonical as Kubernetes stores them")
{
	static const struct {
		const char *in, *out;
	} rows[] = {
		{ "0", "0" },
		{ "0Gi", "0" },
		{ "-0", "0" },
		{ "1", "1" },
		{ "+1", "1" },
		{ "0.5", "500m" },
		{ ".5", "500m" },
		{ "5.", "5" },
		{ "500m", "500m" },
		{ "1500m", "1500m" },
		{ "1000m", "1" },
		{ "2000", "2k" },
		{ "1000k", "1M" },
		{ "1024", "1024" },
		{ "1024Mi", "1Gi" },
		{ "1.5Gi", "1536Mi" },
		{ "0.5Ki", "512" },
		{ "0.5Mi", "512Ki" },
		{ "1536", "1536" },
		{ "1e3", "1e3" },
		{ "2E6", "2e6" },
		{ "12e0", "12" },
		{ "1E", "1E" },
		{ "1Ei", "1Ei" },
		{ "1e-3", "1e-3" },
		{ "100n", "100n" },
		{ "0.1n", "1n" },
		{ "-0.1n", "-1n" },
		{ "1u", "1u" },
		{ "-500m", "-500m" },
		{ "9223372036854775807", "9223372036854775807" },
		{ "9223372036854775808", "9223372036854775807" },
		{ "100E", "9223372036854775807" },
		{ "16Ei", "9223372036854775807" },
		{ "1e100", "9223372036854775807" },
		{ "1e-100", "1e-9" },
		{ "0e99999999999", "0" },
		{ "100000000000000000000000n", "100T" },
		{ "0.0000000000000000000001Ei", "115293n" },
		{ "0.1Ki", "102400m" },
		{ "1.1Gi", "1181116006400m" },
		{ "1.0000000001", "1000000001n" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct quantity q, again;
		char text[QUANTITY_TEXT], twice[QUANTITY_TEXT];

		CHECK(quantity_parse(rows[i].in, &q));
		quantity_text(&q, text);
		CHECK_STR(text, rows[i].out);
		CHECK(quantity_parse(text, &again));
		quantity_text(&again, twice);
		CHECK_STR(twice, text);
	}
}

TEST("what is no quantity is refused")
{
	static const char *const wrong[] = { "",     " ",   "x",   "1x",  "1 ",   "1 Gi", "1.2.3", ".",    "-",  "--1",
					     "1gi",  "1KI", "1K",  "1e",  "1e+",  "1e3x", "0x10",  "1Gib", "Gi", "1mi",
					     "1e3m", "NaN", "inf", "1,5", "1e 3", "1.m.", "+",     "e3",   "m",  "1i" };

	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
		struct quantity q;

		if (quantity_parse(wrong[i], &q))
			test_fail(__FILE__, __LINE__, "\"%s\" was accepted", wrong[i]);
	}
}

TEST("values round up and compare across units")
{
	struct quantity a, b, c;

	CHECK(quantity_parse("1500m", &a) && quantity_parse("1.5", &b) && quantity_parse("1Ki", &c));
	CHECK_INT(quantity_value(&a), 2);
	CHECK_INT(quantity_milli(&a), 1500);
	CHECK_INT(quantity_cmp(&a, &b), 0);
	CHECK(quantity_cmp(&a, &c) < 0 && quantity_cmp(&c, &a) > 0);
	CHECK_INT(quantity_value(&c), 1024);
	CHECK(quantity_parse("8Ei", &a));
	CHECK_INT(quantity_milli(&a), INT64_MAX);
	CHECK(quantity_parse("-1500m", &a));
	CHECK_INT(quantity_value(&a), -2);
}
