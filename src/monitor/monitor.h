// SPDX-License-Identifier: Apache-2.0
/* monitor.h - what the files of the monitor share
 *
 * One process, one container, no allocation: everything is in one struct monitor, of which the kernel gives us only
 * those pages that are used.
 */
#ifndef STOKER_MONITOR_MONITOR_H
#define STOKER_MONITOR_MONITOR_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "monitor/protocol.h"

#define CONNS_MAX  16
#define CHUNK_MAX  (32 * 1024)
#define OUT_MAX    (64 * 1024)
#define PATH_BYTES 4096

struct conn {
	int fd;
	uint32_t kind;    /* 0 until it has said MONITOR_WATCH or MONITOR_ATTACH */
	bool no_input;    /* it has closed its sending half */
	bool behind;      /* has not taken the chunk that is under way */
	int64_t since_ms; /* when it fell behind */
};

/* A stream of the container on its way to the log: the beginning of a line whose end has not come. */
struct stream {
	int fd; /* -1 at its end */
	unsigned char number;
	int file;      /* the user's file that gets the same bytes, or -1 */
	bool mid_line; /* the last of them was no end of a line */
	uint32_t n;
	int64_t since_ms;
	char line[MONITOR_LOG_PART];
};

struct log {
	const char *path;
	int fd; /* -1: could not be opened so far */
	bool full;
	uint32_t dropped;     /* lines in all */
	uint32_t not_told;    /* of these, since the last line that was written */
	int64_t size;         /* of the file */
	int64_t window_ms;    /* flood: when the present window began, */
	int64_t window_bytes; /* and how much was written in it */
	int64_t second;       /* of `date` */
	char date[20];        /* 2006-01-02T15:04:05, made once a second */
	uint32_t n;
	char out[OUT_MAX];
};

struct monitor {
	char **argv, **envp;
	bool hide, tty, stdin_open, stdin_once;
	bool process, files;
	bool told;        /* why it is killed */
	bool unseen;      /* a process with a terminal is for somebody: nothing is read from it before they are there */
	int64_t await_ms; /* until then output waits for a client; 0: no more */
	bool patient;     /* the client came, and gets everything however long it takes */
	int listen_fd, signal_fd, state_fd;
	int stdin_fd;    /* where input goes; with a terminal its master, as streams[0].fd */
	bool stdin_over; /* closes when what is pending has been written */
	int console_fd;  /* waits for the runtime to bring the master */
	int pid_fd;
	int conn_count; /* used slots, from the front */
	int64_t throttled_until;
	uint32_t input_n, input_at;
	uint32_t chunk_n; /* including the leading byte */
	struct monitor_record record;
	struct conn conns[CONNS_MAX];
	struct log log;
	struct stream streams[2];
	char chunk[1 + CHUNK_MAX];
	char input[MONITOR_INPUT];
};

/* --- main.c --- */
__attribute__((noreturn)) void monitor_main(void **stack);
/* Writes the record to its file and tells everyone who watches. */
void record_publish(struct monitor *m);

/* --- run.c: the runtime --- */
/* Calls it and waits; RUNNING or FAILED is in the record then, and the streams are open. */
void run_container(struct monitor *m);
/* Pipes for a child, of which `fds` are its ends; what is not needed stays as it is. */
long run_make_pipes(struct monitor *m, int fds[3]);
void run_close_theirs(const int fds[3]);
/* Writes this process into files: paths that each end in a newline. */
void run_join_groups(const char *paths);

/* --- process.c: a process instead of a container --- */
struct process {
	const struct monitor_process *head;
	const struct monitor_limit *limits;
	const uint32_t *groups;
	const char *program, *cwd;
	const char *files[2];
	char *joins, *allows; /* texts one after the other */
	char **args, **env;
};
/* Reads the description; false if it is damaged. */
bool process_read(int fd, struct process *ret);
/* The same as run_container(). */
void run_process(struct monitor *m);
/* This process becomes it, or never was. */
__attribute__((noreturn)) void process_exec(void);

/* --- files.c: the user's files for output --- */
/* Opens them with the user's rights; else the record says which could not be. */
long files_open(struct monitor *m, const struct process *p);
void files_write(struct stream *s, const char *text, size_t n);
/* What is not output of the container but belongs there: to the log and the files. */
void files_say(struct monitor *m, struct stream *s, const char *text, size_t n);
/* From now on we have no rights but to kill. */
void files_drop_rights(void);

/* --- log.c --- */
void log_open(struct log *l);
void log_reopen(struct log *l);
/* Text of a stream; a line without an end is kept back for a moment. */
void log_take(struct log *l, struct stream *s, const char *text, size_t n);
/* Lets go of what is kept back. */
void log_part(struct log *l, struct stream *s);
void log_flush(struct log *l);
/* Milliseconds to wait because of a flood; 0 for none. */
int log_wait_ms(struct log *l, int64_t now_ms);

/* --- serve.c: connections --- */
void serve_open(struct monitor *m);
void serve_accept(struct monitor *m);
void serve_readable(struct monitor *m, struct conn *c);
void serve_close(struct monitor *m, struct conn *c);
bool serve_someone_behind(const struct monitor *m);
bool serve_someone_attached(const struct monitor *m);
/* Nobody has attached yet for whom output is kept. */
bool serve_awaits(const struct monitor *m, int64_t now_ms);
/* Text of a stream that is in the chunk after its first byte, to whoever is attached: nobody may be behind. */
void serve_chunk(struct monitor *m, unsigned char stream, size_t n);
/* Passes the chunk under way to whoever has not got it; those too slow for too long are let go. */
void serve_output(struct monitor *m, int64_t now_ms);
void serve_record(struct monitor *m, struct conn *c);
/* Writes pending input to the container. */
void serve_input(struct monitor *m);

/* --- oom.c --- */
/* By the kernel, says the file that counts it; or "". */
bool oom_killed(const char *counter);
/* Bytes; -1 if there is none. */
int64_t oom_limit(const char *counter);
/* Could it not be started, by that error, because the limit is too small? */
bool oom_cannot_start(const struct monitor *m, long error);
/* Tells the user in PBS's words. */
void oom_say(struct monitor *m);

/* --- end.c --- */
/* The container's first process has been reaped: what is left of it, in order; then the record is complete. */
void end_container(struct monitor *m, int wait_status);
/* Reads once from a stream into the log and to whoever is attached; false if there was nothing. */
bool stream_read(struct monitor *m, struct stream *s);

#endif
