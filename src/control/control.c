// SPDX-License-Identifier: Apache-2.0
/* control.c - the table of controllers: which there are, which were chosen, starting and stopping them */
#include "control/control.h"

#include "base/mem.h"
#include "control/claims.h"
#include "control/cronjob.h"
#include "control/daemonset.h"
#include "control/deployment.h"
#include "control/disruption.h"
#include "control/endpoints.h"
#include "control/gated.h"
#include "control/gc.h"
#include "control/idle_gpus.h"
#include "control/job.h"
#include "control/namespace.h"
#include "control/nodes.h"
#include "control/pbs.h"
#include "control/pod_gc.h"
#include "control/replicas.h"
#include "control/serviceaccounts.h"
#include "control/statefulset.h"
#include "control/taint_eviction.h"
#include "control/training.h"

struct controller {
	const char *name;  /* as kube-controller-manager's --controllers has it, */
	const char *later; /* and since Kubernetes 1.27 */
	const char *needs; /* kinds without which it cannot work */
	void *(*start)(struct client *c, struct owned *pods);
	void (*stop)(void *k);
	struct workqueue_counts (*counts)(const void *k);
	bool pods;                                                       /* it shares the cache of pods */
	void (*gate)(void *k, struct gate *gate);                        /* for those whose jobs may be held; or NULL */
	bool alone;                                                      /* whose pods need not go together */
	void (*abroad)(void *k, const struct pbs_abroad_config *config); /* or NULL */
};

/* Gives a controller's own functions the types of the table: ALONE(x) for x_new(client), WITH_PODS(x) for
 * x_new(client, owned). */
#define SAME(x_)                                                                                                       \
	static void stop_##x_(void *k)                                                                                 \
	{                                                                                                              \
		x_##_free(k);                                                                                          \
	}                                                                                                              \
	static struct workqueue_counts counts_##x_(const void *k)                                                      \
	{                                                                                                              \
		return x_##_counts(k);                                                                                 \
	}
#define ALONE(x_)                                                                                                      \
	static void *start_##x_(struct client *c, struct owned *pods)                                                  \
	{                                                                                                              \
		(void)pods;                                                                                            \
		return x_##_new(c);                                                                                    \
	}                                                                                                              \
	SAME(x_)
#define WITH_PODS(x_)                                                                                                  \
	static void *start_##x_(struct client *c, struct owned *pods)                                                  \
	{                                                                                                              \
		return x_##_new(c, pods);                                                                              \
	}                                                                                                              \
	SAME(x_)
/* One engine, started for a kind of training job. */
#define TRAINING(x_, kind_)                                                                                            \
	static void *start_##x_(struct client *c, struct owned *pods)                                                  \
	{                                                                                                              \
		return training_jobs_new(c, pods, kind_);                                                              \
	}

static void gate_training(void *k, struct gate *gate)
{
	training_jobs_gate(k, gate);
}

static void gate_jobs(void *k, struct gate *gate)
{
	jobs_gate(k, gate);
}

static void abroad_pbs(void *k, const struct pbs_abroad_config *config)
{
	pbs_jobs_send_abroad(k, config);
}

/* clang-format off */
ALONE(namespaces)
ALONE(gc)
ALONE(endpoints)
ALONE(claims)
ALONE(service_accounts)
WITH_PODS(jobs)
ALONE(cronjobs)
WITH_PODS(replicasets)
WITH_PODS(replicationcontrollers)
WITH_PODS(deployments)
WITH_PODS(statefulsets)
WITH_PODS(daemonsets)
WITH_PODS(nodes)
WITH_PODS(taint_eviction)
WITH_PODS(pod_gc)
WITH_PODS(disruption)
WITH_PODS(pbs_jobs)
WITH_PODS(idle_gpus)
SAME(training_jobs)
TRAINING(tfjobs, "TFJob")
TRAINING(pytorchjobs, "PyTorchJob")
TRAINING(paddlejobs, "PaddleJob")
TRAINING(mpijobs, "MPIJob")

#define RUN(x_)          start_##x_, stop_##x_, counts_##x_
#define RUN_TRAINING(x_) start_##x_, stop_training_jobs, counts_training_jobs, .gate = gate_training

