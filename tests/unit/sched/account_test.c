// SPDX-License-Identifier: Apache-2.0
#include "sched/account.h"

#include "base/mem.h"
#include "test.h"

static struct account_columns ours(void)
{
	auto_sbuf struct sbuf title = SBUF(ACCOUNT_LINE_MAX);
	struct err e = ERR_INIT;
	struct account_columns c;

	account_title(&title);
	CHECK_INT(account_columns_read((struct str){ title.p, title.n - 1 }, &c, &e), 0);
	return c;
}

static struct account_record sample(void)
{
	struct account_record r = { .job = STR("train"),
				    .ns = STR("ada"),
				    .kind = STR("Job"),
				    .user = STR("ada"),
				    .group = STR(""),
				    .queue = STR("batch"),
				    .submitted = 1000,
				    .started = 1010,
				    .ended = 1110,
				    .pods = 2,
				    .gpus = 1.25,
				    .cpus_milli = 4000,
				    .memory_bytes = 1 << 30,
				    .walltime = ACCOUNT_NO_LIMIT,
				    .state = ACCOUNT_SUCCEEDED,
				    .uid = STR("01234567-89ab-cdef"),
				    .gang = STR("") };

	r.use = account_use_for(&r, 100);
	return r;
}

TEST("a record is a short line, and is read back as it was")
{
	struct account_columns c = ours();
	struct account_record r = sample();
	auto_sbuf struct sbuf line = SBUF(ACCOUNT_LINE_MAX);
	struct account_record back;
	struct err e = ERR_INIT;

	account_write(&r, &line);
	CHECK_STR(line.p, "train,ada,Job,ada,,batch,0,1000,1010,1110,2,1.25,4000,1073741824,,Succeeded,"
			  "01234567-89ab-cdef,,,,\n");
	CHECK_INT(account_read(&c, (struct str){ line.p, line.n - 1 }, &back, &e), 0);
	CHECK(str_eq(back.job, "train") && str_eq(back.uid, "01234567-89ab-cdef") && !back.gang.n);
	CHECK_INT(back.walltime, ACCOUNT_NO_LIMIT);
	CHECK_INT(back.state, ACCOUNT_SUCCEEDED);
	CHECK(back.use.gpu == 125 && back.use.cpu == 400 && back.use.memory == 100);
}

TEST("use that does not follow from the rest is written out")
{
	struct account_columns c = ours();
	struct account_record r = sample();
	auto_sbuf struct sbuf line = SBUF(ACCOUNT_LINE_MAX);
	struct account_record back;
	struct err e = ERR_INIT;

	r.use.gpu = 75.5;
	account_write(&r, &line);
	CHECK(strstr(line.p, ",75.5,400,100\n") != NULL);
	CHECK_INT(account_read(&c, (struct str){ line.p, line.n - 1 }, &back, &e), 0);
	CHECK(back.use.gpu == 75.5);
}

TEST("names with commas, quotes and line ends cannot break a line")
{
	static const struct {
		const char *name, *back;
	} rows[] = { { "a,b", "a,b" }, { "say \"x\"", "say 'x'" }, { "a\nb", "a b" }, { " a", " a" }, { "", "" } };
	struct account_columns c = ours();

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct account_record r = sample();
		auto_sbuf struct sbuf line = SBUF(ACCOUNT_LINE_MAX);
		struct account_record back;
		struct err e = ERR_INIT;

		r.user = str_of(rows[i].name);
		account_write(&r, &line);
		CHECK(strchr(line.p, '\n') == line.p + line.n - 1);
		CHECK_INT(account_read(&c, (struct str){ line.p, line.n - 1 }, &back, &e), 0);
		CHECK(str_eq(back.user, rows[i].back));
		CHECK(str_eq(back.queue, "batch"));
	}
}

TEST("columns are found by their names, in any order, and those that are not there are empty")
{
	struct account_columns c;
	struct account_record r;
	struct err e = ERR_INIT;

	CHECK_INT(account_columns_read(STR("ended,colour,started,job,gpus\r"), &c, &e), 0);
	CHECK_INT(account_read(&c, STR("30,red,10,j,2\r"), &r, &e), 0);
	CHECK(str_eq(r.job, "j") && r.gpus == 2 && r.use.gpu == 40);
	CHECK_INT(r.pods, 1);
	CHECK_INT(r.walltime, ACCOUNT_NO_LIMIT);
	CHECK_INT(account_columns_read(STR("job,started"), &c, &e), -1);
	CHECK_STR(e.text, "the title line has no column \"ended\"");
}

TEST("a bad line is refused, and the column named")
{
	static const struct {
		const char *line, *says;
	} rows[] = {
		{ "j,x,20,1,", "started: \"x\" is not what it should be" },
		{ "j,10,20,-1,", "gpus: \"-1\" is not what it should be" },
		{ "j,10,20,nan,", "gpus: \"nan\" is not what it should be" },
		{ "j,10,20,1,Gone", "state: \"Gone\" is not what it should be" },
		{ "j,10,5,1,", "ended: 5 is before its start" },
		{ "j,-10,5,1,", "a time or an amount below 0" },
		{ "j,99999999999999999999,5,1,", "started: \"99999999999999999999\" is not what it should be" },
	};
	struct account_columns c;
	struct err e = ERR_INIT;

	CHECK_INT(account_columns_read(STR("job,started,ended,gpus,state"), &c, &e), 0);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct account_record r;

		CHECK_INT(account_read(&c, str_of(rows[i].line), &r, &e), -1);
		CHECK_STR(e.text, rows[i].says);
	}
}

TEST("of a record that reaches over the ends of a time the part in it counts")
{
	static const struct {
		int64_t from, to;
		double gpu;
	} rows[] = {
		{ 0, 5000, 125 },   { 1060, 5000, 62.5 }, { 0, 1060, 62.5 },
		{ 1050, 1070, 25 }, { 0, 1010, 0 },       { 1110, 9999, 0 },
	};
	struct account_record r = sample();

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		CHECK(account_use_between(&r, rows[i].from, rows[i].to, 9999).gpu == rows[i].gpu);
	r.ended = 0;
	CHECK(account_use_between(&r, 0, 5000, 1020).gpu == 12.5);
}
