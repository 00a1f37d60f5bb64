// SPDX-License-Identifier: Apache-2.0
/* qmgr.c - qmgr: settings of queues, of the server and of nodes
 *
 * Each command is read (qmgr_parse.h), done to one object after the other, and its refusals told; the next one is done
 * all the same, unless -a was said.  An object is read, changed (setting_write.h) and written back as a whole, and read
 * again if somebody else was quicker.
 */
#include <getopt.h>
#include <stdio.h>
#include <strings.h>
#include <unistd.h>

#include "base/jsonx.h"
#include "base/limits.h"
#include "base/mem.h"
#include "client/client.h"
#include "kinds/pbs_error.h"
#include "pbs/about.h"
#include "pbs/board.h"
#include "pbs/nodes_text.h"
#include "pbs/qmgr_print.h"

#define TRIES 10
#define OUT   (1u << 30)

enum { SYNTAX = 1, REFUSED = 2 }; /* exit status */

/* clang-format off */
static const char usage[] =
	"usage: qmgr [-a] [-c command] [-e] [-n] [-z] [server...]\n"
	"Settings of queues, the server and nodes: commands of -c, else of standard input.\n"
	"  -a   end at the first command that fails\n"
	"  -c   one command, such as 'print server'\n"
	"  -e   show each command before it is done\n"
	"  -n   only look whether the commands are right\n"
	"  -z   no messages about what fails\n";

static const char help[] =
	"create|delete  queue|node NAME[,NAME...] [ATTRIBUTE=VALUE,...]\n"
	"set            server|queue NAMES|node NAMES ATTRIBUTE[.RESOURCE] =|+=|-= VALUE[,...]\n"
	"unset          server|queue NAMES|node NAMES ATTRIBUTE[.RESOURCE][,...]\n"
	"list|print     server|queue [NAMES]|node [NAMES] [ATTRIBUTE,...]\n"
	"active         [queue|node NAMES]   which are meant when none are named\n"
	"help, quit, exit\n"
	"Words may be cut short: s q batch enabled=t; p s\n";
/* clang-format on */

struct qmgr {
	struct pbs *p;
	bool abort, echo, check, quiet;
	struct qmgr_command active[QMGR_NODE + 1]; /* their names */
	struct sbuf out;
	int status;
	bool over;
};

/* ---- what fails ---- */

static void failed(struct qmgr *q, int status)
{
	q->status = status;
	q->over |= q->abort;
}

/* PBS's words; what has none of them gets those it comes nearest to. */
static void words_of(const struct err *e, enum qmgr_object kind, struct sbuf *out)
{
	static const int missing[] = {
		[QMGR_SERVER] = PBSE_IVALREQ, [QMGR_QUEUE] = PBSE_UNKQUE, [QMGR_NODE] = PBSE_UNKNODE
	};
	const char *words;
	int number = pbs_error_of(e, &words);

	if (words != e->text)
		sbuf_adds(out, words);
	else if (e->kind == ERR_NOT_FOUND)
		sbuf_adds(out, pbs_error_text(missing[kind]));
	else if (e->kind == ERR_EXISTS)
		sbuf_adds(out, kind == QMGR_QUEUE ? pbs_error_text(PBSE_QUEEXIST) : "Node name already exists");
	else if (e->kind == ERR_FORBIDDEN || e->kind == ERR_INVALID)
		sbuf_addf(out, "%s MSG=%s", pbs_error_text(number), words);
	else
		sbuf_adds(out, words);
}

static void refused(struct qmgr *q, enum qmgr_object kind, const char *name, const struct err *e)
{
	auto_sbuf struct sbuf words = SBUF(LIMIT_STATUS_TEXT);
	const char *at = strchr(name, '@');

	failed(q, REFUSED);
	if (q->p->connect_errno) {
		q->status = pbs_fail_connect(q->p);
		q->over = true;
		return;
	}
	words_of(e, kind, &words);
	if (!q->quiet)
		fprintf(stderr, "qmgr obj=%.*s svr=%s: %s\n", (int)strcspn(name, "@"), name,
			at && at[1] ? at + 1 : "default", words.p);
}

static void misread(struct qmgr *q, struct str text, size_t at, const struct err *e)
{
	failed(q, SYNTAX);
	if (q->quiet)
		return;
	if (str_starts(e->text, "Illegal "))
		fprintf(stderr, "qmgr: %s\nTry 'help' if you are having trouble.\n", e->text);
	else
		fprintf(stderr, "qmgr: Syntax error: %s\n%.*s\n%*s\n", e->text, STR_FMT(text), (int)at + 1, "^");
}

