// SPDX-License-Identifier: Apache-2.0
/* audit.h - who changed what, and who was turned away: DIR/audit.log
 *
 * One JSON object a line (file mode 0600): time, user, impersonator, groups, verb, group, version, resource,
 * subresource, namespace, name, code, address, userAgent, annotations.  Lines are chained: the last member, "chain",
 * is the SHA-256 of the chain before it and of the line without it, so that a changed, missing or inserted line shows.
 * The first line of a file also has "prev", the chain it goes on from.
 */
#ifndef STOKER_API_AUDIT_H
#define STOKER_API_AUDIT_H

#include "api/api.h"

#define AUDIT_BYTES (64 * 1024 * 1024) /* cap of audit.log when none is configured */

/* What was asked and how it ended; NULL is written as nothing. */
struct audit_event {
	const struct caller *caller; /* NULL: nobody, the credential was refused */
	const char *impersonator;    /* identity_impersonator() */
	const char *verb;
	const char *group, *version, *resource, *subresource, *ns, *name;
	const char *path; /* where there is no resource */
	int code;
	const char *address; /* http_peer()->address */
	const char *user_agent;
	const json_t *notes; /* an object of texts: "annotations" */
};

/* Never fails: if the file cannot be opened that is logged, once, and tried again with each batch.  `bytes` <= 0 is
 * AUDIT_BYTES; at that size the file becomes audit.log.1, and the older one is gone. */
struct audit *audit_new(struct loop *loop, const char *dir, int64_t bytes);
/* Writes what is waiting. */
void audit_free(struct audit *a);

/* True for mutating verbs, refusals (401, 403) and subresources that reach into a pod (exec, attach, portforward,
 * proxy). */
bool audit_wanted(const struct audit_event *ev);
/* Records it if it is wanted.  The lines of a turn are one write(2) in its work phase; no fsync. */
void audit_record(struct audit *a, const struct audit_event *ev);

/* Checks the chain of a file: 0, or ERR_CORRUPT naming the first line that does not fit. */
int audit_check(const char *path, struct err *e);

#endif
