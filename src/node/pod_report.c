// SPDX-License-Identifier: Apache-2.0
/* pod_report.c - the pod's status in the API, and the end of its object
 *
 * One write at a time; what changes meanwhile is told by the next.  A status that says the same is not written.
 */
#include <fcntl.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "base/jsonx.h"
#include "base/log.h"
#include "base/mem.h"
#include "node/pod_parts.h"

#define MESSAGE_MAX 4096 /* Kubernetes' limit for a termination message */
#define TAIL_BYTES  2048
#define TAIL_LINES  80
#define RETRY_MS    1000

/* ---- what a container said at its end ---- */

/* The file is the container's to write: a link or a pipe in its place is not read. */
static void read_message(const char *path, struct sbuf *out)
{
	auto_close int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	char buf[MESSAGE_MAX];
	struct stat st;
	ssize_t n;

	if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
		return;
	n = read(fd, buf, sizeof(buf));
	if (n > 0)
		sbuf_add(out, buf, (size_t)n);
}

static void find_message(struct ctr *c)
{
	auto_free char *path = ctr_file(c, "termination-log");
	auto_sbuf struct sbuf text = SBUF(MESSAGE_MAX);

	if (c->end.message || c->end.asked)
		return;
	c->end.asked = true;
	read_message(path, &text);
	if (!text.n && c->end.exit.code != 0 && c->log_path &&
	    str_same(jsonx_str(c->spec, "terminationMessagePolicy"), "FallbackToLogsOnError"))
		log_tail(c->log_path, TAIL_BYTES, TAIL_LINES, &text);
	if (text.n)
		c->end.message = sbuf_steal(&text);
}

/* ---- the status ---- */

static struct ctr_report report_of(struct ctr *c, char **ids)
{
	if (c->state == CTR_EXITED)
		find_message(c);
	*ids = c->id && c->state != CTR_WAITING && c->state != CTR_STARTING ? ctr_id_text(c)
	       : c->last.id                                                 ? xstrdup(c->last.id)
									    : NULL;
	return (struct ctr_report){
		.name = c->name,
		.image = jsonx_str_or(c->spec, "image", ""),
		.image_id = c->image_id,
		.id = *ids,
		.init = c->init,
		.sidecar = c->sidecar,
		/* A container whose postStart hook is at work is not yet running for others. */
		.state = c->state,
		.waiting_reason = c->wait_reason,
		.waiting_message = c->wait_message,
		.started_us = c->started_us,
		.end = c->end,
		.last = c->last,
		.restarts = c->attempt,
		.ready = c->init && !c->sidecar ? c->state == CTR_EXITED && c->end.exit.code == 0 : c->ready,
		.started = c->started,
	};
}

static json_t *make_status(struct pod *p)
{
	auto_free struct ctr_report *reports = xcalloc(p->n + 1, sizeof(*reports));
	auto_free char **ids = xcalloc(p->n + 1, sizeof(*ids));
	struct pod_report r = { .phase = p->phase,
				.reason = p->reason,
				.message = p->message,
				.host_ip = p->parts->host_ip,
				.pod_ip = p->ip,
				.start_us = p->start_us,
				.has_network = p->ip != NULL,
				.activity_us = p->activity_us,
				.silence = p->silence,
				.idle_since_us = p->idle_since_us,
				.idle_at_us = p->idle_at_us,
				.idle_text = p->idle_text,
				.idle_long = p->idle_told == IDLE_TOO_LONG,
				.used = p->used,
				.ctrs = reports,
				.n = p->n };
	json_t *status;

	for (size_t i = 0; i < p->n; i++)
		reports[i] = report_of(&p->ctrs[i], &ids[i]);
	status = pod_status_make(json_object_get(p->obj, "spec"), json_object_get(p->obj, "status"), &r,
				 clock_wall_micros());
	for (size_t i = 0; i < p->n; i++)
		free(ids[i]);
	return status;
}

