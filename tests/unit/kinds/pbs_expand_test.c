// SPDX-License-Identifier: Apache-2.0
/* pbs_expand_test.c - variables in the paths of a PBS job's files */
#include "kinds/pbs_expand.h"

#include "base/mem.h"
#include "test.h"

static const char *lookup(void *arg, const char *name)
{
	static const char *const env[][2] = {
		{ "HOME", "/ghome/u" }, { "PBS_JOBID", "77.Ghead" },
		{ "PBS_ARRAYID", "3" }, { "A", "x y" },
		{ "B_2", "$A" },        { "EMPTY", "" },
	};

	(void)arg;
	for (size_t i = 0; i < ARRAY_SIZE(env); i++)
		if (streq(env[i][0], name))
			return env[i][1];
	return NULL;
}

TEST("variables in a path are replaced once, and nothing else is touched")
{
	static const struct {
		const char *path;
		const char *want; /* NULL: refused */
		bool apart;
	} rows[] = {
		{ "/a/b.log", "/a/b.log", false },
		{ "/ghome/u/$PBS_JOBID.out", "/ghome/u/77.Ghead.out", true },
		{ "job_${PBS_JOBID}.out", "job_77.Ghead.out", true },
		{ "~/o", "/ghome/u/o", false },
		{ "~", "/ghome/u", false },
		{ "~other/o", "~other/o", false },
		{ "a~/o", "a~/o", false },
		{ "${HOME}/o", "/ghome/u/o", false },
		{ "r.^array_index^", "r.3", true },
		{ "r.$PBS_ARRAYID", "r.3", true },
		{ "$A b", "x y b", false },
		{ "$B_2", "$A", false },
		{ "a$EMPTY.b", "a.b", false },
		{ "a$", "a$", false },
		{ "$$A", "$x y", false },
		{ "$1", "$1", false },
		{ "$(date)`id`", "$(date)`id`", false },
		{ "'a' \"b\" \\$", "'a' \"b\" \\$", false },
		{ "任务$A", "任务x y", false },
		{ "", "", false },
		{ "$PBS_JOBIDS", NULL, false },
		{ "${", NULL, false },
		{ "${A", NULL, false },
		{ "${}", NULL, false },
		{ "${A:-b}", NULL, false },
		{ "$NOPE", NULL, false },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		auto_sbuf struct sbuf out = SBUF(1000);
		struct err e = ERR_INIT;
		int r = pbs_expand(rows[i].path, lookup, NULL, &out, &e);

		CHECK_INT(r, rows[i].want ? 0 : -1);
		if (rows[i].want)
			CHECK_STR(out.p ? out.p : "", rows[i].want);
		else
			CHECK(e.text[0]);
		CHECK_INT(pbs_expand_tells_apart(rows[i].path), rows[i].apart);
	}
}
