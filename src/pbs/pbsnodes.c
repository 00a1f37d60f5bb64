// SPDX-License-Identifier: Apache-2.0
/* pbsnodes.c - pbsnodes: the nodes and what runs on them; takes nodes out of use and back
 *
 * offline is the node's spec.unschedulable, so kubectl cordon and pbsnodes -o are the same thing; a note is an
 * annotation.
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

#include "base/jsonx.h"
#include "base/limits.h"
#include "base/mem.h"
#include "client/client.h"
#include "kinds/pbs_error.h"
#include "kinds/quantity.h"
#include "pbs/about.h"
#include "pbs/board.h"
#include "pbs/nodes_text.h"

#define OUT_MAX (1u << 30)
#define METRICS "/apis/metrics.k8s.io/v1beta1/nodes"

/* clang-format off */
static const char usage[] =
	"usage: pbsnodes [-a|-x] [-q] [-s server] [node... | :property...]\n"
	"       pbsnodes -l [-n] [-q] [-s server] [state] [node... | :property...]\n"
	"       pbsnodes -o|-c|-r [-N note | -A note] [-q] [-s server] node... | :property...\n"
	"       pbsnodes -N note | -A note [-q] [-s server] node... | :property...\n"
	"\n"
	"  -a  everything about them; so it is without options\n"
	"  -x  the same as XML\n"
	"  -l  one a line: those out of use, or in the state given: free, job-exclusive, offline, down, active, up, all\n"
	"  -n  with notes\n"
	"  -o  take them out of use; what runs there goes on\n"
	"  -c  take them back into use\n"
	"  -r  the same\n"
	"  -N  a note about them; \"\" or n takes it away\n"
	"  -A  a note behind the one there is\n"
	"  -q  without error messages\n"
	"  -s  the server; there is one\n";
/* clang-format on */

struct pbsnodes {
	struct pbs *p;
	bool given[128];
	const char *note;  /* -N or -A */
	const char *state; /* of -l */
	struct node_view *nodes;
	size_t n, cap;
	json_t *list, *metrics;
	struct sbuf out;
	int status;
};

static void complain(struct pbsnodes *s, enum pbs_error number, const char *detail)
{
	if (!s->given['q'])
		fprintf(stderr, "pbsnodes: %s MSG=%s\n", pbs_error_text(number), detail);
	s->status = 1;
}

/* ---- what there is ---- */

static int get_nodes(struct pbsnodes *s, struct err *e)
{
	json_t *node;
	size_t i;

	if (pbs_get(s->p, "/api/v1/nodes", &s->list, e) < 0)
		return -1;
	json_array_foreach (json_object_get(s->list, "items"), i, node) {
		struct node_view v;

		node_view_init(&v, node);
		ARRAY_PUSH(s->nodes, s->n, s->cap, v);
	}
	return 0;
}

static int get_jobs(struct pbsnodes *s, struct err *e)
{
	struct board_query ask = { .elements = true };
	auto_board struct board b = { 0 };
	struct board_job j;

	if (board_get(s->p, &ask, &b, e) < 0)
		return -1;
	while (board_next(&b, &j))
		for (size_t i = 0; i < s->n && j.row.c[COL_EXEC_HOST].n; i++)
			node_view_job(&s->nodes[i], &j.row);
	return 0;
}

static int64_t figure(const json_t *row, const char *name, bool milli)
{
	const char *text = json_string_value(json_object_get(json_object_get(row, "usage"), name));
	struct quantity q;

	if (!text || !quantity_parse(text, &q))
		return -1;
	return milli ? quantity_milli(&q) : quantity_value(&q);
}

static void find_use(const struct pbsnodes *s, const char *name, struct node_use *ret)
{
	json_t *row;
	size_t i;

	*ret = (struct node_use){ 0 };
	json_array_foreach (json_object_get(s->metrics, "items"), i, row)
		if (str_same(jsonx_str(row, "metadata.name"), name))
			*ret = (struct node_use){ true, figure(row, "stoker.dev/load", true),
						  figure(row, "memory", false) };
}

/* ---- which are meant ---- */

static bool is_meant(const struct node_view *v, const char *operand)
{
	return operand[0] == ':' ? node_view_has_property(v, operand + 1) : strcasecmp(operand, v->name) == 0;
}

/* Calls back with each node that the operands name, or with all if there are none. */
static void each_node(struct pbsnodes *s, char **operands, int n, void (*act)(struct pbsnodes *s, struct node_view *v))
{
	for (size_t k = 0; k < s->n && !n; k++)
		act(s, &s->nodes[k]);
	for (int i = 0; i < n; i++) {
		bool found = false;

		for (size_t k = 0; k < s->n; k++)
			if (is_meant(&s->nodes[k], operands[i])) {
				found = true;
				act(s, &s->nodes[k]);
			}
		if (!found)
			complain(s, PBSE_UNKNODE, "cannot locate specified node");
	}
}

