// SPDX-License-Identifier: Apache-2.0
/* tally.c - see tally.h
 *
 * An entry is made when a pod has a node, before it has begun: a pod that begins and ends between two looks is told
 * from one that ended long ago and is only spoken of again.
 */
#include "sched/tally.h"

#include "base/clock.h"
#include "base/jsonx.h"
#include "base/mem.h"
#include "kinds/condition.h"
#include "sched/pod_work.h"

#define LINES_MAX ((size_t)1 << 30)

struct tally_pod {
	char uid[ACCOUNT_UID_LEN + 1];
	struct tally_work *work;
	struct tally_amounts has;
	int64_t started, ended; /* 0: not yet */
	enum account_state state;
	bool seen; /* in the last list */
};

struct tally_work {
	char *key;
	char *job, *ns, *kind, *user, *group, *queue, *gang;
	int64_t priority, submitted, walltime;
	struct tally_pod **pods;
	size_t n, cap;
	size_t live; /* pods that have not ended, begun or not */
	size_t running;
	struct tally_amounts now;
	size_t most_pods;
	struct tally_amounts most;
};

/* ---- life ---- */

static void work_free(void *v)
{
	struct tally_work *w = v;

	for (size_t i = 0; i < w->n; i++)
		free(w->pods[i]);
	free(w->pods);
	free(w->key);
	free(w->job);
	free(w->ns);
	free(w->kind);
	free(w->user);
	free(w->group);
	free(w->queue);
	free(w->gang);
	free(w);
}

void tally_init(struct tally *t)
{
	*t = (struct tally){ .records = SBUF(LINES_MAX), .journal = SBUF(LINES_MAX) };
	map_init(&t->pods, NULL);
	map_init(&t->works, work_free);
	map_init(&t->recorded, free);
}

void tally_done(struct tally *t)
{
	map_done(&t->pods);
	map_done(&t->works);
	map_done(&t->recorded);
	sbuf_done(&t->records);
	sbuf_done(&t->journal);
}

size_t tally_open(const struct tally *t)
{
	return t->works.n;
}

/* ---- records ---- */

static struct account_record record_of(const struct tally_work *w, const struct tally_pod *p)
{
	struct account_record r = { .job = str_of(w->job),
				    .ns = str_of(w->ns),
				    .kind = str_of(w->kind),
				    .user = str_of(w->user),
				    .group = str_of(w->group),
				    .queue = str_of(w->queue),
				    .uid = str_of(p->uid),
				    .gang = str_of(w->gang),
				    .priority = w->priority,
				    .submitted = w->submitted,
				    .started = p->started,
				    .ended = p->ended,
				    .pods = 1,
				    .gpus = p->has.gpus,
				    .cpus_milli = p->has.cpus_milli,
				    .memory_bytes = p->has.memory_bytes,
				    .walltime = w->walltime,
				    .state = p->state };

	r.use = account_use_for(&r, p->ended - p->started);
	return r;
}

/* Whether it was the last that ended for itself: what is deleted when the work is over says nothing. */
static bool decides(const struct tally_pod *p, const struct tally_pod *than)
{
	if (!than || (p->state == ACCOUNT_DELETED) != (than->state == ACCOUNT_DELETED))
		return !than || p->state != ACCOUNT_DELETED;
	if ((p->state == ACCOUNT_EVICTED) != (than->state == ACCOUNT_EVICTED))
		return p->state == ACCOUNT_EVICTED;
	return p->ended > than->ended;
}

/* All of a work; false if nothing of it has run. */
static bool whole_record(const struct tally_work *w, struct account_record *ret)
{
	const struct tally_pod *last = NULL;
	struct account_record r = { 0 };

	for (size_t i = 0; i < w->n; i++) {
		const struct tally_pod *p = w->pods[i];
		struct account_record one = record_of(w, p);

		if (!p->started)
			continue;
		if (!last) {
			r = one;
		} else {
			r.started = one.started < r.started ? one.started : r.started;
			r.ended = one.ended > r.ended ? one.ended : r.ended;
			/* The smallest: the same whatever the order in which they are told. */
			r.uid = strcmp(one.uid.p, r.uid.p) < 0 ? one.uid : r.uid;
			r.use.gpu += one.use.gpu;
			r.use.cpu += one.use.cpu;
			r.use.memory += one.use.memory;
		}
		last = decides(p, last) ? p : last;
	}
	if (!last)
		return false;
	r.state = last->state;
	r.pods = (int64_t)w->most_pods;
	r.gpus = w->most.gpus;
	r.cpus_milli = w->most.cpus_milli;
	r.memory_bytes = w->most.memory_bytes;
	*ret = r;
	return true;
}

