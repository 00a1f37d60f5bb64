// SPDX-License-Identifier: Apache-2.0
/* remote_spdy.c - a remote session by SPDY: a stream for each channel
 *
 * The client opens them one after the other, each with its name in the header `streamtype`; when the last one has come
 * the command starts.  Which ones those are follows from what was asked for.  At the end the output streams end, then
 * the error stream with the last word; the client resets them all and goes.
 */
#include "base/jsonx.h"
#include "base/mem.h"
#include "loop/remote_parts.h"

static const char *const names[CHANNEL__COUNT] = {
	[CHANNEL_STDIN] = "stdin", [CHANNEL_STDOUT] = "stdout", [CHANNEL_STDERR] = "stderr",
	[CHANNEL_ERROR] = "error", [CHANNEL_RESIZE] = "resize",
};

static const char *const protocols[] = { "v4.channel.k8s.io", "v3.channel.k8s.io", "v2.channel.k8s.io",
					 "channel.k8s.io", NULL };

static bool expects(const struct remote *r, int channel)
{
	switch (channel) {
	case CHANNEL_STDIN:
		return r->wants.in;
	case CHANNEL_STDOUT:
		return r->wants.out;
	case CHANNEL_STDERR:
		return r->wants.err && !r->wants.tty;
	case CHANNEL_RESIZE:
		return r->wants.tty && r->version >= 3;
	default:
		return true;
	}
}

static bool all_open(const struct remote *r)
{
	for (int i = 0; i < CHANNEL__COUNT; i++)
		if (expects(r, i) && !r->ids[i])
			return false;
	return true;
}

static int channel_of(const struct remote *r, uint32_t id)
{
	for (int i = 0; i < CHANNEL__COUNT; i++)
		if (r->ids[i] == id)
			return i;
	return -1;
}

/* --- in --- */

static bool on_opened(void *arg, uint32_t id, const json_t *headers)
{
	struct remote *r = arg;
	const char *type = jsonx_str_or(headers, "streamtype", "");

	if (r->ended)
		return false;
	for (int i = 0; i < CHANNEL__COUNT; i++) {
		if (!streq(type, names[i]))
			continue;
		if (!expects(r, i) || r->ids[i])
			return false;
		r->ids[i] = id;
		if (all_open(r))
			remote_start(r);
		return true;
	}
	return false;
}

static void on_data(void *arg, uint32_t id, struct str bytes)
{
	remote_take(arg, channel_of(arg, id), bytes);
}

static void on_ended(void *arg, uint32_t id)
{
	remote_take_end(arg, channel_of(arg, id));
}

/* Output on it would go nowhere, and spdy_send() knows; but an input that was reset has ended. */
static void on_reset(void *arg, uint32_t id)
{
	remote_take_end(arg, channel_of(arg, id));
}

static bool spdy_receive(struct remote *r, struct str bytes)
{
	struct err e = ERR_INIT;

	if (spdy_feed(r->spdy, bytes, &e) < 0)
		return false;
	return !r->ended || spdy_streams(r->spdy) > 0;
}

/* --- out --- */

static void on_send(void *arg, struct str head, struct str body)
{
	remote_send(arg, head);
	remote_send(arg, body);
}

static void spdy_output(struct remote *r, int channel, struct str bytes)
{
	spdy_send(r->spdy, r->ids[channel], bytes, false);
}

static bool spdy_end(struct remote *r, struct str status)
{
	spdy_send(r->spdy, r->ids[CHANNEL_STDOUT], STR(""), true);
	spdy_send(r->spdy, r->ids[CHANNEL_STDERR], STR(""), true);
	spdy_send(r->spdy, r->ids[CHANNEL_ERROR], status, true);
	return spdy_streams(r->spdy) == 0;
}

static const struct remote_wire wire = { .receive = spdy_receive, .output = spdy_output, .end = spdy_end };

/* --- the beginning --- */

int remote_spdy_accept(struct remote *r, struct http_request *req, struct err *e)
{
	static const char header[] = "X-Stream-Protocol-Version";
	const struct spdy_handlers handlers = { on_opened, on_data, on_ended, on_reset, on_send, r };
	struct http_tunnel_handlers h = remote_tunnel_handlers;
	const char *offered = http_header(req, header);
	const char *chosen = http_choose(req, header, protocols);

	h.arg = r;
	if (offered && !chosen)
		return err_set(e, ERR_BAD_REQUEST,
			       "unable to upgrade: unable to negotiate protocol: client supports %s", offered);
	r->version = 1; /* who names none is older than the question */
	for (size_t i = 0; chosen && protocols[i]; i++)
		if (streq(protocols[i], chosen))
			r->version = 4 - (unsigned)i;
	if (chosen)
		http_add_header(req, header, chosen);
	r->wire = &wire;
	r->spdy = spdy_new(&handlers);
	r->tunnel = http_upgrade(req, "SPDY/3.1", &h);
	return 0;
}
