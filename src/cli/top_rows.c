// SPDX-License-Identifier: Apache-2.0
/* top_rows.c - see top_rows.h
 *
 * A percentage of a pod is that of what it may take: its limit, or what it has asked for if there is none.  That of a
 * node is of what it has to give.
 */
#include "cli/top_rows.h"

#include <stdlib.h>

#include "base/jsonx.h"
#include "base/map.h"
#include "base/mem.h"
#include "cli/cards.h"
#include "kinds/quantity.h"

void top_rows_done(struct top_rows *r)
{
	free(r->rows);
	*r = (struct top_rows){ 0 };
}

static void set_used(struct top_row *row, const json_t *metrics)
{
	int64_t gpus = row->used.gpus;

	row->measured = metrics != NULL;
	row->used = amounts_used(metrics);
	row->used.gpus = gpus;
}

/* ---- pods ---- */

static bool is_phase(const json_t *pod, const char *phase)
{
	return streq(jsonx_str_or(pod, "status.phase", ""), phase);
}

/* Limits imply requests; the server fills them in for pods, but other servers' pods may be older. */
static struct amounts requests_of(const json_t *pod)
{
	const json_t *spec = json_object_get(pod, "spec");
	struct amounts a = amounts_of_spec(spec, "requests");

	a.gpus = amounts_of_spec(spec, "limits").gpus;
	return a;
}

void top_rows_pods(const json_t *pods, const json_t *metrics, struct top_rows *ret)
{
	struct map by_name;
	json_t *obj;
	size_t i;

	map_init(&by_name, NULL);
	json_array_foreach ((json_t *)metrics, i, obj) {
		auto_free char *key = xasprintf("%s/%s", jsonx_str_or(obj, "metadata.namespace", ""),
						jsonx_str_or(obj, "metadata.name", ""));

		map_set(&by_name, key, obj);
	}
	*ret = (struct top_rows){ 0 };
	json_array_foreach ((json_t *)pods, i, obj) {
		struct top_row row = { .ns = jsonx_str_or(obj, "metadata.namespace", ""),
				       .name = jsonx_str_or(obj, "metadata.name", ""),
				       .node = jsonx_str_or(obj, "spec.nodeName", "") };
		auto_free char *key = xasprintf("%s/%s", row.ns, row.name);

		if (!is_phase(obj, "Running"))
			continue;
		row.requested = requests_of(obj);
		row.most = amounts_of_spec(json_object_get(obj, "spec"), "limits");
		row.used.gpus = row.most.gpus;
		set_used(&row, map_find(&by_name, key));
		ARRAY_PUSH(ret->rows, ret->n, ret->cap, row);
	}
	map_done(&by_name);
}

/* ---- nodes ---- */

static void count_pods(struct top_row *row, const json_t *pods)
{
	json_t *pod;
	size_t i;

	json_array_foreach ((json_t *)pods, i, pod) {
		struct amounts a;

		if (!streq(jsonx_str_or(pod, "spec.nodeName", ""), row->name) || is_phase(pod, "Succeeded") ||
		    is_phase(pod, "Failed"))
			continue;
		a = requests_of(pod);
		amounts_add(&row->requested, &a);
		row->pods++;
	}
}

/* Cards that the node tells of say it better than what pods ask for. */
static void count_cards(struct top_row *row, const json_t *node)
{
	json_auto_t *cards = json_array();

	cards_add(node, cards);
	if (json_array_size(cards)) {
		row->used.gpus = (int64_t)(cards_count(cards, "used") + cards_count(cards, "shared"));
		row->gpus_free = (int64_t)cards_count(cards, "free");
	} else {
		row->used.gpus = row->requested.gpus;
		row->gpus_free = row->most.gpus > row->used.gpus ? row->most.gpus - row->used.gpus : 0;
	}
}

static int64_t quantity_at(const json_t *map, const char *name)
{
	const char *text = json_string_value(json_object_get(map, name));
	struct quantity q;

	return text && quantity_parse(text, &q) ? quantity_value(&q) : 0;
}

void top_rows_nodes(const json_t *nodes, const json_t *metrics, const json_t *pods, struct top_rows *ret)
{
	json_t *node;
	size_t i;

	*ret = (struct top_rows){ 0 };
	json_array_foreach ((json_t *)nodes, i, node) {
		const json_t *allocatable = jsonx_at(node, "status.allocatable");
		struct top_row row = { .ns = "",
				       .name = jsonx_str_or(node, "metadata.name", ""),
				       .node = "",
				       .most = amounts_of_map(allocatable),
				       .pods = pods ? 0 : -1,
				       .pods_most = quantity_at(allocatable, "pods") };

		count_pods(&row, pods);
		count_cards(&row, node);
		set_used(&row, amounts_find(metrics, "", row.name));
		ARRAY_PUSH(ret->rows, ret->n, ret->cap, row);
	}
}

