// SPDX-License-Identifier: Apache-2.0
/* rbac_bootstrap.h - the default cluster roles and their bindings, as JSON made from tables; pure */
#ifndef STOKER_API_RBAC_BOOTSTRAP_H
#define STOKER_API_RBAC_BOOTSTRAP_H

#include <jansson.h>

/* The i-th default as a whole object without kind and apiVersion, a new reference; NULL at the end. */
json_t *bootstrap_role(size_t i);
json_t *bootstrap_binding(size_t i);

/* What brings a stored role or binding up to its default: a changed copy, or NULL if nothing is missing or its owner
 * said hands off (autoupdate "false").  What the owner added stays. */
json_t *bootstrap_merge_role(const json_t *stored, const json_t *wanted);
json_t *bootstrap_merge_binding(const json_t *stored, const json_t *wanted);

#endif
