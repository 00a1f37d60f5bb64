// SPDX-License-Identifier: Apache-2.0
/* plot.c - `stoker plot`: the loss as it falls, drawn in the terminal
 *
 * The numbers are those that the job's programs have printed (base/measure.h says in which words).  plot_read.c gets
 * them, plot_series.c chooses, chart.c draws.
 */
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>
#include <unistd.h>

#include "base/jsonx.h"
#include "base/mem.h"
#include "cli/again.h"
#include "cli/connect.h"
#include "cli/find.h"
#include "cli/output.h"
#include "cli/plot_read.h"
#include "cli/plot_series.h"

#define WIDTH_USUAL 80
#define WIDTH_WIDE  110 /* on a wider screen lines become flat */
#define HEIGHT      10

struct plot_settings {
	struct connect_settings connect;
	const char *ns, *metric, *replica, *output;
	int64_t width, height;
	bool watch;
};

#define AT(field) offsetof(struct plot_settings, field)
static const struct opt plot_opts[] = {
	NAMESPACE_OPT(AT(ns), "where to look"),
	{ .name = "metric",
	  .letter = 'm',
	  .type = OPT_STRING,
	  .offset = AT(metric),
	  .arg = "NAMES",
	  .help = "which numbers, such as loss,accuracy (default: losses, then accuracies)" },
	{ .name = "replica",
	  .letter = 'r',
	  .type = OPT_STRING,
	  .offset = AT(replica),
	  .arg = "NAMES",
	  .help = "of which replicas, such as master-0,worker-1 (default: all)" },
	{ .name = "width",
	  .type = OPT_INT,
	  .offset = AT(width),
	  .arg = "N",
	  .min = CHART_WIDTH_MIN,
	  .max = CHART_MOST,
	  .help = "columns (default: those of the terminal, at most 110)" },
	{ .name = "height",
	  .type = OPT_INT,
	  .offset = AT(height),
	  .arg = "N",
	  .min = CHART_HEIGHT_MIN,
	  .max = CHART_MOST,
	  .help = "rows of each plot (default: 10)" },
	{ .name = "watch",
	  .letter = 'w',
	  .type = OPT_FLAG,
	  .offset = AT(watch),
	  .help = "go on, drawn again every two seconds" },
	{ .name = "output",
	  .letter = 'o',
	  .type = OPT_CHOICE,
	  .offset = AT(output),
	  .arg = "FORM",
	  .choices = "text|json|csv",
	  .help = "json or csv: the points themselves" },
	CONNECT_OPTS,
	OPT_END,
};

struct session {
	const struct command *cmd;
	const struct plot_settings *s;
	struct connection c;
	const char *ns;
	const struct kind *kind; /* or NULL */
	struct plot_choice choice;
};

/* ---- drawing ---- */

static bool knows_utf8(void)
{
	static const char *const names[] = { "LC_ALL", "LC_CTYPE", "LANG" };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		const char *value = getenv(names[i]);

		if (value && *value)
			return strcasestr(value, "utf-8") || strcasestr(value, "utf8");
	}
	return false;
}

static int width_of(const struct plot_settings *s)
{
	int width = output_width(STDOUT_FILENO);

	if (s->width)
		return (int)s->width;
	return !width ? WIDTH_USUAL : width < WIDTH_WIDE ? width : WIDTH_WIDE;
}

static void draw_one(const struct session *s, const struct plot *p, struct sbuf *out)
{
	auto_free char *of = p->of > 0 ? xasprintf(" (of %.10g)", p->of) : xstrdup("");
	auto_free char *title = xasprintf("%s of %s by %s%s", p->metric, s->choice.job, p->by, of);
	auto_free struct chart_line *lines = xcalloc(p->n, sizeof(*lines));
	struct chart c = { .title = title,
			   .x_name = p->by,
			   .lines = lines,
			   .n = p->n,
			   .width = width_of(s->s),
			   .height = s->s->height ? (int)s->s->height : HEIGHT,
			   .utf8 = knows_utf8(),
			   .colours = output_colours(STDOUT_FILENO) };

	for (size_t i = 0; i < p->n; i++)
		lines[i] = (struct chart_line){ p->lines[i].label, p->lines[i].points, p->lines[i].n };
	chart_draw(&c, out);
}

static void draw_all(const struct session *s, const json_t *chosen, struct sbuf *out)
{
	struct plots plots;

	plots_make(chosen, &s->choice, &plots);
	for (size_t i = 0; i < plots.n; i++) {
		if (i)
			sbuf_addc(out, '\n');
		draw_one(s, &plots.items[i], out);
	}
	plots_done(&plots);
}

/* ---- nothing to draw ---- */

static int say_nothing_known(const struct session *s)
{
	fprintf(stderr,
		"stoker plot: \"%s\" has printed no numbers that can be drawn.\n"
		"Lines that say where they are and a number with a name are recognised, such as:\n"
		"  epoch 3 loss 0.36\n"
		"  step=120/500 accuracy=91.5%%\n"
		"  Train Epoch: 3 [640/60000 (1%%)] Loss: 0.123456\n"
		"  {'loss': 0.36, 'learning_rate': 5e-05, 'epoch': 3.0}\n"
		"Programs whose output is not a terminal may keep it back: python3 -u, or flush after each line.\n",
		s->choice.job);
	return 1;
}

