// SPDX-License-Identifier: Apache-2.0
/* main.c - stoker-pbs: PBS's commands by the name they were called by, without what only a server needs
 *
 * Loading a server's libraries takes longer than submitting a job.  This program has none of them and speaks to the
 * socket of this machine; where the server is elsewhere it lets stoker, which lies beside it, do the work.
 */
#include <stdio.h>

#include "base/limits.h"
#include "pbs/pbs.h"

int main(int argc, char **argv)
{
	const struct pbs_program *program = pbs_program_find(argv[0]);
	auto_sbuf struct sbuf path = SBUF(LIMIT_URL);

	if (!program && argc > 1) {
		program = pbs_program_find(argv[1]);
		argc--;
		argv++;
	}
	if (!program) {
		fprintf(stderr, "stoker-pbs: call it by the name of a PBS command, such as qsub\n");
		return 2;
	}
	if (!pbs_socket_path(&path))
		pbs_run_stoker(program->name, argc, argv);
	return pbs_main(program, &pbs_door_socket, argc, argv);
}
