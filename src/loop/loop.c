// SPDX-License-Identifier: Apache-2.0
/* loop.c - the turn: ready callbacks, then the hooks of each phase
 *
 * libevent runs the callbacks (EVLOOP_ONCE), this file runs the hooks.  A phase's queue is cut off before its hooks
 * run, so a hook that schedules itself again waits for the next turn and cannot hold this one; that next turn polls
 * instead of blocking.  Nothing here wakes an idle process.
 */
#include "loop/loop.h"

#include <assert.h>
#include <errno.h>
#include <event2/event.h>
#include <signal.h>
#include <sys/wait.h>

#include "base/log.h"
#include "base/mem.h"

struct hook_queue {
	struct loop_hook *first;
	struct loop_hook **last; /* where the next one goes */
};

struct signal_watch {
	struct loop *loop;
	struct event *event;
	void (*fn)(void *arg, int signo);
	void *arg;
	struct signal_watch *next;
};

struct child {
	pid_t pid;
	void (*fn)(void *arg, pid_t pid, int wait_status);
	void *arg;
	struct child *next;
};

struct loop {
	struct event_base *base;
	struct hook_queue queues[LOOP_PHASE__COUNT];
	struct hook_queue running; /* what is left of the phase under way */
	struct signal_watch *signals;
	struct child *children;
	struct event *sigchld; /* made with the first child */
	bool stop;
};

struct loop_fd {
	struct event *event;
	void (*ready)(void *arg, bool readable, bool writable);
	void *arg;
};

static void queue_reset(struct hook_queue *q)
{
	q->first = NULL;
	q->last = &q->first;
}

static bool queue_remove(struct hook_queue *q, struct loop_hook *hook)
{
	for (struct loop_hook **at = &q->first; *at; at = &(*at)->next) {
		if (*at != hook)
			continue;
		*at = hook->next;
		if (q->last == &hook->next)
			q->last = at;
		return true;
	}
	return false;
}

struct loop *loop_new(void)
{
	struct loop *loop = xcalloc(1, sizeof(*loop));
	struct event_config *config = event_config_new();

	assert(config);
	event_config_set_flag(config, EVENT_BASE_FLAG_NOLOCK | EVENT_BASE_FLAG_IGNORE_ENV);
	loop->base = event_base_new_with_config(config);
	event_config_free(config);
	if (!loop->base) {
		log_error("create the event loop: no event mechanism");
		abort();
	}
	for (int i = 0; i < LOOP_PHASE__COUNT; i++)
		queue_reset(&loop->queues[i]);
	queue_reset(&loop->running);
	signal(SIGPIPE, SIG_IGN);
	return loop;
}

void loop_free(struct loop *loop)
{
	if (!loop)
		return;
	while (loop->signals) {
		struct signal_watch *w = loop->signals;

		loop->signals = w->next;
		event_free(w->event);
		free(w);
	}
	while (loop->children) {
		struct child *c = loop->children;

		loop->children = c->next;
		free(c);
	}
	if (loop->sigchld)
		event_free(loop->sigchld);
	event_base_free(loop->base);
	free(loop);
}

struct event_base *loop_base(struct loop *loop)
{
	return loop->base;
}

static void run_phase(struct loop *loop, enum loop_phase phase)
{
	struct hook_queue *q = &loop->queues[phase];

	if (!q->first)
		return;
	loop->running.first = q->first;
	loop->running.last = q->last;
	queue_reset(q);
	while (loop->running.first) {
		struct loop_hook *hook = loop->running.first;

		loop->running.first = hook->next;
		if (!hook->next)
			queue_reset(&loop->running);
		hook->next = NULL;
		hook->queued = false;
		hook->run(hook->arg);
	}
}

static bool hooks_wait(const struct loop *loop)
{
	for (int i = 0; i < LOOP_PHASE__COUNT; i++)
		if (loop->queues[i].first)
			return true;
	return false;
}

void loop_turn(struct loop *loop, bool poll)
{
	bool block = !poll && !hooks_wait(loop);

	/* Without EVLOOP_ONCE it would go on for as long as anything is ready: a timer that is always due again. */
	event_base_loop(loop->base, EVLOOP_NO_EXIT_ON_EMPTY | EVLOOP_ONCE | (block ? 0 : EVLOOP_NONBLOCK));
	for (int i = 0; i < LOOP_PHASE__COUNT; i++)
		run_phase(loop, (enum loop_phase)i);
}

void loop_run(struct loop *loop)
{
	while (!loop->stop)
		loop_turn(loop, false);
	loop->stop = false;
}

void loop_stop(struct loop *loop)
{
	loop->stop = true;
}

void loop_schedule(struct loop *loop, struct loop_hook *hook)
{
	struct hook_queue *q = &loop->queues[hook->phase];

	if (hook->queued)
		return;
	hook->queued = true;
	hook->next = NULL;
	*q->last = hook;
	q->last = &hook->next;
}

void loop_unschedule(struct loop *loop, struct loop_hook *hook)
{
	if (!hook->queued)
		return;
	if (!queue_remove(&loop->queues[hook->phase], hook))
		queue_remove(&loop->running, hook);
	hook->queued = false;
	hook->next = NULL;
}

static void on_timer(evutil_socket_t fd, short what, void *arg)
{
	struct loop_timer *t = arg;

	(void)fd;
	(void)what;
	t->fire(t->arg);
}

