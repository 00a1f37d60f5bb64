// SPDX-License-Identifier: Apache-2.0
/* pbs_nodes.c - which nodes a PBS job asks for
 *
 * Both notations, Torque's nodes= and OpenPBS's select=, are groups joined by '+', each with items joined by ':'; they
 * differ in what an item is.  A reader of one item is all that each of them brings.  Torque reads past characters it
 * does not know; here they are refused, because what they were meant to say would be lost.
 */
#include "kinds/pbs_nodes.h"

#include <ctype.h>
#include <strings.h>

#include "base/jsonx.h"
#include "base/mem.h"
#include "kinds/pbs_arrange.h"
#include "kinds/pbs_values.h"

/* Of anything on one node; with PBS_NODES_MOST nodes, sums stay far from overflow. */
enum { MOST_EACH = 65536 };

static void req_done(struct pbs_req *r)
{
	for (size_t i = 0; i < r->nprops; i++)
		free(r->props[i]);
	free(r->props);
}

void pbs_nodes_done(struct pbs_nodes *n)
{
	for (size_t i = 0; i < n->n; i++)
		req_done(&n->reqs[i]);
	free(n->reqs);
	*n = (struct pbs_nodes){ 0 };
}

static void req_add_prop(struct pbs_req *r, struct str prop)
{
	for (size_t i = 0; i < r->nprops; i++)
		if (str_eq(prop, r->props[i]))
			return;
	r->props = xreallocarray(r->props, r->nprops + 1, sizeof(*r->props));
	r->props[r->nprops++] = xstrndup(prop.p, prop.n);
}

/* 1..most, digits only. */
static bool count_read(struct str s, int most, int *ret)
{
	int64_t v = 0;

	if (!s.n)
		return false;
	for (size_t i = 0; i < s.n; i++) {
		if (!isdigit((unsigned char)s.p[i]) || (v = v * 10 + (s.p[i] - '0')) > most)
			return false;
	}
	*ret = (int)v;
	return v > 0;
}

/* A property or host; "/digits" behind it is a slot of old scripts and goes. */
static bool prop_read(struct str s, struct str *ret)
{
	size_t n = 0, rest;

	while (n < s.n && (isalnum((unsigned char)s.p[n]) || strchr("-._", s.p[n])))
		n++;
	if (!n || !isalpha((unsigned char)s.p[0]))
		return false;
	rest = n < s.n && s.p[n] == '/' ? n + 1 : n;
	while (rest > n && rest < s.n && isdigit((unsigned char)s.p[rest]))
		rest++;
	if (rest != s.n || rest == n + 1)
		return false;
	*ret = (struct str){ s.p, n };
	return true;
}

static bool str_case_eq(struct str s, const char *word)
{
	return s.n == strlen(word) && strncasecmp(s.p, word, s.n) == 0;
}

/* NAME=VALUE cut in two; false without a '='. */
static bool pair_read(struct str s, struct str *ret_name, struct str *ret_value)
{
	struct str rest = s;

	if (!memchr(s.p, '=', s.n))
		return false;
	str_split(&rest, '=', ret_name);
	*ret_value = rest;
	return true;
}

static const struct {
	const char *word;
	bool shared;
} gpu_modes[] = {
	{ "exclusive_thread", false }, { "exclusive", false }, { "exclusive_process", false },
	{ "default", true },           { "shared", true },     { "reseterr", false },
};

static int item_error(struct err *e, struct str item, const char *what)
{
	return err_set(e, ERR_INVALID, "\"%.*s\": %s", STR_FMT(item), what);
}

static int number_item(struct pbs_req *r, struct str item, struct str name, struct str value, struct err *e)
{
	int mics;
	const struct {
		const char *name;
		int *to;
	} rows[] = { { "ppn", &r->ppn }, { "gpus", &r->gpus }, { "mics", &mics } };

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (str_eq(name, rows[i].name)) {
			if (!count_read(value, MOST_EACH, rows[i].to))
				return item_error(e, item, "must be a number from 1 to 65536");
			return 0;
		}
	return item_error(e, item, "must be ppn=N, gpus=N or a property");
}

