// SPDX-License-Identifier: Apache-2.0
/* control_test.c - choosing controllers by name */
#include "control/control.h"

#include "base/mem.h"
#include "test.h"

/* The names of a set, in the table's order. */
static const char *names_of(control_set set, struct sbuf *out)
{
	const char *name;
	size_t pos = 0;

	sbuf_reset(out);
	while (control_needs(set, &pos, &name))
		sbuf_addf(out, "%s%s", out->n ? " " : "", name);
	return out->n ? out->p : "";
}

TEST("controllers are chosen by name, all of them by a star, and left out by a minus")
{
	static const struct {
		const char *list, *chosen;
	} rows[] = {
		{ "job", "job" },
		{ "cronjob,job", "job cronjob" },
		{ " job , cronjob ", "job cronjob" },
		{ "job-controller,garbage-collector-controller", "garbagecollector job" },
		{ "job,job", "job" },
		{ "job,-cronjob", "job" },
		{ "-job", "" },
		{ "*,-*", NULL },
		{ "job,-job", NULL },
		{ "", NULL },
		{ "job,", NULL },
		{ "Job", NULL },
		{ "--job", NULL },
	};
	auto_sbuf struct sbuf names = SBUF(4096);

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct err e = ERR_INIT;
		control_set set = 0;
		int r = control_choose(rows[i].list, &set, &e);

		CHECK_INT(r, rows[i].chosen ? 0 : -1);
		if (rows[i].chosen)
			CHECK_STR(names_of(set, &names), rows[i].chosen);
		else
			CHECK(strstr(e.text, "--controllers: "));
	}
}

TEST("a star means every controller, but for those taken out")
{
	auto_sbuf struct sbuf names = SBUF(4096);
	struct err e = ERR_INIT;
	control_set all = 0;
	control_set most = 0;
	control_set job = 0;

	CHECK_INT(control_choose("*", &all, &e), 0);
	CHECK_INT(control_choose("-job,*", &most, &e), 0);
	CHECK_INT(control_choose("job", &job, &e), 0);
	CHECK(all == (most | job));
	CHECK((most & job) == 0);
	CHECK(strstr(names_of(all, &names), "garbagecollector"));
}

TEST("a name that is wrong is answered with those there are")
{
	struct err e = ERR_INIT;
	control_set set = 7;

	CHECK_INT(control_choose("jobs", &set, &e), -1);
	CHECK(strstr(e.text, "\"jobs\": there is no such controller; there are namespace, "));
	CHECK(strstr(e.text, "cronjob"));
	CHECK(set == 7);
}
