// SPDX-License-Identifier: Apache-2.0
/* What a CronJob does next, by table.
 *
 * Jobs are written in words: name:R runs, S succeeded, F failed; then =minute of the day it was started for by the
 * CronJob, a if the status knows it as active, x if it is being deleted.  The answer: +NAME is started, -NAME deleted,
 * then the status as active=..., last=HH:MM, good=HH:MM, then seconds to wait, then events.
 */
#include "control/cronjob_plan.h"

#include "api/sample_json.h"
#include "base/clock.h"
#include "base/jsonx.h"
#include "base/mem.h"
#include "base/time_zone.h"
#include "kinds/cron_schedule.h"
#include "test.h"

#define DAY 999993600 /* 2001-09-09T00:00:00Z */

static int64_t minute_of(const char *hhmm)
{
	return (hhmm[0] - '0') * 600 + (hhmm[1] - '0') * 60 + (hhmm[3] - '0') * 10 + hhmm[4] - '0';
}

static json_t *job_of(const char *word, json_t *active)
{
	auto_free char *name = xstrndup(word, strcspn(word, ":"));
	const char *c = strchr(word, ':') + 1;
	const char *eq = strchr(c, '=');
	int64_t at = DAY + (eq ? minute_of(eq + 1) * 60 : 0);
	char text[CLOCK_RFC3339_LEN];
	json_t *job;

	clock_rfc3339(at, text);
	job = json_pack("{s:{s:s, s:s, s:s, s:{}}, s:{s:s}}", "metadata", "name", name, "namespace", "ns", "uid", name,
			"annotations", "status", "startTime", text);
	if (eq)
		json_object_set_new(jsonx_at(job, "metadata.annotations"),
				    "batch.kubernetes.io/cronjob-scheduled-timestamp", json_string(text));
	if (*c == 'S' || *c == 'F')
		jsonx_set_new(job, "status.conditions",
			      json_pack("[{s:s, s:s}]", "type", *c == 'S' ? "Complete" : "Failed", "status", "True"));
	clock_rfc3339(at + 60, text);
	if (*c == 'S')
		jsonx_set_new(job, "status.completionTime", json_string(text));
	if (strchr(c, 'x'))
		jsonx_set_new(job, "metadata.deletionTimestamp", json_string(text));
	if (strchr(c, 'a'))
		json_array_append_new(active, json_pack("{s:s, s:s}", "name", name, "uid", name));
	return job;
}

static void add_status(struct sbuf *out, const json_t *status)
{
	json_t *ref;
	size_t i;

	if (!status) {
		sbuf_adds(out, " same");
		return;
	}
	json_array_foreach (json_object_get(status, "active"), i, ref)
		sbuf_addf(out, " active=%s", jsonx_str_or(ref, "name", ""));
	if (jsonx_str(status, "lastScheduleTime"))
		sbuf_addf(out, " last=%.5s", jsonx_str(status, "lastScheduleTime") + 11);
	if (jsonx_str(status, "lastSuccessfulTime"))
		sbuf_addf(out, " good=%.5s", jsonx_str(status, "lastSuccessfulTime") + 11);
}

