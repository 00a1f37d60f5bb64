// SPDX-License-Identifier: Apache-2.0
/* image_fixture.h - small images made by hand, and a store that is opened, waited for and closed */
#ifndef STOKER_TEST_IMAGE_FIXTURE_H
#define STOKER_TEST_IMAGE_FIXTURE_H

#include <sys/stat.h>

#include "base/file.h"
#include "base/jsonx.h"
#include "base/mem.h"
#include "loop/crypto.h"
#include "node/image.h"
#include "node/tree.h"
#include "tar.h"
#include "test.h"

/* A data directory with a store in it. */
struct lab {
	char *dir;
	struct loop *loop;
	struct images *images;
	unsigned done; /* answers so far, and the last one */
	struct err err;
	struct image_info info;
	unsigned lines;
};

static inline struct lab *lab_new(const char *name)
{
	struct lab *lab = xcalloc(1, sizeof(*lab));
	struct images_config config;
	struct err e = ERR_INIT;

	lab->dir = xasprintf("%s/%s", test_dir(), name);
	mkdir(lab->dir, 0700);
	lab->loop = loop_new();
	config = (struct images_config){ .dir = lab->dir, .prefix = "01234567" };
	CHECK_INT(images_open(lab->loop, &config, &lab->images, &e), 0);
	CHECK_STR(e.text, "");
	return lab;
}

static inline void lab_free(struct lab *lab)
{
	images_settle(lab->images);
	images_free(lab->images);
	loop_free(lab->loop);
	image_info_done(&lab->info);
	CHECK(tree_remove(lab->dir, NULL));
	free(lab->dir);
	free(lab);
}

static inline void lab_done(void *arg, const struct image_info *info, const struct err *e)
{
	struct lab *lab = arg;

	lab->done++;
	lab->err = *e;
	image_info_done(&lab->info);
	if (info)
		lab->info = (struct image_info){ .id = xstrdup(info->id),
						 .name = xstrdup(info->name),
						 .digest = xstrdup(info->digest),
						 .bytes = info->bytes,
						 .config = json_incref(info->config) };
}

static inline void lab_line(void *arg, const char *line)
{
	(void)line;
	((struct lab *)arg)->lines++;
}

static inline void lab_wait(struct lab *lab, unsigned answers)
{
	while (lab->done < answers)
		loop_turn(lab->loop, false);
	lab->done = 0;
}

static inline void fixture_digest(const void *p, size_t n, struct sbuf *out)
{
	unsigned char hash[SHA256_LEN];

	crypto_sha256(p, n, hash);
	sbuf_adds(out, "sha256:");
	hex_encode(hash, sizeof(hash), out);
}

/* Writes a blob into an OCI layout; its digest is appended to out. */
static inline void fixture_blob(const char *layout, const void *p, size_t n, struct sbuf *out)
{
	size_t start = out->n;
	auto_free char *path = NULL;
	struct err e = ERR_INIT;

	fixture_digest(p, n, out);
	path = xasprintf("%s/blobs/sha256/%s", layout, out->p + start + strlen("sha256:"));
	CHECK_INT(file_write(path, 0644, (struct str){ p, n }, &e), 0);
}

static inline void fixture_file(const char *layout, const char *name, const char *text)
{
	auto_free char *path = xasprintf("%s/%s", layout, name);
	struct err e = ERR_INIT;

	CHECK_INT(file_write(path, 0644, str_of(text), &e), 0);
}

/* An OCI layout with one image; each layer is a list of entries ended by an empty one. */
static inline void fixture_layout(const char *layout, const struct tar_entry *const *layers, size_t n)
{
	auto_free char *blobs = xasprintf("%s/blobs/sha256", layout);
	auto_sbuf struct sbuf diffs = SBUF(65536);
	auto_sbuf struct sbuf descriptors = SBUF(65536);
	auto_sbuf struct sbuf text = SBUF(65536);
	auto_sbuf struct sbuf digest = SBUF(256);
	struct err e = ERR_INIT;
	size_t config_size;

	CHECK_INT(file_make_dirs(blobs, 0755, &e), 0);
	for (size_t i = 0; i < n; i++) {
		auto_sbuf struct sbuf tar = SBUF(1u << 24);
		auto_sbuf struct sbuf id = SBUF(256);

		for (const struct tar_entry *t = layers[i]; t->name; t++)
			tar_add(&tar, t);
		tar_end(&tar);
		fixture_blob(layout, tar.p, tar.n, &id);
		sbuf_addf(&diffs, "%s\"%s\"", i ? "," : "", id.p);
		sbuf_addf(&descriptors,
			  "%s{\"mediaType\":\"application/vnd.oci.image.layer.v1.tar\",\"digest\":\"%s\",\"size\":%zu}",
			  i ? "," : "", id.p, tar.n);
	}
	sbuf_addf(&text,
		  "{\"architecture\":\"amd64\",\"os\":\"linux\",\"created\":\"2020-01-02T03:04:05Z\",\"config\":"
		  "{\"Env\":[\"A=b\"],\"Cmd\":[\"/bin/sh\"]},\"rootfs\":{\"type\":\"layers\",\"diff_ids\":[%s]}}",
		  diffs.p ? diffs.p : "");
	config_size = text.n;
	fixture_blob(layout, text.p, text.n, &digest);
	sbuf_reset(&text);
	sbuf_addf(&text,
		  "{\"schemaVersion\":2,\"mediaType\":\"application/vnd.oci.image.manifest.v1+json\",\"config\":{"
		  "\"mediaType\":\"application/vnd.oci.image.config.v1+json\",\"digest\":\"%s\",\"size\":%zu},"
		  "\"layers\":[%s]}",
		  digest.p, config_size, descriptors.p ? descriptors.p : "");
	sbuf_reset(&digest);
	fixture_blob(layout, text.p, text.n, &digest);
	config_size = text.n;
	sbuf_reset(&text);
	sbuf_addf(&text,
		  "{\"schemaVersion\":2,\"manifests\":[{\"mediaType\":\"application/vnd.oci.image.manifest.v1+json\","
		  "\"digest\":\"%s\",\"size\":%zu}]}",
		  digest.p, config_size);
	fixture_file(layout, "oci-layout", "{\"imageLayoutVersion\":\"1.0.0\"}");
	fixture_file(layout, "index.json", text.p);
}

/* Imports an image made of these layers under a name. */
static inline void lab_import(struct lab *lab, const struct tar_entry *const *layers, size_t n, const char *name)
{
	auto_free char *layout = xasprintf("%s/layout", lab->dir);

	fixture_layout(layout, layers, n);
	images_import(lab->images, layout, name, NULL, lab_done, lab);
	lab_wait(lab, 1);
	CHECK(tree_remove(layout, NULL));
}

/* Text of a file below a directory, "" if there is none. */
static inline const char *fixture_read(const char *dir, const char *name)
{
	static char text[4096];
	auto_free char *path = xasprintf("%s/%s", dir, name);
	auto_sbuf struct sbuf out = SBUF(sizeof(text) - 1);
	struct err e = ERR_INIT;

	text[0] = '\0';
	if (file_read(path, sizeof(text) - 1, &out, &e) == 0)
		snprintf(text, sizeof(text), "%s", out.p ? out.p : "");
	return text;
}

static inline bool fixture_exists(const char *dir, const char *name)
{
	auto_free char *path = xasprintf("%s/%s", dir, name);
	struct stat st;

	return lstat(path, &st) == 0;
}

#endif
