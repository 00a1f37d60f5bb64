// SPDX-License-Identifier: Apache-2.0
/* execution.c - an extra process in a container whose asker may leave before it ends */
#include "node/execution.h"

#include "base/mem.h"
#include "base/str.h"

struct execution {
	struct runtime *runtime;
	void *handle;
	void (*done)(void *arg, int status, const struct err *e); /* NULL: nobody waits */
	void *arg;
};

static void on_done(void *arg, int status, const struct err *e)
{
	struct execution *x = arg;
	struct execution was = *x;

	free(x);
	if (was.done)
		was.done(was.arg, status, e);
}

struct execution *execution_start(struct runtime *r, const struct exec_start *start,
				  void (*done)(void *arg, int status, const struct err *e), void *arg)
{
	struct execution *x = xcalloc(1, sizeof(*x));

	*x = (struct execution){ .runtime = r, .done = done, .arg = arg };
	x->handle = r->ops->exec(r, start, on_done, x);
	return x;
}

bool execution_resize(struct execution *x, int rows, int cols)
{
	struct err e = ERR_INIT;

	return x->runtime->ops->exec_resize(x->runtime, x->handle, rows, cols, &e) == 0;
}

void execution_kill(struct execution *x)
{
	x->runtime->ops->exec_kill(x->runtime, x->handle);
}

void execution_abandon(struct execution *x)
{
	if (!x)
		return;
	x->done = NULL;
	execution_kill(x);
}

/* What a terminal is called, unless the container says so itself. */
static void name_terminal(json_t *process)
{
	json_t *env = json_object_get(process, "env");
	json_t *copy = env ? json_copy(env) : json_array();
	json_t *v;
	size_t i;

	json_array_foreach (env, i, v)
		if (str_starts(json_string_value(v), "TERM=")) {
			json_decref(copy);
			return;
		}
	json_array_append_new(copy, json_string("TERM=xterm"));
	json_object_set_new(process, "env", copy);
}

json_t *execution_process(const json_t *process, const json_t *command, bool tty)
{
	json_t *p = json_copy((json_t *)process);

	json_object_set(p, "args", (json_t *)command);
	json_object_del(p, "consoleSize");
	json_object_set_new(p, "terminal", json_boolean(tty));
	if (tty)
		name_terminal(p);
	return p;
}
