// SPDX-License-Identifier: Apache-2.0
/* cronjob.c - does what cronjob_plan.c decides: one plan at a time for each CronJob
 *
 * A Job that was started but is not seen yet is waited for: without it the plan would take it for missing.
 */
#include "control/cronjob.h"

#include "base/clock.h"
#include "base/jsonx.h"
#include "base/mem.h"
#include "control/children.h"
#include "control/cronjob_plan.h"
#include "control/keeper.h"
#include "control/pod_facts.h"

#define VERSION   "batch/v1"
#define BEHIND_MS 1000

struct cronjobs {
	struct keeper *keeper;
	struct children *jobs;
};

/* ---- writing ---- */

static void on_created(void *arg, const struct answer *a)
{
	struct cronjobs *k = keeper_arg(arg);

	if (a->e->kind == ERR_NONE) {
		events_note(keeper_events(k->keeper), a->what, "Normal", "SuccessfulCreate", "Created job %s",
			    jsonx_str_or(a->obj, "metadata.name", ""));
		children_expect(k->jobs, jsonx_str_or(a->what, "metadata.uid", ""), a->obj);
	} else if (!a->e->ncauses || a->e->causes[0].kind != CAUSE_TERMINATING) {
		events_note(keeper_events(k->keeper), a->what, "Warning", "FailedCreate", "Error creating job: %s",
			    a->e->text);
	}
}

/* What it carries is {"cronjob", "name"}. */
static void on_removed(void *arg, const struct answer *a)
{
	struct cronjobs *k = keeper_arg(arg);
	const json_t *cronjob = json_object_get(a->what, "cronjob");

	if (a->e->kind == ERR_NONE)
		events_note(keeper_events(k->keeper), cronjob, "Normal", "SuccessfulDelete", "Deleted job %s",
			    jsonx_str_or(a->what, "name", ""));
	else if (a->e->kind != ERR_NOT_FOUND && a->e->kind != ERR_CONFLICT)
		events_note(keeper_events(k->keeper), cronjob, "Warning", "FailedDelete", "Deleted job: %s",
			    a->e->text);
}

static void remove_job(struct cronjobs *k, const char *key, const json_t *cronjob, const json_t *job)
{
	struct ref ref = calls_ref(VERSION, "jobs", job);
	json_auto_t *options = json_pack("{s:s, s:{s:s}}", "propagationPolicy", "Background", "preconditions", "uid",
					 jsonx_str_or(job, "metadata.uid", ""));
	json_auto_t *what = json_pack("{s:O, s:s}", "cronjob", cronjob, "name", jsonx_str_or(job, "metadata.name", ""));

	calls_remove(keeper_calls(k->keeper), key, &ref, options, on_removed, what);
}

static void apply(struct cronjobs *k, const char *key, const json_t *cronjob, const struct cron_plan *p)
{
	for (size_t i = 0; i < p->nremove; i++)
		remove_job(k, key, cronjob, p->remove[i]);
	if (p->create) {
		struct ref ref = { .api_version = VERSION,
				   .plural = "jobs",
				   .ns = jsonx_str(cronjob, "metadata.namespace") };

		calls_create(keeper_calls(k->keeper), key, &ref, p->create, on_created, cronjob);
	}
	if (p->status)
		keeper_write_status(k->keeper, key, cronjob, p->status);
	for (size_t i = 0; i < p->nevents; i++)
		events_note(keeper_events(k->keeper), cronjob, p->events[i].warning ? "Warning" : "Normal",
			    p->events[i].reason, "%s", p->events[i].message);
	if (p->again >= 0)
		keeper_look_after(k->keeper, key, clock_until_ms(p->again));
}

/* ---- what happens ---- */

static void plan(void *arg, const char *key, const json_t *cronjob)
{
	struct cronjobs *k = arg;
	const char *uid = jsonx_str_or(cronjob, "metadata.uid", "");
	auto_free const json_t **jobs = NULL;
	struct cron_view v = { .cronjob = cronjob, .now = clock_wall() };
	struct cron_plan p;

	if (!children_settled(k->jobs, uid)) {
		keeper_look_after(k->keeper, key, BEHIND_MS);
		return;
	}
	v.n = children_of(k->jobs, uid, &jobs);
	v.jobs = jobs;
	cron_plan(&v, &p);
	apply(k, key, cronjob, &p);
	cron_plan_done(&p);
}

static void on_job(void *arg, const char *key)
{
	struct cronjobs *k = arg;

	if (k->keeper)
		keeper_look(k->keeper, key);
}

static void on_synced(void *arg)
{
	struct cronjobs *k = arg;

	if (k->keeper)
		keeper_start(k->keeper);
}

static bool is_synced(void *arg)
{
	struct cronjobs *k = arg;

	return children_synced(k->jobs);
}

static const struct keeper_kind cronjob_kind = {
	.api_version = VERSION,
	.kind = "CronJob",
	.plural = "cronjobs",
	.component = "cronjob-controller",
	.plan = plan,
	.synced = is_synced,
};

static const struct children_kind job_kind = {
	.api_version = VERSION,
	.plural = "jobs",
	.owner = "CronJob",
	.change = on_job,
	.synced = on_synced,
};

struct cronjobs *cronjobs_new(struct client *c)
{
	struct cronjobs *k = xcalloc(1, sizeof(*k));

	k->jobs = children_new(c, &job_kind, k);
	k->keeper = keeper_new(c, NULL, &cronjob_kind, k);
	return k;
}

void cronjobs_free(struct cronjobs *k)
{
	if (!k)
		return;
	keeper_free(k->keeper);
	children_free(k->jobs);
	free(k);
}

struct workqueue_counts cronjobs_counts(const struct cronjobs *k)
{
	return keeper_counts(k->keeper);
}
