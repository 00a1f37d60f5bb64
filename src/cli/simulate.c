// SPDX-License-Identifier: Apache-2.0
/* simulate.c - `stoker simulate`: the scheduler's own plan, played on a machine that need not exist
 *
 * Jobs come from accounts, from a description or are made up; nodes from --nodes, from the description, or from the
 * server that answers, and then queues too.  With --compare everything is played twice, the second time on another
 * machine or by other rules.
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/jsonx.h"
#include "base/mem.h"
#include "cli/command.h"
#include "cli/connect.h"
#include "cli/output.h"
#include "sched/picture.h"

#define FILES_MOST    1000
#define SHOW_AFTER_NS (1000 * 1000000LL)
#define SHOW_EVERY_NS (200 * 1000000LL)

struct simulate_settings {
	struct connect_settings connect;
	const char *generate, *nodes, *policy, *svg, *output;
	int64_t half_life;
	bool no_backfill, no_fair_share, no_preemption, no_picture;
	struct opt_strings compare;
};

#define AT(member) offsetof(struct simulate_settings, member)
static const struct opt simulate_opts[] = {
	{ .name = "generate",
	  .type = OPT_STRING,
	  .offset = AT(generate),
	  .arg = "SPEC",
	  .help = "make jobs up: users=20,jobs=1000,seed=1,span=1d,gpus=1|2|4,pods=1,run=10m-4h,walltime=8h" },
	{ .name = "nodes",
	  .type = OPT_STRING,
	  .offset = AT(nodes),
	  .arg = "SPEC",
	  .help = "the machine: 4x8 is 4 nodes with 8 GPUs each, 4x8x64x256 with 64 CPUs and 256 GiB too "
		  "(default: that of the description, or of the server)" },
	{ .name = "policy",
	  .type = OPT_CHOICE,
	  .offset = AT(policy),
	  .arg = "POLICY",
	  .choices = "pack|spread",
	  .help = "fill nodes one after the other, or use the emptiest (default: pack)" },
	{ .name = "half-life",
	  .type = OPT_DURATION,
	  .offset = AT(half_life),
	  .arg = "TIME",
	  .help = "after which half of past use is forgotten (default: 7d)" },
	{ .name = "no-backfill", .type = OPT_FLAG, .offset = AT(no_backfill), .help = "without reservations" },
	{ .name = "no-fair-share", .type = OPT_FLAG, .offset = AT(no_fair_share), .help = "first come, first served" },
	{ .name = "no-preemption", .type = OPT_FLAG, .offset = AT(no_preemption), .help = "nobody is evicted" },
	{ .name = "compare",
	  .type = OPT_STRINGS,
	  .offset = AT(compare),
	  .arg = "WHAT=VALUE",
	  .help = "play it a second time with another value: nodes, gpus (+2: two more), policy, half-life, backfill, "
		  "fair-share or preemption; may be given several times" },
	{ .name = "svg", .type = OPT_STRING, .offset = AT(svg), .arg = "FILE", .help = "write the picture to a file" },
	{ .name = "no-picture", .type = OPT_FLAG, .offset = AT(no_picture), .help = "numbers only" },
	{ .name = "output",
	  .letter = 'o',
	  .type = OPT_CHOICE,
	  .offset = AT(output),
	  .arg = "FORM",
	  .choices = "text|json",
	  .help = "how to print (default: text)" },
	CONNECT_OPTS,
	OPT_END,
};

/* One way to play it. */
struct variant {
	struct world_config config;
	json_t *nodes;
	struct outcome outcome;
};

/* ---- what to play ---- */

static int read_jobs(const struct simulate_settings *s, char **files, int n, struct workload *w, struct err *e)
{
	if (!!s->generate == !!n)
		return err_set(e, ERR_BAD_REQUEST,
			       "name files with jobs (accounts .csv, .csv.gz or a description .yaml), or "
			       "make them up with --generate");
	if (s->generate)
		return workload_generate(w, s->generate, e) < 0 ? err_prefix(e, "--generate") : 0;
	for (int i = 0; i < n; i++)
		if (workload_read_file(w, files[i], e) < 0)
			return -1;
	return 0;
}

/* Queues that the jobs do not bring along are played by the server's rules, as its nodes are its own. */
static int queues_of_server(struct client *c, struct workload *w, struct err *e)
{
	static const struct ref queues = { .api_version = "stoker.dev/v1", .plural = "queues" };
	json_auto_t *list = NULL;
	json_t *queue;
	size_t i;

	if (w->queues)
		return 0;
	if (client_list_wait(c, &queues, NULL, &list, e) < 0)
		return -1;
	w->queues = json_object();
	json_array_foreach (json_object_get(list, "items"), i, queue) {
		json_t *spec = json_copy(json_object_get(queue, "spec"));

		/* One that is stopped just now was not when the jobs ran. */
		json_object_del(spec, "started");
		json_object_set_new(w->queues, jsonx_str_or(queue, "metadata.name", ""), spec);
	}
	return 0;
}

