// SPDX-License-Identifier: Apache-2.0
/* workqueue.c - a list of keys that are due, a heap of those that are not yet, one timer for the earliest
 *
 * An item exists while its key is in the list, in the heap, or has failed; all steps cost the same however many there
 * are, but for the heap's logarithm.
 */
#include "control/workqueue.h"

#include "base/clock.h"
#include "base/map.h"
#include "base/mem.h"

#define TURN_NS      (10 * 1000000LL) /* of a turn, for looking */
#define RETRY_MIN_MS 100
#define RETRY_MAX_MS 300000

struct item {
	char *key;
	bool ready;
	unsigned failures;
	int64_t due;       /* on the monotonic clock, if it is in the heap */
	size_t place;      /* in the heap, counted from 1; 0: not in it */
	struct item *next; /* in the list */
};

struct workqueue {
	struct loop *loop;
	void (*look)(void *arg, const char *key);
	void *arg;
	bool started;
	struct map items; /* key -> struct item */
	struct item *first, **last;
	size_t ready;
	struct item **heap;
	size_t later, cap;
	struct loop_hook work;
	struct loop_timer timer;
	struct workqueue_counts counts;
};

static void item_free(void *p)
{
	struct item *i = p;

	free(i->key);
	free(i);
}

static struct item *item_of(struct workqueue *q, const char *key)
{
	struct item *i = map_find(&q->items, key);

	if (i)
		return i;
	i = xcalloc(1, sizeof(*i));
	i->key = xstrdup(key);
	map_set(&q->items, key, i);
	return i;
}

static void drop_if_idle(struct workqueue *q, struct item *i)
{
	if (!i->ready && !i->place && !i->failures)
		map_remove(&q->items, i->key);
}

/* ---- the heap: the earliest is first ---- */

static void put(struct workqueue *q, struct item *i, size_t at)
{
	q->heap[at] = i;
	i->place = at + 1;
}

static void sift_up(struct workqueue *q, struct item *i, size_t at)
{
	while (at > 0 && q->heap[(at - 1) / 2]->due > i->due) {
		put(q, q->heap[(at - 1) / 2], at);
		at = (at - 1) / 2;
	}
	put(q, i, at);
}

static void sift_down(struct workqueue *q, struct item *i, size_t at)
{
	for (;;) {
		size_t child = at * 2 + 1;

		if (child + 1 < q->later && q->heap[child + 1]->due < q->heap[child]->due)
			child++;
		if (child >= q->later || q->heap[child]->due >= i->due)
			break;
		put(q, q->heap[child], at);
		at = child;
	}
	put(q, i, at);
}

static void heap_add(struct workqueue *q, struct item *i)
{
	ARRAY_PUSH(q->heap, q->later, q->cap, i);
	sift_up(q, i, q->later - 1);
}

static void heap_remove(struct workqueue *q, struct item *i)
{
	size_t at = i->place - 1;
	struct item *last = q->heap[--q->later];

	i->place = 0;
	if (last == i)
		return;
	sift_down(q, last, at);
	sift_up(q, last, last->place - 1);
}

/* ---- when ---- */

static void set_timer(struct workqueue *q)
{
	int64_t ms;

	if (!q->later || !q->started)
		return;
	ms = q->heap[0]->due - clock_mono_ms();
	loop_timer_set(q->loop, &q->timer, ms > 0 ? ms : 0);
}

static void make_ready(struct workqueue *q, struct item *i)
{
	if (i->place)
		heap_remove(q, i);
	i->ready = true;
	i->next = NULL;
	*q->last = i;
	q->last = &i->next;
	q->ready++;
	if (q->started)
		loop_schedule(q->loop, &q->work);
}

static void on_timer(void *arg)
{
	struct workqueue *q = arg;
	int64_t now = clock_mono_ms();

	while (q->later && q->heap[0]->due <= now)
		make_ready(q, q->heap[0]);
	set_timer(q);
}

