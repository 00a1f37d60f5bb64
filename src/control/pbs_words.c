// SPDX-License-Identifier: Apache-2.0
/* pbs_words.c - between what pods say and what PBS says: ends, times, cards; pure */
#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <time.h>

#include "base/clock.h"
#include "base/jsonx.h"
#include "base/mem.h"
#include "control/pbs_parts.h"
#include "kinds/condition.h"
#include "kinds/pbs_time.h"
#include "kinds/pbs_values.h"
#include "kinds/queue.h"

#define NOT_EXECUTED 126

/* ---- ends ---- */

/* Reasons of a pod or its container that PBS has a number for, and what to say if nobody said more. */
#define KILLED  "Job killed"
#define NOT_RUN "Job not started"
static const struct {
	const char *reason;
	int code;
	const char *fate, *words;
} reasons[] = {
	{ "OOMKilled", PBS_EXIT_MEMORY, KILLED, "it has exceeded its memory" },
	{ "MemoryExceeded", PBS_EXIT_MEMORY, KILLED, "it has exceeded its memory" },
	{ "CputExceeded", PBS_EXIT_CPUT, KILLED, "it has exceeded its processor time" },
	{ "OutputUnwritable", PBS_EXIT_OUTPUT, NOT_RUN, "its output cannot be written" },
	{ "ChdirFailed", PBS_EXIT_SETUP, NOT_RUN, "its directory cannot be entered" },
	{ "ExecFailed", PBS_EXIT_EXEC, NOT_RUN, "its program cannot be executed" },
	{ "ContainerCannotRun", PBS_EXIT_BEFORE, NOT_RUN, "its container cannot be started" },
	{ "StartError", PBS_EXIT_BEFORE, NOT_RUN, "its container cannot be started" },
};

static bool code_of(const char *reason, const struct pbs_settings *set, int *ret)
{
	if (streq(reason, "DeadlineExceeded")) {
		*ret = set->walltime_code;
		return true;
	}
	for (size_t i = 0; i < ARRAY_SIZE(reasons); i++)
		if (streq(reason, reasons[i].reason)) {
			*ret = reasons[i].code;
			return true;
		}
	return false;
}

/* On another cluster the wrapper around the script says it. */
static bool said_code(const json_t *end, int *ret)
{
	struct str said = str_trim(str_of(jsonx_str_or(end, "message", "")));

	for (size_t i = 0; i < ARRAY_SIZE(reasons); i++)
		if (str_eq(said, reasons[i].reason)) {
			*ret = reasons[i].code;
			return true;
		}
	return false;
}

bool pbs_exit_of(const struct pod_facts *p, const struct pbs_settings *set, int *ret)
{
	const json_t *end =
		jsonx_at(json_array_get(jsonx_at(p->obj, "status.containerStatuses"), 0), "state.terminated");
	int64_t signal = jsonx_int_or(end, "signal", 0);

	if (p->phase == POD_IS_SUCCEEDED) {
		*ret = 0;
		return true;
	}
	if (code_of(jsonx_str_or(p->obj, "status.reason", ""), set, ret))
		return true;
	/* What it ended with after somebody had begun to delete it is the answer to a signal that was not its own. */
	if (p->deleting || condition_holds(p->obj, "DisruptionTarget") || !end ||
	    streq(jsonx_str_or(end, "reason", ""), "ContainerStatusUnknown"))
		return false;
	if (code_of(jsonx_str_or(end, "reason", ""), set, ret) || (set->abroad && said_code(end, ret)))
		return true;
	*ret = signal ? PBS_EXIT_SIGNAL + (int)signal : (int)jsonx_int_or(end, "exitCode", 0);
	return true;
}

json_t *pbs_used(const struct pod_facts *p, const json_t *run)
{
	json_t *used = p ? jsonx_copy(jsonx_at(p->obj, "status.used")) : NULL;
	char text[PBS_TEXT];

	if (!used)
		used = json_object();
	pbs_time_text(p && p->finished ? pbs_time_used(run, p->finished) : 0, text);
	json_object_set_new(used, "walltime", json_string(text));
	return used;
}

/* ---- texts ---- */

/* The shell's status for a program that may not be executed: in such a queue, likely one of the host's. */
static bool was_confined(const struct pod_facts *p, const json_t *end)
{
	const json_t *notes = jsonx_at(p->obj, "metadata.annotations");

	return jsonx_int_or(end, "exitCode", 0) == NOT_EXECUTED &&
	       str_same(json_string_value(json_object_get(notes, PBS_CONFINED)), "required");
}

