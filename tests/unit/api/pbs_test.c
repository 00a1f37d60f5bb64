// SPDX-License-Identifier: Apache-2.0
/* pbs_test.c - PBS jobs as they come in: numbers, owners, queues, refusals with PBS's numbers and words */
#include "api/pbs.h"

#include "api/pbs_board.h"
#include "kinds/queue.h"
#include "pbs_lab.h"

TEST("a job gets its number, owner, queue and id from the server")
{
	struct server s = lab_new();
	json_auto_t *one = NULL, *two = NULL, *array = NULL, *named = NULL;

	settings(&s, "'serverName':'Ghead'");
	one = submit(&s, &daemon_user, "default", "'name':'a'");
	two = submit(&s, &root, "daemon", "'name':'b'");
	settings(&s, "'maxJobArraySize':1000000");
	array = submit(&s, &daemon_user, "default", "'array':{'request':'0-999999%5'}");
	named = server_ask(&s, VERB_CREATE, JOBS, "daemon", NULL, "{'metadata':{'name':'mine'},'spec':{'script':'x'}}");
	CHECK_STR(s.message, "");
	CHECK_STR(jsonx_str(one, "metadata.name"), "1");
	CHECK_STR(jsonx_str(one, "status.id"), "1.Ghead");
	CHECK_STR(jsonx_str(one, "status.state"), "Q");
	CHECK(jsonx_str(one, "status.queueTime") != NULL);
	CHECK_STR(jsonx_str(one, "spec.owner"), "daemon");
	CHECK_STR(jsonx_str(one, "spec.queue"), "batch");
	CHECK_STR(json_string_value(json_object_get(jsonx_at(one, "metadata.labels"), QUEUE_LABEL)), "batch");
	CHECK_STR(jsonx_str(two, "spec.owner"), "daemon"); /* it is daemon's namespace */
	CHECK_STR(jsonx_str(array, "status.id"), "3[].Ghead");
	CHECK_STR(jsonx_str(array, "spec.array.request"), "0-999999");
	CHECK_INT(jsonx_int_or(array, "spec.array.slots", 0), 5);
	CHECK_INT(jsonx_int_or(named, "status.sequence", 0), 4);
	CHECK_STR(jsonx_str(named, "metadata.name"), "mine");
	server_done(&s);
}

TEST("numbers survive restarts, are never given twice, and can be set")
{
	struct server s = lab_new();
	json_auto_t *a = NULL, *b = NULL, *c = NULL, *d = NULL;
	struct api_request dry = server_request(&s, VERB_CREATE, JOBS, "default", NULL);

	a = submit(&s, &daemon_user, "default", "'name':'a'");
	server_do(&s, VERB_DELETE, JOBS, "default", "1", NULL);
	server_close(&s);
	server_open(&s);
	b = submit(&s, &daemon_user, "default", "'name':'a'");
	CHECK_STR(jsonx_str(b, "metadata.name"), "2");
	dry.dry_run = true;
	dry.caller = &daemon_user;
	c = server_call(&s, &dry, "{'spec':{'script':'x'}}");
	CHECK_STR(jsonx_str(c, "status.id") ? jsonx_str(c, "metadata.name") : s.message, "3");
	settings(&s, "'nextJobNumber':99999999");
	json_decref(a);
	a = submit(&s, &daemon_user, "default", "'name':'a'");
	CHECK_STR(jsonx_str(a, "metadata.name"), "99999999");
	settings(&s, "'nextJobNumber':2"); /* which is taken */
	d = submit(&s, &daemon_user, "default", "'name':'a'");
	CHECK_STR(jsonx_str(d, "metadata.name"), "3");
	CHECK_STR(refusal(&s, &daemon_user, "'name':'a'},'metadata':{'name':'77'"),
		  "PBSJob.stoker.dev \"\" is invalid: metadata.name: Invalid value: \"77\": must not be a number: "
		  "leave it out, and the job is called by its own");
	server_done(&s);
}

TEST("whose a job is, nobody but an admin says")
{
	struct server s = lab_new();

	CHECK_STR(refusal(&s, &daemon_user, "'owner':'bin'"),
		  "PBS 15007: Unauthorized Request  MSG=spec.owner is bin, but the job would be daemon's");
	CHECK_STR(refusal(&s, &daemon_user, "'owner':'daemon'"), "");
	CHECK_STR(refusal(&s, &root, "'name':'x'"),
		  "PBS 15025: Bad UID for job execution MSG=root user not allowed: user root");
	CHECK_STR(refusal(&s, &root, "'owner':'bin'"), "");
	CHECK_STR(refusal(&s, &ci, "'name':'x'"),
		  "PBS 15025: Bad UID for job execution MSG=user ci has no account on this machine");
	CHECK_STR(refusal(&s, &ci, "'image':'debian'"), "");
	CHECK_STR(refusal(&s, &daemon_user, "'userList':['bin']"),
		  "PBS 15025: Bad UID for job execution MSG=user daemon may not run jobs as bin");
	CHECK_STR(refusal(&s, &daemon_user, "'groupList':['daemon@here']"), "");
	CHECK_STR(refusal(&s, &daemon_user, "'groupList':['root']"),
		  "PBS 15047: Bad GID for job execution MSG=user daemon is not in group root");
	server_done(&s);
}