/* What the API knows now; true if it is the end of a run. */
static bool ends_told(struct pod *p)
{
	bool any = false;

	for (size_t i = 0; i < p->n; i++) {
		struct ctr *c = &p->ctrs[i];

		any |= c->end_telling;
		if (c->end_telling)
			c->end_new = c->end_telling = false;
	}
	return any;
}

static void on_told(void *arg, const json_t *obj, const struct err *e)
{
	struct pod *p = arg;

	(void)obj;
	p->telling = false;
	if (p->freed) {
		pod_free(p);
		return;
	}
	if (e->kind == ERR_NONE) {
		p->tell_failures = 0;
		p->told_end |= p->telling_end;
		if (ends_told(p) || p->told_end || p->tell_again)
			pod_kick(p);
		p->tell_again = false;
		return;
	}
	json_decref(p->told);
	p->told = NULL;
	p->tell_again = false;
	if (e->kind == ERR_NOT_FOUND || e->kind == ERR_CONFLICT) {
		/* It has gone, or another has its name: the informer will say so, or has. */
		p->gone = true;
		pod_kick(p);
		return;
	}
	if (e->kind == ERR_STORAGE_FULL && p->telling_end && p->deleting) {
		/* Nobody will read it, and the pod's end makes room. */
		p->told_end = true;
		pod_kick(p);
		return;
	}
	if (!p->tell_failures++)
		log_warn("write status of pod %s/%s: %s, trying again", p->ns, p->name, e->text);
	loop_timer_set(p->parts->loop, &p->wake, RETRY_MS);
}

void pod_report(struct pod *p)
{
	struct ref ref = {
		.api_version = "v1", .plural = "pods", .ns = p->ns, .name = p->name, .subresource = "status"
	};
	json_auto_t *status = NULL;
	json_auto_t *patch = NULL;

	if (p->gone || p->told_end)
		return;
	if (p->telling) {
		p->tell_again = true;
		return;
	}
	status = make_status(p);
	for (size_t i = 0; i < p->n; i++)
		p->ctrs[i].end_telling = p->ctrs[i].end_new;
	if (p->told && jsonx_equal(status, p->told)) {
		p->told_end |= p->over;
		if (ends_told(p) || p->told_end)
			pod_kick(p);
		return;
	}
	json_decref(p->told);
	p->told = json_incref(status);
	patch = json_pack("{s:{s:s}, s:O}", "metadata", "uid", p->uid, "status", status);
	/* The end of one that is being deleted may have come of that. */
	if (p->over && p->phase == PHASE_SUCCEEDED && !p->deleting)
		pod_tell_success(p);
	p->telling = true;
	p->telling_end = p->over;
	p->parts->client->ops->patch(p->parts->client, &ref, "merge", patch, on_told, p);
}

static void on_deleted(void *arg, const json_t *obj, const struct err *e)
{
	struct pod *p = arg;

	(void)obj;
	p->telling = false;
	if (p->freed) {
		pod_free(p);
		return;
	}
	if (e->kind == ERR_NONE)
		return; /* the informer tells when it is really gone: a finalizer may hold it */
	if (e->kind == ERR_NOT_FOUND || e->kind == ERR_CONFLICT) {
		p->gone = true;
		pod_kick(p);
		return;
	}
	p->removing = false;
	log_warn("delete pod %s/%s: %s, trying again", p->ns, p->name, e->text);
	loop_timer_set(p->parts->loop, &p->wake, RETRY_MS);
}

void pod_delete_object(struct pod *p)
{
	struct ref ref = { .api_version = "v1", .plural = "pods", .ns = p->ns, .name = p->name };
	json_auto_t *options = NULL;

	if (p->removing || p->telling)
		return;
	options = json_pack("{s:i, s:{s:s}}", "gracePeriodSeconds", 0, "preconditions", "uid", p->uid);
	p->removing = p->telling = true;
	p->parts->client->ops->remove(p->parts->client, &ref, options, on_deleted, p);
}
