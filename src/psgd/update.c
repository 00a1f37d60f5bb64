// SPDX-License-Identifier: Apache-2.0
/* update.c - each rule is one pass that the compiler makes into vector instructions (meson.build asks for -O3)
 *
 * Elastic averaging is that of Zhang, Choromanska and LeCun, "Deep learning with Elastic Averaging SGD" (2015).
 */
#include "psgd/update.h"

void update_descend(float *restrict w, const float *restrict g, size_t n, float rate)
{
	for (size_t i = 0; i < n; i++)
		w[i] -= rate * g[i];
}

void update_add(float *restrict sum, const float *restrict g, size_t n)
{
	for (size_t i = 0; i < n; i++)
		sum[i] += g[i];
}

void update_sum(float *restrict sum, const float *restrict a, const float *restrict b, size_t n)
{
	for (size_t i = 0; i < n; i++)
		sum[i] = a[i] + b[i];
}

void update_average(float *restrict w, const float *restrict sum, const float *restrict g, size_t n, float rate,
		    unsigned count)
{
	float each = rate / (float)count;

	for (size_t i = 0; i < n; i++)
		w[i] -= each * (sum[i] + g[i]);
}

void update_elastic(float *restrict x, float *restrict center, size_t n, float alpha)
{
	for (size_t i = 0; i < n; i++) {
		float pull = alpha * (x[i] - center[i]);

		x[i] -= pull;
		center[i] += pull;
	}
}

void update_look_ahead(float *restrict ahead, const float *restrict x, const float *restrict v, size_t n,
		       float momentum)
{
	for (size_t i = 0; i < n; i++)
		ahead[i] = x[i] + momentum * v[i];
}

void update_momentum(float *restrict x, float *restrict v, const float *restrict g, size_t n, float rate,
		     float momentum)
{
	for (size_t i = 0; i < n; i++) {
		v[i] = momentum * v[i] - rate * g[i];
		x[i] += v[i];
	}
}
