// SPDX-License-Identifier: Apache-2.0
/* pbs_records.c - see pbs_records.h
 *
 * A job's status has how often it was started and whether it runs, so what was seen of it last is a few numbers.  A
 * change that was missed is made up for as far as the status still knows of it.
 */
#include "sched/pbs_records.h"

#include <stdio.h>
#include <time.h>

#include "base/clock.h"
#include "base/jsonx.h"
#include "base/mem.h"
#include "kinds/pbs_account.h"
#include "kinds/pbs_id.h"
#include "kinds/pbs_time.h"
#include "kinds/pbs_values.h"

#define TEXT_MAX   (64u * 1024)
#define STAMP_SIZE 20 /* 11/16/2026 09:59:10 and NUL */

/* A job while it is looked at. */
struct look {
	const json_t *job, *spec, *status;
	struct pbs_seen *seen;
	int64_t now;
	pbs_record_fn *tell;
	void *arg;
};

static int64_t moment(const json_t *obj, const char *name)
{
	int64_t micros;

	return clock_parse_rfc3339(jsonx_str_or(obj, name, ""), &micros) ? micros / 1000000 : 0;
}

/* The record has everything but its id and text. */
static void tell(const struct look *l, int index, const struct sbuf *text, struct pbs_record r)
{
	auto_sbuf struct sbuf id = SBUF(TEXT_MAX);

	pbs_id_of(l->job, index, &id);
	r.job = l->job;
	r.id = id.p ? id.p : "";
	r.text = text->p ? text->p : "";
	l->tell(l->arg, &r);
}

/* ---- starts ---- */

static void tell_start(const struct look *l, int index, const json_t *run)
{
	auto_sbuf struct sbuf text = SBUF(TEXT_MAX);
	int64_t at = moment(run, "startTime");

	pbs_account_text(l->job, run, NULL, &text);
	tell(l, index, &text, (struct pbs_record){ .type = 'S', .run = run, .when = at, .mark = at });
}

static void tell_requeue(const struct look *l, int index, int64_t runs)
{
	auto_sbuf struct sbuf text = SBUF(TEXT_MAX);

	pbs_account_add(&text, "user", jsonx_str_or(l->spec, "owner", ""));
	pbs_account_add(&text, "queue", jsonx_str_or(l->spec, "queue", "batch"));
	sbuf_addf(&text, " run_count=%lld", (long long)runs);
	tell(l, index, &text, (struct pbs_record){ .type = 'R' });
}

/* Each start but the one that has a time has come to nothing. */
static void follow_runs(const struct look *l, int index, const json_t *run, int64_t starts, int64_t requeues)
{
	int64_t now = jsonx_int_or(run, "startCount", 0);
	bool begun = json_object_get(run, "startTime") != NULL;

	if (now - begun > requeues)
		tell_requeue(l, index, now - begun);
	if (now > starts && begun)
		tell_start(l, index, run);
}

/* ---- ends ---- */

static void tell_end(const struct look *l, int index, const json_t *run, const struct pbs_account_end *end,
		     int64_t when)
{
	auto_sbuf struct sbuf text = SBUF(TEXT_MAX);

	pbs_account_text(l->job, run, end, &text);
	tell(l, index, &text,
	     (struct pbs_record){ .type = 'E', .run = run, .end = end, .when = when, .mark = end->at });
}

static void tell_abort(const struct look *l)
{
	auto_sbuf struct sbuf text = SBUF(TEXT_MAX);

	pbs_account_add(&text, "comment", jsonx_str_or(l->status, "comment", ""));
	tell(l, PBS_PLAIN, &text, (struct pbs_record){ .type = 'A', .when = moment(l->status, "completionTime") });
}

static void follow_end(struct look *l)
{
	struct pbs_account_end end = pbs_account_end(l->job);
	bool array = json_object_get(l->spec, "array") != NULL;

	if (l->seen->ended || !streq(jsonx_str_or(l->status, "state", "Q"), "C"))
		return;
	l->seen->ended = true;
	if (!json_object_get(l->status, "startTime") && !json_object_get(l->spec, "cancel"))
		tell_abort(l);
	else if (!array && json_object_get(l->status, "startTime"))
		tell_end(l, PBS_PLAIN, l->status, &end, end.at);
}

/* ---- elements ---- */

static const json_t *find_element(const json_t *active, int index)
{
	json_t *entry;
	size_t i;

	json_array_foreach ((json_t *)active, i, entry)
		if (jsonx_int_or(entry, "index", -1) == index)
			return entry;
	return NULL;
}

