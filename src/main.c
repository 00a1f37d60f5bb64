// SPDX-License-Identifier: Apache-2.0
/* main.c - one program: argv[0] may be a PBS command, else argv[1] picks a command of either kind */
#include "cli/command.h"
#include "pbs/pbs.h"

int main(int argc, char **argv)
{
	const struct pbs_program *program = argc > 0 ? pbs_program_find(argv[0]) : NULL;

	if (program)
		return pbs_main(program, &pbs_door_remote, argc, argv);
	program = argc > 1 ? pbs_program_find(argv[1]) : NULL;
	if (program && streq(program->name, argv[1]))
		return pbs_main(program, &pbs_door_remote, argc - 1, argv + 1);
	return command_main(argc, argv);
}
