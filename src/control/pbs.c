// SPDX-License-Identifier: Apache-2.0
/* pbs.c - does what pbs_plan.c decides, for one PBS job at a time
 *
 * When to look at a job is keeper.c's to know.  Besides its pods a job's fate hangs on other jobs (pbs_book.c), on its
 * Queue and on the PBSServer; a change of one of those has the jobs looked at that it concerns.
 */
#include "control/pbs.h"

#include "base/clock.h"
#include "base/jsonx.h"
#include "base/mem.h"
#include "control/keeper.h"
#include "control/pbs_abroad.h"
#include "control/pbs_book.h"
#include "control/pbs_gate.h"
#include "control/pbs_launch.h"
#include "control/pbs_parts.h"
#include "control/pbs_stops.h"
#include "kinds/queue.h"
#include "kinds/walltime.h"

#define SERVER         "default"
#define LAUNCH_SECONDS 10
#define UNHEARD_MS     3000  /* until a pod is told once more */
#define ACCOUNT_MS     10000 /* until the users' database is asked again */

struct pbs_jobs {
	struct client *client;
	struct owned *owned;
	struct informer *queues, *servers, *nodes;
	struct pbs_book book;
	struct pbs_slots slots;
	struct keeper *keeper;
	struct pbs_abroad_config abroad; /* .account is NULL if pods are at home */
	struct pbs_stops *stops;         /* NULL at home */
	struct pbs_launch *launch;       /* or NULL */
	struct pbs_gate gate;            /* in front of the cluster */
	struct map strays;               /* key -> uid of a job that is gone and may have pods abroad */
};

/* A job while it is looked at. */
struct look {
	struct pbs_jobs *k;
	const char *key;
	const json_t *job;
};

/* ---- writing ---- */

/* `seconds` that it stood before are for nodes of ours; -1: it is none. */
static void write_mark(struct pbs_jobs *k, const char *key, const json_t *pod, bool suspend, int64_t seconds)
{
	struct ref ref = calls_ref("v1", "pods", pod);
	json_auto_t *patch = json_pack("{s:{s:s, s:{s:o}}}", "metadata", "uid", jsonx_str_or(pod, "metadata.uid", ""),
				       "annotations", PBS_SUSPEND, suspend ? json_string("true") : json_null());

	if (seconds >= 0)
		json_object_set_new(jsonx_at(patch, "metadata.annotations"), PBS_SUSPENDED,
				    jsonx_stringf("%lld", (long long)seconds));
	calls_patch(keeper_calls(k->keeper), key, &ref, "merge", patch, NULL, NULL);
}

static void on_heard(void *arg, const char *key, const json_t *pod, bool suspend)
{
	write_mark(arg, key, pod, suspend, -1);
}

static void on_unheard(void *arg, const char *key, const char *why)
{
	struct pbs_jobs *k = arg;
	const json_t *job = keeper_find(k->keeper, key);

	if (!job)
		return;
	events_note(keeper_events(k->keeper), job, "Warning", "SignalFailed", "Suspending or resuming it: %s", why);
	keeper_look_after(k->keeper, key, UNHEARD_MS);
}

/* The nodes here obey the mark. */
static void mark_pod(const struct look *l, const struct pbs_mark *m)
{
	if (l->k->stops)
		pbs_stops_mark(l->k->stops, l->key, m);
	else
		write_mark(l->k, l->key, m->pod->obj, m->suspend, m->seconds);
}

/* The scheduler goes by the annotation. */
static void limit_pod(const struct look *l, const struct pbs_limit *m)
{
	struct ref ref = calls_ref("v1", "pods", m->pod->obj);
	json_auto_t *patch = json_pack("{s:{s:s, s:{}}}", "metadata", "uid", m->pod->uid, "annotations");
	json_t *notes = jsonx_at(patch, "metadata.annotations");

	if (m->seconds) {
		jsonx_set_new(patch, "spec.activeDeadlineSeconds", json_integer(m->seconds));
		char text[WALLTIME_TEXT];

		walltime_text(m->seconds, text);
		json_object_set_new(notes, WALLTIME_ANNOTATION, json_string(text));
	}
	if (m->cput)
		json_object_set_new(notes, PBS_CPUT_NOTE, jsonx_string(m->cput));
	calls_patch(keeper_calls(l->k->keeper), l->key, &ref, "merge", patch, NULL, NULL);
}

