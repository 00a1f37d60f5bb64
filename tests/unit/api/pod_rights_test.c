// SPDX-License-Identifier: Apache-2.0
/* pod_rights_test.c - what a user's pod gets, and what it may not ask for */
#include "api/pod_rights.h"

#include "base/jsonx.h"
#include "base/mem.h"
#include "sample_json.h"
#include "test.h"

static gid_t ana_groups[] = { 50, 3000 };
static const struct account ana = { .name = "ana",
				    .real = true,
				    .uid = 1000,
				    .gid = 1001,
				    .groups = ana_groups,
				    .ngroups = ARRAY_SIZE(ana_groups),
				    .home = "/home/ana" };
static const struct account stranger = { .name = "ci", .uid = 1900000000, .gid = 1900000000, .home = "" };

TEST("a pod that asks for nothing runs as its owner, and cannot become more")
{
	json_auto_t *pod = sample_json("{'metadata':{'name':'p'},'spec':{'initContainers':[{'name':'i'}],"
				       "'containers':[{'name':'c','securityContext':{'readOnlyRootFilesystem':true}}],"
				       "'ephemeralContainers':[{'name':'e'}]}}");
	struct err e = ERR_INIT;

	CHECK_INT(pod_rights_apply(&ana, &(struct pod_roots){ 0 }, pod, &e), 0);
	CHECK_JSON(jsonx_at(pod, "spec.securityContext"),
		   "{'runAsUser':1000,'runAsGroup':1001,'runAsNonRoot':true,'supplementalGroups':[50,3000],"
		   "'supplementalGroupsPolicy':'Strict','seccompProfile':{'type':'RuntimeDefault'}}");
	CHECK_JSON(jsonx_at(pod, "spec.initContainers"),
		   "[{'name':'i','securityContext':{'allowPrivilegeEscalation':false}}]");
	CHECK_JSON(jsonx_at(pod, "spec.containers"), "[{'name':'c','securityContext':{'readOnlyRootFilesystem':true,"
						     "'allowPrivilegeEscalation':false}}]");
	CHECK_JSON(jsonx_at(pod, "spec.ephemeralContainers"),
		   "[{'name':'e','securityContext':{'allowPrivilegeEscalation':false}}]");
	/* Once more changes nothing. */
	json_auto_t *again = jsonx_copy(pod);

	CHECK_INT(pod_rights_apply(&ana, &(struct pod_roots){ 0 }, again, &e), 0);
	CHECK(json_equal(pod, again));
}

static void check_rows(const struct account *acc, const char *roots, const char *const rows[][2], size_t n)
{
	json_auto_t *list = *roots ? sample_json(roots) : NULL;

	for (size_t i = 0; i < n; i++) {
		json_auto_t *spec = sample_json(rows[i][0]);
		json_auto_t *pod = json_pack("{s:{s:s}, s:O}", "metadata", "name", "p", "spec", spec);
		auto_free char *want =
			*rows[i][1] ? xasprintf("pods \"p\" is forbidden: beyond the rights of user \"%s\": %s",
						acc->name, rows[i][1])
				    : xstrdup("");
		struct err e = ERR_INIT;

		CHECK_INT(pod_rights_apply(acc, &(struct pod_roots){ .host = list }, pod, &e), *rows[i][1] ? -1 : 0);
		CHECK_STR(e.text, want);
		if (*rows[i][1])
			CHECK_INT(e.kind, ERR_FORBIDDEN);
	}
}

#define CONTEXT(text_) "{'containers':[{'name':'c','securityContext':" text_ "}]}"

