// SPDX-License-Identifier: Apache-2.0
/* proto_types.h - messages that have a type on the protobuf wire and none in JSON's tables; for proto.c only */
#ifndef STOKER_API_PROTO_TYPES_H
#define STOKER_API_PROTO_TYPES_H

#include "kinds/field.h"

/* The row of a field: the message's own, or ours where its row keeps JSON as it is.  NULL if unknown. */
const struct field *proto_field(const struct message *m, unsigned number);
/* A union that JSON writes without its wrapper: {"schema": X} becomes X.  Takes and returns a reference. */
json_t *proto_unwrap(const struct message *m, json_t *obj);
/* True for the lists of strings (ExtraValue) that stand as values of a map. */
bool proto_is_extra(const struct field *f);

#endif
