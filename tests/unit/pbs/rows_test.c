// SPDX-License-Identifier: Apache-2.0
#include <stdlib.h>

#include "pbs/qstat_rows.h"
#include "test.h"

static const char board[] =
	"380963.Ghead\ttestjob\tuserx\tgwork\tbatch\tR\t7\t2469\t24211\t1\t1\t\t168:00:00\tG102/0\t"
	"G102-gpu/6\tJob started on Wed Mar 27 at 20:34\t1553690089\t1:gpus=1:S\tuserx\t380963\t0\n"
	"380964.Ghead\ta_very_long_job_name_for_the_table\tusery\tgwork\tmcc\tQ\t\t\t\t1\t1\t64gb\t"
	"300:00:00\t\t\t\t1553690089\t1:gpus=2:D\tusery\t380964\t0\n"
	"381000[].Ghead\tsweep\tuserx\tgwork\tbatch\tQ\t0\t\t\t1\t1\t\t\t\t\t\t1\t1\tuserx\t381000\t0\n";

static char *plain(const char *text)
{
	struct sbuf out = SBUF(1 << 20);
	struct str rest = str_of(text);
	struct board_row r;

	qstat_plain_header(&out);
	while (board_row_next(&rest, &r))
		qstat_plain_row(&r, &out);
	return sbuf_steal(&out);
}

static char *wide(const char *text, const struct qstat_wide *w)
{
	struct sbuf out = SBUF(1 << 20);
	struct str rest = str_of(text);
	struct board_row r;

	while (board_row_next(&rest, &r))
		qstat_wide_row(&r, w, &out);
	return sbuf_steal(&out);
}

#define CHECK_OUT(got, want)                                                                                           \
	do {                                                                                                           \
		char *out_ = (got);                                                                                    \
		CHECK_STR(out_, want);                                                                                 \
		free(out_);                                                                                            \
	} while (0)

TEST("the plain listing is Torque's to the byte")
{
	CHECK_OUT(plain(board),
		  "Job ID                    Name             User            Time Use S Queue\n"
		  "------------------------- ---------------- --------------- -------- - -----\n"
		  "380963.Ghead               testjob          userx           00:00:07 R batch          \n"
		  "380964.Ghead               ...for_the_table usery                  0 Q mcc            \n"
		  "381000[].Ghead             sweep            userx                  0 Q batch          \n");
}

TEST("long ids, users and queues are cut, and no character in two")
{
	CHECK_OUT(plain("123456789012345678901234567890.S\tn\ta_user_of_sixteen@host\th\tqueue_of_sixteen\tH\t\n"),
		  "Job ID                    Name             User            Time Use S Queue\n"
		  "------------------------- ---------------- --------------- -------- - -----\n"
		  "12345678901234567890123456789 n                a_user_of_sixte        0 H queue_of_sixtee\n");
	/* Six characters of three bytes: the tail begins with a whole one. */
	CHECK_OUT(plain("1.S\t训练任务编号\tu\th\tq\tQ\n"),
		  "Job ID                    Name             User            Time Use S Queue\n"
		  "------------------------- ---------------- --------------- -------- - -----\n"
		  "1.S                        ...任务编号  u                      0 Q q              \n");
	CHECK_OUT(plain("1.S\tpath/to/some/long/name\tu\th\tq\tQ\n"),
		  "Job ID                    Name             User            Time Use S Queue\n"
		  "------------------------- ---------------- --------------- -------- - -----\n"
		  "1.S                        .../long/name    u                      0 Q q              \n");
}

TEST("a job that has just begun has used no time, which is not the same as none")
{
	CHECK_OUT(plain("1.S\tn\tu\th\tq\tR\t0\t0\n"),
		  "Job ID                    Name             User            Time Use S Queue\n"
		  "------------------------- ---------------- --------------- -------- - -----\n"
		  "1.S                        n                u               00:00:00 R q              \n");
}

TEST("the wide listing is Torque 6's to the byte")
{
	struct qstat_wide w = { .layout = 6, .host_style = 6 };
	struct sbuf head = SBUF(4096);

	qstat_wide_header("Ghead", NULL, 6, &head);
	CHECK_OUT(sbuf_steal(&head), "\nGhead: \n"
				     "                                                                                 "
				     " Req'd       Req'd       "
				     "Elap\n"
				     "Job ID                  Username    Queue    Jobname          SessID  NDS   TSK  "
				     " Memory      Time    S   "
				     "Time\n"
				     "----------------------- ----------- -------- ---------------- ------ ----- "
				     "------ --------- --------- - "
				     "---------\n");
	CHECK_OUT(
		wide(board, &w),
		"380963.Ghead            userx       batch    testjob           24211     1      1       --  168:00:00 "
		"R  00:41:09\n"
		"380964.Ghead            usery       mcc      a_very_long_job_    --      1      1      64gb 300:00:00 "
		"Q       -- \n"
		"381000[].Ghead          userx       batch    sweep               --      1      1       --        --  "
		"Q       -- \n");
}

