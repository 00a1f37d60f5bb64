// SPDX-License-Identifier: Apache-2.0
/* `stoker image commit`, on a container that is mounted where a pod's worker mounts it. */
#include "api/front.h"
#include "capture.h"
#include "node/image_fixture.h"

static void turn(void *arg)
{
	front_turn(arg);
}

static const struct tar_entry base_files[] = { { '0', "kept", .data = "kept" }, { 0 } };
static const struct tar_entry *const layers[] = { base_files };

/* A pod with these containers; its uid, malloc'ed. */
static char *make_pod(struct front *f, const char *name, const char *containers)
{
	auto_free char *body = xasprintf("{'apiVersion':'v1','kind':'Pod','metadata':{'name':'%s'},'spec':{"
					 "'containers':[%s]}}",
					 name, containers);
	json_auto_t *doc = NULL;

	CHECK_INT(front_ask(f, "POST /api/v1/namespaces/default/pods", "Content-Type: application/json\r\n", body),
		  201);
	doc = front_json(f);
	return xstrdup(jsonx_str_or(doc, "metadata.uid", ""));
}

TEST("a pod's changed container becomes an image, without what was mounted in it")
{
	struct front f = front_new();
	struct lab *lab = lab_new("cli-commit");
	char *socket = xasprintf("--socket=%s", f.path);
	char *data = xasprintf("--data=%s", lab->dir);
	auto_free char *uid = make_pod(&f, "box", "{'name':'main','image':'base'}");
	auto_free char *dir = xasprintf("%s/run/pods/%s/containers/main", lab->dir, uid);
	auto_free char *scratch = xasprintf("%s/pods/%s/scratch/main", lab->dir, uid);
	auto_free char *root = xasprintf("%s/rootfs", dir);
	json_auto_t *config = NULL;
	struct err e = ERR_INIT;

	lab_import(lab, layers, 1, "base");
	CHECK_INT(images_mount(lab->images, "base", scratch, root, false, &e), 0);
	fixture_file(root, "changed", "new");
	fixture_file(root, "hosts", "");
	fixture_file(dir, "config.json", "{\"mounts\":[{\"destination\":\"/hosts\"}]}");
	struct capture made =
		CAPTURE(turn, &f, (char *)"image", (char *)"commit", (char *)"box", (char *)"lab/new:1", (char *)"-n",
			(char *)"default", (char *)"-m", (char *)"by hand", (char *)"--change=ENV X=y", socket, data);
	CHECK_INT(made.status, 0);
	CHECK(str_ends(made.out.p, " docker.io/lab/new:1\n"));
	CHECK(strstr(made.err.p, "Packing what the container changed\nUnpacking layer 2 of 2\n") != NULL);
	images_unmount(scratch, root);
	CHECK_INT(images_mount(lab->images, "lab/new:1", scratch, root, false, &e), 0);
	CHECK_STR(fixture_read(root, "kept"), "kept");
	CHECK_STR(fixture_read(root, "changed"), "new");
	CHECK(!fixture_exists(root, "hosts"));
	images_unmount(scratch, root);
	CHECK_INT(images_inspect(lab->images, "lab/new:1", &config, &e), 0);
	CHECK_STR(jsonx_str(json_array_get(jsonx_at(config, "config.history"), 0), "created_by"),
		  "stoker image commit default/box (main)");
	capture_done(&made);
	free(socket);
	free(data);
	lab_free(lab);
	front_done(&f);
}

TEST("a commit that cannot find its container says what to do")
{
	struct front f = front_new();
	struct lab *lab = lab_new("cli-commit-bad");
	char *socket = xasprintf("--socket=%s", f.path);
	char *data = xasprintf("--data=%s", lab->dir);
	auto_free char *one = make_pod(&f, "one", "{'name':'main','image':'x'}");
	auto_free char *two = make_pod(&f, "two", "{'name':'a','image':'x'},{'name':'b','image':'x'}");
	const struct {
		const char *pod, *option, *want;
	} rows[] = {
		{ "none", "-q", "pods \"none\" not found" },
		{ "two", "-q", "the pod has containers a, b; choose one with -c" },
		{ "two", "--container=c", "the pod has no container c; it has a, b" },
		{ "one", "-q", "it must be started and not yet cleaned up" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct capture c =
			CAPTURE(turn, &f, (char *)"image", (char *)"commit", (char *)rows[i].pod, (char *)"x",
				(char *)"--namespace=default", (char *)rows[i].option, socket, data);

		CHECK_INT(c.status, 1);
		if (!strstr(c.err.p, rows[i].want))
			test_fail(__FILE__, __LINE__, "%s", c.err.p);
		capture_done(&c);
	}
	free(socket);
	free(data);
	lab_free(lab);
	front_done(&f);
}