TEST("queues refuse in the words of Torque")
{
	struct server s = lab_new();
	static const struct {
		const char *queue, *job, *says;
	} rows[] = {
		{ NULL, "'queue':'none'", "PBS 15020: Unknown queue MSG=requested queue not found" },
		{ NULL, "'resources':{'walltim':'1'}",
		  "PBS 15037: Unknown resource type  MSG=detected request for an unknown resource" },
		{ NULL, "'resources':{'walltime':'soon'}",
		  "PBS 15016: Illegal attribute or resource value for MSG=Resource_List.walltime=soon: must be "
		  "a time such as 168:00:00 or 3600" },
		{ NULL, "'resources':{'walltime':'0:00'}",
		  "PBS 15016: Illegal attribute or resource value for MSG=Resource_List.walltime=0:00: must be more "
		  "than "
		  "0" },
		{ NULL, "'resources':{'mem':'much'}",
		  "PBS 15016: Illegal attribute or resource value for MSG=Resource_List.mem=much: must be a "
		  "size such as 64gb" },
		{ "'disallowedTypes':['batch']", "'name':'x'",
		  "PBS 15079: Queue does not allow batch jobs MSG=batch job is not allowed for queue: user "
		  "daemon@localhost, queue q" },
		{ "'disallowedTypes':['interactive'],'enabled':false", "'interactive':true,'submitHost':'gwork'",
		  "PBS 15078: Queue does not allow interactive jobs MSG=interactive job is not allowed for queue: "
		  "user daemon@gwork, queue q" },
		{ "'disallowedTypes':['job_array']", "'array':{'request':'1-2'}",
		  "PBS 15089: Queue does not allow job arrays MSG=job array is not allowed for queue: user "
		  "daemon@localhost, queue q" },
		{ "'disallowedTypes':['nonrerunable']", "'rerunnable':false",
		  "PBS 15081: Queue does not allow nonrerunable jobs MSG=nonrerunable job is not allowed for queue: "
		  "user daemon@localhost, queue q" },
		{ "'acl':{'groups':['wheels']},'enabled':false", "'name':'x'",
		  "PBS 15007: Unauthorized Request  MSG=group ACL is not satisfied: user daemon@localhost, queue q" },
		{ "'enabled':false,'acl':{'users':['anna']}", "'name':'x'",
		  "PBS 15023: Queue is not enabled MSG=queue is disabled: user daemon@localhost, queue q" },
		{ "'limits':{'total':{'queued':0}},'fromRouteOnly':true", "'name':'x'",
		  "PBS 15048: Maximum number of jobs already in queue MSG=total number of jobs in queue exceeds the "
		  "queue limit: user daemon@localhost, queue q" },
		{ "'limits':{'perUser':{'queued':3}}", "'array':{'request':'1-4'}",
		  "PBS 15076: Maximum number of jobs already in queue for user MSG=total number of current user's "
		  "jobs exceeds the queue limit: user daemon@localhost, queue q" },
		{ "'limits':{'perUser':{'queued':3}}", "'array':{'request':'1-3'}", "" },
		{ "'fromRouteOnly':true,'acl':{'hosts':['g1']}", "'name':'x'",
		  "PBS 15024: Access to queue is denied MSG=queue accepts only routed jobs, no direct submission: user "
		  "daemon@localhost, queue q" },
		{ "'acl':{'hosts':['g1','*.lab'],'users':['anna']}", "'submitHost':'g2'",
		  "PBS 15010: Access from host not allowed, or unknown host MSG=host ACL rejected the submitting "
		  "host: user daemon@g2, queue q" },
		{ "'acl':{'hosts':['g1','*.lab'],'users':['anna']}", "'submitHost':'g2.lab'",
		  "PBS 15007: Unauthorized Request  MSG=user ACL rejected the submitting user: user daemon@g2.lab, "
		  "queue q" },
		{ "'acl':{'users':['anna'],'groups':['daemon'],'anyOf':true}", "'name':'x'", "" },
		{ "'acl':{'users':['daemon@g1']}", "'submitHost':'g1.lab'", "" },
		{ "'acl':{'users':['daemon@*.lab']}", "'submitHost':'g1.lab'", "" },
		{ "'acl':{'users':['-daemon@g2']}", "'submitHost':'g1'", "" },
		{ "'acl':{'users':['daemon@g2']}", "'submitHost':'g1'",
		  "PBS 15007: Unauthorized Request  MSG=user ACL rejected the submitting user: user daemon@g1, queue "
		  "q" },
		{ "'acl':{'groups':['daemon']}", "'name':'x'", "" },
		{ "'acl':{'groups':['system:authenticated']}", "'name':'x'",
		  "PBS 15007: Unauthorized Request  MSG=group ACL is not satisfied: user daemon@localhost, queue q" },
		{ "'acl':{'groups':['system:authenticated'],'groupSloppy':true}", "'name':'x'", "" },
		{ "'acl':{'users':['-daemon']}", "'name':'x'",
		  "PBS 15007: Unauthorized Request  MSG=user ACL rejected the submitting user: user daemon@localhost, "
		  "queue q" },
		{ "'maxWalltime':'1:00:00'", "'resources':{'walltime':'3601'}",
		  "PBS 15038: Job exceeds queue resource limits MSG=cannot satisfy queue max walltime requirement" },
		{ "'resourcesMax':{'mem':'1gb'}", "'resources':{'mem':'1025mb'}",
		  "PBS 15038: Job exceeds queue resource limits MSG=cannot satisfy queue max mem requirement" },
		{ "'resourcesMax':{'nodect':'2'}", "'resources':{'nodes':'2:ppn=1+1'}",
		  "PBS 15038: Job exceeds queue resource limits MSG=cannot satisfy queue max nodect requirement" },
		{ "'resourcesMin':{'walltime':'600'}", "'resources':{'walltime':'10'}",
		  "PBS 15038: Job exceeds queue resource limits MSG=job violates queue min resource limits" },
		{ "'limits':{'perUser':{'gpus':1}}", "'resources':{'nodes':'1:gpus=2'}",
		  "PBS 15038: Job exceeds queue resource limits MSG=queue q allows each user 1 GPU and this needs 2" },
		{ "'containers':'required'", "'name':'x'", "" },
		{ "'containers':'required','image':'debian'", "'name':'x'", "" },
		{ "'type':'Route','destinations':['none','batch']", "'name':'x'", "" },
		{ "'type':'Route','destinations':['none']", "'name':'x'",
		  "PBS 15020: Unknown queue MSG=queue q leads to queue none, which does not exist" },
		{ "'type':'Route','destinations':['q']", "'name':'x'",
		  "PBS 15020: Unknown queue MSG=queue q leads nowhere" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		auto_free char *spec = xasprintf("%s%s", rows[i].queue ? "'queue':'q'," : "", rows[i].job);

		if (rows[i].queue)
			make_queue(&s, "q", rows[i].queue);
		CHECK_STR(refusal(&s, &daemon_user, spec), rows[i].says);
		if (rows[i].queue)
			server_do(&s, VERB_DELETE, QUEUES, "", "q", NULL);
	}
	server_done(&s);
}

TEST("nodes that could never hold a job refuse it; without nodes nobody knows")
{
	struct server s = lab_new();
	static const struct {
		const char *nodes, *says;
	} rows[] = {
		{ "1:ppn=16", "" },
		{ "1:ppn=17", CANNOT ": no node has 17 processors, but 16 at most" },
		{ "1:gpus=8:S", "" },
		{ "1:gpus=9:S", CANNOT ": no node with these properties has 9 GPUs, but 8 at most" },
		{ "1:gpus=1:s", CANNOT ": no node has property s" },
		{ "1:gpus=1:D", "" },
		{ "1:gpus=2:D", CANNOT ": no node with these properties has 2 GPUs, but 1 at most" },
		{ "g1:gpus=1", "" },
		{ "g3", CANNOT ": no node has property g3" },
		{ "2:ppn=16", "" },
		{ "3:ppn=16", CANNOT ": 2 nodes cannot hold all of it at the same time" },
		{ "1:ppn=16:S+1:ppn=16", "" },
		{ "1:gpus=8:S+1:gpus=1:D", "" },
		{ "1:gpus=1+1:gpus=8", "" },
		{ "1:gpus=2+1:gpus=8", CANNOT ": 2 nodes cannot hold all of it at the same time" },
		{ "1','mem':'64gb", "" },
		{ "1','mem':'65gb", CANNOT ": no node has 66560mb of memory, but 65536mb at most" },
		{ "3','mem':'96gb", "" },
		{ "3','mem':'97gb",
		  CANNOT ": 2 nodes cannot hold all of it at the same time" }, /* enough in all, not on each */
		{ "1:S','mem':'33gb",
		  CANNOT ": no node with these properties has 33792mb of memory, but 32768mb at most" },
		{ "1:ppn=2','pmem':'32gb", "" },
		{ "1:ppn=2','pmem':'33gb", CANNOT ": no node has 67584mb of memory, but 65536mb at most" },
		{ "2','place':'scatter", "" },
		{ "3','place':'scatter", CANNOT ": 2 nodes cannot hold all of it at the same time" },
		{ "2:gpus=8','place':'pack", CANNOT ": no node has 16 GPUs, but 8 at most" },
		{ "3','place':'excl", CANNOT ": 2 nodes cannot hold all of it at the same time" },
		{ "1:ppn=16','pmem':'7000000000gb",
		  CANNOT ": no node has 8796093022207mb of memory, but 65536mb at most" },
	};

	CHECK_STR(refusal(&s, &daemon_user, "'resources':{'nodes':'1000:gpus=8:none'}"), "");
	make_node(&s, "g1", "'property.stoker.dev/S':''", "'cpu':'16','memory':'32Gi','nvidia.com/gpu':'8'");
	make_node(&s, "g2", "'property.stoker.dev/D':''", "'cpu':'16','memory':'64Gi','nvidia.com/gpu':'1'");
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		auto_free char *spec = xasprintf("'resources':{'nodes':'%s'}", rows[i].nodes);

		CHECK_STR(refusal(&s, &daemon_user, spec), rows[i].says);
	}
	make_queue(&s, "d", "'nodeProperties':['D']");
	CHECK_STR(refusal(&s, &daemon_user, "'queue':'d','resources':{'nodes':'1:gpus=1:S'}"),
		  CANNOT ": no node has all of these properties");
	make_queue(&s, "needs", "'resourcesDefault':{'neednodes':'D:g2','nodect':'1'}");
	CHECK_STR(refusal(&s, &daemon_user, "'queue':'needs','resources':{'nodes':'1:gpus=1:S'}"),
		  CANNOT ": no node has all of these properties");
	CHECK_STR(refusal(&s, &daemon_user, "'queue':'needs','resources':{'nodes':'1:gpus=1'}"), "");
	CHECK_STR(refusal(&s, &daemon_user, "'resources':{'nodes':'1:gpus=0'}"),
		  "PBS 15016: Illegal attribute or resource value for MSG=Resource_List.nodes=1:gpus=0: "
		  "\"gpus=0\": must be a number from 1 to 65536");
	make_node(&s, "g3", "", "'cpu':'1'");
	CHECK_STR(refusal(&s, &daemon_user, "'resources':{'nodes':'g3'}"), ""); /* it has come */
	server_done(&s);
}

