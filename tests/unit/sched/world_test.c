// SPDX-License-Identifier: Apache-2.0
/* What a pass decides, on small machines of which every card is counted. */
#include "sched/lab.h"
#include "sched/world_parts.h"

TEST("world: first come, first served, until the room is gone")
{
	struct lab l = lab_new(1, 4);

	add(&l, &(struct job){ .name = "a", .pods = 1, .gpus = 2 });
	add(&l, &(struct job){ .name = "b", .pods = 1, .gpus = 2 });
	add(&l, &(struct job){ .name = "c", .pods = 1, .gpus = 1 });
	CHECK_STR(pass(&l), "a b");
	CHECK_WHY(&l, "c", "0/1 nodes are available: 1 Insufficient nvidia.com/gpu.");
	CHECK_STR(pass(&l), "");
	end(&l, "a");
	CHECK_STR(pass(&l), "c");
	lab_done(&l);
}

TEST("world: queue priority, then priority, then users in turn, then age")
{
	struct lab l = lab_new(1, 6);
	json_auto_t *spec = sample_json("{'priority':1}");

	world_queue(l.w, "urgent", spec);
	add(&l, &(struct job){ .name = "a1", .pods = 1, .gpus = 1 });
	add(&l, &(struct job){ .name = "a2", .pods = 1, .gpus = 1 });
	add(&l, &(struct job){ .name = "a3", .pods = 1, .gpus = 1 });
	add(&l, &(struct job){ .name = "b1", .user = "ben", .pods = 1, .gpus = 1 });
	add(&l, &(struct job){ .name = "p", .pods = 1, .gpus = 1, .priority = 5 });
	add(&l, &(struct job){ .name = "u", .pods = 1, .gpus = 1, .queue = "urgent" });
	CHECK_STR(pass(&l), "u p b1 a1 a2 a3");
	lab_done(&l);
}

TEST("world: a gang starts whole or not at all, and a lost member comes back first")
{
	struct lab l = lab_new(2, 2);
	struct work *gang;

	add(&l, &(struct job){ .name = "one", .pods = 1, .gpus = 1 });
	gang = add(&l, &(struct job){ .name = "ns/gang", .pods = 4, .gpus = 1 });
	CHECK_STR(pass(&l), "one");
	CHECK_WHY(&l, "ns/gang", "all 4 pods of gang gang must have room at once");
	end(&l, "one");
	CHECK_STR(pass(&l), "ns/gang");
	CHECK_INT(gang->nbound, 4);
	add(&l, &(struct job){ .name = "two", .user = "ben", .pods = 1, .gpus = 1 });
	work_gone(l.w, gang, "1", l.now);
	work_member(l.w, gang, "1b", space_shape_plain(world_space(l.w), 1000, 1 << 20, 1, NULL));
	CHECK_STR(pass(&l), "ns/gang");
	CHECK_INT(gang->nbound, 4);
	lab_done(&l);
}

TEST("world: a gang waits for its members without standing in the way")
{
	struct lab l = lab_new(1, 4);
	struct work_facts f = {
		.key = "ns/g", .queue = "batch", .user = "u", .group = "", .size = 2, .walltime_ms = WALLTIME_NONE
	};
	struct work *g = world_work(l.w, &f);

	work_member(l.w, g, "0", space_shape_plain(world_space(l.w), 1000, 1, 1, NULL));
	add(&l, &(struct job){ .name = "x", .pods = 1, .gpus = 1 });
	CHECK_STR(pass(&l), "x");
	CHECK_WHY(&l, "ns/g", "1 of the 2 pods of gang g are there");
	work_member(l.w, g, "1", space_shape_plain(world_space(l.w), 1000, 1, 1, NULL));
	CHECK_STR(pass(&l), "ns/g");
	lab_done(&l);
}

