// SPDX-License-Identifier: Apache-2.0
/* podstatus.c - what a pod and its containers are doing; written by the node that runs them
 *
 * Members are not marked as required: real clients leave out false and 0.
 */
#include "kinds/core.h"

static const struct field container_state_waiting_fields[] = {
	F(1, "reason", STRING, .doc = "One word, such as ContainerCreating or ImagePullBackOff."),
	F(2, "message", STRING, .doc = "A sentence for people."),
};
static const struct message container_state_waiting =
	MESSAGE("io.k8s.api.core.v1.ContainerStateWaiting", container_state_waiting_fields,
		.doc = "Why a container does not run yet.");

static const struct field container_state_running_fields[] = {
	F(1, "startedAt", TIME, .doc = "When it was started."),
};
static const struct message container_state_running = MESSAGE(
	"io.k8s.api.core.v1.ContainerStateRunning", container_state_running_fields, .doc = "A container that runs.");

static const struct field container_state_terminated_fields[] = {
	F(1, "exitCode", INT32, .doc = "Exit status."),
	F(2, "signal", INT32, .doc = "Signal that ended it."),
	F(3, "reason", STRING, .doc = "One word, such as Completed, Error or OOMKilled."),
	F(4, "message", STRING, .doc = "What the container left as its last words."),
	F(5, "startedAt", TIME, .doc = "When it was started."),
	F(6, "finishedAt", TIME, .doc = "When it ended."),
	F(7, "containerID", STRING, .doc = "The ended container, as runtime://id."),
};
static const struct message container_state_terminated =
	MESSAGE("io.k8s.api.core.v1.ContainerStateTerminated", container_state_terminated_fields,
		.doc = "A container that has ended.");

static const struct field container_state_fields[] = {
	FP(1, "waiting", OBJECT, .msg = &container_state_waiting, .doc = "It does not run yet."),
	FP(2, "running", OBJECT, .msg = &container_state_running, .doc = "It runs."),
	FP(3, "terminated", OBJECT, .msg = &container_state_terminated, .doc = "It has ended."),
};
static const struct message container_state = MESSAGE("io.k8s.api.core.v1.ContainerState", container_state_fields,
						      .doc = "What a container is doing; at most one is set.");

static const struct field volume_mount_status_fields[] = {
	F(1, "name", STRING, .doc = "Name of the volume."),
	F(2, "mountPath", STRING, .doc = "Path in the container."),
	F(3, "readOnly", BOOL, .doc = "Whether it is read-only."),
	FP(4, "recursiveReadOnly", STRING, .doc = "Whether mounts below it are too."),
};
static const struct message volume_mount_status =
	MESSAGE("io.k8s.api.core.v1.VolumeMountStatus", volume_mount_status_fields, .doc = "A mount as it really is.");

static const struct field linux_container_user_fields[] = {
	F(1, "uid", INT64, .doc = "User id."),
	F(2, "gid", INT64, .doc = "Group id."),
	FL(3, "supplementalGroups", INT64, .doc = "Further group ids."),
};
static const struct message linux_container_user =
	MESSAGE("io.k8s.api.core.v1.LinuxContainerUser", linux_container_user_fields,
		.doc = "User of a container's first process.");

static const struct field container_user_fields[] = {
	FP(1, "linux", OBJECT, .msg = &linux_container_user, .doc = "On Linux."),
};
static const struct message container_user = MESSAGE("io.k8s.api.core.v1.ContainerUser", container_user_fields,
						     .doc = "User of a container's first process.");

static const struct field resource_health_fields[] = {
	F(1, "resourceID", STRING, .doc = "Identity of the device."),
	F(2, "health", STRING, .doc = "Healthy, Unhealthy or Unknown."),
};
static const struct message resource_health =
	MESSAGE("io.k8s.api.core.v1.ResourceHealth", resource_health_fields, .doc = "Health of one device.");

static const struct field resource_status_fields[] = {
	F(1, "name", STRING, .doc = "Name of the resource."),
	FL(2, "resources", OBJECT, .msg = &resource_health, .list_keys = "resourceID", .doc = "The devices."),
};
static const struct message resource_status = MESSAGE("io.k8s.api.core.v1.ResourceStatus", resource_status_fields,
						      .doc = "Health of the devices of one resource.");

