// SPDX-License-Identifier: Apache-2.0
/* pod_parts.h - the inside of a worker, for the pod_*.c files only
 *
 *	pod.c           the worker: what has changed -> plan -> act -> report
 *	pod_objects.c   ConfigMaps, Secrets and claims the pod names, followed as they change
 *	pod_setup.c     directory, namespaces, address, volumes: what containers share
 *	pod_image.c     a container's image and root file system
 *	pod_mounts.c    what is mounted into it
 *	pod_downward.c  what it may ask about its pod
 *	pod_shm.c       the memory its containers share
 *	pod_rights.c    what its rights rest on outside its spec
 *	pod_start.c     a container from its spec to a process
 *	pod_stop.c      and from there to its end
 *	pod_disk.c      ending a pod that takes more disk than it may
 *	pod_probe.c     asking it how it is
 *	pod_adopt.c     what an earlier server left
 *	pod_report.c    what the API is told
 */
#ifndef STOKER_NODE_POD_PARTS_H
#define STOKER_NODE_POD_PARTS_H

#include "base/err.h"
#include "node/pod.h"
#include "node/pod_plan.h"
#include "node/pod_status.h"
#include "node/probe.h"
#include "node/volume.h"

/* One container of the pod, and its present or last run. */
struct ctr {
	struct pod *pod;
	const json_t *spec; /* in pod->obj */
	char *name;
	bool init, sidecar;
	enum ctr_state state;
	int attempt; /* of the present run, or the next one */
	char *id;    /* "<uid>_<name>_<attempt>" of the present or last run; NULL before the first */
	char *cgroup, *log_path, *last_log_path;
	json_t *process;
	char *image_id;
	int64_t started_us;
	struct ctr_end end, last;
	bool lost;                 /* the API saw it run and the runtime does not know it */
	bool end_new, end_telling; /* the API does not know its end yet; a write that says it is under way */
	int failures;
	int64_t exited_ms, not_before_ms;
	char *wait_reason, *wait_message;
	/* on its way to running */
	struct ticket *ticket;
	bool pulling, pulled;
	int pull_failures;
	int64_t pull_after_ms, pull_began_ms;
	int stop_signal;
	/* running */
	bool ready, started, post_started;
	struct prober *probers[PROBE__COUNT];
	struct hook *hook;
	/* being stopped */
	int64_t kill_ms; /* when patience ends */
	bool termed, killed;
	struct loop_timer stop_timer;
	char *stop_reason; /* why, if not by the pod's own end */
};

/* Goes with a question whose answer may come after the container has gone: `ctr` is NULL then. */
struct ticket {
	struct ctr *ctr;
};

/* Who a container runs as, and its image's own accounts. */
struct ctr_accounts {
	char *passwd, *group;
	json_t *user;
};

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
	struct ctr *ctrs;
	size_t n;
	/* objects it names */
	struct follow **follows;
	size_t nfollows, follows_cap;
	bool objects_new; /* one has changed: volumes must be looked at */
	/* what containers share */
	bool dirs, sandbox, network, cards, texts, volumes;
	bool host_network, swept;
	bool revived; /* containers of an earlier server are still there */
	char *ip, *hostname, *net_ns;
	json_t *roots; /* below which its owner's hostPath volumes must be */
	int setup_failures;
	int64_t setup_after_ms;
	/* its end */
	bool gone;     /* the object is no longer in the API */
	bool deleting; /* it has a deletionTimestamp */
	bool failed;
	char *reason, *message;
	bool over;     /* nothing runs and nothing will */
	bool finished; /* ... and did so before this worker came */
	bool told_end; /* the API has the final status */
	bool removing;
	int64_t start_us, deadline_ms;
	int64_t end_ms; /* when the time to end is over; 0: it does not end */
	/* reporting */
	json_t *told; /* status as last written */
	bool telling; /* a write is under way */
	bool telling_end, tell_again;
	bool freed; /* while one is: its answer frees us */
	enum pod_phase phase;
	int tell_failures;
	struct loop_hook work;
	struct loop_timer wake, disk;
};

