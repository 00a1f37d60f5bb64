// SPDX-License-Identifier: Apache-2.0
/* pbs_resources_test.c - the resources that -l may name */
#include "kinds/pbs_resources.h"

#include "base/mem.h"
#include "kinds/pbs_error.h"
#include "test.h"

TEST("a resource's value is checked by its type and shown in its normal form")
{
	static const struct {
		const char *name, *value;
		const char *want; /* NULL: refused */
	} rows[] = {
		{ "walltime", "1:00", "00:01:00" },
		{ "walltime", "10080:0", "168:00:00" },
		{ "walltime", "1h", NULL },
		{ "cput", "60", "00:01:00" },
		{ "mem", "2097152K", "2097152kb" },
		{ "mem", "lots", NULL },
		{ "nodes", "1:gpus=1:S", "1:gpus=1:S" },
		{ "nodes", "1:9x", NULL },
		{ "select", "2:ncpus=2", "2:ncpus=2" },
		{ "select", "2:ncpus", NULL },
		{ "procs", "4", "4" },
		{ "procs", "four", NULL },
		{ "nice", "-5", "-5" },
		{ "nice", "20", NULL },
		{ "qos", "high", "high" },
		{ "qos", "", NULL },
		{ "image", "bit:5000/deepo:9", "bit:5000/deepo:9" },
		{ "nodect", "1", NULL },
		{ "Walltime", "1", NULL },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		auto_sbuf struct sbuf out = SBUF(1000);
		struct err e = ERR_INIT;

		if (pbs_resource_normal(rows[i].name, rows[i].value, &out, &e) < 0)
			CHECK(!rows[i].want && strstr(e.text, rows[i].name));
		else
			CHECK_STR(out.p, rows[i].want);
	}
}

TEST("a resource that PBS does not know has PBS's number")
{
	auto_sbuf struct sbuf out = SBUF(1000);
	struct err e = ERR_INIT;
	const char *words;

	CHECK_INT(pbs_resource_normal("colour", "red", &out, &e), -1);
	CHECK_INT(pbs_error_find(e.text, &words), PBSE_UNKRESC);
	CHECK(str_starts(words, "Unknown resource type  MSG=detected request for an unknown resource"));
}
