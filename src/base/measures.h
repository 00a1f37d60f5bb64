// SPDX-License-Identifier: Apache-2.0
/* measures.h - the measurements of one run of a program, as series of points that cannot grow without end
 *
 * A series that is full is thinned out: every second point stays, and from then on only every second new one, so that
 * a long run has the same detail everywhere.  The first and the newest point are always there.
 *
 * A step that begins anew with each epoch (Keras' 1/500 .. 500/500, 1/500 ..) goes on where the last epoch ended, as
 * the axis of a plot must.  A run that began again from an earlier step (a checkpoint) goes back.
 *
 * As text, which the node keeps beside the log: what was thinned out as a whole, then one line for each line of output
 * that counted.  Each of these says where in the log it stood, so that whoever reads on after a crash takes no line
 * twice.
 */
#ifndef STOKER_BASE_MEASURES_H
#define STOKER_BASE_MEASURES_H

#include <jansson.h>
#include <stdint.h>

#include "base/measure.h"

#define MEASURES_SERIES 16   /* of one run; others are not kept */
#define MEASURES_POINTS 2000 /* of one series; even */
#define MEASURES_TEXT   (16u * 1024 * 1024)

struct measures_point {
	double at, value; /* value may be NaN */
	int64_t us;       /* wall clock; 0: not known */
};

struct measures_series {
	char name[MEASURE_NAME];
	enum measure_by by;
	double of;
	struct measures_point *points;
	size_t n, cap;
	uint64_t seen;   /* points that came */
	uint64_t stride; /* one in so many stays */
};

/* A line of the log: the how-manieth with this time. */
struct measures_mark {
	int64_t us;
	uint64_t nth; /* from 1; 0: before all */
};

struct measures {
	struct measures_series series[MEASURES_SERIES];
	size_t n;
	/* the last line by step, and what to add to its step */
	double base, at, of, epoch;
	char first[MEASURE_NAME];
	bool stepped;
	struct measures_mark mark; /* of the last line that counted */
	size_t lines;              /* in the text, since it was last written as a whole */
	bool ended;                /* nothing will follow */
};

/* For declarations. */
#define MEASURES ((struct measures){ .epoch = -1 })
void measures_init(struct measures *m);
void measures_done(struct measures *m);
#define auto_measures __attribute__((cleanup(measures_done)))
void measures_add(struct measures *m, const struct measure *what, int64_t us);
/* Cuts the time off that a line begins with; false, and the line as it was, if it does not. */
bool measures_cut_time(struct str *line, int64_t *ret_us);
/* A line that begins with its time, as `kubectl logs --timestamps` prints it; false if it does not count. */
bool measures_add_stamped(struct measures *m, struct str line);

/* Adds one object a series: {"pod","container","run","name","by","of","points":[[at,value,"time"],...]}; a value that
 * is no number is null, as is an unknown time. */
struct measures_place {
	const char *pod, *container;
	int run;
};
void measures_json(const struct measures *m, const struct measures_place *at, json_t *list);

/* measures_text.c */
/* All of it. */
void measures_write(const struct measures *m, struct sbuf *out);
/* One more line. */
void measures_write_line(const struct measure *what, const struct measures_mark *mark, struct sbuf *out);
void measures_write_end(struct sbuf *out);
/* Reads what these have written into an empty one.  What is broken ends it: how many bytes were good. */
size_t measures_read(struct measures *m, struct str text);

#endif
