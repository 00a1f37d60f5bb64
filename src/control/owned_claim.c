// SPDX-License-Identifier: Apache-2.0
/* owned_claim.c - pods that an owner takes as its own, and those it lets go
 *
 * Before a pod is adopted the owner is asked for once more: one that is being deleted may just have let this very pod
 * go, and an adopted pod would be deleted with it.
 */
#include "base/jsonx.h"
#include "base/mem.h"
#include "control/owned.h"
#include "kinds/selector.h"

static void release(struct calls *calls, const char *key, const struct claim_request *r, const struct pod_facts *p)
{
	struct ref ref = calls_ref("v1", "pods", p->obj);
	json_auto_t *patch = json_pack("{s:{s:s, s:[{s:s, s:s}]}}", "metadata", "uid", p->uid, "ownerReferences",
				       "$patch", "delete", "uid", jsonx_str_or(r->owner, "metadata.uid", ""));

	if (r->finalizer)
		json_object_set_new(json_object_get(patch, "metadata"), "$deleteFromPrimitiveList/finalizers",
				    json_pack("[s]", r->finalizer));
	calls_patch(calls, key, &ref, "strategic", patch, NULL, NULL);
}

/* What the call carries is {"pod", "patch", "owner"}: all that is needed once the owner has been asked for. */
static void on_owner(void *arg, const struct answer *a)
{
	struct ref ref = calls_ref("v1", "pods", json_object_get(a->what, "pod"));

	(void)arg;
	if (a->e->kind != ERR_NONE || !str_same(jsonx_str(a->obj, "metadata.uid"), jsonx_str(a->what, "owner")) ||
	    jsonx_at(a->obj, "metadata.deletionTimestamp"))
		return;
	calls_patch(a->calls, a->key, &ref, "strategic", json_object_get(a->what, "patch"), NULL, NULL);
}

static void adopt(struct calls *calls, const char *key, const struct claim_request *r, const struct pod_facts *p)
{
	struct ref owner = calls_ref(r->api_version, r->plural, r->owner);
	json_t *patch = json_pack("{s:{s:s, s:[o]}}", "metadata", "uid", p->uid, "ownerReferences",
				  controller_ref(r->api_version, r->kind, r->owner));
	json_auto_t *what = json_pack("{s:O, s:o, s:s}", "pod", p->obj, "patch", patch, "owner",
				      jsonx_str_or(r->owner, "metadata.uid", ""));

	if (r->finalizer)
		jsonx_set_new(patch, "metadata.finalizers", json_pack("[s]", r->finalizer));
	calls_get(calls, key, &owner, on_owner, what);
}

static bool matches(const struct claim_request *r, const struct pod_facts *p)
{
	return selector_match_labels(r->selector, jsonx_at(p->obj, "metadata.labels"));
}

bool owned_claim(struct owned *o, struct calls *calls, const char *key, const struct claim_request *r)
{
	struct owned_list own = owned_by(o, jsonx_str_or(r->owner, "metadata.uid", ""));
	struct owned_list orphans = owned_orphans(o, jsonx_str_or(r->owner, "metadata.namespace", ""));
	bool called = false;

	if (jsonx_at(r->owner, "metadata.deletionTimestamp"))
		return false;
	for (size_t i = 0; i < own.n; i++) {
		struct owned_pod *p = own.pods[i];

		if (!p->checked) {
			p->checked = true;
			p->astray = !matches(r, &p->facts);
		}
		if (p->astray) {
			release(calls, key, r, &p->facts);
			called = true;
		}
	}
	for (size_t i = 0; r->adopt && i < orphans.n; i++) {
		const struct pod_facts *p = &orphans.pods[i]->facts;

		if (!p->deleting && matches(r, p)) {
			adopt(calls, key, r, p);
			called = true;
		}
	}
	return called;
}
