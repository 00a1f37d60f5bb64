// SPDX-License-Identifier: Apache-2.0
/* What a PBS job's process is, by tables: sections 3.9 and 4 of what Torque's users expect. */
#include "kinds/pbs_process.h"

#include <stdlib.h>
#include <string.h>

#include "base/jsonx.h"
#include "base/mem.h"
#include "kinds/pbs_id.h"
#include "node/pbs_limits.h"
#include "node/process_spec.h"
#include "test.h"

static json_t *parse(const char *text)
{
	json_error_t error;
	json_t *v = json_loads(text, 0, &error);

	if (!v)
		test_fail(__FILE__, __LINE__, "%s: %s", error.text, text);
	return v;
}

/* A job 77 of u, submitted in /ghome/u/p, with more of a spec. */
static json_t *job_with(const char *spec)
{
	json_t *job =
		parse("{\"metadata\": {\"name\": \"77\", \"uid\": \"x-y\"}, \"spec\": {\"name\": \"n\", "
		      "\"owner\": \"u\", \"queue\": \"mcc\", \"workingDir\": \"/ghome/u/p\", \"script\": \"echo\"},"
		      "\"status\": {\"id\": \"77.Ghead\", \"sequence\": 77}}");
	json_auto_t *more = parse(spec);

	json_object_update(json_object_get(job, "spec"), more);
	return job;
}

static const struct pbs_account user = { "u", "/ghome/u", "/bin/bash", 1001, 100, NULL };

static struct pbs_place place_of(const json_t *job)
{
	return (struct pbs_place){
		.job = job, .index = PBS_PLAIN, .alone = true, .account = &user, .node = "G102", .dir = "/var/spool/x"
	};
}

static const char *env_of(const json_t *doc, const char *name)
{
	size_t n = strlen(name);
	json_t *v;
	size_t i;

	json_array_foreach (json_object_get(doc, "env"), i, v)
		if (strncmp(json_string_value(v), name, n) == 0 && json_string_value(v)[n] == '=')
			return json_string_value(v) + n + 1;
	return "(unset)";
}

