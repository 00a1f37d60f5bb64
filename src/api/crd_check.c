// SPDX-License-Identifier: Apache-2.0
/* crd_check.c - is a CustomResourceDefinition fit to be served; what the server fills in
 *
 * Everything that could make its kinds impossible is refused here, with the path, so that crd_kind.c cannot fail
 * later.  Names that someone else already has are no error of the definition: it is stored with NamesAccepted=False
 * and not served, as in Kubernetes.  A definition of kinds that are built in (TFJob and its like come with manifests)
 * is accepted and changes nothing, so that existing installation scripts work.
 */
#include <ctype.h>

#include "api/crd_impl.h"
#include "base/clock.h"
#include "base/jsonx.h"
#include "base/mem.h"
#include "kinds/condition.h"
#include "kinds/jsonpath.h"
#include "kinds/names.h"
#include "kinds/schema.h"

/* --- defaults --- */

static void set_if_absent(json_t *obj, const char *path, json_t *value)
{
	const char *s = jsonx_str(obj, path);

	if (jsonx_at(obj, path) && (!s || *s))
		json_decref(value);
	else
		jsonx_set_new(obj, path, value);
}

static void fill_names(json_t *spec)
{
	const char *kind = jsonx_str_or(spec, "names.kind", "");
	auto_free char *singular = xstrdup(kind);

	for (char *p = singular; *p; p++)
		*p = (char)tolower((unsigned char)*p);
	if (*kind) {
		set_if_absent(spec, "names.singular", jsonx_string(singular));
		set_if_absent(spec, "names.listKind", jsonx_stringf("%sList", kind));
	}
	set_if_absent(spec, "conversion.strategy", json_string("None"));
}

/* --- rules --- */

static int check_label(const json_t *obj, const char *name, const struct path *at, bool lower_only, struct err *e)
{
	const json_t *v = json_object_get(obj, name);
	const char *s = json_string_value(v);
	auto_free char *lower = s ? xstrdup(s) : NULL;
	const char *why;

	if (!s || !*s)
		return path_required(PATH_FIELD(at, name), e, NULL);
	for (char *p = lower; !lower_only && *p; p++)
		*p = (char)tolower((unsigned char)*p);
	why = name_check_label_1035(lower);
	return why ? path_invalid(PATH_FIELD(at, name), e, v, "%s", why) : 0;
}

static int check_names(const json_t *crd, const struct path *spec_at, struct err *e)
{
	const json_t *spec = json_object_get(crd, "spec");
	const json_t *names = json_object_get(spec, "names");
	const struct path *at = PATH_FIELD(spec_at, "names");
	const char *group = jsonx_str_or(spec, "group", "");
	const char *why = name_check_subdomain(group);
	auto_free char *want = NULL;
	int r = 0;

	if (!*group)
		r |= path_required(PATH_FIELD(spec_at, "group"), e, NULL);
	else if (why)
		r |= path_invalid(PATH_FIELD(spec_at, "group"), e, json_object_get(spec, "group"), "%s", why);
	else if (!strchr(group, '.'))
		r |= path_invalid(PATH_FIELD(spec_at, "group"), e, json_object_get(spec, "group"),
				  "should be a domain with at least one dot");
	r |= check_label(names, "plural", at, true, e);
	r |= check_label(names, "singular", at, true, e);
	r |= check_label(names, "kind", at, false, e);
	r |= check_label(names, "listKind", at, false, e);
	if (str_same(jsonx_str(names, "kind"), jsonx_str(names, "listKind")) && jsonx_str(names, "kind"))
		r |= path_invalid(PATH_FIELD(at, "listKind"), e, json_object_get(names, "listKind"),
				  "kind and listKind may not be the same");
	want = xasprintf("%s.%s", jsonx_str_or(names, "plural", ""), group);
	if (!streq(jsonx_str_or(crd, "metadata.name", ""), want))
		r |= path_invalid(PATH_FIELD(PATH_FIELD(NULL, "metadata"), "name"), e, jsonx_at(crd, "metadata.name"),
				  "must be spec.names.plural+\".\"+spec.group");
	return r;
}

