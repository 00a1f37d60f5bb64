// SPDX-License-Identifier: Apache-2.0
/* pbs_fit.c - see pbs_parts.h
 *
 * Nodes are taken as empty and in working order: a job that waits for others, or for a repair, is not refused.  One
 * node may serve several parts of a job if it has room, as the scheduler has it.  Parts that ask for most go first,
 * each to the fitting node with the least to spare.
 */
#include "api/pbs_parts.h"
#include "base/jsonx.h"
#include "base/mem.h"

static bool has_property(const struct pbs_machine *m, const char *property)
{
	char label[320];

	if (streq(m->name, property))
		return true;
	snprintf(label, sizeof(label), PBS_PROPERTY_LABEL "%s", property);
	return json_object_get(m->labels, label) != NULL;
}

static bool suits(const struct pbs_machine *m, const struct pbs_req *r, const json_t *properties)
{
	json_t *v;
	size_t i;

	for (size_t k = 0; k < r->nprops; k++)
		if (!has_property(m, r->props[k]))
			return false;
	json_array_foreach ((json_t *)properties, i, v)
		if (!has_property(m, json_string_value(v)))
			return false;
	return true;
}

struct room {
	int64_t cpus, gpus, memory;
};

static bool is_tighter(const struct room *a, const struct room *b)
{
	if (a->gpus != b->gpus)
		return a->gpus < b->gpus;
	return a->cpus != b->cpus ? a->cpus < b->cpus : a->memory < b->memory;
}

/* `alone`: what is left of the machine is for no other part. */
static bool place(const struct pbs_req *r, const json_t *properties, const struct pbs_machine *machines, size_t n,
		  struct room *rooms, bool alone)
{
	struct room *best = NULL;

	for (size_t i = 0; i < n; i++)
		if (rooms[i].cpus >= r->cpus && rooms[i].gpus >= r->gpus && rooms[i].memory >= r->memory &&
		    suits(&machines[i], r, properties) && (!best || is_tighter(&rooms[i], best)))
			best = &rooms[i];
	if (!best)
		return false;
	best->cpus = alone ? -1 : best->cpus - r->cpus;
	best->memory -= r->memory;
	best->gpus -= r->shared ? 0 : r->gpus;
	return true;
}

/* Most cards, most properties, most processors, most memory first. */
static int by_need(const void *a, const void *b)
{
	const struct pbs_req *x = *(const struct pbs_req *const *)a;
	const struct pbs_req *y = *(const struct pbs_req *const *)b;

	if (x->gpus != y->gpus)
		return y->gpus - x->gpus;
	if (x->nprops != y->nprops)
		return y->nprops > x->nprops ? 1 : -1;
	if (x->cpus != y->cpus)
		return y->cpus - x->cpus;
	return (y->memory > x->memory) - (y->memory < x->memory);
}

bool pbs_fits(const struct pbs_nodes *asked, const json_t *properties, const struct pbs_machine *machines, size_t n)
{
	auto_free const struct pbs_req **reqs = xcalloc(asked->n + 1, sizeof(*reqs));
	auto_free struct room *rooms = xcalloc(n + 1, sizeof(*rooms));

	for (size_t i = 0; i < n; i++)
		rooms[i] = (struct room){ machines[i].cpus, machines[i].gpus, machines[i].memory };
	for (size_t i = 0; i < asked->n; i++)
		reqs[i] = &asked->reqs[i];
	qsort(reqs, asked->n, sizeof(*reqs), by_need);
	for (size_t i = 0; i < asked->n; i++)
		for (int k = 0; k < reqs[i]->count; k++)
			if (!place(reqs[i], properties, machines, n, rooms, asked->apart || asked->whole))
				return false;
	return true;
}

/* ---- why not ---- */

static bool some_has(const struct pbs_machine *machines, size_t n, const char *property)
{
	for (size_t i = 0; i < n; i++)
		if (has_property(&machines[i], property))
			return true;
	return false;
}

/* The first property that no node has, or NULL. */
static const char *nowhere(const struct pbs_req *r, const json_t *properties, const struct pbs_machine *machines,
			   size_t n)
{
	json_t *v;
	size_t i;

	for (size_t k = 0; k < r->nprops; k++)
		if (!some_has(machines, n, r->props[k]))
			return r->props[k];
	json_array_foreach ((json_t *)properties, i, v)
		if (!some_has(machines, n, json_string_value(v)))
			return json_string_value(v);
	return NULL;
}

static int64_t most(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

/* What one node has at most, of those with the right properties; false if there is none. */
static bool largest(const struct pbs_req *r, const json_t *properties, const struct pbs_machine *machines, size_t n,
		    struct room *ret)
{
	bool any = false;

	*ret = (struct room){ 0 };
	for (size_t i = 0; i < n; i++)
		if (suits(&machines[i], r, properties)) {
			any = true;
			ret->cpus = most(ret->cpus, machines[i].cpus);
			ret->gpus = most(ret->gpus, machines[i].gpus);
			ret->memory = most(ret->memory, machines[i].memory);
		}
	return any;
}

/* One part of a job that no empty node could take; false if one could. */
static bool explain(const struct pbs_req *r, const json_t *properties, const struct pbs_machine *machines, size_t n,
		    struct sbuf *out)
{
	const char *missing = nowhere(r, properties, machines, n);
	bool picky = r->nprops || json_array_size(properties);
	const char *such = picky ? "node with these properties" : "node";
	struct room have;

	if (missing)
		sbuf_addf(out, "no node has property %.100s", missing);
	else if (!largest(r, properties, machines, n, &have))
		sbuf_adds(out, "no node has all of these properties");
	else if (r->cpus > have.cpus)
		sbuf_addf(out, "no %s has %d processors, but %lld at most", such, r->cpus, (long long)have.cpus);
	else if (r->gpus > have.gpus)
		sbuf_addf(out, "no %s has %d GPUs, but %lld at most", such, r->gpus, (long long)have.gpus);
	else if (r->memory > have.memory)
		sbuf_addf(out, "no %s has %lldmb of memory, but %lldmb at most", such, (long long)(r->memory >> 20),
			  (long long)(have.memory >> 20));
	return out->n > 0;
}

void pbs_misfit(const struct pbs_nodes *asked, const json_t *properties, const struct pbs_machine *machines, size_t n,
		struct sbuf *out)
{
	for (size_t i = 0; i < asked->n; i++)
		if (explain(&asked->reqs[i], properties, machines, n, out))
			return;
	sbuf_addf(out, "%zu node%s cannot hold all of it at the same time", n, n == 1 ? "" : "s");
}
