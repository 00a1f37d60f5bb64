// SPDX-License-Identifier: Apache-2.0
/* pod_security_rules.c - each control of the Pod Security Standards, and how Kubernetes words a complaint about it
 *
 * Most rules look at one field of the securityContext, of the pod and of its containers: finding_gather() notes who
 * set it to something bad, and to what.  The table at the end says which rule belongs to which level and version.
 *
 * Kubernetes 1.35 lets pods with hostUsers false run as root, because that root is nobody outside.  Here containers
 * have no user namespace of their own yet, so the rules stay as they were in 1.34.
 */
#include "kinds/pod_security_rules.h"

#include "base/jsonx.h"
#include "base/mem.h"
#include "kinds/rules.h"

/* ---- what is bad ---- */

static bool is_true(const json_t *v)
{
	return json_is_true(v);
}

static bool is_false(const json_t *v)
{
	return json_is_false(v);
}

static bool is_not_false(const json_t *v)
{
	return !json_is_false(v);
}

static bool is_zero(const json_t *v)
{
	return json_is_integer(v) && json_integer_value(v) == 0;
}

static bool is_unmasked(const json_t *v)
{
	return json_is_string(v) && !streq(json_string_value(v), "Default");
}

static bool is_unconfined(const json_t *v)
{
	return json_is_string(v) && !rule_one_of(json_string_value(v), "RuntimeDefault|Localhost");
}

static bool is_unconfined_armor(const json_t *v)
{
	return json_string_length(v) && is_unconfined(v);
}

/* ---- rules about one field ---- */

static size_t check_field(const struct security_rule *r, const struct security_subject *s, struct sbuf *out)
{
	auto_finding struct finding f = finding_new();

	finding_gather(s, r->path, r->pod_too, r->bad, &f);
	if (!finding_any(&f))
		return 0;
	finding_say_setters(&f, out);
	sbuf_adds(out, r->text);
	if (r->names_values)
		finding_say_set(f.values, "\"", out);
	return 1;
}

/* As check_field(), and someone must have set it to something good. */
static size_t check_field_set(const struct security_rule *r, const struct security_subject *s, struct sbuf *out)
{
	auto_finding struct finding f = finding_new();

	if (check_field(r, s, out))
		return 1;
	finding_gather_unset(s, r->path, &f);
	if (!finding_any(&f))
		return 0;
	sbuf_adds(out, "pod or ");
	finding_say_containers(&f, out);
	sbuf_adds(out, r->unset_text);
	return 1;
}

/* ---- annotations that came before the fields ---- */

#define ARMOR_ANNOTATION   "container.apparmor.security.beta.kubernetes.io/"
#define SECCOMP_POD        "seccomp.security.alpha.kubernetes.io/pod"
#define SECCOMP_ANNOTATION "container.seccomp.security.alpha.kubernetes.io/"

static void note_annotation(struct finding *f, const char *key, const char *value)
{
	auto_sbuf struct sbuf text = SBUF(SECURITY_DETAIL_MAX);

	sbuf_addf(&text, "%s=", key);
	sbuf_add_json_string(&text, value, strlen(value));
	finding_value(f, text.p);
}

static size_t check_armor(const struct security_rule *r, const struct security_subject *s, struct sbuf *out)
{
	auto_finding struct finding f = finding_new();
	auto_finding struct finding old = finding_new();
	size_t fields;
	size_t annotations;
	const char *key;
	json_t *v;

	(void)r;
	finding_gather(s, "appArmorProfile.type", true, is_unconfined_armor, &f);
	json_object_foreach (jsonx_at(s->meta, "annotations"), key, v) {
		const char *value = json_string_value(v);

		if (value && *value && str_starts(key, ARMOR_ANNOTATION) && !streq(value, "runtime/default") &&
		    !str_starts(value, "localhost/"))
			note_annotation(&old, key, value);
	}
	fields = json_object_size(f.values);
	annotations = json_object_size(old.values);
	if (!fields && !annotations)
		return 0;
	finding_say_setters(&f, out);
	if (annotations)
		sbuf_addf(out, "%s%s", fields ? " and " : "", finding_plural("annotation", "annotations", annotations));
	sbuf_adds(out, " must not set AppArmor profile type to ");
	finding_say_set(f.values, "\"", out);
	sbuf_adds(out, fields && annotations ? ", " : "");
	finding_say_set(old.values, "\"", out);
	return fields + annotations;
}

static void look_at_seccomp(const struct security_subject *s, const char *key, struct finding *f)
{
	const char *value = json_string_value(json_object_get(jsonx_at(s->meta, "annotations"), key));

	if (value && !rule_one_of(value, "runtime/default|docker/default") && !str_starts(value, "localhost/"))
		note_annotation(f, key, value);
}

