// SPDX-License-Identifier: Apache-2.0
/* loop_test.c - the order of a turn, timers, signals, descriptors and children */
#include "loop/loop.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "test.h"

struct trace {
	struct loop *loop;
	char text[64];
	struct loop_hook commit, after, work;
};

static void note(struct trace *t, char c)
{
	size_t n = strlen(t->text);

	if (n + 1 < sizeof(t->text))
		t->text[n] = c;
}

static void on_commit(void *arg)
{
	struct trace *t = arg;

	note(t, 'c');
	loop_schedule(t->loop, &t->after);
}

static void on_after(void *arg)
{
	note(arg, 'a');
}

static void on_work(void *arg)
{
	struct trace *t = arg;

	note(t, 'w');
	if (strlen(t->text) < 6) {
		loop_schedule(t->loop, &t->commit);
		loop_schedule(t->loop, &t->work);
	}
}

static void trace_init(struct trace *t)
{
	*t = (struct trace){ .loop = loop_new() };
	t->commit = (struct loop_hook){ .run = on_commit, .arg = t, .phase = LOOP_COMMIT };
	t->after = (struct loop_hook){ .run = on_after, .arg = t, .phase = LOOP_AFTER_COMMIT };
	t->work = (struct loop_hook){ .run = on_work, .arg = t, .phase = LOOP_WORK };
}

TEST("hooks run once, in the order of their phases, and an earlier phase waits for the next turn")
{
	struct trace t;

	trace_init(&t);
	loop_schedule(t.loop, &t.work);
	loop_schedule(t.loop, &t.work);
	loop_schedule(t.loop, &t.commit);
	loop_turn(t.loop, false);
	CHECK_STR(t.text, "caw");
	loop_turn(t.loop, false); /* does not block: work and commit have been scheduled by work */
	CHECK_STR(t.text, "cawcaw");
	loop_schedule(t.loop, &t.commit);
	loop_unschedule(t.loop, &t.commit);
	loop_turn(t.loop, true);
	CHECK_STR(t.text, "cawcaw");
	loop_free(t.loop);
}

static void on_unschedule(void *arg)
{
	struct trace *t = arg;

	loop_unschedule(t->loop, &t->after);
	loop_unschedule(t->loop, &t->commit);
	loop_schedule(t->loop, &t->work);
}

TEST("a hook may take another one of its phase away")
{
	struct trace t;
	struct loop_hook first;

	trace_init(&t);
	first = (struct loop_hook){ .run = on_unschedule, .arg = &t, .phase = LOOP_AFTER_COMMIT };
	loop_schedule(t.loop, &first);
	loop_schedule(t.loop, &t.after);
	loop_turn(t.loop, true);
	CHECK_STR(t.text, "w");
	loop_schedule(t.loop, &t.after);
	loop_unschedule(t.loop, &t.work);
	loop_unschedule(t.loop, &t.commit);
	loop_turn(t.loop, true);
	CHECK_STR(t.text, "wa");
	loop_free(t.loop);
}

static void on_time(void *arg)
{
	struct trace *t = arg;

	note(t, 't');
	loop_stop(t->loop);
}

TEST("a timer fires once, may be set again, and a cleared one does not fire")
{
	struct trace t;
	struct loop_timer timer;
	struct loop_timer never;

	trace_init(&t);
	timer = (struct loop_timer){ .fire = on_time, .arg = &t };
	never = timer;
	CHECK(!loop_timer_pending(&timer));
	loop_timer_set(t.loop, &never, 1);
	loop_timer_set(t.loop, &timer, 100000);
	loop_timer_set(t.loop, &timer, 5);
	loop_timer_clear(&never);
	CHECK(loop_timer_pending(&timer));
	loop_run(t.loop);
	CHECK_STR(t.text, "t");
	CHECK(!loop_timer_pending(&timer));
	loop_timer_set(t.loop, &timer, 0);
	loop_run(t.loop);
	CHECK_STR(t.text, "tt");
	loop_timer_done(&timer);
	loop_timer_done(&never);
	loop_free(t.loop);
}

