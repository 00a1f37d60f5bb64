// SPDX-License-Identifier: Apache-2.0
#include "control/workqueue.h"

#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/str.h"
#include "test.h"

struct desk {
	struct loop *loop;
	struct workqueue *q;
	char seen[2000];
	int64_t slow_ns; /* that each look takes */
	const char *again;
};

static void look(void *arg, const char *key)
{
	struct desk *d = arg;
	int64_t end = clock_mono_ns() + d->slow_ns;

	snprintf(d->seen + strlen(d->seen), sizeof(d->seen) - strlen(d->seen), "%s ", key);
	while (d->slow_ns && clock_mono_ns() < end)
		;
	if (d->again && streq(d->again, key))
		workqueue_add(d->q, key);
}

static void desk_init(struct desk *d)
{
	*d = (struct desk){ .loop = loop_new() };
	d->q = workqueue_new(d->loop, look, d);
	workqueue_start(d->q);
}

static void desk_done(struct desk *d)
{
	workqueue_free(d->q);
	loop_free(d->loop);
}

TEST("a key is looked at once, however often it was put in, and in order")
{
	struct desk d;

	desk_init(&d);
	workqueue_add(d.q, "b");
	workqueue_add(d.q, "a");
	workqueue_add(d.q, "b");
	CHECK_STR(d.seen, "");
	loop_turn(d.loop, true);
	CHECK_STR(d.seen, "b a ");
	loop_turn(d.loop, true);
	CHECK_STR(d.seen, "b a ");
	CHECK_INT(workqueue_counts(d.q).added, 2);
	CHECK_INT(workqueue_counts(d.q).looked, 2);
	desk_done(&d);
}

TEST("what is put in while looking waits for the next turn")
{
	struct desk d;

	desk_init(&d);
	d.again = "a";
	workqueue_add(d.q, "a");
	workqueue_add(d.q, "b");
	loop_turn(d.loop, true);
	CHECK_STR(d.seen, "a b ");
	d.again = NULL;
	loop_turn(d.loop, true);
	CHECK_STR(d.seen, "a b a ");
	desk_done(&d);
}

TEST("looking takes a bounded part of a turn")
{
	struct desk d;
	char key[8];

	desk_init(&d);
	d.slow_ns = 4 * 1000000;
	for (int i = 0; i < 9; i++) {
		snprintf(key, sizeof(key), "%d", i);
		workqueue_add(d.q, key);
	}
	loop_turn(d.loop, true);
	CHECK(strlen(d.seen) < strlen("0 1 2 3 4 ") + 1);
	CHECK(workqueue_counts(d.q).ready >= 4);
	for (int i = 0; i < 9; i++)
		loop_turn(d.loop, true);
	CHECK_STR(d.seen, "0 1 2 3 4 5 6 7 8 ");
	desk_done(&d);
}

TEST("keys come at their time, the earliest time counts, and now is before all of them")
{
	struct desk d;

	desk_init(&d);
	workqueue_add_after(d.q, "c", 30);
	workqueue_add_after(d.q, "b", 20);
	workqueue_add_after(d.q, "a", 10000);
	workqueue_add_after(d.q, "a", 5);
	workqueue_add_after(d.q, "a", 9000);
	workqueue_add_after(d.q, "far", 100000);
	workqueue_add_after(d.q, "d", 1000);
	workqueue_add(d.q, "d");
	CHECK_INT(workqueue_counts(d.q).later, 4);
	for (int64_t end = clock_mono_ms() + 200; clock_mono_ms() < end;) {
		loop_turn(d.loop, true);
		usleep(1000);
	}
	CHECK_STR(d.seen, "d a b c ");
	CHECK_INT(workqueue_counts(d.q).later, 1);
	desk_done(&d);
}

TEST("a heap of many keys comes out in order")
{
	struct desk d;
	char key[8];

	desk_init(&d);
	for (int i = 0; i < 60; i++) {
		snprintf(key, sizeof(key), "%02d", i * 37 % 60);
		workqueue_add_after(d.q, key, 1 + i * 37 % 60 * 2);
	}
	for (int i = 0; i < 60; i += 2) {
		snprintf(key, sizeof(key), "%02d", i);
		workqueue_add_after(d.q, key, 1 + i); /* earlier than before */
	}
	for (int64_t end = clock_mono_ms() + 300; clock_mono_ms() < end;) {
		loop_turn(d.loop, true);
		usleep(200);
	}
	CHECK_INT(strlen(d.seen), 180);
	CHECK_INT(workqueue_counts(d.q).later, 0);
	desk_done(&d);
}

TEST("a failure comes back ever later, until it is forgotten")
{
	struct desk d;

	desk_init(&d);
	workqueue_retry(d.q, "a");
	CHECK_INT(workqueue_failures(d.q, "a"), 1);
	CHECK_INT(workqueue_counts(d.q).later, 1);
	workqueue_retry(d.q, "b");
	workqueue_retry(d.q, "b");
	CHECK_INT(workqueue_failures(d.q, "b"), 2);
	loop_turn(d.loop, true);
	CHECK_STR(d.seen, "");
	workqueue_forget(d.q, "b");
	CHECK_INT(workqueue_failures(d.q, "b"), 0);
	CHECK_INT(workqueue_failures(d.q, "never seen"), 0);
	workqueue_forget(d.q, "never seen");
	desk_done(&d);
}

TEST("nothing is looked at before the start")
{
	struct desk d = { .loop = loop_new() };

	d.q = workqueue_new(d.loop, look, &d);
	workqueue_add(d.q, "a");
	workqueue_add_after(d.q, "b", 0);
	loop_turn(d.loop, true);
	CHECK_STR(d.seen, "");
	workqueue_start(d.q);
	loop_turn(d.loop, true);
	loop_turn(d.loop, true);
	CHECK_STR(d.seen, "a b ");
	desk_done(&d);
}
