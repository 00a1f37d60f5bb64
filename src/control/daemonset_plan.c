// SPDX-License-Identifier: Apache-2.0
/* daemonset_plan.c - nodes and pods brought together: who lacks one, who has one too many, how many are well */
#include "control/daemonset_plan.h"

#include "base/jsonx.h"
#include "base/mem.h"
#include "control/daemonset_parts.h"
#include "control/revisions.h"
#include "control/share.h"

void daemon_create(struct daemon_work *w, const char *node)
{
	struct daemon_plan *p = w->plan;

	if (p->ncreate < w->view->create_most)
		ARRAY_PUSH(p->create, p->ncreate, p->cap_create, node);
}

void daemon_remove(struct daemon_work *w, struct daemon *d)
{
	struct daemon_plan *p = w->plan;

	if (d->goes || p->nremove >= DAEMON_BURST)
		return;
	d->goes = true;
	ARRAY_PUSH(p->remove, p->nremove, p->cap_remove, d->pod);
}

/* ---- pods to their nodes ---- */

/* By node; then those that are bound, then the oldest first. */
static int by_place(const void *a, const void *b)
{
	const struct daemon *x = a;
	const struct daemon *y = b;
	int order = strcmp(x->node, y->node);

	if (order)
		return order;
	if (x->pod->assigned != y->pod->assigned)
		return x->pod->assigned ? -1 : 1;
	if (x->pod->created != y->pod->created)
		return x->pod->created < y->pod->created ? -1 : 1;
	return strcmp(x->pod->name, y->pod->name);
}

static struct daemon *read_daemons(const struct daemon_view *v, struct daemon_plan *p, size_t *ret_n)
{
	int64_t min_ready = jsonx_int_or(v->set, "spec.minReadySeconds", 0);
	struct daemon *all = xcalloc(v->npods + 1, sizeof(*all));
	size_t n = 0;

	for (size_t i = 0; i < v->npods; i++) {
		const struct pod_facts *f = v->pods[i];
		const json_t *labels = jsonx_at(f->obj, "metadata.labels");

		/* What has ended and is being deleted only waits for somebody's finalizer. */
		if (f->deleting && pod_ended(f))
			continue;
		all[n++] = (struct daemon){
			.pod = f,
			.node = daemon_pod_node(f->obj),
			.updated = str_same(json_string_value(json_object_get(labels, LABEL_REVISION_HASH)), v->hash),
			.available = pod_available(f, min_ready, v->now, &p->again),
			.goes = f->deleting,
		};
	}
	qsort(all, n, sizeof(*all), by_place);
	*ret_n = n;
	return all;
}

/* Cuts the sorted daemons into spots.  Pods that run on a node that is not there are pod_gc.c's. */
static void find_spots(struct daemon_work *w, struct daemon *all, size_t n)
{
	const struct daemon_view *v = w->view;
	json_auto_t *tolerations = daemon_tolerations(v->set);
	size_t at = 0;

	w->spots = xcalloc(v->nnodes + 1, sizeof(*w->spots));
	for (size_t i = 0; i < v->nnodes; i++) {
		const char *name = jsonx_str_or(v->nodes[i], "metadata.name", "");
		struct spot *s = &w->spots[w->nspots++];

		*s = (struct spot){ .name = name, .fit = daemon_fits(v->set, tolerations, v->nodes[i]) };
		/* A pod that was never bound and whose node is gone can go nowhere any more. */
		for (; at < n && strcmp(all[at].node, name) < 0; at++)
			if (!all[at].pod->assigned)
				daemon_remove(w, &all[at]);
		s->daemons = &all[at];
		for (; at < n && streq(all[at].node, name); at++)
			s->n++;
		w->desired += s->fit.run;
	}
	for (; at < n; at++)
		if (!all[at].pod->assigned)
			daemon_remove(w, &all[at]);
}

/* ---- one node ---- */

/* True if the daemon has ended: it goes, now or when its back-off is over. */
static bool bury(struct daemon_work *w, struct daemon *d)
{
	struct daemon_plan *p = w->plan;
	const struct daemon_view *v = w->view;
	int64_t wait;

	if (!pod_ended(d->pod))
		return false;
	wait = d->pod->phase == POD_IS_FAILED && v->backoff ? v->backoff(v->arg, d->node) : 0;
	if (wait > 0) {
		if (p->wait_ms < 0 || wait < p->wait_ms)
			p->wait_ms = wait;
		return true;
	}
	daemon_remove(w, d);
	if (d->goes)
		ARRAY_PUSH(p->ended, p->nended, p->cap_ended, ((struct daemon_ended){ d->pod, d->node }));
	return true;
}

