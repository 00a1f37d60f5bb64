// SPDX-License-Identifier: Apache-2.0
/* openapi.c - which definitions a document needs: a walk from the served kinds over everything they refer to */
#include "api/openapi.h"

#include "base/jsonx.h"
#include "base/limits.h"
#include "base/mem.h"

#define META "io.k8s.apimachinery.pkg.apis.meta.v1."

const struct openapi_scalar openapi_scalars[] = {
	{ META "Time", "A point in time, RFC 3339.", "string", "date-time" },
	{ META "MicroTime", "A point in time with microseconds, RFC 3339.", "string", "date-time" },
	{ META "Duration", "A span of time such as 1h30m.", "string", NULL },
	{ "io.k8s.apimachinery.pkg.api.resource.Quantity",
	  "An amount: a number with an optional suffix (m, k, M, G, T, P, E or Ki, Mi, Gi, Ti, Pi, Ei).", "string",
	  NULL },
	{ "io.k8s.apimachinery.pkg.util.intstr.IntOrString",
	  "A whole number, or a string such as 25% or a port's name.", "string", "int-or-string" },
	{ NULL, NULL, NULL, NULL },
};

const struct openapi_scalar *openapi_scalar_of(enum field_type t)
{
	switch (t) {
	case FIELD_TIME:
		return &openapi_scalars[0];
	case FIELD_MICROTIME:
		return &openapi_scalars[1];
	case FIELD_DURATION:
		return &openapi_scalars[2];
	case FIELD_QUANTITY:
		return &openapi_scalars[3];
	case FIELD_INTSTR:
		return &openapi_scalars[4];
	default:
		return NULL;
	}
}

static void def_free(void *arg)
{
	struct openapi_def *def = arg;

	free(def->name);
	json_decref(def->gvks);
	free(def);
}

void openapi_done(struct openapi *o)
{
	free(o->defs);
	map_done(&o->by_name);
}

bool openapi_wants(const struct openapi *o, const struct kind *k)
{
	return !o->group || (streq(k->group, o->group) && streq(k->version, o->version));
}

/* kubeflow.org -> org.kubeflow */
static void add_reversed(const char *group, struct sbuf *out)
{
	size_t end = strlen(group);

	while (end) {
		size_t from = end;

		while (from && group[from - 1] != '.')
			from--;
		sbuf_add(out, group + from, end - from);
		end = from ? from - 1 : 0;
		if (end)
			sbuf_addc(out, '.');
	}
}

void openapi_kind_name(const struct kind *k, struct sbuf *out)
{
	if (k->message) {
		sbuf_adds(out, k->message->name);
		return;
	}
	add_reversed(k->group, out);
	sbuf_addf(out, ".%s.%s", k->version, k->kind);
}

json_t *openapi_gvk(const char *group, const char *version, const char *kind)
{
	return json_pack("{s:s, s:s, s:s}", "group", group, "kind", kind, "version", version);
}

json_t *openapi_ref(const struct openapi *o, const char *name)
{
	return json_pack(
		"{s:o}", "$ref",
		jsonx_stringf("#/%s/%s", o->dialect == OPENAPI_V2 ? "definitions" : "components/schemas", name));
}

static struct openapi_def *add_def(struct openapi *o, const char *name, enum openapi_source source, bool *ret_new)
{
	struct openapi_def *def = map_find(&o->by_name, name);

	*ret_new = !def;
	if (def)
		return def;
	def = xcalloc(1, sizeof(*def));
	def->name = xstrdup(name);
	def->source = source;
	map_set(&o->by_name, name, def);
	ARRAY_PUSH(o->defs, o->n, o->cap, def);
	return def;
}

static void add_gvk(struct openapi_def *def, const char *group, const char *version, const char *kind)
{
	json_auto_t *gvk = openapi_gvk(group, version, kind);
	size_t i;
	json_t *have;

	if (!def->gvks)
		def->gvks = json_array();
	json_array_foreach (def->gvks, i, have)
		if (json_equal(have, gvk))
			return;
	json_array_append(def->gvks, gvk);
}

static void add_fields(struct openapi *o, const struct message *m);

