// SPDX-License-Identifier: Apache-2.0
/* image_archive.h - what images a file holds, before skopeo is let at it */
#ifndef STOKER_NODE_IMAGE_ARCHIVE_H
#define STOKER_NODE_IMAGE_ARCHIVE_H

#include <jansson.h>

#include "base/err.h"

/* An archive written by docker, podman or skopeo, or a directory with an OCI layout: a new array of
 * {"source": "docker-archive:LINK:@0", "names": [normalised]}, in which LINK stands for the file. */
int image_archive_list(const char *path, const char *link, json_t **ret, struct err *e);

#endif
