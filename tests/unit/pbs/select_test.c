// SPDX-License-Identifier: Apache-2.0
#include <stdlib.h>

#include "base/jsonx.h"
#include "base/mem.h"
#include "pbs/board.h"
#include "pbs/qstat_options.h"
#include "pbs/select.h"
#include "test.h"

static const char row_text[] =
	"380963.Ghead\ttestjob\tuserx\tgwork\tbatch\tR\t7\t9\t1\t1\t1\t\t\t\t\t\t1\t1\tuserx\t1\t-3";

static json_t *job(void)
{
	return json_pack("{s:{s:s, s:s, s:s, s:i, s:s, s:s, s:{s:s, s:s, s:s}, s:b}, s:{s:s, s:s}}", "spec", "name",
			 "testjob", "owner", "userx", "queue", "batch", "priority", -3, "account", "lab", "hold", "us",
			 "resources", "walltime", "24:00:00", "mem", "64gb", "nodes", "2:ppn=2", "rerunnable", 0,
			 "status", "id", "380963.Ghead", "state", "R");
}

/* One condition against the job above, as a row or in full. */
static bool matches(char option, const char *text)
{
	struct pbs_attributes a = { 0 };
	struct select_terms s = { 0 };
	struct str rest = str_of(row_text);
	json_auto_t *doc = job();
	struct err e = ERR_INIT;
	struct board_row r;
	bool yes;

	CHECK(board_row_next(&rest, &r));
	CHECK_INT(select_add(&s, option, text, 0, &e), 0);
	if (s.full) {
		board_row_of(doc, &r);
		pbs_attributes_of(doc, &(struct pbs_view){ .host_style = 6 }, &a);
	}
	yes = select_matches(&s, &r, &a);
	select_done(&s);
	pbs_attributes_done(&a);
	return yes;
}

TEST("qselect compares by what a value is")
{
	static const struct {
		char option;
		const char *text;
		bool matches;
	} rows[] = {
		{ 's', "R", true },
		{ 's', "EHRT", true },
		{ 's', "QW", false },
		{ 'u', "userx", true },
		{ 'u', "usery,userx@gwork", true },
		{ 'u', "userx@other", false },
		{ 'q', "batch", true },
		{ 'q', "batch@Ghead", true },
		{ 'q', "@Ghead", true },
		{ 'q', "bat", false },
		{ 'N', "testjob", true },
		{ 'N', "test", false },
		{ 'p', "-3", true },
		{ 'p', ".gt.-3", false },
		{ 'p', ".ge.-3", true },
		{ 'p', ".lt.+5", true },
		{ 'A', "lab", true },
		{ 'A', "shop", false },
		{ 'h', "u", true },
		{ 'h', "su", true },
		{ 'h', "o", false },
		{ 'r', "n", true },
		{ 'r', "y", false },
		{ 'l', "walltime.gt.3:00:00", true },
		{ 'l', "walltime=86400", true },
		{ 'l', "walltime.lt.86400", false },
		{ 'l', "mem.ge.65536mb,walltime.le.1:00:00:00", true },
		{ 'l', "mem.ge.65536mb,walltime.lt.24:00:00", false },
		{ 'l', "nodes=2:ppn=2", true },
		{ 'l', "nodect.eq.2", true },
		{ 'l', "ncpus.eq.2", false },
		{ 'l', "ncpus.ne.2", true },
		{ 'a', ".gt.202601010000", false },
		{ 'c', "u", true },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (matches(rows[i].option, rows[i].text) != rows[i].matches)
			test_fail(__FILE__, __LINE__, "-%c %s", rows[i].option, rows[i].text);
}

TEST("qselect refuses what is no value")
{
	static const struct {
		char option;
		const char *text;
	} rows[] = { { 's', "" }, { 's', "RX" },      { 'p', "" },   { 'p', ".gt.x" }, { 'r', "maybe" }, { 'l', "mem" },
		     { 'l', "" }, { 'l', "mem.ge." }, { 'l', "=5" }, { 'a', "25" },    { 'h', "x" },     { 'u', "" } };

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct select_terms s = { 0 };
		struct err e = ERR_INIT;
		char want[32];

		snprintf(want, sizeof(want), "illegal -%c value", rows[i].option);
		CHECK_INT(select_add(&s, rows[i].option, rows[i].text, 0, &e), -1);
		CHECK_STR(e.text, want);
		select_done(&s);
	}
}

