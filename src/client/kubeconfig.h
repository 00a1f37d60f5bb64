// SPDX-License-Identifier: Apache-2.0
/* kubeconfig.h - the file every Kubernetes client reads: which server, which credential, which namespace */
#ifndef STOKER_CLIENT_KUBECONFIG_H
#define STOKER_CLIENT_KUBECONFIG_H

#include <stdbool.h>

#include "base/err.h"
#include "base/str.h"

/* All strings owned; NULL where absent.  PEM texts, whether the file held data or names of files. */
struct kubeconfig {
	char *server;
	char *ca_pem, *cert_pem, *key_pem, *token;
	char *token_file; /* where `token` comes from, if that is a file: it may change */
	char *ns;
	bool insecure;
};

/* `context` NULL: the current one.  Errors name the file and the entry. */
int kubeconfig_read(const char *path, const char *context, struct kubeconfig *ret, struct err *e);
int kubeconfig_parse(struct str text, const char *path, const char *context, struct kubeconfig *ret, struct err *e);
void kubeconfig_done(struct kubeconfig *k);
/* The text of a new one for `user`, with a client certificate or a token. */
void kubeconfig_write(const char *server, struct str ca_pem, struct str cert_pem, struct str key_pem, const char *token,
		      const char *user, const char *ns, struct sbuf *out);

#endif
