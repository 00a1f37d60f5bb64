// SPDX-License-Identifier: Apache-2.0
/* logs.h - container logs belong to the server: they outlive pods, are rotated, capped, and read with kubectl's options
 *
 * DIR/logs/<namespace>/<pod>_<uid>/<container>/<attempt>.log in the CRI form ("time stream F|P text"); what was rotated
 * away is <attempt>.log.1, .2 ...  Beside them owner.json says which job the pod belonged to, so that logs are found by
 * the job's name when the pod is long gone.
 */
#ifndef STOKER_NODE_LOGS_H
#define STOKER_NODE_LOGS_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>
#include <sys/types.h>

#include "base/err.h"
#include "base/str.h"
#include "loop/loop.h"

/* --- reading --- */
struct log_watch;
struct log_options {
	bool follow, timestamps;
	int64_t since_us;    /* wall clock; 0 = from the start */
	int64_t tail_lines;  /* -1 = all */
	int64_t limit_bytes; /* -1 = all */
	int stream;          /* only what went to 1 or 2; 0 = both */
	/* Followers may share one (node/log_watch.h, logs_watch()); NULL: this one has its own. */
	struct log_watch *watch;
};

struct log_reader;
/* Reads a log with its rotated parts and calls `text` with pieces of output (as `kubectl logs` prints them) from the
 * loop; `end` once at the end: for a follower when log_reader_ended() said that the container is over and all is read.
 * A log that does not exist (yet) is empty.  Both callbacks may pause and free the reader; after `end` it only waits to
 * be freed.
 */
int log_reader_new(struct loop *loop, const char *path, const struct log_options *o,
		   void (*text)(void *arg, struct str piece), void (*end)(void *arg), void *arg,
		   struct log_reader **ret, struct err *e);
void log_reader_pause(struct log_reader *r, bool paused);
void log_reader_ended(struct log_reader *r);
void log_reader_free(struct log_reader *r);

/* One line of the file, taken apart (pure): false if it is not one. */
bool log_line_parse(struct str line, int64_t *ret_us, bool *ret_stderr, bool *ret_partial, struct str *ret_text);
/* The last `bytes` or `lines` of a log as plain text, for terminationMessagePolicy: FallbackToLogsOnError. */
void log_tail(const char *path, size_t bytes, int lines, struct sbuf *out);

/* --- keeping --- */
struct logs;
struct logs_config {
	const char *dir;      /* DIR; logs are in DIR/logs */
	int64_t keep_seconds; /* after the pod's end; 0 = for ever */
	int64_t max_bytes;    /* of all logs together: the oldest ended ones go first; 0 = no limit */
};
int logs_open(struct loop *loop, const struct logs_config *config, struct logs **ret, struct err *e);
void logs_free(struct logs *l);
/* The path for an attempt of a container, malloc'ed; makes the directory and owner.json.  Attempts that are more than
 * ten behind lose their logs. */
int logs_path(struct logs *l, const json_t *pod, const char *container, int attempt, char **ret, struct err *e);
/* The pod is gone: its logs stay until retention takes them. */
void logs_pod_ended(struct logs *l, const char *ns, const char *pod, const char *uid);
/* After a start, when it is known which pods there are: those for which `lives` is false went while nobody looked. */
void logs_settle(struct logs *l, bool (*lives)(void *arg, const char *uid), void *arg);
/* What there is by a pod's or a job's name, newest last: array of {"namespace","pod","uid","created","owner":{"kind",
 * "name"},"job","containers":[{"name","init","attempts":[{"attempt","path","bytes"}]}],"ended"}.  "owner" and "job"
 * (from labels) only where there is one; "ended" is a time or null. */
json_t *logs_find(struct logs *l, const char *ns, const char *name);
/* The same of one pod, or NULL. */
json_t *logs_find_uid(struct logs *l, const char *ns, const char *uid);

/* A container is over, and its monitor has written all there is: tells those who follow this path. */
void logs_container_ended(struct logs *l, const char *log_path);
struct logs_listener {
	LIST_ENTRY(logs_listener) link;
	char *path; /* borrowed */
	void (*ended)(void *arg);
	void *arg;
};
void logs_listen(struct logs *l, struct logs_listener *listener);
void logs_unlisten(struct logs_listener *listener);
struct log_watch *logs_watch(struct logs *l);

/* A container with this log runs, or has run: the numbers that a training job prints are kept (node/measure_keep.h). */
void logs_measure(struct logs *l, const json_t *pod, const char *log_path);

#endif
