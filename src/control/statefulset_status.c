// SPDX-License-Identifier: Apache-2.0
/* statefulset_status.c - a StatefulSet in numbers */
#include "base/jsonx.h"
#include "control/statefulset_plan.h"
#include "control/status.h"

struct counts {
	int64_t replicas, ready, available, current, updated;
};

static struct counts count(const struct set_view *v, const char *current, const char *update, int64_t *again)
{
	int64_t min_ready = jsonx_int_or(v->set, "spec.minReadySeconds", 0);
	struct counts c = { 0 };

	for (size_t i = 0; i < v->n; i++) {
		const struct pod_facts *p = v->pods[i];
		const char *revision =
			json_string_value(json_object_get(jsonx_at(p->obj, "metadata.labels"), LABEL_REVISION_HASH));
		bool ready = p->phase == POD_IS_RUNNING && p->ready;

		c.replicas++;
		c.ready += ready;
		c.available += ready && pod_available(p, min_ready, v->now, again);
		c.current += !p->deleting && str_same(revision, current);
		c.updated += !p->deleting && str_same(revision, update);
	}
	return c;
}

json_t *set_status(const struct set_view *v, int64_t *again)
{
	const json_t *old = json_object_get(v->set, "status");
	json_t *status = json_is_object(old) ? json_copy((json_t *)old) : json_object();
	const char *current = v->current ? v->current->name : jsonx_str_or(old, "currentRevision", "");
	const char *update = v->update ? v->update->name : jsonx_str_or(old, "updateRevision", "");
	int64_t want = jsonx_int_or(v->set, "spec.replicas", 1);
	struct counts c = count(v, current, update, again);

	/* The update is over when every pod that is wanted has it: then it is what all the others are compared with. */
	if (streq(jsonx_str_or(v->set, "spec.updateStrategy.type", "RollingUpdate"), "RollingUpdate") &&
	    c.updated == want && c.ready == want && c.replicas == want) {
		current = update;
		c.current = c.updated;
	}
	json_object_set_new(status, "observedGeneration", json_integer(jsonx_int_or(v->set, "metadata.generation", 0)));
	json_object_set_new(status, "replicas", json_integer(c.replicas));
	json_object_set_new(status, "availableReplicas", json_integer(c.available));
	status_set_count(status, "readyReplicas", c.ready);
	status_set_count(status, "currentReplicas", c.current);
	status_set_count(status, "updatedReplicas", c.updated);
	if (*current)
		json_object_set_new(status, "currentRevision", jsonx_string(current));
	if (*update)
		json_object_set_new(status, "updateRevision", jsonx_string(update));
	json_object_set_new(status, "collisionCount", json_integer(jsonx_int_or(old, "collisionCount", 0)));
	status_set_failure(status, v->now, v->refused ? "FailedCreate" : NULL, v->refused);
	return status;
}
