// SPDX-License-Identifier: Apache-2.0
/* pbs_elements.c - see pbs_plan.h: a job that is an array
 *
 * Most elements of a large array wait or have ended, and are no more than numbers in a few ranges.  Those that run, are
 * to be run again or have pods are units with a life of their own, and there are as many of them as the array may run
 * at once and a window of those that come next: a look costs as much as those, however many elements there are.
 */
#include "base/jsonx.h"
#include "base/mem.h"
#include "control/pbs_parts.h"
#include "kinds/pbs_element.h"

/* In status.elements: ended, and ":" with the exit status behind it if it has one. */
#define ENDED 'C'
/* Ended elements whose run is still told of: whoever keeps accounts has heard of it by then. */
#define ENDED_MOST 64

/* Elements that ended in the same way. */
struct outcome {
	bool ran; /* so that it has */
	int code;
	struct pbs_set set;
};

struct numbered {
	int index;
	const struct pod_facts *pod;
};

struct elements {
	struct pbs_work *w;
	struct pbs_set request, held, cancel;
	struct pbs_set rest; /* those that wait and are no units */
	struct outcome *outcomes;
	size_t noutcomes, outcomes_cap;
	struct pbs_unit *units; /* by index */
	size_t nunits, units_cap;
	struct numbered *pods; /* by index */
	const struct pod_facts **facts;
	size_t npods;
};

/* ---- ends ---- */

static struct outcome *outcome_of(struct elements *x, bool ran, int code)
{
	struct outcome o = { .ran = ran, .code = ran ? code : 0 };

	for (size_t i = 0; i < x->noutcomes; i++)
		if (x->outcomes[i].ran == o.ran && x->outcomes[i].code == o.code)
			return &x->outcomes[i];
	ARRAY_PUSH(x->outcomes, x->noutcomes, x->outcomes_cap, o);
	return &x->outcomes[x->noutcomes - 1];
}

static bool has_ended(const struct elements *x, int index)
{
	for (size_t i = 0; i < x->noutcomes; i++)
		if (pbs_set_has(&x->outcomes[i].set, index))
			return true;
	return false;
}

/* ---- reading ---- */

static void read_outcomes(struct elements *x)
{
	const char *key;
	json_t *text;

	json_object_foreach (json_object_get(x->w->status, "elements"), key, text) {
		int64_t code = 0;
		bool ran = key[0] == ENDED && key[1] == ':' && str_int64(key + 2, INT32_MIN, INT32_MAX, &code);

		if (key[0] == ENDED)
			pbs_element_read(json_string_value(text), &outcome_of(x, ran, (int)code)->set);
	}
}

static int by_index(const void *a, const void *b)
{
	const struct numbered *x = a;
	const struct numbered *y = b;

	return (x->index > y->index) - (x->index < y->index);
}

static int unit_by_index(const void *a, const void *b)
{
	const struct pbs_unit *x = a;
	const struct pbs_unit *y = b;

	return (x->index > y->index) - (x->index < y->index);
}

static void sort_units(struct elements *x)
{
	if (x->nunits)
		qsort(x->units, x->nunits, sizeof(*x->units), unit_by_index);
}

static void read_pods(struct elements *x)
{
	const struct pbs_view *v = x->w->v;

	x->npods = v->n;
	x->pods = xcalloc(v->n + 1, sizeof(*x->pods));
	x->facts = xcalloc(v->n + 1, sizeof(*x->facts));
	for (size_t i = 0; i < v->n; i++)
		x->pods[i] = (struct numbered){ pbs_pod_is(v->pods[i]).index, v->pods[i] };
	qsort(x->pods, v->n, sizeof(*x->pods), by_index);
	for (size_t i = 0; i < v->n; i++)
		x->facts[i] = x->pods[i].pod;
}

