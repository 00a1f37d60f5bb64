// SPDX-License-Identifier: Apache-2.0
/* impersonate_header.c - the Impersonate-* headers of one request, gathered; pure */
#include "api/authn_parts.h"

#include <ctype.h>
#include <strings.h>

#include "base/limits.h"

#define PREFIX       "impersonate-"
#define EXTRA_PREFIX "extra-"

void impersonation_init(struct impersonation *i)
{
	*i = (struct impersonation){ 0 };
}

void impersonation_done(struct impersonation *i)
{
	identity_free(i->rest);
	*i = (struct impersonation){ 0 };
}

/* Extra keys travel as header names: lower case, percent-encoded where a header could not carry them. */
static void add_extra(struct impersonation *i, const char *key, const char *value)
{
	auto_sbuf struct sbuf plain = SBUF(LIMIT_HEADERS);

	if (!http_unescape(str_of(key), false, &plain)) {
		sbuf_reset(&plain);
		sbuf_adds(&plain, key);
	}
	for (size_t k = 0; k < plain.n; k++)
		plain.p[k] = (char)tolower((unsigned char)plain.p[k]);
	identity_add_extra(i->rest, plain.p ? plain.p : "", value);
}

void impersonation_header(struct impersonation *i, const char *name, const char *value)
{
	const char *what;

	if (strncasecmp(name, PREFIX, strlen(PREFIX)) != 0)
		return;
	what = name + strlen(PREFIX);
	i->asked = true;
	if (!i->rest)
		i->rest = identity_new("", "");
	if (strcasecmp(what, "user") == 0)
		i->user = value;
	else if (strcasecmp(what, "uid") == 0)
		i->uid = value;
	else if (strcasecmp(what, "group") == 0)
		identity_add_group(i->rest, value);
	else if (strncasecmp(what, EXTRA_PREFIX, strlen(EXTRA_PREFIX)) == 0)
		add_extra(i, what + strlen(EXTRA_PREFIX), value);
}
