// SPDX-License-Identifier: Apache-2.0
/* event.c - Event of core/v1: something that happened to an object; forgotten after an hour
 *
 * events.k8s.io/v1 shows the same objects in another form; this one is stored.
 */
#include <ctype.h>

#include "base/jsonx.h"
#include "base/mem.h"
#include "kinds/cells.h"
#include "kinds/core.h"
#include "kinds/rules.h"

static const struct field event_source_fields[] = {
	F(1, "component", STRING, .doc = "Program that reported it."),
	F(2, "host", STRING, .doc = "Node on which the program runs."),
};
const struct message core_event_source = MESSAGE("io.k8s.api.core.v1.EventSource", event_source_fields,
						 .doc = "Who reported an event, in the old form.");

static const struct field event_series_fields[] = {
	F(1, "count", INT32, .doc = "How often so far."),
	F(2, "lastObservedTime", MICROTIME, .doc = "When last."),
};
static const struct message event_series =
	MESSAGE("io.k8s.api.core.v1.EventSeries", event_series_fields, .doc = "An event that keeps happening.");

static const struct field event_fields[] = {
	FIELDS_OBJECT,
	F(2, "involvedObject", OBJECT, .msg = &core_object_reference, .flags = FIELD_REQUIRED,
	  .doc = "The object it happened to."),
	F(3, "reason", STRING, .doc = "One word for what happened."),
	F(4, "message", STRING, .doc = "A sentence for people."),
	F(5, "source", OBJECT, .msg = &core_event_source, .dflt = "{}", .doc = "Who reported it, in the old form."),
	F(6, "firstTimestamp", TIME, .doc = "When it happened first."),
	F(7, "lastTimestamp", TIME, .doc = "When it happened last."),
	F(8, "count", INT32, .doc = "How often it happened."),
	F(9, "type", STRING, .doc = "Normal or Warning."),
	F(10, "eventTime", MICROTIME, .doc = "When it happened first, to the microsecond."),
	FP(11, "series", OBJECT, .msg = &event_series, .doc = "That it keeps happening."),
	F(12, "action", STRING, .doc = "What was done."),
	FP(13, "related", OBJECT, .msg = &core_object_reference, .doc = "A second object that took part."),
	F(14, "reportingComponent", STRING, .doc = "Controller that reported it."),
	F(15, "reportingInstance", STRING, .doc = "Instance of the controller, such as a node's name."),
};
const struct message core_event =
	MESSAGE("io.k8s.api.core.v1.Event", event_fields, .doc = "Something that happened to an object.");

static void event_validate(const json_t *obj, struct err *e)
{
	const struct path *at = PATH_FIELD(PATH_FIELD(NULL, "involvedObject"), "namespace");
	const json_t *of = jsonx_at(obj, "involvedObject.namespace");
	const char *own = jsonx_str_or(obj, "metadata.namespace", "");

	/* Events about objects without a namespace live in default or kube-system. */
	if (!json_string_length(of)) {
		if (*own && !rule_one_of(own, "default|kube-system"))
			rule_invalid(of, at, e, "does not match event.namespace");
	} else if (!streq(json_string_value(of), own)) {
		rule_invalid(of, at, e, "does not match event.namespace");
	}
}

static const char *first_seen(const json_t *obj)
{
	const char *time = jsonx_str(obj, "firstTimestamp");

	return time ? time : jsonx_str(obj, "eventTime");
}

static json_t *event_last_seen(const json_t *obj, int64_t now)
{
	const char *time = jsonx_str(obj, "series.lastObservedTime");

	if (!time)
		time = jsonx_str(obj, "lastTimestamp");
	return cell_age_of(time ? time : first_seen(obj), now);
}

static json_t *event_type(const json_t *obj, int64_t now)
{
	(void)now;
	return cell_text_or(obj, "type", "");
}

static json_t *event_reason(const json_t *obj, int64_t now)
{
	(void)now;
	return cell_text_or(obj, "reason", "");
}

