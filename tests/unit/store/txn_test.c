// SPDX-License-Identifier: Apache-2.0
/* txn_test.c - a turn happens as a whole or not at all, and everyone is told which */
#include "util.h"

struct seen {
	struct sbuf text;
	struct fixture *f;
	bool write_back;
};

static void on_changes(void *arg, const struct change *changes, size_t n)
{
	struct seen *seen = arg;

	for (size_t i = 0; i < n; i++)
		sbuf_addf(&seen->text, "%lld%c%s%s%s ", (long long)changes[i].rv, "+~-"[changes[i].op], changes[i].name,
			  changes[i].obj ? "o" : "", changes[i].old ? "p" : "");
	if (seen->write_back) {
		seen->write_back = false;
		util_put(seen->f, seen->f->pods, "a", "back", "v");
	}
}

static void append_after(void *arg, const struct err *e)
{
	sbuf_addf(arg, "[%d]", e->kind);
}

TEST("subscribers hear of a turn's changes in order, then the waiters")
{
	struct fixture f = util_new();
	struct seen seen = { .f = &f };
	struct store_subscriber sub = { .fn = on_changes, .arg = &seen };
	struct store_after one = { .fn = append_after, .arg = &seen.text };
	struct store_after two = one;

	sbuf_init(&seen.text, 4096);
	store_subscribe(f.s, &sub);
	util_put(&f, f.pods, "a", "x", "1");
	store_after(f.s, &one);
	util_put(&f, f.pods, "a", "x", "2");
	util_delete(&f, f.pods, "a", "x");
	store_after(f.s, &two);
	CHECK_STR(sbuf_str(&seen.text).p, "");
	util_turn(&f);
	CHECK_STR(seen.text.p, "1+xo 2~xop 3-xp [0][0]");
	store_unsubscribe(f.s, &sub);
	sbuf_done(&seen.text);
	util_done(&f);
}

TEST("a subscriber may write; its changes come in the next turn")
{
	struct fixture f = util_new();
	struct seen seen = { .f = &f, .write_back = true };
	struct store_subscriber sub = { .fn = on_changes, .arg = &seen };

	sbuf_init(&seen.text, 4096);
	store_subscribe(f.s, &sub);
	util_put(&f, f.pods, "a", "x", "1");
	util_turn(&f);
	CHECK_STR(seen.text.p, "1+xo ");
	util_turn(&f);
	CHECK_STR(seen.text.p, "1+xo 2+backo ");
	sbuf_done(&seen.text);
	util_done(&f);
}

TEST("a reader of a clean turn is answered in that turn, a cancelled one never")
{
	struct fixture f = util_new();
	struct store_after read = { .fn = util_on_after, .arg = &f };
	struct store_after gone = read;
	struct store_after last = read;

	store_after(f.s, &read);
	store_after(f.s, &gone);
	store_after(f.s, &last);
	store_after_cancel(&gone);
	store_after_cancel(&gone);
	store_after_cancel(&last);
	store_after(f.s, &last);
	util_turn(&f);
	CHECK_INT(f.after_calls, 2);
	CHECK_INT(f.after_err.kind, ERR_NONE);
	util_turn(&f);
	CHECK_INT(f.after_calls, 2);
	util_done(&f);
}

static void fail_writes(struct fixture *f, int after, int code)
{
	vfs_fail(f->s->vfs, &(struct store_fail){ .writes = true, .after = after, .code = code });
}

static void fail_syncs(struct fixture *f, int code)
{
	vfs_fail(f->s->vfs, &(struct store_fail){ .syncs = true, .after = 1, .code = code });
}

