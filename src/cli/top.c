// SPDX-License-Identifier: Apache-2.0
/* top.c - `stoker top`: what pods and nodes use now
 *
 * Figures are those of metrics.k8s.io, joined with what pods ask for and nodes have.  With --watch they are asked for
 * again every two seconds: on a terminal the screen is drawn anew, else each row is a line that begins with the time.
 */
#include <stdio.h>
#include <unistd.h>

#include "base/jsonx.h"
#include "base/mem.h"
#include "base/yamlx.h"
#include "cli/about.h"
#include "cli/again.h"
#include "cli/connect.h"
#include "cli/top_rows.h"
#include "kinds/core.h"
#include "kinds/rest.h"

struct top_settings {
	struct connect_settings connect;
	const char *ns, *output, *sort;
	bool all_namespaces, watch;
};

#define AT(field) offsetof(struct top_settings, field)
static const struct opt top_opts[] = {
	NAMESPACE_OPT(AT(ns), "whose pods"),
	{ .name = "all-namespaces",
	  .letter = 'A',
	  .type = OPT_FLAG,
	  .offset = AT(all_namespaces),
	  .help = "pods of every namespace" },
	{ .name = "sort",
	  .type = OPT_CHOICE,
	  .offset = AT(sort),
	  .arg = "BY",
	  .choices = "cpu|memory|gpu",
	  .help = "the most of which comes first (default: cpu)" },
	{ .name = "watch",
	  .letter = 'w',
	  .type = OPT_FLAG,
	  .offset = AT(watch),
	  .help = "go on, with new figures every two seconds" },
	{ .name = "output",
	  .letter = 'o',
	  .type = OPT_CHOICE,
	  .offset = AT(output),
	  .arg = "FORM",
	  .choices = "wide|json|yaml",
	  .help = "how to print: wide, json or yaml" },
	CONNECT_OPTS,
	OPT_END,
};

struct session {
	const struct command *cmd;
	const struct top_settings *s;
	struct connection c;
	const char *ns;   /* NULL: all */
	bool pods, nodes; /* which tables */
	bool both;        /* nobody said which: nodes are left out if they may not be seen */
	char *node;       /* only that one, or NULL */
	char *workload;   /* only its pods: [KIND/]NAME, or NULL */
	bool titled;
};

/* One set of figures. */
struct figures {
	json_t *pods, *pod_metrics, *nodes, *node_metrics, *all_pods; /* arrays or NULL */
};

static void figures_done(struct figures *f)
{
	json_decref(f->pods);
	json_decref(f->pod_metrics);
	json_decref(f->nodes);
	json_decref(f->node_metrics);
	json_decref(f->all_pods);
}

/* ---- asking ---- */

static int get_items(struct session *s, const struct kind *k, const char *ns, const struct list_options *o,
		     json_t **ret, struct err *e)
{
	char version[64];
	struct ref ref = { .api_version = version, .plural = k->plural, .ns = ns };
	json_auto_t *list = NULL;

	kind_api_version(k, version, sizeof(version));
	if (client_list_wait(s->c.client, &ref, o, &list, e) < 0)
		return -1;
	*ret = json_incref(json_object_get(list, "items"));
	return 0;
}

static int get_metrics(struct session *s, const struct kind *k, const char *ns, json_t **ret, struct err *e)
{
	if (get_items(s, k, ns, NULL, ret, e) == 0)
		return 0;
	if (e->kind == ERR_NOT_FOUND || e->kind == ERR_UNAVAILABLE)
		err_prefix(e,
			   "this cluster does not measure what is used (metrics.k8s.io); on a Kubernetes of your own, "
			   "install metrics-server");
	return -1;
}

static int get_pods(struct session *s, struct figures *f, struct err *e)
{
	struct about a;

	if (s->workload) {
		if (about_find(s->c.client, s->workload, s->ns, &a, e) < 0)
			return -1;
		f->pods = json_incref(a.pods);
		about_done(&a);
	} else if (get_items(s, &kind_pod, s->ns, NULL, &f->pods, e) < 0) {
		if (e->kind == ERR_FORBIDDEN && !s->ns)
			err_prefix(e, "without -A it shows your own namespace");
		return -1;
	}
	return get_metrics(s, &kind_pod_metrics, s->ns, &f->pod_metrics, e);
}

