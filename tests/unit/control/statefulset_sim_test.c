// SPDX-License-Identifier: Apache-2.0
/* A small world in which pods of a StatefulSet fail, people change it, and its controller is killed after any of its
 * writes.  There are never two pods of one ordinal, an ordered set keeps its order, and when it is quiet the set is
 * what it shall be.
 */
#include "base/clock.h"
#include "base/jsonx.h"
#include "base/mem.h"
#include "control/statefulset_plan.h"
#include "test.h"

#define MAX_PODS      64
#define MAX_REVISIONS 64
#define RUNS          300
#define STEPS         120
#define QUIET_STEPS   3000

struct world {
	unsigned seed;
	int64_t now;
	json_t *set;
	json_t *pods[MAX_PODS];
	size_t n;
	int made; /* pods ever, for uids */
	json_t *revision_objs;
	struct revision revisions[MAX_REVISIONS];
	bool broken[MAX_REVISIONS]; /* pods of it never get ready */
	size_t nrevisions;
};

static unsigned dice(struct world *w, unsigned sides)
{
	return (unsigned)rand_r(&w->seed) % sides;
}

static void set_time(struct world *w, json_t *obj, const char *path)
{
	char text[CLOCK_RFC3339_LEN];

	clock_rfc3339(w->now, text);
	jsonx_set_new(obj, path, json_string(text));
}

static json_t *find_pod(struct world *w, const char *name)
{
	for (size_t i = 0; i < w->n; i++)
		if (streq(jsonx_str(w->pods[i], "metadata.name"), name))
			return w->pods[i];
	return NULL;
}

static bool is_ready(const json_t *pod)
{
	struct pod_facts f = pod_facts(pod);

	return f.phase == POD_IS_RUNNING && f.ready && !f.deleting;
}

static bool is_ordered(const struct world *w)
{
	return streq(jsonx_str_or(w->set, "spec.podManagementPolicy", ""), "OrderedReady");
}

/* ---- people ---- */

static void new_revision(struct world *w, bool broken)
{
	json_t *obj;

	if (w->nrevisions == MAX_REVISIONS)
		return;
	obj = json_pack("{s:{s:o}, s:{s:{s:{s:{}, s:s}}}}", "metadata", "name", jsonx_stringf("web-%zu", w->nrevisions),
			"data", "spec", "template", "spec", "$patch", "replace");
	json_array_append_new(w->revision_objs, obj);
	w->revisions[w->nrevisions] =
		(struct revision){ .obj = obj, .name = jsonx_str(obj, "metadata.name"), .hash = "" };
	w->broken[w->nrevisions++] = broken;
}

static const struct revision *current_of(const struct world *w)
{
	const struct revision *r =
		revision_find(w->revisions, w->nrevisions, jsonx_str(w->set, "status.currentRevision"));

	return r ? r : &w->revisions[w->nrevisions - 1];
}

static void people(struct world *w)
{
	switch (dice(w, 8)) {
	case 0:
		jsonx_set_new(w->set, "spec.replicas", json_integer(dice(w, 7)));
		break;
	case 1:
		new_revision(w, dice(w, 3) == 0);
		break;
	case 2:
		jsonx_set_new(w->set, "spec.updateStrategy.rollingUpdate.partition", json_integer(dice(w, 5)));
		break;
	case 3:
		jsonx_set_new(w->set, "spec.updateStrategy.type",
			      json_string(dice(w, 4) ? "RollingUpdate" : "OnDelete"));
		break;
	case 4:
		if (w->n)
			set_time(w, w->pods[dice(w, (unsigned)w->n)], "metadata.deletionTimestamp");
		break;
	default:
		break;
	}
}

/* ---- the node ---- */

static bool pod_is_broken(const struct world *w, const json_t *pod)
{
	const char *name = json_string_value(json_object_get(jsonx_at(pod, "metadata.labels"), LABEL_REVISION_HASH));
	const struct revision *r = revision_find(w->revisions, w->nrevisions, name);

	return r && w->broken[r - w->revisions];
}

static void set_ready(struct world *w, json_t *pod, bool ready)
{
	json_t *c = json_pack("{s:s, s:s}", "type", "Ready", "status", ready ? "True" : "False");

	set_time(w, c, "lastTransitionTime");
	jsonx_set_new(pod, "status.conditions", json_pack("[o]", c));
}

static void node(struct world *w, bool quiet)
{
	for (size_t i = 0; i < w->n; i++) {
		json_t *pod = w->pods[i];
		struct pod_facts f = pod_facts(pod);

		if (dice(w, 3))
			continue;
		if (f.deleting) {
			json_decref(pod);
			w->pods[i--] = w->pods[--w->n];
		} else if (!quiet && dice(w, 12) == 0) {
			jsonx_set_new(pod, "status.phase", json_string(dice(w, 3) ? "Failed" : "Succeeded"));
		} else if (f.phase == POD_IS_PENDING) {
			jsonx_set_new(pod, "status.phase", json_string("Running"));
		} else if (f.phase == POD_IS_RUNNING && f.ready && !quiet && dice(w, 10) == 0) {
			set_ready(w, pod, false);
		} else if (f.phase == POD_IS_RUNNING && !f.ready && !pod_is_broken(w, pod)) {
			set_ready(w, pod, true);
		}
	}
}

/* ---- the controller ---- */