TEST("defaults come from the queue, then the server, and show as qstat writes them")
{
	struct server s = lab_new();
	json_auto_t *a = NULL, *b = NULL, *c = NULL, *d = NULL;

	settings(&s, "'resourcesDefault':{'walltime':'1:00:00','mem':'1GB','nodes':'1'},'resourcesMax':"
		     "{'walltime':'500:00:00'},'defaultQueue':'mcc'");
	make_queue(&s, "mcc", "'defaultWalltime':'7d','resourcesDefault':{'mem':'2gb'}");
	make_queue(&s, "most", "'maxWalltime':'48:00:00'");
	a = submit(&s, &daemon_user, "default", "'name':'a','env':{'PBS_O_HOME':'/'}");
	CHECK_STR(jsonx_str(a, "spec.queue"), "mcc");
	CHECK_STR(jsonx_str(a, "spec.env.PBS_O_QUEUE"), "mcc");
	CHECK_STR(jsonx_str(a, "spec.resources.walltime"), "168:00:00");
	CHECK_STR(jsonx_str(a, "spec.resources.mem"), "2gb");
	CHECK_STR(jsonx_str(a, "spec.resources.nodes"), "1");
	CHECK_STR(jsonx_str(a, "spec.resources.nodect"), "1");
	b = submit(&s, &daemon_user, "default", "'resources':{'walltime':'10080:0','procs':'4','mem':'2097152K'}");
	CHECK_STR(jsonx_str(b, "spec.resources.walltime"), "168:00:00");
	CHECK_STR(jsonx_str(b, "spec.resources.mem"), "2097152kb");
	CHECK(!jsonx_str(b, "spec.resources.nodes"));
	/* In another queue its defaults hold, but what was asked for stays. */
	CHECK_STR(change(&s, &daemon_user, "1", "'queue':'most'"), "");
	c = server_ask(&s, VERB_GET, JOBS, "default", "1", NULL);
	CHECK_STR(jsonx_str(c, "spec.resources.walltime"), "01:00:00");
	CHECK_STR(jsonx_str(c, "spec.resources.mem"), "1gb");
	CHECK_STR(json_string_value(json_object_get(jsonx_at(c, "metadata.labels"), QUEUE_LABEL)), "most");
	CHECK_STR(change(&s, &daemon_user, "2", "'queue':'most'"),
		  "PBS 15038: Job exceeds queue resource limits MSG=cannot satisfy queue max walltime requirement");
	settings(&s, "'defaultQueue':''");
	CHECK_STR(refusal(&s, &daemon_user, "'name':'a'"),
		  "PBS 15039: No default queue specified MSG=requested queue not found");
	settings(&s, "'resourcesDefault':null,'defaultQueue':'most'");
	d = submit(&s, &daemon_user, "default", "'name':'a'");
	CHECK_STR(jsonx_str(d, "spec.resources.walltime"), "48:00:00");
	CHECK_STR(refusal(&s, &daemon_user, "'queue':'batch','resources':{'walltime':'501:00:00'}"),
		  "PBS 15038: Job exceeds queue resource limits MSG=cannot satisfy server max walltime requirement");
	server_done(&s);
}

