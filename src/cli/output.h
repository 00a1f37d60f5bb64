// SPDX-License-Identifier: Apache-2.0
/* output.h - what commands print: tables for people, objects for programs
 *
 * Colour is for a terminal alone, and for nobody who has set NO_COLOR.  Text from objects goes through a table's cells,
 * which replace control characters: a pod's message cannot write elsewhere on the screen.
 */
#ifndef STOKER_CLI_OUTPUT_H
#define STOKER_CLI_OUTPUT_H

#include <jansson.h>
#include <stdbool.h>

#include "base/opt.h"
#include "base/str.h"

/* ---- which form ---- */

/* -o of a command whose settings have `const char *output`. */
#define OUTPUT_OPT(settings_) OUTPUT_OPT_SAYING(settings_, "how to print: wide, json, yaml or name")
/* For commands that say sentences unless a form is asked for. */
#define OUTPUT_OPT_SAYING(settings_, help_)                                                                            \
	{                                                                                                              \
		.name = "output", .letter = 'o', .type = OPT_CHOICE, .offset = offsetof(settings_, output),            \
		.arg = "FORM", .choices = "wide|json|yaml|name", .help = help_                                         \
	}

/* Is the form one that prints objects (json, yaml) or names?  NULL and "wide" are tables. */
bool output_is_objects(const char *form);
/* A copy without managedFields. */
json_t *output_readable(const json_t *obj);
/* An object on stdout as json or yaml, without managedFields. */
void output_object(const char *form, const json_t *obj);
/* Objects in any of the three forms: one List, or a line each with kind/name. */
void output_list(const char *form, const json_t *items);

/* ---- where to ---- */

/* May we colour what goes to this descriptor? */
bool output_colours(int fd);
/* How wide the terminal is; 0 if it is none. */
int output_width(int fd);
/* Seconds as AGE columns show them, "-" for a negative number.  Borrowed until the next call. */
const char *output_age(int64_t seconds, char buf[32]);

/* ---- tables ---- */

enum tint { TINT_NONE, TINT_GOOD, TINT_BUSY, TINT_BAD, TINT_DIM, TINT__COUNT };
/* The escape sequences around text of that colour; "" for none.  Borrowed. */
const char *tint_begin(enum tint tint);
const char *tint_end(enum tint tint);

struct table_column {
	const char *title;
	bool wide;  /* only with -o wide */
	bool right; /* numbers */
	bool cut;   /* may be shortened to fit a terminal; the last such column */
};

struct table_cell {
	char *text;
	enum tint tint;
};

struct table {
	const struct table_column *columns;
	size_t ncolumns;
	struct table_cell *cells; /* row after row */
	size_t n, cap;
};

#define TABLE(columns_) ((struct table){ .columns = (columns_), .ncolumns = ARRAY_SIZE(columns_) })
void table_done(struct table *t);
#define auto_table __attribute__((cleanup(table_done)))
/* The next cell, from left to right; NULL or "" shows as "-". */
void table_add(struct table *t, enum tint tint, const char *text);
void table_addf(struct table *t, enum tint tint, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
/* Before any cell: the first column, a namespace as a rule, is not wanted. */
void table_drop_first(struct table *t);
size_t table_rows(const struct table *t);
/* Title and rows, each with its newline.  `width` 0: as wide as it is. */
void table_text(const struct table *t, bool wide, bool colours, int width, struct sbuf *out);
/* The same to stdout, as suits it. */
void table_print(const struct table *t, bool wide);

#endif