static void tell_pod(const struct look *l, const struct pbs_tell *t)
{
	struct ref ref = calls_ref("v1", "pods", t->pod->obj);
	json_auto_t *patch = json_pack("{s:{s:s, s:{s:o}}}", "metadata", "uid", t->pod->uid, "annotations",
				       PBS_NODES_NOTE, jsonx_string(t->nodes));

	calls_patch(keeper_calls(l->k->keeper), l->key, &ref, "merge", patch, NULL, NULL);
}

static void release(const struct look *l)
{
	struct ref ref = calls_ref(PBS_VERSION, PBS_PLURAL, l->job);
	json_t *left = json_array();
	json_auto_t *patch =
		json_pack("{s:{s:O, s:O, s:o}}", "metadata", "uid", jsonx_at(l->job, "metadata.uid"), "resourceVersion",
			  jsonx_at(l->job, "metadata.resourceVersion"), "finalizers", left);
	json_t *f;
	size_t i;

	json_array_foreach (jsonx_at(l->job, "metadata.finalizers"), i, f)
		if (!str_same(json_string_value(f), PBS_FINALIZER))
			json_array_append(left, f);
	calls_patch(keeper_calls(l->k->keeper), l->key, &ref, "merge", patch, NULL, NULL);
}

static void apply(const struct look *l, const struct pbs_plan *p)
{
	struct keeper *keeper = l->k->keeper;

	for (size_t i = 0; i < p->nmake; i++) {
		json_auto_t *pod = pbs_pod(p->make[i].order, p->make[i].index, p->make[i].rank, p->make[i].run);

		pbs_gate_close(&l->k->gate, pod);
		keeper_create_pod(keeper, l->key, l->job, pod);
	}
	for (size_t i = 0; i < p->ndrop; i++)
		keeper_remove_pod_within(keeper, l->key, l->job, p->drop[i].pod, p->drop[i].grace);
	for (size_t i = 0; i < p->nmark; i++)
		mark_pod(l, &p->mark[i]);
	for (size_t i = 0; i < p->nlimit; i++)
		limit_pod(l, &p->limit[i]);
	for (size_t i = 0; i < p->ntell; i++)
		tell_pod(l, &p->tell[i]);
	if (p->status)
		keeper_write_status(keeper, l->key, l->job, p->status);
	for (size_t i = 0; i < p->nevents; i++)
		events_note(keeper_events(keeper), l->job, p->events[i].warning ? "Warning" : "Normal",
			    p->events[i].reason, "%s", p->events[i].message);
	if (p->expired)
		keeper_expire(keeper, l->key, l->job);
	if (p->released)
		release(l);
	if (p->again >= 0)
		keeper_look_after(keeper, l->key, clock_until_ms(p->again));
}

/* ---- other jobs ---- */

static const json_t *find_job(void *arg, int64_t number)
{
	const struct pbs_jobs *k = arg;
	const struct pbs_entry *e = pbs_book_find(&k->book, number);

	return e && e->key ? keeper_find(k->keeper, e->key) : NULL;
}

static bool find_past(void *arg, int64_t number, struct pbs_standing *ret)
{
	const struct pbs_jobs *k = arg;
	const struct pbs_entry *e = pbs_book_find(&k->book, number);

	if (!e || !e->past)
		return false;
	*ret = e->standing;
	return true;
}

