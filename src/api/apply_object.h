// SPDX-License-Identifier: Apache-2.0
/* apply_object.h - what an applied configuration does to the object itself */
#ifndef STOKER_API_APPLY_OBJECT_H
#define STOKER_API_APPLY_OBJECT_H

#include "api/fieldset.h"

/* Lays `config` over obj in place: maps merge, keyed lists merge by key, sets are united, the rest is replaced.  What
 * is equal stays untouched.  Items of a keyed list in config without a key, or
 * two with the same, are ERR_BAD_REQUEST; obj is then half changed. */
int apply_overlay(struct typeref t, enum fieldset_scope scope, json_t *obj, const json_t *config, struct err *e);
/* Removes from obj what is in `last` and not in `owned`, with everything below it. */
void apply_prune(struct typeref t, enum fieldset_scope scope, json_t *obj, const json_t *last, const json_t *owned);

#endif
