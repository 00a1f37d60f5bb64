// SPDX-License-Identifier: Apache-2.0
/* usage_page.c - see usage_page.h */
#include "cli/usage_page.h"

#include <stdio.h>
#include <time.h>

#include "base/clock.h"
#include "base/jsonx.h"
#include "base/mem.h"

#define BAR_MOST  40
#define BAR_LEAST 10
#define COLUMNS   70 /* of a row without its bar, about */
#define HOUR      3600.0

static double real_of(const json_t *row, const char *field)
{
	return json_number_value(json_object_get(row, field));
}

/* ---- bars ---- */

/* A part of `cells` in eighths of one: the blocks of Unicode from a whole one to its left eighth. */
static void add_bar(struct sbuf *out, double part, int cells)
{
	static const char *const eighths[] = { "", "▏", "▎", "▍", "▌", "▋", "▊", "▉" };
	int n = (int)(part * cells * 8 + 0.5);

	if (part > 0 && n < 1)
		n = 1;
	for (int i = 0; i < n / 8; i++)
		sbuf_adds(out, "█");
	sbuf_adds(out, eighths[n % 8]);
}

static int bar_cells(int width)
{
	int room = width ? width - COLUMNS : BAR_MOST / 2;

	return room > BAR_MOST ? BAR_MOST : room < BAR_LEAST ? BAR_LEAST : room;
}

/* ---- numbers ---- */

/* Hours of something: small ones with more digits. */
static void add_hours(struct table *t, double seconds)
{
	double h = seconds / HOUR;

	if (seconds <= 0)
		table_add(t, TINT_DIM, "0");
	else if (h < 0.01)
		table_add(t, TINT_NONE, "<0.01");
	else
		table_addf(t, TINT_NONE, h < 100 ? "%.2f" : "%.0f", h);
}

static void add_percent(struct table *t, double part)
{
	if (part > 0 && part < 0.001)
		table_add(t, TINT_NONE, "<0.1%");
	else
		table_addf(t, part > 0 ? TINT_NONE : TINT_DIM, "%.1f%%", part * 100);
}

static const char *name_of(const json_t *row)
{
	const char *name = jsonx_str_or(row, "name", "");

	return *name ? name : "(none)";
}

/* ---- who used how much ---- */

static const char *title_of(const char *by)
{
	static const struct {
		const char *by, *title;
	} rows[] = { { "user", "USER" }, { "group", "GROUP" }, { "queue", "QUEUE" }, { "job", "JOB" } };

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (streq(rows[i].by, by))
			return rows[i].title;
	return "NAME";
}

struct totals {
	double gpu, cpu, memory, wait;
	int64_t jobs, running;
	double most; /* of what the bars show */
};

static struct totals sum_of(const json_t *items)
{
	struct totals t = { 0 };
	json_t *row;
	size_t i;

	json_array_foreach (items, i, row) {
		t.gpu += real_of(row, "gpuSeconds");
		t.cpu += real_of(row, "cpuSeconds");
		t.memory += real_of(row, "memoryGiBSeconds");
		t.wait += real_of(row, "waitSeconds");
		t.jobs += jsonx_int_or(row, "jobs", 0);
		t.running += jsonx_int_or(row, "running", 0);
	}
	json_array_foreach (items, i, row) {
		double v = real_of(row, t.gpu > 0 ? "gpuSeconds" : "cpuSeconds");

		t.most = v > t.most ? v : t.most;
	}
	return t;
}

static void add_numbers(struct table *t, int64_t jobs, int64_t running, double gpu, double cpu, double memory,
			double wait)
{
	char age[32];

	table_addf(t, TINT_NONE, "%lld", (long long)jobs);
	table_addf(t, running ? TINT_GOOD : TINT_DIM, "%lld", (long long)running);
	add_hours(t, gpu);
	add_hours(t, cpu);
	add_hours(t, memory);
	table_add(t, TINT_NONE, output_age(jobs ? (int64_t)(wait / (double)jobs) : 0, age));
}

