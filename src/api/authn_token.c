// SPDX-License-Identifier: Apache-2.0
/* authn_token.c - bearer tokens: those of `stoker token`, and the cache in front of both kinds
 *
 * The store holds only the SHA-256 of a token, so a stolen database lets nobody in.  A verified token is remembered
 * under that same hash, and forgotten when it expires, when the object it hangs on changes, or after a minute: each
 * request then costs one hash instead of a signature.  Refused tokens are not remembered.
 */
#include "api/authn_parts.h"
#include "api/authz.h"

#include "base/clock.h"
#include "base/jsonx.h"
#include "base/mem.h"

#define MAX_CACHED   1024
#define KEEP_SECONDS 60
#define DELETE_GRACE 60 /* Kubernetes' leeway for tokens of objects under deletion */

struct cached_token {
	struct verified v;
	int64_t until;
};

void verified_done(struct verified *v)
{
	identity_free(v->id);
	json_decref(v->audiences);
	for (size_t i = 0; i < v->ndepends; i++) {
		free(v->depends[i].ns);
		free(v->depends[i].name);
	}
	*v = (struct verified){ 0 };
}

void verified_depends(struct verified *v, int kind, const char *ns, const char *name)
{
	if (v->ndepends < ARRAY_SIZE(v->depends))
		v->depends[v->ndepends++] = (struct token_depends){ kind, xstrdup(ns), xstrdup(name) };
}

static void free_cached(void *p)
{
	struct cached_token *c = p;

	verified_done(&c->v);
	free(c);
}

void authn_tokens_init(struct authn *a)
{
	map_init(&a->tokens, free_cached);
}

bool authn_still_there(const json_t *obj, int64_t now)
{
	const char *deleted = jsonx_str(obj, "metadata.deletionTimestamp");
	int64_t at;

	return !deleted || (clock_parse_rfc3339(deleted, &at) && at / 1000000 + DELETE_GRACE > now);
}

/* --- tokens of `stoker token` --- */

static void token_hash(struct str token, struct sbuf *hex)
{
	unsigned char sum[SHA256_LEN];

	crypto_sha256(token.p, token.n, sum);
	hex_encode(sum, sizeof(sum), hex);
}

static int unauthorized(struct err *e)
{
	return err_set(e, ERR_UNAUTHORIZED, "Unauthorized");
}

/* Absent: never.  Unreadable: long ago. */
static int64_t token_expires(const json_t *token)
{
	const char *text = jsonx_str(token, "spec.expires");
	int64_t micros;

	if (!text || !*text)
		return INT64_MAX;
	return clock_parse_rfc3339(text, &micros) ? micros / 1000000 : 0;
}

static struct identity *token_identity(const json_t *token)
{
	const json_t *groups = jsonx_at(token, "spec.groups");
	struct identity *id = identity_new(jsonx_str(token, "spec.user"), "");

	for (size_t i = 0; i < json_array_size(groups); i++)
		if (json_is_string(json_array_get(groups, i)))
			identity_add_group(id, json_string_value(json_array_get(groups, i)));
	identity_add_group(id, GROUP_AUTHENTICATED);
	return id;
}

static int verify_static(struct authn *a, struct str token, struct str name, struct verified *ret, struct err *e)
{
	struct stored_kind *k = &a->kinds[AUTHN_TOKEN];
	auto_free char *object = xstrndup(name.p, name.n);
	json_auto_t *stored = NULL;
	auto_sbuf struct sbuf hex = SBUF(SHA256_LEN * 2);
	const char *hash;

	if (stored_get(a->api, k, "", object, &stored, e) < 0)
		return e->kind == ERR_NOT_FOUND ? unauthorized(e) : -1;
	token_hash(token, &hex);
	hash = jsonx_str_or(stored, "spec.hash", "");
	if (strlen(hash) != hex.n || !crypto_same(hash, hex.p, hex.n))
		return unauthorized(e);
	if (token_expires(stored) <= clock_wall() || !*jsonx_str_or(stored, "spec.user", "") ||
	    jsonx_str(stored, "metadata.deletionTimestamp"))
		return unauthorized(e);
	*ret = (struct verified){ .id = token_identity(stored),
				  .audiences = json_pack("[s]", API_AUDIENCE),
				  .expires = token_expires(stored) };
	verified_depends(ret, k->number, "", object);
	return 0;
}

static int verify(struct authn *a, struct str token, struct verified *ret, struct err *e)
{
	struct str name;

	switch (token_form(token, &name)) {
	case TOKEN_STATIC:
		return verify_static(a, token, name, ret, e);
	case TOKEN_JWT:
		return authn_verify_jwt(a, token, ret, e);
	case TOKEN_BAD:
		break;
	}
	return unauthorized(e);
}

/* --- the cache --- */

/* Makes room: what has run out goes; if nothing has, all of it does, which is simple and rare. */
static void make_room(struct authn *a, int64_t now)
{
	size_t pos = 0;
	const char *key;
	void *value;

	if (a->tokens.n < MAX_CACHED)
		return;
	while (map_next(&a->tokens, &pos, &key, &value))
		if (((struct cached_token *)value)->until <= now)
			map_remove(&a->tokens, key);
	if (a->tokens.n >= MAX_CACHED)
		map_done(&a->tokens);
}

