// SPDX-License-Identifier: Apache-2.0
/* probe.h - asking a container how it is, and telling it that it starts or ends
 *
 * A prober follows one probe of one container: it waits, asks, counts, and reports only when its verdict changes.
 * A hook is a postStart or preStop handler, run once.  Both use the same three ways: exec, http, tcp.
 */
#ifndef STOKER_NODE_PROBE_H
#define STOKER_NODE_PROBE_H

#include <jansson.h>

#include "base/err.h"
#include "loop/loop.h"
#include "node/runtime.h"

enum probe_kind { PROBE_STARTUP, PROBE_LIVENESS, PROBE_READINESS, PROBE__COUNT };

/* Borrowed for the call only. */
struct probe_target {
	struct loop *loop;
	struct runtime *runtime;
	const char *id;          /* of the running container */
	const json_t *process;   /* its OCI process; args are replaced */
	const char *host;        /* the pod's address */
	const json_t *container; /* its spec: ports by name, the probes themselves */
};

struct prober;
/* Reports ok when successThreshold is reached, not ok with a message when failureThreshold is.  A startup or liveness
 * prober that has reported failure stops, and a startup prober that has reported success.  Each failed attempt is told
 * too (`attempt`), for an event: "Liveness probe failed: " and the message.  Both may free the prober.  NULL if the
 * container has no such probe. */
struct prober *prober_new(const struct probe_target *t, enum probe_kind kind,
			  void (*verdict)(void *arg, enum probe_kind kind, bool ok, const char *message),
			  void (*attempt)(void *arg, enum probe_kind kind, const char *message), void *arg);
void prober_free(struct prober *p);
/* "Startup", "Liveness", "Readiness". */
const char *probe_kind_title(enum probe_kind kind);
/* Where a container's spec has it: "startupProbe" ... */
const char *probe_kind_field(enum probe_kind kind);

struct hook;
/* which: "postStart" or "preStop"; `done` once, never from inside; e->kind is ERR_NONE if it went well.  The
 * hook is gone then.  NULL if the container has no such hook. */
struct hook *hook_run(const struct probe_target *t, const char *which, void (*done)(void *arg, const struct err *e),
		      void *arg);
/* No callback will follow; a command still running is killed. */
void hook_cancel(struct hook *h);

#endif
