// SPDX-License-Identifier: Apache-2.0
/* kernel_log.c - see kernel_log.h */
#include "pbs/kernel_log.h"

#include <time.h>

/* The number in the n-th field between commas. */
static int64_t field(struct str head, int n)
{
	struct str part = { NULL, 0 };
	int64_t v = 0;

	for (int i = 0; i <= n; i++)
		if (!head.n || !str_split(&head, ',', &part))
			return -1;
	for (size_t i = 0; i < part.n && part.p[i] >= '0' && part.p[i] <= '9'; i++)
		v = v * 10 + (part.p[i] - '0');
	return v;
}

void kernel_log_add(struct str record, int64_t booted, int64_t since, struct sbuf *out)
{
	const char *semicolon = record.n ? memchr(record.p, ';', record.n) : NULL;
	struct str text;
	struct str head;
	int64_t micros;
	time_t when;
	char date[32];
	struct tm tm;

	if (!semicolon)
		return;
	head = (struct str){ record.p, (size_t)(semicolon - record.p) };
	record = (struct str){ semicolon + 1, record.n - head.n - 1 };
	micros = field(head, 2);
	when = (time_t)(booted + micros / 1000000);
	if (micros < 0 || when < since || !str_split(&record, '\n', &text))
		return;
	localtime_r(&when, &tm);
	strftime(date, sizeof(date), "%a %b %e %H:%M:%S %Y", &tm);
	sbuf_addf(out, "[%s] %.*s\n", date, STR_FMT(text));
}
