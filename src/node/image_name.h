// SPDX-License-Identifier: Apache-2.0
/* image_name.h - names of images, taken apart and made whole; which credentials fit one.  Pure */
#ifndef STOKER_NODE_IMAGE_NAME_H
#define STOKER_NODE_IMAGE_NAME_H

#include <jansson.h>

#include "base/err.h"
#include "base/str.h"

/* The image that is this machine's own root file system. */
#define IMAGE_HOST "host"

/* Views into the text that was parsed.  An empty domain means docker.io. */
struct image_name {
	struct str domain; /* "registry.example:5000" */
	struct str path;   /* "library/busybox" */
	struct str tag;    /* "latest" */
	struct str digest; /* "sha256:..." */
};

/* ERR_INVALID with the words of InvalidImageName. */
int image_name_parse(const char *text, struct image_name *ret, struct err *e);
/* Of a normalised name: "docker.io/library/busybox", without tag and digest. */
void image_name_repository(const char *normal, struct sbuf *out);
/* "localhost:5000": everything before the first '/' of a normalised name. */
struct str image_name_registry(const char *normal);
/* Registries on this machine speak plain HTTP more often than not; nobody else hears it. */
bool image_name_is_loopback(const char *normal);
/* "sha256:" and 64 lower-case hex digits. */
bool image_digest_valid(const char *text);

/* Of a docker config's "auths" the entry that fits best, as Kubernetes matches them (globs in host parts, path
 * prefixes, the longest first); borrowed, NULL if none does. */
const json_t *image_auth_pick(const json_t *auths, const char *normal);

#endif
