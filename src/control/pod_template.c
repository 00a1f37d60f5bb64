// SPDX-License-Identifier: Apache-2.0
/* pod_template.c - from a template and its owner to a pod
 *
 * Only labels, annotations and finalizers of the template's metadata go into the pod: its name, if it has one, means
 * nothing.
 */
#include "control/pod_template.h"

#include "base/jsonx.h"
#include "base/mem.h"
#include "control/pod_facts.h"

json_t *object_at(json_t *obj, const char *key)
{
	json_t *v = json_object_get(obj, key);

	if (!json_is_object(v)) {
		v = json_object();
		json_object_set_new(obj, key, v);
	}
	return v;
}

json_t *array_at(json_t *obj, const char *key)
{
	json_t *v = json_object_get(obj, key);

	if (!json_is_array(v)) {
		v = json_array();
		json_object_set_new(obj, key, v);
	}
	return v;
}

json_t *pod_from_template(const json_t *template, const json_t *owner, const char *api_version, const char *kind)
{
	static const char *const kept[] = { "labels", "annotations", "finalizers" };
	json_t *spec = jsonx_copy(json_object_get(template, "spec"));
	json_t *meta = json_pack("{s:s, s:o, s:[o]}", "namespace", jsonx_str_or(owner, "metadata.namespace", ""),
				 "generateName", jsonx_stringf("%s-", jsonx_str_or(owner, "metadata.name", "")),
				 "ownerReferences", controller_ref(api_version, kind, owner));

	for (size_t i = 0; i < ARRAY_SIZE(kept); i++) {
		const json_t *v = json_object_get(json_object_get(template, "metadata"), kept[i]);

		if (v)
			json_object_set_new(meta, kept[i], jsonx_copy(v));
	}
	return json_pack("{s:s, s:s, s:o, s:o}", "apiVersion", "v1", "kind", "Pod", "metadata", meta, "spec",
			 spec ? spec : json_object());
}
