// SPDX-License-Identifier: Apache-2.0
/* podspec.c - what a pod shall be; also the heart of every workload's template
 *
 * Defaults here hold for templates too.  What only real pods get (the name of a service account, tolerations) is
 * in pod.c; their priority and their account's gifts come from admission (api/priority.c, api/pod_account.c).
 */
#include "kinds/core.h"
#include "kinds/names.h"
#include "kinds/rules.h"

static void host_alias_validate(const json_t *obj, const struct path *at, struct err *e)
{
	rule_ip(json_object_get(obj, "ip"), PATH_FIELD(at, "ip"), e);
	rule_texts(json_object_get(obj, "hostnames"), PATH_FIELD(at, "hostnames"), e, name_check_subdomain);
}

static const struct field host_alias_fields[] = {
	F(1, "ip", STRING, .flags = FIELD_REQUIRED, .doc = "Address."),
	FL(2, "hostnames", STRING, .doc = "Names of the address."),
};
static const struct message host_alias =
	MESSAGE("io.k8s.api.core.v1.HostAlias", host_alias_fields, .doc = "A line of the pod's /etc/hosts.",
		.validate = host_alias_validate);

static const struct field pod_dns_config_option_fields[] = {
	F(1, "name", STRING, .doc = "Name of the option."),
	FP(2, "value", STRING, .doc = "Value of the option, if it has one."),
};
static const struct message pod_dns_config_option = MESSAGE(
	"io.k8s.api.core.v1.PodDNSConfigOption", pod_dns_config_option_fields, .doc = "One option of the resolver.");

static void dns_config_validate(const json_t *obj, const struct path *at, struct err *e)
{
	const json_t *servers = json_object_get(obj, "nameservers");
	const struct path *here = PATH_FIELD(at, "nameservers");
	size_t i;
	json_t *server, *option;

	if (json_array_size(servers) > 3)
		path_invalid(here, e, servers, "must not have more than 3 nameservers");
	json_array_foreach (servers, i, server)
		rule_ip(server, PATH_INDEX(here, i), e);
	json_array_foreach (json_object_get(obj, "options"), i, option)
		rule_required(option, "name", PATH_INDEX(PATH_FIELD(at, "options"), i), e);
}

static const struct field pod_dns_config_fields[] = {
	FL(1, "nameservers", STRING, .doc = "Addresses of name servers, at most three."),
	FL(2, "searches", STRING, .doc = "Domains in which short names are looked for."),
	FL(3, "options", OBJECT, .msg = &pod_dns_config_option, .doc = "Options of the resolver."),
};
static const struct message pod_dns_config = MESSAGE(
	"io.k8s.api.core.v1.PodDNSConfig", pod_dns_config_fields,
	.doc = "What to add to the pod's resolver, or all of it with dnsPolicy None.", .validate = dns_config_validate);

static const struct field pod_os_fields[] = {
	F(1, "name", STRING, .flags = FIELD_REQUIRED, .values = "linux|windows", .doc = "linux or windows."),
};
static const struct message pod_os =
	MESSAGE("io.k8s.api.core.v1.PodOS", pod_os_fields, .doc = "The operating system a pod needs.");

static const struct field pod_readiness_gate_fields[] = {
	F(1, "conditionType", STRING, .flags = FIELD_REQUIRED, .doc = "Type of the condition."),
};
static const struct message pod_readiness_gate =
	MESSAGE("io.k8s.api.core.v1.PodReadinessGate", pod_readiness_gate_fields,
		.doc = "A condition that must be true before the pod counts as ready.");

static const struct field pod_scheduling_gate_fields[] = {
	F(1, "name", STRING, .flags = FIELD_REQUIRED, .doc = "Name of the gate, unique in the pod."),
};
static const struct message pod_scheduling_gate =
	MESSAGE("io.k8s.api.core.v1.PodSchedulingGate", pod_scheduling_gate_fields,
		.doc = "Something that must happen before the pod may be placed.");

static const struct field pod_resource_claim_fields[] = {
	F(1, "name", STRING, .flags = FIELD_REQUIRED, .doc = "Name by which containers refer to it."),
	FP(3, "resourceClaimName", STRING, .doc = "An existing ResourceClaim."),
	FP(4, "resourceClaimTemplateName", STRING, .doc = "A template from which one is made for the pod."),
};
static const struct message pod_resource_claim =
	MESSAGE("io.k8s.api.core.v1.PodResourceClaim", pod_resource_claim_fields,
		.doc = "A claim of devices that containers may use.");

