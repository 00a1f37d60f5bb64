// SPDX-License-Identifier: Apache-2.0
#include "control/resources.h"

#include "api/server.h"

#define ALL "'verbs':['delete','list','watch','get']"

static const char core[] =
	"{'items':[{'metadata':{},'versions':[{'version':'v1','resources':["
	"{'resource':'pods','responseKind':{'kind':'Pod'},'scope':'Namespaced'," ALL "},"
	"{'resource':'events','responseKind':{'kind':'Event'},'scope':'Namespaced'," ALL "},"
	"{'resource':'nodes','responseKind':{'kind':'Node'},'scope':'Cluster'," ALL "},"
	"{'resource':'bindings','responseKind':{'kind':'Binding'},'scope':'Namespaced','verbs':['create']}]}]}]}";
static const char groups[] =
	"{'items':[{'metadata':{'name':'batch'},'versions':["
	"{'version':'v1','resources':[{'resource':'jobs','responseKind':{'kind':'Job'},'scope':'Namespaced'," ALL "}]},"
	"{'version':'v1beta1','resources':[{'resource':'jobs','responseKind':{'kind':'Job'},'scope':'Namespaced'," ALL
	"},{'resource':'olds','responseKind':{'kind':'Old'},'scope':'Namespaced'," ALL "}]}]},"
	"{'metadata':{'name':'bat'},'versions':[{'version':'v1','resources':[{'resource':'jobs','responseKind':{'kind':"
	"'Job'},'scope':'Cluster'," ALL "}]}]}]}";

static void add(struct resources *r, const char *text)
{
	json_auto_t *doc = sample_json(text);

	resources_add(r, doc);
}

TEST("what can be listed, watched and deleted counts once, in its preferred version")
{
	struct resources *r = xcalloc(1, sizeof(*r));
	auto_sbuf struct sbuf all = SBUF(1000);

	add(r, core);
	add(r, groups);
	add(r, "{}");
	for (size_t i = 0; i < r->n; i++)
		sbuf_addf(&all, "%s%s/%s%s", i ? " " : "", r->items[i].api_version, r->items[i].plural,
			  r->items[i].namespaced ? "" : "*");
	CHECK_STR(all.p, "v1/pods v1/events v1/nodes* batch/v1/jobs batch/v1beta1/olds bat/v1/jobs*");
	resources_free(r);
}

TEST("a kind is found in any version of its group and in no other")
{
	static const struct {
		const char *version, *kind, *found;
	} rows[] = {
		{ "v1", "Pod", "v1" },
		{ "v2", "Pod", "v1" },
		{ "batch/v1", "Job", "batch/v1" },
		{ "batch/v7", "Job", "batch/v1" },
		{ "bat/v1", "Job", "bat/v1" },
		{ "ba/v1", "Job", NULL },
		{ "v1", "Job", NULL },
		{ "batch/v1", "job", NULL },
		{ "", "", NULL },
	};
	struct resources *r = xcalloc(1, sizeof(*r));

	add(r, core);
	add(r, groups);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct resource *found = resources_find(r, rows[i].version, rows[i].kind);

		CHECK_STR(found ? found->api_version : NULL, rows[i].found);
	}
	resources_free(r);
}

static void on_loaded(void *arg, struct resources *list, const struct err *e)
{
	CHECK_INT(e->kind, ERR_NONE);
	*(struct resources **)arg = list;
}

TEST("the server's own discovery lists every kind with a life of its own")
{
	struct server s = server_new();
	struct client *c = client_local_new(s.api, &caller_system);
	struct resources *r = NULL;

	resources_load(c, on_loaded, &r);
	server_settle(&s);
	CHECK(r && resources_find(r, "v1", "Pod"));
	CHECK(r && resources_find(r, "apps/v1", "Deployment"));
	CHECK(r && resources_find(r, "v1", "Event"));
	CHECK(r && !resources_find(r, "authorization.k8s.io/v1", "SubjectAccessReview"));
	resources_free(r);
	client_free(c);
	server_done(&s);
}

TEST("an old server names its versions, and each has a list")
{
	struct resources *r = xcalloc(1, sizeof(*r));
	json_auto_t *paths = json_array();
	json_auto_t *root = sample_json("{'kind':'APIVersions','versions':['v1']}");
	json_auto_t *named = sample_json("{'kind':'APIGroupList','groups':[{'name':'batch','preferredVersion':"
					 "{'groupVersion':'batch/v1'},'versions':[{'groupVersion':'batch/v1beta1'},"
					 "{'groupVersion':'batch/v1'}]}]}");
	json_auto_t *wanted = sample_json("['/api/v1','/apis/batch/v1','/apis/batch/v1beta1']");
	json_auto_t *first =
		sample_json("{'groupVersion':'v1','resources':[{'name':'pods','kind':'Pod','namespaced':true," ALL
			    "},{'name':'pods/log','kind':'Pod','namespaced':true,'verbs':['get']},"
			    "{'name':'nodes','kind':'Node','namespaced':false," ALL "}]}");
	json_auto_t *second = sample_json("{'groupVersion':'batch/v1','resources':[{'name':'jobs','kind':'Job',"
					  "'namespaced':true," ALL "}]}");
	json_auto_t *third = sample_json("{'groupVersion':'batch/v1beta1','resources':[{'name':'jobs','kind':'Job'," ALL
					 "},{'name':'cronjobs','kind':'CronJob','namespaced':true," ALL "}]}");
	auto_sbuf struct sbuf all = SBUF(1000);

	resources_paths(root, paths);
	resources_paths(named, paths);
	CHECK(jsonx_equal(paths, wanted));
	resources_add_list(r, first);
	resources_add_list(r, second);
	resources_add_list(r, third);
	for (size_t i = 0; i < r->n; i++)
		sbuf_addf(&all, "%s%s/%s:%s%s", i ? " " : "", r->items[i].api_version, r->items[i].plural,
			  r->items[i].kind, r->items[i].namespaced ? "" : "*");
	CHECK_STR(all.p, "v1/pods:Pod v1/nodes:Node* batch/v1/jobs:Job batch/v1beta1/cronjobs:CronJob");
	resources_free(r);
}
