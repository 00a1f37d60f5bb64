// SPDX-License-Identifier: Apache-2.0
#include "sched/gate_plan.h"

#include "api/sample_json.h"
#include "base/jsonx.h"
#include "base/mem.h"
#include "sched/gate_probe.h"
#include "test.h"

/* A cluster of nodes with two GPUs each, and what the plan decided last. */
struct door {
	struct gate_plan *p;
	struct gate_decisions d;
	int64_t now;
	char out[1024];
};

static void set_node(struct door *k, const char *name, const char *spec, const char *ready)
{
	auto_free char *text = xasprintf("{'metadata':{'name':'%s'},'spec':{%s},'status':{'allocatable':{'cpu':'16',"
					 "'memory':'64Gi','pods':'110','nvidia.com/gpu':'2'},"
					 "'conditions':[{'type':'Ready','status':'%s'}]}}",
					 name, spec, ready);
	json_auto_t *node = sample_json(text);

	world_set_node(gate_plan_world(k->p), node);
}

static struct door door_new(int nodes)
{
	struct door k = { .p = gate_plan_new(), .now = 1767225600000 };

	for (int i = 0; i < nodes; i++) {
		char name[16];

		snprintf(name, sizeof(name), "n%d", i);
		set_node(&k, name, "", "True");
	}
	return k;
}

static void door_done(struct door *k)
{
	gate_decisions_done(&k->d);
	gate_plan_free(k->p);
}

struct piece {
	const char *gang; /* "" for somebody else's */
	const char *name;
	int size, gpus;
	const char *spec, *more; /* further fields of spec, and of the pod */
};

#define CLOSED ",'schedulingGates':[{'name':'stoker.dev/queue'}]"

static json_t *make(const struct piece *c)
{
	auto_free char *text = xasprintf(
		"{'metadata':{'name':'%s','namespace':'lab','uid':'u-%s','annotations':{'stoker.dev/gang':'%s',"
		"'stoker.dev/gang-size':'%d'}},'spec':{'schedulerName':'other','containers':[{'name':'c','resources':"
		"{'requests':{'nvidia.com/gpu':'%d'}}}]%s}%s}",
		c->name, c->name, c->gang, c->size, c->gpus, c->spec ? c->spec : "", c->more ? c->more : "");

	return sample_json(text);
}

static void tell(struct door *k, struct piece c)
{
	json_auto_t *pod = make(&c);

	gate_plan_pod(k->p, pod, *c.gang != 0, k->now);
}

static void tell_gang(struct door *k, const char *name, int n, const char *spec)
{
	auto_free char *gang = xasprintf("tfjobs/%s", name);

	for (int i = 0; i < n; i++) {
		char pod[32];

		snprintf(pod, sizeof(pod), "%s-%d", name, i);
		tell(k, (struct piece){ .gang = gang, .name = pod, .size = n, .gpus = 1, .spec = spec });
	}
}

static void gone(struct door *k, const char *name)
{
	auto_free char *uid = xasprintf("u-%s", name);

	gate_plan_gone(k->p, uid, k->now);
}

/* "+a-0 +a-1 a" opens two gates and has its job looked at; "-x" is taken back. */
static const char *list(struct door *k)
{
	static const char *const signs[] = { [GATE_OPEN] = "+", [GATE_LOOK] = "", [GATE_TAKE_BACK] = "-" };
	size_t n = 0;

	k->out[0] = 0;
	for (size_t i = 0; i < k->d.n; i++) {
		const struct gate_decision *one = &k->d.items[i];

		n += (size_t)snprintf(k->out + n, sizeof(k->out) - n, "%s%s%s", n ? " " : "", signs[one->what],
				      one->key ? one->key : one->name);
	}
	return k->out;
}

static const char *pass(struct door *k)
{
	gate_plan_pass(k->p, &(struct world_slice){ .now_ms = k->now, .most = 100 }, &k->d);
	return list(k);
}

static const char *say(struct door *k)
{
	gate_plan_say(k->p, k->now, k->now, 100, &k->d);
	return list(k);
}

static const char *state(struct door *k, const char *key)
{
	static const char *const words[] = { [GATE_UNKNOWN] = "unknown", [GATE_IN] = "in" };
	const char *why = NULL;
	enum gate_state s = gate_plan_state(k->p, key, &why);

	return s == GATE_WAITS ? why : words[s];
}

TEST("a gang whose job is held stays at the gate, and goes in when it is released")
{
	struct door k = door_new(2);

	tell_gang(&k, "a", 3, CLOSED);
	CHECK(gate_plan_hold(k.p, "lab/tfjobs/a", true));
	CHECK(!gate_plan_hold(k.p, "lab/tfjobs/a", true));
	CHECK_STR(pass(&k), "");
	/* What comes later is of the same job. */
	gone(&k, "a-0");
	tell_gang(&k, "a", 3, CLOSED);
	tell_gang(&k, "b", 1, CLOSED);
	CHECK_STR(pass(&k), "+b-0 lab/tfjobs/b");
	CHECK(gate_plan_hold(k.p, "lab/tfjobs/a", false));
	CHECK_STR(pass(&k), "+a-2 +a-1 +a-0 lab/tfjobs/a");
	door_done(&k);
}

