// SPDX-License-Identifier: Apache-2.0
/* Both sides of a door in one process. */
#include "psgd/share.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>

#include "base/mem.h"
#include "base/str.h"
#include "test.h"

#define N 5000

static char *scratch(void)
{
	char *dir = xstrdup("/tmp/psgd-share-XXXXXX");

	CHECK(mkdtemp(dir) != NULL);
	return dir;
}

TEST("both sides see the same floats, and a part begins where it should")
{
	struct region own = REGION_NONE, whole = REGION_NONE, part = REGION_NONE;
	struct err e = ERR_INIT;

	CHECK_INT(region_new(N, false, &own, &e), 0);
	CHECK_INT(region_map(own.fd, N, (struct part){ 0, N }, false, &whole, &e), 0);
	CHECK_INT(region_map(own.fd, N, (struct part){ 1500, 100 }, false, &part, &e), 0);
	own.floats[1500] = 7;
	own.floats[N - 1] = 8;
	CHECK(whole.floats[1500] == 7 && whole.floats[N - 1] == 8 && part.floats[0] == 7);
	region_done(&own);
	CHECK(part.floats[0] == 7); /* its maker's end does not take it away */
	region_done(&whole);
	region_done(&part);
	CHECK(part.floats == NULL);
}

TEST("shared memory cannot be shortened by anybody, nor written by who may only read it")
{
	struct region own = REGION_NONE, peer = REGION_NONE;
	struct err e = ERR_INIT;

	CHECK_INT(region_new(N, false, &own, &e), 0);
	CHECK_INT(ftruncate(own.fd, 0), -1);
	CHECK_INT(region_map(own.fd, N, (struct part){ 0, N }, true, &peer, &e), -1);
	CHECK(peer.floats == NULL);
	region_done(&own);
	CHECK_INT(region_new(N, true, &own, &e), 0);
	CHECK_INT(ftruncate(own.fd, 0), -1);
	CHECK_INT(region_map(own.fd, N, (struct part){ 0, N }, true, &peer, &e), 0);
	peer.floats[3] = 5;
	CHECK(own.floats[3] == 5);
	region_done(&peer);
	region_done(&own);
}

