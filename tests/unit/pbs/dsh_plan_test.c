// SPDX-License-Identifier: Apache-2.0
/* dsh_plan_test.c - which programs pbsdsh runs where, and with which variables */
#include "pbs/dsh_plan.h"

#include <stdlib.h>

#include "../api/sample_json.h"
#include "base/mem.h"
#include "test.h"

TEST("slots are numbered node by node, and chosen by number, host or count")
{
	static const struct {
		int64_t copies, slot;
		const char *host;
		bool each;
		const char *want;
	} rows[] = {
		{ 0, -1, NULL, false, " 7-0/0/0 7-0/0/1 7-1/1/2 7-1/1/3 7-2/2/4" },
		{ 3, -1, NULL, false, " 7-0/0/0 7-0/0/1 7-1/1/2" },
		{ 9, -1, NULL, false, " 7-0/0/0 7-0/0/1 7-1/1/2 7-1/1/3 7-2/2/4" },
		{ 0, 3, NULL, false, " 7-1/1/3" },
		{ 0, -1, "G103.lab", false, " 7-2/2/4" },
		{ 0, -1, "g102", false, " 7-0/0/0" },
		{ 0, -1, NULL, true, " 7-0/0/0 7-2/2/4" },
		{ 1, -1, NULL, true, " 7-0/0/0" },
		{ 0, 5, NULL, false, "node number 5 is not one of this job's" },
		{ 0, -1, "g1", false, "host g1 is not one of this job's" },
	};
	json_auto_t *job = sample_json("{'spec':{'resources':{'nodes':'2:ppn=2+1'}}}");
	json_auto_t *pods = sample_json("[{'metadata':{'name':'7-0'},'spec':{'nodeName':'g102'}},"
					"{'metadata':{'name':'7-1'},'spec':{'nodeName':'g102'}},"
					"{'metadata':{'name':'7-2'},'spec':{'nodeName':'g103'}}]");

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct dsh_ask ask = {
			.copies = rows[i].copies, .slot = rows[i].slot, .host = rows[i].host, .each_host = rows[i].each
		};
		auto_sbuf struct sbuf got = SBUF(512);
		struct dsh_task *tasks = NULL;
		struct err e = ERR_INIT;
		size_t n = 0;

		if (dsh_plan(&ask, job, pods, &tasks, &n, &e) < 0)
			sbuf_adds(&got, e.text);
		for (size_t k = 0; k < n; k++)
			sbuf_addf(&got, " %s/%d/%d", tasks[k].pod, tasks[k].rank, tasks[k].slot);
		CHECK_STR(got.p, rows[i].want);
		free(tasks);
	}
}

TEST("a task has its numbers, the variables that were asked for, and a shell if it is a line")
{
	static char *const environ_[] = { "A=1", "B=2", "PBS_NODENUM=9", "odd", NULL };
	static const struct {
		const char *env;
		bool all;
		char *program[3];
		const char *want;
	} rows[] = {
		{ NULL, false, { "date", "-u" }, "<date><-u>" },
		{ NULL, false, { "orted -mca x y" }, "</bin/sh><-c><orted -mca x y>" },
		{ NULL, false, { " orted", "\"a\"" }, "</bin/sh><-c>< orted \"a\">" },
		{ "A,C,D=4", false, { "x" }, "A=1 D=4|<x>" },
		{ NULL, true, { "x" }, "A=1 B=2|<x>" },
	};
	struct dsh_task t = { "7-1", 1, 2 };

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct dsh_ask ask = {
			.env = rows[i].env, .all_env = rows[i].all, .environ = environ_, .program = rows[i].program
		};
		char **command = dsh_command(&ask, &t);
		const char *bar = strchr(rows[i].want, '|');
		auto_sbuf struct sbuf got = SBUF(512), want = SBUF(512);

		for (char **p = command; *p; p++)
			sbuf_addf(&got, "<%s>", *p);
		sbuf_adds(&want, "</usr/bin/env>");
		if (bar) {
			struct str rest = { rows[i].want, (size_t)(bar - rows[i].want) }, one;

			while (rest.n && str_split(&rest, ' ', &one))
				sbuf_addf(&want, "<%.*s>", STR_FMT(one));
		}
		sbuf_addf(&want, "<PBS_NODENUM=1><PBS_VNODENUM=2><PBS_TASKNUM=4>%s", bar ? bar + 1 : rows[i].want);
		CHECK_STR(got.p, want.p);
		dsh_command_free(command);
	}
}
