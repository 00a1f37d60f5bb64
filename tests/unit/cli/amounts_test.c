// SPDX-License-Identifier: Apache-2.0
#include "cli/amounts.h"

#include "about_text.h"

TEST("amounts are short")
{
	static const struct {
		int64_t milli;
		const char *text;
	} cpus[] = { { 0, "0m" },   { 250, "250m" },   { 1000, "1" },     { 1500, "1.5" },
		     { 1960, "2" }, { 99949, "99.9" }, { 128000, "128" }, { 123456, "123" } };
	static const struct {
		int64_t bytes;
		const char *text;
	} sizes[] = { { 0, "0" },
		      { 512, "512" },
		      { 64 << 20, "64Mi" },
		      { 1536 << 20, "1.5Gi" },
		      { (int64_t)23 << 30, "23Gi" },
		      { INT64_MAX, "8192Pi" } };
	char out[AMOUNT_TEXT];

	for (size_t i = 0; i < ARRAY_SIZE(cpus); i++)
		CHECK_STR(cpu_text(cpus[i].milli, out), cpus[i].text);
	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++)
		CHECK_STR(memory_text(sizes[i].bytes, out), sizes[i].text);
	CHECK_STR(percent_text(1, 0, out), "-");
	CHECK_STR(percent_text(1, 3, out), "33%");
}

TEST("amounts are read from specs, maps and metrics, and put in words")
{
	json_auto_t *spec = about_json("{'containers':[{'resources':{'limits':{'cpu':'1500m','memory':'1Gi',"
				       "'alpha.kubernetes.io/nvidia-gpu':'2'}}},{'resources':{'limits':{'cpu':1}}}]}");
	json_auto_t *pod =
		about_json("{'containers':[{'usage':{'cpu':'100m','memory':'1Mi'}},{'usage':{'cpu':'1n'}}]}");
	struct amounts a = amounts_of_spec(spec, "limits");
	struct amounts none = amounts_of_spec(NULL, "limits");
	struct amounts used = amounts_used(pod);
	auto_sbuf struct sbuf words = SBUF(256);

	CHECK_INT(a.cpu, 2500);
	CHECK_INT(none.cpu + none.memory + none.gpus, 0);
	CHECK_INT(used.cpu, 101); /* rounded up, as Kubernetes does */
	CHECK_INT(used.memory, 1 << 20);
	amounts_words(&a, &words);
	CHECK_STR(words.p, "2.5 CPUs, 1Gi memory, 2 GPUs");
}
