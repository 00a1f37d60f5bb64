// SPDX-License-Identifier: Apache-2.0
/* chk_gpuused.c - chk_gpuused: how busy the cards of a node are
 *
 * On the node itself nvidia-smi tells; from elsewhere, or where there is none, the node's own word on its cards is
 * written in the same shape: scripts look for lines with "Default" and count their fields.
 */
#include <errno.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/jsonx.h"
#include "base/limits.h"
#include "client/client.h"
#include "kinds/pbs_nodes.h"
#include "pbs/about.h"
#include "pbs/gpu_card.h"

static const char usage[] = "usage: chk_gpuused [node]\n";

/* Whether it could be run. */
static bool run_smi(void)
{
	char *argv[] = { "nvidia-smi", NULL };
	int status;
	pid_t pid;

	fflush(stdout);
	if (posix_spawnp(&pid, argv[0], NULL, NULL, argv, environ) != 0)
		return false;
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

int chk_gpuused_main(struct pbs *p, int argc, char **argv)
{
	auto_sbuf struct sbuf path = SBUF(LIMIT_URL);
	auto_sbuf struct sbuf object = SBUF(LIMIT_URL);
	auto_sbuf struct sbuf host = SBUF(256);
	auto_sbuf struct sbuf out = SBUF(1u << 20);
	json_auto_t *node = NULL;
	struct err e = ERR_INIT;
	const char *name;

	if (about_asked(argc, argv, usage))
		return 0;
	if (argc > 2 || (argc == 2 && argv[1][0] == '-'))
		return about_misuse(usage);
	pbs_host_name(&host);
	name = argc == 2 ? argv[1] : host.p;
	if (strcasecmp(name, host.p) == 0 && (printf("====Node %s====\n", name), run_smi()))
		return 0;
	sbuf_adds(&path, "/api/v1/nodes/");
	pbs_node_name(name, &object);
	client_escape(&path, object.p);
	if (pbs_get(p, path.p, &node, &e) < 0 && e.kind == ERR_NOT_FOUND) {
		fprintf(stderr, "chk_gpuused: there is no node %s\n", name);
		return 1;
	}
	if (!node)
		return pbs_fail(p, &e, NULL);
	if (strcasecmp(name, host.p) != 0)
		printf("====Node %s====\n", name);
	gpu_card_table(node, &out);
	about_write(&out, stdout);
	return 0;
}
