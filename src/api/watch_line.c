// SPDX-License-Identifier: Apache-2.0
/* watch_line.c - events as text
 *
 * The common case, a plain object in its stored version, is a prefix and the stored bytes; everything else is built as
 * JSON.
 */
#include "api/watch_line.h"

#include "api/object.h"
#include "api/status.h"
#include "base/clock.h"
#include "base/json_read.h"
#include "base/jsonx.h"
#include "base/mem.h"

/* A deletion shows the last state with the deletion's own revision. */
static json_t *with_revision(const json_t *obj, int64_t rv)
{
	json_t *copy = json_copy((json_t *)obj);
	json_t *meta = json_copy(json_object_get(obj, "metadata"));

	json_object_set_new(meta, "resourceVersion", jsonx_stringf("%lld", (long long)rv));
	json_object_set_new(copy, "metadata", meta);
	return copy;
}

/* With the metadata.managedFields of that text. */
static json_t *with_managers(json_t *obj, struct str text)
{
	json_t *meta = json_copy(json_object_get(obj, "metadata"));
	json_t *whole = json_copy(obj);
	json_t *managers = NULL;
	struct err e = ERR_INIT;
	struct str found;

	json_decref(obj);
	if (json_find_member(text, "metadata", "managedFields", &found) && found.n &&
	    jsonx_parse(found.p, found.n, NULL, NULL, &managers, &e) == 0)
		json_object_set_new(meta, "managedFields", managers);
	json_object_set_new(whole, "metadata", meta);
	return whole;
}

static json_t *table_doc(const struct watch_shape *s, const json_t *obj, int64_t rv, bool first)
{
	json_t *rows = json_array();
	json_t *table;

	if (obj)
		json_array_append_new(rows, table_row(s->kind, obj, s->include, s->meta_version, clock_wall()));
	table = json_pack("{s:s, s:o, s:{s:o}, s:o, s:o}", "kind", "Table", "apiVersion",
			  jsonx_stringf("meta.k8s.io/%s", s->meta_version), "metadata", "resourceVersion",
			  jsonx_stringf("%lld", (long long)rv), "columnDefinitions",
			  first ? table_columns(s->kind) : json_array(), "rows", rows);
	return table;
}

static void add_json_event(const char *type, json_t *doc, struct sbuf *out)
{
	sbuf_addf(out, "{\"type\":\"%s\",\"object\":", type);
	jsonx_dump(doc, out);
	sbuf_adds(out, "}\n");
	json_decref(doc);
}

void watch_line(const struct watch_shape *s, const struct watch_event *ev, bool first, struct sbuf *out)
{
	bool deleted = streq(ev->type, "DELETED");
	json_auto_t *obj = NULL;

	if (s->form == WATCH_JSON && ev->body.n && !deleted && !s->kind->from_storage) {
		sbuf_addf(out, "{\"type\":\"%s\",\"object\":", ev->type);
		object_type_prefix(s->kind, out);
		sbuf_add(out, ev->body.p + 1, ev->body.n - 1);
		sbuf_adds(out, "}\n");
		return;
	}
	obj = deleted ? with_revision(ev->obj, ev->rv) : json_incref((json_t *)ev->obj);
	if (ev->managers.n)
		obj = with_managers(obj, ev->managers);
	obj = object_for_version(s->kind, obj);
	if (s->form == WATCH_TABLE)
		add_json_event(ev->type, table_doc(s, obj, ev->rv, first), out);
	else if (s->form == WATCH_PARTIAL)
		add_json_event(ev->type, table_partial(obj, s->meta_version), out);
	else
		add_json_event(ev->type, object_with_type(s->kind, obj), out);
}

json_t *watch_object(const struct watch_shape *s, const struct watch_event *ev)
{
	json_auto_t *obj = streq(ev->type, "DELETED") ? with_revision(ev->obj, ev->rv) : json_incref((json_t *)ev->obj);

	obj = object_for_version(s->kind, obj);
	return object_for_caches(s->kind, obj);
}

json_t *watch_bookmark(const struct watch_shape *s, int64_t rv, bool list_end)
{
	json_t *doc;

	if (s->form == WATCH_TABLE) {
		doc = table_doc(s, NULL, rv, false);
	} else {
		json_auto_t *obj = json_pack("{s:{s:o, s:n}}", "metadata", "resourceVersion",
					     jsonx_stringf("%lld", (long long)rv), "creationTimestamp");

		doc = s->form == WATCH_PARTIAL ? table_partial(obj, s->meta_version) : object_with_type(s->kind, obj);
	}
	if (list_end)
		jsonx_set_new(json_object_get(doc, "metadata"), "annotations",
			      json_pack("{s:s}", "k8s.io/initial-events-end", "true"));
	return doc;
}

void watch_line_bookmark(const struct watch_shape *s, int64_t rv, bool list_end, struct sbuf *out)
{
	add_json_event("BOOKMARK", watch_bookmark(s, rv, list_end), out);
}

void watch_line_error(const struct err *e, struct sbuf *out)
{
	add_json_event("ERROR", status_from_err(e, &(struct status_subject){ 0 }), out);
}