static void on_work(void *arg)
{
	struct workqueue *q = arg;
	int64_t begin = clock_mono_ns();
	int64_t now = begin;
	size_t left = q->ready; /* what comes meanwhile is for the next turn: its changes are not committed yet */

	for (; left && now - begin < TURN_NS; left--) {
		struct item *i = q->first;
		auto_free char *key = xstrdup(i->key);

		q->first = i->next;
		if (!q->first)
			q->last = &q->first;
		q->ready--;
		i->ready = false;
		drop_if_idle(q, i);
		q->counts.looked++;
		q->look(q->arg, key);
		now = clock_mono_ns();
	}
	q->counts.busy_ns += now - begin;
	if (q->ready)
		loop_schedule(q->loop, &q->work);
}

void workqueue_add(struct workqueue *q, const char *key)
{
	struct item *i = item_of(q, key);

	if (i->ready)
		return;
	q->counts.added++;
	make_ready(q, i);
}

void workqueue_add_after(struct workqueue *q, const char *key, int64_t ms)
{
	struct item *i = item_of(q, key);
	int64_t due = clock_mono_ms() + (ms > 0 ? ms : 0);

	if (i->ready || (i->place && i->due <= due))
		return;
	if (i->place)
		heap_remove(q, i);
	i->due = due;
	q->counts.added++;
	heap_add(q, i);
	if (i->place == 1)
		set_timer(q);
}

void workqueue_retry(struct workqueue *q, const char *key)
{
	struct item *i = item_of(q, key);
	int64_t ms = RETRY_MIN_MS;

	for (unsigned n = 0; n < i->failures && ms < RETRY_MAX_MS; n++)
		ms *= 2;
	i->failures++;
	q->counts.retried++;
	workqueue_add_after(q, key, ms < RETRY_MAX_MS ? ms : RETRY_MAX_MS);
}

void workqueue_forget(struct workqueue *q, const char *key)
{
	struct item *i = map_find(&q->items, key);

	if (!i)
		return;
	i->failures = 0;
	drop_if_idle(q, i);
}

void workqueue_written(struct workqueue *q, const char *key, bool failed)
{
	if (failed) {
		workqueue_retry(q, key);
		return;
	}
	workqueue_forget(q, key);
	workqueue_add(q, key);
}

unsigned workqueue_failures(const struct workqueue *q, const char *key)
{
	const struct item *i = map_find(&q->items, key);

	return i ? i->failures : 0;
}

struct workqueue_counts workqueue_counts(const struct workqueue *q)
{
	struct workqueue_counts c = q->counts;

	c.ready = q->ready;
	c.later = q->later;
	return c;
}

struct workqueue_counts workqueue_counts_sum(struct workqueue_counts a, struct workqueue_counts b)
{
	return (struct workqueue_counts){ .added = a.added + b.added,
					  .looked = a.looked + b.looked,
					  .retried = a.retried + b.retried,
					  .ready = a.ready + b.ready,
					  .later = a.later + b.later,
					  .busy_ns = a.busy_ns + b.busy_ns };
}

void workqueue_start(struct workqueue *q)
{
	q->started = true;
	if (q->ready)
		loop_schedule(q->loop, &q->work);
	set_timer(q);
}

struct workqueue *workqueue_new(struct loop *loop, void (*look)(void *arg, const char *key), void *arg)
{
	struct workqueue *q = xcalloc(1, sizeof(*q));

	q->loop = loop;
	q->look = look;
	q->arg = arg;
	q->last = &q->first;
	q->work = (struct loop_hook){ .run = on_work, .arg = q, .phase = LOOP_WORK };
	q->timer = (struct loop_timer){ .fire = on_timer, .arg = q };
	map_init(&q->items, item_free);
	return q;
}

void workqueue_free(struct workqueue *q)
{
	if (!q)
		return;
	loop_unschedule(q->loop, &q->work);
	loop_timer_done(&q->timer);
	map_done(&q->items);
	free(q->heap);
	free(q);
}
