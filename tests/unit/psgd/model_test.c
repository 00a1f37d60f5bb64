// SPDX-License-Identifier: Apache-2.0
#include "psgd/model.h"

#include <math.h>

#include "base/mem.h"
#include "psgd/split.h"
#include "test.h"

TEST("shapes are made from lists of widths")
{
	struct err e = ERR_INIT;
	struct shape s;

	CHECK_INT(shape_make(784, "128", 10, &s, &e), 0);
	CHECK_STR(s.text, "784-128-10");
	CHECK_INT(shape_params(&s), 101770);
	CHECK_INT(shape_make(784, "", 10, &s, &e), 0);
	CHECK_STR(s.text, "784-10");
	CHECK_INT(shape_params(&s), 7850);
	CHECK_INT(shape_make(784, "12x", 10, &s, &e), -1);
	CHECK_STR(e.text, "--hidden: \"12x\" is not a width from 1 to 65536");
	CHECK_INT(shape_make(784, "1,1,1,1,1,1,1,1,1", 10, &s, &e), -1);
	CHECK_STR(e.text, "--hidden: more than 8 layers");
}

/* The gradient against differences of the loss itself. */
static void check_gradient(const char *hidden)
{
	enum { IN = 5, CLASSES = 3, BATCH = 4 };
	struct err e = ERR_INIT;
	struct rng r = { 9 };
	struct model_work w;
	struct shape s;

	CHECK_INT(shape_make(IN, hidden, CLASSES, &s, &e), 0);

	size_t n = shape_params(&s);
	auto_free float *p = xcalloc(n, sizeof(float));
	auto_free float *g = xcalloc(n, sizeof(float));

	model_init(&s, p, 3);
	model_work_init(&w, &s, BATCH);
	for (size_t i = 0; i < IN * BATCH; i++)
		w.values[0][i] = rng_unit(&r) * 2 - 1;
	for (size_t i = 0; i < BATCH; i++)
		w.labels[i] = (uint8_t)(i % CLASSES);
	model_gradient(&w, p, BATCH, g);
	for (size_t i = 0; i < n; i++) {
		const float h = 1e-3f;
		float was = p[i];
		double up = 0, down = 0, slope;

		p[i] = was + h;
		model_correct(&w, p, BATCH, &up);
		p[i] = was - h;
		model_correct(&w, p, BATCH, &down);
		p[i] = was;
		slope = (up - down) / BATCH / (2 * (double)h);
		if (fabs(slope - (double)g[i]) > 2e-3)
			test_fail(__FILE__, __LINE__, "hidden=\"%s\" gradient[%zu] is %g, slope %g", hidden, i,
				  (double)g[i], slope);
	}
	model_work_done(&w);
}

TEST("the gradient is the slope of the loss, with and without hidden layers")
{
	check_gradient("");
	check_gradient("4");
	check_gradient("6,4");
}

TEST("descending the gradient learns")
{
	struct err e = ERR_INIT;
	struct model_work w;
	struct shape s;
	float p[64], g[64];
	double loss = 0;

	CHECK_INT(shape_make(2, "8", 2, &s, &e), 0);
	model_init(&s, p, 1);
	model_work_init(&w, &s, 4);
	memcpy(w.values[0], (const float[]){ 0, 0, 0, 1, 1, 0, 1, 1 }, 8 * sizeof(float));
	memcpy(w.labels, (const uint8_t[]){ 0, 1, 1, 0 }, 4);
	for (int i = 0; i < 2000; i++) {
		model_gradient(&w, p, 4, g);
		for (size_t j = 0; j < shape_params(&s); j++)
			p[j] -= 0.3f * g[j];
	}
	CHECK_INT(model_correct(&w, p, 4, &loss), 4);
	model_work_done(&w);
}
