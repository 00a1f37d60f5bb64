// SPDX-License-Identifier: Apache-2.0
/* chk_gpu.c - chk_gpu: all jobs with their cards, and which cards are taken on which node */
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "pbs/about.h"
#include "pbs/board.h"
#include "pbs/gpu_board.h"

static const char usage[] = "usage: chk_gpu [user]\n";

static struct gpu_node **make_nodes(const json_t *list, size_t *ret_n)
{
	const json_t *items = json_object_get(list, "items");
	struct gpu_node **nodes = xcalloc(json_array_size(items) + 1, sizeof(*nodes));
	json_t *node;
	size_t i;

	json_array_foreach ((json_t *)items, i, node) {
		nodes[i] = xcalloc(1, sizeof(**nodes));
		node_view_init(&nodes[i]->view, node);
		gpu_node_pods(nodes[i]);
	}
	*ret_n = json_array_size(items);
	return nodes;
}

static void free_nodes(struct gpu_node **nodes, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		node_view_done(&nodes[i]->view);
		free(nodes[i]);
	}
	free(nodes);
}

static void draw(struct board *b, const json_t *list, const char *user, struct sbuf *out)
{
	struct gpu_node **nodes;
	struct board_job j;
	size_t shown = 0;
	size_t n;

	nodes = make_nodes(list, &n);
	gpu_board_header(out);
	while (board_next(b, &j)) {
		if (board_row_state(&j.row) == 'C')
			continue;
		for (size_t i = 0; i < n; i++)
			gpu_node_take(nodes[i], &j.row);
		if (user && !board_row_is_of(&j.row, user))
			continue;
		gpu_board_job(&j.row, out);
		shown++;
	}
	gpu_board_nodes(nodes, n, out);
	sbuf_addf(out, "Total %zu jobs.\n", shown);
	free_nodes(nodes, n);
}

int chk_gpu_main(struct pbs *p, int argc, char **argv)
{
	struct board_query ask = { .elements = true };
	auto_sbuf struct sbuf out = SBUF(1u << 30);
	auto_board struct board b = { 0 };
	json_auto_t *list = NULL;
	struct err e = ERR_INIT;

	if (about_asked(argc, argv, usage))
		return 0;
	if (argc > 2 || (argc == 2 && argv[1][0] == '-'))
		return about_misuse(usage);
	if (board_get(p, &ask, &b, &e) < 0 || pbs_get(p, "/api/v1/nodes", &list, &e) < 0)
		return pbs_fail(p, &e, NULL);
	draw(&b, list, argc == 2 ? argv[1] : NULL, &out);
	about_write(&out, stdout);
	return 0;
}
