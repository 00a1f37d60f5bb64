// SPDX-License-Identifier: Apache-2.0
/* remote_ask.c - see remote_ask.h
 *
 * The request is written by hand and its reply read by loop/backend.c, which makes a pipe of the connection after 101.
 * What comes through the pipe are messages of v5.channel.k8s.io, or v4, as in remote_ws.c; the last one, on the error
 * channel, is a Status that says how it ended.  A reply other than 101 is a Status too.
 */
#include "loop/remote_ask.h"

#include <errno.h>
#include <stdlib.h>
#include <strings.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/jsonx.h"
#include "base/mem.h"
#include "loop/backend.h"
#include "loop/remote_parts.h"
#include "loop/sock.h"

#define PROTOCOL      "v5.channel.k8s.io"
#define OLDER         "v4.channel.k8s.io" /* the same, but the input cannot end */
#define STATUS_MAX    (64u * 1024)
#define CHANNEL_CLOSE "\xff"

struct remote_ask {
	struct remote_ask_handlers h;
	struct backend *backend;
	struct websocket *ws;
	struct sbuf early;  /* frames made before the server agreed */
	struct sbuf status; /* what the error channel, or a refusal, has said so far */
	int channel;        /* of the message under way; -1: not known yet */
	int code;           /* of the reply */
	bool older;         /* it speaks v4 */
	bool opened, ended, dead;
	unsigned entered;
};

static void leave(struct remote_ask *a)
{
	if (--a->entered || !a->dead)
		return;
	backend_free(a->backend);
	websocket_free(a->ws);
	sbuf_done(&a->early);
	sbuf_done(&a->status);
	free(a);
}

/* --- how it ended --- */

static void tell_end(struct remote_ask *a, int code, const struct err *e)
{
	if (a->ended || a->dead)
		return;
	a->ended = true;
	a->h.ended(a->h.arg, code, e);
}

static int exit_code(const json_t *status)
{
	const json_t *cause;
	size_t i;

	json_array_foreach (jsonx_at(status, "details.causes"), i, cause)
		if (streq(jsonx_str_or(cause, "reason", ""), "ExitCode"))
			return (int)strtol(jsonx_str_or(cause, "message", "255"), NULL, 10);
	return -1;
}

/* The Status is the last word; a connection that ends without one was cut off. */
static void read_end(struct remote_ask *a)
{
	json_auto_t *status = NULL;
	struct err ignored = ERR_INIT, e = ERR_INIT;
	int code = -1;

	if (!a->status.n || jsonx_parse(a->status.p, a->status.n, NULL, NULL, &status, &ignored) < 0)
		err_set(&e, ERR_UNAVAILABLE, "the connection to the server broke off");
	else if (streq(jsonx_str_or(status, "status", ""), "Success"))
		code = 0;
	else if ((code = exit_code(status)) < 0)
		err_set(&e, err_kind_of(jsonx_str_or(status, "reason", ""), a->code), "%s",
			jsonx_str_or(status, "message", "the server gave no reason"));
	tell_end(a, code, &e);
}

/* --- what comes --- */

static void take(struct remote_ask *a, struct str bytes)
{
	if (!bytes.n)
		return;
	if (a->channel == CHANNEL_STDOUT || a->channel == CHANNEL_STDERR)
		a->h.output(a->h.arg, a->channel, bytes);
	else if (a->channel == CHANNEL_ERROR)
		sbuf_add(&a->status, bytes.p, bytes.n);
}

static void on_piece(void *arg, struct str bytes, unsigned flags)
{
	struct remote_ask *a = arg;

	if (a->dead || a->ended)
		return;
	if (flags & WEBSOCKET_FIRST)
		a->channel = -1;
	if (a->channel < 0 && bytes.n) {
		a->channel = (unsigned char)bytes.p[0];
		bytes = (struct str){ bytes.p + 1, bytes.n - 1 };
	}
	take(a, bytes);
}

static void on_frame(void *arg, struct str bytes)
{
	struct remote_ask *a = arg;

	if (a->dead)
		return;
	if (a->opened)
		backend_write(a->backend, bytes);
	else
		sbuf_add(&a->early, bytes.p, bytes.n);
}

static void on_head(void *arg, const struct backend_head *head)
{
	struct remote_ask *a = arg;

	a->entered++;
	a->code = head->code;
	a->opened = head->code == 101;
	for (size_t i = 0; i < head->n; i++)
		if (strcasecmp(head->headers[i].name, "Sec-WebSocket-Protocol") == 0)
			a->older = streq(head->headers[i].value, OLDER);
	if (a->opened) {
		backend_write(a->backend, sbuf_str(&a->early));
		sbuf_reset(&a->early);
		if (a->h.opened)
			a->h.opened(a->h.arg);
	}
	leave(a);
}

static void on_body(void *arg, struct str bytes)
{
	struct remote_ask *a = arg;

	a->entered++;
	if (!a->opened)
		sbuf_add(&a->status, bytes.p, bytes.n);
	else if (!a->ended && !websocket_feed(a->ws, bytes) && !a->dead)
		read_end(a);
	leave(a);
}

