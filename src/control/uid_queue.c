// SPDX-License-Identifier: Apache-2.0
#include "control/uid_queue.h"

#include "base/mem.h"

void uid_queue_done(struct uid_queue *q)
{
	char *uid;

	while ((uid = uid_queue_steal(q)))
		free(uid);
	free(q->items);
	*q = (struct uid_queue){ 0 };
}

static void grow(struct uid_queue *q)
{
	size_t cap = q->cap ? q->cap * 2 : 64;
	char **items = xreallocarray(NULL, cap, sizeof(*items));

	for (size_t i = 0; i < q->n; i++)
		items[i] = q->items[(q->first + i) % q->cap];
	free(q->items);
	q->items = items;
	q->first = 0;
	q->cap = cap;
}

void uid_queue_push(struct uid_queue *q, const char *uid)
{
	q->pushed++;
	if (q->n == q->cap)
		grow(q);
	q->items[(q->first + q->n++) % q->cap] = xstrdup(uid);
}

char *uid_queue_steal(struct uid_queue *q)
{
	char *uid;

	if (!q->n)
		return NULL;
	uid = q->items[q->first];
	q->first = (q->first + 1) % q->cap;
	q->n--;
	q->stolen++;
	return uid;
}
