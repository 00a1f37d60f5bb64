// SPDX-License-Identifier: Apache-2.0
/* remote.c - a remote session, whatever its wire
 *
 * Handlers may end the session they are called from; every way in counts itself in `entered`, and the last one out
 * frees.  A session that has ended over SPDY lives on without its owner until the client has let go of its streams:
 * kubectl may lose the end of the output when the connection closes under it.
 */
#include "loop/remote.h"

#include "base/jsonx.h"
#include "base/mem.h"
#include "loop/http_internal.h"
#include "loop/remote_parts.h"

#define FULL_BYTES  (1024u * 1024) /* unsent: no more is read, whatever it is */
#define EARLY_BYTES (256u * 1024)
#define SIZE_BYTES  1024
#define TEXT_BYTES  (1024u * 1024) /* of a base64 message, which must be whole */
#define SIZE_MS     250
#define OPEN_MS     30000                 /* as long as a kubelet waits for its streams */
#define LEAVE_MS    (INT64_C(600) * 1000) /* for a client that reads slowly what it was sent */

static void destroy(struct remote *r)
{
	loop_unschedule(r->loop, &r->start);
	loop_timer_done(&r->timer);
	websocket_free(r->ws);
	spdy_free(r->spdy);
	sbuf_done(&r->early);
	sbuf_done(&r->size);
	sbuf_done(&r->text);
	free(r);
}

static void enter(struct remote *r)
{
	r->entered++;
}

static void leave(struct remote *r)
{
	if (--r->entered == 0 && r->dead)
		destroy(r);
}

static void close_tunnel(struct remote *r)
{
	if (r->tunnel)
		http_tunnel_close(TAKE(r->tunnel));
	r->dead = true;
}

/* The client is of no more use; the owner hears of it unless it has let go. */
static void give_up(struct remote *r)
{
	bool tell = !r->ended && !r->dead;

	close_tunnel(r);
	r->ended = true;
	if (tell)
		r->h.closed(r->h.arg);
}

/* --- from the tunnel --- */

static void set_pause(struct remote *r)
{
	r->full = http_tunnel_pending(r->tunnel) > FULL_BYTES;
	http_tunnel_pause(r->tunnel, r->full || (r->paused && !r->ended));
}

static void on_data(void *arg, struct str bytes)
{
	struct remote *r = arg;

	enter(r);
	if ((!r->wire->receive(r, bytes) || r->early.over) && !r->dead)
		give_up(r);
	else if (!r->dead)
		set_pause(r);
	leave(r);
}

static void on_drained(void *arg)
{
	struct remote *r = arg;

	enter(r);
	set_pause(r);
	if (r->started && !r->ended)
		r->h.drained(r->h.arg);
	leave(r);
}

static void on_closed(void *arg)
{
	struct remote *r = arg;

	enter(r);
	r->tunnel = NULL;
	if (!r->dead)
		give_up(r);
	leave(r);
}

const struct http_tunnel_handlers remote_tunnel_handlers = { .data = on_data,
							     .drained = on_drained,
							     .closed = on_closed };

void remote_send(void *arg, struct str bytes)
{
	struct remote *r = arg;

	if (r->tunnel)
		http_tunnel_write(r->tunnel, bytes.p, bytes.n);
}

void remote_send_message(void *arg, struct str bytes)
{
	struct remote *r = arg;

	if (r->tunnel)
		http_tunnel_write_message(r->tunnel, bytes.p, bytes.n);
}

/* --- from the wire --- */

void remote_start(struct remote *r)
{
	bool sizeless = r->wants.tty && !r->rows && (r->ws || r->ids[CHANNEL_RESIZE]);

	/* A terminal's size comes at once, if it does; the program should find it when it starts. */
	r->opened = true;
	if (sizeless) {
		loop_timer_set(r->loop, &r->timer, SIZE_MS);
		return;
	}
	loop_timer_clear(&r->timer);
	loop_schedule(r->loop, &r->start);
}

static void give_input(struct remote *r, struct str bytes)
{
	if (!r->started) /* little, for clients wait until all is open; a flood ends the session */
		sbuf_add(&r->early, bytes.p, bytes.n);
	else
		r->h.input(r->h.arg, bytes);
}

static void on_start(void *arg)
{
	struct remote *r = arg;

	if (r->dead || r->ended)
		return;
	enter(r);
	r->started = true;
	r->h.ready(r->h.arg, r->rows, r->cols);
	if (!r->ended && r->rows)
		r->h.resize(r->h.arg, r->rows, r->cols);
	if (!r->ended && r->early.n)
		r->h.input(r->h.arg, sbuf_str(&r->early));
	sbuf_done(&r->early);
	if (!r->ended && r->input_over)
		r->h.input_end(r->h.arg);
	leave(r);
}

