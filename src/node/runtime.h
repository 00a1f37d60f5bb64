// SPDX-License-Identifier: Apache-2.0
/* runtime.h - starting, watching and ending containers, whoever does it
 *
 * Three implementations: OCI runtimes with a monitor beside each container (runtime_oci.c), a fake that needs no root
 * (runtime_fake.c), and later Slurm.  Everything above knows only this.  A container outlives the server: at start,
 * runtime_adopt() tells what is still there, and what ended meanwhile, with its true exit status.
 */
#ifndef STOKER_NODE_RUNTIME_H
#define STOKER_NODE_RUNTIME_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "base/str.h"
#include "kinds/pbs_process.h"
#include "loop/loop.h"

struct runtime;

/* How a container ended. */
struct exit_info {
	int code;            /* 0-255; 128+n for signal n */
	int signal;          /* or 0 */
	bool oom;            /* the kernel's OOM killer did it */
	bool unknown;        /* the monitor is gone and nobody knows: code is 255 */
	int64_t finished_us; /* wall clock, microseconds */
};

/* What the runtime found of an earlier server's containers. */
struct found {
	const char *id;
	bool running;
	pid_t pid;
	int64_t started_us;
	struct exit_info exit; /* if not running */
};

struct runtime_events {
	/* A container ended by itself or because it was killed.  Once for each start. */
	void (*exited)(void *arg, const char *id, const struct exit_info *exit);
	void *arg;
};

struct container_start {
	const char *id;       /* unique: "<pod uid>_<container>_<attempt>" with only [a-z0-9_-] */
	const char *bundle;   /* directory with config.json and rootfs */
	const char *log_path; /* CRI-style log file, appended; rotated to .1 .. .4 by the monitor, see protocol.h */
	bool tty, stdin_open;
	bool await;         /* output is kept for the first one who attaches, for a while */
	bool stdin_once;    /* its end is the end of the first one who attached, not kept open */
	const char *cgroup; /* cgroup path of the container; "": it has none */
	/* Not a container but this process of the host (process_spec.h), in the group, which is there already;
	 * `joins` are the files by which it is joined, a line each.  There is no bundle. */
	const json_t *process;
	const char *joins;
	const json_t *files; /* a container's output also goes to the files of this document; or NULL */
};

/* Words that a failed start of a process or of its files begins with, before a colon: the kind is ERR_INVALID then. */
#define START_NO_OUTPUT PBS_NO_OUTPUT
#define START_NO_DIR    "ChdirFailed"
#define START_NO_EXEC   PBS_NO_EXEC
#define START_NO_MEMORY "MemoryExceeded"

/* An extra process in a running container. */
struct exec_start {
	const char *id;
	const json_t *process;              /* OCI process object */
	int stdin_fd, stdout_fd, stderr_fd; /* -1: /dev/null.  With tty only stdin_fd: the slave of the caller's pty */
	bool tty;
};

struct runtime_ops {
	const char *name; /* "crun", "runc", "fake" */
	/* done once: pid > 0, or the error (the runtime's own words).  Nothing is left of a failed start.  ERR_INVALID
	 * is the container's own fault, or it may have run for a moment; anything else is the machine's: nothing has
	 * run, and it may be tried again. */
	void (*start)(struct runtime *r, const struct container_start *c,
		      void (*done)(void *arg, pid_t pid, const struct err *e), void *arg);
	/* To the container's first process, or to all of its processes.  Gone already is no error. */
	int (*kill)(struct runtime *r, const char *id, int signo, bool all, struct err *e);
	/* Forgets a container: runtime state, cgroup, exit file.  One that still runs is killed without a word; one
	 * that is being started still gets its done, with an error. */
	void (*remove)(struct runtime *r, const char *id);
	/* done once with the exit status of the extra process, or an error; returns a handle for exec_kill(). */
	void *(*exec)(struct runtime *r, const struct exec_start *x,
		      void (*done)(void *arg, int status, const struct err *e), void *arg);
	void (*exec_kill)(struct runtime *r, void *exec);
	/* New size of an exec's terminal; its first one is that of the caller's pty. */
	int (*exec_resize)(struct runtime *r, void *exec, int rows, int cols, struct err *e);
	/* A connected SOCK_SEQPACKET socket to the container's stdio, the caller's to close: what is sent is input;
	 * each packet received starts with a byte, 2 for stdout (and a terminal), 3 for stderr. */
	int (*attach)(struct runtime *r, const char *id, struct err *e);
	/* New size of a container's own terminal. */
	int (*resize)(struct runtime *r, const char *id, int rows, int cols, struct err *e);
	/* After the log file was renamed: write to a new one of the old name. */
	int (*reopen_log)(struct runtime *r, const char *id, struct err *e);
	/* Adds text to what it prints; stream 1 or 2.  NULL: it cannot. */
	int (*say)(struct runtime *r, const char *id, int stream, struct str text, struct err *e);
	/* The document of a process of the host that was started, by an earlier server too; NULL: it is none.  NULL: it
	 * has none. */
	json_t *(*process)(struct runtime *r, const char *id);
	/* Calls fn for each container of this data directory that an earlier server started and did not remove. */
	int (*adopt)(struct runtime *r, void (*fn)(void *arg, const struct found *f), void *arg, struct err *e);
	void (*free)(struct runtime *r);
};

