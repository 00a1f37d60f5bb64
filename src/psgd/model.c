// SPDX-License-Identifier: Apache-2.0
/* model.c - forward, backward */
#include "psgd/model.h"

#include <cblas.h>
#include <math.h>

#include "base/mem.h"
#include "base/str.h"
#include "psgd/split.h"

static int add_width(struct shape *s, size_t width, const char *what, struct err *e)
{
	if (s->nlayers >= MODEL_MAX_LAYERS)
		return err_set(e, ERR_BAD_REQUEST, "--hidden: more than %d layers", MODEL_MAX_LAYERS - 1);
	if (width < 1 || width > MODEL_MAX_WIDTH)
		return err_set(e, ERR_BAD_REQUEST, "%s: %zu is not a width from 1 to %d", what, width, MODEL_MAX_WIDTH);
	s->widths[++s->nlayers] = width;
	return 0;
}

int shape_make(size_t inputs, const char *hidden, size_t classes, struct shape *ret, struct err *e)
{
	struct shape s = { 0 };
	struct str rest = str_of(hidden), part;
	size_t used;

	if (inputs < 1 || inputs > (1u << 24))
		return err_set(e, ERR_BAD_REQUEST, "the pictures have %zu bytes each; at most %u can be read", inputs,
			       1u << 24);
	s.widths[0] = inputs;
	while (hidden[0] && str_split(&rest, ',', &part)) {
		auto_free char *text = xstrndup(part.p, part.n);
		int64_t width;

		if (!str_int64(text, 1, MODEL_MAX_WIDTH, &width))
			return err_set(e, ERR_BAD_REQUEST, "--hidden: \"%s\" is not a width from 1 to %d", text,
				       MODEL_MAX_WIDTH);
		if (add_width(&s, (size_t)width, "--hidden", e) < 0)
			return -1;
	}
	if (add_width(&s, classes, "the number of classes", e) < 0)
		return -1;
	used = (size_t)snprintf(s.text, sizeof(s.text), "%zu", inputs);
	for (size_t i = 1; i <= s.nlayers && used < sizeof(s.text); i++)
		used += (size_t)snprintf(s.text + used, sizeof(s.text) - used, "-%zu", s.widths[i]);
	if (used >= sizeof(s.text))
		return err_set(e, ERR_BAD_REQUEST, "--hidden: too many layers");
	*ret = s;
	return 0;
}

size_t shape_params(const struct shape *s)
{
	size_t n = 0;

	for (size_t i = 0; i < s->nlayers; i++)
		n += (s->widths[i] + 1) * s->widths[i + 1];
	return n;
}

void model_init(const struct shape *s, float *params, uint64_t seed)
{
	struct rng rng = { seed ^ 0x70736764 };

	for (size_t l = 0; l < s->nlayers; l++) {
		size_t weights = s->widths[l] * s->widths[l + 1];
		float reach = sqrtf(6.0f / (float)s->widths[l]);

		for (size_t i = 0; i < weights; i++)
			*params++ = (2 * rng_unit(&rng) - 1) * reach;
		for (size_t i = 0; i < s->widths[l + 1]; i++)
			*params++ = 0;
	}
}

void model_work_init(struct model_work *w, const struct shape *s, size_t batch)
{
	size_t widest = 0;

	*w = (struct model_work){ .shape = s, .batch = batch, .labels = xmalloc(batch) };
	for (size_t l = 0; l <= s->nlayers; l++) {
		w->values[l] = xreallocarray(NULL, batch * s->widths[l], sizeof(float));
		if (l > 0 && s->widths[l] > widest)
			widest = s->widths[l];
	}
	for (size_t i = 0; i < 2; i++)
		w->delta[i] = xreallocarray(NULL, batch * widest, sizeof(float));
}

void model_work_done(struct model_work *w)
{
	for (size_t l = 0; w->shape && l <= w->shape->nlayers; l++)
		free(w->values[l]);
	free(w->delta[0]);
	free(w->delta[1]);
	free(w->labels);
	*w = (struct model_work){ 0 };
}

static void forward(struct model_work *w, const float *params, size_t n)
{
	const struct shape *s = w->shape;

	for (size_t l = 0; l < s->nlayers; l++) {
		size_t in = s->widths[l], out = s->widths[l + 1];
		const float *bias = params + in * out;
		float *y = w->values[l + 1];

		for (size_t i = 0; i < n; i++)
			memcpy(y + i * out, bias, out * sizeof(float));
		cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (int)n, (int)out, (int)in, 1, w->values[l],
			    (int)in, params, (int)out, 1, y, (int)out);
		if (l + 1 < s->nlayers)
			for (size_t i = 0; i < n * out; i++)
				y[i] = y[i] > 0 ? y[i] : 0;
		params = bias + out;
	}
}

/* One row of outputs becomes probabilities; returns the loss. */
static double softmax(float *row, size_t n, size_t label)
{
	float top = row[0], sum = 0;

	for (size_t i = 1; i < n; i++)
		top = row[i] > top ? row[i] : top;
	for (size_t i = 0; i < n; i++)
		sum += row[i] = expf(row[i] - top);
	for (size_t i = 0; i < n; i++)
		row[i] /= sum;
	return -logf(row[label] > 1e-30f ? row[label] : 1e-30f);
}

static void backward(struct model_work *w, const float *params, size_t n, float *gradient)
{
	const struct shape *s = w->shape;
	size_t at = shape_params(s);
	float *delta = w->delta[0], *below = w->delta[1], *swapped;

	for (size_t l = s->nlayers; l-- > 0;) {
		size_t in = s->widths[l], out = s->widths[l + 1];
		float *bias = gradient + at - out;

		at -= (in + 1) * out;
		cblas_sgemm(CblasRowMajor, CblasTrans, CblasNoTrans, (int)in, (int)out, (int)n, 1, w->values[l],
			    (int)in, delta, (int)out, 0, gradient + at, (int)out);
		memset(bias, 0, out * sizeof(float));
		for (size_t i = 0; i < n; i++)
			for (size_t j = 0; j < out; j++)
				bias[j] += delta[i * out + j];
		if (l == 0)
			break;
		cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (int)n, (int)in, (int)out, 1, delta, (int)out,
			    params + at, (int)out, 0, below, (int)in);
		for (size_t i = 0; i < n * in; i++)
			below[i] = w->values[l][i] > 0 ? below[i] : 0;
		swapped = delta;
		delta = below;
		below = swapped;
	}
}

float model_gradient(struct model_work *w, const float *params, size_t n, float *ret_gradient)
{
	size_t classes = w->shape->widths[w->shape->nlayers];
	float *out = w->values[w->shape->nlayers], *delta = w->delta[0];
	double loss = 0;

	forward(w, params, n);
	for (size_t i = 0; i < n; i++) {
		loss += softmax(out + i * classes, classes, w->labels[i]);
		out[i * classes + w->labels[i]] -= 1;
	}
	for (size_t i = 0; i < n * classes; i++)
		delta[i] = out[i] / (float)n;
	backward(w, params, n, ret_gradient);
	return (float)(loss / (double)n);
}

size_t model_correct(struct model_work *w, const float *params, size_t n, double *loss)
{
	size_t classes = w->shape->widths[w->shape->nlayers], correct = 0;
	float *out = w->values[w->shape->nlayers];

	forward(w, params, n);
	for (size_t i = 0; i < n; i++) {
		float *row = out + i * classes;
		size_t best = 0;

		for (size_t j = 1; j < classes; j++)
			best = row[j] > row[best] ? j : best;
		correct += best == w->labels[i];
		*loss += softmax(row, classes, w->labels[i]);
	}
	return correct;
}
