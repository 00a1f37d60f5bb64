// SPDX-License-Identifier: Apache-2.0
/* queue.c - a sorted array: most pods come last, and a walk costs a step each */
#include "sched/queue.h"

#include "base/clock.h"
#include "base/jsonx.h"
#include "base/mem.h"
#include "base/str.h"

/* What the pod's status says already, after a restart. */
static const char *said_before(const json_t *pod)
{
	const json_t *c;
	size_t i;

	json_array_foreach (jsonx_at(pod, "status.conditions"), i, c)
		if (str_same(jsonx_str(c, "type"), "PodScheduled") && str_same(jsonx_str(c, "reason"), "Unschedulable"))
			return jsonx_str(c, "message");
	return NULL;
}

struct waiting *waiting_new(const json_t *pod)
{
	struct waiting *w = xcalloc(1, sizeof(*w));
	const char *said = said_before(pod);

	w->ns = xstrdup(jsonx_str_or(pod, "metadata.namespace", ""));
	w->name = xstrdup(jsonx_str_or(pod, "metadata.name", ""));
	w->uid = xstrdup(jsonx_str_or(pod, "metadata.uid", ""));
	w->priority = jsonx_int_or(pod, "spec.priority", 0);
	clock_parse_rfc3339(jsonx_str_or(pod, "metadata.creationTimestamp", ""), &w->created);
	w->since_ms = clock_mono_ms();
	w->said = said ? xstrdup(said) : NULL;
	return w;
}

void waiting_free(struct waiting *w)
{
	if (!w)
		return;
	free(w->ns);
	free(w->name);
	free(w->uid);
	free(w->said);
	free(w);
}

void queue_done(struct queue *q)
{
	free(q->items);
	*q = (struct queue){ 0 };
}

static bool goes_before(const struct waiting *a, const struct waiting *b)
{
	if (a->priority != b->priority)
		return a->priority > b->priority;
	if (a->created != b->created)
		return a->created < b->created;
	return a->arrival < b->arrival;
}

/* The first place whose pod does not go before w. */
static size_t place_of(const struct queue *q, const struct waiting *w)
{
	size_t low = 0;
	size_t high = q->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (goes_before(q->items[middle], w))
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

void queue_add(struct queue *q, struct waiting *w)
{
	size_t at;

	if (!w->arrival)
		w->arrival = ++q->arrivals;
	at = place_of(q, w);
	ARRAY_PUSH(q->items, q->n, q->cap, w);
	memmove(&q->items[at + 1], &q->items[at], (q->n - at - 1) * sizeof(w));
	q->items[at] = w;
}

void queue_remove(struct queue *q, struct waiting *w)
{
	size_t at = w->arrival ? place_of(q, w) : q->n;

	if (at >= q->n || q->items[at] != w)
		return;
	memmove(&q->items[at], &q->items[at + 1], (--q->n - at) * sizeof(w));
}

struct waiting *queue_at(const struct queue *q, size_t i)
{
	return i < q->n ? q->items[i] : NULL;
}

void queue_leave(struct queue *q, size_t i)
{
	q->items[i] = NULL;
	q->holes++;
}

void queue_pack(struct queue *q)
{
	size_t kept = 0;

	if (!q->holes)
		return;
	for (size_t i = 0; i < q->n; i++)
		if (q->items[i])
			q->items[kept++] = q->items[i];
	q->n = kept;
	q->holes = 0;
}
