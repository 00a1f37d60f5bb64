// SPDX-License-Identifier: Apache-2.0
/* event_rows.c - see event_rows.h
 *
 * Events come in two forms: the old one counts in `count` between firstTimestamp and lastTimestamp, the new one has an
 * eventTime and a series.
 */
#include "cli/event_rows.h"

#include <ctype.h>
#include <stdlib.h>
#include <time.h>

#include "base/clock.h"
#include "base/jsonx.h"
#include "base/mem.h"

static int64_t micros_at(const json_t *event, const char *const *paths)
{
	int64_t us;

	for (; *paths; paths++)
		if (clock_parse_rfc3339(jsonx_str_or(event, *paths, ""), &us))
			return us;
	return 0;
}

static int64_t last_micros(const json_t *event)
{
	static const char *const paths[] = { "series.lastObservedTime",
					     "lastTimestamp",
					     "eventTime",
					     "firstTimestamp",
					     "metadata.creationTimestamp",
					     NULL };

	return micros_at(event, paths);
}

int64_t event_last(const json_t *event)
{
	return last_micros(event) / 1000000;
}

int64_t event_first(const json_t *event)
{
	static const char *const paths[] = { "firstTimestamp", "eventTime", "metadata.creationTimestamp", NULL };

	return micros_at(event, paths) / 1000000;
}

int64_t event_count(const json_t *event)
{
	int64_t n = jsonx_int_or(event, "series.count", jsonx_int_or(event, "count", 1));

	return n > 0 ? n : 1;
}

void event_age(const json_t *event, int64_t now, struct sbuf *out)
{
	char last[32];
	char over[32];
	int64_t span = event_last(event) - event_first(event);

	clock_age(now > event_last(event) ? now - event_last(event) : 0, last, sizeof(last));
	sbuf_adds(out, last);
	if (event_count(event) < 2)
		return;
	clock_age(span > 0 ? span : 0, over, sizeof(over));
	sbuf_addf(out, " (x%lld over %s)", (long long)event_count(event), over);
}

void event_object(const json_t *event, struct sbuf *out)
{
	for (const char *p = jsonx_str_or(event, "involvedObject.kind", "object"); *p; p++)
		sbuf_addc(out, (char)tolower((unsigned char)*p));
	sbuf_addf(out, "/%s", jsonx_str_or(event, "involvedObject.name", ""));
}

/* ---- order ---- */

struct dated {
	int64_t at;
	int64_t revision; /* of two in the same second */
	json_t *event;
};

static int by_time(const void *a, const void *b)
{
	const struct dated *x = a;
	const struct dated *y = b;

	if (x->at != y->at)
		return x->at < y->at ? -1 : 1;
	return (x->revision > y->revision) - (x->revision < y->revision);
}

json_t *events_sorted(const json_t *events)
{
	size_t n = json_array_size(events);
	auto_free struct dated *rows = xcalloc(n + 1, sizeof(*rows));
	json_t *sorted = json_array();

	for (size_t i = 0; i < n; i++) {
		json_t *e = json_array_get(events, i);

		rows[i] = (struct dated){ .at = event_last(e), .event = e };
		str_int64(jsonx_str_or(e, "metadata.resourceVersion", ""), 0, INT64_MAX, &rows[i].revision);
	}
	qsort(rows, n, sizeof(*rows), by_time);
	for (size_t i = 0; i < n; i++)
		json_array_append(sorted, rows[i].event);
	return sorted;
}

json_t *events_filter(const json_t *events, const char *type, int64_t since)
{
	json_t *chosen = json_array();
	json_t *e;
	size_t i;

	json_array_foreach ((json_t *)events, i, e)
		if ((!type || str_same(jsonx_str(e, "type"), type)) && event_last(e) >= since)
			json_array_append(chosen, e);
	return chosen;
}

/* ---- the table ---- */

#define COLUMNS(when_)                                                                                                 \
	{ "NAMESPACE" }, { when_ }, { "TYPE" }, { "OBJECT" }, { "REASON" }, { "SOURCE", .wide = true },                \
		{ "FIRST", .wide = true }, { "COUNT", .wide = true, .right = true },                                   \
	{                                                                                                              \
		"MESSAGE"                                                                                              \
	}

static const struct table_column columns[] = { COLUMNS("AGE") };
static const struct table_column clock_columns[] = { COLUMNS("TIME") };

static void add_clock(int64_t seconds, struct sbuf *out)
{
	time_t t = (time_t)seconds;
	struct tm tm;
	char text[16] = "";

	if (localtime_r(&t, &tm))
		strftime(text, sizeof(text), "%H:%M:%S", &tm);
	sbuf_adds(out, text);
}

static void add_source(const json_t *event, struct sbuf *out)
{
	const char *component = jsonx_str_or(event, "source.component", jsonx_str_or(event, "reportingComponent", ""));
	const char *host = jsonx_str_or(event, "source.host", "");

	sbuf_addf(out, "%s%s%s", component, *host ? ", " : "", host);
}

static void add_row(const json_t *event, bool with_namespace, bool clock, int64_t now, struct table *t)
{
	const char *type = jsonx_str_or(event, "type", "");
	enum tint tint = streq(type, "Warning") ? TINT_BUSY : TINT_NONE;
	auto_sbuf struct sbuf when = SBUF(128);
	auto_sbuf struct sbuf object = SBUF(1024);
	auto_sbuf struct sbuf source = SBUF(1024);
	char age[32];

	if (clock)
		add_clock(event_last(event), &when);
	else
		event_age(event, now, &when);
	event_object(event, &object);
	add_source(event, &source);
	if (with_namespace)
		table_add(t, TINT_NONE, jsonx_str_or(event, "metadata.namespace", ""));
	table_add(t, TINT_NONE, when.p);
	table_add(t, tint, type);
	table_add(t, TINT_NONE, object.p);
	table_add(t, tint, jsonx_str_or(event, "reason", ""));
	table_add(t, TINT_NONE, source.p);
	table_add(t, TINT_NONE, output_age(now - event_first(event), age));
	table_addf(t, TINT_NONE, "%lld", (long long)event_count(event));
	table_add(t, TINT_NONE, jsonx_str_or(event, "message", ""));
}

void events_table(const json_t *events, bool with_namespace, bool clock, int64_t now, struct table *ret)
{
	json_t *e;
	size_t i;

	*ret = clock ? TABLE(clock_columns) : TABLE(columns);
	if (!with_namespace)
		table_drop_first(ret);
	json_array_foreach ((json_t *)events, i, e)
		add_row(e, with_namespace, clock, now, ret);
}
