// SPDX-License-Identifier: Apache-2.0
/* events.c - Events, with repetitions counted
 *
 * What was told lately is remembered by its whole text.  The first time makes an Event; the same again raises its
 * count, at most once a second, so that a container that fails in a circle writes one small patch a second at most.  A
 * failed write is nobody's problem: events are a courtesy.
 */
#include "client/events.h"

#include <stdio.h>

#include "base/clock.h"
#include "base/jsonx.h"
#include "base/limits.h"
#include "base/map.h"
#include "base/mem.h"

#define REMEMBERED 512
#define MIN_GAP_MS 1000
#define TEXT_MAX   1024

struct told {
	char *name, *ns;
	int64_t count;
	int64_t written_ms;
};

struct events {
	struct client *client;
	char *component, *host;
	struct map told; /* whole text -> struct told */
	uint64_t seq;    /* of the last one */
};

static void told_free(void *v)
{
	struct told *t = v;

	free(t->name);
	free(t->ns);
	free(t);
}

struct events *events_new(struct client *c, const char *component, const char *host)
{
	struct events *ev = xcalloc(1, sizeof(*ev));

	ev->client = c;
	ev->component = xstrdup(component);
	ev->host = host ? xstrdup(host) : NULL;
	map_init(&ev->told, told_free);
	return ev;
}

void events_free(struct events *ev)
{
	if (!ev)
		return;
	map_done(&ev->told);
	free(ev->component);
	free(ev->host);
	free(ev);
}

static void on_written(void *arg, const json_t *obj, const struct err *e)
{
	(void)arg;
	(void)obj;
	(void)e;
}

static json_t *reference(const json_t *obj, const char *field)
{
	json_t *ref = json_object();
	const struct {
		const char *to, *value;
	} rows[] = {
		{ "kind", jsonx_str(obj, "kind") },
		{ "apiVersion", jsonx_str(obj, "apiVersion") },
		{ "namespace", jsonx_str(obj, "metadata.namespace") },
		{ "name", jsonx_str(obj, "metadata.name") },
		{ "uid", jsonx_str(obj, "metadata.uid") },
		{ "resourceVersion", jsonx_str(obj, "metadata.resourceVersion") },
		{ "fieldPath", field },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (rows[i].value && *rows[i].value)
			json_object_set_new(ref, rows[i].to, jsonx_string(rows[i].value));
	return ref;
}

static void write_first(struct events *ev, const struct told *t, const json_t *obj, const char *field, const char *type,
			const char *reason, const char *text)
{
	struct ref ref = { .api_version = "v1", .plural = "events", .ns = t->ns };
	char now[CLOCK_RFC3339_LEN];
	json_auto_t *doc = NULL;

	clock_rfc3339(clock_wall(), now);
	doc = json_pack("{s:s, s:s, s:{s:s, s:s}, s:o, s:s, s:s, s:o, s:{s:s}, s:s, s:s, s:i, s:n, s:s, s:s}", "kind",
			"Event", "apiVersion", "v1", "metadata", "name", t->name, "namespace", t->ns, "involvedObject",
			reference(obj, field), "type", type, "reason", reason, "message", jsonx_string(text), "source",
			"component", ev->component, "firstTimestamp", now, "lastTimestamp", now, "count", 1,
			"eventTime", "reportingComponent", ev->component, "reportingInstance",
			ev->host ? ev->host : "");
	if (ev->host)
		jsonx_set_new(doc, "source.host", jsonx_string(ev->host));
	ev->client->ops->create(ev->client, &ref, doc, on_written, NULL);
}

static void write_again(struct events *ev, const struct told *t)
{
	struct ref ref = { .api_version = "v1", .plural = "events", .ns = t->ns, .name = t->name };
	char now[CLOCK_RFC3339_LEN];
	json_auto_t *patch = NULL;

	clock_rfc3339(clock_wall(), now);
	patch = json_pack("{s:I, s:s}", "count", (json_int_t)t->count, "lastTimestamp", now);
	ev->client->ops->patch(ev->client, &ref, "merge", patch, on_written, NULL);
}

/* As in Kubernetes, names grow with time, whoever tells: in a list, of events of the same second the first is first. */
static char *next_name(struct events *ev, const json_t *obj)
{
	uint64_t now = (uint64_t)clock_wall_micros();

	ev->seq = now > ev->seq ? now : ev->seq + 1;
	return xasprintf("%.200s.%llx", jsonx_str_or(obj, "metadata.name", ""), (unsigned long long)ev->seq);
}

static void note(struct events *ev, const json_t *obj, const char *field, const char *type, const char *reason,
		 const char *text)
{
	const char *ns = jsonx_str_or(obj, "metadata.namespace", "");
	auto_free char *key = xasprintf("%s\n%s\n%s\n%s\n%s", jsonx_str_or(obj, "metadata.uid", ""), field ? field : "",
					type, reason, text);
	struct told *t = map_find(&ev->told, key);
	int64_t now = clock_mono_ms();

	if (t) {
		t->count++;
		if (now - t->written_ms < MIN_GAP_MS)
			return;
		t->written_ms = now;
		write_again(ev, t);
		return;
	}
	if (ev->told.n >= REMEMBERED) {
		map_done(&ev->told);
		map_init(&ev->told, told_free);
	}
	t = xcalloc(1, sizeof(*t));
	t->name = next_name(ev, obj);
	t->ns = xstrdup(*ns ? ns : "default");
	t->count = 1;
	t->written_ms = now;
	map_set(&ev->told, key, t);
	write_first(ev, t, obj, field, type, reason, text);
}

void events_note(struct events *ev, const json_t *obj, const char *type, const char *reason, const char *fmt, ...)
{
	char text[TEXT_MAX];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	note(ev, obj, NULL, type, reason, text);
}

void events_note_field(struct events *ev, const json_t *obj, const char *field, const char *type, const char *reason,
		       const char *fmt, ...)
{
	char text[TEXT_MAX];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	note(ev, obj, field, type, reason, text);
}
