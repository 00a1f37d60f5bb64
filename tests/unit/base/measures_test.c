// SPDX-License-Identifier: Apache-2.0
/* measures_test.c - series: steps that begin anew, thinning out, and the text they are kept as */
#include "base/measures.h"

#include <math.h>

#include "base/jsonx.h"
#include "base/mem.h"
#include "test.h"

static void feed(struct measures *m, const char *line)
{
	struct measure what;

	CHECK(measure_read(str_of(line), &what));
	measures_add(m, &what, 1000);
}

/* "at=value ..." of one series. */
static void check_series(const struct measures *m, size_t i, const char *want)
{
	auto_sbuf struct sbuf got = SBUF(4096);

	sbuf_adds(&got, "");
	for (size_t j = 0; i < m->n && j < m->series[i].n; j++)
		sbuf_addf(&got, "%s%g=%g", j ? " " : "", m->series[i].points[j].at, m->series[i].points[j].value);
	CHECK_STR(got.p, want);
}

TEST("each name has a series of its own, by epoch and by step")
{
	auto_measures struct measures m = MEASURES;

	feed(&m, "epoch 1 loss 0.5 acc 0.8");
	feed(&m, "epoch 2 loss 0.4 acc 0.9");
	feed(&m, "step 7 loss 0.3");
	CHECK_INT(m.n, 3);
	CHECK_STR(m.series[1].name, "accuracy");
	check_series(&m, 0, "1=0.5 2=0.4");
	check_series(&m, 2, "7=0.3");
}

