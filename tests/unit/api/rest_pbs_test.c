// SPDX-License-Identifier: Apache-2.0
/* rest_pbs_test.c - the board of PBS jobs over HTTP: lines, objects, elements, who sees what; signals and messages */
#include "api/pbs.h"
#include "api/pbs_board.h"
#include "base/clock.h"
#include "front.h"
#include "loop/kubelet.h"

#define BOARD "/apis/stoker.dev/v1/pbs/jobs"
#define JOBS  "stoker.dev/v1/pbsjobs"
#define EVE   "Impersonate-User: eve\r\n"

struct fake_node {
	struct kubelet base;
	struct sbuf asked;
};

static int fake_usage(struct kubelet *k, const char *uid, const json_t *containers, json_t **ret, struct err *e)
{
	(void)k;
	(void)uid;
	(void)e;
	CHECK_STR(json_string_value(json_array_get(containers, 0)), "job");
	*ret = json_pack("{s:[{s:s, s:I, s:I}]}", "containers", "name", "job", "cpu_total_nano", (json_int_t)7500000000,
			 "memory_bytes", (json_int_t)(5640 * 1024));
	return 0;
}

static int fake_signal(struct kubelet *k, const struct kubelet_target *of, int signo, struct err *e)
{
	(void)e;
	sbuf_addf(&((struct fake_node *)k)->asked, "signal %s/%s %d; ", of->pod, of->container, signo);
	return 0;
}

static int fake_message(struct kubelet *k, const struct kubelet_target *of, int stream, struct str text, struct err *e)
{
	(void)e;
	sbuf_addf(&((struct fake_node *)k)->asked, "message %s %d %.*s; ", of->pod, stream, STR_FMT(text));
	return 0;
}

static const struct kubelet_ops ops = { .pod_usage = fake_usage, .signal = fake_signal, .message = fake_message };

static void submit(struct front *f, const char *ns, const char *spec)
{
	auto_free char *body = xasprintf("{'spec':{'script':'secret','env':{'KEY':'secret'},%s}}", spec);

	server_do(&f->s, VERB_CREATE, JOBS, ns, NULL, body);
}

static void set_status(struct front *f, const char *name, const char *status)
{
	struct api_request req = server_request(&f->s, VERB_PATCH, JOBS, "default", name);
	auto_free char *body = xasprintf("{'status':{%s}}", status);
	json_auto_t *answer = NULL;

	req.patch = PATCH_MERGE;
	req.subresource = "status";
	answer = server_call(&f->s, &req, body);
	CHECK_STR(f->s.message, "");
}

static void set_server(struct front *f, const char *spec)
{
	struct api_request req = server_request(&f->s, VERB_PATCH, "stoker.dev/v1/pbsservers", "", "default");
	auto_free char *body = xasprintf("{'spec':{%s}}", spec);
	json_auto_t *answer = NULL;

	req.patch = PATCH_MERGE;
	answer = server_call(&f->s, &req, body);
	CHECK_STR(f->s.message, "");
}

static const char *ask(struct front *f, const char *query, const char *headers)
{
	auto_free char *request = xasprintf("GET " BOARD "%s", query);

	front_ask(f, request, headers, NULL);
	return f->body.p ? f->body.p : "";
}

/* A field of every line, separated by blanks. */
static char *fields(struct front *f, const char *query, int field)
{
	auto_sbuf struct sbuf out = SBUF(1 << 20);
	struct str rest, line;

	ask(f, query, "");
	CHECK_INT(f->code, 200);
	rest = sbuf_str(&f->body);
	while (rest.n && str_split(&rest, '\n', &line)) {
		struct str part;

		for (int i = 0; line.n && i <= field; i++)
			str_split(&line, '\t', &part);
		sbuf_addf(&out, "%s%.*s", out.n ? " " : "", STR_FMT(part));
	}
	return sbuf_steal(&out);
}

