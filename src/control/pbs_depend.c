// SPDX-License-Identifier: Apache-2.0
/* pbs_depend.c - see pbs_depend.h */
#include "control/pbs_depend.h"

#include "base/jsonx.h"
#include "base/mem.h"
#include "control/template_hash.h"
#include "kinds/pbs_array.h"
#include "kinds/pbs_id.h"

#define MET "met"

/* What must have happened to the other job. */
enum need { NEED_START, NEED_OK, NEED_NOTOK, NEED_END };

struct type {
	const char *name;
	enum need need;
	bool before; /* it is the other one that waits */
	bool array;  /* a number of elements may be said */
	bool sync;   /* both start together */
};

static const struct type types[] = {
	{ "after", NEED_START, false, false },          { "afterok", NEED_OK, false, false },
	{ "afternotok", NEED_NOTOK, false, false },     { "afterany", NEED_END, false, false },
	{ "before", NEED_START, true, false },          { "beforeok", NEED_OK, true, false },
	{ "beforenotok", NEED_NOTOK, true, false },     { "beforeany", NEED_END, true, false },
	{ "afterstartarray", NEED_START, false, true }, { "afterokarray", NEED_OK, false, true },
	{ "afternotokarray", NEED_NOTOK, false, true }, { "afteranyarray", NEED_END, false, true },
	{ "beforestartarray", NEED_START, true, true }, { "beforeokarray", NEED_OK, true, true },
	{ "beforenotokarray", NEED_NOTOK, true, true }, { "beforeanyarray", NEED_END, true, true },
	{ "syncwith", NEED_START, .sync = true },
};

static const struct type *type_of(const json_t *dependency)
{
	const char *name = jsonx_str_or(dependency, "type", "");

	for (size_t i = 0; i < ARRAY_SIZE(types); i++)
		if (streq(types[i].name, name))
			return &types[i];
	return NULL;
}

/* One job that a dependency names: "7", "7.Ghead", "7[3]", "7[].Ghead[2]". */
struct target {
	int64_t number;
	int index;     /* of an element, or -1 */
	int64_t count; /* of elements; 0: all */
};

static bool target_of(const char *text, struct target *ret)
{
	struct pbs_id id;
	int64_t index;

	*ret = (struct target){ .index = -1 };
	if (!pbs_target_parse(text, &id, &ret->count))
		return false;
	ret->number = id.sequence;
	if (id.array && str_int64(id.elements, 0, PBS_INDEX_MOST, &index))
		ret->index = (int)index;
	return true;
}

int64_t pbs_number(const json_t *job)
{
	int64_t number = jsonx_int_or(job, "status.sequence", 0);

	if (!number)
		str_int64(jsonx_str_or(job, "metadata.name", ""), 1, INT64_MAX, &number);
	return number;
}

/* ---- how a job stands ---- */

static bool has(const char *ranges, int index)
{
	struct pbs_set set = { 0 };
	struct err e = ERR_INIT;
	bool found = ranges && pbs_array_parse(ranges, &set, NULL, &e) == 0 && pbs_set_has(&set, index);

	pbs_set_done(&set);
	return found;
}

static int64_t count(const char *ranges)
{
	struct pbs_set set = { 0 };
	struct err e = ERR_INIT;
	int64_t n = ranges && pbs_array_parse(ranges, &set, NULL, &e) == 0 ? (int64_t)pbs_set_count(&set) : 0;

	pbs_set_done(&set);
	return n;
}

static struct pbs_standing standing_of_array(const json_t *job, int index)
{
	struct pbs_standing s = { .all = 1 };
	const char *key;
	json_t *ranges;

	if (index < 0)
		s.all = count(jsonx_str_or(job, "spec.array.request", "0"));
	json_object_foreach (jsonx_at(job, "status.elements"), key, ranges) {
		int64_t n = index < 0 ? count(json_string_value(ranges)) : has(json_string_value(ranges), index);

		s.started += streq(key, "C") ? 0 : n;
		s.ended += *key == 'C' ? n : 0;
		s.ok += streq(key, "C:0") ? n : 0;
	}
	return s;
}

struct pbs_standing pbs_standing_of(const json_t *job, int index)
{
	bool ended = *jsonx_str_or(job, "status.state", "Q") == 'C';

