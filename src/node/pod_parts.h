// SPDX-License-Identifier: Apache-2.0
/* pod_parts.h - the inside of a worker, for the pod_*.c files only
 *
 *	pod.c           the worker: what has changed -> plan -> act -> report
 *	pod_objects.c   ConfigMaps, Secrets and claims the pod names, followed as they change
 *	pod_setup.c     directory, namespaces, address, volumes: what containers share
 *	pod_cards.c     its GPUs
 *	pod_inside.c    a pod that is a part of a PBS job's
 *	pod_pids.c      processes that its containers share
 *	pod_image.c     a container's image and root file system
 *	pod_mounts.c    what is mounted into it
 *	pod_downward.c  what it may ask about its pod
 *	pod_shm.c       the memory its containers share
 *	pod_rights.c    what its rights rest on outside its spec
 *	pod_start.c     a container from its spec to a process
 *	pod_stop.c      and from there to its end
 *	pod_hear.c      who in it hears that it is to end
 *	pod_disk.c      ending a pod that takes more disk than it may
 *	pod_active.c    noticing that it does nothing
 *	pod_idle.c      noticing that it does not use its GPUs
 *	pod_probe.c     asking it how it is
 *	pod_adopt.c     what an earlier server left
 *	pod_report.c    what the API is told
 *	pod_success.c   what a training job is told
 *	pod_pbs*.c      a PBS job's pod: a process of the host
 */
#ifndef STOKER_NODE_POD_PARTS_H
#define STOKER_NODE_POD_PARTS_H

#include "base/err.h"
#include "node/activity.h"
#include "node/ctr.h"
#include "node/idle.h"
#include "node/pod.h"
#include "node/pod_plan.h"
#include "node/pod_status.h"
#include "node/probe.h"
#include "node/volume.h"

struct follow {
	struct pod *pod;
	char *key; /* "configmaps/NAME" */
	struct informer *informer;
};

struct pod {
	const struct node_parts *parts;
	json_t *obj;
	char *uid, *ns, *name;
	char *dir, *run_dir;
	char *memory_dir; /* in run_dir, where that is in memory; else NULL */
	struct ctr *ctrs;
	size_t n;
	/* objects it names */
	struct follow **follows;
	size_t nfollows, follows_cap;
	struct pod_token **tokens;
	size_t ntokens, tokens_cap;
	bool wants_root_ca;
	bool objects_new; /* one has changed: volumes must be looked at */
	/* what containers share */
	bool dirs, sandbox, network, cards, texts, volumes;
	bool host_network, swept;
	bool revived; /* containers of an earlier server are still there */
	char *ip, *hostname, *net_ns;
	char *inside;    /* uid of the PBS job's pod that it is a part of, or NULL */
	bool has_inside; /* a PBS job's: some are, or were, a part of it */
	json_t *roots;   /* below which its owner's hostPath volumes must be */
	int setup_failures;
	const char *setup_reason; /* of the last one */
	int64_t setup_after_ms;
	int64_t cards_ms; /* since when it waits for its cards */
	int64_t gang_ms;  /* since when it waits for others of its gang that nobody has heard of */
	bool gathered;    /* all its programs need is here, */
	bool let_go;      /* and its gang's too: they were started */
	/* its end */
	bool gone;     /* the object is no longer in the API */
	bool deleting; /* it has a deletionTimestamp */
	bool failed;
	char *reason, *message;
	bool over;     /* nothing runs and nothing will */
	bool finished; /* ... and did so before this worker came */
	bool told_end; /* the API has the final status */
	bool removing;
	int empty_tries;
	int64_t start_us, deadline_ms;
	int64_t end_ms; /* when the time to end is over; 0: it does not end */
	/* whether it does anything */
	int64_t hang_after; /* seconds of silence to be told of; 0: nobody asks */
	struct activity activity;
	int64_t activity_us; /* when `silent` became what it is, 0: it never changed */
	char *silence;       /* in words, or NULL */
	/* whether it uses its cards */
	bool idle_watched; /* what an earlier server had told is known */
	struct idle idle;
	enum idle_state idle_told;
	int64_t idle_since_us, idle_at_us; /* as told; the latter 0: this server has told nothing */
	int64_t idle_noted_ms;
	char *idle_text; /* in words; NULL: it uses them */
	/* reporting */
	json_t *told; /* status as last written */
	bool telling; /* a write is under way */
	bool telling_end, tell_again;
	int64_t quiet_ms; /* until then a start is not told of; 0: it is */
	bool freed;       /* while one is: its answer frees us */
	enum pod_phase phase;
	int tell_failures;
	struct loop_hook work;
	struct loop_timer wake, disk, watch;
	/* a PBS job's: pod_pbs.h */
	struct pod_pbs *pbs; /* NULL: it is none */
	bool process;        /* it has no container, but a process of the host */
	json_t *used;        /* by its last run, for the status */
};

