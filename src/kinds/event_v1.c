// SPDX-License-Identifier: Apache-2.0
/* event_v1.c - events.k8s.io/v1 Event: the newer form of core/v1 events
 *
 * Both forms are views of one store, which keeps core/v1's.  They say the same under other names; `renamed` is all
 * there is to the difference.
 */
#include "kinds/cells.h"
#include "kinds/core.h"
#include "kinds/rest.h"
#include "kinds/rest_rules.h"

enum { MAX_NOTE = 1024 };

static const struct {
	const char *here, *core;
} renamed[] = {
	{ "regarding", "involvedObject" },
	{ "note", "message" },
	{ "reportingController", "reportingComponent" },
	{ "deprecatedSource", "source" },
	{ "deprecatedFirstTimestamp", "firstTimestamp" },
	{ "deprecatedLastTimestamp", "lastTimestamp" },
	{ "deprecatedCount", "count" },
};

static void rename_member(json_t *obj, const char *from, const char *to)
{
	json_t *v = json_object_get(obj, from);

	if (!v)
		return;
	json_object_set(obj, to, v);
	json_object_del(obj, from);
}

static void to_storage(json_t *obj, const json_t *old)
{
	(void)old;
	for (size_t i = 0; i < ARRAY_SIZE(renamed); i++)
		rename_member(obj, renamed[i].here, renamed[i].core);
}

static void from_storage(json_t *obj)
{
	for (size_t i = 0; i < ARRAY_SIZE(renamed); i++)
		rename_member(obj, renamed[i].core, renamed[i].here);
}

static const struct field series_fields[] = {
	F(1, "count", INT32, .doc = "How often it has happened so far."),
	F(2, "lastObservedTime", MICROTIME, .doc = "When it last happened."),
};

static const struct message series =
	MESSAGE("io.k8s.api.events.v1.EventSeries", series_fields, .doc = "An event that goes on happening.");

static const struct field fields[] = {
	FIELDS_OBJECT,
	F(2, "eventTime", MICROTIME, .doc = "When it first happened."),
	F(3, "series", OBJECT, .msg = &series, .doc = "Set if it goes on happening."),
	F(4, "reportingController", STRING, .doc = "Who tells it, such as kubernetes.io/kubelet."),
	F(5, "reportingInstance", STRING, .doc = "Which of them, such as a host's name."),
	F(6, "action", STRING, .doc = "What was done, in one word."),
	F(7, "reason", STRING, .doc = "Why, in one word."),
	F(8, "regarding", OBJECT, .msg = &core_object_reference, .doc = "The object that it is about."),
	F(9, "related", OBJECT, .msg = &core_object_reference, .doc = "Another object that has to do with it."),
	F(10, "note", STRING, .doc = "What happened, for people."),
	F(11, "type", STRING, .values = "Normal|Warning", .doc = "Normal or Warning."),
	F(12, "deprecatedSource", OBJECT, .msg = &core_event_source, .doc = "core/v1's source."),
	F(13, "deprecatedFirstTimestamp", TIME, .doc = "core/v1's firstTimestamp."),
	F(14, "deprecatedLastTimestamp", TIME, .doc = "core/v1's lastTimestamp."),
	F(15, "deprecatedCount", INT32, .doc = "core/v1's count."),
};

static const struct message event =
	MESSAGE("io.k8s.api.events.v1.Event", fields, .doc = "Something that happened to an object.");

/* Events first written in core/v1's form are let through as they are. */
static void validate(const json_t *obj, struct err *e)
{
	static const char *const required[] = {
		"eventTime", "reportingController", "reportingInstance", "action", "reason", "type"
	};
	const json_t *note = json_object_get(obj, "note");
	bool core_form = json_object_get(obj, "deprecatedFirstTimestamp") || json_object_get(obj, "deprecatedCount");

	for (size_t i = 0; !core_form && i < ARRAY_SIZE(required); i++)
		if (value_is_empty(json_object_get(obj, required[i])))
			path_required(PATH_FIELD(NULL, required[i]), e, NULL);
	if (!core_form && json_string_length(note) > MAX_NOTE)
		path_invalid(PATH_FIELD(NULL, "note"), e, note, "can have at most %d characters", MAX_NOTE);
}

