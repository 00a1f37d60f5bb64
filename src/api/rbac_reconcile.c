// SPDX-License-Identifier: Apache-2.0
/* rbac_reconcile.c - brings the stored defaults up to date at start
 *
 * Reads each default; what is missing is made, what lacks a rule or subject gets it, what its owner has added or
 * marked autoupdate "false" stays.  When nothing is missing, which is every start but the first after an upgrade,
 * nothing is written.
 */
#include "api/authz_parts.h"
#include "api/rbac_bootstrap.h"
#include "base/jsonx.h"
#include "base/mem.h"

struct defaults {
	enum rbac_kind kind;
	json_t *(*at)(size_t i);
	json_t *(*merge)(const json_t *stored, const json_t *wanted);
};

static const struct defaults defaults[] = {
	{ RBAC_CLUSTERROLE, bootstrap_role, bootstrap_merge_role },
	{ RBAC_CLUSTERROLEBINDING, bootstrap_binding, bootstrap_merge_binding },
};

static int reconcile_one(struct authz *a, const struct defaults *d, json_t *wanted, bool *changed, struct err *e)
{
	struct stored_kind *k = &a->kinds[d->kind];
	const char *name = jsonx_str(wanted, "metadata.name");
	json_auto_t *stored = NULL;
	json_auto_t *merged = NULL;

	if (stored_get(a->api, k, "", name, &stored, e) < 0) {
		if (e->kind != ERR_NOT_FOUND)
			return -1;
		err_clear(e);
		*changed = true;
		return stored_write(a->api, k, VERB_CREATE, "", name, wanted, e);
	}
	merged = d->merge(stored, wanted);
	if (!merged)
		return 0;
	*changed = true;
	return stored_write(a->api, k, VERB_UPDATE, "", name, merged, e);
}

static int reconcile(struct authz *a, const struct defaults *d, bool *changed, struct err *e)
{
	json_t *wanted;

	for (size_t i = 0; (wanted = d->at(i)); i++) {
		json_auto_t *owned = wanted;

		if (reconcile_one(a, d, owned, changed, e) < 0)
			return err_prefix(e, "default %s \"%s\"", a->kinds[d->kind].plural,
					  jsonx_str(owned, "metadata.name"));
	}
	return 0;
}

int authz_bootstrap(struct authz *a, struct err *e)
{
	bool changed = false;

	for (size_t i = 0; i < ARRAY_SIZE(defaults); i++)
		if (reconcile(a, &defaults[i], &changed, e) < 0)
			return -1;
	if (!changed) {
		/* A crash may have come between a role and those that gather it; looking can wait until we serve. */
		loop_schedule(api_loop(a->api), &a->aggregate);
		return 0;
	}
	authz_forget(a);
	return authz_aggregate(a, e);
}
