// SPDX-License-Identifier: Apache-2.0
/* reservation.c - stoker.dev/v1 Reservation: nodes or GPUs that are only for some, or for nobody, for a time
 *
 * A class, a deadline, maintenance.  No work that is not meant starts there if it may still run when the time comes;
 * what runs by then is left alone.
 */
#include "kinds/reservation.h"

#include "base/clock.h"
#include "kinds/cells.h"
#include "kinds/core.h"
#include "kinds/rest.h"
#include "kinds/rest_rules.h"
#include "kinds/walltime.h"

static const struct field spec_fields[] = {
	F(0, "start", TIME, .flags = FIELD_REQUIRED, .doc = "When it begins."),
	F(0, "end", TIME, .doc = "When it ends; without, and without duration, when it is deleted."),
	F(0, "duration", STRING, .doc = "Instead of end: how long it lasts, such as 2h or 1:30:00."),
	FL(0, "nodes", STRING, .flags = FIELD_SET, .doc = "Names of nodes."),
	FM(0, "nodeSelector", STRING, .doc = "Labels of nodes."),
	F(0, "gpus", INT32, .has_min = true, .min = 1,
	  .doc = "So many GPUs, of those nodes or of any, instead of whole nodes."),
	FL(0, "users", STRING, .flags = FIELD_SET,
	   .doc = "Users whose work may use it; nobody's without any of these."),
	FL(0, "groups", STRING, .flags = FIELD_SET, .doc = "Groups whose work may use it."),
	FL(0, "queues", STRING, .flags = FIELD_SET, .doc = "Queues whose work may use it."),
	F(0, "reason", STRING, .doc = "What it is for."),
};

bool reservation_times(const json_t *spec, int64_t *ret_start_ms, int64_t *ret_end_ms)
{
	int64_t start;
	int64_t end;
	int64_t seconds;

	if (!clock_parse_rfc3339(jsonx_str_or(spec, "start", ""), &start))
		return false;
	*ret_start_ms = start / 1000;
	*ret_end_ms = INT64_MAX;
	if (walltime_parse(jsonx_str_or(spec, "duration", ""), &seconds))
		*ret_end_ms = *ret_start_ms + clock_ms_of(seconds);
	else if (clock_parse_rfc3339(jsonx_str_or(spec, "end", ""), &end))
		*ret_end_ms = end / 1000;
	return true;
}

const char *reservation_phase(const json_t *spec, int64_t now_ms)
{
	int64_t start;
	int64_t end;

	if (!reservation_times(spec, &start, &end))
		return "Ended";
	return now_ms < start ? "Pending" : now_ms < end ? "Active" : "Ended";
}

static void spec_validate(const json_t *obj, const struct path *at, struct err *e)
{
	const json_t *duration = json_object_get(obj, "duration");
	int64_t start;
	int64_t end;
	int64_t seconds;

	if (!value_is_empty(duration) && (!walltime_parse(json_string_value(duration), &seconds) || seconds <= 0)) {
		path_invalid(PATH_FIELD(at, "duration"), e, duration, "must be a time such as 2h, 1:30:00 or 3600");
		return;
	}
	if (!value_is_empty(duration) && json_object_get(obj, "end"))
		path_forbidden(PATH_FIELD(at, "duration"), e, "may not be set together with end");
	if (reservation_times(obj, &start, &end) && end <= start)
		path_invalid(PATH_FIELD(at, "end"), e, json_object_get(obj, "end"), "must be after start");
	if (value_is_empty(json_object_get(obj, "nodes")) && value_is_empty(json_object_get(obj, "nodeSelector")) &&
	    !json_object_get(obj, "gpus"))
		path_required(PATH_FIELD(at, "nodes"), e, "say what is reserved: nodes, nodeSelector or gpus");
	if (!value_is_empty(json_object_get(obj, "nodes")) && !value_is_empty(json_object_get(obj, "nodeSelector")))
		path_forbidden(PATH_FIELD(at, "nodeSelector"), e, "may not be set together with nodes");
}

