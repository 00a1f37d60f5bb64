// SPDX-License-Identifier: Apache-2.0
/* store_test.c - what goes in comes out, in order, now and as of the past */
#include <sys/wait.h>

#include "util.h"

TEST("an object comes back as it was put, with its revision in it")
{
	struct fixture f = util_new();
	struct record r;
	int64_t rv = util_put(&f, f.pods, "a", "x", "one");

	CHECK(rv > 0);
	CHECK_INT(store_get(f.s, f.pods, "a", "x", &r, &f.e), 0);
	CHECK(str_eq(r.body, "{\"metadata\":{\"name\":\"x\",\"namespace\":\"a\",\"resourceVersion\":\"1\"},\"data\":"
			     "\"one\"}"));
	CHECK_INT(r.rv, rv);
	CHECK_INT(r.prev, 0);
	CHECK_INT(r.op, STORE_CREATED);
	CHECK_STR(r.ns, "a");
	CHECK_STR(r.name, "x");
	CHECK(store_dirty(f.s));
	util_turn(&f);
	CHECK(!store_dirty(f.s));
	CHECK_INT(util_put(&f, f.pods, "a", "x", "two"), rv + 1);
	CHECK_INT(store_get(f.s, f.pods, "a", "x", &r, &f.e), 0);
	CHECK_INT(r.prev, rv);
	CHECK_INT(r.op, STORE_UPDATED);
	util_turn(&f);
	CHECK_INT(util_delete(&f, f.pods, "a", "x"), rv + 2);
	CHECK_INT(store_get(f.s, f.pods, "a", "x", &r, &f.e), -1);
	CHECK_INT(f.e.kind, ERR_NOT_FOUND);
	CHECK(!store_exists(f.s, f.pods, "a", "x"));
	util_done(&f);
}

TEST("objects survive a restart and revisions go on")
{
	struct fixture f = util_new();

	util_put(&f, f.pods, "a", "x", "one");
	util_put(&f, f.secrets, "a", "s", "hidden");
	util_turn(&f);
	util_put(&f, f.pods, "a", "y", "not committed by a turn, but by closing");
	util_close(&f);
	CHECK_INT(util_open(&f), 0);
	CHECK_STR(util_get(&f, f.pods, "a", "x"), "one");
	CHECK_STR(util_get(&f, f.secrets, "a", "s"), "hidden");
	CHECK(store_exists(f.s, f.pods, "a", "y"));
	CHECK_INT(store_revision(f.s), 3);
	CHECK_INT(util_put(&f, f.pods, "a", "z", "four"), 4);
	util_done(&f);
}

TEST("lists are in order of namespace and name and can be continued")
{
	struct fixture f = util_new();
	static const char *const keys[][2] = {
		{ "b", "1" }, { "a", "2" }, { "a", "10" }, { "c", "0" }, { "a-b", "1" }
	};

	for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
		util_put(&f, f.pods, keys[i][0], keys[i][1], "v");
	util_put(&f, f.events, "a", "e", "v");
	CHECK_LIST(&f, "+a/10 +a/2 +a-b/1 +b/1 +c/0", .kind = f.pods);
	CHECK_LIST(&f, "+a/10 +a/2", .kind = f.pods, .ns = "a");
	CHECK_LIST(&f, "+a-b/1 +b/1 +c/0", .kind = f.pods, .after_ns = "a", .after_name = "2");
	CHECK_LIST(&f, "+a/2", .kind = f.pods, .ns = "a", .after_ns = "a", .after_name = "10");
	CHECK_LIST(&f, "", .kind = f.secrets);
	CHECK_INT(store_count(f.s, f.pods, NULL), 5);
	CHECK_INT(store_count(f.s, f.pods, "a"), 2);
	util_done(&f);
}

