// SPDX-License-Identifier: Apache-2.0
/* pbs_arrange.c - see pbs_arrange.h
 *
 *	place = [free|pack|scatter|vscatter][:(excl|shared|exclhost)][:group=NAME]
 *
 * What is packed is one part, as large as all: a job on one machine like any other.  Machines have no parts here, so
 * vscatter is scatter and exclhost is excl.  group= is kept and not heeded.
 */
#include "kinds/pbs_arrange.h"

#include <strings.h>

#include "base/mem.h"
#include "base/str.h"

enum { SPREAD, SHARING, GROUP, ASPECTS };

struct arrangement {
	bool packed, apart, whole;
};

static const struct {
	const char *word;
	int aspect;
	struct arrangement is;
} words[] = {
	{ "free", SPREAD, { 0 } },
	{ "pack", SPREAD, { .packed = true } },
	{ "scatter", SPREAD, { .apart = true } },
	{ "vscatter", SPREAD, { .apart = true } },
	{ "shared", SHARING, { 0 } },
	{ "excl", SHARING, { .whole = true } },
	{ "exclhost", SHARING, { .whole = true } },
};

/* Its number in the list, or -1. */
static int find_word(struct str text)
{
	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (str_eq(text, words[i].word))
			return (int)i;
	return -1;
}

static int parse(const char *place, struct arrangement *ret, struct err *e)
{
	struct str rest = str_of(place), part;
	bool seen[ASPECTS] = { 0 };

	*ret = (struct arrangement){ 0 };
	while (str_split(&rest, ':', &part)) {
		bool group = part.n > strlen("group=") && str_starts(part.p, "group=");
		int at = group ? -1 : find_word(part), aspect = group ? GROUP : at < 0 ? -1 : words[at].aspect;

		if (aspect < 0 || seen[aspect])
			return err_set(e, ERR_INVALID,
				       "must be free, pack or scatter, then excl or shared, separated by colons");
		seen[aspect] = true;
		if (at < 0)
			continue;
		ret->packed |= words[at].is.packed;
		ret->apart |= words[at].is.apart;
		ret->whole |= words[at].is.whole;
	}
	return 0;
}

int pbs_arrange_check(const char *place, struct err *e)
{
	struct arrangement ignored;

	return parse(place, &ignored, e);
}

static bool has_prop(const struct pbs_req *r, const char *prop)
{
	for (size_t i = 0; i < r->nprops; i++)
		if (streq(r->props[i], prop))
			return true;
	return false;
}

static void take_props(struct pbs_req *r, const struct pbs_req *from)
{
	for (size_t i = 0; i < from->nprops; i++) {
		if (has_prop(r, from->props[i]))
			continue;
		r->props = xrealloc(r->props, (r->nprops + 1) * sizeof(*r->props));
		r->props[r->nprops++] = xstrdup(from->props[i]);
	}
}

static int64_t times(int64_t each, int count)
{
	return each < INT64_MAX / PBS_NODES_MOST / 2 ? each * count : INT64_MAX / 2;
}

/* Numbers beyond every machine stay so. */
static int capped(int64_t n)
{
	return n < INT32_MAX ? (int)n : INT32_MAX;
}

static void pack(struct pbs_nodes *n)
{
	struct pbs_req all = { .count = 1, .shared = n->reqs[0].shared };
	struct pbs_nodes old = *n;
	int64_t ppn = 0, cpus = 0, gpus = 0;

	for (size_t i = 0; i < n->n; i++) {
		const struct pbs_req *r = &n->reqs[i];
		int64_t memory = times(r->memory, r->count);

		ppn += (int64_t)r->ppn * r->count;
		cpus += (int64_t)r->cpus * r->count;
		gpus += (int64_t)r->gpus * r->count;
		all.memory = all.memory < INT64_MAX - memory ? all.memory + memory : INT64_MAX;
		take_props(&all, r);
	}
	all.ppn = capped(ppn);
	all.cpus = capped(cpus);
	all.gpus = capped(gpus);
	n->reqs = xmemdup(&all, sizeof(all));
	n->n = 1;
	n->count = 1;
	n->tasks = all.ppn;
	pbs_nodes_done(&old);
}

int pbs_arrange(const json_t *resources, struct pbs_nodes *n, struct err *e)
{
	const char *place = json_string_value(json_object_get(resources, "place"));
	const char *access = json_string_value(json_object_get(resources, "naccesspolicy"));
	struct arrangement a = { 0 };

	if (place && parse(place, &a, e) < 0)
		return err_prefix(e, "place");
	if (a.packed && n->count > 1)
		pack(n);
	n->apart = a.apart;
	n->whole =
		a.whole || (access && (strcasecmp(access, "singlejob") == 0 || strcasecmp(access, "singletask") == 0));
	return 0;
}
