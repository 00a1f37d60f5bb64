// SPDX-License-Identifier: Apache-2.0
/* cronjob.c - does what cronjob_plan.c decides: one plan at a time for each CronJob
 *
 * Jobs are kept by the uid of the CronJob that controls them.  A Job that was started but is not seen yet is waited
 * for: without it the plan would take it for missing.
 */
#include "control/cronjob.h"

#include "base/clock.h"
#include "base/jsonx.h"
#include "base/log.h"
#include "base/map.h"
#include "base/mem.h"
#include "client/events.h"
#include "control/calls.h"
#include "control/cronjob_plan.h"
#include "control/pod_facts.h"

#define VERSION   "batch/v1"
#define COMPONENT "cronjob-controller"
#define BEHIND_MS 1000

struct cronjobs {
	struct client *client;
	struct events *events;
	struct informer *cronjobs, *jobs;
	struct map children; /* uid of a CronJob -> json object {Job's uid: Job} */
	struct map awaited;  /* "ns/name" -> "ns/name" of a Job that was started */
	struct workqueue *queue;
	struct calls *calls;
};

static char *key_of(const json_t *obj)
{
	return xasprintf("%s/%s", jsonx_str_or(obj, "metadata.namespace", ""), jsonx_str_or(obj, "metadata.name", ""));
}

static const json_t *find(const struct informer *i, const char *key)
{
	auto_free char *ns = xstrdup(key);
	char *name = strchr(ns, '/');

	*name++ = '\0';
	return informer_find(i, ns, name);
}

static void decref(void *v)
{
	json_decref(v);
}

/* ---- writing ---- */

static void on_created(void *arg, const struct answer *a)
{
	struct cronjobs *k = arg;

	if (a->e->kind == ERR_NONE) {
		events_note(k->events, a->what, "Normal", "SuccessfulCreate", "Created job %s",
			    jsonx_str_or(a->obj, "metadata.name", ""));
		map_set(&k->awaited, a->key, key_of(a->obj));
	} else if (!a->e->ncauses || a->e->causes[0].kind != CAUSE_TERMINATING) {
		events_note(k->events, a->what, "Warning", "FailedCreate", "Error creating job: %s", a->e->text);
	}
}

/* What it carries is {"cronjob", "name"}. */
static void on_removed(void *arg, const struct answer *a)
{
	struct cronjobs *k = arg;
	const json_t *cronjob = json_object_get(a->what, "cronjob");

	if (a->e->kind == ERR_NONE)
		events_note(k->events, cronjob, "Normal", "SuccessfulDelete", "Deleted job %s",
			    jsonx_str_or(a->what, "name", ""));
	else if (a->e->kind != ERR_NOT_FOUND && a->e->kind != ERR_CONFLICT)
		events_note(k->events, cronjob, "Warning", "FailedDelete", "Deleted job: %s", a->e->text);
}

static void remove_job(struct cronjobs *k, const char *key, const json_t *cronjob, const json_t *job)
{
	struct ref ref = calls_ref(VERSION, "jobs", job);
	json_auto_t *options = json_pack("{s:s, s:{s:s}}", "propagationPolicy", "Background", "preconditions", "uid",
					 jsonx_str_or(job, "metadata.uid", ""));
	json_auto_t *what = json_pack("{s:O, s:s}", "cronjob", cronjob, "name", jsonx_str_or(job, "metadata.name", ""));

	calls_remove(k->calls, key, &ref, options, on_removed, what);
}

static void apply(struct cronjobs *k, const char *key, const json_t *cronjob, const struct cron_plan *p)
{
	for (size_t i = 0; i < p->nremove; i++)
		remove_job(k, key, cronjob, p->remove[i]);
	if (p->create) {
		struct ref ref = { .api_version = VERSION,
				   .plural = "jobs",
				   .ns = jsonx_str(cronjob, "metadata.namespace") };

		calls_create(k->calls, key, &ref, p->create, on_created, cronjob);
	}
	if (p->status) {
		struct ref ref = calls_ref(VERSION, "cronjobs", cronjob);
		json_auto_t *next = json_copy((json_t *)cronjob);

		ref.subresource = "status";
		json_object_set(next, "status", p->status);
		calls_update(k->calls, key, &ref, next, NULL, NULL);
	}
	for (size_t i = 0; i < p->nevents; i++)
		events_note(k->events, cronjob, p->events[i].warning ? "Warning" : "Normal", p->events[i].reason, "%s",
			    p->events[i].message);
	if (p->again >= 0)
		workqueue_add_after(k->queue, key, clock_until_ms(p->again));
}

/* ---- looking at one CronJob ---- */

