// SPDX-License-Identifier: Apache-2.0
/* lists_test.c - the small languages of -l, -v, -a, -o, -W depend and umask */
#include <stdlib.h>
#include <time.h>

#include "base/jsonx.h"
#include "base/mem.h"
#include "pbs/checks.h"
#include "pbs/config.h"
#include "pbs/depend.h"
#include "pbs/paths.h"
#include "pbs/resources.h"
#include "pbs/variables.h"
#include "pbs/when.h"
#include "test.h"

static void shown(const struct pairs *p, struct sbuf *out)
{
	for (size_t i = 0; i < p->n; i++)
		sbuf_addf(out, "[%s=%s]", p->items[i].name, p->items[i].value);
}

TEST("lists of resources are divided, checked and brought to their normal form")
{
	static const struct {
		const char *text;
		enum resources_result result;
		const char *want;
	} rows[] = {
		{ "nodes=1:gpus=1:S", RESOURCES_OK, "[nodes=1:gpus=1:S]" },
		{ "nodes=1:gpus=4:C,walltime=1000:00:00", RESOURCES_OK, "[nodes=1:gpus=4:C][walltime=1000:00:00]" },
		{ "walltime=60,mem=2097152K", RESOURCES_OK, "[walltime=00:01:00][mem=2097152kb]" },
		{ "gres='a,b',qos=\"x y\"", RESOURCES_OK, "[gres=a,b][qos=x y]" },
		{ "geometry=[0,1],mem=5", RESOURCES_OK, "[geometry=[0,1]][mem=5b]" },
		{ " mem = 1gb , nice=5 ", RESOURCES_OK, "[mem=1gb][nice=5]" },
		{ "mem=1gb,mem=2gb", RESOURCES_OK, "[mem=2gb]" },
		{ "software=a=b", RESOURCES_OK, "[software=a=b]" },
		{ "nodes=1,", RESOURCES_ILLEGAL, NULL },
		{ ",nodes=1", RESOURCES_ILLEGAL, NULL },
		{ "", RESOURCES_ILLEGAL, NULL },
		{ "=1", RESOURCES_ILLEGAL, NULL },
		{ "nodes=1:9x", RESOURCES_ILLEGAL, NULL },
		{ "walltime=", RESOURCES_ILLEGAL, NULL },
		{ "walltime", RESOURCES_NO_VALUE, NULL },
		{ "mem=1gb,walltime", RESOURCES_NO_VALUE, NULL },
		{ "colour=red", RESOURCES_UNKNOWN, NULL },
		{ "nodes=1,procs=2", RESOURCES_MIXED, NULL },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		auto_sbuf struct sbuf got = SBUF(1000);
		struct pairs p = { 0 };
		struct err e = ERR_INIT;

		CHECK_INT(pbs_resources_add(&p, rows[i].text, FROM_ARGV, &e), rows[i].result);
		if (rows[i].result == RESOURCES_OK) {
			shown(&p, &got);
			CHECK_STR(got.p, rows[i].want);
		} else {
			CHECK(e.text[0]);
		}
		pairs_done(&p);
	}
}

TEST("a stronger word about one resource leaves the others alone")
{
	auto_sbuf struct sbuf got = SBUF(1000);
	struct pairs p = { 0 };
	struct err e = ERR_INIT;

	pbs_resources_add(&p, "walltime=1:00:00", FROM_ARGV, &e);
	pbs_resources_add(&p, "nodes=1:gpus=1:S,walltime=600:00:00", FROM_SCRIPT, &e);
	pbs_resources_add(&p, "mem=1gb", FROM_SCRIPT, &e);
	shown(&p, &got);
	CHECK_STR(got.p, "[walltime=01:00:00][nodes=1:gpus=1:S][mem=1gb]");
	pairs_done(&p);
}

static const char *lookup(const char *name)
{
	return streq(name, "HOME") ? "/ghome/u" : streq(name, "DATA") ? "/gdata/u" : streq(name, "REL") ? "x" : NULL;
}

