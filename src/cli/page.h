// SPDX-License-Identifier: Apache-2.0
/* page.h - a page for people: a title, labelled lines, sections with tables.  Pure
 *
 * Long text goes on in the next line, below its beginning, where there is a terminal whose width is known.  Control
 * characters become spaces, as in tables (output.h).
 */
#ifndef STOKER_CLI_PAGE_H
#define STOKER_CLI_PAGE_H

#include "cli/output.h"

struct page {
	struct sbuf *out;
	bool colours;
	int width; /* 0: as wide as it is */
};

/* A line by itself; a title is bold. */
void page_title(struct page *p, const char *text);
void page_line(struct page *p, enum tint tint, const char *text);
/* "  Image       host"; nothing if the text is empty. */
void page_field(struct page *p, const char *label, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
/* An empty line and a heading. */
void page_section(struct page *p, const char *title);
/* A line of a section. */
void page_note(struct page *p, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* A table of a section; nothing if it has no rows. */
void page_table(struct page *p, const struct table *t);

#endif
