// SPDX-License-Identifier: Apache-2.0
/* tls_pipe.h - the client's side of TLS as a machine without a socket; for this room only
 *
 * For servers in pods, which have certificates of their own making, nothing is verified, as in Kubernetes' proxy: who
 * can answer at a pod's address is settled by the network, not by TLS.  For another cluster's API everything is.
 */
#ifndef STOKER_LOOP_TLS_PIPE_H
#define STOKER_LOOP_TLS_PIPE_H

#include "base/err.h"
#include "base/str.h"
#include "loop/trust.h"

struct tls_pipe;

/* Not to free it from. */
struct tls_pipe_handlers {
	void (*send)(void *arg, struct str sealed); /* for the server */
	void (*data)(void *arg, struct str plain);  /* from it */
	void *arg;
};

struct tls_pipe *tls_pipe_new(const struct tls_pipe_handlers *h);
/* Before anything is fed: from here on the server has to prove who it is.  ERR_INVALID if a PEM text is none. */
int tls_pipe_trust(struct tls_pipe *t, const struct tls_trust *trust, struct err *e);
void tls_pipe_free(struct tls_pipe *t);
/* What came; to begin with, nothing. */
int tls_pipe_feed(struct tls_pipe *t, struct str sealed, struct err *e);
/* Waits for the handshake if need be. */
int tls_pipe_write(struct tls_pipe *t, struct str plain, struct err *e);

#endif
