// SPDX-License-Identifier: Apache-2.0
/* runtime_parts.h - what the files of the OCI runtime share; nobody else includes it
 *
 * Files below DIR/run:
 *	oci/              the runtime's own state (--root)
 *	exits/<id>        conmon's word on how a container ended; inotify watches this directory
 *	containers/<id>/  ours: info.json before anything happens, start.json before the program may run, started after,
 *	                  and conmon's pid files, oom mark and last words
 * None of them is synced: they must survive the death of this process, and after the death of the machine there are no
 * containers left to know about.
 */
#ifndef STOKER_NODE_RUNTIME_PARTS_H
#define STOKER_NODE_RUNTIME_PARTS_H

#include "base/map.h"
#include "base/str.h"
#include "node/runtime.h"

/* --- runtime_files.c --- */
/* Written in place or not at all (temporary name, rename), without a sync. */
int state_write(const char *dir, const char *name, struct str text, struct err *e);
/* The number a small file starts with; -1 if there is none. */
int64_t state_read_number(const char *path);
json_t *state_read_json(const char *dir, const char *name);
/* A whole tree without following links; what is gone already is fine. */
void state_remove_tree(const char *path);
/* When the process started, in the kernel's ticks since boot; -1 if there is no such process.  With the pid it is a
 * name that is not used twice before the next boot. */
int64_t process_ticks(pid_t pid);
/* A new pidfd of exactly that process, -1 if it has gone. */
int process_open(pid_t pid, int64_t ticks);
/* The kernel's boot id, 36 characters. */
void boot_id(char out[37]);

/* --- runtime_spawn.c --- */
#define SPAWN_PASSED_FD 3
struct spawn {
	const char *const *argv; /* argv[0] is an absolute path */
	const char *const *env;  /* added to a clean PATH; or NULL */
	int fds[3];              /* 0 1 2 of the child; -1: /dev/null */
	int pass_fd;             /* becomes SPAWN_PASSED_FD; 0: none */
	bool hide;               /* in a private mount namespace without /sys/fs/cgroup/unified */
	bool tty;                /* fds[0] becomes the controlling terminal */
	const char *cwd;         /* NULL: / */
	const char *const *join; /* cgroup.procs files to enter first; or NULL */
};
/* The child's pid, already executing; or -1 with the reason, also when the program could not be executed. */
pid_t spawn_start(const struct spawn *s, struct err *e);
/* Runs to the end, at most `ms`, with the last of its output (1 and 2 together) in `out`; blocks: only for start-up. */
int spawn_wait(const struct spawn *s, int ms, struct sbuf *out, int *ret_status, struct err *e);
/* A file descriptor of a private mount namespace without /sys/fs/cgroup/unified; it lives until that is closed. */
int spawn_hidden_namespace(struct err *e);
/* Absolute path of a program in the usual directories; NULL if there is none. */
char *spawn_find(const char *program);
/* What a runtime said on stderr, without time stamps and log syntax; in place. */
void spawn_clean_words(struct sbuf *text);

/* --- runtime_probe.c --- */
struct probed {
	char *program, *conmon, *nsenter;
	const char *name;
	bool hide;
	bool no_sync_log; /* conmon knows --no-sync-log */
};
int runtime_probe(const struct runtime_config *c, const char *run_dir, struct probed *ret, struct err *e);
void probed_done(struct probed *p);

/* --- runtime_oci.c --- */
enum box_state { BOX_CREATING, BOX_STARTING, BOX_RUNNING, BOX_ENDED };

/* A container as this process knows it. */
struct box {
	struct oci *oci;
	enum box_state state;
	char *id, *dir, *bundle, *cgroup;
	pid_t pid;
	int pid_fd;
	int64_t started_us;
	int monitor_fd; /* pidfd of conmon */
	struct loop_fd *monitor_watch;
	bool tty;
	int pending_signal; /* asked for before there was a process */
	/* While starting: */
	pid_t child;   /* conmon until it is a daemon, then the runtime's start */
	int hidden_fd; /* mount namespace for conmon's runtime call, held until the container exists */
	int sync_fd;   /* conmon says the pid or what went wrong */
	struct loop_fd *sync_watch;
	struct sbuf sync;
	void (*done)(void *arg, pid_t pid, const struct err *e);
	void *arg;
	struct loop_hook fail; /* reports `error` from the loop, never from inside a call */
	struct err error;
};

struct exec {
	struct oci *oci;
	char *pid_file, *process_file, *cgroup;
	pid_t child;
	int kill_tries; /* 0: not asked for */
	struct loop_timer kill_timer;
	void (*done)(void *arg, int status, const struct err *e);
	void *arg;
	struct err error;
	struct loop_hook fail;
	struct exec *next;
};

struct oci {
	struct runtime base;
	char *run;      /* DIR/run */
	char *monitors; /* cgroup of the monitors */
	char *prefix;
	char *root_arg; /* --root=DIR/run/oci */
	struct probed with;
	char **join; /* where a monitor must leave the server's own cgroup */
	int inotify;
	struct loop_fd *exit_watch;
	struct map boxes;
	struct map leftovers; /* cgroups that did not go away at once */
	struct loop_timer sweep;
	struct exec *execs;
	unsigned exec_count;
};

int oci_open(struct loop *loop, const struct runtime_config *config, struct runtime **ret, struct err *e);
struct box *box_new(struct oci *o, const char *id);
void box_free(void *box);
/* The container runs: look for its end from now on. */
int box_watch(struct box *b, struct err *e);
/* How it ended, if it did: conmon's exit file, the oom marks. */
bool box_read_exit(const struct box *b, struct exit_info *ret);
/* Tells the end upwards, if it has come. */
void box_check_exit(struct box *b);
/* Everything the machine knows of it: processes, cgroup, runtime state, files. */
void box_erase(struct box *b);

/* --- runtime_conmon.c --- */
void conmon_start(struct runtime *r, const struct container_start *c,
		  void (*done)(void *arg, pid_t pid, const struct err *e), void *arg);
/* Lets the program of a created container run, and waits for it; used when adopting. */
int conmon_start_again(struct box *b, struct err *e);
/* Stops what a start has under way; nobody is told. */
void conmon_abandon(struct box *b);
/* Ends a start with this error, from the loop. */
void conmon_fail(struct box *b);

/* --- runtime_adopt.c --- */
int oci_adopt(struct runtime *r, void (*fn)(void *arg, const struct found *f), void *arg, struct err *e);

/* --- runtime_exec.c --- */
void *oci_exec(struct runtime *r, const struct exec_start *x, void (*done)(void *arg, int status, const struct err *e),
	       void *arg);
void oci_exec_kill(struct runtime *r, void *exec);
int oci_exec_resize(struct runtime *r, void *exec, int rows, int cols, struct err *e);
void exec_free_all(struct oci *o);

/* --- runtime_control.c --- */
int oci_attach(struct runtime *r, const char *id, struct err *e);
int oci_resize(struct runtime *r, const char *id, int rows, int cols, struct err *e);
int oci_reopen_log(struct runtime *r, const char *id, struct err *e);

/* --- runtime_fake.c --- */
int fake_open(struct loop *loop, const struct runtime_config *config, struct runtime **ret, struct err *e);

/* --- cgroup.c --- */
/* One pass of cgroup_remove(): true if nothing is left. */
bool cgroup_try_remove(const char *path);
/* Removes a group only if nobody is in it, and then its empty parent. */
void cgroup_trim(const char *path);
/* The cgroup.procs files of `path` in those hierarchies where this process is not in the root group. */
char **cgroup_join_files(const char *path);
void cgroup_join_files_free(char **files);

#endif
