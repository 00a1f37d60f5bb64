// SPDX-License-Identifier: Apache-2.0
/* image_test.c - the store and its mounts, with real overlays: as root */
#include "node/image.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <time.h>
#include <unistd.h>

#include "image_fixture.h"

static const struct tar_entry base[] = {
	{ '5', "./", .mode = 0755 },          { '0', "etc/one", .data = "base" }, { '0', "etc/two", .data = "base" },
	{ '0', "cache/old", .data = "base" }, { '5', "tmp", .mode = 01777 },      { 0 },
};
static const struct tar_entry top[] = {
	{ '5', "./", .mode = 0711 },   { '0', "etc/two", .data = "top" },   { '0', "etc/.wh.one" },
	{ '0', "cache/.wh..wh..opq" }, { '0', "cache/new", .data = "top" }, { 0 },
};
static const struct tar_entry other[] = { { '0', "other", .data = "x" }, { 0 } };
static const struct tar_entry *const two_layers[] = { base, top };
static const struct tar_entry *const one_layer[] = { base };
static const struct tar_entry *const other_layer[] = { other };

static unsigned count_files(const struct lab *lab, const char *folder)
{
	auto_free char *path = xasprintf("%s/images/%s", lab->dir, folder);
	DIR *d = opendir(path);
	unsigned n = 0;

	for (struct dirent *de = d ? readdir(d) : NULL; de; de = readdir(d))
		n += de->d_name[0] != '.';
	if (d)
		closedir(d);
	return n;
}

TEST("an image is imported, found by name and id, and listed")
{
	struct lab *lab = lab_new("import");
	struct image_info info;
	struct err e = ERR_INIT;
	json_auto_t *list = NULL;
	json_auto_t *doc = NULL;

	lab_import(lab, two_layers, 2, "lab/tiny:1");
	CHECK_STR(lab->err.text, "");
	CHECK_STR(lab->info.name, "docker.io/lab/tiny:1");
	CHECK_INT(images_find(lab->images, "lab/tiny:1", &info, &e), 0);
	CHECK_STR(info.id, lab->info.id);
	CHECK_STR(jsonx_str(info.config, "created"), "2020-01-02T03:04:05Z");
	CHECK(info.bytes > 0);
	image_info_done(&info);
	CHECK_INT(images_find(lab->images, lab->info.id, &info, &e), 0);
	CHECK_STR(info.name, "docker.io/lab/tiny:1");
	image_info_done(&info);
	lab->info.id[strlen("sha256:") + 12] = '\0';
	CHECK_INT(images_find(lab->images, lab->info.id + strlen("sha256:"), &info, &e), 0);
	image_info_done(&info);
	CHECK_INT(images_find(lab->images, "lab/tiny:2", &info, &e), -1);
	CHECK_INT(e.kind, ERR_NOT_FOUND);
	list = images_list(lab->images);
	CHECK_INT(json_array_size(list), 1);
	CHECK_STR(jsonx_str(json_array_get(list, 0), "created"), "2020-01-02T03:04:05Z");
	CHECK_INT(images_inspect(lab->images, "lab/tiny:1", &doc, &e), 0);
	CHECK_INT(json_array_size(json_object_get(doc, "layers")), 2);
	lab_free(lab);
}

static void mount_paths(const struct lab *lab, char **ret_scratch, char **ret_target)
{
	*ret_scratch = xasprintf("%s/pods/scratch", lab->dir);
	*ret_target = xasprintf("%s/pods/root", lab->dir);
}

TEST("layers are stacked with their whiteouts, and writing stays in the scratch")
{
	struct lab *lab = lab_new("mount,with:odd \\name");
	auto_free char *scratch = NULL;
	auto_free char *target = NULL;
	struct err e = ERR_INIT;
	struct stat st;

	mount_paths(lab, &scratch, &target);
	lab_import(lab, two_layers, 2, "tiny");
	CHECK_STR(lab->err.text, "");
	CHECK_INT(images_mount(lab->images, "tiny", scratch, target, false, &e), 0);
	CHECK_STR(e.text, "");
	CHECK_STR(fixture_read(target, "etc/two"), "top");
	CHECK(!fixture_exists(target, "etc/one"));
	CHECK(!fixture_exists(target, "cache/old"));
	CHECK_STR(fixture_read(target, "cache/new"), "top");
	CHECK_INT(stat(target, &st), 0);
	CHECK_INT(st.st_mode & 07777, 0711);
	fixture_file(target, "etc/two", "mine");
	CHECK_STR(fixture_read(target, "etc/two"), "mine");
	CHECK_STR(fixture_read(scratch, "upper/etc/two"), "mine");
	/* Asked for again, as after a restart: what was written is still there. */
	CHECK_INT(images_mount(lab->images, "tiny", scratch, target, false, &e), 0);
	CHECK_STR(fixture_read(target, "etc/two"), "mine");
	images_unmount(scratch, target);
	CHECK(!fixture_exists(target, "etc"));
	CHECK(!fixture_exists(scratch, "."));
	CHECK_INT(count_files(lab, "refs"), 0);
	CHECK_INT(images_mount(lab->images, "tiny", scratch, target, false, &e), 0);
	CHECK_STR(fixture_read(target, "etc/two"), "top");
	images_unmount(scratch, target);
	images_unmount(scratch, target);
	lab_free(lab);
}