static int get_nodes(struct session *s, struct figures *f, struct err *e)
{
	auto_free char *field = s->node ? xasprintf("metadata.name=%s", s->node) : NULL;
	struct err ignored = ERR_INIT;

	if (get_items(s, &kind_node, NULL, &(struct list_options){ .fields = field }, &f->nodes, e) < 0) {
		if (e->kind == ERR_FORBIDDEN)
			err_prefix(e,
				   "ask an admin for the right to list nodes; `stoker top pods` shows your own pods");
		return -1;
	}
	if (s->node && !json_array_size(f->nodes))
		return err_set(e, ERR_NOT_FOUND, "there is no node \"%s\"; `stoker top nodes` shows all", s->node);
	if (get_metrics(s, &kind_node_metrics, NULL, &f->node_metrics, e) < 0)
		return -1;
	get_items(s, &kind_pod, NULL, NULL, &f->all_pods, &ignored);
	return 0;
}

static int ask(struct session *s, struct figures *f, struct err *e)
{
	if (s->nodes && get_nodes(s, f, e) < 0) {
		if (!s->both || e->kind != ERR_FORBIDDEN)
			return -1;
		err_clear(e);
		json_decref(f->nodes);
		f->nodes = NULL;
	}
	return s->pods ? get_pods(s, f, e) : 0;
}

/* ---- showing ---- */

static void add_table(struct session *s, const struct table *t, bool screen, struct sbuf *out)
{
	bool wide = s->s->output != NULL;
	size_t from = out->n;

	table_text(t, wide, output_colours(STDOUT_FILENO), screen ? output_width(STDOUT_FILENO) : 0, out);
	if (s->s->watch && !screen && s->titled) { /* lines: the title once */
		const char *nl = strchr(out->p + from, '\n') + 1;
		size_t cut = (size_t)(nl - (out->p + from));

		memmove(out->p + from, nl, out->n - from - cut + 1);
		out->n -= cut;
	}
}

static void add_nodes(struct session *s, const struct figures *f, const char *clock, bool screen, struct sbuf *out)
{
	auto_table struct table t = { 0 };
	auto_table struct table cards = { 0 };
	struct top_rows rows;

	top_rows_nodes(f->nodes, f->node_metrics, f->all_pods, &rows);
	top_rows_sort(&rows, s->s->sort);
	top_nodes_table(&rows, clock, &t);
	add_table(s, &t, screen, out);
	top_cards_table(f->nodes, &cards);
	if (s->s->output && !clock && table_rows(&cards)) {
		sbuf_addc(out, '\n');
		add_table(s, &cards, screen, out);
	}
	top_rows_done(&rows);
}

static void add_pods(struct session *s, const struct figures *f, const char *clock, bool screen, struct sbuf *out)
{
	auto_table struct table t = { 0 };
	struct top_rows rows;

	top_rows_pods(f->pods, f->pod_metrics, &rows);
	top_rows_sort(&rows, s->s->sort);
	top_pods_table(&rows, !s->ns, clock, &t);
	if (rows.n)
		add_table(s, &t, screen, out);
	else if (!s->s->watch || screen)
		sbuf_addf(out, "No pods run%s%s%s.\n",
			  s->workload ? " of "
			  : s->ns     ? " in namespace "
				      : "",
			  s->workload ? s->workload
			  : s->ns     ? s->ns
				      : "",
			  s->ns && !s->workload ? "; -A looks in every namespace" : "");
	top_rows_done(&rows);
}

static void print_objects(struct session *s, const struct figures *f)
{
	auto_sbuf struct sbuf out = SBUF(SIZE_MAX / 2);
	json_auto_t *items = json_array();
	struct top_rows rows;

	if (f->nodes) {
		top_rows_nodes(f->nodes, f->node_metrics, f->all_pods, &rows);
		top_rows_sort(&rows, s->s->sort);
		top_rows_json(&rows, "Node", items);
		top_rows_done(&rows);
	}
	if (f->pods) {
		top_rows_pods(f->pods, f->pod_metrics, &rows);
		top_rows_sort(&rows, s->s->sort);
		top_rows_json(&rows, "Pod", items);
		top_rows_done(&rows);
	}
	if (streq(s->s->output, "yaml"))
		yamlx_dump(items, &out);
	else
		jsonx_dump_pretty(items, &out);
	fputs(out.p, stdout);
	if (out.n && out.p[out.n - 1] != '\n')
		putchar('\n');
}

