// SPDX-License-Identifier: Apache-2.0
/* qstat.c - qstat: how jobs, queues and the server stand
 *
 * Operands are dealt with in their order, all rows under one header.  What fails is told at the end, so that it does
 * not stand between the rows, and the first failure is the exit status.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/jsonx.h"
#include "base/limits.h"
#include "base/mem.h"
#include "client/client.h"
#include "kinds/pbs_error.h"
#include "pbs/about.h"
#include "pbs/board.h"
#include "pbs/qstat_full.h"
#include "pbs/qstat_options.h"
#include "pbs/qstat_queues.h"
#include "pbs/qstat_rows.h"

#define OUT_MAX (1u << 30)

enum { BATCH = 400 /* ids in one question: they must fit into a URL */ };

/* One run. */
struct qstat {
	struct pbs *p;
	struct qstat_options o;
	struct qstat_wide wide;
	struct full full;
	struct sbuf out, wrong;
	json_t *queues; /* all of them by name, once they were asked for */
	size_t rows;
	int status;
};

static void complain(struct qstat *q, int number, const char *words, const char *what)
{
	sbuf_addf(&q->wrong, "%s: %s %s\n", q->p->command, words, what);
	if (!q->status)
		q->status = number % 256;
}

/* ---- jobs ---- */

static void show_job(struct qstat *q, const struct board_job *j)
{
	auto_attributes struct pbs_attributes a = { 0 };
	auto_sbuf struct sbuf id = SBUF(1024);
	struct pbs_view v;

	switch (q->o.mode) {
	case QSTAT_FULL:
		v = (struct pbs_view){ pbs_server_name(q->p), clock_wall(), q->wide.host_style };
		pbs_attributes_of(j->job, &v, &a);
		pbs_job_id(j->job, v.server, &id);
		full_add(&q->full, id.p, &a);
		break;
	case QSTAT_WIDE:
		if (!q->rows)
			qstat_wide_header(pbs_server_name(q->p), jsonx_str(pbs_settings(q->p), "spec.comment"),
					  q->wide.layout, &q->out);
		qstat_wide_row(&j->row, &q->wide, &q->out);
		break;
	default:
		if (!q->rows)
			qstat_plain_header(&q->out);
		qstat_plain_row(&j->row, &q->out);
	}
	q->rows++;
}

static int get_queues(struct qstat *q, struct err *e)
{
	json_auto_t *list = NULL;
	json_t *v;
	size_t i;

	if (q->queues)
		return 0;
	if (pbs_get(q->p, PBS_API "/queues", &list, e) < 0)
		return -1;
	q->queues = json_object();
	json_array_foreach (json_object_get(list, "items"), i, v)
		json_object_set(q->queues, jsonx_str_or(v, "metadata.name", ""), v);
	return 0;
}

/* Whether a job that is not asked for by its id is shown. */
static bool wanted(const struct qstat *q, const struct board_row *r)
{
	const json_t *queue;

	if (!qstat_wants(&q->o, board_row_state(r)) || (q->o.users && !board_row_is_of(r, q->o.users)))
		return false;
	if (!q->o.given['e'])
		return true;
	queue = json_object_getn(q->queues, r->c[COL_QUEUE].p, r->c[COL_QUEUE].n);
	return !streq(jsonx_str_or(queue, "spec.type", ""), "Route");
}

/* One user is the server's work to find; of several, or of hosts, it does not know. */
static const char *one_user(const struct qstat *q)
{
	return q->o.users && !strpbrk(q->o.users, ",@ ") ? q->o.users : NULL;
}

static struct board_query query_of(const struct qstat *q)
{
	return (struct board_query){ .full = q->o.mode == QSTAT_FULL,
				     .elements = q->o.given['t'],
				     .live = q->o.given['s'] };
}

/* All jobs, or those of a queue; says how many there were before any choice. */
static int show_all(struct qstat *q, const char *queue, size_t *ret_seen, struct err *e)
{
	struct board_query ask = query_of(q);
	auto_board struct board b = { 0 };
	struct board_job j;

	ask.user = one_user(q);
	ask.queue = queue;
	if (board_get(q->p, &ask, &b, e) < 0)
		return -1;
	*ret_seen = 0;
	while (board_next(&b, &j)) {
		(*ret_seen)++;
		if (wanted(q, &j.row))
			show_job(q, &j);
	}
	return 0;
}

static int show_queue(struct qstat *q, const char *operand, struct err *e)
{
	auto_free char *name = xstrndup(operand, strcspn(operand, "@"));
	size_t seen;

	if (show_all(q, *name ? name : NULL, &seen, e) < 0 || (!seen && *name && get_queues(q, e) < 0))
		return -1;
	if (!seen && *name && !json_object_get(q->queues, name))
		complain(q, PBSE_UNKQUE, pbs_error_text(PBSE_UNKQUE), operand);
	return 0;
}

