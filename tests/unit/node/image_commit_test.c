// SPDX-License-Identifier: Apache-2.0
/* Images from changed containers: mounted, changed, committed, and mounted again. */
#include <errno.h>
#include <fcntl.h>
#include <sys/mount.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "image_fixture.h"
#include "node/image_parts.h"
#include "node/layer_pack.h"

static const struct tar_entry base_files[] = {
	{ '5', "bin/", .mode = 0755 },
	{ '0', "bin/tool", .data = "tool", .mode = 0755 },
	{ '5', "etc/", .mode = 0755 },
	{ '0', "etc/kept", .data = "kept" },
	{ '0', "etc/dropped", .data = "dropped" },
	{ '5', "old/", .mode = 0755 },
	{ '0', "old/a", .data = "a" },
	{ 0 },
};

static void put(const char *dir, const char *name, const char *text)
{
	auto_free char *path = xasprintf("%s/%s", dir, name);
	struct err e = ERR_INIT;

	CHECK_INT(file_write(path, 0640, str_of(text), &e), 0);
}

/* What a user at a shell does to a container. */
static void change(const char *root)
{
	auto_free char *dropped = xasprintf("%s/etc/dropped", root);
	auto_free char *old = xasprintf("%s/old", root);
	auto_free char *a = xasprintf("%s/bin/a", root);
	auto_free char *b = xasprintf("%s/bin/b", root);
	auto_free char *link = xasprintf("%s/bin/link", root);
	auto_free char *fifo = xasprintf("%s/bin/fifo", root);
	auto_free char *device = xasprintf("%s/bin/device", root);
	auto_free char *dev = xasprintf("%s/dev", root);

	CHECK_INT(unlink(dropped), 0);
	CHECK(tree_remove(old, NULL));
	CHECK_INT(mkdir(old, 0700), 0);
	put(root, "old/b", "b");
	put(root, "bin/a", "linked");
	CHECK_INT(chown(a, 1000, 1001), 0);
	CHECK_INT(setxattr(a, "user.note", "hi", 2, 0), 0);
	CHECK_INT(linkat(AT_FDCWD, a, AT_FDCWD, b, 0), 0);
	CHECK_INT(symlink("a", link), 0);
	CHECK_INT(mkfifo(fifo, 0600), 0);
	CHECK_INT(mknod(device, S_IFCHR | 0600, makedev(1, 3)), 0);
	put(root, "bin/na\303\257ve", "utf-8");
	put(root, "bin/raw\377", "not utf-8");
	put(root, "bin/.wh.tool", "a trap");
	put(root, "etc/hosts", "");
	put(root, "etc/empty", "");
	CHECK_INT(mkdir(dev, 0755), 0);
	put(root, "dev/null", "");
}

static void commit(struct lab *lab, const char *scratch, const char *name, json_t *changes)
{
	json_auto_t *skip = json_pack("[s,s]", "/etc/hosts", "/dev");
	struct commit_options o = { .scratch = scratch,
				    .name = name,
				    .skip = skip,
				    .changes = changes,
				    .made_by = "stoker image commit lab/p",
				    .comment = "by hand" };

	images_commit(lab->images, &o, lab_done, lab);
	lab_wait(lab, 1);
	json_decref(changes);
}

static void check_tree(const char *root)
{
	auto_free char *a = xasprintf("%s/bin/a", root);
	auto_free char *b = xasprintf("%s/bin/b", root);
	auto_free char *link = xasprintf("%s/bin/link", root);
	char value[16] = "";
	struct stat x = { 0 }, y = { 0 };

	CHECK_STR(fixture_read(root, "bin/tool"), "tool");
	CHECK_STR(fixture_read(root, "etc/kept"), "kept");
	CHECK(!fixture_exists(root, "etc/dropped"));
	CHECK(!fixture_exists(root, "old/a"));
	CHECK_STR(fixture_read(root, "old/b"), "b");
	CHECK(stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_ino == y.st_ino);
	CHECK_INT(x.st_uid, 1000);
	CHECK_INT(x.st_gid, 1001);
	CHECK_INT(x.st_mode & 07777, 0640);
	CHECK_INT(getxattr(a, "user.note", value, sizeof(value)), 2);
	CHECK_INT(readlink(link, value, sizeof(value)), 1);
	CHECK(fixture_exists(root, "bin/fifo"));
	CHECK(!fixture_exists(root, "bin/device"));
	CHECK_STR(fixture_read(root, "bin/na\303\257ve"), "utf-8");
	CHECK_STR(fixture_read(root, "bin/raw\377"), "not utf-8");
	CHECK(!fixture_exists(root, "etc/hosts"));
	CHECK(fixture_exists(root, "etc/empty"));
	CHECK(!fixture_exists(root, "dev/null"));
}

