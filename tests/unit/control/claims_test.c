// SPDX-License-Identifier: Apache-2.0
#include "control/claims.h"

#include "api/server.h"
#include "client/client.h"

#define CLAIMS "v1/persistentvolumeclaims"
#define PVS    "v1/persistentvolumes"
#define PV                                                                                                             \
	"{'metadata':{'name':'%s'},'spec':{'capacity':{'storage':'%s'},'accessModes':['ReadWriteOnce'],"               \
	"'hostPath':{'path':'/x'}}}"
#define CLAIM                                                                                                          \
	"{'metadata':{'name':'%s'},'spec':{'accessModes':['ReadWriteOnce'],'storageClassName':'','resources':{"        \
	"'requests':{'storage':'%s'}}}}"

struct cluster {
	struct server s;
	struct client *client;
	struct claims *controller;
};

static struct cluster cluster_new(void)
{
	struct cluster c = { .s = server_new() };

	c.client = client_local_new(c.s.api, &caller_system);
	c.controller = claims_new(c.client);
	server_settle(&c.s);
	return c;
}

static void cluster_done(struct cluster *c)
{
	claims_free(c->controller);
	client_free(c->client);
	server_done(&c->s);
}

static void make(struct cluster *c, const char *what, const char *name, const char *size)
{
	auto_free char *body = streq(what, PVS) ? xasprintf(PV, name, size) : xasprintf(CLAIM, name, size);

	server_do(&c->s, VERB_CREATE, what, streq(what, PVS) ? "" : "default", NULL, body);
}

/* Turns until the object's field says so; "" is an absent object. */
static bool becomes(struct cluster *c, const char *what, const char *name, const char *path, const char *want, int ms)
{
	for (int i = 0; i < ms; i++) {
		json_auto_t *obj = NULL;

		for (int k = 0; k < 10; k++)
			server_turn(&c->s);
		obj = server_ask(&c->s, VERB_GET, what, streq(what, PVS) ? "" : "default", name, NULL);
		if (streq(obj ? jsonx_str_or(obj, path, "(none)") : "", want))
			return true;
		usleep(1000);
	}
	return false;
}

TEST("a claim is bound to the smallest volume, and both say so")
{
	struct cluster c = cluster_new();

	make(&c, PVS, "large", "10Gi");
	make(&c, PVS, "small", "5Gi");
	CHECK(becomes(&c, PVS, "small", "status.phase", "Available", 200));
	make(&c, CLAIMS, "a", "4Gi");
	make(&c, CLAIMS, "b", "4Gi");
	make(&c, CLAIMS, "none", "4Gi");
	CHECK(becomes(&c, CLAIMS, "a", "status.phase", "Bound", 200));
	CHECK(becomes(&c, CLAIMS, "b", "status.phase", "Bound", 200));
	CHECK(becomes(&c, PVS, "small", "status.phase", "Bound", 200));
	CHECK(becomes(&c, PVS, "large", "status.phase", "Bound", 200));
	json_auto_t *a = server_ask(&c.s, VERB_GET, CLAIMS, "default", "a", NULL);
	json_auto_t *b = server_ask(&c.s, VERB_GET, CLAIMS, "default", "b", NULL);
	json_auto_t *none = server_ask(&c.s, VERB_GET, CLAIMS, "default", "none", NULL);
	json_auto_t *pv = server_ask(&c.s, VERB_GET, PVS, "", "small", NULL);
	CHECK_STR(jsonx_str(a, "spec.volumeName"), "small");
	CHECK_STR(jsonx_str(b, "spec.volumeName"), "large");
	CHECK_STR(jsonx_str(none, "status.phase"), "Pending");
	CHECK_STR(jsonx_str(a, "status.capacity.storage"), "5Gi");
	CHECK_JSON(jsonx_at(a, "metadata.annotations"),
		   "{'pv.kubernetes.io/bind-completed':'yes','pv.kubernetes.io/bound-by-controller':'yes'}");
	CHECK_STR(jsonx_str(pv, "spec.claimRef.uid"), jsonx_str(a, "metadata.uid"));
	cluster_done(&c);
}

