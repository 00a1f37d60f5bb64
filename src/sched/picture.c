// SPDX-License-Identifier: Apache-2.0
/* picture.c - see picture.h: time is cut into equal parts, and each job adds to those in which it ran */
#include "sched/picture.h"

#include <stdlib.h>

#include "base/mem.h"

#define NAMED 7 /* users with a colour of their own; the last colour is for all others */
#define ROWS  12

static const struct {
	const char *svg;
	int terminal; /* of the 256 */
} colours_of[NAMED + 1] = {
	{ "#4477aa", 67 }, { "#ee6677", 204 }, { "#228833", 29 },  { "#ccbb44", 179 },
	{ "#66ccee", 81 }, { "#aa3377", 126 }, { "#ee8866", 209 }, { "#bbbbbb", 250 },
};

struct picture {
	const char *names[NAMED + 1];
	size_t n; /* of them, with "others" */
	size_t bins;
	double *used; /* bins x (NAMED + 1): mean of the bin */
	double capacity, seconds;
};

static int by_use(const void *x, const void *y)
{
	const struct outcome_user *a = *(const struct outcome_user *const *)x;
	const struct outcome_user *b = *(const struct outcome_user *const *)y;

	return a->used > b->used ? -1 : a->used < b->used;
}

static void name_users(struct picture *p, const struct outcome *o)
{
	const struct outcome_user **order = xcalloc(o->nusers + 1, sizeof(*order));

	for (size_t i = 0; i < o->nusers; i++)
		order[i] = &o->users[i];
	qsort(order, o->nusers, sizeof(*order), by_use);
	for (size_t i = 0; i < o->nusers && i < NAMED; i++)
		p->names[p->n++] = order[i]->name;
	if (o->nusers > NAMED)
		p->names[p->n++] = "others";
	free(order);
}

static size_t number_of(const struct picture *p, const char *user)
{
	for (size_t i = 0; i < p->n && i < NAMED; i++)
		if (streq(p->names[i], user))
			return i;
	return NAMED;
}

static void add_job(struct picture *p, const struct outcome *o, const struct sim_job *j)
{
	double length = p->seconds / (double)p->bins;
	double amount = (o->gpus ? (double)j->gpus : (double)j->cpu_milli / 1000) * (double)j->members;
	double from = (double)(j->start_ms - o->from_ms) / 1000;
	double to = (double)(j->end_ms - o->from_ms) / 1000;
	size_t user = number_of(p, j->user);

	for (size_t bin = (size_t)(from / length); bin < p->bins && (double)bin * length < to; bin++) {
		double begin = (double)bin * length;
		double end = begin + length;
		double part = (to < end ? to : end) - (from > begin ? from : begin);

		p->used[bin * (NAMED + 1) + user] += part > 0 ? amount * part / length : 0;
	}
}

static struct picture draw(const struct outcome *o, const struct workload *w, size_t bins)
{
	struct picture p = { .bins = bins, .capacity = o->capacity > 0 ? o->capacity : 1 };

	p.seconds = o->to_ms > o->from_ms ? (double)(o->to_ms - o->from_ms) / 1000 : 1;
	p.used = xcalloc(bins * (NAMED + 1), sizeof(*p.used));
	name_users(&p, o);
	for (size_t i = 0; i < w->n; i++)
		if (w->jobs[i].start_ms != TIME_UNKNOWN && w->jobs[i].end_ms != TIME_UNKNOWN)
			add_job(&p, o, &w->jobs[i]);
	return p;
}

static void add_escaped(struct sbuf *out, const char *text)
{
	for (; *text; text++) {
		unsigned char c = (unsigned char)*text;

		if (c == '<' || c == '>' || c == '&' || c == '"' || c < 0x20)
			sbuf_addf(out, "&#%d;", c < 0x20 ? '?' : c);
		else
			sbuf_addc(out, *text);
	}
}