/* `last` is HH:MM or empty; the CronJob was made at 00:30; `now` is HH:MM or HH:MM:SS. */
static char *answer(const char *spec, const char *last, const char *words, const char *now)
{
	auto_free char *text = xasprintf("{'metadata':{'name':'c','namespace':'ns','uid':'u','creationTimestamp':"
					 "'2001-09-09T00:30:00Z'},'spec':{%s%s'jobTemplate':{'metadata':{'labels':"
					 "{'a':'b'}},'spec':{}}},'status':{}}",
					 spec, *spec ? "," : "");
	json_auto_t *cronjob = sample_json(text);
	json_t *active = json_array();
	json_auto_t *objects = json_array();
	const json_t *jobs[20];
	struct cron_view v = { .cronjob = cronjob, .jobs = jobs, .now = DAY + minute_of(now) * 60 };
	auto_sbuf struct sbuf out = SBUF(2000);
	struct str rest = str_of(words);
	struct str word;
	struct cron_plan p;

	if (now[5])
		v.now += (now[6] - '0') * 10 + now[7] - '0';
	if (*last)
		jsonx_set_new(cronjob, "status.lastScheduleTime", jsonx_stringf("2001-09-09T%s:00Z", last));
	while (*words && str_split(&rest, ' ', &word)) {
		auto_free char *one = xstrndup(word.p, word.n);

		if (str_starts(one, "gone:")) { /* active, but there is no such Job */
			json_array_append_new(active, json_pack("{s:s, s:s}", "name", "gone", "uid", "gone"));
			continue;
		}
		json_array_append_new(objects, job_of(one, active));
		jobs[v.n] = json_array_get(objects, v.n);
		v.n++;
	}
	if (json_array_size(active))
		jsonx_set_new(cronjob, "status.active", json_incref(active));
	json_decref(active);
	cron_plan(&v, &p);
	if (p.create)
		sbuf_addf(&out, "+%s ", jsonx_str_or(p.create, "metadata.name", ""));
	for (size_t i = 0; i < p.nremove; i++)
		sbuf_addf(&out, "-%s ", jsonx_str_or(p.remove[i], "metadata.name", ""));
	sbuf_adds(&out, "|");
	add_status(&out, p.status);
	if (p.again >= 0)
		sbuf_addf(&out, " %lld", (long long)p.again);
	for (size_t i = 0; i < p.nevents; i++)
		sbuf_addf(&out, " !%s", p.events[i].reason);
	cron_plan_done(&p);
	return sbuf_steal(&out);
}

struct row {
	const char *spec, *last, *jobs, *now, *want;
};

static void check_rows(const struct row *rows, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		auto_free char *got = answer(rows[i].spec, rows[i].last, rows[i].jobs, rows[i].now);

		if (!streq(got, rows[i].want))
			test_fail(__FILE__, __LINE__, "{%s} last %s [%s] at %s\n      \"%s\"\n  not \"%s\"",
				  rows[i].spec, rows[i].last, rows[i].jobs, rows[i].now, got, rows[i].want);
	}
}

#define CHECK_ROWS(rows) check_rows(rows, ARRAY_SIZE(rows))
/* A job's name: minutes since 1970. */
#define AT0100 "c-16666620"
#define AT0200 "c-16666680"
#define AT0300 "c-16666740"
#define HOURLY "'timeZone':'UTC','schedule':'0 * * * *','concurrencyPolicy':"
#define ALLOW  HOURLY "'Allow'"

TEST("a job is started at its time, once, under a name made from the time")
{
	static const struct row rows[] = {
		{ ALLOW, "", "", "00:31", "| same 600" },
		{ ALLOW, "", "", "00:55", "| same 300" },
		{ ALLOW, "", "", "01:00", "+" AT0100 " | same 600" },
		{ ALLOW, "", "", "01:05", "+" AT0100 " | same 600" },
		/* it was made, and the status follows */
		{ ALLOW, "", AT0100 ":R=01:00", "01:05", "| active=" AT0100 " last=01:00 600" },
		{ ALLOW, "01:00", AT0100 ":R=01:00a", "01:05", "| same 600" },
		{ ALLOW, "01:00", AT0100 ":R=01:00a", "02:00", "+" AT0200 " | same 600" },
		/* two were missed: the later one is made */
		{ ALLOW, "", "", "02:59", "+" AT0200 " | same 60" },
		{ ALLOW ",'suspend':true", "", "", "01:00", "| same" },
		{ "'timeZone':'UTC','schedule':'30 0 30 2 *'", "", "", "01:00", "| same" },
		{ "'schedule':'@every 1h','timeZone':'UTC'", "", "", "01:29", "| same 60" },
		{ "'schedule':'@every 1h','timeZone':'UTC'", "", "", "01:30", "+c-16666650 | same 600" },
		{ "'schedule':'@every 1h','timeZone':'UTC'", "01:30", "", "03:40", "+c-16666770 | same 600" },
		{ "'schedule':'* * * * *','timeZone':'UTC'", "", "", "02:00", "+" AT0200 " | same 60" },
		{ "'schedule':'* * * * *','timeZone':'UTC'", "", "", "03:00",
		  "+" AT0300 " | same 60 !TooManyMissedTimes" },
		{ "'schedule':'x','timeZone':'UTC'", "", "", "03:00", "| same !UnparseableSchedule" },
		{ "'schedule':'0 * * * *','timeZone':'Mars/Base'", "", "", "03:00", "| same !UnknownTimeZone" },
	};

	CHECK_ROWS(rows);
}

