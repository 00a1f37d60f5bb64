// SPDX-License-Identifier: Apache-2.0
/* training.c - does what training_plan.c decides: one plan at a time for each job
 *
 * When to look at a job is keeper.c's to know; its Services are followed here, and the ConfigMaps of those frameworks
 * that need one.  A status carries the revision it was decided on, so a decision made on old knowledge fails and is
 * made anew.
 */
#include "control/training.h"

#include "base/clock.h"
#include "base/jsonx.h"
#include "base/map.h"
#include "base/mem.h"
#include "control/children.h"
#include "control/gated.h"
#include "control/keeper.h"
#include "control/training_plan.h"

#define MANAGER "kubeflow.org/training-operator" /* what managedBy says of jobs that are ours */

struct training_jobs {
	const struct training_form *form; /* the kind's; each job may be of an older one */
	struct owned *owned;
	struct keeper_kind kind;
	struct children_kind service_kind, config_kind;
	struct children *services;
	struct children *configs; /* or NULL */
	struct map waits;         /* key of a job -> what was last said of who cannot start */
	struct keeper *keeper;
	struct gate *gate; /* in front of the cluster, or NULL */
};

/* A job while it is looked at. */
struct look {
	struct training_jobs *k;
	const char *key;
	const struct training_job *job;
};

/* ---- writing ---- */

static void refused(struct training_jobs *k, const struct answer *a, const json_t *job, const char *noun)
{
	auto_free char *reason = xasprintf("FailedCreate%s", noun);

	/* A namespace on its way out takes nothing new, and the job goes with it. */
	if (a->e->ncauses && a->e->causes[0].kind == CAUSE_TERMINATING)
		return;
	keeper_refused(k->keeper, a->key, a->e->text);
	events_note(keeper_events(k->keeper), job, "Warning", reason, "Error creating: %s", a->e->text);
}

/* What it carries is the job. */
static void on_service(void *arg, const struct answer *a)
{
	struct training_jobs *k = keeper_arg(arg);

	if (a->e->kind != ERR_NONE) {
		refused(k, a, a->what, "Service");
		return;
	}
	children_expect(k->services, jsonx_str_or(a->what, "metadata.uid", ""), a->obj);
	events_note(keeper_events(k->keeper), a->what, "Normal", "SuccessfulCreateService", "Created service: %s",
		    jsonx_str_or(a->obj, "metadata.name", ""));
}

static void make_service(const struct look *l, const struct training_piece *p)
{
	struct ref ref = { .api_version = "v1", .plural = "services", .ns = l->job->ns };
	json_auto_t *service = training_service(l->job, p->role, p->index);

	calls_create(keeper_calls(l->k->keeper), l->key, &ref, service, on_service, l->job->obj);
}

static void on_service_gone(void *arg, const struct answer *a)
{
	struct training_jobs *k = keeper_arg(arg);

	if (a->e->kind == ERR_NONE)
		events_note(keeper_events(k->keeper), json_object_get(a->what, "job"), "Normal",
			    "SuccessfulDeleteService", "Deleted service: %s", jsonx_str_or(a->what, "name", ""));
}

static void drop_service(const struct look *l, const json_t *service)
{
	struct ref ref = calls_ref("v1", "services", service);
	json_auto_t *options =
		json_pack("{s:{s:s}}", "preconditions", "uid", jsonx_str_or(service, "metadata.uid", ""));
	json_auto_t *what = json_pack("{s:O, s:s}", "job", l->job->obj, "name", ref.name);

	calls_remove(keeper_calls(l->k->keeper), l->key, &ref, options, on_service_gone, what);
}

static bool make_need(struct training_jobs *k, const char *key, const json_t *obj, int step);

/* What it carries is {"job", "step"}.  What is there already is as good, but for the last, which must be ours. */
static void on_need(void *arg, const struct answer *a)
{
	struct training_jobs *k = keeper_arg(arg);
	const json_t *job = json_object_get(a->what, "job");
	bool there = a->e->kind == ERR_NONE || a->e->kind == ERR_EXISTS;
	bool more = there && make_need(k, a->key, job, (int)jsonx_int_or(a->what, "step", 0) + 1);

	if (a->e->kind != ERR_NONE && !more)
		refused(k, a, job, "");
	else if (!more)
		children_expect(k->configs, jsonx_str_or(job, "metadata.uid", ""), a->obj);
}

/* False if there is no such step. */
static bool make_need(struct training_jobs *k, const char *key, const json_t *obj, int step)
{
	struct training_job job = training_job(training_form(k->form->kind, obj), obj);
	struct ref ref = { .ns = job.ns };
	json_auto_t *need = job.form->need(&job, step, &ref.api_version, &ref.plural);
	json_auto_t *what = json_pack("{s:O, s:i}", "job", obj, "step", step);

	if (need)
		calls_create(keeper_calls(k->keeper), key, &ref, need, on_need, what);
	training_job_done(&job);
	return need != NULL;
}

