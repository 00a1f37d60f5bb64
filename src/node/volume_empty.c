// SPDX-License-Identifier: Apache-2.0
/* volume_empty.c - emptyDir: a directory that begins empty and ends with the pod, on disk or in memory
 *
 * Memory is a tmpfs, which keeps its own limit.  On disk a limit is watched instead: volumes_usage() counts, and
 * whoever asked evicts.  A small tree is counted on the spot, a large one by a process of its own (volume_job.c), whose
 * last figure is used meanwhile.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include "base/jsonx.h"
#include "base/mem.h"
#include "base/tree_size.h"
#include "kinds/quantity.h"
#include "node/volume_parts.h"

#define INLINE_FILES 2000 /* about 5 ms when cached */
#define DIR_MODE     0777 /* Kubernetes' */

int volume_make_dir(const char *path, mode_t mode, struct err *e)
{
	mode_t old = umask(0);
	int r = mkdir(path, mode);

	umask(old);
	return r == 0 || errno == EEXIST ? 0 : err_errno(e, ERR_INTERNAL, "cannot make %s", path);
}

int volume_mount_memory(const struct volume *v, int64_t bytes, struct err *e)
{
	char options[64];

	if (volume_is_mounted(v->path))
		return 0;
	if (volume_make_dir(v->path, DIR_MODE, e) < 0)
		return -1;
	if (geteuid() != 0 || v->base == v->c->memory)
		return 0;
	snprintf(options, sizeof(options), "mode=1777,size=%lld", (long long)bytes);
	if (mount("tmpfs", v->path, "tmpfs", MS_NOSUID | MS_NODEV, options) < 0)
		return err_errno(e, ERR_INTERNAL, "cannot mount a tmpfs of %lld bytes", (long long)bytes);
	/* Whoever unmounts a copy of it elsewhere must not unmount it here. */
	(void)mount(NULL, v->path, NULL, MS_PRIVATE, NULL);
	return 0;
}

static int64_t half_of_memory(void)
{
	struct sysinfo info;

	return sysinfo(&info) == 0 ? (int64_t)((uint64_t)info.totalram * info.mem_unit / 2) : 1 << 30;
}

/* 0: none. */
static int64_t size_limit(const json_t *source)
{
	struct quantity q;

	return quantity_parse(jsonx_str_or(source, "sizeLimit", ""), &q) && q.nano > 0 ? quantity_value(&q) : 0;
}

/* Once: what containers make of it later is their affair. */
static int give_to_group(const struct volume *v, struct err *e)
{
	auto_close int fd = open(v->path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0 ||
	    (st.st_gid != v->c->fs_group && volume_own_fd(fd, v->c->fs_group, false) < 0))
		return err_errno(e, ERR_INTERNAL, "cannot give %s to group %u", v->path, (unsigned)v->c->fs_group);
	return 0;
}

int volume_empty_prepare(const struct volume *v, struct err *e)
{
	const char *medium = jsonx_str_or(v->source, "medium", "");
	int64_t limit = size_limit(v->source);
	int r;

	if (*medium && !streq(medium, "Memory"))
		return err_set(e, ERR_INVALID, "emptyDir medium \"%s\" is not supported: use \"\" or \"Memory\"",
			       medium);
	if (*medium)
		r = volume_mount_memory(v, limit ? limit : half_of_memory(), e);
	else
		r = volume_make_dir(v->path, DIR_MODE, e);
	return r < 0 || v->c->fs_group == (gid_t)-1 ? r : give_to_group(v, e);
}

/* ---- how much is in it ---- */

/* Bytes; *ret_whole is false if there was more than `files` of them. */
static int64_t count_tree(const char *path, int64_t files, bool *ret_whole)
{
	struct tree_size t = { .left = files };

	(void)tree_size(path, &t);
	*ret_whole = t.left > 0;
	return t.bytes;
}

static void count_in_child(const void *arg, struct sbuf *result)
{
	bool whole;

	sbuf_addf(result, "%lld", (long long)count_tree(arg, INT64_MAX, &whole));
}

int64_t volume_tree_bytes(const char *dir, const char *name, const char *path)
{
	auto_sbuf struct sbuf last = SBUF(4096);
	auto_free char *job = xasprintf("usage-%s", name);
	struct err e = ERR_INIT;
	bool whole;
	int64_t bytes = count_tree(path, INLINE_FILES, &whole);
	int64_t before = 0;

	if (whole)
		return bytes;
	if (volume_job_look(dir, job, &last) != VOLUME_JOB_RUNNING)
		(void)volume_job_start(dir, job, count_in_child, NULL, path, &e);
	if (last.n)
		str_int64(last.p, 0, INT64_MAX, &before);
	return before > bytes ? before : bytes;
}

int64_t volumes_usage(const struct volume_context *c, const json_t **ret_over)
{
	int64_t sum = 0;
	json_t *spec;
	size_t i;

	if (ret_over)
		*ret_over = NULL;
	json_array_foreach (jsonx_at(c->pod, "spec.volumes"), i, spec) {
		const json_t *source = json_object_get(spec, "emptyDir");
		auto_free char *path = xasprintf("%s/%s", c->dir, jsonx_str_or(spec, "name", ""));
		int64_t limit = size_limit(source);
		int64_t bytes;

		if (!source || *jsonx_str_or(source, "medium", ""))
			continue;
		bytes = volume_tree_bytes(c->dir, jsonx_str_or(spec, "name", ""), path);
		sum += bytes;
		if (limit && bytes > limit && ret_over && !*ret_over)
			*ret_over = spec;
	}
	return sum;
}
