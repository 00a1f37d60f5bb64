// SPDX-License-Identifier: Apache-2.0
/* pbs_own_test.c - pods of PBS jobs, and the end of both: what is the server's to say */
#include "kinds/queue.h"
#include "pbs_lab.h"

static const char *delete_as(struct server *s, const struct caller *c, const char *name, enum propagation p)
{
	struct api_request req = server_request(s, VERB_DELETE, JOBS, "default", name);

	req.caller = c;
	req.propagation = p;
	json_decref(server_call(s, &req, NULL));
	return s->message;
}

TEST("a job that runs is deleted by ending it first")
{
	static const char *const ending =
		"PBS 15018: Request invalid for state of job MSG=invalid state for job - EXITING";
	struct server s = lab_new();
	struct api_request edit;
	json_auto_t *job = NULL;

	for (int i = 0; i < 3; i++)
		CHECK_STR(refusal(&s, &daemon_user, i < 2 ? "'name':'a'" : "'array':{'request':'0-3'}"), "");
	CHECK_STR(delete_as(&s, &daemon_user, "1", PROPAGATE_DEFAULT), "");
	CHECK(!server_ask(&s, VERB_GET, JOBS, "default", "1", NULL));
	set_state(&s, "2", "R");
	CHECK_STR(delete_as(&s, &bin_user, "2", PROPAGATE_DEFAULT), DENIED);
	CHECK_STR(delete_as(&s, &daemon_user, "2", PROPAGATE_ORPHAN),
		  "pbsjobs.stoker.dev \"2\" is forbidden: propagationPolicy: Orphan: what a job runs does not outlive "
		  "it");
	CHECK_STR(delete_as(&s, &daemon_user, "2", PROPAGATE_DEFAULT), "");
	CHECK_STR(delete_as(&s, &root, "2", PROPAGATE_DEFAULT), "");
	job = server_ask(&s, VERB_GET, JOBS, "default", "2", NULL);
	CHECK(jsonx_at(job, "metadata.deletionTimestamp"));
	CHECK_INT(json_array_size(jsonx_at(job, "metadata.finalizers")), 1);
	CHECK_STR(jsonx_str(job, "spec.cancel.by"), "daemon");
	/* Nobody calls it back, or lets the object go while it runs. */
	CHECK_STR(change(&s, &daemon_user, "2", "'cancel':null"), ending);
	edit = server_request(&s, VERB_PATCH, JOBS, "default", "2");
	edit.caller = &daemon_user;
	edit.patch = PATCH_MERGE;
	json_decref(server_call(&s, &edit, "{'metadata':{'finalizers':null}}"));
	CHECK(strstr(s.message, "PBS 15007: Unauthorized Request  MSG=operation not permitted: the server takes"));
	edit.caller = &caller_system;
	json_decref(server_call(&s, &edit, "{'metadata':{'finalizers':null}}"));
	CHECK(!server_ask(&s, VERB_GET, JOBS, "default", "2", NULL));
	/* Of an array what was not to end before. */
	set_state(&s, "3", "R");
	CHECK_STR(change(&s, &daemon_user, "3", "'cancel':{'elements':'1-2','message':'m'}"), "");
	CHECK_STR(delete_as(&s, &root, "3", PROPAGATE_DEFAULT), "");
	json_decref(job);
	job = server_ask(&s, VERB_GET, JOBS, "default", "3", NULL);
	CHECK_STR(jsonx_str(job, "spec.cancel.by"), "root");
	CHECK(!jsonx_at(job, "spec.cancel.elements"));
	server_done(&s);
}

