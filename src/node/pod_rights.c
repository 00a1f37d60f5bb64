// SPDX-License-Identifier: Apache-2.0
/* pod_rights.c - what a container's rights rest on outside its spec
 *
 *	its seccomp profile, a file below DIR/seccomp      the capabilities this server has itself
 *	the devices of the machine, for a privileged one
 *
 * Cards are the exception among the devices: also a privileged container sees only those it was given.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/openat2.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>

#include "base/jsonx.h"
#include "base/limits.h"
#include "base/mem.h"
#include "node/bundle.h"
#include "node/pod_parts.h"

#define DEVICE_DEPTH 4
#define PROFILES     "seccomp"

/* ---- capabilities ---- */

static uint64_t own_caps(void)
{
	uint64_t caps = 0;

	for (int i = 0; i <= CAP_LAST_CAP; i++)
		if (prctl(PR_CAPBSET_READ, i, 0, 0, 0) == 1)
			caps |= 1ull << i;
	return caps;
}

/* ---- seccomp ---- */

static int read_profile(const char *dir, const char *name, struct sbuf *text)
{
	struct open_how how = { .flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY,
				.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS };
	auto_close int root = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	auto_close int fd = -1;
	char buf[8192];
	ssize_t n;

	if (root < 0)
		return -1;
	fd = (int)syscall(SYS_openat2, root, name, &how, sizeof(how));
	if (fd < 0)
		return -1;
	while ((n = read(fd, buf, sizeof(buf))) > 0)
		sbuf_add(text, buf, (size_t)n);
	return n < 0 ? -1 : 0;
}

/* The fields of the runtime specification; profiles in the wild have more, which other runtimes pass over as well. */
static json_t *known_fields(const json_t *profile)
{
	static const char *const fields[] = { "defaultAction", "defaultErrnoRet", "architectures", "flags" };
	static const char *const rules[] = { "names", "action", "errnoRet", "args" };
	json_t *doc = json_object();
	json_t *calls = json_array();
	json_t *call;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(fields); i++)
		if (json_object_get(profile, fields[i]))
			json_object_set(doc, fields[i], json_object_get(profile, fields[i]));
	json_array_foreach (json_object_get(profile, "syscalls"), i, call) {
		json_t *copy = json_object();

		for (size_t k = 0; k < ARRAY_SIZE(rules); k++)
			if (json_object_get(call, rules[k]))
				json_object_set(copy, rules[k], json_object_get(call, rules[k]));
		json_array_append_new(calls, copy);
	}
	json_object_set_new(doc, "syscalls", calls);
	return doc;
}

static int find_profile(const struct ctr *c, json_t **ret, struct err *e)
{
	const json_t *profile = bundle_seccomp_profile(c->pod->obj, c->spec);
	const char *name = jsonx_str_or(profile, "localhostProfile", "");
	auto_free char *dir = xasprintf("%s/" PROFILES, c->pod->parts->dir);
	auto_sbuf struct sbuf text = SBUF(LIMIT_OBJECT);
	json_auto_t *doc = NULL;

	if (!str_same(jsonx_str(profile, "type"), "Localhost"))
		return 0;
	if (read_profile(dir, name, &text) < 0)
		return err_errno(e, ERR_UNAVAILABLE, "cannot load seccomp profile %s/%s", dir, name);
	if (jsonx_parse(text.p ? text.p : "", text.n, NULL, NULL, &doc, e) < 0 || !json_is_object(doc))
		return err_set(e, ERR_UNAVAILABLE, "cannot load seccomp profile %s/%s: it is not a JSON object", dir,
			       name);
	*ret = known_fields(doc);
	return 0;
}

/* ---- devices ---- */

/* Made by the runtime for each container, or belonging to nobody. */
static bool is_left_out(const char *name)
{
	static const char *const names[] = { "pts", "shm", "mqueue", "fd", "console", "ptmx", "hugepages" };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (streq(names[i], name))
			return true;
	return name[0] == '.' || str_starts(name, "nvidia");
}

static void add_devices(const char *dir, int depth, json_t *list)
{
	DIR *d = opendir(dir);
	struct dirent *entry;

	while (d && (entry = readdir(d))) {
		auto_free char *path = xasprintf("%s/%s", dir, entry->d_name);
		struct stat st;

		if (is_left_out(entry->d_name) || fstatat(dirfd(d), entry->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0)
			continue;
		if (S_ISDIR(st.st_mode) && depth > 0)
			add_devices(path, depth - 1, list);
		if (S_ISCHR(st.st_mode) || S_ISBLK(st.st_mode))
			json_array_append_new(list, json_pack("{s:s, s:s, s:i, s:i, s:i, s:I, s:I}", "path", path,
							      "type", S_ISCHR(st.st_mode) ? "c" : "b", "major",
							      (int)major(st.st_rdev), "minor", (int)minor(st.st_rdev),
							      "fileMode", (int)(st.st_mode & 07777), "uid",
							      (json_int_t)st.st_uid, "gid", (json_int_t)st.st_gid));
	}
	if (d)
		closedir(d);
}

int ctr_rights(struct ctr *c, const json_t *cards, struct ctr_rights *ret, struct err *e)
{
	struct ctr_rights r = { .caps = own_caps(), .devices = json_array() };

	if (find_profile(c, &r.seccomp, e) < 0) {
		ctr_rights_done(&r);
		return -1;
	}
	if (jsonx_bool_or(c->spec, "securityContext.privileged", false))
		add_devices("/dev", DEVICE_DEPTH, r.devices);
	if (cards)
		json_array_extend(r.devices, (json_t *)cards);
	*ret = r;
	return 0;
}

void ctr_rights_done(struct ctr_rights *r)
{
	json_decref(r->devices);
	json_decref(r->seccomp);
	*r = (struct ctr_rights){ 0 };
}
