// SPDX-License-Identifier: Apache-2.0
/* pbs_settings.c - see pbs_parts.h: the PBSServer, kept decoded, and what follows from a write of it
 *
 * Managers and operators have their rights by ordinary roles (rbac_bootstrap.c); the two bindings follow the lists.
 * What would give a manager more than PBS, a program that the server runs or directories of the host, is for admins.
 */
#include <strings.h>

#include "api/authz.h"
#include "api/pbs_board.h"
#include "api/pbs_parts.h"
#include "base/jsonx.h"
#include "base/log.h"
#include "base/mem.h"

#define SERVER_NAME "default"
#define RBAC_GROUP  "rbac.authorization.k8s.io"

static void forget(struct pbs *p)
{
	json_decref(p->settings);
	p->settings = NULL;
	pbs_machines_forget(p);
}

static void on_lost(void *arg)
{
	forget(arg);
}

struct pbs *pbs_new(struct api *api)
{
	struct pbs *p = xcalloc(1, sizeof(*p));

	*p = (struct pbs){ .api = api,
			   .board = pbs_board_new(api),
			   .guard = { .lost = on_lost, .arg = p },
			   .server_kind = { .group = "stoker.dev", .version = "v1", .plural = "pbsservers" },
			   .job_kind = { .group = "stoker.dev", .version = "v1", .plural = "pbsjobs" },
			   .node_kind = { .group = "", .version = "v1", .plural = "nodes" } };
	return p;
}

void pbs_free(struct pbs *p)
{
	if (!p)
		return;
	turn_guard_done(&p->guard);
	forget(p);
	free(p->machines);
	pbs_board_free(p->board);
	free(p);
}

struct pbs_board *pbs_board(struct pbs *p)
{
	return p->board;
}

bool pbs_is_job(const struct kind *k)
{
	return streq(k->group, "stoker.dev") && streq(k->plural, "pbsjobs");
}

int pbs_server_settings(struct api *api, const json_t **ret, struct err *e)
{
	struct pbs *p = api_pbs(api);
	json_auto_t *doc = NULL;

	if (!p->settings) {
		if (stored_get(api, &p->server_kind, "", SERVER_NAME, &doc, e) < 0) {
			if (e->kind != ERR_NOT_FOUND)
				return -1;
			err_clear(e);
		}
		p->settings = doc ? json_incref(json_object_get(doc, "spec")) : json_object();
		turn_guard_watch_read(&p->guard, api_store(api));
	}
	*ret = p->settings;
	return 0;
}

/* ---- managers and operators ---- */

/* This machine's name often comes without its domain, and then one of any domain is meant. */
static bool is_here(const char *pattern, const json_t *settings)
{
	char name[256] = "";
	size_t n;

	gethostname(name, sizeof(name) - 1);
	n = strlen(name);
	return pbs_is_host(pattern, name) || pbs_is_host(pattern, jsonx_str_or(settings, "serverName", "")) ||
	       streq(pattern, "localhost") ||
	       (n && !strchr(name, '.') && strcspn(pattern, ".") == n && strncasecmp(pattern, name, n) == 0);
}

/* user@host is for callers on that host.  Those of the Unix socket are on the server's own, and nobody can tell from
 * which other one somebody with a certificate or token comes: no other host counts. */
static bool counts(const char *entry, const json_t *settings)
{
	const char *at = strchr(entry, '@');

	return !at || is_here(at + 1, settings);
}

static bool lists(struct api *api, const char *field, const struct caller *c)
{
	const json_t *settings;
	struct err e = ERR_INIT;
	json_t *v;
	size_t i;

	if (pbs_server_settings(api, &settings, &e) < 0)
		return false;
	json_array_foreach (json_object_get(settings, field), i, v) {
		const char *s = json_string_value(v);

		if (strlen(c->user) == strcspn(s, "@") && strncmp(c->user, s, strlen(c->user)) == 0 &&
		    counts(s, settings))
			return true;
	}
	return false;
}

