// SPDX-License-Identifier: Apache-2.0
/* clock.c - reading clocks and the three ways time is written: RFC3339, ages, durations */
#include "base/clock.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define CENTURY_S (100ll * 365 * 86400)

static int64_t fake_wall = -1;

void clock_fake(int64_t seconds)
{
	fake_wall = seconds;
}

int64_t clock_wall_micros(void)
{
	struct timespec ts;

	if (fake_wall >= 0)
		return fake_wall * 1000000;
	clock_gettime(CLOCK_REALTIME, &ts);
	return (int64_t)ts.tv_sec * 1000000 + ts.tv_nsec / 1000;
}

int64_t clock_wall(void)
{
	return clock_wall_micros() / 1000000;
}

int64_t clock_mono_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_BOOTTIME, &ts);
	return (int64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

int64_t clock_cpu_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return (int64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

int64_t clock_mono_ms(void)
{
	return clock_mono_ns() / 1000000;
}

int64_t clock_awake_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

int64_t clock_ms_of(int64_t seconds)
{
	return (seconds < CENTURY_S ? seconds : CENTURY_S) * 1000;
}

void clock_rfc3339(int64_t seconds, char out[CLOCK_RFC3339_LEN])
{
	time_t t = (time_t)seconds;
	struct tm tm;

	if (!gmtime_r(&t, &tm) || tm.tm_year > 8099)
		memset(&tm, 0, sizeof(tm));
	strftime(out, CLOCK_RFC3339_LEN, "%Y-%m-%dT%H:%M:%SZ", &tm);
}

void clock_rfc3339_micro(int64_t micros, char out[CLOCK_MICRO_LEN])
{
	char head[CLOCK_RFC3339_LEN];
	int64_t frac = ((micros % 1000000) + 1000000) % 1000000;

	clock_rfc3339((micros - frac) / 1000000, head);
	snprintf(out, CLOCK_MICRO_LEN, "%.19s.%06dZ", head, (int)frac);
}

/* Exactly n digits at *p, moving past them. */
static bool digits(const char **p, int n, int *ret)
{
	int v = 0;

	for (int i = 0; i < n; i++, (*p)++) {
		if (!isdigit((unsigned char)**p))
			return false;
		v = v * 10 + (**p - '0');
	}
	*ret = v;
	return true;
}

static bool parse_fraction(const char **p, int64_t *ret_micros)
{
	int64_t v = 0;
	int n = 0;

	for (; isdigit((unsigned char)**p); (*p)++)
		if (n < 6) {
			v = v * 10 + (**p - '0');
			n++;
		}
	if (n == 0)
		return false;
	for (; n < 6; n++)
		v *= 10;
	*ret_micros = v;
	return true;
}

static bool parse_zone(const char **p, int64_t *ret_offset)
{
	int h;
	int m;
	int sign = **p == '-' ? -1 : 1;

	if (**p == 'Z' || **p == 'z') {
		(*p)++;
		*ret_offset = 0;
		return true;
	}
	if (**p != '+' && **p != '-')
		return false;
	(*p)++;
	if (!digits(p, 2, &h) || *(*p)++ != ':' || !digits(p, 2, &m) || h > 23 || m > 59)
		return false;
	*ret_offset = sign * (h * 3600 + m * 60);
	return true;
}

bool clock_parse_rfc3339(const char *s, int64_t *ret_micros)
{
	struct tm tm = { 0 };
	int64_t frac = 0;
	int64_t offset;

	if (!digits(&s, 4, &tm.tm_year) || *s++ != '-' || !digits(&s, 2, &tm.tm_mon) || *s++ != '-' ||
	    !digits(&s, 2, &tm.tm_mday) || (*s != 'T' && *s != 't'))
		return false;
	s++;
	if (!digits(&s, 2, &tm.tm_hour) || *s++ != ':' || !digits(&s, 2, &tm.tm_min) || *s++ != ':' ||
	    !digits(&s, 2, &tm.tm_sec))
		return false;
	if (*s == '.') {
		s++;
		if (!parse_fraction(&s, &frac))
			return false;
	}
	if (!parse_zone(&s, &offset) || *s)
		return false;
	if (tm.tm_mon < 1 || tm.tm_mon > 12 || tm.tm_mday < 1 || tm.tm_mday > 31 || tm.tm_hour > 23 || tm.tm_min > 59 ||
	    tm.tm_sec > 60)
		return false;
	tm.tm_year -= 1900;
	tm.tm_mon -= 1;
	*ret_micros = ((int64_t)timegm(&tm) - offset) * 1000000 + frac;
	return true;
}

void clock_age(int64_t s, char *out, size_t n)
{
	int64_t m = s / 60;
	int64_t h = s / 3600;
	int64_t d = h / 24;
	int64_t y = d / 365;

	if (s < -1)
		snprintf(out, n, "<invalid>");
	else if (s < 0)
		snprintf(out, n, "0s");
	else if (s < 120)
		snprintf(out, n, "%ds", (int)s);
	else if (m < 10 && s % 60)
		snprintf(out, n, "%dm%ds", (int)m, (int)(s % 60));
	else if (m < 180)
		snprintf(out, n, "%dm", (int)m);
	else if (h < 8 && m % 60)
		snprintf(out, n, "%dh%dm", (int)h, (int)(m % 60));
	else if (h < 48)
		snprintf(out, n, "%dh", (int)h);
	else if (d < 8 && h % 24)
		snprintf(out, n, "%dd%dh", (int)d, (int)(h % 24));
	else if (d < 730)
		snprintf(out, n, "%dd", (int)d);
	else if (y < 8 && d % 365)
		snprintf(out, n, "%dy%dd", (int)y, (int)(d % 365));
	else
		snprintf(out, n, "%dy", (int)y);
}

bool clock_parse_duration(const char *s, int64_t *ret_seconds)
{
	static const struct {
		char unit;
		int64_t seconds;
	} units[] = { { 's', 1 }, { 'm', 60 }, { 'h', 3600 }, { 'd', 86400 }, { 'w', 604800 } };
	int64_t total = 0;

	if (!*s)
		return false;
	while (*s) {
		int64_t v = 0;
		int64_t scale = 0;

		if (!isdigit((unsigned char)*s))
			return false;
		for (; isdigit((unsigned char)*s); s++)
			if ((v = v * 10 + (*s - '0')) > 1000000000)
				return false;
		for (size_t i = 0; *s && i < sizeof(units) / sizeof(units[0]); i++)
			if (units[i].unit == *s)
				scale = units[i].seconds;
		if (!scale && (*s || total))
			return false;
		total += v * (scale ? scale : 1);
		if (*s)
			s++;
	}
	*ret_seconds = total;
	return true;
}

void clock_duration(int64_t seconds, char out[CLOCK_DURATION_LEN])
{
	long long h = seconds / 3600;
	int m = (int)(seconds / 60 % 60);
	int s = (int)(seconds % 60);

	if (h)
		snprintf(out, CLOCK_DURATION_LEN, "%lldh%dm%ds", h, m, s);
	else if (m)
		snprintf(out, CLOCK_DURATION_LEN, "%dm%ds", m, s);
	else
		snprintf(out, CLOCK_DURATION_LEN, "%ds", s);
}

void clock_short(int64_t seconds, int64_t now, char out[CLOCK_SHORT_LEN])
{
	time_t at = seconds;
	time_t today = now;
	struct tm then, day;
	bool same;

	localtime_r(&at, &then);
	localtime_r(&today, &day);
	same = then.tm_yday == day.tm_yday && then.tm_year == day.tm_year;
	if (!strftime(out, CLOCK_SHORT_LEN, same ? "%H:%M" : "%Y-%m-%d %H:%M", &then))
		out[0] = '\0';
}
