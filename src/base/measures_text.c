// SPDX-License-Identifier: Apache-2.0
/* measures_text.c - measurements as text, for a file that is added to and survives a crash
 *
 *	s loss step 500 4096 2           a series: name, by, of, points seen, one in so many stays
 *	p 120 0.36 1763270556000000      its points: at, value, time
 *	w 500 120 500 2 loss             the step: base, at, of, epoch, first name
 *	m 1763270556000000 1             all up to here in the log is in it
 *	l 1763270557000000 1 step 121 500 -1 loss=0.35 accuracy=0.9
 *	e                                nothing will follow
 *
 * The first four come from thinning out, when the file is made anew; each "l" is one line of output.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/measures.h"
#include "base/mem.h"

#define NUMBER_MOST 40

/* The shortest that reads back as the same. */
static void add_number(struct sbuf *out, double v)
{
	char text[NUMBER_MOST];

	for (int digits = 6; digits <= 17; digits += digits == 6 ? 9 : 1) {
		snprintf(text, sizeof(text), "%.*g", digits, v);
		if (isnan(v) || strtod(text, NULL) == v)
			break;
	}
	sbuf_addf(out, " %s", isnan(v) ? "nan" : text);
}

static void write_series(const struct measures_series *s, struct sbuf *out)
{
	sbuf_addf(out, "s %s %s", s->name, measure_by_name(s->by));
	add_number(out, s->of);
	sbuf_addf(out, " %llu %llu\n", (unsigned long long)s->seen, (unsigned long long)s->stride);
	for (size_t i = 0; i < s->n; i++) {
		sbuf_addc(out, 'p');
		add_number(out, s->points[i].at);
		add_number(out, s->points[i].value);
		sbuf_addf(out, " %lld\n", (long long)s->points[i].us);
	}
}

void measures_write(const struct measures *m, struct sbuf *out)
{
	for (size_t i = 0; i < m->n; i++)
		write_series(&m->series[i], out);
	if (m->stepped) {
		sbuf_addc(out, 'w');
		add_number(out, m->base);
		add_number(out, m->at);
		add_number(out, m->of);
		add_number(out, m->epoch);
		sbuf_addf(out, " %s\n", m->first);
	}
	sbuf_addf(out, "m %lld %llu\n", (long long)m->mark.us, (unsigned long long)m->mark.nth);
}

void measures_write_line(const struct measure *what, const struct measures_mark *mark, struct sbuf *out)
{
	sbuf_addf(out, "l %lld %llu %s", (long long)mark->us, (unsigned long long)mark->nth, measure_by_name(what->by));
	add_number(out, what->at);
	add_number(out, what->of);
	add_number(out, what->epoch);
	for (size_t i = 0; i < what->n; i++) {
		auto_sbuf struct sbuf value = SBUF(NUMBER_MOST);

		add_number(&value, what->values[i].value);
		sbuf_addf(out, " %s=%s", what->values[i].name, value.p + 1);
	}
	sbuf_addc(out, '\n');
}

void measures_write_end(struct sbuf *out)
{
	sbuf_adds(out, "e\n");
}

/* ---- reading ---- */

static bool read_number(struct str *rest, double *ret)
{
	char text[NUMBER_MOST];
	struct str word;
	char *end;

	if (!rest->p || !str_split(rest, ' ', &word) || !word.n || word.n >= sizeof(text))
		return false;
	memcpy(text, word.p, word.n);
	text[word.n] = 0;
	*ret = strtod(text, &end);
	return !*end && !isinf(*ret);
}

static bool read_int(struct str *rest, int64_t *ret)
{
	char text[NUMBER_MOST];
	struct str word;

	if (!rest->p || !str_split(rest, ' ', &word) || word.n >= sizeof(text))
		return false;
	memcpy(text, word.p, word.n);
	text[word.n] = 0;
	return str_int64(text, 0, INT64_MAX, ret);
}

static bool read_name(struct str *rest, char ret[MEASURE_NAME])
{
	struct str word;

	if (!rest->p || !str_split(rest, ' ', &word) || !word.n || word.n >= MEASURE_NAME)
		return false;
	for (size_t i = 0; i < word.n; i++)
		if (word.p[i] <= ' ' || word.p[i] > '~' || word.p[i] == '=')
			return false;
	memcpy(ret, word.p, word.n);
	ret[word.n] = 0;
	return true;
}