TEST("world: limits of a queue hold, and who is under them goes on")
{
	struct lab l = lab_new(1, 8);
	json_auto_t *spec = sample_json("{'limits':{'perUser':{'gpus':2},'total':{'running':3}}}");

	world_queue(l.w, "batch", spec);
	for (int i = 0; i < 4; i++) {
		static const char *const names[] = { "a", "b", "c", "d" };

		add(&l, &(struct job){ .name = names[i], .pods = 1, .gpus = 1 });
	}
	add(&l, &(struct job){ .name = "e", .user = "ben", .pods = 1, .gpus = 1 });
	add(&l, &(struct job){ .name = "f", .user = "carl", .pods = 1, .gpus = 1 });
	CHECK_STR(pass(&l), "a e f");
	CHECK_WHY(&l, "b", "queue batch allows 3 running jobs in all, 3 in use and this needs 1");
	end(&l, "e");
	end(&l, "f");
	CHECK_STR(pass(&l), "b");
	CHECK_WHY(&l, "c", "queue batch allows each user 2 GPUs, anna has 2 and this needs 1");
	/* A limit below what runs stops nothing that runs. */
	world_queue(l.w, "batch", NULL);
	CHECK_STR(pass(&l), "c d");
	lab_done(&l);
}

TEST("world: holds, stopped queues and times")
{
	struct lab l = lab_new(1, 8);
	json_auto_t *stopped = sample_json("{'started':false}");
	struct work_facts f = { .key = "h",
				.queue = "batch",
				.user = "u",
				.group = "",
				.size = 1,
				.holds = HOLD_USER,
				.walltime_ms = WALLTIME_NONE };
	struct work *h = world_work(l.w, &f);

	work_member(l.w, h, "0", space_shape_plain(world_space(l.w), 1000, 1, 1, NULL));
	world_queue(l.w, "night", stopped);
	add(&l, &(struct job){ .name = "s", .pods = 1, .gpus = 1, .queue = "night" });
	add(&l, &(struct job){ .name = "x", .pods = 1, .gpus = 1, .queue = "nowhere" });
	CHECK_STR(pass(&l), "");
	CHECK_WHY(&l, "h", "held by its user");
	CHECK_WHY(&l, "s", "queue night is stopped");
	CHECK_WHY(&l, "x", "there is no queue nowhere");
	f.holds = 0;
	f.not_before_ms = l.now + HOUR;
	world_work(l.w, &f);
	CHECK_STR(pass(&l), "");
	CHECK_INT(l.d.next_ms, T0 + HOUR);
	l.now += HOUR;
	world_queue(l.w, "night", NULL);
	CHECK_STR(pass(&l), "h s");
	lab_done(&l);
}

TEST("world: what delays no reservation may pass, and nothing else")
{
	struct lab l = lab_new(1, 4);

	add(&l, &(struct job){ .name = "run", .pods = 1, .gpus = 3, .wall = 2 * HOUR });
	CHECK_STR(pass(&l), "run");
	add(&l, &(struct job){ .name = "big", .user = "ben", .pods = 1, .gpus = 4, .wall = HOUR });
	add(&l, &(struct job){ .name = "long", .user = "carl", .pods = 1, .gpus = 1, .wall = 3 * HOUR });
	add(&l, &(struct job){ .name = "ever", .user = "dora", .pods = 1, .gpus = 1 });
	add(&l, &(struct job){ .name = "short", .user = "emil", .pods = 1, .gpus = 1, .wall = 2 * HOUR });
	CHECK_STR(pass(&l), "short");
	CHECK_INT(world_find(l.w, "big")->reservation->start_ms, T0 + 2 * HOUR);
	CHECK_WHY(&l, "long",
		  "the room that is free is reserved for work before it (a job of ben runs before it, until 03:00 at "
		  "the latest, expected start 03:00)");
	l.now += 2 * HOUR;
	end(&l, "run");
	end(&l, "short");
	CHECK_STR(pass(&l), "big");
	lab_done(&l);
}

TEST("world: beside a reservation there may be room for ever")
{
	struct lab l = lab_new(2, 4);

	add(&l, &(struct job){ .name = "r0", .pods = 1, .gpus = 4, .wall = HOUR });
	add(&l, &(struct job){ .name = "r1", .pods = 1, .gpus = 2, .wall = 2 * HOUR });
	CHECK_STR(pass(&l), "r0 r1");
	/* Four cards are free at one node after an hour, and two stay free at the other. */
	add(&l, &(struct job){ .name = "big", .user = "ben", .pods = 1, .gpus = 4 });
	add(&l, &(struct job){ .name = "e1", .user = "carl", .pods = 1, .gpus = 1 });
	add(&l, &(struct job){ .name = "e2", .user = "carl", .pods = 1, .gpus = 1 });
	CHECK_STR(pass(&l), "e1 e2");
	lab_done(&l);
}

