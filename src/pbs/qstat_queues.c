// SPDX-License-Identifier: Apache-2.0
/* qstat_queues.c - see qstat_queues.h */
#include "pbs/qstat_queues.h"

#include <stdio.h>

#include "base/jsonx.h"
#include "kinds/pbs_values.h"
#include "kinds/walltime.h"
#include "pbs/row.h"
#include "pbs/size_unit.h"

enum { CELL = 48 };

static int64_t most_running(const json_t *queue)
{
	return jsonx_int_or(queue, "spec.limits.total.running", 0);
}

/* ---- -q ---- */

static void time_cell(const json_t *queue, const char *resource, char out[CELL])
{
	const char *max = setting_max(queue, resource);
	char text[PBS_TEXT];
	int64_t seconds;

	snprintf(out, CELL, "%s", max ? max : "   --   ");
	if (max && walltime_parse(max, &seconds)) {
		pbs_time_text(seconds, text);
		snprintf(out, CELL, "%s", text);
	}
}

static void limits_row(const struct queue_line *q, char unit, struct sbuf *out)
{
	const char *memory = setting_max(q->queue, "mem");
	const char *nodes = setting_max(q->queue, "nodect");
	int64_t most = most_running(q->queue);
	const int64_t *n = q->counts.n;
	char cput[CELL];
	char walltime[CELL];
	char lm[CELL] = "--";
	char size[PBS_TEXT];

	time_cell(q->queue, "cput", cput);
	time_cell(q->queue, "walltime", walltime);
	if (most > 0)
		snprintf(lm, sizeof(lm), "%lld", (long long)most);
	sbuf_addf(out, "%-16.16s %6.6s %8.8s %8.8s %5.5s %3d %3d %2.2s   %c %c\n", q->name,
		  memory ? size_in_unit(memory, unit, size) : "  --  ", cput, walltime, nodes ? nodes : "  -- ",
		  (int)n[COUNT_RUNNING], (int)(n[COUNT_QUEUED] + n[COUNT_HELD] + n[COUNT_WAITING]), lm,
		  jsonx_bool_or(q->queue, "spec.enabled", true) ? 'E' : 'D',
		  jsonx_bool_or(q->queue, "spec.started", true) ? 'R' : 'S');
}

void qstat_limits(const char *server, const struct queue_line *q, size_t n, char unit, struct sbuf *out)
{
	int64_t running = 0;
	int64_t waiting = 0;

	sbuf_addf(out,
		  "\nserver: %s\n\n"
		  "Queue            Memory CPU Time Walltime Node  Run Que Lm  State\n"
		  "---------------- ------ -------- -------- ----  --- --- --  -----\n",
		  server);
	for (size_t i = 0; i < n; i++) {
		const int64_t *c = q[i].counts.n;

		limits_row(&q[i], unit, out);
		running += c[COUNT_RUNNING];
		waiting += c[COUNT_QUEUED] + c[COUNT_HELD] + c[COUNT_WAITING];
	}
	sbuf_addf(out, "%47s----- -----\n%47s%5d %5d\n", "", "", (int)running, (int)waiting);
}

/* ---- -Q and -B ---- */

static void numbers(const int64_t *n, size_t count, struct sbuf *out)
{
	for (size_t i = 0; i < count; i++)
		sbuf_addf(out, " %5lld", (long long)n[i]);
}

void qstat_queues(const struct queue_line *q, size_t n, struct sbuf *out)
{
	sbuf_adds(out, "Queue              Max    Tot   Ena   Str   Que   Run   Hld   Wat   Trn   Ext T   Cpt\n"
		       "----------------   ---   ----    --    --   ---   ---   ---   ---   ---   --- -   ---\n");
	for (size_t i = 0; i < n; i++) {
		const int64_t *c = q[i].counts.n;

		sbuf_addf(out, "%-16s %5lld %6lld %5s %5s", q[i].name, (long long)most_running(q[i].queue),
			  (long long)job_counts_total(&q[i].counts),
			  jsonx_bool_or(q[i].queue, "spec.enabled", true) ? "yes" : "no",
			  jsonx_bool_or(q[i].queue, "spec.started", true) ? "yes" : "no");
		numbers((const int64_t[]){ c[COUNT_QUEUED], c[COUNT_RUNNING], c[COUNT_HELD], c[COUNT_WAITING],
					   c[COUNT_TRANSIT], c[COUNT_EXITING] },
			6, out);
		sbuf_addf(out, " %.1s %5lld\n", jsonx_str_or(q[i].queue, "spec.type", "Execution"),
			  (long long)c[COUNT_COMPLETE]);
	}
}

void qstat_server(const char *name, const json_t *server, const struct job_counts *counts, struct sbuf *out)
{
	const int64_t *c = counts->n;

	sbuf_adds(out, "Server             Max   Tot   Que   Run   Hld   Wat   Trn   Ext   Com Status    \n"
		       "----------------   ---   ---   ---   ---   ---   ---   ---   ---   --- ----------\n");
	sbuf_addf(out, "%-16s", name);
	numbers((const int64_t[]){ jsonx_int_or(server, "spec.maxRunning", 0), job_counts_total(counts),
				   c[COUNT_QUEUED], c[COUNT_RUNNING], c[COUNT_HELD], c[COUNT_WAITING], c[COUNT_TRANSIT],
				   c[COUNT_EXITING], c[COUNT_COMPLETE] },
		9, out);
	sbuf_addf(out, " %-10s\n", jsonx_bool_or(server, "spec.scheduling", true) ? "Active" : "Idle");
}
