// SPDX-License-Identifier: Apache-2.0
/* kind.h - what one served kind is: names, verbs, fields, columns, selectors, rules
 *
 * A `struct kind` is one resource in one version, as discovery lists it.  Versions of the same objects share a store:
 * `storage` points to the version whose form is kept, and to_storage/from_storage turn one into the other.
 * Built-in kinds are constants in one file each; CustomResourceDefinitions make more of them at run time.
 */
#ifndef STOKER_KINDS_KIND_H
#define STOKER_KINDS_KIND_H

#include "kinds/field.h"

struct schema;

enum verb {
	VERB_GET,
	VERB_LIST,
	VERB_WATCH,
	VERB_CREATE,
	VERB_UPDATE,
	VERB_PATCH,
	VERB_DELETE,
	VERB_DELETECOLLECTION,
	VERB__COUNT
};

const char *verb_name(enum verb v); /* "deletecollection" */

#define V(x)         (1u << VERB_##x)
#define VERBS_ALL    (V(GET) | V(LIST) | V(WATCH) | V(CREATE) | V(UPDATE) | V(PATCH) | V(DELETE) | V(DELETECOLLECTION))
#define VERBS_STATUS (V(GET) | V(UPDATE) | V(PATCH))

enum name_rule { NAME_SUBDOMAIN, NAME_LABEL, NAME_LABEL_1035, NAME_PATH_SEGMENT };

enum kind_flags {
	KIND_STATUS = 1 << 0,           /* has a status subresource: the main endpoint ignores status and the reverse */
	KIND_GENERATION = 1 << 1,       /* metadata.generation counts changes of anything but metadata and status */
	KIND_CREATE_ON_UPDATE = 1 << 2, /* PUT to a missing object creates it */
	KIND_NEEDS_RV = 1 << 3,         /* PUT without resourceVersion is refused */
	KIND_ORPHAN = 1 << 4,           /* deletion without a policy orphans dependents */
	KIND_SEALED = 1 << 5,           /* encrypted at rest */
	KIND_VIRTUAL = 1 << 6,          /* never stored: reviews, metrics */
	KIND_EXPIRES = 1 << 7,          /* removed an hour after its last change: events */
	KIND_GRACE = 1 << 8,            /* deletion has a grace period: pods */
	KIND_CUSTOM = 1 << 9,           /* from a CustomResourceDefinition */
	KIND_NAMESPACE = 1 << 10,       /* the namespace itself: has finalizers in its spec too, and a phase */
	KIND_OLD_CLIENTS = 1 << 11      /* left out of aggregated discovery: only clients before it ask for this */
};

/* One column of a server-side table. */
struct column {
	const char *name;
	const char *type;   /* string, integer, date, boolean, number */
	const char *format; /* "name" for the first, else "" */
	const char *doc;
	int priority; /* 1: only with -o wide */
	/* The cell of one object, a new reference (json_null() where there is nothing); `now` for ages.  NULL: the text
	 * at `path` (JSONPath without braces for custom columns). */
	json_t *(*cell)(const json_t *obj, int64_t now);
	const char *path;
};

/* A field that field selectors may name. */
struct selectable {
	const char *label;    /* as written in the selector */
	const char *path;     /* in the stored object */
	const char *fallback; /* value when absent; NULL is "" */
};

struct subresource {
	const char *name; /* "status", "scale", "log" ... */
	unsigned verbs;
	const char *group, *version, *kind; /* of its body where they differ from the parent's; else NULL */
};

struct kind {
	const char *group; /* "" for core */
	const char *version;
	const char *kind;
	const char *plural;
	const char *singular;
	const char *const *short_names; /* NULL-terminated or NULL */
	const char *const *categories;
	bool namespaced;
	enum name_rule name_rule;
	unsigned flags;
	unsigned verbs;
	const struct message *message; /* NULL: `schema` */
	const struct schema *schema;   /* custom resources; NULL: anything goes */
	const struct column *columns;
	size_t ncolumns;
	const struct selectable *selectable; /* beyond metadata.name and metadata.namespace */
	size_t nselectable;
	const struct subresource *subresources;
	size_t nsubresources;
	const char *scale_spec, *scale_status, *scale_selector; /* JSON paths for the scale subresource */
	const struct kind *storage;                             /* NULL: this one */
	void (*to_storage)(json_t *obj, const json_t *old);     /* old: what is stored now, NULL at its creation */
	void (*from_storage)(json_t *obj);
	/* Fields only the server sets, before defaults: initial status, derived labels ...  obj is this version's form.
	 */
	void (*prepare_create)(json_t *obj);
	void (*prepare_update)(json_t *obj, const json_t *old);
	/* Rules over the whole object beyond its messages' (cross-field, immutability). */
	void (*validate)(const json_t *obj, struct err *e);
	void (*validate_update)(const json_t *obj, const json_t *old, struct err *e);
};

/* "pods", "jobs.batch": as error texts name a resource. */
void kind_resource_name(const struct kind *k, char *buf, size_t n);
/* "v1", "batch/v1". */
void kind_api_version(const struct kind *k, char *buf, size_t n);
/* The version whose form is stored. */
static inline const struct kind *kind_storage(const struct kind *k)
{
	return k->storage ? k->storage : k;
}
const struct subresource *kind_subresource(const struct kind *k, const char *name);

/* The whole front-door treatment of one object in this version's form, table or schema alike.  See field.h. */
int kind_decode(const struct kind *k, json_t *obj, struct decode_report *report, struct err *e);
void kind_default(const struct kind *k, json_t *obj);
/* For kinds with a message: its own rows only, not those of its members; or all of one member, "status". */
void kind_default_top(const struct kind *k, json_t *obj);
void kind_default_part(const struct kind *k, json_t *obj, const char *part);
/* metadata rules (names, labels, annotations, finalizers, ownerReferences), rows, messages, the kind's own. */
int kind_validate(const struct kind *k, const json_t *obj, struct err *e);
int kind_validate_update(const struct kind *k, const json_t *obj, const json_t *old, struct err *e);

/* kinds/meta.c: metadata of every object and the list options. */
extern const struct message meta_object, meta_list, meta_delete_options, meta_status, meta_label_selector,
	meta_owner_reference, meta_condition;

/* --- the registry (kinds/registry.c): built-in rows, plus custom ones --- */
struct registry;
struct registry *registry_new(void);
void registry_free(struct registry *r);
const struct kind *registry_find(const struct registry *r, const char *group, const char *version, const char *plural);
const struct kind *registry_find_kind(const struct registry *r, const char *group, const char *version,
				      const char *kind);
/* Any served version of group/plural, the preferred one first. */
const struct kind *registry_preferred(const struct registry *r, const char *group, const char *plural);
bool registry_has_group(const struct registry *r, const char *group, const char *version /* or NULL */);
/* Every kind in discovery order: groups by priority, versions by preference.  NULL at the end. */
const struct kind *registry_at(const struct registry *r, size_t i);
/* Custom kinds: added and removed by the CRD code (api/crd.c), which keeps them alive until removed.  Bumps generation.
 */
void registry_add(struct registry *r, const struct kind *k);
void registry_remove(struct registry *r, const struct kind *k);
/* Changes whenever discovery and OpenAPI would. */
unsigned registry_generation(const struct registry *r);
/* A message by protobuf's (apiVersion, kind), also for bodies that are no resource (DeleteOptions, Scale, Eviction,
 * Binding, TokenRequest ...); NULL if unknown. */
const struct message *registry_message(const struct registry *r, const char *api_version, const char *kind);

#endif
