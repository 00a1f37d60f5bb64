// SPDX-License-Identifier: Apache-2.0
/* leader_plan.c - whose turn it is, and what is written down about it.  Pure */
#include "base/clock.h"
#include "base/jsonx.h"
#include "client/leader.h"

enum leader_step leader_plan(const struct lease_view *v)
{
	if (!v->exists)
		return LEADER_CREATE;
	if (v->ours)
		return LEADER_RENEW;
	return !v->held || v->unchanged_ms > v->lease_ms ? LEADER_TAKE : LEADER_WAIT;
}

json_t *leader_record(const json_t *old, enum leader_step step, const char *identity, int64_t lease_seconds,
		      int64_t now_micros)
{
	json_t *r = old ? json_copy((json_t *)old) : json_object();
	json_int_t changes = jsonx_int_or(old, "leaseTransitions", 0);
	char now[CLOCK_MICRO_LEN];

	clock_rfc3339_micro(now_micros, now);
	json_object_set_new(r, "holderIdentity", json_string(step == LEADER_RELEASE ? "" : identity));
	json_object_set_new(r, "leaseDurationSeconds", json_integer(step == LEADER_RELEASE ? 1 : lease_seconds));
	json_object_set_new(r, "renewTime", json_string(now));
	if (step != LEADER_RENEW || !jsonx_str(old, "acquireTime"))
		json_object_set_new(r, "acquireTime", json_string(now));
	json_object_set_new(r, "leaseTransitions", json_integer(step == LEADER_TAKE ? changes + 1 : changes));
	return r;
}
