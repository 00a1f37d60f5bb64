// SPDX-License-Identifier: Apache-2.0
/* account_file.h - the accounts on disk
 *
 *	DIR/2026-11.csv        records of what ended in that month, or was found out in it
 *	DIR/2026-10.csv.gz     a month that is over
 *	DIR/running.csv        the journal of a tally: what has begun, and what ended since that file was made
 *	DIR/shares.json        the tree of shares as it was some minutes ago
 *
 * Records are on disk when account_file_append() returns.  The journal is not: it is for a crash of the server, not of
 * the machine.
 */
#ifndef STOKER_SCHED_ACCOUNT_FILE_H
#define STOKER_SCHED_ACCOUNT_FILE_H

#include <jansson.h>

#include "sched/account.h"

struct account_file;

int account_file_open(const char *dir, struct account_file **ret, struct err *e);
void account_file_free(struct account_file *f);

/* Whole lines, all of them or none. */
int account_file_append(struct account_file *f, struct str lines, int64_t now, struct err *e);
int account_file_note(struct account_file *f, struct str lines, struct err *e);
/* The journal anew, with its title; and how long it is. */
int account_file_rewrite(struct account_file *f, struct str journal, struct err *e);
size_t account_file_journal_bytes(const struct account_file *f);
/* When the last server was seen to live, by what it wrote; 0: there was none. */
int64_t account_file_alive(const struct account_file *f);

typedef void account_each(void *arg, const struct account_record *r);
/* Every record of a file, plain or packed.  Lines that cannot be read are left out; the first of them is told in *e,
 * and the function returns how many there were.  -1: it is no such file. */
int account_file_read(const char *path, account_each *each, void *arg, struct err *e);
/* Every record that ended at or after a time, oldest file first.  Trouble is logged. */
void account_file_since(const struct account_file *f, int64_t from, account_each *each, void *arg);
void account_file_journal(const struct account_file *f, account_each *each, void *arg);

int account_file_save_shares(const struct account_file *f, const json_t *shares, struct err *e);
/* NULL if there are none that can be read. */
json_t *account_file_shares(const struct account_file *f);

/* Packs months that are over, a piece a call; true if there is more to do. */
bool account_file_tidy(struct account_file *f, int64_t now);

#endif
