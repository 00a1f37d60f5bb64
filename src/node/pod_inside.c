// SPDX-License-Identifier: Apache-2.0
/* pod_inside.c - a pod that is a part of a PBS job's: what startdocker runs in a job
 *
 * The API has said whose part it is (stoker.dev/in-job-uid, which nobody else can write) and that both are one user's.
 * Its containers are in groups below the job's, so that the job's limits are theirs and whatever ends the job ends
 * them; they use the job's cards and have none of their own.
 */
#include <signal.h>

#include "base/jsonx.h"
#include "base/mem.h"
#include "node/pod_parts.h"
#include "node/runtime_parts.h"

#define JOB_CONTAINER "job" /* the only one of a job's pod */
#define REASON        "JobEnded"

char *pod_inside_group(const struct pod *p)
{
	return p->inside ? xasprintf("/%s_" JOB_CONTAINER, p->inside) : xstrdup("");
}

const char *pod_inside_cards(const struct pod *p, const char **container)
{
	if (!p->inside)
		return p->uid;
	*container = JOB_CONTAINER;
	return p->inside;
}

static void end(struct pod *p)
{
	pod_fail(p, REASON, "the PBS job that it was a part of has ended");
}

struct pod *pod_inside_host(const struct pod *p)
{
	return p->inside && p->parts->pods ? map_find(p->parts->pods, p->inside) : NULL;
}

void pod_inside_begin(const struct pod *p)
{
	struct pod *host = pod_inside_host(p);

	if (host)
		host->has_inside = true;
}

int pod_inside_ready(struct pod *p, struct err *e)
{
	const struct pod *host = pod_inside_host(p);

	pod_inside_begin(p);
	if (!p->inside || (host && host->n && host->ctrs[0].state == CTR_RUNNING))
		return 0;
	/* After a restart the job may be found later. */
	if (!host || host->ctrs[0].state == CTR_WAITING || host->ctrs[0].state == CTR_STARTING)
		return err_set(e, ERR_NOT_FOUND, "waits for the PBS job that it is a part of");
	end(p);
	return -1;
}

void pod_inside_end(const struct pod *host)
{
	size_t pos = 0;
	void *other;

	while (host->has_inside && host->parts->pods && map_next(host->parts->pods, &pos, NULL, &other)) {
		struct pod *p = other;

		if (!p->inside || !streq(p->inside, host->uid))
			continue;
		for (size_t i = 0; i < p->n; i++)
			cgroup_kill(&p->parts->runtime->groups, p->ctrs[i].cgroup, SIGKILL);
		end(p);
	}
}
