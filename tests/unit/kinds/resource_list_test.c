// SPDX-License-Identifier: Apache-2.0
#include "kinds/resource_list.h"

#include "core_test.h"

#define CPU(c)   "{'name':'x','resources':{'requests':{'cpu':'" c "'}}}"
#define STAYS(c) "{'name':'x','restartPolicy':'Always','resources':{'requests':{'cpu':'" c "'}}}"

static char *asked(const char *spec, const char *which, bool overhead, const char *name)
{
	json_auto_t *obj = object(spec);
	struct resource_list l = { 0 };
	char text[QUANTITY_TEXT] = "none";

	pod_resources(obj, which, overhead, &l);
	if (resource_list_find(&l, name))
		quantity_text(resource_list_find(&l, name), text);
	resource_list_done(&l);
	return xstrdup(text);
}

TEST("memory of GPUs is told in bytes or in MiB")
{
	static const int64_t rows[][2] = { { 0, 0 },
					   { 4096, 4096 },
					   { (1 << 20) - 1, (1 << 20) - 1 },
					   { 1 << 20, 1 },
					   { (1 << 20) + 1, 2 },
					   { (int64_t)8 << 30, 8192 },
					   { INT64_MAX, (INT64_MAX >> 20) + 1 } };

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		CHECK_INT(gpu_memory_mib(rows[i][0]), rows[i][1]);
}

TEST("a pod asks for what its containers need together, or its largest init container")
{
	static const struct {
		const char *spec, *which, *name, *want;
		bool overhead;
	} rows[] = {
		{ "{'containers':[" CPU("1") "," CPU("500m") "]}", "requests", "cpu", "1500m", false },
		{ "{'containers':[" CPU("1") "]}", "limits", "cpu", "none", false },
		{ "{'containers':[" CPU("1") "],'initContainers':[" CPU("2") "," CPU("3") "]}", "requests", "cpu", "3",
		  false },
		{ "{'containers':[" CPU("4") "],'initContainers':[" CPU("2") "]}", "requests", "cpu", "4", false },
		{ "{'containers':[" CPU("1") "],'initContainers':[" STAYS("1") "," CPU("5") "]}", "requests", "cpu",
		  "6", false },
		{ "{'containers':[" CPU("1") "],'initContainers':[" CPU("5") "," STAYS("1") "]}", "requests", "cpu",
		  "5", false },
		{ "{'containers':[" CPU("1") "],'overhead':{'cpu':'250m'}}", "requests", "cpu", "1", false },
		{ "{'containers':[" CPU("1") "],'overhead':{'cpu':'250m'}}", "requests", "cpu", "1250m", true },
		{ "{'containers':[" CPU("1") "],'overhead':{'cpu':'250m'}}", "limits", "cpu", "none", true },
		{ "{'containers':[" CPU("1") "],'resources':{'requests':{'cpu':3,'x/y':3}}}", "requests", "cpu", "3",
		  false },
		{ "{'containers':[{'resources':{'limits':{'alpha.kubernetes.io/nvidia-gpu':2}}}]}", "limits",
		  "nvidia.com/gpu", "2", false },
		{ "{'containers':[{'resources':{'limits':{'nvidia.com/gpu':1}}}]}", "limits",
		  "alpha.kubernetes.io/nvidia-gpu", "1", false },
		{ "{'containers':[{'resources':{'requests':{'memory':'64Mi'}}},{'resources':{'requests':{'memory':"
		  "'64Mi'}}}]}",
		  "requests", "memory", "128Mi", false },
		{ "{}", "requests", "cpu", "none", true },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		auto_free char *got = asked(rows[i].spec, rows[i].which, rows[i].overhead, rows[i].name);

		CHECK_STR(got, rows[i].want);
	}
}
