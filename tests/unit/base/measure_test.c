// SPDX-License-Identifier: Apache-2.0
/* measure_test.c - which lines count, and what is taken from them */
#include "base/measure.h"

#include <math.h>
#include <stdio.h>

#include "test.h"

/* One line and what it says: "BY AT/OF [eEPOCH] [rRANK] NAME=VALUE ...". */
struct row {
	const char *line, *want;
};

static void describe(const char *line, char *ret, size_t n)
{
	struct measure m;
	size_t used;

	if (!measure_read(str_of(line), &m)) {
		snprintf(ret, n, "-");
		return;
	}
	used = (size_t)snprintf(ret, n, "%s %.6g/%.6g", measure_by_name(m.by), m.at, m.of);
	if (m.epoch >= 0)
		used += (size_t)snprintf(ret + used, n - used, " e%g", m.epoch);
	if (m.rank >= 0)
		used += (size_t)snprintf(ret + used, n - used, " r%d", m.rank);
	for (size_t i = 0; i < m.n; i++)
		used += (size_t)snprintf(ret + used, n - used, " %s=%.6g", m.values[i].name, m.values[i].value);
}

static void check_rows(const struct row *rows, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		char got[600];

		describe(rows[i].line, got, sizeof(got));
		if (strcmp(got, rows[i].want) != 0)
			test_fail(__FILE__, __LINE__, "\"%s\" gives\n      \"%s\"\n  not \"%s\"", rows[i].line, got,
				  rows[i].want);
	}
}

#define CHECK_ROWS(rows) check_rows(rows, sizeof(rows) / sizeof((rows)[0]))

TEST("the plain forms are read")
{
	static const struct row rows[] = {
		{ "epoch 3 loss 0.36", "epoch 3/0 loss=0.36" },
		{ "Rank  0 , epoch  3 :  0.3698", "epoch 3/0 r0 loss=0.3698" },
		{ "Rank  2 , epoch  0 :  1.2745919", "epoch 0/0 r2 loss=1.27459" },
		{ "step=120/500 accuracy=91.5%", "step 120/500 accuracy=0.915" },
		{ "step=120 accuracy=0.915", "step 120/0 accuracy=0.915" },
		{ "epoch 3 of 10 loss is 1e-3", "epoch 3/10 loss=0.001" },
		{ "epoch:3,loss:0.36,acc:.9", "epoch 3/0 loss=0.36 accuracy=0.9" },
		{ "Epoch [3/10], Step [100/600], Loss: 0.1234", "step 100/600 e3 loss=0.1234" },
		{ "[rank1]: epoch 3 loss 0.36", "epoch 3/0 r1 loss=0.36" },
		{ "iter 100: loss 2.3456, time 123.4ms, mfu 1.2%", "step 100/0 loss=2.3456" },
		{ "step 250: train loss 2.1, val loss 2.2", "step 250/0 loss=2.1 val-loss=2.2" },
		{ "epoch 2: learning rate 0.01 gnorm=3.5", "epoch 2/0 learning-rate=0.01 gnorm=3.5" },
		{ "epoch 3: test accuracy 9870/10000 (98.7%)", "epoch 3/0 test-accuracy=0.987" },
		{ "Epoch 3 validation_loss = 0.5 valAcc = 0.9", "epoch 3/0 val-loss=0.5 val-accuracy=0.9" },
		{ "epoch 1 reward: -12.5", "epoch 1/0 reward=-12.5" },
		{ "epoch 1 loss -0.5", "epoch 1/0 loss=-0.5" },
		{ "epoch 1 loss=0.5.", "epoch 1/0 loss=0.5" },
		{ "2026-11-16T05:22:36Z INFO train.py:57 epoch 3 loss 0.36", "epoch 3/0 loss=0.36" },
		{ "05:22:36.123 10.244.0.7:2222 v1.2.3 epoch 3 loss 0.36", "epoch 3/0 loss=0.36" },
		{ "epoch 3 loss 0.5 loss 0.6 train_loss 0.7", "epoch 3/0 loss=0.5" },
	};

	CHECK_ROWS(rows);
}

TEST("the lines of psgd are read")
{
	static const struct row rows[] = {
		{ "epoch 3 loss 0.3612 accuracy 0.8711 step=1200 seconds=4.2 samples/s=51234",
		  "step 1200/0 e3 loss=0.3612 accuracy=0.8711 seconds=4.2 samples/s=51234" },
		{ "epoch 3 loss 0.3612 rank 1", "epoch 3/0 r1 loss=0.3612" },
		{ "step=1200 accuracy=0.8711 test-loss=0.3499 mode=sync bytes=123456",
		  "step 1200/0 accuracy=0.8711 test-loss=0.3499 bytes=123456" },
		{ "step=1200 accuracy=0.8711 test-loss=0.3499", "step 1200/0 accuracy=0.8711 test-loss=0.3499" },
		{ "model /data/model.psgd", "-" },
	};

	CHECK_ROWS(rows);
}

