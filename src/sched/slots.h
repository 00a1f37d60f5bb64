// SPDX-License-Identifier: Apache-2.0
/* slots.h - arrays: of the pods of one workload only so many run at once; pure
 *
 * A pod that may run has a slot until it is gone; the others wait in the order in which they came.
 */
#ifndef STOKER_SCHED_SLOTS_H
#define STOKER_SCHED_SLOTS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/map.h"

struct slots {
	struct map arrays; /* the workload's uid -> struct slot_array */
	struct map pods;   /* uid -> struct slot */
	/* A pod has a slot now that had none, or the other way round. */
	void (*changed)(void *arg, const char *pod);
	void *arg;
};

void slots_init(struct slots *s, void (*changed)(void *arg, const char *pod), void *arg);
void slots_done(struct slots *s);
/* Whether the pod has a slot of the array, of which there are `most`; one that runs has it in any case. */
bool slots_ask(struct slots *s, const char *array, int64_t most, const char *pod, bool runs);
/* It is gone, or of no array any more. */
void slots_forget(struct slots *s, const char *pod);

#endif
