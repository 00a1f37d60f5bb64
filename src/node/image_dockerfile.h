// SPDX-License-Identifier: Apache-2.0
/* image_dockerfile.h - which images a Dockerfile begins with; pure */
#ifndef STOKER_NODE_IMAGE_DOCKERFILE_H
#define STOKER_NODE_IMAGE_DOCKERFILE_H

#include <jansson.h>

/* Names after FROM, --from= and --mount=...from=, as they are written but with variables filled in from ARG lines and
 * args ("NAME=value"); without stages of its own and "scratch".  A new array, each name once. */
json_t *dockerfile_images(const char *text, const json_t *args);

#endif
