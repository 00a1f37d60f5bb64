// SPDX-License-Identifier: Apache-2.0
/* nodes_view.h - a Node as PBS sees it: slots, properties, cards and the jobs on it.  Pure */
#ifndef STOKER_PBS_NODES_VIEW_H
#define STOKER_PBS_NODES_VIEW_H

#include <jansson.h>

#include "kinds/pbs_nodes.h"
#include "pbs/row.h"

#define NOTE_ANNOTATION "stoker.dev/note"

struct node_job {
	char *id, *owner;
	struct sbuf slots; /* "0-2,4" */
	int count;
};

struct node_view {
	const json_t *node; /* borrowed */
	const char *name;   /* as the machine writes it */
	const char *object; /* of the Node */
	int np, used;
	int gpus;
	bool down, offline;
	struct sbuf properties; /* with commas */
	struct node_job *jobs;
	size_t n, cap;
	json_t *cards; /* each with "index", "name", "memoryBytes", "pod", ... */
};

void node_view_init(struct node_view *v, const json_t *node);
void node_view_done(struct node_view *v);
/* Adds the part of a running job that is on this node; of others nothing. */
void node_view_job(struct node_view *v, const struct board_row *r);
bool node_view_has_property(const struct node_view *v, const char *property);
/* "free", "down,offline", "job-exclusive". */
void node_view_state(const struct node_view *v, struct sbuf *out);
/* Whether pbsnodes -l STATE means it; "" is what is out of use.  *ret_known: is there such a state? */
bool node_view_is(const struct node_view *v, const char *state, bool *ret_known);
const char *node_view_note(const struct node_view *v);
/* Which of its cards the job on this board row has: calls back with each index. */
void node_gpus_of(const struct board_row *r, const char *node, void (*each)(void *arg, int index), void *arg);

#endif
