// SPDX-License-Identifier: Apache-2.0
/* settings.c - see settings.h */
#include "pbs/settings.h"

#include "base/clock.h"
#include "base/jsonx.h"
#include "base/mem.h"
#include "kinds/pbs_nodes.h"
#include "kinds/pbs_values.h"
#include "kinds/walltime.h"
#include "pbs/nodes_view.h"

#define TEXT_MAX (1u << 20)

/* clang-format off */
const struct setting queue_settings[] = {
	{ "queue_type",          "spec.type",                     SETTING_TYPE },
	{ "Priority",            "spec.priority",                 SETTING_NUMBER },
	{ "max_queuable",        "spec.limits.total.queued",      SETTING_NUMBER },
	{ "max_user_queuable",   "spec.limits.perUser.queued",    SETTING_NUMBER },
	{ "max_running",         "spec.limits.total.running",     SETTING_NUMBER },
	{ "acl_user_enable",     "spec.acl.users",                SETTING_SOME },
	{ "acl_users",           "spec.acl.users",                SETTING_ACL },
	{ "acl_group_enable",    "spec.acl.groups",               SETTING_SOME },
	{ "acl_groups",          "spec.acl.groups",               SETTING_ACL },
	{ "acl_host_enable",     "spec.acl.hosts",                SETTING_SOME },
	{ "acl_hosts",           "spec.acl.hosts",                SETTING_ACL },
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
	{ "resources_available", "",                              SETTING_KEPT },
	{ "acl_group_sloppy",    "spec.acl.groupSloppy",          SETTING_BOOL },
	{ "route_held_jobs",     "",                              SETTING_KEPT },
	{ "route_waiting_jobs",  "",                              SETTING_KEPT },
	{ "route_retry_time",    "",                              SETTING_KEPT },
	{ "route_lifetime",      "",                              SETTING_KEPT },
	{ "is_transit",          "",                              SETTING_KEPT },
	{ "ghost_queue",         "",                              SETTING_KEPT },
	{ "max_gpus",            "spec.limits.total.gpus",        SETTING_NUMBER, NULL, "" },
	{ "max_cpus",            "spec.limits.total.cpus",        SETTING_TEXT, NULL, "" },
	{ "max_memory",          "spec.limits.total.memory",      SETTING_TEXT, NULL, "" },
	{ "max_user_gpus",       "spec.limits.perUser.gpus",      SETTING_NUMBER, NULL, "" },
	{ "max_user_cpus",       "spec.limits.perUser.cpus",      SETTING_TEXT, NULL, "" },
	{ "max_user_memory",     "spec.limits.perUser.memory",    SETTING_TEXT, NULL, "" },
	{ "max_group_queuable",  "spec.limits.perGroup.queued",   SETTING_NUMBER, NULL, "" },
	{ "max_group_gpus",      "spec.limits.perGroup.gpus",     SETTING_NUMBER, NULL, "" },
	{ "max_group_cpus",      "spec.limits.perGroup.cpus",     SETTING_TEXT, NULL, "" },
	{ "max_group_memory",    "spec.limits.perGroup.memory",   SETTING_TEXT, NULL, "" },
	{ "weight",              "spec.weight",                   SETTING_NUMBER, NULL, "1" },
	{ "borrowing",           "spec.borrowing",                SETTING_BOOL, NULL, "True" },
	{ "idle_gpu_warn_after", "spec.idleGpu.warnAfter",        SETTING_TEXT, NULL, "" },
	{ "idle_gpu_end_after",  "spec.idleGpu.endAfter",         SETTING_TEXT, NULL, "" },
	{ "idle_gpu_below",      "spec.idleGpu.below",            SETTING_NUMBER, NULL, "" },
	{ "containers",          "spec.containers",               SETTING_TEXT, NULL, "allowed" },
	{ "image",               "spec.image",                    SETTING_TEXT, NULL, "" },
	{ NULL },
};

