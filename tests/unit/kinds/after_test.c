// SPDX-License-Identifier: Apache-2.0
#include "kinds/after.h"

#include "api/sample_json.h"
#include "base/jsonx.h"
#include "base/mem.h"
#include "kinds/rest.h"
#include "kinds/work_rules.h"
#include "kinds/workloads.h"
#include "test.h"

/* "ok:job/a notok:pod/b", or the error. */
static char *parsed(const char *text)
{
	auto_free struct after *items = NULL;
	auto_sbuf struct sbuf out = SBUF(4096);
	struct err e = ERR_INIT;
	size_t n;

	if (after_parse(text, &items, &n, &e) < 0)
		return xstrdup(e.text);
	for (size_t i = 0; i < n; i++)
		sbuf_addf(&out, "%s%s:%s/%s", i ? " " : "", after_how_name(items[i].how), items[i].kind->singular,
			  items[i].name);
	return sbuf_steal(&out);
}

TEST("what a workload waits for is read, or refused with what is allowed")
{
	static const struct {
		const char *text, *want;
	} rows[] = {
		{ "", "" },
		{ "ok:tfjob/prepare", "ok:tfjob/prepare" },
		{ "ok:tfjob/prepare,any:job/clean, notok:pbsjob/7", "ok:tfjob/prepare any:job/clean notok:pbsjob/7" },
		{ "any:jobs.batch/x,any:PyTorchJob/y,any:po/z", "any:job/x any:pytorchjob/y any:pod/z" },
		{ "job/x", "\"job/x\" must be ok:KIND/NAME (has succeeded), notok:KIND/NAME (has failed) or "
			   "any:KIND/NAME (has ended), several with commas" },
		{ "ok", "\"ok\" must be ok:KIND/NAME (has succeeded), notok:KIND/NAME (has failed) or any:KIND/NAME "
			"(has ended), several with commas" },
		{ "ok:job/x,", "ok:job/x" },
		{ "ok:job/x,,any:job/y", "\"\" must be" },
		{ "ok:job", "\"ok:job\" has no name: write ok:KIND/NAME" },
		{ "ok:deployment/web", "\"deployment\" is no kind of workload that ends; there are job, tfjob, "
				       "pytorchjob, paddlejob, mpijob, pbsjob, build, pod" },
		{ "any:thing/x", "\"thing\" is no kind of workload that ends" },
		{ "any:job/X_1", "\"X_1\" cannot be the name of a workload: " },
		{ "any:job/", "\"\" cannot be the name of a workload: " },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		auto_free char *got = parsed(rows[i].text);

		if (strncmp(got, rows[i].want, strlen(rows[i].want)) != 0)
			CHECK_STR(got, rows[i].want);
	}
}

TEST("no more is waited for than can be watched")
{
	auto_sbuf struct sbuf text = SBUF(65536);
	auto_free char *got = NULL;

	for (int i = 0; i <= AFTER_MOST; i++)
		sbuf_addf(&text, "%sany:job/j%d", i ? "," : "", i);
	got = parsed(text.p);
	CHECK_STR(got, "waits for more than 100 workloads");
}

