// SPDX-License-Identifier: Apache-2.0
/* logs_parts.h - what the logs*.c files share */
#ifndef STOKER_NODE_LOGS_PARTS_H
#define STOKER_NODE_LOGS_PARTS_H

#include <sys/queue.h>

#include "base/map.h"
#include "node/logs.h"
#include "node/measure_keep.h"

#define LOGS_OWNER     "owner.json"
#define LOGS_OWNER_MAX (256 * 1024)

/* The logs of one pod, in ROOT/ns/dir. */
struct kept {
	TAILQ_ENTRY(kept) link;
	char *ns, *dir, *pod, *uid;
	char *owner, *job;   /* other names it is found by, or NULL */
	json_t *doc;         /* what is in LOGS_OWNER, of a pod that this server saw begin and that lives; or NULL */
	int64_t made_us;     /* when the first log was begun */
	int64_t ended;       /* wall clock; 0: the pod lives */
	int64_t bytes;       /* as last measured, */
	int64_t measured_ms; /* then; 0: never */
};
TAILQ_HEAD(kept_list, kept);

struct logs {
	struct loop *loop;
	struct logs_config config;
	char *root;
	struct kept_list kept; /* oldest first */
	struct map by_uid;     /* struct kept * */
	LIST_HEAD(, logs_listener) listeners;
	struct log_watch *watch;
	struct measure_keepers measures;
	struct loop_timer timer;
	bool soon;        /* it is set for what has just ended */
	int64_t swept_ms; /* when all were last looked at; 0: never */
	struct loop_hook sweep;
};

/* logs.c */
char *kept_path(const struct logs *l, const struct kept *k);
/* owner.json, or what the directory's name says if that is lost; a new reference. */
json_t *kept_owner(const struct logs *l, const struct kept *k);
/* Off the list, and freed; its files stay. */
void kept_forget(struct logs *l, struct kept *k);

/* logs_keep.c: retention. */
void logs_keep_start(struct logs *l);
/* Something may have to go: a pod has ended, or may be old. */
void logs_keep_look(struct logs *l);
void logs_keep_stop(struct logs *l);

#endif
