// SPDX-License-Identifier: Apache-2.0
/* bootstrap.c - system namespaces, the kubernetes Service, priority and storage classes, the first queue, PBS settings,
 * definitions of Kubeflow's kinds: rows of JSON, made through the ordinary write path
 *
 * They are made at start if they are missing.  Pods are told the address of default/kubernetes, so that one comes back
 * as soon as somebody deletes it. */
#include "api/bootstrap.h"

#include "api/verbs.h"
#include "base/jsonx.h"
#include "base/log.h"
#include "base/mem.h"

/* Kinds of Kubeflow are built in, but whoever knows Kubeflow looks for their definitions. */
#define ANY_SCHEMA                                                                                                     \
	"\"schema\":{\"openAPIV3Schema\":{\"type\":\"object\",\"x-kubernetes-preserve-unknown-fields\":true}}"
#define SERVED(version_, stored_) "{\"name\":\"" version_ "\",\"served\":true,\"storage\":" stored_ "," ANY_SCHEMA "}"
#define KUBEFLOW(kind_, singular_, versions_)                                                                          \
	{                                                                                                              \
		"apiextensions.k8s.io", "v1", "customresourcedefinitions", "", singular_ "s.kubeflow.org",             \
			"{\"spec\":{\"group\":\"kubeflow.org\",\"scope\":\"Namespaced\",\"names\":{\"kind\":\"" kind_  \
			"\",\"plural\":\"" singular_ "s\",\"singular\":\"" singular_ "\"},\"versions\":[" versions_    \
			"]}}"                                                                                          \
	}

static const struct {
	const char *group, *version, *plural, *ns, *name, *json;
} rows[] = {
	{ "", "v1", "namespaces", "", "default", "{}" },
	{ "", "v1", "namespaces", "", "kube-system", "{}" },
	{ "", "v1", "namespaces", "", "kube-public", "{}" },
	{ "", "v1", "namespaces", "", "kube-node-lease", "{}" },
	{ "", "v1", "services", "default", "kubernetes",
	  "{\"metadata\":{\"labels\":{\"component\":\"apiserver\",\"provider\":\"kubernetes\"}},\"spec\":{"
	  "\"clusterIP\":"
	  "\"10.96.0.1\",\"clusterIPs\":[\"10.96.0.1\"],\"ports\":[{\"name\":\"https\",\"port\":443,\"protocol\":"
	  "\"TCP\","
	  "\"targetPort\":6443}],\"type\":\"ClusterIP\"}}" },
	{ "scheduling.k8s.io", "v1", "priorityclasses", "", "system-cluster-critical",
	  "{\"value\":2000000000,\"description\":\"Used for system critical pods that must run in the cluster, but can "
	  "be "
	  "moved to another node if necessary.\"}" },
	{ "scheduling.k8s.io", "v1", "priorityclasses", "", "system-node-critical",
	  "{\"value\":2000001000,\"description\":\"Used for system critical pods that must not be moved from their "
	  "current "
	  "node.\"}" },
	{ "storage.k8s.io", "v1", "storageclasses", "", "stoker-local",
	  "{\"metadata\":{\"annotations\":{\"storageclass.kubernetes.io/is-default-class\":\"true\"}},"
	  "\"provisioner\":\"stoker.dev/directory\",\"reclaimPolicy\":\"Delete\","
	  "\"volumeBindingMode\":\"Immediate\"}" },
	{ "stoker.dev", "v1", "queues", "", "batch", "{}" },
	{ "stoker.dev", "v1", "pbsservers", "", "default", "{}" },
	KUBEFLOW("TFJob", "tfjob", SERVED("v1", "true") "," SERVED("v1alpha2", "false")),
	KUBEFLOW("PyTorchJob", "pytorchjob", SERVED("v1", "true") "," SERVED("v1alpha1", "false")),
	KUBEFLOW("PaddleJob", "paddlejob", SERVED("v1", "true")),
	KUBEFLOW("MPIJob", "mpijob", SERVED("v1", "true")),
};

int bootstrap_object(struct api *api, const char *group, const char *version, const char *plural, const char *ns,
		     const char *name, const char *json, struct err *e)
{
	const struct kind *k = registry_find(api_registry(api), group, version, plural);
	struct api_request req = {
		.caller = &caller_system,
		.verb = VERB_CREATE,
		.kind = k,
		.ns = ns,
		.name = name,
		.field_manager = "stoker",
		.grace_seconds = -1,
	};
	struct api_result result;
	json_auto_t *body = NULL;
	int kind;
	int r;

	if (!k)
		return err_set(e, ERR_INTERNAL, "%s/%s is not a built-in kind", group, plural);
	if (api_store_kind(api, k, &kind, e) < 0)
		return -1;
	if (store_exists(api_store(api), kind, ns, name))
		return 0;
	if (jsonx_parse(json, strlen(json), NULL, NULL, &body, e) < 0)
		return -1;
	req.body = body;
	r = api_call(api, &req, &result, e);
	if (r == 0)
		api_result_done(&result);
	else
		err_prefix(e, "%s %s", plural, name);
	return r;
}

static int make_rows(struct api *api, const char *only, struct err *e)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if ((!only || streq(only, rows[i].plural)) &&
		    bootstrap_object(api, rows[i].group, rows[i].version, rows[i].plural, rows[i].ns, rows[i].name,
				     rows[i].json, e) < 0)
			return -1;
	return 0;
}

int bootstrap(struct api *api, struct err *e)
{
	return make_rows(api, NULL, e);
}

static bool is_kubernetes(const json_t *service)
{
	return str_same(jsonx_str(service, "metadata.namespace"), "default") &&
	       str_same(jsonx_str(service, "metadata.name"), "kubernetes");
}

void bootstrap_written(struct api *api, const json_t *obj, const json_t *old)
{
	struct err e = ERR_INIT;

	if (!obj && is_kubernetes(old) && make_rows(api, "services", &e) < 0)
		log_warn("make the Service default/kubernetes again: %s, ignoring", e.text);
}
