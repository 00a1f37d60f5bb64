// SPDX-License-Identifier: Apache-2.0
/* trainer.c - the training loop
 *
 * A step draws a mini-batch from this trainer's shard and computes its gradient.  In gradient modes the gradient is
 * pushed and new parameters come back.  In elastic modes the trainer goes its own way for tau steps, then it and the
 * center pull at each other.  Servers count progress; from their ticks every trainer knows which epoch it is and when
 * to stop. The leader also gives servers their first parameters, scores the model after each epoch, saves it, and says
 * when training is over.
 */
#include "psgd/trainer.h"

#include <errno.h>
#include <math.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/log.h"
#include "base/mem.h"
#include "psgd/checkpoint.h"
#include "psgd/net.h"
#include "psgd/task.h"
#include "psgd/update.h"

#define HOPELESS 10 /* times the loss of mere guessing: no epoch comes back from there */

struct trainer {
	struct task task;
	bool leads;
	struct sampler sampler;
	struct model_work work;
	uint32_t *samples;
	float *gradient;
	float *velocity, *ahead;      /* eamsgd */
	uint64_t tick_samples, total; /* ticks of the whole training */
	uint64_t epoch;               /* full ones so far */
	double loss;                  /* sum since the last epoch */
	uint64_t steps;
	double last_loss; /* mean of the last epoch that had steps */
	uint64_t first_ticks;
	int64_t began;
};

static int trainer_init(struct trainer *t, const struct settings *s, const struct cluster *c, const sigset_t *waiting,
			struct err *e)
{
	struct task *k = &t->task;
	uint32_t rank = (uint32_t)cluster_rank(c);

	*t = (struct trainer){ .leads = rank == 0 };
	if (task_init(k, s, c, rank, t->leads, waiting, e) < 0)
		return -1;
	sampler_init(&t->sampler, k->train.images.n, cluster_ranks(c), rank, (uint64_t)s->seed);
	model_work_init(&t->work, &k->shape, (size_t)s->batch);
	t->samples = xcalloc((size_t)s->batch, sizeof(*t->samples));
	t->gradient = mode_is_elastic(s->mode) ? xcalloc(k->params, sizeof(float)) : links_vector(&k->links);
	if (s->mode == MODE_EAMSGD) {
		t->velocity = xcalloc(k->params, sizeof(float));
		t->ahead = xcalloc(k->params, sizeof(float));
	}
	t->tick_samples = task_tick_samples(s, &k->links.hello);
	t->total = task_total(k);
	return 0;
}

static void trainer_done(struct trainer *t)
{
	sampler_done(&t->sampler);
	model_work_done(&t->work);
	free(t->samples);
	if (mode_is_elastic(t->task.settings->mode))
		free(t->gradient);
	free(t->velocity);
	free(t->ahead);
	task_done(&t->task);
}

static struct checkpoint describe(const struct trainer *t, uint64_t ticks)
{
	const struct task *k = &t->task;

	return (struct checkpoint){
		.model = k->shape.text, .params = k->params, .parts = 1, .n = k->params, .ticks = ticks
	};
}

/* Parameters to begin with: those of an earlier run, or random ones. */
static int first_model(struct trainer *t, struct err *e)
{
	struct task *k = &t->task;
	const char *dir = k->settings->checkpoint;
	auto_free char *path = dir ? checkpoint_path(dir, 0, 1, true) : NULL;
	struct checkpoint c = describe(t, 0);

	model_init(&k->shape, k->weights, (uint64_t)k->settings->seed);
	if (dir && checkpoint_read(path, &c, k->weights, e) < 0) {
		if (e->kind != ERR_NOT_FOUND)
			return -1;
		err_clear(e);
	}
	k->links.leads = true;
	k->links.restore = k->weights;
	k->links.restore_ticks = c.ticks;
	return 0;
}