static void note(struct tally *t, const struct tally_pod *p)
{
	struct account_record r = record_of(p->work, p);

	account_write(&r, &t->journal);
}

/* ---- what is recorded already ---- */

static bool is_recorded(const struct tally *t, const char *uid, const char *key, int64_t ended)
{
	const int64_t *until = map_find(&t->recorded, key);

	return t->recovering && (map_find(&t->recorded, uid) || (until && *until >= ended));
}

static void remember(struct tally *t, const char *key, int64_t ended)
{
	int64_t *until = map_find(&t->recorded, key);

	if (!until) {
		until = xcalloc(1, sizeof(*until));
		map_set(&t->recorded, key, until);
	}
	*until = ended > *until ? ended : *until;
}

void tally_recorded(struct tally *t, const struct account_record *r)
{
	auto_free char *uid = xstrndup(r->uid.p, r->uid.n);
	auto_free char *key = xasprintf("%.*s/%.*s", STR_FMT(r->ns), STR_FMT(r->gang));

	remember(t, uid, r->ended);
	if (r->gang.n)
		remember(t, key, r->ended);
}

/* ---- works and pods ---- */

static struct tally_work *work_named(struct tally *t, const char *key, const struct account_record *r)
{
	struct tally_work *w = map_find(&t->works, key);

	if (w)
		return w;
	w = xcalloc(1, sizeof(*w));
	*w = (struct tally_work){ .key = xstrdup(key),
				  .job = xstrndup(r->job.p, r->job.n),
				  .ns = xstrndup(r->ns.p, r->ns.n),
				  .kind = xstrndup(r->kind.p, r->kind.n),
				  .user = xstrndup(r->user.p, r->user.n),
				  .group = xstrndup(r->group.p, r->group.n),
				  .queue = xstrndup(r->queue.p, r->queue.n),
				  .gang = xstrndup(r->gang.p, r->gang.n),
				  .priority = r->priority,
				  .submitted = r->submitted,
				  .walltime = r->walltime };
	map_set(&t->works, key, w);
	return w;
}

static struct tally_pod *enter(struct tally *t, struct tally_work *w, struct str uid)
{
	struct tally_pod *p = xcalloc(1, sizeof(*p));

	p->work = w;
	memcpy(p->uid, uid.p, uid.n < ACCOUNT_UID_LEN ? uid.n : ACCOUNT_UID_LEN);
	ARRAY_PUSH(w->pods, w->n, w->cap, p);
	w->live++;
	map_set(&t->pods, p->uid, p);
	return p;
}

static void begin(struct tally *t, struct tally_pod *p, int64_t started, const struct tally_amounts *has)
{
	struct tally_work *w = p->work;

	p->started = started > 0 ? started : 1;
	p->has = *has;
	w->now.gpus += has->gpus;
	w->now.cpus_milli += has->cpus_milli;
	w->now.memory_bytes += has->memory_bytes;
	w->running++;
	w->most_pods = w->running > w->most_pods ? w->running : w->most_pods;
	w->most.gpus = w->now.gpus > w->most.gpus ? w->now.gpus : w->most.gpus;
	w->most.cpus_milli = w->now.cpus_milli > w->most.cpus_milli ? w->now.cpus_milli : w->most.cpus_milli;
	w->most.memory_bytes = w->now.memory_bytes > w->most.memory_bytes ? w->now.memory_bytes : w->most.memory_bytes;
	note(t, p);
}

static void close_work(struct tally *t, struct tally_work *w)
{
	struct account_record r;

	if (whole_record(w, &r) && !is_recorded(t, r.uid.p, *w->gang ? w->key : "", r.ended)) {
		account_write(&r, &t->records);
		if (t->recovering) /* a journal may say a thing twice */
			tally_recorded(t, &r);
	}
	for (size_t i = 0; i < w->n; i++)
		map_remove(&t->pods, w->pods[i]->uid);
	map_remove(&t->works, w->key);
}

/* The pod may be gone with its work afterwards. */
static void end(struct tally *t, struct tally_pod *p, int64_t ended, enum account_state state)
{
	struct tally_work *w = p->work;

	if (p->ended)
		return;
	p->ended = ended > p->started ? ended : p->started;
	if (p->started) {
		p->state = state;
		w->now.gpus -= p->has.gpus;
		w->now.cpus_milli -= p->has.cpus_milli;
		w->now.memory_bytes -= p->has.memory_bytes;
		w->running--;
		note(t, p);
	} else {
		p->ended = 1; /* it counts for nothing */
	}
	if (--w->live == 0)
		close_work(t, w);
}

/* ---- what a pod's object says ---- */