static void add_id(struct sbuf *ids, const struct pbs_id *id)
{
	sbuf_addf(ids, "%s%lld", ids->n ? "," : "", (long long)id->sequence);
	if (id->array)
		sbuf_addf(ids, "[%s]", id->elements);
}

static void unknown_job(struct qstat *q, const struct pbs_id *id, const char *operand)
{
	auto_sbuf struct sbuf text = SBUF(1024);

	sbuf_adds(&text, operand);
	if (!id->server[0] && !id->at[0])
		sbuf_addf(&text, ".%s", pbs_server_name(q->p));
	complain(q, PBSE_UNKJOBID, pbs_error_text(PBSE_UNKJOBID), text.p);
}

/* Jobs by their ids, one question for many. */
static int show_ids(struct qstat *q, char **operands, int n, struct err *e)
{
	auto_sbuf struct sbuf ids = SBUF(LIMIT_URL / 2);
	auto_board struct board b = { 0 };
	struct board_query ask = query_of(q);
	struct pbs_id id;
	struct board_job j;

	for (int i = 0; i < n; i++)
		if (pbs_id_parse(operands[i], &id))
			add_id(&ids, &id);
	ask.ids = ids.p;
	if (ids.n && board_get(q->p, &ask, &b, e) < 0)
		return -1;
	for (int i = 0; i < n; i++) {
		bool found = false;

		if (!pbs_id_parse(operands[i], &id)) {
			complain(q, 1, "illegally formed job identifier:", operands[i]);
			continue;
		}
		for (board_rewind(&b); board_next(&b, &j);)
			if (board_is(&j.row, &id, ask.elements)) {
				found = true;
				if (!q->o.users || board_row_is_of(&j.row, q->o.users))
					show_job(q, &j);
			}
		if (!found)
			unknown_job(q, &id, operands[i]);
	}
	return 0;
}

static bool is_id(const char *operand)
{
	return *operand >= '0' && *operand <= '9';
}

static int show_operands(struct qstat *q, struct err *e)
{
	size_t seen;
	int n;

	if (!q->o.n)
		return show_all(q, NULL, &seen, e);
	for (int i = 0; i < q->o.n; i += n) {
		for (n = 0; i + n < q->o.n && n < BATCH && is_id(q->o.operands[i + n]);)
			n++;
		if (n ? show_ids(q, q->o.operands + i, n, e) < 0 : show_queue(q, q->o.operands[i], e) < 0)
			return -1;
		n = n ? n : 1;
	}
	return 0;
}

static int run_jobs(struct qstat *q, struct err *e)
{
	q->o.given['c'] |= getenv("PBS_QSTAT_NO_COMPLETE") != NULL;
	q->o.given['e'] |= getenv("PBS_QSTAT_EXECONLY") != NULL;
	if (q->o.given['e'] && get_queues(q, e) < 0)
		return -1;
	if (q->o.mode != QSTAT_FULL)
		return show_operands(q, e);
	full_begin(&q->full);
	if (show_operands(q, e) < 0) {
		json_decref(q->full.json);
		return -1;
	}
	full_end(&q->full, pbs_server_name(q->p), clock_wall());
	return 0;
}

/* ---- queues and the server ---- */

/* Adds up how the jobs of queues stand; those of `all` too. */
static int count_jobs(struct qstat *q, struct queue_line *lines, size_t n, struct job_counts *all, struct err *e)
{
	struct board_query ask = { .elements = true };
	auto_board struct board b = { 0 };
	struct board_job j;

	if (board_get(q->p, &ask, &b, e) < 0)
		return -1;
	while (board_next(&b, &j)) {
		job_counts_add(all, &j.row);
		for (size_t i = 0; i < n; i++)
			if (str_eq(j.row.c[COL_QUEUE], lines[i].name))
				job_counts_add(&lines[i].counts, &j.row);
	}
	return 0;
}

static void add_full(struct qstat *q, const char *name, struct pbs_attributes *a)
{
	full_add(&q->full, name, a);
	pbs_attributes_done(a);
}

static void show_queues(struct qstat *q, const struct queue_line *lines, size_t n)
{
	struct pbs_attributes a = { 0 };

	if (q->o.mode == QSTAT_LIMITS) {
		qstat_limits(pbs_server_name(q->p), lines, n, q->wide.unit, &q->out);
	} else if (!q->o.given['f'] && !q->o.given['x'] && !q->o.form) {
		qstat_queues(lines, n, &q->out);
	} else {
		full_begin(&q->full);
		for (size_t i = 0; i < n; i++) {
			queue_attributes(lines[i].queue, &lines[i].counts, &a);
			add_full(q, lines[i].name, &a);
		}
		full_end(&q->full, pbs_server_name(q->p), clock_wall());
	}
}

