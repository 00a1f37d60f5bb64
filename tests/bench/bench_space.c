// SPDX-License-Identifier: Apache-2.0
/* bench_space.c - what it costs to place pods: bench-space [NODES] [PODS]
 *
 * One line a case: nanoseconds a placement, with 1 and 50 shapes, packed and spread, and a gang that is taken back.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/jsonx.h"
#include "base/mem.h"
#include "sched/parts.h"
#include "sched/space.h"

/* Of this program alone: others run beside it. */
static int64_t cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void add_nodes(struct space *s, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		json_auto_t *node =
			json_pack("{s:{s:o,s:{s:o,s:o}},s:{s:[{s:s,s:s}],s:{s:s,s:s,s:s,s:s}}}", "metadata", "name",
				  jsonx_stringf("node-%05zu", i), "labels", "kubernetes.io/hostname",
				  jsonx_stringf("node-%05zu", i), "zone", jsonx_stringf("zone-%zu", i % 8), "status",
				  "conditions", "type", "Ready", "status", "True", "allocatable", "cpu", "64", "memory",
				  "256Gi", "pods", "110", "nvidia.com/gpu", i % 2 ? "8" : "0");

		space_set_node(s, node);
	}
}

static json_t *pod_of(size_t kind, const char *rules)
{
	json_t *pod = json_pack("{s:{s:s,s:{s:s}},s:{s:[{s:{s:{s:o,s:o,s:o}}}]}}", "metadata", "namespace", "default",
				"labels", "app", "web", "spec", "containers", "resources", "requests", "cpu",
				jsonx_stringf("%zum", 1000 + kind % 7 * 500), "memory",
				jsonx_stringf("%zuMi", 1024 + kind * 64), "nvidia.com/gpu",
				jsonx_stringf("%d", kind % 5 == 4));
	json_auto_t *more = rules ? json_loads(rules, 0, NULL) : NULL;

	if (more)
		json_object_update(json_object_get(pod, "spec"), more);
	return pod;
}

struct run {
	const char *name;
	enum space_policy policy;
	size_t shapes;
	const char *rules;
};

static void run(const struct run *r, size_t nodes, size_t pods)
{
	struct space *s = space_new();
	struct seat *seats = xcalloc(pods, sizeof(*seats));
	size_t placed = 0;
	int64_t start;

	add_nodes(s, nodes);
	space_set_policy(s, r->policy);
	for (size_t i = 0; i < pods; i++) {
		json_auto_t *pod = pod_of(i % r->shapes, r->rules);

		seats[i].shape = space_shape(s, pod);
	}
	start = cpu_ns();
	for (size_t i = 0; i < pods; i++)
		placed += space_find(s, &seats[i], NULL);
	printf("%-34s %8.0f ns a placement, %zu of %zu placed\n", r->name, (double)(cpu_ns() - start) / (double)pods,
	       placed, pods);
	start = cpu_ns();
	for (size_t i = 0; i < pods; i++)
		space_rise(s, &seats[i]);
	printf("%-34s %8.0f ns\n", "  rise", (double)(cpu_ns() - start) / (double)pods);
	for (size_t i = 0; i < pods; i++)
		space_shape_unref(s, seats[i].shape);
	space_free(s);
	free(seats);
}

static void run_gang(size_t nodes, size_t size)
{
	struct space *s = space_new();
	struct seat *seats = xcalloc(size, sizeof(*seats));
	struct shape *sh;
	int64_t start;
	size_t mark;

	add_nodes(s, nodes);
	sh = space_shape_plain(s, 4000, (int64_t)8 << 30, 1, NULL);
	for (int round = 0; round < 3; round++) {
		start = cpu_ns();
		mark = space_mark(s);
		for (size_t i = 0; i < size; i++) {
			seats[i].shape = sh;
			space_find(s, &seats[i], NULL);
		}
		space_undo(s, mark);
		printf("a gang of %zu, tried and taken back: %.3f ms\n", size, (double)(cpu_ns() - start) / 1e6);
	}
	space_shape_unref(s, sh);
	space_free(s);
	free(seats);
}

int main(int argc, char **argv)
{
	static const char apart[] =
		"{\"affinity\":{\"podAntiAffinity\":{\"requiredDuringSchedulingIgnoredDuringExecution\":[{"
		"\"topologyKey\":\"kubernetes.io/hostname\",\"labelSelector\":{\"matchLabels\":{\"app\":\"web\"}}}]}}}";
	static const char even[] = "{\"topologySpreadConstraints\":[{\"maxSkew\":1,\"topologyKey\":\"zone\","
				   "\"whenUnsatisfiable\":\"DoNotSchedule\",\"labelSelector\":{\"matchLabels\":{"
				   "\"app\":\"web\"}}}]}";
	static const struct run runs[] = {
		{ "pack, 1 shape", SPACE_PACK, 1, NULL },
		{ "pack, 50 shapes", SPACE_PACK, 50, NULL },
		{ "pack, 5000 shapes", SPACE_PACK, 5000, NULL },
		{ "spread, 1 shape", SPACE_SPREAD, 1, NULL },
		{ "spread, 50 shapes", SPACE_SPREAD, 50, NULL },
		{ "pack, anti-affinity by host", SPACE_PACK, 1, apart },
		{ "pack, topology spread by zone", SPACE_PACK, 1, even },
	};
	size_t nodes = argc > 1 ? strtoul(argv[1], NULL, 10) : 5000;
	size_t pods = argc > 2 ? strtoul(argv[2], NULL, 10) : 50000;

	for (size_t i = 0; i < ARRAY_SIZE(runs); i++)
		run(&runs[i], nodes, pods);
	run_gang(nodes, 1000);
	return 0;
}
