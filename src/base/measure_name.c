// SPDX-License-Identifier: Apache-2.0
/* measure_name.c - what the words beside numbers mean, and their one spelling
 *
 * A name is lower case with dashes: "val_acc", "valAcc" and "validation accuracy" are all val-accuracy.  Words that
 * only say how it was summed up (avg, train, running) are dropped, so that a loss is "loss" whoever prints it.
 */
#include "base/measure_parts.h"

#include <ctype.h>
#include <stdio.h>

#define SPELL_MAX 64 /* longer than MEASURE_NAME: a prefix may still be dropped */

struct meaning {
	const char *text;
	enum measure_word word;
};

static const struct meaning places[] = {
	{ "epoch", MEASURE_WORD_EPOCH },       { "pass", MEASURE_WORD_EPOCH },
	{ "step", MEASURE_WORD_STEP },         { "global-step", MEASURE_WORD_STEP },
	{ "train-step", MEASURE_WORD_STEP },   { "training-step", MEASURE_WORD_STEP },
	{ "iteration", MEASURE_WORD_STEP },    { "iter", MEASURE_WORD_STEP },
	{ "batch", MEASURE_WORD_BATCH },       { "minibatch", MEASURE_WORD_BATCH },
	{ "mini-batch", MEASURE_WORD_BATCH },  { "batch-idx", MEASURE_WORD_BATCH },
	{ "batch-index", MEASURE_WORD_BATCH }, { "rank", MEASURE_WORD_RANK },
	{ "global-rank", MEASURE_WORD_RANK },  { "local-rank", MEASURE_WORD_NONE },
	{ "epochs", MEASURE_WORD_NONE },       { "steps", MEASURE_WORD_NONE },
	{ "iterations", MEASURE_WORD_NONE },   { "batches", MEASURE_WORD_NONE },
	{ "port", MEASURE_WORD_NONE },         { "pid", MEASURE_WORD_NONE },
	{ "eta", MEASURE_WORD_NONE },          { "seed", MEASURE_WORD_NONE },
	{ "size", MEASURE_WORD_NONE },         { "batch-size", MEASURE_WORD_NONE },
	{ "world-size", MEASURE_WORD_NONE },   { "num-workers", MEASURE_WORD_NONE },
	{ "gpu", MEASURE_WORD_NONE },          { "node", MEASURE_WORD_NONE },
	{ "line", MEASURE_WORD_NONE },         { "id", MEASURE_WORD_NONE },
	{ "v-num", MEASURE_WORD_NONE },        { "code", MEASURE_WORD_NONE },
};

struct spelling {
	const char *text, *name;
};

static const struct spelling known[] = {
	{ "loss", "loss" },
	{ "cost", "loss" },
	{ "accuracy", "accuracy" },
	{ "acc", "accuracy" },
	{ "acc@1", "accuracy" },
	{ "acc1", "accuracy" },
	{ "top1", "accuracy" },
	{ "acc@5", "top5-accuracy" },
	{ "acc5", "top5-accuracy" },
	{ "top5", "top5-accuracy" },
	{ "perplexity", "perplexity" },
	{ "ppl", "perplexity" },
	{ "learning-rate", "learning-rate" },
	{ "lr", "learning-rate" },
	{ "mse", "mse" },
	{ "rmse", "rmse" },
	{ "mae", "mae" },
	{ "auc", "auc" },
	{ "f1", "f1" },
	{ "f1-score", "f1" },
	{ "bleu", "bleu" },
	{ "miou", "miou" },
	{ "reward", "reward" },
	{ "grad-norm", "grad-norm" },
	{ "samples/s", "samples/s" },
	{ "samples/sec", "samples/s" },
};

/* Words that may stand before a known name, and what is left of them. */
static const struct spelling prefixes[] = {
	{ "train", "" },          { "training", "" },  { "avg", "" },
	{ "average", "" },        { "mean", "" },      { "running", "" },
	{ "total", "" },          { "batch", "" },     { "epoch", "" },
	{ "final", "" },          { "val", "val-" },   { "valid", "val-" },
	{ "validation", "val-" }, { "eval", "val-" },  { "evaluation", "val-" },
	{ "dev", "val-" },        { "test", "test-" }, { "testing", "test-" },
};

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

static const char *find_spelling(const struct spelling *rows, size_t n, struct str text)
{
	for (size_t i = 0; i < n; i++)
		if (str_eq(text, rows[i].text))
			return rows[i].name;
	return NULL;
}

/* Lower case; an underscore, and the border inside testLoss, are dashes. */
static size_t spell(struct str word, char *ret, size_t used)
{
	for (size_t i = 0; i < word.n && used + 2 < SPELL_MAX; i++) {
		unsigned char c = (unsigned char)word.p[i];

		if (i > 0 && isupper(c) && islower((unsigned char)word.p[i - 1]))
			ret[used++] = '-';
		ret[used++] = c == '_' ? '-' : (char)tolower(c);
	}
	ret[used] = 0;
	return used;
}

/* Cuts known prefixes off *text and returns what the last telling one leaves ("val-"), "" if none does. */
static const char *cut_prefixes(struct str *text)
{
	const char *left = "";

	for (;;) {
		size_t n = 0;
		const char *name;

		while (n < text->n && text->p[n] != '-' && text->p[n] != '/')
			n++;
		if (n + 1 >= text->n || !(name = find_spelling(prefixes, COUNT(prefixes), (struct str){ text->p, n })))
			return left;
		if (*name)
			left = name;
		*text = (struct str){ text->p + n + 1, text->n - n - 1 };
	}
}

/* "categorical-accuracy": known by its last word, and keeps the others. */
static bool known_by_its_end(struct str text, const char *left, char ret_name[MEASURE_NAME])
{
	size_t at = text.n;
	const char *name;

	while (at > 0 && text.p[at - 1] != '-')
		at--;
	name = at ? find_spelling(known, COUNT(known), (struct str){ text.p + at, text.n - at }) : NULL;
	if (!name)
		return false;
	snprintf(ret_name, MEASURE_NAME, "%s%.*s%s", left, (int)at, text.p, name);
	return true;
}

static bool is_known(struct str text, char ret_name[MEASURE_NAME])
{
	const char *name = find_spelling(known, COUNT(known), text);
	const char *left = name ? "" : cut_prefixes(&text);

	if (!name)
		name = find_spelling(known, COUNT(known), text);
	if (!name)
		return false;
	snprintf(ret_name, MEASURE_NAME, "%s%s", left, name);
	return true;
}

enum measure_word measure_word(struct str before, struct str word, char ret_name[MEASURE_NAME])
{
	char both[SPELL_MAX + 1], text[SPELL_MAX]; /* one more for the dash */
	struct str alone = { text, spell(word, text, 0) };

	for (size_t i = 0; i < COUNT(places); i++)
		if (streq(text, places[i].text))
			return places[i].word;
	if (before.n) {
		size_t n = spell(before, both, 0);

		both[n++] = '-';
		n = spell(word, both, n);
		if (is_known((struct str){ both, n }, ret_name))
			return MEASURE_WORD_KNOWN;
	}
	if (is_known(alone, ret_name))
		return MEASURE_WORD_KNOWN;
	struct str rest = alone;
	const char *left = cut_prefixes(&rest);

	if (known_by_its_end(rest, left, ret_name))
		return MEASURE_WORD_KNOWN;
	snprintf(ret_name, MEASURE_NAME, "%.*s", MEASURE_NAME - 1, text);
	return memchr(text, '.', alone.n) ? MEASURE_WORD_NONE : MEASURE_WORD_UNKNOWN; /* train.py:57 */
}