static int check_scope(const json_t *spec, const struct path *at, struct err *e)
{
	const char *scope = jsonx_str(spec, "scope");
	const char *strategy = jsonx_str_or(spec, "conversion.strategy", "None");
	int r = 0;

	if (!scope || !*scope)
		r |= path_required(PATH_FIELD(at, "scope"), e, NULL);
	else if (!streq(scope, "Namespaced") && !streq(scope, "Cluster"))
		r |= path_unsupported(PATH_FIELD(at, "scope"), e, scope, "Cluster|Namespaced");
	if (streq(strategy, "Webhook"))
		r |= path_forbidden(PATH_FIELD(PATH_FIELD(at, "conversion"), "strategy"), e,
				    "this server has no conversion webhooks: use None, which only changes apiVersion");
	else if (!streq(strategy, "None"))
		r |= path_unsupported(PATH_FIELD(PATH_FIELD(at, "conversion"), "strategy"), e, strategy, "None");
	if (json_is_true(json_object_get(spec, "preserveUnknownFields")))
		r |= path_invalid(PATH_FIELD(at, "preserveUnknownFields"), e, json_true(),
				  "must be false: use x-kubernetes-preserve-unknown-fields in the schema");
	return r;
}

static int check_json_path(const json_t *obj, const char *name, const struct path *at, bool required, struct err *e)
{
	const json_t *v = json_object_get(obj, name);
	const char *s = json_string_value(v);
	struct jsonpath *p = NULL;
	struct err why = ERR_INIT;

	if (!s || !*s)
		return required ? path_required(PATH_FIELD(at, name), e, NULL) : 0;
	if (jsonpath_parse(s, &p, &why) < 0)
		return path_invalid(PATH_FIELD(at, name), e, v, "must be a JSON path: %s", why.text);
	jsonpath_free(p);
	return 0;
}

static int check_columns(const json_t *version, const struct path *at, struct err *e)
{
	json_t *c;
	size_t i;
	int r = 0;

	at = PATH_FIELD(at, "additionalPrinterColumns");
	json_array_foreach (json_object_get(version, "additionalPrinterColumns"), i, c) {
		const struct path *here = PATH_INDEX(at, i);
		const char *type = jsonx_str_or(c, "type", "");

		if (!*jsonx_str_or(c, "name", ""))
			r |= path_required(PATH_FIELD(here, "name"), e, NULL);
		if (!*type)
			r |= path_required(PATH_FIELD(here, "type"), e, NULL);
		else if (!streq(type, "integer") && !streq(type, "number") && !streq(type, "string") &&
			 !streq(type, "boolean") && !streq(type, "date"))
			r |= path_unsupported(PATH_FIELD(here, "type"), e, type, "boolean|date|integer|number|string");
		r |= check_json_path(c, "jsonPath", here, true, e);
	}
	return r;
}

/* .spec.replicas: fields only, below the part it belongs to. */
static int check_scale_path(const json_t *scale, const char *name, const char *prefix, const char *also,
			    const struct path *at, bool required, struct err *e)
{
	const json_t *v = json_object_get(scale, name);
	const char *s = json_string_value(v);

	if (!s || !*s)
		return required ? path_required(PATH_FIELD(at, name), e, NULL) : 0;
	if ((!str_starts(s, prefix) && !(also && str_starts(s, also))) || strpbrk(s, "[]*?()"))
		return path_invalid(PATH_FIELD(at, name), e, v, "should be a json path under %s", prefix);
	return 0;
}

static int check_subresources(const json_t *version, const struct path *at, struct err *e)
{
	const json_t *scale = jsonx_at(version, "subresources.scale");

	if (!json_is_object(scale))
		return 0;
	at = PATH_FIELD(PATH_FIELD(at, "subresources"), "scale");
	return check_scale_path(scale, "specReplicasPath", ".spec", NULL, at, true, e) |
	       check_scale_path(scale, "statusReplicasPath", ".status", NULL, at, true, e) |
	       check_scale_path(scale, "labelSelectorPath", ".status", ".spec", at, false, e);
}

static int check_schema(const json_t *version, const struct path *at, struct err *e)
{
	const json_t *js = jsonx_at(version, "schema.openAPIV3Schema");
	struct schema *s = NULL;

	at = PATH_FIELD(PATH_FIELD(at, "schema"), "openAPIV3Schema");
	if (!js || json_is_null(js))
		return path_required(at, e, "schemas are required");
	if (schema_compile(js, at, &s, e) < 0)
		return -1;
	schema_free(s);
	return 0;
}

static int check_version(const json_t *versions, size_t i, const struct path *at, struct err *e)
{
	const json_t *v = json_array_get(versions, i);
	const char *name = jsonx_str_or(v, "name", "");
	int r = check_label(v, "name", at, true, e);

	for (size_t other = 0; other < i; other++)
		if (*name && str_same(name, jsonx_str(json_array_get(versions, other), "name")))
			r |= path_duplicate(PATH_FIELD(at, "name"), e, json_object_get(v, "name"));
	return r | check_schema(v, at, e) | check_columns(v, at, e) | check_subresources(v, at, e);
}

