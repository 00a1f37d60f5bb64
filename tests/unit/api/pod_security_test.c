// SPDX-License-Identifier: Apache-2.0
/* pod_security_test.c - labels on namespaces, refusals of pods, warnings about templates, notes for the audit log */
#include "api/pod_security.h"

#include "server.h"

#define LABEL "pod-security.kubernetes.io/"
#define BARE  "'containers':[{'name':'c','image':'host'}]"
#define SECURE                                                                                                         \
	"'securityContext':{'runAsNonRoot':true,'seccompProfile':{'type':'RuntimeDefault'}},"                          \
	"'containers':[{'name':'c','image':'host','securityContext':{'allowPrivilegeEscalation':false,"                \
	"'capabilities':{'drop':['ALL']}}}]"
#define LACKING                                                                                                        \
	"allowPrivilegeEscalation != false (container \"c\" must set "                                                 \
	"securityContext.allowPrivilegeEscalation=false), "                                                            \
	"unrestricted capabilities (container \"c\" must set securityContext.capabilities.drop=[\"ALL\"]), "           \
	"runAsNonRoot != true (pod or container \"c\" must set securityContext.runAsNonRoot=true), seccompProfile "    \
	"(pod or container \"c\" must set securityContext.seccompProfile.type to \"RuntimeDefault\" or \"Localhost\")"

static void make_namespace(struct server *s, const char *name, const char *labels)
{
	auto_free char *body = xasprintf("{'metadata':{'name':'%s','labels':%s}}", name, labels);

	server_do(s, VERB_CREATE, "v1/namespaces", "", NULL, body);
}

static const char *warning(const struct server *s, size_t i)
{
	return json_string_value(json_array_get(s->warnings, i));
}

TEST("an enforced level refuses pods with Kubernetes' words, and lets good ones in")
{
	struct server s = server_new();

	make_namespace(&s, "strict", "{'" LABEL "enforce':'restricted'}");
	json_auto_t *bad =
		server_ask(&s, VERB_CREATE, "v1/pods", "strict", NULL, "{'metadata':{'name':'p'},'spec':{" BARE "}}");

	CHECK_INT(s.code, 403);
	CHECK_STR(s.message, "pods \"p\" is forbidden: violates PodSecurity \"restricted:latest\": " LACKING);
	json_auto_t *good =
		server_ask(&s, VERB_CREATE, "v1/pods", "strict", NULL, "{'metadata':{'name':'p'},'spec':{" SECURE "}}");

	CHECK_INT(s.code, 201);
	CHECK(!s.warnings);
	json_auto_t *other = server_ask(&s, VERB_CREATE, "v1/pods", "default", NULL,
					"{'metadata':{'name':'p'},'spec':{'hostPID':true," BARE "}}");

	CHECK_INT(s.code, 201);
	CHECK(!bad && good && other);
	server_done(&s);
}

TEST("an update is looked at again when it brings another image")
{
	struct server s = server_new();
	struct api_request patch = server_request(&s, VERB_PATCH, "v1/pods", "later", "p");

	make_namespace(&s, "later", "{}");
	server_do(&s, VERB_CREATE, "v1/pods", "later", NULL,
		  "{'metadata':{'name':'p'},'spec':{'hostPID':true," BARE "}}");
	json_auto_t *ns = NULL;
	struct api_request label = server_request(&s, VERB_PATCH, "v1/namespaces", "", "later");

	label.patch = patch.patch = PATCH_STRATEGIC;
	ns = server_call(&s, &label, "{'metadata':{'labels':{'" LABEL "enforce':'baseline'}}}");
	CHECK_STR(warning(&s, 0),
		  "existing pods in namespace \"later\" violate the new PodSecurity enforce level \"baseline:latest\"");
	CHECK_STR(warning(&s, 1), "p: host namespaces");
	json_auto_t *meta = server_call(&s, &patch, "{'metadata':{'labels':{'a':'b'}}}");

	CHECK_STR(s.message, "");
	json_auto_t *image = server_call(&s, &patch, "{'spec':{'containers':[{'name':'c','image':'x'}]}}");

	CHECK_STR(s.message, "pods \"p\" is forbidden: violates PodSecurity \"baseline:latest\": host namespaces "
			     "(hostPID=true)");
	CHECK(ns && meta && !image);
	server_done(&s);
}

TEST("labels that mean nothing are refused with what is allowed")
{
	struct server s = server_new();
	json_auto_t *bad = server_ask(&s, VERB_CREATE, "v1/namespaces", "", NULL,
				      "{'metadata':{'name':'n','labels':{'" LABEL "enforce':'high','" LABEL
				      "warn-version':'1.2'}}}");

	CHECK_INT(s.code, 422);
	CHECK_STR(s.message,
		  "Namespace \"\" is invalid: [metadata.labels[" LABEL
		  "enforce]: Invalid value: \"high\": must be one of privileged, baseline, restricted, "
		  "metadata.labels[" LABEL "warn-version]: Invalid value: \"1.2\": must be \"latest\" or \"v1.x\"]");
	CHECK(!bad);
	server_done(&s);
}