TEST("indexes of arrays are Torque's, unless the server takes larger arrays")
{
#define BEYOND(index_, most_)                                                                                          \
	"PBS 15083: Bad Job Array Request MSG=index " index_ ": must be at most " most_                                \
	"; a larger max_job_array_size allows more"
	static const struct {
		int most; /* max_job_array_size */
		const char *request, *says;
	} rows[] = {
		{ 0, "0-99999", "" },
		{ 0, "99999", "" },
		{ 0, "100000", BEYOND("100000", "99999") },
		{ 0, "1-100001%5", BEYOND("100001", "99999") },
		{ 0, "0-10:2,3,200000", BEYOND("200000", "99999") },
		{ 10, "99990-99999", "" },
		{ 10, "99995-100000", BEYOND("100000", "99999") },
		{ 1000000, "0-999999", "" },
		{ 1000000, "1-1000000", "" },
		{ 1000000, "1000001", BEYOND("1000001", "1000000") },
	};
	struct server s = lab_new();

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		auto_free char *set = xasprintf("'maxJobArraySize':%d", rows[i].most);
		auto_free char *spec = xasprintf("'array':{'request':'%s'}", rows[i].request);

		settings(&s, set);
		CHECK_STR(refusal(&s, &daemon_user, spec), rows[i].says);
	}
	server_done(&s);
}

