// SPDX-License-Identifier: Apache-2.0
/* pod_hear.c - a container of a gang is told to stop in a way that it hears
 *
 * When a training job is decided the cards of those who only wait are wanted at once.  hearing.h says who listens; what
 * is done about it is pod_stop.c's.
 */
#include <signal.h>

#include "base/file.h"
#include "base/jsonx.h"
#include "base/log.h"
#include "base/mem.h"
#include "node/hearing.h"
#include "node/pod_parts.h"

#define PROCS_MOST 4096 /* a container with more is given its time */
#define STATUS_MAX 16384

bool ctr_is_prompt(const struct ctr *c)
{
	const json_t *notes = jsonx_at(c->pod->obj, "metadata.annotations");

	return json_object_get(notes, POD_GANG) && !c->pod->parts->fake && *c->cgroup;
}

static bool read_listener(pid_t pid, int signo, struct listener *ret)
{
	auto_free char *path = xasprintf("/proc/%d/status", (int)pid);
	auto_sbuf struct sbuf text = SBUF(STATUS_MAX);
	struct err e = ERR_INIT;

	return file_read(path, STATUS_MAX, &text, &e) == 0 && text.p && listener_parse(text.p, signo, ret);
}

static void tell(struct ctr *c, pid_t pid, int signo)
{
	for (size_t i = 0; i < c->ntold; i++)
		if (c->told[i] == pid)
			return;
	ARRAY_PUSH(c->told, c->ntold, c->told_cap, pid);
	if (kill(pid, signo) < 0)
		log_debug("signal %d to process %d: it has ended", signo, (int)pid);
}

int ctr_tell_listeners(struct ctr *c, int signo)
{
	auto_free pid_t *pids = xcalloc(PROCS_MOST, sizeof(*pids));
	size_t n = cgroup_pids(&c->pod->parts->runtime->groups, c->cgroup, pids, PROCS_MOST);
	auto_free struct listener *all = xcalloc(n + 1, sizeof(*all));
	auto_free pid_t *picked = xcalloc(n + 1, sizeof(*picked));
	size_t found = 0;
	size_t npicked;

	if (n == PROCS_MOST)
		return -1;
	for (size_t i = 0; i < n; i++)
		found += read_listener(pids[i], signo, &all[found]);
	if (!hearing_pick(all, found, picked, &npicked))
		return -1;
	for (size_t i = 0; i < npicked; i++)
		tell(c, picked[i], signo);
	return (int)npicked;
}