static void add_unit(struct elements *x, int index, const json_t *entry)
{
	struct pbs_unit u = { .index = index, .state = *jsonx_str_or(entry, "state", "Q") };

	u.spec = x->w->spec;
	u.order = x->w->order;
	u.start_count = (int)jsonx_int_or(entry, "startCount", 0);
	u.run = entry ? jsonx_copy(entry) : json_pack("{s:i}", "index", index);
	ARRAY_PUSH(x->units, x->nunits, x->units_cap, u);
}

static struct pbs_unit *find_unit(const struct elements *x, size_t n, int index)
{
	struct pbs_unit key = { .index = index };

	return n ? bsearch(&key, x->units, n, sizeof(*x->units), unit_by_index) : NULL;
}

/* Those that are under way, and those that have pods; pods of those that have ended go. */
static void read_units(struct elements *x)
{
	size_t known;
	json_t *entry;
	size_t i;

	json_array_foreach (json_object_get(x->w->status, "active"), i, entry)
		add_unit(x, (int)jsonx_int_or(entry, "index", -1), entry);
	known = x->nunits;
	sort_units(x);
	for (i = 0; i < x->npods; i++) {
		int index = x->pods[i].index;

		if (has_ended(x, index) || !pbs_set_has(&x->request, index))
			pbs_drop_pods(x->w, &x->pods[i].pod, 1, true, -1);
		else if (!find_unit(x, known, index) && (i == 0 || x->pods[i - 1].index != index))
			add_unit(x, index, NULL);
	}
}

static void give_pods(struct elements *x)
{
	size_t at = 0;

	sort_units(x);
	for (size_t i = 0; i < x->nunits; i++) {
		struct pbs_unit *u = &x->units[i];

		while (at < x->npods && x->pods[at].index < u->index)
			at++;
		u->pods = x->facts + at;
		for (size_t k = at; k < x->npods && x->pods[k].index == u->index; k++)
			u->n++;
	}
}

static void read_rest(struct elements *x)
{
	struct pbs_set units = { 0 };

	pbs_set_unite(&x->rest, &x->request);
	for (size_t i = 0; i < x->noutcomes; i++)
		pbs_set_subtract(&x->rest, &x->outcomes[i].set);
	for (size_t i = 0; i < x->nunits; i++)
		pbs_set_add(&units, x->units[i].index, x->units[i].index);
	pbs_set_subtract(&x->rest, &units);
	pbs_set_done(&units);
}

/* ---- deciding ---- */

static void read_cancel(struct elements *x)
{
	const json_t *cancel = json_object_get(x->w->spec, "cancel");
	const char *elements = jsonx_str_or(cancel, "elements", "");
	struct pbs_set spared = { 0 };
	struct outcome *o;

	if (!cancel)
		return;
	if (*elements)
		pbs_element_read(elements, &x->cancel);
	else
		pbs_set_unite(&x->cancel, &x->request);
	/* Of those that wait nobody needs to be told. */
	pbs_set_unite(&spared, &x->rest);
	pbs_set_subtract(&spared, &x->cancel);
	pbs_set_subtract(&x->rest, &spared);
	if (x->rest.n) {
		o = outcome_of(x, x->w->v->set->cancel_code != PBS_NO_CODE, (int)x->w->v->set->cancel_code);
		pbs_set_unite(&o->set, &x->rest);
	}
	pbs_set_done(&x->rest);
	x->rest = spared;
}

/* Elements that were altered alone have pods of their own making. */
static void give_orders(struct elements *x)
{
	if (!json_object_get(x->w->spec, "elements"))
		return;
	for (size_t i = 0; i < x->nunits; i++) {
		struct pbs_unit *u = &x->units[i];
		json_auto_t *view = pbs_element_view(x->w->v->job, u->index);
		struct err e = ERR_INIT;
		struct pbs_order *own = view == x->w->v->job ? NULL : pbs_plan_order(x->w, view, &e);

		if (!own)
			continue;
		u->order = own;
		u->spec = own->spec;
	}
}

