// SPDX-License-Identifier: Apache-2.0
/* pbs_row.c - see pbs_board.h: one job as a line
 *
 * Fields, separated by tabs: id, name, owner, submit host, queue, state | CPU time and walltime used, in seconds |
 * session, nodes, tasks, memory and time asked for, exec_host, exec_gpus, comment, ctime, nodes as they were asked for,
 * namespace, name of the object, priority.
 */
#include "api/pbs_board.h"
#include "api/pbs_parts.h"
#include "base/clock.h"
#include "base/jsonx.h"
#include "base/limits.h"
#include "base/mem.h"
#include "kinds/pbs_element.h"
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

	*run = (struct pbs_run){ .start = seconds_at(status, "startTime"),
				 .stands = seconds_at(status, "suspendTime"),
				 .stood = jsonx_int_or(status, "suspendedSeconds", 0) };
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

		if (stored_see(api, &k, ns, run->pods[i], &pod, &e) == 0)
			run->uids[i] = xstrdup(jsonx_str_or(pod, "metadata.uid", ""));
	}
	run->uids_known = true;
}

/* As kinds/pbs_time.h has it. */
static int64_t walltime_of(const struct pbs_run *run, int64_t now)
{
	int64_t used = (run->stands ? run->stands : now) - run->start - run->stood;

	return run->start && used > 0 ? used : 0;
}

void pbs_run_used(struct api *api, struct kubelet *k, const char *ns, struct pbs_run *run, int64_t now,
		  struct pbs_used *ret)
{
	json_auto_t *names = NULL;

	*ret = (struct pbs_used){ .cput = -1, .walltime = walltime_of(run, now) };
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

static bool is_live(char state)
{
	return state == 'R' || state == 'S' || state == 'E';
}

/* ---- the row ---- */

/* A row's texts, one behind the other; the row gets its room when they are all there. */
struct texts {
	struct sbuf all;
	const json_t *job, *status, *resources;
	const char *owner, *queue, *title, *ns, *name;
	size_t comment_at, comment_len; /* in the tail */
};

static void add_rest(struct texts *t)
{
	const json_t *r = t->resources;

	sbuf_addf(&t->all, "%lld\t", (long long)seconds_at(t->job, "metadata.creationTimestamp"));
	add_text(&t->all, jsonx_str_or(r, "nodes", jsonx_str_or(r, "select", "")));
	add_text(&t->all, t->ns);
	add_text(&t->all, t->name);
	sbuf_addf(&t->all, "%lld\n", (long long)jsonx_int_or(t->job, "spec.priority", 0));
}

/* Where the next text begins. */
static size_t begin(struct texts *t)
{
	if (t->all.n)
		sbuf_addc(&t->all, '\0');
	return t->all.n;
}

static size_t put(struct texts *t, const char *s)
{
	size_t at = begin(t);

	sbuf_adds(&t->all, s);
	return at;
}

static size_t put_head(struct texts *t, char state)
{
	size_t at = begin(t);

	add_text(&t->all, jsonx_str_or(t->status, "id", t->name));
	add_text(&t->all, t->title);
	add_text(&t->all, t->owner);
	add_text(&t->all, jsonx_str_or(t->job, "spec.submitHost", ""));
	add_text(&t->all, t->queue);
	sbuf_addf(&t->all, "%c\t", state);
	return at;
}

static size_t put_used(struct texts *t)
{
	size_t at = begin(t);

	add_used(&t->all, t->status, "cput");
	add_used(&t->all, t->status, "walltime");
	return at;
}

static size_t put_tail(struct texts *t)
{
	size_t at = begin(t);

	if (json_is_integer(json_object_get(t->status, "sessionId")))
		sbuf_addf(&t->all, "%lld", (long long)jsonx_int_or(t->status, "sessionId", 0));
	sbuf_addc(&t->all, '\t');
	add_asked(&t->all, t->resources);
	add_text(&t->all, jsonx_str_or(t->status, "execHost", ""));
	add_text(&t->all, jsonx_str_or(t->status, "execGpus", ""));
	t->comment_at = t->all.n - at;
	pbs_row_escape(jsonx_str_or(t->status, "comment", ""), &t->all);
	t->comment_len = t->all.n - at - t->comment_at;
	sbuf_addc(&t->all, '\t');
	add_rest(t);
	return at;
}

/* A newline stands where an element's own run goes in. */
static size_t put_element_tail(struct texts *t)
{
	size_t at = begin(t);

	add_asked(&t->all, t->resources);
	sbuf_addc(&t->all, '\n');
	add_rest(t);
	return at;
}

static size_t put_held(struct texts *t)
{
	auto_sbuf struct sbuf text = SBUF(LINE_MAX_BYTES);
	struct pbs_set set = { 0 };

	pbs_element_held(json_object_get(t->job, "spec"), &set);
	pbs_set_text(&set, &text);
	pbs_set_done(&set);
	return put(t, text.p ? text.p : "");
}

static struct pbs_row *row_alloc(const char *ns, const char *name, const json_t *job, char state)
{
	struct texts t = { .all = SBUF(LINE_MAX_BYTES),
			   .job = job,
			   .status = json_object_get(job, "status"),
			   .resources = jsonx_at(job, "spec.resources"),
			   .owner = jsonx_str_or(job, "spec.owner", ""),
			   .queue = jsonx_str_or(job, "spec.queue", ""),
			   .title = jsonx_str_or(job, "spec.name", ""),
			   .ns = ns,
			   .name = name };
	bool array = jsonx_at(job, "spec.array") != NULL;
	size_t head = put_head(&t, state);
	size_t used = put_used(&t);
	size_t tail = put_tail(&t);
	size_t owner = put(&t, t.owner), queue = put(&t, t.queue), title = put(&t, t.title);
	size_t in = put(&t, ns), called = put(&t, name);
	size_t request = array ? put(&t, jsonx_str_or(job, "spec.array.request", "")) : 0;
	size_t held = array ? put_held(&t) : 0;
	size_t hold = array ? put(&t, jsonx_str_or(job, "spec.hold", "n")) : 0;
	size_t comment = array ? put(&t, jsonx_str_or(t.status, "comment", "")) : 0;
	size_t alike = array ? put_element_tail(&t) : 0;
	struct pbs_row *r = xmalloc(sizeof(*r) + t.all.n + 1);

