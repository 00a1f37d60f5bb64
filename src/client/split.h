// SPDX-License-Identifier: Apache-2.0
/* split.h - a client of two APIs: one group of kinds is kept here, everything else is another cluster's
 *
 * What a kind of ours controls over there cannot say so by an ownerReference: that cluster does not know the owner, and
 * its garbage collector would take the object away.  So the reference travels as an annotation, and who uses this
 * client sees ownerReferences only.  The annotation says which store the owner is in; what another one's owners control
 * is seen as nobody's.
 */
#ifndef STOKER_CLIENT_SPLIT_H
#define STOKER_CLIENT_SPLIT_H

#include "client/client.h"

#define SPLIT_NOTE "stoker.dev/controller"

struct split_config {
	struct client *near; /* of our own API, */
	/* and of the other one.  Both are the caller's; `far` is freed first, for its last answers pass through here.
	 */
	struct client *far;
	const char *group; /* whose kinds are kept here: "stoker.dev".  Events are about them, and go with them. */
	const char *id;    /* of the store here */
	const char *pods;  /* label selector of the pods over there that matter, or NULL */
};

/* A namespace that is missing over there is made when something is to be created in it. */
struct client *client_split_new(const struct split_config *config);

/* What is sent, and what is seen: new references.  Pure. */
json_t *split_outgoing(const struct split_config *config, const json_t *obj);
json_t *split_incoming(const struct split_config *config, const json_t *obj);

#endif