TEST("world: without walltimes small work flows around a large one, until that is old")
{
	struct lab l = lab_new(1, 4);

	add(&l, &(struct job){ .name = "run", .pods = 1, .gpus = 3 });
	CHECK_STR(pass(&l), "run");
	add(&l, &(struct job){ .name = "big", .user = "ben", .pods = 1, .gpus = 4 });
	add(&l, &(struct job){ .name = "s1", .user = "carl", .pods = 1, .gpus = 1 });
	CHECK_STR(pass(&l), "s1");
	l.now += 2 * HOUR;
	end(&l, "s1");
	add(&l, &(struct job){ .name = "s2", .user = "dora", .pods = 1, .gpus = 1 });
	CHECK_STR(pass(&l), "");
	CHECK_INT(world_find(l.w, "big")->reservation->start_ms, TIME_UNKNOWN);
	end(&l, "run");
	CHECK_STR(pass(&l), "big");
	lab_done(&l);
}

TEST("world: one looks ahead in vain for all that are like it")
{
	struct lab l = lab_new(1, 4);

	for (int i = 0; i < 4; i++) {
		auto_free char *name = xasprintf("r%d", i);

		add(&l, &(struct job){ .name = name, .pods = 1, .gpus = 1 });
	}
	CHECK_STR(pass(&l), "r0 r1 r2 r3");
	for (int i = 0; i < 100; i++) {
		auto_free char *name = xasprintf("w%d", i);

		add(&l, &(struct job){ .name = name, .user = name, .pods = 1, .gpus = 4 });
	}
	l.now += 2 * HOUR;
	CHECK_STR(pass(&l), "");
	/* The first has all that there is from an unknown moment on; the second finds nothing beside it. */
	CHECK_INT(world_find(l.w, "w0")->reservation->start_ms, TIME_UNKNOWN);
	CHECK(!world_find(l.w, "w1")->reservation);
	CHECK_INT(l.w->backfill.searches, 2);
	lab_done(&l);
}

TEST("world: a pass looks ahead in vain only so often")
{
	enum { NODES = 50, WORKS = 100 };
	struct lab l = lab_new(NODES, 8);

	/* Something at each node never ends; the rest do, one after the other. */
	for (int i = 0; i < 4 * NODES; i++) {
		auto_free char *name = xasprintf("r%d", i);
		bool ever = i < NODES;

		add(&l, &(struct job){ .name = name, .pods = 1, .gpus = ever ? 5 : 1, .wall = ever ? 0 : HOUR + i });
	}
	pass(&l);
	for (int i = WORKS; i > 0; i--) {
		auto_free char *name = xasprintf("w%d", i);

		add(&l, &(struct job){ .name = name, .pods = i, .gpus = 8 });
	}
	CHECK_STR(pass(&l), "");
	CHECK(l.w->backfill.searches > 10);
	CHECK(l.w->backfill.searches < 60);
	CHECK_WHY(&l, "w1", "0/50 nodes are available: 50 Insufficient nvidia.com/gpu.");
	lab_done(&l);
}

TEST("world: a higher priority evicts the cheapest, whole gangs, and waits for them to go")
{
	struct lab l = lab_new(2, 4);

	add(&l, &(struct job){ .name = "g", .pods = 2, .gpus = 2 });
	add(&l, &(struct job){ .name = "low", .pods = 1, .gpus = 2 });
	add(&l, &(struct job){ .name = "mid", .pods = 1, .gpus = 2, .priority = 5 });
	CHECK_STR(pass(&l), "mid g low");
	add(&l, &(struct job){ .name = "top", .user = "ben", .pods = 1, .gpus = 2, .priority = 9 });
	CHECK_STR(pass(&l), "-low");
	CHECK_WHY(&l, "top", "work of a lower priority is being evicted for it");
	world_touch(l.w);
	CHECK_STR(pass(&l), "");
	add(&l, &(struct job){ .name = "thief", .user = "carl", .pods = 1, .gpus = 2 });
	end(&l, "low");
	CHECK_STR(pass(&l), "top");
	add(&l, &(struct job){ .name = "same", .user = "ben", .pods = 1, .gpus = 2, .priority = 9 });
	CHECK_STR(pass(&l), "-g");
	end(&l, "g");
	CHECK_STR(pass(&l), "same thief");
	lab_done(&l);
}

