// SPDX-License-Identifier: Apache-2.0
/* plot_series_test.c - which series are drawn, and which together */
#include "cli/plot_series.h"

#include <math.h>

#include "base/jsonx.h"
#include "base/mem.h"
#include "test.h"

static json_t *series(void)
{
	static const char text[] =
		"[{\"pod\":\"j-master-0\",\"container\":\"c\",\"run\":0,\"name\":\"accuracy\",\"by\":\"step\","
		"\"of\":20,\"points\":[[1,0.5,\"t1\"]]},"
		"{\"pod\":\"j-master-0\",\"container\":\"c\",\"run\":0,\"name\":\"loss\",\"by\":\"step\",\"of\":null,"
		"\"points\":[[1,0.9,\"t1\"],[2,null,null]]},"
		"{\"pod\":\"j-master-0\",\"container\":\"c\",\"run\":1,\"name\":\"loss\",\"by\":\"step\",\"of\":null,"
		"\"points\":[[1,0.8,\"t2\"]]},"
		"{\"pod\":\"j-worker-0\",\"container\":\"c\",\"run\":0,\"name\":\"loss\",\"by\":\"step\",\"of\":null,"
		"\"points\":[[1,0.7,\"t2\"]]},"
		"{\"pod\":\"j-worker-0\",\"container\":\"d\",\"run\":0,\"name\":\"loss\",\"by\":\"step\",\"of\":null,"
		"\"points\":[[1,0.6,\"t2\"]]},"
		"{\"pod\":\"j-worker-0\",\"container\":\"c\",\"run\":0,\"name\":\"seconds\",\"by\":\"epoch\",\"of\":3,"
		"\"points\":[[1,7,\"t2\"]]}]";
	json_t *doc = NULL;
	struct err e = ERR_INIT;

	CHECK_INT(jsonx_parse(text, sizeof(text) - 1, NULL, NULL, &doc, &e), 0);
	return doc;
}

TEST("the losses come first, then the accuracies; names and replicas choose")
{
	static const struct {
		const char *metrics, *replicas, *want;
	} rows[] = {
		{ NULL, NULL, "loss:master-0,worker-0/c,worker-0/d accuracy:master-0" },
		{ "accuracy, loss", NULL, "accuracy:master-0 loss:master-0,worker-0/c,worker-0/d" },
		{ "seconds", NULL, "seconds:worker-0" },
		{ NULL, "worker-0", "loss:worker-0/c,worker-0/d" },
		{ NULL, "j-master-0", "loss:master-0 accuracy:master-0" },
		{ "loss", "ps-0", "" },
		{ "los", NULL, "" },
	};
	json_auto_t *all = series();

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct plot_choice choice = { "j", rows[i].metrics, rows[i].replicas };
		json_auto_t *chosen = plot_series_choose(all, &choice);
		auto_sbuf struct sbuf got = SBUF(4096);
		struct plots p;

		sbuf_adds(&got, "");
		plots_make(chosen, &choice, &p);
		for (size_t j = 0; j < p.n; j++) {
			sbuf_addf(&got, "%s%s:", j ? " " : "", p.items[j].metric);
			for (size_t k = 0; k < p.items[j].n; k++)
				sbuf_addf(&got, "%s%s", k ? "," : "", p.items[j].lines[k].label);
		}
		CHECK_STR(got.p, rows[i].want);
		plots_done(&p);
	}
}

TEST("the runs of a replica are one line, with gaps where there is no number")
{
	json_auto_t *all = series();
	struct plot_choice choice = { "j", "loss", "master-0" };
	json_auto_t *chosen = plot_series_choose(all, &choice);
	struct plots p;

	plots_make(chosen, &choice, &p);
	CHECK_INT(p.items[0].lines[0].n, 3);
	CHECK(isnan(p.items[0].lines[0].points[1].y));
	CHECK(p.items[0].lines[0].points[2].y == 0.8);
	plots_done(&p);
}

TEST("without losses and accuracies all there is is drawn, and what there is can be told")
{
	json_auto_t *all = series();
	struct plot_choice choice = { .job = "j" };
	json_auto_t *chosen = NULL;
	auto_sbuf struct sbuf metrics = SBUF(256), replicas = SBUF(256);

	plot_series_names(all, &choice, false, &metrics);
	plot_series_names(all, &choice, true, &replicas);
	CHECK_STR(metrics.p, "accuracy, loss, seconds");
	CHECK_STR(replicas.p, "master-0, worker-0");
	for (int i = 0; i < 5; i++)
		json_array_remove(all, 0);
	chosen = plot_series_choose(all, &choice);
	CHECK_INT(json_array_size(chosen), 1);
}

TEST("CSV has a line a point, and nothing where there is no number")
{
	json_auto_t *all = series();
	auto_sbuf struct sbuf out = SBUF(4096);
	struct str rest, line;

	plot_series_csv(all, &out);
	rest = sbuf_str(&out);
	for (int i = 0; i < 4; i++)
		CHECK(str_split(&rest, '\n', &line));
	CHECK(str_eq(line, "j-master-0,c,0,loss,step,2,,"));
}

TEST("who leads is first, then replicas by their numbers")
{
	static const char *const pods[] = { "j-worker-10", "j-worker-2", "j-master-0", "j-ps-0" };
	static const char *const want[] = { "master-0", "ps-0", "worker-2", "worker-10" };
	struct plot_choice choice = { .job = "j" };
	json_auto_t *all = json_array();
	struct plots p;

	for (size_t i = 0; i < ARRAY_SIZE(pods); i++)
		json_array_append_new(all, json_pack("{s:s, s:s, s:s, s:s, s:[]}", "pod", pods[i], "container", "c",
						     "name", "loss", "by", "step", "points"));
	plots_make(all, &choice, &p);
	CHECK_INT(p.items[0].n, ARRAY_SIZE(want));
	for (size_t i = 0; i < ARRAY_SIZE(want); i++)
		CHECK_STR(p.items[0].lines[i].label, want[i]);
	plots_done(&p);
}
