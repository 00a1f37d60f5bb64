// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdlib.h>
#include <time.h>

#include "../api/sample_json.h"
#include "base/jsonx.h"
#include "base/mem.h"
#include "pbs/gpu_board.h"
#include "pbs/gpu_card.h"
#include "pbs/kernel_log.h"
#include "pbs/processes.h"
#include "pbs/quota.h"
#include "pbs/report.h"
#include "pbs/this_node.h"
#include "pbs/trace_files.h"
#include "test.h"

static void utc(void)
{
	setenv("TZ", "UTC", 1);
	tzset();
}

static json_t *make_node(const char *name, const char *property, const char *model, const char *gpus)
{
	json_t *node =
		json_pack("{s:{s:s, s:{s:s}}, s:{s:{s:s, s:s}}}", "metadata", "name", name, "labels",
			  "nvidia.com/gpu.product", model, "status", "allocatable", "cpu", "8", "nvidia.com/gpu", gpus);
	char key[64];

	snprintf(key, sizeof(key), PBS_PROPERTY_LABEL "%s", property);
	json_object_set_new(jsonx_at(node, "metadata.labels"), key, json_string(""));
	return node;
}

TEST("chk_gpu's lines have their fields where scripts look")
{
	struct str rest =
		STR("380963.Ghead\ttestjob\tuserx\tgwork\tbatch\tR\t7\t2469\t1\t1\t1\t\t\tG145/0\t"
		    "G145-gpu/1+G145-gpu/0\tc\t1729996448\t1:gpus=2:d\tuserx\t1\t0\n"
		    "7.Ghead\tthe_name_of_a_very_long_job\tu\th\tq\tQ\t\t\t\t\t\t\t\t\t\t\t0\t2:ppn=4:gpus=2:d\n");
	struct sbuf out = SBUF(4096);
	struct board_row r;

	utc();
	while (board_row_next(&rest, &r))
		gpu_board_job(&r, &out);
	CHECK_STR(out.p,
		  "380963\tuserx      testjob           \t1:gpus=2:d  20241027 02:34:08 R 00:41:09   G145-gpu/1/0\n"
		  "7\tu          ..of_a_very_long_job\t2:ppn=4:gpus=2:d 19700101 00:00:00 Q            \n");
	sbuf_done(&out);
}

TEST("chk_gpu draws nodes by model, with what is taken crossed")
{
	json_auto_t *a = make_node("G102", "S", "NVIDIA-GeForce-GTX-1080-Ti", "8");
	json_auto_t *b = make_node("G103", "D", "NVIDIA-GeForce-GTX-1080-Ti", "2");
	json_auto_t *c = make_node("vm", "A", "NVIDIA-A100-SXM4-80GB", "1");
	json_auto_t *d = make_node("cpu1", "x", "none", "0");
	const json_t *objects[] = { a, b, c, d };
	struct str rest = STR("1.G\tn\tu\th\tq\tR\t\t\t\t\t\t\t\t\tG102-gpu/7+G102-gpu/0+G103-gpu/1\n"
			      "2.G\tn\tu\th\tq\tC\t\t\t\t\t\t\t\t\tG102-gpu/3\n");
	struct gpu_node nodes[4] = { 0 };
	struct gpu_node *list[4];
	struct sbuf out = SBUF(4096);
	struct board_row r;

	for (int i = 0; i < 4; i++) {
		node_view_init(&nodes[i].view, objects[i]);
		list[i] = &nodes[i];
	}
	while (board_row_next(&rest, &r))
		for (int i = 0; i < 4; i++)
			gpu_node_take(&nodes[i], &r);
	gpu_board_nodes(list, 4, &out);
	CHECK_STR(out.p, "\nGPU used detail:\n"
			 "--1080Ti--  Valid type:  1:S  2:D  ----\n"
			 "         0  1  2  3  4  5  6  7\n"
			 "102(S):\t[x][ ][ ][ ][ ][ ][ ][x]\n"
			 "103(D):\t[ ][x]\n"
			 "--A100SXM480GB--  Valid type:  1:A  ----\n"
			 "         0  1  2  3  4  5  6  7\n"
			 "vm(A):\t[ ]\n");
	for (int i = 0; i < 4; i++)
		node_view_done(&nodes[i].view);
	sbuf_done(&out);
}

TEST("cards are written in nvidia-smi's shape, so that its fields are where they were")
{
	json_auto_t *node =
		json_pack("{s:{s:s, s:{s:s}}}", "metadata", "name", "g102", "annotations", "stoker.dev/gpus",
			  "[{\"index\":3,\"name\":\"GTX\",\"memoryBytes\":11720982528}]");
	struct sbuf out = SBUF(4096);
	char used[16], all[16], busy[16], mode[16];
	const char *line;

	gpu_card_table(node, &out);
	line = strstr(out.p, "| N/A ");
	CHECK(line != NULL);
	CHECK_INT(sscanf(line, "%*s %*s %*s %*s %*s %*s %*s %*s %15s %*s %15s %*s %15s %15s", used, all, busy, mode),
		  4);
	CHECK_STR(used, "N/A");
	CHECK_STR(all, "11178MiB");
	CHECK_STR(busy, "N/A");
	CHECK_STR(mode, "Default");
	sbuf_done(&out);
}

