// SPDX-License-Identifier: Apache-2.0
/* host_users.c - asking the name service about users
 *
 * It may be a file or a server far away, and it is asked in the loop: so what it said is believed for a while, and a
 * user with a thousand jobs is looked up once.
 */
#include "node/host_users.h"

#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/map.h"
#include "base/mem.h"

#define BELIEVED_MS 30000
#define TEXTS_MAX   (64 * 1024)
#define GROUPS_MAX  65536

struct entry {
	struct pbs_account account;
	char *name, *home, *shell;
	json_t *groups;
	int64_t at_ms;
};

struct host_users {
	struct map entries;
};

static void entry_free(void *p)
{
	struct entry *e = p;

	free(e->name);
	free(e->home);
	free(e->shell);
	json_decref(e->groups);
	free(e);
}

struct host_users *host_users_new(void)
{
	struct host_users *a = xcalloc(1, sizeof(*a));

	map_init(&a->entries, entry_free);
	return a;
}

void host_users_free(struct host_users *a)
{
	if (!a)
		return;
	map_done(&a->entries);
	free(a);
}

static json_t *groups_of(const struct passwd *pw)
{
	int n = 64;
	gid_t *gids = xreallocarray(NULL, (size_t)n, sizeof(*gids));
	json_t *list = json_array();

	while (getgrouplist(pw->pw_name, pw->pw_gid, gids, &n) < 0 && n <= GROUPS_MAX)
		gids = xreallocarray(gids, (size_t)n, sizeof(*gids));
	for (int i = 0; i < n && n <= GROUPS_MAX; i++)
		json_array_append_new(list, json_integer(gids[i]));
	free(gids);
	return list;
}

int host_users_get(struct host_users *a, const char *name, const struct pbs_account **ret, struct err *e)
{
	struct entry *known = map_find(&a->entries, name), *new;
	auto_free char *texts = NULL;
	struct passwd pw, *found = NULL;
	int rc;

	if (known && clock_mono_ms() - known->at_ms < BELIEVED_MS) {
		*ret = &known->account;
		return 0;
	}
	texts = xmalloc(TEXTS_MAX);
	rc = getpwnam_r(name, &pw, texts, TEXTS_MAX, &found);
	if (!found && (rc == 0 || rc == ENOENT || rc == ESRCH))
		return err_set(e, ERR_NOT_FOUND, "user %s is not known on this machine", name);
	if (!found) {
		errno = rc;
		return err_errno(e, ERR_UNAVAILABLE, "cannot look up user %s", name);
	}
	new = xcalloc(1, sizeof(*new));
	new->name = xstrdup(name);
	new->home = xstrdup(pw.pw_dir && *pw.pw_dir ? pw.pw_dir : "/");
	new->shell = xstrdup(pw.pw_shell && *pw.pw_shell ? pw.pw_shell : "/bin/sh");
	new->groups = groups_of(&pw);
	new->at_ms = clock_mono_ms();
	new->account = (struct pbs_account){ new->name,           new->home,           new->shell,
					     (uint32_t)pw.pw_uid, (uint32_t)pw.pw_gid, new->groups };
	map_set(&a->entries, name, new);
	*ret = &new->account;
	return 0;
}

bool host_user_has_group(const struct pbs_account *a, const char *group, uint32_t *ret_gid)
{
	auto_free char *texts = xmalloc(TEXTS_MAX);
	struct group gr, *found = NULL;
	json_t *gid;
	size_t i;

	if (getgrnam_r(group, &gr, texts, TEXTS_MAX, &found) != 0 || !found)
		return false;
	*ret_gid = (uint32_t)gr.gr_gid;
	json_array_foreach ((json_t *)a->groups, i, gid)
		if (json_integer_value(gid) == (json_int_t)gr.gr_gid)
			return true;
	return gr.gr_gid == a->gid;
}

bool host_group_name(int64_t gid, char *out, size_t n)
{
	auto_free char *texts = xmalloc(TEXTS_MAX);
	struct group gr, *found = NULL;

	if (getgrgid_r((gid_t)gid, &gr, texts, TEXTS_MAX, &found) != 0 || !found)
		return false;
	return (size_t)snprintf(out, n, "%s", gr.gr_name) < n;
}