TEST("world: what no node could ever take says so at once and stands in nobody's way")
{
	struct lab l = lab_new(2, 4);

	add(&l, &(struct job){ .name = "huge", .pods = 1, .gpus = 8 });
	add(&l, &(struct job){ .name = "x", .user = "ben", .pods = 1, .gpus = 4 });
	CHECK_STR(pass(&l), "x");
	CHECK_WHY(
		&l, "huge",
		"0/2 nodes are available: 2 Insufficient nvidia.com/gpu. It can never start here: needs 8 GPUs on one "
		"node, the largest node has 4 GPUs");
	add_node(&l, "n9", 8);
	CHECK_STR(pass(&l), "huge");
	lab_done(&l);
}

TEST("world: nodes that are blocked from a time on take only what ends before")
{
	struct lab l = lab_new(2, 4);
	static const char *const nodes[] = { "n0", NULL };

	world_block(l.w, "maintenance", nodes, T0 + HOUR, T0 + 2 * HOUR);
	add(&l, &(struct job){ .name = "a", .pods = 2, .gpus = 4, .wall = 2 * HOUR });
	add(&l, &(struct job){ .name = "b", .pods = 1, .gpus = 4, .wall = 2 * HOUR, .user = "ben" });
	add(&l, &(struct job){ .name = "c", .pods = 1, .gpus = 4, .wall = HOUR, .user = "carl" });
	CHECK_STR(pass(&l), "b c");
	CHECK_INT(world_find(l.w, "a")->reservation->start_ms, T0 + 2 * HOUR);
	lab_done(&l);
}

TEST("world: a long pass goes on slice by slice, whatever changes in between")
{
	struct lab l = lab_new(4, 4);
	struct world_slice slice = { .now_ms = T0, .most = 1 };
	int started = 0;

	for (int i = 0; i < 20; i++) {
		char name[16];

		snprintf(name, sizeof(name), "j%02d", i);
		add(&l, &(struct job){ .name = name, .pods = 1, .gpus = 1, .user = i % 2 ? "anna" : "ben" });
	}
	for (int i = 0; i < 100; i++) {
		world_pass(l.w, &slice, &l.d);
		started += (int)l.d.n;
		if (i == 3)
			end(&l, "j19");
		if (!l.d.more)
			break;
	}
	CHECK_INT(started, 16);
	CHECK_INT(fair_waiting(world_fair(l.w)), 3);
	lab_done(&l);
}

TEST("world: a gang that delays a reservation only as a whole does not pass either")
{
	struct lab l = lab_new(1, 4);

	add(&l, &(struct job){ .name = "a", .pods = 1, .gpus = 2, .wall = HOUR });
	CHECK_STR(pass(&l), "a");
	add(&l, &(struct job){ .name = "big", .pods = 1, .gpus = 3, .wall = HOUR });
	CHECK_STR(pass(&l), "");
	add(&l, &(struct job){ .name = "pair", .pods = 2, .gpus = 1, .wall = 2 * HOUR });
	CHECK_STR(pass(&l), "");
	add(&l, &(struct job){ .name = "one", .pods = 1, .gpus = 1, .wall = 2 * HOUR });
	CHECK_STR(pass(&l), "one");
	lab_done(&l);
}

TEST("world: a reservation leaves the one before it its room, and nobody takes what is left twice")
{
	struct lab l = lab_new(1, 8);

	add(&l, &(struct job){ .name = "a", .pods = 1, .gpus = 5, .wall = 2 * HOUR });
	add(&l, &(struct job){ .name = "b", .pods = 1, .gpus = 2, .wall = HOUR });
	CHECK_STR(pass(&l), "a b");
	add(&l, &(struct job){ .name = "late", .pods = 1, .gpus = 6, .wall = HOUR });
	add(&l, &(struct job){ .name = "early", .pods = 1, .gpus = 2, .wall = 2 * HOUR });
	add(&l, &(struct job){ .name = "thief", .pods = 1, .gpus = 1, .wall = 3 * HOUR });
	CHECK_STR(pass(&l), "");
	CHECK_INT(world_find(l.w, "late")->reservation->start_ms, T0 + 2 * HOUR);
	CHECK_INT(world_find(l.w, "early")->reservation->start_ms, T0 + HOUR);
	lab_done(&l);
}

