// SPDX-License-Identifier: Apache-2.0
/* authn_jwt.c - service-account tokens: made by TokenRequest, verified on the way in
 *
 * A token names its service account by uid, and the pod or secret it was made for, so it ends with any of them even
 * though it cannot be recalled.
 */
#include "api/authn_parts.h"

#include "base/clock.h"
#include "base/jsonx.h"
#include "base/limits.h"
#include "base/mem.h"

/* Objects a token may be bound to. */
static const struct bound_kind {
	const char *kind;  /* in boundObjectRef */
	const char *claim; /* in the token */
	enum authn_kind stored;
} bound_kinds[] = {
	{ "Pod", "pod", AUTHN_POD },
	{ "Secret", "secret", AUTHN_SECRET },
};

/* --- verify --- */

/* 0 if ns/name exists, is not going, and has this uid. */
static int check_exists(struct authn *a, enum authn_kind kind, const char *ns, const json_t *ref, struct verified *v,
			struct err *e)
{
	struct stored_kind *k = &a->kinds[kind];
	const char *name = jsonx_str_or(ref, "name", "");
	json_auto_t *obj = NULL;

	if (stored_get(a->api, k, ns, name, &obj, e) < 0)
		return e->kind == ERR_NOT_FOUND ? err_set(e, ERR_UNAUTHORIZED, "Unauthorized") : -1;
	if (!str_same(jsonx_str(obj, "metadata.uid"), jsonx_str(ref, "uid")) || !authn_still_there(obj, clock_wall()))
		return err_set(e, ERR_UNAUTHORIZED, "Unauthorized");
	verified_depends(v, k->number, ns, name);
	return 0;
}

static int check_objects(struct authn *a, const json_t *bound, struct verified *v, struct err *e)
{
	const char *ns = jsonx_str_or(bound, "namespace", "");

	if (check_exists(a, AUTHN_ACCOUNT, ns, json_object_get(bound, "serviceaccount"), v, e) < 0)
		return -1;
	for (size_t i = 0; i < ARRAY_SIZE(bound_kinds); i++) {
		const json_t *ref = json_object_get(bound, bound_kinds[i].claim);

		if (ref && check_exists(a, bound_kinds[i].stored, ns, ref, v, e) < 0)
			return -1;
	}
	return 0;
}

static struct identity *claims_identity(const json_t *claims)
{
	const json_t *bound = json_object_get(claims, "kubernetes.io");
	auto_free char *in_ns = xasprintf("system:serviceaccounts:%s", jsonx_str_or(bound, "namespace", ""));
	struct identity *id = identity_new(jsonx_str(claims, "sub"), jsonx_str_or(bound, "serviceaccount.uid", ""));
	auto_free char *jti = xasprintf("JTI=%s", jsonx_str_or(claims, "jti", ""));

	identity_add_group(id, "system:serviceaccounts");
	identity_add_group(id, in_ns);
	identity_add_group(id, GROUP_AUTHENTICATED);
	identity_add_extra(id, "authentication.kubernetes.io/credential-id", jti);
	if (json_object_get(bound, "pod")) {
		identity_add_extra(id, "authentication.kubernetes.io/pod-name", jsonx_str_or(bound, "pod.name", ""));
		identity_add_extra(id, "authentication.kubernetes.io/pod-uid", jsonx_str_or(bound, "pod.uid", ""));
	}
	return id;
}

int authn_verify_jwt(struct authn *a, struct str token, struct verified *ret, struct err *e)
{
	auto_sbuf struct sbuf text = SBUF(LIMIT_HEADERS);
	json_auto_t *claims = NULL;
	struct err unreadable = ERR_INIT;
	struct verified v = { 0 };

	if (!pki_verify_jwt(api_pki(a->api), token, &text) || text.over ||
	    jsonx_parse(text.p ? text.p : "", text.n, NULL, NULL, &claims, &unreadable) < 0 ||
	    token_check_claims(claims, clock_wall()))
		return err_set(e, ERR_UNAUTHORIZED, "Unauthorized");
	if (check_objects(a, json_object_get(claims, "kubernetes.io"), &v, e) < 0) {
		verified_done(&v);
		return -1;
	}
	v.id = claims_identity(claims);
	v.audiences = json_incref(json_object_get(claims, "aud"));
	v.expires = jsonx_int_or(claims, "exp", 0);
	*ret = v;
	return 0;
}

