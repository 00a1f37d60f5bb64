// SPDX-License-Identifier: Apache-2.0
/* object.c - decoding bodies, stamping metadata, and the stored form
 *
 * An object at rest has neither kind nor apiVersion (the row and the registry know them) and starts with metadata, so
 * that a reply is a short prefix and the stored bytes.
 */
#include "api/object.h"

#include "base/clock.h"
#include "base/jsonx.h"
#include "base/limits.h"
#include "base/mem.h"

/* No vowels, no look-alikes: Kubernetes' alphabet for generated names. */
static const char name_alphabet[] = "bcdfghjklmnpqrstvwxz2456789";
#define NAME_SUFFIX   (OBJECT_SUFFIX_LEN - 1)
#define NAME_BASE_MAX 58 /* 63 - NAME_SUFFIX */

void object_warn(json_t **warnings, json_t *text)
{
	if (!*warnings)
		*warnings = json_array();
	json_array_append_new(*warnings, text);
}

/* Says what the decoder noticed, in one way or the other. */
static int report_fields(const struct kind *k, const char *what, const json_t *paths, enum field_validation mode,
			 json_t **warnings, struct err *e)
{
	auto_sbuf struct sbuf all = SBUF(LIMIT_STATUS_TEXT);
	json_t *p;
	size_t i;

	if (!json_array_size(paths) || mode == FIELDS_IGNORE)
		return 0;
	json_array_foreach ((json_t *)paths, i, p) {
		sbuf_addf(&all, "%s%s field \"%s\"", i ? ", " : "", what, json_string_value(p));
		if (mode == FIELDS_WARN && i < 20)
			object_warn(warnings, jsonx_stringf("%s field \"%s\"", what, json_string_value(p)));
	}
	if (mode == FIELDS_STRICT)
		return err_set(e, ERR_BAD_REQUEST,
			       "%s in version \"%s\" cannot be handled as a %s: strict decoding error: %s", k->kind,
			       k->version, k->kind, all.p);
	return 0;
}

static int check_type(const struct kind *k, json_t *obj, struct err *e)
{
	const char *kind = jsonx_str(obj, "kind");
	const char *version = jsonx_str(obj, "apiVersion");
	char expected[320];

	kind_api_version(k, expected, sizeof(expected));
	if (kind && *kind && !streq(kind, k->kind))
		return err_set(e, ERR_BAD_REQUEST,
			       "the kind in the data (%s) does not match the expected kind (%s) of this resource", kind,
			       k->kind);
	if (version && *version && !streq(version, expected))
		return err_set(e, ERR_BAD_REQUEST,
			       "the API version in the data (%s) does not match the expected API version (%s)", version,
			       expected);
	json_object_del(obj, "kind");
	json_object_del(obj, "apiVersion");
	return 0;
}

int object_decode(const struct kind *k, json_t *obj, enum field_validation mode, const json_t *duplicates,
		  json_t **warnings, struct err *e)
{
	struct decode_report report = { 0 };
	int r;

	if (!json_is_object(obj))
		return err_set(e, ERR_BAD_REQUEST,
			       "the object provided is unrecognized (must be of type %s): not an object", k->kind);
	if (check_type(k, obj, e) < 0)
		return -1;
	if (kind_decode(k, obj, &report, e) < 0) {
		json_decref(report.unknown);
		return err_prefix(e, "%s in version \"%s\" cannot be handled as a %s", k->kind, k->version, k->kind);
	}
	r = report_fields(k, "unknown", report.unknown, mode, warnings, e);
	json_decref(report.unknown);
	if (r == 0)
		r = report_fields(k, "duplicate", duplicates, mode, warnings, e);
	return r;
}

static json_t *metadata_of(json_t *obj)
{
	json_t *meta = json_object_get(obj, "metadata");

	if (!json_is_object(meta)) {
		meta = json_object();
		json_object_set_new(obj, "metadata", meta);
	}
	return meta;
}

static void random_suffix(char out[OBJECT_SUFFIX_LEN])
{
	unsigned char raw[NAME_SUFFIX];

	crypto_random_public(raw, sizeof(raw));
	for (int i = 0; i < NAME_SUFFIX; i++)
		out[i] = name_alphabet[raw[i] % (sizeof(name_alphabet) - 1)];
	out[NAME_SUFFIX] = '\0';
}

