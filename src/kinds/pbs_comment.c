// SPDX-License-Identifier: Apache-2.0
/* pbs_comment.c - see pbs_comment.h */
#include "kinds/pbs_comment.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

void pbs_date(int64_t seconds, char out[PBS_DATE])
{
	time_t t = (time_t)seconds;
	struct tm tm;

	localtime_r(&t, &tm);
	strftime(out, PBS_DATE, "%a %b %d at %H:%M", &tm);
}

static void add_dated(const char *words, int64_t at, char *out, size_t n)
{
	char date[PBS_DATE];

	pbs_date(at, date);
	snprintf(out, n, "%s%s", words, date);
}

void pbs_comment_started(int64_t at, char *out, size_t n)
{
	add_dated(PBS_STARTED, at, out, n);
}

void pbs_comment_held(const char *letters, char *out, size_t n)
{
	const char *who = strchr(letters, 's') ? "the system" : strchr(letters, 'o') ? "an operator" : "its user";

	snprintf(out, n, PBS_NOT_RUNNING "Job is held by %s", who);
}

void pbs_comment_until(int64_t at, char *out, size_t n)
{
	add_dated(PBS_NOT_RUNNING "Job waits until ", at, out, n);
}

void pbs_comment_slots(int64_t slots, char *out, size_t n)
{
	snprintf(out, n, PBS_NOT_RUNNING "its array may run no more than %lld %s at a time", (long long)slots,
		 slots == 1 ? "element" : "elements");
}

void pbs_comment_behind(char *out, size_t n)
{
	snprintf(out, n, PBS_NOT_RUNNING "elements of its array before it have no room yet");
}
