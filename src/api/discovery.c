// SPDX-License-Identifier: Apache-2.0
/* discovery.c - what is served: /version, /api, /apis and below, in the old form and the aggregated one
 *
 * The registry already lists kinds in discovery order (groups by priority, preferred version first), so every document
 * here is one walk over it.
 */
#include "api/wire.h"
#include "base/jsonx.h"
#include "base/mem.h"

/* In alphabetical order of their names, as real servers list them. */
static const enum verb sorted_verbs[] = { VERB_CREATE, VERB_DELETE, VERB_DELETECOLLECTION, VERB_GET,
					  VERB_LIST,   VERB_PATCH,  VERB_UPDATE,           VERB_WATCH };

static json_t *verb_list(unsigned verbs)
{
	json_t *list = json_array();

	for (size_t i = 0; i < ARRAY_SIZE(sorted_verbs); i++)
		if (verbs & (1u << sorted_verbs[i]))
			json_array_append_new(list, json_string(verb_name(sorted_verbs[i])));
	return list;
}

static json_t *string_list(const char *const *names)
{
	json_t *list = json_array();

	for (; names && *names; names++)
		json_array_append_new(list, json_string(*names));
	return list;
}

static void set_list(json_t *obj, const char *name, const char *const *names)
{
	if (names && *names)
		json_object_set_new(obj, name, string_list(names));
}

static void set_string(json_t *obj, const char *name, const char *value)
{
	json_object_set_new(obj, name, json_string(value));
}

json_t *discovery_version_info(void)
{
	/* The version of the API that is served; clients parse it and choose their behaviour by it. */
	return json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:s}", "major", "1", "minor", "32", "gitVersion",
			 "v1.32.4+stoker" STOKER_VERSION, "gitCommit", "stoker-" STOKER_VERSION, "gitTreeState",
			 "clean", "buildDate", "2025-01-01T00:00:00Z", "goVersion", "none", "compiler", "cc",
			 "platform", "linux/amd64");
}

json_t *discovery_versions(const char *advertise)
{
	return json_pack("{s:s, s:[s], s:[{s:s, s:s}]}", "kind", "APIVersions", "versions", "v1",
			 "serverAddressByClientCIDRs", "clientCIDR", "0.0.0.0/0", "serverAddress",
			 advertise ? advertise : "");
}

static json_t *group_version(const struct kind *k)
{
	return json_pack("{s:o, s:s}", "groupVersion", jsonx_stringf("%s/%s", k->group, k->version), "version",
			 k->version);
}

static bool has_version(const json_t *versions, const char *version)
{
	size_t i;
	json_t *v;

	json_array_foreach ((json_t *)versions, i, v)
		if (streq(jsonx_str_or(v, "version", ""), version))
			return true;
	return false;
}

/* Only clients from before the aggregated form (kubectl < 1.26) choose versions by the old one. The eldest of them have
 * no other version of these kinds compiled in: `kubectl create job --from=cronjob/X` of 1.20 fails on a batch/v1
 * CronJob. */
static const struct {
	const char *group, *version;
} old_preferences[] = {
	{ "batch", "v1beta1" },
	{ "policy", "v1beta1" },
};

static json_t *preferred_version(const char *group, const json_t *versions)
{
	for (size_t p = 0; p < ARRAY_SIZE(old_preferences); p++)
		for (size_t i = 0; streq(old_preferences[p].group, group) && i < json_array_size(versions); i++)
			if (streq(jsonx_str_or(json_array_get(versions, i), "version", ""), old_preferences[p].version))
				return json_array_get(versions, i);
	return json_array_get(versions, 0);
}

static json_t *api_group(const struct registry *r, const char *group)
{
	json_t *versions = json_array();
	const struct kind *k;

	for (size_t i = 0; (k = registry_at(r, i)); i++)
		if (streq(k->group, group) && !has_version(versions, k->version))
			json_array_append_new(versions, group_version(k));
	return json_pack("{s:s, s:o, s:O}", "name", group, "versions", versions, "preferredVersion",
			 preferred_version(group, versions));
}

/* True at the first kind of its group (or of its group and version). */
static bool is_first(const struct registry *r, size_t at, bool by_version)
{
	const struct kind *k = registry_at(r, at);

	for (size_t i = 0; i < at; i++) {
		const struct kind *other = registry_at(r, i);

		if (streq(other->group, k->group) && (!by_version || streq(other->version, k->version)))
			return false;
	}
	return true;
}

json_t *discovery_groups(const struct registry *r)
{
	json_t *groups = json_array();
	const struct kind *k;

	for (size_t i = 0; (k = registry_at(r, i)); i++)
		if (*k->group && is_first(r, i, false))
			json_array_append_new(groups, api_group(r, k->group));
	return json_pack("{s:s, s:s, s:o}", "kind", "APIGroupList", "apiVersion", "v1", "groups", groups);
}