TEST("world: nobody takes what is free while victims are on their way out")
{
	struct lab l = lab_new(1, 4);

	add(&l, &(struct job){ .name = "low", .pods = 1, .gpus = 2 });
	add(&l, &(struct job){ .name = "mid", .pods = 1, .gpus = 1, .priority = 9 });
	CHECK_STR(pass(&l), "mid low");
	add(&l, &(struct job){ .name = "top", .user = "ben", .pods = 1, .gpus = 3, .priority = 9 });
	CHECK_STR(pass(&l), "-low");
	add(&l, &(struct job){ .name = "thief", .user = "carl", .pods = 1, .gpus = 1 });
	CHECK_STR(pass(&l), "");
	end(&l, "low");
	CHECK_STR(pass(&l), "top");
	lab_done(&l);
}

TEST("world: nobody is evicted for room that is reserved for others")
{
	struct lab l = lab_new(1, 4);

	add(&l, &(struct job){ .name = "a", .pods = 1, .gpus = 2, .wall = HOUR, .priority = 9 });
	add(&l, &(struct job){ .name = "low", .pods = 1, .gpus = 2, .wall = HOUR / 2 });
	CHECK_STR(pass(&l), "a low");
	add(&l, &(struct job){ .name = "big", .pods = 1, .gpus = 4, .wall = HOUR, .priority = 9 });
	add(&l, &(struct job){ .name = "long", .pods = 1, .gpus = 2, .wall = 2 * HOUR, .priority = 5 });
	CHECK_STR(pass(&l), "");
	add(&l, &(struct job){ .name = "short", .pods = 1, .gpus = 2, .wall = HOUR / 2, .priority = 5 });
	CHECK_STR(pass(&l), "-low");
	lab_done(&l);
}

TEST("world: what went first for its age is not evicted at once")
{
	struct lab l = lab_new(1, 4);

	add(&l, &(struct job){ .name = "a", .pods = 1, .gpus = 4 });
	CHECK_STR(pass(&l), "a");
	add(&l, &(struct job){ .name = "old", .pods = 1, .gpus = 4 });
	l.now += 4 * 24 * HOUR;
	end(&l, "a");
	add(&l, &(struct job){ .name = "young", .pods = 1, .gpus = 4, .priority = 5 });
	CHECK_STR(pass(&l), "old");
	lab_done(&l);
}

TEST("world: when a block ends its nodes are used without anything being told")
{
	static const char *const nodes[] = { "n0", NULL };
	struct lab l = lab_new(1, 4);

	world_block(l.w, "maintenance", nodes, l.now, l.now + HOUR);
	add(&l, &(struct job){ .name = "a", .pods = 1, .gpus = 1 });
	CHECK_STR(pass(&l), "");
	CHECK_INT(l.d.next_ms, T0 + HOUR);
	l.now += HOUR;
	CHECK_STR(pass(&l), "a");
	lab_done(&l);
}

TEST("world: PBS jobs stand where their places say, a user's priority counts among his own, and qrun before all")
{
	struct lab l = lab_new(1, 1);
	json_auto_t *stopped = sample_json("{'started':false}");

	world_queue(l.w, "closed", stopped);
	add(&l, &(struct job){ .name = "a3", .pods = 1, .gpus = 1, .place = place_at(100, 3, 0) });
	add(&l, &(struct job){ .name = "a1", .pods = 1, .gpus = 1, .place = place_at(100, 1, 0) });
	add(&l, &(struct job){ .name = "a4", .pods = 1, .gpus = 1, .place = place_at(200, 4, 0), .own = 7 });
	add(&l, &(struct job){ .name = "b2", .user = "ben", .pods = 1, .gpus = 1, .place = place_at(100, 2, 0) });
	add(&l, &(struct job){ .name = "b5", .user = "ben", .pods = 1, .gpus = 1, .queue = "closed", .run_now = true });
	CHECK_STR(pass(&l), "b5");
	end(&l, "b5");
	CHECK_STR(pass(&l), "b2");
	end(&l, "b2");
	CHECK_STR(pass(&l), "a4");
	end(&l, "a4");
	/* They change places: qorder. */
	add(&l, &(struct job){ .name = "a1", .pods = 0, .gpus = 1, .place = place_at(100, 3, 1) });
	CHECK_STR(pass(&l), "a3");
	lab_done(&l);
}

