// SPDX-License-Identifier: Apache-2.0
#include "cli/queue_rows.h"

#include <stdlib.h>
#include <time.h>

#include "api/sample_json.h"
#include "base/mem.h"
#include "test.h"

#define NOW 1767261600 /* 2026-01-01 10:00 UTC */

TEST("queue: a size is said by what matters most")
{
	static const struct {
		const char *row, *text;
	} rows[] = {
		{ "{'size':1,'gpus':4,'cpuMilli':8000}", "4 GPUs" }, { "{'size':1,'gpus':1}", "1 GPU" },
		{ "{'size':3,'gpus':6}", "3 pods, 6 GPUs" },         { "{'size':1,'cpuMilli':1500}", "1.5 CPUs" },
		{ "{'size':2,'cpuMilli':1000}", "2 pods, 1 CPU" },   { "{'size':1}", "0 CPUs" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		json_auto_t *row = sample_json(rows[i].row);
		auto_sbuf struct sbuf out = SBUF(100);

		queue_size_text(row, &out);
		CHECK_STR(out.p, rows[i].text);
	}
}

static char *text_of(const json_t *rows, bool with_namespace, bool wide)
{
	struct sbuf out = SBUF(10000);
	auto_table struct table t = { 0 };

	setenv("TZ", "UTC", 1);
	tzset();
	queue_table(rows, with_namespace, NOW, &t);
	table_text(&t, wide, false, 0, &out);
	return sbuf_steal(&out);
}

TEST("queue: what runs, waits and is held, each in its row; what may not be seen has no name")
{
	json_auto_t *items = sample_json(
		"[{'namespace':'lab','name':'job/a','queue':'batch','user':'anna','state':'running','size':1,'gpus':2,"
		"'walltime':3600,'started':'2026-01-01T09:30:00Z','endsBy':'2026-01-01T10:30:00Z'},"
		"{'queue':'batch','user':'ben','state':'waiting','position':1,'size':1,'gpus':8},"
		"{'namespace':'lab','name':'job/b','queue':'batch','user':'anna','state':'waiting','position':2,"
		"'size':1,'gpus':4,'expectedStart':'2026-01-02T10:30:00Z','priority':5,'sentence':'second in queue'},"
		"{'namespace':'lab','name':'job/c','queue':'night','user':'anna','state':'held','size':1,'gpus':1}]");
	size_t others = 0;
	json_auto_t *own = queue_rows(items, "lab", &others);
	auto_free char *text = text_of(own, false, false);
	auto_free char *all = text_of(items, true, true);

	CHECK_INT(others, 1);
	CHECK_STR(text, "QUEUE  POS  NAME   USER  SIZE    WALLTIME  STATE    START              ENDS BY\n"
			"batch    -  job/a  anna  2 GPUs  01:00:00  running  09:30              10:30\n"
			"batch    2  job/b  anna  4 GPUs         -  waiting  ~2026-01-02 10:30  -\n"
			"night    -  job/c  anna  1 GPU          -  held     -                  -\n");
	CHECK(str_starts(all, "NAMESPACE  QUEUE  POS  NAME   USER  SIZE "));
	CHECK(strstr(all, "-          batch    1  -      ben   8 GPUs"));
	CHECK(strstr(all, "second in queue"));
}

TEST("queue: the size of work that asks only for memory is that")
{
	static const struct {
		const char *row, *want;
	} rows[] = {
		{ "{'size':1,'memory':25006358528}", "23.2Gi of memory" },
		{ "{'size':2,'memory':1073741824}", "2 pods, 1Gi of memory" },
		{ "{'size':1,'memory':1000000000}", "953Mi of memory" },
		{ "{'size':1,'cpuMilli':500,'memory':1073741824}", "0.5 CPUs" },
		{ "{'size':1}", "0 CPUs" },
		{ "{'size':1,'gpuMemoryMiB':8192,'cpuMilli':500}", "8Gi of GPU" },
		{ "{'size':2,'gpuMemoryMiB':9216,'memory':1073741824}", "2 pods, 9Gi of GPUs" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		auto_sbuf struct sbuf out = SBUF(128);
		json_auto_t *row = sample_json(rows[i].row);

		queue_size_text(row, &out);
		CHECK_STR(out.p, rows[i].want);
	}
}
