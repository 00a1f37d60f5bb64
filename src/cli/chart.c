// SPDX-License-Identifier: Apache-2.0
/* chart.c - from numbers to characters
 *
 * First the scales, then a canvas of dots (2 x 4 to a character in braille, else 1 x 1), on which each line is drawn
 * from point to point; then the rows of characters with ticks at their left, the axis below, and the legend.
 */
#include "cli/chart.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"

#define LABEL_MOST 16 /* of a tick */
#define X_TICK_GAP 8  /* columns from one tick to the next, about */
#define Y_TICK_GAP 2

static const char letters[CHART_LINES + 1] = "*+ox#@%&";
static const char *const colours[CHART_LINES] = { "\033[36m", "\033[33m", "\033[32m", "\033[35m",
						  "\033[34m", "\033[31m", "\033[37m", "\033[90m" };

/* Dots of a braille character, by column and row from the top. */
static const uint8_t dots[2][4] = { { 0x01, 0x02, 0x04, 0x40 }, { 0x08, 0x10, 0x20, 0x80 } };

struct scale {
	double low, high, step;
};

struct cell {
	uint8_t dots; /* braille; else not 0 where something is */
	uint8_t line; /* that drew it last */
};

struct canvas {
	const struct chart *c;
	size_t lines; /* that are drawn */
	bool braille;
	int columns, rows, per_x, per_y; /* characters, and dots to each */
	struct scale x, y;
	int labels; /* width of the ticks' labels */
	struct cell *cells;
};

/* ---- scales ---- */

double chart_step(double range, int ticks)
{
	double rough = range / (ticks > 0 ? ticks : 1);
	double power = pow(10, floor(log10(rough)));
	double part = rough / power;

	if (!isfinite(power) || power <= 0)
		return range > 0 ? range : 1;
	return power * (part <= 1 ? 1 : part <= 2 ? 2 : part <= 5 ? 5 : 10);
}

static void widen(struct scale *s, double v)
{
	if (!isfinite(v))
		return;
	s->low = v < s->low ? v : s->low;
	s->high = v > s->high ? v : s->high;
}

static bool find_ranges(struct canvas *v)
{
	v->x = v->y = (struct scale){ INFINITY, -INFINITY, 1 };
	for (size_t i = 0; i < v->lines; i++)
		for (size_t j = 0; j < v->c->lines[i].n; j++)
			if (isfinite(v->c->lines[i].points[j].y)) {
				widen(&v->x, v->c->lines[i].points[j].x);
				widen(&v->y, v->c->lines[i].points[j].y);
			}
	return v->x.low <= v->x.high;
}

/* A range of nothing is a line in the middle. */
static void open_up(struct scale *s, double half)
{
	if (s->high - s->low > fabs(s->high) * 1e-9)
		return;
	s->low -= half;
	s->high += half;
}

/* Values begin and end at ticks; the run fills the width. */
static void set_scales(struct canvas *v)
{
	int ticks = v->rows / Y_TICK_GAP;

	open_up(&v->y, v->y.high != 0 ? fabs(v->y.high) / 10 : 0.5);
	open_up(&v->x, 1);
	v->y.step = chart_step(v->y.high - v->y.low, ticks > 1 ? ticks : 2);
	v->y.low = floor(v->y.low / v->y.step + 1e-9) * v->y.step;
	v->y.high = ceil(v->y.high / v->y.step - 1e-9) * v->y.step;
}

/* Ticks are counted, not added up: where numbers are large a step may be too small to change them. */
static int ticks_of(const struct scale *s)
{
	double n = floor((s->high - s->low) / s->step + 1e-6);

	return n > 0 && n < CHART_MOST ? (int)n + 1 : 1;
}

static double tick_at(const struct scale *s, int i)
{
	return s->low + i * s->step;
}

static void label_of(double value, double step, char ret[LABEL_MOST])
{
	int decimals = step >= 1 ? 0 : (int)ceil(-log10(step) - 1e-9);

	if (fabs(value) < step / 1e6)
		value = 0;
	if (decimals > 6 || fabs(value) >= 1e7)
		snprintf(ret, LABEL_MOST, "%.4g", value);
	else
		snprintf(ret, LABEL_MOST, "%.*f", decimals, value);
}

/* ---- the canvas ---- */

