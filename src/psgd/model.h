// SPDX-License-Identifier: Apache-2.0
/* model.h - softmax regression and multi-layer perceptrons over one flat vector of parameters
 *
 * A shape is its layers' widths, input first: 784-10 is softmax regression, 784-128-10 a perceptron with one hidden
 * layer of rectified units.  Parameters of layer after layer: weights (input by output), then biases.  The loss is the
 * mean cross-entropy.  Matrices are OpenBLAS's business.
 */
#ifndef STOKER_PSGD_MODEL_H
#define STOKER_PSGD_MODEL_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

#define MODEL_MAX_LAYERS 9
#define MODEL_MAX_WIDTH  65536
#define MODEL_TEXT       64 /* "784-128-10" and NUL */

struct shape {
	size_t nlayers; /* of weights; widths has one more */
	size_t widths[MODEL_MAX_LAYERS + 1];
	char text[MODEL_TEXT];
};

/* `hidden` is a list such as "128" or "256,64", or "" for softmax regression. */
int shape_make(size_t inputs, const char *hidden, size_t classes, struct shape *ret, struct err *e);
size_t shape_params(const struct shape *s);
/* Random weights whose spread keeps signals at their size through the layers; biases zero. */
void model_init(const struct shape *s, float *params, uint64_t seed);

/* Room for the values of a batch on their way through the layers. */
struct model_work {
	const struct shape *shape;
	size_t batch;
	float *values[MODEL_MAX_LAYERS + 1]; /* [0] is the input, to be filled by the caller */
	float *delta[2];
	uint8_t *labels;
};

void model_work_init(struct model_work *w, const struct shape *s, size_t batch);
void model_work_done(struct model_work *w);
/* Mean loss of the n samples in values[0] and labels, and its gradient. */
float model_gradient(struct model_work *w, const float *params, size_t n, float *ret_gradient);
/* How many of the n samples are recognised; adds their losses to *loss. */
size_t model_correct(struct model_work *w, const float *params, size_t n, double *loss);

#endif
