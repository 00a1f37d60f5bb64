// SPDX-License-Identifier: Apache-2.0
#include "control/endpoints.h"

#include "api/server.h"
#include "control/endpoints_plan.h"

struct cluster {
	struct server s;
	struct client *client;
	struct endpoints *controller;
};

static void settle(struct cluster *c)
{
	for (int i = 0; i < 4; i++)
		server_settle(&c->s);
}

static struct cluster cluster_new(void)
{
	struct cluster c = { .s = server_new() };

	c.client = client_local_new(c.s.api, &caller_system);
	c.controller = endpoints_new(c.client);
	settle(&c);
	return c;
}

static void cluster_done(struct cluster *c)
{
	endpoints_free(c->controller);
	client_free(c->client);
	server_done(&c->s);
}

static void patch(struct cluster *c, const char *what, const char *name, const char *sub, const char *body)
{
	struct api_request req = server_request(&c->s, VERB_PATCH, what, "default", name);
	json_auto_t *done = NULL;

	req.patch = PATCH_MERGE;
	req.subresource = sub;
	done = server_call(&c->s, &req, body);
	if (!done)
		test_fail(__FILE__, __LINE__, "%s", c->s.message);
}

static void set_status(struct cluster *c, const char *name, const char *ip, bool ready)
{
	auto_free char *body = xasprintf("{'status':{'phase':'Running','podIP':'%s','podIPs':[{'ip':'%s'}],"
					 "'conditions':[{'type':'Ready','status':'%s'}]}}",
					 ip, ip, ready ? "True" : "False");

	patch(c, "v1/pods", name, "status", body);
}

static void make_pod(struct cluster *c, const char *name, const char *ip, bool ready)
{
	auto_free char *body = xasprintf("{'metadata':{'name':'%s','labels':{'app':'web'}},'spec':{'nodeName':'n',"
					 "'containers':[{'name':'c','image':'i'}]}}",
					 name);

	server_do(&c->s, VERB_CREATE, "v1/pods", "default", NULL, body);
	set_status(c, name, ip, ready);
}

static void make_service(struct cluster *c)
{
	server_do(&c->s, VERB_CREATE, "v1/services", "default", NULL,
		  "{'metadata':{'name':'web'},'spec':{'selector':{'app':'web'},'ports':[{'port':80}]}}");
	settle(c);
}

static void add_ips(struct sbuf *out, const json_t *subset, const char *key, const char *mark)
{
	json_t *a;
	size_t i;

	json_array_foreach (json_object_get(subset, key), i, a)
		sbuf_addf(out, "%s%s ", mark, jsonx_str_or(a, "ip", "?"));
}

/* "1.2.3.4 -1.2.3.5 ": the second is not ready; "none" without the object. */
static const char *addresses(struct cluster *c, const char *name)
{
	static char out[500];
	auto_sbuf struct sbuf text = SBUF(500);
	json_auto_t *ep = server_ask(&c->s, VERB_GET, "v1/endpoints", "default", name, NULL);
	json_t *subset;
	size_t i;

	json_array_foreach (json_object_get(ep, "subsets"), i, subset) {
		add_ips(&text, subset, "addresses", "");
		add_ips(&text, subset, "notReadyAddresses", "-");
	}
	snprintf(out, sizeof(out), "%s", !ep ? "none" : text.p ? text.p : "");
	return out;
}

static bool take_slice(void *arg, const struct api_item *item)
{
	json_array_append(arg, item->object);
	return true;
}

static json_t *slices(struct cluster *c)
{
	struct api_request req =
		server_request(&c->s, VERB_LIST, "discovery.k8s.io/v1/endpointslices", "default", NULL);
	json_t *list = json_array();
	auto_free char *cont = NULL;
	int64_t rv;
	int64_t remaining;

	c->s.e = ERR_INIT;
	CHECK_INT(api_list(c->s.api, &req, true, take_slice, list, &rv, &cont, &remaining, &c->s.e), 0);
	return list;
}

