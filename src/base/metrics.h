// SPDX-License-Identifier: Apache-2.0
/* metrics.h - numbers in the text that Prometheus reads */
#ifndef STOKER_BASE_METRICS_H
#define STOKER_BASE_METRICS_H

#include "base/str.h"

#define METRICS_TYPE "text/plain; version=0.0.4; charset=utf-8"

/* Opens a family; its samples follow.  type: counter, gauge, summary. */
void metrics_family(struct sbuf *out, const char *name, const char *type, const char *help);
/* One sample.  Then names of labels and their values in turn, ended by NULL. */
void metrics_sample(struct sbuf *out, const char *name, double value, ...) __attribute__((sentinel));
/* What this process uses: memory, processor, descriptors, and which program it is. */
void metrics_process(struct sbuf *out);

#endif