static void check_fields(struct front *f, const char *query, int field, const char *want)
{
	auto_free char *have = fields(f, query, field);

	CHECK_STR(have, want);
}

static struct front lab_new(void)
{
	struct front f = front_new();

	clock_fake(1800000000);
	set_server(&f, "'serverName':'Ghead'");
	submit(&f, "default",
	       "'name':'ab','owner':'daemon','submitHost':'gw\\tork','resources':{'nodes':'2:ppn=4:gpus=1:S',"
	       "'walltime':'24:00:00','mem':'4gb','vmem':'8gb'},'priority':-3");
	submit(&f, "default", "'name':'sweep','owner':'eve','image':'x','array':{'request':'1-3,7'},'elementHold':'7'");
	submit(&f, "default", "'name':'late','owner':'daemon','hold':'u'");
	return f;
}

TEST("a line has what qstat shows of a job")
{
	struct front f = lab_new();
	struct fake_node node = { .base.ops = &ops, .asked = SBUF(4096) };

	CHECK_STR(ask(&f, "?ids=1", ""),
		  "1.Ghead\tab\tdaemon\tgw\\tork\tbatch\tQ\t\t\t\t2\t8\t8gb\t24:00:00\t\t\t\t1800000000\t"
		  "2:ppn=4:gpus=1:S\tdefault\t1\t-3\n");
	server_do(&f.s, VERB_CREATE, "v1/pods", "default", NULL,
		  "{'metadata':{'name':'1-0'},'spec':{'containers':[{'name':'job','image':'host'}]}}");
	set_status(&f, "1",
		   "'state':'R','startTime':'2027-01-15T07:00:00Z','execHost':'G1/0-3','execGpus':'G1-gpu/0',"
		   "'sessionId':4711,'comment':'two\\nlines','pods':['1-0']");
	CHECK_STR(ask(&f, "?ids=1.Ghead", ""),
		  "1.Ghead\tab\tdaemon\tgw\\tork\tbatch\tR\t\t3600\t4711\t2\t8\t8gb\t24:00:00\tG1/0-3\tG1-gpu/0\t"
		  "two\\nlines\t1800000000\t2:ppn=4:gpus=1:S\tdefault\t1\t-3\n");
	rest_set_kubelet(f.rest, &node.base);
	check_fields(&f, "?ids=1", 6, "7");
	set_status(&f, "1",
		   "'state':'S','startTime':'2027-01-15T07:00:00Z','suspendTime':'2027-01-15T07:50:00Z',"
		   "'suspendedSeconds':60");
	check_fields(&f, "?ids=1", 7, "2940");
	set_status(&f, "1", "'state':'C','resourcesUsed':{'cput':'00:01:00','walltime':'01:00:01','mem':'5640kb'}");
	check_fields(&f, "?ids=1", 6, "60");
	check_fields(&f, "?ids=1", 7, "3601");
	clock_fake(0);
	front_done(&f);
}