/* A deadline that is over: the kubelet ends the pod and keeps it. */
static void stop_pod(const struct look *l, const struct pod_facts *p)
{
	struct ref ref = calls_ref("v1", "pods", p->obj);
	json_auto_t *patch =
		json_pack("{s:{s:s}, s:{s:i}}", "metadata", "uid", p->uid, "spec", "activeDeadlineSeconds", 1);

	calls_patch(keeper_calls(l->k->keeper), l->key, &ref, "merge", patch, NULL, NULL);
}

/* Once for each change: it may be so for days. */
static void tell_waits(const struct look *l, const char *waits)
{
	struct map *told = &l->k->waits;

	if (str_same(map_find(told, l->key), waits))
		return;
	if (!waits) {
		map_remove(told, l->key);
		return;
	}
	map_set(told, l->key, xstrdup(waits));
	events_note(keeper_events(l->k->keeper), l->job->obj, "Warning", "Waiting", "%s", waits);
}

static void apply(const struct look *l, const struct training_plan *p)
{
	struct keeper *keeper = l->k->keeper;
	const json_t *obj = l->job->obj;

	for (size_t i = 0; i < p->nservices; i++)
		make_service(l, &p->services[i]);
	if (p->prepare)
		make_need(l->k, l->key, obj, 0);
	for (size_t i = 0; i < p->npods; i++) {
		json_auto_t *pod = training_pod(l->job, p->pods[i].role, p->pods[i].index, p->pods[i].attempt);

		gated_close(l->k->gate, l->job, pod);
		keeper_create_pod(keeper, l->key, obj, pod);
	}
	for (size_t i = 0; i < p->nremove; i++)
		keeper_remove_pod(keeper, l->key, obj, p->remove[i]);
	for (size_t i = 0; i < p->nstop; i++)
		stop_pod(l, p->stop[i]);
	for (size_t i = 0; i < p->ndrop; i++)
		drop_service(l, p->drop[i]);
	if (p->status)
		keeper_write_status(keeper, l->key, obj, p->status);
	for (size_t i = 0; i < p->nevents; i++)
		events_note(keeper_events(keeper), obj, p->events[i].warning ? "Warning" : "Normal",
			    p->events[i].reason, "%s", p->events[i].message);
	tell_waits(l, p->waits);
	if (p->expired)
		keeper_expire(keeper, l->key, obj);
	if (p->again >= 0)
		keeper_look_after(keeper, l->key, clock_until_ms(p->again));
}

/* ---- looking at one job ---- */

static bool is_ours(const json_t *job)
{
	return streq(jsonx_str_or(job, "spec.runPolicy.managedBy", MANAGER), MANAGER);
}

/* Names of v1alpha1 have an id in them, and the spec says which; true if it does not yet. */
static bool write_id(const struct look *l)
{
	struct ref ref = calls_ref(TRAINING_VERSION, l->k->form->plural, l->job->obj);
	json_auto_t *patch = json_pack("{s:{s:s}}", "spec", "RuntimeId", l->job->id);

	if (!*l->job->id || *jsonx_str_or(l->job->spec, "RuntimeId", "") ||
	    jsonx_at(l->job->obj, "metadata.deletionTimestamp"))
		return false;
	calls_patch(keeper_calls(l->k->keeper), l->key, &ref, "merge", patch, NULL, NULL);
	return true;
}

static bool has_config(const struct training_jobs *k, const char *uid)
{
	const json_t **configs = NULL;
	size_t n = k->configs ? children_of(k->configs, uid, &configs) : 0;

	free(configs);
	return n > 0;
}

static void plan_job(const struct look *l)
{
	struct training_jobs *k = l->k;
	struct owned_list own = owned_by(k->owned, l->job->uid);
	auto_free const struct pod_facts **pods = xcalloc(own.n + 1, sizeof(*pods));
	size_t most = keeper_failures(k->keeper, l->key) ? 1 : TRAINING_CREATE_MOST;
	const json_t **services = NULL;
	struct training_view v = { .job = l->job,
				   .pods = pods,
				   .n = own.n,
				   .nservices = children_of(k->services, l->job->uid, &services),
				   .prepared = has_config(k, l->job->uid),
				   .now = clock_wall(),
				   .create_most = most,
				   .refused = keeper_create_error(k->keeper, l->key) };
	struct training_plan p;

	for (size_t i = 0; i < own.n; i++)
		pods[i] = &own.pods[i]->facts;
	v.services = services;
	gated_view(k->gate, &v);
	training_plan(&v, &p);
	if (v.held)
		gated_hold_all(k->gate, &v, &p);
	else
		gated_hold(k->gate, l->job, most, &p);
	apply(l, &p);
	training_plan_done(&p);
	free(services);
}