static int ask_server(const struct simulate_settings *s, struct workload *w, json_t **ret_nodes, struct err *e)
{
	static const struct ref nodes = { .api_version = "v1", .plural = "nodes" };
	json_auto_t *list = NULL;
	struct connection c;
	int r;

	if (connect_open(&s->connect, &c, e) < 0)
		return err_prefix(e, "say what machine with --nodes, like --nodes 4x8: no server answers");
	r = client_list_wait(c.client, &nodes, NULL, &list, e);
	if (r == 0)
		r = queues_of_server(c.client, w, e);
	connect_close(&c);
	if (r < 0)
		return err_prefix(e, "say what machine with --nodes, like --nodes 4x8: the server's nodes and queues");
	*ret_nodes = json_incref(json_object_get(list, "items"));
	return 0;
}

static int read_machine(const struct simulate_settings *s, struct workload *w, struct variant *v, struct err *e)
{
	v->config = (struct world_config)WORLD_CONFIG;
	v->config.policy = s->policy && streq(s->policy, "spread") ? SPACE_SPREAD : SPACE_PACK;
	v->config.half_life = s->half_life;
	v->config.backfill = !s->no_backfill;
	v->config.fair_share = !s->no_fair_share;
	v->config.preemption = !s->no_preemption;
	if (s->nodes)
		return workload_nodes(s->nodes, &v->nodes, e) < 0 ? err_prefix(e, "--nodes") : 0;
	if (w->nodes) {
		v->nodes = json_incref(w->nodes);
		return 0;
	}
	return ask_server(s, w, &v->nodes, e);
}

/* ---- --compare ---- */

static int set_nodes(struct variant *v, const char *value, struct err *e)
{
	return workload_nodes(value, &v->nodes, e);
}

static int set_gpus(struct variant *v, const char *value, struct err *e)
{
	char *end;
	long more = *value == '+' ? strtol(value + 1, &end, 10) : 0;

	if (more < 1 || *end || value[1] < '0' || value[1] > '9')
		return err_set(e, ERR_BAD_REQUEST, "gpus: \"%s\" is not a number of GPUs more, like +2", value);
	return workload_more_gpus(&v->nodes, more, e) < 0 ? err_prefix(e, "gpus: %s", value) : 0;
}

static int set_policy(struct variant *v, const char *value, struct err *e)
{
	if (!streq(value, "pack") && !streq(value, "spread"))
		return err_set(e, ERR_BAD_REQUEST, "\"%s\" is neither pack nor spread", value);
	v->config.policy = streq(value, "spread") ? SPACE_SPREAD : SPACE_PACK;
	return 0;
}

static int set_half_life(struct variant *v, const char *value, struct err *e)
{
	if (!clock_parse_duration(value, &v->config.half_life))
		return err_set(e, ERR_BAD_REQUEST, "\"%s\" is no time like 7d", value);
	return 0;
}

static int set_switch(bool *to, const char *value, struct err *e)
{
	if (!streq(value, "yes") && !streq(value, "no"))
		return err_set(e, ERR_BAD_REQUEST, "\"%s\" is neither yes nor no", value);
	*to = streq(value, "yes");
	return 0;
}

static int set_backfill(struct variant *v, const char *value, struct err *e)
{
	return set_switch(&v->config.backfill, value, e);
}

static int set_fair_share(struct variant *v, const char *value, struct err *e)
{
	return set_switch(&v->config.fair_share, value, e);
}

static int set_preemption(struct variant *v, const char *value, struct err *e)
{
	return set_switch(&v->config.preemption, value, e);
}

static const struct {
	const char *name;
	int (*set)(struct variant *v, const char *value, struct err *e);
} changes[] = {
	{ "nodes", set_nodes },           { "gpus", set_gpus },         { "policy", set_policy },
	{ "half-life", set_half_life },   { "backfill", set_backfill }, { "fair-share", set_fair_share },
	{ "preemption", set_preemption },
};

static int change(struct variant *v, const char *text, struct err *e)
{
	const char *equals = strchr(text, '=');

	for (size_t i = 0; equals && i < ARRAY_SIZE(changes); i++)
		if (strlen(changes[i].name) == (size_t)(equals - text) &&
		    strncmp(text, changes[i].name, (size_t)(equals - text)) == 0)
			return changes[i].set(v, equals + 1, e);
	return err_set(e, ERR_BAD_REQUEST,
		       "\"%s\" is not nodes, gpus, policy, half-life, backfill, fair-share or preemption "
		       "with a value, like nodes=6x8",
		       text);
}

