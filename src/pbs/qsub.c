// SPDX-License-Identifier: Apache-2.0
/* qsub.c - submits a job */
#include <stdio.h>

#include "base/file.h"
#include "base/jsonx.h"
#include "base/limits.h"
#include "base/mem.h"
#include "pbs/pbs.h"

int qsub_main(struct pbs *p, int argc, char **argv)
{
	auto_sbuf struct sbuf script = SBUF(LIMIT_BODY);
	struct err e = ERR_INIT;
	auto_free char *path = NULL;
	json_auto_t *job = NULL;
	json_auto_t *made = NULL;

	if (argc != 2 || file_read(argv[1], LIMIT_BODY, &script, &e) < 0)
		return 2;
	if (!pbs_namespace(p, &e))
		return pbs_fail(p, &e, NULL);
	path = xasprintf(PBS_API "/namespaces/%s/pbsjobs", p->ns);
	job = json_pack("{s:s, s:s, s:{s:s}, s:{s:s}}", "apiVersion", "stoker.dev/v1", "kind", "PBSJob", "metadata",
			"generateName", "job-", "spec", "script", script.p);
	if (pbs_post(p, path, job, &made, &e) < 0)
		return pbs_fail(p, &e, NULL);
	puts(jsonx_str_or(made, "status.id", jsonx_str_or(made, "metadata.name", "")));
	return 0;
}
