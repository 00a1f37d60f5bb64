// SPDX-License-Identifier: Apache-2.0
/* pbs_comment.c - see pbs_board.h: why a job waits, at the moment somebody asks
 *
 * A job's status has what the scheduler last said of its pod, and where many wait it says so at a pace.  Whoever asks
 * for comments hears what is true now: a job that has a pod, from the scheduler; an element of an array without one,
 * why it has none.
 */
#include "kinds/pbs_comment.h"
#include "api/pbs_board.h"
#include "api/pbs_parts.h"
#include "base/clock.h"
#include "base/jsonx.h"
#include "base/limits.h"
#include "base/mem.h"
#include "kinds/pbs_element.h"
#include "kinds/pbs_id.h"

#define WORDS 1024

static int64_t seconds_of(const json_t *obj, const char *field)
{
	int64_t us;

	return clock_parse_rfc3339(jsonx_str_or(obj, field, ""), &us) ? us / 1000000 : 0;
}

/* Of the pod that has the script.  False if it does not wait, or nobody here places it. */
static bool add_obstacle(const struct pbs_view *v, int index, int run, struct sbuf *out)
{
	auto_sbuf struct sbuf pod = SBUF(512);
	auto_sbuf struct sbuf words = SBUF(LIMIT_STATUS_TEXT);

	if (!v->scheduler || !v->scheduler->ops->obstacle)
		return false;
	pbs_id_pod(v->row->name, index, 0, run, &pod);
	if (!v->scheduler->ops->obstacle(v->scheduler, v->row->ns, pod.p, &words))
		return false;
	if (words.n)
		sbuf_addf(out, PBS_NOT_RUNNING "%s", words.p);
	return true;
}

bool pbs_row_comment(const struct pbs_view *v, struct sbuf *out)
{
	const struct pbs_row *r = v->row;
	struct pbs_elements el;
	int index = PBS_PLAIN;
	bool found;

	if (!v->live || r->state != 'Q')
		return false;
	if (!r->array)
		return add_obstacle(v, index, r->starts, out);
	/* The first of those that wait speaks for all. */
	pbs_elements_read(&el, r);
	for (size_t i = 0; i < el.n; i++)
		pbs_set_subtract(&el.all, &el.sets[i].set);
	pbs_set_subtract(&el.all, &el.held);
	found = pbs_set_next(&el.all, &index) && add_obstacle(v, index, 0, out);
	pbs_elements_done(&el);
	return found;
}

/* ---- elements ---- */

static const char *holds_of(const struct pbs_row *r, const json_t *entry)
{
	const char *own = jsonx_str_or(entry, "hold", "");

	return *own ? own : strchr("n", *r->hold) ? "u" : r->hold;
}

static int64_t running(const struct pbs_row *r)
{
	int64_t n = 0;
	json_t *v;
	size_t i;

	json_array_foreach (r->active, i, v)
		n += *jsonx_str_or(v, "state", "R") != 'Q';
	return n;
}

static int64_t slots_of(const struct pbs_view *v)
{
	const json_t *settings;
	struct err e = ERR_INIT;
	int64_t most = pbs_server_settings(v->api, &settings, &e) < 0 ? 0 : jsonx_int_or(settings, "maxSlotLimit", 0);

	return v->row->slots > 0 ? v->row->slots : most > 0 ? most : INT64_MAX;
}

static void say_queued(const struct pbs_view *v, const json_t *active, char *words, struct sbuf *out)
{
	const struct pbs_row *r = v->row;
	int64_t slots = slots_of(v);

	if (add_obstacle(v, v->index, (int)jsonx_int_or(active, "startCount", 0), out))
		return;
	else if (running(r) >= slots)
		pbs_comment_slots(slots, words, WORDS);
	else if (r->state != 'R')
		sbuf_adds(out, r->comment);
	else
		pbs_comment_behind(words, WORDS);
}

void pbs_element_comment(const struct pbs_view *v, struct sbuf *out)
{
	const struct pbs_row *r = v->row;
	const json_t *active = pbs_element_active(v->elements, r, v->index);
	const json_t *run = active ? active : pbs_element_ended(v->elements, r, v->index);
	json_auto_t *spec = r->altered ? json_pack("{s:O}", "elements", r->altered) : NULL;
	const json_t *entry = pbs_element_entry(spec, v->index);
	const struct pbs_element_set *set;
	char state = pbs_element_state(v->elements, r, v->index, &set);
	int64_t began = seconds_of(run, "startTime");
	int64_t until = seconds_of(entry, "executionTime");
	char words[WORDS] = "";

	if (jsonx_str(run, "comment"))
		sbuf_adds(out, jsonx_str(run, "comment"));
	else if (began)
		pbs_comment_started(began, words, WORDS);
	else if (state == 'Q')
		say_queued(v, active, words, out);
	else if (state == 'H' && (r->state != 'H' || pbs_set_has(&v->elements->held, v->index)))
		pbs_comment_held(holds_of(r, entry), words, WORDS);
	else if (state == 'W' && until)
		pbs_comment_until(until, words, WORDS);
	else if (state != 'C' || !set || !set->ended)
		sbuf_adds(out, r->comment);
	sbuf_adds(out, words);
}
