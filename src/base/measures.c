// SPDX-License-Identifier: Apache-2.0
/* measures.c - points come in, are thinned out, and go out as JSON */
#include "base/measures.h"

#include <math.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/mem.h"

#define TIME_MOST 40 /* with nanoseconds and an offset it is 35 */

void measures_init(struct measures *m)
{
	*m = MEASURES;
}

void measures_done(struct measures *m)
{
	for (size_t i = 0; i < m->n; i++)
		free(m->series[i].points);
	measures_init(m);
}

/* ---- points ---- */

static struct measures_series *series_get(struct measures *m, const char *name, enum measure_by by)
{
	struct measures_series *s;

	for (size_t i = 0; i < m->n; i++)
		if (m->series[i].by == by && streq(m->series[i].name, name))
			return &m->series[i];
	if (m->n == MEASURES_SERIES)
		return NULL;
	s = &m->series[m->n++];
	*s = (struct measures_series){ .by = by, .stride = 1 };
	snprintf(s->name, sizeof(s->name), "%s", name);
	return s;
}

/* Is the newest point one that only stays until the next comes? */
static bool newest_is_loose(const struct measures_series *s)
{
	return s->n && (s->seen - 1) % s->stride != 0;
}

static void thin_out(struct measures_series *s)
{
	s->n = (s->n + 1) / 2;
	for (size_t i = 0; i < s->n; i++)
		s->points[i] = s->points[2 * i];
	s->stride *= 2;
}

static void series_add(struct measures_series *s, struct measures_point p)
{
	if (newest_is_loose(s))
		s->n--;
	if (s->n == MEASURES_POINTS)
		thin_out(s);
	s->seen++;
	ARRAY_PUSH(s->points, s->n, s->cap, p);
}

/* ---- steps that begin anew ---- */

static bool begins_anew(const struct measures *m, const struct measure *what)
{
	bool done = m->of > 0 && m->at >= m->of;

	if (!m->stepped || what->at > m->at)
		return false;
	if (what->at == m->at)
		return done && (what->epoch > m->epoch || streq(what->values[0].name, m->first));
	return done || (m->epoch >= 0 && what->epoch > m->epoch);
}

static double place(struct measures *m, const struct measure *what)
{
	if (what->by != MEASURE_BY_STEP)
		return what->at;
	if (begins_anew(m, what))
		m->base += (m->at > m->of ? m->at : m->of) + (what->at == 0 ? 1 : 0);
	m->stepped = true;
	m->at = what->at;
	m->of = what->of;
	m->epoch = what->epoch;
	memcpy(m->first, what->values[0].name, sizeof(m->first));
	return m->base + what->at;
}

void measures_add(struct measures *m, const struct measure *what, int64_t us)
{
	double at = place(m, what);

	for (size_t i = 0; i < what->n; i++) {
		struct measures_series *s = series_get(m, what->values[i].name, what->by);

		if (!s)
			continue;
		if (what->of > 0)
			s->of = what->of;
		series_add(s, (struct measures_point){ at, what->values[i].value, us });
	}
}

bool measures_cut_time(struct str *line, int64_t *ret_us)
{
	struct str rest = *line, time;
	char text[TIME_MOST];

	if (!str_split(&rest, ' ', &time) || time.n >= sizeof(text) || !rest.p)
		return false;
	memcpy(text, time.p, time.n);
	text[time.n] = 0;
	if (!clock_parse_rfc3339(text, ret_us))
		return false;
	*line = rest;
	return true;
}

bool measures_add_stamped(struct measures *m, struct str line)
{
	struct measure what;
	int64_t us;

	if (!measures_cut_time(&line, &us) || !measure_read(line, &what))
		return false;
	measures_add(m, &what, us);
	return true;
}

/* ---- JSON ---- */

static json_t *number(double v)
{
	if (!isfinite(v))
		return json_null();
	return v == floor(v) && fabs(v) < 1e15 ? json_integer((json_int_t)v) : json_real(v);
}

static json_t *time_text(int64_t us)
{
	char text[CLOCK_MICRO_LEN];

	if (!us)
		return json_null();
	clock_rfc3339_micro(us, text);
	return json_string(text);
}

static json_t *points_json(const struct measures_series *s)
{
	json_t *points = json_array();

	for (size_t i = 0; i < s->n; i++) {
		const struct measures_point *p = &s->points[i];

		json_array_append_new(points,
				      json_pack("[o, o, o]", number(p->at), number(p->value), time_text(p->us)));
	}
	return points;
}

void measures_json(const struct measures *m, const struct measures_place *at, json_t *list)
{
	for (size_t i = 0; i < m->n; i++) {
		const struct measures_series *s = &m->series[i];

		json_array_append_new(
			list, json_pack("{s:s, s:s, s:i, s:s, s:s, s:o, s:o}", "pod", at->pod, "container",
					at->container, "run", at->run, "name", s->name, "by", measure_by_name(s->by),
					"of", s->of > 0 ? number(s->of) : json_null(), "points", points_json(s)));
	}
}