static const struct message spec = MESSAGE("dev.stoker.v1.ReservationSpec", spec_fields,
					   .doc = "What is reserved, when and for whom.", .validate = spec_validate);

static const struct field status_fields[] = {
	F(0, "phase", STRING, .doc = "Pending, Active or Ended."),
	FL(0, "nodes", STRING, .doc = "The nodes that nodeSelector means now."),
};

static const struct message status =
	MESSAGE("dev.stoker.v1.ReservationStatus", status_fields, .doc = "How it stands; written by the scheduler.");

static const struct field fields[] = {
	FIELDS_OBJECT,
	F(0, "spec", OBJECT, .msg = &spec, .flags = FIELD_REQUIRED, .doc = "What is reserved, when and for whom."),
	F(0, "status", OBJECT, .msg = &status, .doc = "How it stands; written by the scheduler."),
};

static const struct message reservation = MESSAGE(
	"dev.stoker.v1.Reservation", fields,
	.doc = "Nodes or GPUs that are only for some, or for nobody, for a time: a class, a deadline, maintenance.");

CELL_STR(cell_start, "spec.start", "")
CELL_STR(cell_reason, "spec.reason", "")

static json_t *cell_end(const json_t *obj, int64_t now)
{
	char text[CLOCK_RFC3339_LEN];
	int64_t start;
	int64_t end;

	(void)now;
	if (!reservation_times(json_object_get(obj, "spec"), &start, &end) || end == INT64_MAX)
		return jsonx_string("<none>");
	clock_rfc3339(end / 1000, text);
	return jsonx_string(text);
}

static json_t *cell_what(const json_t *obj, int64_t now)
{
	json_auto_t *nodes = cell_join(jsonx_at(obj, "spec.nodes"), ",", "");
	json_auto_t *selector = cell_map_selector(jsonx_at(obj, "spec.nodeSelector"));
	const char *of = value_is_empty(nodes) ? json_string_value(selector) : json_string_value(nodes);
	int64_t gpus = jsonx_int_or(obj, "spec.gpus", 0);

	(void)now;
	if (!gpus)
		return jsonx_string(of);
	return jsonx_stringf("%lld GPU%s%s%s", (long long)gpus, gpus == 1 ? "" : "s", streq(of, "<none>") ? "" : " of ",
			     streq(of, "<none>") ? "" : of);
}

static json_t *cell_for(const json_t *obj, int64_t now)
{
	static const char *const lists[] = { "users", "groups", "queues" };
	json_auto_t *all = json_array();

	(void)now;
	for (size_t i = 0; i < ARRAY_SIZE(lists); i++)
		json_array_extend(all, json_object_get(json_object_get(obj, "spec"), lists[i]));
	return cell_join(all, ",", "<nobody>");
}

static json_t *cell_phase(const json_t *obj, int64_t now)
{
	return jsonx_string(reservation_phase(json_object_get(obj, "spec"), now * 1000));
}

static const struct column columns[] = {
	COLUMN_NAME,
	COLUMN("Start", "When it begins.", cell_start),
	COLUMN("End", "When it ends.", cell_end),
	COLUMN("What", "Nodes or GPUs.", cell_what),
	COLUMN("For", "Whose work may use it.", cell_for),
	COLUMN("Phase", "Pending, Active or Ended.", cell_phase),
	COLUMN_AGE,
	COLUMN_WIDE("Reason", "What it is for.", cell_reason),
};

const struct kind kind_reservation = {
	.group = "stoker.dev",
	.version = "v1",
	.kind = "Reservation",
	.plural = "reservations",
	.singular = "reservation",
	.flags = KIND_STATUS | KIND_GENERATION,
	.verbs = VERBS_ALL,
	.message = &reservation,
	KIND_COLUMNS(columns),
	KIND_SUBRESOURCES(status_only),
	.prepare_create = status_begin,
};
