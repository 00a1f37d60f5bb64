// SPDX-License-Identifier: Apache-2.0
/* pbs_values.h - times and sizes as PBS writes them: 168:00:00, 64gb; pure */
#ifndef STOKER_KINDS_PBS_VALUES_H
#define STOKER_KINDS_PBS_VALUES_H

#include <stdbool.h>
#include <stdint.h>

#define PBS_TEXT 32
/* Ten thousand years: beyond any job, and far from overflow when fields are added up. */
#define PBS_TIME_MOST (10000ll * 366 * 86400)

/* SS, MM:SS, HH:MM:SS or DD:HH:MM:SS, fields of any size, .mmm at the end rounds. */
bool pbs_time_parse(const char *text, int64_t *ret_seconds);
/* HH:MM:SS with as many hours as there are. */
void pbs_time_text(int64_t seconds, char out[PBS_TEXT]);

/* N[kmgtpe][bw] in any case; words are of 8 bytes. */
bool pbs_size_parse(const char *text, int64_t *ret_bytes);
/* As it was meant, in lower case and with its unit: 64gb, 100kb, 5b. */
bool pbs_size_normal(const char *text, char out[PBS_TEXT]);
/* Of what was used: whole kilobytes, 5640kb. */
void pbs_size_kb_text(int64_t bytes, char out[PBS_TEXT]);

/* What each user may take of a directory that users share: /ghome=50gb. */
bool pbs_root_quota_parse(const char *text, int64_t *ret_bytes);

#endif
