// SPDX-License-Identifier: Apache-2.0
/* cron_schedule.c - the language of CronJob schedules
 *
 * Each field becomes a set of bits.  A day matches if both the day of the month and the weekday do; where both are
 * written out (neither is *) one of them is enough, as cron has always done.  Weekdays are 0 to 6 from Sunday, without
 * 7.
 */
#include "kinds/cron_schedule.h"

#include <ctype.h>
#include <strings.h>
#include <time.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/str.h"
#include "base/time_zone.h"

#define DAY           86400
#define LONGEST_EVERY (100ll * 366 * DAY) /* keeps sums with the present time far from overflow */

struct unit {
	int min, max;
	const char *const *names; /* of min, min+1 ...; NULL-terminated */
};

static const char *const month_names[] = { "jan", "feb", "mar", "apr", "may", "jun", "jul",
					   "aug", "sep", "oct", "nov", "dec", NULL };
static const char *const weekday_names[] = { "sun", "mon", "tue", "wed", "thu", "fri", "sat", NULL };

enum { MINUTE, HOUR, MONTH_DAY, MONTH, WEEKDAY, UNIT__COUNT };

static const struct unit units[UNIT__COUNT] = {
	[MINUTE] = { 0, 59, NULL },          [HOUR] = { 0, 23, NULL },
	[MONTH_DAY] = { 1, 31, NULL },       [MONTH] = { 1, 12, month_names },
	[WEEKDAY] = { 0, 6, weekday_names },
};

static const struct {
	const char *name, *fields;
} shorthands[] = {
	{ "@yearly", "0 0 1 1 *" }, { "@annually", "0 0 1 1 *" }, { "@monthly", "0 0 1 * *" },
	{ "@weekly", "0 0 * * 0" }, { "@daily", "0 0 * * *" },    { "@midnight", "0 0 * * *" },
	{ "@hourly", "0 * * * *" },
};

static int parse_number(struct str s, const struct unit *u, int *ret, struct err *e)
{
	auto_free char *text = xstrndup(s.p, s.n);
	int64_t n;

	for (int i = 0; u && u->names && u->names[i]; i++)
		if (strcasecmp(text, u->names[i]) == 0) {
			*ret = u->min + i;
			return 0;
		}
	if (!s.n || !isdigit((unsigned char)s.p[0]) || !str_int64(text, 0, INT32_MAX, &n))
		return err_set(e, ERR_INVALID, "failed to parse int from %s: invalid syntax", text);
	*ret = (int)n;
	return 0;
}

/* How many `c` there are in s; its position goes to *ret_at. */
static size_t find(struct str s, char c, size_t *ret_at)
{
	size_t n = 0;

	for (size_t i = 0; i < s.n; i++)
		if (s.p[i] == c && n++ == 0)
			*ret_at = i;
	return n;
}

static struct str before(struct str s, size_t at)
{
	return (struct str){ s.p, at };
}

static struct str after(struct str s, size_t at)
{
	return (struct str){ s.p + at + 1, s.n - at - 1 };
}

/* "*", "5", "1-5" without its step. */
static int parse_bounds(struct str s, const struct unit *u, int *ret_from, int *ret_to, struct err *e)
{
	size_t at = 0;
	size_t hyphens = find(s, '-', &at);

	if (str_eq(s, "*") || str_eq(s, "?")) {
		*ret_from = u->min;
		*ret_to = u->max;
		return 0;
	}
	if (hyphens > 1)
		return err_set(e, ERR_INVALID, "too many hyphens: %.*s", STR_FMT(s));
	if (parse_number(hyphens ? before(s, at) : s, u, ret_from, e) < 0)
		return -1;
	*ret_to = *ret_from;
	return hyphens ? parse_number(after(s, at), u, ret_to, e) : 0;
}

static int check_bounds(struct str s, const struct unit *u, int from, int to, int step, struct err *e)
{
	if (from < u->min)
		return err_set(e, ERR_INVALID, "beginning of range (%d) below minimum (%d): %.*s", from, u->min,
			       STR_FMT(s));
	if (to > u->max)
		return err_set(e, ERR_INVALID, "end of range (%d) above maximum (%d): %.*s", to, u->max, STR_FMT(s));
	if (from > to)
		return err_set(e, ERR_INVALID, "beginning of range (%d) beyond end of range (%d): %.*s", from, to,
			       STR_FMT(s));
	if (step == 0)
		return err_set(e, ERR_INVALID, "step of range should be a positive number: %.*s", STR_FMT(s));
	return 0;
}

/* One member of a list: "*", "5", "1-5", each with or without "/step". */
static int parse_range(struct str s, const struct unit *u, uint64_t *bits, struct err *e)
{
	size_t at = 0;
	size_t slashes = find(s, '/', &at);
	struct str range = slashes ? before(s, at) : s;
	int from, to, step = 1;

	if (slashes > 1)
		return err_set(e, ERR_INVALID, "too many slashes: %.*s", STR_FMT(s));
	if (parse_bounds(range, u, &from, &to, e) < 0)
		return -1;
	if (slashes && parse_number(after(s, at), NULL, &step, e) < 0)
		return -1;
	/* "5/10" means from 5 to the end. */
	if (slashes && from == to && !memchr(range.p, '-', range.n))
		to = u->max;
	if (check_bounds(s, u, from, to, step, e) < 0)
		return -1;
	for (int64_t i = from; i <= to; i += step)
		*bits |= 1ull << i;
	return 0;
}

