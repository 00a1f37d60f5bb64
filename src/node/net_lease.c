// SPDX-License-Identifier: Apache-2.0
/* net_lease.c - addresses of pods, one small file each
 *
 * The file DIR/<index> holds {"uid", "ports"}.  It is renamed into place but not synced: a lease matters as long as the
 * pod lives, and no pod outlives the page cache.  What cannot be read is a lease nobody has.
 *
 * Addresses are handed out in turn, so that one that was just given back is not at once somebody else's.
 */
#include "node/net_lease.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>

#include "base/file.h"
#include "base/jsonx.h"
#include "base/map.h"
#include "base/mem.h"

#define FIRST_INDEX    2
#define LEASE_FILE_MAX (64 * 1024)

struct leases {
	char *dir;
	uint32_t size;
	uint32_t last; /* handed out */
	struct map by_uid;
	struct map by_index;
	struct lease **all;
	size_t n, cap;
};

static void lease_free(struct lease *lease)
{
	free(lease->uid);
	json_decref(lease->ports);
	free(lease);
}

static void index_key(uint32_t index, char out[16])
{
	snprintf(out, 16, "%u", index);
}

static void leases_add(struct leases *l, struct lease *lease)
{
	char key[16];

	index_key(lease->index, key);
	map_set(&l->by_uid, lease->uid, lease);
	map_set(&l->by_index, key, lease);
	ARRAY_PUSH(l->all, l->n, l->cap, lease);
}

static void lease_load(struct leases *l, const char *name)
{
	auto_free char *path = xasprintf("%s/%s", l->dir, name);
	auto_sbuf struct sbuf text = SBUF(LEASE_FILE_MAX);
	json_auto_t *doc = NULL;
	struct err ignored = ERR_INIT;
	struct lease *lease;
	const char *uid;
	int64_t index;

	if (!str_int64(name, FIRST_INDEX, (int64_t)l->size - 2, &index) ||
	    file_read(path, LEASE_FILE_MAX, &text, &ignored) < 0 ||
	    jsonx_parse(text.p ? text.p : "", text.n, NULL, NULL, &doc, &ignored) < 0) {
		unlink(path);
		return;
	}
	uid = jsonx_str(doc, "uid");
	if (!uid || map_find(&l->by_uid, uid)) {
		unlink(path);
		return;
	}
	lease = xcalloc(1, sizeof(*lease));
	lease->uid = xstrdup(uid);
	lease->index = (uint32_t)index;
	lease->ports = json_incref(json_object_get(doc, "ports"));
	leases_add(l, lease);
	if (lease->index > l->last)
		l->last = lease->index;
}

int leases_open(const char *dir, uint32_t size, struct leases **ret, struct err *e)
{
	struct leases *l;
	struct dirent *entry;
	DIR *d;

	if (file_make_dirs(dir, 0700, e) < 0)
		return -1;
	d = opendir(dir);
	if (!d)
		return err_errno(e, ERR_UNAVAILABLE, "cannot read %s", dir);
	l = xcalloc(1, sizeof(*l));
	l->dir = xstrdup(dir);
	l->size = size;
	l->last = FIRST_INDEX - 1;
	map_init(&l->by_uid, NULL);
	map_init(&l->by_index, NULL);
	while ((entry = readdir(d)))
		if (entry->d_name[0] != '.')
			lease_load(l, entry->d_name);
	closedir(d);
	*ret = l;
	return 0;
}

void leases_free(struct leases *l)
{
	size_t i;

	if (!l)
		return;
	for (i = 0; i < l->n; i++)
		lease_free(l->all[i]);
	free(l->all);
	map_done(&l->by_uid);
	map_done(&l->by_index);
	free(l->dir);
	free(l);
}

struct lease *leases_find(const struct leases *l, const char *uid)
{
	return map_find(&l->by_uid, uid);
}

struct lease *leases_find_index(const struct leases *l, uint32_t index)
{
	char key[16];

	index_key(index, key);
	return map_find(&l->by_index, key);
}

size_t leases_count(const struct leases *l)
{
	return l->n;
}

struct lease *leases_at(const struct leases *l, size_t i)
{
	return l->all[i];
}

static int lease_save(const struct leases *l, const struct lease *lease, struct err *e)
{
	auto_free char *path = xasprintf("%s/%u", l->dir, lease->index);
	auto_free char *temporary = xasprintf("%s/.%u", l->dir, lease->index);
	json_auto_t *doc = json_pack("{s:s}", "uid", lease->uid);
	auto_sbuf struct sbuf text = SBUF(LEASE_FILE_MAX);
	auto_close int fd = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	if (lease->ports)
		json_object_set(doc, "ports", lease->ports);
	jsonx_dump(doc, &text);
	if (text.over)
		return err_set(e, ERR_TOO_LARGE, "too many ports");
	if (fd < 0 || write(fd, text.p, text.n) != (ssize_t)text.n || rename(temporary, path) < 0) {
		err_errno(e, errno == ENOSPC ? ERR_STORAGE_FULL : ERR_UNAVAILABLE, "cannot write %s", path);
		unlink(temporary);
		return -1;
	}
	return 0;
}

/* The next free index after the last one, or 0. */
static uint32_t free_index(const struct leases *l)
{
	uint32_t count = l->size > FIRST_INDEX + 1 ? l->size - FIRST_INDEX - 1 : 0;
	uint32_t i;

	for (i = 0; i < count; i++) {
		uint32_t index = FIRST_INDEX + (l->last + 1 - FIRST_INDEX + i) % count;

		if (!leases_find_index(l, index))
			return index;
	}
	return 0;
}

int leases_take(struct leases *l, const char *uid, struct lease **ret, struct err *e)
{
	struct lease *lease = map_find(&l->by_uid, uid);
	uint32_t index;

	if (!lease) {
		index = free_index(l);
		if (!index)
			return err_set(e, ERR_UNAVAILABLE, "all %zu addresses of the pod network are taken", l->n);
		lease = xcalloc(1, sizeof(*lease));
		lease->uid = xstrdup(uid);
		lease->index = index;
		if (lease_save(l, lease, e) < 0) {
			lease_free(lease);
			return -1;
		}
		leases_add(l, lease);
		l->last = index;
	}
	*ret = lease;
	return 0;
}

int leases_set_ports(struct leases *l, struct lease *lease, const json_t *ports, struct err *e)
{
	json_t *old = lease->ports;

	lease->ports = json_array_size(ports) ? json_deep_copy(ports) : NULL;
	if (lease_save(l, lease, e) < 0) {
		json_decref(lease->ports);
		lease->ports = old;
		return -1;
	}
	json_decref(old);
	return 0;
}

void leases_release(struct leases *l, struct lease *lease)
{
	auto_free char *path = xasprintf("%s/%u", l->dir, lease->index);
	char key[16];
	size_t i;

	unlink(path);
	index_key(lease->index, key);
	map_remove(&l->by_uid, lease->uid);
	map_remove(&l->by_index, key);
	for (i = 0; i < l->n; i++)
		if (l->all[i] == lease) {
			l->all[i] = l->all[--l->n];
			break;
		}
	lease_free(lease);
}
