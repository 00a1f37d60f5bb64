// SPDX-License-Identifier: Apache-2.0
/* yaml_scalar.h - what an unquoted YAML word means; a part of yamlx.c that needs no libyaml */
#ifndef STOKER_BASE_YAML_SCALAR_H
#define STOKER_BASE_YAML_SCALAR_H

#include "base/jsonx.h"

/* The value of a plain scalar, a new reference; NULL for .nan and .inf, which JSON cannot hold. */
json_t *yaml_scalar_resolve(const char *s, size_t n);
/* Whether this string must be quoted to stay one, for us or for other YAML 1.1 readers. */
bool yaml_scalar_needs_quotes(const char *s, size_t n);
/* The shortest text that reads back as this number. */
void yaml_scalar_number(double v, char *buf, size_t n);

#endif
