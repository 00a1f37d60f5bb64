// SPDX-License-Identifier: Apache-2.0
/* control_test.c - choosing controllers by name */
#include "control/control.h"

#include "api/server.h"
#include "base/mem.h"
#include "control/served.h"
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

TEST("the queues of what runs are told under client-go's names")
{
	struct server s = server_new();
	struct client *c = client_local_new(s.api, &caller_system);
	auto_sbuf struct sbuf text = SBUF(65536);
	control_set set = 0;
	struct control *k;

	CHECK_INT(control_choose("job", &set, &s.e), 0);
	k = control_new(c, set);
	server_settle(&s);
	server_do(&s, VERB_CREATE, "batch/v1/jobs", "default", NULL,
		  "{'metadata':{'name':'j'},'spec':{'template':{'spec':{'restartPolicy':'Never',"
		  "'containers':[{'name':'c','image':'host'}]}}}}");
	server_settle(&s);
	control_metrics(k, &text);
	CHECK(strstr(text.p, "\nworkqueue_adds_total{name=\"job\"} ") != NULL);
	CHECK(strstr(text.p, "\nworkqueue_adds_total{name=\"job\"} 0\n") == NULL);
	CHECK(strstr(text.p, "\nworkqueue_depth{name=\"job\"} 0\n") != NULL);
	CHECK(strstr(text.p, "\nworkqueue_retries_total{name=\"job\"} 0\n") != NULL);
	CHECK(strstr(text.p, "\n# TYPE workqueue_work_duration_seconds summary\n") != NULL);
	CHECK(strstr(text.p, "\nworkqueue_work_duration_seconds_count{name=\"job\"} ") != NULL);
	CHECK(strstr(text.p, "cronjob") == NULL);
	control_free(k);
	sbuf_reset(&text);
	control_metrics(NULL, &text);
	CHECK(strstr(text.p, "name=") == NULL);
	server_settle(&s);
	client_free(c);
	server_done(&s);
}

TEST("a list of resources has what it has, and custom groups are told from Kubernetes' own")
{
	static const struct {
		const char *api_version;
		bool custom;
	} rows[] = {
		{ "v1", false },
		{ "batch/v1", false },
		{ "apps/v1", false },
		{ "discovery.k8s.io/v1", false },
		{ "kubeflow.org/v1", true },
		{ "stoker.dev/v1", true },
		{ "k8s.io/v1", true },
	};
	json_auto_t *list = sample_json("{'resources':[{'name':'jobs'},{'name':'jobs/status'}]}");

	CHECK(served_has(list, "jobs"));
	CHECK(!served_has(list, "cronjobs"));
	CHECK(!served_has(NULL, "jobs"));
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		CHECK_INT(served_is_custom(rows[i].api_version), rows[i].custom);
}

TEST("each controller that runs is told of, and that it looked at something")
{
	static const char *const names[] = { "namespace", "garbagecollector", "endpoint", "persistentvolume-binder",
					     "serviceaccount" };
	struct server s = server_new();
	struct client *c = client_local_new(s.api, &caller_system);
	auto_sbuf struct sbuf text = SBUF(65536);
	control_set set = 0;
	struct control *k;

	CHECK_INT(control_choose("*", &set, &s.e), 0);
	k = control_new(c, set);
	for (int i = 0; i < 3; i++)
		server_settle(&s);
	server_do(&s, VERB_CREATE, "v1/namespaces", "", NULL, "{'metadata':{'name':'n'}}");
	server_do(&s, VERB_DELETE, "v1/namespaces", "", "n", NULL);
	server_do(&s, VERB_CREATE, "v1/services", "default", NULL,
		  "{'metadata':{'name':'s'},'spec':{'selector':{'a':'b'},'ports':[{'port':80}]}}");
	server_do(&s, VERB_CREATE, "v1/configmaps", "default", NULL,
		  "{'metadata':{'name':'m','ownerReferences':[{'apiVersion':'v1','kind':'ConfigMap','name':'x',"
		  "'uid':'x'}]}}");
	for (int i = 0; i < 3; i++)
		server_settle(&s);
	control_metrics(k, &text);
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		static const char *const samples[] = { "workqueue_adds_total",
						       "workqueue_work_duration_seconds_count" };

		for (size_t n = 0; n < ARRAY_SIZE(samples); n++) {
			auto_free char *any = xasprintf("\n%s{name=\"%s\"} ", samples[n], names[i]);
			auto_free char *none = xasprintf("%s0\n", any);

			if (!strstr(text.p, any) || strstr(text.p, none))
				test_fail(__FILE__, __LINE__, "%s of %s", samples[n], names[i]);
		}
	}
	control_free(k);
	server_settle(&s);
	client_free(c);
	server_done(&s);
}