TEST("a commit that fails undoes the turn, tells every waiter and gives the revisions out again")
{
	/* The commit of one small object writes a few times: fail at each. */
	for (int at = 1; at <= 4; at++) {
		struct fixture f = util_new();
		struct seen seen = { .f = &f };
		struct store_subscriber sub = { .fn = on_changes, .arg = &seen };
		struct store_after waiter = { .fn = util_on_after, .arg = &f };

		sbuf_init(&seen.text, 4096);
		util_put(&f, f.pods, "a", "before", "v");
		util_turn(&f);
		store_subscribe(f.s, &sub);
		CHECK_INT(util_put(&f, f.events, "a", "x", "1"), 2);
		store_after(f.s, &waiter);
		fail_writes(&f, at, SQLITE_FULL);
		util_turn(&f);
		CHECK_INT(f.after_calls, 1);
		CHECK_INT(f.after_err.kind, ERR_STORAGE_FULL);
		CHECK_INT(seen.text.n, 0);
		CHECK(!store_exists(f.s, f.events, "a", "x"));
		CHECK_INT(store_revision(f.s), 1);
		CHECK_STR(util_get(&f, f.pods, "a", "before"), "v");
		vfs_fail(f.s->vfs, &(struct store_fail){ 0 });
		f.s->full_timer.fire(f.s);
		CHECK_INT(util_put(&f, f.events, "a", "x", "again"), 2);
		util_turn(&f);
		util_close(&f);
		CHECK_INT(util_open(&f), 0);
		CHECK_STR(util_get(&f, f.events, "a", "x"), "again");
		sbuf_done(&seen.text);
		util_done(&f);
	}
}

TEST("after a failed fsync nothing succeeds any more, but reads go on")
{
	struct fixture f = util_new();
	struct store_after waiter = { .fn = util_on_after, .arg = &f };

	util_put(&f, f.pods, "a", "before", "v");
	util_turn(&f);
	CHECK_STR(store_trouble(f.s), NULL);
	util_put(&f, f.pods, "a", "x", "1");
	store_after(f.s, &waiter);
	fail_syncs(&f, SQLITE_IOERR_FSYNC);
	util_turn(&f);
	CHECK_INT(f.after_calls, 1);
	CHECK_INT(f.after_err.kind, ERR_INTERNAL);
	vfs_fail(f.s->vfs, &(struct store_fail){ 0 });
	CHECK(store_trouble(f.s) && strstr(store_trouble(f.s), "I/O error"));
	CHECK_INT(util_put(&f, f.pods, "a", "y", "1"), -1);
	CHECK_INT(f.e.kind, ERR_UNAVAILABLE);
	CHECK_INT(util_delete(&f, f.pods, "a", "before"), -1);
	CHECK_STR(util_get(&f, f.pods, "a", "before"), "v");
	util_close(&f);
	CHECK_INT(util_open(&f), 0);
	CHECK_STR(util_get(&f, f.pods, "a", "before"), "v");
	CHECK(util_put(&f, f.pods, "a", "y", "1") > 0);
	util_done(&f);
}

/* A pod's metadata changes from `old` to `new`. */
static int leave(struct fixture *f, json_t *old, json_t *new)
{
	json_auto_t *before = json_pack("{s:o}", "metadata", old);
	json_auto_t *after = json_pack("{s:o}", "metadata", new);
	int64_t rv;

	return store_put(f->s, f->pods, "a", "y", after, before, &rv, &f->e);
}