static bool read_by(struct str *rest, enum measure_by *ret)
{
	char text[MEASURE_NAME];

	if (!read_name(rest, text))
		return false;
	for (enum measure_by by = MEASURE_BY_EPOCH; by <= MEASURE_BY_STEP; by++)
		if (streq(text, measure_by_name(by))) {
			*ret = by;
			return true;
		}
	return false;
}

static bool read_mark(struct str *rest, struct measures_mark *ret)
{
	int64_t nth;

	if (!read_int(rest, &ret->us) || !read_int(rest, &nth))
		return false;
	ret->nth = (uint64_t)nth;
	return true;
}

static bool take_series(struct measures *m, struct str rest)
{
	struct measures_series s = { .n = 0 };
	int64_t seen, stride;

	if (m->n == MEASURES_SERIES || !read_name(&rest, s.name) || !read_by(&rest, &s.by) ||
	    !read_number(&rest, &s.of) || !read_int(&rest, &seen) || !read_int(&rest, &stride) || stride < 1)
		return false;
	s.seen = (uint64_t)seen;
	s.stride = (uint64_t)stride;
	m->series[m->n++] = s;
	return true;
}

static bool take_point(struct measures *m, struct str rest)
{
	struct measures_series *s = m->n ? &m->series[m->n - 1] : NULL;
	struct measures_point p;

	if (!s || s->n >= MEASURES_POINTS || !read_number(&rest, &p.at) || !read_number(&rest, &p.value) ||
	    !read_int(&rest, &p.us) || isnan(p.at))
		return false;
	ARRAY_PUSH(s->points, s->n, s->cap, p);
	return true;
}

static bool take_step(struct measures *m, struct str rest)
{
	m->stepped = read_number(&rest, &m->base) && read_number(&rest, &m->at) && read_number(&rest, &m->of) &&
		     read_number(&rest, &m->epoch) && read_name(&rest, m->first);
	return m->stepped;
}

static bool take_mark(struct measures *m, struct str rest)
{
	return read_mark(&rest, &m->mark);
}

static bool read_value(struct str *rest, struct measure_value *ret)
{
	struct str word, name, value;

	if (!str_split(rest, ' ', &word) || !str_split(&word, '=', &name) || !word.p)
		return false;
	value = word;
	return read_name(&name, ret->name) && read_number(&value, &ret->value);
}

static bool take_line(struct measures *m, struct str rest)
{
	struct measure what = { .rank = -1 };
	struct measures_mark mark;

	if (!read_mark(&rest, &mark) || !read_by(&rest, &what.by) || !read_number(&rest, &what.at) ||
	    !read_number(&rest, &what.of) || !read_number(&rest, &what.epoch) || isnan(what.at))
		return false;
	while (rest.p && what.n < MEASURE_MOST)
		if (!read_value(&rest, &what.values[what.n++]))
			return false;
	if (!what.n)
		return false;
	measures_add(m, &what, mark.us);
	m->mark = mark;
	m->lines++;
	return true;
}

static bool take_end(struct measures *m, struct str rest)
{
	(void)rest;
	m->ended = true;
	return true;
}

static bool take_record(struct measures *m, struct str line)
{
	static const struct {
		char tag;
		bool (*take)(struct measures *m, struct str rest);
	} rows[] = { { 's', take_series }, { 'p', take_point }, { 'w', take_step },
		     { 'm', take_mark },   { 'l', take_line },  { 'e', take_end } };

	if (!line.n || (line.n > 1 && line.p[1] != ' '))
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (rows[i].tag == line.p[0])
			return rows[i].take(m, line.n > 2 ? (struct str){ line.p + 2, line.n - 2 } : STR(""));
	return false;
}

size_t measures_read(struct measures *m, struct str text)
{
	size_t good = 0;

	while (good < text.n) {
		const char *nl = memchr(text.p + good, '\n', text.n - good);

		if (!nl || !take_record(m, (struct str){ text.p + good, (size_t)(nl - text.p) - good }))
			break;
		good = (size_t)(nl + 1 - text.p);
	}
	return good;
}