static void add_row(struct table *t, const json_t *row, const char *bar_of, const struct totals *sum, int cells)
{
	auto_sbuf struct sbuf bar = SBUF(1024);
	const char *kind = jsonx_str(row, "kind");

	if (kind) {
		table_add(t, TINT_NONE, jsonx_str_or(row, "namespace", ""));
		table_add(t, TINT_NONE, kind);
	}
	table_add(t, TINT_NONE, name_of(row));
	if (kind)
		table_add(t, TINT_NONE, jsonx_str_or(row, "user", ""));
	add_numbers(t, jsonx_int_or(row, "jobs", 0), jsonx_int_or(row, "running", 0), real_of(row, "gpuSeconds"),
		    real_of(row, "cpuSeconds"), real_of(row, "memoryGiBSeconds"), real_of(row, "waitSeconds"));
	add_bar(&bar, sum->most > 0 ? real_of(row, bar_of) / sum->most : 0, cells);
	table_add(t, TINT_GOOD, bar.n ? bar.p : " ");
}

static void add_span(const json_t *doc, struct sbuf *out)
{
	const char *names[] = { "from", "to" };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		const char *text = jsonx_str_or(doc, names[i], "");
		char words[32] = "";
		struct tm tm;
		time_t t;
		int64_t us;

		if (clock_parse_rfc3339(text, &us) && (t = (time_t)(us / 1000000), localtime_r(&t, &tm)))
			strftime(words, sizeof(words), "%Y-%m-%d %H:%M", &tm);
		sbuf_addf(out, "%s%s", i ? " to " : "", words);
	}
}

void usage_page(const json_t *doc, bool colours, int width, struct sbuf *out)
{
	const char *by = jsonx_str_or(doc, "by", "user");
	const json_t *items = json_object_get(doc, "items");
	struct totals sum = sum_of(items);
	bool jobs = streq(by, "job");
	const char *bar_of = sum.gpu > 0 ? "gpuSeconds" : "cpuSeconds";
	struct table_column columns[] = {
		{ .title = "NAMESPACE" },
		{ .title = "KIND" },
		{ .title = title_of(by) },
		{ .title = "USER" },
		{ .title = jobs ? "RUNS" : "JOBS", .right = true },
		{ .title = "RUNNING", .right = true },
		{ .title = "GPU-H", .right = true },
		{ .title = "CPU-H", .right = true },
		{ .title = "GIB-H", .right = true },
		{ .title = "WAIT", .right = true },
		{ .title = sum.gpu > 0 ? "GPU-HOURS" : "CPU-HOURS" },
	};
	auto_table struct table t = TABLE(columns);
	json_t *row;
	size_t i;

	if (!jobs) { /* one name says it */
		columns[3] = columns[2];
		t.columns += 3;
		t.ncolumns -= 3;
	}
	json_array_foreach (items, i, row)
		add_row(&t, row, bar_of, &sum, bar_cells(width));
	if (json_array_size(items) > 1) {
		for (size_t k = 0; jobs && k < 2; k++)
			table_add(&t, TINT_DIM, " ");
		table_add(&t, TINT_NONE, "all");
		if (jobs)
			table_add(&t, TINT_DIM, " ");
		add_numbers(&t, sum.jobs, sum.running, sum.gpu, sum.cpu, sum.memory, sum.wait);
		table_add(&t, TINT_NONE, " ");
	}
	add_span(doc, out);
	sbuf_adds(out, "\n\n");
	table_text(&t, false, colours, width, out);
}

/* ---- CSV ---- */

static void add_csv_text(struct sbuf *out, const char *s)
{
	bool quote = strpbrk(s, ",\"\r\n") != NULL;

	if (quote)
		sbuf_addc(out, '"');
	for (; *s; s++)
		sbuf_addf(out, "%s%c", *s == '"' ? "\"" : "", *s);
	if (quote)
		sbuf_addc(out, '"');
}

void usage_csv(const json_t *doc, struct sbuf *out)
{
	static const char *const extra[] = { "namespace", "kind", "user", "queue" };
	const char *by = jsonx_str_or(doc, "by", "user");
	bool jobs = streq(by, "job");
	json_t *row;
	size_t i;

	sbuf_addf(out, "%s,jobs,running,gpu_seconds,cpu_seconds,memory_gib_seconds,wait_seconds%s\n", by,
		  jobs ? ",namespace,kind,user,queue" : "");
	json_array_foreach (json_object_get(doc, "items"), i, row) {
		add_csv_text(out, jsonx_str_or(row, "name", ""));
		sbuf_addf(out, ",%lld,%lld,%.3f,%.3f,%.3f,%.0f", (long long)jsonx_int_or(row, "jobs", 0),
			  (long long)jsonx_int_or(row, "running", 0), real_of(row, "gpuSeconds"),
			  real_of(row, "cpuSeconds"), real_of(row, "memoryGiBSeconds"), real_of(row, "waitSeconds"));
		for (size_t k = 0; jobs && k < ARRAY_SIZE(extra); k++) {
			sbuf_addc(out, ',');
			add_csv_text(out, jsonx_str_or(row, extra[k], ""));
		}
		sbuf_addc(out, '\n');
	}
}

