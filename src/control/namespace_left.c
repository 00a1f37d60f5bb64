// SPDX-License-Identifier: Apache-2.0
/* namespace_left.c - what is still in a namespace that is going, in the words of its conditions
 *
 * `kubectl describe ns` shows them: without, nobody can see which object, or whose finalizer, holds a namespace up.
 * Pure; namespace.c counts and writes.
 */
#include "control/namespace_left.h"

#include "base/clock.h"
#include "base/jsonx.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/str.h"

void namespace_left_reset(struct namespace_left *l)
{
	namespace_left_done(l);
	l->resources = json_object();
	l->finalizers = json_object();
}

void namespace_left_done(struct namespace_left *l)
{
	json_decref(l->resources);
	json_decref(l->finalizers);
	*l = (struct namespace_left){ 0 };
}

static void count(json_t *counts, const char *name, int64_t n)
{
	json_object_set_new(counts, name, json_integer(n + json_integer_value(json_object_get(counts, name))));
}

void namespace_left_add(struct namespace_left *l, const char *api_version, const char *plural, const json_t *list)
{
	const json_t *items = json_object_get(list, "items");
	int64_t n = (int64_t)json_array_size(items) + jsonx_int_or(list, "metadata.remainingItemCount", 0);
	const char *slash = strchr(api_version, '/');
	auto_sbuf struct sbuf name = SBUF(LIMIT_STATUS_TEXT);
	json_t *item, *finalizer;
	size_t i, k;

	if (!n)
		return;
	sbuf_addf(&name, "%s.%.*s", plural, slash ? (int)(slash - api_version) : 0, api_version);
	l->objects += n;
	count(l->resources, name.p, n);
	json_array_foreach (items, i, item)
		json_array_foreach (jsonx_at(item, "metadata.finalizers"), k, finalizer)
			count(l->finalizers, json_string_value(finalizer), 1);
}

/* "configmaps. has 1 resource instances, pods. has 2 resource instances" */
static void add_counts(struct sbuf *out, const json_t *counts, const char *between)
{
	const char *name, *comma = "";
	json_t *n;

	json_object_foreach ((json_t *)counts, name, n) {
		sbuf_addf(out, "%s%s %s %lld resource instances", comma, name, between,
			  (long long)json_integer_value(n));
		comma = ", ";
	}
}

/* Clients know these by heart: type, and what it says when it is not so and when it is. */
static const struct row {
	const char *type;
	const char *good_reason, *good;
	const char *bad_reason, *bad, *between;
	bool of_finalizers;
} rows[] = {
	{ "NamespaceDeletionDiscoveryFailure", "ResourcesDiscovered", "All resources successfully discovered" },
	{ "NamespaceDeletionGroupVersionParsingFailure", "ParsedGroupVersions",
	  "All legacy kube types successfully parsed" },
	{ "NamespaceDeletionContentFailure", "ContentDeleted",
	  "All content successfully deleted, may be waiting on finalization" },
	{ "NamespaceContentRemaining", "ContentRemoved", "All content successfully removed", "SomeResourcesRemain",
	  "Some resources are remaining: ", "has" },
	{ "NamespaceFinalizersRemaining", "ContentHasNoFinalizers", "All content-preserving finalizers finished",
	  "SomeFinalizersRemain", "Some content in the namespace has finalizers remaining: ", "in", true },
};

static const json_t *find_type(const json_t *conditions, const char *type)
{
	json_t *c;
	size_t i;

	json_array_foreach ((json_t *)conditions, i, c)
		if (str_same(jsonx_str(c, "type"), type))
			return c;
	return NULL;
}

json_t *namespace_left_conditions(const struct namespace_left *l, const json_t *old, int64_t now)
{
	json_t *conditions = json_array();
	char time[CLOCK_RFC3339_LEN];

	clock_rfc3339(now, time);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct row *row = &rows[i];
		const json_t *counts = row->of_finalizers ? l->finalizers : l->resources;
		const json_t *before = find_type(old, row->type);
		bool bad = row->bad && json_object_size(counts);
		const char *status = bad ? "True" : "False";
		auto_sbuf struct sbuf text = SBUF(LIMIT_STATUS_TEXT);

		sbuf_adds(&text, bad ? row->bad : row->good);
		if (bad)
			add_counts(&text, counts, row->between);
		json_array_append_new(conditions, json_pack("{s:s, s:s, s:s, s:s, s:o}", "type", row->type, "status",
							    status, "lastTransitionTime",
							    before && streq(jsonx_str_or(before, "status", ""), status)
								    ? jsonx_str_or(before, "lastTransitionTime", time)
								    : time,
							    "reason", bad ? row->bad_reason : row->good_reason,
							    "message", jsonx_string(text.p)));
	}
	return conditions;
}
