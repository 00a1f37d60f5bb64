// SPDX-License-Identifier: Apache-2.0
/* adoption.h - an owner takes an object as its own, or lets it go */
#ifndef STOKER_CONTROL_ADOPTION_H
#define STOKER_CONTROL_ADOPTION_H

#include "control/calls.h"

struct selector;

struct claim_request {
	const json_t *owner;
	const char *api_version, *kind, *plural; /* of the owner */
	const struct selector *selector;
	const char *finalizer; /* that objects get when they are adopted and lose when they are released; or NULL */
	bool adopt;            /* also look for orphans to adopt */
	/* Whether an object may be the owner's by more than its labels; or NULL. */
	bool (*is_member)(const json_t *owner, const json_t *obj);
};

/* `child` is where `obj` is. */
void adoption_adopt(struct calls *calls, const char *key, const struct claim_request *r, const struct ref *child,
		    const json_t *obj);
void adoption_release(struct calls *calls, const char *key, const struct claim_request *r, const struct ref *child,
		      const json_t *obj);

#endif
