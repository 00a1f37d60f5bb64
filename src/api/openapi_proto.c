// SPDX-License-Identifier: Apache-2.0
/* openapi_proto.c - the v2 document in gnostic's protobuf form, which kubectl up to 1.26 asks for
 *
 * Takes the same JSON values as openapi_v2.c and writes the parts that clients read: types, formats, descriptions,
 * required, references and x- extensions.  Field numbers are those of gnostic's OpenAPIv2.proto.  Extensions travel as
 * YAML text, and JSON is YAML.
 */
#include "api/openapi.h"
#include "base/jsonx.h"
#include "base/mem.h"

/* A document of every kind has about a megabyte; custom kinds may bring their own. */
#define OPENAPI_MAX (64u * 1024 * 1024)

enum {
	DOCUMENT_SWAGGER = 1,
	DOCUMENT_INFO = 2,
	DOCUMENT_PATHS = 8,
	DOCUMENT_DEFINITIONS = 9,
	INFO_TITLE = 1,
	INFO_VERSION = 2,
	PATHS_PATH = 2,
	NAMED_NAME = 1,
	NAMED_VALUE = 2,
	OPERATION_PARAMETERS = 8,
	OPERATION_EXTENSION = 13,
	PARAMETERS_PARAMETER = 1,
	PARAMETER_NON_BODY = 2,
	NON_BODY_QUERY = 3,
	QUERY_IN = 2,
	QUERY_NAME = 4,
	QUERY_TYPE = 6,
	ANY_YAML = 2,
	DEFINITIONS_SCHEMA = 1,
	SCHEMA_REF = 1,
	SCHEMA_FORMAT = 2,
	SCHEMA_DESCRIPTION = 4,
	SCHEMA_REQUIRED = 19,
	SCHEMA_ADDITIONAL = 21,
	SCHEMA_TYPE = 22,
	SCHEMA_ITEMS = 23,
	SCHEMA_PROPERTIES = 25,
	SCHEMA_EXTENSION = 31,
};

static void add_varint(struct sbuf *out, uint64_t v)
{
	for (; v >= 0x80; v >>= 7)
		sbuf_addc(out, (char)(v | 0x80));
	sbuf_addc(out, (char)v);
}

static void add_bytes(struct sbuf *out, unsigned field, struct str s)
{
	add_varint(out, field << 3 | 2);
	add_varint(out, s.n);
	sbuf_add(out, s.p, s.n);
}

static void add_text(struct sbuf *out, unsigned field, const char *s)
{
	if (s)
		add_bytes(out, field, str_of(s));
}

static void add_member(struct sbuf *out, unsigned field, const json_t *obj, const char *name)
{
	add_text(out, field, json_string_value(json_object_get(obj, name)));
}

/* A nested message is written in place: its length is put in front when it is known. */
static size_t begin(struct sbuf *out, unsigned field)
{
	add_varint(out, field << 3 | 2);
	return out->n;
}

static void end(struct sbuf *out, size_t from)
{
	char len[10];
	size_t n = 0;
	size_t size = out->n - from;

	for (size_t v = size; n == 0 || v; v >>= 7)
		len[n++] = (char)((v & 0x7f) | (v >= 0x80 ? 0x80 : 0));
	sbuf_add(out, len, n);
	if (out->over)
		return;
	memmove(out->p + from + n, out->p + from, size);
	memcpy(out->p + from, len, n);
}

static void add_extensions(struct sbuf *out, unsigned field, const json_t *obj)
{
	const char *name;
	json_t *v;

	json_object_foreach ((json_t *)obj, name, v) {
		auto_sbuf struct sbuf yaml = SBUF(OPENAPI_MAX);
		size_t named;
		size_t any;

		if (!str_starts(name, "x-"))
			continue;
		jsonx_dump(v, &yaml);
		named = begin(out, field);
		add_text(out, NAMED_NAME, name);
		any = begin(out, NAMED_VALUE);
		add_bytes(out, ANY_YAML, sbuf_str(&yaml));
		end(out, any);
		end(out, named);
	}
}

/* --- definitions --- */

static void add_schema(struct sbuf *out, const json_t *s);

static void add_nested_schema(struct sbuf *out, unsigned field, const json_t *s)
{
	size_t outer = begin(out, field);
	size_t inner = begin(out, 1);

	add_schema(out, s);
	end(out, inner);
	end(out, outer);
}

