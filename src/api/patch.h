// SPDX-License-Identifier: Apache-2.0
/* patch.h - the four ways to change part of an object; pure functions over JSON and type tables */
#ifndef STOKER_API_PATCH_H
#define STOKER_API_PATCH_H

#include "kinds/typeref.h"

/* RFC 7386: changes obj in place.  A patch that is no object changes nothing. */
void patch_merge(json_t *obj, const json_t *patch);
/* RFC 6902, all six operations.  *doc is replaced on success and untouched on failure.  A failed test or a missing path
 * is ERR_INVALID, a malformed patch ERR_BAD_REQUEST. */
int patch_json(json_t **doc, const json_t *ops, struct err *e);
/* Strategic merge with its directives ($patch, $retainKeys, $setElementOrder/x, $deleteFromPrimitiveList/x). */
int patch_strategic(const struct message *m, json_t *obj, const json_t *patch, struct err *e);

/* --- server-side apply: api/apply.c and api/fieldset.c --- */
struct apply_request {
	const struct kind *kind;
	const char *subresource; /* or NULL */
	const char *manager;
	bool force;
	int64_t now; /* seconds, for managedFields */
};
/* What `config` (decoded, not defaulted) makes of `live` (NULL: nothing there).  *ret_obj is a new object with
 * metadata.managedFields brought up to date; conflicts are ERR_CONFLICT with a cause each. */
int apply_merge(const struct apply_request *req, const json_t *live, const json_t *config, json_t **ret_obj,
		struct err *e);
/* After any other write: records in new's managedFields that `manager` changed what differs between old (NULL on
 * create) and new.  Entries of other managers lose what the change took from them.  Unchanged objects stay unchanged.
 * managedFields in obj: [{}] forgets all managers, a valid list is taken over, anything else counts as old's.  Entries
 * may be shared with old by reference. */
void apply_track_update(const struct apply_request *req, const json_t *old, json_t *obj);

#endif