TEST("a gang is let in when there is room for all of it, the next when that one has gone")
{
	struct door k = door_new(2);

	tell_gang(&k, "a", 3, CLOSED);
	tell_gang(&k, "b", 3, CLOSED);
	CHECK_STR(pass(&k), "+a-0 +a-1 +a-2 lab/tfjobs/a");
	CHECK_STR(state(&k, "lab/tfjobs/a"), "in");
	CHECK_STR(state(&k, "lab/tfjobs/b"), "unknown");
	CHECK_STR(say(&k), "lab/tfjobs/b");
	CHECK_STR(state(&k, "lab/tfjobs/b"),
		  "in queue batch; needs room for 3 pods at once with 1 GPU each, there is room for 1; when it can "
		  "start is not known: tfjobs/a, which stands in the way, has no walltime");
	CHECK_STR(pass(&k), "");
	CHECK_STR(say(&k), "");
	gone(&k, "a-0");
	CHECK_STR(pass(&k), "");
	gone(&k, "a-1");
	gone(&k, "a-2");
	CHECK_STR(pass(&k), "+b-0 +b-1 +b-2 lab/tfjobs/b");
	CHECK_STR(state(&k, "lab/tfjobs/b"), "in");
	door_done(&k);
}

TEST("a gang waits until all its pods are there")
{
	struct door k = door_new(2);

	tell(&k, (struct piece){ .gang = "tfjobs/a", .name = "a-0", .size = 2, .gpus = 1, .spec = CLOSED });
	CHECK_STR(pass(&k), "");
	tell(&k, (struct piece){ .gang = "tfjobs/a", .name = "a-1", .size = 2, .gpus = 1, .spec = CLOSED });
	CHECK_STR(pass(&k), "+a-0 +a-1 lab/tfjobs/a");
	door_done(&k);
}

TEST("what somebody else has placed takes room, what he has not yet does not")
{
	struct door k = door_new(1);

	tell(&k, (struct piece){ .gang = "", .name = "x", .gpus = 1 });
	tell(&k, (struct piece){ .gang = "", .name = "y", .gpus = 1, .spec = ",'nodeName':'n0'" });
	tell_gang(&k, "a", 2, CLOSED);
	CHECK_STR(pass(&k), "");
	tell(&k, (struct piece){ .gang = "",
				 .name = "y",
				 .gpus = 1,
				 .spec = ",'nodeName':'n0'",
				 .more = ",'status':{'phase':'Succeeded'}" });
	CHECK_STR(pass(&k), "+a-0 +a-1 lab/tfjobs/a");
	door_done(&k);
}

