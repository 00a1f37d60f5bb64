// SPDX-License-Identifier: Apache-2.0
/* compact_test.c - history ends somewhere, and so does the file */
#include "util.h"

/* Compacts until there is nothing left to do, as the loop would. */
static int compact_all(struct fixture *f)
{
	int steps = 1;

	util_turn(f);
	while (compact_step(f->s)) {
		util_turn(f);
		steps++;
	}
	util_turn(f);
	return steps;
}

TEST("superseded revisions go when they are old enough, live ones stay")
{
	struct fixture f = util_new();

	clock_fake(1000000);
	util_put(&f, f.pods, "a", "kept", "1");
	util_put(&f, f.pods, "a", "changed", "1");
	util_put(&f, f.pods, "a", "gone", "1");
	util_put(&f, f.pods, "a", "changed", "2");
	util_delete(&f, f.pods, "a", "gone");
	util_turn(&f);
	compact_all(&f);
	CHECK_INT(store_oldest(f.s), 0);
	clock_fake(1000000 + 601);
	util_put(&f, f.pods, "a", "changed", "3");
	compact_all(&f);
	CHECK_INT(store_oldest(f.s), 5);
	CHECK_HISTORY(&f, "~a/changed", 0, 5);
	CHECK_HISTORY(&f, "error 9", 0, 4);
	CHECK_LIST(&f, "error 9", .kind = f.pods, .at = 4);
	CHECK_LIST(&f, "~a/changed +a/kept", .kind = f.pods, .at = 5);
	CHECK_LIST(&f, "~a/changed +a/kept", .kind = f.pods);
	CHECK_STR(util_get(&f, f.pods, "a", "changed"), "3");
	clock_fake(-1);
	util_done(&f);
}

TEST("revisions never go back, not even after everything was compacted away")
{
	struct fixture f = util_new();

	clock_fake(1000000);
	for (int i = 0; i < 10; i++)
		util_put(&f, f.pods, "a", "x", "v");
	util_delete(&f, f.pods, "a", "x");
	util_turn(&f);
	clock_fake(1000000 + 601);
	compact_all(&f);
	CHECK_INT(store_oldest(f.s), 11);
	util_close(&f);
	CHECK_INT(util_open(&f), 0);
	CHECK_INT(store_revision(f.s), 11);
	CHECK_INT(store_oldest(f.s), 11);
	CHECK_INT(util_put(&f, f.pods, "a", "x", "v"), 12);
	clock_fake(-1);
	util_done(&f);
}

static void count_deleted(void *arg, const struct change *changes, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (changes[i].op == STORE_DELETED && jsonx_str(changes[i].old, "metadata.name") && changes[i].body.n)
			++*(int *)arg;
}

TEST("events expire after their last change, as ordinary deletions")
{
	struct fixture f = util_new();
	int deleted = 0;
	struct store_subscriber sub = { .fn = count_deleted, .arg = &deleted };

	store_subscribe(f.s, &sub);
	clock_fake(1000000);
	for (int i = 0; i < 700; i++) {
		char name[16];

		snprintf(name, sizeof(name), "e%03d", i);
		util_put(&f, f.events, "a", name, "v");
		util_put(&f, f.pods, "a", name, "v");
	}
	util_turn(&f);
	clock_fake(1000000 + 1800);
	util_put(&f, f.events, "a", "e007", "seen again");
	compact_all(&f);
	CHECK_INT(deleted, 0);
	clock_fake(1000000 + 3600);
	CHECK(compact_all(&f) > 1);
	CHECK_INT(deleted, 699);
	CHECK_LIST(&f, "~a/e007", .kind = f.events);
	CHECK_INT(store_count(f.s, f.pods, NULL), 700);
	clock_fake(1000000 + 5400);
	compact_all(&f);
	CHECK_INT(deleted, 700);
	util_close(&f);
	CHECK_INT(util_open(&f), 0);
	CHECK_LIST(&f, "", .kind = f.events);
	clock_fake(-1);
	util_done(&f);
}

TEST("a step is bounded, but passes what the last turn has made")
{
	static const struct {
		int made; /* in the last turn */
		int least, most;
		/* A step that has no more than it must do may also end for its time, between batches of 32. */
	} rows[] = { { 1, 32, 97 }, { 64, 80, 97 }, { 200, 250, 251 }, { 400, 500, 501 } };

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct fixture f = util_new();

		while (f.s->compact_hook.queued) /* by its opening; again, where that took too long */
			util_turn(&f);
		for (int k = 1; k <= 1000; k++) {
			util_put(&f, f.pods, "a", "x", "v");
			if (k == 1000 - rows[i].made)
				util_turn(&f);
		}
		util_turn(&f);
		f.s->config.history_rows = 10;
		CHECK(compact_step(f.s));
		CHECK(store_oldest(f.s) >= rows[i].least && store_oldest(f.s) <= rows[i].most);
		compact_all(&f);
		CHECK_INT(store_oldest(f.s), 990);
		util_done(&f);
	}
}

