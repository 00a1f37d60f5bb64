// SPDX-License-Identifier: Apache-2.0
/* share.c - sealed files without names, and datagrams that carry them
 *
 * A visit is one datagram: the secret, the visitor's file, and one end of a pair of sockets on which the answer comes.
 * So the server has nothing to accept, to wait for or to remember.
 */
#include "psgd/share.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include "base/mem.h"
#include "base/str.h"

#define VISIT_MS    5000
#define DOOR_PREFIX "psgd-"
#define MAX_FDS     4 /* more than anybody of us sends */

#ifndef F_SEAL_FUTURE_WRITE
#define F_SEAL_FUTURE_WRITE 0x0010
#endif

#define SEALS (F_SEAL_SHRINK | F_SEAL_GROW)

static int map(struct region *r, int fd, off_t at, bool write, struct err *e)
{
	r->base = mmap(NULL, r->size, PROT_READ | (write ? PROT_WRITE : 0), MAP_SHARED | MAP_POPULATE, fd, at);
	if (r->base == MAP_FAILED)
		return err_errno(e, ERR_INTERNAL, "cannot map %zu bytes", r->size);
	return 0;
}

int region_new(size_t n, bool changed, struct region *ret, struct err *e)
{
	struct region r = { .size = n * sizeof(float) };
	auto_close int fd = memfd_create("psgd", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	/* Room that is missing is missed here, not by a signal later. */
	if (fd < 0 || fallocate(fd, 0, 0, (off_t)r.size) < 0)
		return err_errno(e, ERR_UNAVAILABLE, "cannot make %zu bytes of shared memory", r.size);
	if (map(&r, fd, 0, true, e) < 0)
		return -1;
	/* Our own mapping stays writable. */
	if (fcntl(fd, F_ADD_SEALS, SEALS | F_SEAL_SEAL | (changed ? 0 : F_SEAL_FUTURE_WRITE)) < 0) {
		munmap(r.base, r.size);
		return err_errno(e, ERR_UNAVAILABLE, "cannot seal shared memory");
	}
	r.floats = r.base;
	r.fd = fd;
	fd = -1;
	*ret = r;
	return 0;
}

int region_map(int fd, size_t n, struct part part, bool change, struct region *ret, struct err *e)
{
	size_t start = part.start * sizeof(float), before = start % (size_t)sysconf(_SC_PAGESIZE);
	struct region r = { .fd = -1, .size = before + part.n * sizeof(float) };
	struct stat st;
	int seals = fcntl(fd, F_GET_SEALS);

	if (seals < 0 || fstat(fd, &st) < 0)
		return err_errno(e, ERR_INVALID, "shared memory that is none");
	if (st.st_uid != geteuid())
		return err_set(e, ERR_FORBIDDEN, "shared memory of user %u, not %u", st.st_uid, geteuid());
	if ((seals & SEALS) != SEALS)
		return err_set(e, ERR_FORBIDDEN, "shared memory whose size may change");
	if (st.st_size != (off_t)(n * sizeof(float)) || part.start > n || part.n > n - part.start)
		return err_set(e, ERR_INVALID, "shared memory of %lld bytes, not %zu", (long long)st.st_size,
			       n * sizeof(float));
	if (map(&r, fd, (off_t)(start - before), change, e) < 0)
		return -1;
	r.floats = (float *)((char *)r.base + before);
	*ret = r;
	return 0;
}

void region_done(struct region *r)
{
	if (r->floats)
		munmap(r->base, r->size);
	if (r->fd >= 0)
		close(r->fd);
	*r = REGION_NONE;
}

static int address(const char *dir, const char *name, struct sockaddr_un *ret, struct err *e)
{
	*ret = (struct sockaddr_un){ .sun_family = AF_UNIX };
	if (strlen(dir) > SHARE_MAX_DIR)
		return err_set(e, ERR_BAD_REQUEST, "%s: longer than %d bytes", dir, SHARE_MAX_DIR);
	snprintf(ret->sun_path, sizeof(ret->sun_path), "%s/%s", dir, name);
	return 0;
}

/* A killed server cannot remove its door; nobody stands behind it. */
static void sweep(const char *dir)
{
	auto_close int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	DIR *d = opendir(dir);
	struct err e = ERR_INIT;
	struct sockaddr_un at;
	struct stat st;

	for (struct dirent *f; d && fd >= 0 && (f = readdir(d));) {
		if (strncmp(f->d_name, DOOR_PREFIX, strlen(DOOR_PREFIX)) != 0 || strlen(f->d_name) >= WIRE_DOOR_NAME ||
		    address(dir, f->d_name, &at, &e) < 0)
			continue;
		if (lstat(at.sun_path, &st) < 0 || !S_ISSOCK(st.st_mode) || st.st_uid != geteuid())
			continue;
		if (connect(fd, (struct sockaddr *)&at, sizeof(at)) < 0 && errno == ECONNREFUSED)
			unlink(at.sun_path);
	}
	if (d)
		closedir(d);
}

int door_open(struct door *d, const char *dir, struct err *e)
{
	auto_close int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	uint8_t random[8];
	auto_sbuf struct sbuf name = SBUF(WIRE_DOOR_NAME);
	struct sockaddr_un at;

	if (fd < 0 || getrandom(random, sizeof(random), 0) != sizeof(random))
		return err_errno(e, ERR_INTERNAL, "cannot make a socket");
	sbuf_adds(&name, DOOR_PREFIX);
	hex_encode(random, sizeof(random), &name);
	if (address(dir, name.p, &at, e) < 0)
		return -1;
	sweep(dir);
	/* The mode of the socket is that of its name. */
	if (fchmod(fd, 0600) < 0 || bind(fd, (struct sockaddr *)&at, sizeof(at)) < 0)
		return err_errno(e, ERR_UNAVAILABLE, "%s", dir);
	*d = (struct door){ .fd = fd, .path = xstrdup(at.sun_path) };
	snprintf(d->name, sizeof(d->name), "%s", name.p);
	fd = -1;
	return 0;
}

void door_close(struct door *d)
{
	if (d->fd >= 0) {
		unlink(d->path);
		close(d->fd);
	}
	free(d->path);
	*d = DOOR_NONE;
}

void door_invite(const struct door *d, struct invitation *ret)
{
	*ret = (struct invitation){ 0 };
	memcpy(ret->name, d->name, sizeof(ret->name));
	/* The kernel has had its randomness since boot, so this is whole. */
	if (getrandom(ret->secret, sizeof(ret->secret), 0) != sizeof(ret->secret))
		abort();
}

/* One datagram with files: how many came, -1 if there is no datagram or it is not of n bytes. */
static int receive(int from, void *body, size_t n, int fds[MAX_FDS])
{
	union {
		struct cmsghdr align;
		char room[CMSG_SPACE(sizeof(int) * MAX_FDS)];
	} control;
	struct iovec iov = { body, n };
	struct msghdr m = {
		.msg_iov = &iov, .msg_iovlen = 1, .msg_control = control.room, .msg_controllen = sizeof(control.room)
	};
	ssize_t got = recvmsg(from, &m, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	int count = 0;

	if (got < 0)
		return -1;
	for (struct cmsghdr *c = CMSG_FIRSTHDR(&m); c; c = CMSG_NXTHDR(&m, c)) {
		if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
			continue;
		count = (int)((c->cmsg_len - CMSG_LEN(0)) / sizeof(int));
		memcpy(fds, CMSG_DATA(c), (size_t)count * sizeof(int));
	}
	if ((size_t)got == n)
		return count;
	while (count > 0)
		close(fds[--count]);
	return 0;
}

static int send_files(int to, const struct sockaddr_un *at, const void *body, size_t n, const int *fds, size_t nfds)
{
	union {
		struct cmsghdr align;
		char room[CMSG_SPACE(sizeof(int) * MAX_FDS)];
	} control = { 0 };
	struct iovec iov = { (void *)body, n };
	struct msghdr m = { .msg_name = (void *)at,
			    .msg_namelen = at ? sizeof(*at) : 0,
			    .msg_iov = &iov,
			    .msg_iovlen = 1,
			    .msg_control = control.room,
			    .msg_controllen = CMSG_SPACE(sizeof(int) * nfds) };
	struct cmsghdr *c = CMSG_FIRSTHDR(&m);

	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof(int) * nfds);
	memcpy(CMSG_DATA(c), fds, sizeof(int) * nfds);
	return sendmsg(to, &m, MSG_NOSIGNAL) == (ssize_t)n ? 0 : -1;
}

bool door_next(const struct door *d, struct visit *ret)
{
	int fds[MAX_FDS], n;

	while ((n = receive(d->fd, ret->secret, sizeof(ret->secret), fds)) >= 0) {
		if (n == 2) {
			ret->region = fds[0];
			ret->reply = fds[1];
			return true;
		}
		while (n > 0)
			close(fds[--n]);
	}
	return false;
}

void visit_end(struct visit *v, int fd)
{
	/* Who does not listen for the answer will hear none: it goes on over TCP. */
	if (fd >= 0) {
		fcntl(v->reply, F_SETFL, O_NONBLOCK);
		send_files(v->reply, NULL, "", 1, &fd, 1);
	}
	close(v->reply);
	close(v->region);
}

int door_visit(const char *dir, const struct invitation *to, int own, const sigset_t *waiting, int *ret_fd,
	       struct err *e)
{
	const struct timespec limit = { .tv_sec = VISIT_MS / 1000 };
	auto_close int out = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	auto_close int mine = -1;
	int pair[2], fds[MAX_FDS], n, r;
	struct pollfd p = { .events = POLLIN };
	struct sockaddr_un at;
	char body;

	if (address(dir, to->name, &at, e) < 0)
		return -1;
	if (out < 0 || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return err_errno(e, ERR_INTERNAL, "cannot make a socket");
	p.fd = mine = pair[0];
	setsockopt(out, SOL_SOCKET, SO_SNDTIMEO, &(struct timeval){ .tv_sec = VISIT_MS / 1000 },
		   sizeof(struct timeval));
	r = send_files(out, &at, to->secret, sizeof(to->secret), (const int[]){ own, pair[1] }, 2);
	if (r < 0)
		err_errno(e, ERR_NOT_FOUND, "%s does not lead to the server", at.sun_path);
	close(pair[1]);
	if (r < 0)
		return -1;
	if (ppoll(&p, 1, &limit, waiting) != 1)
		return err_set(e, ERR_TIMEOUT, "%s: the server does not answer", at.sun_path);
	n = receive(mine, &body, 1, fds);
	for (int i = 1; i < n; i++)
		close(fds[i]);
	if (n < 1)
		return err_set(e, ERR_FORBIDDEN, "the server refuses");
	*ret_fd = fds[0];
	return 0;
}
