// SPDX-License-Identifier: Apache-2.0
/* container.c - one container of a pod: main, init or ephemeral
 *
 * Rules that need the rest of the pod (volumes that mounts name, names unique over all containers) are in podrules.c.
 */
#include "base/jsonx.h"
#include "kinds/core.h"
#include "kinds/names.h"
#include "kinds/rules.h"

static void port_validate(const json_t *obj, const struct path *at, struct err *e)
{
	const json_t *host = json_object_get(obj, "hostPort");

	rule_text(json_object_get(obj, "name"), PATH_FIELD(at, "name"), e, name_check_port_name);
	rule_port(json_object_get(obj, "containerPort"), PATH_FIELD(at, "containerPort"), e);
	if (json_integer_value(host))
		rule_port(host, PATH_FIELD(at, "hostPort"), e);
	rule_ip(json_object_get(obj, "hostIP"), PATH_FIELD(at, "hostIP"), e);
}

static const struct field container_port_fields[] = {
	F(1, "name", STRING, .doc = "Name by which services and probes may refer to the port."),
	F(2, "hostPort", INT32, .doc = "Port of the node that leads here; the same as containerPort with hostNetwork."),
	F(3, "containerPort", INT32, .flags = FIELD_REQUIRED, .doc = "Port inside the pod, 1 to 65535."),
	F(4, "protocol", STRING, .dflt = "\"TCP\"", .values = "SCTP|TCP|UDP", .doc = "TCP, UDP or SCTP."),
	F(5, "hostIP", STRING, .doc = "Address of the node on which hostPort is open."),
};
const struct message core_container_port =
	MESSAGE("io.k8s.api.core.v1.ContainerPort", container_port_fields,
		.doc = "A port on which a container listens.", .validate = port_validate);

static void mount_validate(const json_t *obj, const struct path *at, struct err *e)
{
	const json_t *sub = json_object_get(obj, "subPath"), *expr = json_object_get(obj, "subPathExpr");

	rule_relative_path(sub, PATH_FIELD(at, "subPath"), e);
	rule_relative_path(expr, PATH_FIELD(at, "subPathExpr"), e);
	if (json_string_length(sub) && json_string_length(expr))
		path_invalid(PATH_FIELD(at, "subPathExpr"), e, expr, "subPathExpr and subPath are mutually exclusive");
}

static const struct field volume_mount_fields[] = {
	F(1, "name", STRING, .flags = FIELD_REQUIRED, .doc = "Name of the volume."),
	F(2, "readOnly", BOOL, .doc = "Whether the container may only read."),
	F(3, "mountPath", STRING, .flags = FIELD_REQUIRED, .doc = "Path in the container."),
	F(4, "subPath", STRING, .doc = "Path inside the volume that is mounted; its root if absent."),
	FP(5, "mountPropagation", STRING, .values = "Bidirectional|HostToContainer|None",
	   .doc = "Whether mounts below this one travel between node and container."),
	F(6, "subPathExpr", STRING, .doc = "As subPath, with $(VARIABLE) replaced from the container's environment."),
	FP(7, "recursiveReadOnly", STRING, .values = "Disabled|Enabled|IfPossible",
	   .doc = "Whether readOnly also covers mounts below this one."),
};
const struct message core_volume_mount =
	MESSAGE("io.k8s.api.core.v1.VolumeMount", volume_mount_fields,
		.doc = "Where a volume of the pod appears in a container.", .validate = mount_validate);

static const struct field volume_device_fields[] = {
	F(1, "name", STRING, .flags = FIELD_REQUIRED, .doc = "Name of the volume, which must be a claim."),
	F(2, "devicePath", STRING, .flags = FIELD_REQUIRED, .doc = "Path of the device in the container."),
};
const struct message core_volume_device = MESSAGE("io.k8s.api.core.v1.VolumeDevice", volume_device_fields,
						  .doc = "Where a raw block volume appears in a container.");

static const struct field container_resize_policy_fields[] = {
	F(1, "resourceName", STRING, .flags = FIELD_REQUIRED, .doc = "cpu or memory."),
	F(2, "restartPolicy", STRING, .flags = FIELD_REQUIRED, .dflt = "\"NotRequired\"",
	  .values = "NotRequired|RestartContainer", .doc = "NotRequired or RestartContainer."),
};
const struct message core_container_resize_policy =
	MESSAGE("io.k8s.api.core.v1.ContainerResizePolicy", container_resize_policy_fields,
		.doc = "Whether changing a resource restarts the container.");

