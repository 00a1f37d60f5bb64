// SPDX-License-Identifier: Apache-2.0
/* redraw.h - lines at the bottom of a terminal that are drawn again in their place.  Pure: makes the bytes
 *
 * There is no screen of their own: what was above stays, and what is drawn last stays when the command ends.
 */
#ifndef STOKER_CLI_REDRAW_H
#define STOKER_CLI_REDRAW_H

#include "base/str.h"

struct redraw {
	int *widths; /* of the lines that are there */
	size_t n, cap;
};

void redraw_done(struct redraw *r);
/* Replaces what was drawn by `block`, which has no line wider than the terminal, with `above` scrolling away over it.
 * `width` is the terminal's now: narrower than before, it has folded the old lines. */
void redraw(struct redraw *r, struct str above, struct str block, int width, struct sbuf *out);

#endif