TEST("a start may be late only as long as the deadline says")
{
	static const struct row rows[] = {
		{ ALLOW ",'startingDeadlineSeconds':300", "", "", "01:04", "+" AT0100 " | same 600" },
		{ ALLOW ",'startingDeadlineSeconds':300", "", "", "01:06", "| same 600" },
		{ ALLOW ",'startingDeadlineSeconds':7200", "", "", "03:06", "+" AT0300 " | same 600" },
		{ "'schedule':'* * * * *','timeZone':'UTC','startingDeadlineSeconds':600", "", "", "03:00",
		  "+" AT0300 " | same 60" },
	};

	CHECK_ROWS(rows);
}

TEST("what still runs is joined, waited for, or replaced")
{
	static const struct row rows[] = {
		{ HOURLY "'Allow'", "01:00", AT0100 ":R=01:00a", "02:00", "+" AT0200 " | same 600" },
		{ HOURLY "'Forbid'", "01:00", AT0100 ":R=01:00a", "02:00", "| same 600 !JobAlreadyActive" },
		{ HOURLY "'Forbid'", "01:00", AT0100 ":F=01:00a", "02:10",
		  "+" AT0200 " | last=01:00 600 !SawCompletedJob" },
		{ HOURLY "'Replace'", "01:00", AT0100 ":R=01:00a", "02:00",
		  "+" AT0200 " -" AT0100 " | last=01:00 600" },
		{ HOURLY "'Replace'", "02:00", AT0100 ":R=01:00x " AT0200 ":R=02:00a", "02:01", "| same 600" },
		{ HOURLY "'Replace'", "01:00", "", "02:00", "+" AT0200 " | same 600" },
	};

	CHECK_ROWS(rows);
}

TEST("ends are seen, and only so much history is kept")
{
	static const struct row rows[] = {
		{ ALLOW, "01:00", AT0100 ":S=01:00a", "01:05", "| last=01:00 good=01:01 600 !SawCompletedJob" },
		{ ALLOW, "", AT0100 ":S=01:00", "01:05", "| last=01:00 good=01:01 600 !SawCompletedJob" },
		{ ALLOW, "01:00", AT0100 ":F=01:00a", "01:05", "| last=01:00 600 !SawCompletedJob" },
		{ ALLOW, "01:00", "gone:", "01:05", "| last=01:00 600 !MissingJob" },
		{ ALLOW, "01:00", "manual:R", "01:05", "| same 600 !UnexpectedJob" },
		{ ALLOW ",'successfulJobsHistoryLimit':1", "02:00", "b:S=02:00 a:S=01:00 c:S=01:30 d:F e:F", "02:05",
		  "-a -c | last=02:00 good=02:01 600" },
		{ ALLOW ",'failedJobsHistoryLimit':1", "02:00", "b:F=02:00 a:F=01:00 r:R=02:00x", "02:05",
		  "-a | same 600" },
		{ ALLOW ",'failedJobsHistoryLimit':0", "02:00", "b:F=02:00 a:Fx", "02:05", "-b | same 600" },
	};

	CHECK_ROWS(rows);
}