const struct setting server_settings[] = {
	{ "scheduling",                  "spec.scheduling",               SETTING_BOOL },
	{ "default_queue",               "spec.defaultQueue",             SETTING_GIVEN },
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
	{ "acl_host_enable",             "",                              SETTING_FALSE },
	{ "acl_user_enable",             "",                              SETTING_FALSE },
	{ "acl_logic_or",                "",                              SETTING_KEPT },
	{ "acl_roots",                  "",                              SETTING_KEPT },
	{ "acl_hosts",                  "",                              SETTING_KEPT },
	{ "acl_users",                  "",                              SETTING_KEPT },
	{ "log_events",                 "",                              SETTING_KEPT },
	{ "log_level",                  "",                              SETTING_KEPT },
	{ "log_keep_days",              "",                              SETTING_KEPT },
	{ "log_file_max_size",          "",                              SETTING_KEPT },
	{ "log_file_roll_depth",        "",                              SETTING_KEPT },
	{ "scheduler_iteration",        "",                              SETTING_KEPT },
	{ "node_check_rate",            "",                              SETTING_KEPT },
	{ "node_ping_rate",             "",                              SETTING_KEPT },
	{ "tcp_timeout",                "",                              SETTING_KEPT },
	{ "tcp_incoming_timeout",       "",                              SETTING_KEPT },
	{ "job_stat_rate",              "",                              SETTING_KEPT },
	{ "job_start_timeout",          "",                              SETTING_KEPT },
	{ "job_sync_timeout",           "",                              SETTING_KEPT },
	{ "job_force_cancel_time",      "",                              SETTING_KEPT },
	{ "job_full_report_time",       "",                              SETTING_KEPT },
	{ "poll_jobs",                  "",                              SETTING_KEPT },
	{ "mom_job_sync",               "",                              SETTING_KEPT },
	{ "default_node",               "",                              SETTING_KEPT },
	{ "node_pack",                  "",                              SETTING_KEPT },
	{ "node_suffix",                "",                              SETTING_KEPT },
	{ "mail_domain",                "",                              SETTING_KEPT },
	{ "mail_uid",                   "",                              SETTING_KEPT },
	{ "mail_subject_fmt",           "",                              SETTING_KEPT },
	{ "mail_body_fmt",              "",                              SETTING_KEPT },
	{ "email_batch_seconds",        "",                              SETTING_KEPT },
	{ "allow_node_submit",          "",                              SETTING_KEPT },
	{ "allow_proxy_user",           "",                              SETTING_KEPT },
	{ "auto_node_np",               "",                              SETTING_KEPT },
	{ "np_default",                 "",                              SETTING_KEPT },
	{ "default_gpu_mode",           "",                              SETTING_KEPT },
	{ "moab_array_compatible",      "",                              SETTING_KEPT },
	{ "nppcu",                      "",                              SETTING_KEPT },
	{ "timeout_for_job_delete",     "",                              SETTING_KEPT },
	{ "timeout_for_job_requeue",    "",                              SETTING_KEPT },
	{ "job_nanny",                  "",                              SETTING_KEPT },
	{ "owner_purge",                "",                              SETTING_KEPT },
	{ "disable_server_id_check",    "",                              SETTING_KEPT },
	{ "authorized_users",           "",                              SETTING_KEPT },
	{ "display_job_server_suffix",  "",                              SETTING_KEPT },
	{ "job_suffix_alias",           "",                              SETTING_KEPT },
	{ "job_log_file_max_size",      "",                              SETTING_KEPT },
	{ "record_job_info",            "",                              SETTING_KEPT },
	{ "record_job_script",          "",                              SETTING_KEPT },
	{ "checkpoint_dir",             "",                              SETTING_KEPT },
	{ "legacy_vmem",                "",                              SETTING_KEPT },
	{ "cgroup_per_task",            "",                              SETTING_KEPT },
	{ "interactive_jobs_can_roam",  "",                              SETTING_KEPT },
	{ "extra_resc",                 "",                              SETTING_KEPT },
	{ "lock_file_update_time",      "",                              SETTING_KEPT },
	{ "lock_file_check_time",       "",                              SETTING_KEPT },
	{ "down_on_error",              "",                              SETTING_KEPT },
	{ "dont_write_nodes_file",      "",                              SETTING_KEPT },
	{ "copy_on_rerun",              "",                              SETTING_KEPT },
	{ "job_exclusive_on_use",       "",                              SETTING_KEPT },
	{ "max_group_run",              "",                              SETTING_KEPT },
	{ "sched_version",              "",                              SETTING_KEPT },
	{ "ghost_array_recovery",       "",                              SETTING_KEPT },
	{ "use_jobs_subdirs",           "",                              SETTING_KEPT },
	{ "thread_idle_seconds",        "",                              SETTING_KEPT },
	{ "max_threads",                "",                              SETTING_KEPT },
	{ "min_threads",                "",                              SETTING_KEPT },
	{ "pass_cpu_clock",             "",                              SETTING_KEPT },
	{ "server_name",                 "spec.serverName",               SETTING_TEXT, NULL, "" },
	{ "mail_command",                "spec.mailCommand",              SETTING_TEXT, NULL, "" },
	{ "qstat_layout",                "spec.qstatLayout",              SETTING_NUMBER, NULL, "6" },
	{ "exec_host_style",             "spec.execHostStyle",            SETTING_NUMBER, NULL, "6" },
	{ "walltime_exit_status",        "spec.walltimeExitStatus",       SETTING_NUMBER, NULL, "-11" },
	{ "registry",                    "spec.registry",                 SETTING_TEXT, NULL, "" },
	{ "host_roots",                  "spec.hostRoots",                SETTING_LIST, NULL, "" },
	{ "read_only_roots",             "spec.readOnlyRoots",            SETTING_LIST, NULL, "" },
	{ "root_quotas",                 "spec.rootQuotas",               SETTING_LIST, NULL, "" },
	{ NULL },
};