TEST("arrays, submit hosts and limits of the server")
{
	struct server s = lab_new();

	settings(&s, "'serverName':'Ghead','maxJobArraySize':100,'maxSlotLimit':10,'submitHosts':['gwork'],"
		     "'maxUserQueuable':60");
	CHECK_STR(refusal(&s, &daemon_user, "'submitHost':'g9'"),
		  "PBS 15025: Bad UID for job execution MSG=ruserok failed validating daemon/daemon from g9");
	CHECK_STR(refusal(&s, &daemon_user, "'submitHost':'Ghead','array':{'request':'5-3'}"),
		  "PBS 15083: Bad Job Array Request MSG=\"5-3\": must be indexes up to 9999999 and ranges, such as "
		  "0-9,20 or 0-99%5: wrong from \"\" on");
	settings(&s, "'maxUserQueuable':0");
	CHECK_STR(refusal(&s, &daemon_user, "'submitHost':'Ghead','array':{'request':'0-100'}"),
		  "PBS 15083: Bad Job Array Request MSG=Requested array size too large, limit is 100");
	CHECK_STR(refusal(&s, &daemon_user, "'submitHost':'Ghead','array':{'request':'0-50%11'}"),
		  "PBS 15083: Bad Job Array Request MSG=Requested slot limit invalid, limit is 10");
	CHECK_STR(refusal(&s, &daemon_user, "'submitHost':'gwork','array':{'request':'0-49'}"), "");
	settings(&s, "'maxUserQueuable':60");
	CHECK_STR(refusal(&s, &daemon_user, "'submitHost':'gwork','array':{'request':'0-10'}"),
		  "PBS 15076: Maximum number of jobs already in queue for user MSG=total number of current user's jobs "
		  "exceeds the server limit: user daemon@gwork");
	settings(&s, "'defaultQueue':null,'submitHosts':null");
	CHECK_STR(refusal(&s, &daemon_user, "'name':'x'"), "");
	server_done(&s);
}

TEST("a job waits for jobs that there are or were")
{
	struct server s = lab_new();
	static const struct {
		const char *depend, *says;
	} rows[] = {
		{ "{'type':'afterok','jobs':['1.Ghead']}", "" },
		{ "{'type':'afterany','jobs':['1','2[]']}", "" },
		{ "{'type':'afterokarray','jobs':['2[]']}", "" },
		{ "{'type':'afterok','jobs':['2[3]']}", "" },
		{ "{'type':'afterokarray','jobs':['2[][1]']}", "" },
		{ "{'type':'afteranyarray','jobs':['2[].Ghead[3]']}", "" },
		{ "{'type':'afterokarray','jobs':['2[][0]']}", "job 2[][0] is no job id" },
		{ "{'type':'afterokarray','jobs':['2[3][1]']}", "job 2[3][1] is no job id" },
		{ "{'type':'afterokarray','jobs':['2[].other[1]']}", "job 2[].other[1] is another server's" },
		{ "{'type':'afterok','jobs':['2[][1]']}", "job 2[][1] is no job id" },
		{ "{'type':'afterok','jobs':['3']}", "" }, /* forgotten */
		{ "{'type':'on','count':2}", "" },
		{ "{'type':'afternotok','jobs':['3']}", "job 3 does not exist" },
		{ "{'type':'afterok','jobs':['2[9]']}", "job 2[9] does not exist" },
		{ "{'type':'afterokarray','jobs':['1']}", "job 1 is no job array" },
		{ "{'type':'afterok','jobs':['4711']}", "job 4711 does not exist" },
		{ "{'type':'afterok','jobs':['1.other']}", "job 1.other is another server's" },
		{ "{'type':'afterok','jobs':['x']}", "job x is no job id" },
		{ "{'type':'before','jobs':['4']}", "job 4 is another user's" },
		{ "{'type':'afterok'}", "afterok needs a job" },
		{ "{'type':'on'}", "on needs a count" },
	};

	settings(&s, "'serverName':'Ghead'");
	CHECK_STR(refusal(&s, &daemon_user, "'name':'a'"), "");
	CHECK_STR(refusal(&s, &daemon_user, "'array':{'request':'1-5'}"), "");
	CHECK_STR(refusal(&s, &daemon_user, "'name':'a'"), "");
	CHECK_STR(refusal(&s, &bin_user, "'name':'a'"), "");
	server_do(&s, VERB_DELETE, JOBS, "default", "3", NULL);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		auto_free char *spec = xasprintf("'dependencies':[%s]", rows[i].depend);
		auto_free char *says = *rows[i].says
					       ? xasprintf("PBS 15056: Invalid Job Dependency MSG=%s", rows[i].says)
					       : xstrdup("");

		CHECK_STR(refusal(&s, &daemon_user, spec), says);
	}
	server_done(&s);
}

TEST("what a job waits for is shown by its whole id, however it was said")
{
	static const struct {
		const char *said, *shown;
	} rows[] = {
		{ "'afterok','jobs':['1']", "1.Ghead" },      { "'afterok','jobs':['1.Ghead@Ghead']", "1.Ghead" },
		{ "'afterok','jobs':['2']", "2[].Ghead" },    { "'afterok','jobs':['2[1-2]']", "2[1-2].Ghead" },
		{ "'afterok','jobs':['2-1']", "2[1].Ghead" }, { "'afterokarray','jobs':['2[][1]']", "2[].Ghead[1]" },
	};
	struct server s = lab_new();

	settings(&s, "'serverName':'Ghead'");
	CHECK_STR(refusal(&s, &daemon_user, "'name':'a'"), "");
	CHECK_STR(refusal(&s, &daemon_user, "'array':{'request':'1-5'}"), "");
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		auto_free char *spec = xasprintf("'dependencies':[{'type':%s}]", rows[i].said);
		json_auto_t *job = submit(&s, &daemon_user, "default", spec);

		CHECK_STR(json_string_value(json_array_get(
				  jsonx_at(json_array_get(jsonx_at(job, "spec.dependencies"), 0), "jobs"), 0)),
			  rows[i].shown);
	}
	server_done(&s);
}

