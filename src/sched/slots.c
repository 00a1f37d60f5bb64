// SPDX-License-Identifier: Apache-2.0
/* slots.c - see slots.h
 *
 * A pod waits for a slot, holds one without having started, or runs.  What runs runs: if there are more of those than
 * slots, as after a restart or when the number was lowered, those that have not started give theirs back, the last
 * first.
 */
#include "sched/slots.h"

#include <jansson.h>

#include "base/mem.h"
#include "base/str.h"

struct slot;

struct slot_line {
	struct slot *first, *last;
};

struct slot {
	struct slot_array *array;
	char *pod;
	struct slot_line *line; /* NULL: it runs */
	struct slot *prev, *next;
};

struct slot_array {
	char *uid;
	int64_t most;
	int64_t taken; /* by those that hold one or run */
	size_t pods;
	struct slot_line waiting, holding;
};

static void slot_free(void *v)
{
	struct slot *slot = v;

	free(slot->pod);
	free(slot);
}

static void array_free(void *v)
{
	struct slot_array *a = v;

	free(a->uid);
	free(a);
}

void slots_init(struct slots *s, void (*changed)(void *arg, const char *pod), void *arg)
{
	*s = (struct slots){ .changed = changed, .arg = arg };
	map_init(&s->arrays, array_free);
	map_init(&s->pods, slot_free);
}

void slots_done(struct slots *s)
{
	map_done(&s->pods);
	map_done(&s->arrays);
}

/* ---- lines ---- */

static void line_add(struct slot_line *line, struct slot *slot, bool at_front)
{
	slot->line = line;
	slot->prev = at_front ? NULL : line->last;
	slot->next = at_front ? line->first : NULL;
	*(slot->prev ? &slot->prev->next : &line->first) = slot;
	*(slot->next ? &slot->next->prev : &line->last) = slot;
}

static void line_leave(struct slot *slot)
{
	if (!slot->line)
		return;
	*(slot->prev ? &slot->prev->next : &slot->line->first) = slot->next;
	*(slot->next ? &slot->next->prev : &slot->line->last) = slot->prev;
	slot->line = NULL;
}

static bool has_slot(const struct slot *slot)
{
	return slot->line != &slot->array->waiting;
}

static void move(struct slot *slot, struct slot_line *to, bool at_front)
{
	struct slot_array *a = slot->array;

	a->taken -= has_slot(slot);
	line_leave(slot);
	if (to)
		line_add(to, slot, at_front);
	a->taken += has_slot(slot);
}

/* As many have one as there are; who has another answer now is noted. */
static void balance(struct slot_array *a, json_t *moved)
{
	while (a->taken > a->most && a->holding.last) {
		json_array_append_new(moved, json_string(a->holding.last->pod));
		move(a->holding.last, &a->waiting, true);
	}
	while (a->taken < a->most && a->waiting.first) {
		json_array_append_new(moved, json_string(a->waiting.first->pod));
		move(a->waiting.first, &a->holding, false);
	}
}

/* All but the one who asks. */
static void tell(struct slots *s, const json_t *moved, const char *but)
{
	json_t *pod;
	size_t i;

	json_array_foreach ((json_t *)moved, i, pod)
		if (!streq(json_string_value(pod), but))
			s->changed(s->arg, json_string_value(pod));
}

/* ---- asking ---- */

static struct slot *slot_new(struct slots *s, const char *array, const char *pod)
{
	struct slot *slot = xcalloc(1, sizeof(*slot));
	struct slot_array *a = map_find(&s->arrays, array);

	if (!a) {
		a = xcalloc(1, sizeof(*a));
		a->uid = xstrdup(array);
		map_set(&s->arrays, array, a);
	}
	a->pods++;
	*slot = (struct slot){ .array = a, .pod = xstrdup(pod) };
	line_add(&a->waiting, slot, false);
	map_set(&s->pods, pod, slot);
	return slot;
}

bool slots_ask(struct slots *s, const char *array, int64_t most, const char *pod, bool runs)
{
	json_auto_t *moved = json_array();
	struct slot *slot = map_find(&s->pods, pod);
	bool has;

	if (slot && !streq(slot->array->uid, array)) {
		slots_forget(s, pod);
		slot = NULL;
	}
	if (!slot)
		slot = slot_new(s, array, pod);
	if (runs && slot->line)
		move(slot, NULL, false);
	slot->array->most = most;
	balance(slot->array, moved);
	has = has_slot(slot);
	tell(s, moved, pod);
	return has;
}

void slots_forget(struct slots *s, const char *pod)
{
	struct slot *slot = map_find(&s->pods, pod);
	json_auto_t *moved = NULL;
	struct slot_array *a;

	if (!slot)
		return;
	a = slot->array;
	a->taken -= has_slot(slot);
	line_leave(slot);
	map_remove(&s->pods, pod);
	if (--a->pods == 0) {
		map_remove(&s->arrays, a->uid);
		return;
	}
	moved = json_array();
	balance(a, moved);
	tell(s, moved, "");
}
