// SPDX-License-Identifier: Apache-2.0
/* image_build.h - what the files of a build share */
#ifndef STOKER_NODE_IMAGE_BUILD_H
#define STOKER_NODE_IMAGE_BUILD_H

#include "node/image_tool.h"

/* A build under way, in its worker. */
struct build {
	const struct image_request *request;
	struct image_worker *worker;
	struct image_store *store;
	const char *dir;    /* the worker's own */
	char *storage;      /* DIR/images/build: buildah's, kept for the next build */
	const char *driver; /* of that storage */
	const char *policy; /* a file for --signature-policy, or NULL */
};

/* --- image_context.c --- */
bool build_context_is_git(const char *source);
bool build_context_is_url(const char *source);
/* The directory to build in, made from a URL if it is one; *ret_dir is the caller's to free. */
int build_context(const struct build *b, const char *source, char **ret_dir, struct err *e);

/* --- image_build.c --- */
/* Removes the storage if nobody builds and it was not used for `age` seconds; what it holds goes to trash/. */
void build_storage_expire(struct image_store *s, int64_t age);

#endif