TEST("identities, groups and rights beyond the owner's are refused by name")
{
	static const char *const rows[][2] = {
		{ "{'securityContext':{'runAsUser':1000,'runAsGroup':1001,'fsGroup':50,'supplementalGroups':[3000]}}",
		  "" },
		{ "{'securityContext':{'runAsGroup':50}}", "" },
		{ "{'securityContext':{'supplementalGroups':[]}}", "" },
		{ "{'securityContext':{'runAsUser':0}}",
		  "spec.securityContext.runAsUser: 0 is not allowed, only 1000" },
		{ "{'securityContext':{'runAsUser':1002}}",
		  "spec.securityContext.runAsUser: 1002 is not allowed, only 1000" },
		{ "{'securityContext':{'runAsGroup':0}}",
		  "spec.securityContext.runAsGroup: 0 is not allowed, only 1001, 50, 3000" },
		{ "{'securityContext':{'fsGroup':42}}",
		  "spec.securityContext.fsGroup: 42 is not allowed, only 1001, 50, 3000" },
		{ "{'securityContext':{'supplementalGroups':[50,999]}}",
		  "spec.securityContext.supplementalGroups[1]: 999 is not allowed, only 1001, 50, 3000" },
		{ "{'securityContext':{'supplementalGroupsPolicy':'Merge'}}",
		  "spec.securityContext.supplementalGroupsPolicy: \"Merge\" is not allowed, only \"Strict\"" },
		{ "{'securityContext':{'runAsNonRoot':false}}",
		  "spec.securityContext.runAsNonRoot: false is not allowed, only true" },
		{ CONTEXT("{'runAsUser':1000,'runAsGroup':3000,'runAsNonRoot':true}"), "" },
		{ CONTEXT("{'runAsUser':0}"),
		  "spec.containers[0].securityContext.runAsUser: 0 is not allowed, only 1000" },
		{ CONTEXT("{'runAsGroup':4}"),
		  "spec.containers[0].securityContext.runAsGroup: 4 is not allowed, only 1001, 50, 3000" },
		{ CONTEXT("{'runAsNonRoot':false}"),
		  "spec.containers[0].securityContext.runAsNonRoot: false is not allowed, only true" },
		{ CONTEXT("{'allowPrivilegeEscalation':false}"), "" },
		{ CONTEXT("{'allowPrivilegeEscalation':true}"),
		  "spec.containers[0].securityContext.allowPrivilegeEscalation: true is not allowed, only false" },
		{ CONTEXT("{'seccompProfile':{'type':'RuntimeDefault'}}"), "" },
		{ CONTEXT("{'seccompProfile':{'type':'Localhost','localhostProfile':'x'}}"),
		  "spec.containers[0].securityContext.seccompProfile.type: \"Localhost\" is not allowed, only "
		  "\"RuntimeDefault\"" },
		{ CONTEXT("{'capabilities':{'add':['CHOWN'],'drop':['NET_RAW']}}"), "" },
		{ CONTEXT("{'capabilities':{'add':['SYS_ADMIN']}}"),
		  "non-default capabilities (container \"c\" must not include \"SYS_ADMIN\" in "
		  "securityContext.capabilities.add)" },
		{ CONTEXT("{'privileged':true}"),
		  "privileged (container \"c\" must not set securityContext.privileged=true)" },
		{ CONTEXT("{'procMount':'Unmasked'}"),
		  "procMount (container \"c\" must not set securityContext.procMount to \"Unmasked\")" },
		{ "{'hostNetwork':true}", "host namespaces (hostNetwork=true)" },
		{ "{'hostPID':true,'hostIPC':true}", "host namespaces (hostPID=true, hostIPC=true)" },
		{ "{'containers':[{'name':'c','ports':[{'containerPort':80,'hostPort':8080}]}]}",
		  "hostPort (container \"c\" uses hostPort 8080)" },
		{ "{'securityContext':{'sysctls':[{'name':'kernel.shm_rmid_forced','value':'1'}]}}", "" },
		{ "{'securityContext':{'sysctls':[{'name':'kernel.msgmax','value':'1'}]}}",
		  "forbidden sysctls (kernel.msgmax)" },
		{ "{'initContainers':[{'name':'i','securityContext':{'runAsUser':0}}],'ephemeralContainers':[{'name':"
		  "'e','securityContext':{'runAsUser':1}}]}",
		  "spec.initContainers[0].securityContext.runAsUser: 0 is not allowed, only 1000; "
		  "spec.ephemeralContainers[0].securityContext.runAsUser: 1 is not allowed, only 1000" },
	};

	check_rows(&ana, "", rows, ARRAY_SIZE(rows));
}

#define HOST(path_) "{'volumes':[{'name':'d','emptyDir':{}},{'name':'v','hostPath':{'path':'" path_ "'}}]}"