static int save_model(struct trainer *t, struct err *e)
{
	struct task *k = &t->task;
	const char *dir = k->settings->checkpoint;
	auto_free char *path = dir ? checkpoint_path(dir, 0, 1, true) : NULL;
	struct checkpoint c = describe(t, links_ticks(&k->links));

	return dir ? checkpoint_write(path, &c, k->weights, e) : 0;
}

static uint64_t epoch_of(const struct trainer *t, uint64_t ticks)
{
	return ticks * t->tick_samples / t->task.train.images.n;
}

static float rate_now(const struct trainer *t)
{
	const struct settings *s = t->task.settings;

	return s->rate * powf(s->decay, (float)epoch_of(t, links_ticks(&t->task.links)));
}

static int diverged(const struct trainer *t, struct err *e)
{
	return err_set(e, ERR_INTERNAL, "the training has diverged at step=%llu: a --rate of %s is too high",
		       (unsigned long long)links_ticks(&t->task.links), t->task.settings->rate_text);
}

/* The loss of one mini-batch at `at`, and its gradient. */
static int step(struct trainer *t, const float *at, struct err *e)
{
	const struct settings *s = t->task.settings;
	size_t n = (size_t)s->batch;
	float loss;

	sampler_draw(&t->sampler, t->samples, n);
	data_set_batch(&t->task.train, t->samples, n, t->work.values[0], t->work.labels);
	loss = model_gradient(&t->work, at, n, t->gradient);
	if (!isfinite(loss))
		return diverged(t, e);
	t->loss += (double)loss;
	t->steps++;
	return 0;
}

/* tau steps on this trainer's own. */
static int wander(struct trainer *t, struct err *e)
{
	struct task *k = &t->task;
	const struct settings *s = k->settings;
	float rate = rate_now(t);

	for (int64_t i = 0; i < s->tau; i++) {
		if (s->mode == MODE_EAMSGD) {
			update_look_ahead(t->ahead, k->weights, t->velocity, k->params, s->momentum);
			if (step(t, t->ahead, e) < 0)
				return -1;
			update_momentum(k->weights, t->velocity, t->gradient, k->params, rate, s->momentum);
		} else {
			if (step(t, k->weights, e) < 0)
				return -1;
			update_descend(k->weights, t->gradient, k->params, rate);
		}
	}
	return 0;
}

/* From one tick of this trainer to the next. */
static enum links_result advance(struct trainer *t, struct err *e)
{
	struct task *k = &t->task;

	if (stop_signal())
		return LINKS_STOPPED;
	if (mode_is_elastic(k->settings->mode))
		return wander(t, e) < 0 ? LINKS_FAILED : links_ask(&k->links, WIRE_PUSH, k->weights, k->weights, 0, e);
	if (step(t, k->weights, e) < 0)
		return LINKS_FAILED;
	return links_ask(&k->links, WIRE_PUSH, t->gradient, k->weights, rate_now(t), e);
}

/* The leader's own parameters are not the center's: score those, then go on with one's own. */
static enum links_result score_center(struct trainer *t, struct score *ret, struct err *e)
{
	struct task *k = &t->task;
	bool elastic = mode_is_elastic(k->settings->mode);
	auto_free float *own = elastic ? xmemdup(k->weights, k->params * sizeof(float)) : NULL;
	enum links_result r = elastic ? links_ask(&k->links, WIRE_PULL, NULL, k->weights, 0, e) : LINKS_OK;

	if (r == LINKS_OK) {
		*ret = task_score(k);
		if (save_model(t, e) < 0)
			return LINKS_FAILED;
		k->links.restore_ticks = links_ticks(&k->links);
		r = links_ask(&k->links, WIRE_SAVE, NULL, NULL, 0, e);
	}
	if (elastic)
		memcpy(k->weights, own, k->params * sizeof(float));
	return r;
}

/* An epoch has ended: say how it went.  Every trainer says its loss, the leader also how good the model is. */
static enum links_result on_epoch(struct trainer *t, struct err *e)
{
	struct links *l = &t->task.links;
	uint64_t ticks = links_ticks(l);
	double seconds = (double)(clock_mono_ms() - t->began) / 1000;
	enum links_result r = LINKS_OK;
	struct score score;

