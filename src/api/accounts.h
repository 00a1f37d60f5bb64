// SPDX-License-Identifier: Apache-2.0
/* accounts.h - the Unix identity behind a user's name
 *
 * Users without an account on this machine get a number of their own, the same each time, that belongs to nobody here.
 */
#ifndef STOKER_API_ACCOUNTS_H
#define STOKER_API_ACCOUNTS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/err.h"

struct account {
	char *name;
	bool real; /* in the system's own database */
	uid_t uid; /* never 0 */
	gid_t gid;
	gid_t *groups; /* the others it is in */
	size_t ngroups;
	char *group; /* name of gid; "" if it has none or the account is not real */
	char *home;  /* "" if it has none worth the name */
};

struct accounts;
struct accounts *accounts_new(void);
void accounts_free(struct accounts *a);
/* Borrowed until the next call.  NULL (ERR_UNAVAILABLE) if the system could not say whether there is an account. */
const struct account *accounts_find(struct accounts *a, const char *user, struct err *e);
/* Whether the account is in the group. */
bool account_in_group(const struct account *acc, gid_t gid);
/* The same by the group's name; false if there is none of that name. */
bool account_in_group_named(const struct account *acc, const char *group);

#endif
