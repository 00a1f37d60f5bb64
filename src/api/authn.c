// SPDX-License-Identifier: Apache-2.0
/* authn.c - who are you
 *
 * A credential that is offered is the one that counts: a bad token is refused even where nobody at all would be let in,
 * and a token on the Unix socket is not outvoted by the peer's uid.  Without a token it is the client certificate on
 * TLS and the kernel's peer credential on the Unix socket; else system:anonymous.  Impersonation comes last, on top of
 * a verified identity.
 *
 * Everything here runs on each request: identities of uids and tokens come from caches, see authn_local.c and
 * authn_token.c.
 */
#include "api/authn_parts.h"

#include "base/mem.h"

static const struct stored_kind authn_kinds[AUTHN_KIND__COUNT] = {
	[AUTHN_TOKEN] = { "stoker.dev", "v1", "tokens" },
	[AUTHN_ACCOUNT] = { "", "v1", "serviceaccounts" },
	[AUTHN_POD] = { "", "v1", "pods" },
	[AUTHN_SECRET] = { "", "v1", "secrets" },
	[AUTHN_NAMESPACE] = { "", "v1", "namespaces" },
	[AUTHN_BINDING] = { "rbac.authorization.k8s.io", "v1", "rolebindings" },
};

static void on_changes(void *arg, const struct change *changes, size_t n)
{
	struct authn *a = arg;

	for (size_t i = 0; i < n; i++) {
		authn_tokens_changed(a, &changes[i]);
		authn_homes_changed(a, &changes[i]);
	}
}

struct authn *authn_new(struct api *api)
{
	struct authn *a = xcalloc(1, sizeof(*a));

	a->api = api;
	memcpy(a->kinds, authn_kinds, sizeof(a->kinds));
	a->anonymous = identity_new(USER_ANONYMOUS, "");
	identity_add_group(a->anonymous, GROUP_UNAUTHENTICATED);
	authn_tokens_init(a);
	map_init(&a->homes, NULL);
	a->subscriber = (struct store_subscriber){ .fn = on_changes, .arg = a };
	store_subscribe(api_store(api), &a->subscriber);
	return a;
}

void authn_free(struct authn *a)
{
	if (!a)
		return;
	store_unsubscribe(api_store(a->api), &a->subscriber);
	for (size_t i = 0; i < UID_SLOTS; i++)
		identity_free(a->uids[i].id);
	identity_free(a->anonymous);
	map_done(&a->tokens);
	map_done(&a->homes);
	free(a);
}

static struct identity *certificate_identity(const struct http_peer *peer)
{
	struct identity *id = identity_new(peer->cert_user, "");

	for (const char *const *g = peer->cert_groups; g && *g; g++)
		identity_add_group(id, *g);
	identity_add_group(id, GROUP_AUTHENTICATED);
	return id;
}

static int transport_identity(struct authn *a, struct http_request *req, struct identity **ret, struct err *e)
{
	const struct http_peer *peer = http_peer(req);
	const char *header = http_header(req, "authorization");

	if (!peer->local && peer->cert_user && *peer->cert_user)
		*ret = certificate_identity(peer);
	else if (header)
		return authn_bearer(a, token_of_header(header), ret, e);
	else if (peer->local)
		return authn_local_identity(a, peer->uid, ret, e);
	else
		*ret = identity_ref(a->anonymous);
	return 0;
}

int authn_identify(struct authn *a, struct http_request *req, struct identity **ret, struct err *e)
{
	struct identity *real = NULL;
	struct impersonation asked;
	const char *name, *value;
	size_t pos = 0;
	int rc = 0;

	if (transport_identity(a, req, &real, e) < 0)
		return -1;
	impersonation_init(&asked);
	while (http_header_each(req, &pos, &name, &value))
		impersonation_header(&asked, name, value);
	if (asked.asked) {
		rc = authn_impersonate(a, real, &asked, ret, e);
		identity_free(real);
	} else {
		*ret = real;
	}
	impersonation_done(&asked);
	return rc;
}
