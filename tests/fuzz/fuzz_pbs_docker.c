// SPDX-License-Identifier: Apache-2.0
/* fuzz_pbs_docker.c - any bytes as startdocker -u "...": a pod whose mounts are where they may be, or words */
#include <stdlib.h>

#include "base/jsonx.h"
#include "base/mem.h"
#include "pbs/docker_plan.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static const char *variable(const char *name)
{
	(void)name;
	return NULL;
}

static int may_read(const char *path)
{
	(void)path;
	return 0;
}

static bool is_fine(const char *path, bool read_only)
{
	static const char *const roots[] = { "/h/u", "/gdata/", "/gpub" };

	for (size_t i = 0; i < ARRAY_SIZE(roots); i++)
		if (str_starts(path, roots[i]) && (i < 2 || read_only))
			return true;
	return false;
}

static void check(const json_t *pod)
{
	const json_t *c = json_array_get(jsonx_at(pod, "spec.containers"), 0);
	json_t *v;
	size_t i;

	if (jsonx_at(pod, "spec.hostNetwork") || jsonx_at(c, "securityContext.privileged"))
		abort();
	json_array_foreach (jsonx_at(pod, "spec.volumes"), i, v) {
		const json_t *mount = json_array_get(json_object_get(c, "volumeMounts"), i);
		const char *path = jsonx_str(v, "hostPath.path");

		if (path && (!is_fine(path, jsonx_bool_or(mount, "readOnly", false)) || strstr(path, "/../")))
			abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	json_auto_t *settings = json_pack("{s:[s], s:[s]}", "hostRoots", "/gdata", "readOnlyRoots", "/gpub");
	struct docker_ask ask = { .command = "x",
				  .image = "i",
				  .user = "u",
				  .home = "/h/u",
				  .settings = settings,
				  .variable = variable,
				  .may_read = may_read };
	json_auto_t *pod = NULL;
	struct err e = ERR_INIT;

	if (docker_options_parse((struct str){ (const char *)data, n }, &ask.options, &e) == 0 &&
	    docker_plan(&ask, &pod, &e) == 0)
		check(pod);
	else if (!e.text[0])
		abort();
	docker_options_done(&ask.options);
	return 0;
}
