// SPDX-License-Identifier: Apache-2.0
/* image_tool.c - runs a program (buildah, git, curl, tar) for a build, so that nothing of it stays behind
 *
 * As root it is the first process of a PID namespace and has mounts of its own: when it ends or the worker is killed,
 * every process it started is killed with it and everything it mounted is unmounted.  What it would keep in
 * /var/lib/containers goes into the build's own directory.  Without root it runs as it is.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "base/mem.h"
#include "node/image_tool.h"

#define WORDS_MAX    (64u * 1024)
#define ENV_MAX      32
#define GLOBAL_STATE "/var/lib/containers"

static void make_env(const struct tool *t, char *env[ENV_MAX])
{
	static const char *const kept[] = { "PATH",        "HOME",         "XDG_RUNTIME_DIR", "HTTP_PROXY",
					    "HTTPS_PROXY", "NO_PROXY",     "http_proxy",      "https_proxy",
					    "no_proxy",    "SSL_CERT_DIR", "SSL_CERT_FILE",   "SSH_AUTH_SOCK" };
	size_t n = 0;

	for (size_t i = 0; i < ARRAY_SIZE(kept); i++) {
		const char *v = getenv(kept[i]);

		if (v)
			env[n++] = xasprintf("%s=%s", kept[i], v);
	}
	for (size_t i = 0; t->env && t->env[i] && n + 1 < ENV_MAX; i++)
		env[n++] = xstrdup(t->env[i]);
	env[n] = NULL;
}

/* In the new namespaces, before the program starts.  /var/lib/containers is covered only where it exists. */
static bool settle_in(const struct tool *t)
{
	if (mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
	    mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL) < 0)
		return false;
	if (t->state)
		(void)!mount(t->state, GLOBAL_STATE, NULL, MS_BIND, NULL);
	return true;
}

static _Noreturn void run_child(const struct tool *t, bool apart, int out)
{
	char *env[ENV_MAX];

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	make_env(t, env);
	if (apart && !settle_in(t))
		_exit(125);
	if (chdir(t->dir) < 0 || dup2(out, STDOUT_FILENO) < 0 || dup2(out, STDERR_FILENO) < 0)
		_exit(126);
	signal(SIGPIPE, SIG_DFL);
	execvpe(t->argv[0], (char *const *)(uintptr_t)t->argv, env);
	_exit(errno == ENOENT ? 127 : 126);
}

static void take_line(const struct tool *t, struct sbuf *line, struct sbuf *words)
{
	if (!line->n)
		return;
	if (t->output)
		sbuf_addf(t->output, "%s\n", line->p);
	else
		image_worker_say(t->worker, "%s", line->p);
	sbuf_reset(words);
	sbuf_add(words, line->p, line->n);
	sbuf_reset(line);
}

/* Says each line as it comes; the last one stays in `words`. */
static void listen_to(const struct tool *t, int fd, struct sbuf *words)
{
	auto_sbuf struct sbuf line = SBUF(WORDS_MAX);
	char buf[8192];
	ssize_t n;

	while ((n = read(fd, buf, sizeof(buf))) != 0) {
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			break;
		for (ssize_t i = 0; i < n; i++)
			if (buf[i] == '\n' || buf[i] == '\r')
				take_line(t, &line, words);
			else
				sbuf_addc(&line, buf[i]);
	}
	take_line(t, &line, words);
}

static int conclude(const struct tool *t, int status, const char *words, struct err *e)
{
	int code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;

	if (code == 0)
		return 0;
	if (code == 127 && !*words)
		return err_set(e, ERR_UNAVAILABLE, "%s is not installed; it is needed here", t->argv[0]);
	if (code < 0)
		return err_set(e, ERR_UNAVAILABLE, "%s ended by signal %d", t->argv[0], WTERMSIG(status));
	if (strstr(words, "no space left on device"))
		return err_set(e, ERR_STORAGE_FULL, "the disk is full: %.*s", 800, words);
	return err_set(e, ERR_INVALID, "%s: %.*s", t->argv[0], 900, *words ? words : "it failed without a word");
}

int tool_run(const struct tool *t, struct err *e)
{
	bool apart = geteuid() == 0;
	int flags = SIGCHLD | (apart ? CLONE_NEWPID | CLONE_NEWNS : 0);
	auto_sbuf struct sbuf words = SBUF(WORDS_MAX);
	int status = 0;
	int out[2];
	pid_t pid;

	if (pipe2(out, O_CLOEXEC) < 0)
		return err_errno(e, ERR_UNAVAILABLE, "cannot make a pipe");
	/* As fork(), but into new namespaces at once. */
	pid = (pid_t)syscall(SYS_clone, (unsigned long)flags, NULL, NULL, NULL, NULL);
	if (pid == 0)
		run_child(t, apart, out[1]);
	close(out[1]);
	if (pid > 0)
		listen_to(t, out[0], &words);
	close(out[0]);
	if (pid < 0)
		return err_errno(e, ERR_UNAVAILABLE, "cannot start %s", t->argv[0]);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return conclude(t, status, words.p ? words.p : "", e);
}

/* Tries it where nobody sees. */
bool tool_overlay_works(const char *dir)
{
	pid_t pid;
	int status = 0;

	if (geteuid() != 0)
		return false;
	pid = (pid_t)syscall(SYS_clone, (unsigned long)(SIGCHLD | CLONE_NEWNS), NULL, NULL, NULL, NULL);
	if (pid == 0) {
		bool works =
			chdir(dir) == 0 && mkdir("lower", 0700) == 0 && mkdir("upper", 0700) == 0 &&
			mkdir("work", 0700) == 0 && mkdir("merged", 0700) == 0 &&
			mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
			mount("overlay", "merged", "overlay", 0, "lowerdir=lower,upperdir=upper,workdir=work") == 0;

		_exit(works ? 0 : 1);
	}
	while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return pid > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}
