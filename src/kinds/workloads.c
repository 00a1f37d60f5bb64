// SPDX-License-Identifier: Apache-2.0
/* workloads.c - see workloads.h */
#include "kinds/workloads.h"

#include <strings.h>

#include "base/jsonx.h"
#include "base/mem.h"
#include "kinds/condition.h"
#include "kinds/core.h"
#include "kinds/placement.h"
#include "kinds/rest.h"

const struct kind *const workloads[] = {
	&kind_job,
	&kind_cron_job,
	&kind_tfjob,
	&kind_pytorchjob,
	&kind_paddlejob,
	&kind_mpijob,
	&kind_pbsjob,
	&kind_notebook,
	&kind_build,
	&kind_inference_service,
	&kind_deployment,
	&kind_stateful_set,
	&kind_daemon_set,
	&kind_replica_set,
	&kind_replication_controller,
	&kind_pod,
	NULL,
};

#define WORKLOADS (ARRAY_SIZE(workloads) - 1)

size_t workloads_count(void)
{
	return WORKLOADS;
}

bool is_workload(const struct kind *k)
{
	for (size_t i = 0; i < WORKLOADS; i++)
		if (workloads[i] == k)
			return true;
	return false;
}

static bool in_group(const struct kind *k, const char *api_version)
{
	size_t n = strlen(k->group);

	return n ? strncmp(api_version, k->group, n) == 0 && api_version[n] == '/' : !strchr(api_version, '/');
}

const struct kind *workload_of(const json_t *obj)
{
	const char *kind = jsonx_str_or(obj, "kind", "");
	const char *version = jsonx_str_or(obj, "apiVersion", "");

	for (size_t i = 0; i < WORKLOADS; i++)
		if (streq(workloads[i]->kind, kind) && in_group(workloads[i], version))
			return workloads[i];
	return NULL;
}

/* ---- words ---- */

static bool word_is(struct str word, const char *name)
{
	return word.n && name && strlen(name) == word.n && strncasecmp(word.p, name, word.n) == 0;
}

bool kind_is_called(const struct kind *k, struct str word)
{
	struct str rest = word;
	struct str first;
	struct str version;
	bool named;

	str_split(&rest, '.', &first);
	named = word_is(first, k->plural) || word_is(first, k->singular) || word_is(first, k->kind);
	for (size_t i = 0; k->short_names && k->short_names[i]; i++)
		named |= word_is(first, k->short_names[i]);
	if (!named || first.n == word.n)
		return named;
	if (word_is(rest, k->group))
		return true;
	str_split(&rest, '.', &version);
	return word_is(version, k->version) && word_is(rest, k->group);
}

const struct kind *workload_named(struct str word)
{
	for (size_t i = 0; i < WORKLOADS; i++)
		if (kind_is_called(workloads[i], word))
			return workloads[i];
	return NULL;
}

/* ---- ends ---- */

static enum workload_end end_by_phase(const json_t *obj)
{
	const char *phase = jsonx_str_or(obj, "status.phase", "");

	return streq(phase, "Succeeded") ? WORKLOAD_ENDED_WELL
	       : streq(phase, "Failed")  ? WORKLOAD_ENDED_BADLY
					 : WORKLOAD_GOES_ON;
}

static enum workload_end end_by_condition(const json_t *obj)
{
	static const struct {
		const char *type;
		enum workload_end end;
	} rows[] = {
		{ "Complete", WORKLOAD_ENDED_WELL },
		{ "Succeeded", WORKLOAD_ENDED_WELL },
		{ "Failed", WORKLOAD_ENDED_BADLY },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (condition_holds(obj, rows[i].type))
			return rows[i].end;
	return WORKLOAD_GOES_ON;
}

/* A job that was deleted before it ran has no status, and has not ended well. */
static enum workload_end end_by_letter(const json_t *obj)
{
	if (*jsonx_str_or(obj, "status.state", "Q") != 'C')
		return WORKLOAD_GOES_ON;
	return jsonx_int_or(obj, "status.exitStatus", -1) ? WORKLOAD_ENDED_BADLY : WORKLOAD_ENDED_WELL;
}

static const struct {
	const struct kind *kind;
	enum workload_end (*end)(const json_t *obj);
} ends[] = {
	{ &kind_pod, end_by_phase },           { &kind_job, end_by_condition },
	{ &kind_tfjob, end_by_condition },     { &kind_pytorchjob, end_by_condition },
	{ &kind_paddlejob, end_by_condition }, { &kind_mpijob, end_by_condition },
	{ &kind_pbsjob, end_by_letter },       { &kind_build, end_by_phase },
};

bool workload_ends(const struct kind *k)
{
	for (size_t i = 0; i < ARRAY_SIZE(ends); i++)
		if (ends[i].kind == k)
			return true;
	return false;
}

enum workload_end workload_end(const struct kind *k, const json_t *obj)
{
	for (size_t i = 0; i < ARRAY_SIZE(ends); i++)
		if (ends[i].kind == k || ends[i].kind == k->storage)
			return ends[i].end(obj);
	return WORKLOAD_GOES_ON;
}
