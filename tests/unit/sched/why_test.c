// SPDX-License-Identifier: Apache-2.0
/* Golden sentences, on machines that are small enough to check them by hand. */
#include "why_lab.h"

TEST("why: no room, with the one that is waited for and the expected start")
{
	struct lab l = lab_new(1, 4, "64");

	add(&l, &(struct job){ .name = "a1", .gpus = 2, .minutes = 260 });
	pass(&l);
	add(&l, &(struct job){ .name = "b", .gpus = 4, .minutes = 60 });
	add(&l, &(struct job){ .name = "c", .gpus = 4, .minutes = 60 });
	add(&l, &(struct job){ .name = "d", .gpus = 3, .minutes = 60 });
	pass(&l);
	CHECK_STR(ask(&l, "b"),
		  "first in queue batch; needs 4 GPUs on one node, 2 are free; job a1 ends by 14:20 at the "
		  "latest, expected start 14:20 | ask for 2 GPUs instead; or `stoker gpus` shows who has "
		  "the GPUs");
	CHECK_STR(
		ask(&l, "d"),
		"third in queue batch; needs 3 GPUs on one node, 2 are free; job c runs before it, until 16:20 at the "
		"latest, expected start 16:20 | ask for 2 GPUs instead; or `stoker gpus` shows who has "
		"the GPUs");
	CHECK_STR(ask(&l, "a1"), "runs since 10:00; ends by 14:20 at the latest | ");
	lab_done(&l);
}

TEST("why: who has no walltime makes a start unknown")
{
	struct lab l = lab_new(2, 4, "64");

	add(&l, &(struct job){ .name = "a", .user = "ben", .gpus = 3 });
	add(&l, &(struct job){ .name = "b", .user = "ben", .gpus = 4 });
	pass(&l);
	add(&l, &(struct job){ .name = "c", .gpus = 2 });
	pass(&l);
	CHECK_STR(
		ask(&l, "c"),
		"first in queue batch; needs 2 GPUs on one node, the best has 1 free; when it can start is not known: "
		"the 2 jobs that stand in the way have no walltime | ask for 1 GPU instead; or `stoker gpus` "
		"shows who has the GPUs");
	CHECK_STR(ask(&l, "b"), "runs since 10:00; it has no walltime | ");
	lab_done(&l);
}

TEST("why: room that is kept for another, and how short a job could have it")
{
	struct lab l = lab_new(1, 4, "64");

	add(&l, &(struct job){ .name = "a", .user = "ben", .gpus = 2, .minutes = 40 });
	pass(&l);
	add(&l,
	    &(struct job){
		    .name = "big", .user = "ben", .gpus = 4, .minutes = 60, .priority = 1, .never_preempts = true });
	add(&l, &(struct job){ .name = "small", .gpus = 2 });
	add(&l, &(struct job){ .name = "long", .gpus = 2, .minutes = 50 });
	pass(&l);
	CHECK_STR(
		ask(&l, "small"),
		"second in queue batch; there is room for it, but that is kept for a job of ben, which "
		"starts by 10:40 and ends by 11:40 at the latest, expected start 11:40 | give a walltime: a job of at "
		"most 40 minutes could start now");
	CHECK_STR(ask(&l, "long"),
		  "third in queue batch; there is room for it, but that is kept for a job of ben, which "
		  "starts by 10:40 and ends by 11:40 at the latest, expected start 11:40 | give a shorter walltime: a "
		  "job "
		  "of at most 40 minutes could start now");
	lab_done(&l);
}

TEST("why: who waits behind work without a walltime, and long spans")
{
	struct lab l = lab_new(1, 4, "64");

	add(&l, &(struct job){ .name = "a", .gpus = 2, .minutes = 239 });
	pass(&l);
	add(&l, &(struct job){ .name = "big", .gpus = 4, .minutes = 60 });
	add(&l, &(struct job){ .name = "small", .gpus = 1 });
	add(&l, &(struct job){ .name = "last", .gpus = 4, .minutes = 60 });
	pass(&l);
	CHECK_STR(ask(&l, "small"),
		  "second in queue batch; there is room for it, but that is kept for job big, which starts by 13:59 "
		  "and ends by 14:59 at the latest, expected start 14:59 | give a walltime: a job of at most 3 hours "
		  "59 minutes could start "
		  "now");
	CHECK_STR(ask(&l, "last"),
		  "third in queue batch; needs 4 GPUs on one node, 2 are free; job a ends by 13:59 at the latest; when "
		  "it can start is not known: job small starts before it and has no walltime | ask for 2 GPUs instead; "
		  "or `stoker gpus` "
		  "shows who has the GPUs");
	lab_done(&l);
}