TEST("nodes that take no pods do not count")
{
	static const struct {
		const char *spec, *ready, *wanted;
	} rows[] = {
		{ "", "True", "+a-0 +a-1 lab/tfjobs/a" },
		{ "'unschedulable':true", "True", "" },
		{ "'taints':[{'key':'k','effect':'NoSchedule'}]", "True", "" },
		{ "", "False", "" },
		{ "", "Unknown", "" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct door k = door_new(0);

		set_node(&k, "n", rows[i].spec, rows[i].ready);
		tell_gang(&k, "a", 2, CLOSED);
		CHECK_STR(pass(&k), rows[i].wanted);
		door_done(&k);
	}
}

TEST("who is in without a node holds the room that was planned for it, also for the next operator")
{
	struct door k = door_new(1);

	tell_gang(&k, "a", 2, ""); /* as it is found: no gate, no node */
	tell_gang(&k, "b", 1, CLOSED);
	CHECK_STR(pass(&k), "");
	CHECK_STR(state(&k, "lab/tfjobs/a"), "in");
	tell(&k, (struct piece){ .gang = "tfjobs/a", .name = "a-0", .size = 2, .gpus = 1, .spec = ",'nodeName':'n0'" });
	CHECK_STR(pass(&k), "");
	gone(&k, "a-0");
	gone(&k, "a-1");
	CHECK_STR(pass(&k), "+b-0 lab/tfjobs/b");
	door_done(&k);
}

TEST("a gang that was half in when its operator was killed goes before all others")
{
	struct door k = door_new(1);

	tell(&k, (struct piece){ .gang = "tfjobs/a", .name = "a-0", .size = 1, .gpus = 1, .spec = CLOSED });
	tell(&k, (struct piece){ .gang = "tfjobs/z", .name = "z-0", .size = 2, .gpus = 1, .spec = CLOSED });
	tell(&k, (struct piece){ .gang = "tfjobs/z", .name = "z-1", .size = 2, .gpus = 1 });
	CHECK_STR(pass(&k), "+z-0 lab/tfjobs/z");
	door_done(&k);
}

TEST("half a gang that has no room for the rest is taken back, unless it has run")
{
	struct door k = door_new(1);
	struct piece half = { .gang = "tfjobs/a", .name = "a-0", .size = 2, .gpus = 1 };

	tell(&k, (struct piece){ .gang = "", .name = "x", .gpus = 1, .spec = ",'nodeName':'n0'" });
	tell(&k, half);
	tell(&k, (struct piece){ .gang = "tfjobs/a", .name = "a-1", .size = 2, .gpus = 1, .spec = CLOSED });
	CHECK_STR(pass(&k), "");
	CHECK_STR(say(&k), "lab/tfjobs/a");
	k.now += GATE_BACK_MS;
	CHECK_STR(say(&k), "-a-0");
	half.spec = ",'nodeName':'n0'";
	half.more = ",'status':{'phase':'Running'}";
	tell(&k, half);
	k.now += GATE_BACK_MS;
	say(&k);
	CHECK(!strchr(list(&k), '-'));
	door_done(&k);
}

TEST("a pod of a gang that runs is replaced at once if there is room, and waits if there is not")
{
	struct door k = door_new(1);
	struct piece again = { .gang = "tfjobs/a", .name = "a-2", .size = 2, .gpus = 1, .spec = CLOSED };

	tell_gang(&k, "a", 2, ",'nodeName':'n0'");
	tell_gang(&k, "b", 2, CLOSED);
	CHECK_STR(pass(&k), "");
	gone(&k, "a-1");
	tell(&k, again);
	CHECK_STR(pass(&k), "+a-2 lab/tfjobs/a");
	gone(&k, "a-2");
	tell(&k, (struct piece){ .gang = "", .name = "x", .gpus = 1, .spec = ",'nodeName':'n0'" });
	tell(&k, again);
	CHECK_STR(pass(&k), "");
	say(&k);
	CHECK_STR(state(&k, "lab/tfjobs/a"),
		  "in queue batch; 1 of its 2 pods run; another needs 1 GPU on one node, none is free");
	door_done(&k);
}

TEST("pods on their way out take room, and do not make a new gang of that name begun")
{
	struct door k = door_new(1);

	tell(&k, (struct piece){ .gang = "tfjobs/a",
				 .name = "old",
				 .size = 2,
				 .gpus = 1,
				 .spec = ",'nodeName':'n0'",
				 .more = ",'status':{'phase':'Running'}" });
	CHECK_STR(state(&k, "lab/tfjobs/a"), "in");
	json_auto_t *leaving = make(
		&(struct piece){ .gang = "tfjobs/a", .name = "old", .size = 2, .gpus = 1, .spec = ",'nodeName':'n0'" });

	jsonx_set_new(leaving, "metadata.deletionTimestamp", json_string("2026-01-01T00:00:00Z"));
	gate_plan_pod(k.p, leaving, true, k.now);
	tell_gang(&k, "a", 2, CLOSED);
	CHECK_STR(pass(&k), "");
	gone(&k, "old");
	CHECK_STR(pass(&k), "+a-0 +a-1 lab/tfjobs/a");
	door_done(&k);
}

TEST("a gate that could not be opened is tried again")
{
	struct door k = door_new(1);

	tell_gang(&k, "a", 2, CLOSED);
	CHECK_STR(pass(&k), "+a-0 +a-1 lab/tfjobs/a");
	gate_plan_failed(k.p, "u-a-1");
	CHECK_STR(pass(&k), "+a-1 lab/tfjobs/a");
	tell(&k, (struct piece){ .gang = "tfjobs/a", .name = "a-1", .size = 2, .gpus = 1 });
	gate_plan_failed(k.p, "u-a-1"); /* a late answer: it is open */
	CHECK_STR(pass(&k), "");
	door_done(&k);
}

TEST("gates of others are waited for")
{
	struct door k = door_new(1);

	tell(&k, (struct piece){ .gang = "tfjobs/a",
				 .name = "a-0",
				 .size = 1,
				 .gpus = 1,
				 .spec = ",'schedulingGates':[{'name':'stoker.dev/queue'},{'name':'x'}]" });
	CHECK_STR(pass(&k), "");
	tell(&k, (struct piece){ .gang = "tfjobs/a", .name = "a-0", .size = 1, .gpus = 1, .spec = CLOSED });
	CHECK_STR(pass(&k), "+a-0 lab/tfjobs/a");
	door_done(&k);
}

/* ---- wishes ---- */

/* "10": of two pods the first may be made. */
static const char *wish(struct door *k, const char *name, int n, int64_t since)
{
	static char out[16];
	auto_free char *gang = xasprintf("tfjobs/%s", name);
	json_t *pods[8];
	bool go[8];

	for (int i = 0; i < n; i++) {
		char pod[32];

		snprintf(pod, sizeof(pod), "%s-%d", name, i);
		pods[i] = make(&(struct piece){ .gang = gang, .name = pod, .size = n, .gpus = 1 });
		json_object_del(json_object_get(pods[i], "metadata"), "uid");
		json_object_del(json_object_get(pods[i], "metadata"), "namespace");
	}
	gate_plan_wish(
		k->p, &(struct gate_wish){ .ns = "lab", .gang = gang, .pods = pods, .n = (size_t)n, .since_ms = since },
		go, k->now);
	for (int i = 0; i < n; i++) {
		out[i] = go[i] ? '1' : '0';
		json_decref(pods[i]);
	}
	out[n] = 0;
	return out;
}

TEST("pods that are not made yet wait like others, and those that are made take their seats")
{
	struct door k = door_new(2);

	CHECK_STR(wish(&k, "a", 3, 1000), "000");
	CHECK_STR(wish(&k, "b", 2, 2000), "00");
	CHECK_STR(pass(&k), "lab/tfjobs/a");
	CHECK_STR(wish(&k, "a", 3, 1000), "111");
	CHECK_STR(wish(&k, "b", 2, 2000), "00");
	CHECK_STR(say(&k), "lab/tfjobs/b");
	CHECK(strstr(state(&k, "lab/tfjobs/b"), "needs room for 2 pods at once with 1 GPU each, there is room for 1"));
	tell_gang(&k, "a", 3, "");
	CHECK_STR(wish(&k, "a", 0, 1000), "");
	CHECK_STR(pass(&k), "");
	CHECK_STR(state(&k, "lab/tfjobs/a"), "in");
	gone(&k, "a-0");
	CHECK_STR(pass(&k), "lab/tfjobs/b");
	CHECK_STR(wish(&k, "b", 2, 2000), "11");
	door_done(&k);
}

TEST("half-made gangs are waited for after a crash, before others take their room")
{
	struct door k = door_new(2);

	tell(&k, (struct piece){ .gang = "tfjobs/z", .name = "z-0", .size = 3, .gpus = 1 });
	wish(&k, "a", 3, 1000);
	CHECK_STR(pass(&k), "");
	CHECK_STR(wish(&k, "z", 3, 2000), "000");
	CHECK_STR(pass(&k), "lab/tfjobs/z");
	door_done(&k);
	k = door_new(2);
	tell(&k, (struct piece){ .gang = "tfjobs/z", .name = "z-0", .size = 3, .gpus = 1 });
	tell_gang(&k, "a", 3, CLOSED);
	CHECK_STR(pass(&k), "");
	CHECK_INT(k.d.next_ms, k.now + GATE_BACK_MS);
	k.now += GATE_BACK_MS; /* nobody looks after it */
	CHECK_STR(pass(&k), "+a-0 +a-1 +a-2 lab/tfjobs/a");
	door_done(&k);
}

TEST("what is not wished for any more holds nothing")
{
	struct door k = door_new(1);

	wish(&k, "a", 2, 1000);
	wish(&k, "b", 2, 2000);
	CHECK_STR(pass(&k), "lab/tfjobs/a");
	wish(&k, "a", 0, 1000);
	CHECK_STR(state(&k, "lab/tfjobs/a"), "unknown");
	CHECK_STR(pass(&k), "lab/tfjobs/b");
	door_done(&k);
}

TEST("the older job goes first, in whatever order they are told")
{
	struct door k = door_new(1);

	wish(&k, "young", 2, 9000000);
	wish(&k, "old", 2, 1000000);
	CHECK_STR(pass(&k), "lab/tfjobs/old");
	door_done(&k);
}

TEST("when nothing is held any more all gates are opened")
{
	struct door k = door_new(0);

	tell_gang(&k, "a", 2, CLOSED);
	tell_gang(&k, "b", 1, "");
	gate_plan_open_all(k.p, &k.d);
	CHECK_INT(k.d.n, 2);
	CHECK_INT(k.d.items[0].what, GATE_OPEN);
	door_done(&k);
}

TEST("which versions have gates")
{
	static const struct {
		const char *version;
		bool has;
	} rows[] = {
		{ "{'major':'1','minor':'20'}", false }, { "{'major':'1','minor':'26+'}", false },
		{ "{'major':'1','minor':'27+'}", true }, { "{'major':'1','minor':'34'}", true },
		{ "{'major':'2','minor':'0'}", true },   { "{}", false },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		json_auto_t *version = sample_json(rows[i].version);

		CHECK(gate_version_has(version) == rows[i].has);
	}
}
