// SPDX-License-Identifier: Apache-2.0
/* pbs.c - PBS's commands: which there are, and how they end
 *
 * One row a command.  The same rows serve `stoker qsub ...` (main.c), a link of that name to stoker, and a link to
 * stoker-pbs, which is the same commands without the libraries that only a server needs (pbs/main.c).
 */
#include "pbs/pbs.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "kinds/pbs_error.h"

/* One a line: tools/pbs-links reads them. */
/* clang-format off */
static const struct pbs_program programs[] = {
	{ "qsub", qsub_main },
	{ "qstat", qstat_main },
	{ "qdel", qdel_main },
	{ "qhold", qhold_main },
	{ "qrls", qrls_main },
	{ "qalter", qalter_main },
	{ "qrerun", qrerun_main },
	{ "qsig", qsig_main },
	{ "qmove", qmove_main },
	{ "qmsg", qmsg_main },
	{ "qorder", qorder_main },
	{ "qrun", qrun_main },
	{ "qstart", qstart_main },
	{ "qstop", qstop_main },
	{ "qenable", qenable_main },
	{ "qdisable", qdisable_main },
	{ "qmgr", qmgr_main },
	{ "pbsnodes", pbsnodes_main },
	{ "qselect", qselect_main },
	{ "chk_gpu", chk_gpu_main },
	{ "tracejob", tracejob_main },
	{ "chk_gpuused", chk_gpuused_main },
	{ "chk_res", chk_res_main },
	{ "chk_quota", chk_quota_main },
	{ "k_log", k_log_main },
	{ "dockerlog", dockerlog_main },
	{ "getallreposimages", getallreposimages_main },
	{ "get_report", get_report_main },
	{ "rpt_detail", rpt_detail_main },
	{ "startdocker", startdocker_main },
	{ "pbsdsh", pbsdsh_main },
};
/* clang-format on */

const struct pbs_program *pbs_program_find(const char *argv0)
{
	const char *slash = strrchr(argv0, '/');
	const char *name = slash ? slash + 1 : argv0;
	const struct pbs_program *best = NULL;

	for (size_t i = 0; i < ARRAY_SIZE(programs); i++)
		if (str_ends(name, programs[i].name) && (!best || strlen(programs[i].name) > strlen(best->name)))
			best = &programs[i];
	return best;
}

int pbs_main(const struct pbs_program *program, const struct pbs_door *door, int argc, char **argv)
{
	struct pbs p = { .command = program->name, .door = door };
	int status = program->run(&p, argc, argv);

	if (p.open)
		door->close(p.open);
	json_decref(p.settings);
	free(p.ns);
	if (fflush(stdout) != 0 && !status) {
		fprintf(stderr, "%s: cannot write the output\n", program->name);
		status = 1;
	}
	return status;
}

/* The number is the one that MPIs and submitters ask for: that of the PBS whose ways these are. */
int pbs_version(void)
{
	fprintf(stderr, "Version: 6.1.3\nCommit: stoker-" STOKER_VERSION "\n");
	return 0;
}

/* ---- errors ---- */

/* What a refusal without a number comes nearest to. */
static const struct {
	enum err_kind kind;
	enum pbs_error number;
} numbers[] = {
	{ ERR_FORBIDDEN, PBSE_PERM },  { ERR_UNAUTHORIZED, PBSE_PERM }, { ERR_NOT_FOUND, PBSE_UNKJOBID },
	{ ERR_TIMEOUT, PBSE_TIMEOUT }, { ERR_INVALID, PBSE_BADATVAL },
};

int pbs_error_of(const struct err *e, const char **ret_words)
{
	int number = pbs_error_find(e->text, ret_words);

	if (number)
		return number;
	*ret_words = e->text;
	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++)
		if (numbers[i].kind == e->kind)
			return numbers[i].number;
	return PBSE_IVALREQ;
}

int pbs_fail_connect(struct pbs *p)
{
	const char *name = getenv("PBS_DEFAULT");

	if (!p->connect_errno)
		return 0;
	if (!name || !*name)
		name = p->door->place(p->open);
	fprintf(stderr, "%s: cannot connect to server %s (errno=%d) %s%s\n", p->command, name, p->connect_errno,
		strerror(p->connect_errno),
		p->connect_errno == ENOENT || p->connect_errno == ECONNREFUSED ? "; is the server running?" : "");
	return p->connect_errno % 256;
}

int pbs_fail(struct pbs *p, const struct err *e, const char *id)
{
	const char *words;
	int number;

	if (p->connect_errno)
		return pbs_fail_connect(p);
	number = pbs_error_of(e, &words);
	fprintf(stderr, "%s: %s%s%s\n", p->command, words, id ? " " : "", id ? id : "");
	return number % 256;
}
