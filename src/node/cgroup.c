// SPDX-License-Identifier: Apache-2.0
/* cgroup.c - a pod's and a container's control group on v1, hybrid and v2
 *
 * v2 is one hierarchy at /sys/fs/cgroup.  v1 is a directory there for each mounted controller, and in hybrid mode also
 * "unified", a v2 hierarchy with what the others left over.  A group is made, emptied and removed in every hierarchy
 * there is, because runtimes do so too; limits and figures come from tables that name the file on either side.
 *
 * Only processes found inside a group are ever signalled, and only groups below "/stoker-..." are ever touched: a
 * mistake in a path must not be able to reach the rest of the machine.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/magic.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <time.h>

#include "base/clock.h"
#include "base/mem.h"
#include "node/cgroup_parts.h"
#include "node/runtime_parts.h"

#define REMOVE_BUDGET_MS 200 /* a killed process needs some time to go; a stuck one may not hold the server */
#define KILL_PASSES      8   /* without a freezer a group may fork while it is being killed */
#define CGROUP_DEPTH_MAX 32
#define CGROUP_STATS_MAX (64u * 1024)
#define CGROUP_PROCS_MAX (1024u * 1024)
#define AGE_PROCS_MAX    64 /* looked at to find a group's oldest process: the first ones listed are the oldest */

void cgroups_find(struct cgroups *h)
{
	struct statfs fs;
	struct dirent *d;
	DIR *dir;

	*h = (struct cgroups){ .n = 0 };
	if (statfs(CGROUP_ROOT, &fs) == 0 && fs.f_type == CGROUP2_SUPER_MAGIC) {
		h->at[0] = (struct hierarchy){ .root = CGROUP_ROOT, .v2 = true };
		h->n = 1;
		h->v2 = true;
		return;
	}
	dir = opendir(CGROUP_ROOT);
	while (dir && (d = readdir(dir)) && h->n < CGROUPS_MAX) {
		struct hierarchy *at = &h->at[h->n];
		bool known;

		/* Links such as cpu -> cpu,cpuacct are the same hierarchy again. */
		if (d->d_type != DT_DIR || d->d_name[0] == '.')
			continue;
		if (snprintf(at->root, sizeof(at->root), CGROUP_ROOT "/%s", d->d_name) >= (int)sizeof(at->root) ||
		    statfs(at->root, &fs) < 0)
			continue;
		at->v2 = fs.f_type == CGROUP2_SUPER_MAGIC;
		known = at->v2 || fs.f_type == CGROUP_SUPER_MAGIC;
		h->n += known;
	}
	if (dir)
		closedir(dir);
}

bool cgroup_path_ok(const char *path)
{
	struct str rest, part;

	if (!path || !str_starts(path, "/stoker-"))
		return false;
	rest = str_of(path + 1);
	while (str_split(&rest, '/', &part))
		if (!part.n || str_eq(part, ".") || str_eq(part, ".."))
			return false;
	return true;
}

int cgroup_write(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : write(fd, text, strlen(text));
	int saved = errno;

	if (fd >= 0)
		close(fd);
	errno = saved;
	return n < 0 ? -1 : 0;
}

bool cgroup_read_text(const char *path, size_t max, struct sbuf *out)
{
	auto_close int fd = open(path, O_RDONLY | O_CLOEXEC);
	char buf[4096];
	ssize_t n = -1;

	sbuf_reset(out);
	while (fd >= 0 && out->n < max && (n = read(fd, buf, sizeof(buf))) > 0)
		sbuf_add(out, buf, (size_t)n);
	return n >= 0;
}

/* --- making --- */