/* Looks at everything again, at the end of this turn. */
void pod_kick(struct pod *p);
struct ctr *pod_ctr(const struct pod *p, const char *name);
/* Sets why a container waits; NULL clears. */
void ctr_wait(struct ctr *c, const char *reason, const char *message);
/* The container's run ended, or could not begin. */
void ctr_ended(struct ctr *c, const struct exit_info *exit);
void ctr_free(struct ctr *c);
struct ticket *ctr_ticket(struct ctr *c);
/* The answer is here: the container, or NULL. */
struct ctr *ticket_use(struct ticket *t);
/* "spec.containers{name}" for events. */
void ctr_event(struct ctr *c, const char *type, const char *reason, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

/* pod_objects.c: follows what the pod names; true once all of it has been looked up. */
bool pod_objects_ready(struct pod *p);
/* A new object of those that exist, as volume.h and env.c want them. */
json_t *pod_objects(const struct pod *p);
void pod_objects_stop(struct pod *p);

/* pod_setup.c: one step towards everything containers share.  0: ready; 1: not yet; -1: failed, will be tried again. */
int pod_setup(struct pod *p, struct err *e);
/* Volumes again, with newer objects. */
int pod_refresh(struct pod *p, struct err *e);
void pod_volume_context(struct pod *p, const json_t *objects, struct volume_context *ret);
/* Gives everything back. */
void pod_teardown(struct pod *p);

/* pod_downward.c: the pod as its containers may ask about it. */
json_t *pod_as_seen(const struct pod *p);

/* pod_image.c */
/* Is the image here?  0: yes; 1: on its way; -1: not now, why is in wait_reason. */
int ctr_image(struct ctr *c, struct image_info *ret);
/* Nobody waits for it any more. */
void ctr_pull_cancel(struct ctr *c);
int ctr_rootfs_make(struct ctr *c, struct err *e);
void ctr_rootfs_remove(struct ctr *c);
/* The same for every container directory below a pod's, whose worker is gone. */
void pod_rootfs_sweep(const char *dir, const char *run_dir);

/* pod_mounts.c: OCI mounts; `cards` are those of the driver. */
int ctr_mounts(struct ctr *c, const struct ctr_accounts *a, const json_t *env, const json_t *cards, json_t **ret,
	       struct err *e);

/* pod_rights.c: what a container's rights rest on outside its spec. */
struct ctr_rights {
	uint64_t caps;   /* that there are to give */
	json_t *devices; /* OCI devices; `cards` among them */
	json_t *seccomp; /* document of its Localhost profile, or NULL */
};
int ctr_rights(struct ctr *c, const json_t *cards, struct ctr_rights *ret, struct err *e);
void ctr_rights_done(struct ctr_rights *r);

/* pod_shm.c: how much shared memory a pod may have: its memory limit if each container has one, else half of RAM. */
int64_t pod_shm_bytes(const struct pod *p);
/* *ret is what the containers of a pod share, or untouched if there is nothing to share; malloc'ed. */
int pod_shm_share(struct pod *p, char **ret, struct err *e);
void pod_shm_remove(const char *run_dir);

/* pod_start.c, pod_stop.c */
void ctr_start(struct ctr *c);
void ctr_stop(struct ctr *c, int64_t grace_ms, const char *reason);
void ctr_stop_cancel(struct ctr *c);
/* Its bundle, in memory, and what it writes, on disk. */
char *ctr_dir(const struct ctr *c);
char *ctr_scratch(const struct ctr *c);
/* A small file of the container's on disk: it may write to it. */
char *ctr_file(const struct ctr *c, const char *what);

/* pod_disk.c: looks now and then, if the pod has limits. */
void pod_disk_watch(struct pod *p);

/* pod_probe.c */
void ctr_probes_start(struct ctr *c);
void ctr_probes_stop(struct ctr *c);
/* It is being stopped: it may be ready still, but nobody asks whether it lives. */
void ctr_probes_ending(struct ctr *c);
void ctr_hook_start(struct ctr *c);
struct probe_target ctr_probe_target(struct ctr *c);

/* pod_adopt.c: the runs as the API remembers them. */
void pod_recall(struct pod *p);

/* pod_report.c */
void pod_report(struct pod *p);
void pod_delete_object(struct pod *p);

#endif
