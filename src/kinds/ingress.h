// SPDX-License-Identifier: Apache-2.0
/* ingress.h - what the two versions of Ingress have in common */
#ifndef STOKER_KINDS_INGRESS_H
#define STOKER_KINDS_INGRESS_H

#include "kinds/kind.h"

extern const struct message ingress_tls, ingress_status;

/* One rule and one of its paths, whatever its backend looks like. */
void ingress_rule_validate(const json_t *rule, const struct path *at, struct err *e);
void ingress_path_validate(const json_t *path, const struct path *at, struct err *e);

void ingress_prepare_create(json_t *obj);

/* The columns are about what is the same in both. */
#define INGRESS_COLUMNS 6
extern const struct column ingress_columns[INGRESS_COLUMNS];

#endif