TEST("records of the kernel's log have a date, and old ones are left out")
{
	struct sbuf out = SBUF(4096);

	utc();
	kernel_log_add(STR("6,1,5140900,-;eth0: link is up\n SUBSYSTEM=net\n"), 1000, 0, &out);
	kernel_log_add(STR("4,2,99000000,-;SLUB: Unable to allocate memory on node -1\n"), 1000, 1099, &out);
	kernel_log_add(STR("4,3,5000000,-;old\n"), 1000, 1099, &out);
	kernel_log_add(STR("no record"), 1000, 0, &out);
	kernel_log_add(STR("1;x\n"), 1000, 0, &out);
	CHECK_STR(out.p, "[Thu Jan  1 00:16:45 1970] eth0: link is up\n"
			 "[Thu Jan  1 00:18:19 1970] SLUB: Unable to allocate memory on node -1\n");
	sbuf_done(&out);
}

TEST("a process is read whatever its name is")
{
	struct process p;

	CHECK(process_parse("42 (a ) b) S 1 42 42 0 -1 4194304 100 0 0 0 250 50 0 0 20 0 1 0 5", "900 300 10", 4, &p));
	CHECK_INT(p.pid, 42);
	CHECK_STR(p.name, "a ) b");
	CHECK_INT(p.ticks, 300);
	CHECK_INT(p.rss_kb, 1200);
	CHECK(!process_parse("", "", 4, &p));
	CHECK(!process_parse("x (y) S", "", 4, &p));
	CHECK(process_parse("1 (y", "", 4, &p) == false);
}

TEST("processes are added up by user, or shown one by one")
{
	struct process early[] = { { .pid = 1, .ticks = 100 }, { .pid = 2, .ticks = 10 } };
	struct process late[] = { { .pid = 1, .ticks = 150, .rss_kb = 2048, .name = "init" },
				  { .pid = 2, .ticks = 10, .rss_kb = 4096, .name = "sh" },
				  { .pid = 3, .uid = 4000000000u, .ticks = 7, .rss_kb = 1024, .name = "new" } };
	struct processes before = { .items = early, .n = 2 };
	struct processes after = { .items = late, .n = 3 };
	struct sbuf out = SBUF(4096);

	processes_table(&before, &after, 1.0, NULL, &out);
	CHECK_STR(out.p, "USER           PROCS   %CPU   MEM(MB)\n"
			 "root               2   50.0         6\n"
			 "4000000000         1    0.0         1\n");
	sbuf_reset(&out);
	processes_table(&before, &after, 1.0, "root", &out);
	CHECK_STR(out.p, "USER             PID   %CPU   MEM(MB)  COMMAND\n"
			 "root               1   50.0         2  init\n"
			 "root               2    0.0         4  sh\n");
	sbuf_done(&out);
}

TEST("the month's report adds GPU hours up")
{
	json_auto_t *doc = json_pack("{s:[{s:s, s:i, s:f, s:f}, {s:s, s:i, s:f, s:f}]}", "items", "name", "userx",
				     "jobs", 3, "gpuSeconds", 5400.0, "cpuSeconds", 3600.0, "name", "usery", "jobs", 1,
				     "gpuSeconds", 1800.0, "cpuSeconds", 0.0);
	struct sbuf out = SBUF(4096);

	utc();
	report_table(doc, 1730419200, false, &out);
	CHECK_STR(out.p, "GPU hours in 2024-11\n\n"
			 "User              GPU_hours  CPU_hours   Jobs\n"
			 "userx                  1.50       1.00      3\n"
			 "usery                  0.50       0.00      1\n"
			 "\nTotal 2.00 GPU hours.\n");
	sbuf_done(&out);
}

TEST("a job's life is told in order, from all sources")
{
	json_auto_t *job =
		json_pack("{s:{s:s, s:s}, s:{s:s, s:s, s:s, s:s}, s:{s:s, s:s, s:s, s:i, s:s, s:s, s:{s:s}}}",
			  "metadata", "name", "7", "creationTimestamp", "2024-10-27T02:00:00Z", "spec", "name", "n",
			  "owner", "u", "submitHost", "gwork", "queue", "batch", "status", "id", "7.Ghead", "state",
			  "C", "execHost", "g102/0", "exitStatus", 0, "startTime", "2024-10-27T02:01:00Z",
			  "completionTime", "2024-10-27T02:03:00Z", "resourcesUsed", "cput", "00:00:07");
	json_auto_t *events = json_pack("[{s:s, s:{s:s}, s:s, s:s}]", "lastTimestamp", "2024-10-27T02:00:30Z", "source",
					"component", "default-scheduler", "reason", "Scheduled", "message", "to\ng102");
	struct trace_options o = { .without = "A", .server = "Ghead" };
	struct sbuf out = SBUF(4096);

	utc();
	trace_job(job, events, &o, &out);
	CHECK_STR(out.p, "\nJob: 7.Ghead\n\n"
			 "10/27/2024 02:00:00  S    enqueuing into batch, state 1 hop 1\n"
			 "10/27/2024 02:00:00  S    Job Queued at request of u@gwork, owner = u@gwork, job name = n, "
			 "queue = batch\n"
			 "10/27/2024 02:00:30  L    Scheduled: to g102\n"
			 "10/27/2024 02:01:00  S    Job Run on g102/0\n"
			 "10/27/2024 02:03:00  S    Exit_status=0 resources_used.cput=00:00:07\n"
			 "10/27/2024 02:03:00  S    dequeuing from batch, state COMPLETE\n");
	sbuf_reset(&out);
	o.without = "SLM";
	o.since = 1729994460;
	trace_job(job, events, &o, &out);
	CHECK(strstr(out.p, "10/27/2024 02:03:00  A    user=u jobname=n queue=batch ctime=1729994400 qtime=1729994400 "
			    "start=1729994460 owner=u@gwork exec_host=g102/0 Resource_List.nodect=1 "
			    "total_execution_slots=1 unique_node_count=1 end=1729994580 Exit_status=0 "
			    "resources_used.cput=00:00:07\n"));
	CHECK(!strstr(out.p, "02:00:00"));
	sbuf_done(&out);
}

