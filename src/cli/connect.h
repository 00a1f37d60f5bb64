// SPDX-License-Identifier: Apache-2.0
/* connect.h - the options every client command has, and the client they lead to */
#ifndef STOKER_CLI_CONNECT_H
#define STOKER_CLI_CONNECT_H

#include "cli/command.h"
#include "client/client.h"

/* First member of a client command's settings. */
struct connect_settings {
	const char *socket, *kubeconfig, *context, *as;
};

#define CONNECT_OPTS                                                                                                   \
	{ .name = "socket",                                                                                            \
	  .type = OPT_STRING,                                                                                          \
	  .offset = offsetof(struct connect_settings, socket),                                                         \
	  .arg = "PATH",                                                                                               \
	  .help = "the server's Unix socket (default: $STOKER_SOCKET, else the usual place)" },                        \
		{ .name = "kubeconfig",                                                                                \
		  .type = OPT_STRING,                                                                                  \
		  .offset = offsetof(struct connect_settings, kubeconfig),                                             \
		  .arg = "FILE",                                                                                       \
		  .help = "reach the server in this kubeconfig instead" },                                             \
		{ .name = "context",                                                                                   \
		  .type = OPT_STRING,                                                                                  \
		  .offset = offsetof(struct connect_settings, context),                                                \
		  .arg = "NAME",                                                                                       \
		  .help = "context of the kubeconfig (default: its current one)" },                                    \
	{                                                                                                              \
		.name = "as", .type = OPT_STRING, .offset = offsetof(struct connect_settings, as), .arg = "USER",      \
		.help = "act as another user (needs the right to impersonate)"                                         \
	}

/* Where a command looks; the offset is that of its member. */
#define NAMESPACE_OPT(offset_, help_)                                                                                  \
	{                                                                                                              \
		.name = "namespace", .letter = 'n', .type = OPT_STRING, .offset = offset_, .arg = "NAMESPACE",         \
		.help = help_ " (default: that of the context, or your own)"                                           \
	}
#define ALL_NAMESPACES_OPT(offset_)                                                                                    \
	{                                                                                                              \
		.name = "all-namespaces", .letter = 'A', .type = OPT_FLAG, .offset = offset_,                          \
		.help = "in every namespace"                                                                           \
	}

struct connection {
	struct loop *loop;
	struct client *client;
};

int connect_open(const struct connect_settings *s, struct connection *ret, struct err *e);
void connect_close(struct connection *c);

#endif
