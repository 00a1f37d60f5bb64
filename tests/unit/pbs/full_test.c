// SPDX-License-Identifier: Apache-2.0
#include <stdlib.h>
#include <time.h>

#include "base/jsonx.h"
#include "base/mem.h"
#include "pbs/qstat_full.h"
#include "test.h"

/* The job of the manual. */
static const char job_text[] =
	"{'metadata':{'name':'380963','creationTimestamp':'2019-03-27T20:34:49Z'},"
	"'spec':{'name':'testjob','owner':'userx','submitHost':'gwork','queue':'batch','priority':0,'rerunnable':true,"
	"'errorPath':'gwork:/ghome/userx/$PBS_JOBID.err','outputPath':'gwork:/ghome/userx/$PBS_JOBID.out',"
	"'hold':'n','joinPath':'n','keepFiles':'n','resources':{'walltime':'168:00:00','nodes':'1:gpus=1:S'},"
	"'env':{'PBS_O_QUEUE':'batch','PBS_O_HOME':'/ghome/userx','PBS_O_LOGNAME':'userx','PBS_O_HOST':'gwork',"
	"'PBS_O_WORKDIR':'/ghome/userx'},'submitArgs':'myjob.pbs'},"
	"'status':{'id':'380963.Ghead','sequence':380963,'state':'R','execHost':'G102/0','execGpus':'G102-gpu/6',"
	"'sessionId':24211,'egroup':'users','comment':'Job started on Wed Mar 27 at 20:34',"
	"'queueTime':'2019-03-27T20:34:49Z','eligibleTime':'2019-03-27T20:34:49Z','startTime':'2019-03-27T20:34:49Z',"
	"'startCount':1,'resourcesUsed':{'mem':'5640kb','cput':'00:00:07','walltime':'00:41:09','vmem':'335048kb'}}}";

/* JSON with ' for ". */
static json_t *object(const char *text)
{
	struct err e = ERR_INIT;
	char *copy = strdup(text);
	json_t *v = NULL;

	for (char *p = copy; *p; p++)
		if (*p == '\'')
			*p = '"';
	CHECK_INT(jsonx_parse(copy, strlen(copy), NULL, NULL, &v, &e), 0);
	free(copy);
	return v;
}

static char *listing(enum full_form form, const char *const *jobs, size_t n)
{
	struct sbuf out = SBUF(1 << 20);
	struct full f = { .form = form, .sort = &full_jobs, .out = &out, .delimiter = "|" };
	struct pbs_view v = { .server = "Ghead", .now = 1553692558, .host_style = 6 };

	setenv("TZ", "UTC", 1);
	tzset();
	full_begin(&f);
	for (size_t i = 0; i < n; i++) {
		auto_attributes struct pbs_attributes a = { 0 };
		auto_sbuf struct sbuf id = SBUF(256);
		json_auto_t *job = object(jobs[i]);

		pbs_attributes_of(job, &v, &a);
		pbs_job_id(job, v.server, &id);
		full_add(&f, id.p, &a);
	}
	full_end(&f, "Ghead", v.now);
	return sbuf_steal(&out);
}

#define CHECK_OUT(got, want)                                                                                           \
	do {                                                                                                           \
		char *out_ = (got);                                                                                    \
		CHECK_STR(out_, want);                                                                                 \
		free(out_);                                                                                            \
	} while (0)

TEST("a full listing has Torque's attributes in Torque's order")
{
	CHECK_OUT(listing(FULL_TEXT, (const char *const[]){ job_text }, 1),
		  "Job Id: 380963.Ghead\n"
		  "    Job_Name = testjob\n"
		  "    Job_Owner = userx@gwork\n"
		  "    resources_used.cput = 00:00:07\n"
		  "    resources_used.vmem = 335048kb\n"
		  "    resources_used.walltime = 00:41:09\n"
		  "    resources_used.mem = 5640kb\n"
		  "    job_state = R\n"
		  "    queue = batch\n"
		  "    server = Ghead\n"
		  "    Checkpoint = u\n"
		  "    ctime = Wed Mar 27 20:34:49 2019\n"
		  "    Error_Path = gwork:/ghome/userx/$PBS_JOBID.err\n"
		  "    exec_host = G102/0\n"
		  "    exec_gpus = G102-gpu/6\n"
		  "    Hold_Types = n\n"
		  "    Join_Path = n\n"
		  "    Keep_Files = n\n"
		  "    Mail_Points = a\n"
		  "    mtime = Wed Mar 27 20:34:49 2019\n"
		  "    Output_Path = gwork:/ghome/userx/$PBS_JOBID.out\n"
		  "    Priority = 0\n"
		  "    qtime = Wed Mar 27 20:34:49 2019\n"
		  "    Rerunable = True\n"
		  "    Resource_List.nodect = 1\n"
		  "    Resource_List.nodes = 1:gpus=1:S\n"
		  "    Resource_List.walltime = 168:00:00\n"
		  "    session_id = 24211\n"
		  "    Variable_List = PBS_O_QUEUE=batch,PBS_O_HOME=/ghome/userx,\n"
		  "\tPBS_O_LOGNAME=userx,PBS_O_HOST=gwork,PBS_O_WORKDIR=/ghome/userx\n"
		  "    euser = userx\n"
		  "    egroup = users\n"
		  "    comment = Job started on Wed Mar 27 at 20:34\n"
		  "    etime = Wed Mar 27 20:34:49 2019\n"
		  "    submit_args = myjob.pbs\n"
		  "    start_time = Wed Mar 27 20:34:49 2019\n"
		  "    start_count = 1\n"
		  "    submit_host = gwork\n"
		  "    Walltime.Remaining = 602331\n"
		  "\n");
}