TEST("who may change what of a job, and when")
{
	struct server s = lab_new();
	static const char *const complete =
		"PBS 15018: Request invalid for state of job MSG=invalid state for job - COMPLETE";
	static const char *const owners =
		"PBS 15007: Unauthorized Request  MSG=operation not permitted: spec.env is its "
		"owner's word";
	static const struct {
		const char *state;
		const struct caller *who;
		const char *change, *says;
	} rows[] = {
		{ "Q", &daemon_user, "'priority':5", "" },
		{ "Q", &bin_user, "'priority':6", DENIED },
		{ "Q", &bin_user, "'cancel':{}", DENIED },
		{ "Q", &ci, "'priority':7,'hold':'o'", "" }, /* an operator */
		{ "Q", &daemon_user, "'hold':'n'", DENIED },
		{ "Q", &root, "'hold':'n'", "" },
		{ "Q", &daemon_user, "'hold':'s'", DENIED },
		{ "Q", &daemon_user, "'runNow':true", DENIED },
		{ "Q", &ci, "'runNow':true,'runHosts':['g1','g2']",
		  "PBS 15064: Unknown node  MSG=cannot locate specified node g2" },
		{ "H", &ci, "'runNow':true",
		  "PBS 15018: Request invalid for state of job MSG=invalid state for job - HELD" },
		{ "W", &ci, "'runNow':true",
		  "PBS 15018: Request invalid for state of job MSG=invalid state for job - WAITING" },
		{ "Q", &ci, "'runNow':true,'runHosts':['G1']", "" },
		{ "Q", &daemon_user, "'env':{'A':'b'}", "" },
		{ "Q", &ci, "'env':{'A':'c'}", owners },
		{ "Q", &daemon_user, "'suspend':true",
		  "PBS 15018: Request invalid for state of job MSG=invalid state for job - QUEUED" },
		{ "Q", &daemon_user, "'resources':{'walltime':'2:00:00','nodes':'1:ppn=2'}", "" },
		{ "Q", &daemon_user, "'array':{'request':'1-3'}",
		  "PBS 15083: Bad Job Array Request MSG=the elements of a job cannot be changed" },
		{ "Q", &daemon_user, "'cancel':{'elements':'1-2'}",
		  "PBS 15082: Unknown Array ID MSG=the job is no array" },
		{ "R", &daemon_user, "'priority':9,'hold':'u','mail':{'points':'a'}", "" },
		{ "R", &daemon_user, "'resources':{'nodes':'2'}",
		  "PBS 15017: Cannot modify attribute while job running  MSG=Resource_List" },
		{ "R", &daemon_user, "'shell':'/bin/sh'",
		  "PBS 15017: Cannot modify attribute while job running  MSG=shell" },
		{ "R", &daemon_user, "'queue':'q2'",
		  "PBS 15018: Request invalid for state of job MSG=invalid state for job - RUNNING" },
		{ "R", &daemon_user, "'resources':{'walltime':'1:00:00'}", "" },
		{ "R", &daemon_user, "'resources':{'walltime':'9:00:00'}", DENIED },
		{ "R", &ci, "'resources':{'walltime':'9:00:00'}", "" },
		{ "R", &daemon_user, "'suspend':true", "" },
		{ "R", &daemon_user, "'rerunAfter':1", "" },
		{ "R", &daemon_user, "'cancel':{'purge':true}", DENIED },
		{ "R", &daemon_user, "'cancel':{'by':'bin','message':'no'}", "" },
		{ "C", &daemon_user, "'priority':1", complete },
		{ "C", &daemon_user, "'cancel':{'message':'again'}", complete },
	};
	json_auto_t *job = NULL;

	settings(&s, "'operators':['ci@*']");
	make_queue(&s, "q2", "");
	make_node(&s, "g1", "", "'cpu':'16'");
	CHECK_STR(refusal(&s, &daemon_user, "'name':'a'"), "");
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		set_state(&s, "1", rows[i].state);
		CHECK_STR(change(&s, rows[i].who, "1", rows[i].change), rows[i].says);
	}
	job = server_ask(&s, VERB_GET, JOBS, "default", "1", NULL);
	CHECK_STR(jsonx_str(job, "spec.cancel.by"), "daemon");
	CHECK_STR(jsonx_str(job, "spec.owner"), "daemon");
	CHECK_STR(json_string_value(json_object_get(jsonx_at(job, "metadata.annotations"), "stoker.dev/creator")),
		  "daemon"); /* although others wrote it, too */
	CHECK_STR(change(&s, &daemon_user, "1", "'owner':'bin'"), complete);
	server_done(&s);
}

