// SPDX-License-Identifier: Apache-2.0
#include "api/wire.h"
#include "base/jsonx.h"
#include "test.h"

static const json_t *find(const json_t *list, const char *key, const char *value)
{
	size_t i;
	json_t *v;

	json_array_foreach ((json_t *)list, i, v)
		if (strcmp(jsonx_str_or(v, key, ""), value) == 0)
			return v;
	return NULL;
}

TEST("/version has all nine texts and a version that kubectl parses")
{
	json_auto_t *v = discovery_version_info();

	CHECK_INT(json_object_size(v), 9);
	CHECK_STR(jsonx_str(v, "major"), "1");
	CHECK_STR(jsonx_str(v, "minor"), "32");
	CHECK_INT(strncmp(jsonx_str_or(v, "gitVersion", ""), "v1.32.4+", 8), 0);
}

TEST("/api names v1 and the server's address")
{
	json_auto_t *v = discovery_versions("10.0.0.1:6443");

	CHECK_STR(json_string_value(json_array_get(json_object_get(v, "versions"), 0)), "v1");
	CHECK_STR(jsonx_str(json_array_get(json_object_get(v, "serverAddressByClientCIDRs"), 0), "serverAddress"),
		  "10.0.0.1:6443");
}

TEST("/apis lists each group once, and prefers what the eldest clients know")
{
	struct registry *r = registry_new();
	json_auto_t *groups = discovery_groups(r);
	const json_t *batch = find(json_object_get(groups, "groups"), "name", "batch");

	CHECK(find(json_object_get(groups, "groups"), "name", "") == NULL);
	CHECK_STR(jsonx_str(find(json_object_get(groups, "groups"), "name", "apps"), "preferredVersion.version"), "v1");
	CHECK_STR(jsonx_str(batch, "preferredVersion.groupVersion"), "batch/v1beta1");
	CHECK_STR(jsonx_str(json_array_get(json_object_get(batch, "versions"), 0), "version"), "v1");
	CHECK_INT(json_array_size(json_object_get(batch, "versions")), 2);
	CHECK_STR(jsonx_str(json_array_get(json_object_get(batch, "versions"), 1), "version"), "v1beta1");
	registry_free(r);
}

TEST("what only old clients need is not in the aggregated form")
{
	struct registry *r = registry_new();
	json_auto_t *groups = discovery_groups(r);
	json_auto_t *aggregated = discovery_aggregated(r, false, "v2");
	json_auto_t *old = discovery_resources(r, "extensions", "v1beta1");

	CHECK(find(json_object_get(groups, "groups"), "name", "extensions") != NULL);
	CHECK(find(json_object_get(old, "resources"), "name", "ingresses") != NULL);
	CHECK(find(json_object_get(aggregated, "items"), "metadata.name", "networking.k8s.io") != NULL);
	CHECK(find(json_object_get(aggregated, "items"), "metadata.name", "extensions") == NULL);
	registry_free(r);
}

TEST("a group and a version that are not served have no document")
{
	struct registry *r = registry_new();
	json_auto_t *apps = discovery_group(r, "apps");

	CHECK_STR(jsonx_str(apps, "kind"), "APIGroup");
	CHECK(discovery_group(r, "nothing.example") == NULL);
	CHECK(discovery_group(r, "") == NULL);
	CHECK(discovery_resources(r, "apps", "v9") == NULL);
	registry_free(r);
}

TEST("resources carry names, sorted verbs and their subresources")
{
	struct registry *r = registry_new();
	json_auto_t *core = discovery_resources(r, "", "v1");
	json_auto_t *apps = discovery_resources(r, "apps", "v1");
	const json_t *pods = find(json_object_get(core, "resources"), "name", "pods");
	const json_t *scale = find(json_object_get(apps, "resources"), "name", "deployments/scale");
	json_auto_t *verbs = json_pack("[s, s, s, s, s, s, s, s]", "create", "delete", "deletecollection", "get",
				       "list", "patch", "update", "watch");

	CHECK_STR(jsonx_str(core, "groupVersion"), "v1");
	CHECK_STR(jsonx_str(apps, "groupVersion"), "apps/v1");
	CHECK_STR(jsonx_str(pods, "kind"), "Pod");
	CHECK_STR(jsonx_str(pods, "singularName"), "pod");
	CHECK(json_equal(json_object_get(pods, "verbs"), verbs));
	CHECK(find(json_object_get(core, "resources"), "name", "pods/log") != NULL);
	CHECK_STR(jsonx_str(scale, "group"), "autoscaling");
	CHECK_STR(jsonx_str(scale, "kind"), "Scale");
	registry_free(r);
}

TEST("the aggregated form has core on /api and everything else on /apis")
{
	struct registry *r = registry_new();
	json_auto_t *api = discovery_aggregated(r, true, "v2");
	json_auto_t *apis = discovery_aggregated(r, false, "v2beta1");
	const json_t *core = json_array_get(json_object_get(api, "items"), 0);
	const json_t *v1 = json_array_get(json_object_get(core, "versions"), 0);
	const json_t *pods = find(json_object_get(v1, "resources"), "resource", "pods");
	size_t i;
	json_t *group;

	CHECK_STR(jsonx_str(api, "apiVersion"), "apidiscovery.k8s.io/v2");
	CHECK_STR(jsonx_str(apis, "apiVersion"), "apidiscovery.k8s.io/v2beta1");
	CHECK_INT(json_array_size(json_object_get(api, "items")), 1);
	CHECK_STR(jsonx_str(pods, "responseKind.kind"), "Pod");
	CHECK_STR(jsonx_str(pods, "scope"), "Namespaced");
	CHECK(find(json_object_get(pods, "subresources"), "subresource", "status") != NULL);
	json_array_foreach (json_object_get(apis, "items"), i, group)
		CHECK(jsonx_str(group, "metadata.name") != NULL);
	registry_free(r);
}
