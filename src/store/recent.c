// SPDX-License-Identifier: Apache-2.0
/* recent.c - what was written a moment ago, still decoded
 *
 * A pod is written five times within milliseconds, each time by someone who has to know its present state.  Stored
 * objects never change, and watchers keep most of them anyway, so the last few thousand stay at hand: each for a second
 * or two, or until they become many megabytes.  Sealed and expiring kinds are not kept: the one for safety, the
 * other because nobody asks.
 */
#include "base/mem.h"
#include "kinds/kind.h"
#include "store/store_impl.h"

#define SLOTS      4096 /* a power of two */
#define KEPT_MS    1000
#define KEPT_BYTES (2u * 1024 * 1024) /* of text; decoded it is several times that */

struct recent_slot {
	int64_t rv;
	json_t *obj;
	size_t bytes;
};

static struct recent_slot *slot_of(const struct store *s, int64_t rv)
{
	return &s->recent.slots[(uint64_t)rv & (SLOTS - 1)];
}

static void empty(struct store *s, struct recent_slot *slot)
{
	json_decref(slot->obj);
	s->recent.bytes -= slot->bytes;
	*slot = (struct recent_slot){ 0 };
}

/* Lets those go that were there already when it was called last. */
static void age(struct store *s)
{
	for (size_t i = 0; i < SLOTS; i++)
		if (s->recent.slots[i].rv <= s->recent.seen)
			empty(s, &s->recent.slots[i]);
	s->recent.seen = s->rv;
}

static void on_timer(void *arg)
{
	struct store *s = arg;

	if (!s->recent.slots)
		return;
	age(s);
	if (s->recent.bytes)
		loop_timer_set(s->loop, &s->recent.timer, KEPT_MS);
	else
		recent_drop(s);
}

void recent_init(struct store *s)
{
	s->recent.timer = (struct loop_timer){ .fire = on_timer, .arg = s };
}

/* False: it is more than may be kept at all. */
static bool make_room(struct store *s, size_t bytes)
{
	for (int i = 0; i < 2 && s->recent.slots && s->recent.bytes + bytes > KEPT_BYTES; i++)
		age(s);
	return bytes <= KEPT_BYTES;
}

void recent_put(struct store *s, int kind, int64_t rv, json_t *obj, size_t bytes)
{
	struct recent_slot *slot;

	if (s->kinds[kind - 1].flags & (KIND_SEALED | KIND_EXPIRES) || !make_room(s, bytes))
		return;
	if (!s->recent.slots) {
		s->recent.slots = xcalloc(SLOTS, sizeof(*s->recent.slots));
		loop_timer_set(s->loop, &s->recent.timer, KEPT_MS);
	}
	slot = slot_of(s, rv);
	empty(s, slot);
	*slot = (struct recent_slot){ rv, json_incref(obj), bytes };
	s->recent.bytes += bytes;
}

json_t *store_recent_at(struct store *s, int64_t rv)
{
	return s->recent.slots && slot_of(s, rv)->rv == rv ? json_incref(slot_of(s, rv)->obj) : NULL;
}

json_t *store_recent(struct store *s, int kind, const char *ns, const char *name)
{
	int64_t rv;

	if (!s->recent.slots || write_live_rv(s, kind, ns, name, &rv) != SQLITE_OK || !rv)
		return NULL;
	return store_recent_at(s, rv);
}

void recent_drop(struct store *s)
{
	for (size_t i = 0; s->recent.slots && i < SLOTS; i++)
		json_decref(s->recent.slots[i].obj);
	free(s->recent.slots);
	s->recent.slots = NULL;
	s->recent.bytes = 0;
	s->recent.seen = 0;
}

void recent_done(struct store *s)
{
	recent_drop(s);
	loop_timer_done(&s->recent.timer);
}
