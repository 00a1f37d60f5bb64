// SPDX-License-Identifier: Apache-2.0
/* settings.c - see settings.h */
#include "pbs/settings.h"

#include "base/jsonx.h"
#include "base/mem.h"
#include "kinds/pbs_values.h"
#include "kinds/walltime.h"

#define TEXT_MAX (1u << 20)

/* clang-format off */
const struct setting queue_settings[] = {
	{ "queue_type",          "spec.type",                     SETTING_TEXT },
	{ "Priority",            "spec.priority",                 SETTING_NUMBER },
	{ "max_queuable",        "spec.limits.total.queued",      SETTING_NUMBER },
	{ "max_user_queuable",   "spec.limits.perUser.queued",    SETTING_NUMBER },
	{ "max_running",         "spec.limits.total.running",     SETTING_NUMBER },
	{ "acl_user_enable",     "spec.acl.users",                SETTING_SOME },
	{ "acl_users",           "spec.acl.users",                SETTING_LIST },
	{ "acl_group_enable",    "spec.acl.groups",               SETTING_SOME },
	{ "acl_groups",          "spec.acl.groups",               SETTING_LIST },
	{ "acl_host_enable",     "spec.acl.hosts",                SETTING_SOME },
	{ "acl_hosts",           "spec.acl.hosts",                SETTING_LIST },
	{ "acl_logic_or",        "spec.acl.anyOf",                SETTING_BOOL },
	{ "from_route_only",     "spec.fromRouteOnly",            SETTING_BOOL },
	{ "resources_max",       "spec.maxWalltime",              SETTING_ENTRY, "walltime" },
	{ "resources_max",       "spec.resourcesMax",             SETTING_MAP },
	{ "resources_min",       "spec.minWalltime",              SETTING_ENTRY, "walltime" },
	{ "resources_min",       "spec.resourcesMin",             SETTING_MAP },
	{ "resources_default",   "spec.defaultWalltime",          SETTING_ENTRY, "walltime" },
	{ "resources_default",   "spec.resourcesDefault",         SETTING_MAP },
	{ "max_user_run",        "spec.limits.perUser.running",   SETTING_NUMBER },
	{ "max_group_run",       "spec.limits.perGroup.running",  SETTING_NUMBER },
	{ "disallowed_types",    "spec.disallowedTypes",          SETTING_LIST },
	{ "features_required",   "spec.nodeProperties",           SETTING_LIST },
	{ "keep_completed",      "spec.keepCompletedSeconds",     SETTING_NUMBER },
	{ "kill_delay",          "spec.killDelaySeconds",         SETTING_NUMBER },
	{ "route_destinations",  "spec.destinations",             SETTING_LIST },
	{ "enabled",             "spec.enabled",                  SETTING_BOOL },
	{ "started",             "spec.started",                  SETTING_BOOL },
	{ NULL },
};

const struct setting server_settings[] = {
	{ "scheduling",                  "spec.scheduling",               SETTING_BOOL },
	{ "default_queue",               "spec.defaultQueue",             SETTING_TEXT },
	{ "max_running",                 "spec.maxRunning",               SETTING_NUMBER },
	{ "max_user_run",                "spec.maxUserRun",               SETTING_NUMBER },
	{ "max_user_queuable",           "spec.maxUserQueuable",          SETTING_NUMBER },
	{ "managers",                    "spec.managers",                 SETTING_LIST },
	{ "operators",                   "spec.operators",                SETTING_LIST },
	{ "query_other_jobs",            "spec.queryOtherJobs",           SETTING_BOOL },
	{ "resources_available",         "spec.resourcesAvailable",       SETTING_MAP },
	{ "resources_default",           "spec.resourcesDefault",         SETTING_MAP },
	{ "resources_max",               "spec.resourcesMax",             SETTING_MAP },
	{ "comment",                     "spec.comment",                  SETTING_TEXT },
	{ "mail_from",                   "spec.mailFrom",                 SETTING_TEXT },
	{ "submit_hosts",                "spec.submitHosts",              SETTING_LIST },
	{ "keep_completed",              "spec.keepCompletedSeconds",     SETTING_NUMBER },
	{ "kill_delay",                  "spec.killDelaySeconds",         SETTING_NUMBER },
	{ "max_job_array_size",          "spec.maxJobArraySize",          SETTING_NUMBER },
	{ "max_slot_limit",              "spec.maxSlotLimit",             SETTING_NUMBER },
	{ "automatic_requeue_exit_code", "spec.automaticRequeueExitCode", SETTING_NUMBER },
	{ "exit_code_canceled_job",      "spec.exitCodeCanceledJob",      SETTING_NUMBER },
	{ "next_job_number",             "spec.nextJobNumber",            SETTING_NUMBER },
	{ NULL },
};
/* clang-format on */