static void do_create(struct world *w, const struct set_new_pod *p)
{
	json_t *pod = set_pod(w->set, p);
	const char *name = jsonx_str(pod, "metadata.name");
	int64_t start = jsonx_int_or(w->set, "spec.ordinals.start", 0);

	CHECK(!find_pod(w, name));
	for (int64_t i = start; is_ordered(w) && i < p->ordinal; i++) {
		auto_free char *before = xasprintf("web-%lld", (long long)i);
		const json_t *other = find_pod(w, before);

		CHECK(other && is_ready(other));
	}
	jsonx_set_new(pod, "metadata.uid", jsonx_stringf("pod-%d", w->made++));
	set_time(w, pod, "metadata.creationTimestamp");
	jsonx_set_new(pod, "status", json_pack("{s:s}", "phase", "Pending"));
	w->pods[w->n++] = pod;
}

static void do_remove(struct world *w, const struct set_removal *r)
{
	CHECK(!r->pod->deleting);
	for (size_t i = 0; is_ordered(w) && r->why == SET_SURPLUS && i < w->n; i++) {
		int64_t other = set_ordinal(w->set, jsonx_str(w->pods[i], "metadata.name"));

		CHECK(set_wants(w->set, other) || other <= set_ordinal(w->set, r->pod->name));
	}
	set_time(w, find_pod(w, r->pod->name), "metadata.deletionTimestamp");
}

/* All of its writes, or only the first `most` of them; true if there was nothing to write. */
static bool control(struct world *w, size_t most)
{
	struct pod_facts facts[MAX_PODS];
	const struct pod_facts *pods[MAX_PODS];
	struct set_view v = { .set = w->set, .pods = pods, .n = w->n, .now = w->now, .create_most = 3 };
	struct set_plan p;
	size_t done = 0;
	bool quiet;

	for (size_t i = 0; i < w->n; i++) {
		facts[i] = pod_facts(w->pods[i]);
		pods[i] = &facts[i];
	}
	v.current = current_of(w);
	v.update = &w->revisions[w->nrevisions - 1];
	set_plan(&v, &p);
	quiet = !p.ncreate && !p.nremove && json_equal(p.status, json_object_get(w->set, "status")) && p.again < 0;
	for (size_t i = 0; i < p.nremove && done++ < most; i++)
		do_remove(w, &p.remove[i]);
	for (size_t i = 0; i < p.ncreate && done++ < most; i++)
		do_create(w, &p.create[i]);
	if (done++ < most)
		json_object_set(w->set, "status", p.status);
	set_plan_done(&p);
	return quiet;
}

static void world_init(struct world *w, unsigned seed)
{
	*w = (struct world){ .seed = seed, .now = 1700000000, .revision_objs = json_array() };
	w->set = json_pack("{s:{s:s, s:s, s:s, s:i}, s:{s:i, s:s, s:s, s:{s:i}, s:{s:s, s:{s:i}}}}", "metadata", "name",
			   "web", "namespace", "ns", "uid", "u", "generation", 1, "spec", "replicas", 3, "serviceName",
			   "web", "podManagementPolicy", seed % 2 ? "Parallel" : "OrderedReady", "ordinals", "start",
			   seed % 5 == 0 ? 2 : 0, "updateStrategy", "type", "RollingUpdate", "rollingUpdate",
			   "partition", 0);
	new_revision(w, false);
}

static void world_done(struct world *w)
{
	for (size_t i = 0; i < w->n; i++)
		json_decref(w->pods[i]);
	json_decref(w->set);
	json_decref(w->revision_objs);
}

static bool runs_well(const struct world *w)
{
	const char *last = w->revisions[w->nrevisions - 1].name;
	size_t want = (size_t)jsonx_int_or(w->set, "spec.replicas", 0);

	if (w->n != want || jsonx_int_or(w->set, "status.updatedReplicas", 0) != (int64_t)want ||
	    jsonx_int_or(w->set, "status.readyReplicas", 0) != (int64_t)want ||
	    !str_same(jsonx_str(w->set, "status.currentRevision"), last))
		return false;
	for (size_t i = 0; i < w->n; i++)
		if (!is_ready(w->pods[i]) ||
		    !set_wants(w->set, set_ordinal(w->set, jsonx_str(w->pods[i], "metadata.name"))))
			return false;
	return true;
}

/* What nobody but a person can mend: pods that will never be ready hold an ordered set up. */
static void delete_broken(struct world *w)
{
	for (size_t i = 0; i < w->n; i++)
		if (pod_is_broken(w, w->pods[i]) && !jsonx_at(w->pods[i], "metadata.deletionTimestamp"))
			set_time(w, w->pods[i], "metadata.deletionTimestamp");
}

TEST("whatever happens to its pods, a StatefulSet has no ordinal twice and ends up as it shall be")
{
	for (unsigned seed = 1; seed <= RUNS; seed++) {
		struct world w;
		int steps = 0;

		world_init(&w, seed);
		for (int i = 0; i < STEPS; i++) {
			w.now += dice(&w, 4);
			people(&w);
			node(&w, false);
			control(&w, dice(&w, 4) ? SIZE_MAX : dice(&w, 3));
		}
		jsonx_set_new(w.set, "spec.updateStrategy.type", json_string("RollingUpdate"));
		jsonx_set_new(w.set, "spec.updateStrategy.rollingUpdate.partition", json_integer(0));
		w.broken[w.nrevisions - 1] = false;
		while (steps++ < QUIET_STEPS && !(control(&w, SIZE_MAX) && runs_well(&w))) {
			w.now++;
			node(&w, true);
			delete_broken(&w);
		}
		if (steps >= QUIET_STEPS) {
			auto_free char *text = json_dumps(w.set, 0);

			test_fail(__FILE__, __LINE__, "seed %u does not come to rest: %zu pods, %s", seed, w.n, text);
		}
		world_done(&w);
	}
}
