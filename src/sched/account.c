// SPDX-License-Identifier: Apache-2.0
/* account.c - see account.h */
#include "sched/account.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"

#define GIB          ((double)(1 << 30))
#define DIGITS_MAX   18 /* of a number that fits for sure */
#define REAL_MAX     1e18
#define SAME_SECONDS 0.01 /* less is rounding */

enum column_type { TEXT, NUMBER, REAL, STATE };

#define AT(member_) offsetof(struct account_record, member_)
/* In the order of the line; the last three are written only if they do not follow from the others. */
static const struct {
	const char *name;
	enum column_type type;
	size_t offset;
} columns[ACCOUNT_COLUMNS] = {
	{ "job", TEXT, AT(job) },
	{ "namespace", TEXT, AT(ns) },
	{ "kind", TEXT, AT(kind) },
	{ "user", TEXT, AT(user) },
	{ "group", TEXT, AT(group) },
	{ "queue", TEXT, AT(queue) },
	{ "priority", NUMBER, AT(priority) },
	{ "submitted", NUMBER, AT(submitted) },
	{ "started", NUMBER, AT(started) },
	{ "ended", NUMBER, AT(ended) },
	{ "pods", NUMBER, AT(pods) },
	{ "gpus", REAL, AT(gpus) },
	{ "cpus_milli", NUMBER, AT(cpus_milli) },
	{ "memory_bytes", NUMBER, AT(memory_bytes) },
	{ "walltime", NUMBER, AT(walltime) },
	{ "state", STATE, AT(state) },
	{ "uid", TEXT, AT(uid) },
	{ "gang", TEXT, AT(gang) },
	{ "gpu_seconds", REAL, AT(use.gpu) },
	{ "cpu_seconds", REAL, AT(use.cpu) },
	{ "memory_gib_seconds", REAL, AT(use.memory) },
};
#define FIRST_USE (ACCOUNT_COLUMNS - 3)

static const char *const states[ACCOUNT_STATE__COUNT] = {
	[ACCOUNT_RUNNING] = "",        [ACCOUNT_SUCCEEDED] = "Succeeded", [ACCOUNT_FAILED] = "Failed",
	[ACCOUNT_EVICTED] = "Evicted", [ACCOUNT_DELETED] = "Deleted",
};

const char *account_state_name(enum account_state s)
{
	return states[s];
}

struct str account_uid(const char *uid)
{
	return (struct str){ uid, strnlen(uid, ACCOUNT_UID_LEN) };
}

struct account_use account_use_for(const struct account_record *r, int64_t seconds)
{
	double s = seconds > 0 ? (double)seconds : 0;

	return (struct account_use){ .gpu = r->gpus * s,
				     .cpu = (double)r->cpus_milli / 1000 * s,
				     .memory = (double)r->memory_bytes / GIB * s };
}

struct account_use account_use_between(const struct account_record *r, int64_t from, int64_t to, int64_t now)
{
	int64_t end = r->ended ? r->ended : now;
	int64_t first = r->started > from ? r->started : from;
	int64_t last = end < to ? end : to;
	double part;

	if (last <= first)
		return (struct account_use){ 0 };
	if (!r->ended)
		return account_use_for(r, last - first);
	part = (double)(last - first) / (double)(end - r->started);
	return (struct account_use){ r->use.gpu * part, r->use.cpu * part, r->use.memory * part };
}

/* ---- writing ---- */

/* Quoted where it must be.  What a reader that takes lines and commas could stumble over is replaced. */
static void add_text(struct str s, struct sbuf *out)
{
	bool quoted = false;

	for (size_t i = 0; i < s.n; i++)
		quoted |= s.p[i] == ',' || s.p[i] == '"' || (s.p[i] == ' ' && (i == 0 || i + 1 == s.n));
	if (quoted)
		sbuf_addc(out, '"');
	for (size_t i = 0; i < s.n; i++)
		sbuf_addc(out, s.p[i] == '"' ? '\'' : (unsigned char)s.p[i] < ' ' ? ' ' : s.p[i]);
	if (quoted)
		sbuf_addc(out, '"');
}

