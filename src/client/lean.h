// SPDX-License-Identifier: Apache-2.0
/* lean.h - leaves out of foreign objects what controllers never look at, before they are kept by the thousand */
#ifndef STOKER_CLIENT_LEAN_H
#define STOKER_CLIENT_LEAN_H

#include <jansson.h>

/* A list, or one object that says its kind.  Who managed which field always goes, and a server that gets the object
 * back without it keeps what it had.  Of pods, whose spec nobody may change, also what only a kubelet reads; of nodes,
 * whose status is only patched, what they say about their images and themselves. */
void lean(json_t *doc);

#endif
