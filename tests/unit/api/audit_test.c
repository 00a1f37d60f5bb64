// SPDX-License-Identifier: Apache-2.0
/* audit_test.c - what is recorded, the chain, rotation */
#include "api/audit.h"

#include <fcntl.h>
#include <sys/stat.h>

#include "base/jsonx.h"
#include "base/mem.h"
#include "test.h"

static const char *const groups[] = { "system:authenticated", NULL };
static const struct caller alice = { .user = "alice", .uid = "", .groups = groups };

static struct audit_event event(const char *verb, int code)
{
	return (struct audit_event){ .caller = &alice,
				     .verb = verb,
				     .group = "",
				     .version = "v1",
				     .resource = "pods",
				     .ns = "a",
				     .name = "p",
				     .code = code,
				     .address = "unix",
				     .user_agent = "kubectl/v1 \"quoted\"\n" };
}

/* A directory of its own for each test. */
static char *new_dir(void)
{
	char *dir = xasprintf("%s/audit-XXXXXX", test_dir());

	CHECK(mkdtemp(dir) != NULL);
	return dir;
}

static char *read_all(const char *path, size_t *ret_n)
{
	FILE *f = fopen(path, "re");
	char *buf = xcalloc(1, 1 << 20);

	*ret_n = f ? fread(buf, 1, (1 << 20) - 1, f) : 0;
	if (f)
		fclose(f);
	return buf;
}

TEST("writes, refusals and whatever reaches into a pod are recorded, reads are not")
{
	struct audit_event exec = event("get", 101);

	exec.subresource = "exec";
	CHECK(!audit_wanted(&(struct audit_event){ .verb = "get", .code = 200 }));
	CHECK(!audit_wanted(&(struct audit_event){ .verb = "watch", .code = 200 }));
	CHECK(!audit_wanted(&(struct audit_event){ .verb = "get", .code = 404 }));
	CHECK(audit_wanted(&(struct audit_event){ .verb = "get", .code = 403 }));
	CHECK(audit_wanted(&(struct audit_event){ .verb = "list", .code = 401 }));
	CHECK(audit_wanted(&(struct audit_event){ .verb = "create", .code = 201 }));
	CHECK(audit_wanted(&(struct audit_event){ .verb = "deletecollection", .code = 409 }));
	CHECK(audit_wanted(&exec));
}

TEST("a record is one line of JSON in a private file")
{
	auto_free char *dir = new_dir();
	struct loop *loop = loop_new();
	struct audit *a = audit_new(loop, dir, 0);
	struct audit_event ev = event("create", 201);
	auto_free char *path = xasprintf("%s/audit.log", dir);
	json_auto_t *line = NULL;
	struct err e = ERR_INIT;
	struct stat st;
	size_t n;

	ev.impersonator = "root";
	audit_record(a, &ev);
	audit_record(a, &(struct audit_event){ .verb = "get", .code = 200 });
	loop_turn(loop, true);
	CHECK_INT(stat(path, &st), 0);
	CHECK_INT(st.st_mode & 0777, 0600);
	auto_free char *text = read_all(path, &n);
	CHECK(n && strchr(text, '\n') == text + n - 1);
	CHECK_INT(jsonx_parse(text, n, NULL, NULL, &line, &e), 0);
	CHECK_STR(jsonx_str(line, "user"), "alice");
	CHECK_STR(jsonx_str(line, "impersonator"), "root");
	CHECK_STR(jsonx_str(line, "resource"), "pods");
	CHECK_STR(jsonx_str(line, "userAgent"), "kubectl/v1 \"quoted\"\n");
	CHECK_INT(jsonx_int_or(line, "code", 0), 201);
	CHECK_STR(json_string_value(json_array_get(json_object_get(line, "groups"), 0)), "system:authenticated");
	audit_free(a);
	loop_free(loop);
}

TEST("a code is a number, also that of a write that was never answered")
{
	static const int codes[] = { 0, 99, 100, 201, 504, 999, 1000 };

	for (size_t i = 0; i < ARRAY_SIZE(codes); i++) {
		auto_free char *dir = new_dir();
		auto_free char *path = xasprintf("%s/audit.log", dir);
		struct loop *loop = loop_new();
		struct audit *a = audit_new(loop, dir, 0);
		struct audit_event ev = event("create", codes[i]);
		json_auto_t *line = NULL;
		struct err e = ERR_INIT;
		size_t n;

		audit_record(a, &ev);
		audit_free(a);
		loop_free(loop);
		auto_free char *text = read_all(path, &n);
		CHECK_INT(jsonx_parse(text, n, NULL, NULL, &line, &e), 0);
		CHECK_INT(jsonx_int_or(line, "code", -1), codes[i]);
	}
}

TEST("the chain goes on over restarts, and a flipped byte shows")
{
	auto_free char *dir = new_dir();
	auto_free char *path = xasprintf("%s/audit.log", dir);
	struct loop *loop = loop_new();
	struct audit_event ev = event("delete", 200);
	struct err e = ERR_INIT;
	size_t n;

	for (int i = 0; i < 3; i++) {
		struct audit *a = audit_new(loop, dir, 0);

		audit_record(a, &ev);
		audit_record(a, &ev);
		audit_free(a);
	}
	CHECK_INT(audit_check(path, &e), 0);
	auto_free char *text = read_all(path, &n);
	for (size_t at = 3; at < n; at += 37) {
		FILE *f = fopen(path, "r+e");

		fseek(f, (long)at, SEEK_SET);
		fputc(text[at] ^ 1, f);
		fclose(f);
		CHECK_INT(audit_check(path, &e), -1);
		f = fopen(path, "r+e");
		fseek(f, (long)at, SEEK_SET);
		fputc(text[at], f);
		fclose(f);
	}
	CHECK_INT(audit_check(path, &e), 0);
	loop_free(loop);
}

TEST("a full log becomes audit.log.1, and both stay within the cap")
{
	auto_free char *dir = new_dir();
	auto_free char *path = xasprintf("%s/audit.log", dir);
	auto_free char *old = xasprintf("%s/audit.log.1", dir);
	struct loop *loop = loop_new();
	struct audit *a = audit_new(loop, dir, 4096);
	struct audit_event ev = event("patch", 200);
	struct err e = ERR_INIT;
	struct stat st;

	for (int i = 0; i < 100; i++) {
		audit_record(a, &ev);
		if (i % 3 == 0)
			loop_turn(loop, true);
	}
	audit_free(a);
	CHECK(stat(path, &st) == 0 && st.st_size > 0 && st.st_size <= 4096);
	CHECK(stat(old, &st) == 0 && st.st_size > 2000 && st.st_size <= 4096);
	CHECK_INT(audit_check(path, &e), 0);
	CHECK_INT(audit_check(old, &e), 0);
	loop_free(loop);
}

TEST("a line cut off by a crash does not swallow the next")
{
	auto_free char *dir = new_dir();
	auto_free char *path = xasprintf("%s/audit.log", dir);
	struct loop *loop = loop_new();
	int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_TRUNC, 0600);
	struct audit *a;
	struct audit_event ev = event("create", 201);
	size_t n;

	CHECK_INT(write(fd, "{\"time\":\"20", 11), 11);
	close(fd);
	a = audit_new(loop, dir, 0);
	audit_record(a, &ev);
	audit_free(a);
	auto_free char *text = read_all(path, &n);
	CHECK(n > 12 && text[11] == '\n' && text[12] == '{' && text[n - 1] == '\n');
	loop_free(loop);
}