/* Of one that ended it is still told how it ran. */
static void follow_ended(struct look *l, const json_t *entry)
{
	int index = (int)jsonx_int_or(entry, "index", 0);
	int64_t starts = jsonx_int_or(find_element(l->seen->active, index), "startCount", 0);
	struct pbs_account_end end = { .at = moment(entry, "completionTime"),
				       .has_exit = true,
				       .exit = jsonx_int_or(entry, "exitStatus", 0),
				       .used = json_object_get(entry, "resourcesUsed") };

	if (pbs_set_has(&l->seen->done, index))
		return;
	follow_runs(l, index, entry, starts, jsonx_int_or(entry, "startCount", 1) - 1);
	tell_end(l, index, entry, &end, end.at);
	pbs_set_add(&l->seen->done, index, index);
}

/* Of one that ended earlier, only how. */
static void end_element(const struct look *l, int index, const char *outcome)
{
	const json_t *old = find_element(l->seen->active, index);
	json_auto_t *run = old ? jsonx_copy(old) : json_pack("{s:i}", "index", index);
	int64_t start = moment(run, "startTime");
	struct pbs_account_end end = { .at = l->now };
	json_auto_t *used = NULL;
	char time[PBS_TEXT];

	end.has_exit = outcome[1] == ':' && str_int64(outcome + 2, INT32_MIN, INT32_MAX, &end.exit);
	/* It never ran; or it did, and so fast that it was not seen. */
	if (!start && (!end.has_exit || json_object_get(l->spec, "cancel")))
		return;
	if (!start)
		tell_start(l, index, run);
	pbs_time_text(pbs_time_used(run, l->now), time);
	end.used = used = json_pack("{s:s}", "walltime", time);
	tell_end(l, index, run, &end, 0);
}

static void follow_outcome(struct look *l, const char *outcome, const char *indexes)
{
	struct pbs_set fresh = { 0 };
	struct err e = ERR_INIT;
	int index = -1;

	if (!indexes || pbs_array_parse(indexes, &fresh, NULL, &e) < 0)
		return;
	pbs_set_subtract(&fresh, &l->seen->done);
	while (pbs_set_next(&fresh, &index))
		end_element(l, index, outcome);
	pbs_set_unite(&l->seen->done, &fresh);
	pbs_set_done(&fresh);
}

static void follow_elements(struct look *l)
{
	json_t *active = json_object_get(l->status, "active");
	const char *outcome;
	json_t *entry;
	json_t *v;
	size_t i;

	json_array_foreach (active, i, entry) {
		int index = (int)jsonx_int_or(entry, "index", 0);
		const json_t *old = find_element(l->seen->active, index);
		int64_t starts = jsonx_int_or(old, "startCount", 0);

		follow_runs(l, index, entry, starts, starts - (json_object_get(old, "startTime") != NULL));
	}
	json_array_foreach (json_object_get(l->status, "ended"), i, entry)
		follow_ended(l, entry);
	json_object_foreach (json_object_get(l->status, "elements"), outcome, v)
		if (*outcome == 'C')
			follow_outcome(l, outcome, json_string_value(v));
	json_decref(l->seen->active);
	l->seen->active = json_incref(active);
}

/* ---- the whole ---- */

/* "189[2-4].Ghead" if only some of an array are to end. */
static void tell_cancel(const struct look *l, const char *elements)
{
	auto_sbuf struct sbuf id = SBUF(TEXT_MAX);
	auto_sbuf struct sbuf text = SBUF(TEXT_MAX);
	int64_t at = moment(l->status, "completionTime");
	const char *bracket;

	pbs_account_add(&text, "requestor", jsonx_str_or(l->spec, "cancel.by", jsonx_str_or(l->spec, "owner", "")));
	bracket = strchr(l->seen->id, '[');
	if (*elements && bracket)
		sbuf_addf(&id, "%.*s%s%s", (int)(bracket - l->seen->id) + 1, l->seen->id, elements, bracket + 1);
	else
		sbuf_adds(&id, l->seen->id);
	l->tell(l->arg, &(struct pbs_record){ .type = 'D',
					      .id = id.p,
					      .text = text.p ? text.p : "",
					      .job = l->job,
					      .when = at ? at : l->now });
}

static void follow_cancel(struct look *l)
{
	const char *elements = jsonx_str_or(l->spec, "cancel.elements", "");

	if (!json_object_get(l->spec, "cancel") || str_same(l->seen->cancel, elements))
		return;
	tell_cancel(l, elements);
	free(l->seen->cancel);
	l->seen->cancel = xstrdup(elements);
}