/* ---- acts ---- */

static void show(struct pbsnodes *s, struct node_view *v)
{
	auto_attributes struct pbs_attributes a = { 0 };
	struct node_use use;

	find_use(s, v->object, &use);
	node_attributes(v, &use, &a);
	if (s->given['x'])
		node_xml(v->name, &a, &s->out);
	else
		node_text(v->name, &a, &s->out);
}

static void show_line(struct pbsnodes *s, struct node_view *v)
{
	bool known;

	if (node_view_is(v, s->state, &known))
		node_line(v, s->given['n'], &s->out);
}

static char *new_note(const struct pbsnodes *s, const struct node_view *v)
{
	const char *old = node_view_note(v);

	if (s->given['A'] && *old)
		return xasprintf("%s, %s", old, s->note);
	return xstrdup(streq(s->note, "n") ? "" : s->note);
}

static void change(struct pbsnodes *s, struct node_view *v)
{
	json_auto_t *patch = json_object();
	auto_sbuf struct sbuf path = SBUF(LIMIT_URL);
	struct err e = ERR_INIT;
	const char *words;
	enum pbs_error number;

	if (s->given['o'] || s->given['c'] || s->given['r'])
		jsonx_set_new(patch, "spec.unschedulable", s->given['o'] ? json_true() : json_null());
	if (s->note) {
		auto_free char *note = new_note(s, v);

		json_object_set_new(patch, "metadata",
				    json_pack("{s:{s:o}}", "annotations", NOTE_ANNOTATION,
					      *note ? jsonx_string(note) : json_null()));
	}
	sbuf_adds(&path, "/api/v1/nodes/");
	client_escape(&path, v->object);
	if (pbs_patch(s->p, path.p, patch, NULL, &e) == 0)
		return;
	number = (enum pbs_error)pbs_error_of(&e, &words);
	complain(s, number, number == PBSE_PERM ? "operation not permitted" : words);
}

/* ---- the command ---- */

static int parse(struct pbsnodes *s, int argc, char **argv)
{
	int c;

	opterr = 0;
	optind = 0;
	while ((c = getopt(argc, argv, "A:aclnN:oqrs:x")) != -1) {
		if (c == '?')
			return about_misuse(usage);
		s->given[c] = true;
		if (c == 'N' || c == 'A')
			s->note = optarg;
	}
	if (s->given['o'] + s->given['c'] + s->given['r'] + s->given['l'] + (s->given['a'] || s->given['x']) > 1 ||
	    (s->given['N'] && s->given['A']))
		return about_misuse(usage);
	return 0;
}

static int run(struct pbsnodes *s, char **operands, int n, struct err *e)
{
	bool changes = s->note || s->given['o'] || s->given['c'] || s->given['r'];
	struct err unseen = ERR_INIT;

	if (get_nodes(s, e) < 0)
		return -1;
	if (!s->n && !changes) {
		if (!s->given['q'])
			fputs("pbsnodes: No nodes found\n", stderr);
		s->status = 2;
		return 0;
	}
	if (changes) {
		each_node(s, operands, n, change);
		return 0;
	}
	if (get_jobs(s, e) < 0)
		return -1;
	if (s->given['l']) {
		each_node(s, operands, n, show_line);
		return 0;
	}
	pbs_get(s->p, METRICS, &s->metrics, &unseen);
	sbuf_adds(&s->out, s->given['x'] ? "<Data>" : "");
	each_node(s, operands, n, show);
	sbuf_adds(&s->out, s->given['x'] ? "</Data>\n" : "");
	return 0;
}

/* What follows -l may be a state: then it is no node. */
static int take_state(struct pbsnodes *s, char **operands, int n)
{
	const struct node_view nobody = { 0 };
	bool known = false;

	if (s->given['l'] && n)
		node_view_is(&nobody, operands[0], &known);
	s->state = known ? operands[0] : "";
	return known;
}

int pbsnodes_main(struct pbs *p, int argc, char **argv)
{
	struct pbsnodes s = { .p = p, .out = SBUF(OUT_MAX) };
	struct err e = ERR_INIT;
	int taken;

	if (about_asked(argc, argv, usage))
		return 0;
	if (parse(&s, argc, argv) != 0)
		return 2;
	taken = take_state(&s, argv + optind, argc - optind);
	if ((s.note || s.given['o'] || s.given['c'] || s.given['r']) && optind == argc)
		return about_misuse(usage);
	if (run(&s, argv + optind + taken, argc - optind - taken, &e) < 0)
		s.status = pbs_fail(p, &e, NULL);
	about_write(&s.out, stdout);
	for (size_t i = 0; i < s.n; i++)
		node_view_done(&s.nodes[i]);
	free(s.nodes);
	json_decref(s.list);
	json_decref(s.metrics);
	sbuf_done(&s.out);
	return s.status;
}
