// SPDX-License-Identifier: Apache-2.0
/* pod_adopt.c - a worker for a pod that an earlier server has begun
 *
 * Two sources say what was: the pod's status in the API, and the runtime, which has the container itself or how it
 * ended. The runtime is right where both know a run.  A run the API saw and the runtime does not know ended with the
 * machine: nobody knows how, and it is not started as if it had never been.
 */
#include "base/clock.h"
#include "base/file.h"
#include "base/jsonx.h"
#include "base/limits.h"
#include "base/mem.h"
#include "node/pod_parts.h"

static int64_t time_of(const json_t *v, const char *field)
{
	const char *text = jsonx_str(v, field);
	int64_t us = 0;

	if (text)
		clock_parse_rfc3339(text, &us);
	return us;
}

static void recall_end(const json_t *terminated, struct ctr_end *end)
{
	const char *reason = jsonx_str(terminated, "reason");
	const char *message = jsonx_str(terminated, "message");
	const char *id = jsonx_str(terminated, "containerID");

	*end = (struct ctr_end){
		.exit = { .code = (int)jsonx_int_or(terminated, "exitCode", 0),
			  .signal = (int)jsonx_int_or(terminated, "signal", 0),
			  .finished_us = time_of(terminated, "finishedAt") },
		.started_us = time_of(terminated, "startedAt"),
		.reason = reason ? xstrdup(reason) : NULL,
		.message = message ? xstrdup(message) : NULL,
		.id = id ? xstrdup(id) : NULL,
		.known = true,
		.signalled = jsonx_at(terminated, "signal") != NULL,
	};
}

/* The runtime's name of a run, and its log. */
static void name_run(struct ctr *c, int attempt)
{
	struct err e = ERR_INIT;

	free(c->id);
	c->id = xasprintf("%s_%s_%d", c->pod->uid, c->name, attempt);
	free(c->log_path);
	c->log_path = NULL;
	logs_path(c->pod->parts->logs, c->pod->obj, c->name, attempt, &c->log_path, &e);
	if (attempt > 0) {
		free(c->last_log_path);
		c->last_log_path = NULL;
		logs_path(c->pod->parts->logs, c->pod->obj, c->name, attempt - 1, &c->last_log_path, &e);
	}
	if (!c->init)
		logs_measure(c->pod->parts->logs, c->pod->obj, c->log_path);
}

/* The OCI process it was started with, for exec and probes. */
static void recall_process(struct ctr *c)
{
	auto_free char *dir = ctr_dir(c);
	auto_free char *path = xasprintf("%s/config.json", dir);
	auto_sbuf struct sbuf text = SBUF(LIMIT_BODY);
	json_auto_t *doc = NULL;
	struct err e = ERR_INIT;
	struct runtime *r = c->pod->parts->runtime;

	if (c->pod->process) {
		json_decref(c->process);
		c->process = r->ops->process ? r->ops->process(r, c->id) : NULL;
		return;
	}
	if (file_read(path, LIMIT_BODY, &text, &e) < 0 || !text.p ||
	    jsonx_parse(text.p, text.n, NULL, NULL, &doc, &e) < 0)
		return;
	json_decref(c->process);
	c->process = json_incref(json_object_get(doc, "process"));
}

static void recall(struct ctr *c, const json_t *status)
{
	const json_t *state = json_object_get(status, "state");
	const json_t *terminated = json_object_get(state, "terminated");
	const json_t *last = jsonx_at(status, "lastState.terminated");
	const char *image_id = jsonx_str(status, "imageID");
	const char *id = jsonx_str(status, "containerID");

	c->attempt = (int)jsonx_int_or(status, "restartCount", 0);
	c->failures = c->attempt;
	c->image_id = image_id && *image_id ? xstrdup(image_id) : NULL;
	if (json_is_object(last))
		recall_end(last, &c->last);
	if (!id || !*id)
		return;
	name_run(c, c->attempt);
	c->state = CTR_EXITED;
	c->exited_ms = clock_mono_ms();
	if (json_is_object(terminated)) {
		recall_end(terminated, &c->end);
		c->failures++;
		if (c->log_path)
			logs_container_ended(c->pod->parts->logs, c->log_path);
	} else if (json_object_get(state, "running")) {
		/* Until the runtime says otherwise. */
		c->started_us = time_of(state, "running.startedAt");
		c->end = (struct ctr_end){ .exit = { .code = 255, .unknown = true, .finished_us = clock_wall_micros() },
					   .started_us = c->started_us,
					   .known = true };
		c->lost = true;
	} else if (json_is_object(last) && str_ends(id, c->id)) {
		/* It was waiting for its next run. */
		recall_end(last, &c->end);
		c->failures++;
	} else {
		/* A run that had its number and, unless the runtime knows it, no more. */
		c->state = CTR_WAITING;
	}
}

void pod_recall(struct pod *p)
{
	static const char *const fields[] = { "status.initContainerStatuses", "status.containerStatuses" };

	for (size_t f = 0; f < ARRAY_SIZE(fields); f++) {
		json_t *status;
		size_t i;

		json_array_foreach (jsonx_at(p->obj, fields[f]), i, status) {
			struct ctr *c = pod_ctr(p, jsonx_str_or(status, "name", ""));

			if (c)
				recall(c, status);
		}
	}
}

/* "<uid>_<container>_<attempt>" */
static struct ctr *by_id(const struct pod *p, const char *id, int *ret_attempt)
{
	const char *end = strrchr(id, '_');
	const char *start = strchr(id, '_');
	int64_t n;

	if (!start || end == start || !str_int64(end + 1, 0, INT32_MAX, &n))
		return NULL;
	auto_free char *name = xstrndup(start + 1, (size_t)(end - start - 1));
	*ret_attempt = (int)n;
	return pod_ctr(p, name);
}

void pod_found(struct pod *p, const struct found *f)
{
	int attempt = 0;
	struct ctr *c = by_id(p, f->id, &attempt);

	if (!c || attempt < c->attempt) {
		/* An older run that was not yet forgotten. */
		p->parts->runtime->ops->remove(p->parts->runtime, f->id);
		return;
	}
	if (attempt == c->attempt && c->end.known && !c->lost && !f->running)
		return; /* how it ended has been told */
	/* When a run began has been told once and does not change any more. */
	if (attempt > c->attempt || !c->started_us)
		c->started_us = f->started_us;
	if (attempt > c->attempt && c->end.known) {
		free(c->last.reason);
		free(c->last.message);
		free(c->last.id);
		c->last = c->end;
		c->end = (struct ctr_end){ 0 };
	}
	c->attempt = attempt;
	c->lost = false;
	name_run(c, attempt);
	c->pid = f->pid;
	recall_process(c);
	pod_start_clock(p);
	p->revived = true;
	if (!f->running) {
		c->state = CTR_RUNNING;
		ctr_ended(c, &f->exit);
		return;
	}
	c->state = CTR_RUNNING;
	ctr_wait(c, NULL, NULL);
	ctr_probes_start(c);
}
