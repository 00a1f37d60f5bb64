// SPDX-License-Identifier: Apache-2.0
/* page.c - see page.h */
#include "cli/page.h"

#include "base/mem.h"

#define INDENT       2
#define LABEL        12 /* columns of a label with what follows it */
#define NARROW       20 /* less room than that for text is not worth breaking lines */
#define BOLD         "\033[1m"
#define BOLD_END     "\033[0m"
#define TEXT_AT_MOST 4096

static char *plain(const char *text)
{
	char *copy = xstrndup(text, strnlen(text, TEXT_AT_MOST));

	for (unsigned char *c = (unsigned char *)copy; *c; c++)
		if (*c < ' ' || *c == 0x7f)
			*c = ' ';
	return copy;
}

/* How much of the text fits: up to the last space before `room`, or up to the first after it.  Bytes count as columns,
 * which breaks lines with foreign letters a little early. */
static size_t fitting(const char *text, int room)
{
	size_t n = strlen(text);
	size_t cut;

	if (room < NARROW || n <= (size_t)room)
		return n;
	for (cut = (size_t)room; cut > 0 && text[cut] != ' '; cut--)
		;
	return cut ? cut : (size_t)room + strcspn(text + room, " ");
}

/* Text from the present column on, `indent` columns deep in each line after the first. */
static void add_wrapped(struct page *p, const char *text, int indent)
{
	auto_free char *clean = plain(text);
	const char *rest = clean;

	for (;;) {
		size_t n = fitting(rest, p->width ? p->width - indent : 0);

		sbuf_add(p->out, rest, n);
		rest += n;
		while (*rest == ' ')
			rest++;
		if (!*rest)
			break;
		sbuf_addf(p->out, "\n%*s", indent, "");
	}
}

void page_title(struct page *p, const char *text)
{
	auto_free char *clean = plain(text);

	sbuf_addf(p->out, "%s%s%s\n", p->colours ? BOLD : "", clean, p->colours ? BOLD_END : "");
}

void page_line(struct page *p, enum tint tint, const char *text)
{
	sbuf_adds(p->out, p->colours ? tint_begin(tint) : "");
	add_wrapped(p, text, 0);
	sbuf_adds(p->out, p->colours ? tint_end(tint) : "");
	sbuf_addc(p->out, '\n');
}

void page_field(struct page *p, const char *label, const char *fmt, ...)
{
	auto_free char *text = NULL;
	va_list ap;

	va_start(ap, fmt);
	text = xvasprintf(fmt, ap);
	va_end(ap);
	if (!*text)
		return;
	sbuf_addf(p->out, "%*s%-*s", INDENT, "", LABEL, label);
	add_wrapped(p, text, INDENT + LABEL);
	sbuf_addc(p->out, '\n');
}

void page_section(struct page *p, const char *title)
{
	sbuf_addc(p->out, '\n');
	page_title(p, title);
}

void page_note(struct page *p, const char *fmt, ...)
{
	auto_free char *text = NULL;
	va_list ap;

	va_start(ap, fmt);
	text = xvasprintf(fmt, ap);
	va_end(ap);
	sbuf_addf(p->out, "%*s", INDENT, "");
	add_wrapped(p, text, INDENT);
	sbuf_addc(p->out, '\n');
}

void page_table(struct page *p, const struct table *t)
{
	auto_sbuf struct sbuf text = SBUF(SIZE_MAX / 2);
	struct str rest;
	struct str line;

	if (!table_rows(t))
		return;
	table_text(t, true, p->colours, p->width > INDENT ? p->width - INDENT : 0, &text);
	rest = sbuf_str(&text);
	while (rest.n && str_split(&rest, '\n', &line))
		sbuf_addf(p->out, "%*s%.*s\n", INDENT, "", STR_FMT(line));
}