/* Three digits behind the point at most, and none that say nothing. */
static void add_real(double v, struct sbuf *out)
{
	char text[64];
	int n = snprintf(text, sizeof(text), "%.3f", v < REAL_MAX ? v : REAL_MAX);

	while (n > 0 && text[n - 1] == '0')
		n--;
	if (n > 0 && text[n - 1] == '.')
		n--;
	sbuf_add(out, text, (size_t)n);
}

static bool is_same_use(const struct account_use *a, const struct account_use *b)
{
	return fabs(a->gpu - b->gpu) < SAME_SECONDS && fabs(a->cpu - b->cpu) < SAME_SECONDS &&
	       fabs(a->memory - b->memory) < SAME_SECONDS;
}

static void add_number(size_t column, int64_t v, struct sbuf *out)
{
	bool none = columns[column].offset == AT(walltime) ? v == ACCOUNT_NO_LIMIT
							   : columns[column].offset == AT(ended) && !v;

	if (!none)
		sbuf_addf(out, "%lld", (long long)v);
}

void account_title(struct sbuf *out)
{
	for (size_t i = 0; i < ACCOUNT_COLUMNS; i++)
		sbuf_addf(out, "%s%s", i ? "," : "", columns[i].name);
	sbuf_addc(out, '\n');
}

void account_write(const struct account_record *r, struct sbuf *out)
{
	struct account_use even = account_use_for(r, r->ended - r->started);
	bool follows = is_same_use(&even, &r->use) || r->state == ACCOUNT_RUNNING;

	for (size_t i = 0; i < ACCOUNT_COLUMNS; i++) {
		const void *v = (const char *)r + columns[i].offset;

		if (i)
			sbuf_addc(out, ',');
		if (columns[i].type == TEXT)
			add_text(*(const struct str *)v, out);
		else if (columns[i].type == NUMBER)
			add_number(i, *(const int64_t *)v, out);
		else if (columns[i].type == STATE)
			sbuf_adds(out, states[*(const enum account_state *)v]);
		else if (i < FIRST_USE || !follows)
			add_real(*(const double *)v, out);
	}
	sbuf_addc(out, '\n');
}

/* ---- reading ---- */

/* The next field of a line; a quoted one may have commas in it. */
static bool next_field(struct str *rest, struct str *ret)
{
	const char *end;

	if (!rest->p)
		return false;
	if (rest->n && rest->p[0] == '"' && (end = memchr(rest->p + 1, '"', rest->n - 1))) {
		*ret = (struct str){ rest->p + 1, (size_t)(end - rest->p - 1) };
		rest->n -= ret->n + 2;
		rest->p = end + 1;
		end = memchr(rest->p, ',', rest->n);
	} else {
		end = memchr(rest->p, ',', rest->n);
		*ret = (struct str){ rest->p, end ? (size_t)(end - rest->p) : rest->n };
	}
	if (end)
		*rest = (struct str){ end + 1, rest->n - (size_t)(end + 1 - rest->p) };
	else
		*rest = (struct str){ 0 };
	return true;
}

static struct str without_return(struct str line)
{
	if (line.n && line.p[line.n - 1] == '\r')
		line.n--;
	return line;
}

int account_columns_read(struct str title, struct account_columns *ret, struct err *e)
{
	static const char *const needed[] = { "job", "started", "ended" };
	struct str rest = without_return(title);
	struct account_columns c = { .n = 0 };
	struct str name;

	memset(c.at, -1, sizeof(c.at));
	for (; next_field(&rest, &name); c.n++)
		for (size_t i = 0; i < ACCOUNT_COLUMNS; i++)
			if (str_eq(str_trim(name), columns[i].name))
				c.at[i] = c.n;
	for (size_t k = 0; k < ARRAY_SIZE(needed); k++)
		for (size_t i = 0; i < ACCOUNT_COLUMNS; i++)
			if (streq(columns[i].name, needed[k]) && c.at[i] < 0)
				return err_set(e, ERR_BAD_REQUEST, "the title line has no column \"%s\"", needed[k]);
	*ret = c;
	return 0;
}

