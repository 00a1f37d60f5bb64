// SPDX-License-Identifier: Apache-2.0
/* pbs_change_elements.c - see pbs_parts.h: what is done to single elements of an array (kinds/pbs_element.h)
 *
 * An element is judged as a job of its own: what it has now against what it had.  Elements with the same entries before
 * and after are judged once, at the first of them; those that run, one by one.
 */
#include "api/pbs_parts.h"
#include "base/jsonx.h"
#include "base/mem.h"
#include "kinds/pbs_element.h"

struct view {
	struct api *api;
	const struct caller *caller;
	const json_t *job; /* as it was */
	const json_t *spec, *was;
	struct pbs_set all, running, ended;
};

static struct pbs_set indexes_of(const json_t *entry)
{
	struct pbs_set set = { 0 };

	pbs_element_read(jsonx_str(entry, "indexes"), &set);
	return set;
}

static void view_read(struct view *v)
{
	const char *state;
	json_t *text;

	pbs_element_read(jsonx_str(v->spec, "array.request"), &v->all);
	json_object_foreach (jsonx_at(v->job, "status.elements"), state, text) {
		struct pbs_set set = { 0 };

		pbs_element_read(json_string_value(text), &set);
		pbs_set_unite(*state == 'C' ? &v->ended : &v->running, &set);
		pbs_set_done(&set);
	}
}

static void view_done(struct view *v)
{
	pbs_set_done(&v->all);
	pbs_set_done(&v->running);
	pbs_set_done(&v->ended);
}

/* ---- is it a list ---- */

static int bad(struct err *e, const json_t *entry, const char *why)
{
	return pbs_error_set(e, ERR_INVALID, PBSE_BAD_ARRAY_REQ, "spec.elements: indexes \"%.100s\": %s",
			     jsonx_str_or(entry, "indexes", ""), why);
}

static int check_list(const struct view *v, struct err *e)
{
	struct pbs_set left = { 0 };
	json_t *entry;
	size_t i;
	int r = 0;

	pbs_set_unite(&left, &v->all);
	json_array_foreach (json_object_get(v->spec, "elements"), i, entry) {
		struct pbs_set set = indexes_of(entry);
		size_t before = pbs_set_count(&left);

		pbs_set_subtract(&left, &set);
		if (!set.n)
			r = bad(e, entry, "must be indexes and ranges, such as 2-4,7");
		else if (before - pbs_set_count(&left) != pbs_set_count(&set))
			r = bad(e, entry, "must be elements of the array, each in one entry");
		pbs_set_done(&set);
		if (r < 0)
			break;
	}
	pbs_set_done(&left);
	return r;
}

/* ---- may it be ---- */

static const char *hold_of(const json_t *spec, int index)
{
	const json_t *entry = pbs_element_entry(spec, index);

	return entry ? jsonx_str_or(entry, "hold", "n") : "n";
}

static int check_one(const struct view *v, int index, bool running, struct err *e)
{
	json_auto_t *now = NULL;
	json_auto_t *then = NULL;

	if (!pbs_set_has(&v->all, index) ||
	    jsonx_equal(pbs_element_entry(v->spec, index), pbs_element_entry(v->was, index)))
		return 0;
	if (!streq(hold_of(v->spec, index), hold_of(v->was, index)) && !pbs_is_operator(v->api, v->caller))
		return pbs_error_set(e, ERR_FORBIDDEN, PBSE_PERM, "operation not permitted");
	now = pbs_element_spec(v->spec, index);
	then = pbs_element_spec(v->was, index);
	return pbs_check_fields(v->api, v->caller, v->job, now, then, running, e);
}

/* At the first of all that were and are alike: where an entry begins, or another has ended. */
static int check_firsts(const struct view *v, const json_t *list, struct err *e)
{
	json_t *entry;
	size_t i;
	int r = 0;

	json_array_foreach ((json_t *)list, i, entry) {
		struct pbs_set set = indexes_of(entry);

		for (size_t k = 0; k < set.n && r == 0; k++) {
			r = check_one(v, set.r[k].first, false, e);
			if (r == 0)
				r = check_one(v, set.r[k].last + 1, false, e);
		}
		pbs_set_done(&set);
		if (r < 0)
			return -1;
	}
	return 0;
}

static int check_running(const struct view *v, struct err *e)
{
	int index = -1;

	while (pbs_set_next(&v->running, &index))
		if (check_one(v, index, true, e) < 0)
			return -1;
	return 0;
}

/* ---- does it make sense ---- */

static int must_run(const struct view *v, int index, struct err *e)
{
	json_auto_t *pod = NULL;

	if (pbs_set_has(&v->running, index))
		return 0;
	if (pbs_set_has(&v->ended, index))
		return pbs_error_state(e, 'C');
	if (pbs_begun(v->api, v->job, index, &pod, e) < 0)
		return -1;
	return pod ? 0 : pbs_error_state(e, 'Q');
}

/* Those of an entry that have not had this before. */
static struct pbs_set newly(const struct view *v, const json_t *entry, const char *field)
{
	struct pbs_set set = indexes_of(entry);
	json_t *old;
	size_t i;

