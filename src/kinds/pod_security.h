// SPDX-License-Identifier: Apache-2.0
/* pod_security.h - the Pod Security Standards: what a pod may ask for at each level, in Kubernetes' words. Pure
 *
 * A namespace's labels choose a level and a version for each of three modes: pods are refused (enforce), noted in the
 * audit log (audit), or let through with a warning (warn).  api/pod_security.c asks; here is what the answer is.
 */
#ifndef STOKER_KINDS_POD_SECURITY_H
#define STOKER_KINDS_POD_SECURITY_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "base/str.h"

enum pod_security_level { POD_SECURITY_PRIVILEGED, POD_SECURITY_BASELINE, POD_SECURITY_RESTRICTED };

#define POD_SECURITY_LATEST (-1)

struct pod_security {
	enum pod_security_level level;
	int minor; /* the rules as of Kubernetes v1.minor, or POD_SECURITY_LATEST */
};

/* "restricted:latest", "baseline:v1.28". */
#define POD_SECURITY_TEXT_LEN 32
const char *pod_security_text(struct pod_security p, char buf[POD_SECURITY_TEXT_LEN]);

/* What a namespace asks for.  Without labels everything is privileged. */
struct pod_security_policy {
	struct pod_security enforce, audit, warn;
};
/* Reads the labels (an object or NULL).  A bad value becomes a cause in e; the policy then errs on the safe side:
 * restricted is enforced, and nothing is audited or warned of.  Returns -1 if there was one. */
int pod_security_read(const json_t *labels, struct pod_security_policy *ret, struct err *e);

enum pod_security_flags {
	POD_SECURITY_BRIEF = 1 << 0,     /* reasons without the details in parentheses */
	POD_SECURITY_HOST_PATHS = 1 << 1 /* the caller has rules of its own for hostPath volumes */
};
/* Appends what the pod does that it must not: "host namespaces (hostNetwork=true), privileged (container "a" must not
 * set securityContext.privileged=true)".  Returns how many rules it breaks.  `meta` may be NULL. */
size_t pod_security_check(struct pod_security p, const json_t *meta, const json_t *spec, unsigned flags,
			  struct sbuf *out);

/* Whether an update of a pod can change the answer: another image, or a container that was not there. */
bool pod_security_concerned(const json_t *spec, const json_t *old_spec);

/* The lists of containers in a PodSpec, in the order in which complaints name them. */
extern const char *const pod_container_lists[3];

#endif
