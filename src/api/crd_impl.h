// SPDX-License-Identifier: Apache-2.0
/* crd_impl.h - the pure parts of custom kinds; for the crd_*.c files and their tests only */
#ifndef STOKER_API_CRD_IMPL_H
#define STOKER_API_CRD_IMPL_H

#include "kinds/kind.h"

#define CRD_GROUP     "apiextensions.k8s.io"
#define CRD_PLURAL    "customresourcedefinitions"
#define CRD_FINALIZER "customresourcecleanup.apiextensions.k8s.io"

/* crd_check.c: crd_admit() without the server around it.  `now` for the conditions' times. */
int crd_check(const struct registry *r, json_t *crd, const json_t *old, int64_t now, struct err *e);
/* True if its names were accepted, so that its kinds may be served. */
bool crd_established(const json_t *crd);
/* False while someone else has one of its names. */
bool crd_names_accepted(const json_t *crd);
/* True if the server itself serves these kinds: the definition is kept but changes nothing. */
bool crd_is_builtin(const struct registry *r, const json_t *crd);

/* crd_kind.c: the kinds of one definition, one a version.  They share the store of the storage version.  Texts are
 * borrowed from `crd`, of which a reference is kept. */
struct custom;
struct custom *custom_new(const json_t *crd, struct err *e);
void custom_free(struct custom *c);
const struct kind *custom_storage(const struct custom *c);
/* The i-th served kind in the definition's order, or NULL. */
const struct kind *custom_served(const struct custom *c, size_t i);
/* A definition that is going away takes no new objects. */
void custom_stop_creating(struct custom *c);

#endif
