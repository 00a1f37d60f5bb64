// SPDX-License-Identifier: Apache-2.0
/* pod_columns.h - the columns of pods, for pod.c */
#ifndef STOKER_KINDS_POD_COLUMNS_H
#define STOKER_KINDS_POD_COLUMNS_H

#include "kinds/kind.h"

#define POD_COLUMNS 9
extern const struct column pod_columns[POD_COLUMNS];

#endif
