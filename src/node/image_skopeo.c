// SPDX-License-Identifier: Apache-2.0
/* image_skopeo.c - runs skopeo and understands its last words
 *
 * Always by argv, never by a shell; with a fresh environment, of which only what leads to registries is kept; with
 * paths relative to a directory of ours, because its "transport:path:reference" has no way to quote a colon.
 * Credentials go by file, never on the command line.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <strings.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "base/mem.h"
#include "node/image_parts.h"

#define WORDS_MAX (64u * 1024) /* of its messages; the last line counts */
#define ENV_MAX   16

/* First match wins: the specific before the general. */
static const struct {
	const char *words;
	enum err_kind kind;
	const char *meaning;
} meanings[] = {
	{ "no space left on device", ERR_STORAGE_FULL, "the disk is full" },
	{ "disk quota exceeded", ERR_STORAGE_FULL, "the disk quota is used up" },
	{ "manifest unknown", ERR_NOT_FOUND, "not found in the registry" },
	{ "name unknown", ERR_NOT_FOUND, "not found in the registry" },
	{ "repository name not known", ERR_NOT_FOUND, "not found in the registry" },
	{ "unauthorized", ERR_FORBIDDEN, "unauthorized" },
	{ "authentication required", ERR_FORBIDDEN, "unauthorized" },
	{ "invalid username/password", ERR_FORBIDDEN, "unauthorized" },
	{ "access to the resource is denied", ERR_FORBIDDEN, "access denied" },
	{ "denied", ERR_FORBIDDEN, "access denied" },
	{ "403 (Forbidden)", ERR_FORBIDDEN, "access denied" },
	{ "connection refused", ERR_UNAVAILABLE, "the registry does not answer" },
	{ "no such host", ERR_UNAVAILABLE, "the registry's name is unknown" },
	{ "server misbehaving", ERR_UNAVAILABLE, "the registry's name cannot be looked up" },
	{ "network is unreachable", ERR_UNAVAILABLE, "there is no way to the registry" },
	{ "i/o timeout", ERR_UNAVAILABLE, "the registry does not answer" },
	{ "deadline exceeded", ERR_UNAVAILABLE, "the registry does not answer in time" },
	{ "server gave HTTP response to HTTPS client", ERR_UNAVAILABLE, "the registry speaks plain HTTP" },
	{ "x509:", ERR_UNAVAILABLE, "the registry's certificate is not trusted" },
	{ "certificate", ERR_UNAVAILABLE, "the registry's certificate is not trusted" },
	{ "StatusCode: 404", ERR_NOT_FOUND, "not found in the registry" },
	{ "no such file or directory", ERR_NOT_FOUND, "not found" },
	{ "no image found in image index for architecture", ERR_NOT_FOUND, "there is none for this machine" },
	{ "no image found in manifest list for architecture", ERR_NOT_FOUND, "there is none for this machine" },
	{ "too many requests", ERR_UNAVAILABLE, "the registry wants us to slow down" },
	{ "toomanyrequests", ERR_UNAVAILABLE, "the registry wants us to slow down" },
};

/* The msg="..." of a line like: time="..." level=fatal msg="..." */
static void unquote(const char *words, struct sbuf *out)
{
	const char *p = strstr(words, "msg=\"");

	if (!p) {
		sbuf_adds(out, words);
		return;
	}
	for (p += strlen("msg=\""); *p && *p != '"'; p++) {
		if (*p == '\\' && p[1])
			p++;
		sbuf_addc(out, *p);
	}
}

/* Its last line that is not empty. */
static struct str last_line(const char *words)
{
	struct str rest = str_of(words);
	struct str line, last = { 0 };

	while (str_split(&rest, '\n', &line)) {
		line = str_trim(line);
		if (line.n)
			last = line;
	}
	return last;
}

/* What went wrong with a name, it says, is its parsing, whatever it was. */
static const char *skip_prefix(const char *text)
{
	const char *end = str_starts(text, "Error parsing image name \"") ? strstr(text, "\": ") : NULL;

	return end ? end + 3 : text;
}

/* "udp HERE:PORT->THERE:PORT" is another one at each try, and the same trouble. */
static void forget_near_ends(char *text)
{
	char *arrow = text;

	while ((arrow = strstr(arrow, "->"))) {
		char *word = arrow;

		while (word > text && word[-1] != ' ')
			word--;
		memmove(word, arrow + 2, strlen(arrow + 2) + 1);
		arrow = word;
	}
}