/* --- issue --- */

static const struct bound_kind *find_bound_kind(const char *kind)
{
	for (size_t i = 0; i < ARRAY_SIZE(bound_kinds); i++)
		if (streq(bound_kinds[i].kind, kind))
			return &bound_kinds[i];
	return NULL;
}

static int check_bound_object(const json_t *obj, const json_t *ref, const char *sa_name, struct err *e)
{
	const char *want = jsonx_str_or(ref, "uid", "");
	const char *account = jsonx_str(obj, "spec.serviceAccountName");

	if (*want && !str_same(jsonx_str(obj, "metadata.uid"), want))
		return err_set(
			e, ERR_CONFLICT,
			"the UID in the bound object reference (%s) does not match the UID in record. The object "
			"might have been deleted and then recreated",
			want);
	if (streq(jsonx_str_or(ref, "kind", ""), "Pod") && !str_same(account, sa_name))
		return err_set(e, ERR_BAD_REQUEST,
			       "cannot bind token for serviceaccount \"%s\" to pod running with different "
			       "serviceaccount name.",
			       sa_name);
	return 0;
}

/* Adds {"pod":{"name","uid"}} or the like to the claims. */
static int bind_claims(struct authn *a, const char *ns, const char *sa_name, const json_t *ref, json_t *bound,
		       struct err *e)
{
	const char *name = jsonx_str_or(ref, "name", "");
	const struct bound_kind *b = find_bound_kind(jsonx_str_or(ref, "kind", ""));
	json_auto_t *obj = NULL;

	if (!b)
		return err_set(e, ERR_BAD_REQUEST, "cannot bind token to object of type %s, Kind=%s",
			       jsonx_str_or(ref, "apiVersion", ""), jsonx_str_or(ref, "kind", ""));
	if (stored_get(a->api, &a->kinds[b->stored], ns, name, &obj, e) < 0) {
		if (e->kind != ERR_NOT_FOUND)
			return -1;
		return err_set(e, ERR_NOT_FOUND, "%s \"%s\" not found", a->kinds[b->stored].plural, name);
	}
	if (check_bound_object(obj, ref, sa_name, e) < 0)
		return -1;
	json_object_set_new(bound, b->claim,
			    json_pack("{s:s,s:s}", "name", name, "uid", jsonx_str_or(obj, "metadata.uid", "")));
	return 0;
}

int authn_issue_token(struct authn *a, const char *ns, const char *sa_name, const char *sa_uid, json_t *spec,
		      struct sbuf *out, int64_t *ret_expires, struct err *e)
{
	const json_t *ref = jsonx_at(spec, "boundObjectRef");
	json_auto_t *bound =
		json_pack("{s:s,s:{s:s,s:s}}", "namespace", ns, "serviceaccount", "name", sa_name, "uid", sa_uid);
	json_auto_t *claims = NULL;
	auto_sbuf struct sbuf text = SBUF(LIMIT_BODY);
	char jti[37];
	int64_t now = clock_wall();
	int64_t until = now + jsonx_int_or(spec, "expirationSeconds", 0);

	if (json_is_object(ref) && bind_claims(a, ns, sa_name, ref, bound, e) < 0)
		return -1;
	if (!json_array_size(json_object_get(spec, "audiences")))
		json_object_set_new(spec, "audiences", json_pack("[s]", API_AUDIENCE));
	*ret_expires = until;
	if (!out)
		return 0;
	crypto_uuid(jti);
	claims = json_pack("{s:s,s:o,s:I,s:I,s:I,s:s,s:O,s:O}", "iss", API_AUDIENCE, "sub",
			   jsonx_stringf(SERVICE_ACCOUNT "%s:%s", ns, sa_name), "exp", (json_int_t)until, "iat",
			   (json_int_t)now, "nbf", (json_int_t)now, "jti", jti, "kubernetes.io", bound, "aud",
			   json_object_get(spec, "audiences"));
	jsonx_dump(claims, &text);
	pki_sign_jwt(api_pki(a->api), sbuf_str(&text), out);
	return 0;
}