TEST("readers need not wait for the commit of a compaction")
{
	struct fixture f = util_new();

	for (int i = 0; i < 300; i++)
		util_put(&f, f.pods, "a", "x", "v");
	CHECK(store_dirty(f.s));
	util_turn(&f);
	f.s->config.history_rows = 10;
	CHECK(compact_step(f.s));
	CHECK(f.s->open && !store_dirty(f.s));
	util_put(&f, f.pods, "a", "x", "v");
	CHECK(store_dirty(f.s));
	util_done(&f);
}

TEST("compaction lets a checkpoint go first, but not for ever")
{
	struct fixture f = util_new();
	int64_t floor;

	for (int i = 0; i < 1000; i++)
		util_put(&f, f.pods, "a", "x", "v");
	util_turn(&f);
	util_turn(&f);
	f.s->config.history_rows = 10;
	util_put(&f, f.pods, "a", "x", "v");
	f.s->wal_frames = STORE_WAL_FRAMES;
	loop_schedule(f.loop, &f.s->checkpoint_hook);
	loop_schedule(f.loop, &f.s->compact_hook);
	floor = store_oldest(f.s);
	f.s->compact_hook.run(f.s);
	CHECK_INT(store_oldest(f.s), floor);
	CHECK(f.s->compact_put_off);
	f.s->compact_hook.run(f.s);
	CHECK(store_oldest(f.s) > floor);
	util_done(&f);
}

TEST("a compaction that cannot be committed is as if it had not been")
{
	struct fixture f = util_new();

	for (int i = 0; i < 100; i++)
		util_put(&f, f.pods, "a", "x", "v");
	util_turn(&f);
	f.s->config.history_rows = 10;
	while (compact_step(f.s)) /* one, unless it takes too long */
		;
	CHECK_INT(store_oldest(f.s), 90);
	vfs_fail(f.s->vfs, &(struct store_fail){ .writes = true, .after = 1, .code = SQLITE_FULL });
	util_turn(&f);
	CHECK_INT(store_oldest(f.s), 0);
	CHECK_INT(store_revision(f.s), 100);
	vfs_fail(f.s->vfs, &(struct store_fail){ 0 });
	f.s->full_timer.fire(f.s);
	util_turn(&f);
	while (f.s->compact_hook.queued)
		util_turn(&f);
	CHECK_INT(store_oldest(f.s), 90);
	util_done(&f);
}

TEST("on a full disk deleted objects leave the file, and it becomes shorter")
{
	struct fixture f = util_new();
	auto_free char *path = util_path(&f, "stoker.db");
	auto_free char *data = xcalloc(1, 20001);
	struct stat before;
	struct stat after;
	char name[16];

	memset(data, 'x', 20000);
	clock_fake(1000000);
	for (int i = 0; i < 200; i++) {
		snprintf(name, sizeof(name), "n%03d", i);
		util_put(&f, f.pods, "a", name, data);
		util_turn(&f);
	}
	vfs_fail(f.s->vfs, &(struct store_fail){ .no_room = true });
	full_enter(f.s);
	util_turn(&f);
	CHECK_INT(stat(path, &before), 0);
	for (int i = 0; i < 190; i++) {
		snprintf(name, sizeof(name), "n%03d", i);
		CHECK(util_delete(&f, f.pods, "a", name) > 0);
	}
	util_turn(&f);
	f.s->full_timer.fire(f.s);
	compact_all(&f);
	CHECK_HISTORY(&f, "-a/n189", f.pods, 389);
	clock_fake(1000000 + 11);
	compact_all(&f);
	CHECK_INT(stat(path, &after), 0);
	CHECK(after.st_size < before.st_size / 4);
	CHECK_INT(store_count(f.s, f.pods, NULL), 10);
	CHECK_STR(store_trouble(f.s), "disk full");
	util_close(&f);
	CHECK_INT(util_open(&f), 0);
	CHECK_INT(store_count(f.s, f.pods, NULL), 10);
	CHECK_INT(store_revision(f.s), 390);
	clock_fake(-1);
	util_done(&f);
}

TEST("the file does not grow for ever under churn")
{
	struct fixture f = util_new();
	auto_free char *path = util_path(&f, "stoker.db");
	char data[1000];
	struct stat st;

	memset(data, 'x', sizeof(data) - 1);
	data[sizeof(data) - 1] = '\0';
	f.s->config.history_rows = 1000;
	for (int i = 0; i < 200000; i++) {
		char name[16];

		snprintf(name, sizeof(name), "lease-%d", i % 5);
		util_put(&f, f.pods, "kube-node-lease", name, data);
		if (i % 250 == 0)
			util_turn(&f);
	}
	util_turn(&f);
	CHECK(store_revision(f.s) - store_oldest(f.s) < 1300);
	CHECK_INT(stat(path, &st), 0);
	CHECK(st.st_size < 6 << 20);
	util_done(&f);
}

TEST("with an empty history no timer is armed")
{
	struct fixture f = util_new();

	util_turn(&f);
	CHECK(!loop_timer_pending(&f.s->compact_timer));
	util_put(&f, f.pods, "a", "x", "v");
	util_turn(&f);
	CHECK(loop_timer_pending(&f.s->compact_timer));
	util_done(&f);
}
