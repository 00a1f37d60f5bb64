// SPDX-License-Identifier: Apache-2.0
/* training_hang.c - whether a training job hangs
 *
 * A pod says of itself that it has been silent (kinds/activity.h).  One alone may well be: a parameter server that
 * nobody asks, a worker that waits for a slower one.  The job hangs when nobody who runs does anything.  While replicas
 * are still being made, or made again, the others have reason to wait.
 */
#include "base/jsonx.h"
#include "control/training_parts.h"
#include "kinds/activity.h"

static bool is_under_way(const struct replica *r)
{
	return r->is == REPLICA_NONE || r->is == REPLICA_LEAVING || r->is == REPLICA_DOWN;
}

bool replicas_hang(const struct training_work *w, const struct replica **ret_quietest, int64_t *ret_left)
{
	const struct replica *quietest = NULL;
	int64_t last = 0;

	*ret_left = -1;
	if (!w->job->hang_after || training_condition_of(w->status, "Restarting", "True"))
		return false;
	for (size_t i = 0; i < w->n; i++) {
		const struct replica *r = &w->replicas[i];

		if (is_under_way(r) || (r->is == REPLICA_RUNNING && !r->pod->silent_since))
			return false;
		if (r->is != REPLICA_RUNNING)
			continue;
		last = r->pod->silent_since > last ? r->pod->silent_since : last;
		if (!quietest || r->pod->silent_since < quietest->pod->silent_since)
			quietest = r;
	}
	if (!quietest)
		return false;
	*ret_quietest = quietest;
	*ret_left = last + w->job->hang_after - w->v->now;
	return *ret_left <= 0;
}

void replica_silence(const struct replica *r, struct sbuf *out)
{
	sbuf_addf(out, "%s was silent longest: %s", r->name,
		  jsonx_str_or(pod_active_condition(r->pod->obj), "message", "no output and no CPU use"));
}