static int parse_field(struct str s, const struct unit *u, uint64_t *bits, struct err *e)
{
	struct str part;

	*bits = 0;
	while (str_split(&s, ',', &part))
		if (parse_range(part, u, bits, e) < 0)
			return -1;
	return 0;
}

/* Whether a field puts no limit: "*", also as the first part of a list. */
static bool is_any(struct str s)
{
	return s.n > 0 && (s.p[0] == '*' || s.p[0] == '?') && (s.n == 1 || s.p[1] == ',');
}

static int parse_fields(const char *text, struct cron_schedule *ret, struct err *e)
{
	struct str field[UNIT__COUNT];
	uint64_t bits[UNIT__COUNT];
	size_t n = 0;

	for (const char *p = text; *p;) {
		size_t len = strcspn(p, " \t\r\n\v\f");

		if (len > 0 && n++ < UNIT__COUNT)
			field[n - 1] = (struct str){ p, len };
		p += len + (p[len] != '\0');
	}
	if (n != UNIT__COUNT)
		return err_set(e, ERR_INVALID, "expected exactly 5 fields, found %zu: [%s]", n, text);
	for (size_t i = 0; i < UNIT__COUNT; i++)
		if (parse_field(field[i], &units[i], &bits[i], e) < 0)
			return -1;
	*ret = (struct cron_schedule){
		.minute = bits[MINUTE],
		.hour = (uint32_t)bits[HOUR],
		.day = (uint32_t)bits[MONTH_DAY],
		.month = (uint32_t)bits[MONTH],
		.weekday = (uint32_t)bits[WEEKDAY],
		.any_day = is_any(field[MONTH_DAY]),
		.any_weekday = is_any(field[WEEKDAY]),
	};
	return 0;
}

int cron_schedule_parse(const char *text, struct cron_schedule *ret, struct err *e)
{
	int64_t seconds;

	if (!text[0])
		return err_set(e, ERR_INVALID, "empty spec string");
	if (text[0] != '@')
		return parse_fields(text, ret, e);
	for (size_t i = 0; i < ARRAY_SIZE(shorthands); i++)
		if (streq(text, shorthands[i].name))
			return parse_fields(shorthands[i].fields, ret, e);
	if (!str_starts(text, "@every "))
		return err_set(e, ERR_INVALID, "unrecognized descriptor: %s", text);
	if (!clock_parse_duration(text + 7, &seconds) || seconds > LONGEST_EVERY)
		return err_set(e, ERR_INVALID, "failed to parse duration %s", text);
	*ret = (struct cron_schedule){ .every = seconds > 0 ? seconds : 1 };
	return 0;
}

static bool day_matches(const struct cron_schedule *s, const struct tm *tm)
{
	bool day = s->day >> tm->tm_mday & 1, weekday = s->weekday >> tm->tm_wday & 1;

	if (!(s->month >> (tm->tm_mon + 1) & 1))
		return false;
	return s->any_day || s->any_weekday ? day && weekday : day || weekday;
}

/* Seconds into the day of the first match at or after `from`, or -1. */
static int64_t next_in_day(const struct cron_schedule *s, int64_t from)
{
	for (int64_t minute = from / 60; minute < 24 * 60; minute++)
		if (s->hour >> (minute / 60) & 1 && s->minute >> (minute % 60) & 1)
			return minute * 60;
	return -1;
}

int64_t cron_schedule_next(const struct cron_schedule *s, int64_t after_time, int64_t utc_offset)
{
	int64_t wall = after_time + utc_offset;
	int64_t first = (wall / 60 + 1) * 60; /* the next whole minute */

	if (s->every)
		return after_time + s->every;
	/* 29 February may be eight years away (around 2100), but upstream gives up after five. */
	for (int64_t day = first - first % DAY; day < first + 5 * 366 * (int64_t)DAY; day += DAY) {
		time_t t = (time_t)day;
		struct tm tm;
		int64_t found;

		if (!gmtime_r(&t, &tm) || !day_matches(s, &tm))
			continue;
		found = next_in_day(s, day < first ? first - day : 0);
		if (found >= 0)
			return day + found - utc_offset;
	}
	return -1;
}

int64_t cron_schedule_next_in(const struct cron_schedule *s, const char *zone, int64_t after)
{
	int64_t offset = time_zone_offset(zone, after);
	int64_t from = after;

	/* Each round but the last passes one change of the clock. */
	for (int i = 0; i < 4; i++) {
		int64_t t = cron_schedule_next(s, from, offset);
		int64_t then;

		if (t <= 0)
			return 0;
		then = time_zone_offset(zone, t);
		if (then == offset)
			return t;
		t = cron_schedule_next(s, from, then);
		if (t > after && time_zone_offset(zone, t) == then)
			return t;
		from = t > from ? t : from;
		offset = then;
	}
	return 0;
}
