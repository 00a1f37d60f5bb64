// SPDX-License-Identifier: Apache-2.0
/* token_file.c - a look at the file's inode and time before each request, which costs a microsecond */
#include "client/token_file.h"

#include <sys/stat.h>

#include "base/file.h"
#include "base/limits.h"
#include "base/mem.h"

struct token_file {
	char *path;
	char *text;
	struct stat seen;
};

struct token_file *token_file_new(const char *path, const char *text)
{
	struct token_file *t = xcalloc(1, sizeof(*t));

	t->path = xstrdup(path);
	t->text = xstrdup(text);
	return t; /* the first look reads it once more: it may have changed since */
}

void token_file_free(struct token_file *t)
{
	if (!t)
		return;
	free(t->path);
	free(t->text);
	free(t);
}

static bool same(const struct stat *a, const struct stat *b)
{
	return a->st_ino == b->st_ino && a->st_dev == b->st_dev && a->st_size == b->st_size &&
	       a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

bool token_file_changed(struct token_file *t)
{
	auto_sbuf struct sbuf text = SBUF(LIMIT_BODY);
	struct err e = ERR_INIT;
	struct str token;
	struct stat st;

	if (stat(t->path, &st) < 0 || same(&st, &t->seen) || file_read(t->path, LIMIT_BODY, &text, &e) < 0)
		return false;
	token = str_trim(sbuf_str(&text));
	if (!token.n)
		return false;
	t->seen = st;
	if (str_eq(token, t->text))
		return false;
	free(t->text);
	t->text = xstrndup(token.p, token.n);
	return true;
}

const char *token_file_text(const struct token_file *t)
{
	return t->text;
}
