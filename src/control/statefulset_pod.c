// SPDX-License-Identifier: Apache-2.0
/* statefulset_pod.c - a pod of a StatefulSet: its name is its host name, and its claims are its volumes
 *
 * With a headless Service of the name in spec.serviceName, it is found as <pod>.<service>.<namespace>.svc wherever it
 * runs.
 */
#include "base/jsonx.h"
#include "base/mem.h"
#include "control/pod_template.h"
#include "control/statefulset_plan.h"

static json_t *volume_of(const json_t *set, size_t i, int64_t ordinal)
{
	const json_t *template = json_array_get(jsonx_at(set, "spec.volumeClaimTemplates"), i);
	auto_free char *claim = set_claim_name(set, i, ordinal);

	return json_pack("{s:s, s:{s:s}}", "name", jsonx_str_or(template, "metadata.name", ""), "persistentVolumeClaim",
			 "claimName", claim);
}

/* A claim comes before a volume of the template that has its name. */
static void set_volumes(json_t *spec, const json_t *set, int64_t ordinal)
{
	size_t n = json_array_size(jsonx_at(set, "spec.volumeClaimTemplates"));
	json_t *volumes;
	json_t *v;
	size_t i;

	if (!n)
		return;
	volumes = json_array();
	for (i = 0; i < n; i++)
		json_array_append_new(volumes, volume_of(set, i, ordinal));
	json_array_foreach (json_object_get(spec, "volumes"), i, v)
		if (!jsonx_find(volumes, "name", jsonx_str_or(v, "name", "")))
			json_array_append(volumes, v);
	json_object_set_new(spec, "volumes", volumes);
}

json_t *set_pod(const json_t *set, const struct set_new_pod *p)
{
	json_t *pod = pod_from_template(revision_template(p->revision), set, SET_VERSION, SET_KIND);
	json_t *meta = json_object_get(pod, "metadata");
	json_t *spec = json_object_get(pod, "spec");
	json_t *labels = object_at(meta, "labels");
	auto_free char *name = xasprintf("%s-%lld", jsonx_str_or(set, "metadata.name", ""), (long long)p->ordinal);
	const char *service = jsonx_str_or(set, "spec.serviceName", "");

	json_object_del(meta, "generateName");
	json_object_set_new(meta, "name", jsonx_string(name));
	json_object_set_new(labels, LABEL_POD_NAME, jsonx_string(name));
	json_object_set_new(labels, LABEL_POD_INDEX, jsonx_stringf("%lld", (long long)p->ordinal));
	json_object_set_new(labels, LABEL_REVISION_HASH, jsonx_string(p->revision->name));
	json_object_set_new(spec, "hostname", jsonx_string(name));
	if (*service)
		json_object_set_new(spec, "subdomain", jsonx_string(service));
	set_volumes(spec, set, p->ordinal);
	return pod;
}
