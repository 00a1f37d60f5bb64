// SPDX-License-Identifier: Apache-2.0
/* quick.c - one connection to the server's Unix socket, written to and read from in turn */
#include "client/quick.h"

#include <errno.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "base/limits.h"
#include "base/mem.h"

#define PIECE 65536

struct quick {
	int fd;
	char *socket;
	bool used; /* a kept connection that the server has closed meanwhile is opened anew */
};

static int quick_connect(struct quick *q, struct err *e)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	size_t n = strlen(q->socket);

	if (n >= sizeof(addr.sun_path)) {
		errno = ENAMETOOLONG;
		return err_errno(e, ERR_UNAVAILABLE, "%s", q->socket);
	}
	memcpy(addr.sun_path, q->socket, n);
	q->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (q->fd < 0 || connect(q->fd, (struct sockaddr *)&addr, sizeof(addr)) < 0)
		return err_errno(e, ERR_UNAVAILABLE, "%s", q->socket);
	q->used = false;
	return 0;
}

static void quick_close(struct quick *q)
{
	if (q->fd >= 0)
		close(q->fd);
	q->fd = -1;
}

int quick_open(const char *socket, struct quick **ret, struct err *e)
{
	struct quick *q = xcalloc(1, sizeof(*q));
	int why;

	q->socket = xstrdup(socket);
	if (quick_connect(q, e) < 0) {
		why = errno;
		quick_free(q);
		errno = why;
		return -1;
	}
	*ret = q;
	return 0;
}

void quick_free(struct quick *q)
{
	if (!q)
		return;
	quick_close(q);
	free(q->socket);
	free(q);
}

static int send_all(struct quick *q, struct str text, struct err *e)
{
	while (text.n) {
		ssize_t n = send(q->fd, text.p, text.n, MSG_NOSIGNAL);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return err_errno(e, ERR_UNAVAILABLE, "%s", q->socket);
		text = (struct str){ text.p + n, text.n - (size_t)n };
	}
	return 0;
}

/* Reads one reply; ERR_NONE and -1 if `piece` stopped it. */
static int receive(struct quick *q, struct reply *r, reply_piece *piece, void *arg, struct err *e)
{
	char bytes[PIECE];

	while (r->state != REPLY_DONE) {
		ssize_t n = recv(q->fd, bytes, sizeof(bytes), 0);

		if (n < 0 && errno == EINTR) {
			if (piece(arg, (struct str){ "", 0 }))
				continue;
			err_clear(e);
			return -1;
		}
		if (n < 0)
			return err_errno(e, ERR_UNAVAILABLE, "%s", q->socket);
		if (n == 0 && r->state == REPLY_BODY && !r->sized && !r->chunked)
			return 0;
		if (n == 0)
			return err_set(e, ERR_UNAVAILABLE, "%s: the server closed the connection", q->socket);
		if (reply_feed(r, (struct str){ bytes, (size_t)n }, piece, arg, e) < 0)
			return -1;
	}
	return 0;
}

static int exchange(struct quick *q, struct str request, struct reply *r, reply_piece *piece, void *arg, struct err *e)
{
	if (q->fd < 0 && quick_connect(q, e) < 0)
		return -1;
	if (send_all(q, request, e) < 0 || receive(q, r, piece, arg, e) < 0)
		return -1;
	return 0;
}

static void add_request(struct sbuf *out, const char *method, const char *path, const char *type, struct str body)
{
	sbuf_addf(out, "%s %s HTTP/1.1\r\nHost: localhost\r\nUser-Agent: stoker/" STOKER_VERSION "\r\nAccept: %s\r\n",
		  method, path, "application/json,*/*");
	if (type)
		sbuf_addf(out, "Content-Type: %s\r\n", type);
	if (type || body.n)
		sbuf_addf(out, "Content-Length: %zu\r\n", body.n);
	sbuf_adds(out, "\r\n");
	sbuf_add(out, body.p, body.n);
}

static int talk(struct quick *q, struct str request, int *ret_code, reply_piece *piece, void *arg, struct err *e)
{
	struct reply r;
	bool again = q->used && !str_starts(request.p, "POST"); /* that one might be done twice */
	int result;

	reply_init(&r);
	result = exchange(q, request, &r, piece, arg, e);
	if (result < 0 && again && !r.code && e->kind == ERR_UNAVAILABLE) {
		quick_close(q);
		reply_done(&r);
		reply_init(&r);
		err_clear(e);
		result = exchange(q, request, &r, piece, arg, e);
	}
	*ret_code = r.code;
	q->used = true;
	if (result < 0 || r.close)
		quick_close(q);
	reply_done(&r);
	return result;
}

static bool keep(void *arg, struct str piece)
{
	sbuf_add(arg, piece.p, piece.n);
	return true;
}

int quick_call(struct quick *q, const char *method, const char *path, const char *type, struct str body, int *ret_code,
	       struct sbuf *reply, struct err *e)
{
	auto_sbuf struct sbuf request = SBUF(LIMIT_BODY + LIMIT_URL + PIECE);
	int code;

	add_request(&request, method, path, type, body);
	if (request.over)
		return err_set(e, ERR_TOO_LARGE, "the request has %zu bytes, more than the server takes", body.n);
	if (talk(q, sbuf_str(&request), &code, keep, reply, e) < 0)
		return -1;
	if (reply->over)
		return err_set(e, ERR_TOO_LARGE, "the server's answer is larger than %zu bytes", reply->max);
	*ret_code = code;
	return 0;
}

int quick_stream(struct quick *q, const char *path, int *ret_code, reply_piece *piece, void *arg, struct err *e)
{
	auto_sbuf struct sbuf request = SBUF(LIMIT_URL + PIECE);

	add_request(&request, "GET", path, NULL, (struct str){ 0 });
	if (talk(q, sbuf_str(&request), ret_code, piece, arg, e) < 0 && e->kind != ERR_NONE)
		return -1;
	quick_close(q);
	return 0;
}