/* Where control groups are, as this process sees them; cgroup.c. */
#define CGROUPS_MAX 24
struct cgroups {
	struct hierarchy {
		char root[64];
		bool v2;
	} at[CGROUPS_MAX];
	int n;
	bool v2; /* the only one: a group has processes or further groups, not both */
};
void cgroups_find(struct cgroups *ret);

struct runtime {
	const struct runtime_ops *ops;
	struct cgroups groups; /* found once: there are many questions about each process */
	const char *version;   /* "1.8.1"; NULL if it does not say */
	struct runtime_events events;
	struct loop *loop;
};

struct runtime_config {
	const char *dir;    /* state: DIR/run/... */
	const char *name;   /* auto, crun, runc, fake */
	const char *prefix; /* unique per data directory: first 8 hex digits of its hash; for cgroups and names */
	bool rootless;      /* in a user namespace of ours: no cgroups */
};

/* Probes crun, then runc (design.md, machine-notes.md) by really running something; the error says what each said. */
int runtime_open(struct loop *loop, const struct runtime_config *config, const struct runtime_events *events,
		 struct runtime **ret, struct err *e);
void runtime_free(struct runtime *r);

/* --- cgroup.c: a pod's and a container's group, on v1, hybrid and v2 --- */
/* Limits in one place; 0 = none. */
struct cgroup_limits {
	int64_t cpu_shares, cpu_quota_us, cpu_period_us, memory_bytes, pids;
};
/* Paths are "/stoker-<prefix>/...", nothing else is touched.  Makes parents too; again with other limits changes them.
 * ERR_UNAVAILABLE if the machine has no controller for a limit. */
int cgroup_make(const struct cgroups *g, const char *path, const struct cgroup_limits *limits, struct err *e);
/* To every process in it and below. */
void cgroup_kill(const struct cgroups *g, const char *path, int signo);
/* Those that are in it and below, up to `max` of them. */
size_t cgroup_pids(const struct cgroups *g, const char *path, pid_t *ret, size_t max);
/* How many processes of this group the kernel killed for want of memory, whoever set the limit; -1 if unknown. */
int64_t cgroup_oom_kills(const struct cgroups *g, const char *path);
/* Kills what is left in it and removes it; false if that takes longer than a moment. */
bool cgroup_remove(const struct cgroups *g, const char *path);
/* One pass of it: true if nothing is left. */
bool cgroup_try_remove(const struct cgroups *g, const char *path);
/* Stops or continues every process in it, and waits up to a second for that: for commands, never for the server. */
int cgroup_freeze(const struct cgroups *g, const char *path, bool frozen, struct err *e);
/* The same without waiting; false if there is no freezer.  Signals do not change it, but for SIGKILL. */
bool cgroup_hold(const struct cgroups *g, const char *path, bool still);
struct cgroup_usage {
	int64_t cpu_ns, memory_bytes, pids; /* memory: the working set, without file cache that can be dropped */
};
int cgroup_read(const struct cgroups *g, const char *path, struct cgroup_usage *ret, struct err *e);
/* --- cgroup_process.c: groups for processes that no runtime puts there --- */
/* Only in those hierarchies where it is needed.  *ret_joins: the files by which a process joins it, a line each. */
int cgroup_make_process(const struct cgroups *g, const char *path, const struct cgroup_limits *limits, bool devices,
			char **ret_joins, struct err *e);
/* What was used in all, and the most memory at a time; -1 if nobody knows. */
struct cgroup_peak {
	int64_t cpu_ns, memory_bytes;
};
int cgroup_read_peak(const struct cgroups *g, const char *path, struct cgroup_peak *ret);
/* Keeps character devices away from its processes. */
struct cgroup_device {
	unsigned major, minor;
};
int cgroup_deny_devices(const struct cgroups *g, const char *path, const struct cgroup_device *d, size_t n,
			struct err *e);
/* How long its oldest process has been there; -1 if there is none. */
int64_t cgroup_age_ms(const struct cgroups *g, const char *path);

#endif
