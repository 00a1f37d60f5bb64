// SPDX-License-Identifier: Apache-2.0
/* amounts.c - see amounts.h */
#include "cli/amounts.h"

#include <stdio.h>

#include "base/jsonx.h"
#include "base/mem.h"
#include "kinds/resource_list.h"

#define GPU "nvidia.com/gpu"

static struct amounts of_list(const struct resource_list *l)
{
	const struct quantity *cpu = resource_list_find(l, "cpu");
	const struct quantity *memory = resource_list_find(l, "memory");
	const struct quantity *gpus = resource_list_find(l, GPU);

	return (struct amounts){ .cpu = cpu ? quantity_milli(cpu) : 0,
				 .memory = memory ? quantity_value(memory) : 0,
				 .gpus = gpus ? quantity_value(gpus) : 0 };
}

struct amounts amounts_of_spec(const json_t *spec, const char *which)
{
	struct resource_list l = { 0 };
	struct amounts a;

	pod_resources(spec, which, false, &l);
	a = of_list(&l);
	resource_list_done(&l);
	return a;
}

struct amounts amounts_of_map(const json_t *quantities)
{
	struct resource_list l = { 0 };
	struct amounts a;

	resource_list_read(&l, quantities);
	a = of_list(&l);
	resource_list_done(&l);
	return a;
}

struct amounts amounts_used(const json_t *metrics)
{
	struct amounts sum = amounts_of_map(json_object_get(metrics, "usage"));
	json_t *c;
	size_t i;

	json_array_foreach (json_object_get(metrics, "containers"), i, c) {
		struct amounts a = amounts_of_map(json_object_get(c, "usage"));

		amounts_add(&sum, &a);
	}
	return sum;
}

void amounts_add(struct amounts *sum, const struct amounts *more)
{
	sum->cpu += more->cpu;
	sum->memory += more->memory;
	sum->gpus += more->gpus;
}

const json_t *amounts_find(const json_t *metrics, const char *ns, const char *name)
{
	json_t *m;
	size_t i;

	json_array_foreach ((json_t *)metrics, i, m)
		if (streq(jsonx_str_or(m, "metadata.name", ""), name) &&
		    streq(jsonx_str_or(m, "metadata.namespace", ""), ns))
			return m;
	return NULL;
}

/* ---- text ---- */

const char *cpu_text(int64_t milli, char out[AMOUNT_TEXT])
{
	int64_t tenths = (milli + 50) / 100;

	if (milli < 1000)
		snprintf(out, AMOUNT_TEXT, "%lldm", (long long)milli);
	else if (tenths % 10 && milli < 100000)
		snprintf(out, AMOUNT_TEXT, "%lld.%lld", (long long)tenths / 10, (long long)tenths % 10);
	else
		snprintf(out, AMOUNT_TEXT, "%lld", (long long)(milli + 500) / 1000);
	return out;
}

const char *memory_text(int64_t bytes, char out[AMOUNT_TEXT])
{
	static const char *const units[] = { "", "Ki", "Mi", "Gi", "Ti", "Pi" };
	double v = (double)bytes;
	size_t u = 0;

	while (v >= 1024 && u + 1 < ARRAY_SIZE(units)) {
		v /= 1024;
		u++;
	}
	if (v < 10 && (int64_t)(v * 10 + 0.5) % 10)
		snprintf(out, AMOUNT_TEXT, "%.1f%s", v, units[u]);
	else
		snprintf(out, AMOUNT_TEXT, "%.0f%s", v, units[u]);
	return out;
}

const char *percent_text(int64_t part, int64_t whole, char out[AMOUNT_TEXT])
{
	if (whole <= 0)
		snprintf(out, AMOUNT_TEXT, "-");
	else
		snprintf(out, AMOUNT_TEXT, "%.0f%%", 100.0 * (double)part / (double)whole);
	return out;
}

void amounts_words(const struct amounts *a, struct sbuf *out)
{
	char text[AMOUNT_TEXT];
	size_t from = out->n;

	if (a->cpu)
		sbuf_addf(out, "%s CPU%s", cpu_text(a->cpu, text), a->cpu > 1000 ? "s" : "");
	if (a->memory)
		sbuf_addf(out, "%s%s memory", out->n > from ? ", " : "", memory_text(a->memory, text));
	if (a->gpus)
		sbuf_addf(out, "%s%lld GPU%s", out->n > from ? ", " : "", (long long)a->gpus, a->gpus > 1 ? "s" : "");
}
