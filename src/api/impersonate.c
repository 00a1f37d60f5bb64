// SPDX-License-Identifier: Apache-2.0
/* impersonate.c - Impersonate-User, -Group, -Uid and -Extra-*: asking as someone else
 *
 * Each part needs the verb "impersonate" on what it names; the audit log keeps who it really was.  The result is
 * never local: it owns no namespace and gets none made.
 */
#include "api/authn_parts.h"

#include "api/authz.h"
#include "base/mem.h"

/* --- may they --- */

struct asking {
	struct authz *authz;
	const struct caller *caller;
};

static int require(const struct asking *q, const char *group, const char *resource, const char *sub, const char *ns,
		   const char *name, struct err *e)
{
	struct authz_attributes at = {
		.verb = "impersonate", .group = group, .resource = resource, .subresource = sub, .ns = ns, .name = name
	};

	return authz_require(q->authz, q->caller, &at, e);
}

static int require_user(const struct asking *q, const char *user, struct err *e)
{
	struct str ns, name;

	if (token_service_account(user, &ns, &name)) {
		auto_free char *in = xstrndup(ns.p, ns.n);
		auto_free char *account = xstrndup(name.p, name.n);

		return require(q, "", "serviceaccounts", "", in, account, e);
	}
	return require(q, "", "users", "", "", user, e);
}

static int require_extra(const struct asking *q, const json_t *extra, struct err *e)
{
	const char *key;
	json_t *values, *value;
	size_t k;

	json_object_foreach ((json_t *)extra, key, values) {
		json_array_foreach (values, k, value) {
			if (require(q, "authentication.k8s.io", "userextras", key, "", json_string_value(value), e) < 0)
				return -1;
		}
	}
	return 0;
}

static int require_all(const struct asking *q, const struct impersonation *i, struct err *e)
{
	const struct caller *rest = identity_caller(i->rest);

	if (require_user(q, i->user, e) < 0)
		return -1;
	for (const char *const *g = rest->groups; *g; g++)
		if (require(q, "", "groups", "", "", *g, e) < 0)
			return -1;
	if (i->uid && require(q, "authentication.k8s.io", "uids", "", "", i->uid, e) < 0)
		return -1;
	return require_extra(q, rest->extra, e);
}

/* --- the new identity --- */

static void add_account_groups(struct identity *id, const char *user)
{
	struct str ns, name;

	if (token_service_account(user, &ns, &name)) {
		auto_free char *group = xasprintf("system:serviceaccounts:%.*s", STR_FMT(ns));

		identity_add_group(id, "system:serviceaccounts");
		identity_add_group(id, group);
	}
}

static void copy_extra(struct identity *id, const json_t *extra)
{
	const char *key;
	json_t *values, *value;
	size_t k;

	json_object_foreach ((json_t *)extra, key, values) {
		json_array_foreach (values, k, value) {
			identity_add_extra(id, key, json_string_value(value));
		}
	}
}

static struct identity *become(const struct impersonation *i, const char *real_user)
{
	const struct caller *rest = identity_caller(i->rest);
	struct identity *id = identity_new(i->user, i->uid ? i->uid : "");

	for (const char *const *g = rest->groups; *g; g++)
		identity_add_group(id, *g);
	if (!*rest->groups)
		add_account_groups(id, i->user);
	if (!caller_in_group(rest, GROUP_UNAUTHENTICATED))
		identity_add_group(id, streq(i->user, USER_ANONYMOUS) ? GROUP_UNAUTHENTICATED : GROUP_AUTHENTICATED);
	copy_extra(id, rest->extra);
	identity_set_impersonator(id, real_user);
	return id;
}

int authn_impersonate(struct authn *a, const struct identity *real, const struct impersonation *i,
		      struct identity **ret, struct err *e)
{
	struct asking q = { api_authz(a->api), identity_caller(real) };

	if (!i->user || !*i->user)
		return err_set(e, ERR_BAD_REQUEST, "requested impersonation without impersonating a user name");
	if (require_all(&q, i, e) < 0)
		return -1;
	*ret = become(i, q.caller->user);
	return 0;
}
