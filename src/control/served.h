// SPDX-License-Identifier: Apache-2.0
/* served.h - whether a server has the kinds that the chosen controllers need */
#ifndef STOKER_CONTROL_SERVED_H
#define STOKER_CONTROL_SERVED_H

#include "control/control.h"

/* What the answer is; all borrowed.  `plural` NULL: nothing is missing, or e says why nobody knows. */
struct served_answer {
	const char *controller;
	const char *api_version, *plural; /* the first thing that is missing */
	bool custom;                      /* a CustomResourceDefinition may still bring it */
	const struct err *e;
};

/* `done` is called once; from inside this call if nothing is needed. */
void served_check(struct client *c, control_set set, void (*done)(void *arg, const struct served_answer *a), void *arg);

/* The pure half: whether an APIResourceList has the resource; and whether no server has that group by itself. */
bool served_has(const json_t *list, const char *plural);
bool served_is_custom(const char *api_version);

#endif
