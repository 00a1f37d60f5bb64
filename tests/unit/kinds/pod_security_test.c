// SPDX-License-Identifier: Apache-2.0
/* pod_security_test.c - every control of the Pod Security Standards, kept and broken
 *
 * The rows start from a pod that keeps all rules: container "a" with everything set as "restricted" wants it.  A row
 * changes the pod (`spec` is merged in) or the container (`context` becomes its securityContext, `more` is merged into
 * it) and says what each level has to say; "" is consent.
 */
#include "kinds/pod_security.h"

#include "core_test.h"

#define GOOD_CONTEXT                                                                                                   \
	"{'allowPrivilegeEscalation':false,'runAsNonRoot':true,'capabilities':{'drop':['ALL']},"                       \
	"'seccompProfile':{'type':'RuntimeDefault'}}"

static const struct pod_security baseline = { POD_SECURITY_BASELINE, POD_SECURITY_LATEST };
static const struct pod_security restricted = { POD_SECURITY_RESTRICTED, POD_SECURITY_LATEST };

/* The complaint, to be freed. */
static char *ask(struct pod_security p, const json_t *meta, const json_t *spec)
{
	struct sbuf out = SBUF(8192);
	size_t n = pod_security_check(p, meta, spec, 0, &out);

	CHECK(!n == !out.n);
	return sbuf_steal(&out);
}

static void check_text(const char *what, struct pod_security p, const json_t *meta, const json_t *spec,
		       const char *want)
{
	auto_free char *got = ask(p, meta, spec);
	char text[POD_SECURITY_TEXT_LEN];

	if (!streq(got, want))
		test_fail(__FILE__, __LINE__, "%s: %s says\n      \"%s\"\n  not \"%s\"", what,
			  pod_security_text(p, text), got, want);
}

/* A good pod with the row's changes. */
static json_t *good_pod(const char *spec, const char *context, const char *more)
{
	json_auto_t *ctx = object(*context ? context : GOOD_CONTEXT);
	json_t *pod =
		json_pack("{s:[{s:s,s:s,s:O}]}", "containers", "name", "a", "image", "host", "securityContext", ctx);

	if (*more) {
		json_auto_t *m = object(more);

		json_object_update(json_array_get(json_object_get(pod, "containers"), 0), m);
	}
	if (*spec) {
		json_auto_t *s = object(spec);

		json_object_update(pod, s);
	}
	return pod;
}

/* GOOD_CONTEXT with one field more or different. */
static char *good_context_with(const char *field)
{
	json_auto_t *ctx = object(GOOD_CONTEXT);
	json_auto_t *one = object(field);

	json_object_update(ctx, one);
	return json_dumps(ctx, JSON_COMPACT);
}

struct row {
	const char *field; /* of the container's securityContext, over GOOD_CONTEXT; or "" */
	const char *spec;
	const char *more;
	const char *baseline, *restricted;
};

static void check_rows(const struct row *rows, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		auto_free char *ctx = *rows[i].field ? good_context_with(rows[i].field) : xstrdup("");
		auto_free char *what = xasprintf("row %zu %s%s%s", i, rows[i].field, rows[i].spec, rows[i].more);
		json_auto_t *spec = good_pod(rows[i].spec, ctx, rows[i].more);

		check_text(what, baseline, NULL, spec, rows[i].baseline);
		check_text(what, restricted, NULL, spec, rows[i].restricted);
		check_text(what, (struct pod_security){ POD_SECURITY_PRIVILEGED, POD_SECURITY_LATEST }, NULL, spec, "");
	}
}

/* Most complaints are the same at both levels. */
#define BOTH(text_) text_, text_

