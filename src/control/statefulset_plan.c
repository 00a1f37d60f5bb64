// SPDX-License-Identifier: Apache-2.0
/* statefulset_plan.c - in the order of Kubernetes: pods that are wanted, then pods that are not, then updates
 *
 * spec.replicas comes from outside and may be any number, so nothing here has its size: what exists is walked over, and
 * what is missing is counted up to what is made in one turn.
 */
#include "control/statefulset_plan.h"

#include <ctype.h>

#include "base/jsonx.h"
#include "base/mem.h"
#include "control/share.h"

/* The pods by ordinal, lowest first. */
struct member {
	int64_t ordinal;
	const struct pod_facts *pod;
	bool available;
};

struct work {
	const struct set_view *v;
	struct set_plan *plan;
	bool ordered;
	int64_t start, end; /* ordinals that are wanted: from start to before end */
	struct member *members;
	size_t n;
	const struct pod_facts *first_missing; /* the lowest that is not available, of those that exist */
};

int64_t set_ordinal(const json_t *set, const char *pod_name)
{
	const char *name = jsonx_str_or(set, "metadata.name", "");
	const char *digits;
	int64_t n;

	if (!str_starts(pod_name, name) || pod_name[strlen(name)] != '-')
		return -1;
	digits = pod_name + strlen(name) + 1;
	/* Another spelling of the number would be another pod of the ordinal. */
	if (!isdigit((unsigned char)*digits) || (*digits == '0' && digits[1]) ||
	    !str_int64(digits, 0, (int64_t)INT32_MAX * 2, &n))
		return -1;
	return n;
}

static int64_t start_of(const json_t *set)
{
	return jsonx_int_or(set, "spec.ordinals.start", 0);
}

bool set_wants(const json_t *set, int64_t ordinal)
{
	int64_t start = start_of(set);

	return ordinal >= start && ordinal < start + jsonx_int_or(set, "spec.replicas", 1);
}

static int by_ordinal(const void *a, const void *b)
{
	const struct member *x = a;
	const struct member *y = b;

	return x->ordinal < y->ordinal ? -1 : x->ordinal > y->ordinal;
}

static bool is_available(const struct work *w, const struct pod_facts *p)
{
	int64_t min_ready = jsonx_int_or(w->v->set, "spec.minReadySeconds", 0);

	return p->phase == POD_IS_RUNNING && !p->deleting && pod_available(p, min_ready, w->v->now, &w->plan->again);
}

static void gather(struct work *w)
{
	const struct set_view *v = w->v;

	w->members = xcalloc(v->n + 1, sizeof(*w->members));
	for (size_t i = 0; i < v->n; i++) {
		int64_t ordinal = set_ordinal(v->set, v->pods[i]->name);

		if (ordinal >= 0)
			w->members[w->n++] = (struct member){ ordinal, v->pods[i], is_available(w, v->pods[i]) };
	}
	qsort(w->members, w->n, sizeof(*w->members), by_ordinal);
	for (int wanted = 1; wanted >= 0; wanted--)
		for (size_t i = 0; i < w->n && !w->first_missing; i++)
			if (!w->members[i].available && set_wants(v->set, w->members[i].ordinal) == wanted)
				w->first_missing = w->members[i].pod;
}

static void look_again(struct work *w, int64_t seconds)
{
	if (w->plan->again < 0 || seconds < w->plan->again)
		w->plan->again = seconds;
}

static void drop(struct work *w, const struct pod_facts *pod, enum set_why why)
{
	struct set_plan *p = w->plan;

	ARRAY_PUSH(p->remove, p->nremove, p->remove_cap, ((struct set_removal){ pod, why }));
}

static int64_t partition_of(const json_t *set)
{
	return jsonx_int_or(set, "spec.updateStrategy.rollingUpdate.partition", 0);
}

static bool rolls(const json_t *set)
{
	return streq(jsonx_str_or(set, "spec.updateStrategy.type", "RollingUpdate"), "RollingUpdate");
}

/* Pods below the partition come back as they were. */
static const struct revision *revision_for(const struct work *w, int64_t ordinal)
{
	bool old = rolls(w->v->set) && ordinal - w->start < partition_of(w->v->set);

	return old && w->v->current ? w->v->current : w->v->update;
}

