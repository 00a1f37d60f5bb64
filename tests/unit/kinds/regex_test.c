// SPDX-License-Identifier: Apache-2.0
#include "kinds/regex.h"

#include "test.h"

static int matches(const char *pattern, const char *text)
{
	struct regex *re;
	struct err e = ERR_INIT;
	int64_t steps = 1000000;
	int hit;

	if (regex_compile(pattern, &re, &e) < 0)
		return -1;
	hit = regex_match(re, text, strlen(text), &steps);
	regex_free(re);
	return hit;
}

TEST("patterns match as RE2 says")
{
	static const struct {
		const char *pattern, *text;
		int want; /* -1: refused */
	} rows[] = {
		{ "abc", "xxabcxx", 1 },
		{ "^abc$", "xabc", 0 },
		{ "", "", 1 },
		{ "^$", "", 1 },
		{ "^$", "a", 0 },
		{ "a|b|", "", 1 },
		{ "^(a|bc)+$", "abcbca", 1 },
		{ "^(a|bc)+$", "abcb", 0 },
		{ "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$", "my-name-1", 1 },
		{ "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$", "my-name-", 0 },
		{ "^\\d{3}-\\d{2,4}$", "123-4567", 1 },
		{ "^\\d{3}-\\d{2,4}$", "123-45678", 0 },
		{ "^\\d{2,}$", "12345", 1 },
		{ "^\\d{2,}$", "1", 0 },
		{ "^a{0}b$", "b", 1 },
		{ "^(\\d+|\\*)(/\\d+)?(\\s+(\\d+|\\*)(/\\d+)?){4}$", "* * * * */5", 1 },
		{ "^(\\d+|\\*)(/\\d+)?(\\s+(\\d+|\\*)(/\\d+)?){4}$", "* * * *", 0 },
		{ "^[^@\\s]+@[\\w.-]+$", "a@b-c.d", 1 },
		{ "^[\\]\\-^]+$", "]-^", 1 },
		{ "^[]a]+$", "]a", 1 },
		{ "^[[:alpha:]_]+$", "abC_", 1 },
		{ "^[^[:digit:]]+$", "ab1", 0 },
		{ "^(?:ab)+?$", "abab", 1 },
		{ "(?i)^HeLLo$", "hEllO", 1 },
		{ "^(?P<year>\\d{4})$", "2024", 1 },
		{ "^.$", "\xc3\xa9", 1 },
		{ "^[\xc3\xa0-\xc3\xbf]+$", "\xc3\xa9\xc3\xa8", 1 },
		{ "^\\x41\\x{42}$", "AB", 1 },
		{ "\\bfoo\\b", "a foo b", 1 },
		{ "\\bfoo\\b", "afoo", 0 },
		{ "^\\W\\D\\S$", "-x-", 1 },
		{ "a{,2}", "a{,2}", 1 },
		{ "^a.c$", "a\nc", 0 },
		{ "(?s)^a.c$", "a\nc", 1 },
		{ "(?m)^b$", "a\nb\nc", 1 },
		{ "(", "", -1 },
		{ ")", "", -1 },
		{ "[a", "", -1 },
		{ "[z-a]", "", -1 },
		{ "*a", "", -1 },
		{ "a**", "", -1 },
		{ "a{2,1}", "", -1 },
		{ "a{1001}", "", -1 },
		{ "(?=a)", "", -1 },
		{ "(?<!a)b", "", -1 },
		{ "\\1", "", -1 },
		{ "\\", "", -1 },
		{ "[[:nothing:]]", "", -1 },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		int got = matches(rows[i].pattern, rows[i].text);

		if (got != rows[i].want)
			test_fail(__FILE__, __LINE__, "%s on \"%s\" is %d, not %d", rows[i].pattern, rows[i].text, got,
				  rows[i].want);
	}
}

TEST("a small pattern cannot become a large program")
{
	CHECK_INT(matches("((((a{100}){100}){100}){100})", "a"), -1);
	CHECK_INT(matches("((((((((((((((((((((((((((((((a)?)?)?)?)?)?)?)?)?)?)?)?)?)?)?)?)?)?)?)?)?)?)?)?)?)?)?)?)?)?",
			  "b"),
		  1);
}

TEST("time does not explode on text that almost matches")
{
	char text[3001];

	memset(text, 'a', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	CHECK_INT(matches("^(a*)*(a|aa)+b$", text), 0);
}

TEST("an error names the byte")
{
	struct regex *re;
	struct err e = ERR_INIT;

	CHECK_INT(regex_compile("ab(c", &re, &e), -1);
	CHECK_STR(e.text, "missing closing ) at byte 4");
}

TEST("an allowance of steps ends a match, and what is left of it serves the next")
{
	struct regex *re;
	struct err e = ERR_INIT;
	char text[1000];
	int64_t steps = 100000;
	int64_t before;

	memset(text, 'a', sizeof(text));
	CHECK_INT(regex_compile("^(a|a)*(a?){500}b$", &re, &e), 0);
	CHECK_INT(regex_match(re, text, sizeof(text), &steps), -1);
	CHECK(steps <= 0 && steps > -10000);
	CHECK_INT(regex_match(re, "b", 1, &steps), -1);
	steps = 1000000000;
	CHECK_INT(regex_match(re, text, sizeof(text), &steps), 0);
	regex_free(re);

	CHECK_INT(regex_compile("^a+$", &re, &e), 0);
	steps = 100000;
	CHECK_INT(regex_match(re, text, sizeof(text), &steps), 1);
	CHECK(steps < 100000 && steps > 100000 - 7 * (int64_t)sizeof(text));
	before = steps;
	CHECK_INT(regex_match(re, text, 10, &steps), 1);
	CHECK(steps < before);
	regex_free(re);
}

TEST("a pattern tied to the beginning gives up where it cannot match any more")
{
	struct regex *re;
	struct err e = ERR_INIT;
	char text[1000];
	int64_t steps = 100;

	memset(text, 'a', sizeof(text));
	CHECK_INT(regex_compile("^b+$", &re, &e), 0);
	CHECK_INT(regex_match(re, text, sizeof(text), &steps), 0);
	CHECK(steps > 90);
	regex_free(re);
}
