// SPDX-License-Identifier: Apache-2.0
/* serviceaccounts.c - does what accounts_plan.c decides
 *
 * One queue, two kinds of keys: a namespace, which is given its account and its ConfigMap with the CA, and "ns/name" of
 * a secret that asks for a token of an account.  Such a token is an ordinary one, bound to the secret, with the longest
 * life there is: it ends with the secret or the account.
 *
 * An account that the cache does not have may be newer than the cache, and a secret is not removed for that: the API is
 * asked first.
 */
#include "control/serviceaccounts.h"

#include "base/jsonx.h"
#include "base/log.h"
#include "base/mem.h"
#include "control/accounts_plan.h"
#include "control/calls.h"
#include "control/workqueue.h"

#define TOKEN_SECONDS (1ll << 32) /* the most that may be asked for */

enum { FOLLOW_NAMESPACES, FOLLOW_ACCOUNTS, FOLLOW_MAPS, FOLLOW_SECRETS, FOLLOW__COUNT };

struct service_accounts {
	struct client *client;
	struct informer *informers[FOLLOW__COUNT];
	struct workqueue *queue;
	struct calls *calls;
};

/* ---- namespaces ---- */

/* Somebody else was quicker, or the namespace is on its way out: both are seen soon. */
static void on_made(void *arg, const struct answer *a)
{
	const struct err *e = a->e;
	bool going = e->ncauses && e->causes[0].kind == CAUSE_TERMINATING;

	(void)arg;
	if (e->kind != ERR_NONE && e->kind != ERR_EXISTS && e->kind != ERR_NOT_FOUND && e->kind != ERR_CONFLICT &&
	    !going)
		log_warn("give namespace=%s what its pods need: %s, trying again", a->key, e->text);
}

static void look_at_namespace(struct service_accounts *k, const char *ns)
{
	const char *ca = k->client->ca_pem;
	const json_t *map = informer_find(k->informers[FOLLOW_MAPS], ns, ROOT_CA);
	struct accounts_plan p =
		accounts_plan(informer_find(k->informers[FOLLOW_NAMESPACES], NULL, ns),
			      informer_find(k->informers[FOLLOW_ACCOUNTS], ns, DEFAULT_ACCOUNT), map, ca);
	struct ref maps = { .api_version = "v1", .plural = "configmaps", .ns = ns };

	if (p.make_account) {
		struct ref ref = { .api_version = "v1", .plural = "serviceaccounts", .ns = ns };
		json_auto_t *account =
			json_pack("{s:{s:s, s:s}}", "metadata", "name", DEFAULT_ACCOUNT, "namespace", ns);

		calls_create(k->calls, ns, &ref, account, on_made, NULL);
	}
	if (p.make_ca) {
		json_auto_t *obj = root_ca_config_map(NULL, ns, ca);

		calls_create(k->calls, ns, &maps, obj, on_made, NULL);
	} else if (p.write_ca) {
		json_auto_t *obj = root_ca_config_map(map, ns, ca);

		maps.name = ROOT_CA;
		calls_update(k->calls, ns, &maps, obj, on_made, NULL);
	}
}

/* ---- secrets ---- */

static void remove_secret(struct service_accounts *k, const char *key, const json_t *secret)
{
	struct ref ref = calls_ref("v1", "secrets", secret);
	json_auto_t *options = json_pack("{s:{s:s}}", "preconditions", "uid", jsonx_str_or(secret, "metadata.uid", ""));

	calls_remove(k->calls, key, &ref, options, NULL, NULL);
}

/* Both with {"secret", "account"}. */
static void write_secret(struct service_accounts *k, const char *key, const json_t *what, const char *token)
{
	const json_t *secret = json_object_get(what, "secret");
	struct ref ref = calls_ref("v1", "secrets", secret);
	json_auto_t *patch = token_secret_patch(secret, json_object_get(what, "account"), token, k->client->ca_pem);

	calls_patch(k->calls, key, &ref, "merge", patch, NULL, NULL);
}

static void on_token(void *arg, const struct answer *a)
{
	const char *token = jsonx_str(a->obj, "status.token");

	if (token && *token)
		write_secret(arg, a->key, a->what, token);
	else if (a->e->kind != ERR_NOT_FOUND)
		log_warn("get a token for secret=%s: %s, trying again", a->key, a->e->text);
}

static void fill_secret(struct service_accounts *k, const char *key, const json_t *secret, const json_t *account)
{
	struct ref ref = calls_ref("v1", "serviceaccounts", account);
	json_auto_t *what = json_pack("{s:O, s:O}", "secret", secret, "account", account);
	json_auto_t *request = NULL;

	if (token_secret_has_token(secret)) {
		write_secret(k, key, what, NULL);
		return;
	}
	ref.subresource = "token";
	request = json_pack("{s:s, s:s, s:{s:I, s:{s:s, s:s, s:s, s:s}}}", "apiVersion", "authentication.k8s.io/v1",
			    "kind", "TokenRequest", "spec", "expirationSeconds", (json_int_t)TOKEN_SECONDS,
			    "boundObjectRef", "apiVersion", "v1", "kind", "Secret", "name",
			    jsonx_str_or(secret, "metadata.name", ""), "uid", jsonx_str_or(secret, "metadata.uid", ""));
	calls_create(k->calls, key, &ref, request, on_token, what);
}

