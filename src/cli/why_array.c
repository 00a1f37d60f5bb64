// SPDX-License-Identifier: Apache-2.0
/* why_array.c - see why_array.h
 *
 * Only the next elements of an array have pods.  Of the others the board says how they stand; they wait for the same,
 * but for those that are held one by one, so one of each is asked about.
 */
#include "cli/why_array.h"

#include <inttypes.h>

#include "base/jsonx.h"
#include "base/limits.h"
#include "base/mem.h"
#include "kinds/pbs_comment.h"
#include "kinds/pbs_element.h"

#define PREFIX     "pbsjob/"
#define RANGE_MOST 60 /* bytes of indexes that are worth reading */

int why_array_element(struct client *c, const char *job, int64_t index, json_t **ret, struct err *e)
{
	auto_free char *path =
		xasprintf("/apis/stoker.dev/v1/pbs/jobs?format=full&ids=%s%%5B%" PRId64 "%%5D", job, index);
	json_auto_t *answer = NULL;
	json_t *found;

	if (client_raw_wait(c, path, &answer, e) < 0)
		return -1;
	found = json_array_get(json_object_get(answer, "items"), 0);
	if (!found)
		return err_set(e, ERR_NOT_FOUND, "there is no element %" PRId64 " of pbsjob/%s", index, job);
	*ret = json_incref(found);
	return 0;
}

/* ---- which ---- */

/* The index in "pbsjob/59[3]", or -1. */
static int index_of(const json_t *item)
{
	const char *open = strchr(jsonx_str_or(item, "name", ""), '[');
	struct str text = str_of(open ? open + 1 : "");
	auto_free char *digits = NULL;
	struct str index;
	int64_t n;

	if (!text.n || !str_split(&text, ']', &index))
		return -1;
	digits = xstrndup(index.p, index.n);
	return str_int64(digits, 0, PBS_INDEX_MOST, &n) ? (int)n : -1;
}

void why_array_silent(const json_t *job, const json_t *items, struct pbs_set *ret)
{
	const char *key;
	json_t *v;
	size_t i;

	pbs_element_read(jsonx_str(job, "spec.array.request"), ret);
	json_object_foreach (jsonx_at(job, "status.elements"), key, v) {
		struct pbs_set set = { 0 };

		pbs_element_read(json_string_value(v), &set);
		pbs_set_subtract(ret, &set);
		pbs_set_done(&set);
	}
	json_array_foreach ((json_t *)items, i, v)
		pbs_set_drop(ret, index_of(v), index_of(v));
}

/* "pbsjob/59" of "pbsjob/59[3]"; NULL if it is no element. */
static char *array_of(const json_t *item)
{
	const char *name = jsonx_str_or(item, "name", "");

	return str_starts(name, PREFIX) && index_of(item) >= 0 ? xstrndup(name, strcspn(name, "[")) : NULL;
}

/* ---- what is said ---- */

static json_t *new_item(const char *array, const char *number, const struct pbs_set *set, const json_t *element)
{
	const char *comment = jsonx_str_or(element, "status.comment", "");
	bool held = streq(jsonx_str_or(element, "status.state", "Q"), "H");
	bool limited = !held && jsonx_int_or(element, "spec.array.slots", 0) > 0;
	auto_sbuf struct sbuf range = SBUF(1u << 20);
	json_t *item;

	pbs_set_text(set, &range);
	if (range.n > RANGE_MOST) {
		sbuf_reset(&range);
		sbuf_addf(&range, "%d-", set->r[0].first);
	}
	if (str_starts(comment, PBS_NOT_RUNNING))
		comment += strlen(PBS_NOT_RUNNING);
	item = json_pack("{s:s, s:o, s:s, s:s, s:I}", "namespace", jsonx_str_or(element, "metadata.namespace", ""),
			 "name", jsonx_stringf("%s[%s]", array, range.p ? range.p : ""), "state",
			 held ? "held" : "waiting", "sentence", *comment ? comment : "it has no pod yet", "size",
			 (json_int_t)pbs_set_count(set));
	if (limited)
		json_object_set_new(item, "help",
				    jsonx_stringf("`qalter -t %%N '%s[]'` lets more of them run at a time", number));
	if (held)
		json_object_set_new(item, "help",
				    jsonx_stringf("`qrls -t %s '%s[]'` releases them", range.p ? range.p : "", number));
	return item;
}

static int add_item(struct client *c, const char *array, const json_t *job, const struct pbs_set *set, json_t *items,
		    struct err *e)
{
	auto_free char *number = xasprintf("%" PRId64, jsonx_int_or(job, "status.sequence", 0));
	json_auto_t *element = NULL;

	if (!set->n)
		return 0;
	if (why_array_element(c, number, set->r[0].first, &element, e) < 0)
		return -1;
	json_array_insert_new(items, 0, new_item(array, number, set, element));
	return 0;
}

/* Held ones apart. */
static int add_items(struct client *c, const char *array, const json_t *job, json_t *items, struct err *e)
{
	struct pbs_set free_ones = { 0 }, held = { 0 }, silent = { 0 };
	int r;

	why_array_silent(job, items, &silent);
	why_array_silent(job, items, &free_ones);
	pbs_element_held(json_object_get(job, "spec"), &held);
	pbs_set_subtract(&free_ones, &held);
	pbs_set_subtract(&silent, &free_ones); /* those that are held */
	r = add_item(c, array, job, &silent, items, e);
	if (r == 0)
		r = add_item(c, array, job, &free_ones, items, e);
	pbs_set_done(&free_ones);
	pbs_set_done(&held);
	pbs_set_done(&silent);
	return r;
}

int why_array_rest(struct client *c, const char *ns, json_t *items, struct err *e)
{
	auto_free char *array = array_of(json_array_get(items, 0));
	struct ref ref = { .api_version = "stoker.dev/v1", .plural = "pbsjobs", .ns = ns };
	json_auto_t *job = NULL;
	int r;

	if (!array)
		return 0;
	ref.name = array + strlen(PREFIX);
	r = client_get_wait(c, &ref, &job, e);
	if (r == 0)
		r = add_items(c, array, job, items, e);
	if (r < 0 && e->kind == ERR_NOT_FOUND) {
		err_clear(e); /* it has gone meanwhile */
		r = 0;
	}
	return r;
}
