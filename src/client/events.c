// SPDX-License-Identifier: Apache-2.0
/* events.c - Events, with repetitions counted, similar ones combined and none forgotten
 *
 * What was told lately is remembered by its whole text.  The first time makes an Event; the same again raises its
 * count.  Texts of which there are too many become one Event "(combined from similar events): ..." with the newest of
 * them (events_limit.c).
 *
 * An Event is written at once if a second has passed since its last write and its object may still write.  If not, it
 * waits: the count goes on, and a timer writes all that has been counted in one piece as soon as it may be.  Memory is
 * bounded: what falls out of it unwritten is said in the log.  A write that fails is nobody's problem, events are a
 * courtesy; only an Event that is not there any more is made once more.
 */
#include "client/events.h"

#include <stdio.h>

#include "base/clock.h"
#include "base/jsonx.h"
#include "base/limits.h"
#include "base/log.h"
#include "base/lru.h"
#include "base/mem.h"
#include "client/events_limit.h"

#define REMEMBERED 512
#define MIN_GAP_MS 1000
#define TEXT_MAX   1024
#define COMBINED   "(combined from similar events): "

/* One Event. */
struct told {
	char *key;    /* in `memory` */
	char *object; /* whose right to write it takes */
	char *name, *ns;
	char *doc;                  /* all of it that does not change, as text */
	char *message;              /* of a combined one, the newest; else NULL */
	int64_t count, written;     /* how often it happened, and how much of that has been written */
	int64_t last_s;             /* when it happened last */
	int64_t due_ms;             /* not to be written before */
	bool made;                  /* there is an object to patch */
	struct told *next, **pprev; /* those that wait; pprev NULL: does not */
};

/* A write under way. */
struct write {
	struct events *ev; /* NULL: gone in the meantime */
	char *key;
	struct write *next, **pprev;
};

struct events {
	struct client *client;
	char *component, *host;
	struct events_limit limit;
	struct lru memory; /* whole text -> struct told */
	struct told *waiting;
	struct write *writes;
	struct loop_timer timer;
	int64_t timer_ms; /* when it fires; 0: it does not */
	int64_t lost;     /* forgotten before they were written */
	uint64_t seq;     /* of the last one */
};

static void on_timer(void *arg);

/* ---- memory ---- */

static void stop_waiting(struct told *t)
{
	if (!t->pprev)
		return;
	*t->pprev = t->next;
	if (t->next)
		t->next->pprev = t->pprev;
	t->pprev = NULL;
}

static void forget(void *arg, void *value)
{
	struct events *ev = arg;
	struct told *t = value;

	ev->lost += t->count - t->written;
	stop_waiting(t);
	free(t->key);
	free(t->object);
	free(t->name);
	free(t->ns);
	free(t->doc);
	free(t->message);
	free(t);
}

struct events *events_new(struct client *c, const char *component, const char *host)
{
	struct events *ev = xcalloc(1, sizeof(*ev));

	ev->client = c;
	ev->component = xstrdup(component);
	ev->host = host ? xstrdup(host) : NULL;
	ev->timer = (struct loop_timer){ .fire = on_timer, .arg = ev };
	events_limit_init(&ev->limit);
	lru_init(&ev->memory, REMEMBERED, forget, ev);
	return ev;
}

static void say_lost(struct events *ev)
{
	if (ev->lost)
		log_info("forget events that came too often component=%s count=%lld", ev->component,
			 (long long)ev->lost);
	ev->lost = 0;
}

void events_free(struct events *ev)
{
	if (!ev)
		return;
	for (struct write *w = ev->writes; w; w = w->next)
		w->ev = NULL;
	lru_done(&ev->memory);
	log_debug("leave repeated events uncounted component=%s count=%lld", ev->component, (long long)ev->lost);
	events_limit_done(&ev->limit);
	loop_timer_done(&ev->timer);
	free(ev->component);
	free(ev->host);
	free(ev);
}

/* ---- writing ---- */

