// SPDX-License-Identifier: Apache-2.0
/* token_kubeconfig.c - `stoker token create -o kubeconfig`: what kubectl needs besides the token
 *
 * kubectl does not speak over Unix sockets, and users cannot enter the data directory, where the CA is.  But each
 * namespace has the CA in a ConfigMap, and the API tells its address: over the socket, whose other end the kernel
 * vouches for, a user learns both.  Whoever came by a kubeconfig has them in that.
 */
#include <pwd.h>
#include <time.h>

#include "base/clock.h"
#include "base/jsonx.h"
#include "base/mem.h"
#include "cli/token_kubeconfig.h"
#include "client/kubeconfig.h"
#include "kinds/names.h"

#define CA_MAP      "kube-root-ca.crt"
#define CA_WAIT_MS  5000 /* who comes for the first time has a namespace at once and the CA in it a moment later */
#define CA_PAUSE_MS 20
#define REPLY_MAX   (64u * 1024)

static int find_ca(struct client *c, char **ret, struct err *e)
{
	struct ref ref = {
		.api_version = "v1", .plural = "configmaps", .ns = client_default_namespace(c), .name = CA_MAP
	};
	int64_t until = clock_awake_ms() + CA_WAIT_MS;

	for (;;) {
		json_auto_t *map = NULL;
		const char *pem;

		if (client_get_wait(c, &ref, &map, e) == 0) {
			pem = json_string_value(json_object_get(jsonx_at(map, "data"), "ca.crt"));
			if (!pem)
				return err_set(e, ERR_INVALID, "configmap %s/%s has no ca.crt", ref.ns, CA_MAP);
			*ret = xstrdup(pem);
			return 0;
		}
		if ((e->kind != ERR_NOT_FOUND && e->kind != ERR_FORBIDDEN) || clock_awake_ms() > until)
			return -1;
		nanosleep(&(struct timespec){ .tv_nsec = CA_PAUSE_MS * 1000000L }, NULL);
		*e = ERR_INIT;
	}
}

/* A wildcard address is no place to connect to. */
static char *url_of(const char *address)
{
	const char *port = strrchr(address, ':');

	if (port && (str_starts(address, "0.0.0.0:") || str_starts(address, "[::]:")))
		return xasprintf("https://127.0.0.1%s", port);
	return xasprintf("https://%s", address);
}

static int find_url(struct client *c, char **ret, struct err *e)
{
	auto_sbuf struct sbuf reply = SBUF(REPLY_MAX);
	json_auto_t *doc = NULL;
	const char *address = "";
	int code = 0;

	if (client_call_wait(c, "GET", "/api", NULL, (struct str){ NULL, 0 }, &code, &reply, e) < 0)
		return -1;
	doc = code == 200 && reply.p ? json_loads(reply.p, 0, NULL) : NULL;
	if (doc)
		address = jsonx_str_or(json_array_get(jsonx_at(doc, "serverAddressByClientCIDRs"), 0), "serverAddress",
				       "");
	if (!*address)
		return err_set(e, ERR_UNAVAILABLE, "the server does not say where it listens");
	*ret = url_of(address);
	return 0;
}

/* Where the work of `user` is: accounts of this machine have a namespace of their own. */
static char *namespace_of(const char *user)
{
	const struct passwd *pw = getpwnam(user);
	char label[NAME_LABEL_LEN] = "default";

	if (pw && pw->pw_uid != 0)
		name_make_label(user, label);
	return xstrdup(label);
}

int kube_place_find(struct client *c, const char *user, struct kube_place *ret, struct err *e)
{
	const char *server = client_server(c);
	bool told = str_starts(server, "https://");

	*ret = (struct kube_place){ .ns = user ? namespace_of(user) : xstrdup(client_default_namespace(c)) };
	if (told) {
		ret->url = xstrdup(server);
		ret->ca_pem = xstrdup(c->ca_pem ? c->ca_pem : "");
		return 0;
	}
	if (find_url(c, &ret->url, e) < 0 || find_ca(c, &ret->ca_pem, e) < 0) {
		kube_place_done(ret);
		return -1;
	}
	return 0;
}

void kube_place_done(struct kube_place *p)
{
	free(p->url);
	free(p->ca_pem);
	free(p->ns);
	*p = (struct kube_place){ 0 };
}

/* Names are whatever they are: in quotes YAML takes them all for words. */
static void quote(const char *name, struct sbuf *out)
{
	json_auto_t *word = jsonx_string(name);

	jsonx_dump(word, out);
}

void kube_place_write(const struct kube_place *p, const char *user, const char *token, struct sbuf *out)
{
	static const struct str none = { NULL, 0 };
	auto_sbuf struct sbuf name = SBUF(REPLY_MAX), ns = SBUF(REPLY_MAX);

	quote(user, &name);
	quote(p->ns, &ns);
	kubeconfig_write(p->url, str_of(p->ca_pem), none, none, token, name.p, ns.p, out);
}
