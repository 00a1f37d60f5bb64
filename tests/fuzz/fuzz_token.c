// SPDX-License-Identifier: Apache-2.0
/* fuzz_token.c - anything at all as an Authorization header, the claims of a token, a user name, an Impersonate header
 */
#include "api/authn_parts.h"
#include "base/jsonx.h"
#include "base/mem.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static void fuzz_headers(const char *text)
{
	auto_free char *extra = xasprintf("Impersonate-Extra-%s", text);
	struct impersonation i;

	impersonation_init(&i);
	impersonation_header(&i, text, "value");
	impersonation_header(&i, extra, text);
	impersonation_header(&i, "Impersonate-Group", text);
	impersonation_done(&i);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	auto_free char *text = xstrndup((const char *)data, n);
	json_auto_t *claims = NULL;
	json_auto_t *audiences = NULL;
	struct err e = ERR_INIT;
	char home[USER_NAMESPACE_LEN];
	struct str name = { "", 0 }, ns = { "", 0 };

	authn_user_namespace(text, home);
	fuzz_headers(text);
	token_form(token_of_header(text), &name);
	token_form((struct str){ (const char *)data, n }, &name);
	token_service_account(text, &ns, &name);
	if (jsonx_parse((const char *)data, n, NULL, NULL, &claims, &e) < 0)
		return 0;
	token_check_claims(claims, 1500);
	audiences = token_audiences(json_object_get(claims, "aud"), json_object_get(claims, "wanted"));
	return 0;
}
