// SPDX-License-Identifier: Apache-2.0
/* idmap.h - which users and groups exist in a user namespace, and what they are outside */
#ifndef STOKER_NODE_IDMAP_H
#define STOKER_NODE_IDMAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define IDMAP_ROWS 340 /* the kernel's own limit */

struct idmap {
	struct {
		uint32_t inside, outside, count;
	} rows[IDMAP_ROWS];
	size_t n;
};

/* The text of /proc/PID/uid_map or gid_map; false if it is none. */
bool idmap_parse(const char *text, struct idmap *ret);
/* What a user may have: itself as root, and from 1 on the ranges that /etc/subuid or /etc/subgid gives to the account,
 * by name (or NULL) or by number. */
void idmap_plan(const char *subordinate, const char *account, uint32_t uid, uint32_t own, struct idmap *ret);
bool idmap_has(const struct idmap *m, uint32_t inside);

/* --- of this process --- */
/* Everyone there is: it is not in a user namespace, or in one that makes no difference. */
bool idmap_is_whole(void);
/* What root of this namespace is outside of it. */
uint32_t idmap_own_uid(void);
/* This id can own files and run processes here. */
bool idmap_has_uid(uint32_t uid);
bool idmap_has_gid(uint32_t gid);

#endif
