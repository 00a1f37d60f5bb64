// SPDX-License-Identifier: Apache-2.0
#include "node/claim_dirs.h"

#include <sys/stat.h>

#include "api/server.h"
#include "control/claims.h"

#define CLAIMS "v1/persistentvolumeclaims"
#define PVS    "v1/persistentvolumes"

struct cluster {
	struct server s;
	struct client *client;
	struct claims *binder;
	struct trash *trash;
	struct claim_dirs *dirs;
};

static struct cluster cluster_new(void)
{
	struct cluster c = { .s = server_new() };

	c.client = client_local_new(c.s.api, &caller_system);
	c.binder = claims_new(c.client);
	c.trash = trash_new(c.s.loop, c.s.dir);
	c.dirs = claim_dirs_new(c.client, c.s.dir, c.trash);
	server_settle(&c.s);
	return c;
}

static void cluster_done(struct cluster *c)
{
	claim_dirs_free(c->dirs);
	trash_free(c->trash);
	claims_free(c->binder);
	client_free(c->client);
	server_done(&c->s);
}

/* Turns until the condition holds, which it does at once if there is nothing to wait for. */
#define EVENTUALLY(c, cond)                                                                                            \
	do {                                                                                                           \
		for (int i_ = 0; i_ < 2000 && !(cond); i_++) {                                                         \
			server_turn(&(c)->s);                                                                          \
			usleep(500);                                                                                   \
		}                                                                                                      \
		CHECK(cond);                                                                                           \
	} while (0)

static json_t *get(struct cluster *c, const char *what, const char *name)
{
	return server_ask(&c->s, VERB_GET, what, streq(what, PVS) ? "" : "default", name, NULL);
}

static bool is_phase(struct cluster *c, const char *what, const char *name, const char *phase)
{
	json_auto_t *obj = get(c, what, name);

	return str_same(jsonx_str(obj, "status.phase"), phase);
}

static const char claim[] = "{'metadata':{'name':'data'},'spec':{'accessModes':['ReadWriteOnce'],'resources':{"
			    "'requests':{'storage':'1Gi'}}}}";

TEST("a claim without a class gets a directory, which goes with it")
{
	struct cluster c = cluster_new();
	mode_t old = umask(077);
	auto_free char *path = NULL;
	auto_free char *file = NULL;
	auto_free char *name = NULL;
	struct stat st;
	FILE *f;

	server_do(&c.s, VERB_CREATE, CLAIMS, "default", NULL, claim);
	EVENTUALLY(&c, is_phase(&c, CLAIMS, "data", "Bound"));
	json_auto_t *bound = get(&c, CLAIMS, "data");
	name = xasprintf("pvc-%s", jsonx_str(bound, "metadata.uid"));
	path = xasprintf("%s/claims/default-data-%s", c.s.dir, jsonx_str(bound, "metadata.uid"));
	CHECK_STR(jsonx_str(bound, "spec.storageClassName"), "stoker-local");
	CHECK_STR(jsonx_str(bound, "spec.volumeName"), name);
	EVENTUALLY(&c, is_phase(&c, PVS, name, "Bound"));
	json_auto_t *pv = get(&c, PVS, name);
	CHECK_STR(jsonx_str(pv, "spec.hostPath.path"), path);
	CHECK_STR(jsonx_str(pv, "spec.persistentVolumeReclaimPolicy"), "Delete");
	CHECK_STR(jsonx_str(pv, "spec.capacity.storage"), "1Gi");
	CHECK(stat(path, &st) == 0 && (st.st_mode & 07777) == 0777);
	file = xasprintf("%s/result", path);
	f = fopen(file, "w");
	CHECK(f && fclose(f) == 0);
	server_do(&c.s, VERB_DELETE, CLAIMS, "default", "data", NULL);
	EVENTUALLY(&c, !server_has(&c.s, PVS, "", name));
	EVENTUALLY(&c, stat(path, &st) < 0);
	umask(old);
	cluster_done(&c);
}

TEST("a claim's directory stays if its volume is to be retained")
{
	struct cluster c = cluster_new();
	auto_free char *path = NULL;
	auto_free char *name = NULL;
	struct stat st;

	server_do(&c.s, VERB_CREATE, "storage.k8s.io/v1/storageclasses", "", NULL,
		  "{'metadata':{'name':'keep'},'provisioner':'stoker.dev/directory','reclaimPolicy':'Retain'}");
	server_do(&c.s, VERB_CREATE, CLAIMS, "default", NULL,
		  "{'metadata':{'name':'data'},'spec':{'storageClassName':'keep','accessModes':['ReadWriteOnce'],"
		  "'resources':{'requests':{'storage':'1Gi'}}}}");
	EVENTUALLY(&c, is_phase(&c, CLAIMS, "data", "Bound"));
	json_auto_t *bound = get(&c, CLAIMS, "data");
	name = xasprintf("pvc-%s", jsonx_str(bound, "metadata.uid"));
	path = xasprintf("%s/claims/default-data-%s", c.s.dir, jsonx_str(bound, "metadata.uid"));
	server_do(&c.s, VERB_DELETE, CLAIMS, "default", "data", NULL);
	EVENTUALLY(&c, is_phase(&c, PVS, name, "Released"));
	for (int i = 0; i < 5; i++)
		server_settle(&c.s);
	CHECK(server_has(&c.s, PVS, "", name));
	CHECK(stat(path, &st) == 0);
	cluster_done(&c);
}

TEST("a volume that only says it is ours is not deleted from outside our directory")
{
	struct cluster c = cluster_new();
	auto_free char *path = xasprintf("%s/precious", c.s.dir);
	auto_free char *body = xasprintf(
		"{'metadata':{'name':'v','annotations':{'pv.kubernetes.io/provisioned-by':'stoker.dev/directory'}},"
		"'spec':{'capacity':{'storage':'1Gi'},'accessModes':['ReadWriteOnce'],'hostPath':{'path':'%s'},"
		"'persistentVolumeReclaimPolicy':'Delete','claimRef':{'name':'x','namespace':'default','uid':'gone'}}}",
		path);
	struct stat st;

	CHECK(mkdir(path, 0755) == 0);
	server_do(&c.s, VERB_CREATE, PVS, "", NULL, body);
	EVENTUALLY(&c, is_phase(&c, PVS, "v", "Released"));
	for (int i = 0; i < 5; i++)
		server_settle(&c.s);
	CHECK(stat(path, &st) == 0);
	CHECK(server_has(&c.s, PVS, "", "v"));
	cluster_done(&c);
}

TEST("the provisioner may stop at any turn")
{
	for (int turns = 0; turns < 12; turns++) {
		struct cluster c = cluster_new();

		server_do(&c.s, VERB_CREATE, CLAIMS, "default", NULL, claim);
		for (int i = 0; i < turns; i++)
			server_turn(&c.s);
		cluster_done(&c);
	}
}
