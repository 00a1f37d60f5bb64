// SPDX-License-Identifier: Apache-2.0
/* account.h - one line of the accounts for each workload that ran; pure
 *
 * The files are CSV with a title line (DIR/accounting/2026-11.csv, closed months .csv.gz).  Columns are found by their
 * names, so a file made by hand may have them in any order, have others between them and leave some out.
 *
 *	job namespace kind       the owner's name and kind, or the pod's own
 *	user group queue priority
 *	submitted started ended  seconds since 1970; the first pod's start, the last one's end
 *	pods                     how many ran at the same time, at most
 *	gpus cpus_milli memory_bytes   of all those pods together; a part of a shared card is a fraction
 *	walltime                 seconds that it was allowed to run; empty: any time
 *	state                    Succeeded, Failed, Evicted, Deleted
 *	uid                      the beginning of its first pod's: no two lines have the same
 *	gang                     the name that its pods have in common; empty: one pod
 *	gpu_seconds cpu_seconds memory_gib_seconds
 *	                         empty: what it had, for the time from start to end; else pods came and went
 */
#ifndef STOKER_SCHED_ACCOUNT_H
#define STOKER_SCHED_ACCOUNT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/str.h"

#define ACCOUNT_LINE_MAX 4096 /* a longer one was not written by us */
#define ACCOUNT_UID_LEN  18   /* characters of a uid: 60 bits of chance tell a month's pods apart */
#define ACCOUNT_NO_LIMIT (-1) /* walltime */
#define ACCOUNT_COLUMNS  21

enum account_state {
	ACCOUNT_RUNNING, /* in the journal of what runs; "" */
	ACCOUNT_SUCCEEDED,
	ACCOUNT_FAILED,
	ACCOUNT_EVICTED,
	ACCOUNT_DELETED,
	ACCOUNT_STATE__COUNT
};

/* What was used, in units times seconds. */
struct account_use {
	double gpu, cpu, memory; /* memory in GiB */
};

/* Texts are borrowed: from the line it was read from, or from whoever filled it in. */
struct account_record {
	struct str job, ns, kind, user, group, queue, uid, gang;
	int64_t priority, submitted, started, ended;
	int64_t pods;
	double gpus;
	int64_t cpus_milli, memory_bytes;
	int64_t walltime;
	enum account_state state;
	struct account_use use; /* always whole, whatever the line says */
};

/* Where the columns are in a file's lines. */
struct account_columns {
	int at[ACCOUNT_COLUMNS]; /* -1: the file has none of that name */
	int n;
};

/* The title line with its newline; always the same. */
void account_title(struct sbuf *out);
/* From a title line.  job, started and ended must be there. */
int account_columns_read(struct str title, struct account_columns *ret, struct err *e);
/* A line with its newline. */
void account_write(const struct account_record *r, struct sbuf *out);
/* A line without its newline.  An error names the column; what is not there is empty or 0, pods 1. */
int account_read(const struct account_columns *c, struct str line, struct account_record *ret, struct err *e);

const char *account_state_name(enum account_state s);
/* What it has for so many seconds. */
struct account_use account_use_for(const struct account_record *r, int64_t seconds);
/* The part of its use between two times, if it was even; a record without an end runs until `now`. */
struct account_use account_use_between(const struct account_record *r, int64_t from, int64_t to, int64_t now);
/* The beginning of a pod's uid, as records have it. */
struct str account_uid(const char *uid);

#endif
