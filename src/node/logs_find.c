// SPDX-License-Identifier: Apache-2.0
/* logs_find.c - what logs there are by a name: a pod's, its owner's, or its job's */
#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "base/jsonx.h"
#include "base/mem.h"
#include "node/logs_parts.h"

/* "3.log" or "3.log.1" is attempt 3; -1 for anything else. */
static int attempt_of(const char *name)
{
	const char *dot = strchr(name, '.');
	auto_free char *number = dot ? xstrndup(name, (size_t)(dot - name)) : NULL;
	int64_t n;

	if (!dot || !str_starts(dot, ".log") || (dot[4] && dot[4] != '.') || !str_int64(number, 0, INT32_MAX, &n))
		return -1;
	return (int)n;
}

/* Adds a file's size to its attempt, which stays in its order. */
static void add_file(json_t *attempts, int attempt, const char *dir, int64_t bytes)
{
	json_t *a = NULL;
	size_t i;

	json_array_foreach (attempts, i, a)
		if (jsonx_int_or(a, "attempt", 0) >= attempt)
			break;
	if (i == json_array_size(attempts) || jsonx_int_or(a, "attempt", 0) != attempt) {
		a = json_pack("{s:i, s:o, s:I}", "attempt", attempt, "path", jsonx_stringf("%s/%d.log", dir, attempt),
			      "bytes", (json_int_t)0);
		json_array_insert_new(attempts, i, a);
	}
	json_object_set_new(a, "bytes", json_integer(jsonx_int_or(a, "bytes", 0) + bytes));
}

static json_t *attempts_in(const char *path)
{
	json_t *attempts = json_array();
	DIR *dir = opendir(path);
	struct dirent *d;

	while (dir && (d = readdir(dir))) {
		int attempt = attempt_of(d->d_name);
		struct stat st;

		if (attempt >= 0 && fstatat(dirfd(dir), d->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
		    S_ISREG(st.st_mode))
			add_file(attempts, attempt, path, st.st_size);
	}
	if (dir)
		closedir(dir);
	return attempts;
}

static void add_container(json_t *list, json_t *seen, const char *path, const char *name, bool init)
{
	auto_free char *dir = xasprintf("%s/%s", path, name);
	json_auto_t *attempts = NULL;
	json_t *c;

	if (json_object_get(seen, name))
		return;
	json_object_set_new(seen, name, json_true());
	attempts = attempts_in(dir);
	if (!json_array_size(attempts))
		return;
	c = json_pack("{s:o, s:O}", "name", jsonx_string(name), "attempts", attempts);
	if (init)
		json_object_set_new(c, "init", json_true());
	json_array_append_new(list, c);
}

static void add_named(json_t *list, json_t *seen, const char *path, const json_t *names, bool init)
{
	json_t *name;
	size_t i;

	json_array_foreach (names, i, name)
		if (json_is_string(name) && !strchr(json_string_value(name), '/'))
			add_container(list, seen, path, json_string_value(name), init);
}

/* In the order of the pod's spec; then any others, such as those that were added to a running pod. */
static json_t *containers_of(const char *path, const json_t *owner)
{
	json_auto_t *seen = json_object();
	json_t *list = json_array();
	DIR *dir = opendir(path);
	struct dirent *d;

	add_named(list, seen, path, json_object_get(owner, "inits"), true);
	add_named(list, seen, path, json_object_get(owner, "containers"), false);
	while (dir && (d = readdir(dir)))
		if (d->d_name[0] != '.')
			add_container(list, seen, path, d->d_name, false);
	if (dir)
		closedir(dir);
	return list;
}

static json_t *describe(const struct logs *l, const struct kept *k)
{
	json_auto_t *owner = kept_owner(l, k);
	auto_free char *path = kept_path(l, k);
	json_t *doc = json_pack("{s:s, s:s, s:s, s:s, s:O*, s:O*, s:o, s:n}", "namespace", k->ns, "pod", k->pod, "uid",
				k->uid, "created", jsonx_str_or(owner, "created", ""), "owner",
				json_object_get(owner, "owner"), "job", json_object_get(owner, "job"), "containers",
				containers_of(path, owner), "ended");
	char text[CLOCK_RFC3339_LEN];

	if (k->ended) {
		clock_rfc3339(k->ended, text);
		json_object_set_new(doc, "ended", json_string(text));
	}
	return doc;
}

json_t *logs_find(struct logs *l, const char *ns, const char *name)
{
	json_t *list = json_array();
	struct kept *k;

	TAILQ_FOREACH(k, &l->kept, link)
	if (streq(k->ns, ns) && (streq(k->pod, name) || str_same(k->owner, name) || str_same(k->job, name)))
		json_array_append_new(list, describe(l, k));
	return list;
}

json_t *logs_find_uid(struct logs *l, const char *ns, const char *uid)
{
	const struct kept *k = map_find(&l->by_uid, uid);

	return k && streq(k->ns, ns) ? describe(l, k) : NULL;
}