/* ---- order ---- */

static int compare(const struct top_row *x, const struct top_row *y, int64_t a, int64_t b)
{
	int r = strcmp(x->ns, y->ns);

	if (a != b)
		return a > b ? -1 : 1;
	return r ? r : strcmp(x->name, y->name);
}

static int by_cpu(const void *a, const void *b)
{
	const struct top_row *x = a;
	const struct top_row *y = b;

	return compare(x, y, x->used.cpu, y->used.cpu);
}

static int by_memory(const void *a, const void *b)
{
	const struct top_row *x = a;
	const struct top_row *y = b;

	return compare(x, y, x->used.memory, y->used.memory);
}

static int by_gpus(const void *a, const void *b)
{
	const struct top_row *x = a;
	const struct top_row *y = b;

	return compare(x, y, x->used.gpus, y->used.gpus);
}

void top_rows_sort(struct top_rows *r, const char *by)
{
	static const struct {
		const char *name;
		int (*compare)(const void *a, const void *b);
	} orders[] = { { "cpu", by_cpu }, { "memory", by_memory }, { "gpu", by_gpus } };

	for (size_t i = 0; r->n && i < ARRAY_SIZE(orders); i++)
		if (streq(orders[i].name, by ? by : "cpu"))
			qsort(r->rows, r->n, sizeof(*r->rows), orders[i].compare);
}

/* ---- tables ---- */

static const struct table_column pod_columns[] = {
	{ "TIME" },
	{ "NAMESPACE" },
	{ "POD" },
	{ "CPU", .right = true },
	{ "CPU%", .right = true },
	{ "MEMORY", .right = true },
	{ "MEM%", .right = true },
	{ "GPUS", .right = true },
	{ "CPU ASKED", .wide = true, .right = true },
	{ "CPU LIMIT", .wide = true, .right = true },
	{ "MEM ASKED", .wide = true, .right = true },
	{ "MEM LIMIT", .wide = true, .right = true },
	{ "NODE" },
};

static const struct table_column node_columns[] = {
	{ "TIME" },
	{ "NODE" },
	{ "CPU", .right = true },
	{ "CPU%", .right = true },
	{ "MEMORY", .right = true },
	{ "MEM%", .right = true },
	{ "GPUS USED", .right = true },
	{ "GPUS FREE", .right = true },
	{ "PODS", .right = true },
	{ "CPU ASKED", .wide = true, .right = true },
	{ "CPUS", .wide = true, .right = true },
	{ "MEM ASKED", .wide = true, .right = true },
	{ "MEMORY ALL", .wide = true, .right = true },
};

static const struct table_column card_columns[] = {
	{ "NODE" },  { "GPU", .right = true }, { "MODEL" }, { "MEMORY", .right = true },
	{ "STATE" }, { "NAMESPACE" },          { "POD" },   { "CONTAINER" },
};

#define CROWDED 90 /* percent from which a figure is coloured */

static void add_percent(struct table *t, bool known, int64_t part, int64_t whole)
{
	char text[AMOUNT_TEXT];
	bool crowded = whole > 0 && part * 100 / CROWDED >= whole;

	table_add(t, crowded ? TINT_BAD : TINT_NONE, known ? percent_text(part, whole, text) : "-");
}

/* CPU, CPU%, MEMORY, MEM% of what may be had. */
static void add_use(struct table *t, const struct top_row *row, const struct amounts *of)
{
	char text[AMOUNT_TEXT];

	table_add(t, TINT_NONE, row->measured ? cpu_text(row->used.cpu, text) : "-");
	add_percent(t, row->measured, row->used.cpu, of->cpu);
	table_add(t, TINT_NONE, row->measured ? memory_text(row->used.memory, text) : "-");
	add_percent(t, row->measured, row->used.memory, of->memory);
}

static void add_wide(struct table *t, const struct top_row *row)
{
	char text[AMOUNT_TEXT];

	table_add(t, TINT_NONE, row->requested.cpu ? cpu_text(row->requested.cpu, text) : "-");
	table_add(t, TINT_NONE, row->most.cpu ? cpu_text(row->most.cpu, text) : "-");
	table_add(t, TINT_NONE, row->requested.memory ? memory_text(row->requested.memory, text) : "-");
	table_add(t, TINT_NONE, row->most.memory ? memory_text(row->most.memory, text) : "-");
}