TEST("why: held, not before, queues that are stopped or not there")
{
	static const struct {
		struct job job;
		const char *answer;
	} rows[] = {
		{ { .name = "u", .holds = HOLD_USER },
		  "in queue batch; held by its user | `stoker release pod/u -n lab` releases it" },
		{ { .name = "o", .holds = HOLD_OPERATOR },
		  "in queue batch; held by an operator | an operator: `stoker release --operator pod/o -n lab` "
		  "releases "
		  "it" },
		{ { .name = "y", .holds = HOLD_SYSTEM },
		  "in queue batch; held by the system | an admin: `kubectl annotate pod/y -n lab stoker.dev/hold-` "
		  "releases it" },
		{ { .name = "w", .holds = HOLD_AFTER, .after = "waits until job/x has ended" },
		  "in queue batch; waits until job/x has ended | it goes on by itself when what it waits for has ended "
		  "as it asked" },
		{ { .name = "z", .holds = HOLD_AFTER, .after = "can never start: it waits for z", .stuck = true },
		  "in queue batch; can never start: it waits for z | `kubectl annotate pod/z -n lab stoker.dev/after-` "
		  "lets it start without waiting for others; or a new workload of the name that it waits for is "
		  "another chance; or `stoker kill pod/z -n lab` gives it up" },
		{ { .name = "t", .not_before = T0 + 90 * MINUTE },
		  "first in queue batch; not to start before 11:30, expected start 11:30 | `kubectl annotate pod/t -n "
		  "lab stoker.dev/not-before-` lets it start earlier" },
		{ { .name = "d", .not_before = T0 + 24 * 60 * MINUTE },
		  "second in queue batch; not to start before 2026-01-02 10:00, expected start 2026-01-02 10:00 | "
		  "`kubectl annotate pod/d -n lab stoker.dev/not-before-` lets it start earlier" },
		{ { .name = "s", .queue = "night" },
		  "first in queue night; queue night is stopped | an admin: `kubectl patch queue night --type merge -p "
		  "'{\"spec\":{\"started\":true}}'` starts it; or `kubectl label pod s -n lab --overwrite "
		  "stoker.dev/queue=batch` moves it to queue batch" },
		{ { .name = "n", .queue = "nigt" },
		  "there is no queue nigt | `kubectl label pod n -n lab --overwrite stoker.dev/queue=batch` moves it "
		  "to "
		  "queue batch" },
		{ { .name = "m", .pods = 2, .gpus = 3 },
		  "third in queue batch; needs 6 GPUs for its 2 pods at once, all nodes together have 4: it can "
		  "never start here | ask for at most 1 pod instead of 2; or `stoker describe node/NAME` shows what a "
		  "node has" },
		{ { .name = "i", .gpus = 5 },
		  "fourth in queue batch; needs 5 GPUs on one node, the largest node has 4 GPUs: it can never start "
		  "here "
		  "| ask for no more than the largest node has, or split it into several pods; or `stoker describe "
		  "node/NAME` shows what a node has" },
	};
	struct lab l = lab_new(1, 4, "64");

	add_queue(&l, "night", "{'started':false}");
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		add(&l, &rows[i].job);
	pass(&l);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		CHECK_STR(ask(&l, rows[i].job.name), rows[i].answer);
	lab_done(&l);
}

TEST("why: a limit, a share, a gang that is not whole")
{
	struct lab l = lab_new(1, 8, "64");
	struct work *gang;

	add_queue(&l, "class", "{'limits':{'perUser':{'gpus':3}}}");
	add_queue(&l, "guest", "{'borrowing':false}");
	add(&l, &(struct job){ .name = "a", .gpus = 2, .minutes = 60, .queue = "class" });
	pass(&l);
	add(&l, &(struct job){ .name = "b", .gpus = 2, .queue = "class" });
	add(&l, &(struct job){ .name = "c", .gpus = 4, .queue = "class" });
	add(&l, &(struct job){ .name = "g", .gpus = 4, .queue = "guest" });
	gang = add(&l, &(struct job){ .name = "lab/tfjobs/x", .pods = 2, .gpus = 1 });
	work_gone(l.w, gang, "lab/tfjobs/x-1", l.now);
	pass(&l);
	CHECK_STR(ask(&l, "b"),
		  "first in queue class; queue class allows each user 3 GPUs, anna has 2 and this needs 2; job a ends "
		  "by 11:00 at the latest, expected start 11:00 | ask for at most 1 GPU in all, which is within the "
		  "limit; or it goes on when other work "
		  "of that user ends");
	CHECK_STR(ask(&l, "c"),
		  "second in queue class; queue class allows each user 3 GPUs, anna has 2 and this needs 4: "
		  "it can never start in this queue | ask for at most 3 GPUs in all; or an admin raises "
		  "spec.limits of queue class; or `kubectl label pod c -n lab --overwrite "
		  "stoker.dev/queue=batch` moves it to queue batch");
	CHECK_STR(
		ask(&l, "g"),
		"first in queue guest; it alone is more than the share of queue guest, which may not borrow from "
		"others: it "
		"can never start in this queue | an "
		"admin: `kubectl patch queue guest --type merge -p '{\"spec\":{\"borrowing\":true}}'` lets it use what "
		"others leave idle; or `kubectl label pod g -n lab --overwrite stoker.dev/queue=batch` moves it to "
		"queue batch");
	CHECK_STR(ask(&l, "lab/tfjobs/x"),
		  "in queue batch; 1 of the 2 pods of gang tfjobs/x are there | `stoker events` "
		  "shows why pods of it could not be made");
	lab_done(&l);
}

