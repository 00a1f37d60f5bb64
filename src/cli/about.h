// SPDX-License-Identifier: Apache-2.0
/* about.h - everything the server knows about one object: itself, what it made, what it uses, what happened to it
 *
 * Gathered for `stoker describe`, which makes a page of it, and `stoker events`.  What may not be seen or is not there
 * is left out; only the object itself must be found.  Of one that is deleted its logs and events are still known.
 */
#ifndef STOKER_CLI_ABOUT_H
#define STOKER_CLI_ABOUT_H

#include "cli/circle.h"
#include "cli/find.h"

struct about {
	const struct kind *kind; /* NULL only for a deleted one whose kind nobody knows */
	char *ns, *name;
	json_t *obj;     /* NULL: deleted */
	json_t *pods;    /* all are arrays, never NULL */
	json_t *made;    /* other objects: ReplicaSets, Jobs */
	json_t *beside;  /* claims of its pods, EndpointSlices of a Service, quotas of a namespace */
	json_t *metrics; /* PodMetrics, or NodeMetrics of a node */
	json_t *events;  /* oldest first */
	json_t *logs;    /* of a deleted one: as /apis/stoker.dev/v1/namespaces/NS/logs/NAME?list=1 has them */
	int64_t now;
};

void about_init(struct about *a);
void about_done(struct about *a);

/* The words of a command line, [KIND/]NAME or KIND NAME, as one: a new text. */
char *about_argument(char **words, int n);
/* Finds the object by [KIND/]NAME, its pods and what else it made.  A name without a kind is a workload's, else that of
 * a service, a claim, a node and so on.  One that is deleted is found if it has left logs or events. */
int about_find(struct client *c, const char *arg, const char *ns, struct about *ret, struct err *e);
/* Adds the rest. */
void about_fill(struct client *c, struct about *a);
/* Whose events belong to it. */
void about_circle(const struct about *a, struct circle *c);
/* Where its events are; NULL: in every namespace. */
const char *about_events_ns(const struct about *a);
/* The Events of a namespace (NULL: all), oldest first: a new array. */
int about_list_events(struct client *c, const char *ns, json_t **ret, struct err *e);

#endif