const struct setting node_settings[] = {
	{ "state",      "spec.unschedulable", SETTING_OFFLINE },
	{ "np",         PBS_NP_ANNOTATION,    SETTING_NOTE },
	{ "properties", "metadata.labels",    SETTING_PROPERTIES },
	{ "ntype",      "",                   SETTING_KEPT },
	{ "ttl",        "",                   SETTING_KEPT },
	{ "gpus",       "nvidia.com/gpu",     SETTING_TOLD },
	{ "note",       NOTE_ANNOTATION,      SETTING_NOTE },
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

const char *setting_kept(const json_t *object, const char *name)
{
	auto_free char *key = xasprintf(KEPT_PREFIX "%s", name);

	return json_string_value(json_object_get(jsonx_at(object, "metadata.annotations"), key));
}

bool setting_is_list(const struct setting *s)
{
	return s->form == SETTING_LIST || s->form == SETTING_ACL || s->form == SETTING_PROPERTIES;
}

static void add_part(json_t *list, struct str part)
{
	if (part.n)
		json_array_append_new(list, jsonx_stringn(part.p, part.n));
}

bool setting_is_property(const json_t *node, const char *label)
{
	const char *property;

	if (!str_starts(label, PBS_PROPERTY_LABEL))
		return false;
	property = label + strlen(PBS_PROPERTY_LABEL);
	return !streq(property, pbs_host_of(node)) && !streq(property, jsonx_str_or(node, "metadata.name", ""));
}

static void add_properties(json_t *list, const json_t *node)
{
	const char *key;
	json_t *v;

	json_object_foreach (jsonx_at(node, "metadata.labels"), key, v)
		if (setting_is_property(node, key))
			add_part(list, str_of(key + strlen(PBS_PROPERTY_LABEL)));
}

json_t *setting_list(const struct setting *s, const json_t *object)
{
	const char *kept = s->form == SETTING_ACL ? setting_kept(object, s->name) : NULL;
	struct str rest = str_of(kept ? kept : ""), part;
	json_t *list = json_array();
	json_t *v;
	size_t i;

	if (s->form == SETTING_PROPERTIES) {
		add_properties(list, object);
		return list;
	}
	json_array_foreach (jsonx_at(object, s->path), i, v)
		if (json_is_string(v) && (s->form != SETTING_ACL || !streq(json_string_value(v), ACL_NOBODY)))
			add_part(list, str_of(json_string_value(v)));
	while (kept && str_split(&rest, ',', &part))
		add_part(list, part);
	return list;
}

static void add_list(const struct setting *s, const json_t *object, struct pbs_attributes *out)
{
	auto_sbuf struct sbuf text = SBUF(TEXT_MAX);
	json_auto_t *list = setting_list(s, object);
	json_t *v;
	size_t i;

	json_array_foreach (list, i, v)
		sbuf_addf(&text, "%s%s", i ? "," : "", json_string_value(v));
	if (text.n && !(s->plain && streq(s->plain, text.p)))
		pbs_attributes_add(out, s->name, NULL, sbuf_steal(&text));
}

/* With the resources of one that has some. */
static void add_kept(const struct setting *s, const json_t *object, struct pbs_attributes *out)
{
	auto_free char *prefix = xasprintf(KEPT_PREFIX "%s.", s->name);
	const char *kept = setting_kept(object, s->name);
	const char *key;
	json_t *v;

	if (kept)
		pbs_attributes_add(out, s->name, NULL, xstrdup(kept));
	json_object_foreach (jsonx_at(object, "metadata.annotations"), key, v)
		if (str_starts(key, prefix) && json_is_string(v))
			pbs_attributes_add(out, s->name, key + strlen(prefix), xstrdup(json_string_value(v)));
}

static void add_note(const struct setting *s, const json_t *object, struct pbs_attributes *out)
{
	const json_t *v = json_object_get(jsonx_at(object, "metadata.annotations"), s->path);

	if (json_string_length(v))
		pbs_attributes_add(out, s->name, NULL, xstrdup(json_string_value(v)));
}

static void add_map(const struct setting *s, const json_t *map, struct pbs_attributes *out)
{
	const char *key;
	json_t *v;

	json_object_foreach ((json_t *)map, key, v)
		if (json_is_string(v) && !pbs_attributes_find(out, s->name, key))
			pbs_attributes_add(out, s->name, key, xstrdup(json_string_value(v)));
}

/* One of PBS's, or one that is not as it is by itself. */
static void add_plain(const struct setting *s, char *value, struct pbs_attributes *out)
{
	if (s->plain && streq(s->plain, value))
		free(value);
	else
		pbs_attributes_add(out, s->name, NULL, value);
}

/* What is a field of the object. */
static void add_field(const struct setting *s, const json_t *v, struct pbs_attributes *out)
{
	switch (s->form) {
	case SETTING_NUMBER:
		add_plain(s, xasprintf("%lld", (long long)json_integer_value(v)), out);
		break;
	case SETTING_BOOL:
		add_plain(s, xstrdup(json_is_true(v) ? "True" : "False"), out);
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
	default:
		if (json_string_length(v))
			add_plain(s, xstrdup(json_string_value(v)), out);
	}
}

void setting_show(const struct setting *s, const json_t *object, struct pbs_attributes *out)
{
	const json_t *v = jsonx_at(object, s->path);

	if (setting_is_list(s))
		add_list(s, object, out);
	else if (s->form == SETTING_KEPT || s->form == SETTING_FALSE)
		add_kept(s, object, out);
	else if (s->form == SETTING_TYPE && setting_kept(object, s->name))
		add_kept(s, object, out);
	else if (s->form == SETTING_NOTE)
		add_note(s, object, out);
	else if (s->form == SETTING_OFFLINE)
		pbs_attributes_add(out, s->name, NULL, xstrdup(json_is_true(v) ? "offline" : "free"));
	else if (v)
		add_field(s, v, out);
}

/* ---- counts ---- */

static int count_of(char state)
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

void job_counts_add(struct job_counts *c, const struct board_row *job)
{
	char state = board_row_state(job);

	c->n[count_of(state)]++;
	if (!strchr("RSE", state))
		return;
	c->nodes += board_row_number(job, COL_NODES, 0);
	c->slots += board_row_number(job, COL_TASKS, 0);
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

/* When somebody last changed a setting. */
static void add_mtime(const json_t *queue, struct pbs_attributes *out)
{
	const char *created = jsonx_str_or(queue, "metadata.creationTimestamp", "");
	int64_t last = -1;
	int64_t when;
	json_t *m;
	size_t i;

	if (clock_parse_rfc3339(created, &when))
		last = when / 1000000;
	json_array_foreach (jsonx_at(queue, "metadata.managedFields"), i, m)
		if (!json_object_get(m, "subresource") && clock_parse_rfc3339(jsonx_str_or(m, "time", ""), &when) &&
		    when / 1000000 > last)
			last = when / 1000000;
	if (last < 0)
		return;
	pbs_attributes_add(out, "mtime", NULL, xasprintf("%lld", (long long)last));
	out->items[out->n - 1].when = last;
}

static void add_assigned(const struct job_counts *c, struct pbs_attributes *out)
{
	if (!c->nodes)
		return;
	pbs_attributes_add(out, "resources_assigned", "ncpus", xasprintf("%lld", (long long)c->slots));
	pbs_attributes_add(out, "resources_assigned", "nodect", xasprintf("%lld", (long long)c->nodes));
}

void queue_attributes(const json_t *queue, const struct job_counts *c, struct pbs_attributes *ret)
{
	for (const struct setting *s = queue_settings; s->name; s++) {
		if (streq(s->name, "enabled")) {
			add_mtime(queue, ret);
			add_assigned(c, ret);
		}
		setting_show(s, queue, ret);
		if (streq(s->name, "max_user_queuable"))
			add_counts(c, ret);
	}
}

void server_attributes(const json_t *server, const struct job_counts *c, struct pbs_attributes *ret)
{
	pbs_attributes_add(ret, "server_state", NULL,
			   xstrdup(jsonx_bool_or(server, "spec.scheduling", true) ? "Active" : "Idle"));
	for (const struct setting *s = server_settings; s->name; s++) {
		setting_show(s, server, ret);
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
