// SPDX-License-Identifier: Apache-2.0
/* when.c - the time of -a */
#include "pbs/when.h"

#include <ctype.h>
#include <string.h>
#include <time.h>

#include "base/mem.h"

enum { PAIRS_MOST = 6, YEAR_OF_2000 = 69 }; /* two digits up to 68 are of this century */

/* Pairs of digits from the end on: minute, hour, day, month, year, century; -1 if not given. */
static bool pairs_read(const char *text, int pair[PAIRS_MOST], int *ret_second)
{
	const char *dot = strchr(text, '.');
	size_t n = dot ? (size_t)(dot - text) : strlen(text);

	for (const char *c = text; *c; c++)
		if (c != dot && !isdigit((unsigned char)*c))
			return false;
	if (n < 4 || n > 12 || n % 2 || (dot && strlen(dot) != 3))
		return false;
	*ret_second = dot ? (dot[1] - '0') * 10 + dot[2] - '0' : 0;
	for (size_t i = 0; i < PAIRS_MOST; i++) {
		const char *p = text + n - 2 * (i + 1);

		pair[i] = 2 * (i + 1) <= n ? (p[0] - '0') * 10 + p[1] - '0' : -1;
	}
	return *ret_second <= 59;
}

/* Moves a date whose given part is past on by the unit above it. */
static void move_on(const int pair[PAIRS_MOST], const struct tm *now, struct tm *tm)
{
	enum { MINUTE, HOUR, DAY, MONTH, YEAR };

	if (pair[YEAR] >= 0)
		return;
	if (pair[MONTH] >= 0) {
		if (pair[MONTH] <= now->tm_mon) /* an index from 0: a month before this one */
			tm->tm_year++;
	} else if (pair[DAY] >= 0) {
		if (pair[DAY] < now->tm_mday)
			tm->tm_mon++;
	} else if (pair[HOUR] < now->tm_hour || (pair[HOUR] == now->tm_hour && pair[MINUTE] <= now->tm_min)) {
		tm->tm_mday++;
	}
}

bool pbs_when_parse(const char *text, int64_t now, int64_t *ret_seconds)
{
	enum { MINUTE, HOUR, DAY, MONTH, YEAR, CENTURY };
	int pair[PAIRS_MOST], second;
	time_t t = (time_t)now;
	struct tm today, tm;

	if (!pairs_read(text, pair, &second) || !localtime_r(&t, &today))
		return false;
	if (pair[HOUR] > 23 || pair[MINUTE] > 59 || pair[MONTH] == 0 || pair[MONTH] > 12 || pair[DAY] == 0 ||
	    pair[DAY] > 31)
		return false;
	tm = today;
	tm.tm_isdst = -1;
	tm.tm_sec = second;
	tm.tm_min = pair[MINUTE];
	tm.tm_hour = pair[HOUR];
	tm.tm_mday = pair[DAY] >= 0 ? pair[DAY] : today.tm_mday;
	tm.tm_mon = pair[MONTH] >= 0 ? pair[MONTH] - 1 : today.tm_mon;
	if (pair[CENTURY] >= 0)
		tm.tm_year = pair[CENTURY] * 100 + pair[YEAR] - 1900;
	else if (pair[YEAR] >= 0)
		tm.tm_year = pair[YEAR] + (pair[YEAR] < YEAR_OF_2000 ? 100 : 0);
	move_on(pair, &today, &tm);
	*ret_seconds = (int64_t)mktime(&tm);
	return *ret_seconds >= 0;
}
