// SPDX-License-Identifier: Apache-2.0
/* training_mpi.c - how mpirun reaches its workers: a hostfile, and a program that it runs instead of ssh
 *
 * Both are in the ConfigMap <job>-config, mounted at /etc/mpi in every pod.  Workers only wait; mpirun in the launcher
 * starts processes in them by `kubectl exec`, with rights for the pods of this job and no others.  These are given
 * before the ConfigMap is made, so where it is, the rights are too.  The launcher may run before a worker does (one
 * that pulls its image, or begins anew), so the program waits for it.
 */
#include "base/jsonx.h"
#include "base/limits.h"
#include "base/mem.h"
#include "control/pod_facts.h"
#include "control/pod_template.h"
#include "control/training_job.h"

#define MOUNT  "/etc/mpi"
#define VOLUME "mpi-job-config"

static const char kubexec[] = "#!/bin/sh\n"
			      "# mpirun calls this as: kubexec.sh [options] HOST COMMAND...\n"
			      "while [ \"${1#-}\" != \"$1\" ]; do shift; done\n"
			      "pod=${1%%.*}\n"
			      "shift\n"
			      "PATH=$PATH:/opt/kube\n"
			      "try=0\n"
			      "while [ $try -lt 300 ]; do\n"
			      "	case $(kubectl get pod \"$pod\" --ignore-not-found -o 'jsonpath={.status.phase}') in\n"
			      "	Pending | '') sleep 1 ;; # an image may still come, or the pod itself, anew\n"
			      "	*) break ;;\n"
			      "	esac\n"
			      "	try=$((try + 1))\n"
			      "done\n"
			      "exec kubectl exec \"$pod\" -c \"$(cat " MOUNT "/container)\" -- /bin/sh -c \"$*\"\n";

static bool is_launcher(const struct training_role *r)
{
	return streq(r->lower, "launcher");
}

void mpi_env(const struct training_job *j, const struct training_role *r, int index, json_t *env)
{
	static const char *const rows[][2] = {
		{ "OMPI_MCA_plm_rsh_agent", MOUNT "/kubexec.sh" },
		{ "OMPI_MCA_orte_default_hostfile", MOUNT "/hostfile" },
		{ "OMPI_MCA_orte_keep_fqdn_hostnames", "true" },
		{ "OMPI_MCA_plm_rsh_no_tree_spawn", "true" },     /* only the launcher may start others */
		{ "OMPI_MCA_hwloc_base_binding_policy", "none" }, /* each would take the same first cores */
		{ "OMPI_ALLOW_RUN_AS_ROOT", "1" },                /* root of a container */
		{ "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1" },
	};

	(void)j;
	(void)index;
	for (size_t i = 0; is_launcher(r) && i < ARRAY_SIZE(rows); i++)
		training_env(env, rows[i][0], "%s", rows[i][1]);
}

void mpi_labels(const struct training_job *j, const struct training_role *r, int index, json_t *labels)
{
	(void)index;
	json_object_set_new(labels, "mpi-job-name", jsonx_string(j->name));
	json_object_set_new(labels, "mpi-job-role", jsonx_string(r->lower));
	json_object_set_new(labels, "job-role", jsonx_string(r->lower));
	json_object_set_new(labels, LABEL_TRAINING_ROLE, jsonx_string(r->lower));
}

static void mount_config(json_t *spec, const struct training_role *r, const char *config)
{
	json_t *c;
	size_t i;

	json_array_append_new(array_at(spec, "volumes"), json_pack("{s:s, s:{s:s, s:i}}", "name", VOLUME, "configMap",
								   "name", config, "defaultMode", 0555));
	json_array_foreach (json_object_get(spec, "containers"), i, c) {
		if (!str_same(jsonx_str(c, "name"), r->container))
			continue;
		json_array_append_new(array_at(c, "volumeMounts"),
				      json_pack("{s:s, s:s}", "name", VOLUME, "mountPath", MOUNT));
		if (!is_launcher(r) && !json_array_size(json_object_get(c, "command")))
			json_object_set_new(c, "command", json_pack("[s, s]", "sleep", "365d"));
	}
}

