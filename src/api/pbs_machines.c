// SPDX-License-Identifier: Apache-2.0
/* pbs_machines.c - see pbs_parts.h: what of the nodes decides whether a job could ever run
 *
 * Kept until a node comes, goes or changes in that; its heartbeats do not count.
 */
#include "api/object.h"
#include "api/pbs_parts.h"
#include "base/jsonx.h"
#include "base/limits.h"
#include "base/mem.h"
#include "kinds/quantity.h"

#define GPU_RESOURCE "nvidia.com/gpu"
#define MEMORY       "memory"
#define NANO         1000000000

void pbs_machines_forget(struct pbs *p)
{
	for (size_t i = 0; i < p->nmachines; i++) {
		free(p->machines[i].name);
		json_decref(p->machines[i].labels);
	}
	p->nmachines = 0;
	p->machines_known = false;
}

static int64_t amount(const json_t *node, const char *resource)
{
	const json_t *v = json_object_get(jsonx_at(node, "status.allocatable"), resource);
	struct quantity q;

	if (!v)
		v = json_object_get(jsonx_at(node, "status.capacity"), resource);
	return json_is_string(v) && quantity_parse(json_string_value(v), &q) ? (int64_t)(q.nano / NANO) : 0;
}

static struct pbs_machine machine_of(const json_t *node)
{
	int64_t memory = amount(node, MEMORY);
	int64_t np;
	const char *told = work_note(node, PBS_NP_ANNOTATION);

	if (!str_int64(told, 0, INT32_MAX, &np))
		np = amount(node, "cpu");
	return (struct pbs_machine){ .name = xstrdup(jsonx_str_or(node, "metadata.name", "")),
				     .labels = jsonx_copy(jsonx_at(node, "metadata.labels")),
				     .cpus = np,
				     .gpus = amount(node, GPU_RESOURCE),
				     .memory = memory > 0 ? memory : INT64_MAX };
}

struct reading {
	struct pbs *p;
	struct err *e;
};

static bool on_node(void *arg, const struct record *r)
{
	struct reading *g = arg;
	json_auto_t *node = NULL;

	if (object_parse(r->body, &node, g->e) < 0)
		return false;
	ARRAY_PUSH(g->p->machines, g->p->nmachines, g->p->machines_cap, machine_of(node));
	return true;
}

int pbs_machines(struct api *api, const struct pbs_machine **ret, size_t *ret_n, struct err *e)
{
	struct pbs *p = api_pbs(api);
	struct store_range all = { 0 };
	struct reading g = { p, e };

	if (!p->machines_known) {
		pbs_machines_forget(p);
		if (stored_resolve(api, &p->node_kind, e) < 0)
			return -1;
		all.kind = p->node_kind.number;
		if (store_list(api_store(api), &all, on_node, &g, e) < 0 || e->kind != ERR_NONE)
			return -1;
		p->machines_known = true;
		turn_guard_watch_read(&p->guard, api_store(api));
	}
	*ret = p->machines;
	*ret_n = p->nmachines;
	return 0;
}

int pbs_check_hosts(struct api *api, const json_t *hosts, struct err *e)
{
	const struct pbs_machine *machines;
	json_t *v;
	size_t n, i;

	if (pbs_machines(api, &machines, &n, e) < 0)
		return -1;
	json_array_foreach ((json_t *)hosts, i, v) {
		auto_sbuf struct sbuf name = SBUF(LIMIT_URL);
		bool known = false;

		pbs_node_name(json_string_value(v), &name);
		for (size_t k = 0; k < n && !known; k++)
			known = streq(machines[k].name, name.p ? name.p : "");
		if (!known)
			return pbs_error_set(e, ERR_INVALID, PBSE_UNKNODE, "cannot locate specified node %.250s",
					     json_string_value(v));
	}
	return 0;
}

void pbs_node_written(struct api *api, const json_t *obj, const json_t *old)
{
	static const char *const parts[] = { "metadata.labels", "metadata.annotations", "status.allocatable",
					     "status.capacity" };
	struct pbs *p = api_pbs(api);

	for (size_t i = 0; p->machines_known && i < ARRAY_SIZE(parts); i++)
		if (!jsonx_equal(jsonx_at(obj, parts[i]), jsonx_at(old, parts[i]))) {
			pbs_machines_forget(p);
			turn_guard_watch(&p->guard, api_store(api));
		}
}
