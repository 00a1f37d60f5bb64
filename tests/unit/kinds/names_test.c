// SPDX-License-Identifier: Apache-2.0
#include "kinds/names.h"

#include "base/mem.h"
#include "test.h"

#define X61 "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"

TEST("names are told from what only looks like them")
{
	static const struct {
		const char *(*check)(const char *);
		const char *s;
		bool ok;
	} rows[] = {
		{ name_check_subdomain, "a.b-c.9", true },
		{ name_check_subdomain, "", false },
		{ name_check_subdomain, "a..b", false },
		{ name_check_subdomain, "a.-b", false },
		{ name_check_subdomain, "A", false },
		{ name_check_subdomain, "a_b", false },
		{ name_check_subdomain, "a.", false },
		{ name_check_label, "a-1", true },
		{ name_check_label, "1a", true },
		{ name_check_label, "a.b", false },
		{ name_check_label, X61 "xx", true },
		{ name_check_label, X61 "xxx", false },
		{ name_check_label_1035, "a1", true },
		{ name_check_label_1035, "1a", false },
		{ name_check_label_1035, "a-", false },
		{ name_check_path_segment, "system:node:x", true },
		{ name_check_path_segment, "a/b", false },
		{ name_check_path_segment, "a%b", false },
		{ name_check_path_segment, "..", false },
		{ name_check_qualified, "app", true },
		{ name_check_qualified, "example.com/My_app.1", true },
		{ name_check_qualified, "/x", false },
		{ name_check_qualified, "x/", false },
		{ name_check_qualified, "a/b/c", false },
		{ name_check_qualified, "Example.com/x", false },
		{ name_check_qualified, "-x", false },
		{ name_check_qualified, "", false },
		{ name_check_qualified, X61 "xxx", false },
		{ name_check_label_value, "", true },
		{ name_check_label_value, "a_B.1", true },
		{ name_check_label_value, "a b", false },
		{ name_check_label_value, ".a", false },
		{ name_check_label_value, X61 "xxx", false },
		{ name_check_env, "_A.b-1", true },
		{ name_check_env, "1A", false },
		{ name_check_env, "A=B", false },
		{ name_check_env, "", false },
		{ name_check_config_key, "a.b_c-D", true },
		{ name_check_config_key, ".a", true },
		{ name_check_config_key, "..", false },
		{ name_check_config_key, "..a", false },
		{ name_check_config_key, "a/b", false },
		{ name_check_config_key, "", false },
		{ name_check_port_name, "http-2", true },
		{ name_check_port_name, "80", false },
		{ name_check_port_name, "a--b", false },
		{ name_check_port_name, "-a", false },
		{ name_check_port_name, "HTTP", false },
		{ name_check_port_name, "abcdefghijklmnop", false },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const char *complaint = rows[i].check(rows[i].s);

		if (!complaint != rows[i].ok)
			test_fail(__FILE__, __LINE__, "row %zu \"%s\": %s", i, rows[i].s, complaint ? complaint : "ok");
	}
}

TEST("the rule of a kind picks the check")
{
	CHECK(name_check(NAME_SUBDOMAIN, "a.b") == NULL);
	CHECK(name_check(NAME_LABEL, "a.b") != NULL);
	CHECK(name_check(NAME_LABEL_1035, "1a") != NULL);
	CHECK(name_check(NAME_PATH_SEGMENT, "A:b") == NULL);
}
