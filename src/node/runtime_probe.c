// SPDX-License-Identifier: Apache-2.0
/* runtime_probe.c - which OCI runtime works on this machine, found out by running something
 *
 * Versions and feature lists do not tell whether a runtime works with this kernel's cgroups, so each candidate really
 * runs `true` in a container: crun as it is, crun with the unified hierarchy hidden (see runtime_spawn.c), runc;
 * without root, crun and runc without cgroups.  The first that works is taken; if none does the error quotes them all.
 * The probe's root file system is the host's programs and libraries, bound read-only.
 */
#include <errno.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <sys/wait.h>

#include "base/file.h"
#include "base/jsonx.h"
#include "base/mem.h"
#include "node/runtime_parts.h"

#define PROBE_MS       20000
#define PROBE_TEXT_MAX (64u * 1024)

static const struct candidate {
	const char *name, *option;
	bool hide, rootless;
} candidates[] = {
	{ "crun", "--cgroup-manager=cgroupfs", false, false },
	{ "crun", "--cgroup-manager=cgroupfs", true, false },
	{ "runc", "--rootless=auto", false, false },
	{ "crun", "--cgroup-manager=disabled", false, true },
	{ "runc", "--rootless=true", false, true },
};

static bool is_hybrid(void)
{
	struct statfs fs;

	return statfs("/sys/fs/cgroup/unified", &fs) == 0 && fs.f_type == CGROUP2_SUPER_MAGIC;
}

/* Makes the host's top directory `name` appear in the probe's root: as the same link, or by a bind mount. */
static void borrow(const char *root, const char *name, json_t *mounts)
{
	auto_free char *from = xasprintf("/%s", name);
	auto_free char *to = xasprintf("%s/%s", root, name);
	char link[256];
	ssize_t n = readlink(from, link, sizeof(link) - 1);
	struct stat st;

	if (n > 0) {
		link[n] = '\0';
		if (symlink(link, to) < 0)
			return;
	} else if (stat(from, &st) == 0 && mkdir(to, 0755) == 0) {
		json_array_append_new(mounts, json_pack("{s:s, s:s, s:s, s:[s,s]}", "destination", from, "type", "bind",
							"source", from, "options", "bind", "ro"));
	}
}

static json_t *probe_config(const char *root, const char *cgroup)
{
	static const char *const tops[] = { "bin", "lib", "lib32", "lib64", "usr", "nix" };
	json_t *mounts = json_pack("[{s:s,s:s,s:s}, {s:s,s:s,s:s}]", "destination", "/proc", "type", "proc", "source",
				   "proc", "destination", "/dev", "type", "tmpfs", "source", "tmpfs");

	for (size_t i = 0; i < ARRAY_SIZE(tops); i++)
		borrow(root, tops[i], mounts);
	return json_pack(
		"{s:s, s:{s:{s:i,s:i}, s:[s], s:[s], s:s}, s:{s:s, s:b}, s:o, s:{s:s*, s:[{s:s},{s:s},{s:s},{s:s}]}}",
		"ociVersion", "1.0.2", "process", "user", "uid", 0, "gid", 0, "args",
		access("/bin/true", X_OK) == 0 ? "/bin/true" : "/usr/bin/true", "env", "PATH=/bin:/usr/bin", "cwd", "/",
		"root", "path", root, "readonly", 0, "mounts", mounts, "linux", "cgroupsPath", *cgroup ? cgroup : NULL,
		"namespaces", "type", "pid", "type", "mount", "type", "ipc", "type", "uts");
}

static int write_bundle(const char *dir, const char *cgroup, struct err *e)
{
	auto_free char *root = xasprintf("%s/rootfs", dir);
	auto_sbuf struct sbuf text = SBUF(PROBE_TEXT_MAX);
	json_auto_t *config = NULL;

	if (file_make_dirs(root, 0755, e) < 0)
		return -1;
	config = probe_config(root, cgroup);
	jsonx_dump(config, &text);
	return state_write(dir, "config.json", sbuf_str(&text), e);
}

