// SPDX-License-Identifier: Apache-2.0
/* users.c - who a container runs as, and the passwd lines that make programs believe it
 *
 * securityContext of the container wins over the pod's, which wins over the image's USER.  Names are looked up in the
 * image's own files.  A uid without an account gets one: getpwuid() failing is what breaks PyTorch and ssh in
 * containers.
 */
#include <pwd.h>
#include <stdio.h>

#include "base/jsonx.h"
#include "base/limits.h"
#include "base/mem.h"
#include "node/bundle.h"

#define ID_MAX 4294967294ll

/* Field number n (from 0) of a colon-separated line. */
static struct str field_of(struct str line, int n)
{
	struct str part = { "", 0 };

	for (int i = 0; i <= n; i++)
		if (!str_split(&line, ':', &part))
			return (struct str){ "", 0 };
	return part;
}

static bool number(struct str s, int64_t *ret)
{
	auto_free char *text = xstrndup(s.p, s.n);

	return str_int64(text, 0, ID_MAX, ret);
}

/* The line whose field n is `key`; false if there is none. */
static bool find_line(const char *text, int n, const char *key, struct str *ret)
{
	struct str rest = str_of(text ? text : "");
	struct str line;

	while (str_split(&rest, '\n', &line))
		if (line.n && str_eq(field_of(line, n), key)) {
			*ret = line;
			return true;
		}
	return false;
}

struct who {
	int64_t uid, gid;
	bool has_gid, real;
	char *name, *home;
};

static void from_passwd(const char *passwd, struct who *w)
{
	char uid[24];
	struct str line;
	int64_t gid;

	snprintf(uid, sizeof(uid), "%lld", (long long)w->uid);
	if (!find_line(passwd, 2, uid, &line))
		return;
	w->name = xstrndup(field_of(line, 0).p, field_of(line, 0).n);
	w->home = xstrndup(field_of(line, 5).p, field_of(line, 5).n);
	if (!w->has_gid && number(field_of(line, 3), &gid)) {
		w->gid = gid;
		w->has_gid = true;
	}
}

/* The image's USER: "name", "uid", "name:group", "uid:gid". */
static int from_image(const char *user, const char *passwd, const char *group, struct who *w, struct err *e)
{
	struct str rest = str_of(user);
	struct str name;
	struct str line;
	auto_free char *u = NULL;
	auto_free char *g = NULL;

	str_split(&rest, ':', &name);
	u = xstrndup(name.p, name.n);
	g = rest.p ? xstrndup(rest.p, rest.n) : NULL;
	if (!str_int64(u, 0, ID_MAX, &w->uid)) {
		if (!find_line(passwd, 0, u, &line) || !number(field_of(line, 2), &w->uid))
			return err_set(e, ERR_BAD_REQUEST, "unable to find user %s: no matching entries in passwd file",
				       u);
	}
	if (g && *g) {
		w->has_gid = true;
		if (!str_int64(g, 0, ID_MAX, &w->gid) &&
		    (!find_line(group, 0, g, &line) || !number(field_of(line, 2), &w->gid)))
			return err_set(e, ERR_BAD_REQUEST, "unable to find group %s: no matching entries in group file",
				       g);
	}
	return 0;
}

static const json_t *context_field(const json_t *pod, const json_t *container, const char *name)
{
	const json_t *v = json_object_get(json_object_get(container, "securityContext"), name);

	return v ? v : json_object_get(jsonx_at(pod, "spec.securityContext"), name);
}

/* Groups of the image that list the user, unless the pod does not want them; then its supplementalGroups and fsGroup.
 */
static json_t *groups_of(const json_t *pod, const struct who *w, const char *group_text)
{
	json_t *list = json_array();
	struct str rest = str_of(group_text ? group_text : "");
	const json_t *fs = jsonx_at(pod, "spec.securityContext.fsGroup");
	bool strict = str_same(jsonx_str(pod, "spec.securityContext.supplementalGroupsPolicy"), "Strict");
	struct str line;
	json_t *g;
	size_t i;

	while (w->name && !strict && str_split(&rest, '\n', &line)) {
		struct str members = field_of(line, 3);
		struct str member;
		int64_t gid;

		while (members.n && str_split(&members, ',', &member))
			if (str_eq(member, w->name) && number(field_of(line, 2), &gid))
				json_array_append_new(list, json_integer(gid));
	}
	json_array_foreach (jsonx_at(pod, "spec.securityContext.supplementalGroups"), i, g)
		json_array_append(list, g);
	if (json_is_integer(fs))
		json_array_append(list, (json_t *)fs);
	return list;
}

/* The texts are Kubernetes'.  A name proves nothing: the image says what uid it means. */
static int check_non_root(const json_t *pod, const json_t *container, const char *image_user, const struct who *w,
			  struct err *e)
{
	bool by_spec = json_is_integer(context_field(pod, container, "runAsUser"));
	auto_free char *where = NULL;
	auto_free char *name = NULL;
	int64_t n;

	if (!json_is_true(context_field(pod, container, "runAsNonRoot")))
		return 0;
	where = xasprintf("(pod: \"%s_%s(%s)\", container: %s)", jsonx_str_or(pod, "metadata.name", ""),
			  jsonx_str_or(pod, "metadata.namespace", ""), jsonx_str_or(pod, "metadata.uid", ""),
			  jsonx_str_or(container, "name", ""));
	name = xstrndup(image_user, strcspn(image_user, ":"));
	if (by_spec && w->uid == 0)
		return err_set(e, ERR_INVALID, "container's runAsUser breaks non-root policy %s", where);
	if (!by_spec && *name && !str_int64(name, 0, ID_MAX, &n))
		return err_set(e, ERR_INVALID,
			       "container has runAsNonRoot and image has non-numeric user (%s), cannot verify user is "
			       "non-root %s",
			       name, where);
	if (w->uid == 0)
		return err_set(e, ERR_INVALID, "container has runAsNonRoot and image will run as root %s", where);
	return 0;
}

