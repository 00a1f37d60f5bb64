// SPDX-License-Identifier: Apache-2.0
#include "cli/follow_say.h"

#include "follow_text.h"

TEST("each change of a replica is told once")
{
	struct follow_state s = { 0 };
	struct follow_replica *r;
	auto_sbuf struct sbuf out = SBUF(1 << 16);

	follow_job(&s, "");
	follow_pod(&s, "worker", 0, "w", "{'phase':'Pending'}", false);
	r = s.replicas[0];
	follow_say_replica(r, false, &out); /* nothing to say yet */
	CHECK_INT(out.n, 0);
	follow_pod(&s, "worker", 0, "w", FOLLOW_WAITS, false);
	follow_say_replica(r, false, &out);
	follow_say_replica(r, false, &out);
	follow_pod(&s, "worker", 0, "w", FOLLOW_RUNS, false);
	follow_say_replica(r, false, &out);
	follow_pod(&s, "worker", 0, "w", FOLLOW_ENDED("Running", "4"), false);
	follow_say_replica(r, false, &out);
	follow_job(&s, "'replicas':{'worker-0':{'restarts':1}}");
	follow_pod(&s, "worker", 0, "w", FOLLOW_ENDED("Running", "4"), false);
	follow_say_replica(r, false, &out);
	follow_pod(&s, "worker", 0, "w", FOLLOW_RUNS, false);
	follow_say_replica(r, false, &out);
	follow_pod(&s, "worker", 0, "w", FOLLOW_ENDED("Failed", "3"), false);
	follow_say_replica(r, false, &out);
	CHECK_STR(out.p, "worker-0 waits: no room\n"
			 "worker-0 runs on vm with 1 GPU\n"
			 "worker-0 is to be restarted: exit status 4\n"
			 "worker-0 runs again (restart 1) on vm with 1 GPU\n"
			 "worker-0 failed: exit status 3\n");
	follow_state_done(&s);
}

TEST("each change of the job is told once, its end by the verdict")
{
	struct follow_state s = { 0 };
	auto_sbuf struct sbuf out = SBUF(1 << 16);

	follow_job(&s, "");
	follow_say_job(&s, false, &out);
	follow_say_job(&s, false, &out);
	follow_job(&s, FOLLOW_CONDITION("Running", ""));
	follow_say_job(&s, false, &out);
	follow_job(&s, FOLLOW_CONDITION("Succeeded", ""));
	follow_say_job(&s, false, &out);
	CHECK_STR(out.p, "pytorchjob/mnist is pending\npytorchjob/mnist is running\n");
	follow_state_done(&s);
}

/* Texts of JSON lines without their times, which are now. */
static json_t *parsed(const struct sbuf *out)
{
	json_t *v = json_loads(out->p ? out->p : "", JSON_DISABLE_EOF_CHECK, NULL);

	CHECK(clock_parse_rfc3339(jsonx_str_or(v, "time", ""), &(int64_t){ 0 }));
	json_object_del(v, "time");
	return v;
}
#define CHECK_JSON(out_, want_)                                                                                        \
	do {                                                                                                           \
		json_auto_t *got_json_ = parsed(out_);                                                                 \
		json_auto_t *want_json_ = about_json(want_);                                                           \
		auto_sbuf struct sbuf text_ = SBUF(1 << 16);                                                           \
		jsonx_dump(got_json_, &text_);                                                                         \
		if (!jsonx_equal(got_json_, want_json_))                                                               \
			test_fail(__FILE__, __LINE__, "is %s", text_.p);                                               \
	} while (0)