static void remember(struct authn *a, const char *key, struct verified *v, int64_t now)
{
	struct cached_token *c;

	/* What this turn has not committed may never have been. */
	if (store_dirty(api_store(a->api))) {
		verified_done(v);
		return;
	}
	make_room(a, now);
	c = xcalloc(1, sizeof(*c));
	c->v = *v;
	c->until = v->expires < now + KEEP_SECONDS ? v->expires : now + KEEP_SECONDS;
	map_set(&a->tokens, key, c);
}

int authn_bearer(struct authn *a, struct str token, struct identity **ret, struct err *e)
{
	auto_sbuf struct sbuf key = SBUF(SHA256_LEN * 2);
	struct cached_token *hit;
	struct verified v = { 0 };
	json_auto_t *audiences = NULL;
	int64_t now = clock_wall();

	token_hash(token, &key);
	hit = map_find(&a->tokens, key.p);
	if (hit && hit->until > now) {
		*ret = identity_ref(hit->v.id);
		return 0;
	}
	if (hit)
		map_remove(&a->tokens, key.p);
	if (verify(a, token, &v, e) < 0)
		return -1;
	audiences = token_audiences(v.audiences, NULL);
	if (!json_array_size(audiences)) {
		verified_done(&v);
		return unauthorized(e);
	}
	*ret = identity_ref(v.id);
	remember(a, key.p, &v, now);
	return 0;
}

static bool depends_on(const struct verified *v, const struct change *c)
{
	for (size_t i = 0; i < v->ndepends; i++) {
		const struct token_depends *d = &v->depends[i];

		if (d->kind == c->kind && streq(d->name, c->name) && streq(d->ns, c->ns))
			return true;
	}
	return false;
}

/* Only an end matters for what a token hangs on, but a Token itself may also change its owner or lifetime. */
void authn_tokens_changed(struct authn *a, const struct change *c)
{
	bool token = a->kinds[AUTHN_TOKEN].kind && a->kinds[AUTHN_TOKEN].number == c->kind;
	size_t pos = 0;
	const char *key;
	void *value;

	if (c->op != STORE_DELETED && !(token && c->op == STORE_UPDATED))
		return;
	while (map_next(&a->tokens, &pos, &key, &value))
		if (depends_on(&((struct cached_token *)value)->v, c))
			map_remove(&a->tokens, key);
}

/* --- reviews and admission --- */

static json_t *review_status(struct authn *a, const char *token, const json_t *wanted)
{
	struct verified v = { 0 };
	struct err e = ERR_INIT;
	json_t *audiences, *status;

	if (verify(a, str_of(token), &v, &e) < 0)
		return json_pack("{s:b,s:{},s:s}", "authenticated", 0, "user", "error",
				 e.kind == ERR_UNAUTHORIZED ? "invalid bearer token" : "token could not be checked");
	audiences = token_audiences(v.audiences, wanted);
	if (!json_array_size(audiences)) {
		json_decref(audiences);
		verified_done(&v);
		return json_pack("{s:b,s:{},s:s}", "authenticated", 0, "user", "error",
				 "token audiences do not match the requested ones");
	}
	status = json_pack("{s:b,s:o,s:o}", "authenticated", 1, "user", identity_user_info(v.id), "audiences",
			   audiences);
	verified_done(&v);
	return status;
}

void authn_review(struct authn *a, json_t *review)
{
	json_t *status = review_status(a, jsonx_str_or(review, "spec.token", ""), jsonx_at(review, "spec.audiences"));

	json_object_set_new(review, "status", status);
}

/* A token is lasting impersonation, so whoever may impersonate may also make one. */
static bool may_stand_for(struct authn *a, const struct caller *c, const char *resource, const char *name)
{
	struct authz_attributes at = { .verb = "impersonate", .group = "", .resource = resource, .name = name };

	return authz_allowed(api_authz(a->api), c, &at);
}

int authn_check_token_write(struct authn *a, const struct caller *c, const json_t *token, struct err *e)
{
	const char *name = jsonx_str_or(token, "metadata.name", "");
	const char *user = jsonx_str_or(token, "spec.user", "");
	const json_t *groups = jsonx_at(token, "spec.groups");
	bool account = str_starts(c->user, SERVICE_ACCOUNT) || streq(c->user, USER_ANONYMOUS);

	/* A service account's tokens end with it; one made here would outlive it. */
	if ((account || !streq(user, c->user)) && !may_stand_for(a, c, "users", user))
		return err_set(e, ERR_FORBIDDEN,
			       "tokens.stoker.dev \"%s\" is forbidden: user \"%s\" cannot make a token for user \"%s\"",
			       name, c->user, user);
	for (size_t i = 0; i < json_array_size(groups); i++) {
		const char *group = json_string_value(json_array_get(groups, i));

		if (!group || streq(group, GROUP_AUTHENTICATED) || caller_in_group(c, group) ||
		    may_stand_for(a, c, "groups", group))
			continue;
		return err_set(e, ERR_FORBIDDEN,
			       "tokens.stoker.dev \"%s\" is forbidden: user \"%s\" is not in group \"%s\"", name,
			       c->user, group);
	}
	return 0;
}
