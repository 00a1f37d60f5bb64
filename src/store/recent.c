// SPDX-License-Identifier: Apache-2.0
/* recent.c - what was written a moment ago, still decoded
 *
 * A pod is written five times within milliseconds, each time by someone who has to know its present state.  Stored
 * objects never change, and watchers keep most of them anyway, so the last few thousand stay at hand; a second later,
 * or when they become many megabytes, all are let go.  Sealed and expiring kinds are not kept: the one for safety, the
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
};

static struct recent_slot *slot_of(const struct store *s, int64_t rv)
{
	return &s->recent.slots[(uint64_t)rv & (SLOTS - 1)];
}

static void on_timer(void *arg)
{
	recent_drop(arg);
}

void recent_init(struct store *s)
{
	s->recent.timer = (struct loop_timer){ .fire = on_timer, .arg = s };
}

void recent_put(struct store *s, int kind, int64_t rv, json_t *obj, size_t bytes)
{
	struct recent_slot *slot;

	if (s->kinds[kind - 1].flags & (KIND_SEALED | KIND_EXPIRES))
		return;
	if (s->recent.bytes + bytes > KEPT_BYTES)
		recent_drop(s);
	if (bytes > KEPT_BYTES)
		return;
	s->recent.bytes += bytes;
	if (!s->recent.slots) {
		s->recent.slots = xcalloc(SLOTS, sizeof(*s->recent.slots));
		loop_timer_set(s->loop, &s->recent.timer, KEPT_MS);
	}
	slot = slot_of(s, rv);
	json_decref(slot->obj);
	*slot = (struct recent_slot){ rv, json_incref(obj) };
}

json_t *store_recent(struct store *s, int kind, const char *ns, const char *name)
{
	int64_t rv;

	if (!s->recent.slots || write_live_rv(s, kind, ns, name, &rv) != SQLITE_OK || !rv || slot_of(s, rv)->rv != rv)
		return NULL;
	return json_incref(slot_of(s, rv)->obj);
}

void recent_drop(struct store *s)
{
	for (size_t i = 0; s->recent.slots && i < SLOTS; i++)
		json_decref(s->recent.slots[i].obj);
	free(s->recent.slots);
	s->recent.slots = NULL;
	s->recent.bytes = 0;
}

void recent_done(struct store *s)
{
	recent_drop(s);
	loop_timer_done(&s->recent.timer);
}
