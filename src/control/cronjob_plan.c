// SPDX-License-Identifier: Apache-2.0
/* cronjob_plan.c - a CronJob, its Jobs and the time: what to do */
#include "control/cronjob_plan.h"

#include <time.h>

#include "base/clock.h"
#include "base/jsonx.h"
#include "base/mem.h"
#include "base/time_zone.h"
#include "control/job_plan.h"
#include "kinds/cron_schedule.h"

#define SCHEDULED "batch.kubernetes.io/cronjob-scheduled-timestamp"
#define LONGEST   600 /* seconds to wait at most: the clock may be set meanwhile */
#define MISS_TOO  "too many missed start times. Set or decrease .spec.startingDeadlineSeconds or check clock skew"
#define MISS_BUSY "Not starting job because prior execution is running and concurrency policy is Forbid"

struct cron_work {
	const struct cron_view *view;
	const json_t *cronjob;
	const char *name, *zone;
	struct cron_plan *plan;
	json_t *status;
	json_t *active; /* references, of the next status */
	int64_t last;   /* when a Job was last started; 0: never */
};

void cron_plan_done(struct cron_plan *p)
{
	json_decref(p->create);
	json_decref(p->status);
	free(p->remove);
	free(p->events);
	*p = (struct cron_plan){ 0 };
}

__attribute__((format(printf, 4, 5))) static void note(struct cron_work *w, bool warning, const char *reason,
						       const char *fmt, ...)
{
	struct cron_event ev = { .warning = warning, .reason = reason };
	struct cron_plan *p = w->plan;
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(ev.message, sizeof(ev.message), fmt, ap);
	va_end(ap);
	ARRAY_PUSH(p->events, p->nevents, p->events_cap, ev);
}

static void remove_job(struct cron_work *w, const json_t *job)
{
	struct cron_plan *p = w->plan;

	ARRAY_PUSH(p->remove, p->nremove, p->remove_cap, job);
}

static const char *name_of(const json_t *obj)
{
	return jsonx_str_or(obj, "metadata.name", "");
}

static bool is_going(const json_t *obj)
{
	return jsonx_at(obj, "metadata.deletionTimestamp") != NULL;
}

/* ---- what became of the Jobs ---- */

static void rfc3339_at(int64_t t, int64_t offset, char *out, size_t n)
{
	char wall[CLOCK_RFC3339_LEN];
	int64_t minutes = (offset < 0 ? -offset : offset) / 60;

	clock_rfc3339(t + offset, wall);
	if (offset)
		snprintf(out, n, "%.19s%c%02lld:%02lld", wall, offset < 0 ? '-' : '+', (long long)(minutes / 60),
			 (long long)(minutes % 60));
	else
		snprintf(out, n, "%s", wall);
}

static char *job_name(const struct cron_work *w, int64_t at)
{
	return xasprintf("%s-%lld", w->name, (long long)(at / 60));
}

/* The time that a Job was started for by us; 0: somebody else did. */
static int64_t started_for(const struct cron_work *w, const json_t *job)
{
	const char *text = json_string_value(json_object_get(jsonx_at(job, "metadata.annotations"), SCHEDULED));
	auto_free char *name = NULL;
	int64_t micros;

	if (!text || !clock_parse_rfc3339(text, &micros))
		return 0;
	name = job_name(w, micros / 1000000);
	return streq(name, name_of(job)) ? micros / 1000000 : 0;
}

static bool find_active(const struct cron_work *w, const char *uid, size_t *ret_at)
{
	json_t *ref;
	size_t i;

	json_array_foreach (w->active, i, ref)
		if (str_same(jsonx_str(ref, "uid"), uid)) {
			*ret_at = i;
			return true;
		}
	return false;
}

static json_t *reference(const json_t *job)
{
	return json_pack("{s:s, s:s, s:s, s:s, s:s, s:s}", "apiVersion", "batch/v1", "kind", "Job", "namespace",
			 jsonx_str_or(job, "metadata.namespace", ""), "name", name_of(job), "uid",
			 jsonx_str_or(job, "metadata.uid", ""), "resourceVersion",
			 jsonx_str_or(job, "metadata.resourceVersion", ""));
}

static void note_success(struct cron_work *w, const json_t *job)
{
	int64_t end = time_at(job, "status.completionTime");
	char text[CLOCK_RFC3339_LEN];

	if (end <= time_at(w->status, "lastSuccessfulTime"))
		return;
	clock_rfc3339(end, text);
	json_object_set_new(w->status, "lastSuccessfulTime", json_string(text));
}