static void dot(struct canvas *v, int x, int y, size_t line)
{
	struct cell *cell = &v->cells[(y / v->per_y) * v->columns + x / v->per_x];

	cell->dots |= v->braille ? dots[x % v->per_x][y % v->per_y] : 1;
	cell->line = (uint8_t)line;
}

static int to_dot(double v, const struct scale *s, int dots_)
{
	double part = (v - s->low) / (s->high - s->low);

	return (int)lround((part < 0 ? 0 : part > 1 ? 1 : part) * (dots_ - 1));
}

static int dot_x(const struct canvas *v, double x)
{
	return to_dot(x, &v->x, v->columns * v->per_x);
}

static int dot_y(const struct canvas *v, double y)
{
	int n = v->rows * v->per_y;

	return n - 1 - to_dot(y, &v->y, n);
}

static void stroke(struct canvas *v, int x, int y, int to_x, int to_y, size_t line)
{
	int n = abs(to_x - x) > abs(to_y - y) ? abs(to_x - x) : abs(to_y - y);

	for (int i = 1; i <= n; i++)
		dot(v, x + (int)lround((double)(to_x - x) * i / n), y + (int)lround((double)(to_y - y) * i / n), line);
}

/* A run that began again from an earlier step draws a line of its own. */
static void draw_line(struct canvas *v, size_t line)
{
	const struct chart_line *l = &v->c->lines[line];
	const struct chart_point *last = NULL;

	for (size_t i = 0; i < l->n; i++) {
		const struct chart_point *p = &l->points[i];

		if (!isfinite(p->y) || !isfinite(p->x)) {
			last = NULL;
			continue;
		}
		dot(v, dot_x(v, p->x), dot_y(v, p->y), line);
		if (last && last->x <= p->x)
			stroke(v, dot_x(v, last->x), dot_y(v, last->y), dot_x(v, p->x), dot_y(v, p->y), line);
		last = p;
	}
}

/* ---- text ---- */

static void add_rune(struct sbuf *out, unsigned rune)
{
	sbuf_addc(out, (char)(0xe0 | rune >> 12));
	sbuf_addc(out, (char)(0x80 | ((rune >> 6) & 0x3f)));
	sbuf_addc(out, (char)(0x80 | (rune & 0x3f)));
}

static void add_cell(const struct canvas *v, const struct cell *cell, struct sbuf *out)
{
	if (!cell->dots) {
		sbuf_addc(out, ' ');
		return;
	}
	if (v->c->colours)
		sbuf_adds(out, colours[cell->line]);
	if (v->braille)
		add_rune(out, 0x2800u + cell->dots);
	else
		sbuf_addc(out, letters[cell->line]);
	if (v->c->colours)
		sbuf_adds(out, "\033[0m");
}

/* The tick of a row, or NAN. */
static double tick_of(const struct canvas *v, int row)
{
	for (int i = 0; i < ticks_of(&v->y); i++)
		if (dot_y(v, tick_at(&v->y, i)) / v->per_y == row)
			return tick_at(&v->y, i);
	return NAN;
}

static int labels_width(const struct canvas *v)
{
	int width = 1;

	for (int i = 0; i < ticks_of(&v->y); i++) {
		char text[LABEL_MOST];

		label_of(tick_at(&v->y, i), v->y.step, text);
		width = (int)strlen(text) > width ? (int)strlen(text) : width;
	}
	return width;
}

static void add_row(const struct canvas *v, int row, struct sbuf *out)
{
	const struct cell *cells = &v->cells[row * v->columns];
	double tick = tick_of(v, row);
	char text[LABEL_MOST] = "";
	int used = v->columns;

	if (!isnan(tick))
		label_of(tick, v->y.step, text);
	sbuf_addf(out, "%*s ", v->labels, text);
	sbuf_adds(out, v->c->utf8 ? (*text ? "┤" : "│") : (*text ? "+" : "|"));
	while (used > 0 && !cells[used - 1].dots)
		used--;
	for (int i = 0; i < used; i++)
		add_cell(v, &cells[i], out);
	sbuf_addc(out, '\n');
}

