// SPDX-License-Identifier: Apache-2.0
/* script_test.c - what is a script, and which of its lines are directives */
#include "pbs/script.h"

#include "base/mem.h"
#include "test.h"

static int on_directive(void *arg, struct str rest, struct err *e)
{
	struct str text = str_trim(rest);

	(void)e;
	sbuf_addf(arg, "[%.*s]", STR_FMT(text));
	return 0;
}

TEST("directives are found before the first executable line, and only there")
{
	static const struct {
		const char *prefix, *text;
		const char *want; /* NULL: refused */
		const char *kept; /* NULL: as it was */
	} rows[] = {
		{ "#PBS", "#PBS -N a\n#PBS -l x=1\necho\n", "[-N a][-l x=1]", NULL },
		{ "#PBS", "#!/bin/sh\n#PBS -N a\n", "[-N a]", NULL },
		{ "#PBS", "\n\n#PBS -N a\n", "[-N a]", NULL },
		{ "#PBS", "  \t#PBS -N a\n", "[-N a]", NULL },
		{ "#PBS", "#PBS\t-N\ta\n", "[-N\ta]", NULL },
		{ "#PBS", "#PBS-N a\n", "[-N a]", NULL },
		{ "#PBS", "##PBS -N a\n# PBS -N b\n#pbs -N c\n", "", NULL },
		{ "#PBS", "cd /x\n#PBS -N a\n", "", NULL },
		{ "#PBS", ": nothing\n#PBS -N a\n", "[-N a]", NULL },
		{ "#PBS", " : something\n#PBS -N a\n", "", NULL },
		{ "#PBS", "# /path/x.pbs   # 说明\n#PBS -N a\n", "[-N a]", NULL },
		{ "#PBS", "#PBS -N \\\na\necho \\\n#PBS -N b\n", "[-N a]", "#PBS -N a\necho \\\n#PBS -N b\n" },
		{ "#PBS", "#PBS -l a=1 \\\n  -l b=2 \\\n  -N c\n", "[-l a=1   -l b=2   -N c]",
		  "#PBS -l a=1   -l b=2   -N c\n" },
		{ "#PBS", "# comment \\\n#PBS -N a\n", "[-N a]", NULL },
		{ "#PBS", "#PBS -N a", "[-N a]", "#PBS -N a\n" },
		{ "#PBS", "echo", "", "echo\n" },
		{ "#PBS", "", "", NULL },
		{ "#PBS", "#PBS -N \\\n", NULL, NULL },
		{ "#PBS", "#PBS -N a \\", NULL, NULL },
		{ "", "#PBS -N a\n", "", NULL },
		{ "#X", "#PBS -N a\n#X -N b\n", "[-N b]", NULL },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		auto_sbuf struct sbuf got = SBUF(1000);
		auto_sbuf struct sbuf kept = SBUF(1000);
		struct err e = ERR_INIT;
		int r = script_scan(str_of(rows[i].text), rows[i].prefix, on_directive, &got, &kept, NULL, &e);

		CHECK_INT(r, rows[i].want ? 0 : -1);
		if (r < 0)
			continue;
		CHECK_STR(got.p ? got.p : "", rows[i].want);
		CHECK_STR(kept.p ? kept.p : "", rows[i].kept ? rows[i].kept : rows[i].text);
	}
}

static int only_names(void *arg, struct str rest, struct err *e)
{
	(void)arg;
	return str_trim(rest).n > 1 && str_trim(rest).p[1] == 'N' ? 0 : err_set(e, ERR_INVALID, "no name");
}

TEST("a directive that is refused is known by its line")
{
	static const struct {
		const char *text;
		size_t line;
	} rows[] = {
		{ "#PBS -Y\n", 1 },
		{ "#!/bin/sh\n\n#PBS -N a\n  #PBS -Y\necho\n", 4 },
		{ "#PBS -N \\\na\n#PBS -l x\n", 3 },
		{ "#\n#PBS -Y \\\n", 2 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		auto_sbuf struct sbuf kept = SBUF(1000);
		struct err e = ERR_INIT;
		size_t line = 0;

		CHECK_INT(script_scan(str_of(rows[i].text), "#PBS", only_names, NULL, &kept, &line, &e), -1);
		CHECK_INT(line, rows[i].line);
	}
}

TEST("what is no text, or DOS's, is refused in Torque's words")
{
	static const struct {
		const char *text;
		size_t n;
		const char *want; /* NULL: taken */
	} rows[] = {
		{ "echo 说明\n", 12, NULL },
		{ "", 0, NULL },
		{ "a\0b", 3, " file must be an ascii script" },
		{ "\x7f"
		  "ELF",
		  4, " file must be an ascii script" },
		{ "a\x01", 2, " file must be an ascii script" },
		{ "\xff\xfe", 2, " file must be an ascii script" },
		{ "echo\r\nx", 7, " script is written in DOS/Windows text format" },
		{ "echo\rx\n", 7, NULL },
		{ "\ta\v\f\n", 5, NULL },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct err e = ERR_INIT;
		int r = script_check((struct str){ rows[i].text, rows[i].n }, &e);

		CHECK_INT(r, rows[i].want ? -1 : 0);
		if (rows[i].want)
			CHECK_STR(e.text, rows[i].want);
	}
}
