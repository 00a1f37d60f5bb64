// SPDX-License-Identifier: Apache-2.0
/* training_pytorch.c - how PyTorch's processes find each other: MASTER_ADDR, RANK, and PET_* for torchrun
 *
 * The master has rank 0 and worker i rank i + 1; without a master the workers count from 0, and the first is where
 * they meet.
 */
#include "base/jsonx.h"
#include "base/limits.h"
#include "base/mem.h"
#include "control/training_job.h"

#define RDZV_PORT 23456

/* Processes in each pod: a number or a word, which counts as one.  Every job has a word by default, so the older place
 * says more than that. */
static char *per_pod(const struct training_job *j, int *ret_n)
{
	int64_t older = jsonx_int_or(j->spec, "elasticPolicy.nProcPerNode", 0);
	const char *text = jsonx_str_or(j->spec, "nprocPerNode", "auto");
	int64_t n = 1;
	bool number = str_int64(text, 1, 65536, &n);

	*ret_n = number ? (int)n : older > 0 ? (int)older : 1;
	return !number && older > 0 ? xasprintf("%d", *ret_n) : xstrdup(text);
}

/* key=value,key=value */
static char *settings(const json_t *list)
{
	auto_sbuf struct sbuf text = SBUF(LIMIT_OBJECT);
	json_t *v;
	size_t i;

	json_array_foreach (list, i, v)
		sbuf_addf(&text, "%s%s=%s", i ? "," : "", jsonx_str_or(v, "key", ""), jsonx_str_or(v, "value", ""));
	return sbuf_steal(&text);
}

static void elastic_env(const struct training_job *j, json_t *env)
{
	const json_t *p = json_object_get(j->spec, "elasticPolicy");
	const struct training_role *workers = training_role(j, "Worker");
	auto_free char *first = workers ? training_host(j, workers, 0) : xstrdup("");
	auto_free char *conf = settings(json_object_get(p, "rdzvConf"));

	training_env(env, "PET_RDZV_ENDPOINT", "%s:%lld", jsonx_str_or(p, "rdzvHost", first),
		     (long long)jsonx_int_or(p, "rdzvPort", RDZV_PORT));
	training_env(env, "PET_RDZV_BACKEND", "%s", jsonx_str_or(p, "rdzvBackend", "c10d"));
	if (jsonx_str(p, "rdzvId"))
		training_env(env, "PET_RDZV_ID", "%s", jsonx_str(p, "rdzvId"));
	if (*conf)
		training_env(env, "PET_RDZV_CONF", "%s", conf);
	if (json_object_get(p, "maxRestarts"))
		training_env(env, "PET_MAX_RESTARTS", "%lld", (long long)jsonx_int_or(p, "maxRestarts", 0));
	if (jsonx_bool_or(p, "standalone", false))
		training_env(env, "PET_STANDALONE", "%s", "");
	training_env(env, "PET_NNODES", "%lld:%lld", (long long)jsonx_int_or(p, "minReplicas", j->total),
		     (long long)jsonx_int_or(p, "maxReplicas", j->total));
}

void pytorch_env(const struct training_job *j, const struct training_role *r, int index, json_t *env)
{
	const struct training_role *master = training_role(j, "Master");
	const struct training_role *meet = master ? master : r;
	auto_free char *address = training_host(j, meet, 0);
	int rank = r->first_rank + index;
	int procs;
	auto_free char *per_node = per_pod(j, &procs);

	training_env(env, "PYTHONUNBUFFERED", "1");
	training_env(env, "MASTER_PORT", "%d", meet->port);
	training_env(env, "MASTER_ADDR", "%s", address);
	if (master) {
		training_env(env, "PET_MASTER_PORT", "%d", meet->port);
		training_env(env, "PET_MASTER_ADDR", "%s", address);
	}
	training_env(env, "WORLD_SIZE", "%d", j->total * procs);
	training_env(env, "RANK", "%d", rank);
	if (master)
		training_env(env, "PET_NODE_RANK", "%d", rank);
	training_env(env, "PET_NPROC_PER_NODE", "%s", per_node);
	if (j->elastic)
		elastic_env(j, env);
	else
		training_env(env, "PET_NNODES", "%d", j->total);
}

void pytorch_env_v1alpha1(const struct training_job *j, const struct training_role *r, int index, json_t *env)
{
	const struct training_role *master = training_role(j, "MASTER");
	auto_free char *address = training_host(j, master ? master : r, 0);
	auto_free char *config = tf_config(j, r, index, "", true);
	int rank = r->first_rank + index;

	training_env(env, "TF_CONFIG", "%s", config);
	training_env(env, "MASTER_PORT", "%d", master ? master->port : r->port);
	training_env(env, "MASTER_ADDR", "%s", rank == 0 ? "localhost" : address);
	training_env(env, "WORLD_SIZE", "%d", j->total);
	training_env(env, "RANK", "%d", rank);
	training_env(env, "PYTHONUNBUFFERED", "0");
}

void pytorch_labels(const struct training_job *j, const struct training_role *r, int index, json_t *labels)
{
	const char *type = streq(r->lower, "master") ? "MASTER" : "WORKER";

	json_object_set_new(labels, "kubeflow.org", json_string(""));
	json_object_set_new(labels, "job_type", json_string(type));
	json_object_set_new(labels, "pytorch_job_name", jsonx_string(j->name));
	json_object_set_new(labels, "task_index", jsonx_stringf("%d", r->first_rank + index));
	json_object_set_new(labels, "pytorch-job-name", jsonx_string(j->name));
	json_object_set_new(labels, "pytorch-replica-type", jsonx_string(r->lower));
	json_object_set_new(labels, "pytorch-replica-index", jsonx_stringf("%d", index));
	if (*j->id)
		json_object_set_new(labels, "runtime_id", jsonx_string(j->id));
}
