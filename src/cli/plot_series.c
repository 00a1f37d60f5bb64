// SPDX-License-Identifier: Apache-2.0
/* plot_series.c - see plot_series.h */
#include "cli/plot_series.h"

#include <math.h>
#include <stdlib.h>

#include "base/jsonx.h"
#include "base/mem.h"

static const char *text(const json_t *series, const char *field)
{
	return jsonx_str_or(series, field, "");
}

/* ---- which ---- */

/* "mnist-master-0" of job mnist is master-0. */
static const char *replica_of(const json_t *series, const struct plot_choice *choice)
{
	const char *pod = text(series, "pod");
	size_t n = strlen(choice->job);

	return strncmp(pod, choice->job, n) == 0 && pod[n] == '-' && pod[n + 1] ? pod + n + 1 : pod;
}

static bool listed(const char *list, const char *a, const char *b)
{
	struct str rest = str_of(list), part;

	while (str_split(&rest, ',', &part)) {
		part = str_trim(part);
		if (str_eq(part, a) || str_eq(part, b))
			return true;
	}
	return false;
}

static bool is_loss(const char *name)
{
	return streq(name, "loss") || str_ends(name, "-loss");
}

static bool is_accuracy(const char *name)
{
	return str_ends(name, "accuracy");
}

static bool is_any(const char *name)
{
	(void)name;
	return true;
}

static void take(const json_t *series, const struct plot_choice *choice, bool (*is)(const char *name),
		 const char *metric, json_t *ret)
{
	json_t *s;
	size_t i;

	json_array_foreach (series, i, s) {
		const char *name = text(s, "name");

		if (choice->replicas && !listed(choice->replicas, replica_of(s, choice), text(s, "pod")))
			continue;
		if (metric ? streq(name, metric) : is(name))
			json_array_append(ret, s);
	}
}

json_t *plot_series_choose(const json_t *series, const struct plot_choice *choice)
{
	json_t *ret = json_array();
	struct str rest = str_of(choice->metrics), part;

	while (choice->metrics && str_split(&rest, ',', &part)) {
		struct str name = str_trim(part);
		auto_free char *metric = xstrndup(name.p, name.n);

		take(series, choice, NULL, metric, ret);
	}
	if (choice->metrics)
		return ret;
	take(series, choice, is_loss, NULL, ret);
	take(series, choice, is_accuracy, NULL, ret);
	if (!json_array_size(ret))
		take(series, choice, is_any, NULL, ret);
	return ret;
}

void plot_series_names(const json_t *series, const struct plot_choice *choice, bool replicas, struct sbuf *out)
{
	json_auto_t *seen = json_object();
	json_t *s;
	size_t i;

	json_array_foreach (series, i, s) {
		const char *name = replicas ? replica_of(s, choice) : text(s, "name");

		if (json_object_get(seen, name))
			continue;
		json_object_set_new(seen, name, json_true());
		sbuf_addf(out, "%s%s", out->n ? ", " : "", name);
	}
}

/* ---- together ---- */

static struct plot *plot_get(struct plots *p, const json_t *s)
{
	struct plot one;

	for (size_t i = 0; i < p->n; i++)
		if (streq(p->items[i].metric, text(s, "name")) && streq(p->items[i].by, text(s, "by")))
			return &p->items[i];
	one = (struct plot){ .metric = xstrdup(text(s, "name")), .by = xstrdup(text(s, "by")) };
	ARRAY_PUSH(p->items, p->n, p->cap, one);
	return &p->items[p->n - 1];
}

static struct plot_line *line_get(struct plot *p, const json_t *s, const struct plot_choice *choice)
{
	struct plot_line one;

	for (size_t i = 0; i < p->n; i++)
		if (streq(p->lines[i].pod, text(s, "pod")) && streq(p->lines[i].container, text(s, "container")))
			return &p->lines[i];
	one = (struct plot_line){ .label = xstrdup(replica_of(s, choice)),
				  .pod = xstrdup(text(s, "pod")),
				  .container = xstrdup(text(s, "container")) };
	ARRAY_PUSH(p->lines, p->n, p->cap, one);
	return &p->lines[p->n - 1];
}

