// SPDX-License-Identifier: Apache-2.0
/* http_path_test.c - escapes and query strings, by table */
#include "base/mem.h"
#include "loop/http.h"
#include "test.h"

TEST("escapes are decoded, bad ones refused")
{
	static const struct {
		const char *in;
		bool query;
		const char *out; /* NULL: refused */
	} rows[] = {
		{ "", false, "" },
		{ "pods", false, "pods" },
		{ "a%2Fb", false, "a/b" },
		{ "a%2fb%41", false, "a/bA" },
		{ "a+b", false, "a+b" },
		{ "a+b%2B", true, "a b+" },
		{ "%C3%A4", false, "\xc3\xa4" },
		{ "%C3", false, NULL },
		{ "%ff", false, NULL },
		{ "%00", false, NULL },
		{ "%", false, NULL },
		{ "%4", false, NULL },
		{ "%zz", false, NULL },
		{ "x%-1", false, NULL },
		{ "%41", false, "A" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		auto_sbuf struct sbuf out = SBUF(100);
		bool ok;

		ok = http_unescape(str_of(rows[i].in), rows[i].query, &out);
		CHECK_INT(ok, rows[i].out != NULL);
		if (ok)
			CHECK_STR(sbuf_str(&out).p, rows[i].out);
	}
}

TEST("a query is walked pair by pair")
{
	struct str rest = STR("a=1&&labelSelector=x%3Dy,z&watch&b=&=c&");
	auto_sbuf struct sbuf key = SBUF(100);
	auto_sbuf struct sbuf value = SBUF(100);
	auto_sbuf struct sbuf all = SBUF(200);
	bool bad;

	while (http_query_next(&rest, &key, &value, &bad))
		sbuf_addf(&all, "%s=%s;", key.p, sbuf_str(&value).p);
	CHECK(!bad);
	CHECK_STR(all.p, "a=1;labelSelector=x=y,z;watch=;b=;=c;");
	rest = STR("ok=1&bad=%g0");
	CHECK(http_query_next(&rest, &key, &value, &bad));
	CHECK(!http_query_next(&rest, &key, &value, &bad));
	CHECK(bad);
}
