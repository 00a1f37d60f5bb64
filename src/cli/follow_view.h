// SPDX-License-Identifier: Apache-2.0
/* follow_view.h - a followed job as lines of a terminal, and its parts as words.  Pure */
#ifndef STOKER_CLI_FOLLOW_VIEW_H
#define STOKER_CLI_FOLLOW_VIEW_H

#include "cli/follow_state.h"

struct follow_screen {
	int width, rows; /* 0: as much as there is */
	bool colours;
	bool ascii;  /* nothing else can be shown */
	int64_t now; /* microseconds */
};

/* A line about the job, one with its main number as it went, and a table of its replicas: each line fits the width, and
 * all of them the rows.  Replicas for which there is no row are summed up in a last line. */
void follow_view(const struct follow_state *s, const struct follow_screen *screen, struct sbuf *out);
/* A curve as `width` blocks of different height. */
void follow_spark(const struct follow_curve *c, size_t width, bool ascii, struct sbuf *out);
/* How many columns a line takes: characters, without escape sequences. */
int follow_columns(struct str line);

#endif
