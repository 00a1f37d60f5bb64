// SPDX-License-Identifier: Apache-2.0
/* serviceaccount.c - ServiceAccount: as whom pods speak to the API */
#include "base/mem.h"
#include "kinds/cells.h"
#include "kinds/core.h"

static const struct field service_account_fields[] = {
	FIELDS_OBJECT,
	FL(2, "secrets", OBJECT, .msg = &core_object_reference, .merge_key = "name",
	   .doc = "Secrets that pods of the account may use."),
	FL(3, "imagePullSecrets", OBJECT, .msg = &core_local_object_reference,
	   .doc = "Secrets with passwords for image registries, given to the account's pods."),
	FP(4, "automountServiceAccountToken", BOOL, .doc = "Whether pods get a token unless they say otherwise."),
};
const struct message core_service_account =
	MESSAGE("io.k8s.api.core.v1.ServiceAccount", service_account_fields, .doc = "As whom pods speak to the API.");

static json_t *account_secrets(const json_t *obj, int64_t now)
{
	(void)now;
	return json_integer((json_int_t)json_array_size(json_object_get(obj, "secrets")));
}

static const struct column account_columns[] = {
	COLUMN_NAME,
	COLUMN("Secrets", "How many secrets the account has.", account_secrets),
	COLUMN_AGE,
};

static const struct subresource account_subresources[] = {
	{ "token", V(CREATE), "authentication.k8s.io", "v1", "TokenRequest" },
};

const struct kind kind_service_account = {
	.group = "",
	.version = "v1",
	.kind = "ServiceAccount",
	.plural = "serviceaccounts",
	.singular = "serviceaccount",
	.short_names = (const char *const[]){ "sa", NULL },
	.namespaced = true,
	.verbs = VERBS_ALL,
	.message = &core_service_account,
	.columns = account_columns,
	.ncolumns = ARRAY_SIZE(account_columns),
	.subresources = account_subresources,
	.nsubresources = ARRAY_SIZE(account_subresources),
};
