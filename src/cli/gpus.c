// SPDX-License-Identifier: Apache-2.0
/* gpus.c - `stoker gpus`: every card, and whose it is
 *
 * Nodes say it themselves (cards.h), so this needs nothing but the right to see nodes, and works for machines far away
 * as for this one.
 */
#include <stdio.h>

#include "base/jsonx.h"
#include "base/mem.h"
#include "cli/cards.h"
#include "cli/command.h"
#include "cli/connect.h"

#define COLUMN_MAX 40

struct gpus_settings {
	struct connect_settings connect;
	const char *output;
};

static const struct opt gpus_opts[] = {
	{ .name = "output",
	  .letter = 'o',
	  .type = OPT_CHOICE,
	  .offset = offsetof(struct gpus_settings, output),
	  .arg = "FORM",
	  .choices = "text|wide|json",
	  .help = "how to print them; wide adds uuid and device (default: text)" },
	CONNECT_OPTS,
	OPT_END,
};

static const struct ref nodes = { .api_version = "v1", .plural = "nodes" };

/* ---- printing ---- */

static void index_cell(const json_t *card, struct sbuf *out)
{
	sbuf_addf(out, "%lld", (long long)jsonx_int_or(card, "index", 0));
}

static void memory_cell(const json_t *card, struct sbuf *out)
{
	int64_t bytes = jsonx_int_or(card, "memoryBytes", 0);

	if (bytes > 0)
		sbuf_addf(out, "%lldMiB", (long long)(bytes >> 20));
}

static void numa_cell(const json_t *card, struct sbuf *out)
{
	int64_t numa = jsonx_int_or(card, "numa", -1);

	if (numa >= 0)
		sbuf_addf(out, "%lld", (long long)numa);
}

static void links_cell(const json_t *card, struct sbuf *out)
{
	json_t *v;
	size_t i;

	json_array_foreach (json_object_get(card, "links"), i, v)
		sbuf_addf(out, "%s%lld", i ? "," : "", (long long)json_integer_value(v));
}

/* How much of it the pod of this row has; where nobody has any, whether one could. */
static void share_cell(const json_t *card, struct sbuf *out)
{
	int64_t mib = jsonx_int_or(card, "memoryMib", 0);

	if (mib)
		sbuf_addf(out, "%lldMiB", (long long)mib);
	else if (jsonx_bool_or(card, "shareable", false) && !*jsonx_str_or(card, "pod", ""))
		sbuf_adds(out, "allowed");
}

static const struct {
	const char *title;
	bool wide;
	bool special;      /* not every machine has such: only if a card has */
	const char *field; /* its text, or what the function makes of the card */
	void (*cell)(const json_t *card, struct sbuf *out);
} columns[] = {
	{ "NODE", .field = "node" },
	{ "GPU", .cell = index_cell },
	{ "MODEL", .field = "name" },
	{ "MEMORY", .cell = memory_cell },
	{ "NUMA", .special = true, .cell = numa_cell },
	{ "LINKS", .special = true, .cell = links_cell },
	{ "STATE", .field = "state" },
	{ "SHARE", .special = true, .cell = share_cell },
	{ "NAMESPACE", .field = "namespace" },
	{ "POD", .field = "pod" },
	{ "CONTAINER", .field = "container" },
	{ "UUID", .wide = true, .field = "uuid" },
	{ "DEVICE", .wide = true, .field = "device" },
};

/* One row a card, but for those who share one: a row each. */
static json_t *rows_of(const json_t *cards)
{
	json_t *rows = json_array();
	json_t *card;
	json_t *share;
	size_t i;
	size_t k;

	json_array_foreach ((json_t *)cards, i, card) {
		const json_t *shares = json_object_get(card, "shares");

		if (!json_array_size(shares))
			json_array_append(rows, card);
		json_array_foreach (shares, k, share) {
			json_t *row = json_copy(card);

			json_object_update(row, share);
			json_array_append_new(rows, row);
		}
	}
	return rows;
}

/* The text of a cell, "-" for none; without a card the title. */
static void cell_text(size_t column, const json_t *card, struct sbuf *out)
{
	sbuf_reset(out);
	if (!card)
		sbuf_adds(out, columns[column].title);
	else if (columns[column].cell)
		columns[column].cell(card, out);
	else
		sbuf_adds(out, jsonx_str_or(card, columns[column].field, ""));
	if (!out->n)
		sbuf_addc(out, '-');
}

