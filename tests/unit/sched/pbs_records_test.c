// SPDX-License-Identifier: Apache-2.0
#include "sched/pbs_records.h"

#include "base/jsonx.h"
#include "base/mem.h"
#include "test.h"

#define NOW 1795000100

/* "S;7.G;1795000010\n" for each record, with its text if `texts`. */
struct heard {
	struct sbuf out;
	bool texts;
};

static void hear(void *arg, const struct pbs_record *r)
{
	struct heard *h = arg;

	pbs_record_name(r, &h->out);
	if (h->texts)
		sbuf_addf(&h->out, " %s", r->text);
	sbuf_addc(&h->out, '\n');
}

static json_t *job_of(const char *spec, const char *status)
{
	json_error_t e;
	auto_free char *text = xasprintf("{'metadata':{'creationTimestamp':'2026-11-18T09:46:40Z','uid':'u'},"
					 "'spec':{'owner':'anna','name':'train','queue':'batch'%s},"
					 "'status':{'id':'7.G','sequence':7%s}}",
					 spec, status);

	for (char *p = text; *p; p++)
		*p = *p == '\'' ? '"' : *p;
	return json_loads(text, 0, &e);
}

static void see(struct pbs_seen *seen, struct heard *h, const char *spec, const char *status, const char *expected)
{
	json_auto_t *job = job_of(spec, status);

	sbuf_reset(&h->out);
	pbs_records(job, seen, NOW, hear, h);
	CHECK_STR(h->out.p ? h->out.p : "", expected);
}

#define START "'startTime':'2026-11-18T09:46:50Z'"
#define AGAIN "'startTime':'2026-11-18T09:47:00Z'"
#define END   "'completionTime':'2026-11-18T09:48:00Z'"

TEST("the life of a job is a record for each change")
{
	static const struct {
		const char *spec, *status, *expected;
	} rows[] = {
		{ "", ",'state':'Q'", "Q;7.G;0\n" },
		{ "", ",'state':'Q','comment':'waits'", "" },
		{ "", ",'state':'R','startCount':1," START, "S;7.G;1794995210\n" },
		{ "", ",'state':'R','startCount':1,'sessionId':77," START, "" },
		{ "", ",'state':'Q','startCount':1", "R;7.G;0\n" },
		{ "", ",'state':'R','startCount':2," AGAIN, "S;7.G;1794995220\n" },
		{ ",'cancel':{'by':'root'}", ",'state':'E','startCount':2," AGAIN, "D;7.G;0\n" },
		{ ",'cancel':{'by':'root'}", ",'state':'C','exitStatus':271,'startCount':2," AGAIN "," END,
		  "E;7.G;1794995280\n" },
		{ ",'cancel':{'by':'root'}",
		  ",'state':'C','exitStatus':271,'startCount':2,'comment':'x'," AGAIN "," END, "" },
	};
	struct heard h = { .out = SBUF(65536) };
	struct pbs_seen seen = { 0 };

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		see(&seen, &h, rows[i].spec, rows[i].status, rows[i].expected);
	sbuf_reset(&h.out);
	pbs_records_gone(&seen, NOW, hear, &h);
	CHECK_INT(h.out.n, 0);
	pbs_seen_done(&seen);
	sbuf_done(&h.out);
}

TEST("what never ran has no end, but a deletion or an abortion")
{
	struct heard h = { .out = SBUF(65536), .texts = true };
	struct pbs_seen deleted = { 0 }, aborted = { 0 }, taken = { 0 };

	see(&deleted, &h, ",'cancel':{'by':'root'}", ",'state':'C'," END,
	    "Q;7.G;0 queue=batch\nD;7.G;0 requestor=root\n");
	see(&aborted, &h, "", ",'state':'C','comment':'Job deleted as result'," END,
	    "Q;7.G;0 queue=batch\nA;7.G;0 comment=\"Job deleted as result\"\n");
	see(&taken, &h, "", ",'state':'R','startCount':3",
	    "Q;7.G;0 queue=batch\n"
	    "R;7.G;0 user=anna queue=batch run_count=3\n");
	sbuf_reset(&h.out);
	pbs_records_gone(&taken, NOW, hear, &h);
	CHECK_STR(h.out.p, "D;7.G;0 \n");
	pbs_seen_done(&deleted);
	pbs_seen_done(&aborted);
	pbs_seen_done(&taken);
	sbuf_done(&h.out);
}