/* As in Kubernetes, names grow with time, whoever tells: in a list, of events of the same second the first is first. */
static char *next_name(struct events *ev, const char *object)
{
	uint64_t now = (uint64_t)clock_wall_micros();

	ev->seq = now > ev->seq ? now : ev->seq + 1;
	return xasprintf("%.200s.%llx", object, (unsigned long long)ev->seq);
}

static void write_free(struct write *w)
{
	if (w->ev) {
		*w->pprev = w->next;
		if (w->next)
			w->next->pprev = w->pprev;
	}
	free(w->key);
	free(w);
}

static struct write *write_new(struct events *ev, const struct told *t)
{
	struct write *w = xcalloc(1, sizeof(*w));

	w->ev = ev;
	w->key = xstrdup(t->key);
	w->next = ev->writes;
	w->pprev = &ev->writes;
	if (w->next)
		w->next->pprev = &w->next;
	ev->writes = w;
	return w;
}

static void write_soon(struct events *ev, struct told *t, json_t *doc);

static void on_made(void *arg, const json_t *obj, const struct err *e)
{
	(void)obj;
	(void)e;
	write_free(arg);
}

/* An Event that has expired or been deleted is made once more, with all that was counted. */
static void on_patched(void *arg, const json_t *obj, const struct err *e)
{
	struct write *w = arg;
	struct events *ev = w->ev;
	struct told *t = ev && e->kind == ERR_NOT_FOUND ? lru_use(&ev->memory, w->key) : NULL;

	(void)obj;
	write_free(w);
	if (!t || !t->made)
		return;
	t->made = false;
	t->written = 0;
	write_soon(ev, t, NULL);
}

/* What changes with every time that it happens. */
static void add_counts(const struct told *t, json_t *doc)
{
	char last[CLOCK_RFC3339_LEN];

	clock_rfc3339(t->last_s, last);
	json_object_set_new(doc, "count", json_integer(t->count));
	json_object_set_new(doc, "lastTimestamp", json_string(last));
	if (t->message)
		json_object_set_new(doc, "message", jsonx_string(t->message));
}

static void make_event(struct events *ev, struct told *t, json_t *doc)
{
	struct ref ref = { .api_version = "v1", .plural = "events", .ns = t->ns };
	json_auto_t *again = NULL;
	struct err e = ERR_INIT;

	if (!doc && jsonx_parse(t->doc, strlen(t->doc), NULL, NULL, &again, &e) < 0)
		return;
	doc = doc ? doc : again;
	add_counts(t, doc);
	t->made = true;
	ev->client->ops->create(ev->client, &ref, doc, on_made, write_new(ev, t));
}

static void patch_event(struct events *ev, struct told *t)
{
	struct ref ref = { .api_version = "v1", .plural = "events", .ns = t->ns, .name = t->name };
	json_auto_t *patch = json_object();

	add_counts(t, patch);
	ev->client->ops->patch(ev->client, &ref, "merge", patch, on_patched, write_new(ev, t));
}

/* Writes it if it may be written now.  `doc` is all of it, if somebody has it at hand. */
static bool write_now(struct events *ev, struct told *t, json_t *doc, int64_t now)
{
	int64_t wait;

	if (now < t->due_ms)
		return false;
	wait = events_limit_take(&ev->limit, t->object, now);
	t->due_ms = now + (wait ? wait : MIN_GAP_MS);
	if (wait)
		return false;
	stop_waiting(t); /* first: the answer may come at once, and ask for more */
	t->written = t->count;
	if (t->made)
		patch_event(ev, t);
	else
		make_event(ev, t, doc);
	return true;
}

static void wake_at(struct events *ev, int64_t when, int64_t now)
{
	if (ev->timer_ms && ev->timer_ms <= when)
		return;
	ev->timer_ms = when;
	loop_timer_set(ev->client->loop, &ev->timer, when > now ? when - now : 0);
}

static void write_soon(struct events *ev, struct told *t, json_t *doc)
{
	int64_t now = clock_mono_ms();

	if (t->pprev)
		return;
	if (write_now(ev, t, doc, now))
		return;
	t->next = ev->waiting;
	t->pprev = &ev->waiting;
	if (t->next)
		t->next->pprev = &t->next;
	ev->waiting = t;
	wake_at(ev, t->due_ms, now);
}

