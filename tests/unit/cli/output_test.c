// SPDX-License-Identifier: Apache-2.0
#include "cli/output.h"

#include "base/mem.h"
#include "capture.h"

static const struct table_column columns[] = {
	{ "NAME" },
	{ "N", .right = true },
	{ "NODE", .wide = true },
	{ "REASON", .cut = true },
};

static void fill(struct table *t)
{
	*t = TABLE(columns);
	table_add(t, TINT_NONE, "job/train");
	table_addf(t, TINT_NONE, "%d", 12);
	table_add(t, TINT_NONE, "vm");
	table_add(t, TINT_BAD, "0/1 nodes are available: 1 Insufficient memory.");
	table_add(t, TINT_NONE, "übung");
	table_add(t, TINT_NONE, "3");
	table_add(t, TINT_NONE, "");
	table_add(t, TINT_NONE, "a\033[2Jb\nc");
}

TEST("a table is as wide as its cells, counts characters and lets nothing through that moves a cursor")
{
	auto_table struct table t = TABLE(columns);
	auto_sbuf struct sbuf out = SBUF(4096);

	fill(&t);
	CHECK_INT(table_rows(&t), 2);
	table_text(&t, false, false, 0, &out);
	CHECK_STR(out.p, "NAME        N  REASON\n"
			 "job/train  12  0/1 nodes are available: 1 Insufficient memory.\n"
			 "übung       3  a [2Jb c\n");
	sbuf_reset(&out);
	table_text(&t, true, false, 0, &out);
	CHECK_STR(out.p, "NAME        N  NODE  REASON\n"
			 "job/train  12  vm    0/1 nodes are available: 1 Insufficient memory.\n"
			 "übung       3  -     a [2Jb c\n");
}

TEST("on a terminal the last column is cut, and colour is around text only")
{
	auto_table struct table t = TABLE(columns);
	auto_sbuf struct sbuf out = SBUF(4096);

	fill(&t);
	table_text(&t, false, true, 35, &out);
	CHECK_STR(out.p, "NAME        N  REASON\n"
			 "job/train  12  \033[31m0/1 nodes are ava...\033[0m\n"
			 "übung       3  a [2Jb c\n");
	sbuf_reset(&out);
	table_text(&t, false, false, 5, &out); /* no narrower than makes sense */
	CHECK(strstr(out.p, "0/1 nodes...\n") != NULL);
}

TEST("colour is for terminals")
{
	CHECK(!output_colours(-1));
	CHECK_INT(output_width(-1), 0);
	CHECK(output_is_objects("json") && output_is_objects("name") && !output_is_objects("wide"));
	CHECK(!output_is_objects(NULL));
}

static int print_lists(void *arg)
{
	json_auto_t *items = json_loads("[{\"kind\":\"PyTorchJob\",\"metadata\":{\"name\":\"a\"}}]", 0, NULL);

	output_list(arg, items);
	return 0;
}

TEST("objects are printed as a List or by name")
{
	static const struct {
		const char *form, *text;
	} rows[] = {
		{ "name", "pytorchjob/a\n" },
		{ "yaml",
		  "apiVersion: v1\nitems:\n- kind: PyTorchJob\n  metadata:\n    name: a\nkind: List\nmetadata: {}\n" },
		{ "json", "\"kind\": \"List\"" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct capture c = capture_run(print_lists, (void *)rows[i].form, NULL, NULL);

		if (!strstr(c.out.p, rows[i].text))
			test_fail(__FILE__, __LINE__, "%s: %s", rows[i].form, c.out.p);
		capture_done(&c);
	}
}
