// SPDX-License-Identifier: Apache-2.0
/* chart.h - lines drawn with characters, with axes and a legend.  Pure
 *
 * Where the terminal knows UTF-8, one line, or several in colours, are drawn with the dots of braille characters: eight
 * to a place.  Else each line has a letter of its own.
 */
#ifndef STOKER_CLI_CHART_H
#define STOKER_CLI_CHART_H

#include <stdbool.h>

#include "base/str.h"

#define CHART_LINES      8 /* that can be told apart; of more the first are drawn */
#define CHART_WIDTH_MIN  30
#define CHART_HEIGHT_MIN 4
#define CHART_MOST       1000 /* columns or rows */

struct chart_point {
	double x, y; /* y may be NaN: a gap */
};

struct chart_line {
	const char *label;
	const struct chart_point *points;
	size_t n;
};

struct chart {
	const char *title, *x_name;
	const struct chart_line *lines;
	size_t n;
	int width, height; /* of all, and of the plot itself */
	bool utf8, colours;
};

void chart_draw(const struct chart *c, struct sbuf *out);
/* A round distance between ticks: 1, 2 or 5 times a power of ten, so that about `ticks` of them cover the range. */
double chart_step(double range, int ticks);

#endif
