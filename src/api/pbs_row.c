// SPDX-License-Identifier: Apache-2.0
/* pbs_row.c - see pbs_board.h: one job as a line
 *
 * Fields, separated by tabs: id, name, owner, submit host, queue, state | CPU time and walltime used, in seconds |
 * session, nodes, tasks, memory and time asked for, exec_host, exec_gpus, comment, ctime, nodes as they were asked for,
 * namespace, name of the object, priority.
 */
#include "api/pbs_board.h"
#include "api/stored.h"
#include "base/clock.h"
#include "base/jsonx.h"
#include "base/mem.h"
#include "kinds/pbs_nodes.h"
#include "kinds/pbs_values.h"

#define LINE_MAX_BYTES (64u * 1024)

void pbs_row_escape(const char *s, struct sbuf *out)
{
	for (; *s; s++) {
		size_t plain = strcspn(s, "\t\n\r\\");

		sbuf_add(out, s, plain);
		s += plain;
		if (!*s)
			break;
		sbuf_addc(out, '\\');
		sbuf_addc(out, *s == '\t' ? 't' : *s == '\n' ? 'n' : *s == '\r' ? 'r' : '\\');
	}
}

static void add_text(struct sbuf *out, const char *s)
{
	pbs_row_escape(s, out);
	sbuf_addc(out, '\t');
}

static int64_t seconds_at(const json_t *obj, const char *path)
{
	int64_t us;

	return clock_parse_rfc3339(jsonx_str_or(obj, path, ""), &us) ? us / 1000000 : 0;
}

/* ---- what a run has used ---- */

void pbs_run_read(struct pbs_run *run, const json_t *status)
{
	const json_t *pods = json_object_get(status, "pods");
	json_t *v;
	size_t i;

	*run = (struct pbs_run){ .start = seconds_at(status, "startTime") };
	run->pods = xcalloc(json_array_size(pods) + 1, sizeof(*run->pods));
	run->uids = xcalloc(json_array_size(pods) + 1, sizeof(*run->uids));
	json_array_foreach ((json_t *)pods, i, v)
		run->pods[run->npods++] = xstrdup(json_string_value(v));
}

void pbs_run_done(struct pbs_run *run)
{
	for (size_t i = 0; i < run->npods; i++) {
		free(run->pods[i]);
		free(run->uids[i]);
	}
	free(run->pods);
	free(run->uids);
	*run = (struct pbs_run){ 0 };
}

static void find_uids(struct api *api, const char *ns, struct pbs_run *run)
{
	struct stored_kind k = { .group = "", .version = "v1", .plural = "pods" };

	for (size_t i = 0; i < run->npods; i++) {
		json_auto_t *pod = NULL;
		struct err e = ERR_INIT;

		if (stored_get(api, &k, ns, run->pods[i], &pod, &e) == 0)
			run->uids[i] = xstrdup(jsonx_str_or(pod, "metadata.uid", ""));
	}
	run->uids_known = true;
}

void pbs_run_used(struct api *api, struct kubelet *k, const char *ns, struct pbs_run *run, int64_t now,
		  struct pbs_used *ret)
{
	json_auto_t *names = NULL;

	*ret = (struct pbs_used){ .cput = -1, .walltime = run->start && now > run->start ? now - run->start : 0 };
	if (!k || !run->start)
		return;
	if (!run->uids_known)
		find_uids(api, ns, run);
	names = json_pack("[s]", "job");
	for (size_t i = 0; i < run->npods; i++) {
		json_auto_t *figures = NULL;
		struct err e = ERR_INIT;
		const json_t *c;

		if (!run->uids[i] || k->ops->pod_usage(k, run->uids[i], names, &figures, &e) < 0)
			continue;
		c = json_array_get(json_object_get(figures, "containers"), 0);
		ret->cput = (ret->cput > 0 ? ret->cput : 0) + jsonx_int_or(c, "cpu_total_nano", 0) / 1000000000;
		ret->memory += jsonx_int_or(c, "memory_bytes", 0);
	}
}

/* ---- the line ---- */

/* Of several limits on memory the last by name, as qstat has it. */
static const char *memory_of(const json_t *resources)
{
	static const char *const names[] = { "vmem", "pvmem", "pmem", "mem", "dmem" };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (jsonx_str(resources, names[i]))
			return jsonx_str(resources, names[i]);
	return "";
}

static const char *time_of(const json_t *resources)
{
	return jsonx_str_or(resources, "cput", jsonx_str_or(resources, "walltime", ""));
}

static void add_counts(struct sbuf *out, const json_t *resources)
{
	struct pbs_nodes nodes = { 0 };
	struct err e = ERR_INIT;

	if (pbs_nodes_of(resources, &nodes, &e) == 0)
		sbuf_addf(out, "%d\t%d\t", nodes.count, nodes.tasks);
	else
		sbuf_adds(out, "1\t1\t");
	pbs_nodes_done(&nodes);
}

/* Seconds of a time in status.resourcesUsed, or "". */
static void add_used(struct sbuf *out, const json_t *status, const char *name)
{
	int64_t n;

	if (pbs_time_parse(jsonx_str_or(json_object_get(status, "resourcesUsed"), name, ""), &n))
		sbuf_addf(out, "%lld", (long long)n);
	sbuf_addc(out, '\t');
}

