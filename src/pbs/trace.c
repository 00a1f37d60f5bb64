// SPDX-License-Identifier: Apache-2.0
/* trace.c - see trace.h
 *
 * Torque searches its daemons' files; here the object has the moments, and the API has events about the job and its
 * pods.
 */
#include "pbs/trace.h"

#include <stdlib.h>
#include <time.h>

#include "base/clock.h"
#include "base/jsonx.h"
#include "base/mem.h"
#include "kinds/pbs_account.h"
#include "kinds/pbs_comment.h"
#include "pbs/job_attributes.h"

#define TEXT_MAX (1u << 20)

struct line {
	int64_t when;
	size_t order;
	char source;
	char *text;
};

struct lines {
	struct line *items;
	size_t n, cap;
};

static void add(struct lines *l, int64_t when, char source, char *text)
{
	if (when < 0 || !text) {
		free(text);
		return;
	}
	ARRAY_PUSH(l->items, l->n, l->cap,
		   ((struct line){ .when = when, .order = l->n, .source = source, .text = text }));
}

static int64_t moment(const json_t *obj, const char *path)
{
	int64_t micros;

	return clock_parse_rfc3339(jsonx_str_or(obj, path, ""), &micros) ? micros / 1000000 : -1;
}

static char *account_text(const json_t *job, bool ended)
{
	struct pbs_account_end end = pbs_account_end(job);
	auto_sbuf struct sbuf text = SBUF(TEXT_MAX);

	pbs_account_text(job, json_object_get(job, "status"), ended ? &end : NULL, &text);
	return sbuf_steal(&text);
}

/* "Exit_status=0 resources_used.cput=..." */
static char *end_text(const struct pbs_attributes *a)
{
	const char *status = pbs_attributes_find(a, "exit_status", NULL);
	auto_sbuf struct sbuf text = SBUF(TEXT_MAX);

	sbuf_addf(&text, "Exit_status=%s", status ? status : "none");
	for (size_t i = 0; i < a->n; i++)
		if (streq(a->items[i].name, "resources_used"))
			sbuf_addf(&text, " resources_used.%s=%s", a->items[i].resource, a->items[i].value);
	return sbuf_steal(&text);
}

static void add_life(struct lines *l, const json_t *job, const char *server)
{
	const char *queue = jsonx_str_or(job, "spec.queue", "");
	int64_t made = moment(job, "metadata.creationTimestamp");
	int64_t start = moment(job, "status.startTime");
	int64_t end = moment(job, "status.completionTime");
	auto_attributes struct pbs_attributes a = { 0 };
	const char *host = jsonx_str(job, "status.execHost");
	const char *owner;

	pbs_attributes_of(job, &(struct pbs_view){ .server = server, .now = clock_wall(), .host_style = 6 }, &a);
	owner = pbs_attributes_find(&a, "Job_Owner", NULL);
	add(l, made, 'S', xasprintf("enqueuing into %s, state 1 hop 1", queue));
	add(l, made, 'S',
	    xasprintf("Job Queued at request of %s, owner = %s, job name = %s, queue = %s", owner, owner,
		      jsonx_str_or(job, "spec.name", ""), queue));
	add(l, made, 'A', xasprintf("queue=%s", queue));
	if (host) /* an array has none */
		add(l, start, 'S', xasprintf("Job Run on %s", host));
	add(l, start, 'A', account_text(job, false));
	add(l, end, 'S', end_text(&a));
	add(l, end, 'S', xasprintf("dequeuing from %s, state COMPLETE", queue));
	add(l, end, 'A', account_text(job, true));
}

/* The scheduler's, the node's and all others' words. */
static char event_source(const json_t *event)
{
	const char *by = jsonx_str_or(event, "source.component", jsonx_str_or(event, "reportingComponent", ""));

	return strstr(by, "scheduler") ? 'L' : strstr(by, "kubelet") || strstr(by, "node") ? 'M' : 'S';
}

/* "3" of "5-3-0-r1" where "5" is the array. */
static bool is_next(const char *rest, const char *word)
{
	size_t n = strlen(word);

	return *rest == '-' && strncmp(rest + 1, word, n) == 0 && rest[1 + n] == '-';
}

bool trace_is_about(const json_t *event, const char *job, const char *element)
{
	const char *about = jsonx_str_or(event, "involvedObject.name", "");
	const char *message = jsonx_str_or(event, "message", "");
	const char *rest = about + strlen(job);
	auto_free char *own = xasprintf(PBS_ELEMENT_EVENT "%s:", element);

	if (!str_starts(about, job) || (*rest && *rest != '-'))
		return false;
	if (!*element)
		return true;
	return *rest ? is_next(rest, element) : !str_starts(message, PBS_ELEMENT_EVENT) || str_starts(message, own);
}

static void add_events(struct lines *l, const json_t *events)
{
	json_t *e;
	size_t i;

	json_array_foreach ((json_t *)events, i, e) {
		int64_t when = moment(e, "lastTimestamp");

		if (when < 0)
			when = moment(e, "eventTime");
		if (when < 0)
			when = moment(e, "metadata.creationTimestamp");
		add(l, when, event_source(e),
		    xasprintf("%s: %s", jsonx_str_or(e, "reason", ""), jsonx_str_or(e, "message", "")));
	}
}

static int by_time(const void *a, const void *b)
{
	const struct line *x = a;
	const struct line *y = b;

	if (x->when != y->when)
		return x->when < y->when ? -1 : 1;
	return x->order < y->order ? -1 : 1;
}

static void write_line(const struct line *l, struct sbuf *out)
{
	time_t t = (time_t)l->when;
	char date[32];
	struct tm tm;

	localtime_r(&t, &tm);
	strftime(date, sizeof(date), "%m/%d/%Y %H:%M:%S", &tm);
	sbuf_addf(out, "%-20s %-5c", date, l->source);
	for (const char *p = l->text; *p; p++)
		sbuf_addc(out, *p == '\n' ? ' ' : *p);
	sbuf_addc(out, '\n');
}

void trace_job(const json_t *job, const json_t *events, const struct trace_options *o, struct sbuf *out)
{
	struct lines l = { 0 };

	add_life(&l, job, o->server);
	add_events(&l, events);
	qsort(l.items, l.n, sizeof(*l.items), by_time);
	sbuf_adds(out, "\nJob: ");
	pbs_job_id(job, o->server, out);
	sbuf_adds(out, "\n\n");
	for (size_t i = 0; i < l.n; i++) {
		if (l.items[i].when >= o->since && !strchr(o->without, l.items[i].source))
			write_line(&l.items[i], out);
		free(l.items[i].text);
	}
	free(l.items);
}
