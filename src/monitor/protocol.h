// SPDX-License-Identifier: Apache-2.0
/* protocol.h - what the server and a container's monitor say to each other
 *
 * The server starts a monitor for each container with a private directory as its working directory, and hands it two
 * descriptors and these arguments:
 *
 *	stoker-monitor FLAGS LOG CGROUP OOM JOIN RUNTIME [ARGUMENT]...
 *
 *	FLAGS    letters, see below
 *	LOG      the log file; rotated parts are LOG.1 LOG.2 ...
 *	CGROUP   the container's group in one hierarchy, to kill what is left in it; or ""
 *	OOM      a file with a line "oom_kill N" for that group; or ""
 *	JOIN     files to write itself into, to leave the server's cgroups: paths that each end in a newline
 *	RUNTIME  and its arguments: a call that makes the container run, detached.  MONITOR_CONSOLE among them is
 *	         replaced by the way to the monitor's console socket.
 *
 * With MONITOR_FLAG_PROCESS there is no container and no runtime: the monitor itself starts the process that the file
 * "process" of its directory describes (struct monitor_process), as its child.  With MONITOR_FLAG_FILES only the files
 * for output in that description count, and the runtime is called as ever.
 *
 * Files in the directory: "info.json" is the server's, its lock is the monitor's for life; "pid" is the runtime's;
 * "words" what the runtime said; "state" a struct monitor_record, made before the runtime is called and from then on
 * written over in place, which works on a full disk too; "sock" where later servers and attaching clients connect.
 *
 * Every connection is SOCK_SEQPACKET and begins with a struct monitor_command from the other side, but for the first
 * server's, which is there from the beginning.  MONITOR_WATCH is answered by the record, with a pidfd of the
 * container's first process as long as there is one, and by another whenever it changes; such a connection also takes
 * the other commands.  After MONITOR_ATTACH packets are the container's input, and its output comes as packets of a
 * byte (MONITOR_STDOUT, MONITOR_STDERR) and text, of at most MONITOR_PACKET together.  After MONITOR_SAY in the same
 * packet comes text that is added to the output, as if the container had printed it on the stream `rows`.
 *
 *	stoker-monitor hold
 *
 * is a process that does nothing but keep the lock and its namespaces, for a server without root: see node/rootless.c.
 *
 *	stoker-monitor exec
 *
 * becomes the process that descriptor MONITOR_CONTROL_FD describes.  If it cannot, it exits with MONITOR_EXEC_FAILED.
 *
 * A monitor may be older than the server that talks to it: fields and commands are added at the end, never changed.
 */
#ifndef STOKER_MONITOR_PROTOCOL_H
#define STOKER_MONITOR_PROTOCOL_H

#include <stdint.h>

#define MONITOR_VERSION 1

/* Descriptors that are handed over. */
#define MONITOR_CONTROL_FD 3
#define MONITOR_LOCK_FD    4

#define MONITOR_NAME    "stoker-monitor"
#define MONITOR_CONSOLE "--console-socket=@"
#define MONITOR_HOLD    "hold"
#define MONITOR_EXEC    "exec"
#define MONITOR_PROCESS "process" /* name of the file */

#define MONITOR_EXEC_FAILED 126

/* Arguments, by position. */
enum {
	MONITOR_ARG_NAME,
	MONITOR_ARG_FLAGS,
	MONITOR_ARG_LOG,
	MONITOR_ARG_CGROUP,
	MONITOR_ARG_OOM,
	MONITOR_ARG_JOIN,
	MONITOR_ARG_RUNTIME
};

#define MONITOR_FLAG_HIDE    'h' /* the runtime must not see /sys/fs/cgroup/unified */
#define MONITOR_FLAG_TTY     't'
#define MONITOR_FLAG_STDIN   'i'
#define MONITOR_FLAG_ONCE    'o' /* the end of the first attached client's input is the container's */
#define MONITOR_FLAG_PROCESS 'p' /* a process instead of a container */
#define MONITOR_FLAG_FILES   'f' /* output goes to files of the user too */
#define MONITOR_FLAG_AWAIT   'w' /* output and end wait for the first client, who is then waited for */

#define MONITOR_AWAIT_MS 30000 /* but no longer than this */
#define MONITOR_OWN      "own" /* below a process's group, where it is itself in if containers are beside it */

enum monitor_state {
	MONITOR_BEGUN = 1, /* the runtime may have been called */
	MONITOR_RUNNING,
	MONITOR_ENDED,
	MONITOR_FAILED, /* the runtime could not start it; code is an errno if it could not even be called */
};

/* What could not be done, if a process or its files could not be had; code is the errno. */
enum monitor_step {
	MONITOR_STEP_NONE,
	MONITOR_STEP_START, /* the machine lacked something */
	MONITOR_STEP_STDOUT,
	MONITOR_STEP_STDERR,
	MONITOR_STEP_CHDIR,
	MONITOR_STEP_EXEC,
	MONITOR_STEP_MEMORY, /* its limit of memory is too small for any program */
};

struct monitor_record {
	uint32_t version;
	uint32_t state;
	int32_t monitor, pid;
	int32_t code, signal; /* as in struct exit_info */
	uint32_t oom;
	uint32_t dropped; /* lines of the log for which there was no room */
	int64_t started_us, finished_us;
	uint32_t unknown; /* the status was lost: code means nothing */
	uint32_t step;    /* enum monitor_step */
};

/* The file "process": this, then `limits` of struct monitor_limit, then `groups` numbers of 4 bytes, then texts that
 * each end in a NUL: the program, its directory, the files for stdout and stderr ("" for none), `joins` files to write
 * itself into, `args` arguments beginning with its name, `env` variables, `allows` files: if there are any, it and its
 * children can execute no others. */
struct monitor_process {
	uint32_t uid, gid, umask;
	uint32_t joined; /* 0, or the stream through which both go */
	uint32_t limits, groups, joins, args, env;
	uint32_t allows;
	uint32_t only; /* the server is this user, as root of a user namespace, and can be nobody else */
};

struct monitor_limit {
	uint64_t soft, hard;
	uint32_t resource, reserved; /* RLIMIT_..., or */
};
#define MONITOR_NICE 1000 /* `soft` is how much nicer than others it is */

enum monitor_what { MONITOR_WATCH = 1, MONITOR_ATTACH, MONITOR_RESIZE, MONITOR_REOPEN, MONITOR_SAY };

struct monitor_command {
	uint32_t what;
	int32_t rows, cols;
};

#define MONITOR_STDOUT 2
#define MONITOR_STDERR 3
#define MONITOR_PACKET 8192
#define MONITOR_INPUT  (32 * 1024) /* longest packet of input */
#define MONITOR_TEXT   4096        /* longest text after MONITOR_SAY */
/* How a text begins that says why a job ends: there is no more to say about that. */
#define MONITOR_KILLED "=>> PBS: job killed: "

/* The log: lines longer than a part are cut, a file longer than this is put aside, and so many are kept in all. */
#define MONITOR_LOG_PART  (16 * 1024)
#define MONITOR_LOG_BYTES (10 * 1024 * 1024)
#define MONITOR_LOG_FILES 5

#endif