static const struct field pod_spec_fields[] = {
	FL(1, "volumes", OBJECT, .msg = &core_volume, .flags = FIELD_RETAIN_KEYS, .merge_key = "name",
	   .doc = "Directories that containers may mount."),
	FL(2, "containers", OBJECT, .msg = &core_container, .flags = FIELD_REQUIRED, .merge_key = "name",
	   .doc = "Containers that run side by side; at least one."),
	F(3, "restartPolicy", STRING, .dflt = "\"Always\"", .values = "Always|OnFailure|Never",
	  .doc = "When ended containers are started again: Always, OnFailure or Never."),
	FP(4, "terminationGracePeriodSeconds", INT64, .dflt = "30", .has_min = true, .min = 0,
	   .doc = "Time to end in peace before containers are killed."),
	FP(5, "activeDeadlineSeconds", INT64, .doc = "Time after which a running pod is ended and marked as failed."),
	F(6, "dnsPolicy", STRING, .dflt = "\"ClusterFirst\"",
	  .values = "ClusterFirst|ClusterFirstWithHostNet|Default|None",
	  .doc = "Where names are resolved: ClusterFirst, ClusterFirstWithHostNet, Default or None."),
	FM(7, "nodeSelector", STRING, .flags = FIELD_ATOMIC, .doc = "Labels that a node must have."),
	F(8, "serviceAccountName", STRING, .doc = "Account as which the pod speaks to the API."),
	F(9, "serviceAccount", STRING, .doc = "Old name of serviceAccountName."),
	F(10, "nodeName", STRING, .doc = "Node on which the pod runs; set by the scheduler."),
	F(11, "hostNetwork", BOOL, .doc = "Whether the pod shares the node's network."),
	F(12, "hostPID", BOOL, .doc = "Whether the pod sees the node's processes."),
	F(13, "hostIPC", BOOL, .doc = "Whether the pod shares the node's System V IPC."),
	FP(14, "securityContext", OBJECT, .msg = &core_pod_security_context, .dflt = "{}",
	   .doc = "Identity of all containers, and of volumes."),
	FL(15, "imagePullSecrets", OBJECT, .msg = &core_local_object_reference, .merge_key = "name",
	   .doc = "Secrets with passwords for image registries."),
	F(16, "hostname", STRING, .doc = "Host name of the pod; its name if absent."),
	F(17, "subdomain", STRING, .doc = "With hostname: the pod is found as hostname.subdomain.namespace.svc."),
	FP(18, "affinity", OBJECT, .msg = &core_affinity, .doc = "Which nodes and neighbours the pod wants or shuns."),
	F(19, "schedulerName", STRING, .dflt = "\"default-scheduler\"", .doc = "Which scheduler places the pod."),
	FL(20, "initContainers", OBJECT, .msg = &core_container, .merge_key = "name",
	   .doc = "Containers that run one after the other before the others start."),
	FP(21, "automountServiceAccountToken", BOOL,
	   .doc = "Whether a token of the service account is mounted into containers."),
	FL(22, "tolerations", OBJECT, .msg = &core_toleration, .doc = "Taints of nodes that the pod tolerates."),
	FL(23, "hostAliases", OBJECT, .msg = &host_alias, .merge_key = "ip", .doc = "Further lines of /etc/hosts."),
	F(24, "priorityClassName", STRING, .doc = "Name of the class from which the priority comes."),
	FP(25, "priority", INT32, .doc = "Higher goes first; set from priorityClassName."),
	FP(26, "dnsConfig", OBJECT, .msg = &pod_dns_config, .doc = "What to add to the resolver."),
	FP(27, "shareProcessNamespace", BOOL, .doc = "Whether containers see each other's processes."),
	FL(28, "readinessGates", OBJECT, .msg = &pod_readiness_gate,
	   .doc = "Further conditions that must be true before the pod counts as ready."),
	FP(29, "runtimeClassName", STRING, .doc = "RuntimeClass that runs the pod."),
	FP(30, "enableServiceLinks", BOOL, .doc = "Whether services of the namespace appear in the environment."),
	FP(31, "preemptionPolicy", STRING, .values = "Never|PreemptLowerPriority",
	   .doc = "Whether pods of lower priority may be ended for this one."),
	FM(32, "overhead", QUANTITY, .doc = "Resources that the runtime itself needs; set from the RuntimeClass."),
	FL(33, "topologySpreadConstraints", OBJECT, .msg = &core_topology_spread_constraint, .merge_key = "topologyKey",
	   .list_keys = "topologyKey,whenUnsatisfiable", .doc = "How evenly pods spread over the cluster."),
	FL(34, "ephemeralContainers", OBJECT, .msg = &core_ephemeral_container, .merge_key = "name",
	   .doc = "Containers added later to look into the pod."),
	FP(35, "setHostnameAsFQDN", BOOL, .doc = "Whether the host name is the full domain name."),
	FP(36, "os", OBJECT, .msg = &pod_os, .doc = "The operating system the pod needs."),
	FP(37, "hostUsers", BOOL, .doc = "False gives the pod user ids of its own."),
	FL(38, "schedulingGates", OBJECT, .msg = &pod_scheduling_gate, .merge_key = "name",
	   .doc = "What must happen before the pod may be placed."),
	FL(39, "resourceClaims", OBJECT, .msg = &pod_resource_claim, .flags = FIELD_RETAIN_KEYS, .merge_key = "name",
	   .doc = "Claims of devices that containers may use."),
	FP(40, "resources", OBJECT, .msg = &core_resource_requirements,
	   .doc = "Requests and limits of the pod as a whole."),
};
const struct message core_pod_spec = MESSAGE("io.k8s.api.core.v1.PodSpec", pod_spec_fields,
					     .doc = "What a pod shall be.", .validate = pod_spec_validate);

static const struct field pod_template_spec_fields[] = {
	F(1, "metadata", OBJECT, .msg = &meta_object, .doc = "Labels and annotations of the pods."),
	F(2, "spec", OBJECT, .msg = &core_pod_spec, .dflt = "{}", .doc = "What the pods shall be."),
};
const struct message core_pod_template_spec = MESSAGE("io.k8s.api.core.v1.PodTemplateSpec", pod_template_spec_fields,
						      .doc = "The pods that a workload makes.");
