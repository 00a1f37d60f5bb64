// SPDX-License-Identifier: Apache-2.0
/* action.c - one command, HTTP request or connection on behalf of a probe or hook */
#include "node/action.h"

#include "base/jsonx.h"
#include "base/mem.h"
#include "loop/ask.h"
#include "node/command.h"

#define BODY_MAX (10u * 1024)      /* kubelet's figure: more of an answer is not read */
#define AGENT    "kube-probe/1.32" /* what applications look for to keep probes out of their logs */
#define TEXT_MAX (16u * 1024)

struct action {
	enum action_kind kind;
	struct loop *loop;
	struct command *command;
	struct ask *ask;
	struct loop_hook fail;
	struct err error;
	void (*done)(void *arg, const struct action_end *end);
	void *arg;
};

static void action_free(struct action *a)
{
	command_cancel(a->command);
	ask_cancel(a->ask);
	loop_unschedule(a->loop, &a->fail);
	free(a);
}

void action_cancel(struct action *a)
{
	if (a)
		action_free(a);
}

static void finish(struct action *a, struct action_end end)
{
	void (*done)(void *, const struct action_end *) = a->done;
	void *arg = a->arg;

	end.kind = a->kind;
	action_free(a);
	done(arg, &end);
}

static void on_fail(void *arg)
{
	struct action *a = arg;
	struct err error = a->error;

	finish(a, (struct action_end){ .e = &error, .unasked = true });
}

static void on_command(void *arg, int status, struct str output, const struct err *e)
{
	struct action *a = arg;
	bool unasked = e->kind != ERR_NONE && e->kind != ERR_TIMEOUT;

	a->command = NULL;
	finish(a, (struct action_end){ .code = status, .output = output, .e = e, .unasked = unasked });
}

static void on_answer(void *arg, int code, struct str body, const struct err *e)
{
	struct action *a = arg;

	(void)body;
	a->ask = NULL;
	finish(a, (struct action_end){ .code = code, .e = e });
}

/* A number, the name of one of the container's ports, or a number as text. */
static int port_of(const json_t *container, const json_t *port, struct err *e)
{
	const char *name = json_string_value(port);
	int64_t number = json_integer_value(port);
	json_t *p;
	size_t i;

	json_array_foreach (json_object_get(container, "ports"), i, p)
		if (name && str_same(jsonx_str(p, "name"), name))
			number = jsonx_int_or(p, "containerPort", 0);
	if (name && !number)
		str_int64(name, 1, 65535, &number);
	if (number < 1 || number > 65535)
		return name ? err_set(e, ERR_INVALID, "the container has no port named \"%s\"", name)
			    : err_set(e, ERR_INVALID, "invalid port number: %lld", (long long)number);
	return (int)number;
}

static const char *host_of(const struct probe_target *t, const json_t *how)
{
	const char *host = jsonx_str_or(how, "host", "");

	return *host ? host : t->host;
}

static void start_exec(struct action *a, const struct probe_target *t, const json_t *how, int64_t timeout_ms)
{
	a->command = command_start(&(struct command_request){
		.loop = t->loop,
		.runtime = t->runtime,
		.id = t->id,
		.process = t->process,
		.args = json_object_get(how, "command"),
		.timeout_ms = timeout_ms,
		.done = on_command,
		.arg = a,
	});
}

static void start_ask(struct action *a, const struct probe_target *t, const json_t *how, int64_t timeout_ms, bool http)
{
	int port = port_of(t->container, json_object_get(how, "port"), &a->error);

	if (port < 0)
		return;
	a->ask = ask_start(t->loop, &(struct ask_request){
					    .host = host_of(t, how),
					    .port = port,
					    .https = http && streq(jsonx_str_or(how, "scheme", "HTTP"), "HTTPS"),
					    .path = http ? jsonx_str_or(how, "path", "/") : NULL,
					    .headers = json_object_get(how, "httpHeaders"),
					    .agent = AGENT,
					    .follow = true,
					    .timeout_ms = timeout_ms,
					    .body_max = BODY_MAX,
					    .done = on_answer,
					    .arg = a,
				    });
}

static void start_http(struct action *a, const struct probe_target *t, const json_t *how, int64_t timeout_ms)
{
	start_ask(a, t, how, timeout_ms, true);
}

static void start_tcp(struct action *a, const struct probe_target *t, const json_t *how, int64_t timeout_ms)
{
	start_ask(a, t, how, timeout_ms, false);
}

static void start_grpc(struct action *a, const struct probe_target *t, const json_t *how, int64_t timeout_ms)
{
	(void)t;
	(void)how;
	(void)timeout_ms;
	err_set(&a->error, ERR_UNAVAILABLE,
		"gRPC probes are not supported by this node; use exec, httpGet or tcpSocket");
}

static const struct {
	const char *name;
	enum action_kind kind;
	void (*start)(struct action *a, const struct probe_target *t, const json_t *how, int64_t timeout_ms);
} ways[] = {
	{ "exec", ACTION_EXEC, start_exec },
	{ "httpGet", ACTION_HTTP, start_http },
	{ "tcpSocket", ACTION_TCP, start_tcp },
	{ "grpc", ACTION_GRPC, start_grpc },
};

struct action *action_start(const struct probe_target *t, const json_t *handler, int64_t timeout_ms,
			    void (*done)(void *arg, const struct action_end *end), void *arg)
{
	struct action *a = xcalloc(1, sizeof(*a));

	*a = (struct action){ .loop = t->loop, .error = ERR_INIT, .done = done, .arg = arg };
	a->fail = (struct loop_hook){ .run = on_fail, .arg = a, .phase = LOOP_WORK };
	for (size_t i = 0; i < ARRAY_SIZE(ways) && !a->kind; i++) {
		const json_t *how = json_object_get(handler, ways[i].name);

		if (!how)
			continue;
		a->kind = ways[i].kind;
		ways[i].start(a, t, how, timeout_ms);
	}
	if (!a->kind)
		err_set(&a->error, ERR_INVALID, "no handler is given");
	if (a->error.kind != ERR_NONE)
		loop_schedule(a->loop, &a->fail);
	return a;
}

char *action_command_text(const json_t *handler)
{
	struct sbuf text = SBUF(TEXT_MAX);
	json_t *word;
	size_t i;

	json_array_foreach (jsonx_at(handler, "exec.command"), i, word) {
		if (i)
			sbuf_addc(&text, ' ');
		sbuf_adds(&text, json_string_value(word));
	}
	return sbuf_steal(&text);
}