TEST("world: limits of the PBS server hold for PBS jobs of all queues, and for nobody else")
{
	struct lab l = lab_new(1, 8);
	json_auto_t *spec = sample_json("{'maxRunning':3,'maxUserRun':2}");

	world_pbs_server(l.w, spec);
	world_queue(l.w, "long", NULL);
	add(&l, &(struct job){ .name = "a", .pods = 1, .gpus = 1, .pbs = true });
	add(&l, &(struct job){ .name = "b", .pods = 1, .gpus = 1, .pbs = true, .queue = "long" });
	add(&l, &(struct job){ .name = "c", .pods = 1, .gpus = 1, .pbs = true });
	add(&l, &(struct job){ .name = "d", .pods = 1, .gpus = 1 });
	CHECK_STR(pass(&l), "a b d");
	CHECK_WHY(&l, "c", "the PBS server allows each user 2 running jobs, anna has 2 and this needs 1");
	add(&l, &(struct job){ .name = "e", .user = "ben", .pods = 1, .gpus = 1, .pbs = true });
	add(&l, &(struct job){ .name = "f", .user = "ben", .pods = 1, .gpus = 1, .pbs = true });
	CHECK_STR(pass(&l), "e");
	CHECK_WHY(&l, "f", "the PBS server allows 3 running jobs in all, 3 in use and this needs 1");
	end(&l, "b");
	CHECK_STR(pass(&l), "f");
	world_pbs_server(l.w, NULL);
	CHECK_STR(pass(&l), "c");
	lab_done(&l);
}

/* ---- labels ---- */

static void add_labelled(struct lab *l, const char *name, const char *labels, const char *spec)
{
	struct work_facts f = { .key = name,
				.queue = "batch",
				.user = "anna",
				.group = "",
				.submitted_ms = l->now,
				.walltime_ms = WALLTIME_NONE,
				.size = 1 };
	auto_free char *text = xasprintf("{'metadata':{'namespace':'lab','labels':{%s}},'spec':{'containers':[{'name':"
					 "'c','resources':{'requests':{'nvidia.com/gpu':'1'}}}]%s}}",
					 labels, spec);
	json_auto_t *pod = sample_json(text);

	work_member(l->w, world_work(l->w, &f), name, space_shape(world_space(l->w), pod));
}

static void count_list(void *arg, struct turn *first)
{
	(void)first;
	++*(int *)arg;
}

TEST("world: jobs that differ in labels only stand in one list")
{
	struct lab l = lab_new(1, 1);
	int lists = 0;

	for (int i = 0; i < 40; i++) {
		char name[16];
		char label[64];

		snprintf(name, sizeof(name), "j%d", i);
		snprintf(label, sizeof(label), "'stoker.dev/pbsjob':'%s'", name);
		add_labelled(&l, name, label, "");
	}
	CHECK_STR(pass(&l), "j0");
	fair_each_list(world_fair(l.w), count_list, &lists);
	CHECK_INT(lists, 1);
	end(&l, "j0");
	CHECK_STR(pass(&l), "j1");
	lab_done(&l);
}

TEST("world: who is refused for its labels stands in nobody's way")
{
	struct lab l = lab_new(0, 0);
	json_auto_t *node =
		sample_json("{'metadata':{'name':'n','labels':{'host':'n'}},'status':{'allocatable':{'pods':'9',"
			    "'nvidia.com/gpu':'4'},'conditions':[{'type':'Ready','status':'True'}]}}");

	world_set_node(l.w, node);
	add_labelled(&l, "alone", "'app':'db'",
		     ",'affinity':{'podAntiAffinity':{'requiredDuringSchedulingIgnoredDuringExecution':[{'topologyKey':"
		     "'host','labelSelector':{'matchLabels':{'app':'web'}}}]}}");
	CHECK_STR(pass(&l), "alone");
	add_labelled(&l, "web", "'app':'web'", "");
	add_labelled(&l, "other", "'app':'other'", "");
	CHECK_STR(pass(&l), "other");
	end(&l, "alone");
	CHECK_STR(pass(&l), "web");
	lab_done(&l);
}

static void add_host(struct lab *l, const char *name)
{
	auto_free char *text = xasprintf("{'metadata':{'name':'%s','labels':{'host':'%s'}},'status':{'allocatable':{"
					 "'pods':'9','nvidia.com/gpu':'4'},'conditions':[{'type':'Ready','status':"
					 "'True'}]}}",
					 name, name);
	json_auto_t *node = sample_json(text);

	world_set_node(l->w, node);
}