/* Looks at everything again, at the end of this turn. */
void pod_kick(struct pod *p);
struct ctr *pod_ctr(const struct pod *p, const char *name);
/* Its deadline, from when it began to count. */
void pod_start_clock(struct pod *p);

/* pod_objects.c: follows what the pod names; true once all of it has been looked up. */
bool pod_objects_ready(struct pod *p);
/* A new object of those that exist, as volume.h and env.c want them. */
json_t *pod_objects(const struct pod *p);
void pod_objects_stop(struct pod *p);
/* pod_tokens.c: the same for tokens of service accounts. */
bool pod_tokens_ready(struct pod *p);
void pod_tokens_add(const struct pod *p, json_t *objects);
void pod_tokens_stop(struct pod *p);

/* pod_setup.c: one step towards everything containers share.  0: ready; 1: not yet; -1: failed, will be tried again. */
int pod_setup(struct pod *p, struct err *e);
#define POD_INSIDE "stoker.dev/in-job-uid"
/* pod_inside.c: the control group that those of its containers are in: "" or a path. */
char *pod_inside_group(const struct pod *p);
/* The uid and container whose cards it uses: the job's, or its own. */
const char *pod_inside_cards(const struct pod *p, const char **container);
/* The pod of the job, or NULL. */
struct pod *pod_inside_host(const struct pod *p);
/* 0: the job runs; 1: not yet; -1: no more, and the pod has failed. */
int pod_inside_ready(struct pod *p, struct err *e);
/* Tells the one that it is a part of, if that is here. */
void pod_inside_begin(const struct pod *p);
/* A job's process has ended, and with it whatever is inside. */
void pod_inside_end(const struct pod *host);
/* pod_cards.c: its GPUs, for good; a pod that cannot have those it was given has failed then. */
int pod_cards_take(struct pod *p, struct err *e);
/* Volumes again, with newer objects. */
int pod_refresh(struct pod *p, struct err *e);
void pod_volume_context(struct pod *p, const json_t *objects, struct volume_context *ret);
/* The annotation that names a pod's gang. */
#define POD_GANG "stoker.dev/gang"
/* pod_gang.c: a pod that is set up and starts those of `acts` must wait for others of its gang, or fetch more itself.
 */
bool pod_gang_holds(struct pod *p, const enum ctr_act *acts, int64_t *wake_ms);
/* It holds nobody up any more. */
void pod_gang_ready(struct pod *p);
/* pod_pids.c: a namespace for the processes of all containers, with somebody in it. */
bool pod_shares_pids(const struct pod *p);
int pod_pids_make(struct pod *p, struct err *e);
void pod_pids_remove(const char *run_dir);
/* Gives everything back. */
void pod_teardown(struct pod *p);

/* pod_downward.c: the pod as its containers may ask about it. */
json_t *pod_as_seen(const struct pod *p);
/* The same for every container directory below a pod's, whose worker is gone. */
void pod_rootfs_sweep(const char *dir, const char *run_dir);

/* pod_shm.c: how much shared memory a pod may have: its memory limit if each container has one, else half of RAM. */
int64_t pod_shm_bytes(const struct pod *p);
/* *ret is what the containers of a pod share, or untouched if there is nothing to share; malloc'ed. */
int pod_shm_share(struct pod *p, char **ret, struct err *e);
void pod_shm_remove(const char *run_dir);

/* pod_disk.c: looks now and then, if the pod has limits. */
void pod_disk_watch(struct pod *p);

/* pod_active.c: the same for its silence, if anybody wants to know. */
void pod_active_watch(struct pod *p);

/* pod_adopt.c: the runs as the API remembers them. */
void pod_recall(struct pod *p);

/* pod_success.c: the pod has succeeded; if it is a training job's, that one is told */
void pod_tell_success(const struct pod *p);
/* pod_report.c */
void pod_report(struct pod *p);
void pod_delete_object(struct pod *p);

#endif