/* One item of nodes=. */
static int nodes_item(struct pbs_req *r, struct str item, struct err *e)
{
	struct str name, value, prop;

	if (pair_read(item, &name, &value))
		return number_item(r, item, name, value, e);
	if (r->gpus && str_case_eq(item, "prohibited"))
		return item_error(e, item, "is a mode in which no job could use the GPUs");
	for (size_t i = 0; r->gpus && i < ARRAY_SIZE(gpu_modes); i++)
		if (str_case_eq(item, gpu_modes[i].word)) {
			r->shared = gpu_modes[i].shared;
			return 0;
		}
	if (!prop_read(item, &prop))
		return item_error(e, item, "must be a property: a letter, then letters, digits and -._");
	req_add_prop(r, prop);
	return 0;
}

/* Chunks may name these too; nothing follows from them here. */
static const char *const unused[] = { "ompthreads", "arch", "vmem", "naccelerators", "nchunk", NULL };

static bool is_unused(struct str name)
{
	for (const char *const *u = unused; *u; u++)
		if (str_eq(name, *u))
			return true;
	return false;
}

static int select_number(struct str item, struct str value, int *ret, struct err *e)
{
	if (str_eq(value, "0"))
		*ret = 0;
	else if (!count_read(value, MOST_EACH, ret))
		return item_error(e, item, "must be a number up to 65536");
	return 0;
}

/* One item of select=. */
static int select_item(struct pbs_req *r, struct str item, struct err *e)
{
	struct str name, value, prop;

	if (!pair_read(item, &name, &value) || !name.n || !value.n)
		return item_error(e, item, "must be RESOURCE=VALUE");
	if (str_eq(name, "ncpus"))
		return select_number(item, value, &r->cpus, e);
	if (str_eq(name, "mpiprocs"))
		return select_number(item, value, &r->ppn, e);
	if (str_eq(name, "ngpus"))
		return select_number(item, value, &r->gpus, e);
	if (str_eq(name, "mem")) {
		auto_free char *text = xstrndup(value.p, value.n);

		return pbs_size_parse(text, &r->memory) ? 0 : item_error(e, item, "must be a size such as 64gb");
	}
	if (is_unused(name))
		return 0;
	if (!str_eq(name, "host") && !str_eq(name, "vnode")) {
		if (!str_case_eq(value, "true") && !str_case_eq(value, "t"))
			return item_error(e, item, "must be ncpus, mem, ngpus, mpiprocs, host or PROPERTY=true");
		value = name;
	}
	if (!prop_read(value, &prop))
		return item_error(e, item, "must name a host or property: a letter, then letters, digits and -._");
	req_add_prop(r, prop);
	return 0;
}

typedef int item_reader(struct pbs_req *r, struct str item, struct err *e);

/* [COUNT:]item[:item...] */
static int req_read(struct pbs_req *r, struct str text, item_reader *read, struct err *e)
{
	struct str rest = text, item;
	bool first = true;

	*r = (struct pbs_req){ .count = 1 };
	while (str_split(&rest, ':', &item)) {
		if (first && item.n && isdigit((unsigned char)item.p[0])) {
			if (!count_read(item, PBS_NODES_MOST, &r->count))
				return item_error(e, item, "must be a number of nodes from 1 to 10000");
		} else if (read(r, item, e) < 0) {
			return -1;
		}
		first = false;
	}
	return 0;
}

/* What was not said, and the sums. */
static int nodes_settle(struct pbs_nodes *n, struct err *e)
{
	n->count = n->tasks = 0;
	for (size_t i = 0; i < n->n; i++) {
		struct pbs_req *r = &n->reqs[i];

		r->cpus = r->cpus ? r->cpus : r->ppn ? r->ppn : 1;
		r->ppn = r->ppn ? r->ppn : 1;
		n->count += r->count;
		n->tasks += r->count * r->ppn;
		if (n->count > PBS_NODES_MOST)
			return err_set(e, ERR_INVALID, "must be no more than %d nodes", PBS_NODES_MOST);
	}
	return 0;
}

/* Where the next group begins: '+', and '|' which Torque takes for the same. */
static bool group_split(struct str *rest, struct str *ret)
{
	size_t n = 0;

	while (n < rest->n && rest->p[n] != '+' && rest->p[n] != '|')
		n++;
	return str_split(rest, n < rest->n ? rest->p[n] : '+', ret);
}

