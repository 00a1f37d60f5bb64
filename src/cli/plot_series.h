// SPDX-License-Identifier: Apache-2.0
/* plot_series.h - which of a job's series are drawn, and which of them together.  Pure
 *
 * The input are series as the server gives them (api/rest_measures.c).  Those of one metric of all replicas are one
 * plot; the runs of one replica, one after the other, are one line in it.
 */
#ifndef STOKER_CLI_PLOT_SERIES_H
#define STOKER_CLI_PLOT_SERIES_H

#include <jansson.h>

#include "cli/chart.h"

struct plot_choice {
	const char *job;      /* its name, which those of its pods begin with */
	const char *metrics;  /* with commas between; NULL: the losses, then the accuracies, else all there are */
	const char *replicas; /* the same: "master-0", or the pod's whole name; NULL: all */
};

struct plot_line {
	char *label, *pod, *container;
	struct chart_point *points;
	size_t n, cap;
};

struct plot {
	char *metric, *by;
	double of; /* 0: not known */
	struct plot_line *lines;
	size_t n, cap;
};

struct plots {
	struct plot *items;
	size_t n, cap;
};

/* The series that are meant, in the order in which they are drawn: a new array. */
json_t *plot_series_choose(const json_t *series, const struct plot_choice *choice);
void plots_make(const json_t *chosen, const struct plot_choice *choice, struct plots *ret);
void plots_done(struct plots *p);
/* Names of metrics or replicas that there are, each once, with commas between; for advice. */
void plot_series_names(const json_t *series, const struct plot_choice *choice, bool replicas, struct sbuf *out);
/* "pod,container,run,metric,by,at,value,time" and a line for each point. */
void plot_series_csv(const json_t *series, struct sbuf *out);

#endif
