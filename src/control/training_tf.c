// SPDX-License-Identifier: Apache-2.0
/* training_tf.c - how TensorFlow's programs find each other: TF_CONFIG
 *
 *	{"cluster":{"ps":["job-ps-0.ns.svc:2222"],"worker":[...]},"task":{"type":"worker","index":0},"environment":"cloud"}
 *
 * v1alpha2 has whole domain names, no environment and no evaluators.  With enableDynamicWorker each task only knows
 *what it must: a worker itself and all parameter servers, a parameter server itself.
 */
#include "base/jsonx.h"
#include "base/limits.h"
#include "base/mem.h"
#include "control/training_job.h"

static json_t *address(const struct training_job *j, const struct training_role *r, int index, const char *suffix)
{
	auto_free char *host = training_host(j, r, index);

	return jsonx_stringf("%s%s:%d", host, suffix, r->port);
}

static json_t *addresses(const struct training_job *j, const struct training_role *r, const char *suffix)
{
	json_t *list = json_array();

	for (int i = 0; r && i < r->replicas; i++)
		json_array_append_new(list, address(j, r, i, suffix));
	return list;
}

static int by_name(const void *a, const void *b)
{
	return strcmp((*(const struct training_role *const *)a)->lower,
		      (*(const struct training_role *const *)b)->lower);
}

/* Sorted by type, as every version has written it. */
static json_t *cluster(const struct training_job *j, const char *suffix, bool evaluators)
{
	auto_free const struct training_role **sorted = xcalloc(j->n + 1, sizeof(*sorted));
	json_t *all = json_object();

	for (size_t i = 0; i < j->n; i++)
		sorted[i] = &j->roles[i];
	qsort(sorted, j->n, sizeof(*sorted), by_name);
	for (size_t i = 0; i < j->n; i++)
		if (evaluators || !streq(sorted[i]->lower, "evaluator"))
			json_object_set_new(all, sorted[i]->lower, addresses(j, sorted[i], suffix));
	return all;
}

static json_t *sparse_cluster(const struct training_job *j, const struct training_role *r, int index,
			      const char *suffix)
{
	json_t *workers = json_object();
	json_t *ps = json_array();
	char number[16];

	snprintf(number, sizeof(number), "%d", index);
	if (streq(r->lower, "worker"))
		json_object_set_new(workers, number, address(j, r, index, suffix));
	if (streq(r->lower, "ps")) {
		json_array_append_new(ps, address(j, r, index, suffix));
	} else {
		json_decref(ps);
		ps = addresses(j, training_role(j, "PS"), suffix);
	}
	return json_pack("{s:o, s:o}", "worker", workers, "ps", ps);
}

char *tf_config(const struct training_job *j, const struct training_role *r, int index, const char *suffix, bool cloud)
{
	auto_sbuf struct sbuf text = SBUF(LIMIT_OBJECT);
	bool sparse = cloud && j->dynamic;
	json_auto_t *config = json_pack("{s:o, s:{s:s, s:i}}", "cluster",
					sparse ? sparse_cluster(j, r, index, suffix) : cluster(j, suffix, cloud),
					"task", "type", r->lower, "index", index);

	if (cloud && !sparse)
		json_object_set_new(config, "environment", json_string("cloud"));
	jsonx_dump(config, &text);
	return sbuf_steal(&text);
}

void tf_env(const struct training_job *j, const struct training_role *r, int index, json_t *env)
{
	auto_free char *suffix = xasprintf(".%s.svc", j->ns);
	auto_free char *config = tf_config(j, r, index, suffix, true);

	if (j->total > 1)
		training_env(env, "TF_CONFIG", "%s", config);
}

void tf_env_v1alpha2(const struct training_job *j, const struct training_role *r, int index, json_t *env)
{
	auto_free char *suffix = xasprintf(".%s.svc.cluster.local", j->ns);
	auto_free char *config = tf_config(j, r, index, suffix, false);

	training_env(env, "TF_CONFIG", "%s", config);
}

void tf_labels(const struct training_job *j, const struct training_role *r, int index, json_t *labels)
{
	json_object_set_new(labels, "group_name", json_string("kubeflow.org"));
	json_object_set_new(labels, "tf_job_name", jsonx_string(j->name));
	json_object_set_new(labels, "tf-job-name", jsonx_string(j->name));
	json_object_set_new(labels, "tf-replica-type", jsonx_string(r->lower));
	json_object_set_new(labels, "tf-replica-index", jsonx_stringf("%d", index));
	if (json_object_get(labels, "job-role"))
		json_object_set_new(labels, "tf-job-role", json_string("master"));
}