/* ---- objects ---- */

static const char *const paths[] = {
	[QMGR_SERVER] = PBS_API "/pbsservers",
	[QMGR_QUEUE] = PBS_API "/queues",
	[QMGR_NODE] = "/api/v1/nodes",
};

static void path_of(enum qmgr_object kind, const char *name, struct sbuf *out)
{
	auto_free char *own = xstrndup(name, strcspn(name, "@"));

	sbuf_addf(out, "%s/", paths[kind]);
	client_escape(out, kind == QMGR_SERVER ? "default" : own);
}

static int change(const struct qmgr_command *c, json_t *object, struct err *e)
{
	const struct setting *table = qmgr_settings(c->object);

	for (size_t i = 0; i < c->nitems; i++) {
		const struct qmgr_item *item = &c->items[i];

		if (setting_write(table, object, item->name, item->resource, item->op, item->value, e) < 0)
			return -1;
	}
	return 0;
}

static int do_set(struct qmgr *q, const struct qmgr_command *c, const char *name, struct err *e)
{
	auto_sbuf struct sbuf path = SBUF(LIMIT_URL);
	int r = -1;

	path_of(c->object, name, &path);
	for (int i = 0; i < TRIES && r < 0; i++) {
		json_auto_t *object = NULL;

		err_clear(e);
		if (pbs_get(q->p, path.p, &object, e) < 0 || change(c, object, e) < 0)
			return -1;
		r = pbs_put(q->p, path.p, object, NULL, e);
		if (r < 0 && e->kind != ERR_CONFLICT)
			return -1;
	}
	return r;
}

/* As in PBS, a new queue takes and starts nothing until it is told to. */
static int do_create(struct qmgr *q, const struct qmgr_command *c, const char *name, struct err *e)
{
	bool queue = c->object == QMGR_QUEUE;
	json_auto_t *object =
		json_pack("{s:s,s:s,s:{s:o}}", "apiVersion", queue ? "stoker.dev/v1" : "v1", "kind",
			  queue ? "Queue" : "Node", "metadata", "name", jsonx_stringn(name, strcspn(name, "@")));

	if (c->object == QMGR_SERVER)
		return pbs_error_set(e, ERR_INVALID, PBSE_IVALREQ, "there is one server");
	if (queue)
		json_object_set_new(object, "spec", json_pack("{s:b,s:b}", "enabled", 0, "started", 0));
	if (change(c, object, e) < 0)
		return -1;
	return pbs_post(q->p, paths[c->object], object, NULL, e);
}

static int count_jobs(struct qmgr *q, const char *queue, struct job_counts *ret, struct err *e)
{
	struct board_query ask = { .elements = true, .queue = queue };
	auto_board struct board b = { 0 };
	struct board_job j;

	if (board_get(q->p, &ask, &b, e) < 0)
		return -1;
	while (board_next(&b, &j))
		ret->n[job_count_of(board_row_state(&j.row))]++;
	return 0;
}

static int do_delete(struct qmgr *q, const struct qmgr_command *c, const char *name, struct err *e)
{
	auto_sbuf struct sbuf path = SBUF(LIMIT_URL);
	auto_free char *own = xstrndup(name, strcspn(name, "@"));
	struct job_counts counts = { 0 };

	if (c->object == QMGR_SERVER)
		return pbs_error_set(e, ERR_INVALID, PBSE_IVALREQ, "the server cannot be deleted");
	if (c->object == QMGR_QUEUE) {
		if (count_jobs(q, own, &counts, e) < 0)
			return -1;
		if (job_counts_total(&counts) > counts.n[COUNT_COMPLETE])
			return pbs_error_set(e, ERR_CONFLICT, PBSE_QUEBUSY, NULL);
	}
	path_of(c->object, name, &path);
	return pbs_delete(q->p, path.p, e);
}

/* ---- showing ---- */

static int list_node(struct qmgr *q, const json_t *node, struct pbs_attributes *a, struct err *e)
{
	struct board_query ask = { .elements = true };
	auto_board struct board b = { 0 };
	struct board_job j;
	struct node_view v;

	if (board_get(q->p, &ask, &b, e) < 0)
		return -1;
	node_view_init(&v, node);
	while (board_next(&b, &j))
		node_view_job(&v, &j.row);
	node_attributes(&v, NULL, a);
	node_view_done(&v);
	return 0;
}