void loop_timer_set(struct loop *loop, struct loop_timer *t, int64_t ms)
{
	struct timeval tv;

	if (ms < 0)
		ms = 0;
	tv = (struct timeval){ .tv_sec = ms / 1000, .tv_usec = ms % 1000 * 1000 };
	if (!t->event)
		t->event = evtimer_new(loop->base, on_timer, t);
	evtimer_add(t->event, &tv);
}

void loop_timer_set_sooner(struct loop *loop, struct loop_timer *t, int64_t ms)
{
	struct timeval due, now;

	if (t->event && evtimer_pending(t->event, &due)) {
		event_base_gettimeofday_cached(loop->base, &now);
		if ((due.tv_sec - now.tv_sec) * 1000 + (due.tv_usec - now.tv_usec) / 1000 <= ms)
			return;
	}
	loop_timer_set(loop, t, ms);
}

void loop_timer_clear(struct loop_timer *t)
{
	if (t->event)
		evtimer_del(t->event);
}

void loop_timer_done(struct loop_timer *t)
{
	if (t->event)
		event_free(t->event);
	t->event = NULL;
}

bool loop_timer_pending(const struct loop_timer *t)
{
	return t->event && evtimer_pending(t->event, NULL);
}

static void on_signal(evutil_socket_t signo, short what, void *arg)
{
	struct signal_watch *w = arg;

	(void)what;
	w->fn(w->arg, (int)signo);
}

int loop_on_signal(struct loop *loop, int signo, void (*fn)(void *arg, int signo), void *arg, struct err *e)
{
	struct signal_watch *w = xcalloc(1, sizeof(*w));

	*w = (struct signal_watch){ .loop = loop, .fn = fn, .arg = arg };
	w->event = evsignal_new(loop->base, signo, on_signal, w);
	if (!w->event || event_add(w->event, NULL) < 0) {
		if (w->event)
			event_free(w->event);
		free(w);
		return err_set(e, ERR_INTERNAL, "cannot watch signal %d", signo);
	}
	w->next = loop->signals;
	loop->signals = w;
	return 0;
}

void loop_forget_signal(struct loop *loop, int signo, const void *arg)
{
	for (struct signal_watch **at = &loop->signals; *at; at = &(*at)->next) {
		struct signal_watch *w = *at;

		if (w->arg != arg || event_get_signal(w->event) != signo)
			continue;
		*at = w->next;
		event_free(w->event);
		free(w);
		return;
	}
}

static void on_fd(evutil_socket_t fd, short what, void *arg)
{
	struct loop_fd *w = arg;

	(void)fd;
	w->ready(w->arg, what & EV_READ, what & EV_WRITE);
}

struct loop_fd *loop_fd_new(struct loop *loop, int fd, bool read, bool write,
			    void (*ready)(void *arg, bool readable, bool writable), void *arg)
{
	struct loop_fd *w = xcalloc(1, sizeof(*w));
	short what = (short)(EV_PERSIST | (read ? EV_READ : 0) | (write ? EV_WRITE : 0));

	w->ready = ready;
	w->arg = arg;
	w->event = event_new(loop->base, fd, what, on_fd, w);
	if (!w->event || event_add(w->event, NULL) < 0)
		log_error("watch a file descriptor fd=%d, ignoring", fd);
	return w;
}

void loop_fd_free(struct loop_fd *w)
{
	if (!w)
		return;
	if (w->event)
		event_free(w->event);
	free(w);
}

/* One child that has ended, cut off the list; NULL when there is none. */
static struct child *take_ended(struct loop *loop, int *ret_status)
{
	for (struct child **at = &loop->children; *at; at = &(*at)->next) {
		struct child *c = *at;
		pid_t got = waitpid(c->pid, ret_status, WNOHANG);

		if (got == 0 || (got < 0 && errno == EINTR))
			continue;
		if (got < 0) {
			log_warn("wait for a child pid=%d error=%s, calling it killed", (int)c->pid, strerror(errno));
			*ret_status = SIGKILL;
		}
		*at = c->next;
		return c;
	}
	return NULL;
}

/* Signals of several children may come as one, and a callback may add or forget children: so look again from the start
 * after each. */
static void on_sigchld(evutil_socket_t signo, short what, void *arg)
{
	struct loop *loop = arg;
	struct child *c;
	int status = 0;

	(void)signo;
	(void)what;
	while ((c = take_ended(loop, &status))) {
		c->fn(c->arg, c->pid, status);
		free(c);
	}
}

int loop_on_child(struct loop *loop, pid_t pid, void (*fn)(void *arg, pid_t pid, int wait_status), void *arg,
		  struct err *e)
{
	struct child *c;

	if (!loop->sigchld) {
		loop->sigchld = evsignal_new(loop->base, SIGCHLD, on_sigchld, loop);
		if (!loop->sigchld || event_add(loop->sigchld, NULL) < 0)
			return err_set(e, ERR_INTERNAL, "cannot watch for the end of process %d", (int)pid);
	}
	c = xcalloc(1, sizeof(*c));
	*c = (struct child){ .pid = pid, .fn = fn, .arg = arg, .next = loop->children };
	loop->children = c;
	/* It may have ended before anyone listened. */
	event_active(loop->sigchld, EV_SIGNAL, 1);
	return 0;
}

void loop_forget_child(struct loop *loop, pid_t pid)
{
	for (struct child **at = &loop->children; *at; at = &(*at)->next) {
		struct child *c = *at;

		if (c->pid != pid)
			continue;
		*at = c->next;
		free(c);
		return;
	}
}
