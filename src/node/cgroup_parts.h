// SPDX-License-Identifier: Apache-2.0
/* cgroup_parts.h - what the files about control groups share; nobody else includes it */
#ifndef STOKER_NODE_CGROUP_PARTS_H
#define STOKER_NODE_CGROUP_PARTS_H

#include "base/str.h"
#include "node/runtime.h"

#define CGROUP_ROOT "/sys/fs/cgroup"

/* It is one of ours. */
bool cgroup_path_ok(const char *path);
int cgroup_write(const char *path, const char *text);
bool cgroup_read_text(const char *path, size_t max, struct sbuf *out);
/* The group and its parents in one hierarchy. */
int cgroup_make_in(const struct hierarchy *h, const char *path, struct err *e);
int cgroup_set_limits(const struct cgroups *h, const char *path, const struct cgroup_limits *limits, struct err *e);
/* The one in which processes of a group are found and killed; NULL if there is none. */
const struct hierarchy *cgroup_best_for_killing(const struct cgroups *h);
/* A number in a group's file, after `key` if there is one; -1 if it is not there. */
int64_t cgroup_read_at(bool v2, const char *path, const char *v1_controller, const char *v1_file, const char *v2_file,
		       const char *key);

#endif