int skopeo_explain(const char *words, struct err *e)
{
	struct str last = last_line(words);
	auto_free char *line = xstrndup(last.p ? last.p : "", last.n);
	auto_sbuf struct sbuf all = SBUF(4096);
	const char *text;

	unquote(line, &all);
	if (!all.n)
		return err_set(e, ERR_INTERNAL, "skopeo failed without a word");
	forget_near_ends(all.p);
	text = skip_prefix(all.p);
	for (size_t i = 0; i < ARRAY_SIZE(meanings); i++)
		if (strcasestr(text, meanings[i].words))
			return err_set(e, meanings[i].kind, "%s: %.*s", meanings[i].meaning, 800, text);
	return err_set(e, ERR_UNAVAILABLE, "%.*s", 900, text);
}

static void make_env(char *env[ENV_MAX])
{
	static const char *const kept[] = { "PATH",        "HOME",         "XDG_RUNTIME_DIR", "HTTP_PROXY",
					    "HTTPS_PROXY", "NO_PROXY",     "http_proxy",      "https_proxy",
					    "no_proxy",    "SSL_CERT_DIR", "SSL_CERT_FILE" };
	size_t n = 0;

	for (size_t i = 0; i < ARRAY_SIZE(kept); i++) {
		const char *v = getenv(kept[i]);

		if (v)
			env[n++] = xasprintf("%s=%s", kept[i], v);
	}
	env[n] = NULL;
}

static _Noreturn void run_child(const struct skopeo *s, int out, int words)
{
	char *env[ENV_MAX];

	make_env(env);
	if (chdir(s->dir) < 0 || dup2(out, STDOUT_FILENO) < 0 || dup2(words, STDERR_FILENO) < 0)
		_exit(126);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	signal(SIGPIPE, SIG_DFL);
	execvpe("skopeo", (char *const *)(uintptr_t)s->argv, env);
	_exit(errno == ENOENT ? 127 : 126);
}

/* Whole lines go to the worker as they come. */
static void take_output(const struct skopeo *s, struct sbuf *line, const char *p, size_t n)
{
	if (s->output) {
		sbuf_add(s->output, p, n);
		return;
	}
	for (size_t i = 0; i < n; i++) {
		if (p[i] != '\n') {
			sbuf_addc(line, p[i]);
			continue;
		}
		if (line->n)
			image_worker_say(s->worker, "%s", line->p);
		sbuf_reset(line);
	}
}

static void take_words(struct sbuf *words, const char *p, size_t n)
{
	/* A babbler loses its first words, not its last. */
	if (words->n + n > words->max)
		sbuf_reset(words);
	sbuf_add(words, p, n);
}

static void listen_to(const struct skopeo *s, int out, int err, struct sbuf *words)
{
	struct pollfd fds[2] = { { .fd = out, .events = POLLIN }, { .fd = err, .events = POLLIN } };
	auto_sbuf struct sbuf line = SBUF(4096);
	char buf[8192];

	while (fds[0].fd >= 0 || fds[1].fd >= 0) {
		if (poll(fds, 2, -1) < 0 && errno != EINTR)
			return;
		for (int i = 0; i < 2; i++) {
			ssize_t n;

			if (fds[i].fd < 0 || !fds[i].revents)
				continue;
			n = read(fds[i].fd, buf, sizeof(buf));
			if (n <= 0)
				fds[i].fd = -1;
			else if (i == 0)
				take_output(s, &line, buf, (size_t)n);
			else
				take_words(words, buf, (size_t)n);
		}
	}
}

static int conclude(int status, const char *words, struct err *e)
{
	if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
		return 0;
	if (WIFEXITED(status) && WEXITSTATUS(status) == 127)
		return err_set(e, ERR_UNAVAILABLE, "skopeo is not installed");
	if (WIFSIGNALED(status))
		return err_set(e, ERR_UNAVAILABLE, "skopeo ended by signal %d", WTERMSIG(status));
	return skopeo_explain(words, e);
}

int skopeo_run(const struct skopeo *s, struct err *e)
{
	auto_sbuf struct sbuf words = SBUF(WORDS_MAX);
	int out[2], err[2];
	int status = 0;
	pid_t pid;

	if (pipe2(out, O_CLOEXEC) < 0)
		return err_errno(e, ERR_UNAVAILABLE, "cannot make a pipe");
	if (pipe2(err, O_CLOEXEC) < 0) {
		close(out[0]);
		close(out[1]);
		return err_errno(e, ERR_UNAVAILABLE, "cannot make a pipe");
	}
	pid = fork();
	if (pid == 0)
		run_child(s, out[1], err[1]);
	close(out[1]);
	close(err[1]);
	if (pid > 0)
		listen_to(s, out[0], err[0], &words);
	close(out[0]);
	close(err[0]);
	if (pid < 0)
		return err_errno(e, ERR_UNAVAILABLE, "cannot start skopeo");
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (s->output && s->output->over)
		return err_set(e, ERR_TOO_LARGE, "skopeo's answer is too long");
	return conclude(status, words.p ? words.p : "", e);
}
