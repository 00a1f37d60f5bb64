// SPDX-License-Identifier: Apache-2.0
/* wire.h - documents about the API and the protobuf request bodies; built from the registry, pure */
#ifndef STOKER_API_WIRE_H
#define STOKER_API_WIRE_H

#include "kinds/kind.h"

/* --- discovery.c --- */
json_t *discovery_versions(const char *advertise);                    /* /api, legacy */
json_t *discovery_groups(const struct registry *r);                   /* /apis, legacy */
json_t *discovery_group(const struct registry *r, const char *group); /* /apis/G, NULL if unknown */
json_t *discovery_resources(const struct registry *r, const char *group, const char *version); /* NULL if unknown */
/* /api (core) and /apis (the rest), aggregated: apidiscovery.k8s.io/v2 or v2beta1. */
json_t *discovery_aggregated(const struct registry *r, bool core, const char *version);
json_t *discovery_version_info(void); /* /version */

/* --- openapi.c, openapi_v2.c, openapi_v3.c --- */
/* Appends the whole v2 document as JSON or as the gnostic protobuf. */
void openapi_v2_json(const struct registry *r, struct sbuf *out);
void openapi_v2_proto(const struct registry *r, struct sbuf *out);
/* /openapi/v3 index and one group-version's document ("api/v1", "apis/batch/v1"); false if unknown. */
json_t *openapi_v3_index(const struct registry *r);
bool openapi_v3_group(const struct registry *r, const char *path, struct sbuf *out);

/* --- proto.c: one k8s protobuf body as JSON, kind and apiVersion included --- */
bool proto_is_magic(struct str body);
int proto_decode(const struct registry *r, struct str body, json_t **ret, struct err *e);

/* --- table.c: Table and PartialObjectMetadata forms --- */
enum include_object { INCLUDE_METADATA, INCLUDE_OBJECT, INCLUDE_NONE };
/* columnDefinitions of a kind. */
json_t *table_columns(const struct kind *k);
/* One row: cells, and the object as asked for.  obj is without kind and apiVersion. */
json_t *table_row(const struct kind *k, const json_t *obj, enum include_object include, const char *meta_version,
		  int64_t now);
/* {"kind":"PartialObjectMetadata",...,"metadata":{...}} of an object. */
json_t *table_partial(const json_t *obj, const char *meta_version);

#endif
