// SPDX-License-Identifier: Apache-2.0
/* qmgr_parse.h - qmgr's little language; pure
 *
 *	create queue batch queue_type = Execution, enabled = True
 *	set server operators += bob@gwork
 *	s q batch resources_max.walltime=24:00:00; p s
 *
 * Words may be cut short as long as they are still one of a kind.  '...' and "..." take blanks, commas and the other
 * quote as they are, and may stand side by side.
 */
#ifndef STOKER_PBS_QMGR_PARSE_H
#define STOKER_PBS_QMGR_PARSE_H

#include "base/err.h"
#include "base/str.h"
#include "pbs/setting_write.h"

enum qmgr_verb {
	QMGR_NOTHING, /* an empty line or a comment */
	QMGR_ACTIVE,
	QMGR_CREATE,
	QMGR_DELETE,
	QMGR_SET,
	QMGR_UNSET,
	QMGR_LIST,
	QMGR_PRINT,
	QMGR_HELP,
	QMGR_QUIT,
};

enum qmgr_object { QMGR_NONE, QMGR_SERVER, QMGR_QUEUE, QMGR_NODE };

struct qmgr_item {
	char *name;
	char *resource; /* or NULL */
	enum setting_op op;
	char *value; /* or NULL: of unset, list and print */
};

/* { 0 } is empty. */
struct qmgr_command {
	enum qmgr_verb verb;
	enum qmgr_object object;
	char **names;
	size_t nnames, names_cap;
	struct qmgr_item *items;
	size_t nitems, items_cap;
};

/* Cuts the next command off a line: up to a ; that is not quoted.  A # where a command begins makes the rest a
 * comment.  False when nothing is left. */
bool qmgr_cut(struct str *line, struct str *ret);
/* ERR_INVALID says what is wrong, *ret_at where: an offset in `text`. */
int qmgr_parse(struct str text, struct qmgr_command *ret, size_t *ret_at, struct err *e);
void qmgr_command_done(struct qmgr_command *c);
/* A value as the language has it: quoted if need be. */
void qmgr_quote(const char *value, struct sbuf *out);

#define auto_qmgr_command __attribute__((cleanup(qmgr_command_done)))

#endif