TEST("host paths stay below the home, or below the configured roots")
{
	static const char *const home[][2] = {
		{ HOST("/home/ana"), "" },
		{ HOST("/home/ana/"), "" },
		{ HOST("//home/./ana/data"), "" },
		{ HOST("/home/anabel"),
		  "spec.volumes[1].hostPath.path: \"/home/anabel\" is not allowed, only below \"/home/ana\"" },
		{ HOST("/home/ana/../bo"),
		  "spec.volumes[1].hostPath.path: \"/home/ana/../bo\" is not allowed, only below \"/home/ana\"" },
		{ HOST("/"), "spec.volumes[1].hostPath.path: \"/\" is not allowed, only below \"/home/ana\"" },
		{ HOST("home/ana"),
		  "spec.volumes[1].hostPath.path: \"home/ana\" is not allowed, only below \"/home/ana\"" },
	};
	static const char *const roots[][2] = {
		{ HOST("/data"), "" },
		{ HOST("/scratch/x"), "" },
		{ HOST("/home/ana"),
		  "spec.volumes[1].hostPath.path: \"/home/ana\" is not allowed, only below \"/data\", \"/scratch\"" },
	};
	static const char *const none[][2] = {
		{ "{'containers':[{'name':'c'}]}", "" },
		{ HOST("/home"),
		  "spec.volumes[1].hostPath.path: \"/home\" is not allowed, only volumes of other types" },
	};

	check_rows(&ana, "", home, ARRAY_SIZE(home));
	check_rows(&ana, "['/data','/scratch/']", roots, 2);
	check_rows(&ana, "['/data','/scratch']", roots, ARRAY_SIZE(roots));
	check_rows(&stranger, "", none, ARRAY_SIZE(none));
	check_rows(&stranger, "['/data']", roots, 1);
}

TEST("an account is found, made of a number, or made up for good")
{
	struct err e = ERR_INIT;
	struct accounts *a = accounts_new();
	const struct account *acc = accounts_find(a, "daemon", &e);
	uid_t made;

	CHECK(acc->real);
	CHECK_INT(acc->uid, 1);
	CHECK(account_in_group(acc, acc->gid));
	CHECK(!account_in_group(acc, 4711));
	acc = accounts_find(a, "uid:4711", &e);
	CHECK(!acc->real);
	CHECK_INT(acc->uid, 4711);
	CHECK_INT(acc->gid, 65534);
	acc = accounts_find(a, "uid:0", &e);
	CHECK(acc->uid >= 0x70000000u);
	acc = accounts_find(a, "system:serviceaccount:default:default", &e);
	made = acc->uid;
	CHECK(made >= 0x70000000u && made < 0x7fffffffu);
	CHECK_INT(acc->gid, made);
	CHECK_STR(acc->home, "");
	CHECK_INT(acc->ngroups, 0);
	CHECK(accounts_find(a, "system:serviceaccount:default:other", &e)->uid != made);
	CHECK_INT(accounts_find(a, "system:serviceaccount:default:default", &e)->uid, made);
	accounts_free(a);
}

TEST("nobody becomes root by being called so")
{
	struct err e = ERR_INIT;
	struct accounts *a = accounts_new();
	const struct account *acc = accounts_find(a, "root", &e);

	CHECK(!acc->real);
	CHECK(acc->uid >= 0x70000000u);
	CHECK_STR(acc->home, "");
	accounts_free(a);
}

TEST("the directories of the PBS server count too, some only to be read")
{
	static const struct {
		const char *path, *read_only, *want, *used;
	} rows[] = {
		{ "/gdata/ana", "false", "", "/gdata" },
		{ "/gdata", "false", "", "/gdata" },
		{ "/gpub/set", "true", "", "/gpub" },
		{ "/gpub/set", "false", "spec.containers[0].volumeMounts[0].readOnly: false is not allowed, only true",
		  "/gpub" },
		{ "/gdata/../etc", "true",
		  "spec.volumes[0].hostPath.path: \"/gdata/../etc\" is not allowed, only below \"/home/ana\", "
		  "\"/gdata\", \"/gpub\"",
		  "" },
		{ "/home/ana/x", "false", "", "" },
	};
	json_auto_t *shared = sample_json("['/gdata']");
	json_auto_t *readable = sample_json("['/gpub']");
	struct pod_roots roots = { .shared = shared, .readable = readable };

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		auto_free char *text = xasprintf("{'metadata':{'name':'p'},'spec':{'containers':[{'name':'c',"
						 "'volumeMounts':[{'name':'v','mountPath':'/m','readOnly':%s}]}],"
						 "'volumes':[{'name':'v','hostPath':{'path':'%s'}}]}}",
						 rows[i].read_only, rows[i].path);
		json_auto_t *pod = sample_json(text);
		auto_sbuf struct sbuf used = SBUF(256);
		struct err e = ERR_INIT;

		CHECK_INT(pod_rights_apply(&ana, &roots, pod, &e), *rows[i].want ? -1 : 0);
		CHECK(!*rows[i].want || strstr(e.text, rows[i].want));
		pod_rights_roots_used(&roots, pod, &used);
		CHECK_STR(used.p ? used.p : "", rows[i].used);
	}
}