static void follow_queue(struct look *l)
{
	auto_sbuf struct sbuf text = SBUF(TEXT_MAX);
	auto_sbuf struct sbuf id = SBUF(TEXT_MAX);

	if (l->seen->queued)
		return;
	l->seen->queued = true;
	pbs_id_of(l->job, PBS_PLAIN, &id);
	l->seen->id = sbuf_steal(&id);
	pbs_account_add(&text, "queue", jsonx_str_or(l->spec, "queue", "batch"));
	tell(l, PBS_PLAIN, &text,
	     (struct pbs_record){ .type = 'Q',
				  .when = moment(json_object_get(l->job, "metadata"), "creationTimestamp") });
}

void pbs_records(const json_t *job, struct pbs_seen *seen, int64_t now, pbs_record_fn *fn, void *arg)
{
	struct look l = { .job = job, .seen = seen, .now = now, .tell = fn, .arg = arg };

	l.spec = json_object_get(job, "spec");
	l.status = json_object_get(job, "status");
	/* It has its number with its first status. */
	if (seen->ended || !jsonx_str(job, "status.id"))
		return;
	follow_queue(&l);
	if (json_object_get(l.spec, "array"))
		follow_elements(&l);
	else
		follow_runs(&l, PBS_PLAIN, l.status, seen->starts, seen->requeues);
	follow_cancel(&l);
	follow_end(&l);
	seen->starts = jsonx_int_or(l.status, "startCount", 0);
	seen->requeues = seen->starts - (json_object_get(l.status, "startTime") != NULL);
}

void pbs_records_gone(const struct pbs_seen *seen, int64_t now, pbs_record_fn *fn, void *arg)
{
	if (seen->queued && !seen->ended && !seen->cancel)
		fn(arg, &(struct pbs_record){ .type = 'D', .id = seen->id, .text = "", .when = now });
}

void pbs_seen_done(struct pbs_seen *s)
{
	free(s->id);
	free(s->cancel);
	json_decref(s->active);
	pbs_set_done(&s->done);
	*s = (struct pbs_seen){ 0 };
}

/* ---- lines ---- */

void pbs_record_name(const struct pbs_record *r, struct sbuf *out)
{
	sbuf_addf(out, "%c;%s;%lld", r->type, r->id, (long long)r->mark);
}

void pbs_record_line(const struct pbs_record *r, int64_t now, struct sbuf *out)
{
	time_t t = (time_t)now;
	char stamp[STAMP_SIZE];
	struct tm tm;

	localtime_r(&t, &tm);
	strftime(stamp, sizeof(stamp), "%m/%d/%Y %H:%M:%S", &tm);
	sbuf_addf(out, "%s;%c;%s;%s\n", stamp, r->type, r->id, r->text);
}

static int64_t stamp_read(struct str stamp)
{
	auto_free char *text = xstrndup(stamp.p, stamp.n);
	struct tm tm = { .tm_isdst = -1 };
	const char *end = strptime(text, "%m/%d/%Y %H:%M:%S", &tm);

	return end && !*end ? (int64_t)mktime(&tm) : -1;
}

/* The last "NAME=NUMBER": free text stands before it. */
static int64_t mark_of(struct str text, const char *name)
{
	struct str word;
	int64_t found = 0;
	size_t n = strlen(name);

	while (text.n && str_split(&text, ' ', &word)) {
		auto_free char *value = NULL;

		if (word.n <= n || memcmp(word.p, name, n) != 0)
			continue;
		value = xstrndup(word.p + n, word.n - n);
		str_int64(value, 0, INT64_MAX, &found);
	}
	return found;
}

bool pbs_record_key(struct str line, struct sbuf *out, int64_t *ret_when)
{
	struct str stamp, type, id;
	int64_t when;
	int64_t mark = 0;

	if (!str_split(&line, ';', &stamp) || !str_split(&line, ';', &type) || !str_split(&line, ';', &id) ||
	    type.n != 1)
		return false;
	when = stamp_read(stamp);
	if (when < 0)
		return false;
	if (*type.p == 'S' || *type.p == 'E')
		mark = mark_of(line, *type.p == 'S' ? "start=" : "end=");
	sbuf_addf(out, "%c;%.*s;%lld", *type.p, STR_FMT(id), (long long)mark);
	*ret_when = when;
	return true;
}