TEST("why: whose end lifts a limit, a quota, a share; and who makes it unknown")
{
	struct lab l = lab_new(1, 8, "64");

	add_queue(&l, "few", "{'limits':{'total':{'gpus':2}}}");
	add_queue(&l, "one", "{'limits':{'perUser':{'running':1}}}");
	add_queue(&l, "lent", "{'cohort':'c','quota':{'gpus':1}}");
	add_queue(&l, "lends", "{'cohort':'c','quota':{'gpus':1}}");
	add_queue(&l, "guest", "{'borrowing':false,'weight':3}");
	add(&l, &(struct job){ .name = "f", .gpus = 2, .minutes = 20, .queue = "few" });
	add(&l, &(struct job){ .name = "o", .queue = "one" });
	add(&l, &(struct job){ .name = "p", .user = "ben", .queue = "one", .minutes = 5 });
	add(&l, &(struct job){ .name = "q", .gpus = 2, .minutes = 40, .queue = "lent" });
	add(&l, &(struct job){ .name = "s", .gpus = 2, .minutes = 50, .queue = "guest" });
	pass(&l);
	add(&l, &(struct job){ .name = "f2", .gpus = 1, .minutes = 20, .queue = "few" });
	add(&l, &(struct job){ .name = "o2", .queue = "one" });
	add(&l, &(struct job){ .name = "q2", .gpus = 1, .minutes = 9, .queue = "lent" });
	add(&l, &(struct job){ .name = "s2", .gpus = 2, .minutes = 9, .queue = "guest" });
	pass(&l);
	CHECK(strstr(ask(&l, "f2"), "needs 1; job f ends by 10:20 at the latest, expected start 10:20") != NULL);
	CHECK(strstr(ask(&l, "o2"), "needs 1; when it can start is not known: job o, which stands in the way, has no "
				    "walltime") != NULL);
	CHECK(strstr(ask(&l, "q2"), "needs 1; job q ends by 10:40 at the latest, expected start 10:40") != NULL);
	CHECK(strstr(ask(&l, "s2"), "from others; job s ends by 10:50 at the latest, expected start 10:50") != NULL);
	lab_done(&l);
}

TEST("why: reservations say their ends, and conditions the start that is reserved")
{
	static const char *const nodes[] = { "n0", NULL };
	struct lab l = lab_new(1, 4, "64");
	auto_sbuf struct sbuf condition = SBUF(1024);

	world_block(l.w, "course", nodes, l.now + 60 * MINUTE, l.now + 120 * MINUTE);
	add(&l, &(struct job){ .name = "a", .gpus = 2, .minutes = 30 });
	add(&l, &(struct job){ .name = "long", .gpus = 1, .minutes = 90 });
	add(&l, &(struct job){ .name = "big", .gpus = 4, .minutes = 20 });
	pass(&l);
	CHECK_STR(ask(&l, "long"),
		  "first in queue batch; there is room for it, but that is kept for reservation course from 11:00 to "
		  "12:00, and its walltime is longer, expected start 12:00 | give a shorter walltime: a job of at most "
		  "30 minutes could start now; or an admin: `stoker reserve delete course` gives that room to everyone "
		  "again");
	why_condition(
		&(struct why_view){ .world = l.w, .work = world_find(l.w, "big"), .now_ms = l.now, .name = name_of },
		&condition);
	CHECK_STR(condition.p, "0/1 nodes are available: 1 Insufficient nvidia.com/gpu. (job a ends by 10:30 at the "
			       "latest, expected start 10:30)");
	world_block(l.w, "course", nodes, l.now + 60 * MINUTE, TIME_UNKNOWN);
	pass(&l);
	CHECK(strstr(ask(&l, "long"), "course from 11:00 on, and its walltime is longer; when it can start is not "
				      "known: reservation course has no end") != NULL);
	lab_done(&l);
}

