// SPDX-License-Identifier: Apache-2.0
/* converge_model.h - what the API promises of a cluster in which nothing happens any more
 *
 * Each promise is a function that looks at everything there is and says the first thing that is wrong.  They know
 * nothing of how controllers work.
 */
#ifndef STOKER_TEST_CONVERGE_MODEL_H
#define STOKER_TEST_CONVERGE_MODEL_H

#include "converge_world.h"
#include "kinds/selector.h"

struct picture;

/* A kind of which the test makes objects. */
struct sort {
	const char *what, *prefix;
	unsigned names; /* how many of them in a namespace */
	bool plain;     /* its selector is a map */
	bool scales, rolls;
	bool adopts; /* any pod that it selects */
	/* Says what is wrong with one that has settled; `wish` is NULL for one that somebody else made. */
	bool (*holds)(const struct picture *p, const struct sort *sort, const json_t *obj, const struct wish *wish,
		      struct sbuf *why);
};

/* Everything at one moment. */
struct picture {
	json_t *all;      /* every object that the test or a controller makes, but for events */
	json_t *pods;     /* those among them that are pods */
	struct map uids;  /* uid -> object */
	struct map owned; /* uid -> array of the pods it controls */
};

static inline void decref(void *v)
{
	json_decref(v);
}

static inline const json_t *owner_ref(const json_t *obj)
{
	json_t *ref;
	size_t i;

	json_array_foreach (jsonx_at(obj, "metadata.ownerReferences"), i, ref)
		if (json_is_true(json_object_get(ref, "controller")))
			return ref;
	return NULL;
}

static inline void picture_add(struct world *w, struct picture *p, const char *what)
{
	json_auto_t *list = list_of(w, what);
	bool pods = streq(what, "v1/pods");
	json_t *stored;
	size_t i;

	json_array_foreach (list, i, stored) {
		json_t *obj = json_copy(stored);
		const char *owner = jsonx_str(owner_ref(obj), "uid");

		json_object_set_new(obj, "what", json_string(what));
		json_array_append_new(p->all, obj);
		map_set(&p->uids, jsonx_str_or(obj, "metadata.uid", ""), obj);
		if (pods)
			json_array_append(p->pods, obj);
		if (pods && owner && !map_find(&p->owned, owner))
			map_set(&p->owned, owner, json_array());
		if (pods && owner)
			json_array_append(map_find(&p->owned, owner), obj);
	}
}

static inline struct picture picture_take(struct world *w)
{
	static const char *const kinds[] = {
		"v1/namespaces",
		"v1/pods",
		"v1/services",
		"v1/endpoints",
		"v1/configmaps",
		"v1/replicationcontrollers",
		"apps/v1/replicasets",
		"batch/v1/jobs",
		"discovery.k8s.io/v1/endpointslices",
		"apps/v1/deployments",
		"apps/v1/statefulsets",
		"apps/v1/controllerrevisions",
		"apps/v1/daemonsets",
	};
	struct picture p = { .all = json_array(), .pods = json_array() };

	map_init(&p.uids, NULL);
	map_init(&p.owned, decref);
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		picture_add(w, &p, kinds[i]);
	return p;
}

static inline void picture_done(struct picture *p)
{
	map_done(&p->uids);
	map_done(&p->owned);
	json_decref(p->pods);
	json_decref(p->all);
}

/* Changes with every write to anything in it. */
static inline char *picture_text(const struct picture *p)
{
	struct sbuf text = SBUF(1 << 22);
	json_t *obj;
	size_t i;

	json_array_foreach (p->all, i, obj)
		sbuf_addf(&text, "%s %s %s\n", jsonx_str_or(obj, "what", ""), jsonx_str_or(obj, "metadata.name", ""),
			  jsonx_str_or(obj, "metadata.resourceVersion", ""));
	return sbuf_steal(&text);
}

/* ---- words ---- */

