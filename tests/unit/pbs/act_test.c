// SPDX-License-Identifier: Apache-2.0
#include "base/jsonx.h"
#include "base/mem.h"
#include "kinds/pbs_error.h"
#include "pbs/acts.h"
#include "pbs/qdel.h"
#include "pbs/qhold.h"
#include "test.h"

static json_t *parse(const char *text)
{
	struct err e = ERR_INIT;
	json_t *v = NULL;

	if (jsonx_parse(text, strlen(text), NULL, NULL, &v, &e) < 0)
		test_fail(__FILE__, __LINE__, "%s: %s", text, e.text);
	return v;
}

#define ARRAY                                                                                                          \
	"{\"spec\":{\"hold\":\"%s\",\"array\":{\"request\":\"0-9\"}},\"status\":{\"state\":\"R\","                     \
	"\"elements\":{\"C:0\":\"0-2\",\"C\":\"9\"},\"active\":[{\"index\":4,\"state\":\"S\"}]}}"

TEST("an id of an array means the elements that there are, and their state")
{
	static const struct {
		const char *elements, *set;
		char state;
		int number;
	} rows[] = {
		{ "", "", 'R', 0 },
		{ "3", "3", 'Q', 0 },
		{ "1", "1", 'C', 0 },
		{ "0-2,9", "0-2,9", 'C', 0 },
		{ "2-3", "2-3", 'Q', 0 },
		{ "4", "4", 'S', 0 },
		{ "8-20", "8-9", 'Q', 0 },
		{ "9-20", "9", 'C', 0 },
		{ "20", "", 0, PBSE_UNKJOBID },
		{ "5-3", "", 0, PBSE_BAD_ARRAY_REQ },
		{ "2%3", "", 0, PBSE_BAD_ARRAY_REQ },
	};
	auto_free char *text = xasprintf(ARRAY, "n");
	json_auto_t *job = parse(text);

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		auto_sbuf struct sbuf set = SBUF(1000);
		struct act_target t;
		struct err e = ERR_INIT;
		const char *words;
		int r = act_target_read(&t, job, true, rows[i].elements, &e);

		CHECK_INT(r, rows[i].number ? -1 : 0);
		CHECK_INT(r < 0 ? pbs_error_find(e.text, &words) : 0, rows[i].number);
		if (r == 0) {
			pbs_set_text(&t.elements, &set);
			CHECK_STR(set.p ? set.p : "", rows[i].set);
			CHECK_INT(t.state, rows[i].state);
			CHECK_INT(t.some, rows[i].elements[0] != 0);
		}
		act_target_done(&t);
	}
}

TEST("brackets are for arrays")
{
	json_auto_t *job = parse("{\"spec\":{},\"status\":{\"state\":\"Q\"}}");
	struct act_target t;
	struct err e = ERR_INIT;

	CHECK_INT(act_target_read(&t, job, false, "", &e), 0);
	CHECK_INT(act_target_read(&t, job, true, "", &e), -1);
	CHECK(strstr(e.text, "15001") != NULL);
}

/* What a plan writes. */
static char *planned(const char *text, const char *elements, const struct act *a)
{
	json_auto_t *job = parse(text);
	json_auto_t *spec = json_object();
	auto_sbuf struct sbuf out = SBUF(4096);
	struct act_target t;
	struct err e = ERR_INIT;

	if (act_target_read(&t, job, *elements != 0, elements, &e) < 0 || a->plan(a, &t, spec, &e) < 0)
		test_fail(__FILE__, __LINE__, "%s", e.text);
	act_target_done(&t);
	jsonx_dump(spec, &out);
	return sbuf_steal(&out);
}

TEST("holds are added letter by letter, and elements index by index")
{
	static const struct {
		const char *hold, *letters, *elements, *want;
		bool release;
	} rows[] = {
		{ "n", "u", "", "{\"hold\":\"u\"}", false },
		{ "u", "so", "", "{\"hold\":\"uos\"}", false },
		{ "u", "u", "", "{\"hold\":\"u\"}", false },
		{ "u", "n", "", "{}", false },
		{ "n", "u", "3-4", "{\"elementHold\":\"3-4\"}", false },
		{ "uo", "u", "", "{\"hold\":\"o\",\"elementHold\":null}", true },
		{ "o", "o", "", "{\"hold\":\"n\"}", true },
		{ "n", "u", "", "{\"hold\":\"n\",\"elementHold\":null}", true },
		{ "u", "u", "3-4", "{\"hold\":\"n\",\"elementHold\":\"0-2,5-9\"}", true },
		{ "n", "u", "3-4", "{\"hold\":\"n\",\"elementHold\":null}", true },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct act a = { .plan = rows[i].release ? release_plan : hold_plan, .arg = rows[i].letters };
		auto_free char *job = xasprintf(ARRAY, rows[i].hold);
		auto_free char *got = planned(job, rows[i].elements, &a);

		CHECK_STR(got, rows[i].want);
	}
}