void object_suffix_for(const char *text, char out[OBJECT_SUFFIX_LEN])
{
	uint64_t h = 14695981039346656037u;

	for (; *text; text++)
		h = (h ^ (unsigned char)*text) * 1099511628211u;
	for (int i = 0; i < NAME_SUFFIX; i++, h /= sizeof(name_alphabet) - 1)
		out[i] = name_alphabet[h % (sizeof(name_alphabet) - 1)];
	out[NAME_SUFFIX] = '\0';
}

void object_regenerate_name(json_t *obj)
{
	const char *base = jsonx_str_or(obj, "metadata.generateName", "");
	char suffix[NAME_SUFFIX + 1];

	random_suffix(suffix);
	jsonx_set_new(obj, "metadata.name", jsonx_stringf("%.*s%s", NAME_BASE_MAX, base, suffix));
}

const char *object_asked_name(const json_t *obj)
{
	const char *name = jsonx_str_or(obj, "metadata.name", "");
	const char *base = jsonx_str_or(obj, "metadata.generateName", "");
	size_t n = strnlen(base, NAME_BASE_MAX);

	return n && strncmp(name, base, n) == 0 && strlen(name) == n + NAME_SUFFIX ? base : name;
}

int object_stamp_place(const struct kind *k, json_t *obj, const char *ns, struct err *e)
{
	json_t *meta = metadata_of(obj);
	const char *have = json_string_value(json_object_get(meta, "namespace"));

	if (!k->namespaced) {
		json_object_del(meta, "namespace");
		return 0;
	}
	if (have && *have && !streq(have, ns))
		return err_set(e, ERR_BAD_REQUEST,
			       "the namespace of the provided object does not match the namespace sent on the request");
	json_object_set_new(meta, "namespace", json_string(ns));
	return 0;
}

int object_stamp_new(const struct kind *k, json_t *obj, const char *ns, const char *url_name, struct err *e)
{
	static const char *const server_owned[] = { "resourceVersion",   "selfLink",
						    "deletionTimestamp", "deletionGracePeriodSeconds",
						    "generation",        "uid",
						    "creationTimestamp" };
	json_t *meta = metadata_of(obj);
	const char *name = json_string_value(json_object_get(meta, "name"));
	char uid[37];
	char now[CLOCK_RFC3339_LEN];

	if (object_stamp_place(k, obj, ns, e) < 0)
		return -1;
	if (json_object_get(meta, "resourceVersion") && *jsonx_str_or(meta, "resourceVersion", ""))
		return err_set(e, ERR_BAD_REQUEST, "resourceVersion should not be set on objects to be created");
	if (url_name && name && !streq(name, url_name))
		return err_set(e, ERR_BAD_REQUEST,
			       "the name of the object (%s) does not match the name on the URL (%s)", name, url_name);
	for (size_t i = 0; i < ARRAY_SIZE(server_owned); i++)
		json_object_del(meta, server_owned[i]);
	if (url_name)
		json_object_set_new(meta, "name", jsonx_string(url_name));
	else if ((!name || !*name) && *jsonx_str_or(meta, "generateName", ""))
		object_regenerate_name(obj);
	else if (!name || !*name)
		return err_cause(e, CAUSE_REQUIRED, "metadata.name",
				 "Required value: name or generateName is required");
	crypto_uuid(uid);
	clock_rfc3339(clock_wall(), now);
	json_object_set_new(meta, "uid", json_string(uid));
	json_object_set_new(meta, "creationTimestamp", json_string(now));
	if (k->flags & KIND_GENERATION)
		json_object_set_new(meta, "generation", json_integer(1));
	return 0;
}

/* A list that lost its last item is not there, as in Kubernetes. */
static void drop_empty_lists(json_t *meta)
{
	static const char *const lists[] = { "finalizers", "ownerReferences" };

	for (size_t i = 0; i < ARRAY_SIZE(lists); i++) {
		const json_t *v = json_object_get(meta, lists[i]);

		if (json_is_array(v) && !json_array_size(v))
			json_object_del(meta, lists[i]);
	}
}

int object_stamp_old(const struct kind *k, json_t *obj, const json_t *old, const char *ns, const char *name,
		     struct err *e)
{
	static const char *const server_owned[] = {
		"uid",          "creationTimestamp", "generation", "deletionTimestamp", "deletionGracePeriodSeconds",
		"generateName", "resourceVersion"
	};
	json_t *meta = metadata_of(obj);
	const json_t *old_meta = json_object_get(old, "metadata");
	const char *got = json_string_value(json_object_get(meta, "name"));
	const char *uid = json_string_value(json_object_get(meta, "uid"));

