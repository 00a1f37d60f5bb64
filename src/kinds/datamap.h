// SPDX-License-Identifier: Apache-2.0
/* datamap.h - what ConfigMap and Secret share: keys, size, immutability */
#ifndef STOKER_KINDS_DATAMAP_H
#define STOKER_KINDS_DATAMAP_H

#include "kinds/field.h"

#define DATAMAP_MAX (1024u * 1024) /* bytes of all values together, as Kubernetes */

void datamap_validate_keys(const json_t *map, const struct path *at, struct err *e);
/* Bytes of all values, where they are text and where they are base64. */
size_t datamap_text_bytes(const json_t *map);
size_t datamap_base64_bytes(const json_t *map);
/* Once `immutable` is set, it and the named fields stay as they are. */
void datamap_validate_update(const json_t *obj, const json_t *old, const char *const *fields, struct err *e);

#endif
