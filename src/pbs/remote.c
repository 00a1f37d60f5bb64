// SPDX-License-Identifier: Apache-2.0
/* remote.c - the way to a server elsewhere, by a kubeconfig; to one on this machine as socket.c goes
 *
 * Only a terminal needs the loop and its client in both cases.
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/limits.h"
#include "base/mem.h"
#include "client/client.h"
#include "client/registry.h"
#include "client/terminal.h"
#include "pbs/log_rest.h"
#include "pbs/pbs.h"

#define AGAIN_MS    200
#define PATIENCE_MS (300 * 1000) /* an image may still have to come */

struct remote {
	void *socket; /* pbs_door_socket's, if the server is here, */
	char *path;   /* and where that is; else: */
	struct loop *loop;
	struct client *client;
};

static void remote_close(void *self)
{
	struct remote *r = self;

	if (r->socket)
		pbs_door_socket.close(r->socket);
	client_free(r->client);
	if (r->loop)
		loop_free(r->loop);
	free(r->path);
	free(r);
}

static void *remote_open(struct err *e)
{
	auto_sbuf struct sbuf path = SBUF(LIMIT_URL);
	struct remote *r = xcalloc(1, sizeof(*r));
	struct client_options o = { 0 };
	bool here = pbs_socket_path(&path);
	int why;

	if (here) {
		r->socket = pbs_door_socket.open(e);
		r->path = xstrdup(path.p);
	} else {
		r->loop = loop_new();
		client_http_new(r->loop, &o, &r->client, e);
	}
	if (r->socket || r->client)
		return r;
	why = errno;
	remote_close(r);
	errno = here ? why : ENOENT;
	return NULL;
}

static int remote_call(void *self, const char *method, const char *path, const char *type, struct str body,
		       int *ret_code, struct sbuf *reply, struct err *e)
{
	struct remote *r = self;

	if (r->socket)
		return pbs_door_socket.call(r->socket, method, path, type, body, ret_code, reply, e);
	return client_call_wait(r->client, method, path, type, body, ret_code, reply, e);
}

struct stream {
	bool (*piece)(void *arg, struct str piece);
	void *arg;
	bool over;
	bool stopped;
	struct err *e;
};

static void on_piece(void *arg, struct str piece)
{
	struct stream *s = arg;

	s->stopped = s->stopped || !s->piece(s->arg, piece);
}

static void on_end(void *arg, const struct err *e)
{
	struct stream *s = arg;

	s->over = true;
	*s->e = *e;
}

static int remote_stream(void *self, const char *path, int *ret_code, bool (*piece)(void *arg, struct str piece),
			 void *arg, struct err *e)
{
	struct remote *r = self;
	struct stream s = { .piece = piece, .arg = arg, .e = e };
	void *handle;

	if (r->socket)
		return pbs_door_socket.stream(r->socket, path, ret_code, piece, arg, e);
	handle = r->client->ops->stream(r->client, path, on_piece, on_end, &s);
	while (!s.over && !s.stopped)
		loop_turn(r->loop, false);
	if (!s.over)
		r->client->ops->stream_stop(r->client, handle);
	*ret_code = 200;
	return s.over && e->kind != ERR_NONE ? -1 : 0;
}

/* ---- a terminal ---- */

/* A client with a loop, also where the socket has served so far. */
static int client_here(struct remote *r, struct err *e)
{
	struct client_options o = { .socket = r->path };

	if (r->client)
		return 0;
	if (!r->loop)
		r->loop = loop_new();
	return client_http_new(r->loop, &o, &r->client, e);
}

struct listener {
	bool (*signal)(void *arg, int signo);
	void *arg;
	bool stop;
};

static void on_signal(void *arg, int signo)
{
	struct listener *l = arg;

	l->stop = !l->signal(l->arg, signo);
}

static void listen_to(struct remote *r, struct listener *l, bool on)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP };
	struct err e = ERR_INIT;

	for (size_t i = 0; l->signal && i < ARRAY_SIZE(signals); i++)
		if (on)
			(void)!loop_on_signal(r->loop, signals[i], on_signal, l, &e);
		else
			loop_forget_signal(r->loop, signals[i], l);
}