void picture_svg(const struct outcome *o, const struct workload *w, struct sbuf *out)
{
	const double width = 900, height = 300, left = 50, top = 20;
	struct picture p = draw(o, w, 300);
	double wide = width / (double)p.bins;

	sbuf_addf(out,
		  "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"1120\" height=\"370\" "
		  "font-family=\"sans-serif\" font-size=\"12\">\n"
		  "<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n"
		  "<rect x=\"%g\" y=\"%g\" width=\"%g\" height=\"%g\" fill=\"#f4f4f4\"/>\n",
		  left, top, width, height);
	for (size_t bin = 0; bin < p.bins; bin++) {
		double y = top + height;

		for (size_t u = 0; u <= NAMED; u++) {
			double tall = p.used[bin * (NAMED + 1) + u] / p.capacity * height;

			if (tall < 0.05)
				continue;
			y -= tall;
			sbuf_addf(out, "<rect x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\" fill=\"%s\"/>\n",
				  left + (double)bin * wide, y, wide + 0.2, tall, colours_of[u].svg);
		}
	}
	for (size_t u = 0; u < p.n; u++) {
		sbuf_addf(
			out,
			"<rect x=\"970\" y=\"%zu\" width=\"12\" height=\"12\" fill=\"%s\"/><text x=\"988\" y=\"%zu\">",
			20 + u * 20, colours_of[u].svg, 31 + u * 20);
		add_escaped(out, p.names[u]);
		sbuf_adds(out, "</text>\n");
	}
	sbuf_addf(out,
		  "<text x=\"44\" y=\"30\" text-anchor=\"end\">%g</text><text x=\"44\" y=\"320\" "
		  "text-anchor=\"end\">0</text>\n<text x=\"50\" y=\"340\">0 h</text><text x=\"950\" y=\"340\" "
		  "text-anchor=\"end\">%.1f h</text>\n<text x=\"50\" y=\"14\">%s in use</text>\n</svg>\n",
		  p.capacity, p.seconds / 3600, o->gpus ? "GPUs" : "CPUs");
	free(p.used);
}

/* Whose the part of the bin is that lies at this height, 0..1 of the machine; -1: nobody's. */
static int owner_at(const struct picture *p, size_t bin, double height)
{
	double sum = 0;

	for (int u = 0; u <= NAMED; u++) {
		sum += p->used[bin * (NAMED + 1) + (size_t)u] / p->capacity;
		if (height < sum)
			return u;
	}
	return -1;
}

static void add_cell(struct sbuf *out, int user, bool colours)
{
	if (user < 0)
		sbuf_adds(out, colours ? " " : ".");
	else if (colours)
		sbuf_addf(out, "\033[38;5;%dm\u2588\033[0m", colours_of[user].terminal);
	else
		sbuf_addc(out, (char)('A' + user));
}

void picture_text(const struct outcome *o, const struct workload *w, size_t width, bool colours, struct sbuf *out)
{
	struct picture p = draw(o, w, width > 20 ? width - 8 : 12);

	for (size_t row = 0; row < ROWS; row++) {
		double height = 1 - ((double)row + 0.5) / ROWS;

		if (row == 0)
			sbuf_addf(out, "%6g ", p.capacity);
		else
			sbuf_addf(out, "%6s ", row == ROWS - 1 ? "0" : "");
		for (size_t bin = 0; bin < p.bins; bin++)
			add_cell(out, owner_at(&p, bin, height), colours);
		sbuf_addc(out, '\n');
	}
	sbuf_addf(out, "       0 h%*.1f h\n       ", (int)(p.bins > 5 ? p.bins - 5 : 1), p.seconds / 3600);
	for (size_t u = 0; u < p.n; u++) {
		add_cell(out, (int)u, colours);
		sbuf_addf(out, " %s%s", p.names[u], u + 1 < p.n ? "  " : "\n");
	}
	free(p.used);
}
