// SPDX-License-Identifier: Apache-2.0
/* Each rule against its formula in double precision, one value at a time. */
#include "psgd/update.h"

#include <math.h>

#include "psgd/split.h"
#include "test.h"

#define N 1027 /* not a multiple of any vector's width */

static void fill(float *a, uint64_t seed)
{
	struct rng r = { seed };

	for (size_t i = 0; i < N; i++)
		a[i] = rng_unit(&r) * 2 - 1;
}

static void check_near(const char *what, size_t i, float got, double want)
{
	if (fabs((double)got - want) > 1e-6)
		test_fail(__FILE__, __LINE__, "%s[%zu] is %.9g, not %.9g", what, i, (double)got, want);
}

TEST("a gradient step, a sum and an average of gradients are what their formulas say")
{
	float w[N], w0[N], g[N], sum[N], sum0[N];

	fill(w, 1);
	fill(g, 2);
	fill(sum, 3);
	memcpy(w0, w, sizeof(w));
	memcpy(sum0, sum, sizeof(sum));
	update_descend(w, g, N, 0.1f);
	update_add(sum, g, N);
	for (size_t i = 0; i < N; i++) {
		check_near("w", i, w[i], (double)w0[i] - 0.1 * (double)g[i]);
		check_near("sum", i, sum[i], (double)sum0[i] + (double)g[i]);
	}
	memcpy(w, w0, sizeof(w));
	update_average(w, sum0, g, N, 0.3f, 3);
	for (size_t i = 0; i < N; i++)
		check_near("average", i, w[i], (double)w0[i] - 0.3 * ((double)sum0[i] + (double)g[i]) / 3);
}

TEST("elastic averaging moves both by the same amount, towards each other")
{
	float x[N], x0[N], c[N], c0[N];

	fill(x, 4);
	fill(c, 5);
	memcpy(x0, x, sizeof(x));
	memcpy(c0, c, sizeof(c));
	update_elastic(x, c, N, 0.45f);
	for (size_t i = 0; i < N; i++) {
		double pull = 0.45 * ((double)x0[i] - (double)c0[i]);

		check_near("x", i, x[i], (double)x0[i] - pull);
		check_near("center", i, c[i], (double)c0[i] + pull);
	}
}

TEST("Nesterov's momentum looks ahead, then moves")
{
	float x[N], x0[N], v[N], v0[N], g[N], ahead[N];

	fill(x, 6);
	fill(v, 7);
	fill(g, 8);
	memcpy(x0, x, sizeof(x));
	memcpy(v0, v, sizeof(v));
	update_look_ahead(ahead, x, v, N, 0.9f);
	update_momentum(x, v, g, N, 0.01f, 0.9f);
	for (size_t i = 0; i < N; i++) {
		double moved = 0.9 * (double)v0[i] - 0.01 * (double)g[i];

		check_near("ahead", i, ahead[i], (double)x0[i] + 0.9 * (double)v0[i]);
		check_near("v", i, v[i], moved);
		check_near("x", i, x[i], (double)x0[i] + moved);
	}
}
