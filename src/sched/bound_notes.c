// SPDX-License-Identifier: Apache-2.0
/* bound_notes.c - see bound_notes.h
 *
 * A binding lets a pod run; that it was bound is of interest only to who asks.  So in a turn bindings come first, and
 * what time is left goes to the notes about them: a pod alone has both in one commit, and of ten thousand pods none
 * waits for words about others.
 */
#include "sched/bound_notes.h"

#include "base/jsonx.h"
#include "base/mem.h"

struct bound_note {
	char *ns, *name, *uid, *rv, *node;
};

static void note_free(struct bound_note *n)
{
	free(n->ns);
	free(n->name);
	free(n->uid);
	free(n->rv);
	free(n->node);
}

void bound_notes_done(struct bound_notes *b)
{
	for (size_t i = b->first; i < b->n; i++)
		note_free(&b->items[i]);
	free(b->items);
	*b = (struct bound_notes){ 0 };
}

void bound_note(struct bound_notes *b, const json_t *pod, const char *node)
{
	struct bound_note n = { .ns = xstrdup(jsonx_str_or(pod, "metadata.namespace", "")),
				.name = xstrdup(jsonx_str_or(pod, "metadata.name", "")),
				.uid = xstrdup(jsonx_str_or(pod, "metadata.uid", "")),
				.rv = xstrdup(jsonx_str_or(pod, "metadata.resourceVersion", "")),
				.node = xstrdup(node) };

	ARRAY_PUSH(b->items, b->n, b->cap, n);
}

bool bound_notes_tell(struct bound_notes *b, struct events *ev)
{
	json_auto_t *about = NULL;
	struct bound_note *n;

	if (b->first == b->n)
		return false;
	n = &b->items[b->first++];
	about = json_pack("{s:s, s:s, s:{s:s, s:s, s:s, s:s}}", "kind", "Pod", "apiVersion", "v1", "metadata",
			  "namespace", n->ns, "name", n->name, "uid", n->uid, "resourceVersion", n->rv);
	events_note(ev, about, "Normal", "Scheduled", "Successfully assigned %s/%s to %s", n->ns, n->name, n->node);
	note_free(n);
	if (b->first == b->n)
		bound_notes_done(b);
	return true;
}
