// SPDX-License-Identifier: Apache-2.0
#include "sched/workload.h"

#include "base/jsonx.h"
#include "base/mem.h"
#include "sched/outcome.h"
#include "sched/picture.h"
#include "test.h"

static const char title[] = "job,user,group,queue,priority,submitted,started,ended,pods,gpus,walltime,state\n";

TEST("workload: accounts become jobs, of each pod its part")
{
	auto_free char *text = xasprintf("%sa,anna,vision,fast,3,100,160,460,2,8,600,Succeeded\n"
					 "b,ben,,,,100,200,200,,1,,Failed\n\nc,ben,,,,100,200,300,1,1,,Evicted\n",
					 title);
	struct err e = ERR_INIT;
	struct workload w;

	workload_init(&w);
	CHECK_INT(workload_read_accounts(&w, str_of(text), &e), 0);
	CHECK_INT(w.n, 2);
	CHECK_STR(w.jobs[0].user, "anna");
	CHECK_STR(w.jobs[0].queue, "fast");
	CHECK_INT(w.jobs[0].gpus, 4);
	CHECK_INT(w.jobs[0].members, 2);
	CHECK_INT(w.jobs[0].submit_ms, 100000);
	CHECK_INT(w.jobs[0].run_ms, 300000);
	CHECK_INT(w.jobs[0].walltime_ms, 600000);
	CHECK_STR(w.jobs[1].queue, "batch");
	CHECK_INT(w.jobs[1].walltime_ms, WALLTIME_NONE);
	workload_done(&w);
}

TEST("workload: what the clock says to have begun before it came did not wait")
{
	auto_free char *text = xasprintf("%sa,anna,,,,200,160,400,1,1,,\r\n", title);
	struct err e = ERR_INIT;
	struct workload w;

	workload_init(&w);
	CHECK_INT(workload_read_accounts(&w, str_of(text), &e), 0);
	CHECK_INT(w.n, 1);
	CHECK_INT(w.jobs[0].submit_ms, 160000);
	workload_done(&w);
}

TEST("workload: more cards go to nodes that have fewest, of those that have any")
{
	static const struct {
		const char *machine;
		int64_t more;
		const char *want; /* of each node */
	} rows[] = { { "2x4,1x2", 3, "5 4 4" }, { "2x0", 3, "3 0" }, { "1x0,2x1", 3, "0 3 2" }, { "1x63", 1, "64" } };

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		auto_sbuf struct sbuf got = SBUF(100);
		struct err e = ERR_INIT;
		json_auto_t *nodes = NULL;
		json_t *n;
		size_t k;

		CHECK_INT(workload_nodes(rows[i].machine, &nodes, &e), 0);
		CHECK_INT(workload_more_gpus(&nodes, rows[i].more, &e), 0);
		json_array_foreach (nodes, k, n)
			sbuf_addf(&got, "%s%s", k ? " " : "",
				  json_string_value(
					  json_object_get(jsonx_at(n, "status.allocatable"), "nvidia.com/gpu")));
		CHECK_STR(got.p, rows[i].want);
	}
}

TEST("workload: a description makes each user's jobs, always the same")
{
	static const char text[] = "seed: 3\nnodes: 2x4\nqueues: [{name: fast, priority: 5}]\nusers:\n"
				   "- {name: anna, jobs: 3, gpus: 1|2, run: 10m-20m, walltime: 1h, every: 5m}\n"
				   "- {name: ben, queue: fast, jobs: 1, gpus: 4, pods: 2, run: 90}\n";
	struct err e = ERR_INIT;
	struct workload w;

	workload_init(&w);
	CHECK_INT(workload_read_yaml(&w, STR(text), &e), 0);
	CHECK_INT(w.n, 4);
	CHECK_INT(json_array_size(w.nodes), 2);
	CHECK_INT(w.jobs[1].submit_ms - w.jobs[0].submit_ms, 300000);
	for (size_t i = 0; i < 3; i++) {
		CHECK(w.jobs[i].gpus == 1 || w.jobs[i].gpus == 2);
		CHECK(w.jobs[i].run_ms >= 600000 && w.jobs[i].run_ms <= 1200000);
	}
	CHECK_INT(w.jobs[3].members, 2);
	CHECK_INT(w.jobs[3].run_ms, 90000);
	workload_done(&w);
}

