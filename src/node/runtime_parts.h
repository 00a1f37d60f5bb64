// SPDX-License-Identifier: Apache-2.0
/* runtime_parts.h - what the files of the OCI runtime share; nobody else includes it
 *
 * Files below DIR/run:
 *	oci/              the runtime's own state (--root)
 *	containers/<id>/  info.json before anything happens; the rest is the monitor's, see monitor/protocol.h
 * None of them is synced: they must survive the death of this process, and after the death of the machine there are no
 * containers left to know about.
 */
#ifndef STOKER_NODE_RUNTIME_PARTS_H
#define STOKER_NODE_RUNTIME_PARTS_H

#include "base/map.h"
#include "base/str.h"
#include "monitor/protocol.h"
#include "node/runtime.h"

/* --- runtime_files.c --- */
/* Written in place or not at all (temporary name, rename), without a sync. */
int state_write(const char *dir, const char *name, struct str text, struct err *e);
/* The number a small file starts with; -1 if there is none. */
int64_t state_read_number(const char *path);
json_t *state_read_json(const char *dir, const char *name);
/* A whole tree without following links; what is gone already is fine. */
void state_remove_tree(const char *path);
/* --- runtime_spawn.c --- */
#define SPAWN_PASSED 2
struct spawn {
	const char *const *argv; /* argv[0] is an absolute path, */
	int program_fd;          /* unless this is the program; 0: it is not */
	const char *const *env;  /* added to a clean PATH; or NULL */
	int fds[3];              /* 0 1 2 of the child; -1: /dev/null */
	int pass[SPAWN_PASSED];  /* become 3, 4; 0: no more */
	bool hide;               /* in a private mount namespace without /sys/fs/cgroup/unified */
	bool tty;                /* fds[0] becomes the controlling terminal */
	const char *cwd;         /* NULL: / */
};
/* The child's pid, already executing; or -1 with the reason, also when the program could not be executed. */
pid_t spawn_start(const struct spawn *s, struct err *e);
/* Runs to the end, at most `ms`, with the last of its output (1 and 2 together) in `out`; blocks: only for start-up. */
int spawn_wait(const struct spawn *s, int ms, struct sbuf *out, int *ret_status, struct err *e);
/* Absolute path of a program in the usual directories; NULL if there is none. */
char *spawn_find(const char *program);
/* What a runtime said on stderr, without time stamps and log syntax; in place. */
void spawn_clean_words(struct sbuf *text);

/* --- runtime_probe.c --- */
struct probed {
	char *program;
	char *version; /* or NULL */
	const char *name;
	const char *option; /* what it is to do about cgroups */
	bool hide;
};
int runtime_probe(const struct runtime_config *c, const struct cgroups *g, const char *run_dir, struct probed *ret,
		  struct err *e);
void probed_done(struct probed *p);

/* --- runtime_oci.c --- */
#define INFO_FILE    "info.json"
#define EXIT_UNKNOWN 255

enum box_state { BOX_STARTING, BOX_RUNNING, BOX_ENDED };

/* A container as this process knows it. */
struct box {
	struct oci *oci;
	enum box_state state;
	char *id, *dir, *bundle, *cgroup;
	pid_t pid;
	int pid_fd; /* -1 until the monitor has passed it on */
	int64_t started_us;
	pid_t monitor;
	int control_fd; /* to the monitor; at its end, it has gone */
	struct loop_fd *control_watch;
	int pending_signal; /* asked for before there was a process */
	/* While starting: */
	bool removed;               /* nobody wants it any more */
	struct loop_timer patience; /* with a runtime that does not end */
	void (*done)(void *arg, pid_t pid, const struct err *e);
	void *arg;
	struct loop_hook fail; /* reports `error` from the loop, never from inside a call */
	struct err error;
};

struct exec {
	struct oci *oci;
	char *pid_file, *process_file, *cgroup;
	pid_t first; /* of the container */
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
	char *join;          /* where a monitor must leave the server's own cgroup: lines */
	bool joinable;       /* those groups are there */
	int monitor_program; /* a descriptor of the program */
	struct map boxes;
	struct map leftovers; /* cgroups that did not go away at once */
	struct loop_timer sweep;
	struct exec *execs;
	unsigned exec_count;
};

int oci_open(struct loop *loop, const struct runtime_config *config, struct runtime **ret, struct err *e);
struct box *box_new(struct oci *o, const char *id);
void box_free(void *box);
/* Hears from now on what its monitor says on this socket, which becomes the box's. */
void box_watch(struct box *b, int control_fd);
/* Nobody knows how it ended: kills what there is. */
struct exit_info box_give_up(struct box *b);
/* Everything the machine knows of it: processes, cgroup, runtime state, files. */
void box_erase(struct box *b);

/* --- runtime_start.c --- */
void start_container(struct runtime *r, const struct container_start *c,
		     void (*done)(void *arg, pid_t pid, const struct err *e), void *arg);
/* What the monitor said; no record: it ended without one. */
void start_failed(struct box *b, const struct monitor_record *record);
void start_succeeded(struct box *b);
/* Removed while starting: done() is told when the runtime has come to an end. */
void start_abandon(struct box *b);

/* --- runtime_monitor.c --- */
/* A descriptor of the monitor's program, to be executed. */
int monitor_program(const char *run_dir, struct err *e);
bool monitor_read_state(const struct box *b, struct monitor_record *ret);
/* There is one, or will be: by the lock on info.json. */
bool monitor_alive(const struct box *b);
/* A new connection for MONITOR_WATCH or MONITOR_ATTACH. */
int monitor_connect(const struct box *b, enum monitor_what what, struct err *e);
int monitor_tell(const struct box *b, const struct monitor_command *command, struct err *e);
/* 1: a record; 0: none yet; -1: the monitor has gone.  Keeps the pidfd that comes along. */
int monitor_receive(struct box *b, struct monitor_record *ret);
struct exit_info monitor_exit(const struct monitor_record *record);
/* Waits for its end, then makes it. */
void monitor_end(struct box *b, int ms);

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
int oci_say(struct runtime *r, const char *id, int stream, struct str text, struct err *e);

/* --- runtime_process.c --- */
/* It is no container. */
bool box_is_process(const struct box *b);
/* What its monitor needs to know, in its directory. */
int process_record(const struct box *b, const struct container_start *c, struct err *e);
void process_failed(const struct box *b, const struct monitor_record *record, struct err *e);
json_t *oci_process(struct runtime *r, const char *id);
/* The extra process of an exec as our child; it is the program itself. */
pid_t process_exec(const struct box *b, const struct exec_start *start, struct err *e);

/* --- runtime_fake.c --- */
int fake_open(struct loop *loop, const struct runtime_config *config, struct runtime **ret, struct err *e);

/* --- cgroup.c --- */
/* A group's directory in that hierarchy where its processes are best killed, and the file that counts OOM kills in it;
 * malloc'ed, "" if there is none. */
void cgroup_monitor_paths(const struct cgroups *g, const char *path, char **ret_dir, char **ret_oom);
/* Removes a group only if nobody is in it, and then its empty parent; false if somebody is. */
bool cgroup_trim(const struct cgroups *g, const char *path);
/* The cgroup.procs files of `path` in those hierarchies where this process is not in the root group, a line each. */
char *cgroup_join_files(const struct cgroups *g, const char *path);

#endif
