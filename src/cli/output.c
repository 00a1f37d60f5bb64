// SPDX-License-Identifier: Apache-2.0
/* output.c - see output.h */
#include "cli/output.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/jsonx.h"
#include "base/mem.h"
#include "base/yamlx.h"

#define GAP     2  /* spaces between columns */
#define CUT_MIN 12 /* what is left of a column that is shortened */

/* ---- objects ---- */

bool output_is_objects(const char *form)
{
	return form && !streq(form, "wide") && !streq(form, "text");
}

/* Those are longer than the rest and for servers only. */
json_t *output_readable(const json_t *obj)
{
	json_t *copy = json_copy((json_t *)obj);
	json_t *meta = json_copy(json_object_get(obj, "metadata"));

	if (meta) {
		json_object_del(meta, "managedFields");
		json_object_set_new(copy, "metadata", meta);
	}
	return copy;
}

static void print_document(const char *form, const json_t *doc)
{
	auto_sbuf struct sbuf out = SBUF(SIZE_MAX / 2);

	if (streq(form, "yaml")) {
		yamlx_dump(doc, &out);
	} else {
		jsonx_dump_pretty(doc, &out);
		if (!out.n || out.p[out.n - 1] != '\n')
			sbuf_addc(&out, '\n');
	}
	fputs(out.p, stdout);
}

void output_object(const char *form, const json_t *obj)
{
	json_auto_t *copy = output_readable(obj);

	print_document(form, copy);
}

static void print_name(const json_t *obj)
{
	auto_free char *kind = xstrdup(jsonx_str_or(obj, "kind", "object"));

	for (char *p = kind; *p; p++)
		*p = (char)tolower((unsigned char)*p);
	printf("%s/%s\n", kind, jsonx_str_or(obj, "metadata.name", ""));
}

void output_list(const char *form, const json_t *items)
{
	json_auto_t *shown = json_array();
	json_auto_t *list = NULL;
	json_t *obj;
	size_t i;

	if (streq(form, "name")) {
		json_array_foreach ((json_t *)items, i, obj)
			print_name(obj);
		return;
	}
	json_array_foreach ((json_t *)items, i, obj)
		json_array_append_new(shown, output_readable(obj));
	list = json_pack("{s:s, s:s, s:{}, s:O}", "apiVersion", "v1", "kind", "List", "metadata", "items", shown);
	print_document(form, list);
}

/* ---- terminals ---- */

bool output_colours(int fd)
{
	const char *no = getenv("NO_COLOR");
	const char *term = getenv("TERM");

	return isatty(fd) && !(no && *no) && !(term && streq(term, "dumb"));
}