	memcpy(r->text, t.all.p, t.all.n);
	r->text[t.all.n] = '\0';
	sbuf_done(&t.all);
	*r = (struct pbs_row){ .state = state,
			       .array = array,
			       .jobs = 1,
			       .head = r->text + head,
			       .head_len = strlen(r->text + head),
			       .used = r->text + used,
			       .tail = r->text + tail,
			       .tail_len = strlen(r->text + tail),
			       .comment_at = t.comment_at,
			       .comment_len = t.comment_len,
			       .starts = (int)jsonx_int_or(t.status, "startCount", 0),
			       .owner = r->text + owner,
			       .queue = r->text + queue,
			       .title = r->text + title,
			       .ns = r->text + in,
			       .name = r->text + called };
	if (array) {
		r->request = r->text + request;
		r->held = r->text + held;
		r->hold = r->text + hold;
		r->comment = r->text + comment;
		r->slots = jsonx_int_or(job, "spec.array.slots", 0);
		r->element_tail = r->text + alike;
	}
	return r;
}

struct pbs_row *pbs_row_new(const char *ns, const char *name, const json_t *job)
{
	struct pbs_row *r = row_alloc(ns, name, job, *jsonx_str_or(job, "status.state", "Q"));
	struct err e = ERR_INIT;

	r->sequence = jsonx_int_or(job, "status.sequence", 0);
	if (r->array) {
		pbs_elements(json_object_get(job, "spec"), &r->jobs, &e);
		r->elements = json_incref(jsonx_at(job, "status.elements"));
		r->active = json_incref(jsonx_at(job, "status.active"));
		r->ended = json_incref(jsonx_at(job, "status.ended"));
		r->altered = json_incref(jsonx_at(job, "spec.elements"));
	} else if (is_live(r->state)) {
		pbs_run_read(&r->run, json_object_get(job, "status"));
	}
	return r;
}

void pbs_row_free(struct pbs_row *r)
{
	pbs_run_done(&r->run);
	json_decref(r->elements);
	json_decref(r->altered);
	json_decref(r->active);
	json_decref(r->ended);
	free(r);
}

static void add_tail(const struct pbs_view *v, struct sbuf *out)
{
	const struct pbs_row *r = v->row;
	auto_sbuf struct sbuf comment = SBUF(LIMIT_STATUS_TEXT);
	size_t behind = r->comment_at + r->comment_len;

	if (!pbs_row_comment(v, &comment)) {
		sbuf_add(out, r->tail, r->tail_len);
		return;
	}
	sbuf_add(out, r->tail, r->comment_at);
	pbs_row_escape(comment.p ? comment.p : "", out);
	sbuf_add(out, r->tail + behind, r->tail_len - behind);
}

void pbs_row_line(struct pbs_view *v, struct sbuf *out)
{
	struct pbs_row *r = v->row;
	struct pbs_used used;

	sbuf_add(out, r->head, r->head_len);
	if (r->run.start) {
		pbs_run_used(v->api, v->kubelet, r->ns, &r->run, v->now, &used);
		if (used.cput >= 0)
			sbuf_addf(out, "%lld", (long long)used.cput);
		sbuf_addf(out, "\t%lld\t", (long long)used.walltime);
	} else {
		sbuf_adds(out, r->used);
	}
	add_tail(v, out);
}
