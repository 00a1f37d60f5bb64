// SPDX-License-Identifier: Apache-2.0
/* pbs_values.c - times and sizes as PBS writes them
 *
 * What people wrote and what qstat shows are the same but for case and leading zeros: a size keeps its unit, so that
 * 64gb never comes back as 68719476736b.
 */
#include "kinds/pbs_values.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/str.h"

static bool all_digits(struct str s)
{
	for (size_t i = 0; i < s.n; i++)
		if (!isdigit((unsigned char)s.p[i]))
			return false;
	return true;
}

static bool field_parse(struct str s, int64_t *ret)
{
	int64_t v = 0;

	if (!s.n || !all_digits(s))
		return false;
	for (size_t i = 0; i < s.n; i++) {
		v = v * 10 + (s.p[i] - '0');
		if (v > PBS_TIME_MOST)
			return false;
	}
	*ret = v;
	return true;
}

bool pbs_time_parse(const char *text, int64_t *ret_seconds)
{
	static const int64_t units[] = { 1, 60, 3600, 86400 }; /* from the last field backwards */
	int64_t field[ARRAY_SIZE(units)];
	const char *dot = strchr(text, '.');
	struct str rest = { text, dot ? (size_t)(dot - text) : strlen(text) };
	struct str part;
	int64_t seconds = dot && dot[1] >= '5' && dot[1] <= '9';
	size_t n = 0;

	if (dot && !all_digits(str_of(dot + 1)))
		return false;
	while (str_split(&rest, ':', &part))
		if (n == ARRAY_SIZE(units) || !field_parse(part, &field[n++]))
			return false;
	for (size_t i = 0; i < n; i++) {
		if (field[i] > PBS_TIME_MOST / units[n - 1 - i])
			return false;
		seconds += field[i] * units[n - 1 - i];
	}
	if (seconds > PBS_TIME_MOST)
		return false;
	*ret_seconds = seconds;
	return true;
}

void pbs_time_text(int64_t seconds, char out[PBS_TEXT])
{
	snprintf(out, PBS_TEXT, "%02lld:%02d:%02d", (long long)(seconds / 3600), (int)(seconds / 60 % 60),
		 (int)(seconds % 60));
}

struct size {
	int64_t number;
	int shift; /* of the letter's unit: k is 10 */
	char letter;
	bool words;
};

/* As strtoull reads numbers: 0x.. is hexadecimal, 0.. octal, both of which old scripts have. */
static bool size_read(const char *text, struct size *ret)
{
	static const char letters[] = "kmgtpe";
	struct size s = { 0 };
	const char *at;
	char *end;

	if (!isdigit((unsigned char)text[0]))
		return false;
	errno = 0;
	s.number = strtoll(text, &end, 0);
	if (errno || end == text)
		return false;
	if (*end && (at = strchr(letters, tolower((unsigned char)*end)))) {
		s.letter = *at;
		s.shift = 10 * (int)(at - letters + 1);
		end++;
	}
	s.words = *end == 'w' || *end == 'W';
	if (s.words || *end == 'b' || *end == 'B')
		end++;
	if (*end || s.number > INT64_MAX >> (s.shift + (s.words ? 3 : 0)))
		return false;
	*ret = s;
	return true;
}

bool pbs_size_parse(const char *text, int64_t *ret_bytes)
{
	struct size s;

	if (!size_read(text, &s))
		return false;
	*ret_bytes = s.number << (s.shift + (s.words ? 3 : 0));
	return true;
}

bool pbs_size_normal(const char *text, char out[PBS_TEXT])
{
	struct size s;

	if (!size_read(text, &s))
		return false;
	snprintf(out, PBS_TEXT, "%" PRId64 "%.*s%c", s.number, s.letter ? 1 : 0, &s.letter, s.words ? 'w' : 'b');
	return true;
}

void pbs_size_kb_text(int64_t bytes, char out[PBS_TEXT])
{
	snprintf(out, PBS_TEXT, "%" PRId64 "kb", bytes / 1024 + (bytes % 1024 > 0));
}

bool pbs_root_quota_parse(const char *text, int64_t *ret_bytes)
{
	const char *equals = strrchr(text, '=');

	return text[0] == '/' && equals && equals - text > 1 && !strchr("/=", equals[-1]) && !strstr(text, "/..") &&
	       pbs_size_parse(equals + 1, ret_bytes) && *ret_bytes > 0;
}
