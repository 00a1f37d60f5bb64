// SPDX-License-Identifier: Apache-2.0
/* adoption.c - the patches that make or end ownership
 *
 * Before an object is adopted the owner is asked for once more: one that is being deleted may just have let this very
 * object go, and what it adopts would be deleted with it.
 */
#include "control/adoption.h"

#include "base/jsonx.h"
#include "control/pod_facts.h"

void adoption_release(struct calls *calls, const char *key, const struct claim_request *r, const struct ref *child,
		      const json_t *obj)
{
	json_auto_t *patch =
		json_pack("{s:{s:s, s:[{s:s, s:s}]}}", "metadata", "uid", jsonx_str_or(obj, "metadata.uid", ""),
			  "ownerReferences", "$patch", "delete", "uid", jsonx_str_or(r->owner, "metadata.uid", ""));

	if (r->finalizer)
		json_object_set_new(json_object_get(patch, "metadata"), "$deleteFromPrimitiveList/finalizers",
				    json_pack("[s]", r->finalizer));
	calls_patch(calls, key, child, "strategic", patch, NULL, NULL);
}

/* What the call carries is {"version", "plural", "child", "patch", "owner"}: all that is needed once the owner has been
 * asked for. */
static void on_owner(void *arg, const struct answer *a)
{
	struct ref child = calls_ref(jsonx_str(a->what, "version"), jsonx_str(a->what, "plural"),
				     json_object_get(a->what, "child"));

	(void)arg;
	if (a->e->kind != ERR_NONE || !str_same(jsonx_str(a->obj, "metadata.uid"), jsonx_str(a->what, "owner")) ||
	    jsonx_at(a->obj, "metadata.deletionTimestamp"))
		return;
	calls_patch(a->calls, a->key, &child, "strategic", json_object_get(a->what, "patch"), NULL, NULL);
}

void adoption_adopt(struct calls *calls, const char *key, const struct claim_request *r, const struct ref *child,
		    const json_t *obj)
{
	struct ref owner = calls_ref(r->api_version, r->plural, r->owner);
	json_t *patch = json_pack("{s:{s:s, s:[o]}}", "metadata", "uid", jsonx_str_or(obj, "metadata.uid", ""),
				  "ownerReferences", controller_ref(r->api_version, r->kind, r->owner));
	json_auto_t *what =
		json_pack("{s:s, s:s, s:O, s:o, s:s}", "version", child->api_version, "plural", child->plural, "child",
			  obj, "patch", patch, "owner", jsonx_str_or(r->owner, "metadata.uid", ""));

	if (r->finalizer)
		jsonx_set_new(patch, "metadata.finalizers", json_pack("[s]", r->finalizer));
	calls_get(calls, key, &owner, on_owner, what);
}