static void see_job(struct cron_work *w, const json_t *job)
{
	const json_t *end = job_finished(job);
	int64_t started = started_for(w, job);
	bool is_new = started > w->last;
	size_t at = 0;
	bool active = find_active(w, jsonx_str(job, "metadata.uid"), &at);

	if (is_new)
		w->last = started;
	if (!end && !active && started && !is_going(job))
		json_array_append_new(w->active, reference(job));
	else if (!end && !active && !is_going(job))
		note(w, true, "UnexpectedJob", "Saw a job that the controller did not create or forgot: %s",
		     name_of(job));
	if (end && (active || is_new))
		note(w, false, "SawCompletedJob", "Saw completed job: %s, condition: %s", name_of(job),
		     jsonx_str_or(end, "type", ""));
	if (end && active)
		json_array_remove(w->active, at);
	if (end && streq(jsonx_str_or(end, "type", ""), "Complete"))
		note_success(w, job);
}

static void see_missing(struct cron_work *w)
{
	size_t i = 0;

	while (i < json_array_size(w->active)) {
		const json_t *ref = json_array_get(w->active, i);
		bool there = false;

		for (size_t n = 0; !there && n < w->view->n; n++)
			there = str_same(jsonx_str(w->view->jobs[n], "metadata.uid"), jsonx_str(ref, "uid"));
		if (there) {
			i++;
			continue;
		}
		note(w, false, "MissingJob", "Active job went missing: %s", jsonx_str_or(ref, "name", ""));
		json_array_remove(w->active, i);
	}
}

/* ---- history ---- */

static int by_start(const void *a, const void *b)
{
	const json_t *x = *(const json_t *const *)a;
	const json_t *y = *(const json_t *const *)b;
	int64_t s = time_at(x, "status.startTime");
	int64_t t = time_at(y, "status.startTime");

	if (s != t)
		return !s ? 1 : !t ? -1 : s < t ? -1 : 1;
	return strcmp(name_of(x), name_of(y));
}

/* Of those that ended as `type` says only the newest few stay. */
static void trim(struct cron_work *w, const char *type, const char *limit)
{
	auto_free const json_t **ended = xcalloc(w->view->n + 1, sizeof(*ended));
	int64_t keep = jsonx_int_or(w->cronjob, limit, -1);
	size_t n = 0;

	if (keep < 0)
		return;
	for (size_t i = 0; i < w->view->n; i++) {
		const json_t *job = w->view->jobs[i];

		if (!is_going(job) && str_same(jsonx_str(job_finished(job), "type"), type))
			ended[n++] = job;
	}
	qsort(ended, n, sizeof(*ended), by_start);
	for (size_t i = 0; i + (size_t)keep < n; i++)
		remove_job(w, ended[i]);
}

/* ---- starting ---- */

static json_t *new_job(const struct cron_work *w, int64_t at)
{
	static const char *const kept[] = { "labels", "annotations" };
	const json_t *template = jsonx_at(w->cronjob, "spec.jobTemplate");
	auto_free char *name = job_name(w, at);
	json_t *meta = json_pack("{s:s, s:s, s:[o]}", "name", name, "namespace",
				 jsonx_str_or(w->cronjob, "metadata.namespace", ""), "ownerReferences",
				 controller_ref("batch/v1", "CronJob", w->cronjob));
	json_t *spec = jsonx_copy(json_object_get(template, "spec"));
	char text[40];

	for (size_t i = 0; i < ARRAY_SIZE(kept); i++) {
		const json_t *v = json_object_get(json_object_get(template, "metadata"), kept[i]);

		json_object_set_new(meta, kept[i], v ? jsonx_copy(v) : json_object());
	}
	rfc3339_at(at, w->zone ? time_zone_offset(w->zone, at) : 0, text, sizeof(text));
	json_object_set_new(json_object_get(meta, "annotations"), SCHEDULED, json_string(text));
	return json_pack("{s:s, s:s, s:o, s:o}", "apiVersion", "batch/v1", "kind", "Job", "metadata", meta, "spec",
			 spec ? spec : json_object());
}

/* What runs is stopped, and no longer active as far as this CronJob is concerned. */
static void replace_active(struct cron_work *w)
{
	size_t at;

	for (size_t i = 0; i < w->view->n; i++)
		if (find_active(w, jsonx_str(w->view->jobs[i], "metadata.uid"), &at)) {
			if (!is_going(w->view->jobs[i]))
				remove_job(w, w->view->jobs[i]);
			json_array_remove(w->active, at);
		}
}