/* A new v1 cpuset has no processors, and nothing can run in it. */
static void inherit_cpuset(const char *dir)
{
	static const char *const files[] = { "cpuset.cpus", "cpuset.mems" };
	auto_sbuf struct sbuf value = SBUF(CGROUP_STATS_MAX);

	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		auto_free char *own = xasprintf("%s/%s", dir, files[i]);
		auto_free char *parent = xasprintf("%s/../%s", dir, files[i]);

		if (!cgroup_read_text(own, CGROUP_STATS_MAX, &value) || str_trim(sbuf_str(&value)).n)
			continue;
		if (cgroup_read_text(parent, CGROUP_STATS_MAX, &value) && value.p)
			cgroup_write(own, value.p);
	}
}

/* Hands all controllers of a v2 group down to its children. */
static void enable_controllers(const char *dir)
{
	auto_free char *have = xasprintf("%s/cgroup.controllers", dir);
	auto_free char *control = xasprintf("%s/cgroup.subtree_control", dir);
	auto_sbuf struct sbuf names = SBUF(CGROUP_STATS_MAX);
	struct str rest, name;

	if (!cgroup_read_text(have, CGROUP_STATS_MAX, &names))
		return;
	rest = str_trim(sbuf_str(&names));
	while (rest.n && str_split(&rest, ' ', &name)) {
		auto_free char *word = xasprintf("+%.*s", STR_FMT(name));

		/* One at a time: a controller that cannot be enabled must not keep the others away. */
		cgroup_write(control, word);
	}
}

int cgroup_make_in(const struct hierarchy *h, const char *path, struct err *e)
{
	auto_free char *dir = xasprintf("%s%s", h->root, path);
	char *p = dir + strlen(h->root);
	bool cpuset = !h->v2 && strstr(h->root, "cpuset");

	/* As a rule its parents are there. */
	if (!h->v2 && mkdir(dir, 0755) == 0) {
		if (cpuset)
			inherit_cpuset(dir);
		return 0;
	}
	while (*p) {
		char *slash = strchr(p + 1, '/');

		if (h->v2) {
			*p = '\0';
			enable_controllers(dir);
			*p = '/';
		}
		if (slash)
			*slash = '\0';
		if (mkdir(dir, 0755) < 0 && errno != EEXIST)
			return err_errno(e, ERR_UNAVAILABLE, "cannot make cgroup %s", dir);
		if (cpuset)
			inherit_cpuset(dir);
		if (!slash)
			break;
		*slash = '/';
		p = slash;
	}
	return 0;
}

/* v1's 2..262144 shares as v2's 1..10000 weight, by the line the kernel's documentation of both implies. */
static int64_t weight_of_shares(int64_t shares)
{
	int64_t s = shares < 2 ? 2 : shares > 262144 ? 262144 : shares;

	return 1 + (s - 2) * 9999 / 262142;
}

struct limit_row {
	const char *name;
	const char *v1, *v2; /* file; v1 with its controller's directory.  NULL: has no such */
	size_t offset;       /* of the number that switches it on, in struct cgroup_limits */
	bool optional;       /* not every kernel has the file */
};

#define LIMIT(field) offsetof(struct cgroup_limits, field)
/* In the order of writing: a quota is checked against the period there is; and v1 wants memory with swap never below
 * memory alone, so it is set before (which works on the way up) and after (on the way down). */
static const struct limit_row limit_rows[] = {
	{ "cpu shares", "cpu/cpu.shares", "cpu.weight", LIMIT(cpu_shares), false },
	{ "cpu period", "cpu/cpu.cfs_period_us", NULL, LIMIT(cpu_period_us), false },
	{ "cpu quota", "cpu/cpu.cfs_quota_us", "cpu.max", LIMIT(cpu_quota_us), false },
	{ "swap", "memory/memory.memsw.limit_in_bytes", "memory.swap.max", LIMIT(memory_bytes), true },
	{ "memory", "memory/memory.limit_in_bytes", "memory.max", LIMIT(memory_bytes), false },
	{ "swap", "memory/memory.memsw.limit_in_bytes", "memory.swap.max", LIMIT(memory_bytes), true },
	{ "pids", "pids/pids.max", "pids.max", LIMIT(pids), false },
};