TEST("tracejob tells of an element what is about it or the whole array, and nothing about others")
{
	static const struct {
		const char *about, *message, *element;
		bool want;
	} rows[] = {
		{ "7", "m", "", true },
		{ "7-3-0", "m", "", true },
		{ "77", "m", "", false },
		{ "x-7", "m", "", false },
		{ "7", "All 4 elements have ended", "3", true },
		{ "7", "Element 3: it is to be run again", "3", true },
		{ "7", "Element 31: it is to be run again", "3", false },
		{ "7", "Element 4: it is to be run again", "3", false },
		{ "7", "Element 4: it is to be run again", "", true },
		{ "7-3-0", "m", "3", true },
		{ "7-3-1-r2", "m", "3", true },
		{ "7-31-0", "m", "3", false },
		{ "7-4-0", "m", "3", false },
		{ "7-0", "m", "3", false },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		json_auto_t *event = json_pack("{s:{s:s}, s:s}", "involvedObject", "name", rows[i].about, "message",
					       rows[i].message);

		CHECK_INT(trace_is_about(event, "7", rows[i].element), rows[i].want);
	}
}

TEST("chk_quota says what is taken of how much, and what it does not know")
{
	static const struct {
		struct tree_size used;
		int why;
		int64_t quota;
		const char *row;
	} rows[] = {
		{ { .bytes = 0 }, 0, 50ll << 30, "/g/u                                  0kb       50gb    0%\n" },
		{ { .bytes = 12ll << 30 },
		  0,
		  50ll << 30,
		  "/g/u                                 12gb       50gb   24%\n" },
		{ { .bytes = 3 << 19 },
		  0,
		  1 << 20,
		  "/g/u                                1.5mb      1.0mb  150%  over\n" },
		{ { .bytes = 1023 << 10, .unread = 1 },
		  0,
		  1 << 20,
		  "/g/u                               1023kb      1.0mb  100%  at least: not all of it can be read\n" },
		{ { 0 },
		  ENOENT,
		  1ll << 40,
		  "/g/u                                    -      1.0tb     -  No such file or directory\n" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct sbuf out = SBUF(4096);

		quota_row("/g/u", &rows[i].used, rows[i].why, rows[i].quota, &out);
		CHECK_STR(out.p, rows[i].row);
		sbuf_done(&out);
	}
}

TEST("lines of the accounts are told by the job's number, and by the element if one is asked for")
{
	static const struct {
		const char *line, *id;
		bool is;
	} rows[] = {
		{ "10/27/2024 02:00:00;Q;7.Ghead;queue=batch", "7", true },
		{ "10/27/2024 02:00:00;Q;77.Ghead;queue=batch", "7", false },
		{ "10/27/2024 02:00:00;S;7[3].Ghead;queue=batch", "7[]", true },
		{ "10/27/2024 02:00:00;S;7[3].Ghead;queue=batch", "7[3].Ghead", true },
		{ "10/27/2024 02:00:00;S;7[31].Ghead;queue=batch", "7[3]", false },
		{ "7;7", "7", false },
		{ "", "7", false },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		auto_sbuf struct sbuf out = SBUF(4096);
		struct pbs_id id;

		CHECK(pbs_id_parse(rows[i].id, &id));
		CHECK_INT(trace_file_line(str_of(rows[i].line), &id, &out), rows[i].is);
		CHECK_STR(out.p ? out.p : "", rows[i].is ? "10/27/2024 02:00:00  A    queue=batch\n" : "");
	}
}

TEST("a node is this machine if it tells of the kernel that runs here")
{
	json_auto_t *node = sample_json("{'status':{'nodeInfo':{'bootID':'b-1'}}}");
	json_auto_t *silent = sample_json("{'status':{'nodeInfo':{'bootID':''}}}");

	CHECK(this_node_is(node, "b-1"));
	CHECK(!this_node_is(node, "b-2"));
	CHECK(!this_node_is(silent, ""));
}