TEST("lists of variables take quotes, escapes and the submitter's values")
{
	static const struct {
		const char *text;
		const char *want; /* NULL: refused */
	} rows[] = {
		{ "A=1", "[A=1]" },
		{ "A=1,B=2", "[A=1][B=2]" },
		{ "HOME,NOPE", "[HOME=/ghome/u][NOPE=]" },
		{ "A=,B=2", "[A=][B=2]" },
		{ "HOME=", "[HOME=]" },
		{ "a=10,var2='A,B',c=20", "[a=10][var2=A,B][c=20]" },
		{ "a=\"x,y\"", "[a=x,y]" },
		{ "a=x\\,y,b=\\z", "[a=x,y][b=\\z]" },
		{ "a='x'y,b=1", "[a='x'y][b=1]" },
		{ "a=it's,b=1", "[a=it's][b=1]" },
		{ "a=b=c", "[a=b=c]" },
		{ "a=1\n2,b=任", "[a=1\n2][b=任]" },
		{ "BASH_FUNC_x%%=() { :; }", "[BASH_FUNC_x%%=() { :; }]" },
		{ "a=1,a=2", "[a=2]" },
		{ "=1", NULL },
		{ ",A", NULL },
		{ "A,", NULL },
		{ "A,,B", NULL },
		{ "", NULL },
		{ "a='x", NULL },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		auto_sbuf struct sbuf got = SBUF(1000);
		struct pairs p = { 0 };
		int r = variables_add(&p, rows[i].text, lookup, FROM_ARGV);

		if ((r < 0) != !rows[i].want)
			test_fail(__FILE__, __LINE__, "%s: %d", rows[i].text, r);
		shown(&p, &got);
		if (r == 0)
			CHECK_STR(got.p, rows[i].want);
		pairs_done(&p);
	}
}

TEST("dependencies are types with jobs or counts")
{
	static const struct {
		const char *text;
		const char *want; /* NULL: refused */
	} rows[] = {
		{ "afterok:12", "[{\"type\":\"afterok\",\"jobs\":[\"12\"]}]" },
		{ "afterok:12:13.Ghead,afterany:14", "[{\"type\":\"afterok\",\"jobs\":[\"12\",\"13.Ghead\"]},{\"type\":"
						     "\"afterany\",\"jobs\":[\"14\"]}]" },
		{ "on:2", "[{\"type\":\"on\",\"count\":2}]" },
		{ "synccount:3", "[{\"type\":\"synccount\",\"count\":3}]" },
		{ "afterokarray:427[]", "[{\"type\":\"afterokarray\",\"jobs\":[\"427[]\"]}]" },
		{ "afterokarray:427[][5]", "[{\"type\":\"afterokarray\",\"jobs\":[\"427[][5]\"]}]" },
		{ "afterstartarray:427[].Ghead", "[{\"type\":\"afterstartarray\",\"jobs\":[\"427[].Ghead\"]}]" },
		{ "afterok:189[3].Ghead", "[{\"type\":\"afterok\",\"jobs\":[\"189[3].Ghead\"]}]" },
		{ "beforenotok:5", "[{\"type\":\"beforenotok\",\"jobs\":[\"5\"]}]" },
		{ " after : 5 , on : 1 ", "[{\"type\":\"after\",\"jobs\":[\"5\"]},{\"type\":\"on\",\"count\":1}]" },
		{ "", "[]" },
		{ "afterok", NULL },
		{ "afterok:", NULL },
		{ "afterok:x", NULL },
		{ "afterok:12:", NULL },
		{ "afterok:12,", NULL },
		{ ",afterok:12", NULL },
		{ "sometimes:12", NULL },
		{ "on:x", NULL },
		{ "on:1:2", NULL },
		{ "on", NULL },
		{ "afterokarray:427[][x]", NULL },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		auto_sbuf struct sbuf got = SBUF(1000);
		json_auto_t *list = NULL;
		struct err e = ERR_INIT;
		int r = depend_parse(rows[i].text, &list, &e);

		if ((r < 0) != !rows[i].want)
			test_fail(__FILE__, __LINE__, "%s: %s", rows[i].text, e.text);
		if (r < 0)
			continue;
		jsonx_dump(list, &got);
		CHECK_STR(got.p, rows[i].want);
	}
}

