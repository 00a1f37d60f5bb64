// SPDX-License-Identifier: Apache-2.0
/* pod_active.c - a pod that asks for it is watched, and its silence told
 *
 * Only pods with the annotation of kinds/activity.h have a timer.  Between two readings nothing is written; the API
 * hears of it when a pod has been silent for as long as it says, and when it is no longer.  After a restart of the
 * server the time begins anew, but what had been told stays until the pod does something.
 */
#include <sys/stat.h>

#include "base/clock.h"
#include "base/jsonx.h"
#include "base/mem.h"
#include "kinds/activity.h"
#include "node/pod_parts.h"

#define LINE_BYTES 256 /* of the last line, in the condition's message */

static void read_log(const struct ctr *c, struct activity_reading *r)
{
	struct stat st;

	if (c->log_path && stat(c->log_path, &st) == 0)
		r->output +=
			(uint64_t)st.st_size + (uint64_t)st.st_mtim.tv_sec * 1000000000 + (uint64_t)st.st_mtim.tv_nsec;
}

static void read_cpu(const struct ctr *c, struct activity_reading *r)
{
	struct cgroup_usage use;
	struct err e = ERR_INIT;

	if (!*c->cgroup || cgroup_read(&c->pod->parts->runtime->groups, c->cgroup, &use, &e) < 0)
		r->cpu_ns = -1;
	else if (r->cpu_ns >= 0)
		r->cpu_ns += use.cpu_ns;
}

static struct activity_reading read_pod(const struct pod *p)
{
	struct activity_reading r = { .ms = clock_mono_ms() };
	size_t running = 0;

	for (size_t i = 0; i < p->n; i++) {
		const struct ctr *c = &p->ctrs[i];

		if (c->state == CTR_EXITED && !c->wait_reason)
			continue;
		if (c->state != CTR_RUNNING) {
			r.busy = true;
			continue;
		}
		running++;
		r.output += (uint64_t)c->attempt;
		read_log(c, &r);
		read_cpu(c, &r);
	}
	r.busy |= running == 0;
	return r;
}

/* What people are told when it falls silent. */
static char *last_words(const struct pod *p)
{
	auto_sbuf struct sbuf line = SBUF(LINE_BYTES * 2);
	char limit[CLOCK_DURATION_LEN];
	struct str text;

	for (size_t i = 0; i < p->n && !line.n; i++)
		if (!p->ctrs[i].init && p->ctrs[i].log_path)
			log_tail(p->ctrs[i].log_path, LINE_BYTES, 1, &line);
	clock_duration(p->hang_after, limit);
	text = str_trim(sbuf_str(&line));
	return text.n ? xasprintf("no output and no CPU use for %s; its last line: %.*s", limit, STR_FMT(text))
		      : xasprintf("no output and no CPU use for %s; it has printed nothing", limit);
}

static void on_look(void *arg)
{
	struct pod *p = arg;
	struct activity_reading r = read_pod(p);

	if (p->over || p->failed || p->deleting)
		return;
	if (activity_step(&p->activity, &r, clock_ms_of(p->hang_after))) {
		free(p->silence);
		p->silence = p->activity.silent ? last_words(p) : NULL;
		p->activity_us = clock_wall_micros() - (r.ms - p->activity.since_ms) * 1000;
		pod_kick(p);
	}
	loop_timer_set(p->parts->loop, &p->watch, activity_period_ms(clock_ms_of(p->hang_after)));
}

/* What an earlier server has told. */
static void recall(struct pod *p)
{
	const json_t *told = pod_active_condition(p->obj);

	if (!told)
		return;
	p->activity.silent = str_same(jsonx_str(told, "status"), "False");
	p->activity.since_ms = clock_mono_ms();
	if (!clock_parse_rfc3339(jsonx_str_or(told, "lastTransitionTime", ""), &p->activity_us))
		p->activity_us = clock_wall_micros();
	if (p->activity.silent)
		p->silence = xstrdup(jsonx_str_or(told, "message", ""));
}

void pod_active_watch(struct pod *p)
{
	p->hang_after = hang_after_of(p->obj);
	if (p->parts->fake || p->watch.fire || !p->hang_after)
		return;
	recall(p);
	p->watch = (struct loop_timer){ .fire = on_look, .arg = p };
	loop_timer_set(p->parts->loop, &p->watch, 0);
}