#define HELD                                                                                                           \
	"{\"spec\":{\"hold\":\"n\",\"elementHold\":\"2-5\",\"array\":{\"request\":\"0-9\"}},\"status\":{\"state\":"    \
	"\"Q\"}}"

TEST("elements that are held one by one join those that are, and leave them")
{
	struct act a = { .plan = hold_plan, .arg = "u" };
	auto_free char *more = planned(HELD, "5-7", &a);
	auto_free char *less = NULL;

	CHECK_STR(more, "{\"elementHold\":\"2-7\"}");
	a.plan = release_plan;
	less = planned(HELD, "3", &a);
	CHECK_STR(less, "{\"hold\":\"n\",\"elementHold\":\"2,4-5\"}");
}

TEST("elements are deleted in addition to those that were, and all of them at the end")
{
	static const struct {
		const char *was, *elements, *want;
	} rows[] = {
		{ "", "", "{\"cancel\":{}}" },
		{ "", "3", "{\"cancel\":{\"elements\":\"3\"}}" },
		{ ",\"cancel\":{\"elements\":\"4-5\"}", "3", "{\"cancel\":{\"elements\":\"3-5\"}}" },
		{ ",\"cancel\":{\"elements\":\"4-5\"}", "", "{\"cancel\":{\"elements\":null}}" },
		{ ",\"cancel\":{\"by\":\"me\"}", "3", "{\"cancel\":{}}" },
	};
	struct qdel_order plain = { .delay = -1 };
	struct qdel_order order = { .delay = 0, .message = "why", .purge = true };
	struct act a = { .plan = delete_plan, .arg = &plain };

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		auto_free char *job = xasprintf("{\"spec\":{\"array\":{\"request\":\"0-9\"}%s}}", rows[i].was);
		auto_free char *got = planned(job, rows[i].elements, &a);

		CHECK_STR(got, rows[i].want);
	}
	a.arg = &order;
	auto_free char *got = planned("{\"spec\":{}}", "", &a);
	CHECK_STR(got, "{\"cancel\":{\"delaySeconds\":0,\"message\":\"why\",\"purge\":true}}");
}

#define SOME                                                                                                           \
	"{\"spec\":{\"array\":{\"request\":\"0-9\"}%s},\"status\":{\"state\":\"R\",\"sequence\":7,\"elements\":"       \
	"{\"R\":\"4-5\",\"C:0\":\"0\"},\"active\":[{\"index\":4,\"state\":\"R\",\"startCount\":1},{\"index\":5,"       \
	"\"state\":\"S\",\"startCount\":3},{\"index\":6,\"state\":\"Q\",\"startCount\":2}]}}"