TEST("output goes where Torque would put it")
{
	static const struct {
		const char *spec;
		int index;
		const char *out, *err, *joined;
	} rows[] = {
		{ "{}", -1, "/ghome/u/p/n.o77", "/ghome/u/p/n.e77", "" },
		{ "{\"outputPath\": \"gwork:/ghome/u/p/x.log\"}", -1, "/ghome/u/p/x.log", "/ghome/u/p/n.e77", "" },
		{ "{\"outputPath\": \"x.log\"}", -1, "/ghome/u/p/x.log", "/ghome/u/p/n.e77", "" },
		{ "{\"outputPath\": \"gwork:/ghome/u/p/logs/\"}", -1, "/ghome/u/p/logs/n.o77", "/ghome/u/p/n.e77", "" },
		{ "{\"outputPath\": \"gwork:/ghome/u/$PBS_JOBID.out\"}", -1, "/ghome/u/77.Ghead.out",
		  "/ghome/u/p/n.e77", "" },
		{ "{\"outputPath\": \"${HOME}/o\"}", -1, "/ghome/u/o", "/ghome/u/p/n.e77", "" },
		{ "{\"outputPath\": \"~/o\"}", -1, "/ghome/u/o", "/ghome/u/p/n.e77", "" },
		{ "{\"outputPath\": \"/tmp/x/err:or_file\"}", -1, "/tmp/x/err:or_file", "/ghome/u/p/n.e77", "" },
		{ "{\"outputPath\": \"a b\"}", -1, "/ghome/u/p/a b", "/ghome/u/p/n.e77", "" },
		{ "{\"outputPath\": \"/dev/null\", \"errorPath\": \"gwork:/dev/null\"}", 3, "/dev/null", "/dev/null",
		  "" },
		{ "{\"joinPath\": \"eo\", \"errorPath\": \"/ghome/u/p/e.txt\"}", -1, "", "/ghome/u/p/e.txt", "stderr" },
		{ "{\"joinPath\": \"oe\"}", -1, "/ghome/u/p/n.o77", "", "stdout" },
		{ "{\"keepFiles\": \"o\", \"outputPath\": \"/x/y\"}", -1, "/ghome/u/n.o77", "/ghome/u/p/n.e77", "" },
		{ "{\"keepFiles\": \"oed\", \"outputPath\": \"/x/y\"}", -1, "/x/y", "/ghome/u/p/n.e77", "" },
		{ "{\"keepFiles\": \"oe\"}", 2, "/ghome/u/n.o77-2", "/ghome/u/n.e77-2", "" },
		{ "{}", 1, "/ghome/u/p/n.o77-1", "/ghome/u/p/n.e77-1", "" },
		{ "{\"outputPath\": \"r.log\"}", 2, "/ghome/u/p/r.log-2", "/ghome/u/p/n.e77-2", "" },
		{ "{\"outputPath\": \"r.$PBS_ARRAYID\"}", 2, "/ghome/u/p/r.2", "/ghome/u/p/n.e77-2", "" },
		{ "{\"outputPath\": \"r.^array_index^\", \"attributes\": {\"array_separator\": \".\"}}", 2,
		  "/ghome/u/p/r.2", "/ghome/u/p/n.e77.2", "" },
		{ "{\"name\": \"a/b\"}", -1, "/ghome/u/p/b.o77", "/ghome/u/p/b.e77", "" },
		{ "{\"workingDir\": \"\"}", -1, "/ghome/u/n.o77", "/ghome/u/n.e77", "" },
		{ "{\"interactive\": true}", -1, "", "", "" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		json_auto_t *job = job_with(rows[i].spec);
		json_auto_t *doc = NULL;
		struct pbs_place p = place_of(job);
		struct err e = ERR_INIT;

		p.index = rows[i].index;
		CHECK_INT(pbs_process(&p, &doc, &e), 0);
		CHECK_STR(jsonx_str_or(doc, "stdout", ""), rows[i].out);
		CHECK_STR(jsonx_str_or(doc, "stderr", ""), rows[i].err);
		CHECK_STR(jsonx_str_or(doc, "joined", ""), rows[i].joined);
	}
}

TEST("a variable that is not there is the end of it")
{
	json_auto_t *job = job_with("{\"outputPath\": \"/x/$NOBODY\"}");
	struct pbs_place p = place_of(job);
	json_t *doc = NULL;
	struct err e = ERR_INIT;

	CHECK(pbs_process(&p, &doc, &e) < 0);
	CHECK_INT(e.kind, ERR_INVALID);
	CHECK_STR(e.text, "OutputUnwritable: variable NOBODY is not in the job's environment");
}

TEST("the login shell runs the script, or what the job says")
{
	static const struct {
		const char *spec, *program, *args;
		int rank;
	} rows[] = {
		{ "{}", "/bin/bash", "[\"-bash\", \"/var/spool/x/spool/77.Ghead.SC\"]", 0 },
		{ "{\"arguments\": [\"a b\", \"c\"]}", "/bin/bash",
		  "[\"-bash\", \"/var/spool/x/spool/77.Ghead.SC\", \"a b\", \"c\"]", 0 },
		{ "{\"script\": \"#!/usr/bin/python3\\n\", \"arguments\": [\"it's\"]}", "/bin/bash",
		  "[\"-bash\", \"-c\", \"exec '/var/spool/x/spool/77.Ghead.SC' 'it'\\\\''s'\"]", 0 },
		{ "{\"script\": \"#! /bin/bash \\nexit 3\"}", "/bin/bash",
		  "[\"-bash\", \"/var/spool/x/spool/77.Ghead.SC\"]", 0 },
		{ "{\"script\": \"#!/bin/bash -e\\n\"}", "/bin/bash",
		  "[\"-bash\", \"-c\", \"exec '/var/spool/x/spool/77.Ghead.SC'\"]", 0 },
		{ "{\"script\": \"#!/bin/bash\", \"shell\": \"/bin/sh\"}", "/bin/sh",
		  "[\"-sh\", \"-c\", \"exec '/var/spool/x/spool/77.Ghead.SC'\"]", 0 },
		{ "{\"shell\": \"/bin/tcsh\"}", "/bin/tcsh", "[\"-tcsh\", \"/var/spool/x/spool/77.Ghead.SC\"]", 0 },
		{ "{\"shell\": \"/bin/a@G103,/bin/b,/bin/c@G102\"}", "/bin/c",
		  "[\"-c\", \"/var/spool/x/spool/77.Ghead.SC\"]", 0 },
		{ "{\"shell\": \"/bin/a@G103,/bin/b\"}", "/bin/b", "[\"-b\", \"/var/spool/x/spool/77.Ghead.SC\"]", 0 },
		{ "{\"command\": [\"hostname\", \"-f\"]}", "hostname", "[\"hostname\", \"-f\"]", 0 },
		{ "{\"interactive\": true}", "/bin/bash", "[\"-bash\"]", 0 },
		{ "{\"interactive\": true, \"command\": [\"/x/y z\", \"a\"]}", "/bin/bash",
		  "[\"-bash\", \"-c\", \"exec '/x/y z' 'a'\"]", 0 },
		{ "{}", "/bin/sh", "[\"sh\", \"-c\", \"trap '' HUP INT QUIT ALRM USR1 USR2; exec sleep infinity\"]",
		  1 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		json_auto_t *job = job_with(rows[i].spec), *want = parse(rows[i].args);
		json_auto_t *doc = NULL;
		struct pbs_place p = place_of(job);
		struct err e = ERR_INIT;

		p.rank = rows[i].rank;
		CHECK_INT(pbs_process(&p, &doc, &e), 0);
		CHECK_STR(jsonx_str_or(doc, "program", ""), rows[i].program);
		CHECK(jsonx_equal(json_object_get(doc, "args"), want));
	}
}

TEST("the directory is the home, or the one of -d; the mask is octal where it looks so")
{
	static const struct {
		const char *spec, *cwd;
		int mask;
	} rows[] = {
		{ "{}", "/ghome/u", 077 },
		{ "{\"initialDir\": \"/gdata/x\", \"umask\": \"022\"}", "/gdata/x", 022 },
		{ "{\"initialDir\": \"sub\", \"umask\": \"22\"}", "/ghome/u/sub", 22 },
		{ "{\"umask\": \"027\"}", "/ghome/u", 027 },
		{ "{\"umask\": \"222\"}", "/ghome/u", 0222 },
		{ "{\"umask\": \"0\"}", "/ghome/u", 0 },
		{ "{\"umask\": \"what\"}", "/ghome/u", 077 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		json_auto_t *job = job_with(rows[i].spec);
		json_auto_t *doc = NULL;
		struct pbs_place p = place_of(job);
		struct err e = ERR_INIT;

		CHECK_INT(pbs_process(&p, &doc, &e), 0);
		CHECK_STR(jsonx_str_or(doc, "cwd", ""), rows[i].cwd);
		CHECK_INT(jsonx_int_or(doc, "user.umask", -1), rows[i].mask);
		CHECK_INT(jsonx_int_or(doc, "user.uid", -1), 1001);
	}
}

TEST("the environment is the machine's, then what was submitted, then what is known now")
{
	static const struct {
		const char *name, *value;
	} rows[] = {
		{ "PBS_JOBID", "77.Ghead" },
		{ "PBS_JOBNAME", "n" },
		{ "PBS_QUEUE", "mcc" },
		{ "PBS_ENVIRONMENT", "PBS_BATCH" },
		{ "ENVIRONMENT", "BATCH" },
		{ "PBS_O_WORKDIR", "/ghome/u/p" },
		{ "PBS_O_HOME", "/login/u" },
		{ "PBS_O_QUEUE", "batch" },
		{ "PBS_O_INITDIR", "(unset)" },
		{ "PBS_SERVER", "Ghead" },
		{ "PBS_NODEFILE", "/var/spool/x/aux/77.Ghead" },
		{ "PBS_GPUFILE", "/var/spool/x/aux/77.Gheadgpu" },
		{ "PBS_NODENUM", "0" },
		{ "PBS_NP", "4" },
		{ "PBS_NUM_NODES", "2" },
		{ "PBS_NUM_PPN", "2" },
		{ "PBS_WALLTIME", "604800" },
		{ "PBS_VERSION", "TORQUE-6.1.3" },
		{ "PBS_ARRAYID", "(unset)" },
		{ "CUDA_VISIBLE_DEVICES", "6,0" },
		{ "HOME", "/ghome/u" },
		{ "SHELL", "/bin/bash" },
		{ "PATH", "/mine" },
		{ "MINE", "a=b" },
		{ "HOSTNAME", "G102" },
	};
	json_auto_t *job = job_with(
		"{\"env\": {\"PATH\": \"/mine\", \"HOME\": \"/login/u\", \"PBS_JOBID\": \"1.evil\", \"MINE\": \"a=b\", "
		"\"PBS_O_HOME\": \"/login/u\", \"PBS_O_QUEUE\": \"batch\", \"bad=name\": \"x\"},"
		"\"resources\": {\"nodes\": \"2:ppn=2:gpus=2\", \"walltime\": \"168:00:00\"}}");
	static const int cards[] = { 0, 6 };
	json_auto_t *doc = NULL;
	struct pbs_place p = place_of(job);
	struct err e = ERR_INIT;

	jsonx_set_new(job, "status.execHost", json_string("G102/0-1+G103/3,5"));
	jsonx_set_new(job, "status.execGpus", json_string("G102-gpu/6+G102-gpu/0+G103-gpu/1+G103-gpu/0"));
	p.alone = false;
	p.cards = cards;
	p.ncards = 2;
	CHECK_INT(pbs_process(&p, &doc, &e), 0);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		CHECK_STR(env_of(doc, rows[i].name), rows[i].value);
	json_decref(doc);
	doc = NULL;
	p.hidden = true;
	p.index = 3;
	CHECK_INT(pbs_process(&p, &doc, &e), 0);
	CHECK_STR(env_of(doc, "CUDA_VISIBLE_DEVICES"), "1,0");
	CHECK_STR(env_of(doc, "PBS_JOBID"), "77[3].Ghead");
	CHECK_STR(env_of(doc, "PBS_JOBNAME"), "n-3");
	CHECK_STR(env_of(doc, "PBS_ARRAYID"), "3");
	CHECK_STR(env_of(doc, "PBS_ARRAY_INDEX"), "3");
}

TEST("the node file has a line for each slot, the GPU file one for each card")
{
	static const struct {
		const char *hosts, *gpus, *nodes, *cards;
		bool alone;
	} rows[] = {
		{ "G102/0-1+G103/3,5", "G102-gpu/6+G103-gpu/1", "G102\nG102\nG103\nG103\n", "G102-gpu6\nG103-gpu1\n",
		  false },
		{ "G102/0+G102/1+G103/0", "", "G102\nG102\nG103\n", "", false },
		{ "G200/0", "G200-gpu/3", "G102\nG102\nG102\n", "G102-gpu7\nG102-gpu2\n", true },
	};
	static const int cards[] = { 2, 7 };

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		json_auto_t *job = job_with("{\"resources\": {\"nodes\": \"1:ppn=3\"}}");
		auto_sbuf struct sbuf nodes = SBUF(1 << 16), gpus = SBUF(1 << 16);
		struct pbs_place p = place_of(job);

		jsonx_set_new(job, "status.execHost", json_string(rows[i].hosts));
		jsonx_set_new(job, "status.execGpus", json_string(rows[i].gpus));
		p.alone = rows[i].alone;
		p.cards = cards;
		p.ncards = 2;
		pbs_node_file(&p, &nodes);
		pbs_gpu_file(&p, &gpus);
		CHECK_STR(nodes.p, rows[i].nodes);
		CHECK_STR(gpus.p ? gpus.p : "", rows[i].cards);
	}
}

TEST("a job has on a node what all its parts there have")
{
	static const struct {
		const char *gpus, *node, *cards;
	} rows[] = {
		{ "G102-gpu/6+G102-gpu/0+G103-gpu/1", "G102", "0 6" },
		{ "G102-gpu/6+G103-gpu/1", "G103", "1" },
		{ "G102-gpu/10+G102-gpu/9+G102-gpu/2", "G102", "2 9 10" },
		{ "G102-gpu/6", "G10", "" },
		{ "", "G102", "" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		json_auto_t *job = job_with("{}");
		auto_sbuf struct sbuf text = SBUF(256);
		int cards[4];
		size_t n;

		jsonx_set_new(job, "status.execGpus", json_string(rows[i].gpus));
		n = pbs_process_cards(job, PBS_PLAIN, rows[i].node, cards, ARRAY_SIZE(cards));
		for (size_t k = 0; k < n; k++)
			sbuf_addf(&text, "%s%d", k ? " " : "", cards[k]);
		CHECK_STR(text.p ? text.p : "", rows[i].cards);
	}
}

TEST("an element's nodes are its own")
{
	json_auto_t *job = job_with("{}");

	jsonx_set_new(job, "status.active",
		      parse("[{\"index\": 1, \"execHost\": \"a/0\"}, {\"index\": 2, \"execHost\": \"b/0\"}]"));
	CHECK_STR(pbs_process_hosts(job, 2, "execHost"), "b/0");
	CHECK(pbs_process_hosts(job, 3, "execHost") == NULL);
	CHECK(pbs_process_hosts(job, PBS_PLAIN, "execHost") == NULL);
}

TEST("limits are read, compared and told in PBS's words")
{
	static const struct {
		struct pbs_sample sample;
		const char *reason, *words;
	} rows[] = {
		{ { .cput = 60, .vmem = 1024 * 1024 }, NULL, "" },
		{ { .cput = 61 }, "CputExceeded", "cput 61 exceeded limit 60" },
		{ { .vmem = 1048577 }, "MemoryExceeded", "vmem 1048577 exceeded limit 1048576" },
		{ { .pvmem = 600000 }, "MemoryExceeded", "pvmem 600000 exceeded limit 524288" },
		{ { .pmem = 1 << 20 }, NULL, "" },
		{ { .mem = 2097152 }, NULL, "" },
		{ { .mem = 2097153 }, "MemoryExceeded", "mem 2097153 exceeded limit 2097152" },
	};
	json_auto_t *job = job_with("{\"resources\": {\"cput\": \"00:01:00\", \"vmem\": \"1mb\", \"pvmem\": "
				    "\"512kb\", \"mem\": \"2mb\"}}");
	json_auto_t *doc = NULL;
	struct pbs_limits l = pbs_limits_of(job);
	struct pbs_place p = place_of(job);
	struct err e = ERR_INIT;

	CHECK(pbs_limits_any(&l));
	CHECK(pbs_limits_any(&(struct pbs_limits){ .mem = 1 }));
	CHECK(!pbs_limits_each(&(struct pbs_limits){ .mem = 1 }));
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		char words[96] = "";
		const char *reason = pbs_limits_exceeded(&l, &rows[i].sample, words);

		CHECK_STR(reason ? reason : "", rows[i].reason ? rows[i].reason : "");
		CHECK_STR(words, rows[i].words);
	}
	CHECK_INT(pbs_process(&p, &doc, &e), 0);
	CHECK_STR(jsonx_str_or(json_array_get(json_object_get(doc, "rlimits"), 0), "type", ""), "RLIMIT_AS");
	json_auto_t *used = pbs_used_text(7 * 1000000000ll + 5, 5640 * 1024, 0);
	CHECK_STR(jsonx_str(used, "cput"), "00:00:07");
	CHECK_STR(jsonx_str(used, "mem"), "5640kb");
	json_auto_t *runtime = pbs_runtime_text(7250001);
	CHECK_STR(json_string_value(runtime), "7.250001");
}

TEST("the description of a process can be read again, and damage is noticed")
{
	json_auto_t *doc = parse(
		"{\"program\": \"/bin/sh\", \"args\": [\"-sh\", \"\"], \"env\": [\"A=b\"], \"cwd\": \"/h\","
		"\"user\": {\"uid\": 5, \"gid\": 6, \"additionalGids\": [7, 8], \"umask\": 18, \"only\": true},"
		"\"stdout\": \"/o\", \"stderr\": \"\", \"joined\": \"stdout\", \"allowed\": [\"/bin/sh\", \"/x\"],"
		"\"rlimits\": [{\"type\": \"RLIMIT_AS\", \"soft\": 1, \"hard\": 2}, {\"type\": \"odd\"}]}");
	auto_sbuf struct sbuf text = SBUF(PROCESS_SPEC_MAX);
	struct err e = ERR_INIT;

	CHECK_INT(process_spec_encode(doc, "/a/b\n/c\n", &text, &e), 0);
	json_auto_t *again = process_spec_decode(sbuf_str(&text));
	auto_free char *joins = process_spec_joins(sbuf_str(&text));
	json_object_del(doc, "rlimits");
	CHECK(jsonx_equal(again, doc));
	CHECK_STR(joins, "/a/b\n/c\n");
	for (size_t n = 0; n < text.n; n++) {
		json_auto_t *part = process_spec_decode((struct str){ text.p, n });

		CHECK(part == NULL);
	}
	json_object_del(doc, "user");
	CHECK(process_spec_encode(doc, "", &text, &e) < 0);
}

TEST("a job that has files copied is the child of a shell that copies them")
{
	static const struct {
		const char *spec, *rest; /* NULL: no such job */
	} rows[] = {
		{ "{\"stageIn\": [\"in@gwork:/d/a b\"]}", "[\"1\", \"/d/a b\", \"/ghome/u/in\", \"0\", \"/bin/bash\", "
							  "\"-l\", \"/var/spool/x/spool/77.Ghead.SC\"]" },
		{ "{\"stageOut\": [\"/tmp/$PBS_JOBID@gwork:out/\", \"x@gwork:~/y:z\"], \"command\": [\"date\", "
		  "\"-u\"]}",
		  "[\"0\", \"2\", \"/tmp/77.Ghead\", \"/ghome/u/out/\", \"/ghome/u/x\", \"/ghome/u/y:z\", \"date\", "
		  "\"-u\"]" },
		{ "{\"stageIn\": [\"in@g:a\"], \"shell\": \"/bin/tcsh\"}",
		  "[\"1\", \"/ghome/u/a\", \"/ghome/u/in\", \"0\", \"/bin/tcsh\", "
		  "\"/var/spool/x/spool/77.Ghead.SC\"]" },
		{ "{\"stageIn\": [\"in@g:a\"], \"shell\": \"/bin/tcsh\", \"interactive\": true}",
		  "[\"1\", \"/ghome/u/a\", \"/ghome/u/in\", \"0\", \"/bin/tcsh\", \"-l\"]" },
		{ "{\"stageIn\": [\"in@g:$NOBODY\"]}", NULL },
		{ "{\"stageIn\": [\"in\"]}", NULL },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		json_auto_t *job = job_with(rows[i].spec), *want = parse(rows[i].rest ? rows[i].rest : "[]");
		json_auto_t *doc = NULL;
		struct pbs_place p = place_of(job);
		struct err e = ERR_INIT;

		CHECK_INT(pbs_process(&p, &doc, &e), rows[i].rest ? 0 : -1);
		if (!rows[i].rest) {
			CHECK(strncmp(e.text, "ExecFailed: staging: ", 21) == 0);
			continue;
		}
		CHECK_STR(jsonx_str_or(doc, "program", ""), "/bin/sh");
		for (size_t n = 0; n < 4; n++)
			json_array_remove(json_object_get(doc, "args"), 0);
		CHECK(jsonx_equal(json_object_get(doc, "args"), want));
	}
}