TEST("as JSON every line is an object that says what it is")
{
	struct follow_state s = { 0 };
	struct follow_replica *r;
	auto_sbuf struct sbuf job = SBUF(1 << 16);
	auto_sbuf struct sbuf replica = SBUF(1 << 16);
	auto_sbuf struct sbuf numbers = SBUF(1 << 16);
	auto_sbuf struct sbuf log = SBUF(1 << 16);
	auto_sbuf struct sbuf warning = SBUF(1 << 16);
	auto_sbuf struct sbuf end = SBUF(1 << 16);

	follow_job(&s, FOLLOW_CONDITION("Running", ""));
	r = follow_pod(&s, "worker", 0, "w", FOLLOW_ENDED("Failed", "3"), false);
	follow_print(r, "epoch 1/3 loss 2.5 lr nan", 20);
	follow_print(r, "epoch 2/3 loss 1.5", 10);
	follow_say_job(&s, true, &job);
	CHECK_JSON(&job, "{'type':'job','kind':'PyTorchJob','namespace':'lab','name':'mnist','phase':'Running'}");
	follow_say_replica(r, true, &replica);
	CHECK_JSON(&replica,
		   "{'type':'replica','replica':'worker-0','pod':'mnist-worker-0','phase':'Failed','restarts':0,"
		   "'gpus':1,'node':'vm','reason':'exit status 3','exitStatus':3}");
	follow_say_numbers(r, true, &numbers);
	CHECK_JSON(&numbers, "{'type':'measurement','replica':'worker-0','epoch':2,'of':3,'values':{'loss':1.5},"
			     "'secondsLeft':10}");
	follow_say_log(r, STR("a \"quoted\" \xff line"), FOLLOW_NOW, true, &log);
	CHECK(strstr(log.p, "\"text\":\"a \\\"quoted\\\" \xef\xbf\xbd line\""));
	follow_state_warning(&s, "no room");
	follow_say_warning(&s, true, &warning);
	CHECK_JSON(&warning, "{'type':'warning','text':'no room'}");
	follow_job(&s, "'completionTime':'2025-12-31T23:59:50Z'," FOLLOW_CONDITION("Failed", "bad luck"));
	follow_say_end(&s, follow_status(&s), true, &end);
	CHECK_JSON(&end,
		   "{'type':'end','phase':'Failed','exitStatus':3,'seconds':50,'message':'bad luck','epoch':2,'of':3,"
		   "'values':{'loss':1.5}}");
	follow_state_done(&s);
}

TEST("lines of a log carry their replica and nothing that writes elsewhere")
{
	struct follow_state s = { 0 };
	auto_sbuf struct sbuf out = SBUF(1 << 16);

	follow_job(&s, "");
	follow_say_log(follow_pod(&s, "worker", 1, "w", FOLLOW_RUNS, false), STR("a\tb\033[2Jc"), FOLLOW_NOW, false,
		       &out);
	CHECK_STR(out.p, "[worker-1] a\tb [2Jc\n");
	follow_state_done(&s);
}

TEST("the end says what became of the job and where more is")
{
	struct follow_state s = { 0 };
	auto_sbuf struct sbuf good = SBUF(1 << 16);
	auto_sbuf struct sbuf bad = SBUF(1 << 16);
	struct follow_replica *r;

	follow_job(&s, "'completionTime':'2025-12-31T23:59:50Z'," FOLLOW_CONDITION("Succeeded", ""));
	r = follow_pod(&s, "worker", 0, "w", FOLLOW_ENDED("Succeeded", "0"), false);
	follow_print(r, "epoch 2/2 loss 0.5", 10);
	CHECK_INT(follow_status(&s), 0);
	follow_say_end(&s, 0, false, &good);
	CHECK_STR(good.p, "pytorchjob/mnist succeeded after 50s: epoch 2/2 loss 0.5\n"
			  "`stoker logs mnist` shows what it printed, `stoker plot mnist` draws its numbers.\n");
	follow_state_done(&s);
	s = (struct follow_state){ 0 };
	follow_job(&s, "'completionTime':'2025-12-31T23:59:50Z'," FOLLOW_CONDITION(
			       "Failed", "worker-0 exited with code 7; its last lines: one\\ntwo"));
	follow_say_end(&s, 7, false, &bad);
	CHECK_STR(bad.p, "pytorchjob/mnist failed after 50s\n"
			 "  worker-0 exited with code 7; its last lines: one\n"
			 "  two\n"
			 "`stoker logs mnist` shows what it printed.\n");
	follow_state_done(&s);
}

TEST("the exit status is that of the cause")
{
	static const struct {
		const char *status, *pod;
		bool deleted;
		int code;
	} rows[] = {
		{ FOLLOW_CONDITION("Succeeded", ""), FOLLOW_ENDED("Failed", "3"), false, 0 },
		{ FOLLOW_CONDITION("Failed", ""), FOLLOW_ENDED("Failed", "3"), false, 3 },
		{ FOLLOW_CONDITION("Failed", ""), FOLLOW_RUNS, false, 1 },
		{ FOLLOW_CONDITION("Failed", "it was active longer than specified deadline"), FOLLOW_RUNS, false, 124 },
		{ "", FOLLOW_RUNS, true, 143 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct follow_state s = { 0 };

		follow_job(&s, rows[i].status);
		follow_pod(&s, "worker", 0, "w", rows[i].pod, false);
		if (rows[i].deleted)
			follow_state_job(&s, NULL);
		CHECK_INT(follow_status(&s), rows[i].code);
		follow_state_done(&s);
	}
}
