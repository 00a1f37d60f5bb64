// SPDX-License-Identifier: Apache-2.0
/* usage_page.h - who used how much, as a table with bars, as CSV, and the shares.  Pure */
#ifndef STOKER_CLI_USAGE_PAGE_H
#define STOKER_CLI_USAGE_PAGE_H

#include <jansson.h>

#include "base/str.h"
#include "cli/output.h"

/* A table with a bar for each row, of GPU time or, if nobody used a GPU, of processor time; then the sum.  `width` 0:
 * no terminal. */
void usage_page(const json_t *doc, bool colours, int width, struct sbuf *out);
void usage_csv(const json_t *doc, struct sbuf *out);
/* What each is due, had and has, and whose turn it is. */
void usage_shares(const json_t *doc, bool colours, int width, struct sbuf *out);

/* "7d" before now, 2026-11-01, "2026-11-01 14:00" in local time, or RFC 3339; false if it is none of them. */
bool usage_time(const char *text, int64_t now, int64_t *ret);
/* It has the form of a date, of a day that its month does not have. */
bool usage_no_day(const char *text);

#endif
