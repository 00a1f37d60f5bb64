// SPDX-License-Identifier: Apache-2.0
/* chk_gpuused.c - chk_gpuused: how busy the cards of a node are
 *
 * On the node itself nvidia-smi tells; from elsewhere, or where there is none, the node's own word on its cards is
 * written in the same shape: scripts look for lines with "Default" and count their fields.
 */
#include <stdio.h>
#include <string.h>

#include "pbs/about.h"
#include "pbs/gpu_card.h"
#include "pbs/this_node.h"

static const char usage[] = "usage: chk_gpuused [node]\n";

/* What it prints; false if it cannot be run. */
static bool read_smi(struct sbuf *out)
{
	FILE *from = popen("exec nvidia-smi 2>/dev/null", "re");
	char piece[4096];
	size_t n;

	while (from && (n = fread(piece, 1, sizeof(piece), from)) > 0)
		sbuf_add(out, piece, n);
	return from && pclose(from) == 0;
}

static int show(const struct this_node *at)
{
	auto_sbuf struct sbuf smi = SBUF(16u << 20);
	auto_sbuf struct sbuf out = SBUF(17u << 20);
	bool has_smi = at->here && read_smi(&smi);

	if (!has_smi && !at->node) {
		fprintf(stderr,
			"chk_gpuused: nvidia-smi cannot be run here, and no server knows this machine as a node\n");
		return 1;
	}
	sbuf_addf(&out, "====Node %s====\n", at->name);
	if (has_smi)
		sbuf_add(&out, smi.p, smi.n);
	else
		gpu_card_table(at->node, &out);
	about_write(&out, stdout);
	return 0;
}

int chk_gpuused_main(struct pbs *p, int argc, char **argv)
{
	struct this_node at;
	int status;

	if (about_asked(argc, argv, usage))
		return 0;
	if (argc > 2 || (argc == 2 && argv[1][0] == '-'))
		return about_misuse(usage);
	status = this_node_find(p, argc == 2 ? argv[1] : NULL, &at);
	if (status)
		return status;
	status = show(&at);
	this_node_done(&at);
	return status;
}
