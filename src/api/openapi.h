// SPDX-License-Identifier: Apache-2.0
/* openapi.h - the shared part of the OpenAPI documents; for the openapi_*.c files only
 *
 * openapi_collect() finds every definition that a set of kinds reaches, sorted by name.  Each is then built as one
 * small JSON value and written out at once: as JSON (v2, v3) or as protobuf (v2).  So the three documents cannot
 * disagree, and none of them is ever in memory as a tree.
 */
#ifndef STOKER_API_OPENAPI_H
#define STOKER_API_OPENAPI_H

#include "api/wire.h"
#include "base/map.h"

enum openapi_dialect { OPENAPI_V2, OPENAPI_V3 };

enum openapi_source {
	DEF_MESSAGE, /* a field table */
	DEF_CUSTOM,  /* a custom kind's schema */
	DEF_LIST,    /* the list of a kind */
	DEF_SCALAR   /* Time, Quantity ...: a row of openapi_scalars */
};

struct openapi_scalar {
	const char *name, *doc, *type, *format;
};
extern const struct openapi_scalar openapi_scalars[];
/* The scalar definition of a field type, or NULL. */
const struct openapi_scalar *openapi_scalar_of(enum field_type t);

struct openapi_def {
	char *name;
	enum openapi_source source;
	const struct message *msg;
	const struct kind *kind; /* DEF_CUSTOM, DEF_LIST */
	const struct openapi_scalar *scalar;
	json_t *gvks; /* x-kubernetes-group-version-kind, or NULL */
};

struct openapi {
	const struct registry *registry;
	enum openapi_dialect dialect;
	const char *group, *version; /* NULL: everything */
	struct openapi_def **defs;
	size_t n, cap;
	struct map by_name; /* -> struct openapi_def */
};

void openapi_collect(struct openapi *o, const struct registry *r, enum openapi_dialect dialect, const char *group,
		     const char *version);
void openapi_done(struct openapi *o);
/* Is the kind part of the document? */
bool openapi_wants(const struct openapi *o, const struct kind *k);
/* "io.k8s.api.batch.v1.Job", "org.example.v1.Widget": a kind's own definition, appended. */
void openapi_kind_name(const struct kind *k, struct sbuf *out);
/* {"group":...,"kind":...,"version":...} */
json_t *openapi_gvk(const char *group, const char *version, const char *kind);
/* {"$ref": ...} in the dialect's place. */
json_t *openapi_ref(const struct openapi *o, const char *name);

/* openapi_schema.c: one definition, a new reference. */
json_t *openapi_schema(const struct openapi *o, const struct openapi_def *def);
/* openapi_custom.c: a custom kind's. */
json_t *openapi_custom(const struct openapi *o, const struct kind *k);
/* openapi_paths.c: calls fn for each path with its item, which fn may not keep. */
void openapi_paths(const struct openapi *o, void (*fn)(void *arg, const char *path, const json_t *item), void *arg);

/* Members of a JSON object, printed one after the other. */
struct openapi_writer {
	struct sbuf *out;
	bool more;
};
void openapi_write_member(struct openapi_writer *w, const char *name, const json_t *value);
/* The same as a callback for paths; arg is the writer. */
void openapi_write_path(void *arg, const char *path, const json_t *item);

#endif