/* A Deployment's ReplicaSets come and go: its own name is the one that people know. */
static void owner_of(const json_t *pod, struct str *ret_name, struct str *ret_kind)
{
	const char *hash = json_string_value(json_object_get(jsonx_at(pod, "metadata.labels"), "pod-template-hash"));
	const json_t *owner;
	size_t i;

	*ret_name = str_of(jsonx_str_or(pod, "metadata.name", ""));
	*ret_kind = STR("Pod");
	json_array_foreach (jsonx_at(pod, "metadata.ownerReferences"), i, owner) {
		struct str name = str_of(jsonx_str_or(owner, "name", ""));
		const char *kind = jsonx_str_or(owner, "kind", "");

		if (!jsonx_bool_or(owner, "controller", false) || !name.n)
			continue;
		*ret_kind = str_of(kind);
		if (hash && streq(kind, "ReplicaSet") && str_ends(name.p, hash) && name.n > strlen(hash) + 1) {
			name.n -= strlen(hash) + 1;
			*ret_kind = STR("Deployment");
		}
		*ret_name = name;
		return;
	}
}

static int64_t later(int64_t a, const char *time)
{
	int64_t us;

	return time && clock_parse_rfc3339(time, &us) && us / 1000000 > a ? us / 1000000 : a;
}

/* When the last container ended; 0 if one still runs, or nobody knows.  Of a pod that is over it must be the same each
 * time, or it could not be told that it is recorded. */
static int64_t end_of(const json_t *pod, bool over)
{
	static const char *const lists[] = { "status.initContainerStatuses", "status.containerStatuses" };
	int64_t last = 0;
	const json_t *c;
	size_t i;

	for (size_t k = 0; k < ARRAY_SIZE(lists); k++) {
		json_array_foreach (jsonx_at(pod, lists[k]), i, c) {
			if (jsonx_at(c, "state.running") && !over)
				return 0;
			last = later(last, jsonx_str(c, "state.terminated.finishedAt"));
		}
	}
	if (last || !over)
		return last;
	json_array_foreach (jsonx_at(pod, "status.conditions"), i, c)
		last = later(last, jsonx_str(c, "lastTransitionTime"));
	return later(last, jsonx_str(pod, "status.startTime"));
}

static bool was_evicted(const json_t *pod)
{
	return condition_holds(pod, "DisruptionTarget") || str_same(jsonx_str(pod, "status.reason"), "Evicted");
}

static enum account_state state_of(const json_t *pod)
{
	const char *phase = jsonx_str_or(pod, "status.phase", "");

	if (streq(phase, "Succeeded"))
		return ACCOUNT_SUCCEEDED;
	if (was_evicted(pod))
		return ACCOUNT_EVICTED;
	return streq(phase, "Failed") ? ACCOUNT_FAILED : ACCOUNT_DELETED;
}

/* A clock may have been set meanwhile: nothing ends in the future. */
static int64_t end_or(const json_t *pod, bool over, int64_t now)
{
	int64_t last = end_of(pod, over);

	return last && last < now ? last : now;
}

static struct tally_pod *find(const struct tally *t, const char *uid)
{
	return map_find_n(&t->pods, uid, account_uid(uid).n);
}

static struct tally_pod *enter_pod(struct tally *t, const json_t *pod, const struct pod_work *pw)
{
	const struct work_facts *f = &pw->facts;
	struct str uid = account_uid(pw->uid);
	bool gang = f->size > 1;
	auto_free char *key = gang ? xstrdup(pw->key) : xstrndup(uid.p, uid.n);
	struct account_record r = { .ns = str_of(pw->ns),
				    .user = str_of(f->user),
				    .group = str_of(f->group),
				    .queue = str_of(f->queue),
				    .priority = f->priority,
				    .submitted = f->submitted_ms / 1000,
				    .walltime = f->walltime_ms == WALLTIME_NONE ? ACCOUNT_NO_LIMIT
										: f->walltime_ms / 1000 };

	owner_of(pod, &r.job, &r.kind);
	r.gang = gang ? str_of(pw->key + strlen(pw->ns) + 1) : STR("");
	return enter(t, work_named(t, key, &r), uid);
}

/* Its entry, made if it has a node and has not ended, begun if it has. */
static struct tally_pod *follow(struct tally *t, const json_t *pod, const struct pod_work *pw, bool ended_too)
{
	struct tally_pod *p = find(t, pw->uid);
	struct tally_amounts has = { 0 };

	if (!p && *pw->node && (!pw->ended || ended_too))
		p = enter_pod(t, pod, pw);
	if (!p || p->started || p->ended || !pw->started_ms)
		return p;
	if (t->amounts)
		t->amounts(t->arg, pod, &has);
	begin(t, p, pw->started_ms / 1000, &has);
	return p;
}