/* Who may not start whatever the others may: held, or before their time. */
static void read_held(struct elements *x)
{
	json_t *entry;
	size_t i;

	pbs_element_held(x->w->spec, &x->held);
	json_array_foreach (json_object_get(x->w->spec, "elements"), i, entry) {
		int64_t left = time_at(entry, "executionTime") - x->w->v->now;
		struct pbs_set set = { 0 };

		if (left <= 0)
			continue;
		pbs_element_read(jsonx_str(entry, "indexes"), &set);
		pbs_set_unite(&x->held, &set);
		pbs_set_done(&set);
		pbs_again(x->w, left);
	}
}

/* ---- who is next ---- */

struct next {
	struct pbs_set set; /* who could be */
	int64_t waiting, most;
};

static void add_next(struct elements *x, struct next *n, int index)
{
	if (n->waiting >= n->most || !pbs_set_has(&n->set, index))
		return;
	add_unit(x, index, NULL);
	pbs_set_drop(&n->set, index, index);
	pbs_set_drop(&x->rest, index, index);
	n->waiting++;
}

/* qrun: before all others. */
static void add_urgent(struct elements *x, struct next *n)
{
	json_t *entry;
	size_t i;

	json_array_foreach (json_object_get(x->w->spec, "elements"), i, entry) {
		struct pbs_set set = { 0 };
		int index = -1;

		if (!jsonx_bool_or(entry, "runNow", false))
			continue;
		pbs_element_read(jsonx_str(entry, "indexes"), &set);
		while (n->waiting < n->most && pbs_set_next(&set, &index))
			add_next(x, n, index);
		pbs_set_done(&set);
	}
}

/* Whose turn it is in the place of this index: qorder. */
static int who_takes(const struct elements *x, int index)
{
	json_t *entry;
	size_t i;

	json_array_foreach (json_object_get(x->w->spec, "elements"), i, entry) {
		struct pbs_set set = { 0 };
		int who = index;

		if (jsonx_int_or(entry, "place", -1) != index)
			continue;
		pbs_element_read(jsonx_str(entry, "indexes"), &set);
		who = set.n ? set.r[0].first : index;
		pbs_set_done(&set);
		return who;
	}
	return index;
}

static void add_in_turn(struct elements *x, struct next *n)
{
	struct pbs_set turns = { 0 };
	int index = -1;

	if (json_object_get(x->w->spec, "elements")) {
		pbs_set_unite(&turns, &n->set);
		while (n->waiting < n->most && pbs_set_next(&turns, &index))
			add_next(x, n, who_takes(x, index));
		pbs_set_done(&turns);
	}
	index = -1;
	while (n->waiting < n->most && pbs_set_next(&n->set, &index))
		add_next(x, n, index);
}

/* Those that may wait as pods at once (-i). */
static int64_t idle_most(const struct elements *x)
{
	int64_t most;

	return str_int64(jsonx_str_or(x->w->spec, "attributes.idle_slot_limit", ""), 1, INT32_MAX, &most) ? most
													  : INT32_MAX;
}

/* Units that wait keep their pods as long as there are slots for them; then the next ones get some. */
static void choose(struct elements *x)
{
	int64_t slots = jsonx_int_or(x->w->spec, "array.slots", x->w->v->set->slots);
	struct next n = { 0 };

	for (size_t i = 0; i < x->nunits; i++)
		slots -= x->units[i].state != 'Q';
	for (size_t i = 0; i < x->nunits; i++) {
		struct pbs_unit *u = &x->units[i];

		u->cancel = pbs_set_has(&x->cancel, u->index);
		if (u->state != 'Q' || u->cancel)
			continue;
		u->blocked = n.waiting >= slots || pbs_set_has(&x->held, u->index) || pbs_retry_left(x->w, u);
		n.waiting += !u->blocked;
	}
	n.most = slots < PBS_WINDOW ? slots : PBS_WINDOW;
	n.most = idle_most(x) < n.most ? idle_most(x) : n.most;
	pbs_set_unite(&n.set, &x->rest);
	pbs_set_subtract(&n.set, &x->held);
	if (x->w->may_start || x->w->stopped)
		add_urgent(x, &n);
	if (x->w->may_start)
		add_in_turn(x, &n);
	pbs_set_done(&n.set);
}

