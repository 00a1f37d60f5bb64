// SPDX-License-Identifier: Apache-2.0
/* rest_exec.c - pods/NAME/exec and pods/NAME/attach: hands on a container
 *
 * Everything that can be known to be wrong is answered as a Status, before the connection leaves HTTP.  Then the
 * exchange is over and a session stands between the client (loop/remote.h) and the container (loop/kubelet.h), passing
 * bytes on and holding up either side while the other does not take them.  It ends with whichever ends first.
 */
#include "api/exchange.h"
#include "api/pod_owner.h"
#include "base/jsonx.h"
#include "base/limits.h"
#include "base/mem.h"
#include "kinds/pbs_nodes.h"
#include "loop/remote.h"

#define QUEUE_BYTES (256u * 1024) /* not taken by one side before the other is held up */

struct hands {
	struct kubelet *kubelet;
	struct kubelet_session *session; /* NULL before it starts */
	struct remote *remote;           /* NULL when it is over */
	bool attach;
	bool output_paused, input_paused;
	unsigned entered; /* callbacks on the stack */
	bool over;
	struct remote_wants wants;
	json_t *command;
	char *ns, *pod, *uid, *container;
};

static void hands_free(struct hands *h)
{
	if (!h)
		return;
	json_decref(h->command);
	free(h->ns);
	free(h->pod);
	free(h->uid);
	free(h->container);
	free(h);
}

/* Either side may end in the middle of a call to it; the last one out frees. */
static void enter(struct hands *h)
{
	h->entered++;
}

static void leave(struct hands *h)
{
	if (--h->entered == 0 && h->over)
		hands_free(h);
}

/* --- from the container --- */

static void on_output(void *arg, int stream, struct str bytes)
{
	struct hands *h = arg;

	if (h->over)
		return;
	remote_output(h->remote, stream, bytes);
	if (!h->output_paused && remote_pending(h->remote) > QUEUE_BYTES) {
		h->output_paused = true;
		h->kubelet->ops->pause(h->session, true);
	}
}

static void on_taken(void *arg)
{
	struct hands *h = arg;

	if (h->over || !h->input_paused)
		return;
	h->input_paused = false;
	remote_pause(h->remote, false);
}

static void on_ended(void *arg, int code, const struct err *e)
{
	struct hands *h = arg;

	enter(h);
	h->session = NULL;
	h->over = true;
	if (h->remote)
		remote_end(TAKE(h->remote), code, e);
	leave(h);
}

/* --- from the client --- */

static void on_ready(void *arg, int rows, int cols)
{
	struct hands *h = arg;
	const struct kubelet_ops *ops = h->kubelet->ops;
	const struct kubelet_session_handlers handlers = { on_output, on_taken, on_ended, h };
	const struct kubelet_exec_request q = {
		.of = { .ns = h->ns, .pod = h->pod, .uid = h->uid, .container = h->container },
		.command = h->command,
		.in = h->wants.in,
		.out = h->wants.out,
		.err = h->wants.err,
		.tty = h->wants.tty,
		.rows = rows,
		.cols = cols,
	};
	struct err e = ERR_INIT;

	if ((h->attach ? ops->attach : ops->exec)(h->kubelet, &q, &handlers, &h->session, &e) < 0)
		on_ended(h, 0, &e);
}

static void on_input(void *arg, struct str bytes)
{
	struct hands *h = arg;

	if (!h->session)
		return;
	enter(h);
	h->kubelet->ops->input(h->session, bytes);
	if (!h->over && !h->input_paused && h->kubelet->ops->input_pending(h->session) > QUEUE_BYTES) {
		h->input_paused = true;
		remote_pause(h->remote, true);
	}
	leave(h);
}

static void on_input_end(void *arg)
{
	struct hands *h = arg;

	if (h->session)
		h->kubelet->ops->input_end(h->session);
}

static void on_resize(void *arg, int rows, int cols)
{
	struct hands *h = arg;

	if (h->session)
		h->kubelet->ops->resize(h->session, rows, cols);
}

static void on_drained(void *arg)
{
	struct hands *h = arg;

	if (!h->output_paused || !h->session)
		return;
	h->output_paused = false;
	h->kubelet->ops->pause(h->session, false);
}

