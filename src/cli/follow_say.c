// SPDX-License-Identifier: Apache-2.0
/* follow_say.c - see follow_say.h */
#include "cli/follow_say.h"

#include <math.h>
#include <signal.h>

#include "base/clock.h"
#include "base/jsonx.h"
#include "base/mem.h"
#include "cli/run_watch.h"
#include "kinds/condition.h"

static json_t *time_text(int64_t micros)
{
	char text[CLOCK_MICRO_LEN];

	clock_rfc3339_micro(micros, text);
	return json_string(text);
}

/* Takes the object, and what else it has must be set before. */
static void add_object(json_t *obj, struct sbuf *out)
{
	jsonx_dump(obj, out);
	sbuf_addc(out, '\n');
	json_decref(obj);
}

static json_t *object(const char *type, int64_t at)
{
	return json_pack("{s:s, s:o}", "type", type, "time", time_text(at));
}

/* Everything in one line, without what could write elsewhere on a screen. */
static void add_plain(struct str text, struct sbuf *out)
{
	for (size_t i = 0; i < text.n; i++) {
		unsigned char c = (unsigned char)text.p[i];

		sbuf_addc(out, (c < ' ' && c != '\t') || c == 0x7f ? ' ' : (char)c);
	}
}

/* ---- changes ---- */

static void add_job_object(const struct follow_state *s, struct sbuf *out)
{
	json_t *obj = object("job", clock_wall_micros());

	json_object_set_new(obj, "kind", json_string(s->kind->kind));
	json_object_set_new(obj, "namespace", jsonx_string(s->ns));
	json_object_set_new(obj, "name", jsonx_string(s->name));
	json_object_set_new(obj, "phase", json_string(work_phase_name(s->work.phase)));
	if (s->work.reason[0])
		json_object_set_new(obj, "reason", jsonx_string(s->work.reason));
	add_object(obj, out);
}

void follow_say_job(struct follow_state *s, bool json, struct sbuf *out)
{
	auto_sbuf struct sbuf sentence = SBUF(4096);

	if (s->told && s->told_phase == s->work.phase)
		return;
	s->told = true;
	s->told_phase = s->work.phase;
	if (json) {
		add_job_object(s, out);
		return;
	}
	if (work_is_over(&s->work)) /* follow_say_end */
		return;
	sbuf_addf(out, "%s ", s->title);
	work_sentence(&s->work, &sentence);
	add_plain(sbuf_str(&sentence), out);
	sbuf_addc(out, '\n');
}

static void add_replica_object(const struct follow_replica *r, struct sbuf *out)
{
	json_t *obj = object("replica", clock_wall_micros());

	json_object_set_new(obj, "replica", jsonx_string(r->name));
	json_object_set_new(obj, "pod", jsonx_string(r->pod));
	json_object_set_new(obj, "phase", json_string(follow_phase_name(r->phase)));
	json_object_set_new(obj, "restarts", json_integer(r->restarts));
	json_object_set_new(obj, "gpus", json_integer(r->gpus));
	if (*r->node)
		json_object_set_new(obj, "node", jsonx_string(r->node));
	if (*r->why)
		json_object_set_new(obj, "reason", jsonx_string(r->why));
	if (r->status >= 0)
		json_object_set_new(obj, "exitStatus", json_integer(r->status));
	add_object(obj, out);
}

static void add_replica_text(const struct follow_replica *r, struct sbuf *out)
{
	static const char *const words[FOLLOW_PHASE__COUNT] = {
		[FOLLOW_PENDING] = "waits",
		[FOLLOW_RUNNING] = "runs",
		[FOLLOW_RESTARTING] = "is to be restarted",
		[FOLLOW_SUCCEEDED] = "succeeded",
		[FOLLOW_FAILED] = "failed",
		[FOLLOW_STOPPED] = "was stopped",
	};

	sbuf_addf(out, "%s %s", r->name, words[r->phase]);
	if (r->phase == FOLLOW_RUNNING && r->restarts)
		sbuf_addf(out, " again (restart %lld)", (long long)r->restarts);
	if (r->phase == FOLLOW_RUNNING)
		sbuf_addf(out, " on %s", r->node);
	if (r->phase == FOLLOW_RUNNING && r->gpus)
		sbuf_addf(out, " with %lld GPU%s", (long long)r->gpus, r->gpus == 1 ? "" : "s");
	if (*r->why) {
		sbuf_adds(out, ": ");
		add_plain(str_of(r->why), out);
	}
	sbuf_addc(out, '\n');
}

void follow_say_replica(struct follow_replica *r, bool json, struct sbuf *out)
{
	bool silent = r->phase == FOLLOW_PENDING && !*r->why && !json; /* every replica does that for a moment */

	bool again = r->phase == FOLLOW_RUNNING && r->told_restarts != r->restarts;

	if (r->told && r->told_phase == r->phase && !again && streq(r->told_why, r->why))
		return;
	r->told = true;
	r->told_phase = r->phase;
	r->told_restarts = r->restarts;
	free(r->told_why);
	r->told_why = xstrdup(r->why);
	if (json)
		add_replica_object(r, out);
	else if (!silent)
		add_replica_text(r, out);
}

/* ---- what it prints ---- */

static json_t *number(double v)
{
	if (!isfinite(v))
		return json_null();
	return fabs(v) < 1e15 && v == (double)(json_int_t)v ? json_integer((json_int_t)v) : json_real(v);
}