/* The account of a secret, when the cache did not have it: there after all, or not. */
static void on_account(void *arg, const struct answer *a)
{
	struct service_accounts *k = arg;

	if (a->e->kind == ERR_NOT_FOUND)
		remove_secret(k, a->key, a->what);
	else if (a->obj && token_secret_plan(a->what, a->obj, k->client->ca_pem) == TOKEN_SECRET_FILL)
		fill_secret(k, a->key, a->what, a->obj);
}

static void look_at_secret(struct service_accounts *k, const char *key, const char *ns, const char *name)
{
	const json_t *secret = informer_find(k->informers[FOLLOW_SECRETS], ns, name);
	const char *of = token_secret_account(secret);
	const json_t *account = informer_find(k->informers[FOLLOW_ACCOUNTS], ns, of);
	struct ref ref = { .api_version = "v1", .plural = "serviceaccounts", .ns = ns, .name = of };

	switch (token_secret_plan(secret, account, k->client->ca_pem)) {
	case TOKEN_SECRET_ASK:
		calls_get(k->calls, key, &ref, on_account, secret);
		break;
	case TOKEN_SECRET_FILL:
		fill_secret(k, key, secret, account);
		break;
	case TOKEN_SECRET_REMOVE:
		remove_secret(k, key, secret);
		break;
	case TOKEN_SECRET_RIGHT:
		break;
	}
}

/* ---- when ---- */

static void look(void *arg, const char *key)
{
	struct service_accounts *k = arg;
	auto_free char *ns = xstrdup(key);
	char *slash = strchr(ns, '/');

	if (calls_busy(k->calls, key))
		return; /* its answer brings the key back */
	if (!slash) {
		look_at_namespace(k, ns);
		return;
	}
	*slash = '\0';
	look_at_secret(k, key, ns, slash + 1);
}

static void on_idle(void *arg, const char *key, bool failed)
{
	struct service_accounts *k = arg;

	workqueue_written(k->queue, key, failed);
}

static void on_namespace(void *arg, const json_t *obj, const json_t *old)
{
	struct service_accounts *k = arg;

	/* Later changes of a namespace concern nobody here, but for its end, which asks for nothing. */
	if (obj && !old)
		workqueue_add(k->queue, jsonx_str_or(obj, "metadata.name", ""));
}

static void on_map(void *arg, const json_t *obj, const json_t *old)
{
	struct service_accounts *k = arg;

	workqueue_add(k->queue, jsonx_str_or(obj ? obj : old, "metadata.namespace", ""));
}

static void add_secret(struct service_accounts *k, const json_t *secret)
{
	auto_free char *key = xasprintf("%s/%s", jsonx_str_or(secret, "metadata.namespace", ""),
					jsonx_str_or(secret, "metadata.name", ""));

	workqueue_add(k->queue, key);
}

static void on_secret(void *arg, const json_t *obj, const json_t *old)
{
	(void)old;
	if (obj)
		add_secret(arg, obj);
}

static void on_account_change(void *arg, const json_t *obj, const json_t *old)
{
	struct service_accounts *k = arg;
	const char *ns = jsonx_str_or(obj ? obj : old, "metadata.namespace", "");
	const char *name = jsonx_str_or(obj ? obj : old, "metadata.name", "");
	const json_t *secret;
	size_t pos = 0;

	if (!obj && streq(name, DEFAULT_ACCOUNT))
		workqueue_add(k->queue, ns);
	/* It came, or it is another of the same name, or it went: its secrets are few. */
	if (obj && old && str_same(jsonx_str(obj, "metadata.uid"), jsonx_str(old, "metadata.uid")))
		return;
	while (k->informers[FOLLOW_SECRETS] && informer_next(k->informers[FOLLOW_SECRETS], &pos, &secret))
		if (str_same(jsonx_str(secret, "metadata.namespace"), ns) && streq(token_secret_account(secret), name))
			add_secret(k, secret);
}

static void on_synced(void *arg)
{
	struct service_accounts *k = arg;

	for (size_t i = 0; i < FOLLOW__COUNT; i++)
		if (!k->informers[i] || !informer_synced(k->informers[i]))
			return;
	workqueue_start(k->queue);
}

struct service_accounts *service_accounts_new(struct client *c)
{
	static const struct {
		const char *plural, *fields;
		void (*change)(void *arg, const json_t *obj, const json_t *old);
	} rows[FOLLOW__COUNT] = {
		[FOLLOW_NAMESPACES] = { "namespaces", NULL, on_namespace },
		[FOLLOW_ACCOUNTS] = { "serviceaccounts", NULL, on_account_change },
		[FOLLOW_MAPS] = { "configmaps", "metadata.name=" ROOT_CA, on_map },
		[FOLLOW_SECRETS] = { "secrets", "type=" TOKEN_SECRET_TYPE, on_secret },
	};
	struct service_accounts *k = xcalloc(1, sizeof(*k));

	k->client = c;
	k->queue = workqueue_new(c->loop, look, k);
	k->calls = calls_new(c, on_idle, k);
	for (size_t i = 0; i < FOLLOW__COUNT; i++)
		k->informers[i] = informer_new(c, &(struct ref){ .api_version = "v1", .plural = rows[i].plural },
					       &(struct list_options){ .fields = rows[i].fields },
					       &(struct informer_handlers){ rows[i].change, on_synced, k });
	return k;
}

void service_accounts_free(struct service_accounts *k)
{
	if (!k)
		return;
	for (size_t i = 0; i < FOLLOW__COUNT; i++)
		informer_free(k->informers[i]);
	calls_free(k->calls);
	workqueue_free(k->queue);
	free(k);
}

struct workqueue_counts service_accounts_counts(const struct service_accounts *k)
{
	return workqueue_counts(k->queue);
}