/* No operand, or a server alone. */
static bool all_queues(const struct qstat *q)
{
	return !q->o.n || q->o.operands[0][0] == '@';
}

static int run_queues(struct qstat *q, struct err *e)
{
	struct job_counts all = { 0 };
	auto_free struct queue_line *lines = NULL;
	size_t n = 0, cap = 0;
	const char *name;
	json_t *v;

	if (get_queues(q, e) < 0)
		return -1;
	json_object_foreach (q->queues, name, v)
		if (all_queues(q))
			ARRAY_PUSH(lines, n, cap, ((struct queue_line){ name, v, { { 0 } } }));
	for (int i = 0; i < q->o.n && !all_queues(q); i++) {
		auto_free char *asked = xstrndup(q->o.operands[i], strcspn(q->o.operands[i], "@"));
		json_t *queue = json_object_get(q->queues, asked);

		if (queue)
			ARRAY_PUSH(lines, n, cap,
				   ((struct queue_line){ jsonx_str_or(queue, "metadata.name", ""), queue, { { 0 } } }));
		else
			complain(q, PBSE_UNKQUE, pbs_error_text(PBSE_UNKQUE), q->o.operands[i]);
	}
	if (count_jobs(q, lines, n, &all, e) < 0)
		return -1;
	if (n)
		show_queues(q, lines, n);
	return 0;
}

static int run_server(struct qstat *q, struct err *e)
{
	const char *name = pbs_server_name(q->p);
	struct pbs_attributes a = { 0 };
	struct job_counts all = { 0 };

	if (count_jobs(q, NULL, 0, &all, e) < 0)
		return -1;
	if (!q->o.given['f'] && !q->o.given['x'] && !q->o.form) {
		qstat_server(name, pbs_settings(q->p), &all, &q->out);
		return 0;
	}
	full_begin(&q->full);
	server_attributes(pbs_settings(q->p), &all, &a);
	add_full(q, name, &a);
	full_end(&q->full, name, clock_wall());
	return 0;
}

/* ---- the command ---- */

/* How the server wants its lists to look; only asked for where it shows. */
static void prepare(struct qstat *q)
{
	const bool *given = q->o.given;
	bool look = q->o.mode == QSTAT_WIDE || q->o.mode == QSTAT_FULL;
	const json_t *settings = look ? pbs_settings(q->p) : NULL;

	q->wide = (struct qstat_wide){ .layout = (int)jsonx_int_or(settings, "spec.qstatLayout", 6),
				       .host_style = (int)jsonx_int_or(settings, "spec.execHostStyle", 6),
				       .unit = given['G']   ? 'G'
					       : given['M'] ? 'M'
							    : 0,
				       .nodes = given['n'],
				       .one_line = given['1'],
				       .comment = given['s'] };
	q->full = (struct full){ .form = q->o.form    ? (streq(q->o.form, "dsv") ? FULL_DSV : FULL_JSON)
					 : given['x'] ? FULL_XML
					 : given['1'] ? FULL_WHOLE
						      : FULL_TEXT,
				 .delimiter = q->o.delimiter,
				 .sort = q->o.mode == QSTAT_QUEUES   ? &full_queues
					 : q->o.mode == QSTAT_SERVER ? &full_servers
								     : &full_jobs,
				 .out = &q->out };
}

static int run(struct qstat *q, struct err *e)
{
	switch (q->o.mode) {
	case QSTAT_LIMITS:
	case QSTAT_QUEUES:
		return run_queues(q, e);
	case QSTAT_SERVER:
		return run_server(q, e);
	default:
		return run_jobs(q, e);
	}
}

int qstat_main(struct pbs *p, int argc, char **argv)
{
	struct qstat q = { .p = p, .out = SBUF(OUT_MAX), .wrong = SBUF(OUT_MAX) };
	struct err e = ERR_INIT;
	int status = qstat_options_parse(argc, argv, &q.o, &q.wrong);

	if (status == 0 && (q.o.mode == QSTAT_HELP || q.o.mode == QSTAT_VERSION))
		return about_say(q.o.mode == QSTAT_HELP ? qstat_usage : NULL);
	if (status == 0) {
		prepare(&q);
		status = run(&q, &e) < 0 ? pbs_fail(p, &e, NULL) : q.status;
	}
	about_write(&q.out, stdout);
	about_write(&q.wrong, stderr);
	json_decref(q.queues);
	sbuf_done(&q.out);
	sbuf_done(&q.wrong);
	return status;
}