static void limit_text(const struct limit_row *row, bool v2, const struct cgroup_limits *l, char *out, size_t n)
{
	int64_t value = *(const int64_t *)((const char *)l + row->offset);

	if (v2 && row->offset == LIMIT(cpu_shares))
		snprintf(out, n, "%" PRId64, weight_of_shares(value));
	else if (v2 && row->offset == LIMIT(cpu_quota_us))
		snprintf(out, n, "%" PRId64 " %" PRId64, value, l->cpu_period_us ? l->cpu_period_us : 100000);
	else if (v2 && row->optional)
		snprintf(out, n, "0");
	else
		snprintf(out, n, "%" PRId64, value);
}

int cgroup_set_limits(const struct cgroups *h, const char *path, const struct cgroup_limits *limits, struct err *e)
{
	for (size_t i = 0; limits && i < ARRAY_SIZE(limit_rows); i++) {
		const struct limit_row *row = &limit_rows[i];
		const char *slash = strchr(row->v1, '/');
		auto_free char *file = NULL;
		char text[64];

		if (*(const int64_t *)((const char *)limits + row->offset) <= 0 || (h->v2 && !row->v2))
			continue;
		file = h->v2 ? xasprintf(CGROUP_ROOT "%s/%s", path, row->v2)
			     : xasprintf(CGROUP_ROOT "/%.*s%s%s", (int)(slash - row->v1), row->v1, path, slash);
		limit_text(row, h->v2, limits, text, sizeof(text));
		if (cgroup_write(file, text) < 0 && !row->optional)
			return err_errno(e, ERR_UNAVAILABLE, "cannot limit %s to %s (%s)", row->name, text, file);
	}
	return 0;
}

int cgroup_make(const struct cgroups *g, const char *path, const struct cgroup_limits *limits, struct err *e)
{

	if (!cgroup_path_ok(path))
		return err_set(e, ERR_INVALID, "cgroup path %s is not one of ours", path ? path : "(none)");
	if (!g->n)
		return err_set(e, ERR_UNAVAILABLE, "no cgroup file system is mounted at " CGROUP_ROOT);
	for (int i = 0; i < g->n; i++)
		if (cgroup_make_in(&g->at[i], path, e) < 0)
			return -1;
	return cgroup_set_limits(g, path, limits, e);
}

/* --- killing and removing --- */

/* Calls fn for a directory's children, then for itself. */
static void walk(const char *dir, int depth, void (*fn)(const char *dir, void *arg), void *arg)
{
	struct dirent *d;
	DIR *at = depth < CGROUP_DEPTH_MAX ? opendir(dir) : NULL;

	while (at && (d = readdir(at))) {
		if (d->d_type == DT_DIR && !streq(d->d_name, ".") && !streq(d->d_name, "..")) {
			auto_free char *below = xasprintf("%s/%s", dir, d->d_name);

			walk(below, depth + 1, fn, arg);
		}
	}
	if (at)
		closedir(at);
	fn(dir, arg);
}

/* Calls fn for the processes of one group, until it returns false. */
static void each_process(const char *dir, bool (*fn)(pid_t pid, void *arg), void *arg)
{
	auto_free char *file = xasprintf("%s/cgroup.procs", dir);
	auto_sbuf struct sbuf pids = SBUF(CGROUP_PROCS_MAX);
	struct str rest, line;

	if (!cgroup_read_text(file, CGROUP_PROCS_MAX, &pids) || !pids.n)
		return;
	rest = sbuf_str(&pids);
	while (str_split(&rest, '\n', &line)) {
		auto_free char *text = xstrndup(line.p, line.n);
		int64_t pid;

		/* 0 is a process of another pid namespace. */
		if (str_int64(text, 2, INT32_MAX, &pid) && !fn((pid_t)pid, arg))
			return;
	}
}

struct signalling {
	int signo;
	int count;
};

static bool signal_one(pid_t pid, void *arg)
{
	struct signalling *s = arg;

	if (pid != getpid() && kill(pid, s->signo) == 0)
		s->count++;
	return true;
}

