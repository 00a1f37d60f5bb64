// SPDX-License-Identifier: Apache-2.0
/* secret.c - Secret: bytes by key that only some may read; encrypted at rest */
#include "base/jsonx.h"
#include "base/mem.h"
#include "kinds/cells.h"
#include "kinds/core.h"
#include "kinds/datamap.h"
#include "kinds/rules.h"

/* stringData is for writing only: it becomes data and is never stored. */
static void secret_defaults(json_t *obj)
{
	json_t *texts = json_object_get(obj, "stringData"), *data, *value;
	const char *key;

	if (!texts)
		return;
	data = json_object_get(obj, "data");
	if (!json_is_object(data) && json_object_size(texts)) {
		data = json_object();
		json_object_set_new(obj, "data", data);
	}
	json_object_foreach (texts, key, value) {
		auto_sbuf struct sbuf b = SBUF(json_string_length(value) * 2 + 16);
		struct str s;

		if (!json_is_string(value))
			continue;
		base64_encode(json_string_value(value), json_string_length(value), &b);
		s = sbuf_str(&b);
		json_object_set_new(data, key, jsonx_stringn(s.n ? s.p : "", s.n));
	}
	json_object_del(obj, "stringData");
}

static const struct field secret_fields[] = {
	FIELDS_OBJECT,
	FM(2, "data", BYTES, .doc = "Values in base64."),
	F(3, "type", STRING, .dflt = "\"Opaque\"", .doc = "What the secret is for; decides which keys it must have."),
	FM(4, "stringData", STRING, .doc = "Values as text, for writing only; they become part of data."),
	FP(5, "immutable", BOOL, .doc = "Whether the contents may never change again."),
};
const struct message core_secret = MESSAGE("io.k8s.api.core.v1.Secret", secret_fields,
					   .doc = "Secret values by key, for containers to read as files or variables.",
					   .defaults = secret_defaults);

/* Keys that a type promises. */
static const struct {
	const char *type;
	const char *keys[2];
	bool json; /* the first key holds JSON */
	bool any;  /* one of the keys is enough */
} secret_types[] = {
	{ "kubernetes.io/tls", { "tls.crt", "tls.key" }, false, false },
	{ "kubernetes.io/dockerconfigjson", { ".dockerconfigjson", NULL }, true, false },
	{ "kubernetes.io/dockercfg", { ".dockercfg", NULL }, true, false },
	{ "kubernetes.io/basic-auth", { "username", "password" }, false, true },
	{ "kubernetes.io/ssh-auth", { "ssh-privatekey", NULL }, false, false },
};

static void json_value_validate(const json_t *value, const struct path *at, struct err *e)
{
	auto_sbuf struct sbuf b = SBUF(DATAMAP_MAX);
	json_auto_t *parsed = NULL, *hidden = json_string("<secret contents redacted>");
	struct err why = ERR_INIT;
	struct str s;

	if (!base64_decode(json_string_value(value), json_string_length(value), &b))
		return;
	s = sbuf_str(&b);
	if (jsonx_parse(s.n ? s.p : "", s.n, NULL, NULL, &parsed, &why) < 0)
		path_invalid(at, e, hidden, "%s", why.text);
}

static void type_validate(const json_t *obj, const json_t *data, struct err *e)
{
	const struct path *at = PATH_FIELD(NULL, "data");
	const char *type = jsonx_str_or(obj, "type", "Opaque");
	size_t i = 0;

	while (i < ARRAY_SIZE(secret_types) && !streq(secret_types[i].type, type))
		i++;
	if (i == ARRAY_SIZE(secret_types))
		return;
	if (secret_types[i].any &&
	    (json_object_get(data, secret_types[i].keys[0]) || json_object_get(data, secret_types[i].keys[1])))
		return;
	for (size_t k = 0; k < ARRAY_SIZE(secret_types[i].keys) && secret_types[i].keys[k]; k++) {
		const char *key = secret_types[i].keys[k];

		if (!json_object_get(data, key))
			path_required(PATH_KEY(at, key), e, NULL);
		else if (secret_types[i].json)
			json_value_validate(json_object_get(data, key), PATH_KEY(at, key), e);
	}
}

static void secret_validate(const json_t *obj, struct err *e)
{
	static const char account[] = "kubernetes.io/service-account.name";
	const json_t *data = json_object_get(obj, "data");

	datamap_validate_keys(data, PATH_FIELD(NULL, "data"), e);
	if (datamap_base64_bytes(data) > DATAMAP_MAX)
		rule_too_long(PATH_FIELD(NULL, "data"), e, DATAMAP_MAX);
	type_validate(obj, data, e);
	if (streq(jsonx_str_or(obj, "type", ""), "kubernetes.io/service-account-token") &&
	    !json_string_length(json_object_get(jsonx_at(obj, "metadata.annotations"), account)))
		path_required(PATH_KEY(PATH_FIELD(PATH_FIELD(NULL, "metadata"), "annotations"), account), e, NULL);
}

static void secret_validate_update(const json_t *obj, const json_t *old, struct err *e)
{
	static const char *const fields[] = { "data", NULL };

	rule_immutable(json_object_get(obj, "type"), json_object_get(old, "type"), PATH_FIELD(NULL, "type"), e);
	datamap_validate_update(obj, old, fields, e);
}

static json_t *secret_type(const json_t *obj, int64_t now)
{
	(void)now;
	return cell_text_or(obj, "type", "");
}

static json_t *secret_data(const json_t *obj, int64_t now)
{
	(void)now;
	return json_integer((json_int_t)json_object_size(json_object_get(obj, "data")));
}

static const struct column secret_columns[] = {
	COLUMN_NAME,
	COLUMN("Type", "What the secret is for.", secret_type),
	COLUMN("Data", "How many keys there are.", secret_data),
	COLUMN_AGE,
};

static const struct selectable secret_selectable[] = {
	{ "type", "type", NULL },
};

const struct kind kind_secret = {
	.group = "",
	.version = "v1",
	.kind = "Secret",
	.plural = "secrets",
	.singular = "secret",
	.namespaced = true,
	.flags = KIND_SEALED,
	.verbs = VERBS_ALL,
	.message = &core_secret,
	.columns = secret_columns,
	.ncolumns = ARRAY_SIZE(secret_columns),
	.selectable = secret_selectable,
	.nselectable = ARRAY_SIZE(secret_selectable),
	.validate = secret_validate,
	.validate_update = secret_validate_update,
};