/* "service manager: ip ip" of the only slice. */
static const char *slice(struct cluster *c)
{
	static char out[500];
	auto_sbuf struct sbuf text = SBUF(500);
	json_auto_t *list = slices(c);
	const json_t *one = json_array_get(list, 0);
	const json_t *labels = jsonx_at(one, "metadata.labels");
	json_t *ep;
	size_t i;

	if (json_array_size(list) != 1) {
		snprintf(out, sizeof(out), "%zu slices", json_array_size(list));
		return out;
	}
	sbuf_addf(&text, "%s:", json_string_value(json_object_get(labels, SLICE_SERVICE)));
	json_array_foreach (json_object_get(one, "endpoints"), i, ep)
		sbuf_addf(&text, " %s", json_string_value(json_array_get(json_object_get(ep, "addresses"), 0)));
	snprintf(out, sizeof(out), "%s", text.p);
	return out;
}

TEST("endpoints and slices follow pods as they come, change and go")
{
	struct cluster c = cluster_new();

	make_service(&c);
	CHECK_STR(addresses(&c, "web"), "");
	CHECK_STR(slice(&c), "web:");
	json_auto_t *empty = slices(&c);
	make_pod(&c, "a", "10.0.0.1", true);
	make_pod(&c, "b", "10.0.0.2", false);
	settle(&c);
	CHECK_STR(addresses(&c, "web"), "10.0.0.1 -10.0.0.2 ");
	CHECK_STR(slice(&c), "web: 10.0.0.1 10.0.0.2");
	json_auto_t *full = slices(&c);
	CHECK_STR(jsonx_str(json_array_get(full, 0), "metadata.uid"),
		  jsonx_str(json_array_get(empty, 0), "metadata.uid"));
	set_status(&c, "b", "10.0.0.2", true);
	settle(&c);
	CHECK_STR(addresses(&c, "web"), "10.0.0.1 10.0.0.2 ");
	patch(&c, "v1/pods", "a", NULL, "{'metadata':{'labels':{'app':'other'}}}");
	settle(&c);
	CHECK_STR(addresses(&c, "web"), "10.0.0.2 ");
	patch(&c, "v1/pods", "b", "status", "{'status':{'phase':'Succeeded'}}");
	settle(&c);
	CHECK_STR(addresses(&c, "web"), "");
	CHECK_STR(slice(&c), "web:");
	cluster_done(&c);
}

TEST("a service that comes late finds its pods, and takes its endpoints with it")
{
	struct cluster c = cluster_new();

	make_pod(&c, "a", "10.0.0.1", true);
	make_service(&c);
	CHECK_STR(addresses(&c, "web"), "10.0.0.1 ");
	CHECK_STR(slice(&c), "web: 10.0.0.1");
	server_do(&c.s, VERB_DELETE, "v1/services", "default", "web", NULL);
	settle(&c);
	CHECK_STR(addresses(&c, "web"), "none");
	CHECK_STR(slice(&c), "0 slices");
	make_service(&c);
	CHECK_STR(addresses(&c, "web"), "10.0.0.1 ");
	cluster_done(&c);
}

TEST("a service that selects something else has other endpoints")
{
	struct cluster c = cluster_new();

	make_pod(&c, "a", "10.0.0.1", true);
	make_service(&c);
	patch(&c, "v1/services", "web", NULL, "{'spec':{'selector':{'app':'nobody'}}}");
	settle(&c);
	CHECK_STR(addresses(&c, "web"), "");
	cluster_done(&c);
}

TEST("endpoints and slices that somebody spoils are mended")
{
	struct cluster c = cluster_new();
	json_auto_t *list = NULL;

	make_pod(&c, "a", "10.0.0.1", true);
	make_service(&c);
	patch(&c, "v1/endpoints", "web", NULL, "{'subsets':null}");
	list = slices(&c);
	patch(&c, "discovery.k8s.io/v1/endpointslices", jsonx_str(json_array_get(list, 0), "metadata.name"), NULL,
	      "{'endpoints':[]}");
	settle(&c);
	CHECK_STR(addresses(&c, "web"), "10.0.0.1 ");
	CHECK_STR(slice(&c), "web: 10.0.0.1");
	server_do(&c.s, VERB_DELETE, "v1/endpoints", "default", "web", NULL);
	settle(&c);
	CHECK_STR(addresses(&c, "web"), "10.0.0.1 ");
	cluster_done(&c);
}