TEST("host namespaces, privilege, ports and probes are refused at both levels")
{
	static const struct row rows[] = {
		{ "", "", "", BOTH("") },
		{ "", "{'hostNetwork':false,'hostPID':false,'hostIPC':false}", "", BOTH("") },
		{ "", "{'hostNetwork':true}", "", BOTH("host namespaces (hostNetwork=true)") },
		{ "", "{'hostPID':true}", "", BOTH("host namespaces (hostPID=true)") },
		{ "", "{'hostIPC':true}", "", BOTH("host namespaces (hostIPC=true)") },
		{ "", "{'hostIPC':true,'hostPID':true,'hostNetwork':true}", "",
		  BOTH("host namespaces (hostNetwork=true, hostPID=true, hostIPC=true)") },
		{ "{'privileged':false}", "", "", BOTH("") },
		{ "{'privileged':true}", "", "",
		  BOTH("privileged (container \"a\" must not set securityContext.privileged=true)") },
		{ "", "", "{'ports':[{'containerPort':80}]}", BOTH("") },
		{ "", "", "{'ports':[{'containerPort':80,'hostPort':0}]}", BOTH("") },
		{ "", "", "{'ports':[{'containerPort':80,'hostPort':8080}]}",
		  BOTH("hostPort (container \"a\" uses hostPort 8080)") },
		{ "", "", "{'ports':[{'hostPort':9},{'hostPort':10},{'hostPort':9}]}",
		  BOTH("hostPort (container \"a\" uses hostPorts 10, 9)") },
		{ "", "", "{'livenessProbe':{'httpGet':{'port':80}}}", BOTH("") },
		{ "", "", "{'livenessProbe':{'httpGet':{'port':80,'host':''}}}", BOTH("") },
		{ "", "", "{'livenessProbe':{'httpGet':{'port':80,'host':'10.0.0.1'}}}",
		  BOTH("probe or lifecycle host (container \"a\" uses probe or lifecycle host \"10.0.0.1\")") },
		{ "", "", "{'readinessProbe':{'tcpSocket':{'port':80,'host':'h'}}}",
		  BOTH("probe or lifecycle host (container \"a\" uses probe or lifecycle host \"h\")") },
		{ "", "", "{'startupProbe':{'tcpSocket':{'port':80,'host':'h'}}}",
		  BOTH("probe or lifecycle host (container \"a\" uses probe or lifecycle host \"h\")") },
		{ "", "", "{'lifecycle':{'postStart':{'httpGet':{'port':80,'host':'h'}}}}",
		  BOTH("probe or lifecycle host (container \"a\" uses probe or lifecycle host \"h\")") },
		{ "", "", "{'lifecycle':{'preStop':{'httpGet':{'host':'b'}},'postStart':{'tcpSocket':{'host':'a'}}}}",
		  BOTH("probe or lifecycle host (container \"a\" uses probe or lifecycle hosts \"a\", \"b\")") },
		{ "", "", "{'lifecycle':{'preStop':{'exec':{'command':['a']}}}}", BOTH("") },
	};

	check_rows(rows, ARRAY_SIZE(rows));
}