bool pbs_is_manager(struct api *api, const struct caller *c)
{
	return pbs_is_admin(c) || lists(api, "managers", c);
}

bool pbs_is_operator(struct api *api, const struct caller *c)
{
	return pbs_is_manager(api, c) || lists(api, "operators", c);
}

int pbs_may_act(struct api *api, const struct caller *c, const json_t *job, struct err *e)
{
	const json_t *namespace = NULL;
	const char *owner = jsonx_str_or(job, "spec.owner", "");

	if (streq(owner, c->user) || pbs_is_operator(api, c))
		return 0;
	/* Who has rights in a user's own namespace acts there as that user. */
	if (stored_namespace(api, jsonx_str_or(job, "metadata.namespace", ""), &namespace, e) < 0)
		return -1;
	if (*owner && streq(work_note(namespace, "stoker.dev/owner"), owner))
		return 0;
	return pbs_error_set(e, ERR_FORBIDDEN, PBSE_PERM, "operation not permitted");
}

const char *pbs_refusal(const char *group, const char *resource)
{
	return streq(group, "stoker.dev") && streq(resource, "pbsjobs")
		       ? ": PBS 15007: Unauthorized Request  MSG=operation not permitted"
		       : "";
}

static const struct {
	const char *field, *binding, *role;
} roles[] = {
	{ "managers", "stoker:pbs-managers", "stoker:pbs-manager" },
	{ "operators", "stoker:pbs-operators", "stoker:pbs-operator" },
};

static json_t *subjects_of(const json_t *users, const json_t *settings)
{
	json_t *subjects = json_array();
	json_t *v;
	size_t i;

	json_array_foreach ((json_t *)users, i, v)
		if (counts(json_string_value(v), settings))
			json_array_append_new(
				subjects,
				json_pack("{s:s,s:s,s:o}", "kind", "User", "apiGroup", RBAC_GROUP, "name",
					  jsonx_stringn(json_string_value(v), strcspn(json_string_value(v), "@"))));
	return subjects;
}

static int keep_binding(struct api *api, const char *name, const char *role, json_t *subjects, struct err *e)
{
	struct stored_kind k = { .group = RBAC_GROUP, .version = "v1", .plural = "clusterrolebindings" };
	json_auto_t *old = NULL;
	json_auto_t *want =
		json_pack("{s:{s:s},s:{s:s,s:s,s:s},s:o}", "metadata", "name", name, "roleRef", "apiGroup", RBAC_GROUP,
			  "kind", "ClusterRole", "name", role, "subjects", json_incref(subjects));

	if (stored_get(api, &k, "", name, &old, e) < 0) {
		if (e->kind != ERR_NOT_FOUND)
			return -1;
		err_clear(e);
	}
	if (!json_array_size(subjects))
		return old ? stored_write(api, &k, VERB_DELETE, "", name, NULL, e) : 0;
	if (!old)
		return stored_write(api, &k, VERB_CREATE, "", NULL, want, e);
	if (jsonx_equal(json_object_get(old, "subjects"), subjects))
		return 0;
	return stored_write(api, &k, VERB_UPDATE, "", name, want, e);
}

static int keep_roles(struct api *api, struct err *e)
{
	const json_t *settings;

	if (pbs_server_settings(api, &settings, e) < 0)
		return -1;
	for (size_t i = 0; i < ARRAY_SIZE(roles); i++) {
		json_auto_t *subjects = subjects_of(json_object_get(settings, roles[i].field), settings);

		if (keep_binding(api, roles[i].binding, roles[i].role, subjects, e) < 0)
			return err_prefix(e, "clusterrolebinding %s", roles[i].binding);
	}
	return 0;
}

int pbs_start(struct pbs *p, struct err *e)
{
	if (pbs_board_load(p->board, e) < 0)
		return err_prefix(e, "reading PBS jobs");
	p->started = true;
	return keep_roles(p->api, e);
}

/* ---- writes ---- */