TEST("a label that was wrong before stands in nobody's way")
{
	json_auto_t *old = sample_json("{'metadata':{'labels':{'" LABEL "enforce':'high'}}}");
	json_auto_t *same = sample_json("{'metadata':{'labels':{'" LABEL "enforce':'high','a':'b'}}}");
	json_auto_t *worse = sample_json("{'metadata':{'labels':{'" LABEL "enforce':'low'}}}");
	struct api_request req = { .verb = VERB_UPDATE };
	struct err e = ERR_INIT;

	CHECK_INT(pod_security_admit_namespace(NULL, &req, same, old, &e), 0);
	CHECK_INT(e.kind, ERR_NONE);
	CHECK_INT(pod_security_admit_namespace(NULL, &req, worse, old, &e), -1);
	CHECK_INT(e.kind, ERR_INVALID);
}

TEST("templates are let through with a warning, each said once")
{
	static const struct {
		const char *what, *body;
	} rows[] = {
#define TPL         "'template':{'metadata':{'labels':{'a':'b'}},'spec':{" BARE "}}"
#define SEL         "'selector':{'matchLabels':{'a':'b'}},"
#define ONE         "'template':{'metadata':{'labels':{'a':'b'}},'spec':{'restartPolicy':'Never'," BARE "}}"
#define PART(name_) "'template':{'spec':{'containers':[{'name':'" name_ "','image':'host'}]}}"
		{ "apps/v1/deployments", "'spec':{" SEL TPL "}" },
		{ "apps/v1/replicasets", "'spec':{" SEL TPL "}" },
		{ "apps/v1/statefulsets", "'spec':{'serviceName':'x'," SEL TPL "}" },
		{ "apps/v1/daemonsets", "'spec':{" SEL TPL "}" },
		{ "v1/replicationcontrollers", "'spec':{'selector':{'a':'b'}," TPL "}" },
		{ "v1/podtemplates", TPL },
		{ "batch/v1/jobs", "'spec':{" ONE "}" },
		{ "batch/v1/cronjobs", "'spec':{'schedule':'0 0 * * *','jobTemplate':{'spec':{" ONE "}}}" },
		{ "batch/v1beta1/cronjobs", "'spec':{'schedule':'0 0 * * *','jobTemplate':{'spec':{" ONE "}}}" },
		{ "kubeflow.org/v1/tfjobs",
		  "'spec':{'tfReplicaSpecs':{'Worker':{" PART("tensorflow") "},'PS':{" PART("tensorflow") "}}}" },
		{ "kubeflow.org/v1/pytorchjobs", "'spec':{'pytorchReplicaSpecs':{'Master':{" PART("pytorch") "}}}" },
		{ "kubeflow.org/v1/mpijobs",
		  "'spec':{'mpiReplicaSpecs':{'Launcher':{" PART("m") "},'Worker':{" PART("m") "}}}" },
		{ "kubeflow.org/v1/paddlejobs", "'spec':{'paddleReplicaSpecs':{'Worker':{" PART("paddle") "}}}" },
		{ "kubeflow.org/v1/notebooks", "'spec':{" PART("n") "}" },
	};
	struct server s = server_new();

	make_namespace(&s, "strict", "{'" LABEL "enforce':'restricted','" LABEL "enforce-version':'v1.28'}");
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		auto_free char *body = xasprintf("{'metadata':{'name':'w%zu'},%s}", i, rows[i].body);
		json_auto_t *made = server_ask(&s, VERB_CREATE, rows[i].what, "strict", NULL, body);

		if (!made)
			test_fail(__FILE__, __LINE__, "%s: %s", rows[i].what, s.message);
		CHECK_INT(json_array_size(s.warnings), 1);
		if (!warning(&s, 0) || !str_starts(warning(&s, 0), "would violate PodSecurity \"restricted:v1.28\": "))
			test_fail(__FILE__, __LINE__, "%s: %s", rows[i].what, warning(&s, 0) ? warning(&s, 0) : "-");
		if (i == 0)
			CHECK_STR(warning(&s, 0), "would violate PodSecurity \"restricted:v1.28\": " LACKING);
	}
	server_done(&s);
}

TEST("a level to warn of lets the pod in, and one to audit leaves a note")
{
	struct server s = server_new();
	struct api_request req = server_request(&s, VERB_CREATE, "v1/pods", "soft", NULL);
	json_auto_t *body = sample_json("{'metadata':{'name':'p'},'spec':{'hostIPC':true," BARE "}}");
	struct api_result res = { 0 };
	struct err e = ERR_INIT;

	make_namespace(&s, "soft", "{'" LABEL "warn':'baseline','" LABEL "audit':'baseline'}");
	req.body = body;
	CHECK_INT(api_call(s.api, &req, &res, &e), 0);
	CHECK_STR(json_string_value(json_array_get(res.warnings, 0)),
		  "would violate PodSecurity \"baseline:latest\": host namespaces (hostIPC=true)");
	CHECK_STR(json_string_value(json_object_get(res.notes, LABEL "audit-violations")),
		  "would violate PodSecurity \"baseline:latest\": host namespaces (hostIPC=true)");
	api_result_done(&res);
	server_turn(&s);
	server_done(&s);
}
