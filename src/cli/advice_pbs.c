// SPDX-License-Identifier: Apache-2.0
/* advice_pbs.c - see advice_pbs.h
 *
 * A PBS job is in H by its letters, by those of its elements, or because of other jobs; its comment says which, and
 * here is what lifts it.  Only an operator takes off letters other than the user's.  One that was killed for using too
 * much is told how qsub asks for more.
 */
#include "cli/advice_pbs.h"

#include <inttypes.h>

#include "base/jsonx.h"
#include "base/mem.h"

/* As PBS commands take it, quoted for a shell where it needs that. */
static void name_job(const json_t *job, struct sbuf *out)
{
	const json_t *sequence = jsonx_at(job, "status.sequence");
	bool array = jsonx_at(job, "spec.array") != NULL;

	if (json_is_integer(sequence))
		sbuf_addf(out, array ? "'%" PRId64 "[]'" : "%" PRId64, (int64_t)json_integer_value(sequence));
	else
		sbuf_adds(out, jsonx_str_or(job, "metadata.name", ""));
}

void advice_pbs_held(const json_t *job, json_t *out)
{
	const char *letters = jsonx_str_or(job, "spec.hold", "n");
	auto_sbuf struct sbuf id = SBUF(512);

	name_job(job, &id);
	if (streq(jsonx_str_or(job, "status.state", ""), "S"))
		advice_say(out, "`qsig -s resume %s` lets it go on.", id.p);
	else if (strpbrk(letters, "os"))
		advice_say(out, "An operator releases it: `qrls -h %s %s`.", letters, id.p);
	else if (strchr(letters, 'u') || jsonx_at(job, "spec.elementHold"))
		advice_say(out, "`qrls %s` releases it.", id.p);
	else if (json_array_size(jsonx_at(job, "spec.dependencies")))
		advice_say(out, "It goes on by itself when that has come true; `qstat -f %s` shows what it depends on.",
			   id.p);
}

/* What comments of jobs that a limit has ended say, and which resources may be meant. */
static const struct {
	const char *words;
	const char *resources[4];
} limits[] = {
	{ "walltime", { "walltime" } },
	{ "processor time", { "cput", "pcput" } },
	{ "cput", { "cput", "pcput" } },
	{ "mem", { "mem", "vmem", "pmem", "pvmem" } }, /* "vmem 5 exceeded limit 4", "its memory" */
};

static void say_limit(const json_t *job, const char *const resources[4], json_t *out)
{
	const char *value = NULL;
	size_t i = 0;

	while (i < 4 && resources[i] && !value)
		value = json_string_value(json_object_get(jsonx_at(job, "spec.resources"), resources[i++]));
	if (value)
		advice_say(out, "It may use no more than `-l %s=%s`: ask qsub for more, or let it use less.",
			   resources[i - 1], value);
	else
		advice_say(out, "It used more than it may: ask for more with `qsub -l %s=...`, or let it use less.",
			   resources[0]);
}

bool advice_pbs_limit(const json_t *job, json_t *out)
{
	const char *comment = jsonx_str_or(job, "status.comment", "");

	if (!str_starts(comment, "Job killed: ") || !strstr(comment, "exceeded"))
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(limits); i++)
		if (strstr(comment, limits[i].words)) {
			say_limit(job, limits[i].resources, out);
			return true;
		}
	return false;
}