	if (object_stamp_place(k, obj, ns, e) < 0)
		return -1;
	if (got && !streq(got, name))
		return err_set(e, ERR_BAD_REQUEST,
			       "the name of the object (%s) does not match the name on the URL (%s)", got, name);
	if (uid && *uid && !streq(uid, jsonx_str_or(old_meta, "uid", "")))
		return err_set(e, ERR_CONFLICT, "Precondition failed: UID in precondition: %s, UID in object meta: %s",
			       uid, jsonx_str_or(old_meta, "uid", ""));
	json_object_set_new(meta, "name", jsonx_string(name));
	json_object_del(meta, "selfLink");
	for (size_t i = 0; i < ARRAY_SIZE(server_owned); i++) {
		json_t *v = json_object_get(old_meta, server_owned[i]);

		if (v)
			json_object_set(meta, server_owned[i], v);
		else
			json_object_del(meta, server_owned[i]);
	}
	drop_empty_lists(meta);
	return 0;
}

void object_set_text(json_t *obj, const char *map_path, const char *key, const char *value)
{
	json_t *map = jsonx_at(obj, map_path);

	if (!json_is_object(map)) {
		map = json_object();
		jsonx_set_new(obj, map_path, map);
	}
	if (!str_same(value, json_string_value(json_object_get(map, key))))
		json_object_set_new(map, key, jsonx_string(value));
}

bool object_spec_changed(const json_t *a, const json_t *b)
{
	const char *key;
	json_t *v;

	json_object_foreach ((json_t *)a, key, v)
		if (!streq(key, "metadata") && !streq(key, "status") && !jsonx_equal(v, json_object_get(b, key)))
			return true;
	json_object_foreach ((json_t *)b, key, v)
		if (!streq(key, "metadata") && !streq(key, "status") && !json_object_get(a, key))
			return true;
	return false;
}

bool object_is_held(const struct kind *k, const json_t *obj, const json_t *finalizers)
{
	return json_array_size(finalizers) ||
	       ((k->flags & KIND_NAMESPACE) && json_array_size(jsonx_at(obj, "spec.finalizers")));
}

json_t *object_at_rest(const json_t *obj)
{
	json_t *rest = json_object();
	const char *key;
	json_t *v;

	json_object_set(rest, "metadata", json_object_get(obj, "metadata"));
	json_object_foreach ((json_t *)obj, key, v)
		if (!streq(key, "metadata") && !streq(key, "kind") && !streq(key, "apiVersion"))
			json_object_set(rest, key, v);
	return rest;
}

int object_parse(struct str text, json_t **ret, struct err *e)
{
	if (jsonx_parse(text.p, text.n, NULL, NULL, ret, e) < 0)
		return err_set(e, ERR_CORRUPT, "a stored object is not readable");
	return 0;
}

json_t *object_for_version(const struct kind *k, json_t *obj)
{
	json_t *copy;

	if (!k->from_storage)
		return obj;
	copy = jsonx_copy(obj);
	json_decref(obj);
	k->from_storage(copy);
	return copy;
}

json_t *object_with_type(const struct kind *k, const json_t *obj)
{
	char version[320];
	json_t *typed = json_object();
	const char *key;
	json_t *v;

	kind_api_version(k, version, sizeof(version));
	json_object_set_new(typed, "kind", json_string(k->kind));
	json_object_set_new(typed, "apiVersion", json_string(version));
	json_object_foreach ((json_t *)obj, key, v)
		json_object_set(typed, key, v);
	return typed;
}

json_t *object_for_caches(const struct kind *k, const json_t *obj)
{
	json_t *typed = object_with_type(k, obj);
	json_t *meta = json_object_get(typed, "metadata");

	if (json_object_get(meta, "managedFields")) {
		meta = json_copy(meta);
		json_object_del(meta, "managedFields");
		json_object_set_new(typed, "metadata", meta);
	}
	return typed;
}

void object_type_prefix(const struct kind *k, struct sbuf *out)
{
	sbuf_addf(out, "{\"kind\":\"%s\",\"apiVersion\":\"%s%s%s\",", k->kind, k->group, *k->group ? "/" : "",
		  k->version);
}
