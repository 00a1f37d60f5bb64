// SPDX-License-Identifier: Apache-2.0
/* volume_lab.h - a pod's volumes in a directory of their own, with real mounts, and short words to look at them */
#ifndef STOKER_TEST_NODE_VOLUME_LAB_H
#define STOKER_TEST_NODE_VOLUME_LAB_H

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../api/sample_json.h"
#include "base/file.h"
#include "base/jsonx.h"
#include "base/mem.h"
#include "node/tree.h"
#include "node/volume.h"
#include "test.h"

#define LAB_UID 54321 /* nobody's account */

/* top/: what the host has; top/pod/volumes: the pod's. */
struct lab {
	char *top, *dir;
	json_t *pod, *objects, *roots;
	struct volume_context c;
	struct err e;
};

/* `volumes` is the pod's spec.volumes; @ stands for the lab's directory. */
static inline json_t *lab_json(const struct lab *l, const char *text)
{
	auto_sbuf struct sbuf b = SBUF(1 << 16);

	for (; *text; text++)
		if (*text == '@')
			sbuf_adds(&b, l->top);
		else
			sbuf_addc(&b, *text);
	return sample_json(b.p);
}

static inline void lab_volumes(struct lab *l, const char *volumes)
{
	json_decref(l->pod);
	l->pod = lab_json(l, "{'metadata':{'name':'p','namespace':'n','uid':'u','labels':{'b':'2','a':'x`ny'}},"
			     "'spec':{'containers':[{'name':'c','image':'i','volumeMounts':[{'name':'v','mountPath':"
			     "'/a'},{'name':'v','mountPath':'/b'}]}]}}");
	jsonx_set_new(l->pod, "spec.volumes", lab_json(l, volumes));
	l->c.pod = l->pod;
}

static inline void lab_object(struct lab *l, const char *key, const char *text)
{
	json_object_set_new(l->objects, key, lab_json(l, text));
}

static inline struct lab lab_new(const char *volumes)
{
	struct lab l = { .top = xasprintf("%s/lab-XXXXXX", test_dir()), .e = ERR_INIT };

	if (!mkdtemp(l.top) || chmod(test_dir(), 0755) < 0 || chmod(l.top, 0755) < 0)
		abort();
	l.dir = xasprintf("%s/pod/volumes", l.top);
	l.objects = json_object();
	l.c = (struct volume_context){ .objects = l.objects, .dir = l.dir, .fs_group = (gid_t)-1, .owner = (uid_t)-1 };
	lab_volumes(&l, volumes);
	return l;
}

static inline void lab_done(struct lab *l)
{
	volumes_remove(l->dir);
	CHECK(access(l->dir, F_OK) < 0);
	CHECK(tree_remove(l->top, NULL));
	json_decref(l->pod);
	json_decref(l->objects);
	json_decref(l->roots);
	free(l->dir);
	free(l->top);
}

static inline int lab_prepare(struct lab *l)
{
	l->e = ERR_INIT;
	return volumes_prepare(&l->c, &l->e);
}

/* Prepares and expects that it works. */
static inline void lab_ready(struct lab *l)
{
	if (lab_prepare(l) < 0)
		test_fail(__FILE__, __LINE__, "prepare: %s", l->e.text);
}

/* Prepares and expects this error, without its usual opening; @ stands for the lab's directory. */
#define lab_fails(l, want) lab_fails_at(__FILE__, __LINE__, l, want)
static inline void lab_fails_at(const char *file, int line, struct lab *l, const char *want)
{
	static const char opening[] = "MountVolume.SetUp failed for volume \"v\" : ";
	auto_sbuf struct sbuf b = SBUF(4096);
	const char *got = "(no error)";

	if (lab_prepare(l) < 0)
		got = str_starts(l->e.text, opening) ? l->e.text + strlen(opening) : l->e.text;
	for (; *want; want++)
		if (*want == '@')
			sbuf_adds(&b, l->top);
		else
			sbuf_addc(&b, *want);
	if (!streq(got, b.p))
		test_fail(file, line, "error is\n      \"%s\"\n  not \"%s\"", got, b.p);
}

static inline const char *lab_path(const struct lab *l, const char *rel, char buf[512])
{
	snprintf(buf, 512, "%s/%s", l->top, rel);
	return buf;
}

static inline mode_t lab_mode(const struct lab *l, const char *rel)
{
	char path[512];
	struct stat st;

	return lstat(lab_path(l, rel, path), &st) == 0 ? st.st_mode & 07777 : 0;
}

static inline gid_t lab_gid(const struct lab *l, const char *rel)
{
	char path[512];
	struct stat st;

	return lstat(lab_path(l, rel, path), &st) == 0 ? st.st_gid : (gid_t)-1;
}

static inline bool lab_has(const struct lab *l, const char *rel)
{
	char path[512];
	struct stat st;

	return lstat(lab_path(l, rel, path), &st) == 0;
}

static inline void lab_mkdir(const struct lab *l, const char *rel, mode_t mode)
{
	char path[512];

	CHECK(mkdir(lab_path(l, rel, path), 0700) == 0 || errno == EEXIST);
	CHECK(chmod(path, mode) == 0);
}

static inline void lab_write(const struct lab *l, const char *rel, const char *text)
{
	char path[512];
	FILE *f = fopen(lab_path(l, rel, path), "w");

	CHECK(f && fputs(text, f) >= 0 && fclose(f) == 0);
}

/* "(missing)" if it cannot be read. */
static inline const char *lab_read(const struct lab *l, const char *rel, char buf[512])
{
	char path[512];
	int fd = open(lab_path(l, rel, path), O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, buf, 511);

	if (fd >= 0)
		close(fd);
	if (n < 0)
		return "(missing)";
	buf[n] = '\0';
	return buf;
}

static inline void lab_link(const struct lab *l, const char *target, const char *rel)
{
	char path[512];

	CHECK(symlink(target, lab_path(l, rel, path)) == 0);
}

/* The source of the container's first mount; NULL after an error. */
static inline char *lab_source(struct lab *l, const char *sub_path)
{
	const json_t *c = json_array_get(jsonx_at(l->pod, "spec.containers"), 0);
	char *path = NULL;

	l->e = ERR_INIT;
	if (volume_source(&l->c, c, json_array_get(json_object_get(c, "volumeMounts"), 0), sub_path, &path, &l->e) < 0)
		return NULL;
	return path;
}

/* Everything to wait for is in another process. */
static inline void lab_wait(struct lab *l)
{
	for (int i = 0; i < 6000 && lab_prepare(l) < 0 && l->e.kind == ERR_UNAVAILABLE; i++)
		usleep(10000);
}

#endif
