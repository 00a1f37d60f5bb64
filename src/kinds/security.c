// SPDX-License-Identifier: Apache-2.0
/* security.c - who a pod and its containers run as, and what they may do */
#include "base/jsonx.h"
#include "base/mem.h"
#include "kinds/core.h"
#include "kinds/rules.h"

#define ID_MAX 2147483647 /* user and group ids are 31 bits wide in Kubernetes */

static const struct field capabilities_fields[] = {
	FL(1, "add", STRING, .doc = "Capabilities to add, without the prefix CAP_."),
	FL(2, "drop", STRING, .doc = "Capabilities to take away; ALL means every one."),
};
static const struct message capabilities =
	MESSAGE("io.k8s.api.core.v1.Capabilities", capabilities_fields,
		.doc = "Capabilities of the kernel to add to the runtime's usual set, or to take from it.");

static const struct field selinux_options_fields[] = {
	F(1, "user", STRING, .doc = "User part of the label."),
	F(2, "role", STRING, .doc = "Role part of the label."),
	F(3, "type", STRING, .doc = "Type part of the label."),
	F(4, "level", STRING, .doc = "Level part of the label."),
};
static const struct message selinux_options =
	MESSAGE("io.k8s.api.core.v1.SELinuxOptions", selinux_options_fields, .doc = "SELinux label.");

static const struct field windows_security_context_options_fields[] = {
	FP(1, "gmsaCredentialSpecName", STRING, .doc = "Name of the credential spec of a group account."),
	FP(2, "gmsaCredentialSpec", STRING, .doc = "The credential spec itself."),
	FP(3, "runAsUserName", STRING, .doc = "User as whom the program runs."),
	FP(4, "hostProcess", BOOL, .doc = "Whether the container runs as a process of the host."),
};
static const struct message windows_security_context_options =
	MESSAGE("io.k8s.api.core.v1.WindowsSecurityContextOptions", windows_security_context_options_fields,
		.doc = "Settings that matter on Windows only.");

static void profile_validate(const json_t *obj, const struct path *at, struct err *e)
{
	bool local = streq(jsonx_str_or(obj, "type", ""), "Localhost");
	const json_t *profile = json_object_get(obj, "localhostProfile");

	if (local && !json_string_length(profile))
		path_required(PATH_FIELD(at, "localhostProfile"), e, "must be set when type is Localhost");
	else if (!local && profile)
		path_invalid(PATH_FIELD(at, "localhostProfile"), e, profile, "can only be set when type is Localhost");
}

static const struct field seccomp_profile_fields[] = {
	F(1, "type", STRING, .flags = FIELD_REQUIRED, .values = "Localhost|RuntimeDefault|Unconfined",
	  .doc = "RuntimeDefault, Unconfined or Localhost."),
	FP(2, "localhostProfile", STRING, .doc = "File with the profile, for Localhost."),
};
static const struct message seccomp_profile =
	MESSAGE("io.k8s.api.core.v1.SeccompProfile", seccomp_profile_fields, .doc = "Which system calls are allowed.",
		.validate = profile_validate);

static const struct field app_armor_profile_fields[] = {
	F(1, "type", STRING, .flags = FIELD_REQUIRED, .values = "Localhost|RuntimeDefault|Unconfined",
	  .doc = "RuntimeDefault, Unconfined or Localhost."),
	FP(2, "localhostProfile", STRING, .doc = "Name of the loaded profile, for Localhost."),
};
static const struct message app_armor_profile = MESSAGE("io.k8s.api.core.v1.AppArmorProfile", app_armor_profile_fields,
							.doc = "AppArmor profile.", .validate = profile_validate);

static const char *sysctl_check(const char *s)
{
	static const char complaint[] = "must have at most 253 characters and match regex "
					"^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[\\./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$";
	size_t n = strlen(s);
	bool edge = true; /* a separator may not come next */

	if (n > 253)
		return complaint;
	for (size_t i = 0; i < n; i++) {
		bool word = (s[i] >= 'a' && s[i] <= 'z') || (s[i] >= '0' && s[i] <= '9');

		if (!word && (edge || !strchr("-_./", s[i])))
			return complaint;
		edge = s[i] == '.' || s[i] == '/';
	}
	return strchr("-_./", s[n - 1]) ? complaint : NULL;
}

static void sysctl_validate(const json_t *obj, const struct path *at, struct err *e)
{
	rule_text(json_object_get(obj, "name"), PATH_FIELD(at, "name"), e, sysctl_check);
}

static const struct field sysctl_fields[] = {
	F(1, "name", STRING, .flags = FIELD_REQUIRED, .doc = "Name of the parameter."),
	F(2, "value", STRING, .doc = "Its value."),
};
static const struct message sysctl =
	MESSAGE("io.k8s.api.core.v1.Sysctl", sysctl_fields, .doc = "A kernel parameter of the pod's namespaces.",
		.validate = sysctl_validate);

