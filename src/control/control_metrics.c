// SPDX-License-Identifier: Apache-2.0
/* control_metrics.c - work queues as numbers: a controller that turns in circles shows here */
#include "base/mem.h"
#include "base/metrics.h"
#include "control/control.h"

static double added(const struct workqueue_counts *c)
{
	return (double)c->added;
}

static double depth(const struct workqueue_counts *c)
{
	return (double)c->ready;
}

static double retried(const struct workqueue_counts *c)
{
	return (double)c->retried;
}

static double waiting(const struct workqueue_counts *c)
{
	return (double)c->later;
}

static double busy(const struct workqueue_counts *c)
{
	return (double)c->busy_ns / 1e9;
}

static double looked(const struct workqueue_counts *c)
{
	return (double)c->looked;
}

static const struct {
	const char *family, *type, *help; /* NULL: more of the one before */
	const char *sample;
	double (*value)(const struct workqueue_counts *c);
} rows[] = {
	{ "workqueue_adds_total", "counter", "Keys put in that were not waiting already.", "workqueue_adds_total",
	  added },
	{ "workqueue_depth", "gauge", "Keys to look at now.", "workqueue_depth", depth },
	{ "workqueue_retries_total", "counter", "Keys that came back after a failure.", "workqueue_retries_total",
	  retried },
	{ "stoker_workqueue_waiting", "gauge", "Keys that wait for their time.", "stoker_workqueue_waiting", waiting },
	{ "workqueue_work_duration_seconds", "summary", "Time spent looking at keys.",
	  "workqueue_work_duration_seconds_sum", busy },
	{ NULL, NULL, NULL, "workqueue_work_duration_seconds_count", looked },
};

void control_metrics(const struct control *k, struct sbuf *out)
{
	control_metrics_all(&k, 1, out);
}

void control_metrics_all(const struct control *const *ks, size_t n, struct sbuf *out)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct workqueue_counts c;
		const char *name;

		if (rows[i].family)
			metrics_family(out, rows[i].family, rows[i].type, rows[i].help);
		for (size_t k = 0; k < n; k++)
			for (size_t pos = 0; control_next(ks[k], &pos, &name, &c);)
				metrics_sample(out, rows[i].sample, rows[i].value(&c), "name", name, NULL);
	}
}