TEST("on a full disk creates are refused, deletes work, and room is noticed")
{
	struct fixture f = util_new();
	struct store_after waiter = { .fn = util_on_after, .arg = &f };
	auto_free char *reserve = util_path(&f, "reserve");
	struct stat st;

	util_put(&f, f.pods, "a", "x", "1");
	util_put(&f, f.pods, "a", "y", "1");
	util_turn(&f);
	stat(reserve, &st);
	CHECK(st.st_blocks * 512 >= 6 << 20);
	util_put(&f, f.pods, "a", "z", "1");
	fail_writes(&f, 1, SQLITE_FULL);
	util_turn(&f);
	CHECK_STR(store_trouble(f.s), "disk full");
	stat(reserve, &st);
	CHECK_INT(st.st_size, 0);
	vfs_fail(f.s->vfs, &(struct store_fail){ .no_room = true });
	CHECK_INT(util_put(&f, f.pods, "a", "z", "1"), -1);
	CHECK_INT(f.e.kind, ERR_STORAGE_FULL);
	CHECK(strstr(f.e.text, f.dir) && strstr(f.e.text, "free space"));
	CHECK(util_delete(&f, f.pods, "a", "x") > 0);
	CHECK_INT(leave(&f, json_object(), json_pack("{s:s, s:[s]}", "deletionTimestamp", "t", "finalizers", "f")), 0);
	CHECK_INT(leave(&f, json_pack("{s:s, s:[s]}", "deletionTimestamp", "t", "finalizers", "f"),
			json_pack("{s:s}", "deletionTimestamp", "t")),
		  0);
	CHECK_INT(leave(&f, json_pack("{s:s}", "deletionTimestamp", "t"), json_pack("{s:s}", "deletionTimestamp", "t")),
		  -1);
	store_after(f.s, &waiter);
	util_turn(&f);
	CHECK_INT(f.after_err.kind, ERR_NONE);
	CHECK_INT(f.after_calls, 1);
	f.s->full_timer.fire(f.s);
	CHECK_STR(store_trouble(f.s), "disk full");
	CHECK(loop_timer_pending(&f.s->full_timer));
	vfs_fail(f.s->vfs, &(struct store_fail){ 0 });
	f.s->full_timer.fire(f.s);
	CHECK_STR(store_trouble(f.s), NULL);
	CHECK(util_put(&f, f.pods, "a", "z", "1") > 0);
	util_turn(&f);
	CHECK_LIST(&f, "~a/y +a/z", .kind = f.pods);
	util_done(&f);
}

TEST("a statement that fails in mid-turn poisons the turn")
{
	struct fixture f = util_new();
	struct store_after waiter = { .fn = util_on_after, .arg = &f };
	auto_free char *big = xmalloc(1u << 20);
	int64_t rv = 0;

	memset(big, 'x', (1u << 20) - 1);
	big[(1u << 20) - 1] = '\0';
	util_put(&f, f.pods, "a", "first", "v");
	util_turn(&f);
	store_after(f.s, &waiter);
	fail_writes(&f, 1, SQLITE_FULL);
	/* More dirty pages than the cache holds must be written before the commit. */
	for (int i = 0; i < 8 && rv >= 0; i++) {
		char name[8];

		snprintf(name, sizeof(name), "%d", i);
		rv = util_put(&f, f.pods, "a", name, big);
	}
	CHECK_INT(rv, -1);
	CHECK_INT(f.e.kind, ERR_STORAGE_FULL);
	vfs_fail(f.s->vfs, &(struct store_fail){ 0 });
	CHECK_INT(util_delete(&f, f.pods, "a", "first"), -1);
	CHECK_INT(f.e.kind, ERR_STORAGE_FULL);
	util_turn(&f);
	CHECK_INT(f.after_calls, 1);
	CHECK_INT(f.after_err.kind, ERR_STORAGE_FULL);
	CHECK_LIST(&f, "+a/first", .kind = f.pods);
	CHECK(util_delete(&f, f.pods, "a", "first") > 0);
	util_turn(&f);
	CHECK_LIST(&f, "", .kind = f.pods);
	util_done(&f);
}

TEST("the log is moved into stoker.db and stays short")
{
	struct fixture f = util_new();
	auto_free char *wal = util_path(&f, "stoker.db-wal");
	struct stat st;

	for (int i = 0; i < 3000; i++) {
		char name[16];

		snprintf(name, sizeof(name), "p%d", i % 50);
		util_put(&f, f.pods, "a", name, "v");
		util_turn(&f);
	}
	CHECK_INT(stat(wal, &st), 0);
	CHECK(st.st_size < (STORE_WAL_FRAMES + 100) * WAL_FRAME + 512 * 1024); /* and a chunk laid out ahead */
	util_done(&f);
}
