// SPDX-License-Identifier: Apache-2.0
/* verbs.h - the verbs behind api_call(); for the files of this room only */
#ifndef STOKER_API_VERBS_H
#define STOKER_API_VERBS_H

#include "api/api.h"

typedef int verb_fn(struct api *api, struct api_request *req, struct api_result *ret, struct err *e);

verb_fn verb_get, verb_create, verb_update, verb_patch, verb_delete;

/* May the caller?  ERR_FORBIDDEN in Kubernetes' words if not. */
int verb_authorize(struct api *api, const struct api_request *req, struct err *e);

/* The stored object of a request, decoded, in the stored form; ERR_NOT_FOUND without text. */
int verb_load(struct api *api, const struct kind *k, const char *ns, const char *name, json_t **ret, struct err *e);
/* The same, by way of what the caller has seen if it is still that: then it is without metadata.managedFields, and
 * their text is appended to `managers`. */
int verb_load_seen(struct api *api, const struct api_request *req, json_t **ret, struct sbuf *managers, struct err *e);

/* Second half of create: obj is decoded and in the request's version.  `applied`: managedFields are already right. */
int write_new(struct api *api, struct api_request *req, json_t *obj, bool applied, struct api_result *ret,
	      struct err *e);
/* Second half of update and patch: old in the stored form, obj in the request's version. */
int write_over(struct api *api, struct api_request *req, json_t *old, json_t *obj, bool applied, struct api_result *ret,
	       struct err *e);
/* Puts obj (stored form, complete) in place of old and fills the result. */
int write_store(struct api *api, struct api_request *req, json_t *old, json_t *obj, int code, struct api_result *ret,
		struct err *e);
/* Removes for good; the last part of deletion. */
int write_remove(struct api *api, struct api_request *req, json_t *old, struct api_result *ret, struct err *e);
/* A resourceVersion in the body is a promise about what the client saw: ERR_CONFLICT if it does not hold. */
/* Whether a new state may hold members of the old one that it leaves as they are: nobody converts them. */
bool write_may_share(const struct kind *k);
int write_check_version(const struct api_request *req, const json_t *obj, const json_t *old, struct err *e);
/* Who writes, for managedFields. */
const char *write_manager(const struct api_request *req, char *buf, size_t n);

/* --- subresource_pod.c --- */
verb_fn bind_pod, evict_pod;
/* The condition by which a pod, and its Job's failure policy, know an eviction; none for a pod that has ended. */
void pod_mark_evicted(json_t *pod);

/* --- subresources.c: those that are not a plain part of the object --- */
/* Handler for a subresource and verb, or NULL: the plain verb (status and its like). */
verb_fn *subresource_handler(const struct kind *k, const char *name, enum verb verb);
/* Decodes the body of a subresource that has a type of its own (Eviction, Binding, TokenRequest). */
int subresource_body(struct api *api, struct api_request *req, json_t **warnings, struct err *e);
/* The part of the object a subresource writes: "status" for status and approval; NULL: everything but status. */
const char *subresource_part(const char *name);

/* --- admission.c: rules that need more than the object itself --- */
/* Before a write is validated; old is NULL on create.  obj is in the request's version and may be changed. */
int admit_write(struct api *api, const struct api_request *req, json_t *obj, const json_t *old, struct err *e);
/* What the caller should know of a write that is accepted. */
void admit_warn(struct api *api, const struct api_request *req, const json_t *obj, const json_t *old,
		struct api_result *ret);
/* What only the server can choose, once the object is known to be good; no field manager owns it.  Then, whether there
 * is room for it. */
int admit_assign(struct api *api, const struct api_request *req, json_t *obj, const json_t *old, struct err *e);
int admit_delete(struct api *api, const struct api_request *req, const json_t *old, struct err *e);
/* After the write has been put into the turn's transaction (not on dry runs). */
void admit_written(struct api *api, const struct kind *k, const json_t *obj, const json_t *old);

/* --- list.c --- */
/* Resolves the resourceVersion parameters of a list: *ret_at is 0 for "now". */
int list_revision(struct api *api, const struct api_request *req, int64_t *ret_at, struct err *e);
bool list_matches(const struct api_request *req, const json_t *obj);

#endif