static void signal_dir(const char *dir, void *arg)
{
	each_process(dir, signal_one, arg);
}

static int signal_tree(const char *dir, int signo)
{
	struct signalling s = { .signo = signo };

	walk(dir, 0, signal_dir, &s);
	return s.count;
}

static void thaw_dir(const char *dir, void *arg)
{
	auto_free char *freezer = xasprintf("%s/freezer.state", dir);

	(void)arg;
	cgroup_write(freezer, "THAWED");
}

/* Somebody has stopped it, and wants it to stay so. */
static bool is_held(const char *freezer)
{
	auto_sbuf struct sbuf text = SBUF(CGROUP_STATS_MAX);

	if (!cgroup_read_text(freezer, CGROUP_STATS_MAX, &text) || !text.n)
		return false;
	return text.p[0] == 'F' || text.p[0] == '1';
}

static void kill_in(const struct hierarchy *h, const char *path, int signo)
{
	auto_free char *dir = xasprintf("%s%s", h->root, path);
	auto_free char *kill_file = xasprintf("%s/cgroup.kill", dir);
	auto_free char *freezer = xasprintf("%s/%s", dir, h->v2 ? "cgroup.freeze" : "freezer.state");
	bool held, frozen;

	if (access(dir, F_OK) < 0)
		return;
	if (signo == SIGKILL && h->v2 && cgroup_write(kill_file, "1") == 0)
		return;
	held = is_held(freezer);
	/* What is frozen cannot fork: one pass reaches all. */
	frozen = cgroup_write(freezer, h->v2 ? "1" : "FROZEN") == 0;
	for (int i = 0; i < KILL_PASSES; i++)
		if (!signal_tree(dir, signo) || frozen || signo != SIGKILL)
			break;
	if (frozen && !held)
		cgroup_write(freezer, h->v2 ? "0" : "THAWED");
	/* On v1 nobody dies while it is frozen. */
	if (frozen && !h->v2 && signo == SIGKILL)
		walk(dir, 0, thaw_dir, NULL);
}

/* A process is in the group of the same name everywhere: one hierarchy will do, the freezer's if there is one. */
const struct hierarchy *cgroup_best_for_killing(const struct cgroups *h)
{
	const struct hierarchy *best = NULL;

	for (int i = 0; i < h->n; i++)
		if (!best || strstr(h->at[i].root, "freezer"))
			best = &h->at[i];
	return best;
}

void cgroup_kill(const struct cgroups *g, const char *path, int signo)
{
	const struct hierarchy *best;

	if (!cgroup_path_ok(path))
		return;
	best = cgroup_best_for_killing(g);
	if (best)
		kill_in(best, path, signo);
}

struct gathering {
	pid_t *pids;
	size_t n, max;
};

static bool gather_one(pid_t pid, void *arg)
{
	struct gathering *g = arg;

	if (g->n < g->max)
		g->pids[g->n++] = pid;
	return g->n < g->max;
}

static void gather_dir(const char *dir, void *arg)
{
	each_process(dir, gather_one, arg);
}

size_t cgroup_pids(const struct cgroups *g, const char *path, pid_t *ret, size_t max)
{
	struct gathering found = { .pids = ret, .max = max };

	if (!cgroup_path_ok(path))
		return 0;
	/* A runtime may leave one out: the first that has anybody will do. */
	for (int i = 0; i < g->n && !found.n; i++) {
		auto_free char *dir = xasprintf("%s%s", g->at[i].root, path);

		walk(dir, 0, gather_dir, &found);
	}
	return found.n;
}

static void rmdir_dir(const char *dir, void *arg)
{
	(void)arg;
	rmdir(dir);
}

/* The group all of a server's groups are in goes with the last of them. */
static void trim_top(const struct hierarchy *h, const char *path)
{
	const char *slash = strchr(path + 1, '/');
	auto_free char *top = slash ? xasprintf("%s%.*s", h->root, (int)(slash - path), path) : NULL;

	if (top)
		rmdir(top);
}