static const char array_text[] =
	"{'metadata':{'name':'189','creationTimestamp':'2019-03-27T20:34:49Z'},"
	"'spec':{'name':'sweep','owner':'u','queue':'batch','array':{'request':'0-9','slots':2},'hold':'n',"
	"'dependencies':[{'type':'afterok','jobs':['1.Ghead','2']},{'type':'on','count':3}],"
	"'env':{'A':'x,y','B':'l1\\nl2'},'interactive':false,'resources':{'walltime':'1:0','mem':'64GB'},"
	"'executionTime':'2019-03-28T00:00:00Z','mail':{'points':'abe','users':['u','v@w']},'rerunnable':false,"
	"'arguments':['a','b'],'attributes':{'job_radix':'4','x':'QOS:high'}},"
	"'status':{'id':'189[].Ghead','state':'H','startTime':'2019-03-27T21:00:00Z',"
	"'completionTime':'2019-03-27T21:00:05Z','exitStatus':271}}";

TEST("how long a job was there is told to the microsecond where that is known")
{
	static const char *const job = "{'metadata':{'name':'7'},'spec':{'name':'n','owner':'u'},"
				       "'status':{'id':'7.G','state':'C','startTime':'2019-03-27T21:00:00Z',"
				       "'completionTime':'2019-03-27T21:00:05Z','totalRuntime':'4.250001'}}";
	auto_free char *text = listing(FULL_WHOLE, &job, 1);

	CHECK(strstr(text, "\n    total_runtime = 4.250001\n") != NULL);
}

TEST("whatever a job may have is listed, and nothing breaks a line")
{
	CHECK_OUT(listing(FULL_WHOLE, (const char *const[]){ array_text }, 1),
		  "Job Id: 189[].Ghead\n"
		  "    Job_Name = sweep\n"
		  "    Job_Owner = u\n"
		  "    job_state = H\n"
		  "    queue = batch\n"
		  "    server = Ghead\n"
		  "    Checkpoint = u\n"
		  "    ctime = Wed Mar 27 20:34:49 2019\n"
		  "    depend = afterok:1.Ghead:2,on:3\n"
		  "    Execution_Time = Thu Mar 28 00:00:00 2019\n"
		  "    Hold_Types = s\n"
		  "    interactive = False\n"
		  "    Join_Path = n\n"
		  "    Keep_Files = n\n"
		  "    Mail_Points = abe\n"
		  "    Mail_Users = u,v@w\n"
		  "    mtime = Wed Mar 27 21:00:05 2019\n"
		  "    Priority = 0\n"
		  "    qtime = Wed Mar 27 20:34:49 2019\n"
		  "    Rerunable = False\n"
		  "    Resource_List.mem = 64gb\n"
		  "    Resource_List.nodect = 1\n"
		  "    Resource_List.walltime = 00:01:00\n"
		  "    Variable_List = A=x\\,y,B=l1\\nl2\n"
		  "    euser = u\n"
		  "    exit_status = 271\n"
		  "    job_array_request = 0-9%2\n"
		  "    start_time = Wed Mar 27 21:00:00 2019\n"
		  "    comp_time = Wed Mar 27 21:00:05 2019\n"
		  "    job_radix = 4\n"
		  "    total_runtime = 5.000000\n"
		  "    job_arguments = a b\n"
		  "    x = QOS:high\n"
		  "\n");
}

TEST("XML is one line, with moments as seconds and resources nested")
{
	char *out = listing(FULL_XML, (const char *const[]){ job_text }, 1);

	CHECK_INT(
		strncmp(out,
			"<?xml version=\"1.0\"?>\n<Data><Job><Job_Id>380963.Ghead</Job_Id><Job_Name>testjob</Job_Name>"
			"<Job_Owner>userx@gwork</Job_Owner><resources_used><cput>00:00:07</cput>"
			"<vmem>335048kb</vmem><walltime>00:41:09</walltime><mem>5640kb</mem></resources_used>"
			"<job_state>R</job_state>",
			200),
		0);
	CHECK(strstr(out, "<ctime>1553718889</ctime>"));
	CHECK(strstr(out, "<Resource_List><nodect>1</nodect><nodes>1:gpus=1:S</nodes><walltime>168:00:00</walltime>"
			  "</Resource_List>"));
	CHECK(strstr(out, "<Walltime><Remaining>602331</Remaining></Walltime></Job></Data>\n"));
	free(out);
	CHECK_OUT(listing(FULL_XML, NULL, 0), "<?xml version=\"1.0\"?>\n<Data></Data>\n");
}

