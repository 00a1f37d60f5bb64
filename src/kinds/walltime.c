// SPDX-License-Identifier: Apache-2.0
/* walltime.c - how long a job may run, as people write it */
#include "kinds/walltime.h"

#include <stdio.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/str.h"

/* Ten thousand years: beyond any job, and far from overflow when fields are added up. */
#define LONGEST (10000ll * 366 * 86400)

/* One field with an optional fraction, which rounds to whole seconds. */
static bool parse_part(struct str s, int64_t *ret)
{
	const char *dot = memchr(s.p, '.', s.n);
	auto_free char *text = xstrndup(s.p, dot ? (size_t)(dot - s.p) : s.n);

	if (!text[0] || text[0] == '-' || text[0] == '+' || !str_int64(text, 0, LONGEST, ret))
		return false;
	if (!dot)
		return true;
	for (const char *c = dot + 1; c < s.p + s.n; c++)
		if (*c < '0' || *c > '9')
			return false;
	*ret += dot + 1 < s.p + s.n && dot[1] >= '5';
	return true;
}

static bool parse_clock(const char *text, int64_t *ret)
{
	static const int64_t units[] = { 1, 60, 3600, 86400 }; /* from the last field backwards */
	int64_t field[ARRAY_SIZE(units)];
	struct str rest = str_of(text), part;
	int64_t seconds = 0;
	size_t n = 0;

	while (str_split(&rest, ':', &part))
		if (n == ARRAY_SIZE(units) || !parse_part(part, &field[n++]))
			return false;
	for (size_t i = 0; i < n; i++) {
		if (field[i] > LONGEST / units[n - 1 - i])
			return false;
		seconds += field[i] * units[n - 1 - i];
	}
	*ret = seconds;
	return true;
}

bool walltime_parse(const char *text, int64_t *ret_seconds)
{
	int64_t seconds;

	if (!parse_clock(text, &seconds) && !clock_parse_duration(text, &seconds))
		return false;
	if (seconds < 0 || seconds > LONGEST)
		return false;
	*ret_seconds = seconds;
	return true;
}

void walltime_text(int64_t seconds, char out[WALLTIME_TEXT])
{
	snprintf(out, WALLTIME_TEXT, "%02lld:%02d:%02d", (long long)(seconds / 3600), (int)(seconds / 60 % 60),
		 (int)(seconds % 60));
}
