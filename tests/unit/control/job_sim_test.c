// SPDX-License-Identifier: Apache-2.0
/* A small world in which a controller of Jobs is killed after any of its writes.
 *
 * The world keeps its own books: who really succeeded and who really failed.  Whatever happened on the way, the Job's
 * status must end up saying the same, and no pod may be left with the finalizer.
 */
#include "api/sample_json.h"
#include "base/clock.h"
#include "base/jsonx.h"
#include "base/mem.h"
#include "control/job_indexes.h"
#include "control/job_plan.h"
#include "test.h"

#define MAX_PODS 400
#define RUNS     80

struct sim_pod {
	json_t *obj;
	bool gone;    /* no longer in the API */
	bool removed; /* sent away without being counted */
};

struct world {
	unsigned seed;
	int64_t now;
	json_t *job;
	struct sim_pod pods[MAX_PODS];
	size_t n;
	int fails; /* of 10 pods that end */
};

static unsigned dice(struct world *w, unsigned sides)
{
	return (unsigned)rand_r(&w->seed) % sides;
}

static bool has_finalizer(const json_t *pod)
{
	return json_array_size(jsonx_at(pod, "metadata.finalizers")) > 0;
}

static struct sim_pod *find_pod(struct world *w, const struct pod_facts *p)
{
	for (size_t i = 0; i < w->n; i++)
		if (streq(jsonx_str(w->pods[i].obj, "metadata.uid"), p->uid))
			return &w->pods[i];
	return NULL;
}

static void go_if_free(struct sim_pod *p)
{
	const char *phase = jsonx_str_or(p->obj, "status.phase", "");

	if (jsonx_at(p->obj, "metadata.deletionTimestamp") && !has_finalizer(p->obj) &&
	    (streq(phase, "Succeeded") || streq(phase, "Failed")))
		p->gone = true;
}

static void set_time(struct world *w, json_t *obj, const char *path)
{
	char text[CLOCK_RFC3339_LEN];

	clock_rfc3339(w->now, text);
	jsonx_set_new(obj, path, json_string(text));
}

/* ---- the API ---- */

static void do_create(struct world *w, const struct job_new_pod *n)
{
	json_t *pod = job_pod(w->job, n);
	struct sim_pod *p = &w->pods[w->n];

	if (w->n >= MAX_PODS) {
		json_decref(pod);
		return;
	}
	jsonx_set_new(pod, "metadata.uid", jsonx_stringf("pod-%zu", w->n));
	jsonx_set_new(pod, "metadata.name", jsonx_stringf("pod-%zu", w->n));
	jsonx_set_new(pod, "status", json_pack("{s:s}", "phase", "Pending"));
	set_time(w, pod, "metadata.creationTimestamp");
	*p = (struct sim_pod){ .obj = pod };
	w->n++;
}

static void do_delete(struct world *w, struct sim_pod *p)
{
	if (!jsonx_at(p->obj, "metadata.deletionTimestamp"))
		set_time(w, p->obj, "metadata.deletionTimestamp");
	go_if_free(p);
}

static void do_untrack(struct sim_pod *p)
{
	jsonx_del(p->obj, "metadata.finalizers");
	go_if_free(p);
}

/* All writes of a plan in order, or only the first `most` of them. */
static void apply(struct world *w, const struct job_plan *p, size_t most)
{
	size_t done = 0;

	for (size_t i = 0; i < p->ncreate && done++ < most; i++)
		do_create(w, &p->create[i]);
	for (size_t i = 0; i < p->nremove && done++ < most; i++) {
		struct sim_pod *pod = find_pod(w, p->remove[i]);

		pod->removed = true;
		do_untrack(pod);
		if (done++ < most)
			do_delete(w, pod);
	}
	for (size_t i = 0; i < p->nend && done++ < most; i++)
		do_delete(w, find_pod(w, p->end[i]));
	for (size_t i = 0; i < p->nuntrack && done++ < most; i++)
		do_untrack(find_pod(w, p->untrack[i]));
	if (p->status && done++ < most)
		json_object_set(w->job, "status", p->status);
}

