// SPDX-License-Identifier: Apache-2.0
/* when.c - see when.h */
#include "cli/when.h"

#include <time.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/str.h"

/* Each form fills in what it knows; the rest is today's, at midnight. */
static const struct {
	const char *form;
	bool date; /* says the day */
} forms[] = {
	{ "%Y-%m-%d %H:%M:%S", true }, { "%Y-%m-%dT%H:%M:%S", true }, { "%Y-%m-%d %H:%M", true },
	{ "%Y-%m-%dT%H:%M", true },    { "%Y-%m-%d", true },          { "%H:%M", false },
};

static struct tm midnight(int64_t now, int days)
{
	time_t t = (time_t)now;
	struct tm tm;

	localtime_r(&t, &tm);
	tm.tm_hour = tm.tm_min = tm.tm_sec = 0;
	tm.tm_mday += days;
	tm.tm_isdst = -1;
	return tm;
}

static bool parse_local(const char *text, int64_t now, int64_t *ret)
{
	bool tomorrow = str_starts(text, "tomorrow");
	bool day = tomorrow || str_starts(text, "today");
	const char *clock = day ? text + strlen(tomorrow ? "tomorrow" : "today") : text;

	while (day && *clock == ' ')
		clock++;
	for (size_t i = 0; i < ARRAY_SIZE(forms); i++) {
		struct tm tm = midnight(now, tomorrow);
		const char *end = strptime(clock, forms[i].form, &tm);

		if (!end || *end || (day && forms[i].date))
			continue;
		*ret = mktime(&tm);
		if (!day && !forms[i].date && *ret <= now) {
			tm.tm_mday++;
			tm.tm_isdst = -1;
			*ret = mktime(&tm);
		}
		return true;
	}
	return false;
}

int when_parse(const char *what, const char *text, int64_t now, int64_t *ret_seconds, struct err *e)
{
	int64_t n;

	if (streq(text, "now"))
		n = now;
	else if (clock_parse_rfc3339(text, &n))
		n /= 1000000;
	else if (text[0] == '+' && clock_parse_duration(text + 1, &n))
		n += now;
	else if (!parse_local(text, now, &n))
		return err_set(e, ERR_BAD_REQUEST,
			       "%s: \"%s\" is no time such as 14:00, \"tomorrow 9:00\", \"2026-11-20 09:00\" or +2h",
			       what, text);
	*ret_seconds = n;
	return 0;
}
