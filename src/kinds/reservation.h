// SPDX-License-Identifier: Apache-2.0
/* reservation.h - when a Reservation is in force; pure */
#ifndef STOKER_KINDS_RESERVATION_H
#define STOKER_KINDS_RESERVATION_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

/* In ms since 1970; an end of INT64_MAX is never.  false if it has no start. */
bool reservation_times(const json_t *spec, int64_t *ret_start_ms, int64_t *ret_end_ms);
/* "Pending", "Active", "Ended" */
const char *reservation_phase(const json_t *spec, int64_t now_ms);

#endif
