// SPDX-License-Identifier: Apache-2.0
/* crd.h - CustomResourceDefinitions become served kinds
 *
 * Subscribed to committed changes of CRD objects: an accepted definition is compiled into `struct kind`s (one a served
 * version) and added to the registry; a deleted one is taken out after its objects.  Runs once over the stored ones at
 * start.
 */
#ifndef STOKER_API_CRD_H
#define STOKER_API_CRD_H

#include "api/api.h"

struct crds;
int crds_new(struct api *api, struct crds **ret, struct err *e);
void crds_free(struct crds *c);
/* Admission of a CRD write, before it is stored: structural schemas, names that collide, exactly one storage version;
 * fills in defaults (singular, listKind, conversion) and, on create, status (acceptedNames, storedVersions,
 * conditions). */
int crd_admit(struct api *api, json_t *crd, const json_t *old, struct err *e);
/* Says what in an accepted definition will have no effect. */
void crd_warn(const json_t *crd, json_t **warnings);
/* Registers the kinds of `crd` at once, so that the reply to its creation is true when it leaves. */
void crd_written(struct crds *c, const json_t *crd, const json_t *old /* or NULL */);

#endif
