// SPDX-License-Identifier: Apache-2.0
/* task.c - data, model and connections of one task */
#include "psgd/task.h"

#include <cblas.h>

#include "base/mem.h"
#include "psgd/net.h"

#define TEST_BATCH 500

static int read_data(struct task *t, const struct settings *s, struct err *e)
{
	if (data_set_read(s->data, "train", (size_t)s->limit, &t->train, e) < 0)
		return -1;
	if (!t->evaluates)
		return 0;
	if (data_set_read(s->data, "t10k", 0, &t->test, e) < 0)
		return -1;
	if (t->test.images.item != t->train.images.item || t->test.classes > t->train.classes)
		return err_set(e, ERR_CORRUPT,
			       "%s: test pictures of %zu bytes in %zu classes, training ones of %zu in %zu", s->data,
			       t->test.images.item, t->test.classes, t->train.images.item, t->train.classes);
	return 0;
}

int task_init(struct task *t, const struct settings *s, const struct cluster *c, uint32_t rank, bool evaluates,
	      const sigset_t *waiting, struct err *e)
{
	struct hello hello = { .mode = s->mode, .rank = rank, .ranks = (uint32_t)cluster_ranks(c) };

	*t = (struct task){ .settings = s, .evaluates = evaluates };
	if (s->backup >= hello.ranks)
		return err_set(e, ERR_BAD_REQUEST, "--backup: %lld, but there are %u trainers", (long long)s->backup,
			       hello.ranks);
	if (read_data(t, s, e) < 0 || shape_make(t->train.images.item, s->hidden, t->train.classes, &t->shape, e) < 0)
		return -1;
	t->params = shape_params(&t->shape);
	if (t->train.images.n < hello.ranks || t->params < c->nservers || t->params / c->nservers >= WIRE_MAX_FLOATS)
		return err_set(e, ERR_BAD_REQUEST,
			       "%zu samples and %zu parameters cannot be dealt to %u trainers and %zu servers",
			       t->train.images.n, t->params, hello.ranks, c->nservers);
	if (evaluates)
		model_work_init(&t->test_work, &t->shape, TEST_BATCH);
	hello.servers = (uint32_t)c->nservers;
	hello.backup = (uint32_t)s->backup;
	hello.staleness = (uint32_t)s->staleness;
	hello.params = t->params;
	hello.alpha = settings_alpha(s, hello.ranks);
	memcpy(hello.model, t->shape.text, sizeof(hello.model));
	links_init(&t->links, &hello, (const char *const *)c->servers, c->nservers);
	t->links.give_up_ms = s->give_up * 1000;
	t->links.waiting = waiting;
	if (s->shm && rank != HELLO_WATCHER)
		links_share(&t->links, s->shm);
	/* Elastic modes push their parameters, the others gradients: what is pushed lies where a server may see it. */
	t->weights = mode_is_elastic(s->mode) ? links_vector(&t->links) : xcalloc(t->params, sizeof(float));
	openblas_set_num_threads((int)s->threads);
	return 0;
}

void task_done(struct task *t)
{
	model_work_done(&t->test_work);
	data_set_done(&t->train);
	data_set_done(&t->test);
	if (!mode_is_elastic(t->settings->mode))
		free(t->weights);
	t->weights = NULL;
	links_done(&t->links);
}

struct score task_score(struct task *t)
{
	size_t total = t->test.images.n, correct = 0;
	uint32_t samples[TEST_BATCH];
	double loss = 0;

	for (size_t at = 0; at < total; at += TEST_BATCH) {
		size_t n = total - at < TEST_BATCH ? total - at : TEST_BATCH;

		for (size_t i = 0; i < n; i++)
			samples[i] = (uint32_t)(at + i);
		data_set_batch(&t->test, samples, n, t->test_work.values[0], t->test_work.labels);
		correct += model_correct(&t->test_work, t->weights, n, &loss);
	}
	return (struct score){ (double)correct / (double)total, loss / (double)total };
}

uint64_t task_tick_samples(const struct settings *s, const struct hello *h)
{
	uint64_t step = (uint64_t)s->batch;

	if (h->mode == MODE_SYNC)
		return step * (h->ranks - h->backup);
	return mode_is_elastic(h->mode) ? step * (uint64_t)s->tau : step;
}

uint64_t task_total(const struct task *t)
{
	uint64_t each = task_tick_samples(t->settings, &t->links.hello);

	return ((uint64_t)t->settings->epochs * t->train.images.n + each - 1) / each;
}
