// SPDX-License-Identifier: Apache-2.0
/* authn_text.c - what can be said about tokens and names without looking anything up; pure */
#include "api/authn_parts.h"

#include <strings.h>

#include "base/jsonx.h"
#include "base/mem.h"

#define MAX_TOKEN 16384 /* a JWT is about 1 KiB; far below LIMIT_HEADERS */

static bool is_jwt(struct str token)
{
	unsigned dots = 0;

	for (size_t i = 0; i < token.n; i++) {
		char c = token.p[i];
		bool base64url = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
				 c == '-' || c == '_';

		if (c == '.')
			dots++;
		else if (!base64url)
			return false;
	}
	return dots == 2;
}

/* Names of Token objects are DNS names, so the first '_' ends the name. */
static bool is_static(struct str token, struct str *ret_name)
{
	size_t prefix = strlen(TOKEN_PREFIX);
	struct str rest, name;

	if (token.n <= prefix || memcmp(token.p, TOKEN_PREFIX, prefix) != 0)
		return false;
	rest = (struct str){ token.p + prefix, token.n - prefix };
	if (!str_split(&rest, '_', &name) || !name.n || name.n > 253 || !rest.n)
		return false;
	for (size_t i = 0; i < name.n; i++) {
		char c = name.p[i];

		if (!((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '.'))
			return false;
	}
	*ret_name = name;
	return true;
}

enum token_form token_form(struct str token, struct str *ret_name)
{
	if (token.n > MAX_TOKEN)
		return TOKEN_BAD;
	if (is_static(token, ret_name))
		return TOKEN_STATIC;
	return is_jwt(token) ? TOKEN_JWT : TOKEN_BAD;
}

struct str token_of_header(const char *header)
{
	struct str rest = str_of(header), scheme;

	if (!header || !str_split(&rest, ' ', &scheme) || scheme.n != 6 || strncasecmp(scheme.p, "bearer", 6) != 0)
		return (struct str){ "", 0 };
	return rest.p ? str_trim(rest) : (struct str){ "", 0 };
}

bool token_service_account(const char *user, struct str *ret_ns, struct str *ret_name)
{
	struct str rest, ns;

	if (!str_starts(user, SERVICE_ACCOUNT))
		return false;
	rest = str_of(user + strlen(SERVICE_ACCOUNT));
	if (!str_split(&rest, ':', &ns) || !ns.n || !rest.n || memchr(rest.p, ':', rest.n))
		return false;
	*ret_ns = ns;
	*ret_name = rest;
	return true;
}

const char *token_check_claims(const json_t *claims, int64_t now)
{
	struct str ns, name;
	const json_t *bound = json_object_get(claims, "kubernetes.io");

	if (!str_same(jsonx_str(claims, "iss"), API_AUDIENCE))
		return "issued by someone else";
	if (!token_service_account(jsonx_str_or(claims, "sub", ""), &ns, &name))
		return "no service account";
	if (!str_eq(ns, jsonx_str_or(bound, "namespace", "")) ||
	    !str_eq(name, jsonx_str_or(bound, "serviceaccount.name", "")))
		return "subject and claims differ";
	if (!json_is_integer(json_object_get(claims, "exp")) || jsonx_int_or(claims, "exp", 0) <= now)
		return "expired";
	if (jsonx_int_or(claims, "nbf", 0) > now)
		return "not valid yet";
	return NULL;
}

static bool names(const json_t *given, const char *audience)
{
	if (json_is_string(given))
		return streq(json_string_value(given), audience);
	for (size_t i = 0; i < json_array_size(given); i++)
		if (str_same(json_string_value(json_array_get(given, i)), audience))
			return true;
	return false;
}

json_t *token_audiences(const json_t *given, const json_t *wanted)
{
	json_t *ret = json_array();

	if (!json_array_size(wanted)) {
		if (names(given, API_AUDIENCE))
			json_array_append_new(ret, json_string(API_AUDIENCE));
		return ret;
	}
	for (size_t i = 0; i < json_array_size(wanted); i++) {
		json_t *audience = json_array_get(wanted, i);

		if (json_is_string(audience) && names(given, json_string_value(audience)))
			json_array_append(ret, audience);
	}
	return ret;
}

void authn_user_namespace(const char *user, char out[USER_NAMESPACE_LEN])
{
	name_make_label(user, out);
}
