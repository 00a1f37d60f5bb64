// SPDX-License-Identifier: Apache-2.0
/* authn.h - who are you: peer credential, client certificate, bearer token, service-account token, impersonation */
#ifndef STOKER_API_AUTHN_H
#define STOKER_API_AUTHN_H

#include "api/api.h"
#include "kinds/names.h"
#include "loop/http.h"

struct authn *authn_new(struct api *api);
void authn_free(struct authn *a);
/* Makes *ret (freed by identity_free) from the transport and the headers, impersonation included.  No credential
 * gives system:anonymous; a bad one is ERR_UNAUTHORIZED. */
struct identity;
int authn_identify(struct authn *a, struct http_request *req, struct identity **ret, struct err *e);
const struct caller *identity_caller(const struct identity *id);
/* Who it really was, when impersonating; else NULL. */
const char *identity_impersonator(const struct identity *id);
void identity_free(struct identity *id);
/* First use by a local user: makes the namespace of the user's name and the binding that lets its owner do anything in
 * it.  See authn_home.c for namespaces that are already there.  Does nothing for admins and for who came another way.
 */
int authn_ensure_namespace(struct authn *a, const struct caller *c, struct err *e);
/* An ordinary user who runs this server, and has come by its socket. */
bool authn_is_operator(const struct api *api, const struct caller *c);

/* A service-account token for TokenRequest, whose spec is valid and has its defaults but for the audience, which is
 * filled in: appends the JWT to `out`, or makes none if that is NULL.  *ret_expires in seconds since 1970. */
int authn_issue_token(struct authn *a, const char *ns, const char *sa_name, const char *sa_uid, json_t *spec,
		      struct sbuf *out, int64_t *ret_expires, struct err *e);
/* TokenReview: fills status of the review. */
void authn_review(struct authn *a, json_t *review);

/* Bearer tokens of `stoker token`: "stk_<name>_<secret>"; the object (stoker.dev/v1 Token, cluster scope) holds the
 * SHA-256 of the whole text in hex. */
#define TOKEN_PREFIX "stk_"
/* Before a Token is stored: who is no admin may make one only for oneself, with groups one is in. */
int authn_check_token_write(struct authn *a, const struct caller *c, const json_t *token, struct err *e);
/* The namespace a user name owns: lower case, anything that may not stand in a DNS label is '-'; "" if nothing is left.
 */
#define USER_NAMESPACE_LEN NAME_LABEL_LEN
void authn_user_namespace(const char *user, char out[USER_NAMESPACE_LEN]);

#endif