static int try_runtime(const char *program, const struct candidate *c, const char *dir, struct err *e)
{
	auto_free char *root_arg = xasprintf("--root=%s/state", dir);
	auto_free char *id = xasprintf("stoker-probe-%d", (int)getpid());
	auto_sbuf struct sbuf said = SBUF(PROBE_TEXT_MAX);
	const char *run[] = { program, c->option, root_arg, "run", "--bundle", dir, id, NULL };
	const char *delete[] = { program, c->option, root_arg, "delete", "--force", id, NULL };
	struct spawn s = { .argv = run, .fds = { -1, -1, -1 }, .hide = c->hide };
	struct err ignored = ERR_INIT;
	int status = 0, rc = spawn_wait(&s, PROBE_MS, &said, &status, e);

	if (rc == 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0)
		return 0;
	if (rc == 0) {
		spawn_clean_words(&said);
		rc = err_set(e, ERR_UNAVAILABLE, "%s", said.n ? said.p : "ended without a word");
	}
	s.argv = delete;
	sbuf_reset(&said);
	(void)spawn_wait(&s, PROBE_MS, &said, &status, &ignored);
	return rc;
}

/* Its first line is "crun version 1.8.1". */
static char *version_of(const char *program)
{
	static const char before[] = " version ";
	const char *argv[] = { program, "--version", NULL };
	struct spawn s = { .argv = argv, .fds = { -1, -1, -1 } };
	auto_sbuf struct sbuf said = SBUF(PROBE_TEXT_MAX);
	struct err ignored = ERR_INIT;
	const char *at;
	int status = 0;

	if (spawn_wait(&s, PROBE_MS, &said, &status, &ignored) < 0 || !said.n)
		return NULL;
	at = strstr(said.p, before);
	if (!at)
		return NULL;
	at += sizeof(before) - 1;
	return xstrndup(at, strcspn(at, " \t\r\n"));
}

/* Goes through the candidates `want` allows; what each said is gathered in `tried`. */
static int pick_runtime(const struct runtime_config *config, const char *dir, struct probed *p, struct sbuf *tried)
{
	const char *want = config->name;

	for (size_t i = 0; i < ARRAY_SIZE(candidates); i++) {
		const struct candidate *c = &candidates[i];
		auto_free char *program = spawn_find(c->name);
		struct err why = ERR_INIT;

		if ((!streq(want, "auto") && !streq(want, c->name)) || (c->hide && !is_hybrid()) ||
		    c->rootless != config->rootless)
			continue;
		if (!program)
			err_set(&why, ERR_UNAVAILABLE, "not installed");
		else if (try_runtime(program, c, dir, &why) == 0) {
			p->program = TAKE(program);
			p->name = c->name;
			p->option = c->option;
			p->version = version_of(p->program);
			p->hide = c->hide;
			return 0;
		}
		sbuf_addf(tried, "%s%s%s: %s", tried->n ? "; " : "", c->name, c->hide ? " without unified cgroups" : "",
			  why.text);
	}
	return -1;
}

int runtime_probe(const struct runtime_config *c, const struct cgroups *g, const char *run_dir, struct probed *ret,
		  struct err *e)
{
	auto_free char *dir = xasprintf("%s/probe-%d", run_dir, (int)getpid());
	auto_free char *cgroup = c->rootless ? xstrdup("") : xasprintf("/stoker-%s/probe-%d", c->prefix, (int)getpid());
	auto_sbuf struct sbuf tried = SBUF(900);
	struct probed p = { .program = NULL };
	int rc = write_bundle(dir, cgroup, e);

	if (rc == 0 && pick_runtime(c, dir, &p, &tried) < 0)
		rc = err_set(e, ERR_UNAVAILABLE, "no container runtime works here: %s", tried.p ? tried.p : "");
	state_remove_tree(dir);
	cgroup_remove(g, cgroup);
	if (rc == 0)
		*ret = p;
	else
		probed_done(&p);
	return rc;
}

void probed_done(struct probed *p)
{
	free(p->program);
	free(p->version);
}