void pbs_say_end(const struct pod_facts *p, const char *walltime, char *out, size_t n)
{
	const json_t *end =
		jsonx_at(json_array_get(jsonx_at(p->obj, "status.containerStatuses"), 0), "state.terminated");
	const char *reason = jsonx_str_or(p->obj, "status.reason", jsonx_str_or(end, "reason", ""));
	const char *message = jsonx_str_or(p->obj, "status.message", jsonx_str_or(end, "message", ""));

	const char *queue = json_string_value(json_object_get(jsonx_at(p->obj, "metadata.labels"), QUEUE_LABEL));

	if (was_confined(p, end))
		snprintf(out, n,
			 "Exit status 126: queue %s has containers = required and executes no programs of the host; "
			 "startdocker runs them in a container",
			 queue ? queue : QUEUE_DEFAULT);
	if (streq(reason, "DeadlineExceeded"))
		snprintf(out, n, "Job killed: it has exceeded its walltime%s%s", *walltime ? " of " : "", walltime);
	for (size_t i = 0; i < ARRAY_SIZE(reasons); i++)
		if (streq(reason, reasons[i].reason))
			snprintf(out, n, "%s: %s", reasons[i].fate, *message ? message : reasons[i].words);
}

const char *pbs_pod_waits(const struct pod_facts *p)
{
	const json_t *c = condition_of(p->obj, "PodScheduled");
	/* Who has set a gate knows more about it. */
	bool gated = str_same(jsonx_str(c, "reason"), "SchedulingGated");

	return str_same(jsonx_str(c, "status"), "False") && !gated ? jsonx_str_or(c, "message", "") : "";
}

bool pbs_pod_stuck(const struct pod_facts *p, char *out, size_t n)
{
	const json_t *waiting =
		jsonx_at(json_array_get(jsonx_at(p->obj, "status.containerStatuses"), 0), "state.waiting");
	const char *reason = jsonx_str_or(waiting, "reason", "");
	const char *message = jsonx_str_or(waiting, "message", "");

	if (!*reason || streq(reason, "ContainerCreating") || streq(reason, "PodInitializing"))
		return false;
	snprintf(out, n, "%s%s%s", reason, *message ? ": " : "", message);
	return true;
}

struct card {
	size_t host; /* the first seat on it */
	int number;
};

static int by_host(const void *a, const void *b)
{
	const struct card *x = a, *y = b;

	if (x->host != y->host)
		return x->host < y->host ? -1 : 1;
	return (x->number < y->number) - (x->number > y->number);
}

/* Several pods may be on one host, whose cards are together all the same; the annotations count upwards. */
void pbs_cards_text(const struct pod_facts *const *pods, const struct pbs_seat *seats, size_t n, struct sbuf *out)
{
	auto_free struct card *cards = NULL;
	size_t ncards = 0, cap = 0;

	for (size_t i = 0; i < n; i++) {
		const json_t *notes = jsonx_at(pods[i]->obj, "metadata.annotations");
		struct str rest = str_of(json_string_value(json_object_get(notes, PBS_CARDS_NOTE))), one;
		struct card c = { 0 };

		while (c.host < i && !streq(seats[c.host].node, seats[i].node))
			c.host++;
		while (rest.n && str_split(&rest, ',', &one)) {
			auto_free char *text = xstrndup(one.p, one.n);
			int64_t number;

			if (!str_int64(text, 0, INT32_MAX, &number))
				continue;
			c.number = (int)number;
			ARRAY_PUSH(cards, ncards, cap, c);
		}
	}
	if (ncards)
		qsort(cards, ncards, sizeof(*cards), by_host);
	for (size_t i = 0; i < ncards; i++)
		sbuf_addf(out, "%s%s-gpu/%d", out->n ? "+" : "", seats[cards[i].host].node, cards[i].number);
}

void pbs_set_time(json_t *obj, const char *key, int64_t seconds)
{
	char text[CLOCK_RFC3339_LEN];

	clock_rfc3339(seconds, text);
	json_object_set_new(obj, key, json_string(text));
}

void pbs_event(struct pbs_plan *p, bool warning, const char *reason, const char *fmt, ...)
{
	struct pbs_event *ev = &p->events[p->nevents];
	va_list ap;

	if (p->nevents == ARRAY_SIZE(p->events))
		return;
	p->nevents++;
	ev->warning = warning;
	snprintf(ev->reason, sizeof(ev->reason), "%s", reason);
	va_start(ap, fmt);
	vsnprintf(ev->message, sizeof(ev->message), fmt, ap);
	va_end(ap);
}