TEST("a read-only root file system cannot be written")
{
	struct lab *lab = lab_new("read-only");
	auto_free char *scratch = NULL;
	auto_free char *target = NULL;
	auto_free char *file = NULL;
	struct err e = ERR_INIT;

	mount_paths(lab, &scratch, &target);
	file = xasprintf("%s/new", target);
	lab_import(lab, one_layer, 1, "tiny");
	CHECK_INT(images_mount(lab->images, "tiny", scratch, target, true, &e), 0);
	CHECK(open(file, O_WRONLY | O_CREAT | O_CLOEXEC, 0600) < 0);
	images_unmount(scratch, target);
	lab_free(lab);
}

static bool mounts_mention(const char *text)
{
	auto_sbuf struct sbuf mounts = SBUF(16u << 20);
	struct err e = ERR_INIT;

	file_read("/proc/self/mountinfo", 16u << 20, &mounts, &e);
	return mounts.p && strstr(mounts.p, text);
}

/* What lies beside this program is found last. */
static void check_own_path(const json_t *config)
{
	const char *path = json_string_value(json_array_get(jsonx_at(config, "config.Env"), 0));
	char own[PATH_MAX] = "";

	CHECK(readlink("/proc/self/exe", own, sizeof(own) - 1) > 0);
	*strrchr(own, '/') = '\0';
	CHECK(path && strrchr(path, ':') && streq(strrchr(path, ':') + 1, own));
}

TEST("the image host is this machine without its mounts, /tmp and the data directory")
{
	static const char *const empty[] = { "proc", "sys", "dev", "run", "tmp" };
	struct lab *lab = lab_new("host");
	auto_free char *scratch = NULL;
	auto_free char *target = NULL;
	auto_free char *real = realpath(lab->dir, NULL);
	auto_free char *hidden = NULL;
	struct image_info info;
	struct err e = ERR_INIT;
	struct stat a, b;

	mount_paths(lab, &scratch, &target);
	hidden = xasprintf("%s%s", target, real);
	CHECK_INT(images_find(lab->images, "host", &info, &e), 0);
	check_own_path(info.config);
	image_info_done(&info);
	CHECK_INT(images_mount(lab->images, "host", scratch, target, false, &e), 0);
	CHECK_STR(e.text, "");
	CHECK(fixture_exists(target, "etc/passwd"));
	CHECK(fixture_exists(target, "usr/bin/env"));
	for (size_t i = 0; i < ARRAY_SIZE(empty); i++) {
		auto_free char *path = xasprintf("%s/%s", target, empty[i]);
		DIR *d = opendir(path);
		unsigned n = 0;

		for (struct dirent *de = d ? readdir(d) : NULL; de; de = readdir(d))
			n++;
		/* "." and "..", and one name: in /tmp the data directory's own way, in /run that to a pod's token. */
		if (!d || n > (str_starts(real + 1, empty[i]) || streq(empty[i], "run") ? 3u : 2u))
			test_fail(__FILE__, __LINE__, "/%s is not empty (%u)", empty[i], n);
		if (d)
			closedir(d);
	}
	CHECK(fixture_exists(target, "run/secrets/kubernetes.io/serviceaccount"));
	CHECK(!fixture_exists(hidden, "images"));
	CHECK(stat("/etc", &a) == 0);
	fixture_file(target, "etc/stoker-unit-test", "x");
	CHECK(!fixture_exists("/etc", "stoker-unit-test"));
	CHECK(stat("/", &a) == 0 && stat(target, &b) == 0);
	CHECK_INT(a.st_mode, b.st_mode);
	images_unmount(scratch, target);
	CHECK(!fixture_exists(target, "etc"));
	lab_free(lab);
	CHECK(!mounts_mention(real));
}

