// SPDX-License-Identifier: Apache-2.0
/* rules_test.c - the checks that many messages share */
#include "kinds/rules.h"

#include "core_test.h"
#include "kinds/names.h"

TEST("a word is found among alternatives only as a whole")
{
	CHECK(rule_one_of("B", "A|B|C"));
	CHECK(rule_one_of("", "|A"));
	CHECK(!rule_one_of("", "A|B"));
	CHECK(!rule_one_of("A|B", "A|B"));
	CHECK(rule_subscript("metadata.labels['a']", "metadata.labels"));
	CHECK(!rule_subscript("metadata.labels['']", "metadata.labels"));
	CHECK(!rule_subscript("metadata.labels", "metadata.labels"));
}

typedef void rule_fn(const json_t *value, const struct path *at, struct err *e);

TEST("values are accepted and refused as Kubernetes does")
{
	static const struct {
		rule_fn *rule;
		const char *value, *want;
	} rows[] = {
		{ rule_port, "1", "" },
		{ rule_port, "65536", "f: Invalid value: 65536: must be between 1 and 65535, inclusive" },
		{ rule_port_or_name, "'http'", "" },
		{ rule_port_or_name, "80", "" },
		{ rule_port_or_name, "0", "f: Invalid value: 0: must be between 1 and 65535, inclusive" },
		{ rule_file_mode, "511", "" },
		{ rule_file_mode, "512",
		  "f: Invalid value: 512: must be a number between 0 and 0777 (octal), both inclusive" },
		{ rule_relative_path, "'a/..b/c'", "" },
		{ rule_relative_path, "'a/../b'", "f: Invalid value: \"a/../b\": must not contain '..'" },
		{ rule_relative_path, "'/a'", "f: Invalid value: \"/a\": must be a relative path" },
		{ rule_absolute_path, "'a'", "f: Invalid value: \"a\": must be an absolute path" },
		{ rule_ip, "'::1'", "" },
		{ rule_ip, "'10.0.0.1'", "" },
		{ rule_cidr, "'10.0.0.0/8'", "" },
		{ rule_cidr, "'fd00::/64'", "" },
		{ rule_cidr, "'10.0.0.0/33'",
		  "f: Invalid value: \"10.0.0.0/33\": must be a valid CIDR value, (e.g. "
		  "10.9.8.0/24 or 2001:db8::/64)" },
		{ rule_cidr, "'10.0.0.0'",
		  "f: Invalid value: \"10.0.0.0\": must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)" },
		{ rule_quantity, "'0'", "" },
		{ rule_quantity, "'-1'", "f: Invalid value: \"-1\": must be greater than or equal to 0" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		auto_free char *wrapped = xasprintf("{'f':%s}", rows[i].value), *got = NULL;
		json_auto_t *obj = object(wrapped);
		struct err e = ERR_INIT;

		rows[i].rule(json_object_get(obj, "f"), PATH_FIELD(NULL, "f"), &e);
		got = causes(&e);
		CHECK_STR(got, rows[i].want);
	}
}

TEST("an absent value is nobody's mistake")
{
	static rule_fn *const rules[] = { rule_port,          rule_port_or_name, rule_file_mode, rule_relative_path,
					  rule_absolute_path, rule_ip,           rule_cidr,      rule_labels,
					  rule_quantity,      rule_quantities };
	struct err e = ERR_INIT;

	for (size_t i = 0; i < ARRAY_SIZE(rules); i++)
		rules[i](NULL, NULL, &e);
	rule_text(NULL, NULL, &e, name_check_label);
	rule_texts(NULL, NULL, &e, name_check_label);
	rule_unique(NULL, "name", NULL, &e);
	CHECK_INT(e.ncauses, 0);
}
