// SPDX-License-Identifier: Apache-2.0
/* net_lease.c - addresses of pods, in one journal
 *
 * A line {"index", "uid", "ports"} gives an address, a later one for the same index replaces it, and {"index"} alone
 * takes it back.  Lines are appended and not synced: a lease matters as long as the pod lives, and no pod outlives the
 * page cache.  A line that cannot be read is a lease nobody has.  Now and then the journal is written anew with what
 * still holds.  (A file for each lease would cost more than all of a pod's rules: where many files come and go, ext4
 * needs 0.3 ms to make one.)
 *
 * Addresses are handed out in turn, so that one that was just given back is not at once somebody else's.
 */
#include "node/net_lease.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>

#include "base/file.h"
#include "base/jsonx.h"
#include "base/log.h"
#include "base/map.h"
#include "base/mem.h"

#define FIRST_INDEX    2
#define LINE_MAX_BYTES (64 * 1024)
#define JOURNAL_MAX    (256 * 1024 * 1024) /* far more than leases_append() lets it grow to */
#define LINES_SLACK    1024                /* lines that are worth nothing, before it is written anew */

struct leases {
	char *path; /* of the journal */
	int fd;
	size_t lines; /* in it */
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

/* Takes a lease out of the books. */
static void leases_drop(struct leases *l, struct lease *lease)
{
	char key[16];
	size_t i;

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

/* --- the journal --- */

static int line_of(const struct lease *lease, struct sbuf *out, struct err *e)
{
	json_auto_t *doc = json_pack("{s:I, s:s}", "index", (json_int_t)lease->index, "uid", lease->uid);

	if (lease->ports)
		json_object_set(doc, "ports", lease->ports);
	jsonx_dump(doc, out);
	sbuf_addc(out, '\n');
	return out->over ? err_set(e, ERR_TOO_LARGE, "too many ports") : 0;
}

static int cannot_write(const char *path, struct err *e)
{
	return err_errno(e, errno == ENOSPC ? ERR_STORAGE_FULL : ERR_UNAVAILABLE, "cannot write %s", path);
}

/* The journal anew, with what holds. */
static int leases_rewrite(struct leases *l, struct err *e)
{
	auto_free char *temporary = xasprintf("%s.new", l->path);
	auto_close int fd = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);
	auto_sbuf struct sbuf text = SBUF(JOURNAL_MAX);
	size_t i;

	for (i = 0; i < l->n; i++)
		if (line_of(l->all[i], &text, e) < 0)
			return -1;
	if (fd < 0 || (text.n && write(fd, text.p, text.n) != (ssize_t)text.n) || rename(temporary, l->path) < 0) {
		cannot_write(l->path, e);
		unlink(temporary);
		return -1;
	}
	if (l->fd >= 0)
		close(l->fd);
	l->fd = fd;
	fd = -1;
	l->lines = l->n;
	return 0;
}

/* One line more, whole or not at all. */
static int leases_append(struct leases *l, const struct sbuf *line, struct err *e)
{
	off_t end;

	if (l->lines > LINES_SLACK + 2 * l->n && leases_rewrite(l, e) < 0)
		return -1;
	end = lseek(l->fd, 0, SEEK_END);
	if (end < 0 || write(l->fd, line->p, line->n) != (ssize_t)line->n) {
		cannot_write(l->path, e);
		if (end >= 0 && ftruncate(l->fd, end) < 0)
			err_prefix(e, "and it cannot be mended");
		return -1;
	}
	l->lines++;
	return 0;
}

static int lease_save(struct leases *l, const struct lease *lease, struct err *e)
{
	auto_sbuf struct sbuf line = SBUF(LINE_MAX_BYTES);

	return line_of(lease, &line, e) < 0 ? -1 : leases_append(l, &line, e);
}

static void replay_line(struct leases *l, struct str line)
{
	json_auto_t *doc = NULL;
	struct err ignored = ERR_INIT;
	struct lease *lease;
	const char *uid;
	int64_t index;

	if (jsonx_parse(line.p, line.n, NULL, NULL, &doc, &ignored) < 0)
		return;
	index = jsonx_int_or(doc, "index", 0);
	if (index < FIRST_INDEX || index > (int64_t)l->size - 2)
		return;
	lease = leases_find_index(l, (uint32_t)index);
	if (lease)
		leases_drop(l, lease);
	uid = jsonx_str(doc, "uid");
	if (!uid)
		return;
	/* It has moved, and the line that took its old address back was lost. */
	if (map_find(&l->by_uid, uid))
		leases_drop(l, map_find(&l->by_uid, uid));
	lease = xcalloc(1, sizeof(*lease));
	lease->uid = xstrdup(uid);
	lease->index = (uint32_t)index;
	lease->ports = json_incref(json_object_get(doc, "ports"));
	leases_add(l, lease);
}

static int leases_replay(struct leases *l, struct err *e)
{
	auto_sbuf struct sbuf text = SBUF(JOURNAL_MAX);
	struct str rest;
	struct str line;
	size_t i;

	if (file_read(l->path, JOURNAL_MAX, &text, e) < 0) {
		if (e->kind != ERR_NOT_FOUND)
			return -1;
		err_clear(e);
	}
	rest = sbuf_str(&text);
	while (text.n && str_split(&rest, '\n', &line))
		if (line.n)
			replay_line(l, line);
	for (i = 0; i < l->n; i++)
		if (l->all[i]->index > l->last)
			l->last = l->all[i]->index;
	return leases_rewrite(l, e);
}

int leases_open(const char *dir, uint32_t size, struct leases **ret, struct err *e)
{
	struct leases *l;

	if (file_make_dirs(dir, 0700, e) < 0)
		return -1;
	l = xcalloc(1, sizeof(*l));
	l->path = xasprintf("%s/" LEASES_JOURNAL, dir);
	l->fd = -1;
	l->size = size;
	l->last = FIRST_INDEX - 1;
	map_init(&l->by_uid, NULL);
	map_init(&l->by_index, NULL);
	if (leases_replay(l, e) < 0) {
		leases_free(l);
		return -1;
	}
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
	if (l->fd >= 0)
		close(l->fd);
	free(l->path);
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

	lease->ports = json_array_size(ports) ? jsonx_copy(ports) : NULL;
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
	auto_sbuf struct sbuf line = SBUF(LINE_MAX_BYTES);
	struct err e = ERR_INIT;

	sbuf_addf(&line, "{\"index\":%u}\n", lease->index);
	leases_drop(l, lease);
	if (leases_append(l, &line, &e) < 0)
		log_warn("%s; the lease will be dropped at the next start, ignoring", e.text);
}