TEST("the host image that a killed server left goes with the next one, not with a command")
{
	struct lab *lab = lab_new("left");
	struct images_config command = { .dir = lab->dir, .patient = true };
	struct images_config server = { .dir = lab->dir };
	auto_free char *scratch = NULL;
	auto_free char *target = NULL;
	auto_free char *real = realpath(lab->dir, NULL);
	struct images *opener = NULL;
	struct err e = ERR_INIT;

	mount_paths(lab, &scratch, &target);
	CHECK_INT(images_mount(lab->images, "host", scratch, target, false, &e), 0);
	images_unmount(scratch, target);
	CHECK_INT(images_open(lab->loop, &command, &opener, &e), 0);
	images_free(opener);
	CHECK(mounts_mention(real));
	CHECK_INT(images_open(lab->loop, &server, &opener, &e), 0);
	images_free(opener);
	CHECK(!mounts_mention(real));
	lab_free(lab);
}

TEST("a mount that fails leaves nothing behind")
{
	struct lab *lab = lab_new("failed-mount");
	auto_free char *scratch = NULL;
	auto_free char *target = NULL;
	auto_free char *cmd = xasprintf("rm -rf '%s'/images/layers/*", lab->dir);
	struct err e = ERR_INIT;

	mount_paths(lab, &scratch, &target);
	CHECK_INT(images_mount(lab->images, "nothing", scratch, target, false, &e), -1);
	CHECK_INT(e.kind, ERR_NOT_FOUND);
	lab_import(lab, one_layer, 1, "tiny");
	CHECK_INT(system(cmd), 0);
	CHECK_INT(images_mount(lab->images, "tiny", scratch, target, false, &e), -1);
	CHECK_INT(e.kind, ERR_NOT_FOUND);
	CHECK(strstr(e.text, "fetch the image again") != NULL);
	CHECK(!fixture_exists(scratch, "."));
	CHECK_INT(count_files(lab, "refs"), 0);
	CHECK(!mounts_mention(lab->dir));
	lab_free(lab);
}

TEST("an image of a hundred layers is mounted")
{
	static const struct tar_entry *many[100];
	static struct tar_entry entries[100][2];
	static char names[100][16];
	struct lab *lab = lab_new("many");
	auto_free char *scratch = NULL;
	auto_free char *target = NULL;
	struct err e = ERR_INIT;

	for (int i = 0; i < 100; i++) {
		snprintf(names[i], sizeof(names[i]), "file-%d", i);
		entries[i][0] = (struct tar_entry){ '0', names[i], .data = names[i] };
		many[i] = entries[i];
	}
	mount_paths(lab, &scratch, &target);
	lab_import(lab, many, 100, "many");
	CHECK_STR(lab->err.text, "");
	CHECK_INT(images_mount(lab->images, "many", scratch, target, false, &e), 0);
	CHECK_STR(e.text, "");
	CHECK_STR(fixture_read(target, "file-0"), "file-0");
	CHECK_STR(fixture_read(target, "file-99"), "file-99");
	images_unmount(scratch, target);
	lab_free(lab);
}

TEST("what a container uses is neither removed nor pruned, and goes when it ends")
{
	const struct images_policy all = { .all = true };
	struct lab *lab = lab_new("in-use");
	auto_free char *scratch = NULL;
	auto_free char *target = NULL;
	json_auto_t *removed = NULL;
	json_auto_t *again = NULL;
	struct err e = ERR_INIT;

	mount_paths(lab, &scratch, &target);
	lab_import(lab, two_layers, 2, "tiny");
	lab_import(lab, other_layer, 1, "other");
	CHECK_INT(count_files(lab, "layers"), 6);
	CHECK_INT(images_mount(lab->images, "tiny", scratch, target, false, &e), 0);
	CHECK_INT(images_remove(lab->images, "tiny", false, &e), -1);
	CHECK_INT(e.kind, ERR_CONFLICT);
	CHECK_INT(images_prune(lab->images, &all, &removed, &e), 0);
	CHECK_INT(json_array_size(removed), 1);
	images_settle(lab->images);
	CHECK_INT(count_files(lab, "layers"), 4);
	/* By force the name goes; the files stay as long as they are needed. */
	CHECK_INT(images_remove(lab->images, "tiny", true, &e), 0);
	images_settle(lab->images);
	CHECK_STR(fixture_read(target, "etc/two"), "top");
	CHECK_INT(count_files(lab, "layers"), 4);
	images_unmount(scratch, target);
	CHECK_INT(images_prune(lab->images, &all, &again, &e), 0);
	images_settle(lab->images);
	CHECK_INT(count_files(lab, "layers"), 0);
	CHECK_INT(count_files(lab, "blobs/sha256"), 0);
	CHECK_INT(count_files(lab, "used"), 0);
	CHECK_INT(count_files(lab, "trash"), 0);
	lab_free(lab);
}