static int list_one(struct qmgr *q, const struct qmgr_command *c, const json_t *object, struct err *e)
{
	const char *name = jsonx_str_or(object, "metadata.name", "");
	auto_attributes struct pbs_attributes a = { 0 };
	struct job_counts counts = { 0 };

	if (c->object == QMGR_NODE) {
		if (list_node(q, object, &a, e) < 0)
			return -1;
	} else {
		if (count_jobs(q, c->object == QMGR_QUEUE ? name : NULL, &counts, e) < 0)
			return -1;
		if (c->object == QMGR_QUEUE)
			queue_attributes(object, &counts, &a);
		else
			server_attributes(object, &counts, &a);
	}
	qmgr_list(c->object, c->object == QMGR_SERVER ? pbs_server_name(q->p) : name, &a, c, &q->out);
	return 0;
}

static int show_one(struct qmgr *q, const struct qmgr_command *c, const json_t *object, struct err *e)
{
	if (c->verb == QMGR_LIST)
		return list_one(q, c, object, e);
	qmgr_print(c->object, object, c, &q->out);
	return 0;
}

/* All of a kind, in the order in which the server has them. */
static int show_all(struct qmgr *q, const struct qmgr_command *c, struct err *e)
{
	json_auto_t *list = NULL;
	json_t *v;
	size_t i;

	if (pbs_get(q->p, paths[c->object], &list, e) < 0)
		return -1;
	json_array_foreach (json_object_get(list, "items"), i, v)
		if (show_one(q, c, v, e) < 0)
			return -1;
	return 0;
}

/* With the queues, if all of it is to be printed. */
static int show_server(struct qmgr *q, const struct qmgr_command *c, struct err *e)
{
	const struct qmgr_command queues = { .verb = QMGR_PRINT, .object = QMGR_QUEUE };
	auto_sbuf struct sbuf path = SBUF(LIMIT_URL);
	json_auto_t *object = NULL;

	path_of(QMGR_SERVER, "", &path);
	if (pbs_get(q->p, path.p, &object, e) < 0)
		return -1;
	if (c->verb == QMGR_PRINT && !c->nitems) {
		qmgr_print_head(&q->out);
		if (show_all(q, &queues, e) < 0)
			return -1;
		qmgr_print_server_head(&q->out);
	}
	return show_one(q, c, object, e);
}

/* Attributes that there are not; PBS's that only it sets are, too. */
static int check_asked(const struct qmgr_command *c, struct err *e)
{
	static const char *const others[] = { "total_jobs", "state_count", "server_state", "pbs_version", "jobs",
					      "status",     "gpus",        "gpu_status",   "power_state" };

	for (size_t i = 0; i < c->nitems; i++) {
		const char *name = c->items[i].name;
		bool known = false;

		for (const struct setting *s = qmgr_settings(c->object); s->name; s++)
			known |= strcasecmp(s->name, name) == 0;
		for (size_t k = 0; k < ARRAY_SIZE(others); k++)
			known |= streq(others[k], name);
		if (!known)
			return pbs_error_set(e, ERR_INVALID, PBSE_NOATTR, "%.60s", name);
	}
	return 0;
}

static int do_show(struct qmgr *q, const struct qmgr_command *c, const char *name, struct err *e)
{
	auto_sbuf struct sbuf path = SBUF(LIMIT_URL);
	json_auto_t *object = NULL;

	if (check_asked(c, e) < 0)
		return -1;
	if (c->object == QMGR_SERVER)
		return show_server(q, c, e);
	if (!*name || *name == '@')
		return show_all(q, c, e);
	path_of(c->object, name, &path);
	if (pbs_get(q->p, path.p, &object, e) < 0)
		return -1;
	return show_one(q, c, object, e);
}

/* ---- commands ---- */

static void do_active(struct qmgr *q, struct qmgr_command *c)
{
	for (int kind = QMGR_SERVER; c->object == QMGR_NONE && kind <= QMGR_NODE; kind++) {
		const struct qmgr_command *active = &q->active[kind];

		sbuf_addf(&q->out, "Active %s:", qmgr_word((enum qmgr_object)kind));
		for (size_t i = 0; i < active->nnames; i++)
			sbuf_addf(&q->out, " %s", active->names[i]);
		sbuf_addc(&q->out, '\n');
	}
	if (c->object == QMGR_NONE)
		return;
	qmgr_command_done(&q->active[c->object]);
	q->active[c->object] = *c;
	*c = (struct qmgr_command){ 0 };
}