TEST("why: nodes that are closed or refuse it, and queues that not everybody may use")
{
	struct lab l = lab_new(1, 4, "64");
	json_t *node = json_array_get(l.nodes, 0);

	add_queue(&l, "acl", "{'acl':{'users':['ben']}}");
	add_queue(&l, "again", "{'type':'Route','destinations':['batch']}");
	add_queue(&l, "shut", "{'started':false}");
	add(&l, &(struct job){ .name = "a", .gpus = 1 });
	add(&l, &(struct job){ .name = "b", .queue = "shut" });
	jsonx_set_new(node, "spec.unschedulable", json_true());
	world_set_node(l.w, node);
	pass(&l);
	CHECK_STR(ask(&l, "a"), "first in queue batch; 0/1 nodes are available: 1 node(s) were unschedulable | an "
				"admin: `stoker drain n0 --undo` lets pods start on node n0 again");
	CHECK(strstr(ask(&l, "b"), "moves it to queue batch") != NULL);
	jsonx_set_new(node, "spec", sample_json("{'taints':[{'key':'x','value':'y','effect':'NoSchedule'}]}"));
	world_set_node(l.w, node);
	pass(&l);
	CHECK(strstr(ask(&l, "a"), "taint {x: y}: it can never start here | tolerate the taint, or ask for labels that "
				   "a node has") != NULL);
	lab_done(&l);
}

TEST("why: gangs say how many of their pods have room")
{
	struct lab l = lab_new(2, 4, "64");

	add(&l, &(struct job){ .name = "a", .gpus = 3, .minutes = 30 });
	pass(&l);
	add(&l, &(struct job){ .name = "gang", .pods = 3, .gpus = 2 });
	add(&l, &(struct job){ .name = "wide", .pods = 2, .gpus = 4 });
	pass(&l);
	CHECK_STR(
		ask(&l, "gang"),
		"first in queue batch; needs room for 3 pods at once with 2 GPUs each, there is room for 2; job a ends "
		"by 10:30 at the latest, expected start 10:30 | with 2 pods instead of 3 it could start now; or "
		"`stoker gpus` shows who has the GPUs");
	lab_done(&l);
}

TEST("why: what is short besides GPUs")
{
	struct lab l = lab_new(2, 4, "8");

	add(&l, &(struct job){ .name = "a", .gpus = 4, .cpus = 2, .minutes = 30 });
	add(&l, &(struct job){ .name = "b", .gpus = 1, .cpus = 7, .minutes = 60 });
	pass(&l);
	add(&l, &(struct job){ .name = "both", .gpus = 2, .cpus = 4 });
	add(&l, &(struct job){ .name = "cpu", .cpus = 7 });
	pass(&l);
	CHECK_STR(ask(&l, "both"),
		  "first in queue batch; needs 4 CPUs and 2 GPUs on one node; n0, the nearest to it, has only 0 GPUs "
		  "free; "
		  "job a ends by 10:30 at the latest, expected start 10:30 | `stoker gpus` shows who has the GPUs");
	/* 6 are free, but two of them are kept for the first one. */
	CHECK_STR(ask(&l, "cpu"),
		  "second in queue batch; needs 7 CPUs on one node, the best has 6 free; job b ends by 11:00 at the "
		  "latest, expected start 11:00 | ask for 4 CPUs instead");
	lab_done(&l);
}

TEST("why: who is short of CPUs alone is not sent to see who has the GPUs")
{
	struct lab l = lab_new(1, 4, "8");

	add(&l, &(struct job){ .name = "a", .cpus = 6, .minutes = 30 });
	pass(&l);
	add(&l, &(struct job){ .name = "b", .gpus = 1, .cpus = 4 });
	pass(&l);
	CHECK_STR(ask(&l, "b"),
		  "first in queue batch; needs 4 CPUs on one node, 2 are free; job a ends by 10:30 at the latest, "
		  "expected start 10:30 | ask for 2 CPUs instead");
	lab_done(&l);
}

