// SPDX-License-Identifier: Apache-2.0
/* quota.c - see quota.h */
#include "pbs/quota.h"

#include <string.h>

#include "base/mem.h"

#define FORM "%-30s %10s %10s %5s"

void quota_head(FILE *to)
{
	fprintf(to, FORM "\n", "Directory", "Used", "Quota", "Use");
}

/* 1023mb, 12.3gb: units of 1024, as everywhere in PBS. */
static void size_text(int64_t bytes, char out[32])
{
	static const char *const units[] = { "kb", "mb", "gb", "tb", "pb" };
	double n = (double)bytes / 1024;
	size_t i = 0;

	while (n >= 1024 && i + 1 < ARRAY_SIZE(units)) {
		n /= 1024;
		i++;
	}
	snprintf(out, 32, n < 10 && i ? "%.1f%s" : "%.0f%s", n, units[i]);
}

void quota_row(const char *path, const struct tree_size *used, int why, int64_t quota, struct sbuf *out)
{
	char size[32];
	char limit[32];
	char part[32] = "-";

	size_text(used->bytes, size);
	size_text(quota, limit);
	if (!why && quota > 0)
		snprintf(part, sizeof(part), "%.0f%%", 100.0 * (double)used->bytes / (double)quota);
	sbuf_addf(out, FORM, path, why ? "-" : size, limit, part);
	if (why)
		sbuf_addf(out, "  %s", strerror(why));
	else if (used->unread)
		sbuf_adds(out, "  at least: not all of it can be read");
	else if (used->bytes > quota)
		sbuf_adds(out, "  over");
	sbuf_addc(out, '\n');
}
