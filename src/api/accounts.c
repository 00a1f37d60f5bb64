// SPDX-License-Identifier: Apache-2.0
/* accounts.c - see accounts.h
 *
 * The system's databases may mean a directory server, so an answer is kept for some seconds, as in authn_local.c.
 *
 * The numbers of users without an account are 0x70000000 and up: beyond those that distributions, systemd and
 * /etc/subuid give out, within the 31 bits that Kubernetes allows.  They come from a hash of the name, so they need no
 * table and survive everything; with a thousand such users two of them share one with a chance of 1 in 500.
 */
#include "api/accounts.h"

#include <errno.h>
#include <grp.h>
#include <pwd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/str.h"
#include "loop/crypto.h"

#define KEEP_MS    10000
#define SLOTS      64
#define MAX_BUFFER (1u << 20)
#define MAX_GROUPS 4096
#define FIRST_ID   0x70000000u
#define ID_MASK    0x0fffffffu
#define NO_GROUP   65534 /* "nogroup": of accounts that are only a number */

struct accounts {
	struct {
		struct account account;
		int64_t until_ms;
	} slots[SLOTS];
};

struct accounts *accounts_new(void)
{
	return xcalloc(1, sizeof(struct accounts));
}

static void account_done(struct account *acc)
{
	free(acc->name);
	free(acc->groups);
	free(acc->group);
	free(acc->home);
	*acc = (struct account){ 0 };
}

void accounts_free(struct accounts *a)
{
	for (size_t i = 0; a && i < SLOTS; i++)
		account_done(&a->slots[i].account);
	free(a);
}

static void find_groups(struct account *acc)
{
	int n = 64;
	gid_t *gids = xcalloc((size_t)n, sizeof(*gids));

	while (getgrouplist(acc->name, acc->gid, gids, &n) < 0) {
		if (n > MAX_GROUPS) {
			free(gids);
			return;
		}
		gids = xreallocarray(gids, (size_t)n, sizeof(*gids));
	}
	acc->groups = gids;
	for (int i = 0; i < n; i++)
		if (gids[i] != acc->gid)
			gids[acc->ngroups++] = gids[i];
}

/* A group by its name, or by its number if there is none.  False if the system does not know it. */
static bool find_group(gid_t gid, const char *name, gid_t *ret_gid, char **ret_name)
{
	size_t n = 1024;
	struct group gr, *found = NULL;
	int rc = ERANGE;

	while (rc == ERANGE && n <= MAX_BUFFER) {
		auto_free char *buf = xmalloc(n);

		rc = name ? getgrnam_r(name, &gr, buf, n, &found) : getgrgid_r(gid, &gr, buf, n, &found);
		if (rc == 0 && found) {
			*ret_gid = gr.gr_gid;
			if (ret_name)
				*ret_name = xstrdup(gr.gr_name);
			return true;
		}
		n *= 4;
	}
	return false;
}

/* Values that say "no such account", as getpwnam_r(3) lists them; others say that nobody could be asked. */
static bool is_answer(int rc)
{
	return rc == 0 || rc == ENOENT || rc == ESRCH || rc == EBADF || rc == EPERM;
}

/* Root is an admin; someone else of that name does not become it. */
static int find_real(struct account *acc, struct err *e)
{
	size_t n = 1024;
	struct passwd pw, *found = NULL;
	int rc = ERANGE;

	while (rc == ERANGE && n <= MAX_BUFFER) {
		auto_free char *buf = xmalloc(n);

		rc = getpwnam_r(acc->name, &pw, buf, n, &found);
		if (rc == 0 && found && pw.pw_uid != 0) {
			acc->uid = pw.pw_uid;
			acc->gid = pw.pw_gid;
			acc->home = xstrdup(pw.pw_dir && pw.pw_dir[0] == '/' && pw.pw_dir[1] ? pw.pw_dir : "");
			acc->real = true;
		}
		n *= 4;
	}
	if (is_answer(rc))
		return 0;
	errno = rc;
	return err_errno(e, ERR_UNAVAILABLE, "cannot look up the account of user \"%.200s\"", acc->name);
}

/* "uid:1234" is what authn_local.c calls a process whose uid has no name. */
static bool find_number(struct account *acc)
{
	int64_t uid;

	if (!str_starts(acc->name, "uid:") || !str_int64(acc->name + 4, 1, INT32_MAX, &uid))
		return false;
	acc->uid = (uid_t)uid;
	acc->gid = NO_GROUP;
	return true;
}

static void make_up(struct account *acc)
{
	unsigned char hash[SHA256_LEN];
	uint32_t n;

	crypto_sha256(acc->name, strlen(acc->name), hash);
	memcpy(&n, hash, sizeof(n));
	n &= ID_MASK;
	if (n == ID_MASK) /* the last number of 31 bits is too close to "none" */
		n--;
	acc->uid = acc->gid = FIRST_ID + n;
}

static size_t slot_of(const char *user)
{
	size_t h = 5381;

	for (const char *p = user; *p; p++)
		h = h * 33 + (unsigned char)*p;
	return h % SLOTS;
}

const struct account *accounts_find(struct accounts *a, const char *user, struct err *e)
{
	size_t i = slot_of(user);
	struct account *acc = &a->slots[i].account;
	int64_t now = clock_mono_ms();

	if (acc->name && streq(acc->name, user) && now < a->slots[i].until_ms)
		return acc;
	account_done(acc);
	a->slots[i].until_ms = now + KEEP_MS;
	acc->name = xstrdup(user);
	if (find_real(acc, e) < 0) {
		account_done(acc);
		return NULL;
	}
	if (acc->real) {
		find_groups(acc);
		find_group(acc->gid, NULL, &acc->gid, &acc->group);
	} else if (!find_number(acc)) {
		make_up(acc);
	}
	if (!acc->group)
		acc->group = xstrdup("");
	if (!acc->home)
		acc->home = xstrdup("");
	return acc;
}

bool account_in_group(const struct account *acc, gid_t gid)
{
	if (gid == acc->gid)
		return true;
	for (size_t i = 0; i < acc->ngroups; i++)
		if (acc->groups[i] == gid)
			return true;
	return false;
}

bool account_in_group_named(const struct account *acc, const char *group)
{
	gid_t gid;

	return acc->real && find_group(0, group, &gid, NULL) && account_in_group(acc, gid);
}
