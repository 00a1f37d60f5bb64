// SPDX-License-Identifier: Apache-2.0
/* main.c - one program: argv[1] picks a command */
#include "cli/command.h"

int main(int argc, char **argv)
{
	return command_main(argc, argv);
}
