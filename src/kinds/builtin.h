// SPDX-License-Identifier: Apache-2.0
/* builtin.h - the tables of built-in kinds that registry.c puts together
 *
 * core_kinds.c defines the ones of core/v1, rest_kinds.c all others.  Kinds end with NULL; body messages end with a
 * row whose kind is NULL.
 */
#ifndef STOKER_KINDS_BUILTIN_H
#define STOKER_KINDS_BUILTIN_H

#include "kinds/kind.h"

extern const struct kind *const kinds_core[];
extern const struct kind *const kinds_rest[];

/* A request body that is no stored resource: DeleteOptions, Binding, Eviction, Scale, TokenRequest, reviews ... */
struct body_message {
	const char *api_version, *kind;
	const struct message *message;
};

extern const struct body_message body_messages_core[], body_messages_rest[];
extern const struct body_message body_messages_meta[]; /* meta.c */

#endif