	if (jsonx_at(job, "spec.array"))
		return standing_of_array(job, index);
	return (struct pbs_standing){
		.started = jsonx_int_or(job, "status.startCount", 0) > 0,
		.ended = ended,
		.ok = ended && json_is_integer(jsonx_at(job, "status.exitStatus")) &&
		      jsonx_int_or(job, "status.exitStatus", 0) == 0,
		.all = 1,
	};
}

static json_t *standing_note(const struct pbs_standing *s)
{
	return jsonx_stringf("%lld %lld %lld %lld", (long long)s->started, (long long)s->ended, (long long)s->ok,
			     (long long)s->all);
}

static bool standing_read(const char *note, struct pbs_standing *ret)
{
	long long v[4];

	if (!note || sscanf(note, "%lld %lld %lld %lld", &v[0], &v[1], &v[2], &v[3]) != 4)
		return false;
	*ret = (struct pbs_standing){ v[0], v[1], v[2], v[3] };
	return true;
}

/* ---- one dependency ---- */

static enum pbs_verdict reach(int64_t have, int64_t lost, int64_t all, int64_t wanted)
{
	return have >= wanted ? PBS_MET : all - lost < wanted ? PBS_NEVER : PBS_WAITS;
}

/* Without a number of elements: after means one of them, ok all of them, notok at least one, but not before all have
 * ended. */
static enum pbs_verdict verdict_on(const struct pbs_standing *s, const struct type *type, int64_t wanted)
{
	int64_t bad = s->ended - s->ok;
	int64_t most = wanted ? wanted : s->all;

	/* Deleted before any of it was run: neither well nor badly. */
	if (pbs_standing_final(s) && !s->started)
		return PBS_NEVER;
	switch (type->need) {
	case NEED_START:
		return reach(s->started, pbs_standing_final(s) ? s->all - s->started : 0, s->all,
			     type->array ? most : 1);
	case NEED_OK:
		return reach(s->ok, bad, s->all, most);
	case NEED_NOTOK:
		if (!wanted && !pbs_standing_final(s))
			return PBS_WAITS;
		return reach(bad, s->ok, s->all, wanted ? wanted : 1);
	case NEED_END:
		return reach(s->ended, 0, s->all, most);
	}
	return PBS_WAITS;
}

struct judging {
	const json_t *job;
	const struct pbs_others *others;
	struct pbs_judgement *ret;
	int64_t number;
};

static const char *noted(const struct judging *j, const char *key)
{
	return json_string_value(json_object_get(j->ret->parents, key));
}

static void note(const struct judging *j, const char *key, json_t *value)
{
	if (!j->ret->parents)
		j->ret->parents = json_object();
	json_object_set_new(j->ret->parents, key, value);
}

/* "waits until job", "7", "has ended" */
static void blame(const struct judging *j, enum pbs_verdict verdict, const char *what, const char *job,
		  const char *more)
{
	struct pbs_judgement *r = j->ret;

	if (verdict == PBS_MET || r->verdict == PBS_NEVER || (r->verdict == PBS_WAITS && verdict == PBS_WAITS))
		return;
	r->verdict = verdict;
	snprintf(r->culprit, sizeof(r->culprit), "%s", job);
	snprintf(r->words, sizeof(r->words), "%s %s%s", what, job, more);
}

static const char *const waits_for[] = {
	[NEED_START] = " has been started",
	[NEED_OK] = " has succeeded",
	[NEED_NOTOK] = " has failed",
	[NEED_END] = " has ended",
};

/* A job that nobody knows has been, if its number is lower, and nobody knows how it ended. */
static enum pbs_verdict judge_unknown(const struct judging *j, const struct target *t, enum need need)
{
	bool has_been = t->number < j->number;

	return has_been && (need == NEED_START || need == NEED_END) ? PBS_MET : PBS_NEVER;
}

static enum pbs_verdict judge_after(const struct judging *j, const struct type *type, const struct target *t)
{
	const json_t *other = j->others->find(j->others->arg, t->number);
	struct pbs_standing s;
	char key[48];

