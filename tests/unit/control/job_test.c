// SPDX-License-Identifier: Apache-2.0
/* Jobs with everything real but the containers. */
#include "control/job.h"

#include "job_cluster.h"

#define QUICK "'stoker.dev/fake-seconds':'0.01'"

TEST("a job runs its pod, counts its success once and is complete")
{
	struct cluster c = cluster_new(true);

	job_make(&c, "a", QUICK, "");
	CHECK(job_wait(&c, "a", "Complete"));
	json_auto_t *job = job_get(&c, "a");
	json_auto_t *pods = all_of(&c, "v1/pods");
	const json_t *pod = json_array_get(pods, 0);

	CHECK_INT(jsonx_int_or(job, "status.succeeded", 0), 1);
	CHECK_INT(jsonx_int_or(job, "status.active", 0), 0);
	CHECK_INT(jsonx_int_or(job, "status.ready", -1), 0);
	CHECK(jsonx_str(job, "status.startTime") && jsonx_str(job, "status.completionTime"));
	CHECK_INT(json_array_size(pods), 1);
	CHECK(!jsonx_at(pod, "metadata.finalizers"));
	CHECK_INT(strlen(jsonx_str(pod, "metadata.name")), 2 + 5);
	CHECK_STR(jsonx_str(json_array_get(jsonx_at(pod, "metadata.ownerReferences"), 0), "kind"), "Job");
	CHECK_STR(json_string_value(json_object_get(jsonx_at(pod, "metadata.labels"), "job-name")), "a");
	CHECK_STR(events_of(&c, "a"), "SuccessfulCreate;Completed;");
	cluster_done(&c);
}

TEST("parallelism, completions and indexes are kept to, and an index is known inside")
{
	struct cluster c = cluster_new(true);

	job_make(&c, "a", QUICK, "'completionMode':'Indexed','completions':5,'parallelism':2,");
	CHECK(job_wait(&c, "a", "Complete"));
	json_auto_t *job = job_get(&c, "a");
	json_auto_t *pods = all_of(&c, "v1/pods");
	json_t *pod;
	size_t i;

	CHECK_STR(jsonx_str(job, "status.completedIndexes"), "0-4");
	CHECK_INT(json_array_size(pods), 5);
	json_array_foreach (pods, i, pod) {
		const json_t *notes = jsonx_at(pod, "metadata.annotations");
		const char *index = json_string_value(json_object_get(notes, JOB_INDEX));
		auto_free char *prefix = xasprintf("a-%s-", index);
		auto_free char *host = xasprintf("a-%s", index);
		const json_t *env = jsonx_at(json_array_get(jsonx_at(pod, "spec.containers"), 0), "env");

		CHECK(str_starts(jsonx_str(pod, "metadata.name"), prefix));
		CHECK_STR(jsonx_str(pod, "spec.hostname"), host);
		CHECK_STR(jsonx_str(json_array_get(env, 0), "name"), "JOB_COMPLETION_INDEX");
		CHECK_STR(json_string_value(json_object_get(jsonx_at(pod, "metadata.labels"), JOB_INDEX)), index);
	}
	cluster_done(&c);
}

TEST("a job over its back-off limit fails and says so")
{
	struct cluster c = cluster_new(true);

	job_make(&c, "a", "'stoker.dev/fake-exit-code':'3'", "'backoffLimit':0,");
	CHECK(job_wait(&c, "a", "Failed"));
	json_auto_t *job = job_get(&c, "a");

	CHECK_INT(jsonx_int_or(job, "status.failed", 0), 1);
	CHECK(!jsonx_at(job, "status.completionTime"));
	CHECK_STR(events_of(&c, "a"), "SuccessfulCreate;BackoffLimitExceeded;");
	cluster_done(&c);
}

TEST("a deadline ends running pods, and the job has failed when they are gone")
{
	struct cluster c = cluster_new(true);

	job_make(&c, "a", "", "'activeDeadlineSeconds':1,");
	CHECK(job_wait(&c, "a", "Failed"));
	json_auto_t *job = job_get(&c, "a");
	json_auto_t *pods = all_of(&c, "v1/pods");

	CHECK_INT(jsonx_int_or(job, "status.failed", 0), 1);
	CHECK_INT(jsonx_int_or(job, "status.active", 0), 0);
	CHECK_INT(json_array_size(pods), 0);
	CHECK(strstr(events_of(&c, "a"), "DeadlineExceeded;") != NULL);
	cluster_done(&c);
}

