// SPDX-License-Identifier: Apache-2.0
/* far_kubelet.c - see far_kubelet.h
 *
 * What is asked is passed on to the cluster, which knows best whether a container runs, and its words come back.  A
 * log is read as fast as the cluster sends it; while nobody takes it, it is kept up to a limit.
 */
#include "client/far_kubelet.h"

#include <sys/queue.h>

#include "base/clock.h"
#include "base/jsonx.h"
#include "base/limits.h"
#include "base/mem.h"
#include "client/ask.h"

#define UID_ANNOTATION "stoker.dev/uid"    /* whose rights a pod has: api/pod_owner.h */
#define LOG_BEHIND     (16u * 1024 * 1024) /* so much of a log is kept for a slow reader */

struct far_kubelet {
	struct kubelet base;
	struct split_config config;
	struct informer *pods;
	LIST_HEAD(, kubelet_session) sessions;
	LIST_HEAD(, kubelet_log) logs;
};

struct kubelet_session {
	struct remote_ask *ask;
	struct kubelet_session_handlers h;
	LIST_ENTRY(kubelet_session) link;
};

struct kubelet_log {
	struct far_kubelet *k;
	void *stream; /* NULL: it has ended */
	struct kubelet_log_handlers h;
	struct sbuf behind;
	struct err end;
	struct loop_timer later; /* the end of a log that was paused */
	bool paused;
	LIST_ENTRY(kubelet_log) link;
};

static struct far_kubelet *far(struct kubelet *k)
{
	return (struct far_kubelet *)k;
}

/* ---- pods ---- */

static void set_rights(json_t *pod)
{
	const json_t *uid = jsonx_at(pod, "spec.securityContext.runAsUser");
	json_t *metadata = json_object_get(pod, "metadata");
	json_t *notes = json_copy(json_object_get(metadata, "annotations"));

	if (!notes)
		notes = json_object();
	json_object_del(notes, UID_ANNOTATION);
	if (json_is_integer(uid))
		json_object_set_new(notes, UID_ANNOTATION, jsonx_stringf("%lld", (long long)json_integer_value(uid)));
	json_object_set_new(metadata, "annotations", notes);
}

json_t *far_kubelet_pod(const struct split_config *config, const json_t *pod)
{
	json_t *seen = split_incoming(config, pod);

	if (seen == pod) { /* nobody's, or another store's */
		json_decref(seen);
		return NULL;
	}
	set_rights(seen);
	return seen;
}

static int find_pod(struct kubelet *base, const char *ns, const char *name, json_t **ret, struct err *e)
{
	struct far_kubelet *k = far(base);
	const json_t *pod = informer_find(k->pods, ns, name);

	if (!pod && !informer_synced(k->pods))
		return err_set(e, ERR_UNAVAILABLE, "the cluster %s does not answer", client_server(k->config.far));
	*ret = pod ? far_kubelet_pod(&k->config, pod) : NULL;
	return *ret ? 0 : err_set(e, ERR_NOT_FOUND, "pods \"%.253s\" not found", name);
}

static void add_pod_path(const struct kubelet_target *of, const char *what, struct sbuf *out)
{
	sbuf_adds(out, "/api/v1/namespaces/");
	client_escape(out, of->ns);
	sbuf_adds(out, "/pods/");
	client_escape(out, of->pod);
	sbuf_addf(out, "/%s?container=", what);
	client_escape(out, of->container);
}

/* ---- exec and attach ---- */

static void session_free(struct kubelet_session *s)
{
	LIST_REMOVE(s, link);
	remote_ask_free(s->ask);
	free(s);
}

static void on_output(void *arg, int stream, struct str bytes)
{
	struct kubelet_session *s = arg;

	s->h.output(s->h.arg, stream, bytes);
}

static void on_drained(void *arg)
{
	struct kubelet_session *s = arg;

	s->h.drained(s->h.arg);
}

static void on_ended(void *arg, int code, const struct err *e)
{
	struct kubelet_session *s = arg;
	struct kubelet_session_handlers h = s->h;

	session_free(s);
	h.ended(h.arg, code, e);
}

