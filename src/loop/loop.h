// SPDX-License-Identifier: Apache-2.0
/* loop.h - one thread, one loop, and what happens at the end of each turn
 *
 * A turn is: run every ready callback, then the turn hooks in the order before commit -> commit -> after
 * commit -> work.  The store registers the commit hook, so all writes of a turn share one transaction and one fsync;
 * replies and watch events are sent from after-commit hooks; controllers do their work last.  With nothing to do the
 * turn blocks in libevent: an idle server has no periodic wake-up.
 */
#ifndef STOKER_LOOP_LOOP_H
#define STOKER_LOOP_LOOP_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"

struct loop;
struct event_base;

/* Also ignores SIGPIPE, for TLS has no MSG_NOSIGNAL; a forked child that executes something else sets it back. */
struct loop *loop_new(void);
void loop_free(struct loop *loop);
/* Runs until loop_stop(). */
void loop_run(struct loop *loop);
/* One turn; for tests and for command-line clients that wait for one answer.  Blocks unless `poll`. */
void loop_turn(struct loop *loop, bool poll);
void loop_stop(struct loop *loop);
/* For the other files of this room only. */
struct event_base *loop_base(struct loop *loop);

/* The phases at the end of a turn, in their order.  LOOP_BEFORE_COMMIT adds to the turn's transaction what follows from
 * all its other writes together.  LOOP_FLUSH is loop/http.c's own: what after-commit hooks wrote to
 * streams leaves in one piece per connection before controllers start to work. */
enum loop_phase { LOOP_BEFORE_COMMIT, LOOP_COMMIT, LOOP_AFTER_COMMIT, LOOP_FLUSH, LOOP_WORK, LOOP_PHASE__COUNT };

/* A hook is embedded in its owner and runs once each time it has been scheduled.  Scheduling twice before it runs is
 * the same as once.  A hook of a later phase may be scheduled from an earlier one and runs in the same turn; one of the
 * same or an earlier phase runs in the next turn, which then does not block. */
struct loop_hook {
	void (*run)(void *arg);
	void *arg;
	enum loop_phase phase;
	bool queued;
	struct loop_hook *next;
};

void loop_schedule(struct loop *loop, struct loop_hook *hook);
void loop_unschedule(struct loop *loop, struct loop_hook *hook);

/* One-shot timers on the monotonic clock; embedded in their owner. */
struct loop_timer {
	void (*fire)(void *arg);
	void *arg;
	struct event *event; /* made on first use */
};

void loop_timer_set(struct loop *loop, struct loop_timer *t, int64_t ms);
/* The same, unless it fires before that anyway. */
void loop_timer_set_sooner(struct loop *loop, struct loop_timer *t, int64_t ms);
void loop_timer_clear(struct loop_timer *t);
/* Clears and frees what loop_timer_set made. */
void loop_timer_done(struct loop_timer *t);
bool loop_timer_pending(const struct loop_timer *t);

/* Calls `fn` for SIGTERM, SIGINT, SIGHUP ... from the loop, not from the signal handler. */
int loop_on_signal(struct loop *loop, int signo, void (*fn)(void *arg, int signo), void *arg, struct err *e);

/* Takes back what was asked with the same signal and argument. */
void loop_forget_signal(struct loop *loop, int signo, const void *arg);

/* Readiness of a file descriptor the caller owns. */
struct loop_fd;
struct loop_fd *loop_fd_new(struct loop *loop, int fd, bool read, bool write,
			    void (*ready)(void *arg, bool readable, bool writable), void *arg);
void loop_fd_free(struct loop_fd *w);

/* A child process ended: its wait status.  Uses SIGCHLD; the caller forked it.  Called once; also for a child that had
 * ended before this call. */
int loop_on_child(struct loop *loop, pid_t pid, void (*fn)(void *arg, pid_t pid, int wait_status), void *arg,
		  struct err *e);
/* No callback will follow; the child is then the caller's to wait for. */
void loop_forget_child(struct loop *loop, pid_t pid);

#endif
