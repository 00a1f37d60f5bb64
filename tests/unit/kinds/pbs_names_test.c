// SPDX-License-Identifier: Apache-2.0
/* pbs_names_test.c - PBS's job ids, array indexes and numbers of refusals */
#include "base/mem.h"
#include "kinds/pbs_array.h"
#include "kinds/pbs_error.h"
#include "kinds/pbs_id.h"
#include "test.h"

TEST("a job's id is a number, with brackets and servers if it has them")
{
	static const struct {
		const char *text;
		int64_t sequence; /* -1: none */
		bool array;
		const char *elements, *server, *at;
	} rows[] = {
		{ "380963", 380963, false, "", "", "" },
		{ "380963.Ghead", 380963, false, "", "Ghead", "" },
		{ "380963.Ghead:15001@other.host:1", 380963, false, "", "Ghead", "other.host" },
		{ "380963@x", 380963, false, "", "", "x" },
		{ "189[].Ghead", 189, true, "", "Ghead", "" },
		{ "189[3].Ghead", 189, true, "3", "Ghead", "" },
		{ "189[2-4]", 189, true, "2-4", "", "" },
		{ "189-3", 189, true, "3", "", "" },
		{ "189-3.Ghead", 189, true, "3", "Ghead", "" },
		{ "1.a.b.c", 1, false, "", "a.b.c", "" },
		{ "", -1, false, "", "", "" },
		{ "batch", -1, false, "", "", "" },
		{ "-3", -1, false, "", "", "" },
		{ "12x", -1, false, "", "", "" },
		{ "12.", -1, false, "", "", "" },
		{ "12@", -1, false, "", "", "" },
		{ "12[", -1, false, "", "", "" },
		{ "12[x]", -1, false, "", "", "" },
		{ "12[3]x", -1, false, "", "", "" },
		{ "12-", -1, false, "", "", "" },
		{ "12.a b", -1, false, "", "", "" },
		{ "12.a#b", -1, false, "", "", "" },
		{ "12.a:", -1, false, "", "", "" },
		{ "12.a@b@c", -1, false, "", "", "" },
		{ "9999999999999999999", -1, false, "", "", "" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct pbs_id id = { .sequence = -1 };

		CHECK_INT(pbs_id_parse(rows[i].text, &id), rows[i].sequence >= 0);
		CHECK_INT(id.sequence, rows[i].sequence);
		CHECK_INT(id.array, rows[i].array);
		CHECK_STR(id.elements, rows[i].elements);
		CHECK_STR(id.server, rows[i].server);
		CHECK_STR(id.at, rows[i].at);
	}
}

TEST("a job's id is written with brackets for arrays and their elements")
{
	auto_sbuf struct sbuf out = SBUF(1000);

	pbs_id_text(380963, PBS_PLAIN, "Ghead", &out);
	sbuf_addc(&out, ' ');
	pbs_id_text(189, PBS_ARRAY, "Ghead", &out);
	sbuf_addc(&out, ' ');
	pbs_id_text(189, 0, "Ghead", &out);
	sbuf_addc(&out, ' ');
	pbs_id_text(189, 3, "", &out);
	CHECK_STR(out.p, "380963.Ghead 189[].Ghead 189[0].Ghead 189[3]");
}

TEST("array requests are lists of indexes and ranges")
{
	static const struct {
		const char *text;
		const char *want; /* NULL: refused */
		size_t count;
		int slots;
	} rows[] = {
		{ "1", "1", 1, 0 },
		{ "0-1", "0-1", 2, 0 },
		{ "1-4", "1-4", 4, 0 },
		{ "0-2,6-8", "0-2,6-8", 6, 0 },
		{ "6-8,0-2,3", "0-3,6-8", 7, 0 },
		{ "0-9%5", "0-9", 10, 5 },
		{ "1-10:3", "1,4,7,10", 4, 0 },
		{ "1-99:2%7", NULL, 50, 7 },
		{ "0-9999999", "0-9999999", 10000000, 0 },
		{ "5,5,5", "5", 1, 0 },
		{ "qt32", NULL, 0, 0 },
		{ "5-3", NULL, 0, 0 },
		{ "", NULL, 0, 0 },
		{ "1,", NULL, 0, 0 },
		{ ",1", NULL, 0, 0 },
		{ "1-", NULL, 0, 0 },
		{ "-1", NULL, 0, 0 },
		{ "1%", NULL, 0, 0 },
		{ "1%0", NULL, 0, 0 },
		{ "1%x", NULL, 0, 0 },
		{ "1:0", NULL, 0, 0 },
		{ "1-4:0", NULL, 0, 0 },
		{ "1 ", NULL, 0, 0 },
		{ "10000000", NULL, 0, 0 },
		{ "99999999999999999999", NULL, 0, 0 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		auto_sbuf struct sbuf out = SBUF(1 << 20);
		struct pbs_set s = { 0 };
		struct err e = ERR_INIT;
		int slots = 0;

		if ((pbs_array_parse(rows[i].text, &s, &slots, &e) < 0) != !rows[i].count)
			test_fail(__FILE__, __LINE__, "%s: %s", rows[i].text, e.text);
		CHECK_INT(pbs_set_count(&s), rows[i].count);
		CHECK_INT(slots, rows[i].slots);
		pbs_set_text(&s, &out);
		if (rows[i].want)
			CHECK_STR(out.p, rows[i].want);
		pbs_set_done(&s);
	}
}

TEST("a limit of slots is refused where only indexes are asked for")
{
	struct pbs_set s = { 0 };
	struct err e = ERR_INIT;

	CHECK_INT(pbs_array_parse("0-9%5", &s, NULL, &e), -1);
	CHECK(strstr(e.text, "%5") != NULL);
}

TEST("a set of indexes does what a row of bits does")
{
	enum { SIZE = 60, STEPS = 3000 };
	bool bits[SIZE] = { 0 };
	struct pbs_set s = { 0 };
	unsigned seed = 7;

	for (int step = 0; step < STEPS; step++) {
		int first, last, pos = -1;
		size_t count = 0;
		bool add;

		seed = seed * 1103515245u + 12345;
		first = (int)(seed >> 8) % SIZE;
		last = first + (int)(seed >> 20) % 8;
		last = last < SIZE ? last : SIZE - 1;
		add = seed >> 31;
		if (add)
			pbs_set_add(&s, first, last);
		else
			pbs_set_drop(&s, first, last);
		for (int i = first; i <= last; i++)
			bits[i] = add;
		for (int i = 0; i < SIZE; i++) {
			count += bits[i];
			CHECK_INT(pbs_set_has(&s, i), bits[i]);
			if (bits[i]) {
				CHECK(pbs_set_next(&s, &pos));
				CHECK_INT(pos, i);
			}
		}
		CHECK(!pbs_set_next(&s, &pos));
		CHECK_INT(pbs_set_count(&s), count);
		for (size_t i = 1; i < s.n; i++)
			CHECK(s.r[i - 1].last + 1 < s.r[i].first);
	}
	pbs_set_done(&s);
}

TEST("a refusal's number survives on its way in an error's text")
{
	struct err e = ERR_INIT;
	const char *words = NULL;

	CHECK_INT(pbs_error_set(&e, ERR_FORBIDDEN, PBSE_UNKQUE, "requested queue %s", "not found"), -1);
	CHECK_INT(e.kind, ERR_FORBIDDEN);
	CHECK_STR(e.text, "PBS 15020: Unknown queue MSG=requested queue not found");
	err_prefix(&e, "pbsjobs PBS jobs PBS 12: x");
	CHECK_INT(pbs_error_find(e.text, &words), PBSE_UNKQUE);
	CHECK_STR(words, "Unknown queue MSG=requested queue not found");
	pbs_error_set(&e, ERR_INVALID, PBSE_UNKJOBID, NULL);
	CHECK_STR(e.text, "PBS 15001: Unknown Job Id Error");
	CHECK_INT(pbs_error_find("PBS 150200: no", &words), 0);
	CHECK_INT(pbs_error_find("connection refused", &words), 0);
	CHECK_STR(pbs_error_text(PBSE_NOATTR), "Undefined attribute ");
	CHECK_STR(pbs_error_text(1), "Unknown error");
	CHECK_INT(PBSE_UNKJOBID % 256, 153);
	CHECK_INT(PBSE_EXCQRESC % 256, 190);
}
