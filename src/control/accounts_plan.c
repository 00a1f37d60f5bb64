// SPDX-License-Identifier: Apache-2.0
/* accounts_plan.c - see accounts_plan.h */
#include "control/accounts_plan.h"

#include "base/jsonx.h"
#include "base/limits.h"
#include "base/mem.h"

#define DESCRIPTION "kubernetes.io/description"
#define ACCOUNT     "kubernetes.io/service-account.name"
#define ACCOUNT_UID "kubernetes.io/service-account.uid"

/* Kubernetes' words: tools compare them. */
static const char root_ca_description[] =
	"Contains a CA bundle that can be used to verify the kube-apiserver when using internal endpoints such as the "
	"internal service IP or kubernetes.default.svc. No other usage is guaranteed across distributions of "
	"Kubernetes "
	"clusters.";

static const char *annotation(const json_t *obj, const char *key)
{
	const char *text = json_string_value(json_object_get(jsonx_at(obj, "metadata.annotations"), key));

	return text ? text : "";
}

static void annotate(json_t *obj, const char *key, const char *text)
{
	if (!json_is_object(jsonx_at(obj, "metadata.annotations")))
		jsonx_set_new(obj, "metadata.annotations", json_object());
	json_object_set_new(jsonx_at(obj, "metadata.annotations"), key, jsonx_string(text));
}

static bool is_going(const json_t *obj)
{
	return jsonx_at(obj, "metadata.deletionTimestamp") != NULL;
}

/* ---- namespaces ---- */

static bool is_right(const json_t *config_map, const char *ca_pem)
{
	const json_t *data = json_object_get(config_map, "data");

	return json_object_size(data) == 1 && !json_object_size(json_object_get(config_map, "binaryData")) &&
	       str_same(json_string_value(json_object_get(data, "ca.crt")), ca_pem) &&
	       *annotation(config_map, DESCRIPTION);
}

struct accounts_plan accounts_plan(const json_t *ns, const json_t *account, const json_t *config_map,
				   const char *ca_pem)
{
	struct accounts_plan p = { 0 };

	if (!ns || is_going(ns) || str_same(jsonx_str(ns, "status.phase"), "Terminating"))
		return p;
	p.make_account = !account;
	p.make_ca = ca_pem && !config_map;
	p.write_ca = ca_pem && config_map && !is_going(config_map) && !is_right(config_map, ca_pem);
	return p;
}

json_t *root_ca_config_map(const json_t *old, const char *ns, const char *ca_pem)
{
	json_t *map = old ? jsonx_copy(old) : json_pack("{s:{s:s, s:s}}", "metadata", "name", ROOT_CA, "namespace", ns);

	json_object_del(map, "binaryData");
	json_object_set_new(map, "data", json_pack("{s:o}", "ca.crt", jsonx_string(ca_pem)));
	if (!*annotation(map, DESCRIPTION))
		annotate(map, DESCRIPTION, root_ca_description);
	return map;
}

/* ---- secrets with tokens ---- */

const char *token_secret_account(const json_t *secret)
{
	return annotation(secret, ACCOUNT);
}

static json_t *base64(const char *text)
{
	auto_sbuf struct sbuf out = SBUF(LIMIT_OBJECT);

	base64_encode(text, strlen(text), &out);
	return jsonx_string(out.p ? out.p : "");
}

static bool holds(const json_t *secret, const char *key, const char *text)
{
	json_auto_t *want = base64(text);

	return json_equal(json_object_get(json_object_get(secret, "data"), key), want);
}

bool token_secret_has_token(const json_t *secret)
{
	return json_string_length(json_object_get(json_object_get(secret, "data"), "token")) > 0;
}

enum token_secret_act token_secret_plan(const json_t *secret, const json_t *account, const char *ca_pem)
{
	const char *uid = annotation(secret, ACCOUNT_UID);

	if (!secret || is_going(secret) || !str_same(jsonx_str(secret, "type"), TOKEN_SECRET_TYPE) ||
	    !*token_secret_account(secret))
		return TOKEN_SECRET_RIGHT;
	if (!account)
		return TOKEN_SECRET_ASK;
	if (*uid && !str_same(uid, jsonx_str(account, "metadata.uid")))
		return TOKEN_SECRET_REMOVE;
	if (*uid && token_secret_has_token(secret) &&
	    holds(secret, "namespace", jsonx_str_or(secret, "metadata.namespace", "")) &&
	    (!ca_pem || holds(secret, "ca.crt", ca_pem)))
		return TOKEN_SECRET_RIGHT;
	return TOKEN_SECRET_FILL;
}

json_t *token_secret_patch(const json_t *secret, const json_t *account, const char *token, const char *ca_pem)
{
	json_t *data = json_pack("{s:o}", "namespace", base64(jsonx_str_or(secret, "metadata.namespace", "")));

	if (token)
		json_object_set_new(data, "token", base64(token));
	if (ca_pem)
		json_object_set_new(data, "ca.crt", base64(ca_pem));
	return json_pack("{s:{s:s, s:s, s:{s:s}}, s:o}", "metadata", "uid", jsonx_str_or(secret, "metadata.uid", ""),
			 "resourceVersion", jsonx_str_or(secret, "metadata.resourceVersion", ""), "annotations",
			 ACCOUNT_UID, jsonx_str_or(account, "metadata.uid", ""), "data", data);
}