static size_t writes_in(const struct job_plan *p)
{
	return p->ncreate + 2 * p->nremove + p->nend + p->nuntrack + (p->status != NULL);
}

/* Returns false if there was nothing to do. */
static bool control(struct world *w, bool crash)
{
	json_auto_t *copies = json_array(); /* the plan must not see its own writes */
	struct pod_facts facts[MAX_PODS];
	const struct pod_facts *pods[MAX_PODS];
	struct job_view v = { .job = w->job, .pods = pods, .now = w->now, .create_most = JOB_CREATE_MOST };
	json_auto_t *job = jsonx_copy(w->job);
	struct job_plan p;
	size_t writes;

	v.job = job;
	for (size_t i = 0; i < w->n; i++)
		if (!w->pods[i].gone) {
			json_t *copy = jsonx_copy(w->pods[i].obj);

			json_array_append_new(copies, copy);
			facts[v.n] = pod_facts(copy);
			pods[v.n] = &facts[v.n];
			v.n++;
		}
	job_plan(&v, &p);
	writes = writes_in(&p);
	apply(w, &p, crash ? dice(w, (unsigned)writes + 1) : writes + 1);
	w->now += p.again > 0 ? p.again : 1;
	job_plan_done(&p);
	return writes > 0;
}

/* ---- the pods ---- */

static void end_pod(struct world *w, struct sim_pod *p, bool fails)
{
	json_t *state = json_pack("{s:s, s:{s:{s:i}}}", "name", "c", "state", "terminated", "exitCode", fails);

	set_time(w, state, "state.terminated.finishedAt");
	jsonx_set_new(p->obj, "status.phase", json_string(fails ? "Failed" : "Succeeded"));
	jsonx_set_new(p->obj, "status.containerStatuses", json_pack("[o]", state));
	go_if_free(p);
}

static void live(struct world *w)
{
	struct sim_pod *p = w->n ? &w->pods[dice(w, (unsigned)w->n)] : NULL;
	const char *phase = p ? jsonx_str_or(p->obj, "status.phase", "") : "";

	if (!p || p->gone)
		return;
	if (streq(phase, "Pending") && dice(w, 3))
		jsonx_set_new(p->obj, "status.phase", json_string("Running"));
	else if (streq(phase, "Pending") || streq(phase, "Running"))
		end_pod(w, p, (int)dice(w, 10) < w->fails);
	else if (dice(w, 20) == 0)
		do_delete(w, p); /* somebody tidies up */
}

static bool finished(const struct world *w)
{
	return job_finished(w->job) != NULL;
}

static int64_t tally(const struct world *w, const char *phase)
{
	int64_t n = 0;

	for (size_t i = 0; i < w->n; i++)
		n += !w->pods[i].removed && str_same(jsonx_str(w->pods[i].obj, "status.phase"), phase);
	return n;
}

static bool run(struct world *w, const char *spec, unsigned seed, int fails)
{
	auto_free char *text = xasprintf("{'metadata':{'name':'j','namespace':'ns','uid':'u'},'spec':{%s,'template':"
					 "{'spec':{'containers':[{'name':'c'}]}}}}",
					 spec);
	int quiet = 0;

	*w = (struct world){ .seed = seed, .now = 1000000000, .job = sample_json(text), .fails = fails };
	for (int step = 0; step < 20000 && !finished(w); step++) {
		if (dice(w, 2))
			live(w);
		else
			quiet = control(w, dice(w, 2) == 0) ? 0 : quiet + 1;
	}
	while (control(w, false) && quiet++ < 100)
		;
	return finished(w);
}

static void end(struct world *w)
{
	for (size_t i = 0; i < w->n; i++)
		json_decref(w->pods[i].obj);
	json_decref(w->job);
}

static const char *kind_of_end(const struct world *w)
{
	return jsonx_str_or(job_finished(w->job), "type", "");
}

