// SPDX-License-Identifier: Apache-2.0
/* fuzz_space.c - {"nodes": [...], "pods": [...]} of any content: pods find room or a reason, and leave nothing behind
 */
#include "sched/space.h"

#include "base/jsonx.h"
#include "base/mem.h"
#include "sched/parts.h"

#define PODS 16

static void place(struct space *s, const json_t *pods, struct seat *seats, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		auto_sbuf struct sbuf why = SBUF(4096);

		seats[i].shape = space_shape(s, json_array_get(pods, i));
		if (!space_find(s, &seats[i], NULL) && !*space_why(s, seats[i].shape))
			__builtin_trap();
		if (seats[i].node && !space_possible(s, seats[i].shape, &why))
			__builtin_trap();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct seat seats[PODS] = { 0 };
	json_auto_t *doc = NULL;
	struct space *s;
	struct err e = ERR_INIT;
	const json_t *node;
	size_t npods;
	size_t mark;
	size_t i;

	if (jsonx_parse((const char *)data, n, NULL, NULL, &doc, &e) < 0)
		return 0;
	s = space_new();
	json_array_foreach (json_object_get(doc, "nodes"), i, node)
		space_set_node(s, node);
	npods = json_array_size(json_object_get(doc, "pods"));
	npods = npods < PODS ? npods : PODS;
	place(s, json_object_get(doc, "pods"), seats, npods);
	mark = space_mark(s);
	for (i = 0; i < npods; i++)
		space_rise(s, &seats[i]);
	for (i = 0; i < RESOURCE__COUNT; i++)
		if (space_used(s, i))
			__builtin_trap();
	space_undo(s, mark);
	json_array_foreach (json_object_get(doc, "nodes"), i, node)
		space_remove_node(s, jsonx_str_or(node, "metadata.name", ""));
	for (i = 0; i < npods; i++) {
		space_rise(s, &seats[i]);
		space_shape_unref(s, seats[i].shape);
	}
	space_free(s);
	return 0;
}
