// SPDX-License-Identifier: Apache-2.0
/* authn_home.c - a local user owns the namespace of the same name
 *
 * It is made on first use, with a binding to "admin" in it.  A namespace that is already there is never taken over:
 * two accounts may come down to one name ("a.b", "a_b"), and an account may be called like something an admin
 * made for another purpose.
 */
#include "api/authn_parts.h"

#include <ctype.h>

#include "api/authz.h"
#include "base/mem.h"

#define MAX_HOMES 4096

void authn_user_namespace(const char *user, char out[USER_NAMESPACE_LEN])
{
	size_t n = 0;

	for (const char *p = user; *p && n < USER_NAMESPACE_LEN - 1; p++) {
		unsigned char c = (unsigned char)*p;
		char to = (char)(c < 128 && isalnum(c) ? tolower(c) : '-');

		if (n || to != '-')
			out[n++] = to;
	}
	while (n && out[n - 1] == '-')
		n--;
	out[n] = '\0';
}

/* Names with a meaning of their own, whoever has an account called so. */
static bool is_reserved(const char *ns)
{
	return !*ns || streq(ns, "default") || streq(ns, "stoker") || str_starts(ns, "kube-") ||
	       str_starts(ns, "stoker-");
}

static int make_home(struct authn *a, const char *user, const char *ns, struct err *e)
{
	json_auto_t *namespace =
		json_pack("{s:{s:s,s:{s:s}}}", "metadata", "name", ns, "annotations", "stoker.dev/owner", user);
	json_auto_t *binding =
		json_pack("{s:{s:s,s:s},s:{s:s,s:s,s:s},s:[{s:s,s:s,s:s}]}", "metadata", "name", "owner", "namespace",
			  ns, "roleRef", "apiGroup", "rbac.authorization.k8s.io", "kind", "ClusterRole", "name",
			  "admin", "subjects", "kind", "User", "apiGroup", "rbac.authorization.k8s.io", "name", user);

	if (!namespace || !binding)
		return err_set(e, ERR_INVALID, "user name is not UTF-8");
	if (stored_write(a->api, &a->kinds[AUTHN_NAMESPACE], VERB_CREATE, "", ns, namespace, e) < 0 ||
	    stored_write(a->api, &a->kinds[AUTHN_BINDING], VERB_CREATE, ns, "owner", binding, e) < 0)
		return err_prefix(e, "making namespace \"%s\"", ns);
	/* The request that brought us here is decided before the commit tells authz of the binding. */
	authz_forget(api_authz(a->api));
	return 0;
}

int authn_ensure_namespace(struct authn *a, const struct caller *c, struct err *e)
{
	struct stored_kind *k = &a->kinds[AUTHN_NAMESPACE];
	char ns[USER_NAMESPACE_LEN];

	if (!c->local || map_find(&a->homes, c->user) || caller_in_group(c, "system:masters"))
		return 0;
	authn_user_namespace(c->user, ns);
	if (is_reserved(ns))
		return 0;
	if (stored_resolve(a->api, k, e) < 0)
		return -1;
	if (!store_exists(api_store(a->api), k->number, "", ns))
		return make_home(a, c->user, ns, e);
	/* Remembered only when it is sure to last: a write of this turn could still be undone. */
	if (store_dirty(api_store(a->api)))
		return 0;
	if (a->homes.n >= MAX_HOMES)
		map_done(&a->homes);
	map_set(&a->homes, c->user, a);
	return 0;
}

void authn_homes_changed(struct authn *a, const struct change *c)
{
	const struct stored_kind *k = &a->kinds[AUTHN_NAMESPACE];

	if (c->op == STORE_DELETED && k->kind && k->number == c->kind)
		map_done(&a->homes);
}
