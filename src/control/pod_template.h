// SPDX-License-Identifier: Apache-2.0
/* pod_template.h - pods made from the templates of their controllers; pure */
#ifndef STOKER_CONTROL_POD_TEMPLATE_H
#define STOKER_CONTROL_POD_TEMPLATE_H

#include <jansson.h>

/* A new pod in the owner's namespace that the owner controls: the template's labels, annotations, finalizers and spec,
 * all copied.  Its name is to come from generateName, "<owner>-"; whoever names it, names it. */
json_t *pod_from_template(const json_t *template, const json_t *owner, const char *api_version, const char *kind);

/* The object at a key, made if it is not there. */
json_t *object_at(json_t *obj, const char *key);
/* The same for a list. */
json_t *array_at(json_t *obj, const char *key);

#endif
