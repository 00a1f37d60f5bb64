// SPDX-License-Identifier: Apache-2.0
/* pbs_staging.c - see pbs_staging.h
 *
 * The user's own process copies: a small shell script that has the job as its child, and ends as the job did.  Signals
 * for the job reach every process of it; the script lives through them, so that results of a job that is told to end
 * are saved as far as there is time.  A job whose files cannot be had is not run.
 */
#include "kinds/pbs_staging.h"

#include "base/jsonx.h"
#include "base/mem.h"
#include "kinds/pbs_expand.h"
#include "kinds/pbs_stage.h"

#define TEXT_MAX (64u * 1024)
#define SIGNALS  "HUP INT QUIT ALRM TERM USR1 USR2"

/* NIN FROM TO ... NOUT FROM TO ... PROGRAM ARGUMENT ...  A trap, unlike what is ignored, is not the child's as well. */
static const char script[] = "trap : " SIGNALS "\n"
			     "n=$1; shift\n"
			     "while [ \"$n\" -gt 0 ]; do\n"
			     "	/bin/cp -Rp -- \"$1\" \"$2\" || {\n"
			     "		echo \"PBS: stage-in of $2 failed, the job was not run\" >&2\n"
			     "		exit 1\n"
			     "	}\n"
			     "	shift 2; n=$((n - 1))\n"
			     "done\n"
			     "n=$1; shift\n"
			     "(shift $((2 * n)); exec \"$@\")\n"
			     "s=$?\n"
			     "while [ \"$n\" -gt 0 ]; do\n"
			     "	/bin/cp -Rp -- \"$1\" \"$2\" || echo \"PBS: stage-out of $1 failed\" >&2\n"
			     "	shift 2; n=$((n - 1))\n"
			     "done\n"
			     "if [ $s -gt 128 ]; then\n"
			     "	trap - " SIGNALS "\n"
			     "	kill -$((s - 128)) $$\n"
			     "fi\n"
			     "exit $s\n";

static const char *lookup(void *env, const char *name)
{
	return json_string_value(json_object_get(env, name));
}

/* Variables as in the paths of output; from the home. */
static int add_path(const struct pbs_place *p, json_t *env, struct str path, json_t *args, struct err *e)
{
	auto_free char *text = xstrndup(path.p, path.n);
	auto_sbuf struct sbuf whole = SBUF(TEXT_MAX);

	if (pbs_expand(text, lookup, env, &whole, e) < 0)
		return err_prefix(e, PBS_NO_EXEC ": staging");
	if (!whole.n || whole.over)
		return err_set(e, ERR_INVALID, PBS_NO_EXEC ": staging: \"%.200s\" is no path", text);
	json_array_append_new(args, whole.p[0] == '/' ? jsonx_string(whole.p)
						      : jsonx_stringf("%s/%s", p->account->home, whole.p));
	return 0;
}

static int add_pairs(const struct pbs_place *p, json_t *env, const char *field, json_t *args, struct err *e)
{
	const json_t *list = jsonx_at(p->job, field);
	bool out = streq(field, "spec.stageOut");
	struct pbs_stage s;
	json_t *v;
	size_t i;

	json_array_append_new(args, jsonx_stringf("%zu", json_array_size(list)));
	json_array_foreach ((json_t *)list, i, v) {
		if (!pbs_stage_parse(str_of(json_string_value(v)), &s))
			return err_set(e, ERR_INVALID, PBS_NO_EXEC ": staging: \"%.200s\" is not LOCAL@HOST:REMOTE",
				       json_string_value(v));
		if (add_path(p, env, out ? s.local : s.remote, args, e) < 0 ||
		    add_path(p, env, out ? s.remote : s.local, args, e) < 0)
			return -1;
	}
	return 0;
}

/* A shell cannot say what its child's argv[0] is: a login shell is one by -l.  csh takes that only alone. */
static void add_program(const json_t *doc, json_t *args)
{
	const json_t *own = json_object_get(doc, "args");
	const char *program = jsonx_str_or(doc, "program", "");
	bool login = *json_string_value(json_array_get(own, 0)) == '-';

	json_array_append_new(args, jsonx_string(program));
	if (login && (!str_ends(program, "csh") || json_array_size(own) == 1))
		json_array_append_new(args, json_string("-l"));
	for (size_t i = 1; i < json_array_size(own); i++)
		json_array_append(args, json_array_get(own, i));
}

int pbs_stage_around(const struct pbs_place *p, json_t *env, json_t *doc, struct err *e)
{
	json_auto_t *args = json_pack("[s, s, s, s]", "sh", "-c", script, "sh");

	if (p->rank > 0 ||
	    !(json_array_size(jsonx_at(p->job, "spec.stageIn")) + json_array_size(jsonx_at(p->job, "spec.stageOut"))))
		return 0;
	if (add_pairs(p, env, "spec.stageIn", args, e) < 0 || add_pairs(p, env, "spec.stageOut", args, e) < 0)
		return -1;
	add_program(doc, args);
	json_object_set_new(doc, "program", json_string("/bin/sh"));
	json_object_set(doc, "args", args);
	return 0;
}