TEST("what is done to some elements of an array is written as what they have instead of it")
{
	static const struct {
		int (*plan)(const struct act *a, const struct act_target *t, json_t *spec, struct err *e);
		const char *arg, *more, *elements, *want;
	} rows[] = {
		{ move_plan, "mcc", "", "2", "{'elements':[{'queue':'mcc','indexes':'2'}]}" },
		{ move_plan, "mcc", "", "", "{'queue':'mcc'}" },
		{ run_plan, "a+b/0", "", "2", "{'elements':[{'runNow':true,'runHosts':['a','b'],'indexes':'2'}]}" },
		{ run_plan, NULL, "", "2", "{'elements':[{'runNow':true,'indexes':'2'}]}" },
		{ suspend_plan, "suspend", "", "3-4", "{'elements':[{'suspend':true,'indexes':'4'}]}" },
		{ suspend_plan, "suspend", "", "3", "{'elements':[{'suspend':true,'indexes':'3'}]}" },
		{ suspend_plan, "suspend", "", "", "{'suspend':true}" },
		{ suspend_plan, "resume", ",\"suspend\":true", "4", "{'elements':[{'suspend':false,'indexes':'4'}]}" },
		{ suspend_plan, "resume", ",\"elements\":[{\"indexes\":\"4\",\"suspend\":true}]", "4",
		  "{'elements':null}" },
		{ suspend_plan, "resume", ",\"elements\":[{\"indexes\":\"4\",\"suspend\":true}]", "",
		  "{'suspend':false,'elements':null}" },
		{ rerun_plan, NULL, "", "5", "{'elements':[{'rerunAfter':3,'indexes':'5'}]}" },
		{ rerun_plan, NULL, "", "",
		  "{'elements':[{'rerunAfter':1,'indexes':'4'},{'rerunAfter':3,'indexes':'5'}]}" },
		/* Not said to run: the server knows better. */
		{ rerun_plan, NULL, "", "3", "{'elements':[{'rerunAfter':1,'indexes':'3'}]}" },
		{ rerun_plan, NULL, "", "6", "{'elements':[{'rerunAfter':3,'indexes':'6'}]}" },
		{ hold_plan, "uo", "", "3", "{'elementHold':'3','elements':[{'hold':'o','indexes':'3'}]}" },
		{ release_plan, "o", ",\"hold\":\"uo\"", "3",
		  "{'hold':'u','elements':[{'hold':'o','indexes':'0-2,4-9'}]}" },
		{ release_plan, "o", ",\"elements\":[{\"indexes\":\"4\",\"hold\":\"os\"}]", "",
		  "{'hold':'n','elements':[{'hold':'s','indexes':'4'}]}" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct act a = { .plan = rows[i].plan, .arg = rows[i].arg };
		auto_free char *job = xasprintf(SOME, rows[i].more);
		auto_free char *got = planned(job, rows[i].elements, &a);

		for (char *c = got; *c; c++)
			*c = *c == '"' ? '\'' : *c;
		CHECK_STR(got, rows[i].want);
	}
}

TEST("qalter of some elements: what they can have alone, and what they cannot")
{
	static const struct {
		const char *asked, *want;
	} rows[] = {
		{ "{'priority':5,'resources':{'walltime':'5'}}",
		  "{'elements':[{'priority':5,'resources':{'walltime':'5'},'indexes':'2'}]}" },
		{ "{'hold':'us'}", "{'elementHold':'2','elements':[{'hold':'s','indexes':'2'}]}" },
		{ "{'hold':'n','priority':1}", "{'elementHold':null,'elements':[{'priority':1,'indexes':'2'}]}" },
		{ "{'array':{'slots':3},'priority':1}",
		  "{'array':{'slots':3},'elements':[{'priority':1,'indexes':'2'}]}" },
	};
	auto_free char *job = xasprintf(SOME, "");
	json_auto_t *parsed = parse(job);
	struct act_target t;
	struct err e = ERR_INIT;
	json_auto_t *spec = json_object();
	json_auto_t *depend = parse("{\"dependencies\":[]}");

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		auto_free char *text = xstrdup(rows[i].asked);
		json_auto_t *asked = NULL;
		auto_free char *got = NULL;

		for (char *c = text; *c; c++)
			*c = *c == '\'' ? '"' : *c;
		asked = parse(text);
		got = planned(job, "2", &(struct act){ .plan = alter_plan, .arg = asked });
		for (char *c = got; *c; c++)
			*c = *c == '"' ? '\'' : *c;
		CHECK_STR(got, rows[i].want);
	}
	CHECK_INT(act_target_read(&t, parsed, true, "2", &e), 0);
	CHECK_INT(alter_plan(&(struct act){ .arg = depend }, &t, spec, &e), -1);
	CHECK(strstr(e.text, "PBS 15004: Invalid request MSG=dependencies is the same for all elements") != NULL);
	act_target_done(&t);
}

TEST("a refusal may mean that the job has ended by itself")
{
	static const struct {
		enum pbs_error number;
		const char *detail;
		bool over;
	} rows[] = {
		{ PBSE_BADSTATE, "invalid state for job - COMPLETE", true },
		{ PBSE_UNKJOBID, NULL, true },
		{ PBSE_PERM, "operation not permitted", false },
		{ PBSE_NORERUN, NULL, false },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct err e = ERR_INIT;

		pbs_error_set(&e, ERR_CONFLICT, rows[i].number, rows[i].detail ? "%s" : NULL, rows[i].detail);
		CHECK_INT(act_is_over(&e), rows[i].over);
	}
}
