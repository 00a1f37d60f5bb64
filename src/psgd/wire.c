// SPDX-License-Identifier: Apache-2.0
/* wire.c - headers and HELLO, byte by byte
 *
 *	head   0 "PSGD"  4 version  5 type  6 flags(2)  8 len(4)  12 rate(4)  16 round(8)  24 ticks(8)  32 zero(8)
 *	hello  0 mode  4 rank  8 ranks  12 server  16 servers  20 backup  24 staleness  28 alpha  32 params(8)
 *	       40 zero(24)  64 model, padded with zeros
 *	door   0 secret(16)  16 name, padded with zeros
 */
#include "psgd/wire.h"

#include <math.h>

#include "base/mem.h"
#include "base/str.h"
#include "psgd/split.h"

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "bodies are sent as they lie in memory: little-endian machines only"
#endif

#define U32(p, at)        (*(const uint32_t *)memcpy(&(uint32_t){ 0 }, (p) + (at), 4))
#define U64(p, at)        (*(const uint64_t *)memcpy(&(uint64_t){ 0 }, (p) + (at), 8))
#define F32(p, at)        (*(const float *)memcpy(&(float){ 0 }, (p) + (at), 4))
#define PUT(p, at, value) memcpy((p) + (at), &(value), sizeof(value))

struct type_rule {
	const char *name;
	uint32_t max; /* of the body */
	bool floats;
};

static const struct type_rule types[WIRE__COUNT] = {
	[WIRE_ERROR] = { "ERROR", WIRE_MAX_TEXT, false },
	[WIRE_HELLO_MSG] = { "HELLO", WIRE_HELLO, false },
	[WIRE_WELCOME] = { "WELCOME", 0, false },
	[WIRE_INIT] = { "INIT", WIRE_MAX_FLOATS * 4 - 4, true },
	[WIRE_PULL] = { "PULL", 0, false },
	[WIRE_PUSH] = { "PUSH", WIRE_MAX_FLOATS * 4 - 4, true },
	[WIRE_WEIGHTS] = { "WEIGHTS", WIRE_MAX_FLOATS * 4 - 4, true },
	[WIRE_SAVE] = { "SAVE", 0, false },
	[WIRE_DONE] = { "DONE", 0, false },
	[WIRE_SHARE] = { "SHARE", 0, false },
	[WIRE_DOOR_MSG] = { "DOOR", WIRE_DOOR, false },
};

const uint8_t wire_tokens[WIRE_MAX_BLOCKS];

const char *wire_type_name(enum wire_type type)
{
	return types[type].name;
}

void wire_head_encode(const struct wire_head *h, uint8_t out[WIRE_HEAD])
{
	uint16_t flags = (uint16_t)h->flags;

	memset(out, 0, WIRE_HEAD);
	memcpy(out, "PSGD", 4);
	out[4] = WIRE_VERSION;
	out[5] = (uint8_t)h->type;
	PUT(out, 6, flags);
	PUT(out, 8, h->len);
	PUT(out, 12, h->rate);
	PUT(out, 16, h->round);
	PUT(out, 24, h->ticks);
}

int wire_head_decode(const uint8_t in[WIRE_HEAD], struct wire_head *ret, struct err *e)
{
	struct wire_head h = { .flags = in[6] | (unsigned)in[7] << 8, .len = U32(in, 8), .rate = F32(in, 12) };
	const struct type_rule *rule;

	if (memcmp(in, "PSGD", 4) != 0)
		return err_set(e, ERR_BAD_REQUEST, "the other side does not speak psgd's protocol");
	if (in[4] != WIRE_VERSION)
		return err_set(e, ERR_BAD_REQUEST, "the other side speaks version %u of the protocol, not %d", in[4],
			       WIRE_VERSION);
	if (in[5] < 1 || in[5] >= WIRE__COUNT)
		return err_set(e, ERR_BAD_REQUEST, "message of unknown type %u", in[5]);
	h.type = in[5];
	rule = &types[h.type];
	if (h.flags & WIRE_MAPPED && h.type != WIRE_PUSH && h.type != WIRE_WEIGHTS)
		return err_set(e, ERR_BAD_REQUEST, "%s cannot be in shared memory", rule->name);
	if (h.flags & WIRE_MAPPED ? h.len > WIRE_MAX_BLOCKS
				  : h.len > rule->max || (rule->floats && h.len % sizeof(float) != 0))
		return err_set(e, ERR_TOO_LARGE, "%s with a body of %u bytes", rule->name, h.len);
	if (!isfinite(h.rate))
		return err_set(e, ERR_BAD_REQUEST, "%s with a learning rate that is not a number", rule->name);
	h.round = U64(in, 16);
	h.ticks = U64(in, 24);
	*ret = h;
	return 0;
}

static const char *const modes[MODE__COUNT] = { "sync", "async", "ssp", "easgd", "eamsgd" };

const char *mode_name(enum mode mode)
{
	return modes[mode];
}

enum mode mode_of(const char *name)
{
	enum mode m = 0;

