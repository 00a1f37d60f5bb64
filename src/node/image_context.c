// SPDX-License-Identifier: Apache-2.0
/* image_context.c - where a build's files come from
 *
 *	DIR                            this machine
 *	https://host/repo.git#REF:SUB  git, also git@host:repo and ssh://; REF is a branch, tag or commit
 *	https://host/files.tar.gz      a tar archive
 *
 * What comes from the web is put into the worker's directory, before anything is run.
 */
#include <sys/stat.h>

#include "base/file.h"
#include "base/mem.h"
#include "node/image_build.h"

#define DOWNLOAD_LIMIT "10737418240" /* bytes; a context of 10 GB is a mistake */

static bool is_web(const char *s)
{
	return str_starts(s, "http://") || str_starts(s, "https://");
}

bool build_context_is_git(const char *s)
{
	auto_free char *url = xstrndup(s, strcspn(s, "#"));

	if (str_starts(s, "git://") || str_starts(s, "ssh://") || str_starts(s, "git@"))
		return true;
	return (is_web(s) || str_starts(s, "file://")) && (str_ends(url, ".git") || strchr(s, '#'));
}

bool build_context_is_url(const char *s)
{
	return is_web(s) || build_context_is_git(s);
}

static int run(const struct build *b, const char *dir, const char *const *argv, struct err *e)
{
	static const char *const env[] = { "GIT_TERMINAL_PROMPT=0", NULL };
	struct tool t = { .argv = argv, .env = env, .dir = dir, .worker = b->worker };

	return tool_run(&t, e);
}

/* A fragment's part; NULL if it is empty. */
static char *part(struct str s)
{
	return s.n ? xstrndup(s.p, s.n) : NULL;
}

static int fetch_git(const struct build *b, const char *source, const char *dir, char **ret_sub, struct err *e)
{
	size_t n = strcspn(source, "#");
	auto_free char *url = xstrndup(source, n);
	struct str rest = str_of(source[n] ? source + n + 1 : "");
	struct str first = { "", 0 };
	auto_free char *ref = NULL;

	(void)!str_split(&rest, ':', &first);
	ref = part(first);
	*ret_sub = rest.p ? part(rest) : NULL;
	const char *const steps[][8] = {
		{ "git", "init", "--quiet", "." },
		{ "git", "fetch", "--quiet", "--depth=1", "--", url, ref ? ref : "HEAD" },
		{ "git", "-c", "advice.detachedHead=false", "checkout", "--quiet", "FETCH_HEAD" },
		{ "git", "submodule", "--quiet", "update", "--init", "--recursive", "--depth=1" },
	};

	image_worker_say(b->worker, "Fetching %s", url);
	for (size_t i = 0; i < ARRAY_SIZE(steps); i++)
		if (run(b, dir, steps[i], e) < 0)
			return err_prefix(e, "%s", url);
	return 0;
}

static int fetch_tar(const struct build *b, const char *url, const char *dir, struct err *e)
{
	const char *const get[] = { "curl", "-fsSL", "--max-filesize", DOWNLOAD_LIMIT, "-o", "../context.tar", "--",
				    url,    NULL };
	const char *const unpack[] = { "tar", "-xf", "../context.tar", "--no-same-owner", NULL };

	image_worker_say(b->worker, "Fetching %s", url);
	if (run(b, dir, get, e) < 0 || run(b, dir, unpack, e) < 0)
		return err_prefix(e, "%s", url);
	return 0;
}

/* A path below the context that stays below it. */
static bool is_inside(const char *path)
{
	struct str rest = str_of(path);
	struct str name;

	if (path[0] == '/')
		return false;
	while (str_split(&rest, '/', &name))
		if (str_eq(name, ".."))
			return false;
	return true;
}

int build_context(const struct build *b, const char *source, char **ret_dir, struct err *e)
{
	auto_free char *dir = NULL;
	auto_free char *sub = NULL;
	struct stat st;
	int r;

	if (!build_context_is_url(source)) {
		if (stat(source, &st) < 0)
			return err_errno(e, ERR_NOT_FOUND, "%s", source);
		if (!S_ISDIR(st.st_mode))
			return err_set(e, ERR_INVALID, "%s is not a directory; give the one that holds the Dockerfile",
				       source);
		*ret_dir = xstrdup(source);
		return 0;
	}
	dir = xasprintf("%s/context", b->dir);
	if (file_make_dirs(dir, 0700, e) < 0)
		return -1;
	r = build_context_is_git(source) ? fetch_git(b, source, dir, &sub, e) : fetch_tar(b, source, dir, e);
	if (r < 0)
		return -1;
	if (sub && !is_inside(sub))
		return err_set(e, ERR_INVALID, "%s: %s is not a directory of the repository", source, sub);
	*ret_dir = sub ? xasprintf("%s/%s", dir, sub) : TAKE(dir);
	return 0;
}