	if (t->steps)
		t->last_loss = t->loss / (double)t->steps;
	t->loss = 0;
	t->steps = 0;
	if (t->last_loss > HOPELESS * log((double)t->task.train.classes)) {
		diverged(t, e);
		return LINKS_FAILED;
	}
	if (t->leads) {
		r = score_center(t, &score, e);
		if (r == LINKS_OK)
			printf("epoch %llu loss %.4f accuracy %.4f step=%llu/%llu seconds=%.1f samples/s=%.0f\n",
			       (unsigned long long)t->epoch, t->last_loss, score.accuracy, (unsigned long long)ticks,
			       (unsigned long long)t->total, seconds,
			       (double)((ticks - t->first_ticks) * t->tick_samples) / (seconds > 0 ? seconds : 1));
	} else if (!t->task.settings->quiet) {
		printf("epoch %llu loss %.4f rank %u step=%llu/%llu\n", (unsigned long long)t->epoch, t->last_loss,
		       l->hello.rank, (unsigned long long)ticks, (unsigned long long)t->total);
	}
	fflush(stdout);
	return r;
}

/* The leader has the last word: the final model, then the end for all. */
static enum links_result finish(struct trainer *t, struct err *e)
{
	struct links *l = &t->task.links;
	const char *dir = t->task.settings->checkpoint;
	enum links_result r = links_ask(l, WIRE_PULL, NULL, t->task.weights, 0, e);
	struct score score;

	if (r != LINKS_OK)
		return r;
	score = task_score(&t->task);
	if (save_model(t, e) < 0)
		return LINKS_FAILED;
	printf("step=%llu/%llu accuracy=%.4f test-loss=%.4f mode=%s bytes=%llu", (unsigned long long)links_ticks(l),
	       (unsigned long long)t->total, score.accuracy, score.loss, mode_name(l->hello.mode),
	       (unsigned long long)l->bytes);
	if (l->shared_bytes)
		printf(" shared-bytes=%llu", (unsigned long long)l->shared_bytes);
	printf("\n");
	if (dir)
		printf("model %s/model.psgd\n", dir);
	fflush(stdout);
	return links_ask(l, WIRE_DONE, NULL, NULL, 0, e);
}

static enum links_result train(struct trainer *t, struct err *e)
{
	struct links *l = &t->task.links;
	enum links_result r = links_ask(l, WIRE_PULL, NULL, t->task.weights, 0, e);

	t->first_ticks = links_ticks(l);
	t->began = clock_mono_ms();
	t->epoch = epoch_of(t, t->first_ticks);
	if (r == LINKS_OK && t->leads && t->first_ticks > 0)
		log_info("resume step=%llu epoch=%llu%s", (unsigned long long)t->first_ticks,
			 (unsigned long long)t->epoch, t->first_ticks >= t->total ? "; all --epochs are done" : "");
	while (r == LINKS_OK && links_ticks(l) < t->total) {
		r = advance(t, e);
		/* While the leader scores one epoch, the others may end the next. */
		while (r == LINKS_OK && epoch_of(t, links_ticks(l)) > t->epoch) {
			t->epoch = epoch_of(t, links_ticks(l));
			r = on_epoch(t, e);
		}
	}
	return r == LINKS_OK && t->leads ? finish(t, e) : r;
}

int trainer_run(const struct settings *s, const struct cluster *c, const sigset_t *waiting, struct err *e)
{
	struct trainer t;
	enum links_result r = LINKS_FAILED;

	if (trainer_init(&t, s, c, waiting, e) == 0 && (!t.leads || first_model(&t, e) == 0) &&
	    links_open(&t.task.links, e) == 0)
		r = train(&t, e);
	trainer_done(&t);
	return r == LINKS_FAILED && !stop_signal() ? -1 : 0;
}