bool cgroup_try_remove(const struct cgroups *g, const char *path)
{
	bool gone = true;

	if (!cgroup_path_ok(path))
		return true;
	for (int i = 0; i < g->n; i++) {
		auto_free char *dir = xasprintf("%s%s", g->at[i].root, path);

		if (rmdir(dir) < 0) {
			if (errno == ENOENT)
				continue;
			kill_in(&g->at[i], path, SIGKILL);
			walk(dir, 0, rmdir_dir, NULL);
			gone = gone && access(dir, F_OK) < 0;
		}
		trim_top(&g->at[i], path);
	}
	return gone;
}

bool cgroup_remove(const struct cgroups *g, const char *path)
{
	int64_t deadline = clock_mono_ms() + REMOVE_BUDGET_MS;
	struct timespec pause = { .tv_nsec = 200000 };

	while (!cgroup_try_remove(g, path)) {
		if (clock_mono_ms() >= deadline)
			return false;
		nanosleep(&pause, NULL);
		if (pause.tv_nsec < 5000000)
			pause.tv_nsec *= 2;
	}
	return true;
}

bool cgroup_trim(const struct cgroups *g, const char *path)
{
	bool gone = true;

	if (!cgroup_path_ok(path))
		return true;
	for (int i = 0; i < g->n; i++) {
		auto_free char *dir = xasprintf("%s%s", g->at[i].root, path);

		gone = (rmdir(dir) == 0 || errno == ENOENT) && gone;
		trim_top(&g->at[i], path);
	}
	return gone;
}

/* --- standing still --- */

static const struct {
	bool v2;
	const char *control, *stop, *go;
	const char *report, *stopped; /* where it says so */
} freezers[] = {
	{ true, "cgroup.freeze", "1", "0", "cgroup.events", "frozen 1" },
	{ false, "freezer.state", "FROZEN", "THAWED", "freezer.state", "FROZEN" },
};

#define FREEZE_WAIT_MS 1000
#define FREEZE_STEP_MS 5

static bool has_stopped(const char *dir, size_t row)
{
	auto_free char *path = xasprintf("%s/%s", dir, freezers[row].report);
	auto_sbuf struct sbuf text = SBUF(CGROUP_STATS_MAX);

	return cgroup_read_text(path, CGROUP_STATS_MAX, &text) && text.p && strstr(text.p, freezers[row].stopped);
}

static bool freeze_in(const struct hierarchy *h, const char *path, bool frozen, int wait_ms)
{
	for (size_t row = 0; row < ARRAY_SIZE(freezers); row++) {
		auto_free char *dir = xasprintf("%s%s", h->root, path);
		auto_free char *control = xasprintf("%s/%s", dir, freezers[row].control);

		if (h->v2 != freezers[row].v2 ||
		    cgroup_write(control, frozen ? freezers[row].stop : freezers[row].go) < 0)
			continue;
		for (int ms = 0; frozen && ms < wait_ms && !has_stopped(dir, row); ms += FREEZE_STEP_MS)
			nanosleep(&(struct timespec){ .tv_nsec = FREEZE_STEP_MS * 1000000 }, NULL);
		return true;
	}
	return false;
}

/* In all of them: on a hybrid machine nobody knows in which the runtime has put the processes. */
static int freeze(const struct cgroups *g, const char *path, bool frozen, int wait_ms)
{
	int done = 0;

	for (int i = 0; cgroup_path_ok(path) && i < g->n; i++)
		done += freeze_in(&g->at[i], path, frozen, wait_ms);
	return done;
}

bool cgroup_hold(const struct cgroups *g, const char *path, bool still)
{
	return freeze(g, path, still, 0) > 0;
}