TEST("profiles of the kernel's guards are not switched off")
{
	static const struct row rows[] = {
		{ "{'procMount':'Default'}", "", "", BOTH("") },
		{ "{'procMount':'Unmasked'}", "", "",
		  BOTH("procMount (container \"a\" must not set securityContext.procMount to \"Unmasked\")") },
		{ "{'appArmorProfile':{'type':'RuntimeDefault'}}", "", "", BOTH("") },
		{ "{'appArmorProfile':{'type':'Localhost','localhostProfile':'p'}}", "", "", BOTH("") },
		{ "{'appArmorProfile':{'type':'Unconfined'}}", "", "",
		  BOTH("forbidden AppArmor profile (container \"a\" must not set AppArmor profile type to "
		       "\"Unconfined\")") },
		{ "", "{'securityContext':{'appArmorProfile':{'type':'Unconfined'}}}", "",
		  BOTH("forbidden AppArmor profile (pod must not set AppArmor profile type to \"Unconfined\")") },
		{ "", "{'securityContext':{'appArmorProfile':{'type':'Localhost'}}}", "", BOTH("") },
		{ "{'appArmorProfile':{'type':'Unconfined'}}",
		  "{'securityContext':{'appArmorProfile':{'type':'Unconfined'}}}", "",
		  BOTH("forbidden AppArmor profile (pod and container \"a\" must not set AppArmor profile type to "
		       "\"Unconfined\")") },
		{ "{'seLinuxOptions':{}}", "", "", BOTH("") },
		{ "{'seLinuxOptions':{'type':'','user':'','role':''}}", "", "", BOTH("") },
		{ "{'seLinuxOptions':{'type':'container_t'}}", "", "", BOTH("") },
		{ "{'seLinuxOptions':{'type':'container_init_t'}}", "", "", BOTH("") },
		{ "{'seLinuxOptions':{'type':'container_kvm_t'}}", "", "", BOTH("") },
		{ "{'seLinuxOptions':{'type':'container_engine_t'}}", "", "", BOTH("") },
		{ "{'seLinuxOptions':{'level':'s0:c1'}}", "", "", BOTH("") },
		{ "{'seLinuxOptions':{'type':'spc_t'}}", "", "",
		  BOTH("seLinuxOptions (container \"a\" set forbidden securityContext.seLinuxOptions: type "
		       "\"spc_t\")") },
		{ "{'seLinuxOptions':{'user':'u'}}", "", "",
		  BOTH("seLinuxOptions (container \"a\" set forbidden securityContext.seLinuxOptions: user may not be "
		       "set)") },
		{ "{'seLinuxOptions':{'role':'r'}}", "", "",
		  BOTH("seLinuxOptions (container \"a\" set forbidden securityContext.seLinuxOptions: role may not be "
		       "set)") },
		{ "{'seLinuxOptions':{'type':'x','user':'u','role':'r'}}",
		  "{'securityContext':{'seLinuxOptions':{'type':'y'}}}", "",
		  BOTH("seLinuxOptions (pod and container \"a\" set forbidden securityContext.seLinuxOptions: types "
		       "\"x\", \"y\"; user may not be set; role may not be set)") },
		{ "{'seccompProfile':{'type':'Localhost','localhostProfile':'p'}}", "", "", BOTH("") },
		{ "{'seccompProfile':{'type':'Unconfined'}}", "", "",
		  BOTH("seccompProfile (container \"a\" must not set securityContext.seccompProfile.type to "
		       "\"Unconfined\")") },
		{ "", "{'securityContext':{'seccompProfile':{'type':'Unconfined'}}}", "",
		  BOTH("seccompProfile (pod must not set securityContext.seccompProfile.type to \"Unconfined\")") },
		{ "{'windowsOptions':{'hostProcess':false}}", "", "", BOTH("") },
		{ "{'windowsOptions':{'hostProcess':true}}", "", "",
		  BOTH("hostProcess (container \"a\" must not set "
		       "securityContext.windowsOptions.hostProcess=true)") },
		{ "", "{'securityContext':{'windowsOptions':{'hostProcess':true}}}", "",
		  BOTH("hostProcess (pod must not set securityContext.windowsOptions.hostProcess=true)") },
	};

	check_rows(rows, ARRAY_SIZE(rows));
}

