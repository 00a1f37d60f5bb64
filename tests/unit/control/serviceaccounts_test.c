// SPDX-License-Identifier: Apache-2.0
#include "control/serviceaccounts.h"

#include "api/server.h"
#include "control/accounts_plan.h"
#include "control/namespace.h"

#define ACCOUNTS "v1/serviceaccounts"
#define MAPS     "v1/configmaps"
#define SECRETS  "v1/secrets"
#define TOKEN_SECRET                                                                                                   \
	"{'metadata':{'name':'t','annotations':{'kubernetes.io/service-account.name':'robot'}},"                       \
	"'type':'kubernetes.io/service-account-token'}"

struct cluster {
	struct server s;
	struct client *client;
	struct service_accounts *controller;
	struct namespaces *namespaces;
};

static struct cluster cluster_new(void)
{
	struct cluster c = { .s = server_new_with_pki() };

	c.client = client_local_new(c.s.api, &caller_system);
	c.controller = service_accounts_new(c.client);
	c.namespaces = namespaces_new(c.client);
	server_settle(&c.s);
	return c;
}

static void cluster_done(struct cluster *c)
{
	namespaces_free(c->namespaces);
	service_accounts_free(c->controller);
	client_free(c->client);
	server_done(&c->s);
}

static const char *data(const json_t *obj, const char *key)
{
	return json_string_value(json_object_get(json_object_get(obj, "data"), key));
}

TEST("every namespace has an account and the server's CA, and gets them back")
{
	struct cluster c = cluster_new();

	CHECK(server_has(&c.s, ACCOUNTS, "kube-system", "default"));
	server_do(&c.s, VERB_CREATE, "v1/namespaces", "", NULL, "{'metadata':{'name':'lab'}}");
	server_settle(&c.s);
	CHECK(server_has(&c.s, ACCOUNTS, "lab", "default"));
	json_auto_t *map = server_ask(&c.s, VERB_GET, MAPS, "lab", ROOT_CA, NULL);
	CHECK_STR(data(map, "ca.crt"), c.client->ca_pem);
	server_do(&c.s, VERB_UPDATE, MAPS, "lab", ROOT_CA,
		  "{'metadata':{'name':'kube-root-ca.crt'},'data':{'ca.crt':'x','y':'z'}}");
	server_settle(&c.s);
	json_auto_t *back = server_ask(&c.s, VERB_GET, MAPS, "lab", ROOT_CA, NULL);
	CHECK(jsonx_equal(json_object_get(back, "data"), json_object_get(map, "data")));
	CHECK(jsonx_equal(jsonx_at(back, "metadata.annotations"), jsonx_at(map, "metadata.annotations")));
	server_do(&c.s, VERB_DELETE, MAPS, "lab", ROOT_CA, NULL);
	server_do(&c.s, VERB_DELETE, ACCOUNTS, "lab", "default", NULL);
	server_settle(&c.s);
	CHECK(server_has(&c.s, MAPS, "lab", ROOT_CA));
	CHECK(server_has(&c.s, ACCOUNTS, "lab", "default"));
	cluster_done(&c);
}

TEST("a namespace on its way out gets nothing back")
{
	struct cluster c = cluster_new();

	server_do(&c.s, VERB_CREATE, "v1/namespaces", "", NULL, "{'metadata':{'name':'lab'}}");
	server_settle(&c.s);
	server_do(&c.s, VERB_DELETE, "v1/namespaces", "", "lab", NULL);
	for (int i = 0; i < 200 && server_has(&c.s, "v1/namespaces", "", "lab"); i++)
		server_settle(&c.s);
	CHECK(!server_has(&c.s, "v1/namespaces", "", "lab"));
	cluster_done(&c);
}

TEST("a secret for a token is filled, works, and goes with its account")
{
	struct cluster c = cluster_new();
	auto_sbuf struct sbuf token = SBUF(1 << 16);

	server_do(&c.s, VERB_CREATE, ACCOUNTS, "default", NULL, "{'metadata':{'name':'robot'}}");
	server_do(&c.s, VERB_CREATE, SECRETS, "default", NULL, TOKEN_SECRET);
	server_settle(&c.s);
	json_auto_t *secret = server_ask(&c.s, VERB_GET, SECRETS, "default", "t", NULL);
	CHECK_STR(data(secret, "namespace"), "ZGVmYXVsdA==");
	CHECK(data(secret, "ca.crt") != NULL);
	CHECK(data(secret, "token") && base64_decode(data(secret, "token"), strlen(data(secret, "token")), &token));
	auto_free char *body = xasprintf("{'spec':{'token':'%s'}}", token.p ? token.p : "");
	json_auto_t *review = server_ask(&c.s, VERB_CREATE, "authentication.k8s.io/v1/tokenreviews", "", NULL, body);
	CHECK_STR(jsonx_str(review, "status.user.username"), "system:serviceaccount:default:robot");
	server_do(&c.s, VERB_DELETE, ACCOUNTS, "default", "robot", NULL);
	server_settle(&c.s);
	CHECK(!server_has(&c.s, SECRETS, "default", "t"));
	/* and one of an account that never was */
	server_do(&c.s, VERB_CREATE, SECRETS, "default", NULL, TOKEN_SECRET);
	server_settle(&c.s);
	CHECK(!server_has(&c.s, SECRETS, "default", "t"));
	cluster_done(&c);
}
