// SPDX-License-Identifier: Apache-2.0
/* A job of thousands: whoever searches for each replica among all of them makes this test take minutes. */
#include "control/training_plan.h"

#include "control/training_sample.h"

#define MANY  2000
#define PLANS 40

static const char spec[] =
	"'pytorchReplicaSpecs':{" TORCH_ROLE("Master", 1, "Never") "," TORCH_ROLE("Worker", 1999, "Never") "}";

struct crowd {
	json_t *obj, *objects;
	struct training_job job;
	struct pod_facts facts[MANY];
	const struct pod_facts *pods[MANY];
	const json_t *services[MANY];
};

static void crowd_init(struct crowd *c)
{
	c->obj = sample_job("big", NULL, spec);
	c->objects = json_array();
	c->job = training_job(training_form("PyTorchJob", c->obj), c->obj);
	for (int i = 0; i < MANY; i++) {
		const struct training_role *r = training_role(&c->job, i ? "Worker" : "Master");
		json_t *pod = training_pod(&c->job, r, i ? i - 1 : 0, 0);
		json_t *service = training_service(&c->job, r, i ? i - 1 : 0);

		jsonx_set_new(pod, "status.phase", json_string("Running"));
		json_array_append_new(c->objects, pod);
		json_array_append_new(c->objects, service);
		c->facts[i] = pod_facts(pod);
		c->pods[i] = &c->facts[i];
		c->services[i] = service;
	}
}

static void crowd_done(struct crowd *c)
{
	training_job_done(&c->job);
	json_decref(c->objects);
	json_decref(c->obj);
}

/* Plans with the first so many Services and pods. */
static void plan(const struct crowd *c, size_t services, size_t pods, struct training_plan *ret)
{
	training_plan(&(struct training_view){ .job = &c->job,
					       .pods = c->pods,
					       .n = pods,
					       .services = c->services,
					       .nservices = services,
					       .now = 1000,
					       .create_most = TRAINING_CREATE_MOST },
		      ret);
}

TEST("a job of 2000 replicas is planned in time that grows with their number alone")
{
	struct crowd *c = xcalloc(1, sizeof(*c));
	struct training_plan p;

	crowd_init(c);
	CHECK_INT(c->job.total, MANY);
	for (size_t i = 0; i < PLANS; i++) {
		size_t n = MANY - i;

		plan(c, n, 0, &p);
		CHECK_INT(p.nservices, i);
		CHECK_INT(p.npods, i ? 0 : TRAINING_CREATE_MOST);
		training_plan_done(&p);
		plan(c, MANY, n, &p);
		CHECK_INT(p.nservices + p.ndrop + p.nremove, 0);
		CHECK_INT(p.npods, i);
		CHECK_INT(jsonx_int_or(p.status, "replicaStatuses.Worker.active", 0), (int64_t)n - 1);
		training_plan_done(&p);
	}
	crowd_done(c);
	free(c);
}
