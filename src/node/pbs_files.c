// SPDX-License-Identifier: Apache-2.0
/* pbs_files.c - the files that a job finds by PBS_NODEFILE and PBS_GPUFILE, and its script
 *
 *	DIR/aux/ID      a line for each slot; everybody may read it
 *	DIR/aux/IDgpu   a line for each card, if there are any
 *	DIR/spool/ID.SC the script, which only its user may read and run
 *
 * Only root writes in these directories, so nobody can have put anything there.  Nothing is synced: a job does not
 * survive the machine either.  For the same reason those of the host's processes are in memory: a file system on disk
 * does not give the inode of a file that is just gone to the next one, and looking for another takes longer the more
 * jobs come and go.
 */
#include "node/pbs_files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/mount.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/jsonx.h"
#include "base/mem.h"
#include "kinds/pbs_id.h"
#include "node/idmap.h"

#define SPOOL    "/var/spool/stoker"
#define TEXT_MAX (16u * 1024 * 1024)
#define ID_MAX   1024

char *pbs_files_dir(const char *data, const char *prefix)
{
	return data ? xasprintf("%s/pbs", data) : xasprintf(SPOOL "/%s", prefix);
}

/* On disk, if that is not allowed here. */
static void keep_in_memory(const char *dir)
{
	if (str_starts(dir, SPOOL "/"))
		(void)!mount("stoker", dir, "tmpfs", MS_NOSUID | MS_NODEV, "mode=0755");
}

static int make_dirs(const char *dir, struct err *e)
{
	static const struct {
		const char *name;
		mode_t mode;
	} rows[] = { { "", 0755 }, { "/aux", 0755 }, { "/spool", 0711 } };

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		auto_free char *path = xasprintf("%s%s", dir, rows[i].name);

		if (file_make_dirs(path, rows[i].mode, e) < 0)
			return -1;
		if (i == 0)
			keep_in_memory(dir);
		/* Whatever mask the server was started with. */
		if (chmod(path, rows[i].mode) < 0)
			return err_errno(e, ERR_INTERNAL, "cannot set the mode of %s", path);
	}
	return 0;
}

static int open_new(const char *dir, const char *path, struct err *e)
{
	int flags = O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC;
	int fd = open(path, flags, 0600);

	if (fd < 0 && errno == ENOENT && make_dirs(dir, e) == 0)
		fd = open(path, flags, 0600);
	if (fd < 0)
		return err_errno(e, errno == ENOSPC ? ERR_STORAGE_FULL : ERR_INTERNAL, "cannot write %s", path);
	return fd;
}

static int put(const struct pbs_place *p, const char *path, struct str text, mode_t mode, bool users, struct err *e)
{
	auto_close int fd = open_new(p->dir, path, e);

	if (fd < 0)
		return -1;
	if (write(fd, text.p, text.n) != (ssize_t)text.n ||
	    (users && idmap_is_whole() && fchown(fd, p->account->uid, p->account->gid) < 0) || fchmod(fd, mode) < 0) {
		err_errno(e, errno == ENOSPC ? ERR_STORAGE_FULL : ERR_INTERNAL, "cannot write %s", path);
		unlink(path);
		return -1;
	}
	return 0;
}

int pbs_files_write(const struct pbs_place *p, struct err *e)
{
	auto_sbuf struct sbuf id = SBUF(ID_MAX), nodes = SBUF(TEXT_MAX), cards = SBUF(TEXT_MAX);
	auto_free char *node_file = NULL, *gpu_file = NULL, *script = NULL;

	pbs_id_of(p->job, p->index, &id);
	if (!id.n || id.over || strchr(id.p, '/'))
		return err_set(e, ERR_INVALID, "ExecFailed: no file can be named after job \"%s\"", id.p ? id.p : "");
	node_file = xasprintf("%s/aux/%s", p->dir, id.p);
	gpu_file = xasprintf("%sgpu", node_file);
	script = xasprintf("%s/spool/%s.SC", p->dir, id.p);
	pbs_node_file(p, &nodes);
	pbs_gpu_file(p, &cards);
	if (put(p, node_file, sbuf_str(&nodes), 0644, false, e) < 0 ||
	    (cards.n && put(p, gpu_file, sbuf_str(&cards), 0644, false, e) < 0))
		return -1;
	if (!pbs_has_script(p))
		return 0;
	return put(p, script, str_of(jsonx_str_or(p->job, "spec.script", "")), 0500, true, e);
}

void pbs_files_remove(const char *node_file)
{
	const char *slash = strrchr(node_file, '/');
	auto_free char *gpu_file = xasprintf("%sgpu", node_file), *script = NULL;
	size_t n = slash ? (size_t)(slash - node_file) : 0;

	/* ".../aux/ID" */
	if (n < strlen("/aux") || memcmp(slash - strlen("/aux"), "/aux", strlen("/aux")) != 0)
		return;
	script = xasprintf("%.*s/spool%s.SC", (int)(n - strlen("/aux")), node_file, slash);
	unlink(node_file);
	unlink(gpu_file);
	unlink(script);
}

static bool is_kept(const json_t *kept, const char *dir, const char *name)
{
	json_t *v;
	size_t i;

	json_array_foreach ((json_t *)kept, i, v) {
		const char *path = json_string_value(v), *slash = strrchr(path, '/');
		size_t n = slash ? strlen(slash + 1) : 0;

		/* "ID", "IDgpu" and "ID.SC" */
		if (n && str_starts(path, dir) && strncmp(name, slash + 1, n) == 0 &&
		    (!name[n] || streq(name + n, "gpu") || streq(name + n, ".SC")))
			return true;
	}
	return false;
}

void pbs_files_sweep(const char *dir, const json_t *kept)
{
	static const char *const names[] = { "aux", "spool" };
	bool empty = true;

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		auto_free char *path = xasprintf("%s/%s", dir, names[i]);
		DIR *d = opendir(path);
		struct dirent *entry;

		while (d && (entry = readdir(d)))
			if (entry->d_name[0] != '.' && !is_kept(kept, dir, entry->d_name))
				unlinkat(dirfd(d), entry->d_name, 0);
		if (d)
			closedir(d);
		empty &= rmdir(path) == 0 || errno == ENOENT;
	}
	if (empty)
		umount2(dir, UMOUNT_NOFOLLOW);
	rmdir(dir);
	rmdir(SPOOL);
}
