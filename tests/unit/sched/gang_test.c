// SPDX-License-Identifier: Apache-2.0
/* Gangs are written in words: the room of the node in CPUs, who has a node already, and who waits as
 * NAME:GANG/SIZE*CPUS.
 */
#include "sched/gang.h"

#include "api/sample_json.h"
#include "base/jsonx.h"
#include "base/mem.h"
#include "test.h"

#define MOST 10

struct scene {
	struct fit *fit;
	struct gangs gangs;
	struct waiting *waiting[MOST];
	size_t n;
};

static json_t *pod_of(const char *name, const char *gang, int size, int cpus)
{
	auto_free char *text = xasprintf(
		"{'metadata':{'name':'%s','uid':'%s','namespace':'ns','annotations':{'stoker.dev/gang':'%s',"
		"'stoker.dev/gang-size':'%d'}},'spec':{'containers':[{'resources':{'requests':{'cpu':'%d'}}}]}}",
		name, name, gang, size, cpus);

	return sample_json(text);
}

static void add(struct scene *s, const char *name, const char *gang, int size, int cpus, bool bound)
{
	json_auto_t *pod = pod_of(name, gang, size, cpus);
	struct shape *shape = fit_shape(s->fit, pod);

	if (bound) {
		fit_put_pod(s->fit, name, shape, "n");
		gangs_bound(&s->gangs, pod, name);
		fit_drop_shape(s->fit, shape);
		return;
	}
	s->waiting[s->n] = waiting_new(pod);
	s->waiting[s->n]->shape = shape;
	gangs_wait(&s->gangs, pod, s->waiting[s->n++]);
}

/* Words: "a:x/3*1" waits, "a:x/3*1!" has a node. */
static struct scene scene_new(int room, const char *words)
{
	struct scene s = { .fit = fit_new() };
	auto_free char *text =
		xasprintf("{'metadata':{'name':'n'},'status':{'conditions':[{'type':'Ready','status':'True'}],"
			  "'allocatable':{'cpu':'%d','pods':'100'}}}",
			  room);
	json_auto_t *node = sample_json(text);
	struct str rest = str_of(words);
	struct str word;

	fit_set_node(s.fit, node);
	gangs_init(&s.gangs);
	while (str_split(&rest, ' ', &word)) {
		char name[20], gang[20];
		int size = 0, cpus = 0;
		auto_free char *one = xstrndup(word.p, word.n);

		if (sscanf(one, "%19[^:]:%19[^/]/%d*%d", name, gang, &size, &cpus) == 4)
			add(&s, name, gang, size, cpus, strchr(one, '!'));
	}
	return s;
}

static void scene_done(struct scene *s)
{
	for (size_t i = 0; i < s->n; i++) {
		gangs_leave(&s->gangs, s->waiting[i]);
		fit_drop_shape(s->fit, s->waiting[i]->shape);
		waiting_free(s->waiting[i]);
	}
	gangs_done(&s->gangs);
	fit_free(s->fit);
}

/* Who would be bound, in the order of the queue. */
static const char *walk(struct scene *s)
{
	static char out[200];
	auto_sbuf struct sbuf text = SBUF(sizeof(out) - 1);

	gangs_complete(&s->gangs, s->fit);
	for (size_t i = 0; i < s->n; i++) {
		struct waiting *w = s->waiting[i];
		const char *node = NULL;

		if (!w->gang || gang_place(w->gang, s->fit))
			node = w->placed ? fit_node_of(s->fit, w->uid) : fit_find(s->fit, w->shape);
		if (node) {
			fit_put_pod(s->fit, w->uid, w->shape, node);
			w->binding = true;
			sbuf_addf(&text, "%s%s", text.n ? " " : "", w->name);
		}
	}
	snprintf(out, sizeof(out), "%s", text.p ? text.p : "");
	return out;
}