TEST("an end has all of Torque's keys in their order")
{
	struct heard h = { .out = SBUF(65536), .texts = true };
	struct pbs_seen seen = { .queued = true, .starts = 1, .id = xstrdup("7.G") };

	see(&seen, &h,
	    ",'account':'a \\\"b','submitHost':'gwork','resources':{'walltime':'01:00:00','nodes':'2:ppn=2'}",
	    ",'state':'C','egroup':'users','startCount':1,'execHost':'n1/0-1+n2/0-1','sessionId':77,'exitStatus':3,"
	    "'queueTime':'2026-11-18T09:46:40Z','eligibleTime':'2026-11-18T09:46:41Z',"
	    "'resourcesUsed':{'walltime':'00:01:10','cput':'00:00:07','mem':'5640kb'}," START "," END,
	    "E;7.G;1794995280 user=anna group=users account=\"a _b\" jobname=train queue=batch ctime=1794995200 "
	    "qtime=1794995200 etime=1794995201 start=1794995210 owner=anna@gwork exec_host=n1/0-1+n2/0-1 "
	    "Resource_List.nodect=2 Resource_List.nodes=2:ppn=2 Resource_List.walltime=01:00:00 session=77 "
	    "total_execution_slots=4 unique_node_count=2 end=1794995280 Exit_status=3 resources_used.cput=00:00:07 "
	    "resources_used.mem=5640kb "
	    "resources_used.walltime=00:01:10\n");
	pbs_seen_done(&seen);
	sbuf_done(&h.out);
}

TEST("elements of an array start and end each for itself")
{
	static const char array[] = ",'array':{'request':'0-3'}";
	struct heard h = { .out = SBUF(65536) };
	struct pbs_seen seen = { 0 };

	see(&seen, &h, array, ",'state':'R','active':[{'index':0,'state':'R','startCount':1," START "}]",
	    "Q;7.G;0\nS;7[0].G;1794995210\n");
	see(&seen, &h, array,
	    ",'state':'R','elements':{'C:3':'0'},'active':[{'index':1,'state':'R','startCount':1," AGAIN "}]",
	    "S;7[1].G;1794995220\nE;7[0].G;1795000100\n");
	see(&seen, &h, array, ",'state':'R','elements':{'C:3':'0'},'active':[{'index':1,'state':'Q','startCount':1}]",
	    "R;7[1].G;0\n");
	/* One that was too fast to be seen has run, those that were deleted have not. */
	see(&seen, &h, array, ",'state':'R','elements':{'C:3':'0','C:0':'2'}", "S;7[2].G;0\nE;7[2].G;1795000100\n");
	see(&seen, &h, ",'array':{'request':'0-3'},'cancel':{'elements':'1,3'}",
	    ",'state':'C'," START ",'elements':{'C:3':'0','C:0':'2','C':'1,3'}", "D;7.G;0\n");
	pbs_seen_done(&seen);
	sbuf_done(&h.out);
}

#define ENDED                                                                                                          \
	"{'index':2,'exitStatus':3,'startCount':1,'execHost':'n1/0','sessionId':77," START "," END                     \
	",'resourcesUsed':{'cput':'00:00:07','walltime':'00:01:10'}}"

TEST("an element that has ended has all of its records, once")
{
	static const char array[] = ",'array':{'request':'0-3'}";
	struct heard h = { .out = SBUF(65536), .texts = true };
	struct pbs_seen seen = { 0 };

	/* It was too fast to be seen running. */
	see(&seen, &h, array, ",'state':'R','elements':{'C:3':'2'},'ended':[" ENDED "]",
	    "Q;7.G;0 queue=batch\n"
	    "S;7[2].G;1794995210 user=anna jobname=train-2 queue=batch ctime=1794995200 qtime=1794995200 "
	    "start=1794995210 owner=anna exec_host=n1/0 Resource_List.nodect=1\n"
	    "E;7[2].G;1794995280 user=anna jobname=train-2 queue=batch ctime=1794995200 qtime=1794995200 "
	    "start=1794995210 owner=anna exec_host=n1/0 Resource_List.nodect=1 session=77 total_execution_slots=1 "
	    "unique_node_count=1 end=1794995280 Exit_status=3 "
	    "resources_used.cput=00:00:07 resources_used.walltime=00:01:10\n");
	see(&seen, &h, array, ",'state':'R','elements':{'C:3':'2'},'ended':[" ENDED "]", "");
	see(&seen, &h, array, ",'state':'R','elements':{'C:3':'2'}", "");
	pbs_seen_done(&seen);
	sbuf_done(&h.out);
}

TEST("a line says again which record it is")
{
	struct pbs_record r = { .type = 'S',
				.id = "7.G",
				.mark = 1794995210,
				.text = "user=anna account=\"x start=5\" start=1794995210 owner=anna" };
	auto_sbuf struct sbuf line = SBUF(1024), key = SBUF(1024), name = SBUF(1024), none = SBUF(1024);
	int64_t when = 0;

	pbs_record_line(&r, NOW, &line);
	pbs_record_name(&r, &name);
	CHECK(pbs_record_key((struct str){ line.p, line.n - 1 }, &key, &when));
	CHECK_STR(key.p, name.p);
	CHECK_INT(when, NOW);
	CHECK(!pbs_record_key(STR("S;7.G;x"), &none, &when));
	CHECK(!pbs_record_key(STR("yesterday;S;7.G;x"), &none, &when));
	CHECK(!pbs_record_key(STR(""), &none, &when));
}