void mpi_finish(const struct training_job *j, const struct training_role *r, json_t *pod)
{
	json_t *spec = json_object_get(pod, "spec");
	auto_free char *config = xasprintf("%s-config", j->name);
	auto_free char *account = xasprintf("%s-launcher", j->name);

	mount_config(spec, r, config);
	if (is_launcher(r) && !*jsonx_str_or(spec, "serviceAccountName", "")) {
		json_object_set_new(spec, "serviceAccountName", jsonx_string(account));
		json_object_set_new(spec, "automountServiceAccountToken", json_true());
	}
}

/* ---- what must be there first ---- */

static json_t *config_data(const struct training_job *j)
{
	const struct training_role *workers = training_role(j, "Worker");
	const char *container = jsonx_str_or(j->spec, "mainContainer", workers ? workers->container : "");
	auto_sbuf struct sbuf hosts = SBUF(LIMIT_OBJECT);

	for (int i = 0; workers && i < workers->replicas; i++) {
		auto_free char *host = training_host(j, workers, i);

		sbuf_addf(&hosts, "%s slots=%lld\n", host, (long long)jsonx_int_or(j->spec, "slotsPerWorker", 1));
	}
	return json_pack("{s:o, s:s, s:o}", "hostfile", jsonx_string(hosts.p ? hosts.p : ""), "kubexec.sh", kubexec,
			 "container", jsonx_string(container));
}

static json_t *exec_rules(const struct training_job *j)
{
	const struct training_role *workers = training_role(j, "Worker");
	json_t *names = json_array();

	for (int i = 0; workers && i < workers->replicas; i++) {
		auto_free char *host = training_host(j, workers, i);

		json_array_append_new(names, jsonx_string(host));
	}
	return json_pack("[{s:[s], s:[s], s:[s], s:O}, {s:[s], s:[s], s:[s], s:o}]", "apiGroups", "", "resources",
			 "pods", "verbs", "get", "resourceNames", names, "apiGroups", "", "resources", "pods/exec",
			 "verbs", "create", "resourceNames", names);
}

static json_t *role_binding(const char *name, const struct training_job *j)
{
	return json_pack("{s:{s:s, s:s, s:s}, s:[{s:s, s:s, s:s}]}", "roleRef", "apiGroup", "rbac.authorization.k8s.io",
			 "kind", "Role", "name", name, "subjects", "kind", "ServiceAccount", "name", name, "namespace",
			 j->ns);
}

json_t *mpi_need(const struct training_job *j, int step, const char **ret_version, const char **ret_plural)
{
	static const struct {
		const char *version, *kind, *plural, *suffix;
	} rows[] = {
		{ "v1", "ServiceAccount", "serviceaccounts", "launcher" },
		{ "rbac.authorization.k8s.io/v1", "Role", "roles", "launcher" },
		{ "rbac.authorization.k8s.io/v1", "RoleBinding", "rolebindings", "launcher" },
		{ "v1", "ConfigMap", "configmaps", "config" },
	};
	auto_free char *name = NULL;
	json_t *obj;

	if (step < 0 || step >= (int)ARRAY_SIZE(rows))
		return NULL;
	name = xasprintf("%s-%s", j->name, rows[step].suffix);
	obj = step == 2 ? role_binding(name, j) : json_object();
	if (step == 1)
		json_object_set_new(obj, "rules", exec_rules(j));
	if (step == 3)
		json_object_set_new(obj, "data", config_data(j));
	json_object_set_new(obj, "apiVersion", json_string(rows[step].version));
	json_object_set_new(obj, "kind", json_string(rows[step].kind));
	json_object_set_new(obj, "metadata",
			    json_pack("{s:s, s:s, s:{s:s}, s:[o]}", "name", name, "namespace", j->ns, "labels",
				      LABEL_TRAINING_JOB, j->name, "ownerReferences",
				      controller_ref(TRAINING_VERSION, j->form->kind, j->obj)));
	*ret_version = rows[step].version;
	*ret_plural = rows[step].plural;
	return obj;
}