TEST("what a container changed becomes a layer on its image")
{
	static const struct tar_entry *const layers[] = { base_files };
	struct lab *lab = lab_new("commit");
	auto_free char *scratch = xasprintf("%s/scratch", lab->dir);
	auto_free char *root = xasprintf("%s/root", lab->dir);
	struct err e = ERR_INIT;
	const json_t *config;

	lab_import(lab, layers, 1, "base:1");
	CHECK_INT(images_mount(lab->images, "base:1", scratch, root, false, &e), 0);
	change(root);
	commit(lab, scratch, "lab/changed:2",
	       json_pack("[s,s,s]", "CMD [\"/bin/tool\", \"-x\"]", "ENV A=c", "workdir /old"));
	CHECK_STR(lab->err.text, "");
	CHECK_STR(lab->info.name, "docker.io/lab/changed:2");
	images_unmount(scratch, root);
	config = lab->info.config;
	CHECK_INT(json_array_size(jsonx_at(config, "rootfs.diff_ids")), 2);
	CHECK_STR(json_string_value(json_array_get(jsonx_at(config, "config.Cmd"), 1)), "-x");
	CHECK_STR(json_string_value(json_array_get(jsonx_at(config, "config.Env"), 0)), "A=c");
	CHECK_STR(jsonx_str(config, "config.WorkingDir"), "/old");
	CHECK_STR(jsonx_str(json_array_get(json_object_get(config, "history"), 0), "created_by"),
		  "stoker image commit lab/p");
	CHECK_STR(jsonx_str(json_array_get(json_object_get(config, "history"), 0), "comment"), "by hand");
	CHECK_INT(images_mount(lab->images, "lab/changed:2", scratch, root, false, &e), 0);
	check_tree(root);
	images_unmount(scratch, root);
	/* the base is as it was */
	CHECK_INT(images_mount(lab->images, "base:1", scratch, root, false, &e), 0);
	CHECK_STR(fixture_read(root, "etc/dropped"), "dropped");
	images_unmount(scratch, root);
	lab_free(lab);
}

TEST("a commit that cannot be says why, and leaves nothing")
{
	static const struct tar_entry *const layers[] = { base_files };
	struct lab *lab = lab_new("commit-bad");
	auto_free char *scratch = xasprintf("%s/scratch", lab->dir);
	auto_free char *root = xasprintf("%s/root", lab->dir);
	struct err e = ERR_INIT;

	commit(lab, scratch, "x", NULL);
	CHECK_INT(lab->err.kind, ERR_NOT_FOUND);
	CHECK(strstr(lab->err.text, "not mounted") != NULL);
	lab_import(lab, layers, 1, "base:1");
	CHECK_INT(images_mount(lab->images, "base:1", scratch, root, false, &e), 0);
	commit(lab, scratch, "x", json_pack("[s]", "RUN rm -rf /"));
	CHECK_INT(lab->err.kind, ERR_INVALID);
	CHECK(strstr(lab->err.text, "change 1: \"RUN\" cannot be changed") != NULL);
	commit(lab, scratch, "Bad Name", NULL);
	CHECK_INT(lab->err.kind, ERR_INVALID);
	commit(lab, scratch, "host", NULL);
	CHECK_INT(lab->err.kind, ERR_INVALID);
	images_unmount(scratch, root);
	CHECK_INT(images_mount(lab->images, "host", scratch, root, false, &e), 0);
	commit(lab, scratch, "x", NULL);
	CHECK_INT(lab->err.kind, ERR_INVALID);
	CHECK(strstr(lab->err.text, "start it from an image") != NULL);
	images_unmount(scratch, root);
	lab_free(lab);
}

TEST("the same files give the same layer")
{
	auto_free char *dir = xasprintf("%s/pack", test_dir());
	auto_free char *out = xasprintf("%s/pack.tar", test_dir());
	auto_sbuf struct sbuf first = SBUF(128);
	auto_sbuf struct sbuf second = SBUF(128);
	auto_close int fd = open(out, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	struct err e = ERR_INIT;
	int64_t bytes = 0;

	CHECK_INT(mkdir(dir, 0755), 0);
	put(dir, "b", "2");
	put(dir, "a", "1");
	CHECK_INT(layer_pack(dir, fd, NULL, &first, &bytes, &e), 0);
	CHECK_INT(layer_pack(dir, fd, NULL, &second, &bytes, &e), 0);
	CHECK_STR(first.p, second.p);
	CHECK(bytes > 1024);
	CHECK_INT(layer_pack("/nowhere", fd, NULL, &second, &bytes, &e), -1);
	CHECK_INT(e.kind, ERR_NOT_FOUND);
}

TEST("lines of a Dockerfile change a config")
{
	static const struct {
		const char *line, *want; /* of the whole, or the error */
	} rows[] = {
		{ "CMD [\"a\",\"b\"]", "{\"config\":{\"Cmd\":[\"a\",\"b\"]}}" },
		{ "CMD run it", "{\"config\":{\"Cmd\":[\"/bin/sh\",\"-c\",\"run it\"]}}" },
		{ "CMD [1]", "{\"config\":{\"Cmd\":[\"/bin/sh\",\"-c\",\"[1]\"]}}" },
		{ "entrypoint [\"/e\"]", "{\"config\":{\"Entrypoint\":[\"/e\"]}}" },
		{ "ENV A=b c", "{\"config\":{\"Env\":[\"A=b c\"]}}" },
		{ "ENV A \"b c\"", "{\"config\":{\"Env\":[\"A=b c\"]}}" },
		{ "LABEL k='v'", "{\"config\":{\"Labels\":{\"k\":\"v\"}}}" },
		{ "EXPOSE 80 53/udp", "{\"config\":{\"ExposedPorts\":{\"53/udp\":{},\"80/tcp\":{}}}}" },
		{ " USER  me ", "{\"config\":{\"User\":\"me\"}}" },
		{ "ENV A", "\"A\": NAME=value is expected" },
		{ "WORKDIR", "WORKDIR: a value is expected" },
		{ "", "\"\" cannot be changed; CMD, ENTRYPOINT, ENV, EXPOSE, LABEL, STOPSIGNAL, USER and WORKDIR can" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		json_auto_t *config = json_object();
		struct err e = ERR_INIT;
		char *text;

		if (image_change(config, rows[i].line, &e) < 0) {
			CHECK_STR(e.text, rows[i].want);
			continue;
		}
		text = json_dumps(config, JSON_COMPACT | JSON_SORT_KEYS);
		CHECK_STR(text, rows[i].want);
		free(text);
	}
}