TEST("a service without selector keeps its endpoints, and they are mirrored")
{
	struct cluster c = cluster_new();

	server_do(&c.s, VERB_CREATE, "v1/services", "default", NULL,
		  "{'metadata':{'name':'db'},'spec':{'ports':[{'port':5432}]}}");
	server_do(
		&c.s, VERB_CREATE, "v1/endpoints", "default", NULL,
		"{'metadata':{'name':'db'},'subsets':[{'addresses':[{'ip':'192.168.1.5'}],'ports':[{'port':5432}]}]}");
	settle(&c);
	CHECK_STR(addresses(&c, "db"), "192.168.1.5 ");
	CHECK_STR(slice(&c), "db: 192.168.1.5");
	patch(&c, "v1/endpoints", "db", NULL,
	      "{'subsets':[{'addresses':[{'ip':'192.168.1.6'}],'ports':[{'port':5432}]}]}");
	settle(&c);
	CHECK_STR(slice(&c), "db: 192.168.1.6");
	server_do(&c.s, VERB_DELETE, "v1/endpoints", "default", "db", NULL);
	settle(&c);
	CHECK_STR(slice(&c), "0 slices");
	cluster_done(&c);
}

TEST("endpoints without a service are left alone while we look, and swept at the next start")
{
	struct cluster c = cluster_new();

	server_do(&c.s, VERB_CREATE, "v1/endpoints", "default", NULL, "{'metadata':{'name':'lost'}}");
	server_do(&c.s, VERB_CREATE, "v1/endpoints", "default", NULL,
		  "{'metadata':{'name':'lock','annotations':{'control-plane.alpha.kubernetes.io/leader':'{}'}}}");
	settle(&c);
	CHECK_STR(addresses(&c, "lost"), "");
	endpoints_free(c.controller);
	c.controller = endpoints_new(c.client);
	settle(&c);
	CHECK_STR(addresses(&c, "lost"), "none");
	CHECK_STR(addresses(&c, "lock"), "");
	cluster_done(&c);
}

static json_t *get_endpoints(struct cluster *c)
{
	return server_ask(&c->s, VERB_GET, "v1/endpoints", "default", "web", NULL);
}

TEST("nothing is written when nothing has changed")
{
	struct cluster c = cluster_new();
	json_auto_t *before = NULL;
	json_auto_t *after = NULL;

	make_pod(&c, "a", "10.0.0.1", true);
	make_service(&c);
	before = get_endpoints(&c);
	patch(&c, "v1/pods", "a", NULL, "{'metadata':{'annotations':{'x':'y'}}}");
	endpoints_free(c.controller);
	c.controller = endpoints_new(c.client);
	settle(&c);
	after = get_endpoints(&c);
	CHECK_STR(jsonx_str(after, "metadata.resourceVersion"), jsonx_str(before, "metadata.resourceVersion"));
	cluster_done(&c);
}

TEST("a change back while its opposite is being written is not lost")
{
	struct cluster c = cluster_new();

	make_pod(&c, "a", "10.0.0.1", true);
	make_service(&c);
	for (int turns = 0; turns < 6; turns++) {
		set_status(&c, "a", "10.0.0.1", false);
		for (int i = 0; i < turns; i++)
			server_turn(&c.s);
		set_status(&c, "a", "10.0.0.1", true);
		settle(&c);
		CHECK_STR(addresses(&c, "web"), "10.0.0.1 ");
	}
	cluster_done(&c);
}

TEST("the controller may be freed with writes under way")
{
	struct cluster c = cluster_new();

	make_pod(&c, "a", "10.0.0.1", true);
	server_do(&c.s, VERB_CREATE, "v1/services", "default", NULL,
		  "{'metadata':{'name':'web'},'spec':{'selector':{'app':'web'},'ports':[{'port':80}]}}");
	cluster_done(&c);
}