TEST("only pods of PBS jobs are processes of the host")
{
	struct server s = lab_new();
	auto_free char *body = NULL;
	auto_free char *stranger = NULL;
	struct api_request req = server_request(&s, VERB_CREATE, "v1/pods", "default", NULL);
	json_auto_t *job = submit(&s, &daemon_user, "default", "'name':'a'");
	json_auto_t *a = NULL, *b = NULL, *c = NULL;
	static const char *const no =
		"pods \"p\" is forbidden: spec.runtimeClassName: \"host-process\" is for pods of PBS "
		"jobs only: ";
	auto_free char *made = xasprintf("%sthe server makes them", no);
	auto_free char *uncontrolled = xasprintf("%sno PBSJob controls this one", no);

	body = xasprintf("{'metadata':{'name':'p','ownerReferences':[{'apiVersion':'stoker.dev/v1','kind':'PBSJob',"
			 "'name':'1','uid':'%s','controller':true}]},'spec':{'runtimeClassName':'host-process',"
			 "'containers':[{'name':'job','image':'host'}]}}",
			 jsonx_str(job, "metadata.uid"));
	stranger = xasprintf("{'metadata':{'name':'p'},'spec':{'runtimeClassName':'host-process',"
			     "'containers':[{'name':'job','image':'host'}]}}");
	req.caller = &daemon_user;
	a = server_call(&s, &req, body);
	CHECK_STR(s.message, made);
	req.caller = &root;
	b = server_call(&s, &req, stranger);
	CHECK_STR(s.message, uncontrolled);
	c = server_ask(&s, VERB_CREATE, "v1/pods", "default", NULL, body);
	CHECK_STR(s.message, "");
	CHECK_INT(jsonx_int_or(c, "spec.securityContext.runAsUser", 0), 1);
	CHECK_STR(json_string_value(json_object_get(jsonx_at(c, "metadata.labels"), QUEUE_LABEL)), "batch");
	server_done(&s);
}

TEST("what a pod of a PBS job says to the server's parts is not its owner's to change")
{
	static const char *const no = "only the server writes it on a pod of PBSJob \"1\"; change the job, such as by "
				      "qalter, qhold, qmove or qsig";
	static const struct {
		const char *patch, *field; /* NULL: it may */
	} rows[] = {
		{ "{'labels':{'stoker.dev/queue':'night'}}", "labels[stoker.dev/queue]" },
		{ "{'labels':{'stoker.dev/queue':null}}", "labels[stoker.dev/queue]" },
		{ "{'labels':{'stoker.dev/pbsjob':'2'}}", "labels[stoker.dev/pbsjob]" },
		{ "{'labels':{'property.stoker.dev/S':''}}", "labels[property.stoker.dev/S]" },
		{ "{'annotations':{'stoker.dev/suspend':'true'}}", "annotations[stoker.dev/suspend]" },
		{ "{'annotations':{'stoker.dev/walltime':'00:00:01'}}", "annotations[stoker.dev/walltime]" },
		{ "{'annotations':{'stoker.dev/walltime':null}}", "annotations[stoker.dev/walltime]" },
		{ "{'annotations':null}", "annotations[stoker.dev/walltime]" },
		{ "{'ownerReferences':null}", "ownerReferences" },
		{ "{'ownerReferences':[]}", "ownerReferences" },
		{ "{'labels':{'mine':'x','notstoker.dev/y':'z'},'annotations':{'note':'x'}}", NULL },
	};
	struct server s = lab_new();
	json_auto_t *job = submit(&s, &daemon_user, "default", "'name':'a'");
	auto_free char *owner = xasprintf("'ownerReferences':[{'apiVersion':'stoker.dev/v1','kind':'PBSJob',"
					  "'name':'1','uid':'%s','controller':true}]",
					  jsonx_str(job, "metadata.uid"));
	auto_free char *body = xasprintf("{'metadata':{'name':'1-0','labels':{'stoker.dev/pbsjob':'1'},'annotations':{"
					 "'stoker.dev/walltime':'100:00:00'},%s},'spec':{'runtimeClassName':"
					 "'host-process','containers':[{'name':'job','image':'host'}]}}",
					 owner);
	auto_free char *forged = xasprintf("{'metadata':{'name':'f',%s},'spec':{'containers':[{'name':'c',"
					   "'image':'host'}]}}",
					   owner);
	auto_free char *adopted = xasprintf("{'metadata':{%s}}", owner);
	struct api_request create = server_request(&s, VERB_CREATE, "v1/pods", "default", NULL);
	struct api_request adopt = server_request(&s, VERB_PATCH, "v1/pods", "default", "own");

	make_queue(&s, "night", "");
	server_do(&s, VERB_CREATE, "v1/pods", "default", NULL, body);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct api_request req = server_request(&s, VERB_PATCH, "v1/pods", "default", "1-0");
		auto_free char *patch = xasprintf("{'metadata':%s}", rows[i].patch);
		auto_free char *text =
			xasprintf("pods \"1-0\" is forbidden: metadata.%s: %s", rows[i].field ? rows[i].field : "", no);

		req.caller = &daemon_user;
		req.patch = PATCH_MERGE;
		json_decref(server_call(&s, &req, patch));
		CHECK_STR(s.message, rows[i].field ? text : "");
	}
	/* Whoever may do anything may do that. */
	adopt.name = "1-0";
	adopt.caller = &root;
	adopt.patch = PATCH_MERGE;
	json_decref(server_call(&s, &adopt, "{'metadata':{'annotations':{'stoker.dev/suspend':'true'}}}"));
	CHECK_STR(s.message, "");
	/* Nor does the owner make one, or make one of what he has. */
	adopt.name = "own";
	create.caller = adopt.caller = &daemon_user;
	adopt.patch = PATCH_MERGE;
	json_decref(server_call(&s, &create, forged));
	CHECK(strstr(s.message, "metadata.ownerReferences: only the server"));
	json_decref(server_call(&s, &create,
				"{'metadata':{'name':'own'},'spec':{'containers':[{'name':'c','image':'host'}]}}"));
	CHECK_STR(s.message, "");
	json_decref(server_call(&s, &adopt, adopted));
	CHECK(strstr(s.message, "metadata.ownerReferences: only the server"));
	server_done(&s);
}