TEST("a timer that fires too late is set anew, one that fires in time is left")
{
	struct trace t;
	struct loop_timer timer;

	trace_init(&t);
	timer = (struct loop_timer){ .fire = on_time, .arg = &t };
	loop_timer_set_sooner(t.loop, &timer, 1000000);
	loop_timer_set_sooner(t.loop, &timer, 5);
	loop_timer_set_sooner(t.loop, &timer, 1000000);
	loop_run(t.loop);
	CHECK_STR(t.text, "t");
	CHECK(!loop_timer_pending(&timer));
	loop_timer_done(&timer);
	loop_free(t.loop);
}

static void on_signal(void *arg, int signo)
{
	struct trace *t = arg;

	note(t, signo == SIGHUP ? 'h' : '?');
}

struct always {
	struct loop *loop;
	struct loop_timer timer;
	struct loop_hook work;
	int fired, fired_before_work;
};

static void on_always(void *arg)
{
	struct always *a = arg;

	if (++a->fired < 1000)
		loop_timer_set(a->loop, &a->timer, 0);
}

static void on_always_work(void *arg)
{
	struct always *a = arg;

	a->fired_before_work = a->fired;
}

TEST("a timer that is always due again does not keep a turn that polls from its end")
{
	struct always a = { .loop = loop_new() };

	a.timer = (struct loop_timer){ .fire = on_always, .arg = &a };
	a.work = (struct loop_hook){ .run = on_always_work, .arg = &a, .phase = LOOP_WORK };
	loop_timer_set(a.loop, &a.timer, 0);
	loop_schedule(a.loop, &a.work);
	loop_turn(a.loop, false);
	CHECK_INT(a.fired_before_work, 1);
	loop_turn(a.loop, true);
	CHECK_INT(a.fired, 2);
	loop_timer_done(&a.timer);
	loop_free(a.loop);
}

TEST("a signal is told from the loop")
{
	struct trace t;
	struct err e = ERR_INIT;

	trace_init(&t);
	CHECK_INT(loop_on_signal(t.loop, SIGHUP, on_signal, &t, &e), 0);
	raise(SIGHUP);
	CHECK_STR(t.text, "");
	loop_turn(t.loop, false);
	CHECK_STR(t.text, "h");
	loop_free(t.loop);
}

static void on_ready(void *arg, bool readable, bool writable)
{
	note(arg, readable ? 'r' : writable ? 'w' : '?');
}

TEST("a descriptor is told when it is ready")
{
	struct trace t;
	struct loop_fd *w;
	int fds[2];

	trace_init(&t);
	CHECK_INT(pipe(fds), 0);
	w = loop_fd_new(t.loop, fds[0], true, false, on_ready, &t);
	loop_turn(t.loop, true);
	CHECK_STR(t.text, "");
	CHECK_INT(write(fds[1], "x", 1), 1);
	loop_turn(t.loop, false);
	CHECK_STR(t.text, "r");
	loop_fd_free(w);
	close(fds[0]);
	close(fds[1]);
	loop_free(t.loop);
}

static void on_child(void *arg, pid_t pid, int status)
{
	struct trace *t = arg;

	(void)pid;
	note(t, WIFEXITED(status) ? (char)('0' + WEXITSTATUS(status)) : '?');
	if (strlen(t->text) == 2)
		loop_stop(t->loop);
}

TEST("the end of a child is told once, also if it came before anyone asked")
{
	struct trace t;
	struct err e = ERR_INIT;
	siginfo_t info;
	pid_t early = fork();
	pid_t late;

	if (early == 0)
		_exit(3);
	waitid(P_PID, (id_t)early, &info, WEXITED | WNOWAIT);
	trace_init(&t);
	CHECK_INT(loop_on_child(t.loop, early, on_child, &t, &e), 0);
	loop_turn(t.loop, false);
	CHECK_STR(t.text, "3");
	late = fork();
	if (late == 0)
		_exit(4);
	CHECK_INT(loop_on_child(t.loop, late, on_child, &t, &e), 0);
	loop_run(t.loop);
	CHECK_STR(t.text, "34");
	loop_free(t.loop);
}