/* ---- playing ---- */

/* What is over in a moment needs no word. */
struct display {
	int64_t next_ns;
	bool shown;
};

static bool show_progress(void *arg, size_t ended, size_t jobs, int64_t now_ms)
{
	struct display *d = arg;
	int64_t now_ns = clock_mono_ns();

	(void)now_ms;
	if (now_ns < d->next_ns)
		return true;
	d->next_ns = now_ns + SHOW_EVERY_NS;
	d->shown = true;
	fprintf(stderr, "\r%zu of %zu jobs have ended", ended, jobs);
	return true;
}

static void play(struct variant *v, struct workload *w)
{
	struct display display = { .next_ns = clock_mono_ns() + SHOW_AFTER_NS };
	struct outcome_progress progress = { .tell = show_progress, .arg = &display };

	outcome_run(&v->outcome, w, v->nodes, &v->config, isatty(STDERR_FILENO) ? &progress : NULL);
	if (display.shown)
		fputs("\r\033[K", stderr);
}

/* ---- printing ---- */

static void add_time(struct table *t, double seconds)
{
	if (seconds < 120)
		table_addf(t, TINT_NONE, "%.0fs", seconds);
	else if (seconds < 2 * 3600)
		table_addf(t, TINT_NONE, "%.1fm", seconds / 60);
	else if (seconds < 48 * 3600)
		table_addf(t, TINT_NONE, "%.1fh", seconds / 3600);
	else
		table_addf(t, TINT_NONE, "%.1fd", seconds / 86400);
}

enum line { JOBS, NEVER, CAPACITY, MAKESPAN, UTILISATION, EVICTIONS, MEAN, MEDIAN, P95, MOST, LINE__COUNT };
static const char *const line_names[LINE__COUNT] = {
	[JOBS] = "jobs",          [NEVER] = "never started",     [CAPACITY] = "capacity",
	[MAKESPAN] = "makespan",  [UTILISATION] = "utilisation", [EVICTIONS] = "evictions",
	[MEAN] = "wait, mean",    [MEDIAN] = "wait, median",     [P95] = "wait, 95 %",
	[MOST] = "wait, longest",
};

static void add_line(struct table *t, enum line line, const struct outcome *o)
{
	switch (line) {
	case JOBS:
		table_addf(t, TINT_NONE, "%zu", o->jobs);
		break;
	case NEVER:
		table_addf(t, o->never ? TINT_BAD : TINT_NONE, "%zu", o->never);
		break;
	case CAPACITY:
		table_addf(t, TINT_NONE, "%g %s", o->capacity, o->gpus ? "GPUs" : "CPUs");
		break;
	case UTILISATION:
		table_addf(t, TINT_NONE, "%.1f %%", o->utilisation * 100);
		break;
	case EVICTIONS:
		table_addf(t, TINT_NONE, "%zu", o->evictions);
		break;
	case MAKESPAN:
		add_time(t, (double)(o->to_ms - o->from_ms) / 1000);
		break;
	default:
		add_time(t, line == MEAN     ? o->waits.mean
			    : line == MEDIAN ? o->waits.median
			    : line == P95    ? o->waits.p95
					     : o->waits.most);
	}
}

static void print_summary(const struct variant *variants, size_t n)
{
	static const struct table_column columns[] = { { .title = "RUN" },
						       { .title = "AS ASKED", .right = true },
						       { .title = "COMPARED", .right = true } };
	auto_table struct table t = TABLE(columns);

	t.ncolumns = 1 + n;
	for (int line = 0; line < LINE__COUNT; line++) {
		table_add(&t, TINT_NONE, line_names[line]);
		for (size_t i = 0; i < n; i++)
			add_line(&t, line, &variants[i].outcome);
	}
	table_print(&t, false);
}

static void print_users(const struct outcome *o, const struct outcome *other)
{
	static const struct table_column columns[] = {
		{ .title = "USER" },
		{ .title = "JOBS", .right = true },
		{ .title = "HOURS", .right = true },
		{ .title = "DUE", .right = true },
		{ .title = "HAD", .right = true },
		{ .title = "WAIT", .right = true },
		{ .title = "WAIT COMPARED", .right = true },
	};
	auto_table struct table t = TABLE(columns);

	t.ncolumns -= other == NULL;
	for (size_t i = 0; i < o->nusers; i++) {
		const struct outcome_user *u = &o->users[i];

		table_add(&t, TINT_NONE, u->name);
		table_addf(&t, TINT_NONE, "%zu", u->jobs);
		table_addf(&t, TINT_NONE, "%.1f", u->used / 3600);
		table_addf(&t, TINT_NONE, "%.1f %%", u->due * 100);
		table_addf(&t, TINT_NONE, "%.1f %%", u->had * 100);
		add_time(&t, u->waits.mean);
		if (other)
			add_time(&t, other->users[i].waits.mean);
	}
	table_print(&t, false);
}

