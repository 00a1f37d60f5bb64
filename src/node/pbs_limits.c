// SPDX-License-Identifier: Apache-2.0
/* pbs_limits.c - limits of a job, and the words when one is broken
 *
 * Memory as such (mem) is a limit of the control group, and pvmem also one of each process: these are looked at too, so
 * that the job ends as a whole and with PBS's words rather than with a program that is killed or cannot get memory.
 */
#include "node/pbs_limits.h"

#include <stddef.h>
#include <stdio.h>

#include "base/jsonx.h"
#include "base/mem.h"
#include "base/str.h"
#include "kinds/pbs_values.h"

static const struct row {
	const char *name, *reason;
	bool (*parse)(const char *text, int64_t *ret);
	size_t limit, sample;
} rows[] = {
#define ROW(field, reason, parse)                                                                                      \
	{                                                                                                              \
#field, reason, parse, offsetof(struct pbs_limits, field), offsetof(struct pbs_sample, field)          \
	}
	ROW(cput, "CputExceeded", pbs_time_parse),   ROW(mem, "MemoryExceeded", pbs_size_parse),
	ROW(vmem, "MemoryExceeded", pbs_size_parse), ROW(pvmem, "MemoryExceeded", pbs_size_parse),
	ROW(pmem, "MemoryExceeded", pbs_size_parse),
#undef ROW
};

struct pbs_limits pbs_limits_of(const json_t *job)
{
	const json_t *resources = json_object_get(json_object_get(job, "spec"), "resources");
	struct pbs_limits l = { 0 };

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const char *text = json_string_value(json_object_get(resources, rows[i].name));
		int64_t most;

		if (text && rows[i].parse(text, &most))
			*(int64_t *)((char *)&l + rows[i].limit) = most;
	}
	return l;
}

bool pbs_limits_any(const struct pbs_limits *l)
{
	return l->mem || pbs_limits_each(l);
}

bool pbs_limits_each(const struct pbs_limits *l)
{
	return l->cput || l->vmem || l->pvmem || l->pmem;
}

const char *pbs_limits_exceeded(const struct pbs_limits *l, const struct pbs_sample *s, char words[96])
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		int64_t most = *(const int64_t *)((const char *)l + rows[i].limit);
		int64_t is = *(const int64_t *)((const char *)s + rows[i].sample);

		if (most && is > most) {
			snprintf(words, 96, "%s %lld exceeded limit %lld", rows[i].name, (long long)is,
				 (long long)most);
			return rows[i].reason;
		}
	}
	return NULL;
}

json_t *pbs_used_text(int64_t cpu_ns, int64_t mem, int64_t vmem)
{
	char cput[PBS_TEXT], mem_text[PBS_TEXT], vmem_text[PBS_TEXT];

	pbs_time_text(cpu_ns / 1000000000, cput);
	pbs_size_kb_text(mem, mem_text);
	pbs_size_kb_text(vmem, vmem_text);
	return json_pack("{s:s, s:s, s:s}", "cput", cput, "mem", mem_text, "vmem", vmem_text);
}

json_t *pbs_runtime_text(int64_t us)
{
	us = us > 0 ? us : 0;
	return jsonx_stringf("%lld.%06lld", (long long)(us / 1000000), (long long)(us % 1000000));
}