static void add_named_schema(struct sbuf *out, unsigned field, const char *name, const json_t *s)
{
	size_t named = begin(out, field);
	size_t value;

	add_text(out, NAMED_NAME, name);
	value = begin(out, NAMED_VALUE);
	add_schema(out, s);
	end(out, value);
	end(out, named);
}

static void add_schema(struct sbuf *out, const json_t *s)
{
	const json_t *extra = json_object_get(s, "additionalProperties");
	const json_t *items = json_object_get(s, "items");
	const char *type = jsonx_str(s, "type");
	json_t *props = json_object_get(s, "properties");
	const char *name;
	json_t *v;
	size_t i;
	size_t from;

	add_member(out, SCHEMA_REF, s, "$ref");
	add_member(out, SCHEMA_FORMAT, s, "format");
	add_member(out, SCHEMA_DESCRIPTION, s, "description");
	json_array_foreach (json_object_get(s, "required"), i, v)
		add_text(out, SCHEMA_REQUIRED, json_string_value(v));
	if (json_is_object(extra))
		add_nested_schema(out, SCHEMA_ADDITIONAL, extra);
	if (type) {
		from = begin(out, SCHEMA_TYPE);
		add_text(out, 1, type);
		end(out, from);
	}
	if (json_is_object(items))
		add_nested_schema(out, SCHEMA_ITEMS, items);
	if (json_is_object(props)) {
		from = begin(out, SCHEMA_PROPERTIES);
		json_object_foreach (props, name, v)
			add_named_schema(out, 1, name, v);
		end(out, from);
	}
	add_extensions(out, SCHEMA_EXTENSION, s);
}

/* --- paths --- */

static void add_parameter(struct sbuf *out, const json_t *p)
{
	size_t item = begin(out, OPERATION_PARAMETERS);
	size_t parameter = begin(out, PARAMETERS_PARAMETER);
	size_t non_body = begin(out, PARAMETER_NON_BODY);
	size_t query = begin(out, NON_BODY_QUERY);

	add_member(out, QUERY_IN, p, "in");
	add_member(out, QUERY_NAME, p, "name");
	add_member(out, QUERY_TYPE, p, "type");
	end(out, query);
	end(out, non_body);
	end(out, parameter);
	end(out, item);
}

static void on_path(void *arg, const char *path, const json_t *item)
{
	static const struct {
		const char *method;
		unsigned field;
	} methods[] = { { "get", 2 }, { "put", 3 }, { "post", 4 }, { "delete", 5 }, { "patch", 8 } };
	struct sbuf *out = arg;
	size_t named = begin(out, PATHS_PATH);
	size_t value;

	add_text(out, NAMED_NAME, path);
	value = begin(out, NAMED_VALUE);
	for (size_t m = 0; m < ARRAY_SIZE(methods); m++) {
		const json_t *op = json_object_get(item, methods[m].method);
		size_t from;
		size_t i;
		json_t *p;

		if (!op)
			continue;
		from = begin(out, methods[m].field);
		json_array_foreach (json_object_get(op, "parameters"), i, p)
			add_parameter(out, p);
		add_extensions(out, OPERATION_EXTENSION, op);
		end(out, from);
	}
	end(out, value);
	end(out, named);
}

void openapi_v2_proto(const struct registry *r, struct sbuf *out)
{
	/* Parts have their own buffers so that end() moves a few hundred kilobytes at most once. */
	auto_sbuf struct sbuf part = SBUF(OPENAPI_MAX);
	struct openapi o;

	openapi_collect(&o, r, OPENAPI_V2, NULL, NULL);
	add_text(out, DOCUMENT_SWAGGER, "2.0");
	add_text(&part, INFO_TITLE, "Kubernetes");
	add_text(&part, INFO_VERSION, "v1.32.4");
	add_bytes(out, DOCUMENT_INFO, sbuf_str(&part));
	sbuf_reset(&part);
	openapi_paths(&o, on_path, &part);
	add_bytes(out, DOCUMENT_PATHS, sbuf_str(&part));
	sbuf_reset(&part);
	for (size_t i = 0; i < o.n; i++) {
		json_auto_t *schema = openapi_schema(&o, o.defs[i]);

		add_named_schema(&part, DEFINITIONS_SCHEMA, o.defs[i]->name, schema);
	}
	add_bytes(out, DOCUMENT_DEFINITIONS, sbuf_str(&part));
	openapi_done(&o);
}
