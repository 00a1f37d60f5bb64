// SPDX-License-Identifier: Apache-2.0
/* host_users.h - the users of this machine, as its name service knows them; for the files of this room */
#ifndef STOKER_NODE_HOST_USERS_H
#define STOKER_NODE_HOST_USERS_H

#include "kinds/pbs_process.h"

struct host_users;

struct host_users *host_users_new(void);
void host_users_free(struct host_users *a);
/* Borrowed until the next call.  ERR_NOT_FOUND: there is no such user; ERR_UNAVAILABLE: the service does not answer. */
int host_users_get(struct host_users *a, const char *name, const struct pbs_account **ret, struct err *e);
/* Whether one of the account's groups has the name; its number. */
bool host_user_has_group(const struct pbs_account *a, const char *group, uint32_t *ret_gid);
/* The name of a group; false if there is none of that number. */
bool host_group_name(int64_t gid, char *out, size_t n);

#endif