static void on_end(void *arg)
{
	struct remote_ask *a = arg;

	a->entered++;
	read_end(a);
	leave(a);
}

static void on_drained(void *arg)
{
	struct remote_ask *a = arg;

	a->entered++;
	if (a->opened && a->h.drained)
		a->h.drained(a->h.arg);
	leave(a);
}

static void on_failed(void *arg, const struct err *e)
{
	struct remote_ask *a = arg;

	a->entered++;
	tell_end(a, -1, e);
	leave(a);
}

/* --- the beginning --- */

static int dial(const char *path, struct err *e)
{
	struct sockaddr_un to = { .sun_family = AF_UNIX };
	int fd;

	if (strlen(path) >= sizeof(to.sun_path))
		return err_set(e, ERR_INVALID, "%s: the path of a socket must be shorter than %zu bytes", path,
			       sizeof(to.sun_path));
	memcpy(to.sun_path, path, strlen(path) + 1);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (fd >= 0 && connect(fd, (struct sockaddr *)&to, sizeof(to)) == 0)
		return fd;
	err_errno(e, ERR_UNAVAILABLE, "cannot connect to %s", path);
	if (fd >= 0)
		close(fd);
	return -1;
}

/* v6 addresses are written in brackets. */
static void add_host(const struct remote_ask_place *to, struct sbuf *out)
{
	const char *host = to->trust.host;

	if (to->socket)
		sbuf_adds(out, "localhost");
	else
		sbuf_addf(out, strchr(host, ':') ? "[%s]:%d" : "%s:%d", host, to->port);
}

static void add_request(const struct remote_ask_place *to, const char *path, struct sbuf *out)
{
	auto_sbuf struct sbuf key = SBUF(64);

	websocket_new_key(&key);
	sbuf_addf(out, "GET %s%s HTTP/1.1\r\nHost: ", to->prefix ? to->prefix : "", path);
	add_host(to, out);
	sbuf_addf(out,
		  "\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
		  "Sec-WebSocket-Key: %s\r\nSec-WebSocket-Protocol: " PROTOCOL ", " OLDER "\r\n",
		  key.p);
	if (to->token)
		sbuf_addf(out, "Authorization: Bearer %s\r\n", to->token);
	for (const char *const *h = to->headers; h && *h; h++)
		sbuf_addf(out, "%s\r\n", *h);
	sbuf_adds(out, "\r\n");
}

int remote_ask_new(struct loop *loop, const struct remote_ask_place *to, const char *path,
		   const struct remote_ask_handlers *h, struct remote_ask **ret, struct err *e)
{
	auto_sbuf struct sbuf request = SBUF(SIZE_MAX);
	int fd = to->socket ? dial(to->socket, e) : sock_dial(to->address, to->port, e);
	bool tls = !to->socket && !to->plain;
	struct remote_ask *a;

	if (fd < 0)
		return -1;
	add_request(to, path, &request);
	a = xcalloc(1, sizeof(*a));
	a->h = *h;
	a->entered = 1; /* the owner's, until remote_ask_free() */
	a->early = SBUF(SIZE_MAX);
	a->status = SBUF(STATUS_MAX);
	a->ws = websocket_new_client(&(struct websocket_handlers){ on_piece, on_frame, a });
	a->backend = backend_new(loop, fd, tls, sbuf_str(&request), false,
				 &(struct backend_handlers){ on_head, on_body, on_end, on_drained, on_failed, a });
	if (tls && backend_trust(a->backend, &to->trust, e) < 0) {
		remote_ask_free(a);
		return -1;
	}
	*ret = a;
	return 0;
}

void remote_ask_free(struct remote_ask *a)
{
	if (!a)
		return;
	a->dead = true;
	leave(a);
}

/* --- what goes --- */

static void send_on(struct remote_ask *a, int channel, struct str bytes)
{
	char mark = (char)channel;
	struct str parts[] = { { &mark, 1 }, bytes };

	if (!a->ended && !a->dead)
		websocket_send(a->ws, false, parts, ARRAY_SIZE(parts));
}

void remote_ask_input(struct remote_ask *a, struct str bytes)
{
	send_on(a, CHANNEL_STDIN, bytes);
}

void remote_ask_input_end(struct remote_ask *a)
{
	char which = CHANNEL_STDIN;
	struct str parts[] = { { CHANNEL_CLOSE, 1 }, { &which, 1 } };

	if (!a->ended && !a->dead && !a->older)
		websocket_send(a->ws, false, parts, ARRAY_SIZE(parts));
}

void remote_ask_resize(struct remote_ask *a, int rows, int cols)
{
	auto_free char *text = xasprintf("{\"Width\":%d,\"Height\":%d}", cols, rows);

	send_on(a, CHANNEL_RESIZE, str_of(text));
}

size_t remote_ask_pending(const struct remote_ask *a)
{
	return a->early.n + backend_pending(a->backend);
}

void remote_ask_pause(struct remote_ask *a, bool paused)
{
	backend_pause(a->backend, paused);
}
