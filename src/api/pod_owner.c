// SPDX-License-Identifier: Apache-2.0
/* pod_owner.c - see pod_owner.h
 *
 * Controllers are parts of the server and could make any pod.  So what they make pods from carries the name of its last
 * writer who is no admin, and passes it on: to the ReplicaSet of a Deployment, to the Job of a CronJob, to the pod.  It
 * stays on an object that an admin changes later, because what it asks for may still be the user's wish.  A pod whose
 * controller is gone in the meantime is refused: nobody can tell any more whose it would be.
 */
#include "api/pod_owner.h"

#include "api/accounts.h"
#include "api/pbs.h"
#include "api/pod_rights.h"
#include "api/stored.h"
#include "api/verbs.h"
#include "base/jsonx.h"
#include "base/mem.h"
#include "kinds/pod_security.h"
#include "kinds/pod_templates.h"
#include "kinds/queue.h"

static bool is_admin(const struct caller *c)
{
	return caller_in_group(c, "system:masters");
}

static const char *annotation(const json_t *obj, const char *key)
{
	return json_string_value(json_object_get(jsonx_at(obj, "metadata.annotations"), key));
}

/* NULL takes it away; a map that was not there and would be empty is not made. */
static void set_annotation(json_t *obj, const char *key, const char *value)
{
	json_t *map = jsonx_at(obj, "metadata.annotations");

	if (value && !json_is_object(map)) {
		map = json_object();
		jsonx_set_new(obj, "metadata.annotations", map);
	}
	if (value)
		json_object_set_new(map, key, jsonx_string(value));
	else
		json_object_del(map, key);
}

/* ---- whose it is ---- */

static int namespace_owner(struct api *api, const char *ns, char **ret, struct err *e)
{
	const json_t *namespace = NULL;
	const char *owner;

	if (stored_namespace(api, ns, &namespace, e) < 0)
		return -1;
	owner = annotation(namespace, OWNER_ANNOTATION);
	*ret = owner && *owner ? xstrdup(owner) : NULL;
	return 0;
}

const json_t *pod_owner_controller(const json_t *obj)
{
	json_t *ref;
	size_t i;

	json_array_foreach (jsonx_at(obj, "metadata.ownerReferences"), i, ref)
		if (jsonx_bool_or(ref, "controller", false))
			return ref;
	return NULL;
}

const struct kind *pod_owner_controller_kind(struct api *api, const json_t *ref)
{
	const char *api_version = jsonx_str_or(ref, "apiVersion", "");
	const char *slash = strchr(api_version, '/');
	auto_free char *group = xstrndup(api_version, slash ? (size_t)(slash - api_version) : 0);

	return registry_find_kind(api_registry(api), group, slash ? slash + 1 : api_version,
				  jsonx_str_or(ref, "kind", ""));
}

/* The creator of a stored object that must have the uid: a new text, or NULL for an admin.  False if it is another. */
static bool read_creator(struct str body, const char *uid, char **ret, struct err *e)
{
	auto_free char *mine = xasprintf("\"uid\":\"%s\"", uid);
	json_auto_t *doc = NULL;
	const char *creator;

	/* Most have no such mark, and a whole Job need not be decoded for each of its pods. */
	if (!memmem(body.p, body.n, mine, strlen(mine)))
		return false;
	if (!memmem(body.p, body.n, CREATOR_ANNOTATION, strlen(CREATOR_ANNOTATION)))
		return true;
	if (jsonx_parse(body.p, body.n, NULL, NULL, &doc, e) < 0 || !str_same(jsonx_str(doc, "metadata.uid"), uid))
		return false;
	creator = annotation(doc, CREATOR_ANNOTATION);
	*ret = creator && *creator ? xstrdup(creator) : NULL;
	return true;
}

/* The user in whose name the object's controller works, or NULL. */
static int controller_creator(struct api *api, const struct api_request *req, const json_t *obj, char **ret,
			      struct err *e)
{
	const json_t *ref = pod_owner_controller(obj);
	const struct kind *k = ref ? pod_owner_controller_kind(api, ref) : NULL;
	const char *name = jsonx_str_or(ref, "name", "");
	struct record r;
	int number;

	*ret = NULL;
	if (!k || !pod_templates_lead(k))
		return 0;
	if (api_store_kind(api, k, &number, e) < 0)
		return -1;
	if (store_get(api_store(api), number, req->ns, name, &r, e) == 0) {
		if (read_creator(r.body, jsonx_str_or(ref, "uid", ""), ret, e))
			return 0;
	} else if (e->kind != ERR_NOT_FOUND) {
		return -1;
	}
	return err_set(e, ERR_FORBIDDEN, "%s \"%.253s\" is forbidden: its controller, %s \"%.253s\", is gone",
		       req->kind->plural, jsonx_str_or(obj, "metadata.name", ""), k->kind, name);
}

