// SPDX-License-Identifier: Apache-2.0
/* accounts_plan.h - what a namespace lacks before its pods can speak to the API, and what a token secret lacks.  Pure
 */
#ifndef STOKER_CONTROL_ACCOUNTS_PLAN_H
#define STOKER_CONTROL_ACCOUNTS_PLAN_H

#include <jansson.h>
#include <stdbool.h>

#define DEFAULT_ACCOUNT   "default"
#define ROOT_CA           "kube-root-ca.crt"
#define TOKEN_SECRET_TYPE "kubernetes.io/service-account-token"

struct accounts_plan {
	bool make_account, make_ca, write_ca;
};

/* Each may be NULL: not there.  Without `ca_pem`, which nobody here knows then, its ConfigMap is left alone. */
struct accounts_plan accounts_plan(const json_t *ns, const json_t *account, const json_t *config_map,
				   const char *ca_pem);
/* The ConfigMap as it shall be, made of `old` or of nothing. */
json_t *root_ca_config_map(const json_t *old, const char *ns, const char *ca_pem);

enum token_secret_act {
	TOKEN_SECRET_RIGHT, /* as it should be, or on its way out */
	TOKEN_SECRET_ASK,   /* its account is not known: it may just have been made */
	TOKEN_SECRET_FILL,
	TOKEN_SECRET_REMOVE, /* it is of an account that is gone */
};
/* What is to be done with a secret of TOKEN_SECRET_TYPE whose account is this one, or NULL. */
enum token_secret_act token_secret_plan(const json_t *secret, const json_t *account, const char *ca_pem);
/* The name of the account, "" if none. */
const char *token_secret_account(const json_t *secret);
/* The merge patch that fills it; a token that is there stays (token NULL). */
json_t *token_secret_patch(const json_t *secret, const json_t *account, const char *token, const char *ca_pem);
bool token_secret_has_token(const json_t *secret);

#endif
