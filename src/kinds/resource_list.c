// SPDX-License-Identifier: Apache-2.0
/* resource_list.c - sums of what containers ask for; see resource_list.h
 *
 * Lists are short, so they are searched from the start.
 */
#include "kinds/resource_list.h"

#include "base/jsonx.h"
#include "base/mem.h"
#include "kinds/rules.h"

#define GPU         "nvidia.com/gpu"
#define OLD_GPU     "alpha.kubernetes.io/nvidia-gpu"
#define MIB_AT_MOST ((int64_t)1 << 20) /* no card has a TiB: what is more was meant in bytes */

void resource_list_done(struct resource_list *l)
{
	for (size_t i = 0; i < l->n; i++)
		free(l->items[i].name);
	free(l->items);
	*l = (struct resource_list){ 0 };
}

const char *resource_name(const char *name)
{
	return streq(name, OLD_GPU) ? GPU : name;
}

int64_t gpu_memory_mib(int64_t amount)
{
	return amount < MIB_AT_MOST ? amount : (amount >> 20) + (amount % (1 << 20) != 0);
}

static struct quantity *find(const struct resource_list *l, const char *name)
{
	for (size_t i = 0; i < l->n; i++)
		if (streq(l->items[i].name, name))
			return &l->items[i].amount;
	return NULL;
}

const struct quantity *resource_list_find(const struct resource_list *l, const char *name)
{
	return find(l, resource_name(name));
}

/* The row of a name, made with nothing in it if it is not there. */
static struct quantity *row(struct resource_list *l, const char *name)
{
	struct quantity *found = find(l, name);

	if (found)
		return found;
	ARRAY_PUSH(l->items, l->n, l->cap,
		   ((struct resource_amount){ .name = xstrdup(name), .amount = { .format = 'd' } }));
	return &l->items[l->n - 1].amount;
}

static void raise(struct resource_list *l, const char *name, const struct quantity *amount)
{
	struct quantity *have = row(l, name);

	if (have->nano == 0 || quantity_cmp(amount, have) > 0)
		*have = *amount;
}

void resource_list_read(struct resource_list *l, const json_t *quantities)
{
	struct quantity amount;
	const char *name;
	json_t *v;

	json_object_foreach ((json_t *)quantities, name, v)
		if (rule_quantity_parse(v, &amount))
			raise(l, resource_name(name), &amount);
}

static void add_all(struct resource_list *sum, const struct resource_list *l)
{
	for (size_t i = 0; i < l->n; i++)
		quantity_add(row(sum, l->items[i].name), &l->items[i].amount, 1);
}

static void raise_all(struct resource_list *most, const struct resource_list *l)
{
	for (size_t i = 0; i < l->n; i++)
		raise(most, l->items[i].name, &l->items[i].amount);
}

static void read_container(const json_t *container, const char *which, struct resource_list *ret)
{
	resource_list_read(ret, json_object_get(json_object_get(container, "resources"), which));
}

/* Adds those that stay to *sum; *peak is the most that any moment of the start needs. */
static void read_init_containers(const json_t *containers, const char *which, struct resource_list *sum,
				 struct resource_list *peak)
{
	struct resource_list beside = { 0 };
	const json_t *c;
	size_t i;

	json_array_foreach (containers, i, c) {
		struct resource_list one = { 0 };

		read_container(c, which, &one);
		if (streq(jsonx_str_or(c, "restartPolicy", ""), "Always")) {
			add_all(sum, &one);
			add_all(&beside, &one);
			raise_all(peak, &beside);
		} else {
			add_all(&one, &beside);
			raise_all(peak, &one);
		}
		resource_list_done(&one);
	}
	resource_list_done(&beside);
}

/* Only what a whole pod can be given or denied. */
static void read_pod_level(const json_t *quantities, struct resource_list *ret)
{
	struct quantity amount;
	const char *name;
	json_t *v;

	json_object_foreach ((json_t *)quantities, name, v)
		if ((rule_one_of(name, "cpu|memory") || str_starts(name, "hugepages-")) &&
		    rule_quantity_parse(v, &amount))
			*row(ret, name) = amount;
}

static void add_overhead(const json_t *quantities, bool limits, struct resource_list *ret)
{
	struct resource_list overhead = { 0 };

	resource_list_read(&overhead, quantities);
	for (size_t i = 0; i < overhead.n; i++)
		if (!limits || find(ret, overhead.items[i].name))
			quantity_add(row(ret, overhead.items[i].name), &overhead.items[i].amount, 1);
	resource_list_done(&overhead);
}

void pod_resources(const json_t *spec, const char *which, bool overhead, struct resource_list *ret)
{
	struct resource_list peak = { 0 };
	const json_t *c;
	size_t i;

	json_array_foreach (json_object_get(spec, "containers"), i, c) {
		struct resource_list one = { 0 };

		read_container(c, which, &one);
		add_all(ret, &one);
		resource_list_done(&one);
	}
	read_init_containers(json_object_get(spec, "initContainers"), which, ret, &peak);
	raise_all(ret, &peak);
	resource_list_done(&peak);
	read_pod_level(json_object_get(json_object_get(spec, "resources"), which), ret);
	if (overhead)
		add_overhead(json_object_get(spec, "overhead"), streq(which, "limits"), ret);
}
