// SPDX-License-Identifier: Apache-2.0
/* kind.c - the front door of one object: by table for built-in kinds, by schema for custom ones
 *
 * What all kinds share is their metadata; its rules that depend on the kind are here, the others are meta_object's own.
 */
#include "kinds/kind.h"

#include <stdio.h>

#include "base/jsonx.h"
#include "base/mem.h"
#include "kinds/names.h"
#include "kinds/schema.h"

const char *verb_name(enum verb v)
{
	static const char *const names[VERB__COUNT] = {
		[VERB_GET] = "get",       [VERB_LIST] = "list",
		[VERB_WATCH] = "watch",   [VERB_CREATE] = "create",
		[VERB_UPDATE] = "update", [VERB_PATCH] = "patch",
		[VERB_DELETE] = "delete", [VERB_DELETECOLLECTION] = "deletecollection",
	};

	return names[v];
}

void kind_resource_name(const struct kind *k, char *buf, size_t n)
{
	snprintf(buf, n, "%s%s%s", k->plural, k->group[0] ? "." : "", k->group);
}

void kind_api_version(const struct kind *k, char *buf, size_t n)
{
	snprintf(buf, n, "%s%s%s", k->group, k->group[0] ? "/" : "", k->version);
}

const struct subresource *kind_subresource(const struct kind *k, const char *name)
{
	for (size_t i = 0; i < k->nsubresources; i++)
		if (streq(k->subresources[i].name, name))
			return &k->subresources[i];
	return NULL;
}

static int decode_custom(const struct kind *k, json_t *obj, struct decode_report *report, struct err *e)
{
	static const char *const texts[] = { "apiVersion", "kind" };
	json_t *meta = json_object_get(obj, "metadata");

	if (!json_is_object(obj))
		return err_set(e, ERR_BAD_REQUEST, "json: a %s must be an object", k->kind);
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		const json_t *v = json_object_get(obj, texts[i]);

		if (v && !json_is_string(v))
			return err_set(e, ERR_BAD_REQUEST, "json: %s must be a string", texts[i]);
	}
	if (json_is_null(meta))
		json_object_del(obj, "metadata");
	else if (meta && message_decode_at(&meta_object, meta, PATH_FIELD(NULL, "metadata"), report, e) < 0)
		return -1;
	if (k->schema)
		schema_prune(k->schema, obj, report);
	return 0;
}

int kind_decode(const struct kind *k, json_t *obj, struct decode_report *report, struct err *e)
{
	return k->message ? message_decode(k->message, obj, report, e) : decode_custom(k, obj, report, e);
}

void kind_default(const struct kind *k, json_t *obj)
{
	if (k->message)
		message_default(k->message, obj);
	else if (k->schema)
		schema_default(k->schema, obj);
}

void kind_default_top(const struct kind *k, json_t *obj)
{
	message_default_top(k->message, obj);
}

void kind_default_part(const struct kind *k, json_t *obj, const char *part)
{
	const struct field *f = k->message ? message_field(k->message, part) : NULL;

	if (f && f->type == FIELD_OBJECT && f->shape == SHAPE_ONE)
		message_default(f->msg, json_object_get(obj, part));
}

static void check_name(const struct kind *k, const json_t *meta, const struct path *at, struct err *e)
{
	const json_t *name = json_object_get(meta, "name");
	const json_t *prefix = json_object_get(meta, "generateName");
	const char *complaint;

	if (json_string_length(prefix)) {
		/* A prefix may end where no name may: something follows it. */
		auto_free char *like = xasprintf("%sa", json_string_value(prefix));

		complaint = name_check(k->name_rule, like);
		/* Too long is fine, the server cuts it. */
		if (complaint && !str_starts(complaint, "must be no more than"))
			path_invalid(PATH_FIELD(at, "generateName"), e, prefix, "%s", complaint);
	}
	if (!json_string_length(name)) {
		path_required(PATH_FIELD(at, "name"), e, "name or generateName is required");
		return;
	}
	complaint = name_check(k->name_rule, json_string_value(name));
	if (complaint)
		path_invalid(PATH_FIELD(at, "name"), e, name, "%s", complaint);
}

static void check_namespace(const struct kind *k, const json_t *meta, const struct path *at, struct err *e)
{
	const json_t *ns = json_object_get(meta, "namespace");
	const char *complaint;

	if (!k->namespaced) {
		if (json_string_length(ns))
			path_forbidden(PATH_FIELD(at, "namespace"), e, "not allowed on this type");
		return;
	}
	if (!json_string_length(ns)) {
		path_required(PATH_FIELD(at, "namespace"), e, NULL);
		return;
	}
	complaint = name_check_label(json_string_value(ns));
	if (complaint)
		path_invalid(PATH_FIELD(at, "namespace"), e, ns, "%s", complaint);
}

int kind_validate(const struct kind *k, const json_t *obj, struct err *e)
{
	const struct path meta_at = { .name = "metadata" };
	const json_t *meta = json_object_get(obj, "metadata");
	unsigned before = e->ncauses;

	/* Reviews and the like are answered, not kept: they need no name. */
	if (!(k->flags & KIND_VIRTUAL)) {
		check_name(k, meta, &meta_at, e);
		check_namespace(k, meta, &meta_at, e);
	}
	if (k->message) {
		message_validate(k->message, obj, NULL, e);
	} else {
		if (meta)
			message_validate(&meta_object, meta, &meta_at, e);
		if (k->schema)
			schema_validate(k->schema, obj, e);
	}
	if (k->validate)
		k->validate(obj, e);
	return e->ncauses > before ? -1 : 0;
}

/* An object on its way out may lose finalizers but not gain any. */
static void check_new_finalizers(const json_t *meta, const json_t *old, const struct path *at, struct err *e)
{
	const json_t *had = json_object_get(old, "finalizers");
	size_t i, k;
	json_t *v, *w;

	if (!json_object_get(old, "deletionTimestamp"))
		return;
	json_array_foreach (json_object_get(meta, "finalizers"), i, v) {
		bool known = false;

		json_array_foreach (had, k, w)
			known |= json_equal(v, w);
		if (!known)
			path_forbidden(PATH_FIELD(at, "finalizers"), e,
				       "no new finalizers can be added if the object is being deleted, found new "
				       "finalizers []string{\"%s\"}",
				       json_is_string(v) ? json_string_value(v) : "");
	}
}

int kind_validate_update(const struct kind *k, const json_t *obj, const json_t *old, struct err *e)
{
	static const char *const immutable[] = { "name", "namespace", "uid", "creationTimestamp" };
	const struct path meta_at = { .name = "metadata" };
	const json_t *meta = json_object_get(obj, "metadata");
	const json_t *old_meta = json_object_get(old, "metadata");
	unsigned before = e->ncauses;

	for (size_t i = 0; i < ARRAY_SIZE(immutable); i++) {
		const json_t *v = json_object_get(meta, immutable[i]);

		if (v && !json_equal(v, json_object_get(old_meta, immutable[i])))
			path_invalid(PATH_FIELD(&meta_at, immutable[i]), e, v, "field is immutable");
	}
	if (jsonx_int_or(meta, "generation", 0) < 0)
		path_invalid(PATH_FIELD(&meta_at, "generation"), e, json_object_get(meta, "generation"),
			     "must be greater than or equal to 0");
	check_new_finalizers(meta, old_meta, &meta_at, e);
	if (k->validate_update)
		k->validate_update(obj, old, e);
	return e->ncauses > before ? -1 : 0;
}
