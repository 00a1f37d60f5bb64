// SPDX-License-Identifier: Apache-2.0
/* image_archive.c - reads the table of contents of an image archive
 *
 * docker-archive: manifest.json, an array with "RepoTags".  OCI: index.json with "manifests", whose annotations may
 * hold a name; a bare tag there ("latest") names nothing.  Archives that are both are read as docker's, which says more
 * about names.
 */
#include "node/image_archive.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/jsonx.h"
#include "base/mem.h"
#include "node/archive_lib.h"
#include "node/image.h"

#define TABLE_MAX   (4u << 20)
#define ENTRIES_MAX 100000
#define IMAGES_MAX  1000

struct tables {
	json_t *docker; /* manifest.json */
	json_t *oci;    /* index.json */
};

static void tables_done(struct tables *t)
{
	json_decref(t->docker);
	json_decref(t->oci);
}

/* A damaged table counts as none. */
static json_t *read_table(const struct archive_lib *lib, struct archive *a)
{
	auto_sbuf struct sbuf text = SBUF(TABLE_MAX);
	struct err e = ERR_INIT;
	json_t *doc = NULL;
	char buf[8192];
	la_ssize_t n;

	while ((n = lib->read_data(a, buf, sizeof(buf))) > 0)
		sbuf_add(&text, buf, (size_t)n);
	if (n < 0 || text.over || jsonx_parse(text.p ? text.p : "", text.n, NULL, NULL, &doc, &e) < 0)
		return NULL;
	return doc;
}

static void read_entries(const struct archive_lib *lib, struct archive *a, struct tables *t)
{
	struct archive_entry *entry;

	for (int n = 0; n < ENTRIES_MAX && lib->read_next_header(a, &entry) >= ARCHIVE_WARN; n++) {
		const char *name = lib->entry_pathname(entry);

		if (name && str_starts(name, "./"))
			name += 2;
		if (name && !t->docker && streq(name, "manifest.json"))
			t->docker = read_table(lib, a);
		else if (name && !t->oci && streq(name, "index.json"))
			t->oci = read_table(lib, a);
		if (t->docker)
			return;
	}
}

static int read_archive(const char *path, struct tables *t, struct err *e)
{
	struct archive_lib lib;
	struct archive *a;
	int r = 0;

	if (archive_lib_load(&lib, e) < 0)
		return -1;
	a = lib.read_new();
	lib.read_support_filter_gzip(a);
	lib.read_support_filter_zstd(a);
	lib.read_support_filter_xz(a);
	lib.read_support_filter_bzip2(a);
	lib.read_support_format_tar(a);
	if (lib.read_open_filename(a, path, 256 * 1024) == ARCHIVE_OK)
		read_entries(&lib, a, t);
	else
		r = err_set(e, ERR_INVALID, "%s: %s", path, lib.error_string(a));
	lib.read_free(a);
	return r;
}

static int read_layout(const char *path, struct tables *t, struct err *e)
{
	auto_free char *index = xasprintf("%s/index.json", path);
	auto_sbuf struct sbuf text = SBUF(TABLE_MAX);

	if (file_read(index, TABLE_MAX, &text, e) < 0)
		return -1;
	if (jsonx_parse(text.p ? text.p : "", text.n, NULL, NULL, &t->oci, e) < 0)
		return err_prefix(e, "%s", index);
	return 0;
}

/* A name as people give it; what is none is left out. */
static void add_name(json_t *names, const char *text)
{
	auto_sbuf struct sbuf normal = SBUF(8192);
	struct err e = ERR_INIT;

	if (text && image_normalize(text, &normal, &e) == 0 && !strchr(normal.p, '@'))
		json_array_append_new(names, json_string(normal.p));
}

static json_t *docker_images(const json_t *table, const char *link)
{
	json_t *list = json_array();
	json_t *image, *tag;
	size_t i, k;

	json_array_foreach (table, i, image) {
		json_t *names = json_array();

		json_array_foreach (json_object_get(image, "RepoTags"), k, tag)
			add_name(names, json_string_value(tag));
		json_array_append_new(list,
				      json_pack("{s:o, s:o}", "source",
						jsonx_stringf("docker-archive:%s:@%zu", link, i), "names", names));
	}
	return list;
}

static const char *annotation(const json_t *descriptor, const char *key)
{
	return json_string_value(json_object_get(json_object_get(descriptor, "annotations"), key));
}

static json_t *oci_images(const json_t *table, const char *link, const char *transport)
{
	const json_t *manifests = json_object_get(table, "manifests");
	bool several = json_array_size(manifests) > 1;
	json_t *list = json_array();
	json_t *d;
	size_t i;

	json_array_foreach (manifests, i, d) {
		const char *ref = annotation(d, "org.opencontainers.image.ref.name");
		const char *full = annotation(d, "io.containerd.image.name");
		json_t *names = json_array();
		json_t *source;

		/* Among several only those with a reference can be picked. */
		if (several && !ref) {
			json_decref(names);
			continue;
		}
		add_name(names, full ? full : ref && strpbrk(ref, "/:") ? ref : NULL);
		source =
			ref ? jsonx_stringf("%s:%s:%s", transport, link, ref) : jsonx_stringf("%s:%s", transport, link);
		json_array_append_new(list, json_pack("{s:o, s:o}", "source", source, "names", names));
	}
	return list;
}

int image_archive_list(const char *path, const char *link, json_t **ret, struct err *e)
{
	struct tables t = { 0 };
	struct stat st;
	json_t *list = NULL;
	bool is_dir;

	if (stat(path, &st) < 0)
		return err_errno(e, ERR_NOT_FOUND, "%s", path);
	is_dir = S_ISDIR(st.st_mode);
	if ((is_dir ? read_layout(path, &t, e) : read_archive(path, &t, e)) < 0) {
		tables_done(&t);
		return -1;
	}
	if (json_is_array(t.docker))
		list = docker_images(t.docker, link);
	else if (json_is_object(t.oci))
		list = oci_images(t.oci, link, is_dir ? "oci" : "oci-archive");
	tables_done(&t);
	if (!json_array_size(list) || json_array_size(list) > IMAGES_MAX) {
		json_decref(list);
		return err_set(e, ERR_INVALID, "%s holds no image (neither a docker-archive nor an OCI one)", path);
	}
	*ret = list;
	return 0;
}