/* ---- writing ---- */

/* In status.elements. */
static void write_set(json_t *elements, const char *key, const struct pbs_set *set)
{
	auto_sbuf struct sbuf text = SBUF(16 * 1024 * 1024);

	pbs_set_text(set, &text);
	if (text.n)
		json_object_set_new(elements, key, jsonx_string(text.p));
}

static void write_outcome(json_t *elements, const struct outcome *o)
{
	char key[24] = { ENDED };

	if (o->ran)
		snprintf(key, sizeof(key), "%c:%d", ENDED, o->code);
	write_set(elements, key, &o->set);
}

/* An entry of status.active. */
static void write_unit(json_t *active, struct pbs_unit *u)
{
	char letter[2] = { u->state };

	json_object_set_new(u->run, "state", json_string(letter));
	json_object_set_new(u->run, "startCount", json_integer(u->start_count));
	json_array_append(active, u->run);
}

/* An entry of status.ended. */
static void write_end(const struct elements *x, json_t *ended, const struct pbs_unit *u)
{
	const struct pod_facts *p = u->now ? u->now[0] : NULL;
	json_t *entry = jsonx_copy(u->run);

	json_object_del(entry, "state");
	json_object_set_new(entry, "startCount", json_integer(u->start_count));
	json_object_set_new(entry, "exitStatus", json_integer(u->exit));
	pbs_set_time(entry, "completionTime", p && p->finished ? p->finished : x->w->v->now);
	if (u->exit < 0 && *u->why)
		json_object_set_new(entry, "comment", jsonx_string(u->why));
	json_array_append_new(ended, entry);
}

/* Those that have ended now, and the last of those before them. */
static void write_ended(const struct elements *x)
{
	json_t *ended = json_array();
	size_t first = 0;
	json_t *old;
	size_t i;

	json_array_foreach (json_object_get(x->w->status, "ended"), i, old)
		if (time_at(old, "completionTime") + x->w->v->set->keep > x->w->v->now)
			json_array_append(ended, old);
	first = json_array_size(ended);
	for (i = 0; i < x->nunits; i++)
		if (x->units[i].state == 'C' && x->units[i].has_exit && x->units[i].start_count)
			write_end(x, ended, &x->units[i]);
	for (; first > 0 && json_array_size(ended) > ENDED_MOST; first--)
		json_array_remove(ended, 0);
	if (json_array_size(ended))
		json_object_set(x->w->status, "ended", ended);
	else
		json_object_del(x->w->status, "ended");
	json_decref(ended);
}

/* True if one of them runs. */
static bool write_all(struct elements *x)
{
	json_t *active = json_array();
	json_t *elements = json_object();
	struct pbs_set running = { 0 };
	bool any;

	for (size_t i = 0; i < x->nunits; i++) {
		struct pbs_unit *u = &x->units[i];

		if (u->state == 'C')
			pbs_set_add(&outcome_of(x, u->has_exit, u->exit)->set, u->index, u->index);
		else if (u->state != 'Q' || u->start_count)
			write_unit(active, u);
		if (strchr("RSE", u->state))
			pbs_set_add(&running, u->index, u->index);
	}
	write_ended(x);
	write_set(elements, "R", &running);
	for (size_t i = 0; i < x->noutcomes; i++)
		write_outcome(elements, &x->outcomes[i]);
	if (json_array_size(active))
		json_object_set(x->w->status, "active", active);
	else
		json_object_del(x->w->status, "active");
	if (json_object_size(elements))
		json_object_set(x->w->status, "elements", elements);
	json_decref(active);
	json_decref(elements);
	any = running.n > 0;
	pbs_set_done(&running);
	return any;
}

static size_t count_ended(const struct elements *x)
{
	size_t n = 0;

	for (size_t i = 0; i < x->noutcomes; i++)
		n += pbs_set_count(&x->outcomes[i].set);
	return n;
}