TEST("a job is what people call it by, with or without server and brackets")
{
	static const struct {
		const char *row, *id;
		bool elements, is;
	} rows[] = {
		{ "380963.Ghead", "380963", false, true },
		{ "380963.Ghead", "380963.Ghead", false, true },
		{ "380963.Ghead", "380963.Ghead.example.org", false, true },
		{ "380963.Ghead", "380963.Other", false, false },
		{ "380963.Ghead", "38096", false, false },
		{ "38096.Ghead", "380963", false, false },
		{ "380963.Ghead", "380963[]", false, false },
		{ "189[].Ghead", "189[]", false, true },
		{ "189[].Ghead", "189", false, true },
		{ "189[].Ghead", "189[3]", false, false },
		{ "189[3].Ghead", "189[3].Ghead", false, true },
		{ "189[3].Ghead", "189-3", false, true },
		{ "189[3].Ghead", "189[2-4]", false, true },
		{ "189[5].Ghead", "189[2-4]", false, false },
		{ "189[3].Ghead", "189[]", false, false },
		{ "189[3].Ghead", "189[]", true, true },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct str rest = str_of(rows[i].row);
		struct board_row r;
		struct pbs_id id;

		CHECK(board_row_next(&rest, &r) && pbs_id_parse(rows[i].id, &id));
		if (board_is(&r, &id, rows[i].elements) != rows[i].is)
			test_fail(__FILE__, __LINE__, "%s and %s", rows[i].row, rows[i].id);
	}
}

/* What qstat makes of its arguments: the mode, or what it says. */
static enum qstat_mode mode_of(const char *line, const char **ret_wrong)
{
	static char kept[4096];
	struct sbuf wrong = SBUF(4096);
	struct qstat_options o = { 0 };
	char *argv[16] = { "qstat" };
	char *copy = strdup(line);
	char *save = NULL;
	int argc = 1;

	for (char *word = strtok_r(copy, " ", &save); word; word = strtok_r(NULL, " ", &save))
		argv[argc++] = word;
	kept[0] = '\0';
	if (qstat_options_parse(argc, argv, &o, &wrong) != 0)
		snprintf(kept, sizeof(kept), "%s", wrong.p);
	*ret_wrong = kept;
	sbuf_done(&wrong);
	free(copy);
	return o.mode;
}

TEST("qstat's options choose a form, or do not go together")
{
	static const struct {
		const char *line;
		enum qstat_mode mode;
		const char *wrong; /* its beginning */
	} rows[] = {
		{ "", QSTAT_PLAIN, "" },
		{ "380963 -t", QSTAT_PLAIN, "" },
		{ "-a", QSTAT_WIDE, "" },
		{ "-u userx", QSTAT_WIDE, "" },
		{ "-n -1", QSTAT_WIDE, "" },
		{ "-r -n -s -G", QSTAT_WIDE, "" },
		{ "-f", QSTAT_FULL, "" },
		{ "-f -u userx", QSTAT_FULL, "" },
		{ "-f -x 380963", QSTAT_FULL, "" },
		{ "-x", QSTAT_FULL, "" },
		{ "-f -1", QSTAT_FULL, "" },
		{ "-f -F json", QSTAT_FULL, "" },
		{ "-q", QSTAT_LIMITS, "" },
		{ "-Q -f", QSTAT_QUEUES, "" },
		{ "-B -f -1", QSTAT_SERVER, "" },
		{ "--help", QSTAT_HELP, "" },
		{ "--version", QSTAT_VERSION, "" },
		{ "-f -a", 0,
		  "qstat: conflicting options.\n -f incompatible with one or more options. Read qstat man "
		  "page\nusage:" },
		{ "-x -n", 0, "qstat: conflicting options.\n -x incompatible" },
		{ "-B -Q", 0, "qstat: conflicting options.\n -B incompatible" },
		{ "-Q -q", 0, "qstat: conflicting options.\n -Q incompatible" },
		{ "-a -r", 0, "qstat: conflicting options.\nusage:" },
		{ "-a -i", 0, "qstat: conflicting options.\nusage:" },
		{ "-a -G -M", 0, "qstat: conflicting options.\nusage:" },
		{ "-1", 0, "qstat: conflicting options.\nusage:" },
		{ "-a -1", 0, "qstat: conflicting options.\nusage:" },
		{ "-y", 0, "qstat: invalid option -- -y\nusage:" },
		{ "-F dsv", QSTAT_FULL, "" },
		{ "-F dsv -D ,", QSTAT_FULL, "" },
		{ "-F xml", 0, "qstat: illegal -F value: xml" },
		{ "-D , -f", 0, "qstat: conflicting options." },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const char *wrong;
		enum qstat_mode mode = mode_of(rows[i].line, &wrong);

		if (mode != rows[i].mode || strncmp(wrong, rows[i].wrong, strlen(rows[i].wrong)) != 0 ||
		    !*rows[i].wrong != !*wrong)
			test_fail(__FILE__, __LINE__, "qstat %s: %d, %s", rows[i].line, mode, wrong);
	}
}

TEST("-i, -r, -c and -H choose by state")
{
	struct qstat_options o = { 0 };

	o.given['i'] = true;
	CHECK(qstat_wants(&o, 'Q') && qstat_wants(&o, 'E') && !qstat_wants(&o, 'R') && !qstat_wants(&o, 'C'));
	o = (struct qstat_options){ .given['r'] = true };
	CHECK(qstat_wants(&o, 'R') && qstat_wants(&o, 'S') && !qstat_wants(&o, 'Q'));
	o = (struct qstat_options){ .given['c'] = true };
	CHECK(qstat_wants(&o, 'R') && !qstat_wants(&o, 'C'));
	o = (struct qstat_options){ .given['H'] = true };
	CHECK(!qstat_wants(&o, 'R') && qstat_wants(&o, 'C'));
}
