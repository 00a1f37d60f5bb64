// SPDX-License-Identifier: Apache-2.0
#include "sched/depend.h"

#include "api/sample_json.h"
#include "base/mem.h"
#include "kinds/rest.h"
#include "test.h"

TEST("what is waited for comes true, or cannot any more")
{
	static const struct {
		enum depend_state state;
		enum depend_verdict ok, notok, any;
	} rows[] = {
		{ DEPEND_UNKNOWN, DEPEND_WAITS, DEPEND_WAITS, DEPEND_WAITS },
		{ DEPEND_MISSING, DEPEND_WAITS, DEPEND_WAITS, DEPEND_WAITS },
		{ DEPEND_NEVER, DEPEND_STUCK, DEPEND_STUCK, DEPEND_STUCK },
		{ DEPEND_RUNS, DEPEND_WAITS, DEPEND_WAITS, DEPEND_WAITS },
		{ DEPEND_OK, DEPEND_MET, DEPEND_STUCK, DEPEND_MET },
		{ DEPEND_NOTOK, DEPEND_STUCK, DEPEND_MET, DEPEND_MET },
		{ DEPEND_DELETED, DEPEND_STUCK, DEPEND_MET, DEPEND_MET },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		CHECK_INT(depend_one(rows[i].state, AFTER_OK), rows[i].ok);
		CHECK_INT(depend_one(rows[i].state, AFTER_NOTOK), rows[i].notok);
		CHECK_INT(depend_one(rows[i].state, AFTER_ANY), rows[i].any);
	}
}

TEST("the end of a workload stays known when its record is gone")
{
	static const struct {
		enum depend_state before;
		const char *obj; /* NULL: gone */
		enum depend_state want;
	} rows[] = {
		{ DEPEND_UNKNOWN, NULL, DEPEND_MISSING },
		{ DEPEND_MISSING, NULL, DEPEND_MISSING },
		{ DEPEND_RUNS, NULL, DEPEND_DELETED },
		{ DEPEND_OK, NULL, DEPEND_OK },
		{ DEPEND_NOTOK, NULL, DEPEND_NOTOK },
		{ DEPEND_NEVER, "{}", DEPEND_RUNS },
		{ DEPEND_DELETED, "{}", DEPEND_RUNS },
		{ DEPEND_RUNS, "{'status':{'conditions':[{'type':'Complete','status':'True'}]}}", DEPEND_OK },
		{ DEPEND_RUNS, "{'status':{'conditions':[{'type':'Failed','status':'True'}]}}", DEPEND_NOTOK },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		json_auto_t *obj = rows[i].obj ? sample_json(rows[i].obj) : NULL;

		CHECK_INT(depend_seen(rows[i].before, &kind_job, obj), rows[i].want);
	}
}

TEST("words say what is missing, and first what cannot come true")
{
	static const struct {
		enum depend_state a, b; /* of ok:job/a, notok:job/b */
		enum depend_verdict want;
		const char *words;
	} rows[] = {
		{ DEPEND_OK, DEPEND_NOTOK, DEPEND_MET, "" },
		{ DEPEND_RUNS, DEPEND_NOTOK, DEPEND_WAITS, "waits until job/a has succeeded" },
		{ DEPEND_RUNS, DEPEND_MISSING, DEPEND_WAITS,
		  "waits until job/a has succeeded; waits until job/b has failed" },
		{ DEPEND_RUNS, DEPEND_OK, DEPEND_STUCK,
		  "can never start: it waits for job/b to fail, which has succeeded; waits until job/a has succeeded" },
		{ DEPEND_NOTOK, DEPEND_NOTOK, DEPEND_STUCK,
		  "can never start: it waits for job/a to succeed, which has failed" },
		{ DEPEND_DELETED, DEPEND_NOTOK, DEPEND_STUCK,
		  "can never start: it waits for job/a to succeed, which was deleted before it had ended" },
		{ DEPEND_NEVER, DEPEND_NOTOK, DEPEND_STUCK,
		  "waits for job/a, but there is no such workload in its namespace" },
	};
	static const struct after items[] = { { AFTER_OK, &kind_job, "a" }, { AFTER_NOTOK, &kind_job, "b" } };

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		enum depend_state states[] = { rows[i].a, rows[i].b };
		auto_sbuf struct sbuf words = SBUF(1024);

		CHECK_INT(depend_all(items, states, 2, &words), rows[i].want);
		CHECK_STR(words.n ? words.p : "", rows[i].words);
	}
}
