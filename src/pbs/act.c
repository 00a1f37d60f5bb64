// SPDX-License-Identifier: Apache-2.0
/* act.c - see act.h
 *
 * The server is the judge of who may do what and when.  Two things it cannot see: elements of an array that have ended
 * or never were, and a write that changes nothing because it was asked for before; both are looked at here, after the
 * server has let the caller in.
 */
#include "pbs/act.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/jsonx.h"
#include "base/limits.h"
#include "base/mem.h"
#include "kinds/pbs_element.h"
#include "kinds/pbs_error.h"

#define MOST_SET (1u << 20)
#define TRIES    10 /* a job that changes more often than that between reading and writing is not to be had */

/* ---- sets ---- */

static void read_set(const char *text, struct pbs_set *s)
{
	struct pbs_set more;
	struct err e = ERR_INIT;
	int slots;

	if (!text || !*text || pbs_array_parse(text, &more, &slots, &e) < 0)
		return;
	pbs_set_unite(s, &more);
	pbs_set_done(&more);
}

static json_t *set_json(struct pbs_set *s)
{
	auto_sbuf struct sbuf text = SBUF(MOST_SET);

	pbs_set_text(s, &text);
	pbs_set_done(s);
	return text.n ? json_string(text.p) : json_null();
}

json_t *act_set_with(const char *text, const struct pbs_set *more)
{
	struct pbs_set s = { 0 };

	read_set(text, &s);
	for (size_t i = 0; i < more->n; i++)
		pbs_set_add(&s, more->r[i].first, more->r[i].last);
	return set_json(&s);
}

json_t *act_set_without(const char *text, const struct pbs_set *less)
{
	struct pbs_set s = { 0 };

	read_set(text, &s);
	pbs_set_subtract(&s, less);
	return set_json(&s);
}

/* ---- what is meant ---- */

/* Elements that have ended, by status.elements: "C:0": "0-99,103". */
static void ended_set(const json_t *job, struct pbs_set *s)
{
	const char *state;
	json_t *v;

	json_object_foreach (jsonx_at(job, "status.elements"), state, v)
		if (state[0] == 'C')
			read_set(json_string_value(v), s);
}

static char elements_state(const json_t *job, const struct pbs_set *elements)
{
	struct pbs_set left = { 0 };
	struct pbs_set ended = { 0 };
	char state = *jsonx_str_or(job, "status.state", "Q");
	json_t *v;
	size_t i;

	for (i = 0; i < elements->n; i++)
		pbs_set_add(&left, elements->r[i].first, elements->r[i].last);
	ended_set(job, &ended);
	pbs_set_subtract(&left, &ended);
	if (!left.n)
		state = 'C';
	else if (state == 'R' || state == 'E') /* the array's; these may still wait */
		state = 'Q';
	json_array_foreach (jsonx_at(job, "status.active"), i, v)
		if (pbs_set_has(&left, (int)jsonx_int_or(v, "index", -1)))
			state = *jsonx_str_or(v, "state", "R");
	pbs_set_done(&left);
	pbs_set_done(&ended);
	return state;
}

/* Leaves of the elements those that the array has. */
static void keep_known(struct act_target *t)
{
	struct pbs_set all = { 0 };
	struct pbs_set strange = { 0 };

	read_set(jsonx_str(t->job, "spec.array.request"), &all);
	pbs_set_unite(&strange, &t->elements);
	pbs_set_subtract(&strange, &all);
	pbs_set_subtract(&t->elements, &strange);
	pbs_set_done(&all);
	pbs_set_done(&strange);
}

int act_target_read(struct act_target *t, const json_t *job, bool array, const char *elements, struct err *e)
{
	struct err why = ERR_INIT;

	*t = (struct act_target){ .job = job,
				  .some = *elements != 0,
				  .state = *jsonx_str_or(job, "status.state", "Q") };
	if (array && !jsonx_at(job, "spec.array"))
		return pbs_error_set(e, ERR_NOT_FOUND, PBSE_UNKJOBID, NULL);
	if (!t->some)
		return 0;
	if (pbs_array_parse(elements, &t->elements, NULL, &why) < 0)
		return pbs_error_set(e, ERR_INVALID, PBSE_BAD_ARRAY_REQ, "%.300s", why.text);
	keep_known(t);
	if (!t->elements.n)
		return pbs_error_set(e, ERR_NOT_FOUND, PBSE_UNKJOBID, NULL);
	t->state = elements_state(job, &t->elements);
	return 0;
}

void act_target_done(struct act_target *t)
{
	pbs_set_done(&t->elements);
}

void act_change_elements(const struct act_target *t, const struct pbs_set *elements, const json_t *changes,
			 json_t *spec)
{
	const json_t *written = json_object_get(spec, "elements");
	const json_t *list = written ? written : jsonx_at(t->job, "spec.elements");

	json_object_set_new(spec, "elements", pbs_element_change(list, elements, changes));
}

void act_change(const struct act_target *t, const json_t *changes, json_t *spec)
{
	if (t->some)
		act_change_elements(t, &t->elements, changes, spec);
	else
		json_object_update(spec, (json_t *)changes);
}

struct pbs_set act_running(const struct act_target *t)
{
	struct pbs_set set = { 0 };
	json_t *v;
	size_t i;

