// SPDX-License-Identifier: Apache-2.0
/* follow_numbers.c - see follow_numbers.h */
#include "cli/follow_numbers.h"

#include <math.h>
#include <stdio.h>

#include "base/mem.h"

static void curve_add(struct follow_curve *c, double value)
{
	if (!isfinite(value))
		return;
	c->last = value;
	if (!c->n)
		c->first = value;
	if (c->n && ++c->skipped < c->every)
		return;
	c->skipped = 0;
	if (c->n == FOLLOW_POINTS) {
		for (size_t i = 0; i < FOLLOW_POINTS / 2; i++)
			c->points[i] = c->points[2 * i];
		c->n = FOLLOW_POINTS / 2;
		c->every = c->every ? c->every * 2 : 2;
	}
	c->points[c->n++] = value;
}

static const struct measure_value *value_named(const struct measure *m, const char *name)
{
	for (size_t i = 0; i < m->n; i++)
		if (streq(m->values[i].name, name))
			return &m->values[i];
	return NULL;
}

/* The loss if there is one, else some loss, else the first number. */
static const struct measure_value *main_value(const struct measure *m)
{
	const struct measure_value *v = value_named(m, "loss");

	for (size_t i = 0; !v && i < m->n; i++)
		if (strstr(m->values[i].name, "loss"))
			v = &m->values[i];
	return v ? v : &m->values[0];
}

static void add_to_curve(struct follow_numbers *n, const struct measure *m)
{
	const struct measure_value *v;

	if (!n->curve.n)
		snprintf(n->curve.name, sizeof(n->curve.name), "%s", main_value(m)->name);
	v = value_named(m, n->curve.name);
	if (v)
		curve_add(&n->curve, v->value);
}

bool follow_numbers_line(struct follow_numbers *n, struct str line, int64_t at)
{
	struct measure m;
	bool back;

	if (!measure_read(line, &m))
		return false;
	/* mpirun's output is that of all ranks: the first one speaks for them. */
	if (m.rank >= 0 && m.rank > n->least_rank)
		return false;
	if (m.rank >= 0)
		n->least_rank = m.rank;
	back = n->any && n->last.by == m.by && m.at < n->last.at;
	if (back && n->restarted)
		n->curve = (struct follow_curve){ 0 };
	else if (back)
		n->cyclic = true;
	if (!n->any || n->restarted || back || n->last.by != m.by) {
		n->base = m.at;
		n->base_at = at;
	}
	n->restarted = false;
	n->any = true;
	n->last = m;
	n->last_at = at;
	add_to_curve(n, &m);
	return true;
}

int64_t follow_left(const struct follow_numbers *n, int64_t now)
{
	double done = n->last.at - n->base;
	double micros;

	if (!n->any || n->cyclic || n->last.of <= 0 || done <= 0 || n->last.at > n->last.of)
		return -1;
	micros = (double)(n->last_at - n->base_at) / done * (n->last.of - n->last.at) - (double)(now - n->last_at);
	return micros > 0 ? (int64_t)(micros / 1e6 + 0.5) : 0;
}

/* What people look for; how many seconds and bytes it took is for programs. */
static bool is_sought(const char *name)
{
	static const char *const words[] = { "loss", "acc", "error", "perplexity", "score" };

	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (strstr(name, words[i]))
			return true;
	return false;
}

void follow_numbers_text(const struct measure *m, struct sbuf *out)
{
	size_t sought = 0;

	if (m->by == MEASURE_BY_STEP && m->epoch >= 0)
		sbuf_addf(out, "%s %.6g ", measure_by_name(MEASURE_BY_EPOCH), m->epoch);
	sbuf_addf(out, "%s %.10g", measure_by_name(m->by), m->at);
	if (m->of > 0)
		sbuf_addf(out, "/%.10g", m->of);
	for (size_t i = 0; i < m->n; i++)
		sought += is_sought(m->values[i].name);
	for (size_t i = 0; i < m->n; i++)
		if (!sought || is_sought(m->values[i].name))
			sbuf_addf(out, " %s %.4g", m->values[i].name, m->values[i].value);
}