TEST("why: a gang larger than the empty machine can never start; one that waits for a node to come back can")
{
	struct lab l = lab_new(2, 2, "64");
	json_auto_t *away = json_deep_copy(json_array_get(l.nodes, 1));

	add(&l, &(struct job){ .name = "six", .pods = 6, .gpus = 1 });
	add(&l, &(struct job){ .name = "four", .pods = 4, .gpus = 1 });
	jsonx_set_new(away, "spec.unschedulable", json_true());
	json_array_set(l.nodes, 1, away);
	world_set_node(l.w, away);
	pass(&l);
	CHECK_STR(ask(&l, "six"),
		  "first in queue batch; needs 6 GPUs for its 6 pods at once, all nodes together have 4: it can never "
		  "start here | ask for at most 4 pods instead of 6; or `stoker describe node/NAME` shows what a node "
		  "has");
	CHECK(strstr(ask(&l, "four"), "never") == NULL);
	CHECK_STR(ask(&l, "four"),
		  "second in queue batch; needs 4 GPUs for its 4 pods at once, the nodes that take pods now together "
		  "have 2 | an admin: `stoker drain n1 --undo` lets pods start on node n1 again");
	jsonx_set_new(away, "spec.unschedulable", json_false());
	jsonx_set_new(away, "spec.taints", json_pack("[{s:s,s:s}]", "key", "lab", "effect", "NoSchedule"));
	world_set_node(l.w, away);
	pass(&l);
	CHECK_STR(ask(&l, "four"),
		  "second in queue batch; needs room for 4 pods at once with 1 GPU each, and nodes that take such pods "
		  "have room for 2 when they are empty | ask for at most 2 pods instead of 4; or `kubectl describe "
		  "nodes` shows the labels and taints of the others; or `stoker gpus` shows who has the GPUs");
	lab_done(&l);
}

TEST("why: a gang of which no pod has room says how many it needs room for")
{
	struct lab l = lab_new(2, 2, "64");

	add(&l, &(struct job){ .name = "all", .pods = 2, .gpus = 2, .minutes = 30 });
	pass(&l);
	add(&l, &(struct job){ .name = "four", .pods = 4, .gpus = 1, .minutes = 30 });
	pass(&l);
	CHECK_STR(ask(&l, "four"),
		  "first in queue batch; needs room for 4 pods at once with 1 GPU each, there is room for none; job "
		  "all ends by 10:30 at the latest, expected start 10:30 | `stoker gpus` shows who has the GPUs");
	lab_done(&l);
}

TEST("why: what is held until it is released, and a time has come, says both")
{
	struct lab l = lab_new(1, 2, "64");

	add(&l, &(struct job){ .name = "a",
			       .gpus = 1,
			       .holds = HOLD_USER | HOLD_AFTER,
			       .after = "waits until job/p has succeeded",
			       .not_before = T0 + 60 * MINUTE });
	pass(&l);
	CHECK_STR(ask(&l, "a"),
		  "in queue batch; held by its user; waits until job/p has succeeded; not to start before 11:00 | "
		  "`stoker release pod/a -n lab` releases it; or it goes on by itself when what it waits for has ended "
		  "as it asked and its time has come; or `kubectl annotate pod/a -n lab stoker.dev/not-before-` lets "
		  "it start earlier");
	l.now += 61 * MINUTE;
	CHECK(!strstr(ask(&l, "a"), "11:00"));
	lab_done(&l);
}