TEST("the time of -a fills up with today and moves on when past")
{
	/* 2024-03-15 14:30:20 UTC, a Friday */
	enum { NOW = 1710513020 };
	static const struct {
		const char *text;
		const char *want; /* NULL: refused */
	} rows[] = {
		{ "202501020304", "2025-01-02 03:04:00" },
		{ "202501020304.56", "2025-01-02 03:04:56" },
		{ "2501020304", "2025-01-02 03:04:00" },
		{ "6901020304", NULL }, /* 1969 */
		{ "7001020304", "1970-01-02 03:04:00" },
		{ "6801020304", "2068-01-02 03:04:00" },
		{ "12250800", "2024-12-25 08:00:00" },
		{ "01020304", "2025-01-02 03:04:00" },
		{ "03010000", "2024-03-01 00:00:00" }, /* this month is not past */
		{ "200800", "2024-03-20 08:00:00" },
		{ "140800", "2024-04-14 08:00:00" },
		{ "150800", "2024-03-15 08:00:00" },
		{ "1431", "2024-03-15 14:31:00" },
		{ "1430", "2024-03-16 14:30:00" },
		{ "0000", "2024-03-16 00:00:00" },
		{ "1500.59", "2024-03-15 15:00:59" },
		{ "200001010000", "2000-01-01 00:00:00" },
		{ "2400", NULL },
		{ "1260", NULL },
		{ "1200.60", NULL },
		{ "1200.5", NULL },
		{ "1200.", NULL },
		{ "1200.5.6", NULL },
		{ "000000", NULL },
		{ "320000", NULL },
		{ "13010000", NULL },
		{ "00010000", NULL },
		{ "12", NULL },
		{ "12345", NULL },
		{ "2024010100000", NULL },
		{ "20240101000000", NULL },
		{ "noon", NULL },
		{ "-100", NULL },
		{ "", NULL },
	};
	auto_free char *zone = getenv("TZ") ? xstrdup(getenv("TZ")) : NULL;

	setenv("TZ", "UTC", 1);
	tzset();
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		char text[32] = "";
		int64_t seconds = 0;
		bool ok = pbs_when_parse(rows[i].text, NOW, &seconds);
		time_t t = (time_t)seconds;
		struct tm tm;

		if (ok != !!rows[i].want)
			test_fail(__FILE__, __LINE__, "%s: %s", rows[i].text, ok ? "was taken" : "was refused");
		if (!ok || !rows[i].want)
			continue;
		strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S", gmtime_r(&t, &tm));
		CHECK_STR(text, rows[i].want);
	}
	if (zone)
		setenv("TZ", zone, 1);
	else
		unsetenv("TZ");
	tzset();
}

static bool is_directory(const char *path)
{
	return streq(path, "/ghome/u/p/logs") || streq(path, "/gdata/u");
}

TEST("paths of output are made absolute and get a host, and variables wait for the job")
{
	static const struct {
		const char *text;
		const char *want; /* NULL: refused */
	} rows[] = {
		{ "x.log", "gwork:/ghome/u/p/x.log" },
		{ "logs", "gwork:/ghome/u/p/logs/" },
		{ "logs/", "gwork:/ghome/u/p/logs/" },
		{ "new/", "gwork:/ghome/u/p/new/" },
		{ "/ghome/u/$PBS_JOBID.out", "gwork:/ghome/u/$PBS_JOBID.out" },
		{ "job_$PBS_JOBID.out", "gwork:/ghome/u/p/job_$PBS_JOBID.out" },
		{ "$PBS_JOBID.out", "gwork:/ghome/u/p/$PBS_JOBID.out" },
		{ "${HOME}/o", "gwork:/ghome/u/o" },
		{ "$HOME/o", "gwork:/ghome/u/o" },
		{ "~/o", "gwork:/ghome/u/o" },
		{ "$DATA/o", "gwork:/gdata/u/o" },
		{ "$DATA", "gwork:/gdata/u/" },
		{ "$REL/o", "gwork:/ghome/u/p/$REL/o" },
		{ "$PBS_O_WORKDIR/o", "gwork:/ghome/u/p/o" },
		{ "jobs/x.out ", "gwork:/ghome/u/p/jobs/x.out" },
		{ "a b", "gwork:/ghome/u/p/a b" },
		{ "other:/x/y", "other:/x/y" },
		{ "gwork:y", "gwork:/ghome/u/p/y" },
		{ "other:", "other:/ghome/u/p/" },
		{ "err:or_file", "gwork:/ghome/u/p/err:or_file" },
		{ "/tmp/x/err:or_file", "gwork:/tmp/x/err:or_file" },
		{ "/dev/null", "gwork:/dev/null" },
		{ "输出.log", "gwork:/ghome/u/p/输出.log" },
		{ "", NULL },
		{ " ", NULL },
		{ "a\nb", NULL },
		{ "a\x01", NULL },
		{ "\xff", NULL },
	};
	static const struct place at = {
		.host = "gwork", .cwd = "/ghome/u/p", .variable = lookup, .is_directory = is_directory
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		auto_sbuf struct sbuf got = SBUF(1000);

		CHECK_INT(path_prepare(rows[i].text, &at, &got), rows[i].want != NULL);
		CHECK_INT(check_path(rows[i].text), rows[i].want != NULL);
		if (rows[i].want)
			CHECK_STR(got.p, rows[i].want);
	}
}

