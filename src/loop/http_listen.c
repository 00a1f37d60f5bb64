// SPDX-License-Identifier: Apache-2.0
/* http_listen.c - listeners, and who may come in
 *
 * When connections run out the oldest one without a request under way makes room; when descriptors run out the spare
 * one is used to accept and close, and the listener rests a moment instead of spinning.
 */
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "loop/http_internal.h"

#define BACKLOG        1024
#define ACCEPT_ROUNDS  64
#define REST_MS        100  /* of a listener when descriptors have run out */
#define ORPHAN_MS      2000 /* for a child of a killed server to let its sockets go */
#define KEEPALIVE_IDLE 60   /* seconds until the kernel asks a silent peer whether it is there */

struct listener {
	struct http_server *server;
	struct tls_server *tls;
	int fd;
	char *path; /* Unix: removed at the end if it is still the same file */
	dev_t dev;
	ino_t ino;
	struct event *event;
	struct loop_timer rest;
	struct listener *next;
};

/* --- accepting --- */

static void make_room(struct http_server *s)
{
	struct http_conn *oldest = TAILQ_FIRST(&s->idle);

	if (s->nconns >= s->limits.connections && oldest)
		conn_close(oldest);
}

static void print_address(const struct sockaddr_storage *addr, char *out, size_t n)
{
	char host[INET6_ADDRSTRLEN + 16] = "?";
	char port[8] = "0";

	getnameinfo((const struct sockaddr *)addr, sizeof(*addr), host, sizeof(host), port, sizeof(port),
		    NI_NUMERICHOST | NI_NUMERICSERV);
	snprintf(out, n, strchr(host, ':') ? "[%s]:%s" : "%s:%s", host, port);
}

static void set_tcp_options(int fd)
{
	const int on = 1;
	const int idle = KEEPALIVE_IDLE;

	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on));
	setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle, sizeof(idle));
}

static void welcome(struct listener *l, int fd, const struct sockaddr_storage *addr)
{
	struct http_server *s = l->server;
	struct http_peer peer = { .uid = (uid_t)-1, .gid = (gid_t)-1, .address = "unix" };
	char address[64];

	make_room(s);
	if (s->nconns >= s->limits.connections) {
		close(fd);
		return;
	}
	if (l->path) {
		struct ucred cred;
		socklen_t n = sizeof(cred);

		if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &cred, &n) < 0) {
			close(fd);
			return;
		}
		peer.local = true;
		peer.uid = cred.uid;
		peer.gid = cred.gid;
		peer.pid = cred.pid;
	} else {
		set_tcp_options(fd);
		print_address(addr, address, sizeof(address));
		peer.address = address;
	}
	conn_new(s, fd, l->tls, &peer);
}

static void on_rested(void *arg)
{
	struct listener *l = arg;

	event_add(l->event, NULL);
}

/* Takes one waiting client off the queue by giving up the spare descriptor, so that it learns at once. */
static void refuse_one(struct listener *l)
{
	struct http_server *s = l->server;
	int fd;

	if (!s->starved)
		log_warn("accept a connection error=%s: raise the limit of open files, refusing clients meanwhile",
			 strerror(errno));
	s->starved = true;
	if (s->spare_fd >= 0)
		close(s->spare_fd);
	fd = accept4(l->fd, NULL, NULL, SOCK_CLOEXEC);
	if (fd >= 0)
		close(fd);
	s->spare_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	event_del(l->event);
	loop_timer_set(s->loop, &l->rest, REST_MS);
}

static void on_accept(evutil_socket_t fd, short what, void *arg)
{
	struct listener *l = arg;

	(void)what;
	for (int round = 0; round < ACCEPT_ROUNDS; round++) {
		struct sockaddr_storage addr = { 0 };
		socklen_t n = sizeof(addr);
		int got = accept4((int)fd, (struct sockaddr *)&addr, &n, SOCK_NONBLOCK | SOCK_CLOEXEC);

		if (got >= 0) {
			l->server->starved = false;
			welcome(l, got, &addr);
		} else if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
			refuse_one(l);
			return;
		} else if (errno != ECONNABORTED && errno != EINTR) {
			return;
		}
	}
}

/* --- listening --- */

static struct listener *listener_new(struct http_server *s, int fd, struct tls_server *tls)
{
	struct listener *l = xcalloc(1, sizeof(*l));

	l->server = s;
	l->tls = tls;
	l->fd = fd;
	l->rest = (struct loop_timer){ .fire = on_rested, .arg = l };
	l->event = event_new(loop_base(s->loop), fd, EV_READ | EV_PERSIST, on_accept, l);
	event_add(l->event, NULL);
	l->next = s->listeners;
	s->listeners = l;
	return l;
}

static void listener_free(struct listener *l)
{
	struct stat st;

	event_free(l->event);
	loop_timer_done(&l->rest);
	close(l->fd);
	if (l->path && stat(l->path, &st) == 0 && st.st_dev == l->dev && st.st_ino == l->ino)
		unlink(l->path);
	free(l->path);
	free(l);
}