static void plan(struct cronjobs *k, const char *key, const json_t *cronjob)
{
	json_t *children = map_find(&k->children, jsonx_str_or(cronjob, "metadata.uid", ""));
	auto_free const json_t **jobs = xcalloc(json_object_size(children) + 1, sizeof(*jobs));
	struct cron_view v = { .cronjob = cronjob, .jobs = jobs, .now = clock_wall() };
	struct cron_plan p;
	const char *uid;
	json_t *job;

	json_object_foreach (children, uid, job)
		jobs[v.n++] = job;
	cron_plan(&v, &p);
	apply(k, key, cronjob, &p);
	cron_plan_done(&p);
}

static void look(void *arg, const char *key)
{
	struct cronjobs *k = arg;
	const char *awaited = map_find(&k->awaited, key);
	json_auto_t *cronjob = NULL;

	if (calls_busy(k->calls, key))
		return; /* on_idle() comes back to it */
	cronjob = json_incref((json_t *)find(k->cronjobs, key));
	if (!cronjob) {
		workqueue_forget(k->queue, key);
		map_remove(&k->awaited, key);
		return;
	}
	if (awaited && !find(k->jobs, awaited)) {
		/* Once: one that went before it was seen will never come. */
		map_remove(&k->awaited, key);
		workqueue_add_after(k->queue, key, BEHIND_MS);
		return;
	}
	map_remove(&k->awaited, key);
	plan(k, key, cronjob);
}

static void on_idle(void *arg, const char *key, bool failed)
{
	struct cronjobs *k = arg;

	if (failed) {
		workqueue_retry(k->queue, key);
		return;
	}
	workqueue_forget(k->queue, key);
	workqueue_add(k->queue, key);
}

/* ---- what happens ---- */

static void on_cronjob(void *arg, const json_t *obj, const json_t *old)
{
	struct cronjobs *k = arg;
	auto_free char *key = key_of(obj ? obj : old);

	workqueue_add(k->queue, key);
}

static const json_t *cron_ref(const json_t *job)
{
	const json_t *ref = controller_of(job);

	return str_same(jsonx_str(ref, "kind"), "CronJob") ? ref : NULL;
}

static void put_child(struct cronjobs *k, const json_t *ref, const json_t *job, bool there)
{
	const char *owner = jsonx_str_or(ref, "uid", "");
	const char *uid = jsonx_str_or(job, "metadata.uid", "");
	json_t *children = map_find(&k->children, owner);
	auto_free char *key =
		xasprintf("%s/%s", jsonx_str_or(job, "metadata.namespace", ""), jsonx_str_or(ref, "name", ""));

	if (!children && there) {
		children = json_object();
		map_set(&k->children, owner, children);
	}
	if (there)
		json_object_set(children, uid, (json_t *)job);
	else
		json_object_del(children, uid);
	if (children && !json_object_size(children))
		map_remove(&k->children, owner);
	workqueue_add(k->queue, key);
}

static void on_job(void *arg, const json_t *obj, const json_t *old)
{
	struct cronjobs *k = arg;
	const json_t *ref = cron_ref(obj);
	const json_t *was = cron_ref(old);

	if (was)
		put_child(k, was, old, false);
	if (ref)
		put_child(k, ref, obj, true);
}

static void on_synced(void *arg)
{
	struct cronjobs *k = arg;

	if (k->cronjobs && k->jobs && informer_synced(k->cronjobs) && informer_synced(k->jobs))
		workqueue_start(k->queue);
}

struct cronjobs *cronjobs_new(struct client *c)
{
	struct cronjobs *k = xcalloc(1, sizeof(*k));

	k->client = c;
	k->events = events_new(c, COMPONENT, NULL);
	k->queue = workqueue_new(c->loop, look, k);
	k->calls = calls_new(c, on_idle, k);
	map_init(&k->children, decref);
	map_init(&k->awaited, free);
	k->cronjobs = informer_new(c, &(struct ref){ .api_version = VERSION, .plural = "cronjobs" }, NULL,
				   &(struct informer_handlers){ .change = on_cronjob, .synced = on_synced, .arg = k });
	k->jobs = informer_new(c, &(struct ref){ .api_version = VERSION, .plural = "jobs" }, NULL,
			       &(struct informer_handlers){ .change = on_job, .synced = on_synced, .arg = k });
	return k;
}

void cronjobs_free(struct cronjobs *k)
{
	if (!k)
		return;
	informer_free(k->cronjobs);
	informer_free(k->jobs);
	workqueue_free(k->queue);
	calls_free(k->calls);
	events_free(k->events);
	map_done(&k->children);
	map_done(&k->awaited);
	free(k);
}

struct workqueue_counts cronjobs_counts(const struct cronjobs *k)
{
	return workqueue_counts(k->queue);
}
