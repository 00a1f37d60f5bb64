// SPDX-License-Identifier: Apache-2.0
/* token_kubeconfig.h - a token as a file for kubectl */
#ifndef STOKER_CLI_TOKEN_KUBECONFIG_H
#define STOKER_CLI_TOKEN_KUBECONFIG_H

#include "base/str.h"
#include "client/client.h"

/* What a kubeconfig says of the server; all owned. */
struct kube_place {
	char *url, *ca_pem, *ns;
};

/* Asks the server.  `user` NULL: the caller's own namespace. */
int kube_place_find(struct client *c, const char *user, struct kube_place *ret, struct err *e);
void kube_place_done(struct kube_place *p);
void kube_place_write(const struct kube_place *p, const char *user, const char *token, struct sbuf *out);

#endif
