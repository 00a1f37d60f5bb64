// SPDX-License-Identifier: Apache-2.0
/* Events against a client that only counts what it is asked to write. */
#include "client/events.h"

#include <time.h>

#include "base/jsonx.h"
#include "test.h"

struct counter {
	struct client base;
	int creates, patches;
	json_t *last;
};

static void on_create(struct client *c, const struct ref *ref, const json_t *obj, client_done *done, void *arg)
{
	struct counter *k = (struct counter *)c;

	(void)ref;
	(void)done;
	(void)arg;
	k->creates++;
	json_decref(k->last);
	k->last = jsonx_copy(obj);
}

static void on_patch(struct client *c, const struct ref *ref, const char *type, const json_t *patch, client_done *done,
		     void *arg)
{
	(void)ref;
	(void)type;
	(void)patch;
	(void)done;
	(void)arg;
	((struct counter *)c)->patches++;
}

static const struct client_ops counter_ops = { .create = on_create, .patch = on_patch };

TEST("an event names the object and its part, and the same again is only counted")
{
	struct counter k = { .base = { .ops = &counter_ops } };
	struct events *ev = events_new(&k.base, "kubelet", "box");
	json_t *pod = json_pack("{s:s, s:s, s:{s:s, s:s, s:s}}", "kind", "Pod", "apiVersion", "v1", "metadata", "name",
				"a", "namespace", "lab", "uid", "u1");

	events_note_field(ev, pod, "spec.containers{main}", "Normal", "Started", "Started container %s", "main");
	CHECK_INT(k.creates, 1);
	CHECK_STR(jsonx_str(k.last, "involvedObject.fieldPath"), "spec.containers{main}");
	CHECK_STR(jsonx_str(k.last, "involvedObject.uid"), "u1");
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
	json_decref(pod);
	json_decref(k.last);
	events_free(ev);
}

TEST("events of all components have names in the order of time")
{
	struct counter k = { .base = { .ops = &counter_ops } };
	struct events *first = events_new(&k.base, "scheduler", NULL);
	struct events *second = events_new(&k.base, "kubelet", NULL);
	json_auto_t *pod = json_pack("{s:{s:s, s:s, s:s}}", "metadata", "name", "a", "namespace", "lab", "uid", "u1");
	char before[64] = "";

	for (int i = 0; i < 6; i++) {
		const struct timespec pause = { .tv_nsec = 2000 };

		nanosleep(&pause, NULL);
		events_note(i % 2 ? first : second, pod, "Normal", "Some", "number %d", i);
		CHECK(strcmp(jsonx_str(k.last, "metadata.name"), before) > 0);
		snprintf(before, sizeof(before), "%s", jsonx_str(k.last, "metadata.name"));
	}
	json_decref(k.last);
	events_free(first);
	events_free(second);
}