/* Of the array: 0 if all ended so, else the first that did not. */
static int exit_of(const struct elements *x)
{
	int first = INT32_MAX;
	int code = 0;

	for (size_t i = 0; i < x->noutcomes; i++) {
		const struct outcome *o = &x->outcomes[i];

		if (!o->set.n || (o->ran && !o->code) || o->set.r[0].first > first)
			continue;
		first = o->set.r[0].first;
		code = o->ran ? o->code : PBS_EXIT_CANCELLED;
	}
	return code;
}

static bool any_started(const struct elements *x)
{
	for (size_t i = 0; i < x->nunits; i++)
		if (x->units[i].start_count)
			return true;
	for (size_t i = 0; i < x->noutcomes; i++)
		if (x->outcomes[i].ran)
			return true;
	return false;
}

static bool all_held(const struct elements *x)
{
	struct pbs_set rest = { 0 };
	bool held;

	pbs_set_unite(&rest, &x->rest);
	pbs_set_subtract(&rest, &x->held);
	held = !rest.n;
	for (size_t i = 0; i < x->nunits; i++)
		held = held && pbs_set_has(&x->held, x->units[i].index);
	pbs_set_done(&rest);
	return held && x->held.n;
}

static const char *why_of(const struct elements *x, bool running)
{
	for (size_t i = 0; i < x->nunits; i++)
		if ((x->units[i].state == 'Q') != running && *x->units[i].why)
			return x->units[i].why;
	return running ? "" : x->w->comment;
}

static void end_array(struct elements *x)
{
	bool cancelled = x->cancel.n > 0;
	bool ran = any_started(x);
	char comment[PBS_COMMENT] = "";

	if (cancelled)
		pbs_say_cancel(x->w, comment, sizeof(comment));
	pbs_end_job(x->w, ran || x->w->v->set->cancel_code != PBS_NO_CODE, exit_of(x), cancelled, comment);
	pbs_event(x->w->p, exit_of(x) != 0, "Completed", "All %zu elements have ended", pbs_set_count(&x->request));
}

static void write_state(struct elements *x, bool running)
{
	json_t *status = x->w->status;
	char letter[2] = { running ? 'R' : x->w->gate };
	const char *why = why_of(x, running);

	if (!running && letter[0] == 'Q' && all_held(x))
		letter[0] = 'H';
	if (any_started(x) && !json_object_get(status, "startTime")) {
		pbs_set_time(status, "startTime", x->w->v->now);
		json_object_set_new(status, "startCount", json_integer(1));
	}
	if (count_ended(x) >= pbs_set_count(&x->request)) {
		end_array(x);
		return;
	}
	json_object_set_new(status, "state", json_string(letter));
	if (*why)
		json_object_set_new(status, "comment", jsonx_string(why));
}

static void elements_done(struct elements *x)
{
	for (size_t i = 0; i < x->nunits; i++)
		json_decref(x->units[i].run);
	for (size_t i = 0; i < x->noutcomes; i++)
		pbs_set_done(&x->outcomes[i].set);
	pbs_set_done(&x->request);
	pbs_set_done(&x->held);
	pbs_set_done(&x->cancel);
	pbs_set_done(&x->rest);
	free(x->outcomes);
	free(x->units);
	free(x->pods);
	free(x->facts);
}

void pbs_elements_plan(struct pbs_work *w)
{
	struct elements x = { .w = w };

	pbs_element_read(jsonx_str(w->spec, "array.request"), &x.request);
	if (!x.request.n) {
		pbs_end_job(w, true, PBS_EXIT_BEFORE, false, "Job cannot run: its array has no indexes");
		return;
	}
	read_held(&x);
	read_outcomes(&x);
	read_pods(&x);
	read_units(&x);
	read_rest(&x);
	read_cancel(&x);
	choose(&x);
	give_pods(&x);
	give_orders(&x);
	for (size_t i = 0; i < x.nunits; i++)
		pbs_unit_plan(w, &x.units[i]);
	write_state(&x, write_all(&x));
	elements_done(&x);
}
