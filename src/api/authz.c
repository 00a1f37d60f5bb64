// SPDX-License-Identifier: Apache-2.0
/* authz.c - may you: RBAC over the stored roles and bindings
 *
 * The roles and bindings are read once, on the first question, into an index by subject (rbac_index.c).  From then on
 * committed changes keep it true; a question costs a look-up for the user and one for each group.
 *
 * A turn's writes are visible in the store before they are committed.  An index that was loaded in such a turn is
 * thrown away if the commit fails, so that nobody keeps a right that never came to be.
 */
#include "api/authz_parts.h"

#include "api/pbs.h"
#include "base/jsonx.h"
#include "base/log.h"
#include "base/mem.h"

static const struct stored_kind rbac_kinds[RBAC_KIND__COUNT] = {
	[RBAC_ROLE] = { RBAC_GROUP, "v1", "roles" },
	[RBAC_CLUSTERROLE] = { RBAC_GROUP, "v1", "clusterroles" },
	[RBAC_ROLEBINDING] = { RBAC_GROUP, "v1", "rolebindings" },
	[RBAC_CLUSTERROLEBINDING] = { RBAC_GROUP, "v1", "clusterrolebindings" },
};

/* --- keeping the index true --- */

static void drop_index(struct authz *a)
{
	rbac_index_free(a->index);
	a->index = NULL;
	if (a->waiting)
		store_after_cancel(&a->settled);
	a->waiting = false;
}

void authz_forget(struct authz *a)
{
	drop_index(a);
}

static void on_settled(void *arg, const struct err *e)
{
	struct authz *a = arg;

	a->waiting = false;
	if (e->kind != ERR_NONE)
		drop_index(a);
}

struct load {
	struct rbac_index *index;
	enum rbac_kind kind;
};

static bool load_one(void *arg, const struct record *r)
{
	struct load *l = arg;
	json_auto_t *obj = NULL;
	struct err e = ERR_INIT;

	/* An unreadable role gives nothing, which errs on the safe side. */
	if (jsonx_parse(r->body.p, r->body.n, NULL, NULL, &obj, &e) == 0)
		rbac_index_set(l->index, l->kind, r->ns, r->name, obj);
	return true;
}

static int load_index(struct authz *a, struct err *e)
{
	struct rbac_index *index = rbac_index_new();

	for (int i = 0; i < RBAC_KIND__COUNT; i++) {
		struct load l = { index, (enum rbac_kind)i };

		if (stored_resolve(a->api, &a->kinds[i], e) < 0 ||
		    store_list(api_store(a->api), &(struct store_range){ .kind = a->kinds[i].number }, load_one, &l,
			       e) < 0) {
			rbac_index_free(index);
			return err_prefix(e, "reading %s", a->kinds[i].plural);
		}
	}
	a->index = index;
	if (store_dirty(api_store(a->api))) {
		store_after(api_store(a->api), &a->settled);
		a->waiting = true;
	}
	return 0;
}

const struct rbac_index *authz_index(struct authz *a)
{
	struct err e = ERR_INIT;

	if (a->index || load_index(a, &e) == 0) {
		a->unreadable = false;
		return a->index;
	}
	/* Denied without a word would be a riddle, a line for each request a flood. */
	if (!a->unreadable)
		log_error("cannot read roles and bindings, only admins are let in: %s", e.text);
	a->unreadable = true;
	return NULL;
}

static void on_changes(void *arg, const struct change *changes, size_t n)
{
	struct authz *a = arg;

	for (size_t i = 0; i < n; i++) {
		for (int k = 0; k < RBAC_KIND__COUNT; k++) {
			if (!a->kinds[k].kind || a->kinds[k].number != changes[i].kind)
				continue;
			if (a->index)
				rbac_index_set(a->index, (enum rbac_kind)k, changes[i].ns, changes[i].name,
					       changes[i].obj);
			if (k == RBAC_CLUSTERROLE)
				loop_schedule(api_loop(a->api), &a->aggregate);
		}
	}
}

/* --- aggregated cluster roles --- */

static bool collect_role(void *arg, const struct record *r)
{
	json_t *obj = NULL;
	struct err e = ERR_INIT;

	if (jsonx_parse(r->body.p, r->body.n, NULL, NULL, &obj, &e) == 0)
		json_object_set_new(arg, r->name, obj);
	return true;
}

/* One pass over all roles; how many changed.  `changed` gathers their names. */
static size_t aggregate_pass(json_t *roles, json_t *changed)
{
	size_t n = 0;
	const char *name;
	json_t *role;

	json_object_foreach (roles, name, role) {
		const json_t *selectors = jsonx_at(role, "aggregationRule.clusterRoleSelectors");
		json_t *rules;

		if (!json_array_size(selectors))
			continue;
		rules = rbac_aggregate(name, selectors, roles);
		if (jsonx_equal(rules, json_object_get(role, "rules")) ||
		    (!json_array_size(rules) && !json_array_size(json_object_get(role, "rules")))) {
			json_decref(rules);
			continue;
		}
		json_object_set_new(role, "rules", rules);
		json_object_set_new(changed, name, json_true());
		n++;
	}
	return n;
}