TEST("pods of a gang get nodes together or not at all")
{
	static const struct {
		int room;
		const char *words, *bound, *why;
	} rows[] = {
		{ 4, "a:x/3*1 b:x/3*1 c:x/3*1", "a b c", NULL },
		{ 3, "a:x/3*1 b:x/3*1 c:x/3*1", "a b c", NULL },
		{ 2, "a:x/3*1 b:x/3*1 c:x/3*1", "",
		  "0/1 nodes are available: 1 Insufficient cpu. 2 of the 3 pods of gang x would find room" },
		/* not all have been made yet */
		{ 9, "a:x/3*1 b:x/3*1", "", "2 of the 3 pods of gang x are there" },
		/* two gangs that each need everything: the first gets it, the other nothing */
		{ 4, "a:x/2*2 b:y/2*2 c:x/2*2 d:y/2*2", "a c", NULL },
		{ 3, "a:x/2*2 b:y/2*2 c:x/2*2 d:y/2*2", "",
		  "0/1 nodes are available: 1 Insufficient cpu. 1 of the 2 pods of gang x would find room" },
		/* what a gang leaves is for others */
		{ 3, "a:x/2*2 b:x/2*2 c:one/1*2 d:one/1*1", "c d", NULL },
		/* a gang that has begun takes what it gets */
		{ 2, "a:x/3*1! b:x/3*1", "b", NULL },
		{ 1, "a:x/3*1! b:x/3*1", "", NULL },
		/* and before everybody else, as far as it is not complete */
		{ 4, "z:one/1*1 a:x/4*1! b:x/4*1! c:x/4*1 d:x/4*1", "c d", NULL },
		{ 4, "y:g/2*1 z:g/2*1 a:x/4*1! b:x/4*1! c:x/4*1 d:x/4*1", "c d", NULL },
		{ 3, "z:one/1*1 a:x/2*1! b:x/2*1! c:x/2*1 d:x/2*1", "z", NULL },
		{ 3, "z:one/1*2 a:x/2*1! b:x/2*1 c:x/2*1", "b c", NULL },
		/* what does not help it is left to others */
		{ 3, "z:one/1*1 a:x/2*2! b:x/2*2", "z", NULL },
		/* some are enough */
		{ 3, "a:x/2*1 b:x/2*1 c:x/2*1 d:x/2*1", "a b c", NULL },
		{ 1, "a:x/2*1 b:x/2*1 c:x/2*1", "",
		  "0/1 nodes are available: 1 Insufficient cpu. 1 of the 2 pods of gang x would find room" },
		/* the large one does not fit beside the small ones */
		{ 4, "a:x/3*1 b:x/3*1 c:x/3*3", "",
		  "0/1 nodes are available: 1 Insufficient cpu. 2 of the 3 pods of gang x would find room" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct scene s = scene_new(rows[i].room, rows[i].words);

		CHECK_STR(walk(&s), rows[i].bound);
		if (rows[i].why)
			CHECK_STR(gang_why(s.waiting[0]->gang), rows[i].why);
		scene_done(&s);
	}
}

TEST("a gang that found no room is tried again when there may be some, and takes nothing meanwhile")
{
	struct scene s = scene_new(3, "z:one/1*2! a:x/2*1 b:x/2*1");

	CHECK_STR(walk(&s), "");
	CHECK(!fit_node_of(s.fit, "a"));
	CHECK(!gang_place(s.waiting[0]->gang, s.fit));
	fit_take_pod(s.fit, "z");
	CHECK_STR(walk(&s), "a b");
	scene_done(&s);
}

TEST("a gang is forgotten with its last pod")
{
	struct scene s = scene_new(3, "a:x/2*1! b:x/2*1");

	gangs_leave(&s.gangs, s.waiting[0]);
	CHECK(map_find(&s.gangs.by_key, "ns/x"));
	gangs_gone(&s.gangs, "a");
	CHECK(!map_find(&s.gangs.by_key, "ns/x"));
	scene_done(&s);
}
