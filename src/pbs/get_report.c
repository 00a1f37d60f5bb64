// SPDX-License-Identifier: Apache-2.0
/* get_report.c - get_report and rpt_detail: GPU hours of this month by user, and by job
 *
 * The server keeps the accounts and shows each user his own, admins all.
 */
#include <stdio.h>
#include <time.h>

#include "base/clock.h"
#include "base/jsonx.h"
#include "base/limits.h"
#include "pbs/about.h"
#include "pbs/report.h"

static const char report_usage[] = "usage: get_report\n";
static const char detail_usage[] = "usage: rpt_detail\n";

static int64_t month_start(int64_t now)
{
	time_t t = (time_t)now;
	struct tm tm;

	localtime_r(&t, &tm);
	tm.tm_mday = 1;
	tm.tm_hour = tm.tm_min = tm.tm_sec = 0;
	tm.tm_isdst = -1;
	return mktime(&tm);
}

static int report(struct pbs *p, int argc, char **argv, const char *usage, bool detail)
{
	auto_sbuf struct sbuf path = SBUF(LIMIT_URL);
	auto_sbuf struct sbuf out = SBUF(1u << 28);
	int64_t now = clock_wall();
	json_auto_t *doc = NULL;
	struct err e = ERR_INIT;

	if (about_asked(argc, argv, usage))
		return 0;
	if (argc != 1)
		return about_misuse(usage);
	sbuf_addf(&path, PBS_API "/usage?by=%s&from=%lld&to=%lld", detail ? "job" : "user", (long long)month_start(now),
		  (long long)now);
	if (pbs_get(p, path.p, &doc, &e) < 0)
		return pbs_fail(p, &e, NULL);
	report_table(doc, month_start(now), detail, &out);
	about_write(&out, stdout);
	return 0;
}

int get_report_main(struct pbs *p, int argc, char **argv)
{
	return report(p, argc, argv, report_usage, false);
}

int rpt_detail_main(struct pbs *p, int argc, char **argv)
{
	return report(p, argc, argv, detail_usage, true);
}