static const char *first_time(const json_t *obj, const char *const *paths)
{
	for (; *paths; paths++) {
		const char *s = jsonx_str(obj, *paths);

		if (s)
			return s;
	}
	return NULL;
}

static json_t *cell_last_seen(const json_t *obj, int64_t now)
{
	static const char *const paths[] = { "deprecatedLastTimestamp", "series.lastObservedTime",
					     "deprecatedFirstTimestamp", "eventTime", NULL };

	return cell_age_of(first_time(obj, paths), now);
}

static json_t *cell_first_seen(const json_t *obj, int64_t now)
{
	static const char *const paths[] = { "deprecatedFirstTimestamp", "eventTime", NULL };

	return cell_age_of(first_time(obj, paths), now);
}

static json_t *cell_object(const json_t *obj, int64_t now)
{
	auto_free char *kind = xstrdup(jsonx_str_or(obj, "regarding.kind", ""));

	(void)now;
	for (char *c = kind; *c; c++)
		*c = *c >= 'A' && *c <= 'Z' ? (char)(*c - 'A' + 'a') : *c;
	return jsonx_stringf("%s/%s", kind, jsonx_str_or(obj, "regarding.name", ""));
}

static json_t *cell_source(const json_t *obj, int64_t now)
{
	const char *who = jsonx_str_or(obj, "deprecatedSource.component", jsonx_str_or(obj, "reportingController", ""));
	const char *where = jsonx_str_or(obj, "deprecatedSource.host", jsonx_str_or(obj, "reportingInstance", ""));

	(void)now;
	return where[0] ? jsonx_stringf("%s, %s", who, where) : jsonx_string(who);
}

static json_t *cell_count(const json_t *obj, int64_t now)
{
	(void)now;
	return json_integer(jsonx_int_or(obj, "series.count", jsonx_int_or(obj, "deprecatedCount", 1)));
}

CELL_STR(cell_type, "type", "")
CELL_STR(cell_reason, "reason", "")
CELL_STR(cell_subobject, "regarding.fieldPath", "")
CELL_STR(cell_note, "note", "")

static const struct column columns[] = {
	COLUMN("Last Seen", "When it last happened.", cell_last_seen),
	COLUMN("Type", "Normal or Warning.", cell_type),
	COLUMN("Reason", "Why, in one word.", cell_reason),
	COLUMN("Object", "What it is about.", cell_object),
	COLUMN_WIDE("Subobject", "The part of the object it is about.", cell_subobject),
	COLUMN_WIDE("Source", "Who tells it.", cell_source),
	COLUMN("Message", "What happened.", cell_note),
	COLUMN_WIDE("First Seen", "When it first happened.", cell_first_seen),
	COLUMN_WIDE("Count", "How often it happened.", cell_count),
	{ .name = "Name",
	  .type = "string",
	  .format = "name",
	  .doc = "Name of the event.",
	  .priority = 1,
	  .cell = cell_name },
};

static const struct selectable selectable[] = {
	{ "regarding.kind", "involvedObject.kind" },
	{ "regarding.namespace", "involvedObject.namespace" },
	{ "regarding.name", "involvedObject.name" },
	{ "regarding.uid", "involvedObject.uid" },
	{ "regarding.apiVersion", "involvedObject.apiVersion" },
	{ "regarding.resourceVersion", "involvedObject.resourceVersion" },
	{ "regarding.fieldPath", "involvedObject.fieldPath" },
	{ "reason", "reason" },
	{ "reportingController", "reportingComponent" },
	{ "type", "type" },
};

static const char *const short_names[] = { "ev", NULL };

const struct kind kind_event_v1 = {
	.group = "events.k8s.io",
	.version = "v1",
	.kind = "Event",
	.plural = "events",
	.singular = "event",
	.short_names = short_names,
	.namespaced = true,
	.flags = KIND_EXPIRES | KIND_CREATE_ON_UPDATE,
	.verbs = VERBS_ALL,
	.message = &event,
	KIND_COLUMNS(columns),
	KIND_SELECTABLE(selectable),
	.storage = &kind_event,
	.to_storage = to_storage,
	.from_storage = from_storage,
	.validate = validate,
};
