// SPDX-License-Identifier: Apache-2.0
/* pod_rights.c - see pod_rights.h
 *
 * On top of the baseline level of the Pod Security Standards (kinds/pod_security.c): the uid, gid and groups are the
 * account's own, set-uid programs of an image lead nowhere, and host paths stay below the roots.  That the user may
 * read or write there is for the node to see, which opens them with the user's rights.
 *
 * No host ports at all, not even high ones: a port of the host is taken from whoever listens there, by rules that come
 * before sockets.  A Service of type NodePort gets a port that is nobody's.
 */
#include "api/pod_rights.h"

#include "base/jsonx.h"
#include "base/mem.h"
#include "kinds/field.h"
#include "kinds/pod_security.h"

#define MAX_TEXT 900 /* what fits into an error's text beside names */

struct check {
	const struct account *acc;
	const struct pod_roots *roots;
	struct sbuf out; /* complaints */
};

/* "path: VALUE is not allowed, only WHAT". */
static void complain(struct check *c, const struct path *at, const json_t *value, const char *allowed)
{
	char where[256];
	auto_sbuf struct sbuf text = SBUF(256);

	jsonx_dump(value, &text);
	sbuf_addf(&c->out, "%s%s: %s is not allowed, only %s", c->out.n ? "; " : "",
		  path_text(at, where, sizeof(where)), text.p ? text.p : "", allowed);
}

/* ---- one field ---- */

typedef void field_fn(struct check *c, const json_t *value, const struct path *at);

static void say_groups(const struct account *acc, struct sbuf *out)
{
	sbuf_addf(out, "%u", acc->gid);
	for (size_t i = 0; i < acc->ngroups; i++)
		sbuf_addf(out, ", %u", acc->groups[i]);
}

static void check_user(struct check *c, const json_t *value, const struct path *at)
{
	char text[24];

	if (json_integer_value(value) == (json_int_t)c->acc->uid)
		return;
	snprintf(text, sizeof(text), "%u", c->acc->uid);
	complain(c, at, value, text);
}

static void check_group(struct check *c, const json_t *value, const struct path *at)
{
	json_int_t gid = json_integer_value(value);
	auto_sbuf struct sbuf text = SBUF(256);

	if (gid >= 0 && gid <= UINT32_MAX && account_in_group(c->acc, (gid_t)gid))
		return;
	say_groups(c->acc, &text);
	complain(c, at, value, text.p);
}

static void check_groups(struct check *c, const json_t *value, const struct path *at)
{
	json_t *gid;
	size_t i;

	json_array_foreach ((json_t *)value, i, gid)
		check_group(c, gid, PATH_INDEX(at, i));
}

static void check_true(struct check *c, const json_t *value, const struct path *at)
{
	if (!json_is_true(value))
		complain(c, at, value, "true");
}

static void check_false(struct check *c, const json_t *value, const struct path *at)
{
	if (!json_is_false(value))
		complain(c, at, value, "false");
}

/* A group that the image's own /etc/group gives is none of the account's. */
static void check_policy(struct check *c, const json_t *value, const struct path *at)
{
	if (!str_same(json_string_value(value), "Strict"))
		complain(c, at, value, "\"Strict\"");
}

static void check_seccomp(struct check *c, const json_t *value, const struct path *at)
{
	const json_t *type = json_object_get(value, "type");

	if (!str_same(json_string_value(type), "RuntimeDefault"))
		complain(c, PATH_FIELD(at, "type"), type, "\"RuntimeDefault\"");
}

/* ---- what a field is if nobody said ---- */

static json_t *own_user(const struct account *acc)
{
	return json_integer((json_int_t)acc->uid);
}

static json_t *own_group(const struct account *acc)
{
	return json_integer((json_int_t)acc->gid);
}

static json_t *own_groups(const struct account *acc)
{
	json_t *list = json_array();

	for (size_t i = 0; i < acc->ngroups; i++)
		json_array_append_new(list, json_integer((json_int_t)acc->groups[i]));
	return list;
}

static json_t *yes(const struct account *acc)
{
	(void)acc;
	return json_true();
}

