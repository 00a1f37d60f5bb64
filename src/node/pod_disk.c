// SPDX-License-Identifier: Apache-2.0
/* pod_disk.c - a pod that takes more disk than it may is evicted
 *
 * What counts is what the pod writes on this machine: its containers' own layers, their logs, and emptyDirs on disk.
 * Only pods with a limit are looked at, every two seconds; large trees are counted by another process.
 */
#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "base/jsonx.h"
#include "base/mem.h"
#include "kinds/quantity.h"
#include "node/pod_parts.h"

#define LOOK_MS  2000
#define RESOURCE "ephemeral-storage"

static const char *limit_text(const struct ctr *c)
{
	return json_string_value(json_object_get(jsonx_at(c->spec, "resources.limits"), RESOURCE));
}

static int64_t limit_of(const struct ctr *c)
{
	const char *text = limit_text(c);
	struct quantity q;

	return text && quantity_parse(text, &q) ? quantity_value(&q) : 0;
}

static bool has_limits(const struct pod *p)
{
	json_t *v;
	size_t i;

	for (i = 0; i < p->n; i++)
		if (limit_of(&p->ctrs[i]))
			return true;
	json_array_foreach (jsonx_at(p->obj, "spec.volumes"), i, v)
		if (jsonx_at(v, "emptyDir.sizeLimit") && !*jsonx_str_or(v, "emptyDir.medium", ""))
			return true;
	return false;
}

/* The logs of a container are a handful of files in one directory. */
static int64_t log_bytes(const struct ctr *c)
{
	const char *slash = c->log_path ? strrchr(c->log_path, '/') : NULL;
	auto_free char *path = slash ? xstrndup(c->log_path, (size_t)(slash - c->log_path)) : NULL;
	DIR *d = path ? opendir(path) : NULL;
	struct dirent *entry;
	int64_t sum = 0;

	while (d && (entry = readdir(d))) {
		struct stat st;

		if (fstatat(dirfd(d), entry->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(st.st_mode))
			sum += (int64_t)st.st_blocks * 512;
	}
	if (d)
		closedir(d);
	return sum;
}

static void evict(struct pod *p, char *message /* taken */)
{
	events_note(p->parts->events, p->obj, "Warning", "Evicted", "%s", message);
	pod_fail(p, "Evicted", message);
	free(message);
}

/* True if a container is over its own limit; *sum grows by what each takes. */
static bool check_containers(struct pod *p, const char *dir, int64_t *sum, int64_t *ret_allowed)
{
	bool all_limited = true;

	*ret_allowed = 0;
	for (size_t i = 0; i < p->n; i++) {
		struct ctr *c = &p->ctrs[i];
		auto_free char *scratch = ctr_scratch(c);
		auto_free char *upper = xasprintf("%s/upper", scratch);
		auto_free char *job = xasprintf("container-%s", c->name);
		int64_t bytes = volume_tree_bytes(dir, job, upper) + log_bytes(c);
		int64_t limit = limit_of(c);

		*sum += bytes;
		if (limit && bytes > limit) {
			evict(p, xasprintf("Container %s exceeded its local ephemeral storage limit \"%s\". ", c->name,
					   limit_text(c)));
			return true;
		}
		if (!c->init)
			*ret_allowed += limit;
		all_limited &= limit || c->init;
	}
	if (!all_limited)
		*ret_allowed = 0;
	return false;
}

static void on_look(void *arg)
{
	struct pod *p = arg;
	json_auto_t *objects = pod_objects(p);
	auto_free char *dir = xasprintf("%s/volumes", p->dir);
	struct volume_context v;
	const json_t *over = NULL;
	int64_t allowed;
	int64_t sum;

	if (p->over || p->failed)
		return;
	pod_volume_context(p, objects, &v);
	v.dir = dir;
	sum = volumes_usage(&v, &over);
	if (over) {
		evict(p, xasprintf("Usage of EmptyDir volume \"%s\" exceeds the limit \"%s\". ",
				   jsonx_str_or(over, "name", ""), jsonx_str_or(over, "emptyDir.sizeLimit", "")));
		return;
	}
	if (check_containers(p, dir, &sum, &allowed))
		return;
	if (allowed && sum > allowed) {
		struct quantity q = { .nano = (__int128)allowed * 1000000000, .format = 'b' };
		char text[QUANTITY_TEXT];

		quantity_text(&q, text);
		evict(p,
		      xasprintf("Pod ephemeral local storage usage exceeds the total limit of containers %s. ", text));
		return;
	}
	loop_timer_set(p->parts->loop, &p->disk, LOOK_MS);
}

void pod_disk_watch(struct pod *p)
{
	if (p->parts->fake || p->disk.fire || !has_limits(p))
		return;
	p->disk = (struct loop_timer){ .fire = on_look, .arg = p };
	loop_timer_set(p->parts->loop, &p->disk, LOOK_MS);
}