static json_t *values_of(const struct measure *m)
{
	json_t *values = json_object();

	for (size_t i = 0; i < m->n; i++)
		json_object_set_new(values, m->values[i].name, number(m->values[i].value));
	return values;
}

static void set_numbers(json_t *obj, const struct measure *m)
{
	if (m->by == MEASURE_BY_STEP && m->epoch >= 0)
		json_object_set_new(obj, measure_by_name(MEASURE_BY_EPOCH), number(m->epoch));
	json_object_set_new(obj, measure_by_name(m->by), number(m->at));
	if (m->of > 0)
		json_object_set_new(obj, "of", number(m->of));
	json_object_set_new(obj, "values", values_of(m));
}

void follow_say_numbers(const struct follow_replica *r, bool json, struct sbuf *out)
{
	int64_t left = follow_left(&r->numbers, r->numbers.last_at);
	char age[32];
	json_t *obj;

	if (json) {
		obj = object("measurement", r->numbers.last_at);
		json_object_set_new(obj, "replica", jsonx_string(r->name));
		set_numbers(obj, &r->numbers.last);
		if (left >= 0)
			json_object_set_new(obj, "secondsLeft", json_integer(left));
		add_object(obj, out);
		return;
	}
	sbuf_addf(out, "%s: ", r->name);
	follow_numbers_text(&r->numbers.last, out);
	if (left > 0)
		sbuf_addf(out, ", %s left", output_age(left, age));
	sbuf_addc(out, '\n');
}

void follow_say_log(const struct follow_replica *r, struct str text, int64_t at, bool json, struct sbuf *out)
{
	json_t *obj;

	if (json) {
		obj = object("log", at);
		json_object_set_new(obj, "replica", jsonx_string(r->name));
		json_object_set_new(obj, "text", jsonx_stringn(text.p, text.n));
		add_object(obj, out);
		return;
	}
	sbuf_addf(out, "[%s] ", r->name);
	add_plain(text, out);
	sbuf_addc(out, '\n');
}

void follow_say_warning(const struct follow_state *s, bool json, struct sbuf *out)
{
	json_t *obj;

	if (json) {
		obj = object("warning", clock_wall_micros());
		json_object_set_new(obj, "text", jsonx_string(s->warning));
		add_object(obj, out);
		return;
	}
	sbuf_addf(out, "%s: ", s->title);
	add_plain(str_of(s->warning), out);
	sbuf_addc(out, '\n');
}

/* ---- the end ---- */

int follow_status(const struct follow_state *s)
{
	const struct follow_replica *cause = follow_cause(s);

	if (s->deleted)
		return 128 + SIGTERM;
	if (s->work.phase == WORK_SUCCEEDED)
		return 0;
	if (follow_timed_out(s))
		return STATUS_TIME_LIMIT;
	return cause ? cause->status : 1;
}

static int64_t seconds_of(const struct follow_state *s)
{
	int64_t from = s->work.started ? s->work.started : s->work.created;

	return s->work.ended >= from ? s->work.ended - from : clock_wall() - from;
}

static void add_end_object(const struct follow_state *s, int status, struct sbuf *out)
{
	const struct follow_replica *speaker = follow_speaker(s);
	json_t *obj = object("end", clock_wall_micros());

	json_object_set_new(obj, "phase", json_string(s->deleted ? "Deleted" : work_phase_name(s->work.phase)));
	json_object_set_new(obj, "exitStatus", json_integer(status));
	json_object_set_new(obj, "seconds", json_integer(seconds_of(s)));
	if (s->work.phase == WORK_FAILED)
		json_object_set_new(obj, "message",
				    jsonx_string(jsonx_str_or(condition_of(s->obj, "Failed"), "message", "")));
	if (speaker)
		set_numbers(obj, &speaker->numbers.last);
	add_object(obj, out);
}

/* The reason in the controller's words; the last lines of a log, if it quotes them, as lines of their own. */
static void add_reason(const struct follow_state *s, struct sbuf *out)
{
	struct str rest = str_of(jsonx_str_or(condition_of(s->obj, "Failed"), "message", s->work.reason));
	struct str line;

	while (rest.n && str_split(&rest, '\n', &line)) {
		sbuf_adds(out, "  ");
		add_plain(line, out);
		sbuf_addc(out, '\n');
	}
}

void follow_say_end(const struct follow_state *s, int status, bool json, struct sbuf *out)
{
	const struct follow_replica *speaker = follow_speaker(s);
	bool good = s->work.phase == WORK_SUCCEEDED && !s->deleted;
	char age[32];

	if (json) {
		add_end_object(s, status, out);
		return;
	}
	sbuf_addf(out, "%s %s after %s", s->title,
		  s->deleted ? "was deleted"
		  : good     ? "succeeded"
			     : "failed",
		  output_age(seconds_of(s), age));
	if (speaker) {
		sbuf_adds(out, ": ");
		follow_numbers_text(&speaker->numbers.last, out);
	}
	sbuf_addc(out, '\n');
	if (!good && !s->deleted)
		add_reason(s, out);
	sbuf_addf(out, "`stoker logs %s` shows what it printed", s->name);
	if (speaker)
		sbuf_addf(out, ", `stoker plot %s` draws its numbers", s->name);
	sbuf_adds(out, ".\n");
}