static json_t *no(const struct account *acc)
{
	(void)acc;
	return json_false();
}

static json_t *strict(const struct account *acc)
{
	(void)acc;
	return json_string("Strict");
}

static json_t *default_profile(const struct account *acc)
{
	(void)acc;
	return json_pack("{s:s}", "type", "RuntimeDefault");
}

struct field_rule {
	const char *name;
	field_fn *check;
	json_t *(*fill)(const struct account *acc); /* NULL: may be left out */
};

static const struct field_rule pod_rules[] = {
	{ "runAsUser", check_user, own_user },
	{ "runAsGroup", check_group, own_group },
	{ "runAsNonRoot", check_true, yes },
	{ "fsGroup", check_group, NULL },
	{ "supplementalGroups", check_groups, own_groups },
	{ "supplementalGroupsPolicy", check_policy, strict },
	{ "seccompProfile", check_seccomp, default_profile },
};

static const struct field_rule container_rules[] = {
	{ "runAsUser", check_user, NULL },         { "runAsGroup", check_group, NULL },
	{ "runAsNonRoot", check_true, NULL },      { "allowPrivilegeEscalation", check_false, no },
	{ "seccompProfile", check_seccomp, NULL },
};

static void apply_rules(struct check *c, json_t *holder, const struct field_rule *rules, size_t n,
			const struct path *holder_at)
{
	json_t *context = json_object_get(holder, "securityContext");
	const struct path *at = PATH_FIELD(holder_at, "securityContext");

	if (!json_is_object(context)) {
		context = json_object();
		json_object_set_new(holder, "securityContext", context);
	}
	for (; n; rules++, n--) {
		const json_t *value = json_object_get(context, rules->name);

		if (value)
			rules->check(c, value, PATH_FIELD(at, rules->name));
		else if (rules->fill)
			json_object_set_new(context, rules->name, rules->fill(c->acc));
	}
}

/* ---- host paths ---- */

/* Cuts the next part of a path off, without empty ones and "."; false at the end. */
static bool next_part(struct str *rest, struct str *part)
{
	while (str_split(rest, '/', part))
		if (part->n && !str_eq(*part, "."))
			return true;
	return false;
}

bool pod_rights_below(const char *root, const char *path)
{
	struct str r = str_of(root);
	struct str p = str_of(path);
	struct str want;
	struct str have;

	if (root[0] != '/' || path[0] != '/')
		return false;
	while (next_part(&r, &want))
		if (!next_part(&p, &have) || have.n != want.n || memcmp(have.p, want.p, want.n) != 0)
			return false;
	while (next_part(&p, &have))
		if (str_eq(have, ".."))
			return false;
	return true;
}

/* The one that it is below, or NULL. */
static const char *root_of(const json_t *roots, const char *path)
{
	json_t *root;
	size_t i;

	json_array_foreach ((json_t *)roots, i, root)
		if (json_is_string(root) && pod_rights_below(json_string_value(root), path))
			return json_string_value(root);
	return NULL;
}

static bool is_writable(const struct check *c, const char *path)
{
	const struct pod_roots *r = c->roots;

	if (r->host ? root_of(r->host, path) != NULL : *c->acc->home && pod_rights_below(c->acc->home, path))
		return true;
	return root_of(r->shared, path) != NULL;
}

static void say_list(const json_t *roots, struct sbuf *out)
{
	json_t *root;
	size_t i;

	json_array_foreach ((json_t *)roots, i, root)
		sbuf_addf(out, "%s\"%s\"", out->n ? ", " : "below ", json_string_value(root));
}

static void say_roots(const struct check *c, struct sbuf *out)
{
	if (c->roots->host)
		say_list(c->roots->host, out);
	else if (*c->acc->home)
		sbuf_addf(out, "below \"%s\"", c->acc->home);
	say_list(c->roots->shared, out);
	say_list(c->roots->readable, out);
	if (!out->n)
		sbuf_adds(out, "volumes of other types");
}