static int check_versions(const json_t *spec, const struct path *spec_at, struct err *e)
{
	const json_t *versions = json_object_get(spec, "versions");
	const struct path *at = PATH_FIELD(spec_at, "versions");
	size_t stored = 0;
	int r = 0;

	if (json_array_size(versions) == 0)
		return path_required(at, e, "must have at least one version");
	for (size_t i = 0; i < json_array_size(versions); i++) {
		r |= check_version(versions, i, PATH_INDEX(at, i), e);
		stored += json_is_true(json_object_get(json_array_get(versions, i), "storage"));
	}
	if (stored != 1)
		r |= path_invalid(at, e, NULL, "must have exactly one version marked as storage version");
	return r;
}

static bool has_string(const json_t *list, const char *s)
{
	size_t i;
	json_t *v;

	json_array_foreach ((json_t *)list, i, v)
		if (str_same(json_string_value(v), s))
			return true;
	return false;
}

static const json_t *find_version(const json_t *crd, const char *name)
{
	size_t i;
	json_t *v;

	json_array_foreach (jsonx_at(crd, "spec.versions"), i, v)
		if (str_same(jsonx_str(v, "name"), name))
			return v;
	return NULL;
}

static int check_update(const json_t *crd, const json_t *old, struct err *e)
{
	static const char *const fixed[] = { "spec.group", "spec.names.plural", "spec.names.kind", "spec.scope" };
	size_t i;
	json_t *v;
	int r = 0;

	for (size_t f = 0; f < ARRAY_SIZE(fixed); f++)
		if (!str_same(jsonx_str(crd, fixed[f]), jsonx_str(old, fixed[f])))
			r |= path_invalid(PATH_FIELD(NULL, fixed[f]), e, jsonx_at(crd, fixed[f]), "field is immutable");
	json_array_foreach (jsonx_at(old, "status.storedVersions"), i, v)
		if (!find_version(crd, json_string_value(v)))
			r |= path_invalid(PATH_INDEX(PATH_FIELD(PATH_FIELD(NULL, "status"), "storedVersions"), i), e, v,
					  "must appear in spec.versions");
	return r;
}

/* --- names that are taken --- */

static bool same_definition(const struct kind *k, const json_t *spec)
{
	return (k->flags & KIND_CUSTOM) && streq(k->group, jsonx_str_or(spec, "group", "")) &&
	       streq(k->plural, jsonx_str_or(spec, "names.plural", ""));
}

bool crd_is_builtin(const struct registry *r, const json_t *crd)
{
	const json_t *spec = json_object_get(crd, "spec");
	size_t i;
	json_t *v;

	json_array_foreach (json_object_get(spec, "versions"), i, v) {
		const struct kind *k = registry_find(r, jsonx_str_or(spec, "group", ""), jsonx_str_or(v, "name", ""),
						     jsonx_str_or(spec, "names.plural", ""));

		if (!json_is_true(json_object_get(v, "served")))
			continue;
		if (!k || (k->flags & KIND_CUSTOM) || !streq(k->kind, jsonx_str_or(spec, "names.kind", "")) ||
		    k->namespaced != streq(jsonx_str_or(spec, "scope", ""), "Namespaced"))
			return false;
	}
	return true;
}

static bool in_list(const char *const *list, const char *s)
{
	for (; list && *list; list++)
		if (streq(*list, s))
			return true;
	return false;
}

/* Does another resource of the group go by `name`? */
static bool is_taken(const struct kind *k, const char *name, bool is_kind)
{
	if (is_kind)
		return streq(k->kind, name);
	return streq(k->plural, name) || str_same(k->singular, name) || in_list(k->short_names, name);
}

/* The reason of NamesAccepted=False, with the name in *ret_name; NULL if all are free. */
static const char *find_conflict(const struct registry *r, const json_t *spec, const char **ret_name)
{
	static const struct {
		const char *path, *reason;
		bool is_kind;
	} rows[] = {
		{ "names.plural", "PluralConflict", false },
		{ "names.singular", "SingularConflict", false },
		{ "names.kind", "KindConflict", true },
		{ "names.listKind", "ListKindConflict", true },
	};
	const struct kind *k;
	size_t i;
	json_t *v;

	for (size_t n = 0; (k = registry_at(r, n)); n++) {
		if (!streq(k->group, jsonx_str_or(spec, "group", "")) || same_definition(k, spec))
			continue;
		for (size_t row = 0; row < ARRAY_SIZE(rows); row++)
			if (is_taken(k, *ret_name = jsonx_str_or(spec, rows[row].path, ""), rows[row].is_kind))
				return rows[row].reason;
		json_array_foreach (jsonx_at(spec, "names.shortNames"), i, v)
			if (is_taken(k, *ret_name = json_string_value(v), false))
				return "ShortNamesConflict";
	}
	return NULL;
}

