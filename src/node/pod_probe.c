// SPDX-License-Identifier: Apache-2.0
/* pod_probe.c - a running container's hooks and probes, and what follows from their verdicts
 *
 *	postStart -> startup probe -> liveness and readiness probes, side by side
 *
 * Without a readiness probe a container is ready as soon as it has started.
 */
#include "base/clock.h"
#include "base/jsonx.h"
#include "base/mem.h"
#include "node/pod_parts.h"

struct probe_target ctr_probe_target(struct ctr *c)
{
	return (struct probe_target){
		.loop = c->pod->parts->loop,
		.runtime = c->pod->parts->runtime,
		.id = c->id,
		.process = c->process,
		.host = c->pod->ip ? c->pod->ip : "127.0.0.1",
		.container = c->spec,
	};
}

static bool has_probe(const struct ctr *c, enum probe_kind kind)
{
	return json_is_object(json_object_get(c->spec, probe_kind_field(kind)));
}

static int64_t pod_grace_ms(const struct ctr *c)
{
	return clock_ms_of(jsonx_int_or(c->pod->obj, "spec.terminationGracePeriodSeconds", 30));
}

static int64_t probe_grace_ms(const struct ctr *c, enum probe_kind kind)
{
	const json_t *own =
		json_object_get(json_object_get(c->spec, probe_kind_field(kind)), "terminationGracePeriodSeconds");

	return json_is_integer(own) ? clock_ms_of(json_integer_value(own)) : pod_grace_ms(c);
}

static void on_verdict(void *arg, enum probe_kind kind, bool ok, const char *message);
static void on_attempt(void *arg, enum probe_kind kind, const char *message);

static void start_probe(struct ctr *c, enum probe_kind kind)
{
	struct probe_target t = ctr_probe_target(c);

	if (has_probe(c, kind) && !c->probers[kind])
		c->probers[kind] = prober_new(&t, kind, on_verdict, on_attempt, c);
}

static void has_started(struct ctr *c)
{
	c->started = true;
	if (!has_probe(c, PROBE_READINESS))
		c->ready = true;
	start_probe(c, PROBE_LIVENESS);
	start_probe(c, PROBE_READINESS);
	pod_kick(c->pod);
}

static void on_verdict(void *arg, enum probe_kind kind, bool ok, const char *message)
{
	struct ctr *c = arg;

	(void)message;
	if (kind == PROBE_READINESS) {
		c->ready = ok;
		pod_kick(c->pod);
		return;
	}
	if (c->state != CTR_RUNNING)
		return;
	if (kind == PROBE_STARTUP && ok) {
		has_started(c);
		return;
	}
	if (!ok) {
		auto_free char *text = xasprintf("Container %s failed %s probe, will be restarted", c->name,
						 kind == PROBE_STARTUP ? "startup" : "liveness");

		ctr_stop(c, probe_grace_ms(c, kind), text);
		pod_kick(c->pod);
	}
}

static void on_attempt(void *arg, enum probe_kind kind, const char *message)
{
	ctr_event(arg, "Warning", "Unhealthy", "%s probe failed: %s", probe_kind_title(kind), message);
}

void ctr_probes_start(struct ctr *c)
{
	c->post_started = true;
	if (has_probe(c, PROBE_STARTUP))
		start_probe(c, PROBE_STARTUP);
	else
		has_started(c);
}

static void stop_probe(struct ctr *c, enum probe_kind kind)
{
	prober_free(c->probers[kind]);
	c->probers[kind] = NULL;
}

void ctr_probes_stop(struct ctr *c)
{
	for (int i = 0; i < PROBE__COUNT; i++)
		stop_probe(c, i);
}

void ctr_probes_ending(struct ctr *c)
{
	stop_probe(c, PROBE_STARTUP);
	stop_probe(c, PROBE_LIVENESS);
}

static void on_post_start(void *arg, const struct err *e)
{
	struct ctr *c = arg;

	c->hook = NULL;
	if (c->state != CTR_RUNNING)
		return;
	if (e->kind != ERR_NONE) {
		ctr_event(c, "Warning", "FailedPostStartHook", "PostStartHook failed: %s", e->text);
		ctr_stop(c, pod_grace_ms(c), "FailedPostStartHook");
		pod_kick(c->pod);
		return;
	}
	ctr_probes_start(c);
}

void ctr_hook_start(struct ctr *c)
{
	struct probe_target t = ctr_probe_target(c);

	c->hook = hook_run(&t, "postStart", on_post_start, c);
	if (!c->hook)
		ctr_probes_start(c);
}