/* Jobs that name this one; the caller frees the array. */
static size_t who_asks(const struct look *l, const json_t ***ret)
{
	const struct pbs_entry *e = pbs_book_find(&l->k->book, pbs_number(l->job));
	size_t n = 0;
	size_t pos = 0;
	const char *key;
	void *value;

	*ret = xcalloc(e ? e->asking.n + 1 : 1, sizeof(**ret));
	while (e && map_next(&e->asking, &pos, &key, &value)) {
		const json_t *job = keeper_find(l->k->keeper, key);

		if (job)
			(*ret)[n++] = job;
	}
	return n;
}

/* Whether somebody still needs to know how it ended. */
static bool is_wanted(const struct look *l, const json_t *const *asking, size_t n)
{
	int64_t number = pbs_number(l->job);
	size_t pos = 0;
	int64_t other;
	bool before;

	for (size_t i = 0; i < n; i++)
		if (!pbs_depend_noted(asking[i], number))
			return true;
	while (pbs_depend_next(l->job, &pos, &other, &before)) {
		const json_t *target = before ? find_job(l->k, other) : NULL;

		if (target && !pbs_depend_noted(target, number))
			return true;
	}
	return false;
}

/* Its place among its owner's jobs: its own, or that of the job it has changed places with. */
static void place_of(const struct look *l, char *out, size_t n)
{
	int64_t rank = jsonx_int_or(l->job, "spec.rank", pbs_number(l->job));
	const struct pbs_entry *e = pbs_book_find(&l->k->book, rank);
	int64_t created = e && e->created ? e->created : time_at(l->job, "metadata.creationTimestamp");

	snprintf(out, n, "%lld/%lld", (long long)created, (long long)rank);
}

/* ---- looking at one job ---- */

static const json_t *spec_in(const struct informer *i, const char *name)
{
	return json_object_get(informer_find(i, "", name), "spec");
}

static const char *host_of(void *arg, const char *node)
{
	const json_t *obj = informer_find(((const struct pbs_jobs *)arg)->nodes, "", node);

	return obj ? pbs_host_of(obj) : node;
}

static const char *node_named(void *arg, const char *word)
{
	return jsonx_str(informer_find(((const struct pbs_jobs *)arg)->nodes, "", word), "metadata.name");
}

static const char *why_held(void *arg, const json_t *job, int index, int run)
{
	return pbs_gate_why(&((const struct pbs_jobs *)arg)->gate, job, index, run);
}

/* Why it has no pods. */
static const char *why_refused(const struct pbs_jobs *k, const char *key)
{
	const char *error = keeper_create_error(k->keeper, key);

	return error || !k->abroad.away ? error : k->abroad.away(k->abroad.arg);
}

static bool is_shared(void *arg, const char *path)
{
	const struct pbs_jobs *k = arg;

	return k->abroad.shared(k->abroad.arg, path);
}

/* Whether a pod is in the namespace of the key.  Who may make pods in another one can give them any owner. */
static bool is_in(const struct pod_facts *p, const char *key)
{
	const char *ns = jsonx_str_or(p->obj, "metadata.namespace", "");
	size_t n = strlen(ns);

	return strncmp(key, ns, n) == 0 && key[n] == '/';
}

/* Pods with a service account that is not there yet would be refused. */
static void await_launch(struct pbs_jobs *k, const char *key, const json_t *job, struct pbs_plan *p)
{
	auto_free char *why = NULL;
	const char *said = NULL;

	if (!k->launch || !p->nmake || p->make[0].order->nodes.count < 2 ||
	    pbs_launch_ready(k->launch, jsonx_str_or(job, "metadata.namespace", ""), key, &said))
		return;
	p->nmake = 0;
	if (!said)
		return;
	why = xasprintf("Not Running: %s", said);
	json_object_set_new(p->status, "comment", jsonx_string(why));
	p->again = p->again < 0 || p->again > LAUNCH_SECONDS ? LAUNCH_SECONDS : p->again;
}