static void add_points(struct plot_line *l, const json_t *points)
{
	json_t *p;
	size_t i;

	json_array_foreach (points, i, p) {
		const json_t *value = json_array_get(p, 1);
		struct chart_point at = { json_number_value(json_array_get(p, 0)),
					  json_is_number(value) ? json_number_value(value) : NAN };

		ARRAY_PUSH(l->points, l->n, l->cap, at);
	}
}

/* Containers of one pod that print the same are told apart by their names. */
static void name_containers(struct plot *p)
{
	for (size_t i = 0; i < p->n; i++)
		for (size_t j = 0; j < p->n; j++)
			if (i != j && streq(p->lines[i].pod, p->lines[j].pod)) {
				char *label = xasprintf("%s/%s", p->lines[i].label, p->lines[i].container);

				free(p->lines[i].label);
				p->lines[i].label = label;
				break;
			}
}

/* Who leads comes first; of the others worker-2 before worker-10. */
static int by_replica(const void *a, const void *b)
{
	static const char *const leaders[] = { "master", "chief", "launcher" };
	const char *x = ((const struct plot_line *)a)->label, *y = ((const struct plot_line *)b)->label;
	bool x_leads = false, y_leads = false;

	for (size_t i = 0; i < ARRAY_SIZE(leaders); i++) {
		x_leads = x_leads || str_starts(x, leaders[i]);
		y_leads = y_leads || str_starts(y, leaders[i]);
	}
	return x_leads != y_leads ? y_leads - x_leads : strverscmp(x, y);
}

void plots_make(const json_t *chosen, const struct plot_choice *choice, struct plots *ret)
{
	json_t *s;
	size_t i;

	*ret = (struct plots){ 0 };
	json_array_foreach (chosen, i, s) {
		struct plot *p = plot_get(ret, s);

		if (json_is_number(json_object_get(s, "of")))
			p->of = json_number_value(json_object_get(s, "of"));
		add_points(line_get(p, s, choice), json_object_get(s, "points"));
	}
	for (size_t j = 0; j < ret->n; j++) {
		name_containers(&ret->items[j]);
		qsort(ret->items[j].lines, ret->items[j].n, sizeof(struct plot_line), by_replica);
	}
}

void plots_done(struct plots *p)
{
	for (size_t i = 0; i < p->n; i++) {
		for (size_t j = 0; j < p->items[i].n; j++) {
			free(p->items[i].lines[j].label);
			free(p->items[i].lines[j].pod);
			free(p->items[i].lines[j].container);
			free(p->items[i].lines[j].points);
		}
		free(p->items[i].lines);
		free(p->items[i].metric);
		free(p->items[i].by);
	}
	free(p->items);
	*p = (struct plots){ 0 };
}

/* ---- CSV ---- */

static void add_number(struct sbuf *out, const json_t *v)
{
	if (json_is_number(v))
		jsonx_dump(v, out);
}

void plot_series_csv(const json_t *series, struct sbuf *out)
{
	json_t *s, *p;
	size_t i, j;

	sbuf_adds(out, "pod,container,run,metric,by,at,value,time\n");
	json_array_foreach (series, i, s)
		json_array_foreach (json_object_get(s, "points"), j, p) {
			sbuf_addf(out, "%s,%s,%lld,%s,%s,", text(s, "pod"), text(s, "container"),
				  (long long)jsonx_int_or(s, "run", 0), text(s, "name"), text(s, "by"));
			add_number(out, json_array_get(p, 0));
			sbuf_addc(out, ',');
			add_number(out, json_array_get(p, 1));
			sbuf_addf(out, ",%s\n",
				  json_is_string(json_array_get(p, 2)) ? json_string_value(json_array_get(p, 2)) : "");
		}
}
