// SPDX-License-Identifier: Apache-2.0
/* pbs_elements.c - see pbs_board.h: elements of an array
 *
 * status.elements has sets of indexes by how their elements stand: "R", or "C:" and the exit status.  All others wait
 * as the array itself does, or are held by spec.elementHold.
 */
#include "api/pbs_board.h"
#include "api/stored.h"
#include "base/clock.h"
#include "base/jsonx.h"
#include "base/limits.h"
#include "base/mem.h"
#include "kinds/pbs_element.h"
#include "kinds/pbs_id.h"
#include "kinds/pbs_values.h"

#define ID_BYTES 400

static void read_entries(const json_t *list, struct pbs_set *ret)
{
	json_t *v;
	size_t i;

	json_array_foreach ((json_t *)list, i, v) {
		int index = (int)jsonx_int_or(v, "index", 0);

		pbs_set_add(ret, index, index);
	}
}

void pbs_elements_read(struct pbs_elements *el, const struct pbs_row *r)
{
	const char *key;
	json_t *v;

	*el = (struct pbs_elements){ .rv = r->rv };
	pbs_element_read(r->request, &el->all);
	pbs_element_read(r->held, &el->held);
	read_entries(r->active, &el->active);
	read_entries(r->ended, &el->past);
	json_object_foreach (r->elements, key, v) {
		struct pbs_element_set set = { .state = *key };
		int64_t status;

		set.ended = str_starts(key, "C:") && str_int64(key + 2, INT32_MIN, INT32_MAX, &status);
		set.exit_status = set.ended ? (int)status : 0;
		pbs_element_read(json_string_value(v), &set.set);
		ARRAY_PUSH(el->sets, el->n, el->cap, set);
	}
}

void pbs_elements_done(struct pbs_elements *el)
{
	pbs_set_done(&el->all);
	pbs_set_done(&el->held);
	pbs_set_done(&el->active);
	pbs_set_done(&el->past);
	for (size_t i = 0; i < el->n; i++)
		pbs_set_done(&el->sets[i].set);
	free(el->sets);
	*el = (struct pbs_elements){ 0 };
}

static const json_t *entry_of(const json_t *list, const struct pbs_set *set, int index)
{
	json_t *v;
	size_t i;

	if (!pbs_set_has(set, index))
		return NULL;
	json_array_foreach ((json_t *)list, i, v)
		if (jsonx_int_or(v, "index", -1) == index)
			return v;
	return NULL;
}

const json_t *pbs_element_active(const struct pbs_elements *el, const struct pbs_row *r, int index)
{
	return entry_of(r->active, &el->active, index);
}

const json_t *pbs_element_ended(const struct pbs_elements *el, const struct pbs_row *r, int index)
{
	return entry_of(r->ended, &el->past, index);
}

/* For a time of its own. */
static bool waits(const struct pbs_row *r, int index)
{
	json_auto_t *spec = r->altered ? json_pack("{s:O}", "elements", r->altered) : NULL;
	const char *text = jsonx_str_or(pbs_element_entry(spec, index), "executionTime", "");
	int64_t at;

	return *text && clock_parse_rfc3339(text, &at) && at / 1000000 > clock_wall();
}

/* As a whole, while some of it may run. */
static bool is_held(const struct pbs_row *r)
{
	return *r->hold && !streq(r->hold, "n");
}

char pbs_element_state(const struct pbs_elements *el, const struct pbs_row *r, int index,
		       const struct pbs_element_set **ret)
{
	*ret = NULL;
	for (size_t i = 0; i < el->n; i++)
		if (pbs_set_has(&el->sets[i].set, index)) {
			*ret = &el->sets[i];
			return el->sets[i].state;
		}
	if (r->state == 'C')
		return 'C';
	if (pbs_set_has(&el->held, index) || is_held(r))
		return 'H';
	if (waits(r, index))
		return 'W';
	return strchr("HWT", r->state) ? r->state : 'Q';
}

/* "189[3].Ghead" from the array's "189[].Ghead", which is the first field of its line. */
static void add_id(const struct pbs_row *r, int index, struct sbuf *out)
{
	size_t n = strcspn(r->head, "\t");
	const char *open = memchr(r->head, '[', n);

	if (!open) {
		sbuf_add(out, r->head, n);
		return;
	}
	sbuf_add(out, r->head, (size_t)(open - r->head) + 1);
	sbuf_addf(out, "%d", index);
	sbuf_add(out, open + 1, n - (size_t)(open - r->head) - 1);
}

static void add_field(struct sbuf *out, const json_t *from, const char *name)
{
	pbs_row_escape(jsonx_str_or(from, name, ""), out);
	sbuf_addc(out, '\t');
}

/* Owner, submit host and queue: the third to the fifth field of the array's line. */
static void add_same(const struct pbs_row *r, struct sbuf *out)
{
	const char *from = r->head;
	const char *to;

	for (int i = 0; i < 2; i++)
		from += strcspn(from, "\t") + 1;
	to = from;
	for (int i = 0; i < 3; i++)
		to += strcspn(to, "\t") + 1;
	sbuf_add(out, from, (size_t)(to - from));
}

/* The row of the array as if all elements were like this one, or NULL if they are. */
static struct pbs_row *own_row(struct api *api, const struct pbs_row *r, int index)
{
	struct stored_kind k = { .group = "stoker.dev", .version = "v1", .plural = "pbsjobs" };
	json_auto_t *job = NULL;
	json_auto_t *view = NULL;
	struct err e = ERR_INIT;

