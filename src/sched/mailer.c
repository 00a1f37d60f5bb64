// SPDX-License-Identifier: Apache-2.0
/* mailer.c - see mailer.h
 *
 * A mail fits a pipe, so it is written before there is anybody to read it, and the loop never waits for the program.
 */
#include "sched/mailer.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/log.h"
#include "base/mem.h"

#define WAITING_MOST 1000
#define TIMEOUT_MS   60000

struct mail {
	json_t *args;
	char *text;
	size_t n;
};

struct mailer {
	struct loop *loop;
	struct mail waiting[WAITING_MOST]; /* a ring */
	size_t first, n;
	pid_t pid;    /* of the one that is sent; 0: none */
	bool dropped; /* and it was said, since there was room last */
	struct loop_timer late;
};

static void mail_done(struct mail *m)
{
	json_decref(m->args);
	free(m->text);
	*m = (struct mail){ 0 };
}

/* The end of a pipe that the whole text is in, or -1. */
static int pipe_with(const struct mail *m)
{
	int ends[2];
	ssize_t n;

	if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) < 0)
		return -1;
	n = write(ends[1], m->text, m->n);
	close(ends[1]);
	/* Who reads may expect to wait. */
	if (n != (ssize_t)m->n || fcntl(ends[0], F_SETFL, 0) < 0) {
		close(ends[0]);
		return -1;
	}
	return ends[0];
}

static void set_attributes(posix_spawnattr_t *a)
{
	sigset_t none, usual;

	sigemptyset(&none);
	sigemptyset(&usual);
	sigaddset(&usual, SIGPIPE);
	posix_spawnattr_setsigmask(a, &none);
	posix_spawnattr_setsigdefault(a, &usual);
	posix_spawnattr_setpgroup(a, 0);
	posix_spawnattr_setflags(a, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
}

/* 0, or an error number. */
static int spawn(const struct mail *m, int in, pid_t *ret)
{
	static char path[] = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
	char *const env[] = { path, NULL };
	size_t n = json_array_size(m->args);
	auto_free char **argv = xcalloc(n + 1, sizeof(*argv));
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attributes;
	int r;

	for (size_t i = 0; i < n; i++)
		argv[i] = (char *)json_string_value(json_array_get(m->args, i));
	posix_spawn_file_actions_init(&files);
	posix_spawnattr_init(&attributes);
	posix_spawn_file_actions_adddup2(&files, in, STDIN_FILENO);
	posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
	posix_spawn_file_actions_addopen(&files, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
	set_attributes(&attributes);
	r = posix_spawnp(ret, argv[0], &files, &attributes, argv, env);
	posix_spawn_file_actions_destroy(&files);
	posix_spawnattr_destroy(&attributes);
	return r;
}

static void send_next(struct mailer *m);

static void on_sent(void *arg, pid_t pid, int status)
{
	struct mailer *m = arg;

	(void)pid;
	loop_timer_clear(&m->late);
	m->pid = 0;
	if (status != 0)
		log_warn("send mail: the program ended with %s %d, ignoring", WIFSIGNALED(status) ? "signal" : "status",
			 WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
	send_next(m);
}

static void on_late(void *arg)
{
	struct mailer *m = arg;

	kill(-m->pid, SIGKILL);
}

static void start(struct mailer *m, const struct mail *mail)
{
	int in = pipe_with(mail);
	struct err e = ERR_INIT;
	pid_t pid;
	int r = in < 0 ? errno : spawn(mail, in, &pid);

	if (in >= 0)
		close(in);
	if (r != 0) {
		log_warn("send mail: %s: %s, ignoring", json_string_value(json_array_get(mail->args, 0)), strerror(r));
		return;
	}
	m->pid = pid;
	loop_timer_set(m->loop, &m->late, TIMEOUT_MS);
	if (loop_on_child(m->loop, pid, on_sent, m, &e) < 0) {
		log_warn("send mail: %s, ignoring", e.text);
		loop_timer_clear(&m->late);
		m->pid = 0;
	}
}

static void send_next(struct mailer *m)
{
	while (!m->pid && m->n) {
		struct mail mail = m->waiting[m->first];

		m->first = (m->first + 1) % WAITING_MOST;
		m->n--;
		m->dropped = false;
		start(m, &mail);
		mail_done(&mail);
	}
}

void mailer_send(struct mailer *m, const json_t *args, struct str text)
{
	if (m->n == WAITING_MOST || text.n > MAIL_MAX) {
		if (!m->dropped)
			log_warn("send mail: %d wait already, dropping more", WAITING_MOST);
		m->dropped = true;
		return;
	}
	m->waiting[(m->first + m->n++) % WAITING_MOST] =
		(struct mail){ .args = json_incref((json_t *)args), .text = xstrndup(text.p, text.n), .n = text.n };
	send_next(m);
}

struct mailer *mailer_new(struct loop *loop)
{
	struct mailer *m = xcalloc(1, sizeof(*m));

	m->loop = loop;
	m->late = (struct loop_timer){ .fire = on_late, .arg = m };
	return m;
}

void mailer_free(struct mailer *m)
{
	if (!m)
		return;
	if (m->pid)
		loop_forget_child(m->loop, m->pid);
	loop_timer_done(&m->late);
	for (; m->n; m->n--) {
		mail_done(&m->waiting[m->first]);
		m->first = (m->first + 1) % WAITING_MOST;
	}
	free(m);
}
