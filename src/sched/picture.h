// SPDX-License-Identifier: Apache-2.0
/* picture.h - who used how much of the machine over time, as SVG or for a terminal; pure */
#ifndef STOKER_SCHED_PICTURE_H
#define STOKER_SCHED_PICTURE_H

#include "sched/outcome.h"

/* The users who used most have colours or letters of their own; the others share one. */
void picture_svg(const struct outcome *o, const struct workload *w, struct sbuf *out);
/* `width` columns; `colours`: blocks in colours, otherwise letters. */
void picture_text(const struct outcome *o, const struct workload *w, size_t width, bool colours, struct sbuf *out);

#endif