/* One of those that are joined. */
struct session {
	struct remote *remote;
	struct pbs_join *join;
	struct terminal *terminal;
	struct loop_timer again;
	int64_t give_up_ms;
};

/* In the words of Kubernetes, and ours. */
static bool runs_not_yet(const struct session *s, const struct err *e)
{
	return s->join->patient && e->kind != ERR_NONE && strstr(e->text, "container not found") &&
	       clock_mono_ms() < s->give_up_ms;
}

static void on_session_end(void *arg, int code, const struct err *e)
{
	struct session *s = arg;

	if (runs_not_yet(s, e)) {
		loop_timer_set(s->remote->loop, &s->again, AGAIN_MS);
		return;
	}
	s->join->over = true;
	s->join->status = code;
	s->join->e = *e;
}

static void session_begin(void *arg)
{
	struct session *s = arg;
	struct pbs_join *j = s->join;
	struct terminal_wants wants = {
		.path = j->path, .in = j->in, .tty = j->tty, .told = j->told, .ended = on_session_end, .arg = s
	};

	terminal_free(TAKE(s->terminal));
	j->over = terminal_new(s->remote->client, &wants, &s->terminal, &j->e) < 0;
}

static void session_end(struct session *s)
{
	s->join->cut = s->join->in && s->terminal && !terminal_input_is_over(s->terminal);
	terminal_free(s->terminal);
	loop_timer_done(&s->again);
}

static bool all_over(const struct pbs_join *joins, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!joins[i].over)
			return false;
	return true;
}

static int remote_join(void *self, struct pbs_join *joins, size_t n, bool (*signal)(void *arg, int signo), void *arg,
		       struct err *e)
{
	struct remote *r = self;
	struct listener listener = { .signal = signal, .arg = arg };
	struct session *sessions;

	if (client_here(r, e) < 0)
		return -1;
	sessions = xcalloc(n + 1, sizeof(*sessions));
	for (size_t i = 0; i < n; i++) {
		sessions[i] = (struct session){ .remote = r,
						.join = &joins[i],
						.again = { .fire = session_begin, .arg = &sessions[i] },
						.give_up_ms = clock_mono_ms() + PATIENCE_MS };
		session_begin(&sessions[i]);
	}
	listen_to(r, &listener, true);
	while (!listener.stop && !all_over(joins, n))
		loop_turn(r->loop, false);
	listen_to(r, &listener, false);
	for (size_t i = 0; i < n; i++)
		session_end(&sessions[i]);
	free(sessions);
	return 0;
}

static int remote_attach(void *self, const char *path, int *ret_status, struct err *e)
{
	struct pbs_join one = { .path = path, .in = true, .tty = true };

	if (remote_join(self, &one, 1, NULL, NULL, e) < 0)
		return -1;
	*ret_status = one.status;
	*e = one.e;
	return e->kind == ERR_NONE ? 0 : -1;
}

static int remote_rest(void *self, const struct pbs_rest *rest, bool (*signal)(void *arg, int signo), void *arg,
		       struct err *e)
{
	struct remote *r = self;
	struct listener listener = { .signal = signal, .arg = arg };
	int result;

	if (client_here(r, e) < 0)
		return -1;
	listen_to(r, &listener, true);
	result = log_rest_write(r->client, rest, &listener.stop, e);
	listen_to(r, &listener, false);
	return result;
}

static char *remote_ns(void *self)
{
	struct remote *r = self;

	return r->socket ? pbs_door_socket.ns(r->socket) : xstrdup(client_default_namespace(r->client));
}

static const char *remote_place(void *self)
{
	struct remote *r = self;

	return r && r->client ? client_server(r->client) : pbs_door_socket.place(NULL);
}

const struct pbs_door pbs_door_remote = { .open = remote_open,
					  .close = remote_close,
					  .call = remote_call,
					  .stream = remote_stream,
					  .ns = remote_ns,
					  .place = remote_place,
					  .attach = remote_attach,
					  .join = remote_join,
					  .rest = remote_rest,
					  .images = registry_images };