/* Queues take 7d as well; PBS knows only hours. */
static char *time_text(const char *text)
{
	char out[PBS_TEXT];
	int64_t seconds;

	if (!walltime_parse(text, &seconds))
		return xstrdup(text);
	pbs_time_text(seconds, out);
	return xstrdup(out);
}

static void add_list(const struct setting *s, const json_t *list, struct pbs_attributes *out)
{
	auto_sbuf struct sbuf text = SBUF(TEXT_MAX);
	json_t *v;
	size_t i;

	json_array_foreach ((json_t *)list, i, v)
		sbuf_addf(&text, "%s%s", i ? "," : "", json_is_string(v) ? json_string_value(v) : "");
	if (text.n)
		pbs_attributes_add(out, s->name, NULL, sbuf_steal(&text));
}

static void add_map(const struct setting *s, const json_t *map, struct pbs_attributes *out)
{
	const char *key;
	json_t *v;

	json_object_foreach ((json_t *)map, key, v)
		if (json_is_string(v) && !pbs_attributes_find(out, s->name, key))
			pbs_attributes_add(out, s->name, key, xstrdup(json_string_value(v)));
}

static void add_setting(const struct setting *s, const json_t *object, struct pbs_attributes *out)
{
	const json_t *v = jsonx_at(object, s->path);

	if (!v)
		return;
	switch (s->form) {
	case SETTING_TEXT:
		if (json_string_length(v))
			pbs_attributes_add(out, s->name, NULL, xstrdup(json_string_value(v)));
		break;
	case SETTING_NUMBER:
		pbs_attributes_add(out, s->name, NULL, xasprintf("%lld", (long long)json_integer_value(v)));
		break;
	case SETTING_BOOL:
		pbs_attributes_add(out, s->name, NULL, xstrdup(json_is_true(v) ? "True" : "False"));
		break;
	case SETTING_LIST:
		add_list(s, v, out);
		break;
	case SETTING_MAP:
		add_map(s, v, out);
		break;
	case SETTING_SOME:
		if (json_array_size(v))
			pbs_attributes_add(out, s->name, NULL, xstrdup("True"));
		break;
	case SETTING_ENTRY:
		if (json_string_length(v))
			pbs_attributes_add(out, s->name, s->resource, time_text(json_string_value(v)));
		break;
	}
}

/* ---- counts ---- */

int job_count_of(char state)
{
	static const struct {
		char state;
		int count;
	} rows[] = { { 'T', COUNT_TRANSIT }, { 'Q', COUNT_QUEUED },  { 'H', COUNT_HELD },    { 'W', COUNT_WAITING },
		     { 'R', COUNT_RUNNING }, { 'S', COUNT_RUNNING }, { 'E', COUNT_EXITING }, { 'C', COUNT_COMPLETE } };

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (rows[i].state == state)
			return rows[i].count;
	return COUNT_QUEUED;
}

int64_t job_counts_total(const struct job_counts *c)
{
	int64_t sum = 0;

	for (int i = 0; i < COUNT__N; i++)
		sum += c->n[i];
	return sum;
}

static void add_counts(const struct job_counts *c, struct pbs_attributes *out)
{
	static const char *const names[COUNT__N] = { "Transit", "Queued",  "Held",    "Waiting",
						     "Running", "Exiting", "Complete" };
	auto_sbuf struct sbuf text = SBUF(TEXT_MAX);

	pbs_attributes_add(out, "total_jobs", NULL, xasprintf("%lld", (long long)job_counts_total(c)));
	for (int i = 0; i < COUNT__N; i++)
		sbuf_addf(&text, "%s:%lld ", names[i], (long long)c->n[i]);
	pbs_attributes_add(out, "state_count", NULL, sbuf_steal(&text));
}

/* ---- the lists ---- */

void queue_attributes(const json_t *queue, const struct job_counts *c, struct pbs_attributes *ret)
{
	for (const struct setting *s = queue_settings; s->name; s++) {
		add_setting(s, queue, ret);
		if (streq(s->name, "max_user_queuable"))
			add_counts(c, ret);
	}
}

void server_attributes(const json_t *server, const struct job_counts *c, struct pbs_attributes *ret)
{
	pbs_attributes_add(ret, "server_state", NULL,
			   xstrdup(jsonx_bool_or(server, "spec.scheduling", true) ? "Active" : "Idle"));
	for (const struct setting *s = server_settings; s->name; s++) {
		add_setting(s, server, ret);
		if (streq(s->name, "scheduling"))
			add_counts(c, ret);
	}
	pbs_attributes_add(ret, "pbs_version", NULL, xstrdup(PBS_VERSION));
}

const char *setting_max(const json_t *object, const char *resource)
{
	const char *walltime = streq(resource, "walltime") ? jsonx_str(object, "spec.maxWalltime") : NULL;

	return walltime && *walltime
		       ? walltime
		       : json_string_value(json_object_get(jsonx_at(object, "spec.resourcesMax"), resource));
}
