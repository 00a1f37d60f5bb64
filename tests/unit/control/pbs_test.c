// SPDX-License-Identifier: Apache-2.0
/* PBS jobs on a real API and scheduler, with a node whose containers do as they are told. */
#include "control/pbs.h"

#include "control/job_cluster.h"

#define JOBS "stoker.dev/v1/pbsjobs"

struct place {
	struct cluster c;
	struct pbs_jobs *jobs;
};

static struct place place_new(void)
{
	struct place p = { .c = cluster_new(true) };

	p.jobs = pbs_jobs_new(p.c.client, p.c.owned);
	server_settle(&p.c.s);
	return p;
}

static void place_done(struct place *p)
{
	pbs_jobs_free(p->jobs);
	cluster_done(&p->c);
}

/* The controller is killed and another begins. */
static void place_restart(struct place *p)
{
	pbs_jobs_free(p->jobs);
	p->jobs = pbs_jobs_new(p->c.client, p->c.owned);
}

#define FAKE(seconds_, code_)                                                                                          \
	"'annotations':{'stoker.dev/fake-seconds':'" seconds_ "','stoker.dev/fake-exit-code':'" code_ "'}"
#define ENDS(code_) FAKE("0.05", code_)
#define FOREVER     "'annotations':{}"
#define JOB(name_, does_, spec_)                                                                                       \
	"{'metadata':{'name':'" name_ "'," does_                                                                       \
	"},'spec':{'owner':'nobody','script':'sleep 1','resources':{'nodes':'1'}," spec_ "}}"

static void submit(struct place *p, const char *job)
{
	server_do(&p->c.s, VERB_CREATE, JOBS, "default", NULL, job);
}

static json_t *job_of(struct place *p, const char *name)
{
	return server_ask(&p->c.s, VERB_GET, JOBS, "default", name, NULL);
}

static void alter(struct place *p, const char *name, const char *patch)
{
	auto_free char *text = xstrdup(patch);
	json_auto_t *body = NULL;
	json_auto_t *job = job_of(p, name);
	const char *key;
	json_t *value;

	for (char *c = text; *c; c++)
		*c = *c == '\'' ? '"' : *c;
	body = json_loads(text, 0, NULL);
	json_object_foreach (body, key, value)
		json_object_set(json_object_get(job, "spec"), key, value);
	text = (free(text), json_dumps(job, 0));
	server_do(&p->c.s, VERB_UPDATE, JOBS, "default", name, text);
}

static bool wait_state(struct place *p, const char *name, const char *state)
{
	int64_t end = clock_mono_ms() + PATIENCE_MS;

	while (clock_mono_ms() < end) {
		json_auto_t *job = job_of(p, name);

		if (strchr(state, *jsonx_str_or(job, "status.state", "-")))
			return true;
		server_turn(&p->c.s);
		usleep(500);
	}
	json_auto_t *job = job_of(p, name);
	auto_free char *text = json_dumps(json_object_get(job, "status"), JSON_INDENT(1));

	fprintf(stderr, "%s: %s\n", name, text ? text : "gone");
	return false;
}

static int64_t status_of(struct place *p, const char *name, const char *field)
{
	json_auto_t *job = job_of(p, name);
	auto_free char *path = xasprintf("status.%s", field);

	return jsonx_int_or(job, path, -1000);
}

TEST("a PBS job waits, runs and completes with its script's exit status")
{
	struct place p = place_new();

	submit(&p, JOB("j", ENDS("3"), "'name':'train'"));
	CHECK(wait_state(&p, "j", "C"));
	CHECK_INT(status_of(&p, "j", "exitStatus"), 3);
	CHECK_INT(status_of(&p, "j", "startCount"), 1);
	json_auto_t *job = job_of(&p, "j");

	CHECK_STR(jsonx_str(job, "status.execHost"), "box/0");
	CHECK_STR(json_string_value(json_array_get(jsonx_at(job, "status.pods"), 0)), "j-0");
	CHECK(jsonx_at(job, "status.completionTime"));
	place_done(&p);
}

TEST("a PBS job that runs is ended by qdel with 271, one that waits without an exit status")
{
	struct place p = place_new();

	submit(&p, JOB("a", FOREVER, "'name':'a'"));
	submit(&p, JOB("b", FOREVER, "'name':'b','hold':'u'"));
	CHECK(wait_state(&p, "a", "R"));
	CHECK(wait_state(&p, "b", "H"));
	alter(&p, "a", "{'cancel':{'delaySeconds':0}}");
	alter(&p, "b", "{'cancel':{}}");
	CHECK(wait_state(&p, "a", "C"));
	CHECK(wait_state(&p, "b", "C"));
	CHECK_INT(status_of(&p, "a", "exitStatus"), 271);
	CHECK_INT(status_of(&p, "b", "exitStatus"), -1000);
	place_done(&p);
}

TEST("qrerun runs it again from the start, with the same name")
{
	struct place p = place_new();

	submit(&p, JOB("a", FOREVER, "'name':'a','killDelaySeconds':0"));
	CHECK(wait_state(&p, "a", "R"));
	alter(&p, "a", "{'rerunAfter':1}");
	CHECK(wait_state(&p, "a", "Q"));
	place_restart(&p);
	CHECK(wait_state(&p, "a", "R"));
	CHECK_INT(status_of(&p, "a", "startCount"), 2);
	json_auto_t *job = job_of(&p, "a");

	CHECK_STR(json_string_value(json_array_get(jsonx_at(job, "status.pods"), 0)), "a-0-r1");
	place_done(&p);
}