int cgroup_freeze(const struct cgroups *g, const char *path, bool frozen, struct err *e)
{
	if (!freeze(g, path, frozen, FREEZE_WAIT_MS))
		return err_set(e, ERR_UNAVAILABLE, "the container's processes cannot be stopped: no freezer for \"%s\"",
			       path);
	return 0;
}

/* --- looking --- */

/* The number after `key` at the start of a line, or the first number if key is NULL; -1 if it is not there. */
static int64_t read_stat(const char *file, const char *key)
{
	auto_sbuf struct sbuf text = SBUF(CGROUP_STATS_MAX);
	struct str rest, line;

	if (!cgroup_read_text(file, CGROUP_STATS_MAX, &text) || !text.n)
		return -1;
	rest = sbuf_str(&text);
	while (str_split(&rest, '\n', &line)) {
		auto_free char *copy = xstrndup(line.p, line.n);
		const char *number = copy;
		int64_t value;

		if (key) {
			if (!str_starts(copy, key) || copy[strlen(key)] != ' ')
				continue;
			number = copy + strlen(key) + 1;
		}
		if (str_int64(number, 0, INT64_MAX, &value))
			return value;
	}
	return -1;
}

static char *file_at(bool v2, const char *path, const char *v1_controller, const char *v1_file, const char *v2_file)
{
	return v2 ? xasprintf(CGROUP_ROOT "%s/%s", path, v2_file)
		  : xasprintf(CGROUP_ROOT "/%s%s/%s", v1_controller, path, v1_file);
}

int64_t cgroup_read_at(bool v2, const char *path, const char *v1_controller, const char *v1_file, const char *v2_file,
		       const char *key)
{
	auto_free char *file = file_at(v2, path, v1_controller, v1_file, v2_file);

	return read_stat(file, key);
}

static char *oom_file(const struct cgroups *h, const char *path)
{
	return file_at(h->v2, path, "memory", "memory.oom_control", "memory.events");
}

static void add_kills(const char *dir, void *arg)
{
	auto_free char *file = xasprintf("%s/memory.oom_control", dir);
	int64_t n = read_stat(file, "oom_kill"), *sum = arg;

	*sum = n < 0 ? *sum : *sum < 0 ? n : *sum + n;
}

int64_t cgroup_oom_kills(const struct cgroups *g, const char *path)
{
	auto_free char *at = NULL;
	int64_t sum = -1;

	if (!cgroup_path_ok(path))
		return -1;
	if (g->v2) {
		at = oom_file(g, path);
		return read_stat(at, "oom_kill");
	}
	/* v1 counts a kill only where the process was. */
	at = xasprintf(CGROUP_ROOT "/memory%s", path);
	walk(at, 0, add_kills, &sum);
	return sum;
}

void cgroup_monitor_paths(const struct cgroups *g, const char *path, char **ret_dir, char **ret_oom)
{
	const struct hierarchy *best;
	bool ok = cgroup_path_ok(path);

	best = ok ? cgroup_best_for_killing(g) : NULL;
	*ret_dir = best ? xasprintf("%s%s", best->root, path) : xstrdup("");
	*ret_oom = ok ? oom_file(g, path) : xstrdup("");
}

int cgroup_read(const struct cgroups *g, const char *path, struct cgroup_usage *ret, struct err *e)
{
	struct cgroup_usage u;
	int64_t inactive;

	if (!cgroup_path_ok(path))
		return err_set(e, ERR_INVALID, "cgroup path %s is not one of ours", path ? path : "(none)");
	u.cpu_ns = cgroup_read_at(g->v2, path, "cpuacct", "cpuacct.usage", "cpu.stat", g->v2 ? "usage_usec" : NULL);
	u.memory_bytes = cgroup_read_at(g->v2, path, "memory", "memory.usage_in_bytes", "memory.current", NULL);
	u.pids = cgroup_read_at(g->v2, path, "pids", "pids.current", "pids.current", NULL);
	if (u.cpu_ns < 0 && u.memory_bytes < 0 && u.pids < 0)
		return err_set(e, ERR_NOT_FOUND, "no cgroup %s", path);
	inactive = cgroup_read_at(g->v2, path, "memory", "memory.stat", "memory.stat",
				  g->v2 ? "inactive_file" : "total_inactive_file");
	u.cpu_ns = u.cpu_ns < 0 ? 0 : g->v2 ? u.cpu_ns * 1000 : u.cpu_ns;
	u.memory_bytes = u.memory_bytes < inactive || u.memory_bytes < 0 ? 0 : u.memory_bytes;
	u.memory_bytes -= inactive > 0 && u.memory_bytes ? inactive : 0;
	u.pids = u.pids < 0 ? 0 : u.pids;
	*ret = u;
	return 0;
}