static int bind_one(const struct addrinfo *ai, int *ret_port)
{
	auto_close int fd = socket(ai->ai_family, ai->ai_socktype | SOCK_NONBLOCK | SOCK_CLOEXEC, ai->ai_protocol);
	const int on = 1;
	struct sockaddr_storage addr;
	socklen_t n = sizeof(addr);
	int taken;

	if (fd < 0)
		return -1;
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (bind(fd, ai->ai_addr, ai->ai_addrlen) < 0 || listen(fd, BACKLOG) < 0 ||
	    getsockname(fd, (struct sockaddr *)&addr, &n) < 0)
		return -1;
	*ret_port = ntohs(addr.ss_family == AF_INET6 ? ((struct sockaddr_in6 *)&addr)->sin6_port
						     : ((struct sockaddr_in *)&addr)->sin_port);
	taken = fd;
	fd = -1;
	return taken;
}

int http_listen_tcp(struct http_server *s, const char *host, int port, struct tls_server *tls, int *ret_port,
		    struct err *e)
{
	const struct addrinfo hints = { .ai_flags = AI_PASSIVE | AI_NUMERICSERV, .ai_socktype = SOCK_STREAM };
	struct addrinfo *list = NULL;
	char service[8];
	int got_port = 0;
	int fd = -1;
	int code;

	if (port < 0 || port > 65535)
		return err_set(e, ERR_INVALID, "cannot listen on port %d: ports are 0 to 65535", port);
	snprintf(service, sizeof(service), "%d", port);
	code = getaddrinfo(host, service, &hints, &list);
	if (code)
		return err_set(e, ERR_INVALID, "cannot listen on %s: %s", host, gai_strerror(code));
	for (struct addrinfo *ai = list; ai && fd < 0; ai = ai->ai_next)
		fd = bind_one(ai, &got_port);
	freeaddrinfo(list);
	if (fd < 0)
		return err_errno(e, ERR_UNAVAILABLE, "cannot listen on %s:%d", host, port);
	listener_new(s, fd, tls);
	if (ret_port)
		*ret_port = got_port;
	return 0;
}

/* A child that a killed server had just forked holds its sockets until it calls exec or ends: that is no server, and it
 * passes.  This is before the loop runs, so nobody else waits. */
static bool is_listened_on(const struct sockaddr_un *addr, int *ret_errno)
{
	const struct timespec pause = { .tv_nsec = 50000000 };

	for (int64_t until = clock_mono_ms() + ORPHAN_MS;; nanosleep(&pause, NULL)) {
		auto_close int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
		bool answered = connect(fd, (const struct sockaddr *)addr, sizeof(*addr)) == 0 || errno == EAGAIN;

		*ret_errno = errno;
		if (!answered || clock_mono_ms() >= until)
			return answered;
	}
}

/* Removes a socket file that nobody listens on. */
static int clear_path(const struct sockaddr_un *addr, struct err *e)
{
	struct stat st;
	int why;

	if (lstat(addr->sun_path, &st) < 0)
		return 0;
	if (!S_ISSOCK(st.st_mode))
		return err_set(e, ERR_EXISTS, "%s exists and is not a socket: remove it or choose another --socket",
			       addr->sun_path);
	if (is_listened_on(addr, &why))
		return err_set(e, ERR_EXISTS, "another server listens on %s: stop it or choose another --socket",
			       addr->sun_path);
	errno = why;
	if (errno != ECONNREFUSED && errno != ENOENT)
		return err_errno(e, ERR_INTERNAL, "cannot tell whether a server listens on %s", addr->sun_path);
	unlink(addr->sun_path);
	return 0;
}

int http_listen_unix(struct http_server *s, const char *path, struct err *e)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	auto_close int fd = -1;
	struct listener *l;
	struct stat st;

	if (strlen(path) >= sizeof(addr.sun_path))
		return err_set(e, ERR_INVALID, "%s is too long for a socket: at most %zu bytes", path,
			       sizeof(addr.sun_path) - 1);
	memcpy(addr.sun_path, path, strlen(path) + 1);
	if (clear_path(&addr, e) < 0)
		return -1;
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (fd < 0 || bind(fd, (struct sockaddr *)&addr, sizeof(addr)) < 0 || chmod(path, 0666) < 0 ||
	    stat(path, &st) < 0 || listen(fd, BACKLOG) < 0)
		return err_errno(e, ERR_UNAVAILABLE, "cannot listen on %s", path);
	l = listener_new(s, fd, NULL);
	fd = -1;
	l->path = xstrdup(path);
	l->dev = st.st_dev;
	l->ino = st.st_ino;
	return 0;
}

void server_close_listeners(struct http_server *s)
{
	while (s->listeners) {
		struct listener *l = s->listeners;

		s->listeners = l->next;
		listener_free(l);
	}
}
