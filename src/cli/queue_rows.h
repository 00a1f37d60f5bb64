// SPDX-License-Identifier: Apache-2.0
/* queue_rows.h - from the scheduler's line to the table of `stoker queue`.  Pure */
#ifndef STOKER_CLI_QUEUE_ROWS_H
#define STOKER_CLI_QUEUE_ROWS_H

#include <jansson.h>

#include "cli/output.h"

/* Those of a namespace (NULL: all) that ?queue=... has answered with: a new array.  *ret_others: so many are not. */
json_t *queue_rows(const json_t *items, const char *ns, size_t *ret_others);
/* The caller has it done.  `now`: seconds since 1970. */
void queue_table(const json_t *rows, bool with_namespace, int64_t now, struct table *ret);
/* "2x4 GPUs", "1.5 CPUs": so many pods with so much together, of what matters most. */
void queue_size_text(const json_t *row, struct sbuf *out);

#endif