static void skip_columns(struct table *t, size_t n)
{
	t->columns += n;
	t->ncolumns -= n;
}

void top_pods_table(const struct top_rows *r, bool with_namespace, const char *clock, struct table *ret)
{
	/* The columns in front are optional from left to right; a time without a namespace has it all the same. */
	bool ns = with_namespace || clock;

	*ret = TABLE(pod_columns);
	skip_columns(ret, !clock + (size_t)!ns);
	for (size_t i = 0; i < r->n; i++) {
		const struct top_row *row = &r->rows[i];
		struct amounts of = { .cpu = row->most.cpu ? row->most.cpu : row->requested.cpu,
				      .memory = row->most.memory ? row->most.memory : row->requested.memory };

		if (clock)
			table_add(ret, TINT_NONE, clock);
		if (ns)
			table_add(ret, TINT_NONE, row->ns);
		table_add(ret, TINT_NONE, row->name);
		add_use(ret, row, &of);
		table_addf(ret, TINT_NONE, "%lld", (long long)row->used.gpus);
		add_wide(ret, row);
		table_add(ret, TINT_NONE, row->node);
	}
}

void top_nodes_table(const struct top_rows *r, const char *clock, struct table *ret)
{
	*ret = TABLE(node_columns);
	skip_columns(ret, !clock);
	for (size_t i = 0; i < r->n; i++) {
		const struct top_row *row = &r->rows[i];

		if (clock)
			table_add(ret, TINT_NONE, clock);
		table_add(ret, TINT_NONE, row->name);
		add_use(ret, row, &row->most);
		table_addf(ret, TINT_NONE, "%lld", (long long)row->used.gpus);
		table_addf(ret, TINT_NONE, "%lld", (long long)row->gpus_free);
		if (row->pods < 0)
			table_add(ret, TINT_NONE, "-");
		else
			table_addf(ret, TINT_NONE, "%lld/%lld", (long long)row->pods, (long long)row->pods_most);
		add_wide(ret, row);
	}
}

void top_cards_table(const json_t *nodes, struct table *ret)
{
	json_auto_t *cards = json_array();
	json_t *obj;
	size_t i;

	json_array_foreach ((json_t *)nodes, i, obj)
		cards_add(obj, cards);
	*ret = TABLE(card_columns);
	json_array_foreach (cards, i, obj) {
		char text[AMOUNT_TEXT];

		table_add(ret, TINT_NONE, jsonx_str_or(obj, "node", ""));
		table_addf(ret, TINT_NONE, "%lld", (long long)jsonx_int_or(obj, "index", 0));
		table_add(ret, TINT_NONE, jsonx_str_or(obj, "name", ""));
		table_add(ret, TINT_NONE, memory_text(jsonx_int_or(obj, "memoryBytes", 0), text));
		table_add(ret, streq(card_state(obj), "broken") ? TINT_BAD : TINT_NONE, card_state(obj));
		table_add(ret, TINT_NONE, jsonx_str_or(obj, "namespace", ""));
		table_add(ret, TINT_NONE, jsonx_str_or(obj, "pod", ""));
		table_add(ret, TINT_NONE, jsonx_str_or(obj, "container", ""));
	}
}

/* ---- for programs ---- */

static json_t *amounts_json(const struct amounts *a)
{
	return json_pack("{s:I, s:I, s:I}", "cpuMillis", (json_int_t)a->cpu, "memoryBytes", (json_int_t)a->memory,
			 "gpus", (json_int_t)a->gpus);
}

void top_rows_json(const struct top_rows *r, const char *kind, json_t *out)
{
	bool pod = streq(kind, "Pod");

	for (size_t i = 0; i < r->n; i++) {
		const struct top_row *row = &r->rows[i];
		json_t *obj = json_pack("{s:s, s:s, s:b, s:o, s:o, s:o}", "kind", kind, "name", row->name, "measured",
					row->measured, "used", amounts_json(&row->used), "asked",
					amounts_json(&row->requested), pod ? "limits" : "allocatable",
					amounts_json(&row->most));

		if (pod) {
			json_object_set_new(obj, "namespace", jsonx_string(row->ns));
			json_object_set_new(obj, "node", jsonx_string(row->node));
		} else {
			json_object_set_new(obj, "gpusFree", json_integer(row->gpus_free));
			json_object_set_new(obj, "pods", row->pods < 0 ? json_null() : json_integer(row->pods));
		}
		json_array_append_new(out, obj);
	}
}