TEST("a umask is octal where it looks like it")
{
	static const struct {
		const char *text;
		int want; /* -1: refused */
	} rows[] = {
		{ "022", 022 },  { "0022", 022 },  { "077", 077 }, { "0", 0 },     { "18", 18 },   { "22", 22 },
		{ "777", 0777 }, { "0777", 0777 }, { "189", 189 }, { "027", 027 }, { "1000", -1 }, { "07777", -1 },
		{ "999", -1 },   { "08", -1 },     { "x", -1 },    { "", -1 },     { "-1", -1 },   { "0x1", -1 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		unsigned mask = 0;
		bool ok = umask_parse(rows[i].text, &mask);

		if ((ok ? (int)mask : -1) != rows[i].want)
			test_fail(__FILE__, __LINE__, "%s: %o", rows[i].text, mask);
	}
}

TEST("names, destinations and other values are checked as Torque checks them")
{
	static const struct {
		value_check *check;
		const char *good[9], *bad[9];
	} rows[] = {
		{ check_name,
		  { "a", "testjob", "a_r_1", "1x", "a.b+c-d", "a,b=c:d@e%f~g^h", "任务", "-x" },
		  { "", "a b", "a&b", "a;b", "a/b", "$x", "a*", "`x`" } },
		{ check_priority,
		  { "0", "1023", "-1024", "+5", " 7", "-1" },
		  { "1024", "-1025", "-", "-a", "", "5x", "+-5" } },
		{ check_mail_points, { "n", "p", "a", "abef", "abe", "aj" }, { "bobo", "", "na", "x" } },
		{ check_join, { "oe", "eo", "n" }, { "o", "", "oeo" } },
		{ check_keep, { "o", "e", "oe", "eo", "n", "doe" }, { "", "x", "oo", "d", "no" } },
		{ check_yes_no, { "y", "n" }, { "", "yes", "Y" } },
		{ check_shells,
		  { "/bin/sh", "/bin/sh@a,/bin/csh", "/bin/sh@a" },
		  { "sh", "/bin/sh,/bin/csh", "", "/bin/sh@", "/a,", "bash@x" } },
		{ check_users, { "u", "u@h", "u,v@h" }, { "", "@h", "u@", "u,,v" } },
		{ check_checkpoint,
		  { "n", "s", "c", "c=5", "u", "none", "enabled,periodic,interval=60", "dir=/x" },
		  { "", "x", "c=", "c=0", "interval", "n," } },
		{ check_steps, { "1-10", "1-10:3", "0-9%2", "1-10:2%3" }, { "1", "5-3", "1-2,4", "", "x" } },
		{ check_positive, { "1", "60" }, { "0", "-1", "x", "" } },
		{ check_remove, { "o", "e", "oe" }, { "", "x", "n" } },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		for (size_t k = 0; rows[i].good[k]; k++)
			if (!rows[i].check(rows[i].good[k]))
				test_fail(__FILE__, __LINE__, "row %zu: \"%s\" refused", i, rows[i].good[k]);
		for (size_t k = 0; rows[i].bad[k]; k++)
			if (rows[i].check(rows[i].bad[k]))
				test_fail(__FILE__, __LINE__, "row %zu: \"%s\" taken", i, rows[i].bad[k]);
	}
}

TEST("a destination is a queue, a server, or both")
{
	static const char *const rows[][2] = {
		{ "batch", "batch" }, { "mcc@Ghead", "mcc" }, { "@Ghead", "" },  { "@", NULL },
		{ "", NULL },         { "a b", NULL },        { "a@b@c", NULL }, { "a@", NULL },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		auto_sbuf struct sbuf queue = SBUF(100);

		CHECK_INT(destination_queue(rows[i][0], &queue), rows[i][1] != NULL);
		if (rows[i][1])
			CHECK_STR(queue.p ? queue.p : "", rows[i][1]);
	}
}

TEST("a job's default name is that of its file, without what a name may not have")
{
	static const char *const rows[][2] = {
		{ "run.sh", "run.sh" },
		{ "/p/a b(1).sh", "a_b_1_.sh" },
		{ "任务.pbs", "任务.pbs" },
		{ "x/", "STDIN" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		auto_sbuf struct sbuf name = SBUF(1000);

		name_from_path(rows[i][0], &name);
		CHECK_STR(name.p, rows[i][1]);
	}
}

TEST("torque.cfg is names and values")
{
	auto_sbuf struct sbuf got = SBUF(1000);
	struct pairs p = { 0 };

	config_parse(STR("# comment\nSUBMITFILTER /usr/bin/f\n\n QSUBHOST = gwork \nEMPTY\n"), &p);
	shown(&p, &got);
	CHECK_STR(got.p, "[SUBMITFILTER=/usr/bin/f][QSUBHOST=gwork][EMPTY=]");
	pairs_done(&p);
}
