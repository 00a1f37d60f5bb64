// SPDX-License-Identifier: Apache-2.0
/* describe_kinds.c - what only some kinds have to say, and the table of them */
#include <stdio.h>
#include <time.h>

#include "base/clock.h"
#include "base/jsonx.h"
#include "base/mem.h"
#include "base/time_zone.h"
#include "cli/describe_parts.h"
#include "cli/work.h"
#include "kinds/core.h"
#include "kinds/cron_schedule.h"
#include "kinds/rest.h"

/* ---- Jobs ---- */

static void job_fields(const struct about *a, struct page *p)
{
	const json_t *spec = json_object_get(a->obj, "spec");
	int64_t parallelism = jsonx_int_or(spec, "parallelism", 1);
	int64_t completions = jsonx_int_or(spec, "completions", parallelism);
	int64_t deadline = jsonx_int_or(spec, "activeDeadlineSeconds", 0);
	char limit[32];

	if (completions > 1 || parallelism > 1)
		page_field(p, "Pods", "%lld, at most %lld at once%s", (long long)completions, (long long)parallelism,
			   streq(jsonx_str_or(spec, "completionMode", ""), "Indexed") ? ", numbered from 0" : "");
	page_field(p, "Ends", "%lld succeeded, %lld failed; it gives up after %lld failure%s",
		   (long long)jsonx_int_or(a->obj, "status.succeeded", 0),
		   (long long)jsonx_int_or(a->obj, "status.failed", 0),
		   (long long)jsonx_int_or(spec, "backoffLimit", 6) + 1,
		   jsonx_int_or(spec, "backoffLimit", 6) ? "s" : "");
	if (deadline)
		page_field(p, "Time limit", "%s", output_age(deadline, limit));
}

/* ---- CronJobs ---- */

#define TIMES_SHOWN 3

static void add_wall_time(int64_t at, const char *zone, struct sbuf *out)
{
	time_t t = (time_t)(at + time_zone_offset(zone, at));
	struct tm tm;
	char text[32] = "?";

	if (gmtime_r(&t, &tm))
		strftime(text, sizeof(text), "%Y-%m-%d %H:%M", &tm);
	sbuf_adds(out, text);
}

/* The next times; false if they cannot be told. */
static bool next_times(const struct about *a, int64_t *times, size_t n)
{
	const char *zone = jsonx_str(a->obj, "spec.timeZone");
	struct cron_schedule s;
	struct err e = ERR_INIT;
	int64_t t = a->now;

	if ((zone && !time_zone_known(zone)) ||
	    cron_schedule_parse(jsonx_str_or(a->obj, "spec.schedule", ""), &s, &e) < 0 || s.every)
		return false;
	for (size_t i = 0; i < n; i++) {
		t = cron_schedule_next_in(&s, zone, t);
		if (t <= 0)
			return false;
		times[i] = t;
	}
	return true;
}

bool cron_words(const struct about *a, struct sbuf *out)
{
	int64_t next;
	char age[32];

	if (!next_times(a, &next, 1))
		return false;
	sbuf_addf(out, ": the next run is in %s", output_age(next - a->now, age));
	return true;
}

