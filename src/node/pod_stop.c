// SPDX-License-Identifier: Apache-2.0
/* pod_stop.c - the end of a container: asked, asked again, and made to
 *
 *	preStop -> its stop signal -> patience -> SIGKILL for everything in its control group
 *
 * The grace period covers all of it.  Stopping again with less time shortens it, never the other way round.
 *
 * Patience is for those who can use it.  In a pod of a gang a first process that does not hear the signal is not waited
 * for; if others in the container do, they are told, and there is time until they have ended (hearing.h).
 */
#include <signal.h>

#include "base/clock.h"
#include "base/jsonx.h"
#include "base/log.h"
#include "base/mem.h"
#include "node/pod_parts.h"

#define LISTEN_MS     100 /* between looks whether those who heard have ended */
#define LAST_WORDS_MS 500 /* between the stop signal and SIGKILL when a preStop hook has used up all the time */

static void send(struct ctr *c, int signo, bool all)
{
	struct runtime *r = c->pod->parts->runtime;
	struct err e = ERR_INIT;

	if (r->ops->kill(r, c->id, signo, all, &e) < 0)
		log_warn("signal %d to container %s: %s, ignoring", signo, c->id, e.text);
}

static void set_timer(struct ctr *c)
{
	int64_t left = c->kill_ms - clock_mono_ms();

	loop_timer_set(c->pod->parts->loop, &c->stop_timer, left > 0 ? left : 0);
}

static int stop_signal(const struct ctr *c)
{
	return c->stop_signal ? c->stop_signal : SIGTERM;
}

static void shorten(struct ctr *c, int64_t ms)
{
	int64_t at = clock_mono_ms() + ms;

	c->kill_ms = at < c->kill_ms ? at : c->kill_ms;
}

/* Sees to it that somebody hears, and that nobody is waited for who does not. */
static void look_for_listeners(struct ctr *c)
{
	int n = ctr_tell_listeners(c, stop_signal(c));
	int64_t left = c->kill_ms - clock_mono_ms();

	c->deaf = n > 0;
	if (n > 0) {
		c->heard = true;
		loop_timer_set(c->pod->parts->loop, &c->stop_timer, left < LISTEN_MS ? left > 0 ? left : 0 : LISTEN_MS);
		return;
	}
	/* After those who heard, a shell may have a last command to run. */
	if (n == 0)
		shorten(c, c->heard ? LAST_WORDS_MS : 0);
	set_timer(c);
}

static void term(struct ctr *c)
{
	int64_t least = clock_mono_ms() + LAST_WORDS_MS;

	c->termed = true;
	if (c->kill_ms < least && c->hook)
		c->kill_ms = least;
	/* All of a job hear it, also those who had been stopped. */
	send(c, stop_signal(c), c->pod->process);
	if (c->pod->process)
		send(c, SIGCONT, true);
	if (ctr_is_prompt(c) && !c->pod->process)
		look_for_listeners(c);
	else
		set_timer(c);
}

static void on_stop_timer(void *arg)
{
	struct ctr *c = arg;

	if (!c->termed && c->hook) {
		hook_cancel(c->hook);
		c->hook = NULL;
		c->kill_ms = clock_mono_ms() + LAST_WORDS_MS;
		term(c);
		return;
	}
	if (c->deaf && clock_mono_ms() < c->kill_ms) {
		look_for_listeners(c);
		return;
	}
	c->killed = true;
	send(c, SIGKILL, true);
	if (!c->pod->parts->fake)
		cgroup_kill(&c->pod->parts->runtime->groups, c->cgroup, SIGKILL);
}

static void on_pre_stop(void *arg, const struct err *e)
{
	struct ctr *c = arg;

	c->hook = NULL;
	if (e->kind != ERR_NONE)
		ctr_event(c, "Warning", "FailedPreStopHook", "PreStopHook failed: %s", e->text);
	if (!c->termed)
		term(c);
}

void ctr_stop_cancel(struct ctr *c)
{
	loop_timer_clear(&c->stop_timer);
	if (c->hook)
		hook_cancel(c->hook);
	c->hook = NULL;
}

void ctr_stop(struct ctr *c, int64_t grace_ms, const char *reason)
{
	int64_t kill_ms = clock_mono_ms() + grace_ms;
	struct probe_target t;

	if (c->state == CTR_STOPPING) {
		if (kill_ms < c->kill_ms && !c->killed) {
			c->kill_ms = kill_ms;
			set_timer(c);
		}
		return;
	}
	if (c->state != CTR_RUNNING)
		return;
	auto_free char *usual = xasprintf("Stopping container %s", c->name);

	ctr_event(c, "Normal", "Killing", "%s", reason ? reason : usual);
	ctr_probes_ending(c);
	ctr_stop_cancel(c);
	c->state = CTR_STOPPING;
	c->kill_ms = kill_ms;
	c->termed = c->killed = c->deaf = c->heard = false;
	c->ntold = 0;
	c->stop_timer.fire = on_stop_timer;
	c->stop_timer.arg = c;
	if (grace_ms <= 0) {
		on_stop_timer(c);
		return;
	}
	t = ctr_probe_target(c);
	c->hook = hook_run(&t, "preStop", on_pre_stop, c);
	if (c->hook)
		set_timer(c);
	else
		term(c);
}
