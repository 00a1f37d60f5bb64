// SPDX-License-Identifier: Apache-2.0
/* trace_files.h - what the accounts on disk have of a job that the server has forgotten */
#ifndef STOKER_PBS_TRACE_FILES_H
#define STOKER_PBS_TRACE_FILES_H

#include "kinds/pbs_id.h"
#include "pbs/pbs.h"
#include "pbs/trace.h"

/* From DIR/accounting/pbs, a file a day.  False: nothing, or they are not ours to read. */
bool trace_files(const char *dir, const struct pbs_id *id, const struct trace_options *o, struct sbuf *out);
/* The same from the server, which shows everyone his own. */
bool trace_records(struct pbs *p, const struct pbs_id *id, const struct trace_options *o, struct sbuf *out);
/* 0, or the errno with which they cannot be read at all. */
int trace_files_trouble(const char *dir);
/* One line of them, if it is about this job: "11/16/2026 09:59:10;S;380963.Ghead;user=...".  Pure. */
bool trace_file_line(struct str line, const struct pbs_id *id, struct sbuf *out);

#endif
