// SPDX-License-Identifier: Apache-2.0
#include "client/registry.h"

#include "../api/sample_json.h"
#include "base/mem.h"
#include "test.h"

TEST("images of a registry are its address, a name and each of its tags")
{
	static const char *const replies[] = {
		"{'name':'deepo','tags':['latest','9']}",
		"{'name':'empty','tags':null}",
		"{'name':'odd','tags':[1]}",
		"{'tags':['x']}",
		"{'name':'ana/torch','tags':['2']}",
	};
	json_auto_t *list = json_array();

	for (size_t i = 0; i < ARRAY_SIZE(replies); i++) {
		json_auto_t *reply = sample_json(replies[i]);

		registry_add_tags("bit:5000", reply, list);
	}
	CHECK_JSON(list, "['bit:5000/deepo:latest','bit:5000/deepo:9','bit:5000/ana/torch:2']");
}
