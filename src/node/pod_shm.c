// SPDX-License-Identifier: Apache-2.0
/* pod_shm.c - the shared memory of a pod
 *
 * A container that is alone has a /dev/shm of its own, which goes with it.  Several share one, as they share their IPC
 * namespace: it is mounted below the pod's run directory when the first of them starts.
 */
#include <errno.h>
#include <stdio.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/sysinfo.h>

#include "base/jsonx.h"
#include "base/mem.h"
#include "kinds/quantity.h"
#include "node/pod_parts.h"

int64_t pod_shm_bytes(const struct pod *p)
{
	struct sysinfo si;
	int64_t sum = 0;

	for (size_t i = 0; i < p->n; i++) {
		const char *text = jsonx_str(p->ctrs[i].spec, "resources.limits.memory");
		struct quantity q;

		if (p->ctrs[i].init && !p->ctrs[i].sidecar)
			continue;
		if (!text || !quantity_parse(text, &q)) {
			sum = 0;
			break;
		}
		sum += quantity_value(&q);
	}
	if (sum > 0)
		return sum;
	return sysinfo(&si) == 0 ? (int64_t)si.totalram * si.mem_unit / 2 : 64 << 20;
}

/* Something is mounted there: it is on another device than the directory it is in. */
static bool is_mounted(const char *dir, const char *path)
{
	struct stat above;
	struct stat st;

	return lstat(dir, &above) == 0 && lstat(path, &st) == 0 && above.st_dev != st.st_dev;
}

int pod_shm_share(struct pod *p, char **ret, struct err *e)
{
	auto_free char *path = xasprintf("%s/shm", p->run_dir);
	char options[64];

	/* Without root there is no mounting outside of containers. */
	if (p->n < 2 || geteuid() != 0 || jsonx_bool_or(p->obj, "spec.hostIPC", false))
		return 0;
	snprintf(options, sizeof(options), "mode=1777,size=%lld", (long long)pod_shm_bytes(p));
	if (!is_mounted(p->run_dir, path)) {
		if (mkdir(path, 0700) < 0 && errno != EEXIST)
			return err_errno(e, ERR_INTERNAL, "%s", path);
		if (mount("shm", path, "tmpfs", MS_NOSUID | MS_NOEXEC | MS_NODEV, options) < 0)
			return err_errno(e, ERR_INTERNAL, "mount shared memory at %s", path);
	}
	*ret = TAKE(path);
	return 0;
}

void pod_shm_remove(const char *run_dir)
{
	auto_free char *path = xasprintf("%s/shm", run_dir);

	if (is_mounted(run_dir, path))
		umount2(path, MNT_DETACH | UMOUNT_NOFOLLOW);
}
