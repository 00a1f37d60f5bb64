// SPDX-License-Identifier: Apache-2.0
/* pod_pbs_watch.c - a PBS job that runs: its limits, its suspension, what it used
 *
 * Limits are looked at every second, if the job has any: those that no control group keeps, and whether the kernel has
 * killed one of its processes for the one that is kept, memory, as then all are to go.  Otherwise the job is looked at
 * now and then, to know how much address space it had.  Whoever exceeds a limit reads so in the file of its errors, and
 * is ended as at any other end.
 *
 * A job is suspended by an annotation, for as long as it is there: all processes get SIGTSTP, for which they may make
 * ready, and after some seconds SIGSTOP.  That time does not count as walltime, so their user must not be able to go on
 * in it: the group is frozen, which no signal of theirs undoes.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/jsonx.h"
#include "base/log.h"
#include "base/mem.h"
#include "kinds/pbs_time.h"
#include "kinds/pbs_values.h"
#include "monitor/protocol.h"
#include "node/pod_pbs.h"

#define SUSPEND   "stoker.dev/suspend"
#define SUSPENDED "stoker.dev/suspended-seconds"
#define CPUT      "stoker.dev/cput" /* what qalter has made of it */
#define LIMITS_MS 1000
#define USE_MS    15000
#define FIRST_MS  200  /* many are short */
#define READY_MS  5000 /* between SIGTSTP and SIGSTOP */
#define PIDS_MAX  4096

static struct ctr *running(const struct pod *p)
{
	for (size_t i = 0; i < p->n; i++)
		if (!p->ctrs[i].init && (p->ctrs[i].state == CTR_RUNNING || p->ctrs[i].state == CTR_STOPPING))
			return &p->ctrs[i];
	return NULL;
}

static void tell(struct pod *p, const char *words)
{
	struct runtime *r = p->parts->runtime;
	struct ctr *c = running(p);
	auto_free char *line = xasprintf(MONITOR_KILLED "%s\n", words);
	struct err e = ERR_INIT;

	if (c && r->ops->say && r->ops->say(r, c->id, 2, str_of(line), &e) < 0)
		log_warn("tell job of pod %s/%s why it ends: %s, ignoring", p->ns, p->name, e.text);
}

/* ---- limits ---- */

/* Pages of address space and memory of one process; false if it is gone. */
static bool read_sizes(pid_t pid, int64_t *ret_virtual, int64_t *ret_resident)
{
	char path[64], text[128];
	auto_close int fd = -1;
	long long size, resident;
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%d/statm", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	if (n <= 0)
		return false;
	text[n] = '\0';
	if (sscanf(text, "%lld %lld", &size, &resident) != 2)
		return false;
	*ret_virtual = size;
	*ret_resident = resident;
	return true;
}

static struct pbs_sample take_sample(const struct ctr *c)
{
	auto_free pid_t *pids = xcalloc(PIDS_MAX, sizeof(*pids));
	size_t n = cgroup_pids(&c->pod->parts->runtime->groups, c->cgroup, pids, PIDS_MAX);
	int64_t page = sysconf(_SC_PAGESIZE);
	struct cgroup_peak peak = { 0 };
	struct pbs_sample s = { 0 };

	for (size_t i = 0; i < n; i++) {
		int64_t size, resident;

		if (!read_sizes(pids[i], &size, &resident))
			continue;
		s.vmem += size * page;
		s.pvmem = size * page > s.pvmem ? size * page : s.pvmem;
		s.pmem = resident * page > s.pmem ? resident * page : s.pmem;
	}
	if (cgroup_read_peak(&c->pod->parts->runtime->groups, c->cgroup, &peak) == 0)
		s.cput = peak.cpu_ns / 1000000000;
	return s;
}

static void on_look(void *arg)
{
	struct pod *p = arg;
	struct ctr *c = running(p);
	const struct pbs_limits *l = &p->pbs->limits;
	struct pbs_sample s = { 0 };
	const char *reason;
	char words[96];

	if (!c || p->failed || p->over)
		return;
	if (pbs_limits_each(l) || !pbs_limits_any(l) || p->pbs->looks++ % (USE_MS / LIMITS_MS) == 0)
		s = take_sample(c);
	/* Who was killed stood at the limit and wanted at least another page. */
	if (l->mem && cgroup_oom_kills(&c->pod->parts->runtime->groups, c->cgroup) > 0)
		s.mem = l->mem + sysconf(_SC_PAGESIZE);
	p->pbs->vmem = s.vmem > p->pbs->vmem ? s.vmem : p->pbs->vmem;
	reason = pbs_limits_exceeded(l, &s, words);
	if (reason) {
		tell(p, words);
		pod_fail(p, reason, words);
		return;
	}
	loop_timer_set(p->parts->loop, &p->pbs->look, pbs_limits_any(l) ? LIMITS_MS : USE_MS);
}

