// SPDX-License-Identifier: Apache-2.0
/* pbs_depend.c - see pbs_parts.h
 *
 * A job may wait for any job there ever was; only for one that has been forgotten nobody can say any more that it
 * failed.  What a job may hold up (before...) must be the same user's.
 */
#include "api/pbs_board.h"
#include "api/pbs_parts.h"
#include "base/jsonx.h"
#include "base/mem.h"
#include "kinds/pbs_id.h"

static int refuse(const char *id, const char *why, struct err *e)
{
	return pbs_error_set(e, ERR_FORBIDDEN, PBSE_BADDEPEND, "job %.100s %s", id, why);
}

/* Whether a job had this number once; numbers begin at 1. */
static bool is_past(struct api *api, int64_t sequence)
{
	struct err e = ERR_INIT;
	int64_t next;

	return sequence > 0 && pbs_number_next(api, "", false, &next, &e) == 0 && sequence < next;
}

/* Ranges of a set do not touch each other, so a range that is in it is in one of them. */
static bool has_range(const struct pbs_set *all, const struct pbs_range *r)
{
	for (size_t i = 0; i < all->n; i++)
		if (all->r[i].first <= r->first && r->last <= all->r[i].last)
			return true;
	return false;
}

static bool has_elements(const struct pbs_row *r, const char *indexes)
{
	struct pbs_set all = { 0 }, wanted = { 0 };
	struct err e = ERR_INIT;
	int slots;
	bool ok;

	if (!*indexes)
		return true;
	ok = pbs_array_parse(r->request, &all, &slots, &e) == 0 && pbs_array_parse(indexes, &wanted, NULL, &e) == 0;
	for (size_t k = 0; ok && k < wanted.n; k++)
		ok = has_range(&all, &wanted.r[k]);
	pbs_set_done(&all);
	pbs_set_done(&wanted);
	return ok;
}

/* "189[2-4].Ghead", and of an array form how many of them: "189[].Ghead[4]" */
static json_t *full_id(const struct pbs_id *id, int64_t count, bool array, const char *server)
{
	auto_sbuf struct sbuf out = SBUF(1024);

	sbuf_addf(&out, "%lld", (long long)id->sequence);
	if (array || id->array)
		sbuf_addf(&out, "[%s]", id->elements);
	if (*server)
		sbuf_addf(&out, ".%s", server);
	if (count)
		sbuf_addf(&out, "[%lld]", (long long)count);
	return jsonx_string(out.p);
}

static int check_one(struct api *api, const char *type, const char *text, const char *owner, json_t **ret,
		     struct err *e)
{
	const struct pbs_row *r;
	const json_t *settings;
	const char *server;
	struct pbs_id id;
	int64_t count;

	if (pbs_server_settings(api, &settings, e) < 0)
		return -1;
	server = jsonx_str_or(settings, "serverName", "");
	if (!pbs_target_parse(text, &id, &count) || (count && !strstr(type, "array")))
		return refuse(text, "is no job id", e);
	if (*id.server && !streq(id.server, server))
		return refuse(text, "is another server's", e);
	r = pbs_board_find(pbs_board(api_pbs(api)), id.sequence);
	if (!r &&
	    !(is_past(api, id.sequence) && (streq(type, "after") || streq(type, "afterok") || streq(type, "afterany"))))
		return refuse(text, "does not exist", e);
	if (!r) {
		*ret = full_id(&id, count, false, server);
		return 0;
	}
	if (!r->array && (id.array || strstr(type, "array")))
		return refuse(text, "is no job array", e);
	if (id.array && !has_elements(r, id.elements))
		return refuse(text, "does not exist", e);
	if (str_starts(type, "before") && !streq(r->owner, owner))
		return refuse(text, "is another user's", e);
	*ret = full_id(&id, count, r->array, server);
	return 0;
}

static int check_all(struct api *api, const char *type, json_t *jobs, const char *owner, struct err *e)
{
	json_t *v;
	size_t i;

	json_array_foreach (jobs, i, v) {
		json_t *full = NULL;

		if (check_one(api, type, json_string_value(v), owner, &full, e) < 0)
			return -1;
		json_array_set_new(jobs, i, full);
	}
	return 0;
}

int pbs_depend_check(struct api *api, json_t *spec, const char *owner, struct err *e)
{
	json_t *d;
	size_t i;

	json_array_foreach (json_object_get(spec, "dependencies"), i, d) {
		const char *type = jsonx_str_or(d, "type", "");
		bool counts = streq(type, "on") || streq(type, "synccount");

		if (streq(type, "runone"))
			return pbs_error_set(e, ERR_INVALID, PBSE_BADDEPEND, "runone is not supported here");
		if (counts && jsonx_int_or(d, "count", 0) < 1)
			return pbs_error_set(e, ERR_INVALID, PBSE_BADDEPEND, "%s needs a count", type);
		if (!counts && !json_array_size(json_object_get(d, "jobs")))
			return pbs_error_set(e, ERR_INVALID, PBSE_BADDEPEND, "%s needs a job", type);
		if (check_all(api, type, json_object_get(d, "jobs"), owner, e) < 0)
			return -1;
	}
	return 0;
}
