// SPDX-License-Identifier: Apache-2.0
/* pod_plan.c - the rules of a pod's life
 *
 * Init containers run one after the other, each to success; sidecars among them stay.  Then the others start together.
 * A container that ends is started again if the restart policy says so, at once the first time, then after a delay that
 * doubles each time.  When none runs and none will be started again, the pod has succeeded or failed.
 *
 * The phase is told by rules of its own: a pod is Pending while a container has never run, whatever the others do, and
 * Succeeded or Failed not before the last one has ended.
 */
#include "node/pod_plan.h"

#define BACKOFF_FIRST_MS 10000
#define BACKOFF_MAX_MS   300000

int64_t pod_backoff_ms(int failures)
{
	int64_t ms = BACKOFF_FIRST_MS;

	if (failures <= 0)
		return 0;
	for (int i = 1; i < failures && ms < BACKOFF_MAX_MS; i++)
		ms *= 2;
	return ms < BACKOFF_MAX_MS ? ms : BACKOFF_MAX_MS;
}

int64_t pod_restart_ms(int failures)
{
	return pod_backoff_ms(failures - 1);
}

const char *pod_phase_name(enum pod_phase p)
{
	static const char *const names[] = { "Pending", "Running", "Succeeded", "Failed" };

	return names[p];
}

static bool alive(const struct ctr_view *c)
{
	return c->state == CTR_STARTING || c->state == CTR_RUNNING || c->state == CTR_STOPPING;
}

/* Will this container, which has ended, be started again? */
static bool again(const struct pod_view *v, const struct ctr_view *c)
{
	if (c->sidecar)
		return true;
	if (c->init)
		return c->exit_code != 0 && v->restart != RESTART_NEVER;
	return v->restart == RESTART_ALWAYS || (v->restart == RESTART_ON_FAILURE && c->exit_code != 0);
}

/* Starts an ended container when its delay is over; else notes when that will be. */
static void restart(const struct pod_view *v, const struct ctr_view *c, enum ctr_act *act, struct pod_plan *p)
{
	int64_t due = c->exited_ms + pod_restart_ms(c->failures);

	*act = due <= v->now_ms ? ACT_START : ACT_BACK_OFF;
	if (*act == ACT_BACK_OFF && (!p->wake_ms || due < p->wake_ms))
		p->wake_ms = due;
}

/* Starts a container for the first time, unless it has to wait for something. */
static void start(const struct pod_view *v, const struct ctr_view *c, enum ctr_act *act, struct pod_plan *p)
{
	if (c->not_before_ms <= v->now_ms)
		*act = ACT_START;
	else if (!p->wake_ms || c->not_before_ms < p->wake_ms)
		p->wake_ms = c->not_before_ms;
}

/* ---- the end ---- */

/* Sidecars outlive what needs them: each ends when all that came after it have. */
static void stop_all(const struct pod_view *v, enum ctr_act *acts, struct pod_plan *p)
{
	bool others = false;

	p->over = true;
	p->ending = true;
	for (size_t i = 0; i < v->n; i++)
		others |= !v->ctrs[i].sidecar && alive(&v->ctrs[i]);
	for (size_t i = v->n; i-- > 0;) {
		const struct ctr_view *c = &v->ctrs[i];
		bool wait = c->sidecar && others && !v->hurry;

		acts[i] = c->state == CTR_RUNNING && !wait ? ACT_STOP : ACT_NONE;
		p->held |= c->state == CTR_RUNNING && wait;
		p->over &= !alive(c);
		others |= c->sidecar && alive(c);
	}
}

/* ---- the way there ---- */

static bool any_begun(const struct pod_view *v)
{
	for (size_t i = 0; i < v->n; i++)
		if (!v->ctrs[i].init && (v->ctrs[i].ran || v->ctrs[i].state >= CTR_RUNNING))
			return true;
	return false;
}

/* Walks the init containers.  True when all have done their part; *ret_dead if one has failed for good.  A sidecar that
 * is started again holds nobody up who has begun without waiting for it. */
static bool walk_init(const struct pod_view *v, enum ctr_act *acts, struct pod_plan *p, bool *ret_dead)
{
	bool begun = any_begun(v);

	for (size_t i = 0; i < v->n && v->ctrs[i].init; i++) {
		const struct ctr_view *c = &v->ctrs[i];
		bool done = c->sidecar ? begun || (c->state == CTR_RUNNING && c->started)
				       : c->state == CTR_EXITED && c->exit_code == 0;

		if (c->state == CTR_WAITING) {
			start(v, c, &acts[i], p);
		} else if (c->state == CTR_EXITED && (c->sidecar || !done)) {
			if (!again(v, c)) {
				*ret_dead = true;
				return false;
			}
			restart(v, c, &acts[i], p);
		}
		if (!done)
			return false;
	}
	return true;
}

/* True when the main containers have ended and none will be started again. */
static bool walk_main(const struct pod_view *v, enum ctr_act *acts, struct pod_plan *p)
{
	bool done = true;

	for (size_t i = 0; i < v->n; i++) {
		const struct ctr_view *c = &v->ctrs[i];

		if (c->init)
			continue;
		if (c->state == CTR_WAITING)
			start(v, c, &acts[i], p);
		else if (!alive(c) && again(v, c))
			restart(v, c, &acts[i], p);
		else if (!alive(c))
			continue;
		done = false;
	}
	return done;
}

/* ---- the phase ---- */

struct tally {
	size_t unborn; /* containers that must run once before the pod is Running */
	size_t slow;   /* sidecars that have not started */
	size_t main, good;
	bool init_failed;
};

static void count_init(const struct ctr_view *c, struct tally *t)
{
	bool runs = c->state == CTR_RUNNING || c->state == CTR_STOPPING;

	if (c->sidecar)
		t->slow += runs ? !c->started : c->state != CTR_EXITED && !c->ran;
	else if (c->state == CTR_EXITED)
		t->init_failed |= c->exit_code != 0;
	else
		t->unborn++;
}

static void count_main(const struct ctr_view *c, struct tally *t)
{
	t->main++;
	t->good += c->state == CTR_EXITED && c->exit_code == 0;
	t->unborn += c->state < CTR_RUNNING && !c->ran;
}

static enum pod_phase phase_of(const struct pod_view *v, const struct pod_plan *p)
{
	struct tally t = { 0 };

	for (size_t i = 0; i < v->n; i++) {
		if (v->ctrs[i].init)
			count_init(&v->ctrs[i], &t);
		else
			count_main(&v->ctrs[i], &t);
	}
	if (p->over)
		return v->failed || t.init_failed || t.good < t.main ? PHASE_FAILED : PHASE_SUCCEEDED;
	return t.unborn || (t.slow && !any_begun(v)) ? PHASE_PENDING : PHASE_RUNNING;
}

struct pod_plan pod_plan(const struct pod_view *v, enum ctr_act *acts)
{
	struct pod_plan p = { 0 };
	bool dead = false;
	bool ready;

	for (size_t i = 0; i < v->n; i++)
		acts[i] = ACT_NONE;
	if (v->deleting || v->failed) {
		stop_all(v, acts, &p);
	} else {
		ready = walk_init(v, acts, &p, &dead);
		if (dead || (ready && walk_main(v, acts, &p))) {
			p = (struct pod_plan){ 0 };
			stop_all(v, acts, &p);
		}
	}
	p.phase = phase_of(v, &p);
	return p;
}
