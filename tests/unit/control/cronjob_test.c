// SPDX-License-Identifier: Apache-2.0
/* CronJobs with everything real but the containers and the clock. */
#include "control/cronjob.h"

#include "job_cluster.h"

static void cron_make(struct cluster *c, const char *spec)
{
	auto_free char *body =
		xasprintf("{'metadata':{'name':'c'},'spec':{'schedule':'* * * * *','timeZone':'UTC',%s'jobTemplate':{"
			  "'metadata':{'labels':{'kept':'yes'}},'spec':{'template':{'metadata':{'annotations':{"
			  "'stoker.dev/fake-seconds':'0.01'}},'spec':{'restartPolicy':'Never','containers':[{"
			  "'name':'c','image':'host','command':['x']}]}}}}}}",
			  spec);

	server_do(&c->s, VERB_CREATE, "batch/v1/cronjobs", "default", NULL, body);
}

/* Time passes, and something happens that makes the controller look. */
static void pass(struct cluster *c, int64_t *now, int64_t seconds)
{
	struct api_request req = server_request(&c->s, VERB_PATCH, "batch/v1/cronjobs", "default", "c");
	auto_free char *body = xasprintf("{'metadata':{'annotations':{'now':'%lld'}}}", (long long)*now + seconds);

	*now += seconds;
	clock_fake(*now);
	req.patch = PATCH_MERGE;
	json_auto_t *done = server_call(&c->s, &req, body);

	CHECK(done != NULL);
	for (int i = 0; i < 3; i++)
		server_settle(&c->s);
}

static json_t *cron_get(struct cluster *c)
{
	return server_ask(&c->s, VERB_GET, "batch/v1/cronjobs", "default", "c", NULL);
}

TEST("a cron job starts a job each minute, sees it end, and keeps only the newest")
{
	struct cluster c = cluster_new(true);
	int64_t now = 1700000040; /* 22:14:00 */
	json_auto_t *jobs = NULL;
	json_auto_t *cron = NULL;

	clock_fake(now);
	cron_make(&c, "'successfulJobsHistoryLimit':2,");
	for (int i = 1; i <= 4; i++) {
		auto_free char *name = xasprintf("c-%lld", (long long)(now + 60) / 60);

		pass(&c, &now, 60);
		CHECK(job_wait(&c, name, "Complete"));
		server_settle(&c.s);
	}
	jobs = all_of(&c, "batch/v1/jobs");
	cron = cron_get(&c);
	CHECK_INT(json_array_size(jobs), 2);
	CHECK_STR(jsonx_str(json_array_get(jobs, 0), "metadata.name"), "c-28333337");
	CHECK_STR(jsonx_str(json_array_get(jobs, 0), "metadata.labels.kept"), "yes");
	CHECK_STR(jsonx_str(json_array_get(jsonx_at(json_array_get(jobs, 0), "metadata.ownerReferences"), 0), "kind"),
		  "CronJob");
	CHECK_STR(jsonx_str(cron, "status.lastScheduleTime"), "2023-11-14T22:18:00Z");
	CHECK_STR(jsonx_str(cron, "status.lastSuccessfulTime"), "2023-11-14T22:18:00Z");
	CHECK_INT(json_array_size(jsonx_at(cron, "status.active")), 0);
	CHECK(str_starts(events_of(&c, "c"), "SuccessfulCreate;SawCompletedJob;"));
	CHECK(strstr(events_of(&c, "c"), "SuccessfulDelete;") != NULL);
	clock_fake(-1);
	cluster_done(&c);
}

TEST("a controller that is replaced between any two turns starts no job twice")
{
	for (int every = 1; every <= 6; every++) {
		struct cluster c = cluster_new(false);
		int64_t now = 1700000040;
		json_auto_t *jobs = NULL;
		json_auto_t *cron = NULL;

		clock_fake(now);
		cron_make(&c, "");
		clock_fake(now + 60);
		for (int turn = 0; turn < 40; turn++) {
			if (turn % every == 0 && turn < 30) {
				control_stop(&c);
				control_start(&c);
			}
			server_turn(&c.s);
		}
		jobs = all_of(&c, "batch/v1/jobs");
		cron = cron_get(&c);
		CHECK_INT(json_array_size(jobs), 1);
		CHECK_INT(json_array_size(jsonx_at(cron, "status.active")), 1);
		CHECK_STR(jsonx_str(cron, "status.lastScheduleTime"), "2023-11-14T22:15:00Z");
		clock_fake(-1);
		cluster_done(&c);
	}
}
