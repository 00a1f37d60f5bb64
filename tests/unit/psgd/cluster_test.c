// SPDX-License-Identifier: Apache-2.0
#include "psgd/cluster.h"

#include "base/mem.h"
#include "test.h"

#define OLD                                                                                                            \
	"{\"cluster\":{\"master\":[\"j-master-0.default.svc.cluster.local:2222\"],"                                    \
	"\"ps\":[\"j-ps-0.default.svc.cluster.local:2222\",\"j-ps-1.default.svc.cluster.local:2222\"],"                \
	"\"worker\":[\"j-worker-0.default.svc.cluster.local:2222\",\"j-worker-1.default.svc.cluster.local:2222\"]},"

TEST("the old form is understood, and the master leads")
{
	struct err e = ERR_INIT;
	struct cluster c;

	CHECK_INT(cluster_from_tf_config(OLD "\"task\":{\"type\":\"master\",\"index\":0}}", &c, &e), 0);
	CHECK_STR(e.text, "");
	CHECK_INT(c.role, ROLE_CHIEF);
	CHECK_INT(c.nservers, 2);
	CHECK_STR(c.servers[1], "j-ps-1.default.svc.cluster.local:2222");
	CHECK_INT(cluster_ranks(&c), 3);
	CHECK_INT(cluster_rank(&c), 0);
	CHECK_INT(cluster_check(&c, &e), 0);
	cluster_done(&c);
	CHECK_INT(cluster_from_tf_config(OLD "\"task\":{\"type\":\"worker\",\"index\":1}}", &c, &e), 0);
	CHECK_INT(cluster_rank(&c), 2);
	cluster_done(&c);
}

TEST("today's form is understood: environment, evaluator in the cluster, an index as text, no chief")
{
	const char *text =
		"{\"cluster\":{\"evaluator\":[\"e:1\"],\"ps\":[\"j-ps-0.ns.svc:2222\"],\"worker\":[\"w:1\",\"w:2\"]},"
		"\"task\":{\"type\":\"worker\",\"index\":\"0\"},\"environment\":\"cloud\"}";
	struct err e = ERR_INIT;
	struct cluster c;

	CHECK_INT(cluster_from_tf_config(text, &c, &e), 0);
	CHECK_INT(c.role, ROLE_WORKER);
	CHECK(!c.chief);
	CHECK_INT(cluster_ranks(&c), 2);
	CHECK_INT(cluster_rank(&c), 0);
	CHECK_INT(cluster_check(&c, &e), 0);
	cluster_done(&c);
}

TEST("the sparse form needs the number of workers from elsewhere")
{
	const char *text = "{\"cluster\":{\"ps\":[\"p:1\"],\"worker\":{\"3\":\"w:1\"}},\"task\":{\"type\":\"worker\","
			   "\"index\":3}}";
	struct err e = ERR_INIT;
	struct cluster c;

	CHECK_INT(cluster_from_tf_config(text, &c, &e), 0);
	CHECK_INT(c.workers, 0);
	CHECK_INT(cluster_check(&c, &e), -1);
	c.workers = 4;
	err_clear(&e);
	CHECK_INT(cluster_check(&c, &e), 0);
	cluster_done(&c);
}

TEST("a bad TF_CONFIG is refused with the field and its value")
{
	static const struct {
		const char *config, *text;
	} rows[] = {
		{ "{}", "TF_CONFIG: cluster: required, an object of lists of host:port" },
		{ "[]", "TF_CONFIG: cluster: required, an object of lists of host:port" },
		{ "{\"cluster\":{}}", "TF_CONFIG: task: required, {\"type\": ..., \"index\": ...}" },
		{ "{\"cluster\":{\"ps\":[\"p:1\",\"host\"]}}", "TF_CONFIG: cluster.ps[1]: \"host\" is not host:port" },
		{ "{\"cluster\":{\"worker\":[\"w:99999\"]}}",
		  "TF_CONFIG: cluster.worker[0]: \"w:99999\" is not host:port" },
		{ "{\"cluster\":{\"ps\":\"p:1\"}}", "TF_CONFIG: cluster.ps: a list of host:port belongs here" },
		{ "{\"cluster\":{\"ps\":[7]}}", "TF_CONFIG: cluster.ps[0]: a text host:port belongs here" },
		{ "{\"cluster\":{\"chief\":[\"a:1\",\"b:1\"]}}",
		  "TF_CONFIG: cluster.chief: has 2 entries; there is one at most" },
		{ "{\"cluster\":{\"chief\":[\"a:1\"],\"master\":[\"b:1\"]}}",
		  "TF_CONFIG: cluster: has both a chief and a master; they are the same" },
		{ "{\"cluster\":{},\"task\":{\"type\":\"pss\"}}",
		  "TF_CONFIG: task.type: \"pss\" is not one of chief, master, worker, ps, evaluator" },
		{ "{\"cluster\":{},\"task\":{}}",
		  "TF_CONFIG: task.type: required, one of chief, master, worker, ps, evaluator" },
		{ "{\"cluster\":{},\"task\":{\"type\":\"ps\",\"index\":-1}}",
		  "TF_CONFIG: task.index: -1 is not from 0 to 4096" },
		{ "{\"cluster\":{},\"task\":{\"type\":\"ps\",\"index\":\"x\"}}",
		  "TF_CONFIG: task.index: \"x\" is not a number" },
		{ "{\"cluster\":{},\"task\":{\"type\":\"ps\",\"index\":{}}}",
		  "TF_CONFIG: task.index: a number belongs here" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct err e = ERR_INIT;
		struct cluster c;

		CHECK_INT(cluster_from_tf_config(rows[i].config, &c, &e), -1);
		CHECK_STR(e.text, rows[i].text);
	}
}

TEST("a task that its cluster does not have is refused")
{
	static const struct {
		const char *task, *text;
	} rows[] = {
		{ "ps:2", "task.index: 2, but there are 2 parameter servers" },
		{ "worker:3", "task.index: 3, but there are 3 workers" },
		{ "chief:1", "task: chief 1, but cluster has no such one" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct err e = ERR_INIT;
		struct cluster c;

		CHECK_INT(cluster_from_options(rows[i].task, "a:1,b:2", 3, false, &c, &e), 0);
		CHECK_INT(cluster_check(&c, &e), -1);
		CHECK_STR(e.text, rows[i].text);
		cluster_done(&c);
	}
}

TEST("options say the same as TF_CONFIG")
{
	struct err e = ERR_INIT;
	struct cluster c;

	CHECK_INT(cluster_from_options("worker:1", "a:1,b:2", 2, true, &c, &e), 0);
	CHECK_INT(c.nservers, 2);
	CHECK_INT(cluster_rank(&c), 2);
	CHECK_INT(cluster_ranks(&c), 3);
	cluster_done(&c);
	CHECK_INT(cluster_from_options("boss", "a:1", 1, false, &c, &e), -1);
	CHECK_STR(e.text, "--task: \"boss\" is not chief, evaluator, worker:N or ps:N");
	CHECK_INT(cluster_from_options("ps:0", "a:1,", 1, false, &c, &e), -1);
	CHECK_STR(e.text, "--ps: \"\" is not host:port");
}
