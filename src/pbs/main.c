// SPDX-License-Identifier: Apache-2.0
/* main.c - stoker-pbs: PBS's commands by the name they were called by, without what only a server needs
 *
 * Loading a server's libraries takes longer than submitting a job.  This program has none of them and speaks to the
 * socket of this machine; where the server is elsewhere it lets stoker, which lies beside it, do the work.
 */
#include <stdio.h>
#include <unistd.h>

#include "base/limits.h"
#include "base/mem.h"
#include "pbs/pbs.h"

/* Only returns if stoker is not there. */
static void run_stoker(const struct pbs_program *program, int argc, char **argv)
{
	char self[LIMIT_URL];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - sizeof("stoker"));
	char **args = xcalloc((size_t)argc + 1, sizeof(*args));
	char *slash;

	if (n > 0) {
		self[n] = 0;
		slash = strrchr(self, '/');
		memcpy(slash + 1, "stoker", sizeof("stoker"));
		args[0] = xstrdup(program->name);
		for (int i = 1; i < argc; i++)
			args[i] = argv[i];
		execv(self, args);
		free(args[0]);
	}
	free(args);
}

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
		run_stoker(program, argc, argv);
	return pbs_main(program, &pbs_door_socket, argc, argv);
}