TEST("jobs that depend on others are released or deleted as those end")
{
	struct place p = place_new();

	submit(&p, JOB("1", FAKE("0.3", "0"), "'name':'a'"));
	submit(&p, JOB("2", ENDS("0"), "'name':'b','dependencies':[{'type':'afternotok','jobs':['1']}]"));
	submit(&p, JOB("3", ENDS("0"), "'name':'c','dependencies':[{'type':'afterok','jobs':['2']}]"));
	submit(&p, JOB("4", ENDS("0"), "'name':'d','dependencies':[{'type':'afterok','jobs':['1']}]"));
	CHECK(wait_state(&p, "4", "H"));
	for (int i = 1; i <= 4; i++) {
		char name[] = { (char)('0' + i), 0 };

		CHECK(wait_state(&p, name, "C"));
	}
	CHECK_INT(status_of(&p, "2", "startCount"), -1000);
	CHECK_INT(status_of(&p, "3", "startCount"), -1000);
	CHECK_INT(status_of(&p, "4", "exitStatus"), 0);
	json_auto_t *other = job_of(&p, "2");
	json_auto_t *job = job_of(&p, "3");
	auto_free char *comment =
		xasprintf("Job deleted as result of dependency on job %s", jsonx_str(other, "status.id"));

	CHECK_STR(jsonx_str(job, "status.comment"), comment);
	place_done(&p);
}

TEST("an array runs as many elements at once as it has slots, each once, and then completes")
{
	struct place p = place_new();

	submit(&p, JOB("a", ENDS("0"), "'name':'a','array':{'request':'0-9','slots':3}"));
	CHECK(wait_state(&p, "a", "R"));
	place_restart(&p);
	CHECK(wait_state(&p, "a", "C"));
	json_auto_t *job = job_of(&p, "a");

	CHECK_STR(json_string_value(json_object_get(jsonx_at(job, "status.elements"), "C:0")), "0-9");
	CHECK_INT(jsonx_int_or(job, "status.exitStatus", -1), 0);
	CHECK(!jsonx_at(job, "status.active"));
	place_done(&p);
}

static int find_account(void *arg, const char *user, const struct pbs_account **ret)
{
	static const struct pbs_account nobody = { .name = "nobody", .home = "", .uid = 65534, .gid = 65534 };

	(void)user;
	*ret = &nobody;
	return *(bool *)arg ? -1 : 0;
}

static bool has_dir(void *arg, const char *path)
{
	(void)arg;
	(void)path;
	return false;
}

static bool has_pod(struct place *p, const char *name)
{
	json_auto_t *pod = server_ask(&p->c.s, VERB_GET, "v1/pods", "default", name, NULL);

	return jsonx_at(pod, "spec") != NULL && !jsonx_at(pod, "metadata.deletionTimestamp");
}

static bool is_in_state(struct place *p, const char *name, const char *state)
{
	json_auto_t *job = job_of(p, name);

	return strchr(state, *jsonx_str_or(job, "status.state", "-")) != NULL;
}

static bool wait_pod(struct place *p, const char *name, bool there)
{
	int64_t end = clock_mono_ms() + PATIENCE_MS;

	while (has_pod(p, name) != there && clock_mono_ms() < end) {
		server_turn(&p->c.s);
		usleep(500);
	}
	return has_pod(p, name) == there;
}

TEST("abroad, a job without an image ends in words, and pods do not outlive their job")
{
	struct place p = place_new();
	bool away = false;
	struct pbs_abroad_config config = { .account = find_account, .shared = has_dir, .arg = &away };

	/* Nobody else collects what a job leaves. */
	gc_free(p.c.gc);
	p.c.gc = NULL;
	pbs_jobs_send_abroad(p.jobs, &config);
	submit(&p, JOB("plain", FOREVER, "'name':'a'"));
	CHECK(wait_state(&p, "plain", "C"));
	CHECK_INT(status_of(&p, "plain", "exitStatus"), -1);
	submit(&p, JOB("a", FOREVER, "'image':'host'"));
	submit(&p, JOB("b", FOREVER, "'image':'host'"));
	CHECK(wait_state(&p, "a", "R"));
	CHECK(wait_state(&p, "b", "R"));
	server_do(&p.c.s, VERB_DELETE, JOBS, "default", "a", NULL);
	CHECK(wait_pod(&p, "a-0", false));
	/* One that goes while nobody looks. */
	pbs_jobs_free(p.jobs);
	server_do(&p.c.s, VERB_DELETE, JOBS, "default", "b", NULL);
	server_settle(&p.c.s);
	CHECK(has_pod(&p, "b-0"));
	p.jobs = pbs_jobs_new(p.c.client, p.c.owned);
	pbs_jobs_send_abroad(p.jobs, &config);
	CHECK(wait_pod(&p, "b-0", false));
	/* While the users' database is away nothing is decided. */
	away = true;
	submit(&p, JOB("c", FOREVER, "'name':'a'"));
	server_settle(&p.c.s);
	CHECK(!is_in_state(&p, "c", "C"));
	place_done(&p);
}