static int say_not_among(const struct session *s, const json_t *series)
{
	auto_sbuf struct sbuf metrics = SBUF(4096), replicas = SBUF(4096);

	plot_series_names(series, &s->choice, false, &metrics);
	plot_series_names(series, &s->choice, true, &replicas);
	fprintf(stderr, "stoker plot: \"%s\" has printed nothing like that%s%s%s%s; there are: %s; of replicas: %s\n",
		s->choice.job, s->choice.metrics ? ", --metric " : "", s->choice.metrics ? s->choice.metrics : "",
		s->choice.replicas ? ", --replica " : "", s->choice.replicas ? s->choice.replicas : "", metrics.p,
		replicas.p);
	return 1;
}

/* ---- the command ---- */

static void print_points(const struct session *s, json_t *doc, const json_t *chosen)
{
	auto_sbuf struct sbuf out = SBUF(SIZE_MAX / 2);

	if (streq(s->s->output, "csv")) {
		plot_series_csv(chosen, &out);
	} else {
		json_object_set(doc, "series", (json_t *)chosen);
		jsonx_dump(doc, &out);
		sbuf_addc(&out, '\n');
	}
	fputs(out.p, stdout);
}

static int show(void *arg)
{
	struct session *s = arg;
	bool screen = s->s->watch && isatty(STDOUT_FILENO);
	auto_sbuf struct sbuf text = SBUF(SIZE_MAX / 2);
	json_auto_t *doc = NULL;
	json_auto_t *chosen = NULL;
	const json_t *series;
	struct err e = ERR_INIT;
	char clock[16];

	if (plot_read(s->c.client, s->kind, s->ns, s->choice.job, &doc, &e) < 0)
		return command_fail(s->cmd, &e);
	series = json_object_get(doc, "series");
	/* All points unless some are asked for: programs choose by themselves. */
	if (output_is_objects(s->s->output) && !s->choice.metrics && !s->choice.replicas)
		chosen = json_incref((json_t *)series);
	else
		chosen = plot_series_choose(series, &s->choice);
	if (output_is_objects(s->s->output)) {
		print_points(s, doc, chosen);
		return 0;
	}
	if (!json_array_size(chosen) && !s->s->watch)
		return json_array_size(series) ? say_not_among(s, series) : say_nothing_known(s);
	again_clock(clock);
	if (s->s->watch)
		sbuf_addf(&text, "%sstoker plot  %s  every %d s, Ctrl-C ends it\n\n", screen ? "" : "\n", clock,
			  AGAIN_MS / 1000);
	if (json_array_size(chosen))
		draw_all(s, chosen, &text);
	else
		sbuf_adds(&text, "No numbers yet.\n");
	if (screen)
		again_draw(&text);
	else
		fputs(text.p, stdout);
	fflush(stdout);
	return 0;
}

static int run_session(struct session *s)
{
	struct err e = ERR_INIT;
	int status;

	if (!s->s->watch)
		return show(s);
	if (output_is_objects(s->s->output)) {
		err_set(&e, ERR_BAD_REQUEST, "--watch draws; -o %s prints once", s->s->output);
		return command_fail(s->cmd, &e);
	}
	status = again_show(s->c.loop, show, s, &e);
	return status < 0 ? command_fail(s->cmd, &e) : status;
}

static int run_plot(const struct command *cmd, int argc, char **argv)
{
	struct plot_settings settings = { 0 };
	struct session s = { .cmd = cmd, .s = &settings };
	struct err e = ERR_INIT;
	char **rest;
	int nrest;
	int status;

	if (command_parse(cmd, &settings, argc, argv, 1, 1, &rest, &nrest) < 0)
		return 2;
	if (find_cut(rest[0], &s.kind, &s.choice.job, &e) < 0 || connect_open(&settings.connect, &s.c, &e) < 0)
		return command_fail(cmd, &e);
	s.ns = settings.ns ? settings.ns : client_default_namespace(s.c.client);
	s.choice.metrics = settings.metric;
	s.choice.replicas = settings.replica;
	status = run_session(&s);
	connect_close(&s.c);
	return status;
}

const struct command cmd_plot = {
	.name = "plot",
	.args = "[KIND/]NAME [-n NAMESPACE] [-m METRICS] [-r REPLICAS] [-w] [-o json|csv]",
	.summary = "Draw the numbers that a training job prints, such as its loss",
	.details = "Lines that say where in the run they are, and a number with a name, are recognised:\n"
		   "  epoch 3 loss 0.36        step=120/500 accuracy=91.5%\n"
		   "They stay as long as the job's logs do, also when it is deleted.  Where the server keeps none, the "
		   "logs\n"
		   "of its pods are read instead.\n\n"
		   "Examples:\n"
		   "  stoker plot mnist                      # losses first, then accuracies\n"
		   "  stoker plot mnist -m loss -r master-0\n"
		   "  stoker plot mnist --watch\n"
		   "  stoker plot mnist -o csv > mnist.csv\n",
	.names = true,
	.opts = plot_opts,
	.run = run_plot,
};