static int groups_read(struct str text, item_reader *read, struct pbs_nodes *n, struct err *e)
{
	struct str group;

	while (group_split(&text, &group)) {
		struct pbs_req r;

		if (read == nodes_item && group.n > 6 && strncmp(group.p, "nodes=", 6) == 0)
			group = (struct str){ group.p + 6, group.n - 6 };
		if (req_read(&r, group, read, e) < 0) {
			req_done(&r);
			return -1;
		}
		n->reqs = xreallocarray(n->reqs, n->n + 1, sizeof(r));
		n->reqs[n->n++] = r;
		if (n->n > PBS_NODES_MOST)
			return err_set(e, ERR_INVALID, "must be no more than %d nodes", PBS_NODES_MOST);
	}
	return 0;
}

static int globals_read(struct str globals, struct pbs_nodes *n, struct err *e)
{
	struct str global, prop;

	while (str_split(&globals, '#', &global)) {
		if (!prop_read(global, &prop))
			return item_error(e, global, "must be a property for all nodes");
		for (size_t i = 0; i < n->n; i++)
			req_add_prop(&n->reqs[i], prop);
	}
	return 0;
}

int pbs_nodes_parse(const char *text, struct pbs_nodes *ret, struct err *e)
{
	const char *hash = strchr(text, '#');
	struct str groups = { text, hash ? (size_t)(hash - text) : strlen(text) };
	struct pbs_nodes n = { 0 };

	if (groups_read(groups, nodes_item, &n, e) < 0 || (hash && globals_read(str_of(hash + 1), &n, e) < 0) ||
	    nodes_settle(&n, e) < 0) {
		pbs_nodes_done(&n);
		return -1;
	}
	*ret = n;
	return 0;
}

int pbs_select_parse(const char *text, struct pbs_nodes *ret, struct err *e)
{
	struct pbs_nodes n = { 0 };

	if (groups_read(str_of(text), select_item, &n, e) < 0 || nodes_settle(&n, e) < 0) {
		pbs_nodes_done(&n);
		return -1;
	}
	*ret = n;
	return 0;
}

/* A number among the resources; 0 if there is none. */
static int number_of(const json_t *resources, const char *name, int most, int *ret, struct err *e)
{
	const json_t *v = json_object_get(resources, name);

	*ret = 0;
	if (!v)
		return 0;
	if (!json_is_string(v) || !count_read(str_of(json_string_value(v)), most, ret))
		return err_set(e, ERR_INVALID, "%s: must be a number from 1 to %d", name, most);
	return 0;
}

/* Properties that the whole job asks for beside its nodes. */
static int props_of(const json_t *resources, struct pbs_nodes *n, struct err *e)
{
	static const char *const names[] = { "host", "feature", NULL };

	for (const char *const *name = names; *name; name++) {
		const json_t *v = json_object_get(resources, *name);
		struct str rest = str_of(json_is_string(v) ? json_string_value(v) : NULL), part, prop;

		while (rest.n && str_split(&rest, ':', &part)) {
			if (!prop_read(part, &prop))
				return item_error(e, part, "must be a host or property");
			for (size_t i = 0; i < n->n; i++)
				req_add_prop(&n->reqs[i], prop);
		}
	}
	return 0;
}

struct numbers {
	int procs, ncpus, gpus;
};

static int numbers_of(const json_t *resources, struct numbers *n, struct err *e)
{
	int ngpus, size;

	if (number_of(resources, "procs", PBS_NODES_MOST, &n->procs, e) < 0 ||
	    number_of(resources, "size", PBS_NODES_MOST, &size, e) < 0 ||
	    number_of(resources, "ncpus", MOST_EACH, &n->ncpus, e) < 0 ||
	    number_of(resources, "gpus", MOST_EACH, &n->gpus, e) < 0 ||
	    number_of(resources, "ngpus", MOST_EACH, &ngpus, e) < 0)
		return -1;
	n->procs = n->procs ? n->procs : size;
	n->gpus = n->gpus ? n->gpus : ngpus;
	return 0;
}