static void plan_with(struct pbs_jobs *k, const struct pbs_account *account, const char *key, const json_t *job)
{
	struct pbs_abroad abroad = {
		.account = account, .launch = k->abroad.launch, .node = node_named, .shared = is_shared, .arg = k
	};
	struct look l = { .k = k, .key = key, .job = job };
	struct owned_list own = owned_by(k->owned, jsonx_str_or(job, "metadata.uid", ""));
	auto_free const struct pod_facts **pods = xcalloc(own.n + 1, sizeof(*pods));
	struct pbs_settings set = pbs_settings_of(spec_in(k->servers, SERVER), spec_in(k->queues, pbs_queue(job)));
	auto_free const json_t **asking = NULL;
	size_t nasking = who_asks(&l, &asking);
	struct pbs_others others = {
		.find = find_job, .past = find_past, .arg = k, .before = asking, .nbefore = nasking
	};
	struct pbs_judgement judgement;
	size_t most = keeper_failures(k->keeper, key) ? 1 : PBS_CREATE_MOST;
	char place[64];
	struct pbs_view v = { .job = job,
			      .pods = pods,
			      .set = &set,
			      .others = &judgement,
			      .host = host_of,
			      .held = why_held,
			      .arg = k,
			      .slots = &k->slots,
			      .place = place,
			      .wanted = is_wanted(&l, asking, nasking),
			      .now = clock_wall(),
			      .create_most = pbs_gate_most(&k->gate, most),
			      .refused = why_refused(k, key) };
	struct pbs_plan p;

	if (k->abroad.account)
		set.abroad = &abroad;
	place_of(&l, place, sizeof(place));
	for (size_t i = 0; i < own.n; i++)
		if (is_in(&own.pods[i]->facts, key))
			pods[v.n++] = &own.pods[i]->facts;
	pbs_judge(job, &others, &judgement);
	pbs_plan(&v, &p);
	pbs_gate_hold(&k->gate, key, job, most, &p);
	await_launch(k, key, job, &p);
	apply(&l, &p);
	pbs_plan_done(&p);
	pbs_judgement_done(&judgement);
}

static void plan(void *arg, const char *key, const json_t *job)
{
	struct pbs_jobs *k = arg;
	const struct pbs_account *account = NULL;

	if (k->abroad.account && k->abroad.account(k->abroad.arg, jsonx_str_or(job, "spec.owner", ""), &account) < 0)
		keeper_look_after(k->keeper, key, ACCOUNT_MS);
	else
		plan_with(k, account, key, job);
}

/* ---- what happens ---- */

static void look_at_others(struct pbs_jobs *k, const json_t *job)
{
	const struct pbs_entry *e = pbs_book_find(&k->book, pbs_number(job));
	size_t pos = 0;
	const char *key;
	void *value;
	int64_t number;
	bool before;

	while (e && map_next(&e->asking, &pos, &key, &value))
		keeper_look(k->keeper, key);
	pos = 0;
	while (pbs_depend_next(job, &pos, &number, &before)) {
		const struct pbs_entry *other = pbs_book_find(&k->book, number);

		if (other && other->key)
			keeper_look(k->keeper, other->key);
	}
}

static void hold_slots(struct pbs_jobs *k, const json_t *job, const json_t *of, int index, bool runs)
{
	char holder[600];

	pbs_holder(job, index, holder, sizeof(holder));
	pbs_slots_hold(&k->slots, holder, runs ? jsonx_str(of, "execHost") : NULL);
}

static bool runs(const json_t *status)
{
	return strchr("RSE", *jsonx_str_or(status, "state", "Q")) != NULL;
}

static void hold_all(struct pbs_jobs *k, const json_t *job, bool on)
{
	const json_t *status = json_object_get(job, "status");
	json_t *entry;
	size_t i;

	if (!json_object_get(json_object_get(job, "spec"), "array")) {
		hold_slots(k, job, status, PBS_PLAIN, on && runs(status));
		return;
	}
	json_array_foreach (json_object_get(status, "active"), i, entry)
		hold_slots(k, job, entry, (int)jsonx_int_or(entry, "index", 0), on && runs(entry));
}