/* What happens when it is time and the last run still goes on. */
static const char *overlap_words(const json_t *obj)
{
	static const struct {
		const char *policy, *words;
	} policies[] = {
		{ "Allow", "runs may overlap" },
		{ "Forbid", "no run begins while one goes on" },
		{ "Replace", "a new run ends the one that goes on" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(policies); i++)
		if (streq(policies[i].policy, jsonx_str_or(obj, "spec.concurrencyPolicy", "Allow")))
			return policies[i].words;
	return "";
}

static void cron_job_fields(const struct about *a, struct page *p)
{
	const char *zone = jsonx_str(a->obj, "spec.timeZone");
	auto_sbuf struct sbuf next = SBUF(256);
	int64_t times[TIMES_SHOWN];
	int64_t last = time_in(a->obj, "status.lastScheduleTime");
	char age[32];

	page_field(p, "Schedule", "%s%s%s", jsonx_str_or(a->obj, "spec.schedule", ""), zone ? " in " : "",
		   zone ? zone : "");
	if (!jsonx_bool_or(a->obj, "spec.suspend", false) && next_times(a, times, TIMES_SHOWN)) {
		for (size_t i = 0; i < TIMES_SHOWN; i++) {
			sbuf_adds(&next, i ? ", " : "");
			add_wall_time(times[i], zone, &next);
		}
		page_field(p, "Next", "%s", next.p);
	}
	page_field(p, "Last", "%s%s", last ? since(a, last, age) : "never", last ? " ago" : "");
	page_field(p, "Overlap", "%s", overlap_words(a->obj));
}

static const struct table_column job_columns[] = {
	{ "JOB" }, { "STATE" }, { "PODS", .right = true }, { "AGE" }, { "REASON", .cut = true },
};

static void cron_job_tables(const struct about *a, struct page *p)
{
	auto_table struct table t = TABLE(job_columns);
	json_t *job;
	size_t i;

	json_array_foreach (a->made, i, job) {
		struct work w;
		char age[32];

		work_read(&kind_job, job, NULL, &w);
		table_add(&t, TINT_NONE, jsonx_str_or(job, "metadata.name", ""));
		table_add(&t, work_phase_tint(w.phase), work_phase_name(w.phase));
		table_addf(&t, TINT_NONE, "%lld/%lld", (long long)w.ready, (long long)w.wanted);
		table_add(&t, TINT_NONE, since(a, w.created, age));
		table_add(&t, TINT_NONE, w.reason);
	}
	if (!table_rows(&t))
		return;
	page_section(p, "Jobs");
	page_table(p, &t);
}

/* ---- what keeps a number of pods ---- */

static const char *annotation(const json_t *obj, const char *key)
{
	const char *v = json_string_value(json_object_get(jsonx_at(obj, "metadata.annotations"), key));

	return v ? v : "";
}

static void deployment_fields(const struct about *a, struct page *p)
{
	const char *revision = annotation(a->obj, "deployment.kubernetes.io/revision");
	auto_sbuf struct sbuf selector = SBUF(1024);

	map_words(jsonx_at(a->obj, "spec.selector.matchLabels"), &selector);
	page_field(p, "Rollout", "%s%s%s%lld of %lld pods have the newest template, %lld are available%s",
		   *revision ? "revision " : "", revision, *revision ? ": " : "",
		   (long long)jsonx_int_or(a->obj, "status.updatedReplicas", 0),
		   (long long)jsonx_int_or(a->obj, "spec.replicas", 1),
		   (long long)jsonx_int_or(a->obj, "status.availableReplicas", 0),
		   jsonx_bool_or(a->obj, "spec.paused", false) ? "; paused" : "");
	page_field(p, "Selects", "%s", selector.n ? selector.p : "");
}

static const struct table_column set_columns[] = {
	{ "REPLICASET" }, { "REVISION", .right = true }, { "READY", .right = true }, { "AGE" }, { "IMAGES" },
};

static void add_images(const json_t *spec, struct sbuf *out)
{
	json_t *c;
	size_t i;

	json_array_foreach (json_object_get(spec, "containers"), i, c)
		sbuf_addf(out, "%s%s", i ? ", " : "", jsonx_str_or(c, "image", ""));
}

static void deployment_tables(const struct about *a, struct page *p)
{
	auto_table struct table t = TABLE(set_columns);
	json_t *set;
	size_t i;

	json_array_foreach (a->made, i, set) {
		auto_sbuf struct sbuf images = SBUF(1024);
		char age[32];

		add_images(jsonx_at(set, "spec.template.spec"), &images);
		table_add(&t, TINT_NONE, jsonx_str_or(set, "metadata.name", ""));
		table_add(&t, TINT_NONE, annotation(set, "deployment.kubernetes.io/revision"));
		table_addf(&t, TINT_NONE, "%lld/%lld", (long long)jsonx_int_or(set, "status.readyReplicas", 0),
			   (long long)jsonx_int_or(set, "spec.replicas", 0));
		table_add(&t, TINT_NONE, since(a, time_in(set, "metadata.creationTimestamp"), age));
		table_add(&t, TINT_NONE, images.p);
	}
	if (!table_rows(&t))
		return;
	page_section(p, "ReplicaSets");
	page_table(p, &t);
}

static void selector_fields(const struct about *a, struct page *p)
{
	auto_sbuf struct sbuf selector = SBUF(1024);
	const json_t *labels = jsonx_at(a->obj, "spec.selector.matchLabels");

	map_words(labels ? labels : jsonx_at(a->obj, "spec.selector"), &selector);
	page_field(p, "Service", "%s", jsonx_str_or(a->obj, "spec.serviceName", ""));
	page_field(p, "Selects", "%s", selector.n ? selector.p : "");
}

/* ---- training ---- */

static const struct table_column part_columns[] = {
	{ "PART" },
	{ "WANTED", .right = true },
	{ "ACTIVE", .right = true },
	{ "SUCCEEDED", .right = true },
	{ "FAILED", .right = true },
	{ "IMAGES" },
};

static void add_parts(const struct about *a, const json_t *specs, struct table *t)
{
	const json_t *all = jsonx_at(a->obj, "status.replicaStatuses");
	const char *name;
	json_t *part;

	json_object_foreach ((json_t *)specs, name, part) {
		const json_t *now = json_object_get(all, name);
		auto_sbuf struct sbuf images = SBUF(1024);

		add_images(jsonx_at(part, "template.spec"), &images);
		table_add(t, TINT_NONE, name);
		table_addf(t, TINT_NONE, "%lld", (long long)jsonx_int_or(part, "replicas", 1));
		table_addf(t, TINT_NONE, "%lld", (long long)jsonx_int_or(now, "active", 0));
		table_addf(t, TINT_NONE, "%lld", (long long)jsonx_int_or(now, "succeeded", 0));
		table_addf(t, TINT_NONE, "%lld", (long long)jsonx_int_or(now, "failed", 0));
		table_add(t, TINT_NONE, images.p);
	}
}

static void training_tables(const struct about *a, struct page *p)
{
	auto_table struct table t = TABLE(part_columns);
	const char *key;
	json_t *v;

	json_object_foreach (json_object_get(a->obj, "spec"), key, v)
		if (str_ends(key, "ReplicaSpecs") || streq(key, "replicaSpecs"))
			add_parts(a, v, &t);
	if (!table_rows(&t))
		return;
	page_section(p, "Parts");
	page_table(p, &t);
}

/* ---- the table ---- */

static const struct describer describers[] = {
	{ &kind_job, .fields = job_fields },
	{ &kind_cron_job, .fields = cron_job_fields, .tables = cron_job_tables },
	{ &kind_deployment, .fields = deployment_fields, .tables = deployment_tables },
	{ &kind_stateful_set, .fields = selector_fields },
	{ &kind_daemon_set, .fields = selector_fields },
	{ &kind_replica_set, .fields = selector_fields },
	{ &kind_replication_controller, .fields = selector_fields },
	{ &kind_tfjob, .tables = training_tables },
	{ &kind_pytorchjob, .tables = training_tables },
	{ &kind_paddlejob, .tables = training_tables },
	{ &kind_mpijob, .tables = training_tables },
	{ &kind_service, service_state, service_fields, service_tables },
	{ &kind_node, node_state, node_fields, node_tables },
	{ &kind_pvc, claim_state, claim_fields, NULL },
	{ &kind_namespace, namespace_state, NULL, namespace_tables },
	{ &kind_resource_quota, .tables = quota_tables },
	{ &kind_config_map, .tables = data_tables },
	{ &kind_secret, .tables = data_tables },
};

const struct describer *describer_of(const struct kind *k)
{
	for (size_t i = 0; i < ARRAY_SIZE(describers); i++)
		if (describers[i].kind == k)
			return &describers[i];
	return NULL;
}
