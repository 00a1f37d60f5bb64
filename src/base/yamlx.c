// SPDX-License-Identifier: Apache-2.0
/* yamlx.c - libyaml's events become jansson values, and values become events again
 *
 * Values are built while reading, without a tree of YAML nodes in between.  An anchor keeps its finished value; each
 * alias is a deep copy of it (objects are edited in place later, so nothing may be shared), counted against
 * LIMIT_YAML_NODES before it is made.  A value cannot contain itself, because its anchor is only known once it is
 * finished.  Text that looks like JSON is given to the JSON parser first: libyaml knows neither surrogate pairs nor all
 * of JSON's white space.
 */
#include "base/yamlx.h"
#include "base/jsonx.h"

#include <yaml.h>

#include "base/limits.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/yaml_scalar.h"

struct anchor {
	json_t *value;
	size_t nodes;
};

struct reader {
	yaml_parser_t parser;
	struct err *e;
	jsonx_duplicate_fn *on_duplicate;
	void *arg;
	struct sbuf path; /* of the value at hand, for on_duplicate */
	struct map anchors;
	size_t nodes;
	unsigned depth;
};

static void anchor_free(void *p)
{
	struct anchor *a = p;

	json_decref(a->value);
	free(a);
}

static int fail(struct reader *r, yaml_mark_t at, const char *problem)
{
	return err_set(r->e, ERR_BAD_REQUEST, "invalid YAML at line %zu, column %zu: %s", at.line + 1, at.column + 1,
		       problem);
}

static int next_event(struct reader *r, yaml_event_t *ret)
{
	const yaml_parser_t *p = &r->parser;

	if (yaml_parser_parse(&r->parser, ret))
		return 0;
	if (p->error == YAML_READER_ERROR)
		return err_set(r->e, ERR_BAD_REQUEST, "invalid YAML at byte %zu: %s", p->problem_offset, p->problem);
	return fail(r, p->problem_mark, p->problem ? p->problem : "unreadable");
}

static const char *text(const yaml_char_t *s)
{
	return (const char *)s;
}

static int count_nodes(struct reader *r, size_t n, yaml_mark_t at)
{
	if (n > LIMIT_YAML_NODES - r->nodes)
		return fail(r, at, "too many values, counting those that aliases repeat");
	r->nodes += n;
	return 0;
}

static json_t *binary(const char *s)
{
	auto_sbuf struct sbuf packed = SBUF(strlen(s));
	auto_sbuf struct sbuf bytes = SBUF(strlen(s));

	for (; *s; s++)
		if (!strchr(" \t\r\n", *s))
			sbuf_addc(&packed, *s);
	if (!base64_decode(sbuf_str(&packed).p, packed.n, &bytes) || memchr(sbuf_str(&bytes).p, 0, bytes.n))
		return NULL;
	return jsonx_stringn(sbuf_str(&bytes).p, bytes.n);
}