	snprintf(key, sizeof(key), t->index >= 0 ? "%lld[%d]" : "%lld", (long long)t->number, t->index);
	if (standing_read(noted(j, key), &s))
		return verdict_on(&s, type, t->count);
	if (other)
		s = pbs_standing_of(other, t->index);
	else if (!j->others->past(j->others->arg, t->number, &s))
		return judge_unknown(j, t, type->need);
	if (pbs_standing_final(&s))
		note(j, key, standing_note(&s));
	return verdict_on(&s, type, t->count);
}

static bool waits_on(const json_t *job)
{
	json_t *d;
	size_t i;

	json_array_foreach (jsonx_at(job, "spec.dependencies"), i, d)
		if (str_same(jsonx_str(d, "type"), "on"))
			return true;
	return false;
}

/* Another is to wait for this one: if it cannot, this one has no purpose. */
static enum pbs_verdict judge_target(const struct judging *j, const struct target *t)
{
	const json_t *other = j->others->find(j->others->arg, t->number);
	bool same_owner =
		other && str_same(jsonx_str_or(j->job, "spec.owner", ""), jsonx_str_or(other, "spec.owner", ""));

	return same_owner && waits_on(other) && *jsonx_str_or(other, "status.state", "Q") != 'C' ? PBS_MET : PBS_NEVER;
}

/* What a job that names this one with before* has done for it. */
static void hear_from(const struct judging *j, const json_t *other)
{
	struct pbs_standing s = pbs_standing_of(other, -1);
	int64_t number = pbs_number(other);
	json_t *d;
	json_t *text;
	size_t i;
	size_t k;
	char key[48];
	char id[24];

	snprintf(key, sizeof(key), "before:%lld", (long long)number);
	snprintf(id, sizeof(id), "%lld", (long long)number);
	json_array_foreach (jsonx_at(other, "spec.dependencies"), i, d) {
		const struct type *type = type_of(d);

		json_array_foreach (json_object_get(d, "jobs"), k, text) {
			enum pbs_verdict verdict;
			struct target t;

			if (!type || !type->before || !json_is_string(text) ||
			    !target_of(json_string_value(text), &t) || t.number != j->number)
				continue;
			verdict = verdict_on(&s, type, t.count);
			if (verdict == PBS_MET)
				note(j, key, json_string(MET));
			else if (!noted(j, key))
				blame(j, verdict == PBS_NEVER ? PBS_NEVER : PBS_MET, "waits for job", id, "");
		}
	}
}

static bool names(const json_t *job, const char *type, int64_t number)
{
	json_t *d;
	json_t *text;
	size_t i;
	size_t k;

	json_array_foreach (jsonx_at(job, "spec.dependencies"), i, d)
		json_array_foreach (json_object_get(d, "jobs"), k, text) {
			struct target t;

			if (str_same(jsonx_str(d, "type"), type) && json_is_string(text) &&
			    target_of(json_string_value(text), &t) && t.number == number)
				return true;
		}
	return false;
}

/* The first of a set: it waits until the others are there. */
static void judge_sync_count(const struct judging *j, int64_t wanted)
{
	char left[24];

	for (size_t i = 0; i < j->others->nbefore; i++)
		wanted -= *jsonx_str_or(j->others->before[i], "status.state", "Q") != 'C' &&
			  names(j->others->before[i], "syncwith", j->number);
	snprintf(left, sizeof(left), "%lld", (long long)wanted);
	blame(j, wanted > 0 ? PBS_WAITS : PBS_MET, "waits for", left, " more of the jobs that are to start with it");
}

/* The others: they may start as soon as the first of them may. */
static enum pbs_verdict judge_sync_with(const struct judging *j, const struct target *t)
{
	const json_t *other = j->others->find(j->others->arg, t->number);
	json_t *d;
	size_t i;
	bool counts = false;

	json_array_foreach (jsonx_at(other, "spec.dependencies"), i, d)
		counts |= str_same(jsonx_str(d, "type"), "synccount");
	if (!counts)
		return PBS_NEVER;
	if (jsonx_int_or(other, "status.startCount", 0) > 0 || json_object_get(jsonx_at(other, "status.parents"), MET))
		return PBS_MET;
	return *jsonx_str_or(other, "status.state", "Q") == 'C' ? PBS_NEVER : PBS_WAITS;
}

