// SPDX-License-Identifier: Apache-2.0
/* condition_test.c - conditions are found by their type */
#include "kinds/condition.h"

#include "api/sample_json.h"
#include "base/jsonx.h"
#include "test.h"

TEST("a condition is found by its type and says how it stands")
{
	json_auto_t *node = sample_json("{'status':{'conditions':[{'type':'Ready','status':'Unknown'},"
					"{'type':'DiskPressure','status':'True','message':'full'}]}}");

	CHECK_STR(condition_status(node, "Ready"), "Unknown");
	CHECK(!condition_holds(node, "Ready"));
	CHECK(condition_holds(node, "DiskPressure"));
	CHECK_STR(jsonx_str(condition_of(node, "DiskPressure"), "message"), "full");
	CHECK(condition_in(jsonx_at(node, "status.conditions"), "Ready") == condition_of(node, "Ready"));
}

TEST("a condition that is not there has no status and does not hold")
{
	json_auto_t *node = sample_json("{'status':{}}");

	CHECK_STR(condition_status(node, "Ready"), "");
	CHECK_STR(condition_status(NULL, "Ready"), "");
	CHECK(!condition_holds(node, "Ready"));
	CHECK(!condition_of(node, "Ready"));
	CHECK(!condition_in(NULL, "Ready"));
}