TEST("restricted wants users, escalation, capabilities and seccomp settled")
{
	static const struct {
		const char *context, *spec, *want;
	} rows[] = {
		{ "{}", "",
		  "allowPrivilegeEscalation != false (container \"a\" must set "
		  "securityContext.allowPrivilegeEscalation=false), unrestricted capabilities (container \"a\" must "
		  "set securityContext.capabilities.drop=[\"ALL\"]), runAsNonRoot != true (pod or container \"a\" "
		  "must set securityContext.runAsNonRoot=true), seccompProfile (pod or container \"a\" must set "
		  "securityContext.seccompProfile.type to \"RuntimeDefault\" or \"Localhost\")" },
		{ "{'allowPrivilegeEscalation':false,'capabilities':{'drop':['ALL']}}",
		  "{'securityContext':{'runAsNonRoot':true,'seccompProfile':{'type':'RuntimeDefault'}}}", "" },
		{ "{'allowPrivilegeEscalation':false,'capabilities':{'drop':['ALL']}}",
		  "{'securityContext':{'runAsNonRoot':true,'seccompProfile':{'type':'Localhost'}}}", "" },
		{ "{'allowPrivilegeEscalation':true,'capabilities':{'drop':['ALL']}}",
		  "{'securityContext':{'runAsNonRoot':true,'seccompProfile':{'type':'Localhost'}}}",
		  "allowPrivilegeEscalation != false (container \"a\" must set "
		  "securityContext.allowPrivilegeEscalation=false)" },
		{ "{'allowPrivilegeEscalation':false,'capabilities':{'drop':['NET_RAW']}}",
		  "{'securityContext':{'runAsNonRoot':true,'seccompProfile':{'type':'Localhost'}}}",
		  "unrestricted capabilities (container \"a\" must set securityContext.capabilities.drop=[\"ALL\"])" },
		{ "{'allowPrivilegeEscalation':false,'capabilities':{'add':['CHOWN','BPF'],'drop':['all']}}",
		  "{'securityContext':{'runAsNonRoot':true,'seccompProfile':{'type':'Localhost'}}}",
		  "unrestricted capabilities (container \"a\" must set securityContext.capabilities.drop=[\"ALL\"]; "
		  "container \"a\" must not include \"BPF\", \"CHOWN\" in securityContext.capabilities.add)" },
		{ GOOD_CONTEXT, "{'securityContext':{'runAsNonRoot':false}}",
		  "runAsNonRoot != true (pod must not set securityContext.runAsNonRoot=false)" },
		{ "{'runAsNonRoot':false,'allowPrivilegeEscalation':false,'capabilities':{'drop':['ALL']}}",
		  "{'securityContext':{'runAsNonRoot':true,'seccompProfile':{'type':'Localhost'}}}",
		  "runAsNonRoot != true (container \"a\" must not set securityContext.runAsNonRoot=false)" },
		{ "{'runAsNonRoot':false,'allowPrivilegeEscalation':false,'capabilities':{'drop':['ALL']}}",
		  "{'securityContext':{'runAsNonRoot':false,'seccompProfile':{'type':'Localhost'}}}",
		  "runAsNonRoot != true (pod and container \"a\" must not set securityContext.runAsNonRoot=false)" },
		{ GOOD_CONTEXT, "{'securityContext':{'runAsUser':1000}}", "" },
		{ GOOD_CONTEXT, "{'securityContext':{'runAsUser':0}}", "runAsUser=0 (pod must not set runAsUser=0)" },
		{ "{'runAsUser':0,'allowPrivilegeEscalation':false,'capabilities':{'drop':['ALL']}}",
		  "{'securityContext':{'runAsNonRoot':true,'seccompProfile':{'type':'Localhost'}}}",
		  "runAsUser=0 (container \"a\" must not set runAsUser=0)" },
		{ "{'runAsUser':1,'allowPrivilegeEscalation':false,'capabilities':{'drop':['ALL']}}",
		  "{'securityContext':{'runAsNonRoot':true,'seccompProfile':{'type':'Localhost'}}}", "" },
		{ "{'allowPrivilegeEscalation':false,'capabilities':{'drop':['ALL']}}",
		  "{'securityContext':{'runAsNonRoot':true,'seccompProfile':{'type':'Unconfined'}}}",
		  "seccompProfile (pod must not set securityContext.seccompProfile.type to \"Unconfined\")" },
		{ "{'runAsNonRoot':true}", "{'os':{'name':'windows'}}", "" },
		{ "{}", "{'os':{'name':'windows'}}",
		  "runAsNonRoot != true (pod or container \"a\" must set securityContext.runAsNonRoot=true)" },
		{ "{'runAsUser':0,'allowPrivilegeEscalation':false,'capabilities':{'drop':['ALL']},"
		  "'seccompProfile':{'type':'RuntimeDefault'}}",
		  "{'hostUsers':false}",
		  "runAsNonRoot != true (pod or container \"a\" must set securityContext.runAsNonRoot=true), "
		  "runAsUser=0 (container \"a\" must not set runAsUser=0)" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		auto_free char *what = xasprintf("row %zu", i);
		json_auto_t *spec = good_pod(rows[i].spec, rows[i].context, "");

		check_text(what, restricted, NULL, spec, rows[i].want);
	}
}

TEST("a pod without any securityContext is fine by baseline")
{
	json_auto_t *spec = object("{'containers':[{'name':'a','image':'b'}]}");
	json_auto_t *empty = object("{}");

	check_text("bare", baseline, NULL, spec, "");
	check_text("empty", baseline, NULL, empty, "");
	check_text("empty", restricted, NULL, empty, "");
}

TEST("of all capabilities only the usual ones may be added, and one by restricted")
{
	static const struct {
		const char *names;
		bool baseline, restricted;
	} rows[] = {
		{ "NET_BIND_SERVICE", true, true },
		{ "AUDIT_WRITE CHOWN DAC_OVERRIDE FOWNER FSETID KILL MKNOD SETFCAP SETGID SETPCAP SETUID SYS_CHROOT",
		  true, false },
		{ "ALL AUDIT_CONTROL AUDIT_READ BLOCK_SUSPEND BPF CHECKPOINT_RESTORE DAC_READ_SEARCH IPC_LOCK "
		  "IPC_OWNER LEASE LINUX_IMMUTABLE MAC_ADMIN MAC_OVERRIDE NET_ADMIN NET_BROADCAST NET_RAW PERFMON "
		  "SYSLOG SYS_ADMIN SYS_BOOT SYS_MODULE SYS_NICE SYS_PACCT SYS_PTRACE SYS_RAWIO SYS_RESOURCE SYS_TIME "
		  "SYS_TTY_CONFIG WAKE_ALARM CAP_CHOWN chown CAP_SYS_ADMIN",
		  false, false },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct str rest = str_of(rows[i].names);
		struct str cap;

		while (str_split(&rest, ' ', &cap)) {
			auto_free char *field =
				xasprintf("{'capabilities':{'drop':['ALL'],'add':['%.*s']}}", STR_FMT(cap));
			auto_free char *ctx = good_context_with(field);
			json_auto_t *spec = good_pod("", ctx, "");
			auto_free char *low = xasprintf("non-default capabilities (container \"a\" must not include "
							"\"%.*s\" in securityContext.capabilities.add)",
							STR_FMT(cap));
			auto_free char *high = xasprintf("unrestricted capabilities (container \"a\" must not include "
							 "\"%.*s\" in securityContext.capabilities.add)",
							 STR_FMT(cap));

			check_text(field, baseline, NULL, spec, rows[i].baseline ? "" : low);
			check_text(field, restricted, NULL, spec, rows[i].restricted ? "" : high);
		}
	}
}

TEST("of all volumes only those that reach nothing outside are restricted enough")
{
	static const struct {
		const char *types;
		bool fine;
	} rows[] = {
		{ "configMap csi downwardAPI emptyDir ephemeral image persistentVolumeClaim projected secret", true },
		{ "hostPath gcePersistentDisk awsElasticBlockStore gitRepo nfs iscsi glusterfs rbd flexVolume cinder "
		  "cephfs flocker fc azureFile vsphereVolume quobyte azureDisk photonPersistentDisk portworxVolume "
		  "scaleIO storageos unknown",
		  false },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct str rest = str_of(rows[i].types);
		struct str type;

		while (str_split(&rest, ' ', &type)) {
			bool host = str_eq(type, "hostPath");
			auto_free char *text = xasprintf("{'volumes':[{'name':'v','%.*s':{}}]}", STR_FMT(type));
			json_auto_t *spec = good_pod(text, "", "");
			auto_free char *want =
				xasprintf("restricted volume types (volume \"v\" uses restricted volume type "
					  "\"%.*s\")",
					  STR_FMT(type));

			check_text(text, baseline, NULL, spec, host ? "hostPath volumes (volume \"v\")" : "");
			check_text(text, restricted, NULL, spec, rows[i].fine ? "" : want);
		}
	}
}

TEST("kernel parameters count as safe from the version on that made them so")
{
	static const struct {
		const char *name;
		int since; /* -1: never */
	} rows[] = {
		{ "kernel.shm_rmid_forced", 0 },
		{ "net.ipv4.ip_local_port_range", 0 },
		{ "net.ipv4.tcp_syncookies", 0 },
		{ "net.ipv4.ping_group_range", 0 },
		{ "net.ipv4.ip_unprivileged_port_start", 0 },
		{ "net.ipv4.ip_local_reserved_ports", 27 },
		{ "net.ipv4.tcp_keepalive_time", 29 },
		{ "net.ipv4.tcp_fin_timeout", 29 },
		{ "net.ipv4.tcp_keepalive_intvl", 29 },
		{ "net.ipv4.tcp_keepalive_probes", 29 },
		{ "net.ipv4.tcp_rmem", 32 },
		{ "net.ipv4.tcp_wmem", 32 },
		{ "kernel.core_pattern", -1 },
		{ "kernel.msgmax", -1 },
		{ "net.ipv4.ip_forward", -1 },
		{ "vm.overcommit_memory", -1 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		auto_free char *text =
			xasprintf("{'securityContext':{'sysctls':[{'name':'%s','value':'1'}]}}", rows[i].name);
		auto_free char *bad = xasprintf("forbidden sysctls (%s)", rows[i].name);
		json_auto_t *spec = good_pod(text, "", "");
		struct pod_security old = baseline;

		check_text(text, baseline, NULL, spec, rows[i].since < 0 ? bad : "");
		check_text(text, restricted, NULL, spec, rows[i].since < 0 ? bad : "");
		old.minor = rows[i].since;
		if (rows[i].since > 0)
			check_text(text, old, NULL, spec, "");
		old.minor--;
		if (rows[i].since > 0)
			check_text(text, old, NULL, spec, bad);
	}
}

TEST("init and ephemeral containers count, and complaints name them in order")
{
	json_auto_t *spec = object("{'containers':[{'name':'b','securityContext':{'privileged':true}},{'name':'c'}],"
				   "'initContainers':[{'name':'a','securityContext':{'privileged':true}}],"
				   "'ephemeralContainers':[{'name':'e','securityContext':{'privileged':true,"
				   "'capabilities':{'add':['NET_ADMIN']}}}],"
				   "'volumes':[{'name':'v','hostPath':{'path':'/'}},{'name':'w','nfs':{}},"
				   "{'name':'x','hostPath':{'path':'/'}}]}");

	check_text("lists", baseline, NULL, spec,
		   "non-default capabilities (container \"e\" must not include \"NET_ADMIN\" in "
		   "securityContext.capabilities.add), hostPath volumes (volumes \"v\", \"x\"), privileged (containers "
		   "\"a\", \"b\", \"e\" must not set securityContext.privileged=true)");
	check_text(
		"lists", restricted, NULL, spec,
		"privileged (containers \"a\", \"b\", \"e\" must not set securityContext.privileged=true), "
		"allowPrivilegeEscalation != false (containers \"a\", \"b\", \"c\", \"e\" must set "
		"securityContext.allowPrivilegeEscalation=false), unrestricted capabilities (containers \"a\", "
		"\"b\", \"c\", \"e\" must set securityContext.capabilities.drop=[\"ALL\"]; container \"e\" must not "
		"include \"NET_ADMIN\" in securityContext.capabilities.add), restricted volume types (volumes \"v\", "
		"\"w\", \"x\" use restricted volume types \"hostPath\", \"nfs\"), runAsNonRoot != true (pod or "
		"containers \"a\", \"b\", \"c\", \"e\" must set securityContext.runAsNonRoot=true), seccompProfile "
		"(pod or containers \"a\", \"b\", \"c\", \"e\" must set securityContext.seccompProfile.type to "
		"\"RuntimeDefault\" or \"Localhost\")");
}

TEST("annotations of before the fields count where they did")
{
	static const struct {
		int minor;
		const char *annotations, *want;
	} rows[] = {
		{ -1, "{'container.apparmor.security.beta.kubernetes.io/a':'runtime/default'}", "" },
		{ -1, "{'container.apparmor.security.beta.kubernetes.io/a':'localhost/x'}", "" },
		{ -1, "{'container.apparmor.security.beta.kubernetes.io/a':''}", "" },
		{ -1, "{'container.apparmor.security.beta.kubernetes.io/a':'unconfined'}",
		  "forbidden AppArmor profile (annotation must not set AppArmor profile type to "
		  "\"container.apparmor.security.beta.kubernetes.io/a=\"unconfined\"\")" },
		{ -1, "{'seccomp.security.alpha.kubernetes.io/pod':'unconfined'}", "" },
		{ 18, "{'seccomp.security.alpha.kubernetes.io/pod':'unconfined'}",
		  "seccompProfile (forbidden annotation seccomp.security.alpha.kubernetes.io/pod=\"unconfined\")" },
		{ 18, "{'seccomp.security.alpha.kubernetes.io/pod':'docker/default'}", "" },
		{ 18, "{'container.seccomp.security.alpha.kubernetes.io/a':'x'}",
		  "seccompProfile (forbidden annotation container.seccomp.security.alpha.kubernetes.io/a=\"x\")" },
		{ 18, "{'container.seccomp.security.alpha.kubernetes.io/other':'x'}", "" },
	};
	json_auto_t *spec = good_pod("", "", "");

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		json_auto_t *annotations = object(rows[i].annotations);
		json_auto_t *meta = json_pack("{s:O}", "annotations", annotations);

		check_text(rows[i].annotations, (struct pod_security){ POD_SECURITY_BASELINE, rows[i].minor }, meta,
			   spec, rows[i].want);
	}
}

TEST("an older version has the rules of its time")
{
	static const struct {
		int minor;
		const char *want;
	} rows[] = {
		{ 7, "non-default capabilities (container \"a\" must not include \"BPF\" in "
		     "securityContext.capabilities.add), runAsNonRoot != true (pod or container \"a\" must set "
		     "securityContext.runAsNonRoot=true)" },
		{ 18, "non-default capabilities (container \"a\" must not include \"BPF\" in "
		      "securityContext.capabilities.add), allowPrivilegeEscalation != false (container \"a\" must set "
		      "securityContext.allowPrivilegeEscalation=false), runAsNonRoot != true (pod or container \"a\" "
		      "must set securityContext.runAsNonRoot=true)" },
		{ 22, "allowPrivilegeEscalation != false (container \"a\" must set "
		      "securityContext.allowPrivilegeEscalation=false), unrestricted capabilities (container \"a\" "
		      "must set securityContext.capabilities.drop=[\"ALL\"]; container \"a\" must not include \"BPF\" "
		      "in securityContext.capabilities.add), runAsNonRoot != true (pod or container \"a\" must set "
		      "securityContext.runAsNonRoot=true), seccompProfile (pod or container \"a\" must set "
		      "securityContext.seccompProfile.type to \"RuntimeDefault\" or \"Localhost\")" },
		{ 23, "allowPrivilegeEscalation != false (container \"a\" must set "
		      "securityContext.allowPrivilegeEscalation=false), unrestricted capabilities (container \"a\" "
		      "must set securityContext.capabilities.drop=[\"ALL\"]; container \"a\" must not include \"BPF\" "
		      "in securityContext.capabilities.add), runAsNonRoot != true (pod or container \"a\" must set "
		      "securityContext.runAsNonRoot=true), runAsUser=0 (container \"a\" must not set runAsUser=0), "
		      "seccompProfile (pod or container \"a\" must set securityContext.seccompProfile.type to "
		      "\"RuntimeDefault\" or \"Localhost\")" },
	};
	json_auto_t *spec = good_pod("", "{'runAsUser':0,'capabilities':{'add':['BPF']}}",
				     "{'livenessProbe':{'tcpSocket':{'port':1,'host':'h'}}}");

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		check_text("version", (struct pod_security){ POD_SECURITY_RESTRICTED, rows[i].minor }, NULL, spec,
			   rows[i].want);
}

TEST("a brief answer names the rules alone, and host paths can be left to others")
{
	json_auto_t *spec = object("{'hostPID':true,'hostIPC':true,'containers':[{'name':'a','securityContext':"
				   "{'appArmorProfile':{'type':'Unconfined'}}}],"
				   "'volumes':[{'name':'v','hostPath':{'path':'/'}}]}");
	auto_sbuf struct sbuf brief = SBUF(1000);
	auto_sbuf struct sbuf other = SBUF(1000);

	CHECK_INT(pod_security_check(baseline, NULL, spec, POD_SECURITY_BRIEF, &brief), 3);
	CHECK_STR(brief.p, "forbidden AppArmor profile, host namespaces, hostPath volumes");
	CHECK_INT(pod_security_check(baseline, NULL, spec, POD_SECURITY_BRIEF | POD_SECURITY_HOST_PATHS, &other), 2);
	CHECK_STR(other.p, "forbidden AppArmor profile, host namespaces");
}

TEST("labels of a namespace choose levels, and bad ones are refused with what is allowed")
{
	static const struct {
		const char *labels, *enforce, *audit, *warn, *complaint;
	} rows[] = {
#define L "pod-security.kubernetes.io/"
		{ "{}", "privileged:latest", "privileged:latest", "privileged:latest", "" },
		{ "{'" L "enforce':'baseline'}", "baseline:latest", "privileged:latest", "baseline:latest", "" },
		{ "{'" L "enforce':'restricted','" L "enforce-version':'v1.25'}", "restricted:v1.25",
		  "privileged:latest", "restricted:v1.25", "" },
		{ "{'" L "enforce':'restricted','" L "warn-version':'v1.0'}", "restricted:latest", "privileged:latest",
		  "restricted:v1.0", "" },
		{ "{'" L "enforce':'restricted','" L "warn':'privileged'}", "restricted:latest", "privileged:latest",
		  "privileged:latest", "" },
		{ "{'" L "warn':'baseline','" L "audit':'restricted','" L "audit-version':'latest'}",
		  "privileged:latest", "restricted:latest", "baseline:latest", "" },
		{ "{'" L "enforce':'Restricted'}", "restricted:latest", "privileged:latest", "privileged:latest",
		  "metadata.labels[" L "enforce]: Invalid value: \"Restricted\": must be one of privileged, baseline, "
		  "restricted" },
		{ "{'" L "audit':'x'}", "privileged:latest", "privileged:latest", "privileged:latest",
		  "metadata.labels[" L "audit]: Invalid value: \"x\": must be one of privileged, baseline, "
		  "restricted" },
		{ "{'" L "warn':''}", "privileged:latest", "privileged:latest", "privileged:latest",
		  "metadata.labels[" L "warn]: Invalid value: \"\": must be one of privileged, baseline, restricted" },
		{ "{'" L "enforce-version':'1.20'}", "privileged:latest", "privileged:latest", "privileged:latest",
		  "metadata.labels[" L "enforce-version]: Invalid value: \"1.20\": must be \"latest\" or \"v1.x\"" },
		{ "{'" L "warn-version':'v1.01'}", "privileged:latest", "privileged:latest", "privileged:latest",
		  "metadata.labels[" L "warn-version]: Invalid value: \"v1.01\": must be \"latest\" or \"v1.x\"" },
		{ "{'" L "audit-version':'v2.0'}", "privileged:latest", "privileged:latest", "privileged:latest",
		  "metadata.labels[" L "audit-version]: Invalid value: \"v2.0\": must be \"latest\" or \"v1.x\"" },
		{ "{'" L "audit-version':'v1.'}", "privileged:latest", "privileged:latest", "privileged:latest",
		  "metadata.labels[" L "audit-version]: Invalid value: \"v1.\": must be \"latest\" or \"v1.x\"" },
		{ "{'" L "audit-version':'v1.-1'}", "privileged:latest", "privileged:latest", "privileged:latest",
		  "metadata.labels[" L "audit-version]: Invalid value: \"v1.-1\": must be \"latest\" or \"v1.x\"" },
#undef L
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		json_auto_t *labels = object(rows[i].labels);
		struct pod_security_policy p;
		struct err e = ERR_INIT;
		char text[POD_SECURITY_TEXT_LEN];
		auto_free char *complaint = NULL;

		CHECK_INT(pod_security_read(labels, &p, &e), *rows[i].complaint ? -1 : 0);
		CHECK_STR(pod_security_text(p.enforce, text), rows[i].enforce);
		CHECK_STR(pod_security_text(p.audit, text), rows[i].audit);
		CHECK_STR(pod_security_text(p.warn, text), rows[i].warn);
		complaint =
			e.ncauses ? xasprintf("%s: %s", err_cause_field(&e, 0), err_cause_text(&e, 0)) : xstrdup("");
		CHECK_STR(complaint, rows[i].complaint);
	}
}

TEST("only new containers and images make an update worth another look")
{
	static const struct {
		const char *old, *now;
		bool concerned;
	} rows[] = {
		{ "{'containers':[{'name':'a','image':'x'}]}", "{'containers':[{'name':'a','image':'x'}]}", false },
		{ "{'containers':[{'name':'a','image':'x'}]}", "{'containers':[{'name':'a','image':'y'}]}", true },
		{ "{'containers':[{'name':'a','image':'x'}]}",
		  "{'containers':[{'name':'a','image':'x'}],'tolerations':[{}]}", false },
		{ "{'containers':[{'name':'a'}]}", "{'containers':[{'name':'a'}],'ephemeralContainers':[{'name':'e'}]}",
		  true },
		{ "{'containers':[{'name':'a'}],'ephemeralContainers':[{'name':'e'}]}",
		  "{'containers':[{'name':'a'}],'ephemeralContainers':[{'name':'e'}]}", false },
		{ "{'initContainers':[{'name':'a','image':'x'}]}", "{'initContainers':[{'name':'a','image':'z'}]}",
		  true },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		json_auto_t *old = object(rows[i].old);
		json_auto_t *now = object(rows[i].now);

		CHECK_INT(pod_security_concerned(now, old), rows[i].concerned);
	}
}