/* When a process began, in clock ticks since boot; -1 if it has ended. */
static int64_t process_ticks(pid_t pid)
{
	auto_free char *path = xasprintf("/proc/%d/stat", (int)pid);
	auto_close int fd = open(path, O_RDONLY | O_CLOEXEC);
	char buf[1024];
	ssize_t n = fd < 0 ? -1 : read(fd, buf, sizeof(buf) - 1);
	struct str rest, part;
	int64_t ticks = -1;
	char *after;

	if (n <= 0)
		return -1;
	buf[n] = '\0';
	/* The name in parentheses may hold anything; what follows its last ")" is " S ppid ...", start time being the
	 * 22nd field of the line and the 20th from there. */
	after = strrchr(buf, ')');
	if (!after || after[1] != ' ' || after[2] == 'Z' || after[2] == 'X')
		return -1;
	rest = str_of(after + 2);
	for (int i = 0; i < 20; i++)
		if (!str_split(&rest, ' ', &part))
			return -1;
	{
		auto_free char *text = xstrndup(part.p, part.n);

		str_int64(text, 0, INT64_MAX, &ticks);
	}
	return ticks;
}

int64_t cgroup_age_ms(const struct cgroups *g, const char *path)
{
	pid_t pids[AGE_PROCS_MAX];
	size_t n = cgroup_pids(g, path, pids, AGE_PROCS_MAX);
	int64_t oldest = -1;

	for (size_t i = 0; i < n; i++) {
		int64_t ticks = process_ticks(pids[i]);

		if (ticks >= 0 && (oldest < 0 || ticks < oldest))
			oldest = ticks;
	}
	return oldest < 0 ? -1 : clock_mono_ms() - oldest * 1000 / sysconf(_SC_CLK_TCK);
}

/* --- where monitors live --- */

/* "4:memory:/some/group" says that this process is not in the root of that hierarchy. */
static bool in_root_group(const struct hierarchy *h, bool only_v2, const char *memberships)
{
	const char *name = only_v2 ? "" : strrchr(h->root, '/') + 1;
	struct str rest = str_of(memberships), line;

	while (str_split(&rest, '\n', &line)) {
		struct str id, controllers, group = line;

		if (!str_split(&group, ':', &id) || !str_split(&group, ':', &controllers))
			continue;
		if (str_starts(controllers.p, "name="))
			controllers = (struct str){ controllers.p + 5, controllers.n - 5 };
		if (h->v2 ? controllers.n == 0 : str_eq(controllers, name))
			return str_eq(group, "/");
	}
	return true;
}

char *cgroup_join_files(const struct cgroups *g, const char *path)
{
	auto_sbuf struct sbuf own = SBUF(CGROUP_STATS_MAX), files = SBUF(CGROUP_STATS_MAX);

	if (!cgroup_path_ok(path) || !cgroup_read_text("/proc/self/cgroup", CGROUP_STATS_MAX, &own) || !own.p)
		return xstrdup("");
	for (int i = 0; i < g->n; i++)
		if (!in_root_group(&g->at[i], g->v2, own.p))
			sbuf_addf(&files, "%s%s/cgroup.procs\n", g->at[i].root, path);
	return files.n ? sbuf_steal(&files) : xstrdup("");
}