TEST("the clock on the wall decides, also on days when it is changed")
{
	static const struct {
		const char *schedule, *zone;
		int64_t since, now, due, next;
	} rows[] = {
		/* 02:00 in Shanghai is 18:00 the day before */
		{ "0 2 * * *", "Asia/Shanghai", DAY, DAY + 19 * 3600, DAY + 18 * 3600, DAY + 42 * 3600 },
		{ "0 2 * * *", "UTC", DAY, DAY + 19 * 3600, DAY + 2 * 3600, DAY + 26 * 3600 },
		/* Berlin, 2021-03-28 01:00 UTC: summer begins.  08:00 is 07:00 UTC before and 06:00 after. */
		{ "0 8 * * *", "Europe/Berlin", 1616828400, 1616911201, 1616911200, 1616997600 },
		/* a minute that is skipped that night comes the next day */
		{ "30 2 * * *", "Europe/Berlin", 1616810400, 1616900000, 0, 1616977800 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct cron_schedule s;
		struct err e = ERR_INIT;
		struct cron_times t;

		if (!time_zone_known(rows[i].zone))
			continue; /* no time zone database on this machine */
		CHECK_INT(cron_schedule_parse(rows[i].schedule, &s, &e), 0);
		t = cron_times(&s, rows[i].zone, rows[i].since, rows[i].now);
		CHECK_INT(t.due, rows[i].due);
		CHECK_INT(t.next, rows[i].next);
	}
}

TEST("after a long sleep the last missed time is found without counting them all")
{
	static const char *const schedules[] = { "* * * * *", "*/7 3 * * *", "0 0 1 * *", "30 6-16/4 * * 1-5" };
	int64_t since = DAY;
	int64_t now = DAY + 400ll * 86400 + 12345;

	for (size_t i = 0; i < ARRAY_SIZE(schedules); i++) {
		struct cron_schedule s;
		struct err e = ERR_INIT;
		struct cron_times t;
		int64_t last = 0;

		CHECK_INT(cron_schedule_parse(schedules[i], &s, &e), 0);
		t = cron_times(&s, "UTC", since, now);
		for (int64_t at = cron_schedule_next(&s, now - 62ll * 86400, 0); at <= now;
		     at = cron_schedule_next(&s, at, 0))
			last = at;
		CHECK_INT(t.due, last);
		CHECK_INT(t.next, cron_schedule_next(&s, now, 0));
		CHECK_INT(t.too_many, i != 2);
	}
}

TEST("time zones: known ones and others")
{
	CHECK(time_zone_known("UTC"));
	CHECK(!time_zone_known("Mars/Base"));
	CHECK(!time_zone_known(""));
	CHECK(!time_zone_known("../../../etc/passwd"));
	CHECK(!time_zone_known("/etc/localtime"));
	CHECK_INT(time_zone_offset("UTC", DAY), 0);
	if (time_zone_known("Asia/Shanghai"))
		CHECK_INT(time_zone_offset("Asia/Shanghai", DAY), 8 * 3600);
}

TEST("a schedule with several times in a minute starts one job in each, and does not mind the others")
{
	static const struct row rows[] = {
		{ "'schedule':'@every 20s'", "01:00", AT0100 ":R=01:00a", "01:00:40", "| same 20" },
		{ "'schedule':'@every 20s'", "01:00", AT0100 ":S=01:00x", "01:00:40", "| last=01:00 good=01:01 20" },
		{ "'schedule':'@every 20s','concurrencyPolicy':'Replace'", "01:00", AT0100 ":R=01:00a", "01:00:40",
		  "| same 20" },
		{ "'schedule':'@every 20s'", "00:59", "", "01:00:00", "+" AT0100 " | same 20" },
	};

	CHECK_ROWS(rows);
}