static void plan(void *arg, const char *key, const json_t *obj)
{
	struct training_jobs *k = arg;
	struct training_job job = training_job(training_form(k->form->kind, obj), obj);
	struct look l = { .k = k, .key = key, .job = &job };

	if (!children_settled(k->services, job.uid) || (k->configs && !children_settled(k->configs, job.uid)))
		keeper_look_after(k->keeper, key, 1000); /* what it waits for comes with a look of its own */
	else if (!write_id(&l))
		plan_job(&l);
	training_job_done(&job);
}

/* ---- what happens ---- */

static void on_child(void *arg, const char *key)
{
	struct training_jobs *k = arg;

	if (k->keeper)
		keeper_look(k->keeper, key);
}

static void on_synced(void *arg)
{
	struct training_jobs *k = arg;

	if (k->keeper)
		keeper_start(k->keeper);
}

static bool is_synced(void *arg)
{
	const struct training_jobs *k = arg;

	return k->services && children_synced(k->services) &&
	       (!k->config_kind.plural || (k->configs && children_synced(k->configs)));
}

static enum keeper_when on_pod(void *arg, const char *key, const struct pod_facts *now, const struct pod_facts *old)
{
	(void)arg;
	(void)key;
	return !now || !old || now->phase != old->phase || now->deleting != old->deleting ||
			       now->restarts != old->restarts || now->finished != old->finished ||
			       now->silent_since != old->silent_since || !jsonx_equal(now->stuck, old->stuck)
		       ? KEEPER_NOW
		       : KEEPER_NOT;
}

/* Nobody plans for a job that is gone. */
static void forget_wishes(struct training_jobs *k, const json_t *obj)
{
	struct training_job job = training_job(training_form(k->form->kind, obj), obj);

	gated_forget(k->gate, &job);
	training_job_done(&job);
}

static void on_job(void *arg, const char *key, const json_t *obj, const json_t *old)
{
	struct training_jobs *k = arg;

	if (obj)
		return;
	map_remove(&k->waits, key);
	forget_wishes(k, old);
}

/* Nobody's pods stay nobody's. */
static void on_orphan(void *arg, const struct pod_facts *pod)
{
	(void)arg;
	(void)pod;
}

static struct children_kind children_kind(const struct training_jobs *k, const char *plural)
{
	return (struct children_kind){
		.api_version = "v1", .plural = plural, .owner = k->form->kind, .change = on_child, .synced = on_synced
	};
}

struct training_jobs *training_jobs_new(struct client *c, struct owned *owned, const char *kind)
{
	struct training_jobs *k = xcalloc(1, sizeof(*k));

	k->form = training_form(kind, NULL);
	k->owned = owned;
	map_init(&k->waits, free);
	k->kind = (struct keeper_kind){ .api_version = TRAINING_VERSION,
					.kind = k->form->kind,
					.plural = k->form->plural,
					.component = k->form->operator,
					.no_selector = true,
					.noun = "Pod",
					.plan = plan,
					.changed = on_job,
					.pod_changed = on_pod,
					.orphan = on_orphan,
					.is_ours = is_ours,
					.synced = is_synced };
	k->service_kind = children_kind(k, "services");
	k->services = children_new(c, &k->service_kind, k);
	if (k->form->need) {
		k->config_kind = children_kind(k, "configmaps");
		k->configs = children_new(c, &k->config_kind, k);
	}
	k->keeper = keeper_new(c, owned, &k->kind, k);
	return k;
}

static void on_gate(void *arg, const char *key)
{
	struct training_jobs *k = arg;
	const json_t *job;
	size_t pos = 0;

	if (key) {
		keeper_look(k->keeper, key);
		return;
	}
	while (keeper_next(k->keeper, &pos, &job)) {
		auto_free char *one = keeper_key(job);

		keeper_look(k->keeper, one);
	}
}

void training_jobs_gate(struct training_jobs *k, struct gate *gate)
{
	struct gate_follower f = { .kind = k->form->kind, .plural = k->form->plural, .look = on_gate, .arg = k };

	k->gate = gate;
	gate->ops->follow(gate, &f);
}

void training_jobs_free(struct training_jobs *k)
{
	if (!k)
		return;
	if (k->gate)
		k->gate->ops->unfollow(k->gate, k);
	keeper_free(k->keeper);
	children_free(k->services);
	children_free(k->configs);
	map_done(&k->waits);
	free(k);
}

struct workqueue_counts training_jobs_counts(const struct training_jobs *k)
{
	return keeper_counts(k->keeper);
}