static struct openapi_def *add_message(struct openapi *o, const struct message *m)
{
	bool is_new;
	struct openapi_def *def = add_def(o, m->name, DEF_MESSAGE, &is_new);

	if (!is_new)
		return def;
	def->msg = m;
	add_fields(o, m);
	return def;
}

static void add_fields(struct openapi *o, const struct message *m)
{
	for (size_t i = 0; i < m->nfields; i++) {
		const struct field *f = &m->fields[i];
		const struct openapi_scalar *scalar = openapi_scalar_of((enum field_type)f->type);
		bool is_new;

		if (f->flags & FIELD_INLINE)
			add_fields(o, f->msg);
		else if (f->type == FIELD_OBJECT)
			add_message(o, f->msg);
		else if (scalar)
			add_def(o, scalar->name, DEF_SCALAR, &is_new)->scalar = scalar;
	}
}

static void add_list(struct openapi *o, const struct kind *k)
{
	auto_sbuf struct sbuf name = SBUF(LIMIT_STATUS_TEXT);
	auto_sbuf struct sbuf kind = SBUF(LIMIT_STATUS_TEXT);
	struct openapi_def *def;
	bool is_new;

	openapi_kind_name(k, &name);
	sbuf_adds(&name, "List");
	def = add_def(o, name.p, DEF_LIST, &is_new);
	if (is_new)
		def->kind = k;
	sbuf_addf(&kind, "%sList", k->kind);
	add_gvk(def, k->group, k->version, kind.p);
	add_message(o, &meta_list);
}

static void add_kind(struct openapi *o, const struct kind *k)
{
	auto_sbuf struct sbuf name = SBUF(LIMIT_STATUS_TEXT);
	struct openapi_def *def;
	bool is_new;

	if (k->message) {
		def = add_message(o, k->message);
	} else {
		openapi_kind_name(k, &name);
		def = add_def(o, name.p, DEF_CUSTOM, &is_new);
		def->kind = k;
		add_message(o, &meta_object);
	}
	add_gvk(def, k->group, k->version, k->kind);
	if (k->verbs & V(LIST))
		add_list(o, k);
	if (k->verbs & V(DELETE))
		add_gvk(add_message(o, &meta_delete_options), k->group, k->version, "DeleteOptions");
	for (size_t i = 0; i < k->nsubresources; i++) {
		const struct subresource *s = &k->subresources[i];
		const char *group = s->group ? s->group : k->group;
		const char *version = s->version ? s->version : k->version;
		const struct message *m;
		char api_version[320];

		if (!s->kind || streq(s->kind, k->kind))
			continue;
		snprintf(api_version, sizeof(api_version), "%s%s%s", group, *group ? "/" : "", version);
		m = registry_message(o->registry, api_version, s->kind);
		if (m)
			add_gvk(add_message(o, m), group, version, s->kind);
	}
}

static int by_name(const void *a, const void *b)
{
	const struct openapi_def *const *x = a;
	const struct openapi_def *const *y = b;

	return strcmp((*x)->name, (*y)->name);
}

void openapi_collect(struct openapi *o, const struct registry *r, enum openapi_dialect dialect, const char *group,
		     const char *version)
{
	const struct kind *k;

	*o = (struct openapi){ .registry = r, .dialect = dialect, .group = group, .version = version };
	map_init(&o->by_name, def_free);
	for (size_t i = 0; (k = registry_at(r, i)); i++)
		if (openapi_wants(o, k))
			add_kind(o, k);
	add_gvk(add_message(o, &meta_status), "", "v1", "Status");
	if (o->n)
		qsort(o->defs, o->n, sizeof(*o->defs), by_name);
}

void openapi_write_member(struct openapi_writer *w, const char *name, const json_t *value)
{
	sbuf_adds(w->out, w->more ? "," : "");
	w->more = true;
	sbuf_add_json_string(w->out, name, strlen(name));
	sbuf_addc(w->out, ':');
	jsonx_dump(value, w->out);
}

void openapi_write_path(void *arg, const char *path, const json_t *item)
{
	openapi_write_member(arg, path, item);
}