TEST("why: only who is held by somebody is held, and more slots help only where nothing else is in the way")
{
	static const struct {
		unsigned holds;
		const char *queue, *state, *answer;
	} rows[] = {
		{ HOLD_USER | HOLD_SLOT, "batch", "held",
		  "in queue batch; held by its user; its array runs as many jobs at a time as it may | `stoker release "
		  "pod/a -n lab` releases it; or a higher slot limit lets more of its array run at a time" },
		{ HOLD_SLOT, "batch", "waiting",
		  "in queue batch; its array runs as many jobs at a time as it may | a higher slot limit lets more of "
		  "its array run at a time" },
		{ HOLD_SLOT, "few", "waiting", "in queue few; its array runs as many jobs at a time as it may | " },
		{ HOLD_AFTER, "batch", "waiting",
		  "in queue batch; waits for another workload | it goes on by itself when what it waits for has ended "
		  "as it asked" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct lab l = lab_new(1, 2, "64");
		struct work *a;

		add_queue(&l, "few", "{'limits':{'total':{'running':1}}}");
		add(&l, &(struct job){ .name = "one", .queue = "few" });
		a = add(&l, &(struct job){ .name = "a", .queue = rows[i].queue, .holds = rows[i].holds });
		pass(&l);
		CHECK_STR(ask(&l, "a"), rows[i].answer);
		CHECK_STR(why_state(&(struct why_view){ .world = l.w, .work = a, .now_ms = l.now }), rows[i].state);
		lab_done(&l);
	}
}

TEST("why: what is late by long promises nothing")
{
	struct lab l = lab_new(1, 2, "64");

	add(&l, &(struct job){ .name = "a", .gpus = 2, .minutes = 30 });
	pass(&l);
	add(&l, &(struct job){ .name = "b", .gpus = 2, .minutes = 30 });
	pass(&l);
	/* A moment late, because it is still ending. */
	l.now += 31 * MINUTE;
	CHECK_STR(ask(&l, "b"), "first in queue batch; needs 2 GPUs on one node, none is free, expected to start at "
				"any moment | `stoker gpus` shows who has the GPUs");
	/* As when somebody has set the clock: the node goes on counting. */
	l.now += 60 * MINUTE;
	world_touch(l.w);
	pass(&l);
	CHECK_STR(ask(&l, "a"), "runs since 10:00; it should have ended by 10:30 | ");
	CHECK_STR(ask(&l, "b"), "first in queue batch; needs 2 GPUs on one node, none is free; when it can start is "
				"not known: job a should have ended by 10:30 | `stoker gpus` shows who has the GPUs");
	lab_done(&l);
}

TEST("why: only who has what a limit counts stands in the way, and only help that helps is advised")
{
	struct lab l = lab_new(1, 4, "64");

	add_queue(&l, "few", "{'limits':{'total':{'gpus':2}}}");
	add_queue(&l, "a", "{'cohort':'c','quota':{'gpus':2}}");
	add_queue(&l, "b", "{'cohort':'c','quota':{'gpus':2}}");
	add(&l, &(struct job){ .name = "one", .gpus = 2, .queue = "few" });
	add(&l, &(struct job){ .name = "none", .minutes = 10, .queue = "few" });
	add(&l, &(struct job){ .name = "two", .gpus = 1, .queue = "few" });
	add(&l, &(struct job){ .name = "x", .gpus = 2, .minutes = 10, .queue = "a" });
	add(&l, &(struct job){ .name = "y", .gpus = 3, .minutes = 10, .queue = "b" });
	pass(&l);
	CHECK_STR(ask(&l, "two"),
		  "first in queue few; queue few allows 2 GPUs in all, 2 in use and this needs 1; when it can start is "
		  "not known: job one, which stands in the way, has no walltime | it goes on when other work of the "
		  "queue ends");
	/* The machine has no room either. */
	CHECK_STR(ask(&l, "y"),
		  "first in queue b; cohort c has 4 GPUs in all, of which 2 are in use, and this needs 3; job x ends "
		  "by 10:10 at the latest; when it can start is not known | it goes on when other work of the cohort "
		  "ends");
	lab_done(&l);
}

TEST("why: what a limit leaves is kept for who has waited long")
{
	struct lab l = lab_new(1, 8, "64");

	add_queue(&l, "few", "{'limits':{'total':{'gpus':4}}}");
	add(&l, &(struct job){ .name = "a", .gpus = 1, .minutes = 120, .queue = "few" });
	pass(&l);
	add(&l, &(struct job){ .name = "big", .gpus = 4, .minutes = 60, .queue = "few" });
	pass(&l);
	l.now += 60 * MINUTE;
	add(&l, &(struct job){ .name = "b", .gpus = 1, .queue = "few" });
	pass(&l);
	CHECK_STR(
		ask(&l, "big"),
		"first in queue few; queue few allows 4 GPUs in all, 1 in use and this needs 4; job a ends by 12:00 at "
		"the latest, expected start 12:00 | ask for at most 3 GPUs in all, which is within the limit; or it "
		"goes on when other work of the queue ends");
	CHECK_STR(ask(&l, "b"),
		  "second in queue few; what the limits of queue few leave is kept for job big, which has waited long "
		  "and for which there is enough by 12:00; job big runs before it, until 13:00 at the latest, expected "
		  "start 13:00 | give a walltime: a job of at most 60 minutes could start now");
	lab_done(&l);
}

TEST("why: cards that no node has, and parts of cards")
{
	struct lab l = lab_new(1, 2, "64");

	add(&l, &(struct job){ .name = "a", .gpus = 1, .model = "h100" });
	pass(&l);
	CHECK_STR(ask(&l, "a"), "first in queue batch; needs 1 GPU of model h100, and no node has such: it can never "
				"start here | `stoker gpus` shows which GPUs there are");
	lab_done(&l);
}

TEST("why: more than a quota, and what may be borrowed, can never start")
{
	struct lab l = lab_new(1, 8, "64");

	add_queue(&l, "a", "{'quota':{'gpus':2},'cohort':'c','borrowingLimit':{'gpus':1}}");
	add_queue(&l, "b", "{'quota':{'gpus':4},'cohort':'c'}");
	add_queue(&l, "own", "{'quota':{'gpus':2}}");
	add(&l, &(struct job){ .name = "j", .queue = "a", .gpus = 4 });
	add(&l, &(struct job){ .name = "k", .queue = "b", .gpus = 7 });
	add(&l, &(struct job){ .name = "m", .queue = "own", .gpus = 3 });
	pass(&l);
	CHECK(strstr(ask(&l, "j"), "queue a may use 3 GPUs with what it may borrow and this needs 4: it can never "
				   "start in this queue | ask for at most 3 GPUs; or an admin raises "
				   "spec.borrowingLimit of queue a; or ") != NULL);
	CHECK(strstr(ask(&l, "k"), "cohort c has 6 GPUs in all and this needs 7: it can never start in this queue") !=
	      NULL);
	CHECK(strstr(ask(&l, "m"), "queue own may use 2 GPUs, its quota, and this needs 3: it can never start") !=
	      NULL);
	lab_done(&l);
}

TEST("why: nodes that somebody wants, or has, for himself")
{
	struct lab l = lab_new(1, 4, "8");

	add(&l, &(struct job){ .name = "a", .minutes = 30 });
	pass(&l);
	add(&l, &(struct job){ .name = "alone", .alone = true, .minutes = 10 });
	add(&l, &(struct job){ .name = "two", .pods = 2, .alone = true });
	pass(&l);
	CHECK_STR(
		ask(&l, "alone"),
		"first in queue batch; needs a node for itself, and none is empty; job a ends by 10:30 at the latest, "
		"expected start 10:30 | ");
	CHECK_STR(ask(&l, "two"),
		  "second in queue batch; needs 2 nodes for itself for its 2 pods at once, all nodes "
		  "together have 1: it can never start here | ask for at most 1 pod instead of 2; or `stoker "
		  "describe node/NAME` shows what a node has");
	lab_done(&l);
	l = lab_new(1, 4, "8");
	add(&l, &(struct job){ .name = "alone", .alone = true, .minutes = 30 });
	pass(&l);
	add(&l, &(struct job){ .name = "b" });
	pass(&l);
	CHECK_STR(ask(&l, "b"),
		  "first in queue batch; needs a node that no other pod has for itself, and there is none; job "
		  "alone ends by 10:30 at the latest, expected start 10:30 | ");
	lab_done(&l);
}

TEST("why: a queue for nodes that are not there, and GPUs that nobody shares")
{
	struct lab l = lab_new(1, 4, "8");

	add_queue(&l, "big", "{'resourcesDefault':{'neednodes':'large'}}");
	add_queue(&l, "east", "{'nodeProperties':['zone=e'],'enabled':false}");
	add(&l, &(struct job){ .name = "a", .gpus = 1, .queue = "big" });
	add(&l, &(struct job){ .name = "e", .queue = "east" });
	add(&l, &(struct job){ .name = "part", .also = ",'stoker.dev/gpu-memory':'8Gi'" });
	pass(&l);
	CHECK_STR(ask(&l, "a"),
		  "first in queue big; queue big uses only nodes with property large, which no node has | an admin: "
		  "`kubectl label node NAME large=true` gives it to a node; or `kubectl label pod a -n lab --overwrite "
		  "stoker.dev/queue=batch` moves it to queue batch");
	CHECK_STR(ask(&l, "e"),
		  "first in queue east; queue east uses only nodes with property zone=e, which no node has | an admin: "
		  "`kubectl label node NAME zone=e` gives it to a node; or `kubectl label pod e -n lab --overwrite "
		  "stoker.dev/queue=batch` moves it to queue batch");
	CHECK_STR(ask(&l, "part"),
		  "first in queue batch; needs 8192 MiB of one shared GPU, and no GPU may be shared: it can never "
		  "start here | an admin: `stoker serve --share-gpus 0,1` (or all) says which GPUs pods may share; or "
		  "ask for whole GPUs (nvidia.com/gpu)");
	lab_done(&l);
}

static const char *sentence_of(struct lab *l, const char *key)
{
	static char answer[512];
	auto_sbuf struct sbuf out = SBUF(1024);
	struct why_view v = { .world = l->w,
			      .work = world_find(l->w, key),
			      .ns = "lab",
			      .pod = key,
			      .now_ms = l->now,
			      .expected_ms = TIME_UNKNOWN };

	why_sentence(&v, &out);
	snprintf(answer, sizeof(answer), "%s", out.p);
	return answer;
}

TEST("why: what was borrowed is given back, whatever the priority")
{
	struct lab l = lab_new(1, 4, "64");
	auto_sbuf struct sbuf condition = SBUF(1024);

	add_queue(&l, "a", "{'cohort':'c','quota':{'gpus':2}}");
	add_queue(&l, "b", "{'cohort':'c','quota':{'gpus':2}}");
	add(&l, &(struct job){ .name = "x", .gpus = 4, .queue = "a", .priority = 10 });
	pass(&l);
	add(&l, &(struct job){ .name = "own", .gpus = 2, .queue = "b" });
	pass(&l);
	CHECK_STR(sentence_of(&l, "own"),
		  "in queue b; 1 job is being evicted for it: its queue gives back what it borrowed");
	CHECK_STR(sentence_of(&l, "x"), "runs since 10:00 and is being evicted: its queue gives back what it borrowed");
	why_condition(&(struct why_view){ .world = l.w, .work = world_find(l.w, "own"), .now_ms = l.now }, &condition);
	CHECK_STR(condition.p, "work of queues that have borrowed is being evicted for it");
	/* Nor does it borrow that again, or the look ahead would never end. */
	CHECK_STR(ask(&l, "own"),
		  "first in queue b; 1 job is being evicted for it: its queue gives back what it borrowed, "
		  "expected to start at any moment | ");
	lab_done(&l);
}

TEST("why: evictions, and what has just come")
{
	struct lab l = lab_new(1, 2, "64");

	add(&l, &(struct job){ .name = "a", .gpus = 2 });
	pass(&l);
	add(&l, &(struct job){ .name = "b", .gpus = 2, .priority = 10 });
	pass(&l);
	CHECK_STR(ask(&l, "b"), "first in queue batch; 1 job of a lower priority is being evicted for it, expected to "
				"start at any moment | ");
	CHECK_STR(ask(&l, "a"), "runs since 10:00 and is being evicted for work of a higher priority | ");
	add(&l, &(struct job){ .name = "c" });
	CHECK_STR(ask(&l, "c"), "second in queue batch; there is room for it, and it is about to be looked at | ");
	lab_done(&l);
}

TEST("why: a gang that has begun and lacks a pod")
{
	struct lab l = lab_new(1, 2, "64");
	struct work *gang = add(&l, &(struct job){ .name = "gang", .pods = 2, .gpus = 1 });

	pass(&l);
	work_gone(l.w, gang, "gang-1", l.now);
	add(&l, &(struct job){ .name = "thief", .gpus = 1, .minutes = 30 });
	pass(&l);
	work_member(l.w, gang, "gang-1", space_shape(world_space(l.w), json_object_get(l.pods, "gang-1")));
	pass(&l);
	CHECK_STR(
		ask(&l, "gang"),
		"in queue batch; 1 of its 2 pods run; another needs 1 GPU on one node, none is free; job thief ends by "
		"10:30 at the latest | `stoker gpus` shows who has the GPUs");
	lab_done(&l);
}

TEST("why: work that is started again runs since then, and is not evicted any more")
{
	struct lab l = lab_new(1, 2, "64");
	struct work *a = add(&l, &(struct job){ .name = "a", .gpus = 2, .minutes = 30 });

	pass(&l);
	add(&l, &(struct job){ .name = "hi", .gpus = 2, .minutes = 10, .priority = 10 });
	pass(&l);
	CHECK_STR(ask(&l, "a"), "runs since 10:00 and is being evicted for work of a higher priority | ");
	/* Its next pod comes before the last one has gone. */
	json_object_set(l.pods, "a-1", json_object_get(l.pods, "a-0"));
	work_member(l.w, a, "a-1", space_shape(world_space(l.w), json_object_get(l.pods, "a-1")));
	work_gone(l.w, a, "a-0", l.now);
	pass(&l);
	l.now += 10 * MINUTE;
	work_gone(l.w, world_find(l.w, "hi"), "hi-0", l.now);
	pass(&l);
	CHECK_STR(ask(&l, "a"), "runs since 10:10; ends by 10:40 at the latest | ");
	lab_done(&l);
}

TEST("why: a condition is written anew at once only for another reason")
{
	CHECK(why_is_due(WHY_NO_ROOM, 0, WHY_HELD));
	CHECK(!why_is_due(WHY_NO_ROOM, WHY_SAME_MS - 1, WHY_NO_ROOM));
	CHECK(why_is_due(WHY_NO_ROOM, WHY_SAME_MS, WHY_NO_ROOM));
	/* Room that is not there and room that is reserved: everybody's changes whenever anybody's job ends. */
	CHECK(!why_is_due(WHY_NO_ROOM, 0, WHY_RESERVED));
	CHECK(!why_is_due(WHY_RESERVED, WHY_SAME_MS - 1, WHY_NO_ROOM));
	CHECK(why_is_due(WHY_RESERVED, WHY_SAME_MS, WHY_NO_ROOM));
	CHECK(why_is_due(WHY_RESERVED, 0, WHY_IMPOSSIBLE));
}
