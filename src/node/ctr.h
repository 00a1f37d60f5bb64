// SPDX-License-Identifier: Apache-2.0
/* ctr.h - one container of a pod, for the pod_*.c files only */
#ifndef STOKER_NODE_CTR_H
#define STOKER_NODE_CTR_H

#include "base/err.h"
#include "node/pod.h"
#include "node/pod_plan.h"
#include "node/pod_status.h"
#include "node/probe.h"

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
	char *joins; /* of a process of the host: files by which it joins its control group */
	pid_t pid;
	char *image_id;
	int64_t started_us;
	struct ctr_end end, last;
	bool start_new;            /* no event says that it has started */
	bool lost;                 /* the API saw it run and the runtime does not know it */
	bool end_new, end_telling; /* the API does not know its end yet; a write that says it is under way */
	int failures;
	int64_t exited_ms, not_before_ms;
	char *wait_reason, *wait_message;
	/* on its way to running */
	struct ticket *ticket;
	bool pulling, pulled;
	bool prepared; /* all is there but the process */
	int pull_failures;
	size_t pull_secret; /* number of the one that is being tried */
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
	bool deaf;  /* its first process does not hear: those are looked after who do, */
	bool heard; /* and there were some */
	pid_t *told;
	size_t ntold, told_cap;
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

/* pod_image.c */
/* Is the image here?  0: yes; 1: on its way; -1: not now, why is in wait_reason. */
int ctr_image(struct ctr *c, struct image_info *ret);
/* The same for a container whose turn is not yet: true when it is. */
bool ctr_fetch(struct ctr *c);
/* Nobody waits for it any more. */
void ctr_pull_cancel(struct ctr *c);
int ctr_rootfs_make(struct ctr *c, struct err *e);
void ctr_rootfs_remove(struct ctr *c);

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

/* pod_start.c, pod_stop.c */
/* All but the process.  False: not yet, or not now, and wait_reason says why. */
bool ctr_prepare(struct ctr *c);
void ctr_start(struct ctr *c);
/* "stoker://ID", "process://PID"; NULL if it never ran; malloc'ed. */
char *ctr_id_text(const struct ctr *c);
void ctr_stop(struct ctr *c, int64_t grace_ms, const char *reason);
void ctr_stop_cancel(struct ctr *c);
/* pod_hear.c: whether nobody should wait for it longer than it can make use of. */
bool ctr_is_prompt(const struct ctr *c);
/* If its first process does not hear the signal: tells those who do, once each, and says how many there are; else -1.
 */
int ctr_tell_listeners(struct ctr *c, int signo);
/* Its bundle, in memory, and what it writes, on disk. */
char *ctr_dir(const struct ctr *c);
char *ctr_scratch(const struct ctr *c);
/* A small file of the container's on disk: it may write to it. */
char *ctr_file(const struct ctr *c, const char *what);

/* pod_probe.c */
void ctr_probes_start(struct ctr *c);
void ctr_probes_stop(struct ctr *c);
/* It is being stopped: it may be ready still, but nobody asks whether it lives. */
void ctr_probes_ending(struct ctr *c);
void ctr_hook_start(struct ctr *c);
struct probe_target ctr_probe_target(struct ctr *c);

#endif
