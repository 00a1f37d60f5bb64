// SPDX-License-Identifier: Apache-2.0
/* pod_templates.h - which kinds lead to pods, and where their pod templates are. Pure */
#ifndef STOKER_KINDS_POD_TEMPLATES_H
#define STOKER_KINDS_POD_TEMPLATES_H

#include "kinds/kind.h"

/* Whether a controller of this server makes pods from objects of this kind, directly or through other objects. */
bool pod_templates_lead(const struct kind *k);
/* Calls fn with each template (metadata and spec) in an object of the kind. */
void pod_templates_each(const struct kind *k, const json_t *obj, void (*fn)(void *arg, const json_t *tpl), void *arg);

#endif