static int start(struct kubelet *base, const char *what, const struct kubelet_exec_request *q,
		 const struct kubelet_session_handlers *h, struct kubelet_session **ret, struct err *e)
{
	struct far_kubelet *k = far(base);
	auto_sbuf struct sbuf path = SBUF(LIMIT_URL);
	struct kubelet_session *s = xcalloc(1, sizeof(*s));
	const struct remote_ask_handlers handlers = { NULL, on_output, on_drained, on_ended, s };
	json_t *word;
	size_t i;

	add_pod_path(&q->of, what, &path);
	sbuf_addf(&path, "&stdin=%d&stdout=%d&stderr=%d&tty=%d", q->in, q->out, q->err, q->tty);
	json_array_foreach ((json_t *)q->command, i, word) {
		sbuf_adds(&path, "&command=");
		client_escape(&path, json_string_value(word));
	}
	s->h = *h;
	if ((path.over ? err_set(e, ERR_TOO_LARGE, "the command is too long")
		       : client_ask(k->config.far, path.p, &handlers, &s->ask, e)) < 0) {
		free(s);
		return -1;
	}
	LIST_INSERT_HEAD(&k->sessions, s, link);
	if (q->rows && q->cols)
		remote_ask_resize(s->ask, q->rows, q->cols);
	*ret = s;
	return 0;
}

static int far_exec(struct kubelet *k, const struct kubelet_exec_request *q, const struct kubelet_session_handlers *h,
		    struct kubelet_session **ret, struct err *e)
{
	return start(k, "exec", q, h, ret, e);
}

static int far_attach(struct kubelet *k, const struct kubelet_exec_request *q, const struct kubelet_session_handlers *h,
		      struct kubelet_session **ret, struct err *e)
{
	struct kubelet_exec_request own = *q;

	own.command = NULL;
	return start(k, "attach", &own, h, ret, e);
}

static void far_input(struct kubelet_session *s, struct str bytes)
{
	remote_ask_input(s->ask, bytes);
}

static size_t far_input_pending(const struct kubelet_session *s)
{
	return remote_ask_pending(s->ask);
}

static void far_input_end(struct kubelet_session *s)
{
	remote_ask_input_end(s->ask);
}

static void far_resize(struct kubelet_session *s, int rows, int cols)
{
	remote_ask_resize(s->ask, rows, cols);
}

static void far_pause(struct kubelet_session *s, bool paused)
{
	remote_ask_pause(s->ask, paused);
}

static void far_close(struct kubelet_session *s)
{
	session_free(s);
}

/* ---- logs ---- */

void far_kubelet_log_query(const struct kubelet_log_request *q, struct sbuf *out)
{
	char since[CLOCK_RFC3339_LEN];

	sbuf_adds(out, "?container=");
	client_escape(out, q->of.container);
	sbuf_addf(out, "&follow=%s&previous=%s&timestamps=%s", q->follow ? "true" : "false",
		  q->previous ? "true" : "false", q->timestamps ? "true" : "false");
	if (q->tail_lines >= 0)
		sbuf_addf(out, "&tailLines=%lld", (long long)q->tail_lines);
	if (q->limit_bytes >= 0)
		sbuf_addf(out, "&limitBytes=%lld", (long long)q->limit_bytes);
	if (q->since_us <= 0)
		return;
	clock_rfc3339(q->since_us / 1000000, since);
	sbuf_adds(out, "&sinceTime=");
	client_escape(out, since);
}

static void log_free(struct kubelet_log *l)
{
	struct client *c = l->k->config.far;

	if (l->stream)
		c->ops->stream_stop(c, l->stream);
	loop_timer_done(&l->later);
	LIST_REMOVE(l, link);
	sbuf_done(&l->behind);
	free(l);
}

static void tell_end(void *arg)
{
	struct kubelet_log *l = arg;
	struct kubelet_log_handlers h = l->h;
	struct err e = l->end;

	log_free(l);
	h.end(h.arg, &e);
}

static void on_piece(void *arg, struct str piece)
{
	struct kubelet_log *l = arg;

	if (!l->paused)
		l->h.text(l->h.arg, piece);
	else
		sbuf_add(&l->behind, piece.p, piece.n);
}

static void on_log_end(void *arg, const struct err *e)
{
	struct kubelet_log *l = arg;

	l->stream = NULL;
	l->end = *e;
	if (l->behind.over)
		err_set(&l->end, ERR_TOO_LARGE, "the log came faster than it was read, and its end is missing");
	if (!l->paused)
		tell_end(l);
}

static int far_log(struct kubelet *base, const struct kubelet_log_request *q, const struct kubelet_log_handlers *h,
		   struct kubelet_log **ret, struct err *e)
{
	struct far_kubelet *k = far(base);
	struct client *c = k->config.far;
	auto_sbuf struct sbuf path = SBUF(LIMIT_URL);
	struct kubelet_log *l = xcalloc(1, sizeof(*l));