/* During an update with surge a node may have one of each template, until the new one works or the old one does not. */
static void prune_surge(struct daemon_work *w, struct daemon **live, size_t n)
{
	struct daemon *old = NULL;
	struct daemon *new = NULL;

	for (size_t i = 0; i < n; i++) {
		struct daemon **at = live[i]->updated ? &new : &old;

		if (*at)
			daemon_remove(w, live[i]);
		else
			*at = live[i];
	}
	if (old && new && (!old->pod->ready || new->available))
		daemon_remove(w, old);
}

static void keep_one(struct daemon_work *w, struct spot *s)
{
	auto_free struct daemon **live = xcalloc(s->n + 1, sizeof(struct daemon *));
	size_t n = 0;

	for (size_t i = 0; i < s->n; i++)
		if (!s->daemons[i].goes && !bury(w, &s->daemons[i]))
			live[n++] = &s->daemons[i];
	if (w->surge > 0) {
		prune_surge(w, live, n);
		return;
	}
	for (size_t i = 1; i < n; i++)
		daemon_remove(w, live[i]);
}

static void manage(struct daemon_work *w)
{
	for (size_t i = 0; i < w->nspots; i++) {
		struct spot *s = &w->spots[i];

		if (s->fit.run && !s->n)
			daemon_create(w, s->name);
		else if (s->fit.keep)
			keep_one(w, s);
		else
			for (size_t k = 0; k < s->n; k++)
				daemon_remove(w, &s->daemons[k]);
	}
}

/* ---- the status ---- */

static void set_count(json_t *status, const char *name, int64_t n, bool always)
{
	if (n || always)
		json_object_set_new(status, name, json_integer(n));
	else
		json_object_del(status, name);
}

static json_t *make_status(const struct daemon_work *w)
{
	const json_t *set = w->view->set;
	const json_t *old = json_object_get(set, "status");
	json_t *status = json_is_object(old) ? json_copy((json_t *)old) : json_object();
	int64_t current = 0;
	int64_t astray = 0;
	int64_t ready = 0;
	int64_t available = 0;
	int64_t updated = 0;

	for (size_t i = 0; i < w->nspots; i++) {
		const struct spot *s = &w->spots[i];

		if (!s->n)
			continue;
		if (!s->fit.run) {
			astray++;
			continue;
		}
		current++;
		ready += s->daemons[0].pod->ready;
		available += s->daemons[0].available;
		updated += s->daemons[0].updated;
	}
	set_count(status, "currentNumberScheduled", current, true);
	set_count(status, "numberMisscheduled", astray, true);
	set_count(status, "desiredNumberScheduled", w->desired, true);
	set_count(status, "numberReady", ready, true);
	set_count(status, "updatedNumberScheduled", updated, false);
	set_count(status, "numberAvailable", available, false);
	set_count(status, "numberUnavailable", w->desired - available, false);
	set_count(status, "observedGeneration", jsonx_int_or(set, "metadata.generation", 0), false);
	return status;
}

/* ---- all of it ---- */

static bool rolls(const json_t *set)
{
	return streq(jsonx_str_or(set, "spec.updateStrategy.type", "RollingUpdate"), "RollingUpdate");
}

static void read_bounds(struct daemon_work *w)
{
	const json_t *bounds = jsonx_at(w->view->set, "spec.updateStrategy.rollingUpdate");
	const json_t *unavailable = json_object_get(bounds, "maxUnavailable");

	if (!rolls(w->view->set))
		return;
	w->surge = share_of(json_object_get(bounds, "maxSurge"), w->desired, true);
	w->unavailable = unavailable ? share_of(unavailable, w->desired, true) : 1;
	/* A percentage may come out as nobody; then an update would never end. */
	if (!w->surge && !w->unavailable)
		w->unavailable = 1;
}

void daemon_plan(const struct daemon_view *v, struct daemon_plan *p)
{
	struct daemon_work w = { .view = v, .plan = p };
	struct daemon *all;
	size_t n;

	*p = (struct daemon_plan){ .again = -1, .wait_ms = -1 };
	all = read_daemons(v, p, &n);
	find_spots(&w, all, n);
	read_bounds(&w);
	p->status = make_status(&w);
	if (!jsonx_at(v->set, "metadata.deletionTimestamp")) {
		manage(&w);
		if (rolls(v->set))
			daemon_update(&w);
	}
	free(all);
	free(w.spots);
}

void daemon_plan_done(struct daemon_plan *p)
{
	free(p->create);
	free(p->remove);
	free(p->ended);
	json_decref(p->status);
}
