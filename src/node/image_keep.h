// SPDX-License-Identifier: Apache-2.0
/* image_keep.h - old images go by themselves: by age, and when the disk fills up */
#ifndef STOKER_NODE_IMAGE_KEEP_H
#define STOKER_NODE_IMAGE_KEEP_H

#include "node/image.h"

struct image_keep;
/* 0 stands for the value in brackets; those of the kubelet. */
struct image_keep_config {
	int64_t check_seconds; /* between two looks [300] */
	int64_t max_age;       /* seconds without use after which an image goes [never] */
	int64_t min_age;       /* ... before which none goes for want of space [120] */
	int high_percent;      /* of the disk, from which on images go, [85] ... */
	int low_percent;       /* ... down to this [80] */
};
/* Images that came from no registry stay, whatever their age: there is no other copy.  No timer runs while there is
 * nothing to look after.  One a store; it must be freed before the store. */
struct image_keep *image_keep_new(struct loop *loop, struct images *images, const struct image_keep_config *config);
void image_keep_free(struct image_keep *k);
/* One look, now. */
void image_keep_check(struct image_keep *k);

#endif