	(void)e;
	sbuf_adds(&path, "/api/v1/namespaces/");
	client_escape(&path, q->of.ns);
	sbuf_adds(&path, "/pods/");
	client_escape(&path, q->of.pod);
	sbuf_adds(&path, "/log");
	far_kubelet_log_query(q, &path);
	*l = (struct kubelet_log){ .k = k, .h = *h, .behind = SBUF(LOG_BEHIND), .end = ERR_INIT };
	l->later = (struct loop_timer){ .fire = tell_end, .arg = l };
	LIST_INSERT_HEAD(&k->logs, l, link);
	l->stream = c->ops->stream(c, path.p, on_piece, on_log_end, l);
	*ret = l;
	return 0;
}

/* What was kept is told at once; the reader may pause again meanwhile, and still gets all of it. */
static void far_log_pause(struct kubelet_log *l, bool paused)
{
	l->paused = paused;
	if (paused)
		return;
	if (l->behind.n) {
		auto_free char *text = NULL;
		size_t n = l->behind.n;

		text = sbuf_steal(&l->behind);
		l->behind = SBUF(LOG_BEHIND);
		l->h.text(l->h.arg, (struct str){ text, n });
	}
	if (!l->stream && !l->paused)
		loop_timer_set(l->k->config.far->loop, &l->later, 0);
}

static void far_log_close(struct kubelet_log *l)
{
	log_free(l);
}

/* ---- what that cluster does not tell ---- */

static json_t *find_no_logs(struct kubelet *k, const char *ns, const char *name)
{
	(void)k;
	(void)ns;
	(void)name;
	return json_array();
}

static int no_kept_log(struct kubelet *k, const struct kubelet_log_request *q, const struct kubelet_log_handlers *h,
		       struct kubelet_log **ret, struct err *e)
{
	(void)k;
	(void)h;
	(void)ret;
	return err_set(e, ERR_NOT_FOUND, "the cluster has no log of pod %s any more", q->of.pod);
}

static json_t *no_measures(struct kubelet *k, const char *ns, const json_t *pods)
{
	(void)k;
	(void)ns;
	(void)pods;
	return json_pack("{s:[], s:i}", "series", "left", 0);
}

static int no_dial(struct kubelet *k, const struct kubelet_target *of, int port, struct err *e)
{
	(void)k;
	(void)of;
	(void)port;
	return err_set(e, ERR_UNAVAILABLE, "ports of pods are forwarded by the cluster: kubectl port-forward");
}

static int no_pod_usage(struct kubelet *k, const char *uid, const json_t *containers, json_t **ret, struct err *e)
{
	(void)k;
	(void)containers;
	(void)ret;
	return err_set(e, ERR_NOT_FOUND, "what pod %s uses is not known here", uid);
}

static int no_node_usage(struct kubelet *k, const char *node, json_t **ret, struct err *e)
{
	(void)k;
	(void)ret;
	return err_set(e, ERR_NOT_FOUND, "what node %s uses is not known here", node);
}

/* ---- life ---- */

static const struct kubelet_ops ops = {
	.pod = find_pod,
	.log = far_log,
	.log_pause = far_log_pause,
	.log_close = far_log_close,
	.logs_find = find_no_logs,
	.log_kept = no_kept_log,
	.measures = no_measures,
	.exec = far_exec,
	.attach = far_attach,
	.input = far_input,
	.input_pending = far_input_pending,
	.input_end = far_input_end,
	.resize = far_resize,
	.pause = far_pause,
	.close = far_close,
	.dial = no_dial,
	.pod_usage = no_pod_usage,
	.node_usage = no_node_usage,
};

struct far_kubelet *far_kubelet_new(const struct split_config *config)
{
	struct far_kubelet *k = xcalloc(1, sizeof(*k));
	struct list_options some = { .labels = config->pods };

	k->base.ops = &ops;
	k->config = *config;
	LIST_INIT(&k->sessions);
	LIST_INIT(&k->logs);
	k->pods = informer_new(config->far, &(struct ref){ .api_version = "v1", .plural = "pods" }, &some,
			       &(struct informer_handlers){ .arg = k });
	return k;
}

void far_kubelet_free(struct far_kubelet *k)
{
	if (!k)
		return;
	while (!LIST_EMPTY(&k->sessions))
		session_free(LIST_FIRST(&k->sessions));
	while (!LIST_EMPTY(&k->logs))
		log_free(LIST_FIRST(&k->logs));
	informer_free(k->pods);
	free(k);
}

struct kubelet *far_kubelet_door(struct far_kubelet *k)
{
	return &k->base;
}
