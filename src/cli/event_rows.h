// SPDX-License-Identifier: Apache-2.0
/* event_rows.h - Events in the order of time, as rows of a table.  Pure */
#ifndef STOKER_CLI_EVENT_ROWS_H
#define STOKER_CLI_EVENT_ROWS_H

#include "cli/output.h"

/* When it happened last and first, in seconds since 1970; how often. */
int64_t event_last(const json_t *event);
int64_t event_first(const json_t *event);
int64_t event_count(const json_t *event);
/* "5s (x12 over 5m)". */
void event_age(const json_t *event, int64_t now, struct sbuf *out);
/* "pod/train-x7k2p". */
void event_object(const json_t *event, struct sbuf *out);

/* A new array, oldest first. */
json_t *events_sorted(const json_t *events);
/* Only those of the type (or NULL) that happened at `since` or later: a new array. */
json_t *events_filter(const json_t *events, const char *type, int64_t since);
/* The table; the caller has it done.  With `clock` the first column is the time of day on this machine, for lines that
 * stay. */
void events_table(const json_t *events, bool with_namespace, bool clock, int64_t now, struct table *ret);

#endif
