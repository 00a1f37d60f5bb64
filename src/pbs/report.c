// SPDX-License-Identifier: Apache-2.0
/* report.c - see report.h */
#include "pbs/report.h"

#include <stdio.h>
#include <time.h>

#include "base/jsonx.h"

#define HOUR 3600.0

static double hours(const json_t *row, const char *name)
{
	return json_number_value(json_object_get(row, name)) / HOUR;
}

void report_table(const json_t *doc, int64_t month, bool detail, struct sbuf *out)
{
	time_t t = (time_t)month;
	double gpus = 0;
	char title[32];
	json_t *row;
	struct tm tm;
	size_t i;

	localtime_r(&t, &tm);
	strftime(title, sizeof(title), "%Y-%m", &tm);
	sbuf_addf(out, "GPU hours in %s\n\n", title);
	sbuf_addf(out, "%-16s %s%10s %10s %6s\n", "User", detail ? "Job                      Queue      " : "",
		  "GPU_hours", "CPU_hours", "Jobs");
	json_array_foreach (json_object_get(doc, "items"), i, row) {
		if (detail)
			sbuf_addf(out, "%-16s %-24.24s %-10.10s ", jsonx_str_or(row, "user", ""),
				  jsonx_str_or(row, "name", ""), jsonx_str_or(row, "queue", ""));
		else
			sbuf_addf(out, "%-16s ", jsonx_str_or(row, "name", ""));
		sbuf_addf(out, "%10.2f %10.2f %6lld\n", hours(row, "gpuSeconds"), hours(row, "cpuSeconds"),
			  (long long)jsonx_int_or(row, "jobs", 0));
		gpus += hours(row, "gpuSeconds");
	}
	sbuf_addf(out, "\nTotal %.2f GPU hours.\n", gpus);
}