/* By hand: there are ten of them in a line, and millions of lines. */
static bool read_number(struct str s, int64_t *ret)
{
	bool minus = s.n && s.p[0] == '-';
	int64_t v = 0;

	if (s.n == minus || s.n > DIGITS_MAX)
		return false;
	for (size_t i = minus; i < s.n; i++) {
		if (s.p[i] < '0' || s.p[i] > '9')
			return false;
		v = v * 10 + (s.p[i] - '0');
	}
	*ret = minus ? -v : v;
	return true;
}

static bool read_real(struct str s, double *ret)
{
	char text[64];
	char *end;
	int64_t whole;
	double v;

	if (read_number(s, &whole) && whole >= 0) {
		*ret = (double)whole;
		return true;
	}
	if (!s.n || s.n >= sizeof(text))
		return false;
	memcpy(text, s.p, s.n);
	text[s.n] = '\0';
	v = strtod(text, &end);
	if (*end || !(v >= 0 && v <= REAL_MAX))
		return false;
	*ret = v;
	return true;
}

static bool read_state(struct str s, enum account_state *ret)
{
	for (size_t i = 0; i < ACCOUNT_STATE__COUNT; i++)
		if (str_eq(s, states[i])) {
			*ret = (enum account_state)i;
			return true;
		}
	return false;
}

static bool read_field(size_t column, struct str text, struct account_record *r)
{
	void *v = (char *)r + columns[column].offset;

	switch (columns[column].type) {
	case TEXT:
		*(struct str *)v = text;
		return true;
	case NUMBER:
		return read_number(text, v);
	case REAL:
		return read_real(text, v);
	default:
		return read_state(text, v);
	}
}

static int check(const struct account_record *r, struct err *e)
{
	static const size_t amounts[] = { AT(submitted), AT(started),    AT(ended),
					  AT(pods),      AT(cpus_milli), AT(memory_bytes) };

	for (size_t i = 0; i < ARRAY_SIZE(amounts); i++)
		if (*(const int64_t *)((const char *)r + amounts[i]) < 0)
			return err_set(e, ERR_BAD_REQUEST, "a time or an amount below 0");
	if (r->ended && r->ended < r->started)
		return err_set(e, ERR_BAD_REQUEST, "ended: %lld is before its start", (long long)r->ended);
	return 0;
}

int account_read(const struct account_columns *c, struct str line, struct account_record *ret, struct err *e)
{
	struct account_record r = { .pods = 1, .walltime = ACCOUNT_NO_LIMIT };
	struct str rest = without_return(line);
	struct str fields[2 * ACCOUNT_COLUMNS];
	bool said = false;
	int n = 0;

	while (n < (int)ARRAY_SIZE(fields) && next_field(&rest, &fields[n]))
		n++;
	for (size_t i = 0; i < ACCOUNT_COLUMNS; i++) {
		struct str text = c->at[i] >= 0 && c->at[i] < n ? fields[c->at[i]] : STR("");

		if (!text.n && columns[i].type != TEXT)
			continue;
		if (!read_field(i, text, &r))
			return err_set(e, ERR_BAD_REQUEST, "%s: \"%.*s\" is not what it should be", columns[i].name,
				       (int)(text.n < 40 ? text.n : 40), text.p);
		said |= i >= FIRST_USE;
	}
	if (check(&r, e) < 0)
		return -1;
	if (!said)
		r.use = account_use_for(&r, r.ended ? r.ended - r.started : 0);
	*ret = r;
	return 0;
}