static inline bool wrong(struct sbuf *why, const json_t *obj, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
static inline bool wrong(struct sbuf *why, const json_t *obj, const char *fmt, ...)
{
	va_list ap;

	sbuf_addf(why, "%s %s/%s: ", jsonx_str_or(obj, "what", "?"), jsonx_str_or(obj, "metadata.namespace", ""),
		  jsonx_str_or(obj, "metadata.name", ""));
	va_start(ap, fmt);
	sbuf_vaddf(why, fmt, ap);
	va_end(ap);
	return false;
}

static inline bool is_active(const json_t *pod)
{
	return !is_going(pod) && !has_ended(pod);
}

static inline int64_t count_pods(const json_t *pods, bool (*which)(const json_t *pod))
{
	int64_t n = 0;
	json_t *pod;
	size_t i;

	json_array_foreach (pods, i, pod)
		n += which(pod);
	return n;
}

static inline bool is_active_and_ready(const json_t *pod)
{
	return is_active(pod) && pod_is_ready(pod);
}

static inline bool selects(const json_t *obj, const char *path, bool plain, const json_t *pod)
{
	const json_t *json = jsonx_at(obj, path);
	json_auto_t *wrapped = plain && json ? json_pack("{s:O}", "matchLabels", json) : NULL;
	struct selector *s = NULL;
	struct err e = ERR_INIT;
	bool match;

	if (!json || selector_from_json(wrapped ? wrapped : json, &s, &e) < 0)
		return false;
	match = str_same(jsonx_str(obj, "metadata.namespace"), jsonx_str(pod, "metadata.namespace")) &&
		selector_match_labels(s, jsonx_at(pod, "metadata.labels"));
	selector_free(s);
	return match;
}

static inline bool number_is(const json_t *obj, const char *path, int64_t want, struct sbuf *why)
{
	int64_t have = jsonx_int_or(obj, path, 0);

	return have == want || wrong(why, obj, "%s is %lld, not %lld", path, (long long)have, (long long)want);
}

static inline bool has_condition(const json_t *obj, const char *type)
{
	json_t *c;
	size_t i;

	json_array_foreach (jsonx_at(obj, "status.conditions"), i, c)
		if (str_same(jsonx_str(c, "type"), type))
			return str_same(jsonx_str(c, "status"), "True");
	return false;
}

/* ---- the promises of each kind ---- */

static inline const json_t *pods_of(const struct picture *p, const json_t *obj)
{
	return map_find(&p->owned, jsonx_str_or(obj, "metadata.uid", ""));
}

/* So many pods, all of them well. */
static inline bool pods_are(const json_t *obj, const json_t *own, int64_t want, struct sbuf *why)
{
	int64_t active = count_pods(own, is_active);
	int64_t ready = count_pods(own, is_active_and_ready);

	return (active == want || wrong(why, obj, "%lld pods, not %lld", (long long)active, (long long)want)) &&
	       (ready == want || wrong(why, obj, "%lld of %lld are ready", (long long)ready, (long long)want));
}

static inline bool numbers_are(const json_t *obj, const char *const *paths, int64_t want, struct sbuf *why)
{
	for (; *paths; paths++)
		if (!number_is(obj, *paths, want, why))
			return false;
	return number_is(obj, "status.observedGeneration", jsonx_int_or(obj, "metadata.generation", 0), why);
}

static inline bool replicas_hold(const struct picture *p, const struct sort *sort, const json_t *obj,
				 const struct wish *wish, struct sbuf *why)
{
	static const char *const counts[] = { "status.replicas", "status.fullyLabeledReplicas", "status.readyReplicas",
					      "status.availableReplicas", NULL };
	const json_t *own = pods_of(p, obj);
	int64_t want = wish ? wish->replicas : jsonx_int_or(obj, "spec.replicas", -1);
	json_t *pod;
	size_t i;

	json_array_foreach (own, i, pod)
		if (!selects(obj, "spec.selector", sort->plain, pod))
			return wrong(why, pod, "does not match its controller's selector");
	if (has_condition(obj, "ReplicaFailure"))
		return wrong(why, obj, "says that it fails");
	return number_is(obj, "spec.replicas", want, why) && pods_are(obj, own, want, why) &&
	       numbers_are(obj, counts, want, why);
}

static inline bool deployment_holds(const struct picture *p, const struct sort *sort, const json_t *obj,
				    const struct wish *wish, struct sbuf *why)
{
	static const char *const counts[] = { "status.replicas", "status.updatedReplicas", "status.readyReplicas",
					      "status.availableReplicas", NULL };
	const char *uid = jsonx_str(obj, "metadata.uid");
	const json_t *spec = jsonx_at(obj, "spec.template.spec");
	int64_t current = 0;
	int64_t old = 0;
	json_t *set;
	size_t i;

	(void)sort;
	json_array_foreach (p->all, i, set) {
		bool same = json_equal(jsonx_at(set, "spec.template.spec"), spec);

		if (!streq(jsonx_str_or(set, "what", ""), "apps/v1/replicasets") ||
		    !str_same(jsonx_str(owner_ref(set), "uid"), uid))
			continue;
		current += same;
		old += !same;
		if (!number_is(set, "spec.replicas", same ? wish->replicas : 0, why))
			return false;
	}
	if (current != 1 || old > jsonx_int_or(obj, "spec.revisionHistoryLimit", 10))
		return wrong(why, obj, "%lld new sets, %lld old ones", (long long)current, (long long)old);
	return number_is(obj, "spec.replicas", wish->replicas, why) && numbers_are(obj, counts, wish->replicas, why) &&
	       number_is(obj, "status.unavailableReplicas", 0, why) &&
	       (has_condition(obj, "Available") || wrong(why, obj, "does not say that it is available")) &&
	       (has_condition(obj, "Progressing") || wrong(why, obj, "does not say that it got on"));
}

static inline const char *image_of(const json_t *pod)
{
	return jsonx_str_or(json_array_get(jsonx_at(pod, "spec.containers"), 0), "image", "");
}

static inline bool stateful_set_holds(const struct picture *p, const struct sort *sort, const json_t *obj,
				      const struct wish *wish, struct sbuf *why)
{
	static const char *const counts[] = { "status.replicas",          "status.updatedReplicas",
					      "status.currentReplicas",   "status.readyReplicas",
					      "status.availableReplicas", NULL };
	const char *name = jsonx_str_or(obj, "metadata.name", "");
	const char *image = image_of(jsonx_at(obj, "spec.template"));
	const json_t *own = pods_of(p, obj);
	uint64_t seen = 0;
	json_t *pod;
	size_t i;

	(void)sort;
	json_array_foreach (own, i, pod) {
		int64_t number = -1;

		str_int64(jsonx_str_or(pod, "metadata.name", "") + strlen(name) + 1, 0, 63, &number);
		if (number < 0 || number >= wish->replicas || seen >> number & 1)
			return wrong(why, pod, "has no place");
		if (!streq(image_of(pod), image))
			return wrong(why, pod, "is of an old template");
		seen |= 1ull << number;
	}
	if (!str_same(jsonx_str(obj, "status.currentRevision"), jsonx_str(obj, "status.updateRevision")))
		return wrong(why, obj, "is between two revisions");
	return number_is(obj, "spec.replicas", wish->replicas, why) && pods_are(obj, own, wish->replicas, why) &&
	       numbers_are(obj, counts, wish->replicas, why);
}

static inline bool daemon_set_holds(const struct picture *p, const struct sort *sort, const json_t *obj,
				    const struct wish *wish, struct sbuf *why)
{
	static const char *const counts[] = { "status.desiredNumberScheduled", "status.currentNumberScheduled",
					      "status.updatedNumberScheduled", "status.numberReady",
					      "status.numberAvailable",        NULL };
	const char *image = image_of(jsonx_at(obj, "spec.template"));
	const json_t *own = pods_of(p, obj);
	uint64_t seen = 0;
	json_t *pod;
	size_t i;

	(void)sort;
	(void)wish;
	json_array_foreach (own, i, pod) {
		const char *node = jsonx_str_or(pod, "spec.nodeName", "n0");
		unsigned bit = (unsigned)(node[1] - '0');

		if (seen >> bit & 1)
			return wrong(why, pod, "is not alone on its node");
		if (!streq(image_of(pod), image))
			return wrong(why, pod, "is of an old template");
		seen |= 1u << bit;
	}
	return pods_are(obj, own, NODES, why) && numbers_are(obj, counts, NODES, why) &&
	       number_is(obj, "status.numberUnavailable", 0, why) &&
	       number_is(obj, "status.numberMisscheduled", 0, why);
}

static inline bool job_holds(const struct picture *p, const struct sort *sort, const json_t *obj,
			     const struct wish *wish, struct sbuf *why)
{
	const json_t *own = pods_of(p, obj);
	json_t *pod;
	size_t i;

	(void)sort;
	(void)wish;
	json_array_foreach (own, i, pod)
		if (jsonx_at(pod, "metadata.finalizers"))
			return wrong(why, pod, "is held by a finalizer");
	if (!pods_are(obj, own, 0, why) || !number_is(obj, "status.active", 0, why) ||
	    !number_is(obj, "status.terminating", 0, why))
		return false;
	if (json_array_size(jsonx_at(obj, "status.uncountedTerminatedPods.succeeded")) ||
	    json_array_size(jsonx_at(obj, "status.uncountedTerminatedPods.failed")))
		return wrong(why, obj, "has ends that are not counted");
	if (has_condition(obj, "Complete"))
		return number_is(obj, "status.succeeded", jsonx_int_or(obj, "spec.completions", 1), why);
	if (has_condition(obj, "Failed"))
		return jsonx_int_or(obj, "status.failed", 0) > jsonx_int_or(obj, "spec.backoffLimit", 6) ||
		       wrong(why, obj, "failed too early");
	return jsonx_bool_or(obj, "spec.suspend", false) || wrong(why, obj, "has not ended");
}

/* ---- the promises of all ---- */

static inline const struct sort *sort_of(struct world *w, const json_t *obj)
{
	for (size_t i = 0; i < w->nsorts; i++)
		if (streq(w->sorts[i].what, jsonx_str_or(obj, "what", "")))
			return &w->sorts[i];
	return NULL;
}

static inline bool in_play(const json_t *obj)
{
	const char *ns = jsonx_str_or(obj, "metadata.namespace", jsonx_str_or(obj, "metadata.name", ""));

	return streq(ns, "east") || streq(ns, "west");
}

/* Whether it may be there though nobody wished for it: a controller made it, or its owner was deleted without it. */
static inline bool may_be_there(struct world *w, const json_t *obj)
{
	const char *ns = jsonx_str_or(obj, "metadata.namespace", "");
	auto_free char *by_app = xasprintf("%s/%s", ns, jsonx_str_or(obj, "metadata.labels.app", ""));
	auto_free char *by_name = xasprintf("%s/%s", ns, jsonx_str_or(obj, "metadata.name", ""));

	return jsonx_at(obj, "metadata.ownerReferences") || map_find(&w->let_go, by_app) ||
	       map_find(&w->let_go, by_name) || streq(jsonx_str_or(obj, "metadata.name", ""), "kube-root-ca.crt");
}

/* What was asked for is there, what was deleted is not, and each is as its kind promises. */
static inline bool wishes_hold(struct world *w, const struct picture *p, struct sbuf *why)
{
	struct map found;
	size_t pos = 0;
	const char *key;
	void *wish;
	json_t *obj;
	size_t i;

	map_init(&found, NULL);
	json_array_foreach (p->all, i, obj) {
		auto_free char *name =
			xasprintf("%s %s/%s", jsonx_str_or(obj, "what", ""),
				  jsonx_str_or(obj, "metadata.namespace", ""), jsonx_str_or(obj, "metadata.name", ""));
		const struct sort *sort = sort_of(w, obj);
		const struct wish *one = map_find(&w->wishes, name);

		map_set(&found, name, obj);
		if (!in_play(obj))
			continue;
		if (is_going(obj))
			wrong(why, obj, "was deleted and stays");
		else if (sort && !one && !may_be_there(w, obj))
			wrong(why, obj, "was not asked for");
		else if (sort && sort->holds)
			sort->holds(p, sort, obj, one, why);
		if (why->n)
			break;
	}
	while (!why->n && map_next(&w->wishes, &pos, &key, &wish))
		if (!map_find(&found, key))
			sbuf_addf(why, "%s is gone", key);
	map_done(&found);
	return why->n == 0;
}

/* Nobody belongs to somebody who is not there. */
static inline bool owners_hold(struct world *w, const struct picture *p, struct sbuf *why)
{
	json_t *obj;
	json_t *ref;
	size_t i;
	size_t k;

	(void)w;
	json_array_foreach (p->all, i, obj)
		json_array_foreach (jsonx_at(obj, "metadata.ownerReferences"), k, ref) {
			const json_t *owner = map_find(&p->uids, jsonx_str_or(ref, "uid", ""));

			if (!owner)
				return wrong(why, obj, "belongs to %s %s, which is gone", jsonx_str_or(ref, "kind", ""),
					     jsonx_str_or(ref, "name", ""));
			if (!str_same(jsonx_str(owner, "metadata.name"), jsonx_str(ref, "name")) ||
			    !str_same(jsonx_str(owner, "metadata.namespace"), jsonx_str(obj, "metadata.namespace")))
				return wrong(why, obj, "belongs to somebody of another name");
		}
	return true;
}

/* A pod that nobody controls was made so, let go or orphaned; and whoever selects it has taken it. */
static inline bool orphans_hold(struct world *w, const struct picture *p, struct sbuf *why)
{
	json_t *pod;
	json_t *obj;
	size_t i;
	size_t k;

	json_array_foreach (p->pods, i, pod) {
		const char *ns = jsonx_str_or(pod, "metadata.namespace", "");
		auto_free char *key = xasprintf("%s/%s", ns, jsonx_str_or(pod, "metadata.labels.app", ""));

		if (owner_ref(pod))
			continue;
		if (!map_find(&w->let_go, key) && !map_find(&w->let_go, jsonx_str_or(pod, "metadata.uid", "")) &&
		    !str_starts(jsonx_str_or(pod, "metadata.name", ""), "bare-"))
			return wrong(why, pod, "is nobody's");
		json_array_foreach (p->all, k, obj) {
			const struct sort *sort = sort_of(w, obj);

			if (sort && sort->adopts && is_active(pod) && selects(obj, "spec.selector", sort->plain, pod))
				return wrong(why, pod, "is not adopted by %s", jsonx_str_or(obj, "metadata.name", ""));
		}
	}
	return true;
}

/* A service's endpoints are the pods that are ready, each once, in both forms; nothing else has any. */
static inline bool endpoints_hold(struct world *w, const struct picture *p, struct sbuf *why)
{
	json_t *obj;
	json_t *pod;
	size_t i;
	size_t k;

	(void)w;
	json_array_foreach (p->all, i, obj) {
		const char *what = jsonx_str_or(obj, "what", "");
		const char *ns = jsonx_str_or(obj, "metadata.namespace", "");
		const char *name = jsonx_str_or(obj, "metadata.name", "");
		int64_t want = 0;
		int64_t have = 0;
		int64_t sliced = 0;
		json_t *e;
		size_t n;

		if (!streq(what, "v1/services") || !jsonx_at(obj, "spec.selector"))
			continue;
		json_array_foreach (p->pods, k, pod)
			want += selects(obj, "spec.selector", true, pod) && is_active_and_ready(pod);
		json_array_foreach (p->all, k, e) {
			const char *kind = jsonx_str_or(e, "what", "");
			const char *of = json_string_value(
				json_object_get(jsonx_at(e, "metadata.labels"), "kubernetes.io/service-name"));
			json_t *part;

			if (!streq(jsonx_str_or(e, "metadata.namespace", ""), ns))
				continue;
			if (streq(kind, "v1/endpoints") && str_same(jsonx_str(e, "metadata.name"), name))
				json_array_foreach (jsonx_at(e, "subsets"), n, part)
					have += (int64_t)json_array_size(json_object_get(part, "addresses"));
			if (streq(kind, "discovery.k8s.io/v1/endpointslices") && str_same(of, name))
				json_array_foreach (jsonx_at(e, "endpoints"), n, part)
					sliced += jsonx_bool_or(part, "conditions.ready", false);
		}
		if (have != want || sliced != want)
			return wrong(why, obj, "%lld addresses and %lld in slices, of %lld pods", (long long)have,
				     (long long)sliced, (long long)want);
	}
	return true;
}

static inline bool promises_hold(struct world *w, const struct picture *p, struct sbuf *why)
{
	static bool (*const promises[])(struct world *, const struct picture *, struct sbuf *) = {
		wishes_hold,
		owners_hold,
		orphans_hold,
		endpoints_hold,
	};

	for (size_t i = 0; i < ARRAY_SIZE(promises); i++)
		if (!promises[i](w, p, why))
			return false;
	return true;
}

#endif
