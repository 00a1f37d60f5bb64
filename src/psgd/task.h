// SPDX-License-Identifier: Apache-2.0
/* task.h - what trainers and evaluators have in common: data, model, connections */
#ifndef STOKER_PSGD_TASK_H
#define STOKER_PSGD_TASK_H

#include "psgd/cluster.h"
#include "psgd/idx.h"
#include "psgd/links.h"
#include "psgd/model.h"
#include "psgd/settings.h"

struct task {
	const struct settings *settings;
	struct data_set train, test;
	struct shape shape;
	size_t params;
	float *weights;
	struct model_work test_work;
	struct links links;
	bool evaluates; /* has test data */
};

/* Reads data and sizes everything.  The connections are not made yet. */
int task_init(struct task *t, const struct settings *s, const struct cluster *c, uint32_t rank, bool evaluates,
	      const sigset_t *waiting, struct err *e);
void task_done(struct task *t);

struct score {
	double accuracy, loss;
};
/* How good `weights` is on the test data. */
struct score task_score(struct task *t);

/* Samples of the whole training that one tick stands for. */
uint64_t task_tick_samples(const struct settings *s, const struct hello *h);
/* Ticks of the whole training. */
uint64_t task_total(const struct task *t);

#endif
