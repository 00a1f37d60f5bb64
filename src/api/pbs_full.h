// SPDX-License-Identifier: Apache-2.0
/* pbs_full.h - one job, or one element of an array, as an object for those who may see it */
#ifndef STOKER_API_PBS_FULL_H
#define STOKER_API_PBS_FULL_H

#include "api/pbs_board.h"

struct pbs_view {
	struct api *api;
	struct kubelet *kubelet; /* or NULL */
	const struct caller *caller;
	struct pbs_row *row;
	const struct pbs_elements *elements; /* of the row, if it is about one: */
	int index;                           /* or -1 */
	int64_t now;
};

/* Appends its text; false if the job is not there any more. */
bool pbs_full_item(struct pbs_view *v, struct sbuf *out);

#endif
