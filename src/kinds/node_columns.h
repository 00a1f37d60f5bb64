// SPDX-License-Identifier: Apache-2.0
/* node_columns.h - the columns of nodes, for node.c */
#ifndef STOKER_KINDS_NODE_COLUMNS_H
#define STOKER_KINDS_NODE_COLUMNS_H

#include "kinds/kind.h"

#define NODE_COLUMNS 10
extern const struct column node_columns[NODE_COLUMNS];

#endif