TEST("an element of an array is changed as a job of its own would be")
{
	struct server s = lab_new();
	static const char queued[] = "PBS 15018: Request invalid for state of job MSG=invalid state for job - QUEUED";
	static const struct {
		const struct caller *who;
		const char *elements, *says;
	} rows[] = {
		{ &daemon_user, "{'indexes':'6-8','priority':5},{'indexes':'9','name':'b'}", "" },
		{ &bin_user, "{'indexes':'6','priority':6}", DENIED },
		{ &daemon_user, "{'indexes':'6-8','priority':5},{'indexes':'8','name':'b'}",
		  "PBS 15083: Bad Job Array Request MSG=spec.elements: indexes \"8\": must be elements of the array, "
		  "each "
		  "in one entry" },
		{ &daemon_user, "{'indexes':'77','priority':5}",
		  "PBS 15083: Bad Job Array Request MSG=spec.elements: indexes \"77\": must be elements of the array, "
		  "each in one entry" },
		{ &daemon_user, "{'indexes':'x','priority':5}",
		  "PBS 15083: Bad Job Array Request MSG=spec.elements: indexes \"x\": must be indexes and ranges, such "
		  "as "
		  "2-4,7" },
		{ &daemon_user, "{'indexes':'6','hold':'o'}", DENIED },
		{ &ci, "{'indexes':'6','hold':'o'}", "" },
		{ &daemon_user, "", DENIED },
		{ &daemon_user, "{'indexes':'5-6','hold':'o'}", DENIED },
		{ &daemon_user, "{'indexes':'6','hold':'o'},{'indexes':'7','runNow':true}", DENIED },
		{ &ci, "{'indexes':'7','runNow':true}", "" },
		{ &ci, "{'indexes':'7','env':{'A':'b'}}",
		  "PBS 15007: Unauthorized Request  MSG=operation not permitted: spec.env is its owner's word" },
		{ &root, "", "" },
		/* 1 and 2 run, 0 has ended. */
		{ &daemon_user, "{'indexes':'1','suspend':true}", "" },
		{ &daemon_user, "{'indexes':'1,3','suspend':true}", queued },
		{ &daemon_user, "{'indexes':'1','rerunAfter':1}", "" },
		{ &daemon_user, "{'indexes':'3','rerunAfter':1}", queued },
		{ &daemon_user, "{'indexes':'0','rerunAfter':1}",
		  "PBS 15018: Request invalid for state of job MSG=invalid state for job - COMPLETE" },
		{ &daemon_user, "{'indexes':'1','shell':'/bin/sh'}",
		  "PBS 15017: Cannot modify attribute while job running  MSG=shell" },
		{ &daemon_user, "{'indexes':'3','shell':'/bin/sh'}", "" },
		{ &daemon_user, "{'indexes':'2-3','resources':{'walltime':'0:30:00'}}", "" },
		{ &daemon_user, "{'indexes':'2-3','resources':{'walltime':'0:50:00'}}", DENIED },
		{ &ci, "{'indexes':'2-3','resources':{'walltime':'5:00:00'}}", "" },
		{ &daemon_user, "{'indexes':'2','resources':{'nodes':'2'}}",
		  "PBS 15017: Cannot modify attribute while job running  MSG=Resource_List" },
		{ &daemon_user, "{'indexes':'4','resources':{'walltime':'50:00:00'}}",
		  "PBS 15038: Job exceeds queue resource limits MSG=cannot satisfy queue max walltime requirement" },
		{ &daemon_user, "{'indexes':'4','resources':{'walltime':'2:0:0','nodes':'2'}}", "" },
		{ &daemon_user, "{'indexes':'4','queue':'q9'}",
		  "PBS 15020: Unknown queue MSG=requested queue not found" },
		{ &daemon_user, "{'indexes':'4','queue':'q2'}", "" },
		{ &daemon_user, "{'indexes':'2,4','queue':'q2'}",
		  "PBS 15018: Request invalid for state of job MSG=invalid state for job - RUNNING" },
		{ &daemon_user, "{'indexes':'4','resources':{'walltime':'2:0:0','nodes':'2'}}", "" },
	};
	json_auto_t *job = NULL;
	const json_t *entry;

	settings(&s, "'operators':['ci@*']");
	make_queue(&s, "q1", "'maxWalltime':'10:00:00'");
	make_queue(&s, "q2", "");
	CHECK_STR(
		refusal(&s, &daemon_user, "'array':{'request':'0-9'},'elements':[{'indexes':'1','runNow':true}]"),
		"PBS 15083: Bad Job Array Request MSG=spec.elements: single elements are altered once there are some");
	CHECK_STR(
		refusal(&s, &daemon_user, "'queue':'q1','resources':{'walltime':'1:00:00'},'array':{'request':'0-9'}"),
		"");
	set_state(&s, "1", "R','elements':{'R':'1-2','C:0':'0'},'comment':'");
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		auto_free char *spec = xasprintf("'elements':[%s]", rows[i].elements);

		CHECK_STR(change(&s, rows[i].who, "1", spec), rows[i].says);
	}
	job = server_ask(&s, VERB_GET, JOBS, "default", "1", NULL);
	entry = json_array_get(jsonx_at(job, "spec.elements"), 0);
	CHECK_STR(jsonx_str_or(entry, "resources.walltime", ""), "02:00:00");
	CHECK_STR(jsonx_str_or(entry, "resources.nodes", ""), "2");
	/* What the array is told holds for all. */
	CHECK_STR(change(&s, &daemon_user, "1", "'resources':{'walltime':'0:40:00'}"), "");
	json_decref(job);
	job = server_ask(&s, VERB_GET, JOBS, "default", "1", NULL);
	entry = json_array_get(jsonx_at(job, "spec.elements"), 0);
	CHECK_STR(jsonx_str_or(entry, "resources.walltime", "none"), "none");
	CHECK_STR(jsonx_str_or(entry, "resources.nodes", ""), "2");
	server_done(&s);
}

