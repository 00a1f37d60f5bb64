// SPDX-License-Identifier: Apache-2.0
/* pod_idle.c - a pod that does not use its GPUs says so
 *
 * The API hears of it when the time of a warning has come, when that of its end has, and when the cards are used again;
 * in between it is noted now and then how long it has been, so that the next server goes on from there.  Whether the
 * pod is to end is not decided here: others of its workload may be at work (control/idle_gpus.c).
 */
#include "base/clock.h"
#include "base/jsonx.h"
#include "base/mem.h"
#include "kinds/queue.h"
#include "node/gpu_use.h"
#include "node/pod_parts.h"

const char *pod_queue(const struct pod *p)
{
	const json_t *label = json_object_get(jsonx_at(p->obj, "metadata.labels"), QUEUE_LABEL);

	return label ? json_string_value(label) : QUEUE_DEFAULT;
}

/* What an earlier server has told. */
static void recall(struct pod *p)
{
	struct idle_word word = pod_idle_word(p->obj);

	if (p->idle_watched)
		return;
	p->idle_watched = true;
	p->idle.ms = clock_ms_of(word.seconds);
	p->idle_told = word.too_long ? IDLE_TOO_LONG : word.idle ? IDLE_WARN : IDLE_NOT;
}

/* Its containers that do not run now will. */
static bool is_starting(const struct pod *p)
{
	for (size_t i = 0; i < p->n; i++)
		if (p->ctrs[i].state != CTR_RUNNING && (p->ctrs[i].state != CTR_EXITED || p->ctrs[i].wait_reason))
			return true;
	return false;
}

static char *words(const struct pod *p, const struct idle_policy *policy, size_t cards)
{
	char seen[16];
	char end[16];
	auto_sbuf struct sbuf out = SBUF(1024);

	clock_age(p->idle.ms / 1000, seen, sizeof(seen));
	clock_age(policy->end_s, end, sizeof(end));
	sbuf_addf(&out, cards == 1 ? "its GPU was" : "its %zu GPUs were", cards);
	sbuf_addf(&out, " used less than %d%% for %s; queue %s ", policy->below, seen, pod_queue(p));
	if (policy->end_s)
		sbuf_addf(&out, "ends work that does so for %s", end);
	else
		sbuf_adds(&out, "warns of that");
	return sbuf_steal(&out);
}

static void tell(struct pod *p, const struct idle_policy *policy, enum idle_state state, size_t cards)
{
	p->idle_at_us = clock_wall_micros();
	p->idle_since_us = p->idle_at_us - p->idle.ms * 1000;
	p->idle_noted_ms = clock_mono_ms();
	p->idle_told = state;
	free(p->idle_text);
	p->idle_text = state == IDLE_NOT ? NULL : words(p, policy, cards);
	pod_kick(p);
}

bool pod_idle_look(struct pod *p, const struct gpu_use *use, const struct idle_policy *policy)
{
	static const struct idle_policy none;
	struct gpu_load load = gpu_use_of(use, p->uid);
	struct idle_reading r = {
		.ms = clock_mono_ms(), .most = load.most, .unknown = load.unknown, .starts = is_starting(p)
	};
	enum idle_state state;

	if (!load.cards || p->over || p->failed || p->deleting)
		return false;
	recall(p);
	if (policy)
		idle_step(&p->idle, &r, policy);
	else
		p->idle = (struct idle){ 0 };
	state = idle_state(&p->idle, policy ? policy : &none);
	if (state != p->idle_told || (state != IDLE_NOT && r.ms - p->idle_noted_ms >= idle_note_ms(policy)))
		tell(p, policy, state, load.cards);
	return policy != NULL;
}