/* What may only be read is mounted so. */
static void check_read_only(struct check *c, const json_t *spec, const char *volume)
{
	for (size_t l = 0; l < ARRAY_SIZE(pod_container_lists); l++) {
		const struct path *at = PATH_FIELD(PATH_FIELD(NULL, "spec"), pod_container_lists[l]);
		json_t *container, *mount;
		size_t i, k;

		json_array_foreach (json_object_get(spec, pod_container_lists[l]), i, container)
			json_array_foreach (json_object_get(container, "volumeMounts"), k, mount)
				if (str_same(jsonx_str(mount, "name"), volume) &&
				    !jsonx_bool_or(mount, "readOnly", false))
					complain(
						c,
						PATH_FIELD(PATH_INDEX(PATH_FIELD(PATH_INDEX(at, i), "volumeMounts"), k),
							   "readOnly"),
						json_object_get(mount, "readOnly"), "true");
	}
}

void pod_rights_roots_used(const struct pod_roots *roots, const json_t *pod, struct sbuf *out)
{
	const json_t *lists[] = { roots->shared, roots->readable };
	json_t *v;
	size_t i;

	json_array_foreach (jsonx_at(pod, "spec.volumes"), i, v)
		for (size_t l = 0; l < ARRAY_SIZE(lists); l++) {
			const char *root = root_of(lists[l], jsonx_str_or(v, "hostPath.path", ""));

			if (root && !strchr(root, ','))
				sbuf_addf(out, "%s%s", out->n ? "," : "", root);
		}
}

static void check_volumes(struct check *c, const json_t *spec)
{
	const struct path *at = PATH_FIELD(PATH_FIELD(NULL, "spec"), "volumes");
	json_t *v;
	size_t i;

	json_array_foreach (json_object_get(spec, "volumes"), i, v) {
		const char *path = jsonx_str_or(v, "hostPath.path", "");
		auto_sbuf struct sbuf roots = SBUF(512);

		if (!json_object_get(v, "hostPath") || is_writable(c, path))
			continue;
		if (root_of(c->roots->readable, path)) {
			check_read_only(c, spec, jsonx_str_or(v, "name", ""));
			continue;
		}
		say_roots(c, &roots);
		complain(c, PATH_FIELD(PATH_FIELD(PATH_INDEX(at, i), "hostPath"), "path"), jsonx_at(v, "hostPath.path"),
			 roots.p);
	}
}

/* ---- all together ---- */

static void apply_containers(struct check *c, json_t *spec)
{
	for (size_t l = 0; l < ARRAY_SIZE(pod_container_lists); l++) {
		const struct path *at = PATH_FIELD(PATH_FIELD(NULL, "spec"), pod_container_lists[l]);
		json_t *container;
		size_t i;

		json_array_foreach (json_object_get(spec, pod_container_lists[l]), i, container)
			apply_rules(c, container, container_rules, ARRAY_SIZE(container_rules), PATH_INDEX(at, i));
	}
}

int pod_rights_apply(const struct account *acc, const struct pod_roots *roots, json_t *pod, struct err *e)
{
	const struct pod_security baseline = { POD_SECURITY_BASELINE, POD_SECURITY_LATEST };
	json_t *spec = json_object_get(pod, "spec");
	struct check c = { acc, roots, SBUF(MAX_TEXT) };
	auto_sbuf struct sbuf broken = SBUF(MAX_TEXT);

	if (!json_is_object(spec))
		return 0; /* validation will say so */
	if (pod_security_check(baseline, json_object_get(pod, "metadata"), spec, POD_SECURITY_HOST_PATHS, &broken))
		sbuf_addf(&c.out, "%s", broken.p);
	apply_rules(&c, spec, pod_rules, ARRAY_SIZE(pod_rules), PATH_FIELD(NULL, "spec"));
	apply_containers(&c, spec);
	check_volumes(&c, spec);
	if (c.out.n)
		err_set(e, ERR_FORBIDDEN, "pods \"%.253s\" is forbidden: beyond the rights of user \"%.63s\": %s",
			jsonx_str_or(pod, "metadata.name", ""), acc->name, c.out.p);
	sbuf_done(&c.out);
	return e->kind == ERR_NONE ? 0 : -1;
}
