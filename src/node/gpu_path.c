// SPDX-License-Identifier: Apache-2.0
/* gpu_path.c - looking around below a root
 *
 * A test gives a directory that plays "/".  Symlinks there must lead to where they would lead inside it, which the
 * kernel resolves as for a chroot.
 */
#include <dirent.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <sys/syscall.h>

#include "base/file.h"
#include "base/jsonx.h"
#include "base/mem.h"
#include "node/gpu_parts.h"

#define TEXT_MAX (1u << 20) /* CDI files and the driver's own are a few hundred kilobytes at most */

char *gpu_path_real(const char *root, const char *path)
{
	struct open_how how = { .flags = O_PATH | O_CLOEXEC, .resolve = RESOLVE_IN_ROOT };
	auto_close int dir = open(*root ? root : "/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	auto_close int fd = dir < 0 ? -1 : (int)syscall(SYS_openat2, dir, path, &how, sizeof(how));
	auto_free char *link = xasprintf("/proc/self/fd/%d", fd);
	char real[4096];
	ssize_t n = fd < 0 ? -1 : readlink(link, real, sizeof(real));

	return n <= 0 || (size_t)n == sizeof(real) ? NULL : xstrndup(real, (size_t)n);
}

char *gpu_path_text(const char *root, const char *path)
{
	auto_sbuf struct sbuf text = SBUF(TEXT_MAX);
	auto_free char *full = gpu_path_real(root, path);
	struct err e = ERR_INIT;

	if (!full || file_read(full, TEXT_MAX, &text, &e) < 0)
		return NULL;
	return sbuf_steal(&text);
}

json_t *gpu_path_names(const char *root, const char *dir, const char *prefix)
{
	auto_free char *full = gpu_path_real(root, dir);
	struct dirent **entries = NULL;
	int n = full ? scandir(full, &entries, NULL, alphasort) : 0;
	json_t *names = json_array();

	for (int i = 0; i < n; i++) {
		if (entries[i]->d_name[0] != '.' && str_starts(entries[i]->d_name, prefix))
			json_array_append_new(names, jsonx_string(entries[i]->d_name));
		free(entries[i]);
	}
	free(entries);
	return names;
}