TEST("memory of another size, another user, or without seals is not mapped")
{
	auto_close int plain = memfd_create("plain", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	auto_close int file = open("/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	struct region own = REGION_NONE, peer = REGION_NONE;
	struct err e = ERR_INIT;

	CHECK_INT(region_new(N, false, &own, &e), 0);
	CHECK_INT(region_map(own.fd, N + 1, (struct part){ 0, N }, false, &peer, &e), -1);
	CHECK_STR(e.text, "shared memory of 20000 bytes, not 20004");
	CHECK_INT(region_map(own.fd, N, (struct part){ 1, N }, false, &peer, &e), -1);
	CHECK_INT(ftruncate(plain, N * 4), 0);
	CHECK_INT(region_map(plain, N, (struct part){ 0, N }, false, &peer, &e), -1);
	CHECK_STR(e.text, "shared memory whose size may change");
	if (file >= 0) {
		CHECK_INT(ftruncate(file, N * 4), 0);
		CHECK_INT(region_map(file, N, (struct part){ 0, N }, false, &peer, &e), -1);
	}
	if (geteuid() == 0) {
		CHECK_INT(fchown(own.fd, 12345, 0), 0);
		CHECK_INT(region_map(own.fd, N, (struct part){ 0, N }, false, &peer, &e), -1);
		CHECK_STR(e.text, "shared memory of user 12345, not 0");
	}
	region_done(&own);
}

/* The server in a process of its own: one visit, answered with `theirs` if the secret is right. */
static pid_t serve_one(const struct door *d, const struct invitation *to, int theirs)
{
	pid_t pid = fork();
	struct visit v = { .region = -1, .reply = -1 };

	if (pid != 0)
		return pid;
	for (int i = 0; i < 10000 && !door_next(d, &v); i++)
		usleep(1000);
	visit_end(&v, memcmp(v.secret, to->secret, sizeof(v.secret)) == 0 ? theirs : -1);
	_exit(0);
}

TEST("an invited visitor and the server exchange their memory, one with a wrong secret gets nothing")
{
	auto_free char *dir = scratch();
	struct door d = DOOR_NONE;
	struct region mine = REGION_NONE, theirs = REGION_NONE, seen = REGION_NONE;
	struct invitation to, other;
	struct err e = ERR_INIT;
	struct stat st;
	sigset_t none;
	int fd = -1;
	pid_t pid;

	sigemptyset(&none);
	CHECK_INT(door_open(&d, dir, &e), 0);
	CHECK_INT(stat(d.path, &st), 0);
	CHECK_INT(st.st_mode & 0777, 0600);
	CHECK_INT(region_new(N, false, &mine, &e), 0);
	CHECK_INT(region_new(N, false, &theirs, &e), 0);
	theirs.floats[9] = 3;
	door_invite(&d, &to);
	door_invite(&d, &other);
	CHECK(memcmp(to.secret, other.secret, sizeof(to.secret)) != 0);
	pid = serve_one(&d, &to, theirs.fd);
	CHECK_INT(door_visit(dir, &to, mine.fd, &none, &fd, &e), 0);
	CHECK_INT(region_map(fd, N, (struct part){ 0, N }, false, &seen, &e), 0);
	CHECK(seen.floats && seen.floats[9] == 3);
	close(fd);
	waitpid(pid, NULL, 0);
	pid = serve_one(&d, &to, theirs.fd);
	CHECK_INT(door_visit(dir, &other, mine.fd, &none, &fd, &e), -1);
	CHECK_STR(e.text, "the server refuses");
	waitpid(pid, NULL, 0);
	door_close(&d);
	CHECK_INT(door_visit(dir, &to, mine.fd, &none, &fd, &e), -1);
	CHECK_INT(e.kind, ERR_NOT_FOUND);
	region_done(&seen);
	region_done(&mine);
	region_done(&theirs);
	CHECK_INT(rmdir(dir), 0);
}

TEST("what is no visit is thrown away")
{
	auto_free char *dir = scratch();
	struct door d = DOOR_NONE;
	struct err e = ERR_INIT;
	struct visit v;
	auto_close int s = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	struct sockaddr_un at = { .sun_family = AF_UNIX };

	CHECK_INT(door_open(&d, dir, &e), 0);
	snprintf(at.sun_path, sizeof(at.sun_path), "%s", d.path);
	CHECK_INT(sendto(s, "", 0, 0, (struct sockaddr *)&at, sizeof(at)), 0);
	CHECK_INT(sendto(s, "0123456789abcdef", 16, 0, (struct sockaddr *)&at, sizeof(at)), 16);
	CHECK_INT(sendto(s, "0123456789abcdef!", 17, 0, (struct sockaddr *)&at, sizeof(at)), 17);
	CHECK(!door_next(&d, &v));
	door_close(&d);
	CHECK_INT(rmdir(dir), 0);
}

TEST("a new server removes the doors of dead ones and leaves those of the living")
{
	auto_free char *dir = scratch();
	auto_free char *dead = NULL;
	struct door a = DOOR_NONE, b = DOOR_NONE, c = DOOR_NONE;
	struct err e = ERR_INIT;

	CHECK_INT(door_open(&a, dir, &e), 0);
	CHECK_INT(door_open(&b, dir, &e), 0);
	dead = xstrdup(a.path);
	close(a.fd); /* as if it had been killed */
	CHECK_INT(door_open(&c, dir, &e), 0);
	CHECK_INT(access(dead, F_OK), -1);
	CHECK_INT(access(b.path, F_OK), 0);
	free(a.path);
	door_close(&b);
	door_close(&c);
	CHECK_INT(rmdir(dir), 0);
	CHECK_INT(door_open(&c, dir, &e), -1);
}
