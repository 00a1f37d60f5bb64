// SPDX-License-Identifier: Apache-2.0
/* pbs_account.h - what PBS's accounts say of a job: user=anna group=users jobname=train queue=batch ...; pure
 *
 * Scripts take these lines apart at blanks: a value that has one, such as an account, stands in quotation marks.
 */
#ifndef STOKER_KINDS_PBS_ACCOUNT_H
#define STOKER_KINDS_PBS_ACCOUNT_H

#include <jansson.h>

#include "base/str.h"
#include "kinds/pbs_id.h"

/* How a run ended. */
struct pbs_account_end {
	int64_t at; /* seconds since 1970 */
	bool has_exit;
	int64_t exit;
	const json_t *used; /* cput, mem, vmem, walltime; or NULL */
};

/* Of a job, or of an element of an array: `run` has its startTime, execHost and sessionId.  `end` NULL: it has just
 * begun. */
void pbs_account_text(const json_t *job, const json_t *run, const struct pbs_account_end *end, struct sbuf *out);
/* key=value, after a blank if something stands there. */
void pbs_account_add(struct sbuf *out, const char *key, const char *value);
/* That of a whole job, by its status. */
struct pbs_account_end pbs_account_end(const json_t *job);

/* A line of the files: "11/16/2026 09:59:10;S;380963.Ghead;user=...". */
struct pbs_account_line {
	struct str stamp, text;
	struct pbs_id id;
};
/* False if it is none. */
bool pbs_account_line(struct str line, struct pbs_account_line *ret);

#endif