json_t *discovery_group(const struct registry *r, const char *group)
{
	json_t *doc;
	json_auto_t *body = NULL;

	if (!*group || !registry_has_group(r, group, NULL))
		return NULL;
	doc = json_pack("{s:s, s:s}", "kind", "APIGroup", "apiVersion", "v1");
	body = api_group(r, group);
	json_object_update(doc, body);
	return doc;
}

static json_t *resource(const struct kind *k)
{
	json_t *o = json_pack("{s:s, s:s, s:b, s:s, s:o}", "name", k->plural, "singularName",
			      k->singular ? k->singular : "", "namespaced", k->namespaced, "kind", k->kind, "verbs",
			      verb_list(k->verbs));

	set_list(o, "shortNames", k->short_names);
	set_list(o, "categories", k->categories);
	return o;
}

static json_t *subresource(const struct kind *k, const struct subresource *s)
{
	json_t *o = json_pack("{s:o, s:s, s:b, s:s, s:o}", "name", jsonx_stringf("%s/%s", k->plural, s->name),
			      "singularName", "", "namespaced", k->namespaced, "kind", s->kind ? s->kind : k->kind,
			      "verbs", verb_list(s->verbs));

	if (s->version) {
		set_string(o, "group", s->group ? s->group : k->group);
		set_string(o, "version", s->version);
	}
	return o;
}

json_t *discovery_resources(const struct registry *r, const char *group, const char *version)
{
	json_t *list;
	const struct kind *k;

	if (!registry_has_group(r, group, version))
		return NULL;
	list = json_array();
	for (size_t i = 0; (k = registry_at(r, i)); i++) {
		if (!streq(k->group, group) || !streq(k->version, version))
			continue;
		json_array_append_new(list, resource(k));
		for (size_t s = 0; s < k->nsubresources; s++)
			json_array_append_new(list, subresource(k, &k->subresources[s]));
	}
	return json_pack("{s:s, s:s, s:o, s:o}", "kind", "APIResourceList", "apiVersion", "v1", "groupVersion",
			 jsonx_stringf("%s%s%s", group, *group ? "/" : "", version), "resources", list);
}

/* --- the aggregated form --- */

static json_t *aggregated_resource(const struct kind *k)
{
	json_t *o = json_pack("{s:s, s:{s:s, s:s, s:s}, s:s, s:s, s:o}", "resource", k->plural, "responseKind", "group",
			      k->group, "version", k->version, "kind", k->kind, "scope",
			      k->namespaced ? "Namespaced" : "Cluster", "singularResource",
			      k->singular ? k->singular : "", "verbs", verb_list(k->verbs));
	json_t *subs = k->nsubresources ? json_array() : NULL;

	set_list(o, "shortNames", k->short_names);
	set_list(o, "categories", k->categories);
	for (size_t i = 0; i < k->nsubresources; i++) {
		const struct subresource *s = &k->subresources[i];

		json_array_append_new(subs, json_pack("{s:s, s:{s:s, s:s, s:s}, s:o}", "subresource", s->name,
						      "responseKind", "group", s->group ? s->group : k->group,
						      "version", s->version ? s->version : k->version, "kind",
						      s->kind ? s->kind : k->kind, "verbs", verb_list(s->verbs)));
	}
	if (subs)
		json_object_set_new(o, "subresources", subs);
	return o;
}

static json_t *aggregated_version(const struct registry *r, const char *group, const char *version)
{
	json_t *list = json_array();
	const struct kind *k;

	for (size_t i = 0; (k = registry_at(r, i)); i++)
		if (streq(k->group, group) && streq(k->version, version))
			json_array_append_new(list, aggregated_resource(k));
	return json_pack("{s:s, s:o, s:s}", "version", version, "resources", list, "freshness", "Current");
}

static json_t *aggregated_group(const struct registry *r, const char *group)
{
	json_t *meta = json_object();
	json_t *versions = json_array();
	const struct kind *k;

	if (*group)
		set_string(meta, "name", group);
	for (size_t i = 0; (k = registry_at(r, i)); i++)
		if (streq(k->group, group) && is_first(r, i, true))
			json_array_append_new(versions, aggregated_version(r, group, k->version));
	return json_pack("{s:o, s:o}", "metadata", meta, "versions", versions);
}

json_t *discovery_aggregated(const struct registry *r, bool core, const char *version)
{
	json_t *items = json_array();
	const struct kind *k;

	for (size_t i = 0; (k = registry_at(r, i)); i++)
		if (!*k->group == core && !(k->flags & KIND_OLD_CLIENTS) && is_first(r, i, false))
			json_array_append_new(items, aggregated_group(r, k->group));
	return json_pack("{s:s, s:o, s:{}, s:o}", "kind", "APIGroupDiscoveryList", "apiVersion",
			 jsonx_stringf("apidiscovery.k8s.io/%s", version), "metadata", "items", items);
}