TEST("the lines of the frameworks are read")
{
	static const struct row rows[] = {
		{ "120/500 [=====>........] - ETA: 3s - loss: 0.3611 - accuracy: 0.87",
		  "step 120/500 loss=0.3611 accuracy=0.87" },
		{ "500/500 [==============] - 3s 6ms/step - loss: 0.3611 - acc: 0.87 - val_loss: 0.4 - val_acc: 0.85",
		  "step 500/500 loss=0.3611 accuracy=0.87 val-loss=0.4 val-accuracy=0.85" },
		{ "500/500 \xe2\x94\x81\xe2\x94\x81 3s 6ms/step - accuracy: 0.87 - loss: 0.36",
		  "step 500/500 accuracy=0.87 loss=0.36" },
		{ "Train Epoch: 3 [640/60000 (1%)]\tLoss: 0.123456", "epoch 3.01067/0 loss=0.123456" },
		{ "Epoch: [3][ 120/500]\tTime  0.1 ( 0.2)\tLoss 4.1e+00 (4.3e+00)\tAcc@1 87.50 ( 85.2)",
		  "epoch 3.24/0 loss=4.1 accuracy=87.5" },
		{ "{'loss': 0.36, 'learning_rate': 5e-05, 'epoch': 3.0}", "epoch 3/0 loss=0.36 learning-rate=5e-05" },
		{ "{'eval_loss': 0.41, 'eval_f1': 0.5, 'epoch': 2.5}", "epoch 2.5/0 val-loss=0.41 val-f1=0.5" },
		{ "{\"step\": 20, \"loss\": 0.5}", "step 20/0 loss=0.5" },
		{ "Pass=0 Batch=20 AvgCost=0.6", "step 20/0 e0 loss=0.6" },
		{ "epoch 3 batch 20/500 cost 0.6", "epoch 3.04/0 loss=0.6" },
		{ "INFO:tensorflow:loss = 0.36, step = 1200 (3.2 sec)", "step 1200/0 loss=0.36" },
		{ "INFO:tensorflow:global_step=1200, loss=0.36", "step 1200/0 loss=0.36" },
		{ "Epoch 3:  45%|###   | 450/1000 [00:12<00:15, 36.50it/s, v_num=0, train_loss=0.361]",
		  "epoch 3.45/0 loss=0.361" },
		{ " 45%|###   | 450/1000 [00:12<00:15, 36.50it/s, loss=0.361]", "step 450/1000 loss=0.361" },
	};

	CHECK_ROWS(rows);
}

TEST("what is no number is kept as not-a-number")
{
	static const struct row rows[] = {
		{ "epoch 3 loss nan", "epoch 3/0 loss=nan" },
		{ "epoch 3 loss: NaN accuracy: 0.1", "epoch 3/0 loss=nan accuracy=0.1" },
		{ "epoch 3 loss=inf", "epoch 3/0 loss=nan" },
		{ "epoch 3 loss=-Infinity", "epoch 3/0 loss=nan" },
		{ "epoch 3 loss 1e999", "epoch 3/0 loss=nan" },
		{ "Rank  0 , epoch  3 :  nan", "epoch 3/0 r0 loss=nan" },
	};

	CHECK_ROWS(rows);
}

TEST("colours and progress bars are seen through")
{
	static const struct row rows[] = {
		{ "\033[1;32mepoch\033[0m 3 \033[33mloss\033[m 0.36\r\n", "epoch 3/0 loss=0.36" },
		{ "1/500 loss: 0.9\r2/500 loss: 0.8\r3/500 loss: 0.7\r", "step 3/500 loss=0.7" },
		{ "\rstep 5 loss 0.5", "step 5/0 loss=0.5" },
		{ "step 5 loss 0.5\033[", "step 5/0 loss=0.5" },
		{ "step 5 loss 0.5\033", "step 5/0 loss=0.5" },
	};

	CHECK_ROWS(rows);
}

TEST("ordinary lines do not count")
{
	static const struct row rows[] = {
		{ "", "-" },
		{ "listening on port 2222", "-" },
		{ "loss 0.36", "-" },
		{ "Epoch 3/10", "-" },
		{ "epoch 3", "-" },
		{ "epoch 3 finished in 12.5s", "-" },
		{ "epoch three loss low", "-" },
		{ "step 3: 5 files copied", "-" },
		{ "Step 1/12 : FROM ubuntu:22.04", "-" },
		{ "2026/11/16 05:22:36 loss: 0.4", "-" },
		{ "16/11/2026 accuracy 0.4", "-" },
		{ "1 passed, 2 failed in 0.36s", "-" },
		{ "epochs: 10 steps: 500", "-" },
		{ "step 2 of setup: listening on 10.0.0.1:2222", "-" },
		{ "step 2: port=2222 pid=77", "-" },
		{ "epoch 3 took 00:12:31", "-" },
		{ "batch_size=32 lr=0.1", "-" },
		{ "TensorFlow 2.15.0 iter v3.1 192.168.1.17/24", "-" },
		{ "epoch 3 config.py:17", "-" },
		{ "GET /step/3 200 0.36", "-" },
	};

	CHECK_ROWS(rows);
}

TEST("a long line is read as far as it is looked at, and many values as far as there is room")
{
	char line[5000];
	struct measure m;
	size_t n = (size_t)snprintf(line, sizeof(line), "epoch 3 ");

	for (int i = 0; i < 20; i++)
		n += (size_t)snprintf(line + n, sizeof(line) - n, "a%c=%d ", 'a' + i, i);
	CHECK(measure_read((struct str){ line, n }, &m));
	CHECK_INT(m.n, MEASURE_MOST);
	memset(line, 'x', sizeof(line));
	memcpy(line, "step 7 loss 0.5 ", 16);
	CHECK(measure_read((struct str){ line, sizeof(line) }, &m));
	CHECK_INT(m.at, 7);
	memset(line, '7', sizeof(line));
	memcpy(line, "step ", 5);
	CHECK(!measure_read((struct str){ line, sizeof(line) }, &m));
}

TEST("a name is cut to its room")
{
	struct measure m;

	CHECK(measure_read(STR("step 7 a_very_long_name_that_goes_on_and_on_and_never_ends_until_it_does=1 "), &m));
	CHECK_INT(strlen(m.values[0].name), MEASURE_NAME - 1);
	CHECK(measure_read(STR("step 7 averyveryveryveryveryveryveryveryveryveryveryverylongwordbefore "
			       "averyveryveryveryveryveryveryveryveryveryveryverylongword=2"),
			   &m));
}
