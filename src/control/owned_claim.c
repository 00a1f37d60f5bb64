// SPDX-License-Identifier: Apache-2.0
/* owned_claim.c - pods that an owner takes as its own, and those it lets go */
#include "base/jsonx.h"
#include "control/owned.h"
#include "kinds/selector.h"

static bool matches(const struct claim_request *r, const struct pod_facts *p)
{
	return selector_match_labels(r->selector, jsonx_at(p->obj, "metadata.labels")) &&
	       (!r->is_member || r->is_member(r->owner, p->obj));
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
			struct ref ref = calls_ref("v1", "pods", p->facts.obj);

			adoption_release(calls, key, r, &ref, p->facts.obj);
			called = true;
		}
	}
	for (size_t i = 0; r->adopt && i < orphans.n; i++) {
		const struct pod_facts *p = &orphans.pods[i]->facts;

		if (!p->deleting && matches(r, p)) {
			struct ref ref = calls_ref("v1", "pods", p->obj);

			adoption_adopt(calls, key, r, &ref, p->obj);
			called = true;
		}
	}
	return called;
}
