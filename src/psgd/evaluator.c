// SPDX-License-Identifier: Apache-2.0
/* evaluator.c - a task that only looks: pulls the model now and then, scores it, says so */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <time.h>

#include "psgd/net.h"
#include "psgd/task.h"
#include "psgd/trainer.h"

static enum links_result look(struct task *t, uint64_t *seen, struct err *e)
{
	struct links *l = &t->links;
	enum links_result r = links_ask(l, WIRE_PULL, NULL, t->weights, 0, e);
	struct score score;

	/* The last look is at the final model. */
	if ((r != LINKS_OK && r != LINKS_ENDED) || links_ticks(l) == *seen)
		return r;
	*seen = links_ticks(l);
	score = task_score(t);
	printf("step=%llu/%llu accuracy=%.4f test-loss=%.4f\n", (unsigned long long)*seen,
	       (unsigned long long)task_total(t), score.accuracy, score.loss);
	fflush(stdout);
	return r;
}

int evaluator_run(const struct settings *s, const struct cluster *c, const sigset_t *waiting, struct err *e)
{
	const struct timespec nap = { .tv_sec = (time_t)s->eval_every };
	enum links_result r = LINKS_FAILED;
	uint64_t seen = UINT64_MAX;
	struct task t;

	if (task_init(&t, s, c, HELLO_WATCHER, true, waiting, e) == 0 && links_open(&t.links, e) == 0)
		do {
			r = look(&t, &seen, e);
			if (r == LINKS_OK)
				ppoll(NULL, 0, &nap, waiting);
		} while (r == LINKS_OK && !stop_signal());
	task_done(&t);
	return r == LINKS_FAILED && !stop_signal() ? -1 : 0;
}
