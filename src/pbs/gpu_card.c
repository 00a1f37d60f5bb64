// SPDX-License-Identifier: Apache-2.0
/* gpu_card.c - see gpu_card.h */
#include "pbs/gpu_card.h"

#include <stdio.h>

#include "base/jsonx.h"
#include "pbs/nodes_view.h"

#define RULE "+-------------------------------+----------------------+----------------------+\n"

void gpu_card_table(const json_t *node, struct sbuf *out)
{
	struct node_view v;
	json_t *card;
	size_t i;

	node_view_init(&v, node);
	if (!json_array_size(v.cards))
		sbuf_adds(out, "No devices were found\n");
	else
		sbuf_adds(out, RULE
			  "| GPU  Name                     | Holder               | Volatile Uncorr. ECC |\n"
			  "| Fan  Temp  Perf  Pwr:Usage/Cap|         Memory-Usage | GPU-Util  Compute M. |\n" RULE);
	json_array_foreach (v.cards, i, card) {
		const char *pod = jsonx_str_or(card, "pod", "");

		sbuf_addf(out, "|%4lld  %-24.24s | %-20.20s |                  %3s |\n",
			  (long long)jsonx_int_or(card, "index", 0), jsonx_str_or(card, "name", ""),
			  *pod ? pod : "free", "N/A");
		sbuf_addf(out, "| N/A   N/A   N/A     N/A / N/A |      N/A / %6lldMiB |     N/A      Default |\n" RULE,
			  (long long)(jsonx_int_or(card, "memoryBytes", 0) >> 20));
	}
	node_view_done(&v);
}