static void judge_named(const struct judging *j, const struct type *type, const json_t *dependency)
{
	json_t *text;
	size_t i;

	json_array_foreach (json_object_get(dependency, "jobs"), i, text) {
		const char *id = json_string_value(text);
		struct target t;

		if (!id || !target_of(id, &t))
			blame(j, PBS_NEVER, "depends on", id ? id : "", ", which is no job");
		else if (type->sync)
			blame(j, judge_sync_with(j, &t), "waits until job", id, " may start with it");
		else if (type->before)
			blame(j, judge_target(j, &t), "is to go before job", id, ", which does not wait for it");
		else
			blame(j, judge_after(j, type, &t), "waits until job", id, waits_for[type->need]);
	}
}

static void judge_on(const struct judging *j, int64_t wanted)
{
	const char *key;
	json_t *value;
	char left[24];

	json_object_foreach (j->ret->parents, key, value)
		wanted -= str_starts(key, "before:");
	snprintf(left, sizeof(left), "%lld", (long long)wanted);
	blame(j, wanted > 0 ? PBS_WAITS : PBS_MET, "waits for", left, " more of the jobs that go before it");
}

void pbs_judge(const json_t *job, const struct pbs_others *others, struct pbs_judgement *ret)
{
	const json_t *dependencies = jsonx_at(job, "spec.dependencies");
	struct judging j = { .job = job, .others = others, .ret = ret, .number = pbs_number(job) };
	auto_free char *hash = NULL;
	json_t *d;
	size_t i;

	*ret = (struct pbs_judgement){ .verdict = PBS_MET, .parents = jsonx_copy(jsonx_at(job, "status.parents")) };
	if (!json_array_size(dependencies) || jsonx_int_or(job, "status.startCount", 0) > 0)
		return;
	hash = template_hash(dependencies, 0);
	if (str_same(noted(&j, MET), hash))
		return;
	for (i = 0; i < others->nbefore; i++)
		hear_from(&j, others->before[i]);
	json_array_foreach (dependencies, i, d) {
		const struct type *type = type_of(d);

		if (type)
			judge_named(&j, type, d);
		else if (str_same(jsonx_str(d, "type"), "on"))
			judge_on(&j, jsonx_int_or(d, "count", 0));
		else if (str_same(jsonx_str(d, "type"), "synccount"))
			judge_sync_count(&j, jsonx_int_or(d, "count", 0));
	}
	if (ret->verdict == PBS_MET)
		note(&j, MET, jsonx_string(hash));
}

void pbs_judgement_done(struct pbs_judgement *j)
{
	json_decref(j->parents);
	*j = (struct pbs_judgement){ 0 };
}

/* ---- who is concerned ---- */

/* The list of dependencies and the lists of jobs in them are counted through as one. */
bool pbs_depend_next(const json_t *job, size_t *pos, int64_t *ret_number, bool *ret_before)
{
	size_t at = 0;
	json_t *d;
	json_t *text;
	size_t i;
	size_t k;

	json_array_foreach (jsonx_at(job, "spec.dependencies"), i, d) {
		const struct type *type = type_of(d);

		json_array_foreach (json_object_get(d, "jobs"), k, text) {
			struct target t;

			if (at++ < *pos || !type || !json_is_string(text) || !target_of(json_string_value(text), &t))
				continue;
			*pos = at;
			*ret_number = t.number;
			*ret_before = type->before;
			return true;
		}
	}
	return false;
}

bool pbs_depend_noted(const json_t *job, int64_t other)
{
	const json_t *parents = jsonx_at(job, "status.parents");
	char key[48];
	char id[24];
	const char *name;
	json_t *value;

	if (*jsonx_str_or(job, "status.state", "Q") == 'C' || jsonx_int_or(job, "status.startCount", 0) > 0 ||
	    json_object_get(parents, MET))
		return true;
	snprintf(key, sizeof(key), "before:%lld", (long long)other);
	snprintf(id, sizeof(id), "%lld[", (long long)other);
	json_object_foreach ((json_t *)parents, name, value)
		if (streq(name, key) ||
		    (strncmp(name, id, strlen(id) - 1) == 0 && (!name[strlen(id) - 1] || name[strlen(id) - 1] == '[')))
			return true;
	return false;
}
