// SPDX-License-Identifier: Apache-2.0
/* Events against a client that only remembers what it is asked to write. */
#include "client/events.h"

#include <time.h>

#include "base/jsonx.h"
#include "base/log.h"
#include "base/mem.h"
#include "client/events_limit.h"
#include "test.h"

struct counter {
	struct client base;
	int creates, patches;
	enum err_kind answer; /* to patches */
	json_t *last, *patch;
};

static void on_create(struct client *c, const struct ref *ref, const json_t *obj, client_done *done, void *arg)
{
	struct counter *k = (struct counter *)c;
	struct err e = ERR_INIT;

	(void)ref;
	k->creates++;
	json_decref(k->last);
	k->last = jsonx_copy(obj);
	done(arg, obj, &e);
}

static void on_patch(struct client *c, const struct ref *ref, const char *type, const json_t *patch, client_done *done,
		     void *arg)
{
	struct counter *k = (struct counter *)c;
	struct err e = ERR_INIT;

	(void)ref;
	(void)type;
	k->patches++;
	json_decref(k->patch);
	k->patch = jsonx_copy(patch);
	if (k->answer != ERR_NONE)
		err_set(&e, k->answer, "no");
	done(arg, k->answer == ERR_NONE ? patch : NULL, &e);
}

static const struct client_ops counter_ops = { .create = on_create, .patch = on_patch };

static struct counter counter_new(void)
{
	return (struct counter){ .base = { .ops = &counter_ops, .loop = loop_new() } };
}

static void counter_done(struct counter *k)
{
	json_decref(k->last);
	json_decref(k->patch);
	loop_free(k->base.loop);
}

static json_t *a_pod(const char *name)
{
	return json_pack("{s:s, s:s, s:{s:s, s:s, s:s}}", "kind", "Pod", "apiVersion", "v1", "metadata", "name", name,
			 "namespace", "lab", "uid", name);
}

TEST("an event names the object and its part, and the same again is only counted")
{
	struct counter k = counter_new();
	struct events *ev = events_new(&k.base, "kubelet", "box");
	json_auto_t *pod = a_pod("a");

	events_note_field(ev, pod, "spec.containers{main}", "Normal", "Started", "Started container %s", "main");
	CHECK_INT(k.creates, 1);
	CHECK_STR(jsonx_str(k.last, "involvedObject.fieldPath"), "spec.containers{main}");
	CHECK_STR(jsonx_str(k.last, "involvedObject.uid"), "a");
	CHECK_STR(jsonx_str(k.last, "metadata.namespace"), "lab");
	CHECK_STR(jsonx_str(k.last, "message"), "Started container main");
	CHECK_STR(jsonx_str(k.last, "source.host"), "box");
	for (int i = 0; i < 100; i++)
		events_note_field(ev, pod, "spec.containers{main}", "Normal", "Started", "Started container main");
	CHECK_INT(k.creates, 1);
	CHECK_INT(k.patches, 0);
	events_note(ev, pod, "Normal", "Started", "Started container main");
	CHECK_INT(k.creates, 2);
	CHECK(!jsonx_at(k.last, "involvedObject.fieldPath"));
	events_free(ev);
	counter_done(&k);
}

TEST("what is counted within a second is written when it is over")
{
	struct counter k = counter_new();
	struct events *ev = events_new(&k.base, "kubelet", NULL);
	json_auto_t *pod = a_pod("a");

	for (int i = 0; i < 7; i++)
		events_note(ev, pod, "Warning", "BackOff", "again");
	CHECK_INT(jsonx_int_or(k.last, "count", 0), 1);
	while (!k.patches)
		loop_turn(k.base.loop, false);
	CHECK_INT(jsonx_int_or(k.patch, "count", 0), 7);
	CHECK(jsonx_str(k.patch, "lastTimestamp") != NULL);
	CHECK_INT(k.creates, 1);
	events_free(ev);
	counter_done(&k);
}

TEST("an event that is not there any more is made again with its count")
{
	struct counter k = counter_new();
	struct events *ev = events_new(&k.base, "kubelet", NULL);
	json_auto_t *pod = a_pod("a");

	k.answer = ERR_NOT_FOUND;
	for (int i = 0; i < 3; i++)
		events_note(ev, pod, "Warning", "BackOff", "again");
	while (k.creates < 2)
		loop_turn(k.base.loop, false);
	CHECK_INT(k.patches, 1);
	CHECK_INT(jsonx_int_or(k.last, "count", 0), 3);
	CHECK_STR(jsonx_str(k.last, "message"), "again");
	events_free(ev);
	counter_done(&k);
}

TEST("many similar events become one")
{
	struct counter k = counter_new();
	struct events *ev = events_new(&k.base, "job-controller", NULL);
	json_auto_t *job = a_pod("a");

	for (int i = 0; i < 1000; i++)
		events_note(ev, job, "Normal", "SuccessfulCreate", "Created pod: a-%d", i);
	CHECK_INT(k.creates, EVENTS_SIMILAR);
	CHECK_STR(jsonx_str(k.last, "message"), "(combined from similar events): Created pod: a-9");
	while (!k.patches)
		loop_turn(k.base.loop, false);
	CHECK_INT(jsonx_int_or(k.patch, "count", 0), 991);
	CHECK_STR(jsonx_str(k.patch, "message"), "(combined from similar events): Created pod: a-999");
	events_free(ev);
	counter_done(&k);
}

TEST("an object that has much to say does not keep others from saying something")
{
	struct counter k = counter_new();
	struct events *ev = events_new(&k.base, "kubelet", NULL);
	json_auto_t *loud = a_pod("a");
	json_auto_t *quiet = a_pod("b");

	log_set_level(LOG_ERROR);
	for (int i = 0; i < 100; i++) {
		auto_free char *reason = xasprintf("Reason%d", i);

		events_note(ev, loud, "Normal", reason, "something");
	}
	CHECK_INT(k.creates, EVENTS_BURST);
	events_note(ev, quiet, "Normal", "Some", "thing");
	CHECK_INT(k.creates, EVENTS_BURST + 1);
	events_free(ev);
	counter_done(&k);
}

TEST("events of all components have names in the order of time")
{
	struct counter k = counter_new();
	struct events *first = events_new(&k.base, "scheduler", NULL);
	struct events *second = events_new(&k.base, "kubelet", NULL);
	json_auto_t *pod = a_pod("a");
	char before[64] = "";

	for (int i = 0; i < 6; i++) {
		const struct timespec pause = { .tv_nsec = 2000 };

		nanosleep(&pause, NULL);
		events_note(i % 2 ? first : second, pod, "Normal", "Some", "number %d", i);
		CHECK(strcmp(jsonx_str(k.last, "metadata.name"), before) > 0);
		snprintf(before, sizeof(before), "%s", jsonx_str(k.last, "metadata.name"));
	}
	events_free(first);
	events_free(second);
	counter_done(&k);
}
