// SPDX-License-Identifier: Apache-2.0
/* block.c - qsub -W block=true
 *
 * A watch ends after some minutes, and with a server that is restarted: then it is begun anew, from the job as it is.
 */
#include "pbs/block.h"

#include <stdio.h>
#include <unistd.h>

#include "base/jsonx.h"
#include "base/limits.h"
#include "base/mem.h"
#include "client/client.h"

enum { NEVER_RAN = 3, PAUSE_SECONDS = 1, TRIES = 60 };

int block_status(const json_t *job, bool gone)
{
	const json_t *exit_status = jsonx_at(job, "status.exitStatus");
	bool started = jsonx_int_or(job, "status.startCount", 0) > 0;
	bool done = str_same(jsonx_str(job, "status.state"), "C");

	if (!done && !gone)
		return -1;
	if (json_is_integer(exit_status))
		return (int)(json_integer_value(exit_status) & 0xff);
	return started ? 1 : NEVER_RAN;
}

struct waiter {
	int status;
};

static bool on_event(void *arg, const char *type, const json_t *obj)
{
	struct waiter *w = arg;

	if (obj && !streq(type, "BOOKMARK"))
		w->status = block_status(obj, streq(type, "DELETED"));
	return w->status < 0;
}

int block_watch(struct pbs *p, const json_t *job, pbs_event *event, void *arg, struct err *e)
{
	auto_sbuf struct sbuf path = SBUF(LIMIT_URL);

	sbuf_adds(&path, PBS_API "/namespaces/");
	client_escape(&path, jsonx_str_or(job, "metadata.namespace", ""));
	sbuf_adds(&path, "/pbsjobs?watch=true&fieldSelector=metadata.name%3D");
	client_escape(&path, jsonx_str_or(job, "metadata.name", ""));
	sbuf_adds(&path, "&resourceVersion=");
	client_escape(&path, jsonx_str_or(job, "metadata.resourceVersion", ""));
	return pbs_watch(p, path.p, event, arg, e);
}

/* The job as it is now; NULL with w->status set if it is gone, or with -1 if the server is. */
static json_t *look_again(struct pbs *p, const json_t *job, struct waiter *w)
{
	auto_sbuf struct sbuf path = SBUF(LIMIT_URL);
	struct err e = ERR_INIT;
	json_t *now = NULL;

	pbs_job_path(job, &path);
	if (pbs_get(p, path.p, &now, &e) == 0)
		w->status = block_status(now, false);
	else if (e.kind == ERR_NOT_FOUND)
		w->status = block_status(job, true);
	return now;
}

int block_until_done(struct pbs *p, const json_t *job)
{
	struct waiter w = { .status = block_status(job, false) };
	json_auto_t *seen = json_incref((json_t *)job);
	struct err e = ERR_INIT;
	int tries = 0;

	while (w.status < 0 && tries < TRIES) {
		json_t *now;

		if (block_watch(p, seen, on_event, &w, &e) < 0)
			sleep(PAUSE_SECONDS);
		if (w.status >= 0)
			break;
		now = look_again(p, seen, &w);
		tries = now ? 0 : tries + 1;
		if (now) {
			json_decref(seen);
			seen = now;
		}
	}
	return w.status >= 0 ? w.status : pbs_fail(p, &e, NULL);
}
