// SPDX-License-Identifier: Apache-2.0
/* fuzz_pbs_options.c - any text as a list of resources, variables, dependencies or attributes, and as a directive */
#include <stdlib.h>

#include "base/mem.h"
#include "kinds/pbs_expand.h"
#include "pbs/attributes.h"
#include "pbs/depend.h"
#include "pbs/resources.h"
#include "pbs/variables.h"
#include "pbs/when.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static const char *none(const char *name)
{
	(void)name;
	return NULL;
}

static const char *value(void *arg, const char *name)
{
	(void)arg;
	return name[0] == 'A' ? "$A" : NULL;
}

/* What was read from a list of resources reads the same again. */
static void try_resources(const char *text)
{
	struct pairs p = { 0 }, q = { 0 };
	struct err e = ERR_INIT;

	if (pbs_resources_add(&p, text, FROM_ARGV, &e) == RESOURCES_OK && !strpbrk(text, "\"'[]"))
		for (size_t i = 0; i < p.n; i++) {
			auto_free char *one = xasprintf("%s=%s", p.items[i].name, p.items[i].value);

			if (pbs_resources_add(&q, one, FROM_ARGV, &e) != RESOURCES_OK ||
			    !str_same(pairs_find(&q, p.items[i].name), p.items[i].value))
				abort();
		}
	pairs_done(&p);
	pairs_done(&q);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	auto_free char *text = xstrndup((const char *)data, n);
	auto_sbuf struct sbuf path = SBUF(1 << 20);
	struct pairs variables = { 0 };
	struct ask a = { 0 };
	struct err e = ERR_INIT;
	json_t *list = NULL;
	int64_t seconds;

	try_resources(text);
	variables_add(&variables, text, none, FROM_ARGV);
	pairs_done(&variables);
	if (depend_parse(text, &list, &e) == 0)
		json_decref(list);
	attributes_add(&a, text, FROM_ARGV, &e);
	ask_done(&a);
	a = (struct ask){ 0 };
	options_directive(&a, str_of(text), &e);
	ask_done(&a);
	pbs_when_parse(text, 1710513020, &seconds);
	pbs_expand(text, value, NULL, &path, &e);
	return 0;
}