void remote_take_size(struct remote *r)
{
	json_auto_t *doc = NULL;
	struct err e = ERR_INIT;
	int64_t cols;
	int64_t rows;

	if (r->size.n && !r->size.over && jsonx_parse(r->size.p, r->size.n, NULL, NULL, &doc, &e) == 0) {
		cols = jsonx_int_or(doc, "Width", 0);
		rows = jsonx_int_or(doc, "Height", 0);
		if (cols > 0 && cols <= UINT16_MAX && rows > 0 && rows <= UINT16_MAX) {
			r->rows = (int)rows;
			r->cols = (int)cols;
		}
		if (r->started && r->rows)
			r->h.resize(r->h.arg, r->rows, r->cols);
		else if (r->opened && r->rows)
			remote_start(r);
	}
	sbuf_reset(&r->size);
}

/* A document a line. */
static void give_size(struct remote *r, struct str bytes)
{
	for (size_t i = 0; i < bytes.n && !r->ended; i++) {
		if (bytes.p[i] == '\n')
			remote_take_size(r);
		else
			sbuf_addc(&r->size, bytes.p[i]);
	}
}

void remote_take(struct remote *r, int channel, struct str bytes)
{
	if (r->ended || !bytes.n)
		return;
	if (channel == CHANNEL_STDIN && r->wants.in && !r->input_over)
		give_input(r, bytes);
	else if (channel == CHANNEL_RESIZE && r->wants.tty)
		give_size(r, bytes);
}

void remote_take_end(struct remote *r, int channel)
{
	if (r->ended || channel != CHANNEL_STDIN || !r->wants.in || r->input_over)
		return;
	r->input_over = true;
	if (r->started)
		r->h.input_end(r->h.arg);
}

/* --- from the owner --- */

static void on_late(void *arg)
{
	struct remote *r = arg;

	enter(r);
	if (r->opened && !r->started)
		loop_schedule(r->loop, &r->start);
	else
		give_up(r);
	leave(r);
}

int remote_accept(struct http_request *req, const struct remote_wants *wants, const struct remote_handlers *h,
		  struct remote **ret, struct err *e)
{
	struct remote *r = xcalloc(1, sizeof(*r));
	int rc;

	r->h = *h;
	r->wants = *wants;
	r->loop = req->conn->server->loop;
	r->start = (struct loop_hook){ .run = on_start, .arg = r, .phase = LOOP_WORK };
	r->timer = (struct loop_timer){ .fire = on_late, .arg = r };
	sbuf_init(&r->early, EARLY_BYTES);
	sbuf_init(&r->size, SIZE_BYTES);
	sbuf_init(&r->text, TEXT_BYTES);
	if (http_wants_upgrade(req, "websocket"))
		rc = remote_ws_accept(r, req, e);
	else if (http_wants_upgrade(req, "SPDY/3.1"))
		rc = remote_spdy_accept(r, req, e);
	else
		rc = err_set(e, ERR_BAD_REQUEST, "Upgrade request required");
	if (rc < 0) {
		destroy(r);
		return -1;
	}
	if (!loop_timer_pending(&r->timer) && !r->start.queued)
		loop_timer_set(r->loop, &r->timer, OPEN_MS);
	*ret = r;
	return 0;
}

void remote_output(struct remote *r, int stream, struct str bytes)
{
	if (!r->ended && bytes.n)
		r->wire->output(r, stream, bytes);
}

size_t remote_pending(const struct remote *r)
{
	return r->tunnel ? http_tunnel_pending(r->tunnel) : 0;
}

void remote_pause(struct remote *r, bool paused)
{
	r->paused = paused;
	if (r->tunnel && !r->ended)
		set_pause(r);
}

/* Kubernetes' Status, in the order and words that clients match on. */
static json_t *status_of(int code, const struct err *e)
{
	json_auto_t *number = jsonx_stringf("%d", code);

	if (e && e->kind != ERR_NONE)
		return json_pack("{s:{}, s:s, s:o, s:s, s:{s:[{s:o}]}, s:i}", "metadata", "status", "Failure",
				 "message", jsonx_string(e->text), "reason", "InternalError", "details", "causes",
				 "message", jsonx_string(e->text), "code", 500);
	if (code == 0)
		return json_pack("{s:{}, s:s}", "metadata", "status", "Success");
	return json_pack("{s:{}, s:s, s:o, s:s, s:{s:[{s:s, s:O}]}}", "metadata", "status", "Failure", "message",
			 jsonx_stringf("command terminated with non-zero exit code: exit status %d", code), "reason",
			 "NonZeroExitCode", "details", "causes", "reason", "ExitCode", "message", number);
}

void remote_end(struct remote *r, int code, const struct err *e)
{
	json_auto_t *status = status_of(code, e);
	auto_sbuf struct sbuf text = SBUF(16384);

	if (r->ended)
		return;
	enter(r);
	r->ended = true;
	/* Before version 4 there were only words, and only of failure. */
	if (r->version >= 4)
		jsonx_dump(status, &text);
	else
		sbuf_adds(&text, jsonx_str_or(status, "message", ""));
	if (r->wire->end(r, sbuf_str(&text))) {
		close_tunnel(r);
	} else if (r->tunnel) {
		set_pause(r);
		loop_timer_set(r->loop, &r->timer, LEAVE_MS);
	}
	leave(r);
}

void remote_close(struct remote *r)
{
	if (r->ended)
		return;
	enter(r);
	r->ended = true;
	close_tunnel(r);
	leave(r);
}