/* Started in this order, stopped in the opposite one. */
static const struct controller controllers[] = {
	{ "namespace", "namespace-controller", "v1/namespaces", RUN(namespaces) },
	{ "garbagecollector", "garbage-collector-controller", "", RUN(gc) },
	{ "endpoint", "endpoints-controller", "v1/services v1/pods v1/endpoints discovery.k8s.io/v1/endpointslices", RUN(endpoints) },
	{ "persistentvolume-binder", "persistentvolume-binder-controller", "v1/persistentvolumeclaims v1/persistentvolumes storage.k8s.io/v1/storageclasses", RUN(claims) },
	{ "serviceaccount", "serviceaccount-controller", "v1/namespaces v1/serviceaccounts v1/configmaps v1/secrets", RUN(service_accounts) },
	{ "job", "job-controller", "batch/v1/jobs v1/pods", RUN(jobs), .pods = true, .gate = gate_jobs, .alone = true },
	{ "cronjob", "cronjob-controller", "batch/v1/cronjobs batch/v1/jobs", RUN(cronjobs) },
	{ "replicaset", "replicaset-controller", "apps/v1/replicasets v1/pods", RUN(replicasets), .pods = true },
	{ "replicationcontroller", "replicationcontroller-controller", "v1/replicationcontrollers v1/pods", RUN(replicationcontrollers), .pods = true },
	{ "deployment", "deployment-controller", "apps/v1/deployments apps/v1/replicasets v1/pods", RUN(deployments), .pods = true },
	{ "statefulset", "statefulset-controller", "apps/v1/statefulsets apps/v1/controllerrevisions v1/persistentvolumeclaims v1/pods", RUN(statefulsets), .pods = true },
	{ "daemonset", "daemonset-controller", "apps/v1/daemonsets apps/v1/controllerrevisions v1/pods v1/nodes", RUN(daemonsets), .pods = true },
	{ "nodelifecycle", "node-lifecycle-controller", "v1/nodes v1/pods coordination.k8s.io/v1/leases", RUN(nodes), .pods = true },
	{ "taint-eviction", "taint-eviction-controller", "v1/nodes v1/pods", RUN(taint_eviction), .pods = true },
	{ "podgc", "pod-garbage-collector-controller", "v1/nodes v1/pods", RUN(pod_gc), .pods = true },
	{ "disruption", "disruption-controller", "policy/v1/poddisruptionbudgets v1/pods", RUN(disruption), .pods = true },
	{ "idle-gpu", "idle-gpu-controller", "v1/pods apps/v1/replicasets", RUN(idle_gpus), .pods = true },
	{ "tfjob", "tfjob-controller", "kubeflow.org/v1/tfjobs v1/services v1/pods", RUN_TRAINING(tfjobs), .pods = true },
	{ "pytorchjob", "pytorchjob-controller", "kubeflow.org/v1/pytorchjobs v1/services v1/pods", RUN_TRAINING(pytorchjobs), .pods = true },
	{ "paddlejob", "paddlejob-controller", "kubeflow.org/v1/paddlejobs v1/services v1/pods", RUN_TRAINING(paddlejobs), .pods = true },
	{ "mpijob", "mpijob-controller", "kubeflow.org/v1/mpijobs v1/services v1/pods v1/configmaps", RUN_TRAINING(mpijobs), .pods = true },
	{ "pbsjob", "pbsjob-controller", "stoker.dev/v1/pbsjobs stoker.dev/v1/pbsservers stoker.dev/v1/queues v1/nodes v1/pods", RUN(pbs_jobs), .pods = true, .abroad = abroad_pbs },
};
/* clang-format on */

_Static_assert(ARRAY_SIZE(controllers) < 64, "a control_set has a bit for each");

struct control {
	struct owned *pods;
	struct gated *gated; /* or NULL */
	void *running[ARRAY_SIZE(controllers)];
};

/* ---- choosing ---- */

static control_set bit_of(struct str name)
{
	for (size_t i = 0; i < ARRAY_SIZE(controllers); i++)
		if (str_eq(name, controllers[i].name) || str_eq(name, controllers[i].later))
			return (control_set)1 << i;
	return 0;
}