TEST("a list as of a past revision is what a list was then")
{
	struct fixture f = util_new();
	char *was[200];
	int64_t at[200];
	unsigned seed = 7;

	for (int i = 0; i < 200; i++) {
		char name[16];

		snprintf(name, sizeof(name), "%u", (seed = seed * 1103515245 + 12345) >> 16 & 15);
		if (seed >> 24 & 1 && store_exists(f.s, f.pods, seed & 64 ? "a" : "b", name))
			util_delete(&f, f.pods, seed & 64 ? "a" : "b", name);
		else
			util_put(&f, f.pods, seed & 64 ? "a" : "b", name, name);
		if (i % 3 == 0)
			util_turn(&f);
		at[i] = store_revision(f.s);
		was[i] = util_list(&f, &(struct store_range){ .kind = f.pods });
	}
	for (int i = 0; i < 200; i++) {
		CHECK_LIST(&f, was[i], .kind = f.pods, .at = at[i]);
		free(was[i]);
	}
	util_done(&f);
}

TEST("a past list can be limited to a namespace and continued")
{
	struct fixture f = util_new();
	int64_t at;

	util_put(&f, f.pods, "a", "1", "v");
	util_put(&f, f.pods, "a", "2", "v");
	util_put(&f, f.pods, "a", "3", "v");
	util_put(&f, f.pods, "b", "1", "v");
	at = store_revision(f.s);
	util_delete(&f, f.pods, "a", "2");
	util_delete(&f, f.pods, "b", "1");
	util_put(&f, f.pods, "a", "3", "w");
	util_put(&f, f.pods, "a", "0", "new");
	CHECK_LIST(&f, "+a/1 +a/2 +a/3 +b/1", .kind = f.pods, .at = at);
	CHECK_LIST(&f, "+a/2 +a/3", .kind = f.pods, .at = at, .ns = "a", .after_ns = "a", .after_name = "1");
	CHECK_LIST(&f, "+a/3 +b/1", .kind = f.pods, .at = at, .after_ns = "a", .after_name = "2");
	util_done(&f);
}

TEST("history tells committed changes in order, a deletion with the last state")
{
	struct fixture f = util_new();

	util_put(&f, f.pods, "a", "x", "1");
	util_put(&f, f.events, "a", "e", "1");
	util_turn(&f);
	util_put(&f, f.pods, "a", "x", "2");
	util_delete(&f, f.pods, "a", "x");
	CHECK_HISTORY(&f, "+a/x +a/e", 0, 0);
	util_turn(&f);
	CHECK_HISTORY(&f, "+a/x +a/e ~a/x -a/x", 0, 0);
	CHECK_HISTORY(&f, "~a/x -a/x", f.pods, 1);
	CHECK_HISTORY(&f, "", f.pods, 4);
	util_done(&f);
}

static bool body_of_last(void *arg, const struct record *r)
{
	if (r->op == STORE_DELETED)
		sbuf_add(arg, r->body.p, r->body.n);
	return true;
}

TEST("the tombstone of a sealed object still opens")
{
	struct fixture f = util_new();
	struct sbuf b;

	sbuf_init(&b, 4096);
	util_put(&f, f.secrets, "a", "s", "hidden");
	util_delete(&f, f.secrets, "a", "s");
	util_turn(&f);
	CHECK_INT(store_history(f.s, 0, 0, body_of_last, &b, &f.e), 0);
	CHECK(b.p && strstr(b.p, "\"hidden\"") && strstr(b.p, "\"resourceVersion\":\"1\""));
	sbuf_done(&b);
	util_done(&f);
}

static bool file_contains(const struct fixture *f, const char *name, const char *needle)
{
	auto_free char *path = util_path(f, name);
	ssize_t n;
	auto_free unsigned char *p = util_slurp(path, &n);

	return p && n > 0 && memmem(p, (size_t)n, needle, strlen(needle));
}

TEST("the text of a sealed kind is in no file")
{
	struct fixture f = util_new();

	util_put(&f, f.secrets, "a", "s", "correct-horse");
	util_put(&f, f.pods, "a", "p", "battery-staple");
	util_turn(&f);
	CHECK(file_contains(&f, "stoker.db-wal", "battery-staple"));
	CHECK(!file_contains(&f, "stoker.db-wal", "correct-horse"));
	util_close(&f);
	CHECK(file_contains(&f, "stoker.db", "battery-staple"));
	CHECK(!file_contains(&f, "stoker.db", "correct-horse"));
	CHECK_INT(util_open(&f), 0);
	CHECK_STR(util_get(&f, f.secrets, "a", "s"), "correct-horse");
	util_done(&f);
}

