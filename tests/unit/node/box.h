// SPDX-License-Identifier: Apache-2.0
/* box.h - a bench for runtimes: bundles on a busybox root file system, started, waited for and recorded */
#ifndef STOKER_TEST_NODE_BOX_H
#define STOKER_TEST_NODE_BOX_H

#include <jansson.h>
#include <stdbool.h>

#include "loop/loop.h"
#include "monitor/protocol.h"
#include "node/runtime.h"

#define BENCH_MAX 64

/* One container of the bench. */
struct trial {
	char id[32];
	char bundle[256], log[256], cgroup[128];
	bool tty, stdin_open;
	json_t *process; /* of the host, instead of a container; the caller's */
	bool devices;    /* ... that may be kept from devices */
	bool may_fail;   /* an error is no surprise */
	int dones, exits;
	pid_t pid;
	struct err error;
	struct exit_info exit;
	int64_t start_ns, done_ns, exit_ns;
};

struct bench {
	struct loop *loop;
	struct runtime *runtime;
	char dir[128], prefix[16], name[8];
	struct trial trials[BENCH_MAX];
	int n;
	bool any_pid; /* the answer to a start was lost, so pids found are news */
	int found_running, found_ended;
	struct found found[BENCH_MAX];
};

/* Opens runtime `name` on a directory of its own; false (and a failed check) if that does not work. */
bool bench_open(struct bench *b, const char *name);
/* Frees the runtime without removing anything, as a dying server would, and opens it again. */
bool bench_restart(struct bench *b);
/* Removes everything and checks that nothing is left on the machine. */
void bench_close(struct bench *b);

/* A config.json that runs `sh -c script`; the caller may change it before trial_start(). */
json_t *bench_config(struct bench *b, struct trial *t, const char *script);
struct trial *trial_new(struct bench *b);
void trial_write(struct trial *t, json_t *config /* taken */);
void trial_start(struct bench *b, struct trial *t);
/* new + config + write + start */
struct trial *trial_run(struct bench *b, const char *script);
/* Turns the loop until *counter reaches `want`; a failed check after `seconds`. */
bool bench_wait(struct bench *b, const int *counter, int want, int seconds);
/* The log's text, rotated parts first, with the CRI columns removed; malloc'ed. */
char *trial_log(struct trial *t);
/* What its monitor wrote down. */
struct monitor_record trial_state(const struct bench *b, const struct trial *t);
struct trial *bench_find(struct bench *b, const char *id);
/* The control groups of this process, found anew. */
const struct cgroups *cgroups_here(void);
/* How many directories of this bench are in any cgroup hierarchy. */
int bench_cgroups(const struct bench *b, const char *below);

#endif