static size_t check_seccomp_annotations(const struct security_rule *r, const struct security_subject *s,
					struct sbuf *out)
{
	auto_finding struct finding f = finding_new();
	struct security_walk w = { 0 };
	const json_t *c;

	(void)r;
	look_at_seccomp(s, SECCOMP_POD, &f);
	while ((c = security_next_container(s->spec, &w))) {
		auto_free char *key = xasprintf(SECCOMP_ANNOTATION "%s", jsonx_str_or(c, "name", ""));

		look_at_seccomp(s, key, &f);
	}
	if (!json_object_size(f.values))
		return 0;
	sbuf_addf(out, "forbidden %s ", finding_plural("annotation", "annotations", json_object_size(f.values)));
	finding_say_set(f.values, "", out);
	return 1;
}

/* ---- capabilities ---- */

#define BASELINE_CAPS                                                                                                  \
	"AUDIT_WRITE|CHOWN|DAC_OVERRIDE|FOWNER|FSETID|KILL|MKNOD|NET_BIND_SERVICE|SETFCAP|SETGID|SETPCAP|SETUID|"      \
	"SYS_CHROOT"

static void gather_added(const struct security_subject *s, const char *allowed, struct finding *f)
{
	struct security_walk w = { 0 };
	const json_t *c;

	while ((c = security_next_container(s->spec, &w))) {
		bool bad = false;
		json_t *cap;
		size_t i;

		json_array_foreach (security_context_field(c, "capabilities.add"), i, cap)
			if (json_is_string(cap) && !rule_one_of(json_string_value(cap), allowed)) {
				finding_value(f, json_string_value(cap));
				bad = true;
			}
		if (bad)
			finding_container(f, c);
	}
}

static void say_added(const struct finding *f, struct sbuf *out)
{
	finding_say_containers(f, out);
	sbuf_adds(out, " must not include ");
	finding_say_set(f->values, "\"", out);
	sbuf_adds(out, " in securityContext.capabilities.add");
}

static size_t check_capabilities(const struct security_rule *r, const struct security_subject *s, struct sbuf *out)
{
	auto_finding struct finding f = finding_new();

	(void)r;
	gather_added(s, BASELINE_CAPS, &f);
	if (!finding_any(&f))
		return 0;
	say_added(&f, out);
	return 1;
}

static bool keeps_some(const json_t *drop)
{
	json_t *cap;
	size_t i;

	json_array_foreach ((json_t *)drop, i, cap)
		if (str_same(json_string_value(cap), "ALL"))
			return false;
	return true;
}

static size_t check_all_dropped(const struct security_rule *r, const struct security_subject *s, struct sbuf *out)
{
	auto_finding struct finding kept = finding_new();
	auto_finding struct finding added = finding_new();

	(void)r;
	finding_gather(s, "capabilities.drop", false, keeps_some, &kept);
	gather_added(s, "NET_BIND_SERVICE", &added);
	if (finding_any(&kept)) {
		finding_say_containers(&kept, out);
		sbuf_adds(out, " must set securityContext.capabilities.drop=[\"ALL\"]");
	}
	if (finding_any(&added)) {
		sbuf_adds(out, finding_any(&kept) ? "; " : "");
		say_added(&added, out);
	}
	return finding_any(&kept) || finding_any(&added);
}

/* ---- SELinux ---- */

struct selinux {
	json_t *types; /* a set */
	bool user, role;
	int minor;
};

static bool bad_selinux(struct selinux *x, const json_t *options)
{
	const char *type = jsonx_str_or(options, "type", "");
	bool user = *jsonx_str_or(options, "user", "") != '\0';
	bool role = *jsonx_str_or(options, "role", "") != '\0';
	bool engine = streq(type, "container_engine_t") && (x->minor == POD_SECURITY_LATEST || x->minor >= 31);
	bool bad = *type && !engine && !rule_one_of(type, "container_t|container_init_t|container_kvm_t");

	if (bad)
		json_object_set_new(x->types, type, json_true());
	x->user |= user;
	x->role |= role;
	return bad || user || role;
}

