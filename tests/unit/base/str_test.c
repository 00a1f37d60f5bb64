// SPDX-License-Identifier: Apache-2.0
#include "base/str.h"

#include "base/mem.h"
#include "test.h"

TEST("splitting gives every part, also empty ones")
{
	struct str rest = STR("a,,b,");
	struct str part;
	char out[64] = "";
	size_t n = 0;

	while (str_split(&rest, ',', &part))
		n += (size_t)snprintf(out + n, sizeof(out) - n, "<%.*s>", STR_FMT(part));
	CHECK_STR(out, "<a><><b><>");
	rest = STR("");
	CHECK(str_split(&rest, ',', &part));
	CHECK_INT(part.n, 0);
	CHECK(!str_split(&rest, ',', &part));
}

TEST("comparisons and trimming")
{
	CHECK(str_eq(STR("ab"), "ab") && !str_eq(STR("ab"), "abc") && !str_eq(STR("ab"), "a"));
	CHECK(str_starts("abc", "ab") && !str_starts("a", "ab"));
	CHECK(str_ends("abc", "bc") && !str_ends("c", "bc"));
	CHECK(str_same(NULL, NULL) && !str_same(NULL, "") && str_same("a", "a"));
	CHECK(str_eq(str_trim(STR(" \ta b\n")), "a b"));
	CHECK_INT(str_trim(STR("  ")).n, 0);
}

TEST("numbers are whole, in range, or refused")
{
	int64_t v = 7;

	CHECK(str_int64("-12", -20, 20, &v));
	CHECK_INT(v, -12);
	CHECK(!str_int64("", 0, 9, &v) && !str_int64(" 1", 0, 9, &v) && !str_int64("1x", 0, 9, &v));
	CHECK(!str_int64("10", 0, 9, &v) && !str_int64("99999999999999999999", INT64_MIN, INT64_MAX, &v));
	CHECK(!str_int64("+1", 0, 9, &v) && !str_int64("-", -9, 9, &v));
	CHECK_INT(v, -12);
}

TEST("UTF-8 is told from what only looks like it")
{
	static const struct {
		const char *s;
		bool ok;
	} rows[] = {
		{ "abc", true },   { "\xc3\xa9", true },  { "\xe2\x82\xac", true },  { "\xf0\x9f\x98\x80", true },
		{ "\xc3", false }, { "\xc0\xaf", false }, { "\xed\xa0\x80", false }, { "\xf4\x90\x80\x80", false },
		{ "\x80", false }, { "\xe2\x82", false }, { "\xff", false },         { "\xe0\x80\x80", false },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		CHECK_INT(str_is_utf8(rows[i].s, strlen(rows[i].s)), rows[i].ok);
}

TEST("a buffer grows to its ceiling and says when something did not fit")
{
	struct sbuf b;
	char *text;

	sbuf_init(&b, 10);
	sbuf_adds(&b, "12345");
	sbuf_addf(&b, "%d", 678);
	CHECK(!b.over);
	CHECK_STR(b.p, "12345678");
	sbuf_adds(&b, "9ab");
	CHECK(b.over);
	CHECK_STR(b.p, "12345678");
	sbuf_addc(&b, 'x');
	CHECK_INT(b.n, 8);
	sbuf_reset(&b);
	sbuf_addc(&b, 'y');
	CHECK_STR(b.p, "y");
	text = sbuf_steal(&b);
	CHECK_STR(text, "y");
	CHECK(b.p == NULL && b.n == 0);
	CHECK_STR(sbuf_str(&b).p, "");
	free(text);
	sbuf_done(&b);
}

TEST("JSON strings are escaped")
{
	auto_sbuf struct sbuf b = SBUF(100);

	sbuf_add_json_string(&b, "a\"\\\n\t\x01", 6);
	CHECK_STR(b.p, "\"a\\\"\\\\\\n\\t\\u0001\"");
}

TEST("base64 goes both ways and refuses anything foreign")
{
	static const char *const plain[] = { "", "f", "fo", "foo", "foob", "fooba", "foobar" };
	static const char *const coded[] = { "", "Zg==", "Zm8=", "Zm9v", "Zm9vYg==", "Zm9vYmE=", "Zm9vYmFy" };
	static const char *const wrong[] = { "Zg", "Zg=", "Z===", "Zm9=v", "Zm9v\n", "Zh==", "====", "Zm-v" };

	for (size_t i = 0; i < ARRAY_SIZE(plain); i++) {
		auto_sbuf struct sbuf b = SBUF(100);
		auto_sbuf struct sbuf back = SBUF(100);

		base64_encode(plain[i], strlen(plain[i]), &b);
		CHECK_STR(sbuf_str(&b).p, coded[i]);
		CHECK(base64_decode(sbuf_str(&b).p, b.n, &back));
		CHECK_STR(sbuf_str(&back).p, plain[i]);
	}
	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
		auto_sbuf struct sbuf back = SBUF(100);

		CHECK(!base64_decode(wrong[i], strlen(wrong[i]), &back));
	}
}

TEST("base64url has no padding and hex is lower case")
{
	auto_sbuf struct sbuf b = SBUF(100);
	auto_sbuf struct sbuf back = SBUF(100);
	auto_sbuf struct sbuf hex = SBUF(100);

	base64url_encode("\xfb\xff", 2, &b);
	CHECK_STR(b.p, "-_8");
	CHECK(base64url_decode(b.p, b.n, &back));
	CHECK_INT(back.n, 2);
	hex_encode(back.p, back.n, &hex);
	CHECK_STR(hex.p, "fbff");
}