static void patch_job(struct cluster *c, const char *name, const char *body)
{
	struct api_request req = server_request(&c->s, VERB_PATCH, "batch/v1/jobs", "default", name);

	req.patch = PATCH_MERGE;
	json_auto_t *done = server_call(&c->s, &req, body);

	CHECK(done != NULL);
}

/* Until the number at `path` is `want`. */
static bool number_wait(struct cluster *c, const char *name, const char *path, int64_t want)
{
	int64_t end = clock_mono_ms() + PATIENCE_MS;

	while (clock_mono_ms() < end) {
		json_auto_t *job = job_get(c, name);

		if (jsonx_int_or(job, path, 0) == want)
			return true;
		server_turn(&c->s);
		usleep(500);
	}
	return false;
}

static bool count_wait(struct cluster *c, const char *what, size_t want)
{
	int64_t end = clock_mono_ms() + PATIENCE_MS;

	while (clock_mono_ms() < end) {
		json_auto_t *list = all_of(c, what);

		if (json_array_size(list) == want)
			return true;
		server_turn(&c->s);
		usleep(500);
	}
	return false;
}

TEST("a suspended job loses its pods and gets new ones when it goes on; neither is a failure")
{
	struct cluster c = cluster_new(true);

	job_make(&c, "a", "", "'parallelism':2,'completions':2,");
	CHECK(number_wait(&c, "a", "status.ready", 2));
	patch_job(&c, "a", "{'spec':{'suspend':true}}");
	CHECK(job_wait(&c, "a", "Suspended"));
	CHECK(count_wait(&c, "v1/pods", 0));
	CHECK(number_wait(&c, "a", "status.active", 0));
	patch_job(&c, "a", "{'spec':{'suspend':false}}");
	CHECK(number_wait(&c, "a", "status.active", 2));
	json_auto_t *job = job_get(&c, "a");

	CHECK_INT(jsonx_int_or(job, "status.failed", 0), 0);
	CHECK(strstr(events_of(&c, "a"), "Suspended;") && strstr(events_of(&c, "a"), "Resumed;"));
	cluster_done(&c);
}

TEST("a job that is told to be smaller ends pods, and more when told so")
{
	struct cluster c = cluster_new(true);

	job_make(&c, "a", "", "'parallelism':3,'completions':9,");
	CHECK(number_wait(&c, "a", "status.active", 3));
	patch_job(&c, "a", "{'spec':{'parallelism':1}}");
	CHECK(count_wait(&c, "v1/pods", 1));
	patch_job(&c, "a", "{'spec':{'parallelism':4}}");
	CHECK(count_wait(&c, "v1/pods", 4));
	cluster_done(&c);
}

TEST("ttlSecondsAfterFinished takes job and pods away")
{
	struct cluster c = cluster_new(true);

	job_make(&c, "a", QUICK, "'ttlSecondsAfterFinished':0,");
	CHECK(count_wait(&c, "batch/v1/jobs", 0));
	CHECK(count_wait(&c, "v1/pods", 0));
	cluster_done(&c);
}

static void delete_job(struct cluster *c, const char *name, enum propagation how)
{
	struct api_request req = server_request(&c->s, VERB_DELETE, "batch/v1/jobs", "default", name);

	req.propagation = how;
	json_auto_t *done = server_call(&c->s, &req, NULL);

	CHECK(done != NULL);
}

TEST("a deleted job takes its pods with it, whether they run or have ended")
{
	struct cluster c = cluster_new(true);

	job_make(&c, "runs", "", "");
	job_make(&c, "ends", QUICK, "");
	CHECK(number_wait(&c, "runs", "status.active", 1));
	CHECK(job_wait(&c, "ends", "Complete"));
	delete_job(&c, "runs", PROPAGATE_BACKGROUND);
	delete_job(&c, "ends", PROPAGATE_FOREGROUND);
	CHECK(count_wait(&c, "v1/pods", 0));
	CHECK(count_wait(&c, "batch/v1/jobs", 0));
	cluster_done(&c);
}