static void note_missed(struct cron_work *w, int64_t due)
{
	time_t t = (time_t)due;
	char text[64] = "";
	struct tm tm;

	if (gmtime_r(&t, &tm))
		strftime(text, sizeof(text), "%a, %d %b %Y %H:%M:%S +0000", &tm);
	note(w, true, "MissSchedule", "Missed scheduled time to start a job: %s", text);
}

/* A Job is named after its minute, so of a schedule with shorter steps only the first in a minute has a name left. */
static bool has_started(const struct cron_work *w, int64_t due)
{
	auto_free char *name = job_name(w, due);

	for (size_t i = 0; i < w->view->n; i++)
		if (streq(name_of(w->view->jobs[i]), name))
			return true;
	return false;
}

static void start(struct cron_work *w, int64_t due)
{
	const char *policy = jsonx_str_or(w->cronjob, "spec.concurrencyPolicy", "Allow");
	int64_t deadline = jsonx_int_or(w->cronjob, "spec.startingDeadlineSeconds", -1);

	if (has_started(w, due))
		return;
	if (deadline >= 0 && due + deadline < w->view->now) {
		note_missed(w, due);
		return;
	}
	if (streq(policy, "Forbid") && json_array_size(w->active)) {
		note(w, false, "JobAlreadyActive", "%s", MISS_BUSY);
		return;
	}
	if (streq(policy, "Replace"))
		replace_active(w);
	w->plan->create = new_job(w, due);
}

/* From when on times count: since the last start, but not longer ago than a start may be late. */
static int64_t since(const struct cron_work *w)
{
	int64_t from = w->last ? w->last : time_at(w->cronjob, "metadata.creationTimestamp");
	int64_t deadline = jsonx_int_or(w->cronjob, "spec.startingDeadlineSeconds", -1);

	return deadline >= 0 && w->view->now - deadline > from ? w->view->now - deadline : from;
}

static void schedule(struct cron_work *w)
{
	const char *text = jsonx_str_or(w->cronjob, "spec.schedule", "");
	struct cron_schedule s;
	struct cron_times t;
	struct err e = ERR_INIT;

	if (is_going(w->cronjob) || jsonx_bool_or(w->cronjob, "spec.suspend", false))
		return;
	if (w->zone && !time_zone_known(w->zone)) {
		note(w, true, "UnknownTimeZone", "invalid timeZone: \"%s\": unknown time zone %s", w->zone, w->zone);
		return;
	}
	if (cron_schedule_parse(text, &s, &e) < 0) {
		note(w, true, "UnparseableSchedule", "unparseable schedule: \"%s\" : %s", text, e.text);
		return;
	}
	t = cron_times(&s, w->zone, since(w), w->view->now);
	if (t.too_many)
		note(w, true, "TooManyMissedTimes", "%s", MISS_TOO);
	if (t.due)
		start(w, t.due);
	if (t.next)
		w->plan->again = t.next - w->view->now < LONGEST ? t.next - w->view->now : LONGEST;
}

void cron_plan(const struct cron_view *v, struct cron_plan *ret)
{
	const json_t *old = json_object_get(v->cronjob, "status");
	struct cron_work w = { .view = v, .cronjob = v->cronjob, .plan = ret };
	char text[CLOCK_RFC3339_LEN];

	*ret = (struct cron_plan){ .again = -1 };
	w.name = name_of(v->cronjob);
	w.zone = jsonx_str(v->cronjob, "spec.timeZone");
	w.status = old ? jsonx_copy(old) : json_object();
	w.active = json_copy(json_object_get(w.status, "active"));
	if (!w.active)
		w.active = json_array();
	w.last = time_at(w.status, "lastScheduleTime");
	for (size_t i = 0; i < v->n; i++)
		see_job(&w, v->jobs[i]);
	see_missing(&w);
	trim(&w, "Complete", "spec.successfulJobsHistoryLimit");
	trim(&w, "Failed", "spec.failedJobsHistoryLimit");
	schedule(&w);
	if (json_array_size(w.active))
		json_object_set(w.status, "active", w.active);
	else
		json_object_del(w.status, "active");
	if (w.last) {
		clock_rfc3339(w.last, text);
		json_object_set_new(w.status, "lastScheduleTime", json_string(text));
	}
	if (!jsonx_equal(old, w.status) && (old || json_object_size(w.status)))
		ret->status = json_incref(w.status);
	json_decref(w.status);
	json_decref(w.active);
}
