// SPDX-License-Identifier: Apache-2.0
/* lean.c - a pod costs a controller a third of what it came as */
#include "client/lean.h"

#include "base/jsonx.h"
#include "base/mem.h"

static void drop_from_containers(json_t *containers)
{
	static const char *const unread[] = { "command",
					      "args",
					      "env",
					      "envFrom",
					      "volumeMounts",
					      "livenessProbe",
					      "readinessProbe",
					      "startupProbe",
					      "lifecycle",
					      "securityContext",
					      "imagePullPolicy",
					      "terminationMessagePath",
					      "terminationMessagePolicy" };
	json_t *c;
	size_t i;

	json_array_foreach (containers, i, c)
		for (size_t k = 0; k < ARRAY_SIZE(unread); k++)
			json_object_del(c, unread[k]);
}

/* Only claims are followed; a token's volume is on every pod, in a dozen small pieces. */
static void drop_volumes(json_t *volumes)
{
	for (size_t i = json_array_size(volumes); i > 0; i--) {
		const json_t *v = json_array_get(volumes, i - 1);

		if (!json_object_get(v, "persistentVolumeClaim") && !json_object_get(v, "ephemeral"))
			json_array_remove(volumes, i - 1);
	}
}

static void drop_from_spec(json_t *spec)
{
	static const char *const unread[] = { "securityContext", "dnsPolicy",          "dnsConfig",       "hostAliases",
					      "serviceAccount",  "enableServiceLinks", "preemptionPolicy" };
	json_auto_t *user = json_incref(jsonx_at(spec, "securityContext.runAsUser"));

	for (size_t k = 0; k < ARRAY_SIZE(unread); k++)
		json_object_del(spec, unread[k]);
	/* Whose rights it has: far_kubelet.c. */
	if (user)
		json_object_set_new(spec, "securityContext", json_pack("{s:O}", "runAsUser", user));
	drop_volumes(json_object_get(spec, "volumes"));
	drop_from_containers(json_object_get(spec, "containers"));
	drop_from_containers(json_object_get(spec, "initContainers"));
}

/* A node lists all images that it has, which is most of it. */
static void drop_from_node(json_t *status)
{
	static const char *const unread[] = { "images", "nodeInfo", "daemonEndpoints", "volumesAttached",
					      "volumesInUse" };

	for (size_t k = 0; k < ARRAY_SIZE(unread); k++)
		json_object_del(status, unread[k]);
}

static void lean_object(json_t *obj, const char *kind)
{
	json_object_del(json_object_get(obj, "metadata"), "managedFields");
	if (streq(kind, "Pod") || streq(kind, "PodList"))
		drop_from_spec(json_object_get(obj, "spec"));
	else if (streq(kind, "Node") || streq(kind, "NodeList"))
		drop_from_node(json_object_get(obj, "status"));
}

void lean(json_t *doc)
{
	const char *kind = jsonx_str_or(doc, "kind", "");
	json_t *items = json_object_get(doc, "items");
	bool list = json_is_array(items);
	json_t *obj;
	size_t i;

	if (!list)
		lean_object(doc, kind);
	json_array_foreach (items, i, obj)
		lean_object(obj, kind);
}
