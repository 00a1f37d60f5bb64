// SPDX-License-Identifier: Apache-2.0
/* paths.c - the submission side of a job's output files
 *
 * Variables stay in the path: they are the job's, and the node expands them.  Only one at the beginning (or ~) that
 * holds an absolute path here is expanded now, because whether the path is relative depends on it.
 */
#include "pbs/paths.h"

#include <ctype.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"

char *path_cwd(void)
{
	const char *pwd = getenv("PWD");
	char here[PATH_MAX];
	struct stat a, b;

	if (pwd && pwd[0] == '/' && stat(pwd, &a) == 0 && stat(".", &b) == 0 && a.st_ino == b.st_ino &&
	    a.st_dev == b.st_dev)
		return xstrdup(pwd);
	return xstrdup(getcwd(here, sizeof(here)) ? here : "/");
}

char *path_absolute(const char *path, const char *cwd)
{
	if (path[0] == '/')
		return xstrdup(path);
	return xasprintf("%s%s%s", cwd, str_ends(cwd, "/") ? "" : "/", path);
}

/* The host before a colon.  A file's name may have a colon too: it is a host only if it looks like one, and is this one
 * or is followed by an absolute path or nothing. */
static size_t host_length(const char *text, const char *here)
{
	size_t n = 0;

	while (isalnum((unsigned char)text[n]) || (text[n] && strchr("._-", text[n])))
		n++;
	if (!n || text[n] != ':')
		return 0;
	return text[n + 1] == '/' || !text[n + 1] || str_eq((struct str){ text, n }, here) ? n : 0;
}

/* A variable at the beginning that holds an absolute path here: its value, and how many characters it takes. */
static const char *leading_variable(const char *path, const struct place *at, size_t *ret_n)
{
	bool braces = path[0] == '$' && path[1] == '{';
	const char *p = path + (braces ? 2 : 1);
	auto_free char *name = NULL;
	const char *value;
	size_t n = 0;

	if (path[0] == '~' && (!path[1] || path[1] == '/')) {
		*ret_n = 1;
		value = at->variable("HOME");
		return value && value[0] == '/' ? value : NULL;
	}
	if (path[0] != '$')
		return NULL;
	while (isalnum((unsigned char)p[n]) || p[n] == '_')
		n++;
	if (!n || (braces && p[n] != '}'))
		return NULL;
	name = xstrndup(p, n);
	value = streq(name, "PBS_O_WORKDIR") ? at->cwd : at->variable(name);
	*ret_n = n + (braces ? 3 : 1);
	return value && value[0] == '/' ? value : NULL;
}

static bool is_clean(const char *s)
{
	for (; *s; s++)
		if (iscntrl((unsigned char)*s))
			return false;
	return true;
}

bool path_prepare(const char *text, const struct place *at, struct sbuf *out)
{
	auto_free char *own = xstrndup(str_trim(str_of(text)).p, str_trim(str_of(text)).n);
	size_t n = host_length(own, at->host), used = 0;
	const char *path = n ? own + n + 1 : own;
	const char *value = leading_variable(path, at, &used);
	auto_free char *whole = NULL;
	auto_free char *absolute = NULL;

	if (!own[0] || !is_clean(own) || !str_is_utf8(own, strlen(own)))
		return false;
	whole = value ? xasprintf("%s%s", value, path + used) : xstrdup(path);
	absolute = path_absolute(whole, at->cwd);
	if (n)
		sbuf_add(out, own, n);
	else
		sbuf_adds(out, at->host);
	sbuf_addf(out, ":%s", absolute);
	if (!str_ends(absolute, "/") && at->is_directory(absolute))
		sbuf_addc(out, '/');
	return true;
}
