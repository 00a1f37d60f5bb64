// SPDX-License-Identifier: Apache-2.0
#include "kinds/placement.h"

#include "api/sample_json.h"
#include "base/jsonx.h"
#include "test.h"

TEST("a toleration covers taints by key, value and effect; what it leaves out it does not ask for")
{
	static const struct {
		const char *toleration;
		struct taint taint;
		bool want;
	} rows[] = {
		{ "{'key':'a','operator':'Exists'}", { "a", "x", "NoSchedule" }, true },
		{ "{'key':'a','operator':'Exists'}", { "b", "x", "NoSchedule" }, false },
		{ "{'operator':'Exists'}", { "b", "x", "NoExecute" }, true },
		{ "{}", { "b", "x", "NoExecute" }, false },
		{ "{'key':'a','value':'x'}", { "a", "x", "NoExecute" }, true },
		{ "{'key':'a','value':'x','operator':'Equal'}", { "a", "y", "NoExecute" }, false },
		{ "{'key':'a'}", { "a", NULL, "NoExecute" }, true },
		{ "{'key':'a','operator':'Exists','effect':'NoSchedule'}", { "a", "", "NoExecute" }, false },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		json_auto_t *t = sample_json(rows[i].toleration);

		CHECK_INT(toleration_covers(t, &rows[i].taint), rows[i].want);
	}
}

TEST("no terms are no condition, and no terms in a list are one that nothing meets")
{
	json_auto_t *none = sample_json("[]");

	CHECK(node_terms_match(NULL, NULL, "n"));
	CHECK(!node_terms_match(none, NULL, "n"));
}