/* The user whose pod it is, or NULL: an admin's. */
static int owner_of(struct api *api, const struct api_request *req, const json_t *pod, char **ret, struct err *e)
{
	if (namespace_owner(api, req->ns, ret, e) < 0)
		return -1;
	if (*ret)
		return 0;
	if (!is_admin(req->caller)) {
		*ret = xstrdup(req->caller->user);
		return 0;
	}
	return controller_creator(api, req, pod, ret, e);
}

/* ---- pods ---- */

void pod_owner_keep_notes(const struct caller *c, json_t *pod, const json_t *old)
{
	static const struct {
		const char *key;
		bool changes; /* by the server's own parts, once the pod is there */
		bool born;    /* they may say it from the start */
	} notes[] = {
		{ POD_UID_ANNOTATION, false, false },     { USER_ANNOTATION, false, false },
		{ GROUP_ANNOTATION, false, false },       { POD_GPUS_ANNOTATION, true, false },
		{ POD_CARDS_ANNOTATION, true, false },    { "stoker.dev/place", false, true },
		{ "stoker.dev/priority", false, true },   { "stoker.dev/run-now", false, true },
		{ POD_ROOTS_ANNOTATION, false, false },   { POD_IN_JOB_UID_ANNOTATION, false, false },
		{ "stoker.dev/containers", false, true }, { "stoker.dev/cput", true, true },
	};

	for (size_t i = 0; i < ARRAY_SIZE(notes); i++)
		if (!(old ? notes[i].changes : notes[i].born) || c != &caller_system)
			set_annotation(pod, notes[i].key, annotation(old, notes[i].key));
}

/* Borrowed from the settings. */
static int roots_of(struct api *api, struct pod_roots *ret, struct err *e)
{
	const json_t *pbs;

	if (pbs_server_settings(api, &pbs, e) < 0)
		return -1;
	*ret = (struct pod_roots){ .host = api_config(api)->host_roots,
				   .shared = json_object_get(pbs, "hostRoots"),
				   .readable = json_object_get(pbs, "readOnlyRoots") };
	return 0;
}

static int admit_new(struct api *api, const struct api_request *req, json_t *pod, struct err *e)
{
	auto_free char *user = NULL;
	auto_sbuf struct sbuf used = SBUF(4096);
	const struct account *acc;
	struct pod_roots roots;
	char uid[24];

	if (api_config(api)->pbs_abroad)
		return err_set(e, ERR_FORBIDDEN,
			       "pods are another cluster's here, and only PBS jobs become some: qsub -l image=NAME, or "
			       "kubectl on that cluster");
	pod_owner_keep_notes(req->caller, pod, NULL);
	if (owner_of(api, req, pod, &user, e) < 0)
		return -1;
	if (!user)
		return 0;
	acc = accounts_find(api_accounts(api), user, e);
	if (!acc || roots_of(api, &roots, e) < 0 || pod_rights_apply(acc, &roots, pod, e) < 0)
		return -1;
	pod_rights_roots_used(&roots, pod, &used);
	if (used.n)
		set_annotation(pod, POD_ROOTS_ANNOTATION, used.p);
	snprintf(uid, sizeof(uid), "%u", acc->uid);
	set_annotation(pod, POD_UID_ANNOTATION, uid);
	set_annotation(pod, USER_ANNOTATION, user);
	if (*acc->group)
		set_annotation(pod, GROUP_ANNOTATION, acc->group);
	return 0;
}

/* The account with whose rights the caller acts in the namespace into *ret; NULL for an admin's. */
static int acting_account(struct api *api, const struct api_request *req, const struct account **ret, struct err *e)
{
	auto_free char *user = NULL;

	*ret = NULL;
	if (namespace_owner(api, req->ns, &user, e) < 0)
		return -1;
	if (!user && is_admin(req->caller))
		return 0;
	*ret = accounts_find(api_accounts(api), user ? user : req->caller->user, e);
	return *ret ? 0 : -1;
}

static bool has_rights_of(const json_t *pod, const struct account *acc)
{
	const char *text = annotation(pod, POD_UID_ANNOTATION);
	int64_t uid = -1;

	return text && str_int64(text, 0, UINT32_MAX, &uid) && uid == (int64_t)acc->uid;
}

static int refuse(const json_t *pod, const struct account *acc, struct err *e)
{
	const char *uid = annotation(pod, POD_UID_ANNOTATION);

	return err_set(e, ERR_FORBIDDEN,
		       "pods \"%.253s\" is forbidden: it has the rights of %s%s, not of user \"%.63s\"",
		       jsonx_str_or(pod, "metadata.name", ""), uid ? "uid " : "an admin", uid ? uid : "", acc->name);
}