static int (*const doers[])(struct qmgr *q, const struct qmgr_command *c, const char *name, struct err *e) = {
	[QMGR_CREATE] = do_create, [QMGR_DELETE] = do_delete, [QMGR_SET] = do_set,
	[QMGR_UNSET] = do_set,     [QMGR_LIST] = do_show,     [QMGR_PRINT] = do_show,
};

static void do_named(struct qmgr *q, const struct qmgr_command *c)
{
	const struct qmgr_command *active = &q->active[c->object];
	const struct qmgr_command *from = c->nnames ? c : active;
	bool shows = c->verb == QMGR_LIST || c->verb == QMGR_PRINT;
	size_t n = from->nnames;

	if (!n && c->object != QMGR_SERVER && !shows) {
		struct err e = ERR_INIT;

		pbs_error_set(&e, ERR_INVALID, PBSE_IVALREQ, "no %s is named, and none is active",
			      qmgr_word(c->object));
		refused(q, c->object, "", &e);
		return;
	}
	for (size_t i = 0; i < (n ? n : 1) && !q->over; i++) {
		const char *name = n ? from->names[i] : "";
		struct err e = ERR_INIT;

		if (doers[c->verb](q, c, name, &e) < 0)
			refused(q, c->object, name, &e);
	}
}

static void run_command(struct qmgr *q, struct str text)
{
	auto_qmgr_command struct qmgr_command c = { 0 };
	struct err e = ERR_INIT;
	size_t at = 0;

	if (q->echo)
		sbuf_addf(&q->out, "%.*s\n", STR_FMT(text));
	if (qmgr_parse(text, &c, &at, &e) < 0) {
		misread(q, text, at, &e);
		return;
	}
	if (c.verb == QMGR_QUIT)
		q->over = true;
	else if (c.verb == QMGR_HELP)
		sbuf_adds(&q->out, help);
	else if (c.verb == QMGR_ACTIVE)
		do_active(q, &c);
	else if (c.verb != QMGR_NOTHING && !q->check)
		do_named(q, &c);
}

static void run_line(struct qmgr *q, struct str line)
{
	struct str command;

	while (!q->over && qmgr_cut(&line, &command)) {
		run_command(q, command);
		about_write(&q->out, stdout);
		sbuf_reset(&q->out);
	}
}

/* Lines that end in a backslash go on in the next one. */
static void run_input(struct qmgr *q)
{
	auto_sbuf struct sbuf line = SBUF(LIMIT_BODY);
	auto_free char *buf = NULL;
	bool terminal = isatty(STDIN_FILENO);
	size_t cap = 0;
	ssize_t n;

	if (terminal)
		printf("Max open servers: 9\n");
	while (!q->over) {
		if (terminal) {
			fputs("Qmgr: ", stdout);
			fflush(stdout);
		}
		n = getline(&buf, &cap, stdin);
		if (n < 0)
			break;
		while (n && (buf[n - 1] == '\n' || buf[n - 1] == '\r'))
			n--;
		if (n && buf[n - 1] == '\\' && (line.n || buf[0] != '#')) {
			sbuf_add(&line, buf, (size_t)n - 1);
			continue;
		}
		sbuf_add(&line, buf, (size_t)n);
		run_line(q, sbuf_str(&line));
		sbuf_reset(&line);
	}
	run_line(q, sbuf_str(&line));
	if (terminal && !q->over)
		putchar('\n');
}

int qmgr_main(struct pbs *p, int argc, char **argv)
{
	struct qmgr q = { .p = p, .out = SBUF(OUT) };
	const char *command = NULL;
	int c;

	if (about_asked(argc, argv, usage))
		return 0;
	opterr = 0;
	optind = 0;
	while ((c = getopt(argc, argv, "ac:enz")) != -1) {
		if (c == '?')
			return about_misuse(usage);
		q.abort |= c == 'a';
		q.echo |= c == 'e';
		q.check |= c == 'n';
		q.quiet |= c == 'z';
		if (c == 'c')
			command = optarg;
	}
	if (command)
		run_line(&q, str_of(command));
	else
		run_input(&q);
	for (int i = 0; i <= QMGR_NODE; i++)
		qmgr_command_done(&q.active[i]);
	sbuf_done(&q.out);
	return q.status;
}