static int show(void *arg)
{
	struct session *s = arg;
	bool screen = s->s->watch && isatty(STDOUT_FILENO);
	auto_sbuf struct sbuf text = SBUF(SIZE_MAX / 2);
	struct figures f = { 0 };
	struct err e = ERR_INIT;
	char clock[16];
	const char *column = s->s->watch && !screen ? clock : NULL;

	if (ask(s, &f, &e) < 0) {
		figures_done(&f);
		return command_fail(s->cmd, &e);
	}
	again_clock(clock);
	if (output_is_objects(s->s->output)) {
		print_objects(s, &f);
	} else {
		if (screen)
			sbuf_addf(&text, "stoker top  %s  every %d s, Ctrl-C ends it\n\n", clock, AGAIN_MS / 1000);
		if (f.nodes)
			add_nodes(s, &f, column, screen, &text);
		if (f.nodes && f.pods && !column)
			sbuf_addc(&text, '\n');
		if (f.pods)
			add_pods(s, &f, column, screen, &text);
		if (screen)
			again_draw(&text);
		else if (text.n)
			fputs(text.p, stdout);
		s->titled = true;
	}
	fflush(stdout);
	figures_done(&f);
	return 0;
}

/* ---- again and again ---- */

static int show_on(struct session *s)
{
	struct err e = ERR_INIT;
	int status;

	if (output_is_objects(s->s->output)) {
		err_set(&e, ERR_BAD_REQUEST, "--watch shows a table; -o %s prints once", s->s->output);
		return command_fail(s->cmd, &e);
	}
	status = again_show(s->c.loop, show, s, &e);
	return status < 0 ? command_fail(s->cmd, &e) : status;
}

/* ---- the command ---- */

/* "pods", "pods NAME", "nodes", "nodes NAME", "node/NAME", "[KIND/]NAME". */
static int take_words(struct session *s, char **words, int n, struct err *e)
{
	auto_free char *arg = n ? about_argument(words, n) : NULL;
	const struct kind *k = NULL;
	const char *name = NULL;

	s->both = n == 0;
	s->pods = s->nodes = true;
	if (!n)
		return 0;
	if (n == 1 && !strchr(arg, '/')) {
		k = find_kind(str_of(arg));
		name = k == &kind_pod || k == &kind_node ? NULL : arg;
		k = name ? NULL : k;
	} else if (find_cut(arg, &k, &name, e) < 0) {
		return -1;
	}
	s->nodes = k == &kind_node;
	s->pods = !s->nodes;
	if (k && !s->nodes && !is_workload(k))
		return err_set(e, ERR_BAD_REQUEST,
			       "%s uses nothing itself; `stoker top` takes pods, nodes, or the name of a workload",
			       arg);
	if (name && s->nodes)
		s->node = xstrdup(name);
	else if (name)
		s->workload = TAKE(arg);
	return 0;
}

static int run_top(const struct command *cmd, int argc, char **argv)
{
	struct top_settings settings = { 0 };
	struct session s = { .cmd = cmd, .s = &settings };
	struct err e = ERR_INIT;
	char **rest;
	int nrest;
	int status;

	if (command_parse(cmd, &settings, argc, argv, 0, 2, &rest, &nrest) < 0)
		return 2;
	if (take_words(&s, rest, nrest, &e) < 0 || connect_open(&settings.connect, &s.c, &e) < 0) {
		free(s.node);
		free(s.workload);
		return command_fail(cmd, &e);
	}
	if (!settings.all_namespaces)
		s.ns = settings.ns ? settings.ns : client_default_namespace(s.c.client);
	status = settings.watch ? show_on(&s) : show(&s);
	free(s.node);
	free(s.workload);
	connect_close(&s.c);
	return status;
}

const struct command cmd_top = {
	.name = "top",
	.args = "[pods | nodes | [KIND/]NAME] [NAME] [-n NAMESPACE | -A] [--sort cpu|memory|gpu] [-w]",
	.summary = "Show what pods and nodes use now",
	.details = "CPU is in processors, 250m is a quarter of one. The percentages of a pod are of its limit, or of "
		   "what it\n"
		   "asked for if it has none; those of a node are of all it can give to pods. -o wide adds these, and "
		   "for\n"
		   "nodes every GPU.\n\n"
		   "Examples:\n"
		   "  stoker top                    # nodes, and the pods of your namespace\n"
		   "  stoker top pods -A --sort memory\n"
		   "  stoker top job/train -w       # its pods, as a live screen\n"
		   "  stoker top nodes -o wide\n",
	.names = true,
	.opts = top_opts,
	.run = run_top,
};
