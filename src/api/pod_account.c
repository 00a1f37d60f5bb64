// SPDX-License-Identifier: Apache-2.0
/* pod_account.c - see pod_account.h
 *
 * Every namespace has the account "default", made by control/serviceaccounts.c right after the namespace.  A pod may
 * come before that: then the account is made here, in the pod's own transaction, so that nobody has to try again and
 * the node finds the account that the pod's token is for.
 *
 * Most accounts say nothing about pods, and their stored text shows it: it is decoded only if it might.
 */
#include "api/pod_account.h"

#include "api/object.h"
#include "api/stored.h"
#include "base/jsonx.h"
#include "base/mem.h"

#define DEFAULT_ACCOUNT "default"
#define TOKEN_DIR       "/var/run/secrets/kubernetes.io/serviceaccount"
#define VOLUME_PREFIX   "kube-api-access-"
#define TOKEN_SECONDS   3607 /* Kubernetes' hour, told apart from one that somebody asked for */
#define FILE_MODE       420  /* 0644 */

/* ---- the account ---- */

static bool says_something(struct str body)
{
	static const char *const words[] = { "\"imagePullSecrets\"", "\"automountServiceAccountToken\"" };

	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (memmem(body.p, body.n, words[i], strlen(words[i])))
			return true;
	return false;
}

static int make_default(struct api *api, const struct api_request *req, struct stored_kind *accounts, struct err *e)
{
	json_auto_t *body = json_pack("{s:{s:s, s:s}}", "metadata", "name", DEFAULT_ACCOUNT, "namespace", req->ns);

	if (req->dry_run)
		return 0;
	return stored_write(api, accounts, VERB_CREATE, req->ns, DEFAULT_ACCOUNT, body, e);
}

/* *ret (owned) stays NULL if the account has nothing to say. */
static int find_account(struct api *api, const struct api_request *req, const json_t *pod, json_t **ret, struct err *e)
{
	struct stored_kind accounts = { .group = "", .version = "v1", .plural = "serviceaccounts" };
	const char *name = jsonx_str_or(pod, "spec.serviceAccountName", DEFAULT_ACCOUNT);
	struct record r;

	if (stored_resolve(api, &accounts, e) < 0)
		return -1;
	if (store_get(api_store(api), accounts.number, req->ns, name, &r, e) == 0)
		return says_something(r.body) ? object_parse(r.body, ret, e) : 0;
	if (e->kind != ERR_NOT_FOUND)
		return -1;
	if (streq(name, DEFAULT_ACCOUNT)) {
		err_clear(e);
		return make_default(api, req, &accounts, e);
	}
	return err_set(e, ERR_FORBIDDEN,
		       "pods \"%.253s\" is forbidden: error looking up service account %.253s/%.253s: serviceaccount "
		       "\"%.253s\" not found",
		       object_asked_name(pod), req->ns, name, name);
}

/* ---- what it gives ---- */

static void give_pull_secrets(const json_t *account, json_t *spec)
{
	const json_t *secrets = json_object_get(account, "imagePullSecrets");

	if (json_array_size(secrets) && !json_array_size(json_object_get(spec, "imagePullSecrets")))
		json_object_set_new(spec, "imagePullSecrets", jsonx_copy(secrets));
}

static bool wants_token(const json_t *account, const json_t *spec)
{
	return jsonx_bool_or(spec, "automountServiceAccountToken",
			     jsonx_bool_or(account, "automountServiceAccountToken", true));
}

static json_t *token_volume(const char *name)
{
	json_t *token =
		json_pack("{s:{s:i, s:s}}", "serviceAccountToken", "expirationSeconds", TOKEN_SECONDS, "path", "token");
	json_t *ca = json_pack("{s:{s:s, s:[{s:s, s:s}]}}", "configMap", "name", "kube-root-ca.crt", "items", "key",
			       "ca.crt", "path", "ca.crt");
	json_t *ns = json_pack("{s:{s:[{s:s, s:{s:s, s:s}}]}}", "downwardAPI", "items", "path", "namespace", "fieldRef",
			       "apiVersion", "v1", "fieldPath", "metadata.namespace");

	return json_pack("{s:s, s:{s:[o,o,o], s:i}}", "name", name, "projected", "sources", token, ca, ns,
			 "defaultMode", FILE_MODE);
}

/* A pod copied from another has the volume of that one already. */
static const char *token_volume_of(const json_t *spec)
{
	json_t *volume;
	size_t i;

	json_array_foreach (json_object_get(spec, "volumes"), i, volume)
		if (str_starts(jsonx_str_or(volume, "name", ""), VOLUME_PREFIX))
			return jsonx_str(volume, "name");
	return NULL;
}

static json_t *list_of(json_t *obj, const char *field)
{
	json_t *list = json_object_get(obj, field);

	if (!json_is_array(list)) {
		list = json_array();
		json_object_set_new(obj, field, list);
	}
	return list;
}

static bool mounts_there(const json_t *container)
{
	json_t *mount;
	size_t i;

	json_array_foreach (json_object_get(container, "volumeMounts"), i, mount)
		if (str_same(jsonx_str(mount, "mountPath"), TOKEN_DIR))
			return true;
	return false;
}

static void give_token(const char *ns, json_t *spec)
{
	static const char *const lists[] = { "initContainers", "containers" };
	const char *known = token_volume_of(spec);
	auto_free char *account = xasprintf("%s/%s", ns, jsonx_str_or(spec, "serviceAccountName", DEFAULT_ACCOUNT));
	char suffix[OBJECT_SUFFIX_LEN];
	auto_free char *name = NULL;
	bool mounted = false;
	json_t *container;
	size_t k;

	/* One name an account: what pods have in common is kept once, in whatever holds many of them. */
	object_suffix_for(account, suffix);
	name = known ? xstrdup(known) : xasprintf(VOLUME_PREFIX "%s", suffix);
	for (size_t i = 0; i < ARRAY_SIZE(lists); i++)
		json_array_foreach (json_object_get(spec, lists[i]), k, container) {
			if (mounts_there(container))
				continue;
			json_array_append_new(
				list_of(container, "volumeMounts"),
				json_pack("{s:s, s:b, s:s}", "name", name, "readOnly", 1, "mountPath", TOKEN_DIR));
			mounted = true;
		}
	if (mounted && !known)
		json_array_append_new(list_of(spec, "volumes"), token_volume(name));
}

int pod_account_assign(struct api *api, const struct api_request *req, json_t *obj, const json_t *old, struct err *e)
{
	json_t *spec = json_object_get(obj, "spec");
	json_auto_t *account = NULL;

	if (old || req->subresource)
		return 0;
	if (find_account(api, req, obj, &account, e) < 0)
		return -1;
	give_pull_secrets(account, spec);
	if (wants_token(account, spec))
		give_token(req->ns, spec);
	return 0;
}
