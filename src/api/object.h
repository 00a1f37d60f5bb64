// SPDX-License-Identifier: Apache-2.0
/* object.h - the metadata only the server may write, and how objects look at rest */
#ifndef STOKER_API_OBJECT_H
#define STOKER_API_OBJECT_H

#include "api/api.h"

/* Checks kind and apiVersion of a body (absent is fine), removes them, and checks every field by the kind's table.
 * Unknown and duplicate fields become warnings or, when strict, ERR_BAD_REQUEST. */
int object_decode(const struct kind *k, json_t *obj, enum field_validation mode, const json_t *duplicates,
		  json_t **warnings, struct err *e);

/* Adds a text, which it takes, to what the reply will say in Warning headers. */
void object_warn(json_t **warnings, json_t *text);

/* The namespace of the path; ERR_BAD_REQUEST if the object names another. */
int object_stamp_place(const struct kind *k, json_t *obj, const char *ns, struct err *e);
/* A new object's metadata: name or generateName, namespace, uid, creationTimestamp, generation. */
int object_stamp_new(const struct kind *k, json_t *obj, const char *ns, const char *url_name, struct err *e);
/* An existing object's: what the server owns is taken from old; name, namespace and uid must agree. */
int object_stamp_old(const struct kind *k, json_t *obj, const json_t *old, const char *ns, const char *name,
		     struct err *e);
/* Five characters as generated names end in, always the same for a text. */
#define OBJECT_SUFFIX_LEN 6
void object_suffix_for(const char *text, char out[OBJECT_SUFFIX_LEN]);
/* Replaces the last five characters after generateName by other random ones. */
void object_regenerate_name(json_t *obj);
/* The name as its author gave it, for refusals of what may be tried again: generateName if the rest is ours. */
const char *object_asked_name(const json_t *obj);

/* Sets a text in a map of the object, such as metadata.labels, that may not be there yet. */
void object_set_text(json_t *obj, const char *map_path, const char *key, const char *value);

/* True if anything but metadata and status differs. */
bool object_spec_changed(const json_t *a, const json_t *b);

/* True if a finalizer keeps it from leaving; `finalizers` are those of its metadata, or what they shall be. */
bool object_is_held(const struct kind *k, const json_t *obj, const json_t *finalizers);

/* A new object with metadata first: the stored form begins with it. */
json_t *object_at_rest(const json_t *obj);
/* Stored text as an object. */
int object_parse(struct str text, json_t **ret, struct err *e);
/* In the form of version `k`: converted if that is not the stored one.  Takes and returns a reference; obj may be
 * shared, so a converted one is a copy. */
json_t *object_for_version(const struct kind *k, json_t *obj);
/* kind and apiVersion in front: for patches, YAML and tables of whole objects. */
json_t *object_with_type(const struct kind *k, const json_t *obj);
/* The same for those in this process, who keep objects by the thousand and never look at who managed which field: most
 * of a pod's memory would be that. */
json_t *object_for_caches(const struct kind *k, const json_t *obj);
/* `{"kind":"Pod","apiVersion":"v1",` for texts. */
void object_type_prefix(const struct kind *k, struct sbuf *out);

#endif
