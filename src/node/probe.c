// SPDX-License-Identifier: Apache-2.0
/* probe.c - one probe of one container: wait, ask, count, report
 *
 * Counting is probe_plan.c's, asking is action.c's; this puts them in a circle and words the answers as the kubelet
 * does.  Callbacks may free the prober.
 */
#include "node/probe.h"

#include "base/clock.h"
#include "base/mem.h"
#include "base/str.h"
#include "node/action.h"
#include "node/probe_plan.h"

struct prober {
	struct probe_target target;
	const json_t *probe;
	struct probe_spec spec;
	struct probe_count count;
	struct action *action;
	struct loop_timer timer;
	int64_t asked_ms;
	bool *gone; /* set while a callback runs: told that it has freed the prober */
	void (*verdict)(void *arg, enum probe_kind kind, bool ok, const char *message);
	void (*attempt)(void *arg, enum probe_kind kind, const char *message);
	void *arg;
};

static const struct {
	const char *field, *title;
} kinds[PROBE__COUNT] = {
	[PROBE_STARTUP] = { "startupProbe", "Startup" },
	[PROBE_LIVENESS] = { "livenessProbe", "Liveness" },
	[PROBE_READINESS] = { "readinessProbe", "Readiness" },
};

const char *probe_kind_field(enum probe_kind kind)
{
	return kinds[kind].field;
}

const char *probe_kind_title(enum probe_kind kind)
{
	return kinds[kind].title;
}

/* *ret_text is malloc'ed, or NULL on success. */
static enum probe_result judge(const struct prober *p, const struct action_end *end, char **ret_text)
{
	*ret_text = NULL;
	if (end->kind == ACTION_EXEC && end->e->kind == ERR_TIMEOUT) {
		auto_free char *command = action_command_text(p->probe);

		*ret_text = xasprintf("command \"%s\" timed out", command);
		return PROBE_FAILURE;
	}
	if (end->e->kind != ERR_NONE) {
		*ret_text = xstrdup(end->e->text);
		return end->unasked && end->kind != ACTION_GRPC ? PROBE_UNKNOWN : PROBE_FAILURE;
	}
	if (end->kind == ACTION_EXEC && end->code) {
		*ret_text = xstrndup(end->output.n ? end->output.p : "", end->output.n);
		return PROBE_FAILURE;
	}
	if (end->kind == ACTION_HTTP && (end->code < 200 || end->code >= 400)) {
		*ret_text = xasprintf("HTTP probe failed with statuscode: %d", end->code);
		return PROBE_FAILURE;
	}
	return PROBE_SUCCESS;
}

static void on_end(void *arg, const struct action_end *end)
{
	struct prober *p = arg;
	auto_free char *text = NULL;
	enum probe_result result = judge(p, end, &text);
	struct probe_step step = probe_plan(&p->spec, &p->count, result, clock_mono_ms() - p->asked_ms);
	bool gone = false;

	p->action = NULL;
	p->gone = &gone;
	if (result != PROBE_SUCCESS && p->attempt)
		p->attempt(p->arg, p->spec.kind, text);
	if (!gone && step.tell)
		p->verdict(p->arg, p->spec.kind, step.ok, text ? text : "");
	if (gone)
		return;
	p->gone = NULL;
	if (!step.stop)
		loop_timer_set(p->target.loop, &p->timer, step.wait_ms);
}

static void on_timer(void *arg)
{
	struct prober *p = arg;

	p->asked_ms = clock_mono_ms();
	p->action = action_start(&p->target, p->probe, p->spec.timeout_ms, on_end, p);
}

struct prober *prober_new(const struct probe_target *t, enum probe_kind kind,
			  void (*verdict)(void *arg, enum probe_kind kind, bool ok, const char *message),
			  void (*attempt)(void *arg, enum probe_kind kind, const char *message), void *arg)
{
	const json_t *probe = json_object_get(t->container, kinds[kind].field);
	struct prober *p;

	if (!probe)
		return NULL;
	p = xcalloc(1, sizeof(*p));
	/* The pod's object changes with each of its statuses, a prober outlives them. */
	*p = (struct prober){ .target = { .loop = t->loop,
					  .runtime = t->runtime,
					  .id = xstrdup(t->id),
					  .process = json_incref((json_t *)t->process),
					  .host = xstrdup(t->host),
					  .container = json_incref((json_t *)t->container) },
			      .probe = probe,
			      .verdict = verdict,
			      .attempt = attempt,
			      .arg = arg };
	p->spec = probe_spec_of(probe, kind);
	p->timer = (struct loop_timer){ .fire = on_timer, .arg = p };
	loop_timer_set(t->loop, &p->timer, p->spec.initial_delay_ms);
	return p;
}

void prober_free(struct prober *p)
{
	if (!p)
		return;
	if (p->gone)
		*p->gone = true;
	action_cancel(p->action);
	loop_timer_done(&p->timer);
	free((char *)p->target.id);
	free((char *)p->target.host);
	json_decref((json_t *)p->target.process);
	json_decref((json_t *)p->target.container);
	free(p);
}
