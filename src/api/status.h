// SPDX-License-Identifier: Apache-2.0
/* status.h - errors and outcomes as Kubernetes Status documents */
#ifndef STOKER_API_STATUS_H
#define STOKER_API_STATUS_H

#include "kinds/kind.h"

/* What a request was about, for `details`; any part may be NULL. */
struct status_subject {
	const struct kind *kind;
	const char *name;
};

/* The one place where an error becomes a document.  An ERR_NOT_FOUND, ERR_EXISTS or ERR_INVALID without text gets the
 * usual sentence for the subject. */
json_t *status_from_err(const struct err *e, const struct status_subject *about);
/* {"status":"Success"} with details; uid may be NULL. */
json_t *status_success(const struct status_subject *about, const char *uid);

#endif