TEST("workload: mistakes are named with their place and value")
{
	static const struct {
		char how; /* accounts, yaml, generate, nodes */
		const char *text, *want;
	} rows[] = {
		{ 'a', "a,anna,,,,100,160,40,1,1,,\n", "line 2: ended: 40 is before its start" },
		{ 'a', "a,anna,,,,100,160,400,0,1,,\n", "line 2: pods: 0 is not between 1 and 10000000" },
		{ 'y', "users: [{jobs: 3}]", "users[0]: name: required" },
		{ 'y', "users: [{name: a, run: soon}]",
		  "users[0]: run: \"soon\" is not a time like 90s, a range like 10m-4h or a choice like 1h|8h" },
		{ 'y', "user: []", "user: no such field; there are seed, nodes, queues and users" },
		{ 'g', "users=5,gpus=8-1", "gpus: \"8-1\" is not a number, a range like 1-8 or a choice like 1|2|8" },
		{ 'g', "users", "\"users\" has no value: write users=VALUE" },
		{ 'n', "4",
		  "\"4\" is not NODESxGPUS, NODESxGPUSxCPUS or NODESxGPUSxCPUSxGIB with 1 to 100000 nodes "
		  "and up to 64 GPUs each, like 4x8" },
		{ 'n', "0x4",
		  "\"0x4\" is not NODESxGPUS, NODESxGPUSxCPUS or NODESxGPUSxCPUSxGIB with 1 to 100000 nodes "
		  "and up to 64 GPUs each, like 4x8" },
		{ 'y', "queues: [{name: q, weight: -1}]",
		  "queues[0]: weight: Invalid value: -1: must be greater than or equal to 1" },
		{ 'y', "queues: [{name: q}]\nusers: [{name: a, queue: p}]",
		  "users[0]: queue: \"p\" is not described under queues; there are batch, q" },
		{ 'y', "nodes: 4", "nodes: must be a text like 4x8" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		auto_free char *accounts = xasprintf("%s%s", title, rows[i].text);
		json_auto_t *nodes = NULL;
		struct err e = ERR_INIT;
		struct workload w;
		int r;

		workload_init(&w);
		r = rows[i].how == 'a'   ? workload_read_accounts(&w, str_of(accounts), &e)
		    : rows[i].how == 'y' ? workload_read_yaml(&w, str_of(rows[i].text), &e)
		    : rows[i].how == 'g' ? workload_generate(&w, rows[i].text, &e)
					 : workload_nodes(rows[i].text, &nodes, &e);
		CHECK_INT(r, -1);
		CHECK_STR(e.text, rows[i].want);
		workload_done(&w);
	}
}

TEST("workload: a field that no queue has is refused, with those it has")
{
	struct err e = ERR_INIT;
	struct workload w;

	workload_init(&w);
	CHECK_INT(workload_read_yaml(&w, STR("queues: [{name: q, weigth: 2}]"), &e), -1);
	CHECK(str_starts(e.text, "queues[0]: weigth: no such field; a queue has name, type, priority, "));
	workload_done(&w);
}

TEST("outcome: waits, use and shares of a run, and its pictures")
{
	static const char text[] =
		"users:\n- {name: anna, jobs: 2, gpus: 2, run: 1h}\n"
		"- {name: b<n, jobs: 1, gpus: 2, run: 2h}\n- {name: big, jobs: 1, gpus: 3, run: 1h}\n";
	struct world_config config = WORLD_CONFIG;
	auto_sbuf struct sbuf out = SBUF(1 << 20);
	json_auto_t *nodes = NULL;
	struct err e = ERR_INIT;
	struct outcome o;
	struct workload w;

	workload_init(&w);
	CHECK_INT(workload_read_yaml(&w, STR(text), &e), 0);
	CHECK_INT(workload_nodes("1x2", &nodes, &e), 0);
	outcome_run(&o, &w, nodes, &config, NULL);
	CHECK_INT(o.jobs, 4);
	CHECK_INT(o.never, 1);
	CHECK_INT(o.to_ms - o.from_ms, 4 * 3600 * 1000);
	CHECK_INT((int64_t)(o.utilisation * 1000), 1000);
	CHECK_INT((int64_t)o.waits.most, 3 * 3600);
	CHECK_INT(o.nusers, 3);
	CHECK_INT((int64_t)(o.users[0].had * 100), 50);
	picture_text(&o, &w, 28, false, &out);
	CHECK(strstr(out.p, "AAAAA") && strstr(out.p, "BBBBB"));
	sbuf_reset(&out);
	picture_svg(&o, &w, &out);
	CHECK(strstr(out.p, "b&#60;n") && !strstr(out.p, "b<n"));
	outcome_done(&o);
	workload_done(&w);
}