TEST("a shared layer is unpacked once and stays for the other image")
{
	struct lab *lab = lab_new("shared");
	struct err e = ERR_INIT;

	lab_import(lab, one_layer, 1, "a");
	lab_import(lab, two_layers, 2, "b");
	CHECK_INT(count_files(lab, "layers"), 4);
	CHECK_INT(images_remove(lab->images, "a", false, &e), 0);
	images_settle(lab->images);
	CHECK_INT(count_files(lab, "layers"), 4);
	CHECK_INT(images_remove(lab->images, "b", false, &e), 0);
	images_settle(lab->images);
	CHECK_INT(count_files(lab, "layers"), 0);
	lab_free(lab);
}

TEST("names are given, move, and are taken away one by one")
{
	const struct images_policy nameless = { .nameless = true };
	struct lab *lab = lab_new("names");
	json_auto_t *removed = NULL;
	struct image_info info;
	struct err e = ERR_INIT;

	lab_import(lab, one_layer, 1, "a");
	CHECK_INT(images_tag(lab->images, "a", "b:1", &e), 0);
	CHECK_INT(images_tag(lab->images, "a", "Bad", &e), -1);
	CHECK_INT(e.kind, ERR_INVALID);
	CHECK_INT(images_tag(lab->images, "a", "host", &e), -1);
	CHECK_INT(images_remove(lab->images, "a", false, &e), 0);
	CHECK_INT(images_find(lab->images, "a", &info, &e), -1);
	CHECK_INT(images_find(lab->images, "b:1", &info, &e), 0);
	image_info_done(&info);
	/* Another image takes the name. */
	lab_import(lab, other_layer, 1, "b:1");
	CHECK_INT(images_prune(lab->images, &nameless, &removed, &e), 0);
	CHECK_INT(json_array_size(removed), 1);
	CHECK_INT(images_find(lab->images, "b:1", &info, &e), 0);
	CHECK_STR(info.id, lab->info.id);
	image_info_done(&info);
	CHECK_INT(images_remove(lab->images, "host", true, &e), -1);
	lab_free(lab);
}

TEST("a second store on the same directory sees and respects the first")
{
	const struct images_policy all = { .all = true };
	struct lab *lab = lab_new("two");
	struct images_config config = { .dir = lab->dir };
	auto_free char *scratch = NULL;
	auto_free char *target = NULL;
	auto_free char *busy = xasprintf("%s/images/busy", lab->dir);
	auto_free char *lock = xasprintf("%s/images/lock", lab->dir);
	json_auto_t *removed = NULL;
	struct images *second = NULL;
	struct image_info info;
	struct err e = ERR_INIT;
	int fd;

	mount_paths(lab, &scratch, &target);
	CHECK_INT(images_open(lab->loop, &config, &second, &e), 0);
	lab_import(lab, one_layer, 1, "tiny");
	CHECK_INT(images_find(second, "tiny", &info, &e), 0);
	image_info_done(&info);
	CHECK_INT(images_mount(lab->images, "tiny", scratch, target, false, &e), 0);
	CHECK_INT(images_remove(second, "tiny", false, &e), -1);
	CHECK_INT(e.kind, ERR_CONFLICT);
	images_unmount(scratch, target);
	/* While something is brought in, layers without an image are left alone. */
	fd = open(busy, O_RDWR | O_CLOEXEC);
	CHECK_INT(flock(fd, LOCK_SH), 0);
	CHECK_INT(images_remove(second, "tiny", false, &e), 0);
	CHECK_INT(count_files(lab, "layers"), 2);
	close(fd);
	CHECK_INT(images_prune(second, &all, &removed, &e), 0);
	CHECK_INT(count_files(lab, "layers"), 0);
	/* A lock that is never given back does not hang anyone, nor keep containers from starting. */
	lab_import(lab, one_layer, 1, "tiny");
	fd = open(lock, O_RDWR | O_CLOEXEC);
	CHECK_INT(flock(fd, LOCK_EX), 0);
	CHECK_INT(images_tag(second, "tiny", "x", &e), -1);
	CHECK_INT(images_remove(second, "tiny", false, &e), -1);
	CHECK_INT(e.kind, ERR_UNAVAILABLE);
	CHECK_INT(images_mount(second, "tiny", scratch, target, false, &e), 0);
	images_unmount(scratch, target);
	close(fd);
	images_settle(second);
	images_free(second);
	lab_free(lab);
}