TEST("world: a gang whose members keep away from each other waits for as many nodes")
{
	struct lab l = lab_new(0, 0);
	struct work_facts f = { .key = "lab/gang",
				.queue = "batch",
				.user = "anna",
				.group = "",
				.submitted_ms = l.now,
				.walltime_ms = WALLTIME_NONE,
				.size = 2 };
	json_auto_t *pod = sample_json(
		"{'metadata':{'namespace':'lab','labels':{'job':'7'}},'spec':{'containers':[{'name':'c','resources':{"
		"'requests':{'nvidia.com/gpu':'1'}}}],'affinity':{'podAntiAffinity':{"
		"'requiredDuringSchedulingIgnoredDuringExecution':[{'topologyKey':'host','labelSelector':{'matchLabels'"
		":"
		"{'job':'7'}}}]}}}}");
	struct work *gang = world_work(l.w, &f);

	work_member(l.w, gang, "0", space_shape(world_space(l.w), pod));
	work_member(l.w, gang, "1", space_shape(world_space(l.w), pod));
	add_host(&l, "a");
	CHECK_STR(pass(&l), "");
	add_host(&l, "b");
	CHECK_STR(pass(&l), "lab/gang");
	CHECK_INT(gang->nbound, 2);
	lab_done(&l);
}

TEST("world: who ends soon, or has just begun, is waited for if that is enough, and else evicted")
{
	struct world_config config = WORLD_CONFIG;
	struct lab l = { .w = world_new(&config), .now = T0 };

	world_queue(l.w, "batch", NULL);
	add_node(&l, "n0", 4);
	add(&l, &(struct job){ .name = "young", .pods = 1, .gpus = 4 });
	CHECK_STR(pass(&l), "young");
	l.now += 400;
	add(&l, &(struct job){ .name = "high", .pods = 1, .gpus = 4, .priority = 10 });
	/* Whatever comes meanwhile does not take its room. */
	add(&l, &(struct job){ .name = "low", .pods = 1, .gpus = 4 });
	CHECK_STR(pass(&l), "");
	CHECK_WHY(&l, "high", "it waits a moment for other work that ends soon or has just begun");
	CHECK_INT(l.d.next_ms, T0 + 1000);
	l.now = T0 + 1000;
	CHECK_STR(pass(&l), "-young");
	end(&l, "young");
	CHECK_STR(pass(&l), "high");
	end(&l, "high");
	CHECK_STR(pass(&l), "low");
	end(&l, "low");

	/* Its walltime is over in 20 seconds, that of the other one is not. */
	add(&l, &(struct job){ .name = "brief", .pods = 1, .gpus = 2, .wall = 60000 });
	add(&l, &(struct job){ .name = "long", .pods = 1, .gpus = 2, .wall = HOUR });
	CHECK_STR(pass(&l), "brief long");
	l.now += 40000;
	add(&l, &(struct job){ .name = "two", .pods = 1, .gpus = 2, .priority = 10 });
	CHECK_STR(pass(&l), "");
	add(&l, &(struct job){ .name = "all", .pods = 1, .gpus = 4, .priority = 20 });
	CHECK_STR(pass(&l), "-brief -long");
	lab_done(&l);
}

TEST("world: who was held and is like others that wait says so when it is released")
{
	struct lab l = lab_new(1, 1);

	add(&l, &(struct job){ .name = "run", .pods = 1, .gpus = 1 });
	add(&l, &(struct job){ .name = "first", .pods = 1, .gpus = 1 });
	work_hold(l.w, add(&l, &(struct job){ .name = "held", .pods = 1, .gpus = 1 }), HOLD_USER);
	CHECK_STR(pass(&l), "run");
	CHECK_WHY(&l, "held", "held by its user");
	work_hold(l.w, world_find(l.w, "held"), 0);
	CHECK_STR(pass(&l), "");
	CHECK_WHY(&l, "held", "0/1 nodes are available: 1 Insufficient nvidia.com/gpu.");
	lab_done(&l);
}

