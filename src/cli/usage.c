// SPDX-License-Identifier: Apache-2.0
/* usage.c - `stoker usage`: who used how much, and what each is due
 *
 * The server adds the accounts up (sched/books.h); here are only words, bars and times.
 */
#include <stdio.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/jsonx.h"
#include "cli/connect.h"
#include "cli/usage_page.h"

#define WEEK (7 * 86400)

struct usage_settings {
	struct connect_settings connect;
	const char *by, *since, *until, *user, *output;
	bool shares;
};

#define AT(field) offsetof(struct usage_settings, field)
static const struct opt usage_opts[] = {
	{ .name = "by",
	  .type = OPT_CHOICE,
	  .offset = AT(by),
	  .arg = "WHAT",
	  .choices = "user|group|queue|job",
	  .help = "what to add up by: user, group, queue or job (default: user)" },
	{ .name = "since",
	  .type = OPT_STRING,
	  .offset = AT(since),
	  .arg = "TIME",
	  .help = "from when on: 7d, 12h, 2026-11-01, 2026-11, \"2026-11-01 14:00\" (default: 7d)" },
	{ .name = "until",
	  .type = OPT_STRING,
	  .offset = AT(until),
	  .arg = "TIME",
	  .help = "up to when (default: now; what runs counts up to now)" },
	{ .name = "user",
	  .type = OPT_STRING,
	  .offset = AT(user),
	  .arg = "USER",
	  .help = "only this one's (default: yours, or for an admin everyone's)" },
	{ .name = "shares",
	  .type = OPT_FLAG,
	  .offset = AT(shares),
	  .help = "what each is due, what each had, and whose turn it is" },
	{ .name = "output",
	  .letter = 'o',
	  .type = OPT_CHOICE,
	  .offset = AT(output),
	  .arg = "FORM",
	  .choices = "table|json|csv",
	  .help = "how to print: table, json or csv (default: table)" },
	CONNECT_OPTS,
	OPT_END,
};

static int read_time(const char *option, const char *text, int64_t now, int64_t fallback, int64_t *ret, struct err *e)
{
	*ret = fallback;
	if (text && usage_no_day(text))
		return err_set(e, ERR_BAD_REQUEST, "--%s: %s: there is no such day", option, text);
	if (text && !usage_time(text, now, ret))
		return err_set(e, ERR_BAD_REQUEST,
			       "--%s: \"%s\" is no time; 7d, 12h, 2026-11-01, 2026-11 and \"2026-11-01 14:00\" are",
			       option, text);
	return 0;
}

static int usage_path(const struct usage_settings *s, struct sbuf *path, struct err *e)
{
	int64_t now = clock_wall();
	int64_t from = 0, to = 0;

	if (s->shares) {
		if (s->by || s->since || s->until || s->user)
			return err_set(e, ERR_BAD_REQUEST,
				       "--shares are those of now, and everyone's: it stands alone");
		if (s->output && streq(s->output, "csv"))
			return err_set(e, ERR_BAD_REQUEST, "--shares are a tree: -o table or json");
		sbuf_adds(path, "/apis/stoker.dev/v1/shares");
		return 0;
	}
	if (read_time("until", s->until, now, now, &to, e) < 0 ||
	    read_time("since", s->since, now, to - WEEK, &from, e) < 0)
		return -1;
	if (from > now)
		return err_set(e, ERR_BAD_REQUEST, "--since: %s is in the future", s->since);
	if (to < from)
		return err_set(e, ERR_BAD_REQUEST, "--until is before --since");
	sbuf_addf(path, "/apis/stoker.dev/v1/usage?by=%s&from=%lld&to=%lld", s->by ? s->by : "user", (long long)from,
		  (long long)to);
	if (s->user) {
		sbuf_adds(path, "&user=");
		client_escape(path, s->user);
	}
	return 0;
}

static void say_nothing(const struct usage_settings *s, const json_t *doc)
{
	const char *user = jsonx_str(doc, "user");

	printf("Nothing%s%s ran between %s and %s.\n", user ? " of " : "", user ? user : "",
	       jsonx_str_or(doc, "from", ""), jsonx_str_or(doc, "to", ""));
	if (!s->since)
		puts("--since 30d looks further back.");
}

static void print(const struct usage_settings *s, const json_t *doc)
{
	auto_sbuf struct sbuf out = SBUF(SIZE_MAX / 2);
	bool colours = output_colours(STDOUT_FILENO);
	int width = output_width(STDOUT_FILENO);

	if (s->output && streq(s->output, "json")) {
		jsonx_dump_pretty(doc, &out);
	} else if (s->output && streq(s->output, "csv")) {
		usage_csv(doc, &out);
	} else if (s->shares) {
		usage_shares(doc, colours, width, &out);
	} else if (json_array_size(json_object_get(doc, "items"))) {
		usage_page(doc, colours, width, &out);
	} else {
		say_nothing(s, doc);
	}
	if (out.n)
		fputs(out.p, stdout);
}

static int run_usage(const struct command *cmd, int argc, char **argv)
{
	struct usage_settings s = { 0 };
	auto_sbuf struct sbuf path = SBUF(16384);
	json_auto_t *doc = NULL;
	struct err e = ERR_INIT;
	struct connection c;
	char **rest;
	int nrest;
	int r;

	if (command_parse(cmd, &s, argc, argv, 0, 0, &rest, &nrest) < 0)
		return 2;
	if (usage_path(&s, &path, &e) < 0)
		return command_misused(cmd, &e);
	if (connect_open(&s.connect, &c, &e) < 0)
		return command_fail(cmd, &e);
	r = client_raw_wait(c.client, path.p, &doc, &e);
	if (r == 0)
		print(&s, doc);
	else if (e.kind == ERR_NOT_FOUND)
		err_reword(&e, ERR_NOT_FOUND, "%s keeps no accounts; `stoker serve` does", client_server(c.client));
	connect_close(&c);
	return r == 0 ? 0 : command_fail(cmd, &e);
}

const struct command cmd_usage = {
	.name = "usage",
	.args = "[--by user|group|queue|job] [--since TIME] [--until TIME] [--user USER] [-o table|json|csv] | "
		"--shares",
	.summary = "Show who used how much, and what each is due",
	.details =
		"Every pod that ran counts with what it asked for, from its start to its end, and what still runs up\n"
		"to now. GPU-H, CPU-H and GIB-H are hours of one GPU, one processor and one GiB of memory; WAIT is\n"
		"the mean time in the queue. A part of a shared GPU counts as that part. Everyone sees his own work,\n"
		"admins see all.\n\n"
		"--shares shows the fair shares: DUE is what the weights promise to each that waits or runs, HAD its\n"
		"part of all use that is not forgotten yet, NOW the part of the machine it has; whoever had least for\n"
		"his weight is next.\n\n"
		"Examples:\n"
		"  stoker usage                          # the last seven days\n"
		"  stoker usage --by job --since 2026-11-01 --until 2026-12-01\n"
		"  stoker usage --by group --since 90d -o csv\n"
		"  stoker usage --shares\n",
	.opts = usage_opts,
	.run = run_usage,
};
