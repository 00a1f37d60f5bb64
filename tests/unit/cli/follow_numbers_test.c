// SPDX-License-Identifier: Apache-2.0
#include "cli/follow_numbers.h"

#include "base/mem.h"
#include "test.h"

#define SECOND INT64_C(1000000)

static bool at(struct follow_numbers *n, int64_t seconds, const char *line)
{
	return follow_numbers_line(n, str_of(line), seconds * SECOND);
}

TEST("the time left is what the program's own speed says")
{
	struct follow_numbers n = FOLLOW_NUMBERS;

	CHECK(at(&n, 100, "epoch 1/10 loss 2.3"));
	CHECK_INT(follow_left(&n, 100 * SECOND), -1);
	CHECK(at(&n, 110, "epoch 2/10 loss 1.2"));
	CHECK_INT(follow_left(&n, 110 * SECOND), 80);
	CHECK_INT(follow_left(&n, 114 * SECOND), 76);
	CHECK_INT(follow_left(&n, 900 * SECOND), 0);
	CHECK(!at(&n, 111, "saving a checkpoint"));
	CHECK(at(&n, 150, "epoch 10/10 loss 0.1"));
	CHECK_INT(follow_left(&n, 150 * SECOND), 0);
}

TEST("nobody knows it without a total, or if steps begin anew")
{
	struct follow_numbers n = FOLLOW_NUMBERS;

	at(&n, 1, "epoch 1 loss 2");
	at(&n, 2, "epoch 2 loss 2");
	CHECK_INT(follow_left(&n, 2 * SECOND), -1);
	n = FOLLOW_NUMBERS;
	at(&n, 1, "step 50/100 loss 2");
	at(&n, 2, "step 100/100 loss 2");
	at(&n, 3, "step 50/100 loss 1");
	at(&n, 4, "step 60/100 loss 1");
	CHECK_INT(follow_left(&n, 4 * SECOND), -1);
	CHECK_INT(n.curve.n, 4);
}

TEST("a program that was restarted is measured from there, and drawn anew if it begins anew")
{
	struct follow_numbers n = FOLLOW_NUMBERS;

	at(&n, 1, "epoch 1/4 loss 4");
	at(&n, 2, "epoch 2/4 loss 3");
	n.restarted = true;
	at(&n, 60, "epoch 3/4 loss 2"); /* from a checkpoint */
	CHECK_INT(n.curve.n, 3);
	CHECK_INT(follow_left(&n, 60 * SECOND), -1);
	n.restarted = true;
	at(&n, 70, "epoch 1/4 loss 4");
	at(&n, 80, "epoch 2/4 loss 3");
	CHECK_INT(n.curve.n, 2);
	CHECK_INT(follow_left(&n, 80 * SECOND), 20);
}

TEST("of several ranks in one output the first one counts")
{
	struct follow_numbers n = FOLLOW_NUMBERS;

	CHECK(at(&n, 1, "Rank 1 , epoch 1 : 0.9"));
	CHECK(at(&n, 1, "Rank 0 , epoch 1 : 0.8"));
	CHECK(!at(&n, 2, "Rank 1 , epoch 2 : 0.7"));
	CHECK(at(&n, 2, "Rank 0 , epoch 2 : 0.6"));
	CHECK_INT((int)(n.last.values[0].value * 10 + 0.5), 6);
}

TEST("a long curve loses points, not its ends or its shape")
{
	struct follow_numbers n = FOLLOW_NUMBERS;

	for (int i = 0; i < 5000; i++) {
		auto_free char *line = xasprintf("step %d loss %d", i, 5000 - i);

		at(&n, i, line);
	}
	CHECK(n.curve.n <= FOLLOW_POINTS && n.curve.n > FOLLOW_POINTS / 4);
	CHECK_INT(n.curve.first, 5000);
	CHECK_INT(n.curve.last, 1);
	for (size_t i = 1; i < n.curve.n; i++)
		CHECK(n.curve.points[i] < n.curve.points[i - 1]);
}

TEST("numbers are written as people do")
{
	static const struct {
		const char *line, *text;
	} rows[] = {
		{ "epoch 3/10 loss 0.36981 acc 0.87", "epoch 3/10 loss 0.3698 accuracy 0.87" },
		{ "step=1200000 loss=1e-7", "step 1200000 loss 1e-07" },
		{ "epoch 1 loss 0.5 seconds=12 samples/s=600", "epoch 1 loss 0.5" },
		{ "epoch 1 reward=12", "epoch 1 reward 12" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct follow_numbers n = FOLLOW_NUMBERS;
		auto_sbuf struct sbuf out = SBUF(256);

		CHECK(at(&n, 1, rows[i].line));
		follow_numbers_text(&n.last, &out);
		CHECK_STR(out.p, rows[i].text);
	}
}
