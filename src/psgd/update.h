// SPDX-License-Identifier: Apache-2.0
/* update.h - the rules by which parameters move.  Pure loops over floats; arrays of one call do not overlap */
#ifndef STOKER_PSGD_UPDATE_H
#define STOKER_PSGD_UPDATE_H

#include <stddef.h>

/* w -= rate * g */
void update_descend(float *restrict w, const float *restrict g, size_t n, float rate);
/* sum += g */
void update_add(float *restrict sum, const float *restrict g, size_t n);
/* sum = a + b */
void update_sum(float *restrict sum, const float *restrict a, const float *restrict b, size_t n);
/* w -= rate * (sum + g) / count: the last gradient of a round, without another pass over memory. */
void update_average(float *restrict w, const float *restrict sum, const float *restrict g, size_t n, float rate,
		    unsigned count);
/* Elastic averaging: worker and center move towards each other by alpha of their distance. */
void update_elastic(float *restrict x, float *restrict center, size_t n, float alpha);
/* ahead = x + momentum * v: where Nesterov's gradient is taken. */
void update_look_ahead(float *restrict ahead, const float *restrict x, const float *restrict v, size_t n,
		       float momentum);
/* v = momentum * v - rate * g; x += v */
void update_momentum(float *restrict x, float *restrict v, const float *restrict g, size_t n, float rate,
		     float momentum);

#endif