TEST("Torque 4 had a narrower column for memory")
{
	struct qstat_wide w = { .layout = 4, .host_style = 6 };
	struct sbuf head = SBUF(4096);

	qstat_wide_header("Ghead", "closed tonight", 4, &head);
	CHECK(strstr(head.p, "\nGhead: closed tonight\n"));
	CHECK(strstr(head.p, "------ ----- ------ ------ --------- - ---------\n"));
	sbuf_done(&head);
	CHECK_OUT(wide("1.S\tn\tu\th\tq\tQ\t\t\t\t1\t1\t64gb\t1:00:00\n", &w),
		  "1.S                     u           q        n                   --      1      1   64gb   1:00:00 "
		  "Q   "
		  "    -- \n");
}

TEST("memory is shown in gigabytes or megawords, rounded up")
{
	const char *row = "1.S\tn\tu\th\tq\tQ\t\t\t\t1\t1\t1500mb\t\n";
	struct qstat_wide w = { .layout = 6, .unit = 'G' };

	CHECK_OUT(wide(row, &w), "1.S                     u           q        n                   --      1      1    "
				 "   2gb       --  Q       -- \n");
	w.unit = 'M';
	CHECK_OUT(wide(row, &w), "1.S                     u           q        n                   --      1      1    "
				 " 188mw       --  Q       -- \n");
}

TEST("nodes are on lines of their own, without domains, and on the same line with -1")
{
	const char *row = "1.S\tn\tu\th\tq\tR\t1\t9\t7\t2\t9\t\t\tg1.example/0+G102/0-1\n2.S\tn\tu\th\tq\tQ\n";
	struct qstat_wide w = { .layout = 6, .host_style = 6, .nodes = true };

	CHECK_OUT(wide(row, &w), "1.S                     u           q        n                     7     2      9    "
				 "   --        --  R  "
				 "00:00:09\n   g1+G102/0-1\n"
				 "2.S                     u           q        n                   --    --     --     "
				 "   --        --  Q  "
				 "     -- \n    -- \n");
	w.one_line = true;
	w.host_style = 4;
	CHECK_OUT(wide("1.S\tn\tu\th\tq\tR\t1\t9\t7\t2\t9\t\t\tG102/0-1+G103/0\n", &w),
		  "1.S                     u           q        n                     7     2      9       --        "
		  "--  R  "
		  "00:00:09   G102/0+G102/1+G103/0\n");
}

TEST("many nodes are wrapped before column 78")
{
	struct qstat_wide w = { .layout = 6, .host_style = 6, .nodes = true };
	struct sbuf row = SBUF(4096);
	char *out;

	sbuf_adds(&row, "1.S\tn\tu\th\tq\tR\t1\t9\t7\t2\t9\t\t\t");
	for (int i = 0; i < 12; i++)
		sbuf_addf(&row, "%scn081/%d", i ? "+" : "", i % 8);
	out = wide(row.p, &w);
	CHECK_STR(strchr(out, '\n'), "\n   cn081/0+cn081/1+cn081/2+cn081/3+cn081/4+cn081/5+cn081/6+cn081/7+cn081/0\n"
				     "   +cn081/1+cn081/2+cn081/3\n");
	sbuf_done(&row);
	free(out);
}

TEST("a comment is one line whatever it says")
{
	struct qstat_wide w = { .layout = 6, .comment = true };
	char *out = wide(
		"1.S\tn\tu\th\tq\tQ\t\t\t\t\t\t\t\t\t\tfirst\\nsecond\\tthird \\\\ end\t5\n2.S\tn\tu\th\tq\tQ\n", &w);

	CHECK(strstr(out, "\n   first second third \\ end\n"));
	CHECK(strstr(out, "\n    -- \n"));
	free(out);
}

TEST("rows that end early or have no newline are read as far as they go")
{
	struct str rest = str_of("1.S\tn\n\n2.S");
	struct board_row r;

	CHECK(board_row_next(&rest, &r));
	CHECK(str_eq(r.c[COL_NAME], "n"));
	CHECK_INT(r.c[COL_QUEUE].n, 0);
	CHECK_INT(board_row_state(&r), 'Q');
	CHECK(board_row_next(&rest, &r));
	CHECK_INT(r.c[COL_ID].n, 0);
	CHECK(board_row_next(&rest, &r));
	CHECK(str_eq(r.c[COL_ID], "2.S"));
	CHECK(str_eq(board_row_short_id(&r), "2"));
	CHECK(str_eq(board_row_server(&r), "S"));
	CHECK(!board_row_next(&rest, &r));
}