/* Nobody else takes them away on a cluster that does not know their job: keeper_kind.gone. */
static bool sweep(void *arg, const char *key)
{
	struct pbs_jobs *k = arg;
	const char *uid = map_find(&k->strays, key);
	struct owned_list own = owned_by(k->owned, uid ? uid : "");
	size_t left = 0;

	for (size_t i = 0; i < own.n; i++) {
		const struct pod_facts *p = &own.pods[i]->facts;
		struct ref ref = calls_ref("v1", "pods", p->obj);
		json_auto_t *options = json_pack("{s:{s:s}}", "preconditions", "uid", p->uid);

		left += is_in(p, key);
		if (!p->deleting && is_in(p, key))
			calls_remove(keeper_calls(k->keeper), key, &ref, options, NULL, NULL);
	}
	if (!left)
		map_remove(&k->strays, key);
	return left > 0;
}

static void note_stray(struct pbs_jobs *k, const char *key, const char *uid)
{
	if (k->abroad.account && uid)
		map_set(&k->strays, key, xstrdup(uid));
}

static void on_job(void *arg, const char *key, const json_t *job, const json_t *old)
{
	struct pbs_jobs *k = arg;

	if (!job) {
		note_stray(k, key, jsonx_str(old, "metadata.uid"));
		pbs_gate_forget(&k->gate, key);
	}
	pbs_book_change(&k->book, key, job, old);
	if (job && old && json_equal(json_object_get(job, "status"), json_object_get(old, "status")))
		return;
	if (old)
		hold_all(k, old, false);
	if (job)
		hold_all(k, job, true);
	if (k->keeper && keeper_synced(k->keeper))
		look_at_others(k, job ? job : old);
}

static bool said_otherwise(const struct pod_facts *now, const struct pod_facts *old)
{
	static const char notes[] = "metadata.annotations";

	return !streq(pbs_pod_waits(now), pbs_pod_waits(old)) ||
	       !json_equal(json_object_get(jsonx_at(now->obj, notes), PBS_SUSPEND),
			   json_object_get(jsonx_at(old->obj, notes), PBS_SUSPEND)) ||
	       !json_equal(jsonx_at(now->obj, "status.containerStatuses"),
			   jsonx_at(old->obj, "status.containerStatuses"));
}

static enum keeper_when on_pod(void *arg, const char *key, const struct pod_facts *now, const struct pod_facts *old)
{
	struct pbs_jobs *k = arg;

	if (now && keeper_synced(k->keeper) && !keeper_find(k->keeper, key))
		note_stray(k, key, jsonx_str(controller_of(now->obj), "uid"));
	if (!now || !old || now->phase != old->phase || now->deleting != old->deleting ||
	    now->assigned != old->assigned || now->finished != old->finished)
		return KEEPER_NOW;
	return said_otherwise(now, old) ? KEEPER_SOON : KEEPER_NOT;
}

static void on_orphan(void *arg, const struct pod_facts *pod)
{
	(void)arg;
	(void)pod;
}

static void look_at_all(struct pbs_jobs *k)
{
	const json_t *job;
	size_t pos = 0;

	while (keeper_next(k->keeper, &pos, &job)) {
		auto_free char *key = keeper_key(job);

		keeper_look(k->keeper, key);
	}
}

/* A queue's or the server's settings. */
static void on_setting(void *arg, const json_t *obj, const json_t *old)
{
	struct pbs_jobs *k = arg;

	if (k->keeper && !json_equal(json_object_get(obj, "spec"), json_object_get(old, "spec")))
		look_at_all(k);
}

static void on_launch(void *arg, const char *key)
{
	keeper_look(((struct pbs_jobs *)arg)->keeper, key);
}

/* "namespace/name", and behind it which run. */
static void on_gate(void *arg, const char *run)
{
	struct pbs_jobs *k = arg;
	const char *name = run ? strchr(run, '/') : NULL;
	auto_free char *key = name ? xstrndup(run, (size_t)(name + 1 - run) + strcspn(name + 1, "/")) : NULL;

	if (key)
		keeper_look(k->keeper, key);
	else
		look_at_all(k);
}