static const struct field container_status_fields[] = {
	F(1, "name", STRING, .doc = "Name of the container."),
	F(2, "state", OBJECT, .msg = &container_state, .dflt = "{}", .doc = "What it is doing now."),
	F(3, "lastState", OBJECT, .msg = &container_state, .dflt = "{}",
	  .doc = "How it ended before it was started again."),
	F(4, "ready", BOOL, .doc = "Whether its readiness probe succeeds."),
	F(5, "restartCount", INT32, .doc = "How often it was started again."),
	F(6, "image", STRING, .doc = "The image it runs."),
	F(7, "imageID", STRING, .doc = "The exact image, by digest."),
	F(8, "containerID", STRING, .doc = "The container, as runtime://id."),
	FP(9, "started", BOOL, .doc = "Whether it runs and its startup probe has succeeded."),
	FM(10, "allocatedResources", QUANTITY, .doc = "Requests that the node has granted."),
	FP(11, "resources", OBJECT, .msg = &core_resource_requirements, .doc = "Requests and limits in force."),
	FL(12, "volumeMounts", OBJECT, .msg = &volume_mount_status, .merge_key = "mountPath",
	   .doc = "Mounts as they really are."),
	FP(13, "user", OBJECT, .msg = &container_user, .doc = "User of its first process."),
	FL(14, "allocatedResourcesStatus", OBJECT, .msg = &resource_status, .merge_key = "name",
	   .doc = "Health of its devices."),
};
static const struct message container_status =
	MESSAGE("io.k8s.api.core.v1.ContainerStatus", container_status_fields, .doc = "What one container is doing.");

static const struct field pod_condition_fields[] = {
	F(1, "type", STRING, .doc = "PodScheduled, Initialized, ContainersReady, Ready and others."),
	F(2, "status", STRING, .values = "False|True|Unknown", .doc = "True, False or Unknown."),
	F(3, "lastProbeTime", TIME, .doc = "When it was last looked at."),
	F(4, "lastTransitionTime", TIME, .doc = "When status last changed."),
	F(5, "reason", STRING, .doc = "One word for the last change."),
	F(6, "message", STRING, .doc = "A sentence for people."),
};
static const struct message pod_condition =
	MESSAGE("io.k8s.api.core.v1.PodCondition", pod_condition_fields, .doc = "One aspect of a pod's state.");

static const struct field pod_ip_fields[] = {
	F(1, "ip", STRING, .doc = "The address."),
};
static const struct message pod_ip =
	MESSAGE("io.k8s.api.core.v1.PodIP", pod_ip_fields, .doc = "An address of the pod.");

static const struct field host_ip_fields[] = {
	F(1, "ip", STRING, .doc = "The address."),
};
static const struct message host_ip =
	MESSAGE("io.k8s.api.core.v1.HostIP", host_ip_fields, .doc = "An address of the node.");

static const struct field pod_resource_claim_status_fields[] = {
	F(1, "name", STRING, .flags = FIELD_REQUIRED, .doc = "Name of the entry."),
	FP(2, "resourceClaimName", STRING, .doc = "Name of the claim."),
};
static const struct message pod_resource_claim_status =
	MESSAGE("io.k8s.api.core.v1.PodResourceClaimStatus", pod_resource_claim_status_fields,
		.doc = "The claim made for an entry of resourceClaims.");

static const struct field pod_status_fields[] = {
	F(1, "phase", STRING, .values = "Failed|Pending|Running|Succeeded|Unknown",
	  .doc = "Pending, Running, Succeeded, Failed or Unknown."),
	FL(2, "conditions", OBJECT, .msg = &pod_condition, .merge_key = "type", .doc = "Aspects of the pod's state."),
	F(3, "message", STRING, .doc = "A sentence for people about the pod's state."),
	F(4, "reason", STRING, .doc = "One word about the pod's state, such as Evicted."),
	F(5, "hostIP", STRING, .doc = "Address of the node."),
	F(6, "podIP", STRING, .doc = "Address of the pod."),
	FP(7, "startTime", TIME, .doc = "When the node took the pod over."),
	FL(8, "containerStatuses", OBJECT, .msg = &container_status, .doc = "What each container is doing."),
	F(9, "qosClass", STRING,
	  .doc = "Guaranteed, Burstable or BestEffort; decides who is ended first when memory runs out."),
	FL(10, "initContainerStatuses", OBJECT, .msg = &container_status, .doc = "What each init container is doing."),
	F(11, "nominatedNodeName", STRING, .doc = "Node that is being cleared for the pod."),
	FL(12, "podIPs", OBJECT, .msg = &pod_ip, .merge_key = "ip", .doc = "All addresses of the pod."),
	FL(13, "ephemeralContainerStatuses", OBJECT, .msg = &container_status,
	   .doc = "What each ephemeral container is doing."),
	F(14, "resize", STRING, .doc = "State of a change of resources that was asked for."),
	FL(15, "resourceClaimStatuses", OBJECT, .msg = &pod_resource_claim_status, .flags = FIELD_RETAIN_KEYS,
	   .merge_key = "name", .doc = "Claims made for the pod."),
	FL(16, "hostIPs", OBJECT, .msg = &host_ip, .flags = FIELD_ATOMIC, .merge_key = "ip",
	   .doc = "All addresses of the node."),
	FM(0, "used", STRING, .doc = "What a PBS job's processes used: cput, mem and vmem in PBS's notation."),
};
const struct message core_pod_status =
	MESSAGE("io.k8s.api.core.v1.PodStatus", pod_status_fields, .doc = "What a pod is doing.");