static void add_asked(struct sbuf *out, const json_t *resources)
{
	add_counts(out, resources);
	add_text(out, memory_of(resources));
	add_text(out, time_of(resources));
}

static void add_rest(struct sbuf *out, const json_t *job, const struct pbs_row *r)
{
	sbuf_addf(out, "%lld\t", (long long)seconds_at(job, "metadata.creationTimestamp"));
	add_text(out, jsonx_str_or(job, "spec.resources.nodes", jsonx_str_or(job, "spec.resources.select", "")));
	add_text(out, r->ns);
	add_text(out, r->name);
	sbuf_addf(out, "%lld\n", (long long)jsonx_int_or(job, "spec.priority", 0));
}

static bool is_live(char state)
{
	return state == 'R' || state == 'S' || state == 'E';
}

static void make_line(struct pbs_row *r, const json_t *job)
{
	const json_t *status = json_object_get(job, "status");
	const json_t *resources = jsonx_at(job, "spec.resources");
	auto_sbuf struct sbuf head = SBUF(LINE_MAX_BYTES);
	auto_sbuf struct sbuf used = SBUF(LINE_MAX_BYTES);
	auto_sbuf struct sbuf tail = SBUF(LINE_MAX_BYTES);
	auto_sbuf struct sbuf alike = SBUF(LINE_MAX_BYTES);

	add_text(&head, jsonx_str_or(status, "id", r->name));
	add_text(&head, r->title);
	add_text(&head, r->owner);
	add_text(&head, jsonx_str_or(job, "spec.submitHost", ""));
	add_text(&head, r->queue);
	sbuf_addf(&head, "%c\t", r->state);
	add_used(&used, status, "cput");
	add_used(&used, status, "walltime");
	if (json_is_integer(json_object_get(status, "sessionId")))
		sbuf_addf(&tail, "%lld", (long long)jsonx_int_or(status, "sessionId", 0));
	sbuf_addc(&tail, '\t');
	add_asked(&tail, resources);
	add_text(&tail, jsonx_str_or(status, "execHost", ""));
	add_text(&tail, jsonx_str_or(status, "execGpus", ""));
	add_text(&tail, jsonx_str_or(status, "comment", ""));
	add_rest(&tail, job, r);
	if (r->array) {
		add_asked(&alike, resources);
		sbuf_addc(&alike, '\n'); /* between: what an element's run says */
		add_rest(&alike, job, r);
		r->element_tail = sbuf_steal(&alike);
	}
	r->head = sbuf_steal(&head);
	r->used = sbuf_steal(&used);
	r->tail = sbuf_steal(&tail);
}

/* How many elements; those who wrote the request made sure that it is one. */
static int64_t count_elements(const char *request)
{
	struct pbs_set set = { 0 };
	struct err e = ERR_INIT;
	int64_t n = 1;
	int slots;

	if (pbs_array_parse(request, &set, &slots, &e) == 0)
		n = (int64_t)pbs_set_count(&set);
	pbs_set_done(&set);
	return n;
}

struct pbs_row *pbs_row_new(const char *ns, const char *name, const json_t *job)
{
	const char *request = jsonx_str(job, "spec.array.request");
	struct pbs_row *r = xcalloc(1, sizeof(*r));

	*r = (struct pbs_row){ .sequence = jsonx_int_or(job, "status.sequence", 0),
			       .state = *jsonx_str_or(job, "status.state", "Q"),
			       .array = request != NULL,
			       .jobs = 1,
			       .ns = xstrdup(ns),
			       .name = xstrdup(name),
			       .owner = xstrdup(jsonx_str_or(job, "spec.owner", "")),
			       .queue = xstrdup(jsonx_str_or(job, "spec.queue", "")),
			       .title = xstrdup(jsonx_str_or(job, "spec.name", "")) };
	if (request) {
		r->jobs = count_elements(request);
		r->request = xstrdup(request);
		r->held = xstrdup(jsonx_str_or(job, "spec.elementHold", ""));
		r->elements = json_incref(jsonx_at(job, "status.elements"));
		r->active = json_incref(jsonx_at(job, "status.active"));
	} else if (is_live(r->state)) {
		pbs_run_read(&r->run, json_object_get(job, "status"));
	}
	make_line(r, job);
	return r;
}

void pbs_row_free(struct pbs_row *r)
{
	pbs_run_done(&r->run);
	free(r->ns);
	free(r->name);
	free(r->owner);
	free(r->queue);
	free(r->title);
	free(r->head);
	free(r->used);
	free(r->tail);
	free(r->request);
	free(r->held);
	free(r->element_tail);
	json_decref(r->elements);
	json_decref(r->active);
	free(r);
}

void pbs_row_line(struct api *api, struct kubelet *k, struct pbs_row *r, int64_t now, struct sbuf *out)
{
	struct pbs_used used;

	sbuf_adds(out, r->head);
	if (r->run.start) {
		pbs_run_used(api, k, r->ns, &r->run, now, &used);
		if (used.cput >= 0)
			sbuf_addf(out, "%lld", (long long)used.cput);
		sbuf_addf(out, "\t%lld\t", (long long)used.walltime);
	} else {
		sbuf_adds(out, r->used);
	}
	sbuf_adds(out, r->tail);
}
