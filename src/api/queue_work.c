// SPDX-License-Identifier: Apache-2.0
/* queue_work.c - see queue_parts.h: an object as work that waits */
#include "api/pbs_parts.h"
#include "api/pod_owner.h"
#include "api/queue_parts.h"
#include "base/jsonx.h"
#include "base/mem.h"
#include "kinds/pod_templates.h"
#include "kinds/walltime.h"
#include "kinds/workloads.h"

bool queue_is_pod(const struct kind *k)
{
	return !*k->group && streq(k->plural, "pods");
}

bool queue_concerns(const struct kind *k)
{
	return queue_is_pod(k) || (pod_templates_lead(k) && !streq(k->plural, "podtemplates"));
}

bool queue_mentions(struct str body, const char *word)
{
	return memmem(body.p, body.n, word, strlen(word)) != NULL;
}

bool queue_counts(const struct kind *k, const json_t *obj)
{
	return queue_concerns(k) && !pod_owner_controller(obj) && workload_end(k, obj) == WORKLOAD_GOES_ON;
}

int64_t queue_jobs(const struct kind *k, const json_t *obj)
{
	struct err e = ERR_INIT;
	int64_t n = 1;

	if (pbs_is_job(k))
		pbs_elements(json_object_get(obj, "spec"), &n, &e);
	return n;
}

const char *queue_label(const json_t *obj)
{
	const char *name = json_string_value(json_object_get(jsonx_at(obj, "metadata.labels"), QUEUE_LABEL));

	return name ? name : "";
}

int64_t queue_seconds(const json_t *value)
{
	int64_t seconds;

	if (json_is_integer(value))
		return json_integer_value(value);
	return json_is_string(value) && walltime_parse(json_string_value(value), &seconds) ? seconds : TIME_NONE;
}

/* Where kinds say how long they may run. */
static const char *const deadlines[] = { "spec.activeDeadlineSeconds", "spec.runPolicy.activeDeadlineSeconds",
					 "spec.jobTemplate.spec.activeDeadlineSeconds", "spec.resources.walltime" };

int64_t queue_walltime(const json_t *obj)
{
	const json_t *note = json_object_get(jsonx_at(obj, "metadata.annotations"), WALLTIME_ANNOTATION);
	int64_t seconds = queue_seconds(note);

	for (size_t i = 0; seconds <= 0 && i < ARRAY_SIZE(deadlines); i++)
		seconds = queue_seconds(jsonx_at(obj, deadlines[i]));
	return seconds > 0 ? seconds : TIME_NONE;
}

/* ---- visiting ---- */

struct visiting {
	const struct queue_visit *v;
	struct amount_of_limits sum; /* of a gang */
	bool gang;
	int result;
};

/* A part of an object that has metadata and perhaps a deadline of its own. */
static int visit_part(const struct queue_visit *v, const char *at, const json_t *part)
{
	const char *name = v->queue ? queue_label(part) : "";
	const json_t *note = json_object_get(jsonx_at(part, "metadata.annotations"), WALLTIME_ANNOTATION);

	if (*name) {
		auto_free char *field = xasprintf("%smetadata.labels[" QUEUE_LABEL "]", at);

		if (v->queue(v->arg, field, name) < 0)
			return -1;
	}
	if (note && v->time) {
		auto_free char *field = xasprintf("%smetadata.annotations[" WALLTIME_ANNOTATION "]", at);

		return v->time(v->arg, field, note);
	}
	return 0;
}

static void visit_template(void *arg, const json_t *template)
{
	struct visiting *g = arg;
	const struct queue_visit *v = g->v;
	const json_t *deadline = jsonx_at(template, "spec.activeDeadlineSeconds");
	struct amount_of_limits asks = { .v[LIMIT_RUNNING] = 1 };

	if (g->result == 0)
		g->result = visit_part(v, "template.", template);
	if (g->result == 0 && deadline && v->time)
		g->result = v->time(v->arg, "template.spec.activeDeadlineSeconds", deadline);
	if (g->result < 0 || g->gang || !v->asks)
		return;
	limits_add_pod(&asks, json_object_get(template, "spec"), 1);
	g->result = v->asks(v->arg, &asks);
}

/* Replicas of training jobs, a map or a list, start together. */
static void sum_gang(struct visiting *g, const json_t *spec)
{
	const char *key;
	json_t *specs;

	if (json_object_get(spec, "elasticPolicy"))
		return;
	json_object_foreach ((json_t *)spec, key, specs) {
		size_t n = strlen(key);
		const char *name;
		json_t *one;
		size_t i;

		if (n < 12 || !streq(key + n - 11, "eplicaSpecs"))
			continue;
		g->gang = true;
		json_object_foreach (specs, name, one)
			limits_add_pod(&g->sum, jsonx_at(one, "template.spec"), jsonx_int_or(one, "replicas", 1));
		json_array_foreach (specs, i, one)
			limits_add_pod(&g->sum, jsonx_at(one, "template.spec"), jsonx_int_or(one, "replicas", 1));
	}
}

int queue_visit(const struct kind *k, const json_t *obj, const struct queue_visit *v)
{
	struct visiting g = { .v = v, .sum = { .v[LIMIT_RUNNING] = 1 } };
	const json_t *job = jsonx_at(obj, "spec.jobTemplate");

	if (visit_part(&(struct queue_visit){ .time = v->time, .arg = v->arg }, "", obj) < 0 ||
	    (job && visit_part(v, "spec.jobTemplate.", job) < 0))
		return -1;
	for (size_t i = 0; v->time && i < ARRAY_SIZE(deadlines); i++) {
		const json_t *value = jsonx_at(obj, deadlines[i]);

		if (value && !json_is_null(value) && v->time(v->arg, deadlines[i], value) < 0)
			return -1;
	}
	if (queue_is_pod(k) && !v->asks)
		return 0;
	if (queue_is_pod(k)) {
		limits_add_pod(&g.sum, json_object_get(obj, "spec"), 1);
		return v->asks(v->arg, &g.sum);
	}
	sum_gang(&g, json_object_get(obj, "spec"));
	if (g.gang && v->asks && v->asks(v->arg, &g.sum) < 0)
		return -1;
	pod_templates_each(k, obj, visit_template, &g);
	return g.result;
}

/* ---- holds ---- */

static unsigned strong_holds(const json_t *part)
{
	unsigned holds;

	hold_parse(work_note(part, HOLD_ANNOTATION), &holds);
	return holds & (HOLD_WORD_OPERATOR | HOLD_WORD_SYSTEM);
}

static void add_holds(void *arg, const json_t *template)
{
	*(unsigned *)arg |= strong_holds(template);
}

unsigned queue_strong_holds(const struct kind *k, const json_t *obj)
{
	unsigned holds = strong_holds(obj);

	if (obj)
		pod_templates_each(k, obj, add_holds, &holds);
	return holds;
}