/* ncpus and gpus beside nodes=: for OpenPBS's users, where it is plain what is meant. */
static int numbers_add(const struct numbers *more, struct pbs_nodes *n, struct err *e)
{
	struct pbs_req *r = n->reqs;

	if (more->procs || (more->ncpus && (n->n != 1 || r->count != 1)))
		return err_set(e, ERR_INVALID, "Jobs may not mix -l nodes with -l size or -l ncpus");
	if (more->ncpus) {
		if (r->ppn == 1)
			r->ppn = more->ncpus;
		r->cpus = more->ncpus > r->ppn ? more->ncpus : r->ppn;
	}
	for (size_t i = 0; more->gpus && i < n->n; i++) {
		if (n->reqs[i].gpus)
			return err_set(e, ERR_INVALID, "gpus: must not be there twice, in nodes and beside it");
		n->reqs[i].gpus = more->gpus;
	}
	return nodes_settle(n, e);
}

/* Without nodes= or select=: tasks that may lie anywhere are nodes with a task each, which may share a machine; ncpus
 * alone is a node with so many slots, as beside nodes=1. */
static int nodes_from_numbers(const struct numbers *more, struct pbs_nodes *n, struct err *e)
{
	n->reqs = xcalloc(1, sizeof(*n->reqs));
	n->n = 1;
	n->reqs[0] = (struct pbs_req){ .count = more->procs ? more->procs : 1,
				       .ppn = more->procs ? 0 : more->ncpus,
				       .cpus = more->ncpus,
				       .gpus = more->gpus };
	return nodes_settle(n, e);
}

static int64_t size_of(const json_t *resources, const char *name)
{
	const char *text = json_string_value(json_object_get(resources, name));
	int64_t bytes;

	return text && pbs_size_parse(text, &bytes) ? bytes : 0;
}

/* mem is the whole job's, pmem each process's.  What is more than a number can say, no machine has. */
static void memory_of(const json_t *resources, struct pbs_nodes *n)
{
	int64_t whole = size_of(resources, "mem");
	int64_t each = size_of(resources, "pmem");

	for (size_t i = 0; i < n->n; i++) {
		struct pbs_req *r = &n->reqs[i];

		if (r->memory)
			continue;
		if (whole)
			r->memory = whole / n->count + (whole % n->count != 0);
		else if (each)
			r->memory = each < INT64_MAX / r->ppn ? each * r->ppn : INT64_MAX;
	}
}

int pbs_nodes_of(const json_t *resources, struct pbs_nodes *ret, struct err *e)
{
	const json_t *nodes = json_object_get(resources, "nodes");
	const json_t *select = json_object_get(resources, "select");
	struct pbs_nodes n = { 0 };
	struct numbers more;
	int r;

	if (nodes && select)
		return err_set(e, ERR_INVALID, "select: must not be there beside nodes");
	if (numbers_of(resources, &more, e) < 0)
		return -1;
	if (json_is_string(nodes))
		r = pbs_nodes_parse(json_string_value(nodes), &n, e);
	else if (json_is_string(select))
		r = pbs_select_parse(json_string_value(select), &n, e);
	else
		r = nodes_from_numbers(&more, &n, e);
	if (r < 0 && (nodes || select))
		err_prefix(e, "%s", nodes ? "nodes" : "select");
	if (r == 0 && json_is_string(nodes))
		r = numbers_add(&more, &n, e);
	if (r < 0 || props_of(resources, &n, e) < 0) {
		pbs_nodes_done(&n);
		return -1;
	}
	memory_of(resources, &n);
	if (pbs_arrange(resources, &n, e) < 0) {
		pbs_nodes_done(&n);
		return -1;
	}
	*ret = n;
	return 0;
}

const char *pbs_host_of(const json_t *node)
{
	const char *host =
		json_string_value(json_object_get(jsonx_at(node, "metadata.annotations"), PBS_HOST_ANNOTATION));

	return host ? host : jsonx_str_or(node, "metadata.name", "");
}

void pbs_node_name(const char *host, struct sbuf *out)
{
	for (; *host; host++)
		sbuf_addc(out, (char)tolower((unsigned char)*host));
}
