// SPDX-License-Identifier: Apache-2.0
/* image_nodes.h - the images that nodes have, as the API tells them */
#ifndef STOKER_CLI_IMAGE_NODES_H
#define STOKER_CLI_IMAGE_NODES_H

#include "cli/connect.h"

/* For those whom the store's directory keeps out: rows {node, names, bytes}, which are the caller's. */
int image_nodes_list(const struct connect_settings *s, json_t **ret, struct err *e);
/* Is the store closed to the caller?  `data` NULL: the usual one. */
bool image_store_closed(const char *data);

#endif