TEST("a damaged index is set aside")
{
	struct lab *lab = lab_new("damaged");
	struct err e = ERR_INIT;
	json_auto_t *list = NULL;

	lab_import(lab, one_layer, 1, "tiny");
	fixture_file(lab->dir, "images/index.json", "{\"images\": [tor");
	list = images_list(lab->images);
	CHECK_INT(json_array_size(list), 0);
	CHECK(fixture_exists(lab->dir, "images/index.json.bad"));
	lab_import(lab, one_layer, 1, "tiny");
	CHECK_STR(lab->err.text, "");
	CHECK_INT(images_tag(lab->images, "tiny", "again", &e), 0);
	lab_free(lab);
}

TEST("a blob that was spoilt is fetched again")
{
	struct lab *lab = lab_new("spoilt");
	auto_free char *spoil = xasprintf("for f in '%s'/images/blobs/sha256/*; do echo x >>\"$f\"; done; rm -rf "
					  "'%s'/images/layers/*; rm '%s'/images/index.json",
					  lab->dir, lab->dir, lab->dir);
	int tries = 0;

	lab_import(lab, one_layer, 1, "tiny");
	CHECK_INT(system(spoil), 0);
	do {
		lab_import(lab, one_layer, 1, "tiny");
	} while (lab->err.kind != ERR_NONE && ++tries < 4);
	CHECK_STR(lab->err.text, "");
	lab_free(lab);
}

TEST("hostile images are refused with a reason and leave no layer")
{
	static const struct tar_entry dev[] = { { '2', "dev", .link = "/proc/self/fd" }, { 0 } };
	static const struct tar_entry *const layers[] = { base, dev };
	struct lab *lab = lab_new("hostile");

	lab_import(lab, layers, 2, "evil");
	CHECK_INT(lab->err.kind, ERR_INVALID);
	CHECK(strstr(lab->err.text, "/dev is not an empty directory") != NULL);
	CHECK(lab->info.id == NULL);
	images_settle(lab->images);
	CHECK_INT(count_files(lab, "layers"), 0);
	CHECK_INT(count_files(lab, "tmp"), 0);
	lab_free(lab);
}

TEST("an image travels through both kinds of archive")
{
	static const char *const forms[] = { "docker-archive", "oci-archive" };

	for (size_t i = 0; i < ARRAY_SIZE(forms); i++) {
		struct lab *lab = lab_new(forms[i]);
		auto_free char *path = xasprintf("%s/with:colon.tar", lab->dir);
		auto_free char *id = NULL;
		json_auto_t *layers = NULL;
		struct err e = ERR_INIT;

		lab_import(lab, two_layers, 2, "lab/tiny:v1");
		CHECK_STR(lab->err.text, "");
		id = xstrdup(lab->info.id);
		layers = json_incref(jsonx_at(lab->info.config, "rootfs.diff_ids"));
		images_export(lab->images, "lab/tiny:v1", path, forms[i], NULL, lab_done, lab);
		lab_wait(lab, 1);
		CHECK_STR(lab->err.text, "");
		CHECK_INT(images_remove(lab->images, "lab/tiny:v1", false, &e), 0);
		images_settle(lab->images);
		CHECK_INT(count_files(lab, "layers"), 0);
		images_import(lab->images, path, NULL, NULL, lab_done, lab);
		lab_wait(lab, 1);
		CHECK_STR(lab->err.text, "");
		CHECK_STR(lab->info.name, "docker.io/lab/tiny:v1");
		CHECK(jsonx_equal(layers, jsonx_at(lab->info.config, "rootfs.diff_ids")));
		/* docker's form has a config of its own and so another id. */
		if (streq(forms[i], "oci-archive"))
			CHECK_STR(lab->info.id, id);
		lab_free(lab);
	}
}