TEST("a job that may not run again is not run again, and nobody's is deleted by others")
{
	struct server s = lab_new();
	struct api_request req = server_request(&s, VERB_DELETE, JOBS, "default", "1");
	json_auto_t *answer = NULL;

	CHECK_STR(refusal(&s, &daemon_user, "'rerunnable':false"), "");
	set_state(&s, "1", "R");
	CHECK_STR(change(&s, &daemon_user, "1", "'rerunAfter':1"), "PBS 15040: job is not rerunnable");
	req.caller = &bin_user;
	answer = server_call(&s, &req, NULL);
	CHECK_STR(s.message, DENIED);
	CHECK(server_has(&s, JOBS, "default", "1"));
	CHECK_STR(refusal(&s, &bin_user, "'hold':'o'"), DENIED);
	server_done(&s);
}

TEST("managers and operators follow the server's lists")
{
	struct server s = lab_new();
	struct api_request req = server_request(&s, VERB_PATCH, SERVERS, "", "default");
	json_auto_t *a = NULL, *b = NULL, *c = NULL, *d = NULL, *e = NULL, *f = NULL, *g = NULL, *h = NULL;

	req.patch = PATCH_MERGE;
	req.caller = &bin_user;
	a = server_call(&s, &req, "{'spec':{'comment':'mine'}}");
	CHECK(!a);
	settings(&s, "'serverName':'head','managers':['bin@elsewhere.org','bin@ahead','bin@*.org']");
	b = server_call(&s, &req, "{'spec':{'comment':'mine'}}");
	CHECK(!b);
	CHECK(!server_has(&s, "rbac.authorization.k8s.io/v1/clusterrolebindings", "", "stoker:pbs-managers"));
	CHECK_STR(refusal(&s, &bin_user, "'hold':'o'"), DENIED);
	settings(&s, "'managers':['bin@elsewhere.org','bin@head'],'operators':['daemon']");
	b = server_call(&s, &req, "{'spec':{'comment':'mine'}}");
	CHECK_STR(s.message, "");
	c = server_call(&s, &req, "{'spec':{'mailCommand':'/bin/sh'}}");
	CHECK_STR(s.message,
		  "pbsservers.stoker.dev \"default\" is forbidden: spec.mailCommand is changed by admins only: "
		  "it says what the server itself runs or shows of the host");
	make_node(&s, "g1", "", "'cpu':'1'");
	req = server_request(&s, VERB_PATCH, NODES, "", "g1");
	req.patch = PATCH_MERGE;
	req.caller = &daemon_user;
	d = server_call(&s, &req, "{'spec':{'unschedulable':true},'metadata':{'annotations':{'stoker.dev/note':'x'}}}");
	CHECK_STR(s.message, "");
	e = server_call(&s, &req, "{'metadata':{'labels':{'a':'b'}}}");
	CHECK_STR(s.message,
		  "nodes \"g1\" is forbidden: operators change spec.unschedulable and annotations only: " DENIED);
	req = server_request(&s, VERB_PATCH, QUEUES, "", "batch");
	req.patch = PATCH_MERGE;
	req.caller = &daemon_user;
	g = server_call(&s, &req, "{'spec':{'started':false,'enabled':false}}");
	CHECK_STR(s.message, "");
	h = server_call(&s, &req, "{'spec':{'started':true,'priority':3}}");
	CHECK_STR(s.message,
		  "queues \"batch\" is forbidden: operators change spec.enabled and spec.started only: " DENIED);
	settings(&s, "'operators':null");
	f = server_call(&s, &req, "{'spec':{'started':true}}");
	CHECK(!f);
	CHECK(!server_has(&s, "rbac.authorization.k8s.io/v1/clusterrolebindings", "", "stoker:pbs-operators"));
	CHECK(server_has(&s, "rbac.authorization.k8s.io/v1/clusterrolebindings", "", "stoker:pbs-managers"));
	server_done(&s);
}

TEST("files are copied from and to machines of ours only")
{
	static const struct {
		const char *spec, *refusal; /* NULL: none */
	} rows[] = {
		{ "'submitHost':'gwork','stageIn':['in@gwork:/d/in','b@GWORK.site.org:x:y'],'stageOut':['out@Ghead:o']",
		  NULL },
		{ "'stageIn':['in@localhost:/d/in']", NULL },
		{ "'submitHost':'gwork','stageIn':['in@far:/d/in']",
		  "MSG=spec.stageIn: host far: must be Ghead or the submit host" },
		{ "'submitHost':'gwork','stageOut':['out@gworks:/d/in']",
		  "MSG=spec.stageOut: host gworks: must be Ghead" },
		{ "'stageIn':['in']", "MSG=spec.stageIn: \"in\": must be LOCAL@HOST:REMOTE" },
		{ "'stageIn':['in@localhost:']", "must be LOCAL@HOST:REMOTE" },
		{ "'image':'x','stageIn':['in@localhost:y']", "jobs in containers have nothing copied" },
	};
	struct server s = lab_new();

	settings(&s, "'serverName':'Ghead'");
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const char *said = refusal(&s, &daemon_user, rows[i].spec);

		if (rows[i].refusal ? !strstr(said, "PBS 15016") || !strstr(said, rows[i].refusal) : *said != '\0')
			test_fail(__FILE__, __LINE__, "%s: %s", rows[i].spec, said);
	}
	json_decref(submit(&s, &daemon_user, "default", "'hold':'u'"));
	CHECK(strstr(change(&s, &daemon_user, "3", "'stageOut':['out@far:/d/in']"), "host far"));
	CHECK_STR(change(&s, &daemon_user, "3", "'stageOut':['out@ghead:/d/in']"), "");
	server_done(&s);
}
