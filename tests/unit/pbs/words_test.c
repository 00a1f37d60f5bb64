// SPDX-License-Identifier: Apache-2.0
/* words_test.c - directives cut into words, against a second reader that is as simple as can be */
#include "pbs/words.h"

#include <getopt.h>
#include <stdlib.h>

#include "base/mem.h"
#include "pbs/options.h"
#include "test.h"

static void shown(const struct words *w, struct sbuf *out)
{
	for (size_t i = 0; i < w->n; i++)
		sbuf_addf(out, "<%s>", w->items[i]);
}

TEST("a directive is cut into words like by a small shell")
{
	static const struct {
		const char *text;
		bool comments;
		const char *want; /* NULL: refused */
	} rows[] = {
		{ "simple_arg \"quoted ' arg\" 's\"quoted \" arg' \\\\ \\\" \\' \\  end", false,
		  "<simple_arg><quoted ' arg><s\"quoted \" arg><\\><\"><'>< ><end>" },
		{ "", true, "" },
		{ "  \t ", true, "" },
		{ " -N a_r_1   # 任务名", true, "<-N><a_r_1>" },
		{ " -N a_r_1   # it's -x", true, "<-N><a_r_1>" },
		{ " -N a#b", true, "<-N><a#b>" },
		{ " -A '#b' \"#\"c", true, "<-A><#b><#c>" },
		{ " -A \\# b", true, "<-A><#><b>" },
		{ "# all", true, "<#><all>" },
		{ " # all", true, "" },
		{ " # all", false, "<#><all>" },
		{ "a''b \"\" ''", true, "<ab><><>" },
		{ "a\\", true, "<a\\>" },
		{ "'a\\'b", true, "<a\\b>" },
		{ "-v \"a=1,b='2,3'\"", true, "<-v><a=1,b='2,3'>" },
		{ "\t-o\t/x y\r\n", true, "<-o></x><y>" },
		{ "'a", true, NULL },
		{ "a\"b c", true, NULL },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		auto_sbuf struct sbuf got = SBUF(1000);
		auto_words struct words w = { 0 };
		struct err e = ERR_INIT;
		int r = words_split(str_of(rows[i].text), rows[i].comments, &w, &e);

		shown(&w, &got);
		if ((r < 0) != !rows[i].want)
			test_fail(__FILE__, __LINE__, "%s: %s", rows[i].text, r < 0 ? e.text : "was taken");
		else if (r == 0)
			CHECK_STR(got.p ? got.p : "", rows[i].want);
	}
}

/* ---- the second reader: one character at a time, one state ---- */

enum state { BETWEEN, WORD, SINGLE, DOUBLE, ESCAPED };

static bool reference(const char *text, struct sbuf *out)
{
	enum state s = BETWEEN;

	for (const char *c = text;; c++) {
		bool blank = *c == ' ' || *c == '\t';

		if (s == SINGLE || s == DOUBLE) {
			if (!*c)
				return false;
			if (*c == (s == SINGLE ? '\'' : '"'))
				s = WORD;
			else
				sbuf_addc(out, *c);
			continue;
		}
		if (s == ESCAPED) {
			sbuf_addc(out, *c ? *c : '\\');
			s = WORD;
			if (*c)
				continue;
		}
		if (!*c || blank) {
			if (s == WORD)
				sbuf_addc(out, '>');
			s = BETWEEN;
			if (!*c)
				return true;
			continue;
		}
		if (s == BETWEEN) {
			if (*c == '#' && c > text)
				return true;
			sbuf_addc(out, '<');
		}
		s = *c == '\'' ? SINGLE : *c == '"' ? DOUBLE : *c == '\\' ? ESCAPED : WORD;
		if (s == WORD)
			sbuf_addc(out, *c);
	}
}

static unsigned seed = 20;

static unsigned dice(unsigned n)
{
	seed = seed * 1103515245u + 12345;
	return (seed >> 16) % n;
}

static void random_line(struct sbuf *out, const char *const *parts, unsigned n)
{
	unsigned count = dice(14);

	for (unsigned i = 0; i < count; i++)
		sbuf_adds(out, parts[dice(n)]);
}

TEST("ten thousand random lines are cut as the second reader cuts them")
{
	static const char *const parts[] = { " ", "\t", "'", "\"", "\\", "#", "a", "-", "b c", "任", "'x y'", "\"#\"" };

	for (int i = 0; i < 10000; i++) {
		auto_sbuf struct sbuf line = SBUF(1000);
		auto_sbuf struct sbuf want = SBUF(2000);
		auto_sbuf struct sbuf got = SBUF(2000);
		auto_words struct words w = { 0 };
		struct err e = ERR_INIT;
		bool ok;

		sbuf_adds(&line, "");
		random_line(&line, parts, ARRAY_SIZE(parts));
		ok = reference(line.p ? line.p : "", &want);
		CHECK_INT(words_split(str_of(line.p ? line.p : ""), true, &w, &e), ok ? 0 : -1);
		shown(&w, &got);
		if (ok && !str_same(got.p, want.p))
			test_fail(__FILE__, __LINE__, "%s: %s, not %s", line.p, got.p, want.p);
	}
}

/* What getopt makes of the words: the last value of each letter; false if it complains. */
static bool getopt_reads(const struct words *w, const char *ret[128])
{
	static const char letters[] = "a:A:b:c:C:d:D:e:EfF:hi:Ij:J:k:K:l:L:m:M:nN:o:p:P:q:r:S:t:T:u:v:Vw:W:Xxz";
	char **argv = xcalloc(w->n + 2, sizeof(*argv));
	bool ok = true;
	int c;

	argv[0] = (char *)"qsub";
	for (size_t i = 0; i < w->n; i++)
		argv[i + 1] = w->items[i];
	optind = 0; /* glibc: from the beginning */
	opterr = 0;
	while (ok && (c = getopt((int)w->n + 1, argv, letters)) != -1) {
		ok = c != '?' && !(strchr("AP", c) && !optarg[0]) && !strchr("DLTX", c); /* refused */
		if (ok && c != 'C')
			ret[c] = optarg ? optarg : "";
	}
	free(argv);
	return ok;
}

TEST("ten thousand random directives mean what getopt says they mean")
{
	static const char *const parts[] = { " ",     " ",  " -",  " -A", " -A x", " -F ",  "'-F", "'",  " -hV",
					     " -z -", "fx", " -n", "A",   " -P",   " word", "#",   "\"", " -C #X" };

	for (int i = 0; i < 10000; i++) {
		auto_sbuf struct sbuf line = SBUF(1000);
		auto_words struct words w = { 0 };
		const char *want[128] = { 0 };
		struct ask a = { 0 };
		struct err e = ERR_INIT;
		bool ok;

		random_line(&line, parts, ARRAY_SIZE(parts));
		ok = words_split(sbuf_str(&line), true, &w, &e) == 0 && getopt_reads(&w, want);
		CHECK_INT(options_directive(&a, sbuf_str(&line), &e), ok ? 0 : -1);
		for (int c = 1; ok && c < 128; c++)
			if (!str_same(ask_find(&a, (char)c), want[c]))
				test_fail(__FILE__, __LINE__, "%s: -%c is %s, not %s", line.p, c,
					  ask_find(&a, (char)c) ? ask_find(&a, (char)c) : "not there",
					  want[c] ? want[c] : "not there");
		ask_done(&a);
	}
}
