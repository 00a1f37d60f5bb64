// SPDX-License-Identifier: Apache-2.0
/* follow_numbers.h - the numbers that one replica prints: the latest, one of them as it went, how long it will take.
 * Pure
 *
 * Times are microseconds since 1970.
 */
#ifndef STOKER_CLI_FOLLOW_NUMBERS_H
#define STOKER_CLI_FOLLOW_NUMBERS_H

#include <stdint.h>

#include "base/measure.h"

#define FOLLOW_POINTS 512

/* One number as it went on; when there are too many points every other one is left out. */
struct follow_curve {
	char name[MEASURE_NAME];
	double points[FOLLOW_POINTS];
	size_t n, every, skipped;
	double first, last;
};

struct follow_numbers {
	bool any;
	struct measure last;
	int64_t last_at; /* when it was printed */
	double base;     /* where in the run its speed is measured from */
	int64_t base_at; /* and when that was */
	bool restarted;  /* since the last number */
	bool cyclic;     /* its steps begin anew: nobody knows how many are left */
	int least_rank;
	struct follow_curve curve;
};

/* Before the first. */
#define FOLLOW_NUMBERS ((struct follow_numbers){ .least_rank = INT32_MAX })

/* A line that was printed then; true if it has numbers. */
bool follow_numbers_line(struct follow_numbers *n, struct str line, int64_t at);
/* How many seconds are left by its own speed, -1 if nobody knows. */
int64_t follow_left(const struct follow_numbers *n, int64_t now);
/* "epoch 3/10 loss 0.3698 accuracy 0.87"; other numbers only if there are none of this sort. */
void follow_numbers_text(const struct measure *m, struct sbuf *out);

#endif