#define MANY 10000

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* As a list of objects has them: 1, 10, 100, 1000, 10000, 1001 ... */
static void add_by_name(struct lab *l)
{
	char **names = xcalloc(MANY, sizeof(*names));

	for (int i = 0; i < MANY; i++)
		names[i] = xasprintf("%d", i + 1);
	qsort(names, MANY, sizeof(*names), by_text);
	for (int i = 0; i < MANY; i++) {
		int64_t number = 0;

		str_int64(names[i], 1, MANY, &number);
		add(l, &(struct job){ .name = names[i], .pods = 1, .gpus = 1, .pbs = true, .place = (uint64_t)number });
		free(names[i]);
	}
	free(names);
}

TEST("world: who lines up looks at a few others, however long the line and in whatever order they are told")
{
	struct lab l = lab_new(1, 3);
	struct fair *f = world_fair(l.w);
	json_auto_t *low = sample_json("{'priority':-7}");
	size_t steps;

	add_by_name(&l);
	CHECK_STR(pass(&l), "1 2 3");
	CHECK(fair_steps(f) < 20 * MANY);
	/* All of a queue move at once when its priority changes, and nobody looks for his place. */
	world_queue(l.w, "urgent", NULL);
	add(&l, &(struct job){ .name = "u", .pods = 1, .gpus = 1, .queue = "urgent" });
	steps = fair_steps(f);
	world_queue(l.w, "batch", low);
	CHECK_INT(fair_steps(f), steps);
	CHECK_INT(fair_waiting(f), MANY - 3 + 1);
	CHECK_STR(pass(&l), "-1");
	end(&l, "1");
	CHECK_STR(pass(&l), "u");
	/* Also who comes later, and who is told again, finds the list of the new rank. */
	add(&l, &(struct job){ .name = "late", .pods = 1, .gpus = 1, .pbs = true, .place = 2 });
	end(&l, "2");
	CHECK_STR(pass(&l), "late");
	end(&l, "u");
	CHECK_STR(pass(&l), "4");
	lab_done(&l);
}

TEST("world: what a limit leaves is kept for who has waited long, if that ends")
{
	struct lab l = lab_new(1, 8);
	json_auto_t *few = sample_json("{'limits':{'total':{'gpus':4}}}");

	world_queue(l.w, "few", few);
	add(&l, &(struct job){ .name = "a", .pods = 1, .gpus = 1, .wall = 2 * HOUR, .queue = "few" });
	CHECK_STR(pass(&l), "a");
	add(&l, &(struct job){ .name = "big", .pods = 1, .gpus = 4, .wall = HOUR, .queue = "few" });
	add(&l, &(struct job){ .name = "b", .user = "ben", .pods = 1, .gpus = 1, .wall = 2 * HOUR, .queue = "few" });
	CHECK_STR(pass(&l), "b");
	l.now += HOUR;
	add(&l, &(struct job){ .name = "c", .user = "ben", .pods = 1, .gpus = 1, .wall = 2 * HOUR, .queue = "few" });
	add(&l, &(struct job){ .name = "short", .user = "ben", .pods = 1, .gpus = 1, .wall = HOUR, .queue = "few" });
	add(&l, &(struct job){ .name = "none", .user = "ben", .pods = 1, .gpus = 0, .queue = "few" });
	add(&l, &(struct job){ .name = "other", .pods = 1, .gpus = 1 });
	CHECK_STR(pass(&l), "other short none");
	CHECK_WHY(&l, "c", "what the limits of queue few leave is kept for work that has waited long");
	l.now += HOUR;
	end(&l, "a");
	end(&l, "b");
	end(&l, "short");
	CHECK_STR(pass(&l), "big");
	CHECK_WHY(&l, "c", "queue few allows 4 GPUs in all, 4 in use and this needs 1");
	/* Who stands in the way may be there for ever: then nobody waits for that. */
	l.now += HOUR;
	end(&l, "big");
	add(&l, &(struct job){ .name = "endless", .pods = 1, .gpus = 1, .priority = 1, .queue = "few" });
	CHECK_STR(pass(&l), "endless c");
	add(&l, &(struct job){ .name = "all", .pods = 1, .gpus = 4, .priority = 1, .wall = HOUR, .queue = "few" });
	CHECK_STR(pass(&l), "");
	l.now += 2 * HOUR;
	end(&l, "c");
	add(&l, &(struct job){ .name = "d", .user = "ben", .pods = 1, .gpus = 1, .queue = "few" });
	CHECK_STR(pass(&l), "d");
	lab_done(&l);
}
