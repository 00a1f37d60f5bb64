// SPDX-License-Identifier: Apache-2.0
/* clock.h - two clocks: wall time for what people read, monotonic time for what we measure */
#ifndef STOKER_BASE_CLOCK_H
#define STOKER_BASE_CLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CLOCK_RFC3339_LEN 21 /* 2006-01-02T15:04:05Z and NUL */
#define CLOCK_MICRO_LEN   28 /* 2006-01-02T15:04:05.000000Z and NUL */

int64_t clock_wall(void); /* seconds since 1970 */
int64_t clock_wall_micros(void);
int64_t clock_mono_ms(void); /* CLOCK_BOOTTIME */
int64_t clock_mono_ns(void);
int64_t clock_cpu_ns(void);   /* what this thread has worked: on a busy machine less than the time that has passed */
int64_t clock_awake_ms(void); /* CLOCK_MONOTONIC: stands still while the machine sleeps */

/* Seconds that someone asked for, in milliseconds: at most a century, so that the time now can be added to it. */
int64_t clock_ms_of(int64_t seconds);

/* RFC3339 in UTC. */
void clock_rfc3339(int64_t seconds, char out[CLOCK_RFC3339_LEN]);
void clock_rfc3339_micro(int64_t micros, char out[CLOCK_MICRO_LEN]);
/* Any RFC3339 with offset and fraction; false if it is not one. */
bool clock_parse_rfc3339(const char *s, int64_t *ret_micros);

/* Age as kubectl prints it: 7s, 4m33s, 3h12m, 5d ("HumanDuration"). */
void clock_age(int64_t seconds, char *out, size_t n);
/* A moment as people say it, in local time: 14:20 if it is today (`now`), else 2006-01-02 14:20. */
#define CLOCK_SHORT_LEN 32
void clock_short(int64_t seconds, int64_t now, char out[CLOCK_SHORT_LEN]);
/* "1h30m", "90s", "2d", "45" (seconds) as people type durations; false if not one. */
bool clock_parse_duration(const char *s, int64_t *ret_seconds);
/* As Go prints a duration: 10s, 1m20s, 1h0m0s. */
#define CLOCK_DURATION_LEN 32
void clock_duration(int64_t seconds, char out[CLOCK_DURATION_LEN]);

/* Tests may set a fixed wall time; -1 returns to the real one. */
void clock_fake(int64_t seconds);

#endif