/* The tag of an image: the text after the last ':' that is not part of a registry's port; "" for a digest, which never
 * changes, and "latest" when there is none. */
static const char *image_tag(const char *image)
{
	const char *slash = strrchr(image, '/'), *colon;

	if (strchr(image, '@'))
		return "";
	colon = strrchr(slash ? slash : image, ':');
	return colon ? colon + 1 : "latest";
}

static void container_defaults(json_t *obj)
{
	const char *image = jsonx_str_or(obj, "image", "");

	if (!json_string_length(json_object_get(obj, "imagePullPolicy")))
		json_object_set_new(obj, "imagePullPolicy",
				    json_string(streq(image_tag(image), "latest") ? "Always" : "IfNotPresent"));
}

static void mounts_validate(const json_t *mounts, const char *path, const struct path *at, struct err *e)
{
	json_auto_t *seen = json_object();
	size_t i;
	json_t *mount;

	json_array_foreach (mounts, i, mount) {
		json_t *value = json_object_get(mount, path);
		const char *text = json_string_value(value);

		if (!text)
			continue;
		if (json_object_get(seen, text))
			path_invalid(PATH_FIELD(PATH_INDEX(at, i), path), e, value, "must be unique");
		json_object_set_new(seen, text, json_true());
	}
}

static void container_validate(const json_t *obj, const struct path *at, struct err *e)
{
	const json_t *image = json_object_get(obj, "image");
	const char *text = json_string_value(image);

	rule_text(json_object_get(obj, "name"), PATH_FIELD(at, "name"), e, name_check_label);
	rule_required(obj, "image", at, e);
	if (text && text[0] && (text[0] == ' ' || text[strlen(text) - 1] == ' '))
		path_invalid(PATH_FIELD(at, "image"), e, image, "must not have leading or trailing whitespace");
	rule_unique(json_object_get(obj, "ports"), "name", PATH_FIELD(at, "ports"), e);
	mounts_validate(json_object_get(obj, "volumeMounts"), "mountPath", PATH_FIELD(at, "volumeMounts"), e);
	mounts_validate(json_object_get(obj, "volumeDevices"), "devicePath", PATH_FIELD(at, "volumeDevices"), e);
}

/* Probes that end a container may not wait for several successes. */
static void probe_success_validate(const json_t *container, const char *name, const struct path *at, struct err *e)
{
	const json_t *n = json_object_get(json_object_get(container, name), "successThreshold");

	if (n && json_integer_value(n) != 1)
		path_invalid(PATH_FIELD(PATH_FIELD(at, name), "successThreshold"), e, n, "must be 1");
}

static void forbid_all(const json_t *container, const char *const *names, const char *why, const struct path *at,
		       struct err *e)
{
	for (; *names; names++)
		if (json_object_get(container, *names))
			path_forbidden(PATH_FIELD(at, *names), e, "%s", why);
}

void container_validate_place(const json_t *container, enum container_place place, const struct path *at, struct err *e)
{
	static const char *const hooks[] = { "lifecycle", "livenessProbe", "readinessProbe", "startupProbe", NULL };
	static const char *const restart[] = { "restartPolicy", NULL };
	static const char *const ephemeral[] = {
		"ports", "lifecycle", "livenessProbe", "readinessProbe", "startupProbe", "restartPolicy", NULL
	};
	const json_t *grace = jsonx_at(container, "readinessProbe.terminationGracePeriodSeconds");
	bool sidecar = streq(jsonx_str_or(container, "restartPolicy", ""), "Always");

	if (place == CONTAINER_MAIN)
		forbid_all(container, restart, "may not be set for non-init containers", at, e);
	else if (place == CONTAINER_EPHEMERAL)
		forbid_all(container, ephemeral, "may not be specified for ephemeral containers", at, e);
	else if (!sidecar)
		forbid_all(container, hooks, "may not be set for init containers without restartPolicy=Always", at, e);
	probe_success_validate(container, "livenessProbe", at, e);
	probe_success_validate(container, "startupProbe", at, e);
	if (grace)
		path_invalid(PATH_FIELD(PATH_FIELD(at, "readinessProbe"), "terminationGracePeriodSeconds"), e, grace,
			     "must not be set for readinessProbes");
}

