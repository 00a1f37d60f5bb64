// SPDX-License-Identifier: Apache-2.0
/* image_session.h - what the `stoker image` commands share: an open store, and waiting for its work */
#ifndef STOKER_CLI_IMAGE_SESSION_H
#define STOKER_CLI_IMAGE_SESSION_H

#include "cli/command.h"
#include "node/image.h"

/* Rows of an option table whose settings are a struct `type_` with the members data, authfile, cert_dir, plain_http,
 * quiet. */
#define IMAGE_DATA_OPT(type_)                                                                                          \
	{                                                                                                              \
		.name = "data", .type = OPT_STRING, .offset = offsetof(type_, data), .arg = "DIR",                     \
		.help = "the server's data directory (default as root: /var/lib/stoker)"                               \
	}
#define IMAGE_QUIET_OPT(type_)                                                                                         \
	{                                                                                                              \
		.name = "quiet", .letter = 'q', .type = OPT_FLAG, .offset = offsetof(type_, quiet),                    \
		.help = "show no progress"                                                                             \
	}
#define IMAGE_REGISTRY_OPTS(type_)                                                                                     \
	{ .name = "authfile",                                                                                          \
	  .type = OPT_STRING,                                                                                          \
	  .offset = offsetof(type_, authfile),                                                                         \
	  .arg = "FILE",                                                                                               \
	  .help = "credentials, as `skopeo login` writes them (default: where skopeo keeps them)" },                   \
		{ .name = "cert-dir",                                                                                  \
		  .type = OPT_STRING,                                                                                  \
		  .offset = offsetof(type_, cert_dir),                                                                 \
		  .arg = "DIR",                                                                                        \
		  .help = "the registry's CA and our certificates (*.crt, *.cert, *.key)" },                           \
	{                                                                                                              \
		.name = "plain-http", .type = OPT_FLAG, .offset = offsetof(type_, plain_http),                         \
		.help = "a registry written HOST:PORT may speak plain HTTP (localhost always may)"                     \
	}

/* A store that is open, and the loop its work runs on. */
struct image_session {
	struct loop *loop;
	struct images *images;
	bool quiet;
	bool done;
	bool interrupted;
	struct err err;
	char *id;
	char *name;
};

/* data NULL: the usual directory.  One that is not there is an error. */
int image_session_open(const char *data, bool quiet, struct image_session *ret, struct err *e);
void image_session_close(struct image_session *s);
/* For pull_options and images_*(): arg is the session. */
void image_session_progress(void *arg, const char *line);
images_done_fn image_session_done;
/* Waits for image_session_done(), prints id and name or the error, closes, and returns the exit status.  Ctrl-C ends
 * the work and takes away what it left. */
int image_session_wait(const struct command *cmd, struct image_session *s);

#endif
