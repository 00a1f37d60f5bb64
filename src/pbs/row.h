// SPDX-License-Identifier: Apache-2.0
/* row.h - the board's rows: one line a job, fields between tabs; and fields as columns of a table.  Pure
 *
 * What the server sends is read where it lies: of 100,000 jobs nothing is copied but what is shown.
 */
#ifndef STOKER_PBS_ROW_H
#define STOKER_PBS_ROW_H

#include "base/str.h"

enum pbs_column {
	COL_ID,
	COL_NAME,
	COL_OWNER,
	COL_HOST, /* it was submitted from */
	COL_QUEUE,
	COL_STATE,
	COL_CPUT,     /* seconds */
	COL_WALLTIME, /* used, seconds, or "" */
	COL_SESSION,
	COL_NODES,
	COL_TASKS,
	COL_MEMORY, /* asked for */
	COL_TIME,   /* asked for */
	COL_EXEC_HOST,
	COL_EXEC_GPUS,
	COL_COMMENT,
	COL_CTIME,   /* seconds since 1970 */
	COL_REQUEST, /* Resource_List.nodes */
	COL_NAMESPACE,
	COL_OBJECT,
	COL_PRIORITY,
	COL__COUNT
};

struct board_row {
	struct str c[COL__COUNT]; /* as they were sent: board_row_text() takes escapes out */
};

/* Cuts the next line off *rest; false at the end.  What a line lacks is empty. */
bool board_row_next(struct str *rest, struct board_row *ret);
char board_row_state(const struct board_row *r);
/* A field as a number; `fallback` if it is none. */
int64_t board_row_number(const struct board_row *r, enum pbs_column c, int64_t fallback);
/* The text of a field in one line: \\ is a backslash, \n and \t are blanks. */
void board_row_text(struct str field, struct sbuf *out);
/* The id up to its dot: "380963", "189[3]". */
struct str board_row_short_id(const struct board_row *r);
/* The server's name in the id, or "". */
struct str board_row_server(const struct board_row *r);

/* Whether the owner is in "user[@host],...". */
bool board_row_is_of(const struct board_row *r, const char *users);

/* As %-W.Cs and %W.Cs, but no character is cut in two. */
void column_left(struct sbuf *out, struct str s, size_t width, size_t cut);
void column_right(struct sbuf *out, struct str s, size_t width, size_t cut);

#endif
