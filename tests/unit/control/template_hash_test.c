// SPDX-License-Identifier: Apache-2.0
#include "control/template_hash.h"

#include "base/mem.h"
#include "test.h"

static char *hash_of(const char *text, int64_t collisions)
{
	json_auto_t *v = json_loads(text, JSON_DECODE_ANY, NULL);

	CHECK(v != NULL);
	return template_hash(v, collisions);
}

TEST("equal templates have one hash whatever the order of their keys, others another")
{
	static const struct {
		const char *a, *b;
		bool same;
	} rows[] = {
		{ "{\"a\":1,\"b\":[true,\"x\"]}", "{\"b\":[true,\"x\"],\"a\":1}", true },
		{ "{\"a\":null,\"b\":1}", "{\"b\":1}", true },
		{ "{\"a\":{}}", "{}", false },
		{ "{\"a\":1}", "{\"a\":2}", false },
		{ "{\"a\":1}", "{\"a\":\"1\"}", false },
		{ "[\"ab\",\"c\"]", "[\"a\",\"bc\"]", false },
		{ "[[1],2]", "[[1,2]]", false },
		{ "[true]", "[false]", false },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		auto_free char *a = hash_of(rows[i].a, 0);
		auto_free char *b = hash_of(rows[i].b, 0);

		if ((strcmp(a, b) == 0) != rows[i].same)
			test_fail(__FILE__, __LINE__, "%s is %s, %s is %s", rows[i].a, a, rows[i].b, b);
	}
}

TEST("a collision gives the same template another hash, and no count is a count of none")
{
	auto_free char *none = hash_of("{\"a\":1}", 0);
	auto_free char *one = hash_of("{\"a\":1}", 1);
	auto_free char *two = hash_of("{\"a\":1}", 2);

	CHECK(strcmp(none, one) != 0 && strcmp(one, two) != 0 && strcmp(none, two) != 0);
}

TEST("a hash is short, safe in a label, and never changes")
{
	auto_free char *h = hash_of("{\"metadata\":{\"labels\":{\"app\":\"web\"}},\"spec\":{\"containers\":[]}}", 0);

	CHECK_STR(h, "69555f7d5f");
	CHECK_INT(strspn(h, "bcdfghjklmnpqrstvwxz2456789"), strlen(h));
	CHECK(strlen(h) <= 10);
}