static size_t check_selinux(const struct security_rule *r, const struct security_subject *s, struct sbuf *out)
{
	auto_finding struct finding f = finding_new();
	struct selinux x = { .types = f.values, .minor = s->minor };
	struct security_walk w = { 0 };
	const char *lead = "";
	const json_t *c;

	(void)r;
	f.pod = bad_selinux(&x, security_context_field(s->spec, "seLinuxOptions"));
	while ((c = security_next_container(s->spec, &w)))
		if (bad_selinux(&x, security_context_field(c, "seLinuxOptions")))
			finding_container(&f, c);
	if (!finding_any(&f))
		return 0;
	finding_say_setters(&f, out);
	sbuf_adds(out, " set forbidden securityContext.seLinuxOptions: ");
	if (json_object_size(f.values)) {
		sbuf_addf(out, "%s ", finding_plural("type", "types", json_object_size(f.values)));
		finding_say_set(f.values, "\"", out);
		lead = "; ";
	}
	if (x.user) {
		sbuf_addf(out, "%suser may not be set", lead);
		lead = "; ";
	}
	if (x.role)
		sbuf_addf(out, "%srole may not be set", lead);
	return 1;
}

/* ---- the table ---- */

#define BASELINE   .level = POD_SECURITY_BASELINE
#define RESTRICTED .level = POD_SECURITY_RESTRICTED
#define SECCOMP                                                                                                        \
	.since = 19, .reason = "seccompProfile", .path = "seccompProfile.type", .pod_too = true, .bad = is_unconfined, \
	.text = " must not set securityContext.seccompProfile.type to ", .names_values = true

/* clang-format off */
const struct security_rule security_rules[] = {
	{ "appArmorProfile", BASELINE, .check = check_armor,
	  .reason = "forbidden AppArmor profile", .reasons = "forbidden AppArmor profiles" },
	{ "capabilities_baseline", BASELINE, .check = check_capabilities, .reason = "non-default capabilities" },
	{ "hostNamespaces", BASELINE, .check = security_host_namespaces, .reason = "host namespaces" },
	{ "hostPathVolumes", BASELINE, .check = security_host_paths, .reason = "hostPath volumes", .host_paths = true },
	{ "hostPorts", BASELINE, .check = security_host_ports, .reason = "hostPort" },
	{ "hostProbesAndHostLifecycle", BASELINE, .since = 34, .check = security_probe_hosts,
	  .reason = "probe or lifecycle host" },
	{ "privileged", BASELINE, .check = check_field, .reason = "privileged", .path = "privileged", .bad = is_true,
	  .text = " must not set securityContext.privileged=true" },
	{ "procMount", BASELINE, .check = check_field, .reason = "procMount", .path = "procMount", .bad = is_unmasked,
	  .text = " must not set securityContext.procMount to ", .names_values = true },
	{ "seLinuxOptions", BASELINE, .check = check_selinux, .reason = "seLinuxOptions" },
	{ "seccompAnnotations", BASELINE, .until = 19, .check = check_seccomp_annotations, .reason = "seccompProfile" },
	{ "seccompProfile_baseline", BASELINE, SECCOMP, .check = check_field },
	{ "sysctls", BASELINE, .check = security_sysctls, .reason = "forbidden sysctls" },
	{ "windowsHostProcess", BASELINE, .check = check_field, .reason = "hostProcess", .bad = is_true,
	  .path = "windowsOptions.hostProcess", .pod_too = true,
	  .text = " must not set securityContext.windowsOptions.hostProcess=true" },
	{ "allowPrivilegeEscalation", RESTRICTED, .since = 8, .check = check_field, .linux_only = true,
	  .reason = "allowPrivilegeEscalation != false", .path = "allowPrivilegeEscalation", .bad = is_not_false,
	  .text = " must set securityContext.allowPrivilegeEscalation=false" },
	{ "capabilities_restricted", RESTRICTED, .since = 22, .check = check_all_dropped, .linux_only = true,
	  .reason = "unrestricted capabilities", .replaces = "capabilities_baseline" },
	{ "restrictedVolumes", RESTRICTED, .check = security_volumes,
	  .reason = "restricted volume types", .replaces = "hostPathVolumes" },
	{ "runAsNonRoot", RESTRICTED, .check = check_field_set, .reason = "runAsNonRoot != true",
	  .path = "runAsNonRoot", .pod_too = true, .bad = is_false,
	  .text = " must not set securityContext.runAsNonRoot=false",
	  .unset_text = " must set securityContext.runAsNonRoot=true" },
	{ "runAsUser", RESTRICTED, .since = 23, .check = check_field, .reason = "runAsUser=0", .path = "runAsUser",
	  .pod_too = true, .bad = is_zero, .text = " must not set runAsUser=0" },
	{ "seccompProfile_restricted", RESTRICTED, SECCOMP, .check = check_field_set, .linux_only = true,
	  .replaces = "seccompProfile_baseline",
	  .unset_text = " must set securityContext.seccompProfile.type to \"RuntimeDefault\" or \"Localhost\"" },
	{ 0 },
};
/* clang-format on */
