// SPDX-License-Identifier: Apache-2.0
/* pbs_lab.h - users, queues, nodes and jobs for tests of PBS at the API */
#ifndef STOKER_TEST_PBS_LAB_H
#define STOKER_TEST_PBS_LAB_H

#include "server.h"

#define QUEUES  "stoker.dev/v1/queues"
#define JOBS    "stoker.dev/v1/pbsjobs"
#define SERVERS "stoker.dev/v1/pbsservers"
#define NODES   "v1/nodes"
#define CANNOT                                                                                                         \
	"PBS 15038: Job exceeds queue resource limits MSG=cannot locate feasible nodes (nodes file is empty, all "     \
	"systems are busy, or no nodes have the requested feature)"
#define DENIED "PBS 15007: Unauthorized Request  MSG=operation not permitted"

static const char *const users[] = { "system:authenticated", NULL };
static const char *const masters[] = { "system:authenticated", "system:masters", NULL };
/* Accounts that are on every machine, and one that is on none. */
static const struct caller daemon_user = { .user = "daemon", .uid = "1", .groups = users, .local = true };
static const struct caller bin_user = { .user = "bin", .uid = "2", .groups = users, .local = true };
static const struct caller ci = { .user = "ci", .uid = "", .groups = users };
static const struct caller root = { .user = "root", .uid = "0", .groups = masters, .local = true };

static inline struct server lab_new(void)
{
	struct server s = server_new();

	server_do(&s, VERB_CREATE, "rbac.authorization.k8s.io/v1/clusterroles", "", NULL,
		  "{'metadata':{'name':'work'},'rules':[{'apiGroups':['','stoker.dev'],"
		  "'resources':['pbsjobs','pods'],'verbs':['*']}]}");
	server_do(&s, VERB_CREATE, "rbac.authorization.k8s.io/v1/rolebindings", "default", NULL,
		  "{'metadata':{'name':'work'},'roleRef':{'apiGroup':'rbac.authorization.k8s.io','kind':'ClusterRole',"
		  "'name':'work'},'subjects':[{'kind':'Group','name':'system:authenticated','apiGroup':"
		  "'rbac.authorization.k8s.io'}]}");
	server_do(&s, VERB_CREATE, "v1/namespaces", "", NULL,
		  "{'metadata':{'name':'daemon','annotations':{'stoker.dev/owner':'daemon'}}}");
	return s;
}

static inline json_t *submit(struct server *s, const struct caller *c, const char *ns, const char *spec)
{
	auto_free char *body = xasprintf("{'spec':{'script':'date',%s}}", spec);
	struct api_request req = server_request(s, VERB_CREATE, JOBS, ns, NULL);

	req.caller = c;
	return server_call(s, &req, body);
}

/* "" if it was taken. */
static inline const char *refusal(struct server *s, const struct caller *c, const char *spec)
{
	json_auto_t *job = submit(s, c, "default", spec);

	return job ? "" : s->message;
}

static inline const char *change(struct server *s, const struct caller *c, const char *name, const char *spec)
{
	auto_free char *body = xasprintf("{'spec':{%s}}", spec);
	struct api_request req = server_request(s, VERB_PATCH, JOBS, "default", name);
	json_auto_t *job = NULL;

	req.caller = c;
	req.patch = PATCH_MERGE;
	job = server_call(s, &req, body);
	return job ? "" : s->message;
}

static inline void settings(struct server *s, const char *spec)
{
	auto_free char *body = xasprintf("{'spec':{%s}}", spec);
	struct api_request req = server_request(s, VERB_PATCH, SERVERS, "", "default");
	json_auto_t *answer = NULL;

	req.patch = PATCH_MERGE;
	answer = server_call(s, &req, body);
	CHECK_STR(s->message, "");
}

static inline void make_queue(struct server *s, const char *name, const char *spec)
{
	auto_free char *body = xasprintf("{'metadata':{'name':'%s'},'spec':{%s}}", name, spec);

	server_do(s, VERB_CREATE, QUEUES, "", NULL, body);
}

static inline void set_state(struct server *s, const char *name, const char *state)
{
	auto_free char *body = xasprintf("{'status':{'state':'%s'}}", state);
	struct api_request req = server_request(s, VERB_PATCH, JOBS, "default", name);
	json_auto_t *job = NULL;

	req.patch = PATCH_MERGE;
	req.subresource = "status";
	job = server_call(s, &req, body);
	CHECK_STR(s->message, "");
}

static inline void make_node(struct server *s, const char *name, const char *labels, const char *amounts)
{
	auto_free char *body = xasprintf("{'metadata':{'name':'%s','labels':{%s}}}", name, labels);
	auto_free char *status = xasprintf("{'status':{'capacity':{%s},'allocatable':{%s}}}", amounts, amounts);
	struct api_request req = server_request(s, VERB_PATCH, NODES, "", name);
	json_auto_t *node = NULL;

	server_do(s, VERB_CREATE, NODES, "", NULL, body);
	req.patch = PATCH_MERGE;
	req.subresource = "status";
	node = server_call(s, &req, status);
	CHECK_STR(s->message, "");
}

#endif
