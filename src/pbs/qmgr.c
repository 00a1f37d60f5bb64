// SPDX-License-Identifier: Apache-2.0
/* qmgr.c - qmgr: settings of queues, of the server and of nodes
 *
 * Each command is read (qmgr_parse.h), done to one object after the other, and its refusals told; the next one is done
 * all the same, unless -a was said.
 */
#include <getopt.h>
#include <stdio.h>
#include <unistd.h>

#include "base/limits.h"
#include "base/mem.h"
#include "kinds/pbs_error.h"
#include "pbs/about.h"
#include "pbs/qmgr_do.h"
#include "pbs/qmgr_print.h"

#define OUT (1u << 30)

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
	bool abort, echo, check, quiet;
	struct qmgr_command active[QMGR_NODE + 1]; /* their names */
	struct qmgr_work work;
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
	else if (e->kind == ERR_FORBIDDEN || e->kind == ERR_INVALID) {
		sbuf_addf(out, "%s MSG=", pbs_error_text(number));
		qmgr_words(kind, words, out);
	} else {
		sbuf_adds(out, words);
	}
}

static void refused(struct qmgr *q, enum qmgr_object kind, const char *name, const struct err *e)
{
	auto_sbuf struct sbuf words = SBUF(LIMIT_STATUS_TEXT);
	const char *at = strchr(name, '@');

	failed(q, REFUSED);
	if (q->work.pbs->connect_errno) {
		q->status = pbs_fail_connect(q->work.pbs);
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

/* ---- commands ---- */

static void do_active(struct qmgr *q, struct qmgr_command *c)
{
	for (int kind = QMGR_SERVER; c->object == QMGR_NONE && kind <= QMGR_NODE; kind++) {
		const struct qmgr_command *active = &q->active[kind];

		sbuf_addf(&q->work.out, "Active %s:", qmgr_word((enum qmgr_object)kind));
		for (size_t i = 0; i < active->nnames; i++)
			sbuf_addf(&q->work.out, " %s", active->names[i]);
		sbuf_addc(&q->work.out, '\n');
	}
	if (c->object == QMGR_NONE)
		return;
	qmgr_command_done(&q->active[c->object]);
	q->active[c->object] = *c;
	*c = (struct qmgr_command){ 0 };
}

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

		if (qmgr_do(&q->work, c, name, &e) < 0)
			refused(q, c->object, name, &e);
	}
}

static void run_command(struct qmgr *q, struct str text)
{
	auto_qmgr_command struct qmgr_command c = { 0 };
	struct err e = ERR_INIT;
	size_t at = 0;

	if (q->echo)
		sbuf_addf(&q->work.out, "%.*s\n", STR_FMT(text));
	if (qmgr_parse(text, &c, &at, &e) < 0) {
		misread(q, text, at, &e);
		return;
	}
	if (c.verb == QMGR_QUIT)
		q->over = true;
	else if (c.verb == QMGR_HELP)
		sbuf_adds(&q->work.out, help);
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
		about_write(&q->work.out, stdout);
		sbuf_reset(&q->work.out);
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
	struct qmgr q = { .work = { .pbs = p, .out = SBUF(OUT) } };
	const char *command = NULL;
	struct str rest, line;
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
	rest = str_of(command ? command : "");
	while (command && str_split(&rest, '\n', &line))
		run_line(&q, line);
	if (!command)
		run_input(&q);
	for (int i = 0; i <= QMGR_NODE; i++)
		qmgr_command_done(&q.active[i]);
	sbuf_done(&q.work.out);
	return q.status;
}