/* An account of this machine is itself inside too: its name, if the image has no other of that name, and its home, if
 * the container says where that is. */
static void from_machine(const json_t *pod, const json_t *container, const char *passwd, struct who *w)
{
	const json_t *notes = jsonx_at(pod, "metadata.annotations");
	const char *name = json_string_value(json_object_get(notes, "stoker.dev/user"));
	const char *text = json_string_value(json_object_get(notes, "stoker.dev/uid"));
	struct str line;
	int64_t uid;
	json_t *v;
	size_t i;

	if (!name || !text || !str_int64(text, 0, ID_MAX, &uid) || uid != w->uid)
		return;
	w->real = true;
	if (w->name)
		return;
	if (!*name || strpbrk(name, ":\n") || find_line(passwd, 0, name, &line))
		return;
	w->name = xstrdup(name);
	json_array_foreach (json_object_get(container, "env"), i, v)
		if (str_same(jsonx_str(v, "name"), "HOME") && jsonx_str_or(v, "value", "")[0] == '/' &&
		    !strpbrk(jsonx_str(v, "value"), ":\n$") && !w->home)
			w->home = xstrdup(jsonx_str(v, "value"));
}

int user_resolve(const json_t *pod, const json_t *container, const json_t *image_config, const char *passwd_text,
		 const char *group_text, json_t **ret, struct err *e)
{
	const json_t *uid = context_field(pod, container, "runAsUser");
	const json_t *gid = context_field(pod, container, "runAsGroup");
	const char *user = jsonx_str_or(image_config, "config.User", "");
	json_auto_t *groups = NULL;
	struct who w = { 0 };
	int r = 0;

	if (json_is_integer(uid))
		w.uid = json_integer_value(uid);
	else if (*user)
		r = from_image(user, passwd_text, group_text, &w, e);
	if (r == 0 && json_is_integer(gid)) {
		w.gid = json_integer_value(gid);
		w.has_gid = true;
	}
	if (r == 0)
		from_passwd(passwd_text, &w);
	if (r == 0)
		r = check_non_root(pod, container, user, &w, e);
	groups = groups_of(pod, &w, group_text);
	from_machine(pod, container, passwd_text, &w);
	if (r == 0)
		*ret = json_pack("{s:I, s:I, s:O, s:s, s:s, s:b}", "uid", (json_int_t)w.uid, "gid", (json_int_t)w.gid,
				 "groups", groups, "name", w.name ? w.name : "", "home",
				 w.home && *w.home ? w.home : "/", "real", w.real);
	free(w.name);
	free(w.home);
	return r;
}

/* text and one more line; a file without a last newline gets it first. */
static char *with_line(const char *text, const char *line)
{
	size_t n = text ? strlen(text) : 0;

	return xasprintf("%s%s%s\n", n ? text : "", n && text[n - 1] != '\n' ? "\n" : "", line);
}

char *user_add_passwd(const char *passwd_text, const json_t *user)
{
	long long uid = jsonx_int_or(user, "uid", 0);
	auto_free char *key = xasprintf("%lld", uid);
	auto_free char *made = xasprintf("user%lld", uid);
	const char *name = jsonx_str_or(user, "name", "");
	auto_free char *line = NULL;
	struct str found;

	if (find_line(passwd_text, 2, key, &found))
		return NULL;
	line = xasprintf("%s:x:%lld:%lld:user:%s:/bin/sh", *name ? name : made, uid,
			 (long long)jsonx_int_or(user, "gid", 0), jsonx_str_or(user, "home", "/"));
	return with_line(passwd_text, line);
}

/* A name that the texts do not have for another number. */
static char *group_name(const char *text, int64_t gid, bool real, user_group_name *name_of)
{
	char name[256] = "";
	struct str found;

	if (real && name_of && name_of(gid, name, sizeof(name)) && *name && !strpbrk(name, ":\n") &&
	    !find_line(text, 0, name, &found))
		return xstrdup(name);
	return xasprintf("group%lld", (long long)gid);
}

/* The text, with a line for a group that has none. */
static char *add_group(char *text /* taken */, int64_t gid, const char *member, const json_t *user,
		       user_group_name *name_of)
{
	auto_free char *key = xasprintf("%lld", (long long)gid);
	bool real = jsonx_bool_or(user, "real", false);
	auto_free char *name = NULL;
	auto_free char *line = NULL;
	auto_free char *before = text;
	struct str found;

	if (find_line(text, 2, key, &found))
		return TAKE(before);
	name = group_name(text, gid, real, name_of);
	line = xasprintf("%s:x:%lld:%s", name, (long long)gid, member);
	return with_line(before, line);
}

char *user_add_group(const char *group_text, const json_t *user, user_group_name *name_of)
{
	const char *before = group_text ? group_text : "";
	char *text = add_group(xstrdup(before), jsonx_int_or(user, "gid", 0), "", user, name_of);
	json_t *gid;
	size_t i;

	if (jsonx_bool_or(user, "real", false))
		json_array_foreach (json_object_get(user, "groups"), i, gid)
			text = add_group(text, json_integer_value(gid), jsonx_str_or(user, "name", ""), user, name_of);
	if (!streq(text, before))
		return text;
	free(text);
	return NULL;
}
