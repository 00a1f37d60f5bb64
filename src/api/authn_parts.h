// SPDX-License-Identifier: Apache-2.0
/* authn_parts.h - what the files of authentication share
 *
 *	authn.c        the order of credentials, and the life of struct authn
 *	identity.c     one verified identity, counted
 *	authn_local.c  peer credential -> user and groups
 *	authn_token.c  bearer tokens: cache, `stoker token`, TokenReview
 *	authn_jwt.c    service-account tokens: verify and issue
 *	authn_home.c   a local user's own namespace
 *	impersonate.c  asking as someone else; impersonate_header.c reads the headers
 *	authn_text.c   the pure parts
 */
#ifndef STOKER_API_AUTHN_PARTS_H
#define STOKER_API_AUTHN_PARTS_H

#include "api/authn.h"
#include "api/stored.h"
#include "base/map.h"

#define GROUP_AUTHENTICATED   "system:authenticated"
#define GROUP_UNAUTHENTICATED "system:unauthenticated"
#define USER_ANONYMOUS        "system:anonymous"
#define API_AUDIENCE          "https://kubernetes.default.svc"
#define SERVICE_ACCOUNT       "system:serviceaccount:"

/* --- identity.c --- */
struct identity *identity_new(const char *user, const char *uid);
struct identity *identity_ref(struct identity *id);
/* Once each. */
void identity_add_group(struct identity *id, const char *group);
void identity_add_extra(struct identity *id, const char *key, const char *value);
void identity_set_impersonator(struct identity *id, const char *user);
void identity_set_local(struct identity *id);
/* {"username","uid","groups","extra"}, a new reference. */
json_t *identity_user_info(const struct identity *id);

/* --- authn_text.c --- */
enum token_form { TOKEN_BAD, TOKEN_STATIC, TOKEN_JWT };
/* By its looks; a static one's name goes to *ret_name. */
enum token_form token_form(struct str token, struct str *ret_name);
/* The token of an Authorization header, empty if it is no bearer. */
struct str token_of_header(const char *header);
/* "system:serviceaccount:NS:NAME" taken apart; false if it is not one. */
bool token_service_account(const char *user, struct str *ret_ns, struct str *ret_name);
/* Issuer, times and form of a JWT's claims; NULL or why not. */
const char *token_check_claims(const json_t *claims, int64_t now);
/* Those of `wanted` (NULL: the API's own) that are among `given` (a text or an array): a new array. */
json_t *token_audiences(const json_t *given, const json_t *wanted);

/* --- authn_local.c --- */
#define UID_SLOTS 64
struct uid_slot {
	uid_t uid;
	int64_t until_ms;
	struct identity *id;
};
/* Borrowed until the next call. */
int authn_local_identity(struct authn *a, uid_t uid, struct identity **ret, struct err *e);

/* --- authn_token.c, authn_jwt.c --- */
/* An object whose end is the token's end. */
struct token_depends {
	int kind;
	char *ns, *name;
};
struct verified {
	struct identity *id;
	json_t *audiences;
	int64_t expires; /* seconds since 1970; INT64_MAX: never */
	struct token_depends depends[2];
	size_t ndepends;
};
void authn_tokens_init(struct authn *a);
void verified_done(struct verified *v);
void verified_depends(struct verified *v, int kind, const char *ns, const char *name);
/* Signature, claims, and that what it speaks of still exists. */
int authn_verify_jwt(struct authn *a, struct str token, struct verified *ret, struct err *e);
/* An object that is being deleted for longer than a minute counts as gone, as in Kubernetes. */
bool authn_still_there(const json_t *obj, int64_t now);
/* The identity of a request's bearer token, by the cache where possible; a new reference. */
int authn_bearer(struct authn *a, struct str token, struct identity **ret, struct err *e);
void authn_tokens_changed(struct authn *a, const struct change *c);

/* --- authn_home.c --- */
void authn_homes_changed(struct authn *a, const struct change *c);

/* --- impersonate.c, impersonate_header.c --- */
struct impersonation {
	bool asked;
	const char *user, *uid; /* borrowed from the headers */
	struct identity *rest;  /* groups and extra */
};
void impersonation_init(struct impersonation *i);
void impersonation_done(struct impersonation *i);
/* One header; those that are not about impersonation are ignored. */
void impersonation_header(struct impersonation *i, const char *name, const char *value);
/* Checks that the caller may, and makes the new identity. */
int authn_impersonate(struct authn *a, const struct identity *real, const struct impersonation *i,
		      struct identity **ret, struct err *e);

enum authn_kind {
	AUTHN_TOKEN,
	AUTHN_ACCOUNT,
	AUTHN_POD,
	AUTHN_SECRET,
	AUTHN_NAMESPACE,
	AUTHN_BINDING,
	AUTHN_KIND__COUNT
};

struct authn {
	struct api *api;
	struct identity *anonymous;
	struct uid_slot uids[UID_SLOTS];
	struct map tokens; /* hex SHA-256 -> struct cached_token */
	struct map homes;  /* users whose namespace is known to exist */
	struct stored_kind kinds[AUTHN_KIND__COUNT];
	struct store_subscriber subscriber;
};

#endif
