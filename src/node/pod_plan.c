// SPDX-License-Identifier: Apache-2.0
/* pod_plan.c - the rules of a pod's life
 *
 * Init containers run one after the other, each to success; sidecars among them stay.  Then the others start together.
 * A container that ends is started again if the restart policy says so, after a delay that doubles each time.  When
 * none runs and none will be started again, the pod has succeeded or failed.
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
	int64_t due = c->exited_ms + pod_backoff_ms(c->failures);

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

static struct pod_plan end_all(const struct pod_view *v, enum ctr_act *acts)
{
	struct pod_plan p = { .over = true };
	bool any_failed = v->failed;

	for (size_t i = 0; i < v->n; i++) {
		const struct ctr_view *c = &v->ctrs[i];

		acts[i] = c->state == CTR_RUNNING ? ACT_STOP : ACT_NONE;
		p.over &= !alive(c);
		any_failed |= c->state != CTR_EXITED || c->exit_code != 0;
	}
	p.phase = !p.over && !v->failed ? PHASE_RUNNING : any_failed ? PHASE_FAILED : PHASE_SUCCEEDED;
	return p;
}

/* Walks the init containers.  True when all have done their part; *ret_dead if one has failed for good. */
static bool walk_init(const struct pod_view *v, enum ctr_act *acts, struct pod_plan *p, bool *ret_dead)
{
	for (size_t i = 0; i < v->n && v->ctrs[i].init; i++) {
		const struct ctr_view *c = &v->ctrs[i];

		switch (c->state) {
		case CTR_WAITING:
			start(v, c, &acts[i], p);
			return false;
		case CTR_EXITED:
			if (!c->sidecar && c->exit_code == 0)
				continue;
			if (!again(v, c)) {
				*ret_dead = true;
				return false;
			}
			restart(v, c, &acts[i], p);
			if (c->sidecar)
				continue; /* it was there once: the others need not wait for it again */
			return false;
		case CTR_RUNNING:
			if (c->sidecar && c->started)
				continue;
			return false;
		default:
			return false;
		}
	}
	return true;
}

struct tally {
	size_t total, waiting, alive, ended, failed, coming; /* of the main containers */
};

static struct tally walk_main(const struct pod_view *v, enum ctr_act *acts, struct pod_plan *p)
{
	struct tally t = { 0 };

	for (size_t i = 0; i < v->n; i++) {
		const struct ctr_view *c = &v->ctrs[i];

		if (c->init)
			continue;
		t.total++;
		if (c->state == CTR_WAITING) {
			start(v, c, &acts[i], p);
			t.waiting++;
		} else if (alive(c)) {
			t.alive++;
		} else if (again(v, c)) {
			restart(v, c, &acts[i], p);
			t.coming++;
		} else {
			t.ended++;
			t.failed += c->exit_code != 0;
		}
	}
	return t;
}

/* The main containers are done: sidecars may go. */
static struct pod_plan end_sidecars(const struct pod_view *v, enum ctr_act *acts, enum pod_phase phase)
{
	struct pod_plan p = { .phase = phase, .over = true };

	for (size_t i = 0; i < v->n; i++) {
		acts[i] = v->ctrs[i].init && v->ctrs[i].state == CTR_RUNNING ? ACT_STOP : ACT_NONE;
		p.over &= !alive(&v->ctrs[i]);
	}
	return p;
}

struct pod_plan pod_plan(const struct pod_view *v, enum ctr_act *acts)
{
	struct pod_plan p = { .phase = PHASE_PENDING };
	struct tally t;
	bool dead = false;

	for (size_t i = 0; i < v->n; i++)
		acts[i] = ACT_NONE;
	if (v->deleting || v->failed)
		return end_all(v, acts);
	if (!walk_init(v, acts, &p, &dead))
		return dead ? end_sidecars(v, acts, PHASE_FAILED) : p;
	t = walk_main(v, acts, &p);
	if (t.ended == t.total)
		return end_sidecars(v, acts, t.failed ? PHASE_FAILED : PHASE_SUCCEEDED);
	p.phase = t.waiting == t.total ? PHASE_PENDING : PHASE_RUNNING;
	return p;
}