TEST("JSON is OpenPBS's: keyed by id, with its states of arrays")
{
	char *out = listing(FULL_JSON, (const char *const[]){ job_text, array_text }, 2);
	struct err e = ERR_INIT;
	json_auto_t *doc = NULL;
	const json_t *job;

	CHECK_INT(jsonx_parse(out, strlen(out), NULL, NULL, &doc, &e), 0);
	CHECK_STR(jsonx_str(doc, "pbs_server"), "Ghead");
	CHECK_INT(jsonx_int_or(doc, "timestamp", 0), 1553692558);
	job = json_object_get(jsonx_at(doc, "Jobs"), "380963.Ghead");
	CHECK_STR(jsonx_str(job, "Resource_List.walltime"), "168:00:00");
	CHECK_INT(jsonx_int_or(job, "Resource_List.nodect", 0), 1);
	CHECK_STR(jsonx_str(job, "Variable_List.PBS_O_HOST"), "gwork");
	CHECK_STR(jsonx_str(job, "ctime"), "Wed Mar 27 20:34:49 2019");
	job = json_object_get(jsonx_at(doc, "Jobs"), "189[].Ghead");
	CHECK_INT(jsonx_int_or(job, "Exit_status", 0), 271);
	CHECK_STR(jsonx_str(job, "Variable_List.A"), "x,y");
	CHECK_STR(jsonx_str(job, "Variable_List.B"), "l1\nl2");
	free(out);
}

TEST("a job that is not whole is listed as far as it goes")
{
	char *out = listing(FULL_TEXT, (const char *const[]){ "{'metadata':{'name':'7'},'spec':{'array':{}}}" }, 1);

	CHECK_INT(strncmp(out, "Job Id: 7[].Ghead\n    Job_Name = STDIN\n    Job_Owner = \n    job_state = Q\n", 40),
		  0);
	free(out);
}

TEST("a job says where its output goes, also if it was not told")
{
	static const struct {
		const char *spec, *id, *out, *err;
	} rows[] = {
		{ "'name':'n','workingDir':'/w','submitHost':'h'", "7.G", "h:/w/n.o7", "h:/w/n.e7" },
		{ "'name':'a/n','workingDir':'/w'", "7.G", "/w/n.o7", "/w/n.e7" },
		{ "'name':'n','workingDir':'/w','submitHost':'h','array':{}", "7[].G", "h:/w/n.o7", "h:/w/n.e7" },
		{ "'name':'n-13','workingDir':'/w','submitHost':'h','array':{}", "7[13].G", "h:/w/n.o7-13",
		  "h:/w/n.e7-13" },
		{ "'name':'n-3','workingDir':'/w','outputPath':'h:/r','errorPath':'h:/dev/null'", "7[3].G", "h:/r-3",
		  "h:/dev/null" },
		{ "'name':'n-3','workingDir':'/w','outputPath':'h:/$PBS_ARRAYID','attributes':{'array_separator':'.'}",
		  "7[3].G", "h:/$PBS_ARRAYID", "/w/n.e7.3" },
		{ "'name':'n'", "7.G", NULL, NULL },
		{ "'name':'n','workingDir':'/w','interactive':true", "7.G", NULL, NULL },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		auto_free char *text =
			xasprintf("{'spec':{%s},'status':{'sequence':7,'id':'%s'}}", rows[i].spec, rows[i].id);
		json_auto_t *job = object(text);
		struct pbs_attributes a = { 0 };
		struct pbs_view v = { .server = "G" };

		pbs_attributes_of(job, &v, &a);
		CHECK(str_same(pbs_attributes_find(&a, "Output_Path", NULL), rows[i].out));
		CHECK(str_same(pbs_attributes_find(&a, "Error_Path", NULL), rows[i].err));
		pbs_attributes_done(&a);
	}
}

TEST("dsv is a line a job, with its delimiter escaped")
{
	const char *const jobs[] = { job_text };
	auto_free char *out = listing(FULL_DSV, jobs, 1);

	CHECK(str_starts(out, "Job Id: "));
	CHECK(strstr(out, "|job_state=") != NULL);
	CHECK(strstr(out, "|Resource_List.nodes=") != NULL);
	CHECK_INT(strchr(out, '\n') - out, (int)strlen(out) - 1);
}
