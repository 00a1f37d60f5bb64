// SPDX-License-Identifier: Apache-2.0
/* redraw.c - see redraw.h */
#include "cli/redraw.h"

#include "base/mem.h"
#include "cli/follow_view.h"

void redraw_done(struct redraw *r)
{
	free(r->widths);
	*r = (struct redraw){ 0 };
}

static int rows_of(const struct redraw *r, int width)
{
	int rows = 0;

	for (size_t i = 0; i < r->n; i++)
		rows += width > 0 && r->widths[i] > width ? (r->widths[i] + width - 1) / width : 1;
	return rows;
}

/* Each line ends what was there before it. */
static void add_lines(struct str text, struct sbuf *out)
{
	struct str line;

	while (text.n && str_split(&text, '\n', &line))
		sbuf_addf(out, "%.*s\033[K\n", STR_FMT(line));
}

void redraw(struct redraw *r, struct str above, struct str block, int width, struct sbuf *out)
{
	int rows = rows_of(r, width);
	struct str line;

	sbuf_adds(out, "\r");
	if (rows)
		sbuf_addf(out, "\033[%dA", rows);
	add_lines(above, out);
	add_lines(block, out);
	sbuf_adds(out, "\033[J");
	r->n = 0;
	while (block.n && str_split(&block, '\n', &line))
		ARRAY_PUSH(r->widths, r->n, r->cap, follow_columns(line));
}
