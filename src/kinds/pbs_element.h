// SPDX-License-Identifier: Apache-2.0
/* pbs_element.h - elements of a PBS array that differ from the others: spec.elements; pure
 *
 * In Torque an element is a job of its own, which can be altered, moved, suspended and run again alone.  Here an array
 * is one object, and what was done to some of its elements stands in a list: indexes, and the fields of the spec that
 * these have instead of the array's.  No index is in two entries.  Of maps (resources, env, mail) only the keys that
 * differ are said.
 */
#ifndef STOKER_KINDS_PBS_ELEMENT_H
#define STOKER_KINDS_PBS_ELEMENT_H

#include <jansson.h>

#include "base/str.h"
#include "kinds/pbs_array.h"

/* The entry of an element, or NULL if it is like the others. */
const json_t *pbs_element_entry(const json_t *spec, int index);
/* The job with the spec that its element has; a new reference, to the job itself if they are the same. */
json_t *pbs_element_view(const json_t *job, int index);
/* The same of a spec. */
json_t *pbs_element_spec(const json_t *spec, int index);
/* Whether qalter may say it of single elements. */
bool pbs_element_field(const char *field);

/* The list with a merge patch made to these elements; a new reference, null if nothing is left. */
json_t *pbs_element_change(const json_t *list, const struct pbs_set *elements, const json_t *changes);
/* With letters of a hold put on these elements or taken off. */
json_t *pbs_element_hold(const json_t *list, const struct pbs_set *elements, const char *letters, bool release);
/* What has changed for the whole array holds for all: it goes from spec.elements, unless that has changed as well. */
void pbs_element_overrule(json_t *spec, const json_t *old);

/* Adds those that are held one by one: spec.elementHold, and holds of operators and of the system. */
void pbs_element_held(const json_t *spec, struct pbs_set *held);
/* Reads "0-9,20" into an empty set; nothing if it is none. */
void pbs_element_read(const char *text, struct pbs_set *ret);

#endif