/* A column of width 0 is not shown. */
static void print_row(const json_t *card, const int *widths)
{
	auto_sbuf struct sbuf cell = SBUF(1024);
	auto_sbuf struct sbuf line = SBUF(65536);

	for (size_t c = 0; c < ARRAY_SIZE(columns); c++) {
		if (!widths[c])
			continue;
		cell_text(c, card, &cell);
		sbuf_addf(&line, "%s%-*s", line.n ? "  " : "", widths[c], cell.p);
	}
	while (line.n && line.p[line.n - 1] == ' ')
		line.p[--line.n] = '\0';
	puts(line.p);
}

static int column_width(size_t column, const json_t *cards, bool wide)
{
	auto_sbuf struct sbuf cell = SBUF(1024);
	size_t width = strlen(columns[column].title);
	bool shown = wide || (!columns[column].wide && !columns[column].special);
	json_t *card;
	size_t i;

	json_array_foreach ((json_t *)cards, i, card) {
		cell_text(column, card, &cell);
		shown |= columns[column].special && !streq(cell.p, "-");
		if (cell.n > width)
			width = cell.n < COLUMN_MAX ? cell.n : COLUMN_MAX;
	}
	return shown ? (int)width : 0;
}

static void print_table(const json_t *cards, bool wide)
{
	int widths[ARRAY_SIZE(columns)];
	json_t *card;
	size_t i;

	for (size_t c = 0; c < ARRAY_SIZE(columns); c++)
		widths[c] = column_width(c, cards, wide);
	print_row(NULL, widths);
	json_array_foreach ((json_t *)cards, i, card)
		print_row(card, widths);
}

static void print_json(const json_t *cards)
{
	auto_sbuf struct sbuf out = SBUF(SIZE_MAX / 2);

	jsonx_dump_pretty(cards, &out);
	puts(out.p);
}

static void print_text(const json_t *cards, bool wide)
{
	json_auto_t *rows = rows_of(cards);

	if (!json_array_size(cards)) {
		puts("There are no GPUs. The server looks for NVIDIA's driver when it starts; "
		     "`stoker serve --gpus N` simulates cards.");
		return;
	}
	print_table(rows, wide);
	printf("%zu of %zu free\n", cards_count(cards, "free"), json_array_size(cards));
}

static int run_gpus(const struct command *cmd, int argc, char **argv)
{
	struct gpus_settings s = { .output = "text" };
	json_auto_t *cards = json_array();
	json_auto_t *list = NULL;
	struct connection c;
	struct err e = ERR_INIT;
	json_t *node;
	char **rest;
	size_t i;
	int n, r;

	if (command_parse(cmd, &s, argc, argv, 0, 0, &rest, &n) < 0)
		return 2;
	if (connect_open(&s.connect, &c, &e) < 0)
		return command_fail(cmd, &e);
	r = client_list_wait(c.client, &nodes, NULL, &list, &e);
	connect_close(&c);
	if (r < 0 && e.kind == ERR_FORBIDDEN)
		err_prefix(&e, "ask an admin for the right to list nodes");
	if (r < 0)
		return command_fail(cmd, &e);
	json_array_foreach (json_object_get(list, "items"), i, node)
		cards_add(node, cards);
	if (streq(s.output, "json"))
		print_json(cards);
	else
		print_text(cards, streq(s.output, "wide"));
	return 0;
}

const struct command cmd_gpus = {
	.name = "gpus",
	.args = "[-o wide|json]",
	.summary = "Show every GPU and which pods have it",
	.details = "GPU is the number a node knows the card by; inside a container its cards count from 0.\n"
		   "A card whose STATE is broken is given to nobody. Where it is known,\n"
		   "NUMA is the part of the machine it is next to, and LINKS are the cards it has NVLink to. A card "
		   "that is shared has a row for each\n"
		   "pod, and SHARE is the memory that the pod asked for.\n\n"
		   "Example:\n"
		   "  stoker gpus -o json | jq '.[] | select(.state == \"free\") | .uuid'   # the free ones\n",
	.opts = gpus_opts,
	.run = run_gpus,
};
