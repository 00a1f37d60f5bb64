// SPDX-License-Identifier: Apache-2.0
/* statefulset_claims.c - the claims of a StatefulSet's pods: <template>-<set>-<ordinal>
 *
 * They are made before the pod and stay when it goes, unless persistentVolumeClaimRetentionPolicy says otherwise.  That
 * works by owner references alone, the garbage collector does the rest: a claim that is to go with the set has the set
 * as an owner, one that is to go when the set shrinks gets its pod as the owner just before that pod is deleted.
 */
#include "base/jsonx.h"
#include "base/mem.h"
#include "control/pod_template.h"
#include "control/statefulset_plan.h"

static const json_t *template_at(const json_t *set, size_t i)
{
	return json_array_get(jsonx_at(set, "spec.volumeClaimTemplates"), i);
}

char *set_claim_name(const json_t *set, size_t i, int64_t ordinal)
{
	const json_t *t = template_at(set, i);

	return t ? xasprintf("%s-%s-%lld", jsonx_str_or(t, "metadata.name", ""), jsonx_str_or(set, "metadata.name", ""),
			     (long long)ordinal)
		 : NULL;
}

/* An owner that does not control it: others may own it too. */
static json_t *owner_ref(const char *api_version, const char *kind, const json_t *owner)
{
	return json_pack("{s:s, s:s, s:s, s:s}", "apiVersion", api_version, "kind", kind, "name",
			 jsonx_str_or(owner, "metadata.name", ""), "uid", jsonx_str_or(owner, "metadata.uid", ""));
}

static bool deletes(const json_t *set, const char *when)
{
	return str_same(jsonx_str(jsonx_at(set, "spec.persistentVolumeClaimRetentionPolicy"), when), "Delete");
}

json_t *set_claim(const json_t *set, size_t i, int64_t ordinal)
{
	const json_t *t = template_at(set, i);
	const json_t *notes = jsonx_at(t, "metadata.annotations");
	json_t *labels = jsonx_copy(jsonx_at(t, "metadata.labels"));
	auto_free char *name = set_claim_name(set, i, ordinal);
	json_t *meta = json_pack("{s:s, s:s}", "name", name ? name : "", "namespace",
				 jsonx_str_or(set, "metadata.namespace", ""));
	json_t *spec = jsonx_copy(json_object_get(t, "spec"));

	if (!labels)
		labels = json_object();
	json_object_update(labels, jsonx_at(set, "spec.selector.matchLabels"));
	json_object_set_new(meta, "labels", labels);
	if (notes)
		json_object_set_new(meta, "annotations", jsonx_copy(notes));
	if (deletes(set, "whenDeleted"))
		json_array_append_new(array_at(meta, "ownerReferences"), owner_ref(SET_VERSION, SET_KIND, set));
	return json_pack("{s:s, s:s, s:o, s:o}", "apiVersion", "v1", "kind", "PersistentVolumeClaim", "metadata", meta,
			 "spec", spec ? spec : json_object());
}

bool set_claim_is_stale(const json_t *claim, const char *pod_name)
{
	json_t *ref;
	size_t i;

	if (jsonx_at(claim, "metadata.deletionTimestamp"))
		return true;
	json_array_foreach (jsonx_at(claim, "metadata.ownerReferences"), i, ref)
		if (str_same(jsonx_str(ref, "kind"), "Pod") && str_same(jsonx_str(ref, "name"), pod_name))
			return true;
	return false;
}

static bool has_owner(const json_t *claim, const char *uid)
{
	json_t *ref;
	size_t i;

	json_array_foreach (jsonx_at(claim, "metadata.ownerReferences"), i, ref)
		if (str_same(jsonx_str(ref, "uid"), uid))
			return true;
	return false;
}

static void change_owner(json_t *refs, const json_t *claim, json_t *ref, bool want)
{
	const char *uid = jsonx_str_or(ref, "uid", "");

	if (has_owner(claim, uid) == want)
		json_decref(ref);
	else if (want)
		json_array_append_new(refs, ref);
	else {
		json_array_append_new(refs, json_pack("{s:s, s:s}", "$patch", "delete", "uid", uid));
		json_decref(ref);
	}
}

json_t *set_claim_patch(const json_t *set, const struct pod_facts *pod, const json_t *claim)
{
	bool surplus = !set_wants(set, set_ordinal(set, pod->name));
	bool by_pod = surplus && deletes(set, "whenScaled");
	bool by_set = deletes(set, "whenDeleted") && !by_pod;
	json_t *refs = json_array();

	change_owner(refs, claim, owner_ref(SET_VERSION, SET_KIND, set), by_set);
	change_owner(refs, claim, owner_ref("v1", "Pod", pod->obj), by_pod);
	if (json_array_size(refs))
		return json_pack("{s:{s:s, s:o}}", "metadata", "uid", jsonx_str_or(claim, "metadata.uid", ""),
				 "ownerReferences", refs);
	json_decref(refs);
	return NULL;
}
