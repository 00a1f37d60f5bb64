// SPDX-License-Identifier: Apache-2.0
/* quota.h - the rows of chk_quota.  Pure */
#ifndef STOKER_PBS_QUOTA_H
#define STOKER_PBS_QUOTA_H

#include <stdio.h>

#include "base/str.h"
#include "base/tree_size.h"

void quota_head(FILE *to);
/* `why` is the errno of a directory that could not be opened, or 0. */
void quota_row(const char *path, const struct tree_size *used, int why, int64_t quota, struct sbuf *out);

#endif