	json_array_foreach (json_object_get(v->was, "elements"), i, old) {
		struct pbs_set had = indexes_of(old);

		if (jsonx_equal(json_object_get(old, field), json_object_get(entry, field)))
			pbs_set_subtract(&set, &had);
		pbs_set_done(&had);
	}
	return set;
}

static int check_request(const struct view *v, const json_t *entry, const char *field, struct err *e)
{
	struct pbs_set set = newly(v, entry, field);
	int index = -1;
	int r = 0;

	while (r == 0 && pbs_set_next(&set, &index)) {
		json_auto_t *own = pbs_element_spec(v->was, index);

		r = must_run(v, index, e);
		if (r == 0 && streq(field, "rerunAfter") && !jsonx_bool_or(own, "rerunnable", true))
			r = pbs_error_set(e, ERR_FORBIDDEN, PBSE_NORERUN, NULL);
	}
	pbs_set_done(&set);
	return r;
}

/* What was moved must wait. */
static int check_moved(const struct view *v, const json_t *entry, struct err *e)
{
	struct pbs_set set = newly(v, entry, "queue");
	int index = -1;
	int r = 0;

	while (r == 0 && pbs_set_next(&v->running, &index))
		if (pbs_set_has(&set, index))
			r = pbs_error_state(e, 'R');
	pbs_set_done(&set);
	return r;
}

static int check_requests(const struct view *v, struct err *e)
{
	json_t *entry;
	size_t i;

	json_array_foreach (json_object_get(v->spec, "elements"), i, entry) {
		if (json_object_get(entry, "rerunAfter") && check_request(v, entry, "rerunAfter", e) < 0)
			return -1;
		if (jsonx_bool_or(entry, "suspend", false) && check_request(v, entry, "suspend", e) < 0)
			return -1;
		if (json_object_get(entry, "queue") && check_moved(v, entry, e) < 0)
			return -1;
	}
	return 0;
}

int pbs_elements_admit(struct api *api, const struct caller *c, const json_t *job, json_t *spec, struct err *e)
{
	const json_t *was = json_object_get(job, "spec");
	struct view v = { .api = api, .caller = c, .job = job, .spec = spec, .was = was };
	int r = 0;

	pbs_element_overrule(spec, was);
	if (jsonx_equal(json_object_get(spec, "elements"), json_object_get(was, "elements")))
		return 0;
	if (!json_object_get(spec, "array"))
		return pbs_error_set(e, ERR_INVALID, PBSE_UNKARRAYID, "the job is no array");
	view_read(&v);
	r = check_list(&v, e);
	if (r == 0)
		r = check_firsts(&v, json_object_get(spec, "elements"), e);
	if (r == 0)
		r = check_firsts(&v, json_object_get(was, "elements"), e);
	if (r == 0)
		r = check_requests(&v, e);
	if (r == 0)
		r = check_running(&v, e);
	view_done(&v);
	return r;
}

/* ---- where ---- */

/* Of the resources that an element has those that the array has not. */
static json_t *differences(const json_t *resources, const json_t *of_array)
{
	json_t *out = json_object();
	const char *name;
	json_t *v;

	json_object_foreach ((json_t *)resources, name, v)
		if (!jsonx_equal(v, json_object_get(of_array, name)))
			json_object_set(out, name, v);
	return out;
}

static int assign_entry(struct pbs_entry *n, const json_t *spec, const json_t *was, json_t *entry, struct err *e)
{
	struct pbs_set set = indexes_of(entry);
	int first = set.n ? set.r[0].first : -1;
	json_auto_t *now = pbs_element_spec(spec, first);
	json_auto_t *then = pbs_element_spec(was, first);
	json_auto_t *empty = json_object();
	const json_t *resources = json_object_get(now, "resources");
	const char *queue = jsonx_str_or(now, "queue", "");
	auto_free char *name = xstrndup(queue, strcspn(queue, "@"));
	int r;

	n->elements = (int64_t)pbs_set_count(&set);
	n->spec = now;
	pbs_set_done(&set);
	if (jsonx_equal(json_object_get(now, "queue"), json_object_get(then, "queue")) &&
	    jsonx_equal(resources, json_object_get(then, "resources")))
		return 0;
	r = str_same(queue, jsonx_str(then, "queue")) ? pbs_queue_stay(n, name, resources ? resources : empty, e)
						      : pbs_queue_enter(n, name, resources ? resources : empty, e);
	if (r < 0)
		return -1;
	json_object_set_new(entry, "resources", differences(n->resources, json_object_get(spec, "resources")));
	if (json_object_get(entry, "queue"))
		json_object_set_new(entry, "queue", jsonx_string(n->queue->name));
	return 0;
}

int pbs_elements_assign(const struct pbs_entry *like, json_t *spec, const json_t *was, struct err *e)
{
	json_t *entry;
	size_t i;

	if (jsonx_equal(json_object_get(spec, "elements"), json_object_get(was, "elements")))
		return 0;
	json_array_foreach (json_object_get(spec, "elements"), i, entry) {
		struct pbs_entry n = *like;
		int r;

		if (!json_object_get(entry, "resources") && !json_object_get(entry, "queue"))
			continue;
		n.resources = NULL;
		n.defaults = SBUF(4096);
		r = assign_entry(&n, spec, was, entry, e);
		pbs_entry_done(&n);
		if (r < 0)
			return -1;
	}
	return 0;
}
