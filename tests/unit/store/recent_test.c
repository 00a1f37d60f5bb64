// SPDX-License-Identifier: Apache-2.0
/* recent_test.c - what was just written is at hand, and only that */
#include "util.h"

static const char *data_of(struct fixture *f, int kind, const char *name)
{
	static char text[32];
	json_auto_t *obj = store_recent(f->s, kind, "a", name);

	snprintf(text, sizeof(text), "%s", obj ? jsonx_str_or(obj, "data", "?") : "-");
	return text;
}

TEST("the newest state of what was just written is at hand")
{
	struct fixture f = util_new();

	CHECK_STR(data_of(&f, f.pods, "x"), "-");
	util_put(&f, f.pods, "a", "x", "one");
	CHECK_STR(data_of(&f, f.pods, "x"), "one");
	util_put(&f, f.pods, "a", "x", "two");
	util_put(&f, f.pods, "a", "y", "other");
	CHECK_STR(data_of(&f, f.pods, "x"), "two");
	util_turn(&f);
	CHECK_STR(data_of(&f, f.pods, "x"), "two");
	util_delete(&f, f.pods, "a", "x");
	CHECK_STR(data_of(&f, f.pods, "x"), "-");
	CHECK_STR(data_of(&f, f.pods, "y"), "other");
	f.s->recent.timer.fire(f.s);
	f.s->recent.timer.fire(f.s);
	CHECK_STR(data_of(&f, f.pods, "y"), "-");
	CHECK_STR(util_get(&f, f.pods, "a", "y"), "other");
	util_done(&f);
}

TEST("whenever it is written, it is at hand for a while")
{
	struct fixture f = util_new();

	util_put(&f, f.pods, "a", "x", "one");
	f.s->recent.timer.fire(f.s);
	CHECK_STR(data_of(&f, f.pods, "x"), "one");
	util_put(&f, f.pods, "a", "y", "two");
	f.s->recent.timer.fire(f.s);
	CHECK_STR(data_of(&f, f.pods, "x"), "-");
	CHECK_STR(data_of(&f, f.pods, "y"), "two");
	f.s->recent.timer.fire(f.s);
	CHECK_STR(data_of(&f, f.pods, "y"), "-");
	CHECK(!f.s->recent.slots);
	util_done(&f);
}

TEST("secrets and events are not kept decoded")
{
	struct fixture f = util_new();

	util_put(&f, f.secrets, "a", "s", "hidden");
	util_put(&f, f.events, "a", "e", "told");
	CHECK_STR(data_of(&f, f.secrets, "s"), "-");
	CHECK_STR(data_of(&f, f.events, "e"), "-");
	util_done(&f);
}

TEST("what a failed turn wrote is not at hand under a revision that is given out again")
{
	struct fixture f = util_new();

	util_put(&f, f.pods, "a", "x", "one");
	util_turn(&f);
	util_put(&f, f.pods, "a", "x", "lost");
	vfs_fail(f.s->vfs, &(struct store_fail){ .writes = true, .after = 1, .code = SQLITE_FULL });
	util_turn(&f);
	vfs_fail(f.s->vfs, &(struct store_fail){ 0 });
	CHECK_STR(util_get(&f, f.pods, "a", "x"), "one");
	CHECK_STR(data_of(&f, f.pods, "x"), "-");
	f.s->full_timer.fire(f.s);
	CHECK(util_put(&f, f.pods, "a", "z", "two") > 0);
	CHECK_STR(data_of(&f, f.pods, "x"), "-");
	CHECK_STR(data_of(&f, f.pods, "z"), "two");
	util_done(&f);
}

TEST("many megabytes are not kept")
{
	struct fixture f = util_new();
	auto_free char *big = xmalloc(900000);

	memset(big, 'x', 899999);
	big[899999] = '\0';
	util_put(&f, f.pods, "a", "small", "v");
	util_put(&f, f.pods, "a", "b1", big);
	util_put(&f, f.pods, "a", "b2", big);
	CHECK_STR(data_of(&f, f.pods, "small"), "v");
	util_put(&f, f.pods, "a", "b3", big);
	CHECK_STR(data_of(&f, f.pods, "small"), "-");
	CHECK(f.s->recent.bytes < 1000000);
	util_done(&f);
}