TEST("who deletes a failed pod does not end the back-off")
{
	struct cluster c = cluster_new(false);
	struct api_request req = server_request(&c.s, VERB_PATCH, "v1/pods", "default", NULL);
	auto_free char *body = NULL;
	char now[CLOCK_RFC3339_LEN];

	clock_fake(1700000040);
	job_make(&c, "a", "", "");
	CHECK(count_wait(&c, "v1/pods", 1));
	json_auto_t *pods = all_of(&c, "v1/pods");

	clock_rfc3339(clock_wall(), now);
	body = xasprintf("{'status':{'phase':'Failed','containerStatuses':[{'name':'c','state':{'terminated':{"
			 "'exitCode':1,'finishedAt':'%s'}}}]}}",
			 now);
	req.name = jsonx_str(json_array_get(pods, 0), "metadata.name");
	req.subresource = "status";
	req.patch = PATCH_MERGE;
	json_decref(server_call(&c.s, &req, body));
	CHECK(number_wait(&c, "a", "status.failed", 1));
	server_do(&c.s, VERB_DELETE, "v1/pods", "default", req.name, NULL);
	for (int i = 0; i < 5; i++)
		server_settle(&c.s);
	CHECK(count_wait(&c, "v1/pods", 0));
	clock_fake(1700000051);
	patch_job(&c, "a", "{'metadata':{'annotations':{'look':'now'}}}");
	CHECK(count_wait(&c, "v1/pods", 1));
	clock_fake(-1);
	cluster_done(&c);
}

TEST("orphaned pods lose the finalizer, and a job with the same selector adopts them")
{
	struct cluster c = cluster_new(true);
	json_auto_t *pods = NULL;
	json_t *pod;

	server_do(&c.s, VERB_CREATE, "batch/v1/jobs", "default", NULL,
		  "{'metadata':{'name':'a'},'spec':{'manualSelector':true,'selector':{'matchLabels':{'app':'x'}},"
		  "'template':{'metadata':{'labels':{'app':'x'}},'spec':{'restartPolicy':'Never',"
		  "'terminationGracePeriodSeconds':1,'containers':[{'name':'c','image':'host','command':['x']}]}}}}");
	CHECK(number_wait(&c, "a", "status.active", 1));
	delete_job(&c, "a", PROPAGATE_ORPHAN);
	CHECK(count_wait(&c, "batch/v1/jobs", 0));
	for (int i = 0; i < 5; i++)
		server_settle(&c.s);
	pods = all_of(&c, "v1/pods");
	pod = json_array_get(pods, 0);
	CHECK_INT(json_array_size(pods), 1);
	CHECK_INT(json_array_size(jsonx_at(pod, "metadata.finalizers")), 0);
	CHECK_INT(json_array_size(jsonx_at(pod, "metadata.ownerReferences")), 0);
	server_do(&c.s, VERB_CREATE, "batch/v1/jobs", "default", NULL,
		  "{'metadata':{'name':'b'},'spec':{'manualSelector':true,'selector':{'matchLabels':{'app':'x'}},"
		  "'template':{'metadata':{'labels':{'app':'x'}},'spec':{'restartPolicy':'Never',"
		  "'containers':[{'name':'c','image':'host','command':['x']}]}}}}");
	CHECK(number_wait(&c, "b", "status.active", 1));
	json_auto_t *adopted = all_of(&c, "v1/pods");

	pod = json_array_get(adopted, 0);
	CHECK_INT(json_array_size(adopted), 1);
	CHECK_STR(jsonx_str(json_array_get(jsonx_at(pod, "metadata.ownerReferences"), 0), "name"), "b");
	CHECK_INT(json_array_size(jsonx_at(pod, "metadata.finalizers")), 1);
	/* one that no longer matches is let go and replaced */
	struct api_request req =
		server_request(&c.s, VERB_PATCH, "v1/pods", "default", jsonx_str(pod, "metadata.name"));

	req.patch = PATCH_MERGE;
	json_auto_t *done = server_call(&c.s, &req, "{'metadata':{'labels':{'app':'y'}}}");

	CHECK(done != NULL);
	CHECK(count_wait(&c, "v1/pods", 2));
	json_auto_t *free_pod = server_ask(&c.s, VERB_GET, "v1/pods", "default", jsonx_str(pod, "metadata.name"), NULL);

	CHECK_INT(json_array_size(jsonx_at(free_pod, "metadata.ownerReferences")), 0);
	CHECK_INT(json_array_size(jsonx_at(free_pod, "metadata.finalizers")), 0);
	cluster_done(&c);
}

/* A server of Kubernetes 1.20: what it does not know of a status it leaves out without a word. */
static struct {
	struct client_ops ops;
	const struct client_ops *real;
	unsigned updates;
} older;