void tally_see(struct tally *t, const json_t *pod, int64_t now)
{
	struct tally_pod *p;
	struct pod_work pw;

	/* Those that wait are in no account. */
	if (!*jsonx_str_or(pod, "spec.nodeName", "") && !find(t, jsonx_str_or(pod, "metadata.uid", "")))
		return;
	pod_work_read(pod, &pw);
	p = follow(t, pod, &pw, false);
	if (p && pw.ended)
		end(t, p, end_or(pod, true, now), state_of(pod));
	pod_work_done(&pw);
}

void tally_gone(struct tally *t, const json_t *pod, int64_t now)
{
	struct tally_pod *p;

	tally_see(t, pod, now);
	p = find(t, jsonx_str_or(pod, "metadata.uid", ""));
	if (p)
		end(t, p, end_or(pod, false, now), state_of(pod));
}

/* ---- recovering ---- */

void tally_replay(struct tally *t, const struct account_record *r)
{
	auto_free char *key =
		r->gang.n ? xasprintf("%.*s/%.*s", STR_FMT(r->ns), STR_FMT(r->gang)) : xstrndup(r->uid.p, r->uid.n);
	struct tally_pod *p = map_find_n(&t->pods, r->uid.p, r->uid.n);
	struct tally_amounts has = { r->gpus, r->cpus_milli, r->memory_bytes };

	if (!r->uid.n || !r->started)
		return;
	if (!p) {
		p = enter(t, work_named(t, key, r), r->uid);
		begin(t, p, r->started, &has);
	}
	if (r->state != ACCOUNT_RUNNING)
		end(t, p, r->ended, r->state);
}

/* One that ended, perhaps before its record was written. */
static bool is_missing(const struct tally *t, const json_t *pod, const struct pod_work *pw, int64_t since, int64_t now)
{
	auto_free char *uid = xstrndup(pw->uid, account_uid(pw->uid).n);
	int64_t ended = end_or(pod, true, now);

	return pw->started_ms && ended >= since && !is_recorded(t, uid, pw->facts.size > 1 ? pw->key : "", ended);
}

static void end_unseen(struct tally *t, int64_t at)
{
	struct tally_pod **gone = NULL;
	size_t n = 0, cap = 0, pos = 0;
	void *v;

	while (map_next(&t->pods, &pos, NULL, &v)) {
		struct tally_pod *p = v;

		if (!p->seen && !p->ended)
			ARRAY_PUSH(gone, n, cap, p);
		p->seen = false;
	}
	/* None of them is freed before it has ended itself. */
	for (size_t i = 0; i < n; i++)
		end(t, gone[i], at, ACCOUNT_DELETED);
	free(gone);
}

void tally_see_all(struct tally *t, const json_t *pods, int64_t since, int64_t alive, int64_t now)
{
	json_t *pod;
	size_t i;

	/* All that began before the first ends: a gang is one record. */
	json_array_foreach (pods, i, pod) {
		struct tally_pod *p;
		struct pod_work pw;

		pod_work_read(pod, &pw);
		p = follow(t, pod, &pw, pw.ended && !find(t, pw.uid) && is_missing(t, pod, &pw, since, now));
		if (p)
			p->seen = true;
		pod_work_done(&pw);
	}
	json_array_foreach (pods, i, pod)
		tally_see(t, pod, now);
	end_unseen(t, alive);
	map_done(&t->recorded);
	map_init(&t->recorded, free);
	t->recovering = false;
}

/* ---- asking ---- */

/* The pod that stands for all: one that runs, if there is one. */
static size_t spokesman(const struct tally_work *w)
{
	size_t found = w->n;

	for (size_t i = 0; i < w->n; i++) {
		if (w->pods[i]->started && !w->pods[i]->ended)
			return i;
		if (w->pods[i]->started && found == w->n)
			found = i;
	}
	return found;
}

void tally_each_pod(const struct tally *t, void (*each)(void *arg, const struct account_record *r), void *arg)
{
	size_t pos = 0;
	void *v;

	while (map_next(&t->works, &pos, NULL, &v)) {
		const struct tally_work *w = v;
		size_t first = spokesman(w);

		for (size_t i = 0; i < w->n; i++) {
			struct account_record r = record_of(w, w->pods[i]);

			r.pods = i == first;
			if (w->pods[i]->started)
				each(arg, &r);
		}
	}
}

static void add_line(void *arg, const struct account_record *r)
{
	account_write(r, arg);
}

void tally_journal(const struct tally *t, struct sbuf *out)
{
	account_title(out);
	tally_each_pod(t, add_line, out);
}