static void on_closed(void *arg)
{
	struct hands *h = arg;

	enter(h);
	h->remote = NULL;
	h->over = true;
	if (h->session)
		h->kubelet->ops->close(TAKE(h->session));
	leave(h);
}

/* --- what is asked --- */

/* `command` is repeated, once for each word; the exchange keeps only the first of a name. */
static json_t *read_command(const struct http_request *http)
{
	auto_sbuf struct sbuf key = SBUF(LIMIT_URL);
	auto_sbuf struct sbuf value = SBUF(LIMIT_URL);
	struct str rest = http_query(http);
	json_t *words = json_array();
	bool bad = false;

	while (http_query_next(&rest, &key, &value, &bad))
		if (key.p && streq(key.p, "command"))
			json_array_append_new(words, jsonx_stringn(value.p ? value.p : "", value.n));
	return words;
}

static int read_options(const struct exchange *x, struct hands *h, struct err *e)
{
	h->wants = (struct remote_wants){
		.in = exchange_flag(x, "stdin"),
		.out = exchange_flag(x, "stdout"),
		.err = exchange_flag(x, "stderr"),
		.tty = exchange_flag(x, "tty"),
	};
	if (!h->wants.in && !h->wants.out && !h->wants.err)
		return err_set(e, ERR_BAD_REQUEST, "you must specify at least 1 of stdin, stdout, stderr");
	if (h->wants.tty) /* a terminal has one output */
		h->wants.err = false;
	h->command = read_command(x->http);
	if (!h->attach && !json_array_size(h->command))
		return err_set(e, ERR_BAD_REQUEST, "you must specify at least one command for the container");
	return 0;
}

static int check_pod(const struct exchange *x, const json_t *pod, struct hands *h, struct err *e)
{
	const char *phase = jsonx_str_or(pod, "status.phase", "");
	const char *container;

	if (rest_pod_container(pod, exchange_param(x, "container"), &container, e) < 0)
		return -1;
	if (!*jsonx_str_or(pod, "spec.nodeName", ""))
		return err_set(e, ERR_BAD_REQUEST, "pod %s does not have a host assigned", x->req.name);
	if (streq(phase, "Succeeded") || streq(phase, "Failed"))
		return err_set(e, ERR_BAD_REQUEST, "cannot %s a container in a completed pod; current phase is %s",
			       h->attach ? "attach" : "exec into", phase);
	/* Whether a process of the host runs the node knows first. */
	if (!jsonx_at(rest_pod_container_status(pod, container), "state.running") &&
	    !streq(jsonx_str_or(pod, "spec.runtimeClassName", ""), PBS_HOST_CLASS))
		return err_set(e, ERR_NOT_FOUND, "container not found (\"%s\")", container);
	h->ns = xstrdup(x->req.ns);
	h->pod = xstrdup(x->req.name);
	h->uid = xstrdup(jsonx_str_or(pod, "metadata.uid", ""));
	h->container = xstrdup(container);
	return 0;
}

static int begin(struct exchange *x, struct hands *h, struct err *e)
{
	const struct remote_handlers handlers = {
		.ready = on_ready,
		.input = on_input,
		.input_end = on_input_end,
		.resize = on_resize,
		.drained = on_drained,
		.closed = on_closed,
		.arg = h,
	};
	json_auto_t *pod = NULL;

	if (read_options(x, h, e) < 0 || rest_pod_get(x, &pod, &h->kubelet, e) < 0 ||
	    pod_owner_check_hands(x->rest->api, &x->req, pod, e) < 0 || check_pod(x, pod, h, e) < 0)
		return -1;
	exchange_keep_peer(x);
	return remote_accept(x->http, &h->wants, &handlers, &h->remote, e);
}

static void serve(struct exchange *x, bool attach)
{
	struct hands *h = xcalloc(1, sizeof(*h));

	h->attach = attach;
	if (begin(x, h, &x->err) < 0) {
		hands_free(h);
		exchange_finish(x);
		return;
	}
	exchange_upgraded(x);
}

void rest_exec(struct exchange *x)
{
	serve(x, false);
}

void rest_attach(struct exchange *x)
{
	serve(x, true);
}
