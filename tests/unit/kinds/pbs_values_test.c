// SPDX-License-Identifier: Apache-2.0
/* pbs_values_test.c - times and sizes as PBS writes them */
#include "kinds/pbs_values.h"

#include "base/mem.h"
#include "test.h"

TEST("a time has one to four fields of any size, and is shown in hours")
{
	static const struct {
		const char *text;
		int64_t want; /* -1: refused */
		const char *shown;
	} rows[] = {
		{ "0", 0, "00:00:00" },
		{ "60", 60, "00:01:00" },
		{ "90:00", 5400, "01:30:00" },
		{ "300:00:00", 1080000, "300:00:00" },
		{ "1:00:00:00", 86400, "24:00:00" },
		{ "168:00:00", 604800, "168:00:00" },
		{ "10080:0", 604800, "168:00:00" },
		{ "00:00:01.500", 2, "00:00:02" },
		{ "00:00:01.499", 1, "00:00:01" },
		{ "1.5", 2, "00:00:02" },
		{ "00:61:61", 3721, "01:02:01" },
		{ "", -1, NULL },
		{ ":", -1, NULL },
		{ "1:", -1, NULL },
		{ "1:2:3:4:5", -1, NULL },
		{ "-5", -1, NULL },
		{ "+5", -1, NULL },
		{ " 5", -1, NULL },
		{ "5 ", -1, NULL },
		{ "1h", -1, NULL },
		{ "1.5:00", -1, NULL },
		{ "1.x", -1, NULL },
		{ "99999999999999999999", -1, NULL },
		{ "999999999999:00:00", -1, NULL },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		int64_t got = -1;
		char text[PBS_TEXT];

		pbs_time_parse(rows[i].text, &got);
		if (got != rows[i].want)
			test_fail(__FILE__, __LINE__, "\"%s\" is %lld, not %lld", rows[i].text, (long long)got,
				  (long long)rows[i].want);
		if (!rows[i].shown)
			continue;
		pbs_time_text(got, text);
		CHECK_STR(text, rows[i].shown);
	}
}

TEST("a size keeps its unit, in lower case")
{
	static const struct {
		const char *text;
		int64_t want; /* -1: refused */
		const char *shown;
	} rows[] = {
		{ "64gb", 64ll << 30, "64gb" },
		{ "64GB", 64ll << 30, "64gb" },
		{ "100kb", 100 << 10, "100kb" },
		{ "5", 5, "5b" },
		{ "5b", 5, "5b" },
		{ "2097152K", 2097152ll << 10, "2097152kb" },
		{ "1t", 1ll << 40, "1tb" },
		{ "1P", 1ll << 50, "1pb" },
		{ "7eb", 7ll << 60, "7eb" },
		{ "10mw", 80 << 20, "10mw" },
		{ "3w", 24, "3w" },
		{ "0x10kb", 16 << 10, "16kb" },
		{ "010", 8, "8b" },
		{ "0", 0, "0b" },
		{ "", -1, NULL },
		{ "gb", -1, NULL },
		{ "1.5gb", -1, NULL },
		{ "-1gb", -1, NULL },
		{ " 1gb", -1, NULL },
		{ "1gbx", -1, NULL },
		{ "1 gb", -1, NULL },
		{ "1bb", -1, NULL },
		{ "8eb", -1, NULL },
		{ "1ew", -1, NULL },
		{ "99999999999999999999", -1, NULL },
		{ "0x", -1, NULL },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		int64_t got = -1;
		char text[PBS_TEXT];
		bool normal = pbs_size_normal(rows[i].text, text);

		pbs_size_parse(rows[i].text, &got);
		if (got != rows[i].want)
			test_fail(__FILE__, __LINE__, "\"%s\" is %lld, not %lld", rows[i].text, (long long)got,
				  (long long)rows[i].want);
		CHECK_INT(normal, rows[i].shown != NULL);
		if (normal)
			CHECK_STR(text, rows[i].shown);
	}
}

TEST("what was used is shown in whole kilobytes")
{
	char text[PBS_TEXT];

	pbs_size_kb_text(5640 << 10, text);
	CHECK_STR(text, "5640kb");
	pbs_size_kb_text(1, text);
	CHECK_STR(text, "1kb");
	pbs_size_kb_text(0, text);
	CHECK_STR(text, "0kb");
}

TEST("a quota is a directory and a size")
{
	static const struct {
		const char *text;
		int64_t bytes; /* -1: it is none */
	} rows[] = {
		{ "/ghome=50gb", 50ll << 30 },
		{ "/g=a=1kb", 1024 },
		{ "/g/h=1", 1 },
		{ "ghome=50gb", -1 },
		{ "/=1gb", -1 },
		{ "/ghome/=1gb", -1 },
		{ "/ghome=", -1 },
		{ "/ghome", -1 },
		{ "/g/../h=1", -1 },
		{ "", -1 },
		{ "/ghome=0gb", -1 },
		{ "/ghome==1", -1 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		int64_t bytes = -1;

		CHECK(pbs_root_quota_parse(rows[i].text, &bytes) == (rows[i].bytes >= 0));
		if (rows[i].bytes >= 0)
			CHECK_INT(bytes, rows[i].bytes);
	}
}