static void print_text(const struct variant *variants, size_t n, const char *picture)
{
	print_summary(variants, n);
	putchar('\n');
	print_users(&variants[0].outcome, n > 1 ? &variants[1].outcome : NULL);
	if (picture)
		printf("\n%s", picture);
}

static void print_json(const struct variant *variants, size_t n)
{
	auto_sbuf struct sbuf out = SBUF(SIZE_MAX / 2);
	json_auto_t *all = json_array();

	for (size_t i = 0; i < n; i++)
		json_array_append_new(all, outcome_json(&variants[i].outcome));
	jsonx_dump_pretty(n > 1 ? all : json_array_get(all, 0), &out);
	puts(out.p);
}

/* Of the last run: its jobs are as they were left. */
static int draw(const struct simulate_settings *s, const struct variant *v, const struct workload *w,
		struct sbuf *ret_text, struct err *e)
{
	auto_sbuf struct sbuf svg = SBUF(SIZE_MAX / 2);
	int width = output_width(STDOUT_FILENO);

	if (!s->no_picture && !streq(s->output, "json"))
		picture_text(&v->outcome, w, width > 0 ? (size_t)width : 80, output_colours(STDOUT_FILENO), ret_text);
	if (!s->svg)
		return 0;
	picture_svg(&v->outcome, w, &svg);
	return file_write(s->svg, 0644, sbuf_str(&svg), e);
}

/* The picture is of the run that was asked for, so the other one goes first. */
static int play_all(const struct simulate_settings *s, char **files, int nfiles, struct workload *w,
		    struct variant *variants, struct sbuf *ret_picture, struct err *e)
{
	size_t n = s->compare.n ? 2 : 1;

	if (read_jobs(s, files, nfiles, w, e) < 0 || read_machine(s, w, &variants[0], e) < 0)
		return -1;
	variants[1].config = variants[0].config;
	variants[1].nodes = json_incref(variants[0].nodes);
	for (size_t i = 0; i < s->compare.n; i++)
		if (change(&variants[1], s->compare.items[i], e) < 0)
			return err_prefix(e, "--compare");
	while (n-- > 0)
		play(&variants[n], w);
	return draw(s, &variants[0], w, ret_picture, e);
}

static int run_simulate(const struct command *cmd, int argc, char **argv)
{
	struct simulate_settings s = { .output = "text", .half_life = FAIR_HALF_LIFE };
	auto_sbuf struct sbuf picture = SBUF(SIZE_MAX / 2);
	struct variant variants[2] = { 0 };
	struct err e = ERR_INIT;
	struct workload w;
	char **rest;
	int n, r;

	if (command_parse(cmd, &s, argc, argv, 0, FILES_MOST, &rest, &n) < 0)
		return 2;
	workload_init(&w);
	r = play_all(&s, rest, n, &w, variants, &picture, &e);
	if (r == 0 && streq(s.output, "json"))
		print_json(variants, s.compare.n ? 2 : 1);
	else if (r == 0)
		print_text(variants, s.compare.n ? 2 : 1, picture.p);
	for (size_t i = 0; i < 2; i++) {
		json_decref(variants[i].nodes);
		outcome_done(&variants[i].outcome);
	}
	workload_done(&w);
	opt_strings_done(&s.compare);
	return r < 0 ? command_fail(cmd, &e) : 0;
}

const struct command cmd_simulate = {
	.name = "simulate",
	.args = "[FILE]... [--nodes 4x8]",
	.summary = "Play jobs on any machine: waits, use, and each user's share",
	.details = "FILE has the jobs: accounts of what ran (.csv and .csv.gz, as the server keeps them) or a "
		   "description\n"
		   "(.yaml). The plan is the server's own. Without --nodes, and nodes in a description, so are the "
		   "nodes and\n"
		   "the queues: then it says what would have happened there.\n"
		   "DUE is an equal part of the machine for all who had work at the time; HAD is what was used.\n\n"
		   "Examples:\n"
		   "  stoker simulate --generate users=20,jobs=1000,gpus='1|2|8' --nodes 4x8\n"
		   "  stoker simulate 2026-1*.csv* --compare gpus=+2        # what if we buy two more cards?\n"
		   "  stoker simulate 2026-11.csv --nodes 4x8 --compare nodes=6x8\n"
		   "  stoker simulate lab.yaml --compare fair-share=no --svg gpus.svg\n",
	.opts = simulate_opts,
	.run = run_simulate,
};