TEST("annotations that nobody understands are named with what is allowed")
{
	static const struct {
		const char *notes, *want;
	} rows[] = {
		{ "{}", "" },
		{ "{'stoker.dev/hold':'user, operator','stoker.dev/slots':'4',"
		  "'stoker.dev/not-before':'2026-11-16T14:00:00+01:00','stoker.dev/after':'any:job/x'}",
		  "" },
		{ "{'stoker.dev/hold':'','stoker.dev/slots':'','stoker.dev/not-before':'','stoker.dev/after':''}", "" },
		{ "{'stoker.dev/hold':'me'}", "metadata.annotations[stoker.dev/hold]: Invalid value: \"me\": must be "
					      "user, operator or system, or several of them with commas" },
		{ "{'stoker.dev/not-before':'tomorrow'}",
		  "metadata.annotations[stoker.dev/not-before]: Invalid value: \"tomorrow\": must be a time such as "
		  "2026-11-16T14:00:00Z" },
		{ "{'stoker.dev/slots':'0'}", "metadata.annotations[stoker.dev/slots]: Invalid value: \"0\": must be a "
					      "whole number from 1 to 1000000" },
		{ "{'stoker.dev/after':'ok:job'}", "metadata.annotations[stoker.dev/after]: Invalid value: \"ok:job\": "
						   "\"ok:job\" has no name: write ok:KIND/NAME" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		auto_free char *text = xasprintf("{'metadata':{'annotations':%s}}", rows[i].notes);
		json_auto_t *obj = sample_json(text);
		struct err e = ERR_INIT;

		work_rules_check(obj, NULL, NULL, &e);
		CHECK_STR(e.kind == ERR_NONE ? "" : e.text, rows[i].want);
		err_clear(&e);
		work_rules_check(obj, obj, NULL, &e);
		CHECK_INT(e.kind, ERR_NONE);
	}
}

TEST("holds are words, and words are holds")
{
	auto_sbuf struct sbuf out = SBUF(64);
	unsigned bits = 0;

	CHECK(hold_parse("system ,user", &bits));
	hold_text(bits, &out);
	CHECK_STR(out.p, "user,system");
	CHECK(!hold_parse("user,after", &bits));
	CHECK_INT(bits, HOLD_WORD_USER);
}

TEST("each kind of workload ends in its own way")
{
	static const struct {
		const char *kind, *status;
		enum workload_end want;
	} rows[] = {
		{ "pod", "{'phase':'Running'}", WORKLOAD_GOES_ON },
		{ "pod", "{'phase':'Succeeded'}", WORKLOAD_ENDED_WELL },
		{ "pod", "{'phase':'Failed'}", WORKLOAD_ENDED_BADLY },
		{ "job", "{'succeeded':1}", WORKLOAD_GOES_ON },
		{ "job", "{'conditions':[{'type':'Complete','status':'True'}]}", WORKLOAD_ENDED_WELL },
		{ "job", "{'conditions':[{'type':'Failed','status':'True'}]}", WORKLOAD_ENDED_BADLY },
		{ "job", "{'conditions':[{'type':'Failed','status':'False'}]}", WORKLOAD_GOES_ON },
		{ "tfjob", "{'conditions':[{'type':'Succeeded','status':'True'}]}", WORKLOAD_ENDED_WELL },
		{ "mpijob", "{'conditions':[{'type':'Failed','status':'True'}]}", WORKLOAD_ENDED_BADLY },
		{ "pbsjob", "{'state':'R'}", WORKLOAD_GOES_ON },
		{ "pbsjob", "{'state':'C','exitStatus':0}", WORKLOAD_ENDED_WELL },
		{ "pbsjob", "{'state':'C','exitStatus':271}", WORKLOAD_ENDED_BADLY },
		{ "pbsjob", "{'state':'C'}", WORKLOAD_ENDED_BADLY },
		{ "build", "{'phase':'Succeeded'}", WORKLOAD_ENDED_WELL },
		{ "deployment", "{'conditions':[{'type':'Complete','status':'True'}]}", WORKLOAD_GOES_ON },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		auto_free char *text = xasprintf("{'status':%s}", rows[i].status);
		json_auto_t *obj = sample_json(text);

		CHECK_INT(workload_end(workload_named(str_of(rows[i].kind)), obj), rows[i].want);
	}
}

TEST("a workload has ended by whatever version it is read")
{
	json_auto_t *obj = sample_json("{'status':{'conditions':[{'type':'Failed','status':'True'}]}}");

	CHECK_INT(workload_end(&kind_tfjob_v1alpha2, obj), WORKLOAD_ENDED_BADLY);
}
