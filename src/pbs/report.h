// SPDX-License-Identifier: Apache-2.0
/* report.h - the accounts of a month as a table.  Pure */
#ifndef STOKER_PBS_REPORT_H
#define STOKER_PBS_REPORT_H

#include <jansson.h>

#include "base/str.h"

/* `doc` is what /apis/stoker.dev/v1/usage answers: a line a user, or with `detail` a line a job. */
void report_table(const json_t *doc, int64_t month, bool detail, struct sbuf *out);

#endif