static void update_older(struct client *c, const struct ref *ref, const json_t *obj, client_done *done, void *arg)
{
	static const char *const newer[] = { "uncountedTerminatedPods", "ready", "terminating" };
	json_auto_t *less = jsonx_copy(obj);

	for (size_t i = 0; i < ARRAY_SIZE(newer); i++)
		json_object_del(json_object_get(less, "status"), newer[i]);
	older.updates++;
	older.real->update(c, ref, less, done, arg);
}

static void make_older(struct cluster *c)
{
	older.real = c->client->ops;
	older.ops = *older.real;
	older.ops.update = update_older;
	older.updates = 0;
	c->client->ops = &older.ops;
}

TEST("a server that does not keep all of a status is not written to for ever")
{
	struct cluster c = cluster_new(true);

	make_older(&c);
	job_make(&c, "a", QUICK, "'completions':3,'parallelism':2,");
	CHECK(job_wait(&c, "a", "Complete"));
	job_make(&c, "b", "'stoker.dev/fake-seconds':'1000'", "");
	/* A handful, for what happens to its pod; it was one every few turns. */
	for (int i = 0; i < 1000; i++) {
		server_turn(&c.s);
		usleep(500);
	}
	if (older.updates > 40)
		test_fail(__FILE__, __LINE__, "a status was written %u times", older.updates);
	cluster_done(&c);
}

static void replace_every_few_turns(void (*prepare)(struct cluster *c))
{
	for (int every = 3; every <= 14; every++) {
		struct cluster c = cluster_new(true);
		int64_t end = clock_mono_ms() + PATIENCE_MS;
		bool complete = false;

		if (prepare)
			prepare(&c);
		job_make(&c, "a", QUICK, "'completions':5,'parallelism':2,");
		for (int turn = 1; !complete && clock_mono_ms() < end; turn++) {
			json_auto_t *job = NULL;

			server_turn(&c.s);
			if (turn % every == 0) {
				control_stop(&c);
				control_start(&c);
			}
			job = job_get(&c, "a");
			complete = job_is(job, "Complete");
			usleep(200);
		}
		CHECK(complete);
		server_settle(&c.s);
		json_auto_t *job = job_get(&c, "a");
		json_auto_t *pods = all_of(&c, "v1/pods");

		CHECK_INT(jsonx_int_or(job, "status.succeeded", 0), 5);
		CHECK_INT(jsonx_int_or(job, "status.failed", 0), 0);
		CHECK_INT(json_array_size(pods), 5);
		cluster_done(&c);
	}
}

TEST("a controller that is replaced after any number of turns leads to the same end")
{
	replace_every_few_turns(NULL);
}

TEST("on an older server, too")
{
	replace_every_few_turns(make_older);
}

TEST("a pod that cannot be made is said so, and made when it can be")
{
	struct cluster c = cluster_new(true);

	/* the service account is missing: admission refuses the pod */
	server_do(&c.s, VERB_CREATE, "batch/v1/jobs", "default", NULL,
		  "{'metadata':{'name':'a'},'spec':{'template':{'metadata':{'annotations':{" QUICK "}},'spec':"
		  "{'restartPolicy':'Never','serviceAccountName':'who','containers':[{'name':'c','image':'host',"
		  "'command':['x']}]}}}}");
	for (int i = 0; i < 5; i++)
		server_settle(&c.s);
	if (strstr(events_of(&c, "a"), "FailedCreate;")) {
		server_do(&c.s, VERB_CREATE, "v1/serviceaccounts", "default", NULL, "{'metadata':{'name':'who'}}");
		CHECK(job_wait(&c, "a", "Complete"));
		CHECK_STR(events_of(&c, "a"), "FailedCreate;SuccessfulCreate;Completed;");
	}
	cluster_done(&c);
}

TEST("a job that somebody else manages is left alone")
{
	struct cluster c = cluster_new(true);

	job_make(&c, "a", QUICK, "'managedBy':'example.com/queue',");
	for (int i = 0; i < 3; i++)
		server_settle(&c.s);
	json_auto_t *pods = all_of(&c, "v1/pods");
	json_auto_t *job = job_get(&c, "a");

	CHECK_INT(json_array_size(pods), 0);
	CHECK(!jsonx_at(job, "status.startTime"));
	cluster_done(&c);
}