	if (!r->altered || stored_get(api, &k, r->ns, r->name, &job, &e) < 0)
		return NULL;
	view = pbs_element_view(job, index);
	return view == job ? NULL : pbs_row_new(r->ns, r->name, view);
}

static void read_used(const json_t *run, struct pbs_used *ret)
{
	const json_t *used = json_object_get(run, "resourcesUsed");

	pbs_time_parse(jsonx_str_or(used, "cput", ""), &ret->cput);
	pbs_time_parse(jsonx_str_or(used, "walltime", ""), &ret->walltime);
}

static void add_line(const struct pbs_view *v, struct sbuf *out)
{
	const struct pbs_elements *el = v->elements;
	const struct pbs_row *r = v->row;
	int index = v->index;
	auto_sbuf struct sbuf comment = SBUF(LIMIT_STATUS_TEXT);
	const json_t *active = pbs_element_active(el, r, index);
	const json_t *run = active ? active : pbs_element_ended(el, r, index);
	size_t alike = strcspn(r->element_tail, "\n");
	const struct pbs_element_set *set;
	char state = pbs_element_state(el, r, index, &set);
	struct pbs_used used = { .cput = -1, .walltime = -1 };

	if (active) {
		struct pbs_run live;

		pbs_run_read(&live, active);
		pbs_run_used(v->api, v->kubelet, r->ns, &live, v->now, &used);
		pbs_run_done(&live);
	} else if (run) {
		read_used(run, &used);
	}
	add_id(r, index, out);
	sbuf_addc(out, '\t');
	pbs_row_escape(r->title, out);
	sbuf_addf(out, "-%d\t", index);
	add_same(r, out);
	sbuf_addf(out, "%c\t", active ? *jsonx_str_or(active, "state", "R") : state);
	if (used.cput >= 0)
		sbuf_addf(out, "%lld", (long long)used.cput);
	sbuf_addc(out, '\t');
	if (used.walltime >= 0)
		sbuf_addf(out, "%lld", (long long)used.walltime);
	sbuf_addc(out, '\t');
	if (json_is_integer(json_object_get(run, "sessionId")))
		sbuf_addf(out, "%lld", (long long)jsonx_int_or(run, "sessionId", 0));
	sbuf_addc(out, '\t');
	sbuf_add(out, r->element_tail, alike);
	add_field(out, run, "execHost");
	add_field(out, run, "execGpus");
	if (v->live || run)
		pbs_element_comment(v, &comment);
	pbs_row_escape(comment.p ? comment.p : "", out);
	sbuf_addc(out, '\t');
	sbuf_adds(out, r->element_tail + alike + 1);
}

void pbs_element_line(const struct pbs_view *v, struct sbuf *out)
{
	struct pbs_row *own = own_row(v->api, v->row, v->index);
	struct pbs_view view = *v;

	if (own)
		view.row = own;
	add_line(&view, out);
	if (own)
		pbs_row_free(own);
}

/* All holds of an element, the array's among them. */
static json_t *holds_of(const json_t *spec, int index)
{
	const char *all = jsonx_str_or(spec, "hold", "n");
	const char *own = jsonx_str_or(pbs_element_entry(spec, index), "hold", "n");
	struct pbs_set held = { 0 };
	char out[8];
	size_t n = 0;
	bool user;

	pbs_element_read(jsonx_str(spec, "elementHold"), &held);
	user = pbs_set_has(&held, index);
	pbs_set_done(&held);
	for (const char *c = "uosp"; *c; c++)
		if (strchr(all, *c) || strchr(own, *c) || (user && *c == 'u'))
			out[n++] = *c;
	out[n] = 0;
	return json_string(n ? out : "n");
}

void pbs_element_object(json_t *job, const struct pbs_view *v)
{
	const struct pbs_elements *el = v->elements;
	const struct pbs_row *r = v->row;
	int index = v->index;
	static const char *const of_array[] = { "elements",     "active",        "startTime",      "startCount",
						"execHost",     "execGpus",      "sessionId",      "pods",
						"exitStatus",   "resourcesUsed", "completionTime", "ended",
						"totalRuntime", "comment" };
	const json_t *active = pbs_element_active(el, r, index);
	const json_t *run = active ? active : pbs_element_ended(el, r, index);
	auto_sbuf struct sbuf id = SBUF(ID_BYTES);
	auto_sbuf struct sbuf comment = SBUF(LIMIT_STATUS_TEXT);
	const struct pbs_element_set *set;
	char state[2] = { pbs_element_state(el, r, index, &set), '\0' };
	json_t *status = json_object_get(job, "status");
	json_t *holds;
	const char *key;
	json_t *value;

	for (size_t i = 0; i < ARRAY_SIZE(of_array); i++)
		json_object_del(status, of_array[i]);
	add_id(r, index, &id);
	json_object_set_new(status, "id", jsonx_string(id.p));
	json_object_set_new(status, "state", json_string(state));
	if (set && set->ended)
		json_object_set_new(status, "exitStatus", json_integer(set->exit_status));
	json_object_foreach ((json_t *)run, key, value)
		if (!streq(key, "index"))
			json_object_set(status, key, value);
	pbs_element_comment(v, &comment);
	if (comment.n)
		json_object_set_new(status, "comment", jsonx_string(comment.p));
	holds = holds_of(json_object_get(job, "spec"), index);
	json_object_set_new(job, "spec", pbs_element_spec(json_object_get(job, "spec"), index));
	jsonx_set_new(job, "spec.hold", holds);
	jsonx_set_new(job, "spec.name", jsonx_stringf("%s-%d", jsonx_str_or(job, "spec.name", ""), index));
	json_object_del(json_object_get(job, "spec"), "elements");
}