static int unknown(struct str name, struct err *e)
{
	auto_sbuf struct sbuf names = SBUF(4096);

	control_names(&names);
	return err_set(e, ERR_BAD_REQUEST, "--controllers: \"%.*s\": there is no such controller; there are %s",
		       (int)(name.n < 100 ? name.n : 100), name.p, names.p);
}

int control_choose(const char *list, control_set *ret, struct err *e)
{
	control_set on = 0;
	control_set off = 0;
	bool all = false;

	for (const char *p = list; p; p = strchr(p, ',') ? strchr(p, ',') + 1 : NULL) {
		struct str word = str_trim((struct str){ p, strcspn(p, ",") });
		bool minus = word.n && word.p[0] == '-';
		struct str name = minus ? (struct str){ word.p + 1, word.n - 1 } : word;
		control_set bit = bit_of(name);

		if (str_eq(word, "*"))
			all = true;
		else if (!bit)
			return unknown(name, e);
		else if (minus)
			off |= bit;
		else
			on |= bit;
		if (on & off)
			return err_set(e, ERR_BAD_REQUEST, "--controllers: \"%.*s\" is both wanted and not",
				       (int)name.n, name.p);
	}
	*ret = (all ? ((control_set)1 << ARRAY_SIZE(controllers)) - 1 : on) & ~off;
	return 0;
}

void control_names(struct sbuf *out)
{
	for (size_t i = 0; i < ARRAY_SIZE(controllers); i++)
		sbuf_addf(out, "%s%s", i ? ", " : "", controllers[i].name);
}

const char *control_needs(control_set set, size_t *pos, const char **ret_name)
{
	for (; *pos < ARRAY_SIZE(controllers); (*pos)++)
		if (set >> *pos & 1) {
			*ret_name = controllers[*pos].name;
			return controllers[(*pos)++].needs;
		}
	return NULL;
}

/* ---- running ---- */

bool control_has_gangs(control_set set)
{
	for (size_t i = 0; i < ARRAY_SIZE(controllers); i++)
		if (set >> i & 1 && controllers[i].gate && !controllers[i].alone)
			return true;
	return false;
}

bool control_has_jobs(control_set set)
{
	for (size_t i = 0; i < ARRAY_SIZE(controllers); i++)
		if (set >> i & 1 && controllers[i].gate)
			return true;
	return false;
}

struct control *control_new(struct client *c, control_set set)
{
	return control_new_gated(c, set, NULL);
}

struct control *control_new_gated(struct client *c, control_set set, struct gate *gate)
{
	struct control *k = xcalloc(1, sizeof(*k));

	for (size_t i = 0; i < ARRAY_SIZE(controllers); i++) {
		if (!(set >> i & 1))
			continue;
		if (controllers[i].pods && !k->pods)
			k->pods = owned_new(c);
		k->running[i] = controllers[i].start(c, k->pods);
		if (controllers[i].gate && gate)
			controllers[i].gate(k->running[i], gate);
	}
	if (k->pods && gate)
		k->gated = gated_new(k->pods, gate);
	return k;
}

void control_send_abroad(struct control *k, const struct pbs_abroad_config *config)
{
	for (size_t i = 0; i < ARRAY_SIZE(controllers); i++)
		if (k->running[i] && controllers[i].abroad)
			controllers[i].abroad(k->running[i], config);
}

void control_free(struct control *k)
{
	if (!k)
		return;
	for (size_t i = ARRAY_SIZE(controllers); i > 0; i--)
		if (k->running[i - 1])
			controllers[i - 1].stop(k->running[i - 1]);
	gated_free(k->gated);
	owned_free(k->pods);
	free(k);
}

bool control_next(const struct control *k, size_t *pos, const char **ret_name, struct workqueue_counts *ret)
{
	for (; k && *pos < ARRAY_SIZE(controllers); (*pos)++)
		if (k->running[*pos]) {
			*ret_name = controllers[*pos].name;
			*ret = controllers[*pos].counts(k->running[*pos]);
			(*pos)++;
			return true;
		}
	return false;
}
