// SPDX-License-Identifier: Apache-2.0
/* event.c - one Event a report
 *
 * Its name is the object's with the time in nanoseconds, as Kubernetes' clients do it: unique enough, and it sorts.
 */
#include "client/event.h"

#include "base/clock.h"
#include "base/jsonx.h"
#include "base/log.h"
#include "base/mem.h"

#define NAME_ROOM 230 /* of an object's name, so that the whole stays a valid name */

static json_t *involved(const struct event_report *r)
{
	static const struct {
		const char *from, *to;
	} rows[] = {
		{ "kind", "kind" },
		{ "apiVersion", "apiVersion" },
		{ "metadata.namespace", "namespace" },
		{ "metadata.name", "name" },
		{ "metadata.uid", "uid" },
		{ "metadata.resourceVersion", "resourceVersion" },
	};
	json_t *ref = json_object();

	if (r->kind)
		json_object_set_new(ref, "kind", json_string(r->kind));
	if (r->api_version)
		json_object_set_new(ref, "apiVersion", json_string(r->api_version));
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		json_t *v = jsonx_at(r->about, rows[i].from);

		if (v)
			json_object_set(ref, rows[i].to, v);
	}
	if (r->field)
		json_object_set_new(ref, "fieldPath", jsonx_string(r->field));
	return ref;
}

static const char *namespace_of(const json_t *about)
{
	const char *ns = jsonx_str_or(about, "metadata.namespace", "");

	return *ns ? ns : "default";
}

json_t *event_make(const struct event_report *r)
{
	int64_t micros = clock_wall_micros();
	json_t *source = json_pack("{s:s}", "component", r->component);
	char now[CLOCK_RFC3339_LEN];

	clock_rfc3339(micros / 1000000, now);
	if (r->host)
		json_object_set_new(source, "host", jsonx_string(r->host));
	/* The clock's microseconds leave three digits; what is reported within one differs in the monotonic ones. */
	return json_pack("{s:s, s:s, s:{s:o, s:s}, s:o, s:s, s:o, s:o, s:s, s:s, s:i, s:s, s:s, s:s}", "kind", "Event",
			 "apiVersion", "v1", "metadata", "name",
			 jsonx_stringf("%.*s.%llx", NAME_ROOM, jsonx_str_or(r->about, "metadata.name", ""),
				       (unsigned long long)(micros * 1000 + clock_mono_ns() % 1000)),
			 "namespace", namespace_of(r->about), "involvedObject", involved(r), "reason", r->reason,
			 "message", jsonx_string(r->message), "source", source, "firstTimestamp", now, "lastTimestamp",
			 now, "count", 1, "type", r->type == EVENT_WARNING ? "Warning" : "Normal", "reportingComponent",
			 r->component, "reportingInstance", r->host ? r->host : "");
}

static void on_posted(void *arg, const json_t *obj, const struct err *e)
{
	(void)arg;
	(void)obj;
	if (e->kind != ERR_NONE)
		log_debug("post an event: %s, ignoring", e->text);
}

void event_post(struct client *c, const struct event_report *r)
{
	json_auto_t *event = event_make(r);
	struct ref ref = { .api_version = "v1", .plural = "events", .ns = namespace_of(r->about) };

	c->ops->create(c, &ref, event, on_posted, NULL);
}
