// SPDX-License-Identifier: Apache-2.0
#include "sched/quota.h"

#include "sched/lab.h"

static void add_queue(struct lab *l, const char *name, const char *spec)
{
	json_auto_t *doc = sample_json(spec);

	world_queue(l->w, name, doc);
}

/* A machine of 8 cards; two queues of a cohort own 4 each. */
static struct lab cohort(const char *more)
{
	struct lab l = lab_new(1, 8);
	auto_free char *spec = xasprintf("{'cohort':'lab','quota':{'gpus':4}%s}", more);

	add_queue(&l, "a", spec);
	add_queue(&l, "b", spec);
	return l;
}

TEST("a queue borrows what its cohort leaves, up to its limit")
{
	struct lab l = cohort(",'borrowingLimit':{'gpus':2}");

	add(&l, &(struct job){ "one", .pods = 1, .gpus = 4, .queue = "a" });
	add(&l, &(struct job){ "two", .pods = 1, .gpus = 2, .queue = "a" });
	add(&l, &(struct job){ "three", .pods = 1, .gpus = 1, .queue = "a" });
	CHECK_STR(pass(&l), "one two");
	CHECK_WHY(&l, "three", "queue a may use 6 GPUs with what it may borrow, 6 are in use, and this needs 1");
	lab_done(&l);
}

TEST("without borrowing, or a cohort, the quota is the end")
{
	static const char *const specs[] = { "{'cohort':'lab','quota':{'gpus':4},'borrowing':false}",
					     "{'quota':{'gpus':4}}" };

	for (size_t i = 0; i < ARRAY_SIZE(specs); i++) {
		struct lab l = cohort("");

		add_queue(&l, "a", specs[i]);
		add(&l, &(struct job){ "one", .pods = 1, .gpus = 4, .queue = "a" });
		add(&l, &(struct job){ "two", .pods = 1, .gpus = 1, .queue = "a" });
		CHECK_STR(pass(&l), "one");
		CHECK_WHY(&l, "two", "queue a may use 4 GPUs, its quota, 4 are in use, and this needs 1");
		lab_done(&l);
	}
}

TEST("a cohort lends no more than all its quotas, though the machine has more")
{
	struct lab l = lab_new(1, 16);

	add_queue(&l, "a", "{'cohort':'lab','quota':{'gpus':4}}");
	add_queue(&l, "b", "{'cohort':'lab','quota':{'gpus':4}}");
	add(&l, &(struct job){ "one", .pods = 1, .gpus = 7, .queue = "a" });
	add(&l, &(struct job){ "two", .pods = 1, .gpus = 2, .queue = "a" });
	CHECK_STR(pass(&l), "one");
	CHECK_WHY(&l, "two", "cohort lab has 8 GPUs in all, of which 7 are in use, and this needs 2");
	lab_done(&l);
}

TEST("who needs its own gets it back, and no more than that")
{
	struct lab l = cohort("");

	for (int i = 0; i < 8; i++) {
		static const char *const names[] = { "s0", "s1", "s2", "s3", "s4", "s5", "s6", "s7" };

		add(&l, &(struct job){ names[i], .pods = 1, .gpus = 1, .queue = "a", .priority = 5 });
	}
	CHECK_STR(pass(&l), "s0 s1 s2 s3 s4 s5 s6 s7");
	l.now += HOUR;
	/* Four are its own, of work with a higher priority, too; the fifth is not. */
	add(&l, &(struct job){ "big", .pods = 1, .gpus = 5, .queue = "b", .priority = 9 });
	CHECK_STR(pass(&l), "");
	add(&l, &(struct job){ "mine", .pods = 1, .gpus = 4, .queue = "b" });
	CHECK_INT(strlen(pass(&l)), strlen("-s0 -s1 -s2 -s3"));
	lab_done(&l);
}

TEST("reclaim says whose work goes, and within a quota nobody does")
{
	static const struct {
		const char *reclaim;
		int64_t running, waiting; /* priorities */
		int used;                 /* cards of the other queue */
		const char *decided;
	} rows[] = {
		{ "Any", 5, 0, 8, "-run" },
		{ "LowerPriority", 5, 0, 8, "" },
		{ "LowerPriority", 0, 5, 8, "-run" },
		{ "Never", 0, 5, 8, "" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		auto_free char *more = xasprintf(",'reclaim':'%s'", rows[i].reclaim);
		struct lab l = cohort(more);

		add(&l,
		    &(struct job){ "run", .pods = 1, .gpus = rows[i].used, .queue = "a", .priority = rows[i].running });
		CHECK_STR(pass(&l), "run");
		add(&l, &(struct job){ "wait", .pods = 1, .gpus = 4, .queue = "b", .priority = rows[i].waiting });
		CHECK_STR(pass(&l), rows[i].decided);
		lab_done(&l);
	}
}

TEST("work within a quota is safe from queues outside")
{
	struct lab l = cohort("");

	add(&l, &(struct job){ "run", .pods = 1, .gpus = 4, .queue = "a" });
	add(&l, &(struct job){ "other", .pods = 1, .gpus = 4, .queue = "batch" });
	CHECK_STR(pass(&l), "run other");
	add(&l, &(struct job){ "high", .pods = 1, .gpus = 8, .priority = 100 });
	CHECK_STR(pass(&l), "");
	lab_done(&l);
}

TEST("in a full queue the higher priority evicts the lower one")
{
	struct lab l = cohort(",'borrowingLimit':{'gpus':0}");

	add(&l, &(struct job){ "low", .pods = 1, .gpus = 4, .queue = "a" });
	CHECK_STR(pass(&l), "low");
	add(&l, &(struct job){ "high", .pods = 1, .gpus = 3, .queue = "a", .priority = 1 });
	CHECK_STR(pass(&l), "-low");
	end(&l, "low");
	CHECK_STR(pass(&l), "high");
	lab_done(&l);
}