int output_width(int fd)
{
	struct winsize size;

	return isatty(fd) && ioctl(fd, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

const char *output_age(int64_t seconds, char buf[32])
{
	if (seconds < 0)
		return "-";
	clock_age(seconds, buf, 32);
	return buf;
}

static const char *const tints[TINT__COUNT] = {
	[TINT_NONE] = "",        [TINT_GOOD] = "\033[32m", [TINT_BUSY] = "\033[33m",
	[TINT_BAD] = "\033[31m", [TINT_DIM] = "\033[2m",
};

const char *tint_begin(enum tint tint)
{
	return tints[tint];
}

const char *tint_end(enum tint tint)
{
	return tint == TINT_NONE ? "" : "\033[0m";
}

/* ---- tables ---- */

void table_done(struct table *t)
{
	for (size_t i = 0; i < t->n; i++)
		free(t->cells[i].text);
	free(t->cells);
	t->cells = NULL;
	t->n = t->cap = 0;
}

void table_add(struct table *t, enum tint tint, const char *text)
{
	struct table_cell cell = { .text = xstrdup(text && *text ? text : "-"), .tint = tint };

	for (unsigned char *p = (unsigned char *)cell.text; *p; p++)
		if (*p < ' ' || *p == 0x7f)
			*p = ' ';
	ARRAY_PUSH(t->cells, t->n, t->cap, cell);
}

void table_addf(struct table *t, enum tint tint, const char *fmt, ...)
{
	auto_free char *text = NULL;
	va_list ap;

	va_start(ap, fmt);
	text = xvasprintf(fmt, ap);
	va_end(ap);
	table_add(t, tint, text);
}

void table_drop_first(struct table *t)
{
	t->columns++;
	t->ncolumns--;
}

size_t table_rows(const struct table *t)
{
	return t->n / t->ncolumns;
}

/* Columns a text takes: characters, not bytes. */
static int columns_of(const char *text)
{
	int n = 0;

	for (const char *p = text; *p; p++)
		n += ((unsigned char)*p & 0xc0) != 0x80;
	return n;
}

/* How many bytes the first `columns` characters have. */
static int bytes_of(const char *text, int columns)
{
	const char *p = text;

	while (*p && (columns > 0 || ((unsigned char)*p & 0xc0) == 0x80))
		if (((unsigned char)*p++ & 0xc0) != 0x80)
			columns--;
	while (((unsigned char)*p & 0xc0) == 0x80)
		p++;
	return (int)(p - text);
}

static void measure(const struct table *t, bool wide, int width, int *widths)
{
	int all = -GAP;
	int excess;

	for (size_t c = 0; c < t->ncolumns; c++) {
		widths[c] = -1;
		if (t->columns[c].wide && !wide)
			continue;
		widths[c] = columns_of(t->columns[c].title);
		for (size_t i = c; i < t->n; i += t->ncolumns) {
			int n = columns_of(t->cells[i].text);

			widths[c] = n > widths[c] ? n : widths[c];
		}
		all += widths[c] + GAP;
	}
	for (size_t c = t->ncolumns; width && all > width && c-- > 0;) {
		if (!t->columns[c].cut || widths[c] <= CUT_MIN)
			continue;
		excess = all - width < widths[c] - CUT_MIN ? all - width : widths[c] - CUT_MIN;
		widths[c] -= excess;
		all -= excess;
	}
}

/* One cell with what separates it from the one before; padding is not coloured. */
static void add_cell(struct sbuf *out, const char *text, enum tint tint, int width, bool right)
{
	int n = columns_of(text);
	bool cut = n > width;
	int shown = bytes_of(text, cut ? width - 3 : n);
	int pad = cut ? 0 : width - n;

	sbuf_addf(out, "%*s%s%.*s%s%s%*s", right ? pad : 0, "", tint_begin(tint), shown, text, cut ? "..." : "",
		  tint_end(tint), right ? 0 : pad, "");
}

static void end_line(struct sbuf *out)
{
	while (out->n && out->p[out->n - 1] == ' ')
		out->p[--out->n] = '\0';
	sbuf_addc(out, '\n');
}

void table_text(const struct table *t, bool wide, bool colours, int width, struct sbuf *out)
{
	auto_free int *widths = xcalloc(t->ncolumns, sizeof(*widths));
	size_t rows = table_rows(t);

	measure(t, wide, width, widths);
	for (size_t r = 0; r <= rows; r++) { /* row 0 is the title */
		size_t from = out->n;

		for (size_t c = 0; c < t->ncolumns; c++) {
			const struct table_cell *cell = r ? &t->cells[(r - 1) * t->ncolumns + c] : NULL;

			if (widths[c] < 0)
				continue;
			if (out->n > from)
				sbuf_addf(out, "%*s", GAP, "");
			add_cell(out, cell ? cell->text : t->columns[c].title, cell && colours ? cell->tint : TINT_NONE,
				 widths[c], t->columns[c].right);
		}
		end_line(out);
	}
}

void table_print(const struct table *t, bool wide)
{
	auto_sbuf struct sbuf out = SBUF(SIZE_MAX / 2);

	table_text(t, wide, output_colours(STDOUT_FILENO), output_width(STDOUT_FILENO), &out);
	fputs(out.p, stdout);
}