/* Another image or container runs with the rights that the pod has: only who has them, or an admin, may put it in. */
static int admit_changed(struct api *api, const struct api_request *req, json_t *pod, const json_t *old, struct err *e)
{
	const struct account *acc;
	struct pod_roots roots;

	if (acting_account(api, req, &acc, e) < 0 || roots_of(api, &roots, e) < 0)
		return -1;
	if (acc && has_rights_of(old, acc))
		return pod_rights_apply(acc, &roots, pod, e);
	return is_admin(req->caller) ? 0 : refuse(old, acc, e);
}

int pod_owner_admit(struct api *api, const struct api_request *req, json_t *obj, const json_t *old, struct err *e)
{
	if (!old)
		return admit_new(api, req, obj, e);
	pod_owner_keep_notes(req->caller, obj, old);
	if (req->subresource && !streq(req->subresource, "ephemeralcontainers"))
		return 0;
	if (!pod_security_concerned(json_object_get(obj, "spec"), json_object_get(old, "spec")))
		return 0;
	return admit_changed(api, req, obj, old, e);
}

/* ---- hands on a pod ---- */

static const char *extra(const struct caller *c, const char *key)
{
	return json_string_value(json_array_get(json_object_get(c->extra, key), 0));
}

static bool same_rights(const json_t *a, const json_t *b)
{
	const char *x = annotation(a, POD_UID_ANNOTATION);
	const char *y = annotation(b, POD_UID_ANNOTATION);

	return x && y ? streq(x, y) : !x && !y;
}

/* Is the caller a process of a pod that has the same rights?  So the launcher of an MPIJob reaches its workers. */
static bool is_sibling(struct api *api, const struct api_request *req, const json_t *pod)
{
	const char *name = extra(req->caller, "authentication.kubernetes.io/pod-name");
	auto_free char *group = xasprintf("system:serviceaccounts:%s", req->ns);
	json_auto_t *own = NULL;
	struct err e = ERR_INIT;

	return name && caller_in_group(req->caller, group) && verb_load(api, req->kind, req->ns, name, &own, &e) == 0 &&
	       str_same(jsonx_str(own, "metadata.uid"), extra(req->caller, "authentication.kubernetes.io/pod-uid")) &&
	       same_rights(own, pod);
}

int pod_owner_check_hands(struct api *api, const struct api_request *req, const json_t *pod, struct err *e)
{
	const struct account *acc;

	if (is_admin(req->caller) || is_sibling(api, req, pod))
		return 0;
	if (acting_account(api, req, &acc, e) < 0)
		return -1;
	return has_rights_of(pod, acc) ? 0 : refuse(pod, acc, e);
}

/* ---- what pods are made from ---- */

int pod_owner_mark(struct api *api, const struct api_request *req, json_t *obj, const json_t *old, struct err *e)
{
	auto_free char *inherited = NULL;
	const char *was = annotation(old, CREATOR_ANNOTATION);

	if (req->subresource || !pod_templates_lead(req->kind))
		return 0;
	if (!is_admin(req->caller)) {
		set_annotation(obj, CREATOR_ANNOTATION, req->caller->user);
		return 0;
	}
	if (was && !annotation(obj, CREATOR_ANNOTATION))
		set_annotation(obj, CREATOR_ANNOTATION, was);
	if (old)
		return 0;
	if (controller_creator(api, req, obj, &inherited, e) < 0)
		return -1;
	if (inherited)
		set_annotation(obj, CREATOR_ANNOTATION, inherited);
	return 0;
}

int pod_owner_of_workload(struct api *api, const char *ns, const json_t *obj, char **ret, struct err *e)
{
	const char *creator = annotation(obj, CREATOR_ANNOTATION);

	if (namespace_owner(api, ns, ret, e) < 0)
		return -1;
	if (!*ret && creator && *creator)
		*ret = xstrdup(creator);
	return 0;
}

int pod_owner_admit_namespace(struct api *api, const struct api_request *req, json_t *obj, const json_t *old,
			      struct err *e)
{
	const char *now = annotation(obj, OWNER_ANNOTATION);

	(void)api;
	if (is_admin(req->caller) || str_same(now, annotation(old, OWNER_ANNOTATION)))
		return 0;
	return err_set(e, ERR_FORBIDDEN,
		       "namespaces \"%.253s\" is forbidden: only an admin may change the annotation " OWNER_ANNOTATION,
		       jsonx_str_or(obj, "metadata.name", ""));
}