int authz_aggregate(struct authz *a, struct err *e)
{
	struct stored_kind *k = &a->kinds[RBAC_CLUSTERROLE];
	json_auto_t *roles = json_object();
	json_auto_t *changed = json_object();
	size_t passes = 0;
	const char *name;
	json_t *unused;

	if (stored_resolve(a->api, k, e) < 0 ||
	    store_list(api_store(a->api), &(struct store_range){ .kind = k->number }, collect_role, roles, e) < 0)
		return -1;
	/* edit gathers view, admin gathers edit: a chain of n roles settles in n passes.  What does not settle would be
	 * written again for ever. */
	while (aggregate_pass(roles, changed))
		if (passes++ > json_object_size(roles))
			return err_set(e, ERR_INVALID, "cluster roles gather each other in a circle");
	json_object_foreach (changed, name, unused) {
		if (stored_write(a->api, k, VERB_UPDATE, "", name, json_object_get(roles, name), e) < 0)
			return err_prefix(e, "clusterrole %s", name);
	}
	return 0;
}

static void on_aggregate(void *arg)
{
	struct err e = ERR_INIT;

	if (authz_aggregate(arg, &e) < 0)
		log_warn("cannot write aggregated rules, ignoring until the next change: %s", e.text);
}

/* --- life --- */

struct authz *authz_new(struct api *api)
{
	struct authz *a = xcalloc(1, sizeof(*a));

	a->api = api;
	memcpy(a->kinds, rbac_kinds, sizeof(a->kinds));
	a->subscriber = (struct store_subscriber){ .fn = on_changes, .arg = a };
	a->settled = (struct store_after){ .fn = on_settled, .arg = a };
	a->aggregate = (struct loop_hook){ .run = on_aggregate, .arg = a, .phase = LOOP_WORK };
	store_subscribe(api_store(api), &a->subscriber);
	return a;
}

void authz_free(struct authz *a)
{
	if (!a)
		return;
	store_unsubscribe(api_store(a->api), &a->subscriber);
	loop_unschedule(api_loop(a->api), &a->aggregate);
	drop_index(a);
	free(a);
}

/* --- the question --- */

bool authz_is_master(const struct caller *c)
{
	return c == &caller_system || caller_in_group(c, "system:masters");
}

const struct rbac_grant *authz_find_grant(struct authz *a, const struct caller *c, const struct authz_attributes *at)
{
	const struct rbac_index *index = authz_index(a);

	return index ? rbac_index_find(index, c, at) : NULL;
}

bool authz_allowed(struct authz *a, const struct caller *c, const struct authz_attributes *at)
{
	return authz_is_master(c) || authz_find_grant(a, c, at);
}

static const char *or_empty(const char *s)
{
	return s ? s : "";
}

/* "pods", "jobs.batch". */
static void add_resource(struct sbuf *b, const struct authz_attributes *at)
{
	sbuf_adds(b, at->resource);
	if (*or_empty(at->group))
		sbuf_addf(b, ".%s", at->group);
}

static void forbidden_text(const struct caller *c, const struct authz_attributes *at, struct sbuf *b)
{
	const char *sub = or_empty(at->subresource);

	if (!at->resource) {
		sbuf_addf(b, "forbidden: User \"%s\" cannot %s path \"%s\"", c->user, at->verb, or_empty(at->path));
		return;
	}
	add_resource(b, at);
	if (*or_empty(at->name))
		sbuf_addf(b, " \"%s\"", at->name);
	sbuf_addf(b, " is forbidden: User \"%s\" cannot %s resource \"%s%s%s\" in API group \"%s\"", c->user, at->verb,
		  at->resource, *sub ? "/" : "", sub, or_empty(at->group));
	if (*or_empty(at->ns))
		sbuf_addf(b, " in the namespace \"%s\"", at->ns);
	else
		sbuf_adds(b, " at the cluster scope");
}

int authz_require(struct authz *a, const struct caller *c, const struct authz_attributes *at, struct err *e)
{
	auto_sbuf struct sbuf text = SBUF(sizeof(e->text) - 1);

	if (authz_allowed(a, c, at))
		return 0;
	forbidden_text(c, at, &text);
	if (at->resource)
		sbuf_adds(&text, pbs_refusal(at->group, at->resource));
	return err_set(e, ERR_FORBIDDEN, "%s", text.p ? text.p : "forbidden");
}