static void ids_validate(const json_t *obj, const struct path *at, struct err *e)
{
	static const char *const names[] = { "runAsUser", "runAsGroup", "fsGroup" };
	size_t i;
	json_t *id;

	for (i = 0; i < ARRAY_SIZE(names); i++)
		rule_range(json_object_get(obj, names[i]), 0, ID_MAX, PATH_FIELD(at, names[i]), e);
	json_array_foreach (json_object_get(obj, "supplementalGroups"), i, id)
		rule_range(id, 0, ID_MAX, PATH_INDEX(PATH_FIELD(at, "supplementalGroups"), i), e);
}

static void security_context_validate(const json_t *obj, const struct path *at, struct err *e)
{
	ids_validate(obj, at, e);
	if (jsonx_bool_or(obj, "allowPrivilegeEscalation", true))
		return;
	if (jsonx_bool_or(obj, "privileged", false))
		path_invalid(at, e, obj, "cannot set `allowPrivilegeEscalation` to false and `privileged` to true");
}

static const struct field security_context_fields[] = {
	FP(1, "capabilities", OBJECT, .msg = &capabilities,
	   .doc = "Capabilities to add to or take from the usual set."),
	FP(2, "privileged", BOOL, .doc = "Whether processes are as good as root on the node."),
	FP(3, "seLinuxOptions", OBJECT, .msg = &selinux_options, .doc = "SELinux label of the container."),
	FP(4, "runAsUser", INT64, .doc = "User id of the program; the image's if absent."),
	FP(5, "runAsNonRoot", BOOL, .doc = "Whether to refuse to start as user 0."),
	FP(6, "readOnlyRootFilesystem", BOOL, .doc = "Whether the root file system may only be read."),
	FP(7, "allowPrivilegeEscalation", BOOL, .doc = "Whether a process may gain more rights than its parent."),
	FP(8, "runAsGroup", INT64, .doc = "Group id of the program."),
	FP(9, "procMount", STRING, .values = "Default|Unmasked", .doc = "How much of /proc is hidden."),
	FP(10, "windowsOptions", OBJECT, .msg = &windows_security_context_options,
	   .doc = "Settings that matter on Windows only."),
	FP(11, "seccompProfile", OBJECT, .msg = &seccomp_profile, .doc = "Which system calls are allowed."),
	FP(12, "appArmorProfile", OBJECT, .msg = &app_armor_profile, .doc = "AppArmor profile of the container."),
};
const struct message core_security_context =
	MESSAGE("io.k8s.api.core.v1.SecurityContext", security_context_fields,
		.doc = "Rights and identity of one container.", .validate = security_context_validate);

static const struct field pod_security_context_fields[] = {
	FP(1, "seLinuxOptions", OBJECT, .msg = &selinux_options, .doc = "SELinux label of all containers."),
	FP(2, "runAsUser", INT64, .doc = "User id of all containers."),
	FP(3, "runAsNonRoot", BOOL, .doc = "Whether to refuse to start as user 0."),
	FL(4, "supplementalGroups", INT64, .doc = "Further groups of every first process."),
	FP(5, "fsGroup", INT64, .doc = "Group that owns the files of volumes that support ownership."),
	FP(6, "runAsGroup", INT64, .doc = "Group id of all containers."),
	FL(7, "sysctls", OBJECT, .msg = &sysctl, .doc = "Kernel parameters of the pod's namespaces."),
	FP(8, "windowsOptions", OBJECT, .msg = &windows_security_context_options,
	   .doc = "Settings that matter on Windows only."),
	FP(9, "fsGroupChangePolicy", STRING, .values = "Always|OnRootMismatch",
	   .doc = "Whether ownership of volumes is always changed, or only when the root differs."),
	FP(10, "seccompProfile", OBJECT, .msg = &seccomp_profile, .doc = "Which system calls are allowed."),
	FP(11, "appArmorProfile", OBJECT, .msg = &app_armor_profile, .doc = "AppArmor profile of all containers."),
	FP(12, "supplementalGroupsPolicy", STRING, .values = "Merge|Strict",
	   .doc = "Whether groups from the image's /etc/group count."),
	FP(13, "seLinuxChangePolicy", STRING, .values = "MountOption|Recursive",
	   .doc = "How volumes get their SELinux label."),
};
const struct message core_pod_security_context =
	MESSAGE("io.k8s.api.core.v1.PodSecurityContext", pod_security_context_fields,
		.doc = "Identity of all containers of a pod, and of its volumes.", .validate = ids_validate);
