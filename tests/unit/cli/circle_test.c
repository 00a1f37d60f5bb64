// SPDX-License-Identifier: Apache-2.0
#include "cli/circle.h"

#include "about_text.h"

#define EVENT(kind_, name_, uid_, message_)                                                                            \
	"{'message':'" message_ "','involvedObject':{'kind':'" kind_ "','namespace':'lab','name':'" name_              \
	"','uid':'" uid_ "'}}"

/* The names of the objects whose events were chosen. */
static void expect(struct circle *c, const char *events, const char *names)
{
	json_auto_t *all = about_json(events);
	json_auto_t *chosen = circle_events(c, all);
	auto_sbuf struct sbuf got = SBUF(1024);

	for (size_t i = 0; i < json_array_size(chosen); i++)
		sbuf_addf(&got, "%s%s", i ? " " : "", jsonx_str(json_array_get(chosen, i), "involvedObject.name"));
	CHECK_STR(got.n ? got.p : "", names);
}

#define EVENTS                                                                                                                   \
	"[" EVENT("Pod", "web-1-a", "p1", "Scheduled") "," EVENT("ReplicaSet", "web-1", "r1", "Created pod: web-1-a") "," EVENT( \
		"Deployment", "web", "d1",                                                                                       \
		"Scaled up replica set web-1 from 0 to 1") "," EVENT("Deployment", "web", "d0",                                  \
								     "Scaled up replica set web-0 to 1") "," EVENT("P"           \
														   "o"           \
														   "d",          \
														   "w"           \
														   "e"           \
														   "b",          \
														   "p"           \
														   "9",          \
														   "o"           \
														   "t"           \
														   "h"           \
														   "e"           \
														   "r") "]"

TEST("a workload's events are also those of what it made, known by the events themselves")
{
	json_auto_t *obj = about_json("{'metadata':{'name':'web','uid':'d1'}}");
	struct circle c;

	circle_init(&c);
	circle_add(&c, "Deployment", obj);
	expect(&c, EVENTS, "web-1-a web-1 web");
	circle_done(&c);
}

TEST("of what is deleted the name is enough, with its kind if that was said")
{
	struct circle c;

	circle_init(&c);
	circle_add_name(&c, "Deployment", "lab", "web");
	expect(&c, EVENTS, "web-1-a web-1 web web");
	circle_done(&c);
	circle_init(&c);
	circle_add_name(&c, NULL, "lab", "web");
	expect(&c, EVENTS, "web-1-a web-1 web web web");
	circle_done(&c);
	circle_init(&c);
	circle_add_name(&c, NULL, "elsewhere", "web");
	expect(&c, EVENTS, "");
	circle_done(&c);
}

TEST("a node's events carry its name where the uid belongs")
{
	json_auto_t *obj = about_json("{'metadata':{'name':'vm','uid':'n1'}}");
	struct circle c;

	circle_init(&c);
	circle_add(&c, "Node", obj);
	expect(&c,
	       "[{'involvedObject':{'kind':'Node','name':'vm','uid':'vm'}},"
	       "{'involvedObject':{'kind':'Node','name':'vm2','uid':'vm2'}}]",
	       "vm");
	circle_done(&c);
}
