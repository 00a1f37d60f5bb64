// SPDX-License-Identifier: Apache-2.0
/* measure.h - numbers that training programs print, recognised in a line of text; pure
 *
 *	epoch 3 loss 0.36                     epoch 3: loss 0.36
 *	Rank  0 , epoch  3 :  0.3698          epoch 3: loss 0.3698 (a number without a name is the loss)
 *	step=120/500 accuracy=91.5%           step 120 of 500: accuracy 0.915
 *
 * A line counts if it says where in the run it is (an epoch, a step, an iteration, a pass) and at least one other
 * number with a name that is known, or with any name when it is written name=number or name: number.  Names are given
 * back in one spelling, so that one program's "acc" and another's "Accuracy" are drawn in one plot.
 */
#ifndef STOKER_BASE_MEASURE_H
#define STOKER_BASE_MEASURE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/str.h"

#define MEASURE_MOST 8  /* values taken from one line */
#define MEASURE_NAME 32 /* the longest name, with its end */

enum measure_by { MEASURE_BY_EPOCH, MEASURE_BY_STEP };

struct measure_value {
	char name[MEASURE_NAME]; /* lower case: "loss", "accuracy", "test-accuracy" */
	double value;            /* NaN also stands for the infinities */
};

struct measure {
	/* A line that has both is by step if it has "step"; a share of the epoch (640/60000) makes a broken epoch. */
	enum measure_by by;
	double at, of; /* of: how many there will be, 0 if the line does not say */
	double epoch;  /* the epoch if the line has one besides its step, else -1 */
	int rank;      /* who says it, -1 if it does not say */
	struct measure_value values[MEASURE_MOST];
	size_t n; /* at least 1 */
};

/* False if the line has nothing to draw; *ret is undefined then.  Any bytes are fine. */
bool measure_read(struct str line, struct measure *ret);
const char *measure_by_name(enum measure_by by);

#endif
