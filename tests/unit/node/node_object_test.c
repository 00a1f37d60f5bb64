// SPDX-License-Identifier: Apache-2.0
#include "node/node_object.h"

#include "kinds/pbs_nodes.h"

#include <sys/mount.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/jsonx.h"
#include "base/mem.h"
#include "test.h"

static const char *condition_status(const json_t *status, const char *type)
{
	json_t *c;
	size_t i;

	json_array_foreach (json_object_get(status, "conditions"), i, c)
		if (str_same(jsonx_str(c, "type"), type))
			return jsonx_str_or(c, "status", "");
	return "none";
}

TEST("a node says what it has, and why it is not ready")
{
	struct node_facts f = {
		.name = "box", .host = "Box", .ip = "192.0.2.1", .runtime = "crun", .dir = "/", .problem = "no crun"
	};
	json_auto_t *status = node_status(&f);
	json_auto_t *meta = node_metadata(&f);

	CHECK_STR(condition_status(status, "Ready"), "False");
	CHECK_STR(jsonx_str(json_array_get(json_object_get(status, "conditions"), 3), "message"), "no crun");
	CHECK(jsonx_str(status, "capacity.memory") != NULL);
	CHECK_STR(json_string_value(json_object_get(json_object_get(meta, "labels"), "kubernetes.io/hostname")), "box");
	json_auto_t *node = json_pack("{s:O}", "metadata", meta);
	CHECK_STR(pbs_host_of(node), "Box");
	CHECK(json_object_get(json_object_get(meta, "labels"), PBS_PROPERTY_LABEL "box"));
	CHECK(json_object_get(json_object_get(meta, "labels"), PBS_PROPERTY_LABEL "Box"));
	f.problem = NULL;
	json_auto_t *well = node_status(&f);

	CHECK_STR(condition_status(well, "Ready"), "True");
}

TEST("a disk that is nearly full is said to be")
{
	auto_free char *dir = xasprintf("%s/node-disk", test_dir());
	auto_free char *ballast = xasprintf("%s/ballast", dir);
	auto_sbuf struct sbuf zeros = SBUF(2 << 20);
	struct node_facts f = { .name = "box", .ip = "192.0.2.1", .dir = dir };
	struct err e = ERR_INIT;

	CHECK(mkdir(dir, 0700) == 0 && mount("small", dir, "tmpfs", 0, "size=1m") == 0);
	json_auto_t *empty = node_status(&f);

	for (int i = 0; i < 1000 * 1024; i++)
		sbuf_addc(&zeros, 0);
	CHECK_INT(file_place(ballast, 0600, sbuf_str(&zeros), &e), 0);
	json_auto_t *full = node_status(&f);

	CHECK_INT(umount(dir), 0);
	CHECK_INT(rmdir(dir), 0);
	CHECK_STR(condition_status(empty, "DiskPressure"), "False");
	CHECK_STR(condition_status(full, "DiskPressure"), "True");
}
