// SPDX-License-Identifier: Apache-2.0
/* deployment_sample.h - Deployments and their ReplicaSets in words, for tests of plans
 *
 *	a:3/2/1   the ReplicaSet a is to have 3 replicas, has 2 pods, 1 of them available
 *	...       further: n of the template as it is, #2 its revision, d3 and m4 its notes of wanted and allowed
 *replicas (d0 none), p pods of it still run, u it has not seen its last change, x it is being deleted
 *
 * A Deployment is "replicas surge unavailable", or "replicas recreate".  ReplicaSets are older the earlier they stand.
 */
#ifndef STOKER_TEST_DEPLOYMENT_SAMPLE_H
#define STOKER_TEST_DEPLOYMENT_SAMPLE_H

#include "api/sample_json.h"
#include "base/clock.h"
#include "base/jsonx.h"
#include "base/mem.h"
#include "control/deployment_plan.h"
#include "test.h"

#define NOW      1000000000
#define MAX_SETS 8

static inline long number_after(const char *word, char mark, long fallback)
{
	const char *at = strchr(word, mark);

	return at ? strtol(at + 1, NULL, 10) : fallback;
}

static inline json_t *bound_of(const char *text)
{
	return strchr(text, '%') ? json_string(text) : json_integer(strtol(text, NULL, 10));
}

static inline json_t *template_of(const char *image)
{
	return json_pack("{s:{s:{s:s}}, s:{s:[{s:s, s:s}]}}", "metadata", "labels", "app", "d", "spec", "containers",
			 "name", "c", "image", image);
}

/* `more` is merged into it, two levels deep; may be NULL. */
static inline json_t *deployment_of(const char *words, const char *more)
{
	char want[16] = "", surge[16] = "", unavailable[16] = "";
	json_auto_t *extra = more ? sample_json(more) : json_object();
	json_t *d = json_pack("{s:{s:s, s:s, s:s, s:I, s:{}}, s:{s:o, s:{s:{s:s}}, s:i, s:i}, s:{}}", "metadata",
			      "name", "d", "namespace", "ns", "uid", "uid-d", "generation", (json_int_t)5,
			      "annotations", "spec", "template", template_of("now"), "selector", "matchLabels", "app",
			      "d", "progressDeadlineSeconds", 600, "revisionHistoryLimit", 2, "status");
	const char *key;
	json_t *value;

	sscanf(words, "%15s %15s %15s", want, surge, unavailable);
	jsonx_set_new(d, "spec.replicas", json_integer(strtol(want, NULL, 10)));
	jsonx_set_new(d, "spec.strategy.type", json_string(streq(surge, "recreate") ? "Recreate" : "RollingUpdate"));
	if (!streq(surge, "recreate"))
		jsonx_set_new(
			d, "spec.strategy.rollingUpdate",
			json_pack("{s:o, s:o}", "maxSurge", bound_of(surge), "maxUnavailable", bound_of(unavailable)));
	json_object_foreach (extra, key, value)
		json_object_update(json_object_get(d, key), value);
	return d;
}

static inline void note(json_t *set, const char *key, const char *word, char mark, long fallback)
{
	long n = number_after(word, mark, fallback);

	if (n > 0)
		json_object_set_new(jsonx_at(set, "metadata.annotations"), key, jsonx_stringf("%ld", n));
}

static inline json_t *set_of(const char *word, const json_t *deployment, size_t place)
{
	const char *colon = strchr(word, ':');
	const char *flags = colon + strcspn(colon, "n#dmpux");
	auto_free char *name = xstrndup(word, (size_t)(colon - word));
	long want = (long)jsonx_int_or(deployment, "spec.replicas", 0);
	int replicas = 0, have = 0, available = 0;
	char created[CLOCK_RFC3339_LEN];
	json_t *set;

	sscanf(colon + 1, "%d/%d/%d", &replicas, &have, &available);
	clock_rfc3339(NOW - 1000 + (int64_t)place, created);
	set = json_pack("{s:{s:s, s:s, s:s, s:i, s:{}, s:s}, s:{s:i, s:o}, s:{s:i, s:i, s:i, s:i}}", "metadata", "name",
			name, "namespace", "ns", "uid", name, "generation", 2, "annotations", "creationTimestamp",
			created, "spec", "replicas", replicas, "template",
			template_of(strchr(flags, 'n') ? "now" : name), "status", "replicas", have, "readyReplicas",
			available, "availableReplicas", available, "observedGeneration", strchr(flags, 'u') ? 1 : 2);
	jsonx_set_new(set, "spec.template.metadata.labels.pod-template-hash", json_string("x"));
	if (strchr(flags, 'x'))
		jsonx_set_new(set, "metadata.deletionTimestamp", json_string(created));
	note(set, NOTE_REVISION, flags, '#', (long)place + 1);
	note(set, "deployment.kubernetes.io/desired-replicas", flags, 'd', want);
	note(set, "deployment.kubernetes.io/max-replicas", flags, 'm', 0);
	return set;
}

struct sample {
	json_t *deployment;
	json_t *sets[MAX_SETS];
	struct deployment_child children[MAX_SETS];
	size_t n;
};

static inline struct sample sample_of(const char *deployment, const char *sets, const char *more)
{
	struct sample s = { .deployment = deployment_of(deployment, more) };
	struct str rest = str_of(sets);
	struct str part;

	while (*sets && str_split(&rest, ' ', &part)) {
		auto_free char *word = xstrndup(part.p, part.n);
		const char *flags = strchr(word, ':');

		s.sets[s.n] = set_of(word, s.deployment, s.n);
		s.children[s.n] = (struct deployment_child){ s.sets[s.n], strchr(flags, 'p') != NULL };
		s.n++;
	}
	return s;
}

static inline void sample_done(struct sample *s)
{
	json_decref(s->deployment);
	for (size_t i = 0; i < s->n; i++)
		json_decref(s->sets[i]);
}

static inline struct deployment_plan sample_plan(const struct sample *s)
{
	struct deployment_view v = { s->deployment, s->children, s->n, NOW };
	struct deployment_plan p;

	deployment_plan(&v, &p);
	return p;
}

#endif
