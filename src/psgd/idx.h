// SPDX-License-Identifier: Apache-2.0
/* idx.h - IDX files, plain or gzip: pictures of unsigned bytes and their labels */
#ifndef STOKER_PSGD_IDX_H
#define STOKER_PSGD_IDX_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

#define IDX_MAX_BYTES (1u << 30) /* of one file, unpacked: MNIST has 47 million */
#define IDX_MAX_DIMS  4

/* One file: n items of `item` bytes each. */
struct idx {
	size_t n;
	size_t item;
	uint8_t *bytes;
};

/* Reads the file, or only its first `limit` items if that is not 0; dimensions after the first are one item's.  Errors
 * name the path and what is wrong. */
int idx_read(const char *path, size_t limit, struct idx *ret, struct err *e);
void idx_done(struct idx *f);

/* Pictures with labels. */
struct data_set {
	struct idx images;
	struct idx labels; /* one byte each */
	size_t classes;    /* the highest label and one */
};

/* DIR/STEM-images-idx3-ubyte and DIR/STEM-labels-idx1-ubyte, with or without .gz; at most `limit` samples, 0 = all. */
int data_set_read(const char *dir, const char *stem, size_t limit, struct data_set *ret, struct err *e);
void data_set_done(struct data_set *d);
/* Samples as rows of floats around zero, and their labels. */
void data_set_batch(const struct data_set *d, const uint32_t *samples, size_t n, float *ret_x, uint8_t *ret_labels);

#endif