	json_array_foreach (jsonx_at(t->job, "status.active"), i, v) {
		int index = (int)jsonx_int_or(v, "index", -1);

		if (strchr("RSE", *jsonx_str_or(v, "state", "R")) && (!t->some || pbs_set_has(&t->elements, index)))
			pbs_set_add(&set, index, index);
	}
	if (!set.n)
		pbs_set_unite(&set, &t->elements);
	return set;
}

/* ---- doing it ---- */

/* Whether a merge patch of the spec says anything new. */
static bool is_new(const json_t *patch, const json_t *spec)
{
	const char *field;
	json_t *v;

	json_object_foreach ((json_t *)patch, field, v) {
		json_t *was = json_object_get(spec, field);

		if (json_is_null(v) ? was != NULL : !was || !json_equal(v, was))
			return true;
	}
	return false;
}

static int write_plan(const struct act *a, const struct act_target *t, bool *ret_new, struct err *e)
{
	json_auto_t *patch = json_object();
	json_t *spec = json_object();
	const json_t *rv = jsonx_at(t->job, "metadata.resourceVersion");

	json_object_set_new(patch, "spec", spec);
	if (rv)
		jsonx_set_new(patch, "metadata.resourceVersion", jsonx_copy(rv));
	if (a->plan(a, t, spec, e) < 0)
		return -1;
	*ret_new = is_new(spec, json_object_get(t->job, "spec"));
	return pbs_patch(a->pbs, t->path, patch, NULL, e);
}

/* A job is told to run a little later than it does: what needs one that runs is not refused here for waiting. */
static bool may_run(const struct act *a, char state)
{
	return a->states && strchr(a->states, 'R') && strchr("QHW", state);
}

static int act_on_target(const struct act *a, const struct act_target *t, struct err *e)
{
	bool fits = a->states ? strchr(a->states, t->state) != NULL : t->state != 'C';
	bool new = false;

	if (a->send && !fits && !may_run(a, t->state))
		return pbs_error_state(e, t->state);
	if (a->send)
		return a->send(a, t, e);
	if (write_plan(a, t, &new, e) < 0)
		return -1;
	return fits || (new &&may_run(a, t->state)) ? 0 : pbs_error_state(e, t->state);
}

static int act_once(const struct act *a, const struct pbs_id *id, struct sbuf *name, struct err *e)
{
	auto_sbuf struct sbuf path = SBUF(LIMIT_URL);
	const char *elements = a->range ? a->range : id->elements;
	struct pbs_id whole = { .sequence = id->sequence };
	json_auto_t *job = NULL;
	struct act_target t = { 0 };
	const char *dot;
	int r;

	if (pbs_job_find(a->pbs, &whole, &job, e) < 0)
		return -1;
	dot = strchr(jsonx_str_or(job, "status.id", ""), '.');
	sbuf_adds(name, dot ? dot : "");
	pbs_job_path(job, &path);
	r = act_target_read(&t, job, id->array, elements, e);
	t.path = path.p;
	if (r == 0)
		r = act_on_target(a, &t, e);
	act_target_done(&t);
	return r;
}

/* Somebody else wrote in between: the server's words for that have no number of PBS's. */
static bool lost_race(const struct err *e)
{
	const char *words;

	return e->kind == ERR_CONFLICT && !pbs_error_find(e->text, &words);
}

static bool is_unknown(const struct err *e)
{
	const char *words;

	return pbs_error_find(e->text, &words) == PBSE_UNKJOBID;
}

bool act_is_over(const struct err *e)
{
	const char *words;

	return is_unknown(e) || pbs_error_find(e->text, &words) == PBSE_BADSTATE;
}

static int act_on(const struct act *a, const char *text)
{
	auto_sbuf struct sbuf name = SBUF(1024);
	struct err e = ERR_INIT;
	struct pbs_id id;
	int r = -1;
	size_t head;

	if (!pbs_id_parse(text, &id)) {
		fprintf(stderr, "%s: illegally formed job identifier: %s\n", a->pbs->command, text);
		return 1;
	}
	if (a->range && (!id.array || id.elements[0])) {
		fprintf(stderr, "%s: Error: job id '%s' isn't a job array but -t was specified.\n", a->pbs->command,
			text);
		return 1;
	}
	sbuf_addf(&name, "%" PRId64, id.sequence);
	if (id.array)
		sbuf_addf(&name, "[%s]", id.elements);
	head = name.n;
	for (int i = 0; i < TRIES && r < 0; i++) {
		err_clear(&e);
		name.n = head;
		name.p[head] = 0;
		r = act_once(a, &id, &name, &e);
		if (r < 0 && !lost_race(&e))
			break;
	}
	if (r == 0 || (a->all && act_is_over(&e)))
		return 0;
	if (a->pbs->connect_errno)
		return pbs_fail_connect(a->pbs);
	if (name.n == head)
		sbuf_addf(&name, ".%s", id.server[0] ? id.server : pbs_server_name(a->pbs));
	if (is_unknown(&e) && a->missing)
		pbs_error_set(&e, ERR_NOT_FOUND, PBSE_UNKJOBID, "%s", a->missing);
	return pbs_fail(a->pbs, &e, name.p);
}

int act_on_jobs(const struct act *a, char *const *ids, int n)
{
	int status = 0;

	for (int i = 0; i < n && !a->pbs->connect_errno; i++) {
		int one = act_on(a, ids[i]);

		status = one ? one : status;
	}
	return status;
}