static json_t *create_inside(struct server *s, const struct caller *who, const char *notes, const char *resources)
{
	struct api_request req = server_request(s, VERB_CREATE, "v1/pods", "default", NULL);
	auto_free char *body = xasprintf("{'metadata':{'generateName':'d-','annotations':{%s}},'spec':{'containers':"
					 "[{'name':'c','image':'i'%s}]}}",
					 notes, resources);

	req.caller = who;
	return server_call(s, &req, body);
}

TEST("what startdocker runs in a job is where the job is, and only its owner may")
{
	struct server s = lab_new();
	json_auto_t *job = submit(&s, &daemon_user, "default", "'name':'a'");
	auto_free char *body =
		xasprintf("{'metadata':{'name':'1-0','ownerReferences':[{'apiVersion':'stoker.dev/v1','kind':'PBSJob',"
			  "'name':'1','uid':'%s','controller':true}]},'spec':{'runtimeClassName':'host-process',"
			  "'nodeName':'g102','containers':[{'name':'job','image':'host'}]}}",
			  jsonx_str(job, "metadata.uid"));
	json_auto_t *host = server_ask(&s, VERB_CREATE, "v1/pods", "default", NULL, body);
	json_auto_t *in = create_inside(&s, &daemon_user, "'stoker.dev/in-job':'1-0'", "");
	const json_t *notes = jsonx_at(in, "metadata.annotations");

	CHECK_STR(jsonx_str(in, "spec.nodeName"), "g102");
	CHECK_STR(json_string_value(json_object_get(notes, "stoker.dev/in-job-uid")), jsonx_str(host, "metadata.uid"));
	CHECK_STR(jsonx_str(json_array_get(jsonx_at(in, "metadata.ownerReferences"), 0), "name"), "1-0");
	CHECK(!json_object_get(jsonx_at(in, "metadata.labels"), QUEUE_LABEL));
	/* Nobody says it himself. */
	json_auto_t *forged = create_inside(&s, &daemon_user, "'stoker.dev/in-job-uid':'x'", "");

	CHECK(!json_object_get(jsonx_at(forged, "metadata.annotations"), "stoker.dev/in-job-uid"));
	json_auto_t *a = create_inside(&s, &daemon_user, "'stoker.dev/in-job':'none'", "");

	CHECK(strstr(s.message, "[stoker.dev/in-job]: \"none\": there is no such pod"));
	json_auto_t *b = create_inside(&s, &daemon_user, "'stoker.dev/in-job':'1-0'",
				       ",'resources':{'limits':{'nvidia.com/gpu':'1'}}");

	CHECK(strstr(s.message, "resources must be left out"));
	json_auto_t *c = create_inside(&s, &root, "'stoker.dev/in-job':'1-0'", "");

	CHECK(strstr(s.message, "it is another user's"));
	CHECK(!a && !b && !c);
	server_done(&s);
}
