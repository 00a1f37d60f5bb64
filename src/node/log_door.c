// SPDX-License-Identifier: Apache-2.0
/* log_door.c - from a kubelet's log request to a reader, and back
 *
 * A log belongs to whoever asked until its `end` has been called: then it is gone.
 */
#include "node/log_door.h"

#include <unistd.h>

#include "base/jsonx.h"
#include "base/mem.h"
#include "node/measure_keep.h"
#include "node/pod.h"

struct kubelet_log {
	struct log_reader *reader;
	struct kubelet_log_handlers h;
	struct logs_listener listener;
	char *path;
};

static void on_text(void *arg, struct str piece)
{
	struct kubelet_log *l = arg;

	l->h.text(l->h.arg, piece);
}

static void on_end(void *arg)
{
	struct kubelet_log *l = arg;
	struct kubelet_log_handlers h = l->h;
	struct err none = ERR_INIT;

	log_door_close(l);
	h.end(h.arg, &none);
}

static void on_container_ended(void *arg)
{
	log_door_ended(arg);
}

static int door_open(struct loop *loop, struct logs *logs, const char *path, bool running,
		     const struct kubelet_log_request *q, const struct kubelet_log_handlers *h,
		     struct kubelet_log **ret, struct err *e)
{
	struct log_options o = { .follow = q->follow && running,
				 .timestamps = q->timestamps,
				 .since_us = q->since_us,
				 .tail_lines = q->tail_lines,
				 .limit_bytes = q->limit_bytes,
				 .stream = q->stream,
				 .watch = logs_watch(logs) };
	struct kubelet_log *l = xcalloc(1, sizeof(*l));

	l->h = *h;
	l->path = xstrdup(path);
	if (log_reader_new(loop, path, &o, on_text, on_end, l, &l->reader, e) < 0) {
		free(l->path);
		free(l);
		return -1;
	}
	if (o.follow) {
		l->listener = (struct logs_listener){ .path = l->path, .ended = on_container_ended, .arg = l };
		logs_listen(logs, &l->listener);
	}
	*ret = l;
	return 0;
}

int log_door_open(struct loop *loop, struct logs *logs, const struct pod_container *c,
		  const struct kubelet_log_request *q, const struct kubelet_log_handlers *h, struct kubelet_log **ret,
		  struct err *e)
{
	/* It has a place for its log from the moment someone tries to start it, and a log only once that worked. */
	if (!c->log_path || (!c->running && access(c->log_path, F_OK) < 0))
		return err_set(e, ERR_NOT_FOUND, "container \"%s\" in pod \"%s\" has no log", q->of.container,
			       q->of.pod);
	return door_open(loop, logs, c->log_path, c->running, q, h, ret, e);
}

void log_door_pause(struct kubelet_log *l, bool paused)
{
	log_reader_pause(l->reader, paused);
}

void log_door_close(struct kubelet_log *l)
{
	logs_unlisten(&l->listener);
	log_reader_free(l->reader);
	free(l->path);
	free(l);
}

void log_door_ended(struct kubelet_log *l)
{
	log_reader_ended(l->reader);
}

/* ---- of pods that may be gone ---- */

/* Where files lie is the server's own business. */
static void hide_paths(json_t *pod)
{
	json_t *container;
	json_t *attempt;
	size_t i;
	size_t j;

	json_array_foreach (json_object_get(pod, "containers"), i, container)
		json_array_foreach (json_object_get(container, "attempts"), j, attempt)
			json_object_del(attempt, "path");
}

json_t *log_door_find(struct logs *logs, const char *ns, const char *name)
{
	json_t *list = logs_find(logs, ns, name);
	json_t *pod;
	size_t i;

	json_array_foreach (list, i, pod)
		hide_paths(pod);
	return list;
}

json_t *log_door_measures(struct logs *logs, const char *ns, const json_t *pods)
{
	json_auto_t *found = json_array();
	json_t *pod;
	size_t i;

	json_array_foreach (pods, i, pod) {
		json_t *known = logs_find_uid(logs, ns, jsonx_str_or(pod, "uid", ""));

		if (known)
			json_array_append_new(found, known);
	}
	return measure_keep_find(found);
}

static const json_t *attempts_of(const json_t *pod, const char *container)
{
	json_t *c;
	size_t i;

	json_array_foreach (json_object_get(pod, "containers"), i, c)
		if (str_same(jsonx_str(c, "name"), container))
			return json_object_get(c, "attempts");
	return NULL;
}

static const json_t *pick_attempt(const json_t *attempts, int attempt, bool previous)
{
	size_t n = json_array_size(attempts);
	json_t *a;
	size_t i;

	if (attempt < 0)
		return json_array_get(attempts, previous ? n - 2 : n - 1); /* one that wraps round is not there */
	json_array_foreach (attempts, i, a)
		if (jsonx_int_or(a, "attempt", -1) == attempt)
			return a;
	return NULL;
}

int log_door_kept(struct loop *loop, struct logs *logs, const struct kubelet_log_request *q,
		  const struct kubelet_log_handlers *h, struct kubelet_log **ret, struct err *e)
{
	json_auto_t *pod = logs_find_uid(logs, q->of.ns, q->of.uid);
	const json_t *attempts = attempts_of(pod, q->of.container);
	const json_t *a = pick_attempt(attempts, q->attempt, q->previous);

	if (!a && json_array_size(attempts) && q->previous)
		return err_set(e, ERR_BAD_REQUEST, "previous terminated container \"%s\" in pod \"%s\" not found",
			       q->of.container, q->of.pod);
	if (!a)
		return err_set(e, ERR_NOT_FOUND, "no log of container \"%s\" in pod \"%s\" is kept", q->of.container,
			       q->of.pod);
	return door_open(loop, logs, jsonx_str_or(a, "path", ""), false, q, h, ret, e);
}
