// SPDX-License-Identifier: Apache-2.0
/* mirror.h - another cluster's nodes in an API of our own, for whoever asks it what there is
 *
 * What the cluster says of a node goes one way.  What people set here, whether it takes new pods, its properties and
 * notes (pbsnodes -o, qmgr), goes to the cluster, and counts when it has come back from there.
 */
#ifndef STOKER_CONTROL_MIRROR_H
#define STOKER_CONTROL_MIRROR_H

#include "client/client.h"

struct mirror;

/* Both clients outlive it. */
struct mirror *mirror_new(struct client *near, struct client *far);
void mirror_free(struct mirror *m);

/* Of a Node: what is kept here.  Pure, a new object. */
json_t *mirror_form(const json_t *node);
/* Of a Node: what people may set here. */
json_t *mirror_editable(const json_t *node);
/* The merge patch that leads from one such set to another; NULL if they are equal. */
json_t *mirror_patch(const json_t *from, const json_t *to);

#endif