json_t *pbs_own_host(void)
{
	char name[256];

	if (gethostname(name, sizeof(name) - 1) < 0)
		name[0] = '\0';
	name[sizeof(name) - 1] = '\0';
	name[strcspn(name, ".")] = '\0';
	return jsonx_string(*name ? name : "localhost");
}

int pbs_admit_server(struct api *api, const struct api_request *req, json_t *obj, const json_t *old, struct err *e)
{
	static const char *const guarded[] = { "mailCommand", "hostRoots", "readOnlyRoots" };
	json_t *spec = json_object_get(obj, "spec");
	const json_t *was = json_object_get(old, "spec");

	(void)api;
	if (!spec || spec == was)
		return 0;
	if (!*jsonx_str_or(spec, "serverName", ""))
		json_object_set_new(spec, "serverName", pbs_own_host());
	for (size_t i = 0; was && i < ARRAY_SIZE(guarded); i++)
		if (!pbs_is_admin(req->caller) &&
		    !jsonx_equal(json_object_get(spec, guarded[i]), json_object_get(was, guarded[i])))
			return err_set(e, ERR_FORBIDDEN,
				       "pbsservers.stoker.dev \"" SERVER_NAME "\" is forbidden: spec.%s is changed by "
				       "admins only: it says what the server itself runs or shows of the host",
				       guarded[i]);
	return 0;
}

void pbs_server_written(struct api *api, const json_t *obj, const json_t *old)
{
	struct pbs *p = api_pbs(api);
	const json_t *next = jsonx_at(obj, "spec.nextJobNumber");
	struct err e = ERR_INIT;

	json_decref(p->settings);
	p->settings = NULL;
	turn_guard_watch(&p->guard, api_store(api));
	if (json_is_integer(next) && !jsonx_equal(next, jsonx_at(old, "spec.nextJobNumber")) &&
	    pbs_number_set(api, json_integer_value(next), &e) < 0)
		log_warn("set the number of the next PBS job: %s, ignoring", e.text);
	if (!p->started)
		return; /* the bootstrap: pbs_start() follows */
	if (keep_roles(api, &e) < 0)
		log_warn("keep the roles of PBS managers and operators: %s, ignoring", e.text);
}

/* Refuses what an operator changes beside these, and status, which is written by others. */
static int keep_operator_to(struct api *api, const struct api_request *req, const json_t *obj, const json_t *old,
			    const char *const paths[2], const char *names, struct err *e)
{
	json_auto_t *left = NULL;
	json_auto_t *was = NULL;

	if (!old || req->caller == &caller_system || pbs_is_manager(api, req->caller) ||
	    !pbs_is_operator(api, req->caller))
		return 0;
	left = jsonx_copy(obj);
	was = jsonx_copy(old);
	for (int i = 0; i < 2; i++) {
		json_t *one = i ? was : left;

		jsonx_del(one, paths[0]);
		jsonx_del(one, paths[1]);
		jsonx_del(one, "metadata.managedFields");
	}
	if (jsonx_equal(json_object_get(left, "metadata"), json_object_get(was, "metadata")) &&
	    jsonx_equal(json_object_get(left, "spec"), json_object_get(was, "spec")))
		return 0;
	return err_set(e, ERR_FORBIDDEN,
		       "%s \"%.253s\" is forbidden: operators change %s only: "
		       "PBS 15007: Unauthorized Request  MSG=operation not permitted",
		       req->kind->plural, jsonx_str_or(obj, "metadata.name", ""), names);
}

int pbs_admit_node(struct api *api, const struct api_request *req, json_t *obj, const json_t *old, struct err *e)
{
	static const char *const paths[2] = { "spec.unschedulable", "metadata.annotations" };

	return keep_operator_to(api, req, obj, old, paths, "spec.unschedulable and annotations", e);
}

int pbs_admit_queue(struct api *api, const struct api_request *req, json_t *obj, const json_t *old, struct err *e)
{
	static const char *const paths[2] = { "spec.enabled", "spec.started" };

	return keep_operator_to(api, req, obj, old, paths, "spec.enabled and spec.started", e);
}