static const struct field container_fields[] = {
	F(1, "name", STRING, .flags = FIELD_REQUIRED, .doc = "Name of the container, unique in the pod; a DNS label."),
	F(2, "image", STRING, .doc = "Image to run."),
	FL(3, "command", STRING, .doc = "Program to run instead of the image's entry point; no shell is involved."),
	FL(4, "args", STRING, .doc = "Arguments of the program instead of the image's."),
	F(5, "workingDir", STRING, .doc = "Directory in which the program starts; the image's if absent."),
	FL(6, "ports", OBJECT, .msg = &core_container_port, .merge_key = "containerPort",
	   .list_keys = "containerPort,protocol",
	   .doc = "Ports on which the container listens; for people and names, an unlisted port is as open."),
	FL(7, "env", OBJECT, .msg = &core_env_var, .merge_key = "name", .doc = "Environment variables."),
	F(8, "resources", OBJECT, .msg = &core_resource_requirements, .dflt = "{}",
	  .doc = "How much the container needs and may use."),
	FL(9, "volumeMounts", OBJECT, .msg = &core_volume_mount, .merge_key = "mountPath",
	   .doc = "Volumes of the pod that the container sees, and where."),
	FP(10, "livenessProbe", OBJECT, .msg = &core_probe, .doc = "Restarts the container when it fails."),
	FP(11, "readinessProbe", OBJECT, .msg = &core_probe,
	   .doc = "Takes the pod out of its services while it fails."),
	FP(12, "lifecycle", OBJECT, .msg = &core_lifecycle,
	   .doc = "What runs right after the start and right before the end."),
	F(13, "terminationMessagePath", STRING, .dflt = "\"/dev/termination-log\"",
	  .doc = "File whose last words become the container's termination message."),
	F(14, "imagePullPolicy", STRING, .values = "Always|IfNotPresent|Never",
	  .doc = "When the image is fetched: Always for the tag latest, IfNotPresent for others."),
	FP(15, "securityContext", OBJECT, .msg = &core_security_context,
	   .doc = "Rights and identity of the container; wins over the pod's."),
	F(16, "stdin", BOOL, .doc = "Whether the container gets a standard input that clients may attach to."),
	F(17, "stdinOnce", BOOL, .doc = "Whether standard input is closed after the first client has left."),
	F(18, "tty", BOOL, .doc = "Whether the container gets a terminal; needs stdin."),
	FL(19, "envFrom", OBJECT, .msg = &core_env_from_source,
	   .doc = "Whole ConfigMaps and Secrets as environment variables."),
	F(20, "terminationMessagePolicy", STRING, .dflt = "\"File\"", .values = "FallbackToLogsOnError|File",
	  .doc = "File, or FallbackToLogsOnError to use the end of the log of a failed container."),
	FL(21, "volumeDevices", OBJECT, .msg = &core_volume_device, .merge_key = "devicePath",
	   .doc = "Raw block volumes that the container sees."),
	FP(22, "startupProbe", OBJECT, .msg = &core_probe,
	   .doc = "Holds back the other probes until it has succeeded once."),
	FL(23, "resizePolicy", OBJECT, .msg = &core_container_resize_policy,
	   .doc = "Whether changing a resource restarts the container."),
	FP(24, "restartPolicy", STRING, .values = "Always",
	   .doc = "Always makes an init container a sidecar that keeps running."),
};
const struct message core_container =
	MESSAGE("io.k8s.api.core.v1.Container", container_fields, .doc = "One container of a pod.",
		.defaults = container_defaults, .validate = container_validate);

/* The inlined part has the members of a container under the same numbers. */
static const struct field ephemeral_container_fields[] = {
	F(1, "", OBJECT, .msg = &core_container, .flags = FIELD_INLINE),
	F(2, "targetContainerName", STRING, .doc = "Container whose processes it shall see."),
};
const struct message core_ephemeral_container =
	MESSAGE("io.k8s.api.core.v1.EphemeralContainer", ephemeral_container_fields,
		.doc = "A container added to a running pod to look into it; it is never restarted.");
