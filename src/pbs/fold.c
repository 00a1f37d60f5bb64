// SPDX-License-Identifier: Apache-2.0
/* fold.c - see fold.h
 *
 * The odd numbers are Torque's: commas are never counted, a piece that moves to a line of its own begins in column 9,
 * one that is broken goes on in column 8.
 */
#include "pbs/fold.h"

enum { WIDTH = 77, AROUND_NAME = 7 /* four blanks and " = " */, AFTER_MOVE = 9, AFTER_BREAK = 8 };

/* The next piece between commas that is not empty. */
static bool next_piece(struct str *rest, struct str *ret)
{
	while (rest->n && str_split(rest, ',', ret))
		if (ret->n)
			return true;
	return false;
}

void fold_value(const char *value, size_t column, struct sbuf *out)
{
	struct str rest = str_of(value);
	struct str piece;
	bool first = true;

	for (; next_piece(&rest, &piece); first = false) {
		if (!first)
			sbuf_addc(out, ',');
		if (column + piece.n < WIDTH) {
			sbuf_add(out, piece.p, piece.n);
			column += piece.n;
			continue;
		}
		if (!first) {
			sbuf_adds(out, "\n\t");
			column = AFTER_MOVE;
		}
		for (size_t i = 0; i < piece.n; i++) {
			sbuf_addc(out, piece.p[i]);
			if (++column > WIDTH) {
				sbuf_adds(out, "\n\t");
				column = AFTER_BREAK;
			}
		}
	}
}

static void one_line(const char *value, struct sbuf *out)
{
	for (; *value; value++) {
		if (*value == '\n')
			sbuf_adds(out, "\\n");
		else
			sbuf_addc(out, *value);
	}
}

void fold_attribute(const char *name, const char *resource, const char *value, bool whole, struct sbuf *out)
{
	auto_sbuf struct sbuf line = SBUF(SIZE_MAX / 2);
	size_t column = AROUND_NAME + strlen(name) + (resource ? 1 + strlen(resource) : 0);

	sbuf_addf(out, "    %s%s%s = ", name, resource ? "." : "", resource ? resource : "");
	one_line(value, &line);
	if (line.n && whole)
		sbuf_add(out, line.p, line.n);
	else if (line.n)
		fold_value(line.p, column, out);
	sbuf_addc(out, '\n');
}
