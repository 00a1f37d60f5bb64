// SPDX-License-Identifier: Apache-2.0
/* pbs_launch.c - see pbs_launch.h
 *
 * The objects are made one after the other, and what is there already is left as it is: an administrator may have made
 * them with other rights.  What failed is tried again with the next look at the job.
 */
#include "control/pbs_launch.h"

#include "base/jsonx.h"
#include "base/log.h"
#include "base/map.h"
#include "base/mem.h"

#define RBAC "rbac.authorization.k8s.io"

/* A namespace. */
struct place {
	struct pbs_launch *launch;
	char *ns, *key; /* key: of the last job that asked */
	char *why;      /* or NULL */
	size_t next;    /* object; PBS_LAUNCH_OBJECTS: all are there */
	bool told;      /* why */
	bool busy;      /* an answer is to come */
	bool doomed;    /* and frees this */
};

struct pbs_launch {
	struct client *client;
	char *account;
	void (*look)(void *arg, const char *key);
	void *arg;
	struct map places; /* namespace -> struct place */
};

static void place_done(struct place *p)
{
	free(p->ns);
	free(p->key);
	free(p->why);
	free(p);
}

/* An answer that is still to come finds it. */
static void place_free(void *v)
{
	struct place *p = v;

	if (p->busy)
		p->doomed = true;
	else
		place_done(p);
}

struct pbs_launch *pbs_launch_new(struct client *c, const char *account, void (*look)(void *arg, const char *key),
				  void *arg)
{
	struct pbs_launch *l = xcalloc(1, sizeof(*l));

	*l = (struct pbs_launch){ .client = c, .account = xstrdup(account), .look = look, .arg = arg };
	map_init(&l->places, place_free);
	return l;
}

void pbs_launch_free(struct pbs_launch *l)
{
	if (!l)
		return;
	map_done(&l->places);
	free(l->account);
	free(l);
}

const char *pbs_launch_account(const struct pbs_launch *l)
{
	return l->account;
}

json_t *pbs_launch_object(size_t i, const char *ns, const char *account, struct ref *ret_ref)
{
	static const struct {
		const char *version, *kind, *plural;
	} kinds[PBS_LAUNCH_OBJECTS] = {
		{ "v1", "ServiceAccount", "serviceaccounts" },
		{ RBAC "/v1", "Role", "roles" },
		{ RBAC "/v1", "RoleBinding", "rolebindings" },
	};
	json_t *obj = json_pack("{s:s, s:s, s:{s:s, s:s}}", "apiVersion", kinds[i].version, "kind", kinds[i].kind,
				"metadata", "name", account, "namespace", ns);

	*ret_ref = (struct ref){ .api_version = kinds[i].version, .plural = kinds[i].plural, .ns = ns };
	/* A WebSocket begins with GET. */
	if (i == 1)
		json_object_set_new(obj, "rules",
				    json_pack("[{s:[s], s:[s], s:[s, s]}]", "apiGroups", "", "resources", "pods/exec",
					      "verbs", "create", "get"));
	if (i == 2) {
		json_object_set_new(
			obj, "subjects",
			json_pack("[{s:s, s:s, s:s}]", "kind", "ServiceAccount", "name", account, "namespace", ns));
		json_object_set_new(obj, "roleRef",
				    json_pack("{s:s, s:s, s:s}", "apiGroup", RBAC, "kind", "Role", "name", account));
	}
	return obj;
}

static void make_next(struct place *p);

static void on_made(void *arg, const json_t *obj, const struct err *e)
{
	struct place *p = arg;
	struct pbs_launch *l = p->launch;

	(void)obj;
	p->busy = false;
	if (p->doomed) {
		place_done(p);
		return;
	}
	p->told = false;
	free(TAKE(p->why));
	if (e->kind != ERR_NONE && e->kind != ERR_EXISTS) {
		p->why = xasprintf("the service account %s of its pods cannot be made: %s", l->account, e->text);
		log_warn("namespace %s: %s", p->ns, p->why);
		l->look(l->arg, p->key);
		return;
	}
	p->next++;
	make_next(p);
}

static void make_next(struct place *p)
{
	struct pbs_launch *l = p->launch;
	json_auto_t *obj = NULL;
	struct ref ref;

	if (p->next == PBS_LAUNCH_OBJECTS) {
		l->look(l->arg, p->key);
		return;
	}
	obj = pbs_launch_object(p->next, p->ns, l->account, &ref);
	p->busy = true;
	l->client->ops->create(l->client, &ref, obj, on_made, p);
}

bool pbs_launch_ready(struct pbs_launch *l, const char *ns, const char *key, const char **ret_why)
{
	struct place *p = map_find(&l->places, ns);

	if (!p) {
		p = xcalloc(1, sizeof(*p));
		*p = (struct place){ .launch = l, .ns = xstrdup(ns) };
		map_set(&l->places, ns, p);
	}
	*ret_why = p->why;
	if (p->next == PBS_LAUNCH_OBJECTS)
		return true;
	free(p->key);
	p->key = xstrdup(key);
	if (p->busy)
		return false;
	/* What has failed is told once, and tried again with the next look. */
	if (p->why && !p->told)
		p->told = true;
	else
		make_next(p);
	return false;
}