static void create(struct work *w, int64_t ordinal)
{
	struct set_plan *p = w->plan;

	ARRAY_PUSH(p->create, p->ncreate, p->create_cap, ((struct set_new_pod){ ordinal, revision_for(w, ordinal) }));
}

/* Looks at a pod that is wanted.  True if the order forbids to go on. */
static bool tend(struct work *w, const struct member *m)
{
	if (pod_ended(m->pod)) {
		int64_t wait = m->pod->created + SET_RECREATE_S - w->v->now;

		if (!m->pod->deleting && wait > 0)
			look_again(w, wait);
		else if (!m->pod->deleting)
			drop(w, m->pod, SET_ENDED);
		return w->ordered;
	}
	return w->ordered && !m->available;
}

/* True if the order forbids to go on. */
static bool plan_wanted(struct work *w)
{
	size_t i = 0;

	while (i < w->n && w->members[i].ordinal < w->start)
		i++;
	for (int64_t ordinal = w->start; ordinal < w->end; ordinal++) {
		if (i < w->n && w->members[i].ordinal == ordinal) {
			if (tend(w, &w->members[i++]))
				return true;
		} else if (w->plan->ncreate < w->v->create_most) {
			create(w, ordinal);
			if (w->ordered)
				return true;
		} else if (i < w->n && w->members[i].ordinal < w->end) {
			ordinal = w->members[i].ordinal - 1; /* enough is made: on to the next that exists */
		} else {
			break;
		}
	}
	return false;
}

/* One after the other from the top: the next when the one before is gone.  One that is not available itself only goes
 * if it is the first such pod: else those before it are waited for. */
static bool plan_surplus(struct work *w)
{
	for (size_t i = w->n; i-- > 0;) {
		const struct member *m = &w->members[i];

		if (set_wants(w->v->set, m->ordinal))
			continue;
		if (w->ordered && (m->pod->deleting || (!m->available && m->pod != w->first_missing)))
			return true;
		if (!m->pod->deleting)
			drop(w, m->pod, SET_SURPLUS);
		if (w->ordered)
			return true;
	}
	return false;
}

static int64_t max_unavailable(const struct work *w)
{
	const json_t *v = jsonx_at(w->v->set, "spec.updateStrategy.rollingUpdate.maxUnavailable");
	int64_t most = share_of(v, w->end - w->start, false);

	return most > 1 ? most : 1;
}

/* From the top down to the partition, as long as not too many are missing. */
static void plan_update(struct work *w)
{
	int64_t budget = max_unavailable(w);
	int64_t next = w->end - 1; /* the ordinal that comes next if none is missing */

	for (size_t i = w->n; i-- > 0 && budget > 0;) {
		const struct member *m = &w->members[i];
		const char *revision = json_string_value(
			json_object_get(jsonx_at(m->pod->obj, "metadata.labels"), LABEL_REVISION_HASH));

		if (m->ordinal >= w->end)
			continue;
		if (m->ordinal < w->start + partition_of(w->v->set))
			break;
		budget -= next - m->ordinal;
		next = m->ordinal - 1;
		if (budget <= 0)
			break;
		if (!m->pod->deleting && !pod_ended(m->pod) && !str_same(revision, w->v->update->name))
			drop(w, m->pod, SET_OUTDATED);
		else if (m->available)
			continue;
		budget--;
	}
}

void set_plan(const struct set_view *v, struct set_plan *ret)
{
	struct work w = { .v = v, .plan = ret };

	*ret = (struct set_plan){ .again = -1 };
	w.ordered = !streq(jsonx_str_or(v->set, "spec.podManagementPolicy", "OrderedReady"), "Parallel");
	w.start = start_of(v->set);
	w.end = w.start + jsonx_int_or(v->set, "spec.replicas", 1);
	gather(&w);
	if (!jsonx_at(v->set, "metadata.deletionTimestamp") && !plan_wanted(&w) && !plan_surplus(&w) && rolls(v->set))
		plan_update(&w);
	ret->status = set_status(v, &ret->again);
	free(w.members);
}

void set_plan_done(struct set_plan *p)
{
	free(p->create);
	free(p->remove);
	json_decref(p->status);
	*p = (struct set_plan){ .again = -1 };
}