static void on_timer(void *arg)
{
	struct events *ev = arg;
	int64_t now = clock_mono_ms();
	struct told *next;

	ev->timer_ms = 0;
	say_lost(ev);
	for (struct told *t = ev->waiting; t; t = next) {
		next = t->next;
		if (!write_now(ev, t, NULL, now))
			wake_at(ev, t->due_ms, now);
	}
}

/* ---- telling ---- */

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

/* What is said, and about what. */
struct saying {
	const json_t *obj;
	const char *field, *type, *reason, *text;
};

static json_t *event_doc(const struct events *ev, const struct told *t, const struct saying *s)
{
	char now[CLOCK_RFC3339_LEN];
	json_t *doc;

	clock_rfc3339(clock_wall(), now);
	doc = json_pack("{s:s, s:s, s:{s:s, s:s}, s:o, s:s, s:s, s:o, s:{s:s}, s:s, s:s, s:i, s:n, s:s, s:s}", "kind",
			"Event", "apiVersion", "v1", "metadata", "name", t->name, "namespace", t->ns, "involvedObject",
			reference(s->obj, s->field), "type", s->type, "reason", s->reason, "message",
			jsonx_string(s->text), "source", "component", ev->component, "firstTimestamp", now,
			"lastTimestamp", now, "count", 1, "eventTime", "reportingComponent", ev->component,
			"reportingInstance", ev->host ? ev->host : "");
	if (ev->host)
		jsonx_set_new(doc, "source.host", jsonx_string(ev->host));
	return doc;
}

static struct told *remember(struct events *ev, const char *key, const char *object, const struct saying *s,
			     json_t **ret_doc)
{
	const char *ns = jsonx_str_or(s->obj, "metadata.namespace", "");
	auto_sbuf struct sbuf text = SBUF(LIMIT_OBJECT);
	struct told *t = xcalloc(1, sizeof(*t));

	t->key = xstrdup(key);
	t->object = xstrdup(object);
	t->name = next_name(ev, jsonx_str_or(s->obj, "metadata.name", ""));
	t->ns = xstrdup(*ns ? ns : "default");
	*ret_doc = event_doc(ev, t, s);
	jsonx_dump(*ret_doc, &text);
	t->doc = sbuf_steal(&text);
	lru_add(&ev->memory, key, t);
	return t;
}

static void note(struct events *ev, const struct saying *s)
{
	auto_free char *object = xasprintf(
		"%s\n%s\n%s\n%s", jsonx_str_or(s->obj, "kind", ""), jsonx_str_or(s->obj, "metadata.namespace", ""),
		jsonx_str_or(s->obj, "metadata.name", ""), jsonx_str_or(s->obj, "metadata.uid", ""));
	auto_free char *group = xasprintf("%s\n%s\n%s", object, s->type, s->reason);
	bool combined = events_limit_combines(&ev->limit, group, s->text, clock_mono_ms());
	auto_free char *key =
		combined ? xstrdup(group) : xasprintf("%s\n%s\n%s", group, s->field ? s->field : "", s->text);
	struct told *t = lru_use(&ev->memory, key);
	json_auto_t *doc = NULL;

	if (!t)
		t = remember(ev, key, object, s, &doc);
	if (combined) {
		free(t->message);
		t->message = xasprintf(COMBINED "%s", s->text);
	}
	t->count++;
	t->last_s = clock_wall();
	write_soon(ev, t, doc);
}

void events_note(struct events *ev, const json_t *obj, const char *type, const char *reason, const char *fmt, ...)
{
	char text[TEXT_MAX];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	note(ev, &(struct saying){ obj, NULL, type, reason, text });
}

void events_note_field(struct events *ev, const json_t *obj, const char *field, const char *type, const char *reason,
		       const char *fmt, ...)
{
	char text[TEXT_MAX];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	note(ev, &(struct saying){ obj, field, type, reason, text });
}
