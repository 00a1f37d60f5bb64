// SPDX-License-Identifier: Apache-2.0
/* volume_user.c - opening files with the rights of the user they are opened for
 *
 * The kernel checks files against a process' file-system uid and gid and its supplementary groups.  A root server takes
 * on a user's for the few calls between begin and end; changing the file-system uid also lays down the capabilities
 * that override permissions.  There is one thread, so nobody else acts meanwhile.  Not getting our own rights back
 * would be a bug we cannot go on with.
 */
#include <assert.h>
#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <sys/fsuid.h>
#include <unistd.h>

#include "base/mem.h"
#include "node/volume_parts.h"

#define NOBODY_GID 65534

static bool is_fs_uid(uid_t uid)
{
	/* An impossible uid changes nothing; the answer is the present one. */
	return (uid_t)setfsuid((uid_t)-1) == uid;
}

static bool set_groups(uid_t uid)
{
	const struct passwd *pw = getpwuid(uid);
	gid_t gid = pw ? pw->pw_gid : NOBODY_GID;
	int n = 64;
	auto_free gid_t *groups = xcalloc((size_t)n, sizeof(*groups));

	if (pw && getgrouplist(pw->pw_name, gid, groups, &n) < 0) {
		groups = xreallocarray(groups, (size_t)n, sizeof(*groups));
		if (getgrouplist(pw->pw_name, gid, groups, &n) < 0)
			return false;
	}
	if (setgroups(pw ? (size_t)n : 0, groups) < 0)
		return false;
	setfsgid(gid);
	return (gid_t)setfsgid((gid_t)-1) == gid;
}

int volume_user_begin(struct volume_user *u, uid_t uid, struct err *e)
{
	*u = (struct volume_user){ 0 };
	if (uid == (uid_t)-1 || uid == 0 || geteuid() != 0)
		return 0;
	u->ngroups = getgroups(0, NULL);
	if (u->ngroups < 0)
		return err_errno(e, ERR_INTERNAL, "cannot read the server's groups");
	u->groups = xcalloc((size_t)u->ngroups + 1, sizeof(*u->groups));
	u->ngroups = getgroups(u->ngroups, u->groups);
	u->acting = true;
	if (u->ngroups >= 0 && set_groups(uid)) {
		setfsuid(uid);
		if (is_fs_uid(uid))
			return 0;
	}
	volume_user_end(u);
	return err_set(e, ERR_INTERNAL, "cannot act with the rights of user %u", (unsigned)uid);
}

void volume_user_end(struct volume_user *u)
{
	int saved = errno;

	if (u->acting) {
		setfsuid(0);
		setfsgid(getegid());
		if (setgroups((size_t)u->ngroups, u->groups) < 0 || !is_fs_uid(0))
			abort();
	}
	free(u->groups);
	*u = (struct volume_user){ 0 };
	errno = saved;
}
