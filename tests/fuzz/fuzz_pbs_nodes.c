// SPDX-License-Identifier: Apache-2.0
/* fuzz_pbs_nodes.c - any text as nodes=, select=, array request, id, time and size: sums fit, and what is written is
 * read again */
#include <stdlib.h>

#include "base/mem.h"
#include "kinds/pbs_array.h"
#include "kinds/pbs_id.h"
#include "kinds/pbs_nodes.h"
#include "kinds/pbs_values.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static void check_sums(const struct pbs_nodes *n)
{
	int count = 0, tasks = 0;

	for (size_t i = 0; i < n->n; i++) {
		const struct pbs_req *r = &n->reqs[i];

		if (r->count < 1 || r->ppn < 1 || r->cpus < 1 || r->gpus < 0 || r->memory < 0)
			abort();
		count += r->count;
		tasks += r->count * r->ppn;
	}
	if (!count || count != n->count || tasks != n->tasks || count > PBS_NODES_MOST)
		abort();
}

static void try_nodes(const char *text, int (*parse)(const char *, struct pbs_nodes *, struct err *))
{
	struct pbs_nodes n = { 0 };
	struct err e = ERR_INIT;

	if (parse(text, &n, &e) < 0)
		return;
	check_sums(&n);
	pbs_nodes_done(&n);
}

static void try_array(const char *text)
{
	auto_sbuf struct sbuf once = SBUF(1u << 20);
	struct pbs_set a = { 0 }, b = { 0 };
	struct err e = ERR_INIT;
	int slots;

	if (strchr(text, ':') || pbs_array_parse(text, &a, &slots, &e) < 0)
		return;
	pbs_set_text(&a, &once);
	if (!once.over && (pbs_array_parse(once.p, &b, NULL, &e) < 0 || pbs_set_count(&a) != pbs_set_count(&b)))
		abort();
	pbs_set_done(&a);
	pbs_set_done(&b);
}

static void try_values(const char *text)
{
	char out[PBS_TEXT];
	int64_t v, again;
	struct pbs_id id;

	pbs_id_parse(text, &id);
	if (pbs_time_parse(text, &v)) {
		pbs_time_text(v, out);
		if (!pbs_time_parse(out, &again) || again != v)
			abort();
	}
	if (pbs_size_parse(text, &v) && (!pbs_size_normal(text, out) || !pbs_size_parse(out, &again) || again != v))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	auto_free char *text = xstrndup((const char *)data, n);

	try_nodes(text, pbs_nodes_parse);
	try_nodes(text, pbs_select_parse);
	try_array(text);
	try_values(text);
	return 0;
}