static json_t *event_object(const json_t *obj, int64_t now)
{
	const char *name = jsonx_str_or(obj, "involvedObject.name", "");
	auto_free char *kind = xstrdup(jsonx_str_or(obj, "involvedObject.kind", ""));

	(void)now;
	for (char *p = kind; *p; p++)
		*p = (char)tolower((unsigned char)*p);
	return jsonx_stringf("%s%s%s", kind, *name ? "/" : "", name);
}

static json_t *event_subobject(const json_t *obj, int64_t now)
{
	(void)now;
	return cell_text_or(obj, "involvedObject.fieldPath", "");
}

static json_t *event_source(const json_t *obj, int64_t now)
{
	const char *who = jsonx_str_or(obj, "source.component", ""), *where = jsonx_str_or(obj, "source.host", "");

	(void)now;
	if (!*who) {
		who = jsonx_str_or(obj, "reportingComponent", "");
		where = jsonx_str_or(obj, "reportingInstance", "");
	}
	return jsonx_stringf("%s%s%s", who, *where ? ", " : "", where);
}

static json_t *event_message(const json_t *obj, int64_t now)
{
	struct str text = str_trim(str_of(jsonx_str_or(obj, "message", "")));

	(void)now;
	return jsonx_stringn(text.n ? text.p : "", text.n);
}

static json_t *event_first_seen(const json_t *obj, int64_t now)
{
	return cell_age_of(first_seen(obj), now);
}

static json_t *event_count(const json_t *obj, int64_t now)
{
	int64_t n = jsonx_int_or(obj, "count", 0);

	(void)now;
	if (json_object_get(obj, "series"))
		return cell_int_or(obj, "series.count", 0);
	return json_integer(n ? n : 1);
}

static const struct column event_columns[] = {
	COLUMN("Last Seen", "Time since it happened last.", event_last_seen),
	COLUMN("Type", "Normal or Warning.", event_type),
	COLUMN("Reason", "One word for what happened.", event_reason),
	COLUMN("Object", "The object it happened to.", event_object),
	COLUMN_WIDE("Subobject", "Part of the object.", event_subobject),
	COLUMN_WIDE("Source", "Who reported it.", event_source),
	COLUMN("Message", "A sentence for people.", event_message),
	COLUMN_WIDE("First Seen", "Time since it happened first.", event_first_seen),
	{ .name = "Count",
	  .type = "integer",
	  .format = "",
	  .doc = "How often it happened.",
	  .priority = 1,
	  .cell = event_count },
	{ .name = "Name",
	  .type = "string",
	  .format = "name",
	  .doc = "Name of the event.",
	  .priority = 1,
	  .cell = cell_name },
};

#define INVOLVED(member_)                                                                                              \
	{                                                                                                              \
		"involvedObject." member_, "involvedObject." member_, NULL                                             \
	}

static const struct selectable event_selectable[] = {
	INVOLVED("kind"),
	INVOLVED("namespace"),
	INVOLVED("name"),
	INVOLVED("uid"),
	INVOLVED("apiVersion"),
	INVOLVED("resourceVersion"),
	INVOLVED("fieldPath"),
	{ "reason", "reason", NULL },
	{ "reportingComponent", "reportingComponent", NULL },
	{ "source", "source.component", NULL },
	{ "type", "type", NULL },
};

const struct kind kind_event = {
	.group = "",
	.version = "v1",
	.kind = "Event",
	.plural = "events",
	.singular = "event",
	.short_names = (const char *const[]){ "ev", NULL },
	.namespaced = true,
	.flags = KIND_EXPIRES | KIND_CREATE_ON_UPDATE,
	.verbs = VERBS_ALL,
	.message = &core_event,
	.columns = event_columns,
	.ncolumns = ARRAY_SIZE(event_columns),
	.selectable = event_selectable,
	.nselectable = ARRAY_SIZE(event_selectable),
	.validate = event_validate,
};
