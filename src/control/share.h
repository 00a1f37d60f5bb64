// SPDX-License-Identifier: Apache-2.0
/* share.h - a field that is a number or a percentage of something; pure */
#ifndef STOKER_CONTROL_SHARE_H
#define STOKER_CONTROL_SHARE_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

/* 0 for NULL.  A percentage is rounded up or down. */
int64_t share_of(const json_t *number_or_percent, int64_t whole, bool up);

#endif