/* --- status --- */

static void set_condition(json_t *status, const char *type, bool holds, const char *reason, const char *message,
			  const char *stamp)
{
	json_t *list = json_object_get(status, "conditions");
	json_t *c = json_pack("{s:s, s:s, s:s, s:s, s:s}", "type", type, "status", holds ? "True" : "False",
			      "lastTransitionTime", stamp, "reason", reason, "message", message);
	size_t i;
	json_t *have;

	json_array_foreach (list, i, have) {
		if (!str_same(jsonx_str(have, "type"), type))
			continue;
		if (str_same(jsonx_str(have, "status"), holds ? "True" : "False"))
			json_object_set(c, "lastTransitionTime", json_object_get(have, "lastTransitionTime"));
		json_array_set_new(list, i, c);
		return;
	}
	json_array_append_new(list, c);
}

/* Once established a definition stays so: names added later that are taken are only not given to it. */
static void fill_names_status(const struct registry *r, const json_t *crd, json_t *status, int64_t now)
{
	bool builtin = crd_is_builtin(r, crd);
	const char *name = NULL;
	const char *conflict = builtin ? NULL : find_conflict(r, json_object_get(crd, "spec"), &name);
	auto_free char *message = conflict ? xasprintf("\"%s\" is already in use", name) : NULL;
	bool established = !conflict || crd_established(crd);
	char stamp[CLOCK_RFC3339_LEN];

	clock_rfc3339(now, stamp);
	if (!conflict)
		json_object_set_new(status, "acceptedNames", jsonx_copy(jsonx_at(crd, "spec.names")));
	else if (!json_object_get(status, "acceptedNames"))
		json_object_set_new(status, "acceptedNames", json_pack("{s:s, s:s}", "plural", "", "kind", ""));
	set_condition(status, "NamesAccepted", !conflict, conflict ? conflict : "NoConflicts",
		      conflict ? message : "no conflicts found", stamp);
	set_condition(status, "Established", established, established ? "InitialNamesAccepted" : "NotAccepted",
		      !established ? "not all names are accepted"
		      : builtin    ? "the server itself serves these kinds"
				   : "the initial names have been accepted",
		      stamp);
}

static void fill_status(const struct registry *r, json_t *crd, int64_t now)
{
	json_t *status = json_object_get(crd, "status");
	size_t i;
	json_t *v;

	status = json_is_object(status) ? jsonx_copy(status) : json_object();
	json_object_set_new(crd, "status", status);
	if (!json_is_array(json_object_get(status, "conditions")))
		json_object_set_new(status, "conditions", json_array());
	if (!json_is_array(json_object_get(status, "storedVersions")))
		json_object_set_new(status, "storedVersions", json_array());
	json_array_foreach (jsonx_at(crd, "spec.versions"), i, v)
		if (json_is_true(json_object_get(v, "storage")) &&
		    !has_string(json_object_get(status, "storedVersions"), jsonx_str(v, "name")))
			json_array_append(json_object_get(status, "storedVersions"), json_object_get(v, "name"));
	fill_names_status(r, crd, status, now);
}

/* Its objects must leave before it does. */
static void ensure_finalizer(json_t *crd)
{
	json_t *list = jsonx_at(crd, "metadata.finalizers");

	if (jsonx_at(crd, "metadata.deletionTimestamp"))
		return;
	if (!json_is_array(list)) {
		list = json_array();
		jsonx_set_new(crd, "metadata.finalizers", list);
	}
	if (!has_string(list, CRD_FINALIZER))
		json_array_append_new(list, json_string(CRD_FINALIZER));
}

bool crd_established(const json_t *crd)
{
	return condition_holds(crd, "Established");
}

bool crd_names_accepted(const json_t *crd)
{
	return condition_holds(crd, "NamesAccepted");
}

int crd_check(const struct registry *r, json_t *crd, const json_t *old, int64_t now, struct err *e)
{
	json_t *spec = json_object_get(crd, "spec");
	const struct path *at = PATH_FIELD(NULL, "spec");
	int bad;

	if (!json_is_object(spec))
		return path_required(at, e, NULL);
	fill_names(spec);
	/* On its way out nothing but finalizers changes, and those must be free to go. */
	if (old && jsonx_at(old, "metadata.deletionTimestamp") && jsonx_equal(spec, json_object_get(old, "spec")))
		return 0;
	bad = check_names(crd, at, e);
	bad |= check_scope(spec, at, e);
	bad |= check_versions(spec, at, e);
	if (old)
		bad |= check_update(crd, old, e);
	if (bad)
		return -1;
	fill_status(r, crd, now);
	ensure_finalizer(crd);
	return 0;
}
