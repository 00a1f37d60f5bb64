// SPDX-License-Identifier: Apache-2.0
#include "kinds/queue_limits.h"

#include "api/sample_json.h"
#include "base/mem.h"
#include "test.h"

static struct amount_of_limits job(int64_t gpus, int64_t milli)
{
	return (struct amount_of_limits){ .v = { [LIMIT_RUNNING] = 1, [LIMIT_GPUS] = gpus, [LIMIT_CPUS] = milli } };
}

#define CHECK_HIT(hit, want)                                                                                           \
	do {                                                                                                           \
		auto_sbuf struct sbuf text_ = SBUF(500);                                                               \
		limit_hit_text(hit, "batch", "anna", "lab", &text_);                                                   \
		CHECK_STR(text_.p, want);                                                                              \
	} while (0)

TEST("limits: in all, per user and per group, each in words")
{
	json_auto_t *spec = sample_json("{'total':{'gpus':8,'running':3},'perUser':{'gpus':4,'cpus':'2500m'},"
					"'perGroup':{'running':2,'memory':'1Gi'}}");
	struct amount_of_limits three = job(3, 1000);
	struct amount_of_limits two = job(2, 1000);
	struct amount_of_limits nine = job(9, 0);
	struct amount_of_limits none = job(0, 2000);
	struct limits_use use;
	struct limits l;
	struct limit_hit hit;

	limits_read(&l, spec);
	limits_use_init(&use);
	CHECK(!limits_exceeded(&l, &use, "anna", "lab", &three, &hit));
	CHECK(limits_impossible(&l, &nine, &hit));
	CHECK_HIT(&hit, "queue batch allows 8 GPUs in all, 0 in use and this needs 9");
	limits_count(&use, "anna", "lab", &three, 1);
	CHECK(limits_exceeded(&l, &use, "anna", "lab", &two, &hit));
	CHECK_HIT(&hit, "queue batch allows each user 4 GPUs, anna has 3 and this needs 2");
	CHECK(limits_exceeded(&l, &use, "anna", "lab", &none, &hit));
	CHECK_HIT(&hit, "queue batch allows each user 2.5 CPUs, anna has 1 and this needs 2");
	CHECK(!limits_exceeded(&l, &use, "ben", "lab", &two, &hit));
	limits_count(&use, "ben", "lab", &two, 1);
	CHECK(limits_exceeded(&l, &use, "carl", "lab", &two, &hit));
	CHECK_HIT(&hit, "queue batch allows each group 2 running jobs, lab has 2 and this needs 1");
	CHECK(!limits_exceeded(&l, &use, "carl", "", &two, &hit));
	limits_count(&use, "anna", "lab", &three, -1);
	CHECK(!limits_exceeded(&l, &use, "anna", "lab", &three, &hit));
	limits_use_done(&use);
}

TEST("limits: none where there is no number, and 0 is one")
{
	json_auto_t *spec = sample_json("{'perUser':{'gpus':0}}");
	struct amount_of_limits gpu = job(1, 500);
	struct amount_of_limits plain = job(0, 500);
	struct limits_use use;
	struct limits l;
	struct limit_hit hit;

	limits_use_init(&use);
	limits_read(&l, NULL);
	CHECK(!limits_exceeded(&l, &use, "anna", "", &gpu, &hit));
	limits_read(&l, spec);
	CHECK(limits_exceeded(&l, &use, "anna", "", &gpu, &hit));
	CHECK(!limits_exceeded(&l, &use, "anna", "", &plain, &hit));
	limits_use_done(&use);
}

TEST("limits: what a pod asks for, so many times over")
{
	json_auto_t *spec = sample_json("{'containers':[{'resources':{'limits':{'nvidia.com/gpu':2,'memory':'2Gi'},"
					"'requests':{'cpu':'1500m','memory':'1Gi'}}},"
					"{'resources':{'requests':{'cpu':'1'}}}]}");
	json_auto_t *vast = sample_json("{'containers':[{'resources':{'requests':{'cpu':'9E','memory':'-1'}}}]}");
	json_auto_t *limits = sample_json("{'perUser':{'gpus':4}}");
	auto_sbuf struct sbuf text = SBUF(500);
	struct amount_of_limits a = { .v[LIMIT_RUNNING] = 1 };
	struct limit_hit hit;
	struct limits l;

	limits_add_pod(&a, spec, 3);
	CHECK_INT(a.v[LIMIT_GPUS], 6);
	CHECK_INT(a.v[LIMIT_CPUS], 7500);
	CHECK_INT(a.v[LIMIT_MEMORY], (int64_t)3 << 30);
	limits_read(&l, limits);
	CHECK(limits_impossible(&l, &a, &hit));
	limit_most_text(&hit, "mcc", &text);
	CHECK_STR(text.p, "queue mcc allows each user 4 GPUs and this needs 6");
	limits_add_pod(&a, vast, INT64_MAX);
	CHECK_INT(a.v[LIMIT_CPUS], (int64_t)1 << 52);
	CHECK_INT(a.v[LIMIT_MEMORY], (int64_t)3 << 30);
	limits_add_pod(&a, NULL, 1);
}