void pod_pbs_tell_walltime(struct pod *p)
{
	int64_t limit = jsonx_int_or(p->obj, "spec.activeDeadlineSeconds", 0), from = pod_pbs_clock(p);
	int64_t used = from ? (clock_wall_micros() - from + 999999) / 1000000 : limit;
	char words[96];

	/* The second it is in counts. */
	used = used > limit ? used : limit + 1;
	snprintf(words, sizeof(words), "walltime %lld exceeded limit %lld", (long long)used, (long long)limit);
	tell(p, words);
}

/* An earlier server may have known of more; seconds are all that is written down. */
static int64_t suspended_ms(const struct pod *p)
{
	const char *text = json_string_value(json_object_get(jsonx_at(p->obj, "metadata.annotations"), SUSPENDED));
	int64_t told;

	if (!text || !str_int64(text, 0, INT32_MAX, &told))
		told = 0;
	return told * 1000 > p->pbs->suspended_ms ? told * 1000 : p->pbs->suspended_ms;
}

int64_t pod_pbs_clock(const struct pod *p)
{
	const struct ctr *c = p->n ? &p->ctrs[p->n - 1] : NULL;

	if (!c || !c->started_us || p->pbs->suspended)
		return 0;
	return c->started_us + suspended_ms(p) * 1000;
}

/* ---- suspension ---- */

static void send(struct pod *p, int signo)
{
	struct runtime *r = p->parts->runtime;
	struct ctr *c = running(p);
	struct err e = ERR_INIT;

	if (c && r->ops->kill(r, c->id, signo, true, &e) < 0)
		log_warn("signal %d to container %s: %s, ignoring", signo, c->id, e.text);
}

static void hold(struct pod *p, bool still)
{
	const struct ctr *c = running(p);

	if (c && *c->cgroup && !cgroup_hold(&p->parts->runtime->groups, c->cgroup, still))
		log_warn("the group of container %s cannot be frozen, ignoring", c->id);
}

static void on_stop(void *arg)
{
	struct pod *p = arg;

	if (!p->pbs->suspended)
		return;
	send(p, SIGSTOP);
	hold(p, true);
}

/* Whoever goes on has perhaps been stopped. */
static void let_go(struct pod *p)
{
	hold(p, false);
	send(p, SIGCONT);
}

static void suspend(struct pod *p, bool on)
{
	int64_t now = clock_mono_ms();

	p->pbs->suspended = on;
	if (on) {
		send(p, SIGTSTP);
		p->pbs->suspended_at_ms = now;
		p->pbs->stop = (struct loop_timer){ .fire = on_stop, .arg = p };
		loop_timer_set(p->parts->loop, &p->pbs->stop, READY_MS);
	} else {
		let_go(p);
		p->pbs->suspended_ms += now - p->pbs->suspended_at_ms;
		loop_timer_clear(&p->pbs->stop);
	}
	pod_start_clock(p);
}

static void heed_cput(struct pod *p, const json_t *notes)
{
	const char *text = json_string_value(json_object_get(notes, CPUT));
	int64_t seconds;

	if (!text || !pbs_time_parse(text, &seconds) || seconds == p->pbs->limits.cput)
		return;
	p->pbs->limits.cput = seconds;
	loop_timer_clear(&p->pbs->look); /* it may be looked at too seldom for a limit */
}

void pod_pbs_look(struct pod *p)
{
	const json_t *notes = jsonx_at(p->obj, "metadata.annotations");
	const json_t *note = json_object_get(notes, SUSPEND);
	bool wanted = str_same(json_string_value(note), "true") && !p->failed && !p->deleting;

	if (!running(p))
		return;
	if (wanted != p->pbs->suspended)
		suspend(p, wanted);
	else if (p->revived && !p->pbs->settled && !wanted)
		let_go(p); /* an earlier server may have stopped it */
	p->pbs->settled = true;
	heed_cput(p, notes);
	if (p->pbs->job && !loop_timer_pending(&p->pbs->look) && !p->failed) {
		p->pbs->look = (struct loop_timer){ .fire = on_look, .arg = p };
		loop_timer_set(p->parts->loop, &p->pbs->look, p->pbs->vmem ? LIMITS_MS : FIRST_MS);
	}
}

/* ---- the end ---- */

void pod_pbs_ended(struct ctr *c)
{
	struct cgroup_peak peak;
	struct pod *p = c->pod;

	loop_timer_clear(&p->pbs->stop);
	if (!c->init)
		loop_timer_clear(&p->pbs->look);
	if (c->init || cgroup_read_peak(&c->pod->parts->runtime->groups, c->cgroup, &peak) < 0)
		return;
	json_decref(p->used);
	/* One that was too short to be looked at had at least this. */
	p->used = pbs_used_text(peak.cpu_ns, peak.memory_bytes, p->pbs->vmem ? p->pbs->vmem : peak.memory_bytes);
	/* The API's times are in seconds. */
	json_object_set_new(p->used, PBS_RUNTIME, pbs_runtime_text(c->end.exit.finished_us - c->end.started_us));
}
