// SPDX-License-Identifier: Apache-2.0
/* ps_rows.h - from lists of objects to the rows of `stoker ps`.  Pure */
#ifndef STOKER_CLI_PS_ROWS_H
#define STOKER_CLI_PS_ROWS_H

#include "cli/work.h"

/* What ended longer ago is shown with -a only. */
#define PS_RECENT_SECONDS 3600

struct ps_filter {
	bool all;                        /* also what ended long ago */
	const char *user;                /* or NULL */
	const struct kind *const *kinds; /* only these, also if another workload made them */
	size_t nkinds;                   /* 0: every workload that no other one made */
	int64_t now;
};

struct ps_row {
	const struct kind *kind;
	const json_t *obj; /* borrowed from the lists */
	json_t *pods;
	struct work work;
};

/* lists[i] has the objects of workloads[i], which say their kind; NULL for none.  Oldest first. */
void ps_rows_make(json_t *const *lists, const struct ps_filter *f, struct ps_row **ret, size_t *ret_n);
void ps_rows_free(struct ps_row *rows, size_t n);
/* Does a row have fewer pods than it wants, and nothing that says why? */
bool ps_rows_unexplained(const struct ps_row *rows, size_t n);
/* Such rows get their reason from the newest Event about a pod that could not be made (a quota, a refused spec): Jobs
 * and DaemonSets have no condition for it. */
void ps_rows_explain(struct ps_row *rows, size_t n, const json_t *events);
/* The table of the rows; the caller has it done. */
void ps_rows_table(const struct ps_row *rows, size_t n, bool with_namespace, int64_t now, struct table *ret);
/* Whose it is: who wrote it, else the name of its namespace.  Borrowed. */
const char *ps_user(const json_t *obj);

#endif