/* The axis, and below it the ticks where they do not run into each other. */
static void add_axis(const struct canvas *v, struct sbuf *out)
{
	double step = chart_step(v->x.high - v->x.low, v->columns / X_TICK_GAP);
	struct scale ticks = { ceil(v->x.low / step - 1e-9) * step, v->x.high, step };
	auto_sbuf struct sbuf text = SBUF(2 * CHART_MOST);
	auto_free bool *marks = xcalloc((size_t)v->columns, sizeof(*marks));
	int margin = v->labels + 2;

	for (int i = 0; i < ticks_of(&ticks); i++) {
		double t = tick_at(&ticks, i);
		int at = dot_x(v, t) / v->per_x;
		char label[LABEL_MOST];
		int from;

		label_of(t, step, label);
		from = margin + at - (int)strlen(label) / 2;
		marks[at] = true;
		if (from < (int)text.n + (text.n ? 1 : 0) || from + (int)strlen(label) > margin + v->columns)
			continue;
		sbuf_addf(&text, "%*s%s", from - (int)text.n, "", label);
	}
	sbuf_addf(out, "%*s ", v->labels, "");
	sbuf_adds(out, v->c->utf8 ? "└" : "+");
	for (int i = 0; i < v->columns; i++)
		sbuf_adds(out, v->c->utf8 ? (marks[i] ? "┬" : "─") : (marks[i] ? "+" : "-"));
	sbuf_addf(out, "\n%s  %s\n", text.n ? text.p : "", v->c->x_name);
}

/* ---- the legend ---- */

static const struct chart_point *end_of(const struct chart_line *l, bool last)
{
	for (size_t i = 0; i < l->n; i++) {
		const struct chart_point *p = &l->points[last ? l->n - 1 - i : i];

		if (isfinite(p->y))
			return p;
	}
	return NULL;
}

static void add_legend(const struct canvas *v, struct sbuf *out)
{
	size_t width = 0;

	for (size_t i = 0; i < v->lines; i++)
		width = strlen(v->c->lines[i].label) > width ? strlen(v->c->lines[i].label) : width;
	for (size_t i = 0; i < v->lines; i++) {
		const struct chart_line *l = &v->c->lines[i];
		const struct chart_point *first = end_of(l, false), *last = end_of(l, true);

		sbuf_addf(out, "%*s", v->labels + 2, "");
		if (v->c->colours)
			sbuf_adds(out, colours[i]);
		if (v->braille)
			sbuf_adds(out, "━━");
		else
			sbuf_addf(out, "%c", letters[i]);
		sbuf_addf(out, "%s %-*s", v->c->colours ? "\033[0m" : "", (int)width, l->label);
		if (first)
			sbuf_addf(out, "  %.4g %s %.4g", first->y, v->c->utf8 ? "→" : "->", last->y);
		else
			sbuf_adds(out, "  no number");
		sbuf_addf(out, "  (%zu point%s)\n", l->n, l->n == 1 ? "" : "s");
	}
	if (v->c->n > v->lines)
		sbuf_addf(out, "%*sand %zu more\n", v->labels + 2, "", v->c->n - v->lines);
}

static int between(int v, int low, int high)
{
	return v < low ? low : v > high ? high : v;
}

void chart_draw(const struct chart *c, struct sbuf *out)
{
	struct canvas v = { .c = c, .lines = c->n < CHART_LINES ? c->n : CHART_LINES };

	v.braille = c->utf8 && (v.lines == 1 || c->colours);
	v.per_x = v.braille ? 2 : 1;
	v.per_y = v.braille ? 4 : 1;
	v.rows = between(c->height, CHART_HEIGHT_MIN, CHART_MOST);
	sbuf_addf(out, "%s\n", c->title);
	if (!find_ranges(&v)) {
		add_legend(&v, out);
		return;
	}
	set_scales(&v);
	v.labels = labels_width(&v);
	v.columns = between(c->width, CHART_WIDTH_MIN, CHART_MOST) - v.labels - 2 - 1 - (int)strlen(c->x_name) / 2;
	v.cells = xcalloc((size_t)v.columns * (size_t)v.rows, sizeof(*v.cells));
	for (size_t i = v.lines; i > 0; i--) /* where they meet, the first is seen */
		draw_line(&v, i - 1);
	for (int row = 0; row < v.rows; row++)
		add_row(&v, row, out);
	add_axis(&v, out);
	add_legend(&v, out);
	free(v.cells);
}
