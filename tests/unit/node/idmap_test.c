// SPDX-License-Identifier: Apache-2.0
#include "base/mem.h"
#include "node/idmap.h"
#include "test.h"

TEST("the kernel's table of ids is read as it prints it")
{
	struct idmap m;

	CHECK(idmap_parse("         0       1000          1\n         1     100000      65536\n", &m));
	CHECK_INT(m.n, 2);
	CHECK_INT(m.rows[1].inside, 1);
	CHECK_INT(m.rows[1].outside, 100000);
	CHECK_INT(m.rows[1].count, 65536);
	CHECK(idmap_parse("0 0 4294967295\n", &m));
	CHECK_INT(m.rows[0].count, 4294967295u);
}

TEST("what is no table of ids is refused")
{
	static const char *const texts[] = {
		"", "\n", "0 1\n", "0 1 2 3\n", "a 1 2\n", "0 -1 2\n", "0 1 4294967296\n"
	};
	struct idmap m;

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		CHECK(!idmap_parse(texts[i], &m));
}

TEST("an id is there if a row has it")
{
	struct idmap m;

	CHECK(idmap_parse("0 1000 1\n10 100000 5\n", &m));
	CHECK(idmap_has(&m, 0));
	CHECK(!idmap_has(&m, 1));
	CHECK(!idmap_has(&m, 9));
	CHECK(idmap_has(&m, 10));
	CHECK(idmap_has(&m, 14));
	CHECK(!idmap_has(&m, 15));
	CHECK(!idmap_has(&m, 4294967295u));
}

static const char subordinate[] = "# a comment\n"
				  "ann:100000:65536\n"
				  "bob:165536:65536\n"
				  "ann:300000:10\n"
				  "1000:400000:5\n"
				  "ann:x:10\n"
				  "ann:500000\n"
				  "ann:0:5\n"
				  "ann:4294967295:2\n"
				  "ann:600000:4294967294\n"
				  "annette:700000:5";

TEST("an account's ranges follow each other from 1 on")
{
	struct idmap m;

	idmap_plan(subordinate, "ann", 1000, 1000, &m);
	CHECK_INT(m.n, 4);
	CHECK_INT(m.rows[0].inside, 0);
	CHECK_INT(m.rows[0].outside, 1000);
	CHECK_INT(m.rows[0].count, 1);
	CHECK_INT(m.rows[1].inside, 1);
	CHECK_INT(m.rows[1].outside, 100000);
	CHECK_INT(m.rows[2].inside, 65537);
	CHECK_INT(m.rows[2].outside, 300000);
	CHECK_INT(m.rows[3].inside, 65547);
	CHECK_INT(m.rows[3].outside, 400000);
	CHECK_INT(m.rows[3].count, 5);
}

TEST("a range may be given to a number, whose account need not exist")
{
	struct idmap m;

	idmap_plan(subordinate, NULL, 1000, 77, &m);
	CHECK_INT(m.n, 2);
	CHECK_INT(m.rows[0].outside, 77);
	CHECK_INT(m.rows[1].inside, 1);
	CHECK_INT(m.rows[1].outside, 400000);
}

TEST("without a range there is one id")
{
	struct idmap m;

	idmap_plan("", "ann", 1000, 1000, &m);
	CHECK_INT(m.n, 1);
	idmap_plan(subordinate, "carl", 1001, 1001, &m);
	CHECK_INT(m.n, 1);
	CHECK(idmap_has(&m, 0));
	CHECK(!idmap_has(&m, 1));
}
