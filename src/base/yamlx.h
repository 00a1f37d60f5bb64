// SPDX-License-Identifier: Apache-2.0
/* yamlx.h - libyaml's door: YAML 1.1 documents as jansson values, and back
 *
 * Scalars follow what Kubernetes' own parser (sigs.k8s.io/yaml) makes of them: yes/no/on/off are booleans only in the
 * forms Go's yaml.v2 knows, 0o/0x/0b and underscores are numbers, timestamps stay strings.  Aliases are expanded
 * within LIMIT_YAML_NODES nodes, so that a bomb is an error and not a fire.
 */
#ifndef STOKER_BASE_YAMLX_H
#define STOKER_BASE_YAMLX_H

#include "base/jsonx.h"

/* Parses every document of the text into an array (empty documents are left out). */
int yamlx_parse_all(const char *p, size_t n, jsonx_duplicate_fn *on_duplicate, void *arg, json_t **ret_docs,
		    struct err *e);
/* Exactly one document. */
int yamlx_parse(const char *p, size_t n, jsonx_duplicate_fn *on_duplicate, void *arg, json_t **ret, struct err *e);
/* Block style, keys sorted, as `kubectl -o yaml` prints. */
void yamlx_dump(const json_t *v, struct sbuf *out);

#endif
