// SPDX-License-Identifier: Apache-2.0
/* gpu_board.h - what chk_gpu draws: all jobs, and which cards of which node are taken.  Pure
 *
 * Scripts take fields 1 (number), 3 (name), 4 (request), 7 (state) and 9 (cards) of the lines of jobs.
 */
#ifndef STOKER_PBS_GPU_BOARD_H
#define STOKER_PBS_GPU_BOARD_H

#include "pbs/nodes_view.h"

void gpu_board_header(struct sbuf *out);
void gpu_board_job(const struct board_row *r, struct sbuf *out);

#define SLOT_CARDS 64 /* of one node */

/* A node and its cards. */
struct gpu_node {
	struct node_view view;
	bool taken[SLOT_CARDS];
};

/* Marks what a running job, or any pod, has. */
void gpu_node_take(struct gpu_node *n, const struct board_row *r);
void gpu_node_pods(struct gpu_node *n);
/* Nodes by model of their cards, in the order of their names; those without cards are left out. */
void gpu_board_nodes(struct gpu_node *const *nodes, size_t n, struct sbuf *out);

#endif