TEST("jobs are chosen by id, user, queue and state, in the order of their numbers")
{
	struct front f = lab_new();
	static const struct {
		const char *query, *ids;
	} rows[] = {
		{ "", "1.Ghead 2[].Ghead 3.Ghead" },
		{ "?ids=3,1,99", "3.Ghead 1.Ghead" },
		{ "?user=eve,nobody", "2[].Ghead" },
		{ "?state=H", "3.Ghead" },
		{ "?state=QR&user=daemon", "1.Ghead" },
		{ "?queue=other", "" },
		{ "?elements=1", "1.Ghead 2[1].Ghead 2[2].Ghead 2[3].Ghead 2[7].Ghead 3.Ghead" },
		{ "?elements=1&state=H", "2[7].Ghead 3.Ghead" },
		{ "?ids=2[]", "2[].Ghead" },
		{ "?ids=2[2-7]", "2[2].Ghead 2[3].Ghead 2[7].Ghead" },
		{ "?ids=2[9]", "" },
		{ "?ids=1[1]", "" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		check_fields(&f, rows[i].query, 0, rows[i].ids);
	ask(&f, "?ids=x", "");
	CHECK_INT(f.code, 400);
	ask(&f, "?format=xml", "");
	CHECK_INT(f.code, 400);
	server_do(&f.s, VERB_DELETE, JOBS, "default", "1", NULL);
	check_fields(&f, "", 0, "2[].Ghead 3.Ghead");
	clock_fake(0);
	front_done(&f);
}

TEST("elements of an array stand as the array's status says")
{
	struct front f = lab_new();

	set_status(&f, "2",
		   "'state':'R','elements':{'C:0':'1','C:271':'2','R':'3'},'active':[{'index':3,'state':'S',"
		   "'execHost':'G2/0','startTime':'2027-01-15T07:59:00Z','sessionId':99}]");
	check_fields(&f, "?ids=2&elements=1", 5, "C C S H");
	check_fields(&f, "?ids=2&elements=1", 1, "sweep-1 sweep-2 sweep-3 sweep-7");
	check_fields(&f, "?ids=2[3]", 7, "60");
	check_fields(&f, "?ids=2[3]", 8, "99");
	check_fields(&f, "?ids=2[3]", 13, "G2/0");
	check_fields(&f, "?ids=2", 5, "R");
	/* Of one that has ended lately there is more to say. */
	set_status(&f, "2",
		   "'state':'R','elements':{'C:0':'1','C:271':'2'},'ended':[{'index':2,'exitStatus':271,'execHost':"
		   "'G2/1','startTime':'2027-01-15T07:59:00Z','completionTime':'2027-01-15T07:59:30Z','resourcesUsed':{"
		   "'cput':'00:00:07','walltime':'00:00:30'},'sessionId':98}]");
	check_fields(&f, "?ids=2[2]", 5, "C");
	check_fields(&f, "?ids=2[2]", 6, "7");
	check_fields(&f, "?ids=2[2]", 7, "30");
	check_fields(&f, "?ids=2[2]", 8, "98");
	check_fields(&f, "?ids=2[2]", 13, "G2/1");
	clock_fake(0);
	front_done(&f);
}

static json_t *items(struct front *f, const char *query, const char *headers)
{
	struct err e = ERR_INIT;
	json_t *doc = NULL;

	ask(f, query, headers);
	CHECK_INT(f->code, 200);
	jsonx_parse(f->body.p, f->body.n, NULL, NULL, &doc, &e);
	CHECK_STR(jsonx_str(doc, "kind"), "PBSJobList");
	return doc;
}

static const json_t *item(const json_t *doc, size_t i)
{
	return json_array_get(json_object_get(doc, "items"), i);
}

TEST("objects have no script, others' have no environment, and elements are jobs of their own")
{
	struct front f = lab_new();
	json_auto_t *all = NULL, *eves = NULL, *one = NULL, *own = NULL;

	set_status(&f, "2",
		   "'state':'R','elements':{'C:271':'2','R':'3'},'active':[{'index':3,'state':'R',"
		   "'startTime':'2027-01-15T07:59:00Z'}]");
	all = items(&f, "?format=full", "");
	CHECK_INT(json_array_size(json_object_get(all, "items")), 3);
	CHECK(!jsonx_at(item(all, 0), "spec.script"));
	CHECK_STR(jsonx_str(item(all, 0), "spec.env.KEY"), "secret"); /* an admin asks */
	eves = items(&f, "?format=full", EVE);
	CHECK(!jsonx_at(item(eves, 0), "spec.env"));
	CHECK(!jsonx_at(item(eves, 0), "metadata.annotations"));
	CHECK_STR(jsonx_str(item(eves, 1), "spec.env.KEY"), "secret"); /* her own */
	CHECK(!strstr(ask(&f, "?format=full&ids=1", EVE), "secret"));
	one = items(&f, "?format=full&ids=2[3],2[2]", "");
	CHECK_STR(jsonx_str(item(one, 0), "status.id"), "2[3].Ghead");
	CHECK_STR(jsonx_str(item(one, 0), "spec.name"), "sweep-3");
	CHECK_STR(jsonx_str(item(one, 0), "status.resourcesUsed.walltime"), "00:01:00");
	CHECK_INT(jsonx_int_or(item(one, 1), "status.exitStatus", 0), 271);
	set_server(&f, "'queryOtherJobs':false");
	own = items(&f, "?format=full", EVE);
	CHECK_INT(json_array_size(json_object_get(own, "items")), 1);
	front_ask(&f, "GET " BOARD,
		  "Impersonate-User: system:anonymous\r\nImpersonate-Group: system:unauthenticated\r\n", NULL);
	CHECK_INT(f.code, 403);
	clock_fake(0);
	front_done(&f);
}

TEST("a long board comes in pieces, and whole")
{
	struct front f = lab_new();
	auto_free char *ids = NULL;
	size_t lines = 0;

	f.s.batch = true;
	for (int i = 0; i < 3000; i++)
		submit(&f, "default",
		       "'owner':'daemon','name':'a-name-that-is-long-enough-to-make-a-line-of-some-length'");
	server_turn(&f.s);
	f.s.batch = false;
	submit(&f, "default", "'owner':'daemon','array':{'request':'0-9999'}");
	ask(&f, "?elements=1", "");
	for (size_t i = 0; i < f.body.n; i++)
		lines += f.body.p[i] == '\n';
	CHECK_INT(lines, 3000 + 10000 + 2 + 4);
	CHECK(strstr(f.head, "chunked") != NULL);
	CHECK_INT(pbs_board_count(pbs_board(api_pbs(f.s.api))), 3004);
	clock_fake(0);
	front_done(&f);
}

TEST("signals and messages reach the pods of a running job, from whom it is allowed")
{
	struct front f = lab_new();
	struct fake_node node = { .base.ops = &ops, .asked = SBUF(4096) };
	static const char path[] = "POST /apis/stoker.dev/v1/namespaces/default/pbsjobs/1/signal";
	static const char message[] = "POST /apis/stoker.dev/v1/namespaces/default/pbsjobs/1/message";
	static const char array[] = "POST /apis/stoker.dev/v1/namespaces/default/pbsjobs/2/signal";
	static const char json[] = "Content-Type: application/json\r\n";
	static const char eves[] = "Content-Type: application/json\r\n" EVE;

	CHECK_INT(front_ask(&f, path, json, "{\"signal\":\"USR1\"}"), 503);
	rest_set_kubelet(f.rest, &node.base);
	CHECK_INT(front_ask(&f, path, json, "{\"signal\":\"USR1\"}"), 409);
	CHECK(strstr(f.body.p, "PBS 15018: Request invalid for state of job") != NULL);
	for (int i = 0; i < 2; i++) {
		auto_free char *pod = xasprintf("{'metadata':{'name':'1-%d'},'spec':{'containers':[{'name':'job',"
						"'image':'host'}]}}",
						i);

		server_do(&f.s, VERB_CREATE, "v1/pods", "default", NULL, pod);
	}
	set_status(&f, "1", "'state':'R','pods':['1-0','1-1','gone']");
	set_status(&f, "2", "'state':'R','active':[{'index':1,'pods':['1-0']},{'index':3,'pods':['1-1']}]");
	CHECK_INT(front_ask(&f, path, json, "{\"signal\":\"sigusr1\"}"), 200);
	CHECK_INT(front_ask(&f, path, json, "{}"), 200);
	CHECK_INT(front_ask(&f, array, json, "{\"signal\":\"9\",\"index\":3}"), 200);
	CHECK_INT(front_ask(&f, message, json, "{\"stream\":\"out\",\"text\":\"hello\"}"), 200);
	CHECK_STR(node.asked.p, "signal 1-0/job 10; signal 1-1/job 10; signal 1-0/job 15; signal 1-1/job 15; "
				"signal 1-1/job 9; message 1-0 1 hello\n; ");
	CHECK_INT(front_ask(&f, path, json, "{\"signal\":\"LOUD\"}"), 422);
	CHECK(strstr(f.body.p, "PBS 15015: Unknown/illegal signal name") != NULL);
	CHECK_INT(front_ask(&f, message, json, "{\"stream\":\"x\",\"text\":\"hello\"}"), 400);
	CHECK_INT(front_ask(&f, message, json, "{}"), 400);
	CHECK_INT(front_ask(&f, path, eves, "{\"signal\":\"USR1\"}"), 403);
	CHECK(strstr(f.body.p, "PBS 15007: Unauthorized Request  MSG=operation not permitted") != NULL);
	sbuf_done(&node.asked);
	clock_fake(0);
	front_done(&f);
}

/* A pod of the job that its node has been given; `more` is merged into it. */
static void give_pod(struct front *f, const char *job, const char *name, const char *more)
{
	json_auto_t *obj = server_ask(&f->s, VERB_GET, JOBS, "default", job, NULL);
	auto_free char *body =
		xasprintf("{'metadata':{'ownerReferences':[{'apiVersion':'stoker.dev/v1','kind':'PBSJob',"
			  "'name':'%s','uid':'%s','controller':true}]},"
			  "'spec':{'runtimeClassName':'host-process','nodeName':'g1'}}",
			  job, jsonx_str_or(obj, "metadata.uid", ""));

	if (!server_has(&f->s, "v1/pods", "default", name))
		server_make_pod(&f->s, name);
	server_smuggle(&f->s, "v1/pods", "default", name, body);
	server_smuggle(&f->s, "v1/pods", "default", name, more);
}

TEST("a job that its node has been given is asked there before its status says that it runs")
{
	struct front f = lab_new();
	struct fake_node node = { .base.ops = &ops, .asked = SBUF(4096) };
	static const char path[] = "POST /apis/stoker.dev/v1/namespaces/default/pbsjobs/1/signal";
	static const char array[] = "POST /apis/stoker.dev/v1/namespaces/default/pbsjobs/2/signal";
	static const char job[] = "PATCH /apis/stoker.dev/v1/namespaces/default/pbsjobs/1";
	static const char json[] = "Content-Type: application/json\r\n";
	static const char merge[] = "Content-Type: application/merge-patch+json\r\n";
	/* What is no such pod. */
	static const char *const others[] = { "{'spec':{'nodeName':''}}", "{'spec':{'runtimeClassName':'runc'}}",
					      "{'status':{'phase':'Failed'}}",
					      "{'metadata':{'deletionTimestamp':'2027-01-15T07:00:00Z'}}",
					      "{'metadata':{'ownerReferences':[{'uid':'another'}]}}" };

	rest_set_kubelet(f.rest, &node.base);
	for (size_t i = 0; i < ARRAY_SIZE(others); i++) {
		give_pod(&f, "3", "3-0", others[i]);
		CHECK_INT(front_ask(&f, "POST /apis/stoker.dev/v1/namespaces/default/pbsjobs/3/signal", json, "{}"),
			  409);
		CHECK(strstr(f.body.p, "invalid state for job - HELD") != NULL);
		server_smuggle(&f.s, "v1/pods", "default", "3-0",
			       "{'metadata':{'deletionTimestamp':null},"
			       "'status':{'phase':'Pending'}}");
	}
	CHECK_INT(front_ask(&f, job, merge, "{\"spec\":{\"suspend\":true}}"), 409);
	give_pod(&f, "1", "1-0", "{}");
	CHECK_INT(front_ask(&f, path, json, "{\"signal\":\"USR1\"}"), 200);
	CHECK_INT(front_ask(&f, job, merge, "{\"spec\":{\"suspend\":true}}"), 200);
	CHECK_INT(front_ask(&f, job, merge, "{\"spec\":{\"rerunAfter\":1}}"), 200);
	CHECK_INT(front_ask(&f, job, merge, "{\"spec\":{\"initialDir\":\"/x\"}}"), 409);
	CHECK(strstr(f.body.p, "PBS 15017: Cannot modify attribute while job running") != NULL);
	/* Of a second run it is another pod. */
	set_status(&f, "1", "'state':'Q','startCount':1");
	CHECK_INT(front_ask(&f, path, json, "{\"signal\":\"USR1\"}"), 409);
	give_pod(&f, "1", "1-0-r1", "{}");
	CHECK_INT(front_ask(&f, path, json, "{\"signal\":\"USR1\"}"), 200);
	/* Elements: one that is told, one that is not, one that waits. */
	CHECK_INT(front_ask(&f, array, json, "{}"), 409);
	give_pod(&f, "2", "2-1-0", "{}");
	give_pod(&f, "2", "2-3-0", "{}");
	set_status(&f, "2", "'state':'R','active':[{'index':1,'state':'R','pods':['2-1-0']}],'elements':{'R':'1'}");
	CHECK_INT(front_ask(&f, array, json, "{}"), 200);
	CHECK_INT(front_ask(&f, array, json, "{\"signal\":9,\"index\":3}"), 200);
	CHECK_INT(front_ask(&f, array, json, "{\"index\":2}"), 409);
	CHECK_STR(node.asked.p, "signal 1-0/job 10; signal 1-0-r1/job 10; signal 2-1-0/job 15; signal 2-3-0/job 15; "
				"signal 2-3-0/job 9; ");
	sbuf_done(&node.asked);
	clock_fake(0);
	front_done(&f);
}

TEST("only the server gives a PBS job's pod more time")
{
	struct front f = lab_new();
	static const char pod[] = "PATCH /api/v1/namespaces/default/pods/1-0";
	static const char merge[] = "Content-Type: application/merge-patch+json\r\n";
	struct api_request req = server_request(&f.s, VERB_PATCH, "v1/pods", "default", "1-0");
	json_auto_t *answer = NULL;

	give_pod(&f, "1", "1-0", "{'spec':{'activeDeadlineSeconds':100}}");
	CHECK_INT(front_ask(&f, pod, merge, "{\"spec\":{\"activeDeadlineSeconds\":50}}"), 200);
	CHECK_INT(front_ask(&f, pod, merge, "{\"spec\":{\"activeDeadlineSeconds\":60}}"), 422);
	CHECK(strstr(f.body.p, "spec.activeDeadlineSeconds: Invalid value: 60: must be less than or equal to") != NULL);
	req.patch = PATCH_MERGE;
	req.caller = &caller_system;
	answer = server_call(&f.s, &req, "{'spec':{'activeDeadlineSeconds':60}}");
	CHECK_STR(f.s.message, "");
	clock_fake(0);
	front_done(&f);
}

/* ---- comments of the moment ---- */

/* Elements 2 and 8 of job 2, and job 1, have pods that wait. */
static bool obstacle(struct scheduler *s, const char *ns, const char *pod, struct sbuf *out)
{
	(void)s;
	CHECK_STR(ns, "default");
	if (streq(pod, "1-0") || streq(pod, "2-2-0"))
		sbuf_addf(out, "%s has no\troom", pod);
	return streq(pod, "1-0") || streq(pod, "2-2-0") || streq(pod, "2-8-0-r1");
}

static const struct scheduler_ops oracle_ops = { .obstacle = obstacle };
static struct scheduler oracle = { .ops = &oracle_ops };

static void check_comment(struct front *f, const char *query, const char *want)
{
	auto_free char *path = xasprintf("?format=full&%s", query);
	struct err e = ERR_INIT;
	json_auto_t *doc = NULL;

	ask(f, path, "");
	jsonx_parse(f->body.p, f->body.n, NULL, NULL, &doc, &e);
	CHECK_STR(jsonx_str_or(json_array_get(json_object_get(doc, "items"), 0), "status.comment", "none"), want);
}

TEST("a comment that is asked for is the scheduler's word of the moment, not what was written last")
{
	struct front f = lab_new();

	set_status(&f, "1", "'state':'Q','comment':'Not Running: old'");
	check_fields(&f, "?ids=1&live=1", 15, "Not Running: old");
	rest_set_scheduler(f.rest, &oracle);
	check_fields(&f, "?ids=1", 15, "Not Running: old");
	check_fields(&f, "?ids=1&live=1", 15, "Not Running: 1-0 has no\\troom");
	check_fields(&f, "?ids=1&live=1", 16, "1800000000");
	check_comment(&f, "ids=1", "Not Running: 1-0 has no\troom");
	set_status(&f, "1", "'state':'Q','startCount':1");
	check_comment(&f, "ids=1", "Not Running: old"); /* of that run there is no pod */
	set_status(&f, "1", "'state':'R','comment':'Job started'");
	check_comment(&f, "ids=1", "Job started");
	front_done(&f);
}

TEST("each element of an array has a comment of its own")
{
	static const struct {
		const char *id, *want;
	} rows[] = {
		{ "2[1]", "Job started on Fri Jan 15 at 07:00" },
		{ "2[2]", "Not Running: 2-2-0 has no\troom" },
		{ "2[3]", "Not Running: elements of its array before it have no room yet" },
		{ "2[4]", "Job killed: it has exceeded its walltime" },
		{ "2[5]", "none" },
		{ "2[6]", "Not Running: Job is held by an operator" },
		{ "2[7]", "Not Running: Job is held by its user" },
		{ "2[8]", "none" }, /* about to start */
	};
	struct front f = front_new();

	setenv("TZ", "UTC", 1);
	clock_fake(1800000000);
	submit(&f, "default", "'name':'ab','owner':'daemon'");
	submit(&f, "default",
	       "'name':'sweep','owner':'daemon','array':{'request':'1-9','slots':2},'elementHold':'7',"
	       "'elements':[{'indexes':'6','hold':'o'}]");
	rest_set_scheduler(f.rest, &oracle);
	set_status(&f, "2",
		   "'state':'R','comment':'Job started on Mon','elements':{'R':'1','C:-11':'4','C:0':'5'},"
		   "'active':[{'index':1,'state':'R','startTime':'2027-01-15T07:00:00Z'},"
		   "{'index':8,'state':'Q','startCount':1}],"
		   "'ended':[{'index':4,'exitStatus':-11,'startTime':'2027-01-15T06:00:00Z',"
		   "'comment':'Job killed: it has exceeded its walltime'}]");
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		auto_free char *query = xasprintf("ids=%s", rows[i].id);

		check_comment(&f, query, rows[i].want);
	}
	check_comment(&f, "ids=2", "Job started on Mon");
	set_status(&f, "2",
		   "'active':[{'index':1,'state':'R','startTime':'2027-01-15T07:00:00Z'},"
		   "{'index':2,'state':'R','startTime':'2027-01-15T07:00:00Z'}],'elements':{'R':'1-2'}");
	check_comment(&f, "ids=2[9]", "Not Running: its array may run no more than 2 elements at a time");
	front_done(&f);
}

TEST("what of a held array does not run yet is held")
{
	struct front f = front_new();

	clock_fake(1800000000);
	submit(&f, "default", "'name':'sweep','owner':'daemon','array':{'request':'1-3'},'hold':'u'");
	set_status(&f, "1", "'state':'R','active':[{'index':2,'state':'R'}],'elements':{'R':'2'}");
	check_fields(&f, "?elements=1", 5, "H R H");
	check_comment(&f, "ids=1[3]", "Not Running: Job is held by its user");
	front_done(&f);
}
