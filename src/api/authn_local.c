// SPDX-License-Identifier: Apache-2.0
/* authn_local.c - the kernel's word for who is at the other end of the Unix socket
 *
 * Names come from the system's own databases, which may mean a directory server; so the answer is kept for some
 * seconds, and a change of group membership shows after that.  Admins are root, the account that runs the server
 * (who owns every file of it anyway) and members of the configured group.
 *
 * A server in a user namespace sees its own account as root, and all others as one and the same number.  It takes
 * nobody's word but that of its own account there; the others have tokens and certificates.
 */
#include "api/authn_parts.h"

#include <errno.h>
#include <grp.h>
#include <pwd.h>

#include "base/clock.h"
#include "base/mem.h"

#define KEEP_MS    10000
#define MAX_BUFFER (1u << 20) /* a group with thousands of members */
#define MAX_GROUPS 4096

/* The group's name into *ret (owned) or NULL. */
static char *group_name(gid_t gid)
{
	size_t n = 1024;
	struct group grp, *found = NULL;
	int rc = ERANGE;
	char *ret = NULL;

	while (rc == ERANGE && n <= MAX_BUFFER) {
		auto_free char *buf = xmalloc(n);

		rc = getgrgid_r(gid, &grp, buf, n, &found);
		if (rc == 0 && found)
			ret = xstrdup(grp.gr_name);
		n *= 4;
	}
	return ret;
}

/* The account's name (owned) and primary group; NULL if there is none. */
static char *account_name(uid_t uid, gid_t *ret_gid)
{
	size_t n = 1024;
	struct passwd pw, *found = NULL;
	int rc = ERANGE;
	char *ret = NULL;

	while (rc == ERANGE && n <= MAX_BUFFER) {
		auto_free char *buf = xmalloc(n);

		rc = getpwuid_r(uid, &pw, buf, n, &found);
		if (rc == 0 && found) {
			ret = xstrdup(pw.pw_name);
			*ret_gid = pw.pw_gid;
		}
		n *= 4;
	}
	return ret;
}

static void add_unix_groups(struct identity *id, const char *account, gid_t primary)
{
	int n = 64;
	auto_free gid_t *gids = xcalloc((size_t)n, sizeof(*gids));

	while (getgrouplist(account, primary, gids, &n) < 0) {
		if (n > MAX_GROUPS)
			return;
		gids = xreallocarray(gids, (size_t)n, sizeof(*gids));
	}
	for (int i = 0; i < n; i++) {
		auto_free char *name = group_name(gids[i]);
		bool written = name && str_is_utf8(name, strlen(name));
		auto_free char *group = written ? xasprintf("unix:%s", name) : NULL;

		if (group)
			identity_add_group(id, group);
	}
}

/* As this machine knows it. */
static uid_t own_uid(const struct authn *a)
{
	return api_config(a->api)->in_user_namespace ? api_config(a->api)->owner : geteuid();
}

static bool is_admin(const struct authn *a, uid_t uid, const struct identity *id)
{
	const char *configured = api_config(a->api)->admin_group;
	auto_free char *group = configured && *configured ? xasprintf("unix:%s", configured) : NULL;

	return uid == 0 || uid == own_uid(a) || (group && caller_in_group(identity_caller(id), group));
}

static struct identity *look_up(struct authn *a, uid_t uid)
{
	gid_t gid = 0;
	auto_free char *account = account_name(uid, &gid);
	auto_free char *number = xasprintf("%lld", (long long)uid);
	auto_free char *nameless = xasprintf("uid:%s", number);
	/* An account whose name would pass for one of ours, or could not be written, gets its number instead. */
	bool named = account && *account && !strchr(account, ':') && str_is_utf8(account, strlen(account));
	struct identity *id = identity_new(named ? account : nameless, number);

	if (account)
		add_unix_groups(id, account, gid);
	if (is_admin(a, uid, id))
		identity_add_group(id, "system:masters");
	identity_add_group(id, GROUP_AUTHENTICATED);
	identity_set_local(id);
	return id;
}

int authn_local_identity(struct authn *a, uid_t uid, struct identity **ret, struct err *e)
{
	const struct api_config *config = api_config(a->api);
	struct uid_slot *slot = &a->uids[uid % UID_SLOTS];
	int64_t now = clock_mono_ms();

	if (config->in_user_namespace && uid != 0)
		return err_set(e, ERR_UNAUTHORIZED,
			       "this server was started by user %u, not by root, and cannot recognise other users on "
			       "its socket: use a token (stoker token create) or a kubeconfig",
			       (unsigned)config->owner);
	if (!slot->id || slot->uid != uid || now >= slot->until_ms) {
		identity_free(slot->id);
		*slot = (struct uid_slot){ .uid = uid,
					   .until_ms = now + KEEP_MS,
					   .id = look_up(a, config->in_user_namespace ? config->owner : uid) };
	}
	*ret = identity_ref(slot->id);
	return 0;
}