static void check_books(const struct world *w, unsigned seed, bool indexed)
{
	int64_t succeeded = jsonx_int_or(w->job, "status.succeeded", 0);
	int64_t failed = jsonx_int_or(w->job, "status.failed", 0);
	size_t tracked = 0;

	for (size_t i = 0; i < w->n; i++)
		tracked += !w->pods[i].gone && has_finalizer(w->pods[i].obj);
	if (tracked || (!indexed && succeeded != tally(w, "Succeeded")) || (!indexed && failed != tally(w, "Failed")))
		test_fail(__FILE__, __LINE__,
			  "seed %u: %lld and %lld in the status, %lld and %lld in the world, %zu pods are held", seed,
			  (long long)succeeded, (long long)failed, (long long)tally(w, "Succeeded"),
			  (long long)tally(w, "Failed"), tracked);
}

TEST("however often the controller is killed, every success and every failure is counted once")
{
	for (unsigned seed = 1; seed <= RUNS; seed++) {
		struct world w;

		if (!run(&w, "'parallelism':3,'completions':7,'backoffLimit':100,'podReplacementPolicy':'Failed'", seed,
			 (int)(seed % 6)))
			test_fail(__FILE__, __LINE__, "seed %u does not end", seed);
		CHECK_STR(kind_of_end(&w), "Complete");
		CHECK_INT(jsonx_int_or(w.job, "status.succeeded", 0), 7);
		check_books(&w, seed, false);
		end(&w);
	}
}

TEST("the same for a job that fails in the end, and those it ends count as failed")
{
	for (unsigned seed = 1; seed <= RUNS; seed++) {
		struct world w;

		CHECK(run(&w, "'parallelism':4,'completions':50,'backoffLimit':3,'podReplacementPolicy':'Failed'", seed,
			  5));
		CHECK_STR(kind_of_end(&w), "Failed");
		CHECK(jsonx_int_or(w.job, "status.failed", 0) > 3);
		CHECK_INT(jsonx_int_or(w.job, "status.active", 0), 0);
		end(&w);
	}
}

TEST("the same for indexes: each is complete once, and none is forgotten")
{
	for (unsigned seed = 1; seed <= RUNS; seed++) {
		struct world w;

		CHECK(run(&w, "'completionMode':'Indexed','parallelism':3,'completions':6,'backoffLimit':200", seed,
			  (int)(seed % 7)));
		CHECK_STR(kind_of_end(&w), "Complete");
		CHECK_INT(jsonx_int_or(w.job, "status.succeeded", 0), 6);
		CHECK_STR(jsonx_str(w.job, "status.completedIndexes"), "0-5");
		check_books(&w, seed, true);
		end(&w);
	}
}

TEST("the same with a limit for each index: it is tried so often and not once more")
{
	for (unsigned seed = 1; seed <= RUNS; seed++) {
		struct world w;
		int tried[5] = { 0 };
		auto_index_set struct index_set failed = { 0 };
		auto_index_set struct index_set done = { 0 };

		CHECK(run(&w,
			  "'completionMode':'Indexed','parallelism':3,'completions':5,'backoffLimit':2147483647,"
			  "'backoffLimitPerIndex':2,'podReplacementPolicy':'Failed'",
			  seed, (int)(seed % 8)));
		index_set_parse(&failed, jsonx_str(w.job, "status.failedIndexes"), 5);
		index_set_parse(&done, jsonx_str(w.job, "status.completedIndexes"), 5);
		for (size_t i = 0; i < w.n; i++) {
			struct pod_facts f = pod_facts(w.pods[i].obj);

			if (!w.pods[i].removed && f.phase == POD_IS_FAILED)
				tried[f.index]++;
		}
		CHECK_INT(index_set_count(&failed) + index_set_count(&done), 5);
		for (int i = 0; i < 5; i++)
			CHECK_INT(tried[i] == 3, index_set_has(&failed, i));
		CHECK_STR(kind_of_end(&w), failed.n ? "Failed" : "Complete");
		check_books(&w, seed, true);
		end(&w);
	}
}