/* Whether a tag allows what the text turned out to be. */
static bool tag_fits(const char *tag, const json_t *v)
{
	static const struct {
		const char *tag;
		unsigned types; /* bits of json_type */
	} rows[] = {
		{ YAML_INT_TAG, 1u << JSON_INTEGER },
		{ YAML_FLOAT_TAG, 1u << JSON_INTEGER | 1u << JSON_REAL },
		{ YAML_BOOL_TAG, 1u << JSON_TRUE | 1u << JSON_FALSE },
		{ YAML_NULL_TAG, 1u << JSON_NULL },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (streq(tag, rows[i].tag))
			return rows[i].types >> json_typeof(v) & 1;
	return true;
}

/* Untagged plain words and words with one of YAML's own tags are resolved, all else is a string. */
static int read_scalar(struct reader *r, const yaml_event_t *ev, json_t **ret)
{
	const char *s = text(ev->data.scalar.value);
	const char *tag = text(ev->data.scalar.tag);
	size_t n = ev->data.scalar.length;
	json_t *v;

	if (memchr(s, 0, n))
		return fail(r, ev->start_mark, "a NUL character");
	if (tag && streq(tag, "tag:yaml.org,2002:binary"))
		v = binary(s);
	else if (tag ? streq(tag, YAML_INT_TAG) || streq(tag, YAML_FLOAT_TAG) || streq(tag, YAML_BOOL_TAG) ||
				 streq(tag, YAML_NULL_TAG)
		     : ev->data.scalar.plain_implicit)
		v = yaml_scalar_resolve(s, n);
	else
		v = jsonx_stringn(s, n);
	if (!v || (tag && !tag_fits(tag, v))) {
		json_decref(v);
		return fail(r, ev->start_mark, "a value that JSON cannot hold or its tag does not allow");
	}
	*ret = v;
	return 0;
}

static int read_node(struct reader *r, yaml_event_t *ev, json_t **ret);

/* The next event begins a node: reads it, and says in *ret_end whether the collection ended instead. */
static int read_next(struct reader *r, yaml_event_type_t end, bool *ret_end, json_t **ret)
{
	yaml_event_t ev;
	int rc = 0;

	if (next_event(r, &ev) < 0)
		return -1;
	*ret_end = ev.type == end;
	if (!*ret_end)
		rc = read_node(r, &ev, ret);
	yaml_event_delete(&ev);
	return rc;
}

static int read_sequence(struct reader *r, json_t *list)
{
	size_t base = r->path.n;

	for (size_t i = 0;; i++) {
		json_t *item = NULL;
		bool end;

		r->path.n = base;
		sbuf_addf(&r->path, "[%zu]", i);
		if (read_next(r, YAML_SEQUENCE_END_EVENT, &end, &item) < 0)
			return -1;
		r->path.n = base;
		if (end)
			return 0;
		json_array_append_new(list, item);
	}
}

/* A key as text; plain numbers and booleans become theirs. */
static int read_key(struct reader *r, const yaml_event_t *ev, struct sbuf *ret, bool *ret_merge)
{
	json_auto_t *v = NULL;
	char number[32];

	*ret_merge = false;
	if (ev->type != YAML_SCALAR_EVENT)
		return fail(r, ev->start_mark, "a key must be a word, not a mapping, a sequence or an alias");
	if (count_nodes(r, 1, ev->start_mark) < 0 || read_scalar(r, ev, &v) < 0)
		return -1;
	*ret_merge = ev->data.scalar.plain_implicit && json_is_string(v) && streq(json_string_value(v), "<<");
	if (json_is_string(v)) {
		sbuf_add(ret, json_string_value(v), json_string_length(v));
	} else if (json_is_real(v)) {
		yaml_scalar_number(json_real_value(v), number, sizeof(number));
		sbuf_adds(ret, number);
	} else {
		jsonx_dump(v, ret);
	}
	return 0;
}

/* "<<": fields of other mappings, which those of this one and of earlier merges win against. */
static int add_merge(struct reader *r, json_t *merges, json_t *v, yaml_mark_t at)
{
	size_t i;
	json_t *item;
	int rc = 0;

	if (json_is_object(v))
		json_array_append(merges, v);
	else if (!json_is_array(v))
		rc = fail(r, at, "map merge requires map or sequence of maps as the value");
	json_array_foreach (v, i, item) {
		if (!json_is_object(item))
			rc = fail(r, at, "map merge requires map or sequence of maps as the value");
		json_array_append(merges, item);
	}
	json_decref(v);
	return rc;
}

/* One key and its value.  *ret_end: the mapping is over. */
static int read_pair(struct reader *r, json_t *map, json_t *merges, bool *ret_end)
{
	auto_sbuf struct sbuf key = SBUF(LIMIT_BODY);
	size_t base = r->path.n;
	json_t *v = NULL;
	bool merge = false, value_end;
	yaml_event_t ev;
	yaml_mark_t at;
	int rc = 0;

	if (next_event(r, &ev) < 0)
		return -1;
	at = ev.start_mark;
	*ret_end = ev.type == YAML_MAPPING_END_EVENT;
	if (!*ret_end)
		rc = read_key(r, &ev, &key, &merge);
	yaml_event_delete(&ev);
	if (*ret_end || rc < 0)
		return rc;
	sbuf_addf(&r->path, "%s%s", base ? "." : "", sbuf_str(&key).p);
	if (!merge && r->on_duplicate && json_object_get(map, sbuf_str(&key).p))
		r->on_duplicate(r->arg, sbuf_str(&r->path).p);
	rc = read_next(r, YAML_NO_EVENT, &value_end, &v);
	r->path.n = base;
	if (rc < 0)
		return -1;
	if (merge)
		return add_merge(r, merges, v, at);
	json_object_set_new_nocheck(map, sbuf_str(&key).p, v);
	return 0;
}

static int read_mapping(struct reader *r, json_t *map)
{
	json_auto_t *merges = json_array();
	bool end = false;
	size_t i;
	json_t *from;

	while (!end)
		if (read_pair(r, map, merges, &end) < 0)
			return -1;
	json_array_foreach (merges, i, from)
		json_object_update_missing(map, from);
	return 0;
}

static int read_alias(struct reader *r, const yaml_event_t *ev, json_t **ret)
{
	const struct anchor *a = map_find(&r->anchors, text(ev->data.alias.anchor));

	if (!a)
		return fail(r, ev->start_mark, "an alias of an unknown anchor, or of one that contains it");
	if (count_nodes(r, a->nodes, ev->start_mark) < 0)
		return -1;
	*ret = jsonx_copy(a->value);
	return 0;
}

static const yaml_char_t *anchor_of(const yaml_event_t *ev)
{
	return ev->type == YAML_SCALAR_EVENT           ? ev->data.scalar.anchor
	       : ev->type == YAML_SEQUENCE_START_EVENT ? ev->data.sequence_start.anchor
						       : ev->data.mapping_start.anchor;
}

static int read_collection(struct reader *r, const yaml_event_t *ev, json_t **ret)
{
	bool is_list = ev->type == YAML_SEQUENCE_START_EVENT;
	json_auto_t *v = is_list ? json_array() : json_object();

	if (++r->depth > LIMIT_JSON_DEPTH)
		return fail(r, ev->start_mark, "nested too deeply");
	if ((is_list ? read_sequence(r, v) : read_mapping(r, v)) < 0)
		return -1;
	r->depth--;
	*ret = TAKE(v);
	return 0;
}

static int read_node(struct reader *r, yaml_event_t *ev, json_t **ret)
{
	size_t before = r->nodes;
	json_t *v = NULL;
	int rc;

	if (ev->type == YAML_ALIAS_EVENT)
		return read_alias(r, ev, ret);
	if (count_nodes(r, 1, ev->start_mark) < 0)
		return -1;
	if (ev->type == YAML_SCALAR_EVENT)
		rc = read_scalar(r, ev, &v);
	else if (ev->type == YAML_SEQUENCE_START_EVENT || ev->type == YAML_MAPPING_START_EVENT)
		rc = read_collection(r, ev, &v);
	else
		rc = fail(r, ev->start_mark, "a value is missing");
	if (rc < 0)
		return -1;
	if (anchor_of(ev)) {
		struct anchor *a = xmalloc(sizeof(*a));

		*a = (struct anchor){ json_incref(v), r->nodes - before };
		map_set(&r->anchors, text(anchor_of(ev)), a);
	}
	*ret = v;
	return 0;
}

/* One document, whose start event has been read; *ret stays NULL for an empty one. */
static int read_document(struct reader *r, json_t **ret)
{
	json_auto_t *v = NULL;
	yaml_event_t ev;
	bool end;

	if (read_next(r, YAML_NO_EVENT, &end, &v) < 0 || next_event(r, &ev) < 0)
		return -1;
	yaml_event_delete(&ev); /* document end */
	map_done(&r->anchors);
	if (!json_is_null(v))
		*ret = TAKE(v);
	return 0;
}

static int read_stream(struct reader *r, json_t *docs)
{
	yaml_event_type_t type;

	do {
		json_t *doc = NULL;
		yaml_event_t ev;

		if (next_event(r, &ev) < 0)
			return -1;
		type = ev.type;
		yaml_event_delete(&ev);
		if (type == YAML_DOCUMENT_START_EVENT && read_document(r, &doc) < 0)
			return -1;
		if (doc)
			json_array_append_new(docs, doc);
	} while (type != YAML_STREAM_END_EVENT);
	return 0;
}

/* The whole text as one JSON value, if that is what it is. */
static json_t *read_as_json(const char *p, size_t n, jsonx_duplicate_fn *on_duplicate, void *arg)
{
	struct str t = str_trim((struct str){ p, n });
	struct err ignored = ERR_INIT;
	json_t *v = NULL;

	if (!t.n || (t.p[0] != '{' && t.p[0] != '['))
		return NULL;
	return jsonx_parse(t.p, t.n, on_duplicate, arg, &v, &ignored) < 0 ? NULL : v;
}

int yamlx_parse_all(const char *p, size_t n, jsonx_duplicate_fn *on_duplicate, void *arg, json_t **ret_docs,
		    struct err *e)
{
	struct reader r = { .e = e, .on_duplicate = on_duplicate, .arg = arg };
	json_auto_t *docs = json_array();
	json_t *json = read_as_json(p, n, on_duplicate, arg);
	int rc;

	if (json) {
		json_array_append_new(docs, json);
		*ret_docs = TAKE(docs);
		return 0;
	}
	sbuf_init(&r.path, LIMIT_BODY);
	map_init(&r.anchors, anchor_free);
	if (!yaml_parser_initialize(&r.parser))
		abort();
	yaml_parser_set_input_string(&r.parser, (const yaml_char_t *)p, n);
	rc = read_stream(&r, docs);
	yaml_parser_delete(&r.parser);
	map_done(&r.anchors);
	sbuf_done(&r.path);
	if (rc < 0)
		return -1;
	*ret_docs = TAKE(docs);
	return 0;
}

int yamlx_parse(const char *p, size_t n, jsonx_duplicate_fn *on_duplicate, void *arg, json_t **ret, struct err *e)
{
	json_auto_t *docs = NULL;

	if (yamlx_parse_all(p, n, on_duplicate, arg, &docs, e) < 0)
		return -1;
	if (json_array_size(docs) != 1)
		return err_set(e, ERR_BAD_REQUEST, "expected one YAML document, found %zu", json_array_size(docs));
	*ret = json_incref(json_array_get(docs, 0));
	return 0;
}

/* --- writing --- */

static int append(void *arg, unsigned char *p, size_t n)
{
	sbuf_add(arg, p, n);
	return 1;
}

static void emit(yaml_emitter_t *em, yaml_event_t *ev)
{
	/* Memory apart, only a wrong order of events fails, which would be our bug. */
	if (!yaml_emitter_emit(em, ev))
		abort();
}

static void emit_scalar(yaml_emitter_t *em, const char *s, size_t n, yaml_scalar_style_t style)
{
	bool plain = style == YAML_PLAIN_SCALAR_STYLE;
	yaml_event_t ev;

	yaml_scalar_event_initialize(&ev, NULL, NULL, (const yaml_char_t *)s, (int)n, plain, !plain, style);
	emit(em, &ev);
}

/* Plain where it stays a string, lines as a literal block, else quoted.  The emitter itself quotes where a style cannot
 * carry the text. */
static void emit_string(yaml_emitter_t *em, const char *s, size_t n, bool is_key)
{
	yaml_scalar_style_t style = YAML_PLAIN_SCALAR_STYLE;

	if (memchr(s, '\n', n))
		style = is_key ? YAML_DOUBLE_QUOTED_SCALAR_STYLE : YAML_LITERAL_SCALAR_STYLE;
	else if (yaml_scalar_needs_quotes(s, n))
		style = YAML_DOUBLE_QUOTED_SCALAR_STYLE;
	emit_scalar(em, s, n, style);
}

static void emit_value(yaml_emitter_t *em, const json_t *v);

static int compare_keys(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void emit_mapping(yaml_emitter_t *em, const json_t *v)
{
	const char **keys = xcalloc(json_object_size(v), sizeof(*keys));
	yaml_event_t ev;
	const char *key;
	json_t *value;
	size_t n = 0;

	json_object_foreach ((json_t *)v, key, value)
		keys[n++] = key;
	qsort(keys, n, sizeof(*keys), compare_keys);
	yaml_mapping_start_event_initialize(&ev, NULL, NULL, 1, YAML_BLOCK_MAPPING_STYLE);
	emit(em, &ev);
	for (size_t i = 0; i < n; i++) {
		emit_string(em, keys[i], strlen(keys[i]), true);
		emit_value(em, json_object_get(v, keys[i]));
	}
	yaml_mapping_end_event_initialize(&ev);
	emit(em, &ev);
	free(keys);
}

static void emit_sequence(yaml_emitter_t *em, const json_t *v)
{
	yaml_event_t ev;

	yaml_sequence_start_event_initialize(&ev, NULL, NULL, 1, YAML_BLOCK_SEQUENCE_STYLE);
	emit(em, &ev);
	for (size_t i = 0; i < json_array_size(v); i++)
		emit_value(em, json_array_get(v, i));
	yaml_sequence_end_event_initialize(&ev);
	emit(em, &ev);
}

static void emit_value(yaml_emitter_t *em, const json_t *v)
{
	char number[32];

	switch (json_typeof(v)) {
	case JSON_OBJECT:
		emit_mapping(em, v);
		return;
	case JSON_ARRAY:
		emit_sequence(em, v);
		return;
	case JSON_STRING:
		emit_string(em, json_string_value(v), json_string_length(v), false);
		return;
	case JSON_INTEGER:
		snprintf(number, sizeof(number), "%lld", (long long)json_integer_value(v));
		break;
	case JSON_REAL:
		yaml_scalar_number(json_real_value(v), number, sizeof(number));
		break;
	default:
		snprintf(number, sizeof(number), "%s", json_is_null(v) ? "null" : json_is_true(v) ? "true" : "false");
	}
	emit_scalar(em, number, strlen(number), YAML_PLAIN_SCALAR_STYLE);
}

void yamlx_dump(const json_t *v, struct sbuf *out)
{
	yaml_emitter_t em;
	yaml_event_t ev;

	if (!yaml_emitter_initialize(&em))
		abort();
	yaml_emitter_set_output(&em, append, out);
	yaml_emitter_set_unicode(&em, 1);
	yaml_emitter_set_width(&em, -1);
	yaml_stream_start_event_initialize(&ev, YAML_UTF8_ENCODING);
	emit(&em, &ev);
	yaml_document_start_event_initialize(&ev, NULL, NULL, NULL, 1);
	emit(&em, &ev);
	emit_value(&em, v);
	yaml_document_end_event_initialize(&ev, 1);
	emit(&em, &ev);
	yaml_stream_end_event_initialize(&ev);
	emit(&em, &ev);
	yaml_emitter_delete(&em);
}