/* ---- shares ---- */

static const char *const levels[] = { "queues", "groups", "users" };

static void add_share(struct table *t, const json_t *s, size_t level, int cells)
{
	auto_sbuf struct sbuf bar = SBUF(1024);
	int64_t turn = jsonx_int_or(s, "turn", 0);

	for (size_t i = 0; i < ARRAY_SIZE(levels); i++)
		table_add(t, TINT_DIM, i == level ? name_of(s) : " ");
	table_addf(t, TINT_NONE, "%g", real_of(s, "weight"));
	add_percent(t, real_of(s, "due"));
	add_percent(t, real_of(s, "had"));
	add_percent(t, real_of(s, "running"));
	table_addf(t, TINT_NONE, "%lld", (long long)jsonx_int_or(s, "waiting", 0));
	if (turn == 1)
		table_add(t, TINT_GOOD, "next");
	else if (turn)
		table_addf(t, TINT_NONE, "%lld", (long long)turn);
	else
		table_add(t, TINT_DIM, NULL);
	add_bar(&bar, real_of(s, "had"), cells);
	table_add(t, TINT_GOOD, bar.n ? bar.p : " ");
}

/* A group without a name that stands alone is no level worth showing. */
static bool is_plain(const json_t *list)
{
	return json_array_size(list) == 1 && !*jsonx_str_or(json_array_get(list, 0), "name", "");
}

static void add_level(struct table *t, const json_t *doc, size_t level, int cells)
{
	const json_t *list = json_object_get(doc, levels[level]);
	json_t *s;
	size_t i;

	json_array_foreach (list, i, s) {
		if (level != 1 || !is_plain(list))
			add_share(t, s, level, cells);
		if (level + 1 < ARRAY_SIZE(levels))
			add_level(t, s, level + 1, cells);
	}
}

void usage_shares(const json_t *doc, bool colours, int width, struct sbuf *out)
{
	static const struct table_column columns[] = {
		{ .title = "QUEUE" },
		{ .title = "GROUP" },
		{ .title = "USER" },
		{ .title = "WEIGHT", .right = true },
		{ .title = "DUE", .right = true },
		{ .title = "HAD", .right = true },
		{ .title = "NOW", .right = true },
		{ .title = "WAITING", .right = true },
		{ .title = "TURN", .right = true },
		{ .title = "HAD OF ALL USE" },
	};
	auto_table struct table t = TABLE(columns);

	add_level(&t, doc, 0, bar_cells(width));
	table_text(&t, false, colours, width, out);
}

/* ---- times ---- */

bool usage_time(const char *text, int64_t now, int64_t *ret)
{
	static const char *const forms[] = { "%Y-%m-%d", "%Y-%m-%d %H:%M", "%Y-%m-%dT%H:%M", "%Y-%m" };
	int64_t v;

	if (clock_parse_rfc3339(text, &v)) {
		*ret = v / 1000000;
		return true;
	}
	for (size_t i = 0; i < ARRAY_SIZE(forms); i++) {
		struct tm tm = { .tm_mday = 1, .tm_isdst = -1 };
		const char *end = strptime(text, forms[i], &tm);

		if (end && !*end) {
			int day = tm.tm_mday;

			*ret = (int64_t)mktime(&tm);
			/* The 31st of a month with 30 days is made another day. */
			return *ret >= 0 && tm.tm_mday == day;
		}
	}
	if (!clock_parse_duration(text, &v) || v > now)
		return false;
	*ret = now - v;
	return true;
}

bool usage_no_day(const char *text)
{
	struct tm tm = { .tm_isdst = -1 };
	int day;

	if (!strptime(text, "%Y-%m-%d", &tm))
		return false;
	day = tm.tm_mday;
	return mktime(&tm) != -1 && tm.tm_mday != day;
}