TEST("files and directory are private")
{
	static const char *const names[] = { ".", "stoker.db", "stoker.db-wal", "lock", "reserve" };
	struct fixture f = util_new();

	util_put(&f, f.pods, "a", "p", "v");
	util_turn(&f);
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		auto_free char *path = util_path(&f, names[i]);
		struct stat st = { 0 };

		CHECK_INT(stat(path, &st), 0);
		CHECK_INT(st.st_mode & 0777, i == 0 ? 0700 : 0600);
	}
	util_done(&f);
}

TEST("a second server on the same directory is refused with the first one's pid")
{
	struct fixture f = util_new();
	int status = 0;
	pid_t child = fork();

	if (child == 0) {
		struct fixture g = { .config = f.config };
		auto_free char *want =
			xasprintf("%s is in use by another stoker serve (pid %d)", f.dir, (int)getppid());

		g.loop = loop_new();
		_exit(store_open(g.loop, &g.config, &g.s, &g.e) < 0 && streq(g.e.text, want) ? 0 : 1);
	}
	CHECK_INT(waitpid(child, &status, 0), child);
	CHECK_INT(status, 0);
	util_done(&f);
}

TEST("a directory of another user is refused")
{
	struct fixture f = util_new();

	util_close(&f);
	if (geteuid() == 0 && chown(f.dir, 12345, 0) == 0) { /* only root can give a directory away */
		CHECK_INT(util_open(&f), -1);
		CHECK_INT(f.e.kind, ERR_FORBIDDEN);
		CHECK(strstr(f.e.text, "belongs to uid 12345"));
	}
	util_done(&f);
}

TEST("an object over the limit is refused and changes nothing")
{
	struct fixture f = util_new();
	auto_free char *big = xmalloc(2u << 20);

	memset(big, 'x', (2u << 20) - 1);
	big[(2u << 20) - 1] = '\0';
	CHECK_INT(util_put(&f, f.pods, "a", "x", big), -1);
	CHECK_INT(f.e.kind, ERR_TOO_LARGE);
	big[1 << 20] = '\0';
	CHECK_INT(util_put(&f, f.pods, "a", "x", big), 1);
	util_turn(&f);
	util_close(&f);
	CHECK_INT(util_open(&f), 0);
	CHECK(store_exists(f.s, f.pods, "a", "x"));
	util_done(&f);
}

static void note_lean(void *arg, const struct change *changes, size_t n)
{
	int *lean = arg;

	for (size_t i = 0; i < n; i++)
		*lean += changes[i].lean;
}

TEST("an object without the managers of its fields is stored with their text")
{
	struct fixture f = util_new();
	json_auto_t *obj = json_pack("{s:{s:s,s:s},s:s}", "metadata", "name", "a", "namespace", "x", "data", "new");
	json_auto_t *old = json_pack("{s:{}}", "metadata");
	json_auto_t *got = NULL;
	int lean = 0;
	struct store_subscriber sub = { .fn = note_lean, .arg = &lean };
	struct record r;
	int64_t rv;

	util_put(&f, f.pods, "x", "a", "old");
	store_subscribe(f.s, &sub);
	CHECK_INT(store_put_lean(f.s, f.pods, "x", "a", obj, old, str_of("[{\"manager\":\"m\"}]"), &rv, &f.e), 0);
	CHECK(!json_object_get(json_object_get(obj, "metadata"), "managedFields"));
	/* Who reads it gets all of it. */
	CHECK(!store_recent(f.s, f.pods, "x", "a"));
	CHECK_INT(store_get(f.s, f.pods, "x", "a", &r, &f.e), 0);
	CHECK_INT(jsonx_parse(r.body.p, r.body.n, NULL, NULL, &got, &f.e), 0);
	CHECK_STR(jsonx_str(got, "data"), "new");
	CHECK_STR(jsonx_str(got, "metadata.name"), "a");
	CHECK_STR(jsonx_str(json_array_get(jsonx_at(got, "metadata.managedFields"), 0), "manager"), "m");
	util_turn(&f);
	CHECK_INT(lean, 1);
	store_unsubscribe(f.s, &sub);
	util_done(&f);
}
