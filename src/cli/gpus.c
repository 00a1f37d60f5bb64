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

static void state_cell(const json_t *card, struct sbuf *out)
{
	sbuf_adds(out, card_state(card));
}

static const struct {
	const char *title;
	bool wide;
	const char *field; /* its text, or what the function makes of the card */
	void (*cell)(const json_t *card, struct sbuf *out);
} columns[] = {
	{ "NODE", .field = "node" },
	{ "GPU", .cell = index_cell },
	{ "MODEL", .field = "name" },
	{ "MEMORY", .cell = memory_cell },
	{ "STATE", .cell = state_cell },
	{ "NAMESPACE", .field = "namespace" },
	{ "POD", .field = "pod" },
	{ "CONTAINER", .field = "container" },
	{ "UUID", .wide = true, .field = "uuid" },
	{ "DEVICE", .wide = true, .field = "device" },
};

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

static void print_row(const json_t *card, const int *widths, bool wide)
{
	auto_sbuf struct sbuf cell = SBUF(1024);
	auto_sbuf struct sbuf line = SBUF(65536);

	for (size_t c = 0; c < ARRAY_SIZE(columns); c++) {
		if (columns[c].wide && !wide)
			continue;
		cell_text(c, card, &cell);
		sbuf_addf(&line, "%s%-*s", line.n ? "  " : "", widths[c], cell.p);
	}
	while (line.n && line.p[line.n - 1] == ' ')
		line.p[--line.n] = '\0';
	puts(line.p);
}

static void print_table(const json_t *cards, bool wide)
{
	auto_sbuf struct sbuf cell = SBUF(1024);
	int widths[ARRAY_SIZE(columns)];
	json_t *card;
	size_t i;

	for (size_t c = 0; c < ARRAY_SIZE(columns); c++) {
		widths[c] = (int)strlen(columns[c].title);
		json_array_foreach ((json_t *)cards, i, card) {
			cell_text(c, card, &cell);
			if ((int)cell.n > widths[c])
				widths[c] = cell.n < COLUMN_MAX ? (int)cell.n : COLUMN_MAX;
		}
	}
	print_row(NULL, widths, wide);
	json_array_foreach ((json_t *)cards, i, card)
		print_row(card, widths, wide);
}

static void print_json(const json_t *cards)
{
	auto_sbuf struct sbuf out = SBUF(SIZE_MAX / 2);

	jsonx_dump_pretty(cards, &out);
	puts(out.p);
}

static void print_text(const json_t *cards, bool wide)
{
	if (!json_array_size(cards)) {
		puts("There are no GPUs. The server looks for NVIDIA's driver when it starts; "
		     "`stoker serve --gpus N` simulates cards.");
		return;
	}
	print_table(cards, wide);
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
	.summary = "Show every GPU and which pod holds it",
	.details = "GPU is the number a node knows the card by; inside a container its cards count from 0.\n"
		   "A card whose STATE is broken is given to nobody.\n\n"
		   "Example:\n"
		   "  stoker gpus -o json | jq '.[] | select(.pod == \"\") | .uuid'   # the free ones\n",
	.opts = gpus_opts,
	.run = run_gpus,
};
