// SPDX-License-Identifier: Apache-2.0
/* time_zone.c - asks the C library, which knows only one zone at a time: it is switched for each question and back
 *
 * There is one thread, so nobody sees the other zone.  An unknown name would silently be UTC: hence time_zone_known().
 */
#include "base/time_zone.h"

#include <stdio.h>
#include <time.h>

#include "base/mem.h"
#include "base/str.h"

#define ZONES "/usr/share/zoneinfo"

bool time_zone_known(const char *name)
{
	const char *dir = getenv("TZDIR");
	auto_free char *path = xasprintf("%s/%s", dir && *dir ? dir : ZONES, name);
	char magic[4] = "";
	FILE *f;

	if (streq(name, "UTC"))
		return true;
	if (!*name || name[0] == '/' || strstr(name, ".."))
		return false;
	f = fopen(path, "re");
	if (!f)
		return false;
	if (fread(magic, 1, sizeof(magic), f) != sizeof(magic))
		magic[0] = '\0';
	fclose(f);
	return memcmp(magic, "TZif", 4) == 0;
}

static void switch_to(const char *zone)
{
	if (zone)
		setenv("TZ", zone, 1);
	else
		unsetenv("TZ");
	tzset();
}

int64_t time_zone_offset(const char *name, int64_t at)
{
	const char *tz = getenv("TZ");
	auto_free char *home = tz ? xstrdup(tz) : NULL;
	time_t t = (time_t)at;
	struct tm tm = { 0 };

	if (name && streq(name, "UTC"))
		return 0;
	if (name)
		switch_to(name);
	localtime_r(&t, &tm);
	if (name)
		switch_to(home);
	return tm.tm_gmtoff;
}