TEST("a claim that cannot be bound gets an event, once")
{
	struct cluster c = cluster_new();
	json_auto_t *events = NULL;
	struct err e = ERR_INIT;

	make(&c, CLAIMS, "a", "4Gi");
	for (int i = 0; i < 20; i++)
		server_settle(&c.s);
	CHECK_INT(client_list_wait(c.client, &(struct ref){ .api_version = "v1", .plural = "events", .ns = "default" },
				   &(struct list_options){ 0 }, &events, &e),
		  0);
	CHECK_INT(json_array_size(json_object_get(events, "items")), 1);
	CHECK_STR(jsonx_str(json_array_get(json_object_get(events, "items"), 0), "reason"), "FailedBinding");
	cluster_done(&c);
}

TEST("a deleted claim goes when its pods have ended, and its volume is released")
{
	struct cluster c = cluster_new();

	make(&c, PVS, "v", "5Gi");
	make(&c, CLAIMS, "a", "4Gi");
	CHECK(becomes(&c, CLAIMS, "a", "status.phase", "Bound", 200));
	server_do(&c.s, VERB_CREATE, "v1/pods", "default", NULL,
		  "{'metadata':{'name':'p'},'spec':{'nodeName':'x','terminationGracePeriodSeconds':0,'containers':[{"
		  "'name':'c','image':'i'}],'volumes':[{'name':'d','persistentVolumeClaim':{'claimName':'a'}}]}}");
	server_do(&c.s, VERB_DELETE, CLAIMS, "default", "a", NULL);
	CHECK(!becomes(&c, CLAIMS, "a", "", "", 50));
	struct api_request req = server_request(&c.s, VERB_PATCH, "v1/pods", "default", "p");
	req.subresource = "status";
	req.patch = PATCH_MERGE;
	json_auto_t *ended = server_call(&c.s, &req, "{'status':{'phase':'Succeeded'}}");
	CHECK(ended != NULL);
	CHECK(becomes(&c, CLAIMS, "a", "", "", 3000));
	CHECK(becomes(&c, PVS, "v", "status.phase", "Released", 500));
	server_do(&c.s, VERB_DELETE, PVS, "", "v", NULL);
	CHECK(becomes(&c, PVS, "v", "", "", 500));
	cluster_done(&c);
}

TEST("a claim whose volume is deleted keeps it until it goes itself")
{
	struct cluster c = cluster_new();

	make(&c, PVS, "v", "5Gi");
	make(&c, CLAIMS, "a", "4Gi");
	CHECK(becomes(&c, CLAIMS, "a", "status.phase", "Bound", 200));
	CHECK(becomes(&c, PVS, "v", "status.phase", "Bound", 200));
	server_do(&c.s, VERB_DELETE, PVS, "", "v", NULL);
	CHECK(!becomes(&c, PVS, "v", "", "", 30));
	server_do(&c.s, VERB_DELETE, CLAIMS, "default", "a", NULL);
	CHECK(becomes(&c, CLAIMS, "a", "", "", 500));
	CHECK(becomes(&c, PVS, "v", "", "", 500));
	cluster_done(&c);
}

TEST("the controller may stop at any turn of a binding, and the next one goes on")
{
	for (int turns = 0; turns < 12; turns++) {
		struct cluster c = cluster_new();

		make(&c, PVS, "v", "5Gi");
		make(&c, PVS, "w", "5Gi");
		make(&c, CLAIMS, "a", "4Gi");
		for (int i = 0; i < turns; i++)
			server_turn(&c.s);
		claims_free(c.controller);
		server_settle(&c.s);
		c.controller = claims_new(c.client);
		CHECK(becomes(&c, CLAIMS, "a", "status.phase", "Bound", 300));
		CHECK(becomes(&c, PVS, "v", "status.phase", "Bound", 300));
		CHECK(becomes(&c, PVS, "w", "status.phase", "Available", 300));
		cluster_done(&c);
	}
}