	while (m < MODE__COUNT && !streq(modes[m], name))
		m++;
	return m;
}

void hello_encode(const struct hello *h, uint8_t out[WIRE_HELLO])
{
	uint32_t mode = h->mode;

	memset(out, 0, WIRE_HELLO);
	PUT(out, 0, mode);
	PUT(out, 4, h->rank);
	PUT(out, 8, h->ranks);
	PUT(out, 12, h->server);
	PUT(out, 16, h->servers);
	PUT(out, 20, h->backup);
	PUT(out, 24, h->staleness);
	PUT(out, 28, h->alpha);
	PUT(out, 32, h->params);
	memcpy(out + 64, h->model, MODEL_TEXT);
}

/* What came from outside is a number within its bounds before it is used. */
static int hello_check(const struct hello *h, struct err *e)
{
	if (h->servers < 1 || h->servers > WIRE_MAX_SERVERS || h->server >= h->servers)
		return err_set(e, ERR_INVALID, "HELLO: server %u of %u", h->server, h->servers);
	if (h->ranks < 1 || h->ranks > WIRE_MAX_RANKS || (h->rank >= h->ranks && h->rank != HELLO_WATCHER))
		return err_set(e, ERR_INVALID, "HELLO: rank %u of %u", h->rank, h->ranks);
	if (h->backup >= h->ranks)
		return err_set(e, ERR_INVALID, "HELLO: %u backup trainers of %u", h->backup, h->ranks);
	if (h->params < h->servers || slice_of(h->params, h->servers, 0).n >= WIRE_MAX_FLOATS)
		return err_set(e, ERR_INVALID, "HELLO: %llu parameters on %u servers", (unsigned long long)h->params,
			       h->servers);
	if (!(h->alpha >= 0 && h->alpha <= 1))
		return err_set(e, ERR_INVALID, "HELLO: alpha is not from 0 to 1");
	for (const char *p = h->model; *p; p++)
		if (!strchr("0123456789-", *p))
			return err_set(e, ERR_INVALID, "HELLO: the model is not a list of widths");
	return 0;
}

int hello_decode(const uint8_t *in, size_t n, struct hello *ret, struct err *e)
{
	struct hello h;

	if (n != WIRE_HELLO)
		return err_set(e, ERR_INVALID, "HELLO of %zu bytes, not %d", n, WIRE_HELLO);
	if (U32(in, 0) >= MODE__COUNT || in[WIRE_HELLO - 1] != 0)
		return err_set(e, ERR_INVALID, "HELLO: unknown mode %u", U32(in, 0));
	h = (struct hello){
		.mode = U32(in, 0),
		.rank = U32(in, 4),
		.ranks = U32(in, 8),
		.server = U32(in, 12),
		.servers = U32(in, 16),
		.backup = U32(in, 20),
		.staleness = U32(in, 24),
		.alpha = F32(in, 28),
		.params = U64(in, 32),
	};
	memcpy(h.model, in + 64, MODEL_TEXT);
	if (hello_check(&h, e) < 0)
		return -1;
	*ret = h;
	return 0;
}

int hello_compare(const struct hello *agreed, const struct hello *other, struct err *e)
{
	const struct {
		const char *what;
		double agreed, other;
	} rows[] = {
		{ "trainers", agreed->ranks, other->ranks },
		{ "index of the parameter server", agreed->server, other->server },
		{ "parameter servers", agreed->servers, other->servers },
		{ "parameters", (double)agreed->params, (double)other->params },
		{ "--backup", agreed->backup, other->backup },
		{ "--staleness", agreed->staleness, other->staleness },
		{ "--alpha", (double)agreed->alpha, (double)other->alpha },
	};

	if (!streq(agreed->model, other->model))
		return err_set(e, ERR_CONFLICT, "this server holds a model %s, not %s", agreed->model, other->model);
	if (agreed->mode != other->mode)
		return err_set(e, ERR_CONFLICT, "--mode: this server works in mode %s, not %s", mode_name(agreed->mode),
			       mode_name(other->mode));
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (rows[i].agreed != rows[i].other)
			return err_set(e, ERR_CONFLICT, "%s: this server works with %g, not %g", rows[i].what,
				       rows[i].agreed, rows[i].other);
	return 0;
}

void invitation_encode(const struct invitation *v, uint8_t out[WIRE_DOOR])
{
	memcpy(out, v->secret, WIRE_SECRET);
	memcpy(out + WIRE_SECRET, v->name, WIRE_DOOR_NAME);
}

int invitation_decode(const uint8_t in[WIRE_DOOR], struct invitation *ret, struct err *e)
{
	const char *name = (const char *)in + WIRE_SECRET;
	size_t n = strnlen(name, WIRE_DOOR_NAME);

	if (n == 0 || n == WIRE_DOOR_NAME || strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-") != n)
		return err_set(e, ERR_BAD_REQUEST, "DOOR: not the name of a door");
	*ret = (struct invitation){ 0 };
	memcpy(ret->secret, in, WIRE_SECRET);
	memcpy(ret->name, name, n);
	return 0;
}
