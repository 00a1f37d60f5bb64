// SPDX-License-Identifier: Apache-2.0
/* qstat_rows.c - see qstat_rows.h
 *
 * Widths and blanks are Torque's to the byte, since scripts cut columns out of them: the id of the plain form really is
 * one wider than the dashes above it, and a value that is missing is " -- ".
 */
#include "pbs/qstat_rows.h"

#include "base/mem.h"
#include "kinds/pbs_values.h"
#include "pbs/size_unit.h"
#include "pbs/slots.h"

#define NONE STR(" -- ")

enum { NAME_WIDTH = 16, NAME_TAIL = 13, LINE_WIDTH = 77, INDENT = 3 };

static struct str before(struct str s, char stop)
{
	const char *at = s.n ? memchr(s.p, stop, s.n) : NULL;

	return at ? (struct str){ s.p, (size_t)(at - s.p) } : s;
}

/* ---- plain ---- */

void qstat_plain_header(struct sbuf *out)
{
	sbuf_adds(out, "Job ID                    Name             User            Time Use S Queue\n"
		       "------------------------- ---------------- --------------- -------- - -----\n");
}

/* The end of a long name tells more than its beginning. */
static void plain_name(struct str name, struct sbuf *out)
{
	const char *tail;
	const char *slash;
	size_t n;

	if (name.n <= NAME_WIDTH) {
		column_left(out, name, NAME_WIDTH, NAME_WIDTH);
		return;
	}
	tail = name.p + name.n - NAME_TAIL;
	slash = memchr(tail, '/', NAME_TAIL);
	if (slash)
		tail = slash;
	while (tail < name.p + name.n && ((unsigned char)*tail & 0xc0) == 0x80)
		tail++;
	n = (size_t)(name.p + name.n - tail);
	sbuf_adds(out, "...");
	column_left(out, (struct str){ tail, n }, NAME_TAIL, NAME_TAIL);
}

/* CPU time; a job that has not run has "0". */
static void plain_time(const struct board_row *r, struct sbuf *out)
{
	int64_t cput = board_row_number(r, COL_CPUT, 0);
	char text[PBS_TEXT] = "0";

	if (cput > 0 || (r->c[COL_CPUT].n && r->c[COL_WALLTIME].n))
		pbs_time_text(cput, text);
	column_right(out, str_of(text), 8, PBS_TEXT);
}

void qstat_plain_row(const struct board_row *r, struct sbuf *out)
{
	column_left(out, r->c[COL_ID], 26, 29);
	sbuf_addc(out, ' ');
	plain_name(r->c[COL_NAME], out);
	sbuf_addc(out, ' ');
	column_left(out, before(r->c[COL_OWNER], '@'), 15, 15);
	sbuf_addc(out, ' ');
	plain_time(r, out);
	sbuf_addc(out, ' ');
	sbuf_addc(out, board_row_state(r));
	sbuf_addc(out, ' ');
	column_left(out, r->c[COL_QUEUE], 15, 15);
	sbuf_addc(out, '\n');
}

/* ---- wide ---- */

static const char header_6[] =
	"                                                                                  Req'd       Req'd       "
	"Elap\n"
	"Job ID                  Username    Queue    Jobname          SessID  NDS   TSK   Memory      Time    S   "
	"Time\n"
	"----------------------- ----------- -------- ---------------- ------ ----- ------ --------- --------- - "
	"---------\n";
static const char header_4[] =
	"                                                                                  Req'd    Req'd       Elap\n"
	"Job ID                  Username    Queue    Jobname          SessID  NDS   TSK   Memory   Time    S   Time\n"
	"----------------------- ----------- -------- ---------------- ------ ----- ------ ------ --------- - "
	"---------\n";

void qstat_wide_header(const char *server, const char *comment, int layout, struct sbuf *out)
{
	sbuf_addf(out, "\n%s: %s\n%s", server, comment ? comment : "", layout == 4 ? header_4 : header_6);
}

static struct str in_unit(struct str memory, char unit, char text[PBS_TEXT])
{
	char size[PBS_TEXT];

	if (memory.n >= sizeof(size))
		return memory;
	memcpy(size, memory.p, memory.n);
	size[memory.n] = '\0';
	return str_of(size_in_unit(size, unit, text));
}

static void or_none(struct sbuf *out, struct str s, size_t width)
{
	column_right(out, s.n ? s : NONE, width, width);
	sbuf_addc(out, ' ');
}

/* How long it runs; a job that does not has none. */
static void elapsed(const struct board_row *r, struct sbuf *out)
{
	int64_t seconds = board_row_number(r, COL_WALLTIME, -1);
	char text[PBS_TEXT] = " -- ";

	if (seconds >= 0 && !strchr("QCH", board_row_state(r)))
		pbs_time_text(seconds, text);
	column_right(out, str_of(text), 9, 9);
}

/* One host of the list: a domain is of no use there. */
static void add_host(struct str part, bool first, size_t *column, struct sbuf *out, bool one_line)
{
	part = before(part, '.');
	if (!first && !one_line && *column + 1 + part.n > LINE_WIDTH) {
		sbuf_adds(out, "\n   ");
		*column = INDENT;
	}
	sbuf_addf(out, "%s%.*s", first ? "" : "+", STR_FMT(part));
	*column += part.n + !first;
}

static void hosts(const struct board_row *r, const struct qstat_wide *w, struct sbuf *out)
{
	auto_sbuf struct sbuf expanded = SBUF(SIZE_MAX / 2);
	struct str rest = r->c[COL_EXEC_HOST];
	size_t column = INDENT;
	bool first = true;
	struct str part;

	sbuf_adds(out, w->one_line ? "   " : "\n   ");
	if (!rest.n) {
		sbuf_add(out, NONE.p, NONE.n);
		return;
	}
	if (w->host_style == 4) {
		slots_expand(rest, &expanded);
		rest = sbuf_str(&expanded);
	}
	for (; rest.n && str_split(&rest, '+', &part); first = false)
		add_host(part, first, &column, out, w->one_line);
}

void qstat_wide_row(const struct board_row *r, const struct qstat_wide *w, struct sbuf *out)
{
	char memory[PBS_TEXT];

	column_left(out, r->c[COL_ID], 23, 22);
	sbuf_addc(out, ' ');
	column_left(out, before(r->c[COL_OWNER], '@'), 11, 11);
	sbuf_addc(out, ' ');
	column_left(out, r->c[COL_QUEUE], 8, 8);
	sbuf_addc(out, ' ');
	column_left(out, r->c[COL_NAME], 16, 16);
	sbuf_addc(out, ' ');
	or_none(out, board_row_number(r, COL_SESSION, 0) > 0 ? r->c[COL_SESSION] : STR(""), 6);
	or_none(out, r->c[COL_NODES], 5);
	or_none(out, r->c[COL_TASKS], 6);
	or_none(out, w->unit ? in_unit(r->c[COL_MEMORY], w->unit, memory) : r->c[COL_MEMORY], w->layout == 4 ? 6 : 9);
	or_none(out, r->c[COL_TIME], 9);
	sbuf_addc(out, board_row_state(r));
	sbuf_addc(out, ' ');
	elapsed(r, out);
	if (w->nodes)
		hosts(r, w, out);
	sbuf_addc(out, '\n');
	if (w->comment) {
		sbuf_adds(out, "   ");
		board_row_text(r->c[COL_COMMENT].n ? r->c[COL_COMMENT] : NONE, out);
		sbuf_addc(out, '\n');
	}
}