static void on_synced(void *arg)
{
	struct pbs_jobs *k = arg;

	if (k->keeper)
		keeper_start(k->keeper);
}

static bool is_synced(void *arg)
{
	const struct pbs_jobs *k = arg;

	return k->queues && informer_synced(k->queues) && k->servers && informer_synced(k->servers) && k->nodes &&
	       informer_synced(k->nodes);
}

/* Pods of jobs that went while nobody looked. */
static void on_started(void *arg)
{
	struct pbs_jobs *k = arg;
	const struct owned_pod *p;
	size_t pos = 0;

	while (k->abroad.account && owned_next(k->owned, &pos, &p)) {
		const json_t *ref = controller_of(p->facts.obj);
		auto_free char *key = xasprintf("%s/%s", jsonx_str_or(p->facts.obj, "metadata.namespace", ""),
						jsonx_str_or(ref, "name", ""));

		if (!str_same(jsonx_str(ref, "kind"), PBS_KIND) || keeper_find(k->keeper, key))
			continue;
		note_stray(k, key, jsonx_str(ref, "uid"));
		keeper_look(k->keeper, key);
	}
}

static const struct keeper_kind pbs_kind = {
	.api_version = PBS_VERSION,
	.kind = PBS_KIND,
	.plural = PBS_PLURAL,
	.component = "pbsjob-controller",
	.no_selector = true,
	.quiet = true,
	.plan = plan,
	.changed = on_job,
	.pod_changed = on_pod,
	.orphan = on_orphan,
	.synced = is_synced,
	.started = on_started,
	.gone = sweep,
};

struct pbs_jobs *pbs_jobs_new(struct client *c, struct owned *owned)
{
	struct pbs_jobs *k = xcalloc(1, sizeof(*k));
	struct informer_handlers h = { .change = on_setting, .synced = on_synced, .arg = k };
	/* What runs keeps the names that it was started with. */
	struct informer_handlers nodes = { .synced = on_synced, .arg = k };

	k->client = c;
	k->owned = owned;
	pbs_book_init(&k->book);
	pbs_slots_init(&k->slots);
	map_init(&k->strays, free);
	pbs_gate_init(&k->gate, NULL);
	k->queues = informer_new(c, &(struct ref){ .api_version = PBS_VERSION, .plural = "queues" }, NULL, &h);
	k->servers = informer_new(c, &(struct ref){ .api_version = PBS_VERSION, .plural = "pbsservers" }, NULL, &h);
	k->nodes = informer_new(c, &(struct ref){ .api_version = "v1", .plural = "nodes" }, NULL, &nodes);
	k->keeper = keeper_new(c, owned, &pbs_kind, k);
	return k;
}

void pbs_jobs_send_abroad(struct pbs_jobs *k, const struct pbs_abroad_config *config)
{
	k->abroad = *config;
	k->stops = pbs_stops_new(&k->abroad,
				 &(struct pbs_stops_handlers){ .heard = on_heard, .failed = on_unheard, .arg = k });
	k->gate.gate = config->gate;
	if (config->launch)
		k->launch = pbs_launch_new(k->client, config->launch, on_launch, k);
	if (config->gate)
		config->gate->ops->follow(
			config->gate,
			&(struct gate_follower){ .kind = PBS_KIND, .plural = PBS_PLURAL, .look = on_gate, .arg = k });
}

void pbs_jobs_free(struct pbs_jobs *k)
{
	if (!k)
		return;
	if (k->gate.gate)
		k->gate.gate->ops->unfollow(k->gate.gate, k);
	pbs_stops_free(k->stops);
	pbs_launch_free(k->launch);
	keeper_free(k->keeper);
	pbs_gate_done(&k->gate);
	informer_free(k->queues);
	informer_free(k->servers);
	informer_free(k->nodes);
	pbs_book_done(&k->book);
	pbs_slots_done(&k->slots);
	map_done(&k->strays);
	free(k);
}

struct workqueue_counts pbs_jobs_counts(const struct pbs_jobs *k)
{
	return keeper_counts(k->keeper);
}
