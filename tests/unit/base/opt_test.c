// SPDX-License-Identifier: Apache-2.0
#include "base/opt.h"

#include "base/mem.h"
#include "test.h"

struct settings {
	bool quiet, all;
	const char *data, *runtime;
	struct opt_strings groups;
	int64_t gpus, ttl;
};

#define AT(member) offsetof(struct settings, member)

static const struct opt opts[] = {
	{ "quiet", 'q', OPT_FLAG, AT(quiet), NULL, "Say nothing." },
	{ "all", 'a', OPT_FLAG, AT(all), NULL, "Everything." },
	{ "data", 'd', OPT_STRING, AT(data), "DIR", "Where to keep data." },
	{ "group", 0, OPT_STRINGS, AT(groups), "NAME", "A group; may be repeated." },
	{ "gpus", 0, OPT_INT, AT(gpus), "N", "Cards to simulate.", .min = 0, .max = 64 },
	{ "ttl", 0, OPT_DURATION, AT(ttl), "TIME", "How long." },
	{ "runtime", 0, OPT_CHOICE, AT(runtime), NULL, "Which runtime.", .choices = "auto|crun|fake" },
	OPT_END,
};

static int parse(struct settings *s, bool stop, char **argv, char ***rest, int *nrest, struct err *e)
{
	int argc = 0;

	while (argv[argc])
		argc++;
	return opt_parse(opts, s, argc, argv, stop, rest, nrest, e);
}

#define ARGV(...)                                                                                                      \
	{                                                                                                              \
		(char *)"prog", __VA_ARGS__, NULL                                                                      \
	}

TEST("options and positional arguments may be mixed")
{
	struct settings s = { 0 };
	struct err e = ERR_INIT;
	char *argv[] = ARGV("one", "-qad", "/x", "two", "--gpus=4", "--group", "a", "--group=b", "--ttl", "1h30m",
			    "--runtime", "crun", "--", "-three");
	char **rest;
	int n;

	CHECK_INT(parse(&s, false, argv, &rest, &n, &e), 0);
	CHECK(s.quiet && s.all);
	CHECK_STR(s.data, "/x");
	CHECK_INT(s.gpus, 4);
	CHECK_INT(s.ttl, 5400);
	CHECK_STR(s.runtime, "crun");
	CHECK_INT(s.groups.n, 2);
	CHECK_STR(s.groups.items[1], "b");
	CHECK_INT(n, 3);
	CHECK_STR(rest[0], "one");
	CHECK_STR(rest[1], "two");
	CHECK_STR(rest[2], "-three");
	opt_strings_done(&s.groups);
}

TEST("a command that runs commands leaves their options alone")
{
	struct settings s = { 0 };
	struct err e = ERR_INIT;
	char *argv[] = ARGV("-q", "ls", "-a", "--", "x");
	char **rest;
	int n;

	CHECK_INT(parse(&s, true, argv, &rest, &n, &e), 0);
	CHECK(s.quiet && !s.all);
	CHECK_INT(n, 4);
	CHECK_STR(rest[1], "-a");
	CHECK_STR(rest[2], "--");
}

TEST("wrong options say what would be right")
{
	static const struct {
		const char *arg, *value, *text;
	} rows[] = {
		{ "--dta", NULL, "unknown option --dta; did you mean --data?" },
		{ "--frobnicate", NULL, "unknown option --frobnicate" },
		{ "-x", NULL, "unknown option -x" },
		{ "--data", NULL, "--data needs a value: --data DIR" },
		{ "--gpus", "65", "--gpus: \"65\" is not a number from 0 to 64" },
		{ "--gpus", "many", "--gpus: \"many\" is not a number from 0 to 64" },
		{ "--ttl", "soon", "--ttl: \"soon\" is not a duration like 90s, 1h30m or 2d" },
		{ "--runtime", "docker", "--runtime: \"docker\" is not one of auto|crun|fake" },
		{ "--quiet=perhaps", NULL, "--quiet is true or false, not \"perhaps\"" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct settings s = { 0 };
		struct err e = ERR_INIT;
		char *argv[] = ARGV((char *)rows[i].arg, (char *)rows[i].value);
		char **rest;
		int n;

		CHECK(parse(&s, false, argv, &rest, &n, &e) < 0);
		CHECK_INT(e.kind, ERR_BAD_REQUEST);
		CHECK_STR(e.text, rows[i].text);
	}
}

TEST("help lines up and long options get a line of their own")
{
	static const struct opt some[] = {
		{ "quiet", 'q', OPT_FLAG, 0, NULL, "Say nothing." },
		{ "a-rather-long-option", 0, OPT_STRING, 0, "VALUE", "Long." },
		OPT_END,
	};
	auto_sbuf struct sbuf out = SBUF(1000);

	opt_help(some, &out);
	CHECK_STR(out.p, "  -q, --quiet               Say nothing.\n"
			 "      --a-rather-long-option VALUE\n"
			 "                            Long.\n");
}

TEST("only near words are suggested")
{
	static const char *const names[] = { "pods", "jobs", "deployments" };

	CHECK_STR(opt_nearest("pod", names, 3), "pods");
	CHECK_STR(opt_nearest("deploymnets", names, 3), "deployments");
	CHECK_STR(opt_nearest("zebra", names, 3), NULL);
}
