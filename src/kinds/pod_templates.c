// SPDX-License-Identifier: Apache-2.0
/* pod_templates.c - see pod_templates.h
 *
 * Kinds without a path describe their pods in words of their own.
 */
#include "kinds/pod_templates.h"

#include "base/mem.h"

static const struct {
	const char *group, *plural;
	const char *paths[2]; /* '*' is every value of a map or list */
} rows[] = {
	{ "", "replicationcontrollers", { "spec.template" } },
	{ "", "podtemplates", { "template" } },
	{ "apps", "deployments", { "spec.template" } },
	{ "apps", "replicasets", { "spec.template" } },
	{ "apps", "statefulsets", { "spec.template" } },
	{ "apps", "daemonsets", { "spec.template" } },
	{ "batch", "jobs", { "spec.template" } },
	{ "batch", "cronjobs", { "spec.jobTemplate.spec.template" } },
	{ "kubeflow.org", "tfjobs", { "spec.tfReplicaSpecs.*.template" } },
	{ "kubeflow.org", "pytorchjobs", { "spec.pytorchReplicaSpecs.*.template", "spec.replicaSpecs.*.template" } },
	{ "kubeflow.org", "mpijobs", { "spec.mpiReplicaSpecs.*.template" } },
	{ "kubeflow.org", "paddlejobs", { "spec.paddleReplicaSpecs.*.template" } },
	{ "kubeflow.org", "notebooks", { "spec.template" } },
	{ "serving.kserve.io", "inferenceservices", { NULL } },
	{ "stoker.dev", "pbsjobs", { NULL } },
	{ "stoker.dev", "builds", { NULL } },
};

static size_t find(const struct kind *k)
{
	size_t i = 0;

	/* A custom kind of the same name has a controller elsewhere. */
	while (i < ARRAY_SIZE(rows) &&
	       ((k->flags & KIND_CUSTOM) || !streq(rows[i].group, k->group) || !streq(rows[i].plural, k->plural)))
		i++;
	return i;
}

bool pod_templates_lead(const struct kind *k)
{
	return find(k) < ARRAY_SIZE(rows);
}

static void walk(const json_t *v, struct str path, void (*fn)(void *arg, const json_t *tpl), void *arg)
{
	struct str part;
	const char *key;
	json_t *one;
	size_t i;

	while (v && str_split(&path, '.', &part)) {
		if (!str_eq(part, "*")) {
			v = json_object_getn(v, part.p, part.n);
			continue;
		}
		json_object_foreach ((json_t *)v, key, one)
			walk(one, path, fn, arg);
		json_array_foreach ((json_t *)v, i, one)
			walk(one, path, fn, arg);
		return;
	}
	if (v)
		fn(arg, v);
}

void pod_templates_each(const struct kind *k, const json_t *obj, void (*fn)(void *arg, const json_t *tpl), void *arg)
{
	size_t i = find(k);

	for (size_t p = 0; i < ARRAY_SIZE(rows) && p < ARRAY_SIZE(rows[i].paths); p++)
		if (rows[i].paths[p])
			walk(obj, str_of(rows[i].paths[p]), fn, arg);
}