TEST("a step that begins anew goes on, one that was taken back goes back")
{
	static const struct {
		const char *lines[6], *want;
	} rows[] = {
		{ { "1/2 loss: 6", "2/2 loss: 5", "1/2 loss: 4", "2/2 loss: 3" }, "1=6 2=5 3=4 4=3" },
		{ { "5/5 loss: 6", "5/5 loss: 5", "5/5 loss: 4" }, "5=6 10=5 15=4" },
		{ { "Pass=0 Batch=0 cost=6", "Pass=0 Batch=1 cost=5", "Pass=1 Batch=0 cost=4" }, "0=6 1=5 2=4" },
		{ { "epoch 1 step 10/20 loss 6", "epoch 2 step 10/20 loss 5" }, "10=6 10=5" },
		{ { "epoch 1 step 20/20 loss 6", "epoch 2 step 10/20 loss 5" }, "20=6 30=5" },
		{ { "step 10 loss 6", "step 20 loss 5", "step 10 loss 4" }, "10=6 20=5 10=4" },
		{ { "step 5/5 loss 6", "step 5/5 accuracy 1" }, "5=6" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		auto_measures struct measures m = MEASURES;

		for (size_t j = 0; rows[i].lines[j]; j++)
			feed(&m, rows[i].lines[j]);
		check_series(&m, 0, rows[i].want);
	}
}

static void feed_steps(struct measures *m, int from, int to)
{
	for (int i = from; i < to; i++) {
		struct measure what = {
			.by = MEASURE_BY_STEP, .at = i, .epoch = -1, .values = { { "loss", i } }, .n = 1
		};

		measures_add(m, &what, 1000 + i);
	}
}

TEST("a full series keeps every second point, the first, and the newest")
{
	auto_measures struct measures m = MEASURES;

	feed_steps(&m, 0, 100003);
	CHECK(m.series[0].n <= MEASURES_POINTS && m.series[0].n > MEASURES_POINTS / 2 - 1);
	CHECK_INT(m.series[0].points[0].at, 0);
	CHECK_INT(m.series[0].points[1].at, m.series[0].stride);
	CHECK_INT(m.series[0].points[m.series[0].n - 1].at, 100002);
}

TEST("more series than there is room for are left out")
{
	auto_measures struct measures m = MEASURES;

	for (int i = 0; i < 40; i++) {
		auto_free char *line = xasprintf("step 1 x%c%c=1", 'a' + i / 26, 'a' + i % 26);

		feed(&m, line);
	}
	CHECK_INT(m.n, MEASURES_SERIES);
}

static void check_same(const struct measures *a, const struct measures *b)
{
	auto_sbuf struct sbuf x = SBUF(MEASURES_TEXT), y = SBUF(MEASURES_TEXT);

	measures_write(a, &x);
	measures_write(b, &y);
	CHECK_STR(x.p, y.p);
}

TEST("what is written is read again, as a whole or line by line, and goes on the same")
{
	static const char *const lines[] = { "epoch 1 step 9/10 loss 0.1 acc 33%", "epoch 1 step 10/10 loss nan",
					     "epoch 2 step 1/10 loss 1e-300" };
	auto_measures struct measures m = MEASURES, whole = MEASURES, line_by_line = MEASURES;
	auto_sbuf struct sbuf text = SBUF(MEASURES_TEXT), added = SBUF(MEASURES_TEXT);

	for (size_t i = 0; i < ARRAY_SIZE(lines); i++) {
		struct measure what;
		struct measures_mark mark = { 5000 + (int64_t)i, i + 1 };

		CHECK(measure_read(str_of(lines[i]), &what));
		measures_add(&m, &what, mark.us);
		m.mark = mark;
		measures_write_line(&what, &mark, &added);
	}
	measures_write(&m, &text);
	measures_write_end(&text);
	CHECK_INT(measures_read(&whole, sbuf_str(&text)), text.n);
	CHECK_INT(measures_read(&line_by_line, sbuf_str(&added)), added.n);
	CHECK(whole.ended);
	CHECK_INT(line_by_line.lines, 3);
	CHECK_INT(whole.mark.us, 5002);
	check_same(&m, &whole);
	check_same(&m, &line_by_line);
	feed_steps(&m, 0, 5);
	feed_steps(&whole, 0, 5);
	check_same(&m, &whole);
	CHECK_INT(m.series[0].points[2].at, 11);
}

TEST("a broken text is read as far as it is good")
{
	static const struct {
		const char *text;
		size_t good;
	} rows[] = {
		{ "l 5 1 step 1 0 -1 loss=0.5\nl 6 1 ste", 27 },
		{ "l 5 1 step 1 0 -1 loss=0.5\n\n", 27 },
		{ "l 5 1 step 1 0 -1\n", 0 },
		{ "l 5 1 step inf 0 -1 loss=1\n", 0 },
		{ "l 5 1 step 1 0 -1 loss\n", 0 },
		{ "p 1 2 3\n", 0 },
		{ "s loss step 0 1 0\n", 0 },
		{ "s loss year 0 1 1\n", 0 },
		{ "x\n", 0 },
		{ "eeee\n", 0 },
		{ "e\n", 2 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		auto_measures struct measures m = MEASURES;

		CHECK_INT(measures_read(&m, str_of(rows[i].text)), rows[i].good);
	}
}

TEST("as JSON a series says where it comes from, and what is no number is null")
{
	auto_measures struct measures m = MEASURES;
	auto_sbuf struct sbuf out = SBUF(4096);
	json_auto_t *list = json_array();

	CHECK(measures_add_stamped(&m, STR("2026-11-16T05:22:36.5Z epoch 1/3 loss 0.36")));
	CHECK(measures_add_stamped(&m, STR("2026-11-16T05:22:37Z epoch 2/3 loss nan")));
	CHECK(!measures_add_stamped(&m, STR("epoch 2/3 loss 0.36")));
	CHECK(!measures_add_stamped(&m, STR("2026-11-16T05:22:37Z")));
	measures_json(&m, &(struct measures_place){ "p-0", "main", 2 }, list);
	jsonx_dump(list, &out);
	CHECK_STR(out.p, "[{\"pod\":\"p-0\",\"container\":\"main\",\"run\":2,\"name\":\"loss\",\"by\":\"epoch\","
			 "\"of\":3,\"points\":[[1,0.36,\"2026-11-16T05:22:36.500000Z\"],"
			 "[2,null,\"2026-11-16T05:22:37.000000Z\"]]}]");
}
