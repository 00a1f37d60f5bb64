// SPDX-License-Identifier: Apache-2.0
/* chk_res.c - chk_res: processors and memory that users' processes have on a node */
#include <stdio.h>
#include <time.h>

#include "base/clock.h"
#include "pbs/about.h"
#include "pbs/processes.h"
#include "pbs/this_node.h"

static const char usage[] = "usage: chk_res [node] [user]\n";

int chk_res_main(struct pbs *p, int argc, char **argv)
{
	const struct timespec between = { .tv_nsec = 500000000 };
	auto_sbuf struct sbuf out = SBUF(1u << 20);
	struct processes before = { 0 };
	struct processes after = { 0 };
	struct this_node at;
	int64_t start;
	int status;

	if (about_asked(argc, argv, usage))
		return 0;
	if (argc > 3 || (argc > 1 && argv[1][0] == '-'))
		return about_misuse(usage);
	status = this_node_need(p, argc > 1 ? argv[1] : NULL, &at);
	if (status)
		return status;
	this_node_done(&at);
	start = clock_mono_ns();
	processes_read(&before);
	nanosleep(&between, NULL);
	processes_read(&after);
	processes_table(&before, &after, (double)(clock_mono_ns() - start) / 1e9, argc > 2 ? argv[2] : NULL, &out);
	about_write(&out, stdout);
	processes_done(&before);
	processes_done(&after);
	return 0;
}
