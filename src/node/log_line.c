// SPDX-License-Identifier: Apache-2.0
/* log_line.c - one line of a log file: "2026-11-15T23:08:38.123456789Z stdout F text"
 *
 * The form is the container runtime interface's: a time, a stream, tags of which the first is F for a full line or P
 * for the beginning of one that goes on in the next record, and the text.
 */
#include "base/clock.h"
#include "node/logs.h"

#define TIME_MAX 40 /* with nanoseconds and an offset it is 35 */

static bool next_word(struct str *rest, struct str *ret)
{
	return rest->n > 0 && str_split(rest, ' ', ret) && ret->n > 0;
}

bool log_line_parse(struct str line, int64_t *ret_us, bool *ret_stderr, bool *ret_partial, struct str *ret_text)
{
	struct str time;
	struct str stream;
	struct str tag;
	char text[TIME_MAX];
	int64_t us;

	if (!next_word(&line, &time) || !next_word(&line, &stream) || !next_word(&line, &tag) || time.n >= TIME_MAX ||
	    memchr(time.p, 0, time.n))
		return false;
	memcpy(text, time.p, time.n);
	text[time.n] = '\0';
	if (!clock_parse_rfc3339(text, &us) || (!str_eq(stream, "stdout") && !str_eq(stream, "stderr")))
		return false;
	if ((tag.p[0] != 'F' && tag.p[0] != 'P') || (tag.n > 1 && tag.p[1] != ':'))
		return false;
	*ret_us = us;
	*ret_stderr = str_eq(stream, "stderr");
	*ret_partial = tag.p[0] == 'P';
	*ret_text = line.n ? line : (struct str){ "", 0 };
	return true;
}
