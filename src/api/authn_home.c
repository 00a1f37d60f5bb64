// SPDX-License-Identifier: Apache-2.0
/* authn_home.c - a local user owns the namespace of the same name
 *
 * It is made on first use, with a binding to "admin" in it, and an annotation says whose it is.  One that an admin has
 * made ahead, of exactly the user's name and with no owner, is handed over in the same way.  Any other that is already
 * there stays as it is: two accounts may come down to one name ("a.b", "a_b").  Who takes the binding away later has
 * the last word, because the annotation stays.
 *
 * The ordinary user who runs a server is its admin and owns no namespace; but there is one for that user's PBS jobs,
 * and it is nobody's in particular, so that pods in it are as they are elsewhere.
 */
#include "api/authn_parts.h"

#include "api/pod_owner.h"
#include "api/rbac_rules.h"
#include "base/jsonx.h"
#include "base/mem.h"

#define MAX_HOMES    4096
#define OWNER        OWNER_ANNOTATION
#define FIRST_PERSON 1000 /* uids below are services' */

/* Names with a meaning of their own, whoever has an account called so. */
static bool is_reserved(const char *ns)
{
	return !*ns || streq(ns, "default") || streq(ns, "stoker") || str_starts(ns, "kube-") ||
	       str_starts(ns, "stoker-");
}

static int make_binding(struct authn *a, const char *user, const char *ns, struct err *e)
{
	json_auto_t *binding =
		json_pack("{s:{s:s,s:s},s:{s:s,s:s,s:s},s:[{s:s,s:s,s:s}]}", "metadata", "name", "owner", "namespace",
			  ns, "roleRef", "apiGroup", RBAC_GROUP, "kind", "ClusterRole", "name", "admin", "subjects",
			  "kind", "User", "apiGroup", RBAC_GROUP, "name", user);

	if (stored_write(a->api, &a->kinds[AUTHN_BINDING], VERB_CREATE, ns, "owner", binding, e) < 0) {
		if (e->kind != ERR_EXISTS)
			return err_prefix(e, "binding namespace \"%s\" to its owner", ns);
		err_clear(e);
	}
	/* The request that brought us here is decided before the commit tells authz of the binding. */
	authz_forget(api_authz(a->api));
	return 0;
}

/* user NULL: nobody's. */
static int make_namespace(struct authn *a, const char *user, const char *ns, struct err *e)
{
	json_auto_t *namespace = json_pack("{s:{s:s}}", "metadata", "name", ns);

	if (user)
		jsonx_set_new(namespace, "metadata.annotations", json_pack("{s:s}", OWNER, user));
	if (stored_write(a->api, &a->kinds[AUTHN_NAMESPACE], VERB_CREATE, "", ns, namespace, e) < 0)
		return err_prefix(e, "making namespace \"%s\"", ns);
	return 0;
}

static int make_home(struct authn *a, const char *user, const char *ns, struct err *e)
{
	return make_namespace(a, user, ns, e) < 0 ? -1 : make_binding(a, user, ns, e);
}

/* Someone made the namespace for this user: it has exactly the name and no owner yet.  Accounts of services are left
 * out, whose names ("mail", "backup") an admin may well have used for something else. */
static bool is_waiting(const struct caller *c, const char *ns, const json_t *namespace)
{
	int64_t uid;

	return streq(c->user, ns) && str_int64(c->uid, FIRST_PERSON, UINT32_MAX, &uid) &&
	       !json_object_get(jsonx_at(namespace, "metadata.annotations"), OWNER) &&
	       !jsonx_at(namespace, "metadata.deletionTimestamp");
}

static int move_in(struct authn *a, const char *ns, json_t *namespace, struct err *e)
{
	if (!jsonx_at(namespace, "metadata.annotations"))
		jsonx_set_new(namespace, "metadata.annotations", json_object());
	json_object_set_new(jsonx_at(namespace, "metadata.annotations"), OWNER, json_string(ns));
	if (stored_write(a->api, &a->kinds[AUTHN_NAMESPACE], VERB_UPDATE, "", ns, namespace, e) < 0)
		return err_prefix(e, "marking namespace \"%s\" with its owner", ns);
	return make_binding(a, ns, ns, e);
}

bool authn_is_operator(const struct api *api, const struct caller *c)
{
	uid_t owner = api_config(api)->owner;
	auto_free char *number = xasprintf("%lld", (long long)owner);

	return owner && c->local && str_same(c->uid, number);
}

int authn_ensure_namespace(struct authn *a, const struct caller *c, struct err *e)
{
	char ns[USER_NAMESPACE_LEN];
	json_auto_t *namespace = NULL;
	bool operates = authn_is_operator(a->api, c);

	if (!c->local || map_find(&a->homes, c->user) || (caller_in_group(c, "system:masters") && !operates))
		return 0;
	authn_user_namespace(c->user, ns);
	if (is_reserved(ns))
		return 0;
	if (stored_get(a->api, &a->kinds[AUTHN_NAMESPACE], "", ns, &namespace, e) < 0) {
		if (e->kind != ERR_NOT_FOUND)
			return -1;
		err_clear(e);
		return operates ? make_namespace(a, NULL, ns, e) : make_home(a, c->user, ns, e);
	}
	if (!operates && is_waiting(c, ns, namespace))
		return move_in(a, ns, namespace, e);
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
