// SPDX-License-Identifier: Apache-2.0
#include "cli/event_rows.h"

#include "about_text.h"

#define EVENT(reason_, more_)                                                                                          \
	"{'metadata':{'namespace':'lab','uid':'" reason_ "'},'type':'Normal','reason':'" reason_ "',"                  \
	"'message':'m','involvedObject':{'kind':'Pod','name':'p'}" more_ "}"

TEST("an event says when it happened last, and how often since when")
{
	static const struct {
		const char *more, *age;
	} rows[] = {
		{ ",'lastTimestamp':'2025-12-31T23:59:55Z','count':1", "5s" },
		{ ",'firstTimestamp':'2025-12-31T23:55:55Z','lastTimestamp':'2025-12-31T23:59:55Z','count':12",
		  "5s (x12 over 4m)" },
		{ ",'eventTime':'2025-12-31T23:59:50.000000Z','lastTimestamp':null", "10s" },
		{ ",'eventTime':'2025-12-31T23:00:00.000000Z','series':{'count':3,'lastObservedTime':"
		  "'2025-12-31T23:59:00.000000Z'}",
		  "60s (x3 over 59m)" },
		{ ",'lastTimestamp':'2026-01-01T00:00:09Z'", "0s" },
		{ ",'count':0,'lastTimestamp':'2025-12-31T23:59:59Z'", "1s" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		auto_sbuf struct sbuf text = SBUF(1024);
		auto_sbuf struct sbuf age = SBUF(64);
		json_auto_t *e = NULL;

		sbuf_addf(&text, "{'reason':'r'%s}", rows[i].more);
		e = about_json(text.p);
		event_age(e, ABOUT_NOW, &age);
		CHECK_STR(age.p, rows[i].age);
	}
}

TEST("events are in the order of time, and of revisions within a second")
{
	json_auto_t *events = about_json(
		"[" EVENT("c", ",'lastTimestamp':'2025-12-31T23:59:59Z'") ","
									  "{'reason':'b','metadata':{'resourceVersion':"
									  "'10'},'lastTimestamp':"
									  "'2025-12-31T23:59:58Z'},"
									  "{'reason':'a','metadata':{'resourceVersion':"
									  "'9'},'lastTimestamp':"
									  "'2025-12-31T23:59:58Z'}]");
	json_auto_t *sorted = events_sorted(events);
	json_auto_t *late = events_filter(sorted, "Normal", ABOUT_NOW - 1);
	json_auto_t *none = events_filter(sorted, "Warning", 0);

	CHECK_STR(jsonx_str(json_array_get(sorted, 0), "reason"), "a");
	CHECK_STR(jsonx_str(json_array_get(sorted, 1), "reason"), "b");
	CHECK_STR(jsonx_str(json_array_get(sorted, 2), "reason"), "c");
	CHECK_INT(json_array_size(late), 1);
	CHECK_INT(json_array_size(none), 0);
}

TEST("the table of events has their source with -o wide, and no control characters")
{
	json_auto_t *events = about_json(
		"[{'metadata':{'namespace':'lab'},'type':'Warning','reason':'Failed','message':'a\\u001b[2Jb','source':"
		"{'component':'kubelet','host':'vm'},'involvedObject':{'kind':'Pod','name':'p'},'count':2,"
		"'firstTimestamp':'2025-12-31T23:59:50Z','lastTimestamp':'2025-12-31T23:59:55Z'}]");
	auto_sbuf struct sbuf out = SBUF(4096);
	struct table t;

	events_table(events, false, false, ABOUT_NOW, &t);
	table_text(&t, false, false, 0, &out);
	CHECK_STR(out.p, "AGE              TYPE     OBJECT  REASON  MESSAGE\n"
			 "5s (x2 over 5s)  Warning  pod/p   Failed  a [2Jb\n");
	table_done(&t);
	sbuf_reset(&out);
	events_table(events, true, false, ABOUT_NOW, &t);
	table_text(&t, true, false, 0, &out);
	CHECK_STR(out.p, "NAMESPACE  AGE              TYPE     OBJECT  REASON  SOURCE       FIRST  COUNT  MESSAGE\n"
			 "lab        5s (x2 over 5s)  Warning  pod/p   Failed  kubelet, vm  10s        2  a [2Jb\n");
	table_done(&t);
}
