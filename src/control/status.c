// SPDX-License-Identifier: Apache-2.0
/* status.c - counts and the condition by which a controller says that it cannot go on */
#include "control/status.h"

#include "base/clock.h"
#include "base/jsonx.h"

#define FAILURE "ReplicaFailure"

void status_set_count(json_t *status, const char *key, int64_t n)
{
	if (n)
		json_object_set_new(status, key, json_integer(n));
	else
		json_object_del(status, key);
}

static json_t *failure(int64_t now, const char *reason, const char *message)
{
	char at[CLOCK_RFC3339_LEN];

	clock_rfc3339(now, at);
	return json_pack("{s:s, s:s, s:s, s:s, s:o}", "type", FAILURE, "status", "True", "lastTransitionTime", at,
			 "reason", reason, "message", jsonx_string(message));
}

void status_set_failure(json_t *status, int64_t now, const char *reason, const char *message)
{
	json_auto_t *next = json_array();
	bool there = false;
	json_t *c;
	size_t i;

	json_array_foreach (json_object_get(status, "conditions"), i, c) {
		bool ours = str_same(jsonx_str(c, "type"), FAILURE);
		bool same = ours && reason && str_same(jsonx_str(c, "reason"), reason);

		there = there || same;
		if (!ours || same)
			json_array_append(next, c);
	}
	if (reason && !there)
		json_array_append_new(next, failure(now, reason, message));
	if (json_array_size(next))
		json_object_set(status, "conditions", next);
	else
		json_object_del(status, "conditions");
}