TEST("what is no archive, and what has no name, is refused with a reason")
{
	struct lab *lab = lab_new("no-archive");
	auto_free char *path = xasprintf("%s/text", lab->dir);
	auto_free char *layout = xasprintf("%s/layout2", lab->dir);

	fixture_file(lab->dir, "text", "hello");
	images_import(lab->images, path, "x", NULL, lab_done, lab);
	lab_wait(lab, 1);
	CHECK_INT(lab->err.kind, ERR_INVALID);
	images_import(lab->images, "/nowhere/at/all", "x", NULL, lab_done, lab);
	lab_wait(lab, 1);
	CHECK_INT(lab->err.kind, ERR_NOT_FOUND);
	images_import(lab->images, path, "Bad", NULL, lab_done, lab);
	lab_wait(lab, 1);
	CHECK_INT(lab->err.kind, ERR_INVALID);
	fixture_layout(layout, one_layer, 1);
	images_import(lab->images, layout, NULL, NULL, lab_done, lab);
	lab_wait(lab, 1);
	CHECK(strstr(lab->err.text, "give it a name") != NULL);
	images_export(lab->images, "nothing", path, "docker-archive", NULL, lab_done, lab);
	lab_wait(lab, 1);
	CHECK_INT(lab->err.kind, ERR_NOT_FOUND);
	CHECK_STR(fixture_read(lab->dir, "text"), "hello");
	lab_free(lab);
}

TEST("a large scratch is removed beside the loop")
{
	struct lab *lab = lab_new("large");
	auto_free char *scratch = NULL;
	auto_free char *target = NULL;
	struct err e = ERR_INIT;
	const struct timespec pause = { .tv_nsec = 10000000 };

	mount_paths(lab, &scratch, &target);
	lab_import(lab, one_layer, 1, "tiny");
	CHECK_INT(images_mount(lab->images, "tiny", scratch, target, false, &e), 0);
	for (int i = 0; i < 2000; i++) {
		auto_free char *path = xasprintf("%s/f%d", target, i);

		close(open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
	}
	images_unmount(scratch, target);
	CHECK(!fixture_exists(scratch, "."));
	for (int i = 0; i < 1000 && count_files(lab, "trash"); i++)
		nanosleep(&pause, NULL);
	CHECK_INT(count_files(lab, "trash"), 0);
	lab_free(lab);
}

TEST("what a crash left is swept at the next start")
{
	struct lab *lab = lab_new("crash");
	auto_free char *mess = xasprintf("cd '%s/images' && mkdir -p tmp/job-old/out layers/00 trash/x/y && echo x "
					 ">blobs/sha256/11 && echo x >used/22",
					 lab->dir);
	struct images_config config = { .dir = lab->dir };
	struct err e = ERR_INIT;

	lab_import(lab, one_layer, 1, "tiny");
	images_free(lab->images);
	CHECK_INT(system(mess), 0);
	CHECK_INT(images_open(lab->loop, &config, &lab->images, &e), 0);
	images_settle(lab->images);
	CHECK_INT(count_files(lab, "tmp"), 0);
	CHECK_INT(count_files(lab, "trash"), 0);
	CHECK_INT(count_files(lab, "layers"), 2);
	CHECK_INT(count_files(lab, "blobs/sha256"), 3);
	CHECK_INT(count_files(lab, "used"), 1);
	lab_free(lab);
}

TEST("a full disk is told as one, and leaves the store usable")
{
	static struct tar_entry big[] = { { '0', "big" }, { 0 } };
	static const struct tar_entry *const big_layer[] = { big };
	auto_free char *data = xmalloc((3 << 20) + 1);
	auto_free char *disk = xasprintf("%s/full", test_dir());
	auto_free char *layout = xasprintf("%s/full-layout", test_dir());
	struct lab *lab;

	memset(data, 'x', 3 << 20);
	data[3 << 20] = '\0';
	big[0].data = data;
	mkdir(disk, 0700);
	CHECK_INT(mount("tmpfs", disk, "tmpfs", 0, "size=4m"), 0);
	lab = lab_new("full/lab");
	lab_import(lab, one_layer, 1, "tiny");
	CHECK_STR(lab->err.text, "");
	fixture_layout(layout, big_layer, 1);
	images_import(lab->images, layout, "big", NULL, lab_done, lab);
	lab_wait(lab, 1);
	CHECK_INT(lab->err.kind, ERR_STORAGE_FULL);
	CHECK_INT(count_files(lab, "tmp"), 0);
	images_settle(lab->images);
	CHECK_INT(count_files(lab, "blobs/sha256"), 3);
	lab_import(lab, one_layer, 1, "tiny2");
	CHECK_STR(lab->err.text, "");
	lab_free(lab);
	CHECK_INT(umount2(disk, MNT_DETACH), 0);
	CHECK(tree_remove(layout, NULL));
}
