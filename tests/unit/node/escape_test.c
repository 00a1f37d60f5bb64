// SPDX-License-Identifier: Apache-2.0
/* escape_test.c - ways out of a container that runc or crun once left open, tried again
 *
 * Every container test runs with crun and with runc.  A way counts as closed if what stands outside is neither seen nor
 * touched: a marker file beside the container's root, a directory that must stay empty, the runtime's own program.
 * Where the runtimes of Debian 12 are not to be relied upon, rootfs_check() refuses before they are asked; those tests
 * look at its answer.
 */
#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/jsonx.h"
#include "base/mem.h"
#include "box.h"
#include "loop/crypto.h"
#include "node/bundle.h"
#include "node/rootfs.h"
#include "test.h"

#define MARKER "what stands outside"
#define UP     "../../../../../../../../../.."

static const char *const both[] = { "crun", "runc" };

#define EACH_RUNTIME(b)                                                                                                \
	for (size_t which_ = 0; which_ < ARRAY_SIZE(both); which_++, bench_close(&(b)))                                \
		if (bench_open(&(b), both[which_]))

/* --- what stands outside --- */

static char *in_bench(const struct bench *b, const char *name)
{
	return xasprintf("%s/%s", b->dir, name);
}

static char *make_marker(const struct bench *b)
{
	char *path = in_bench(b, "marker");
	struct err e = ERR_INIT;

	CHECK_INT(file_write(path, 0644, STR(MARKER "\n"), &e), 0);
	return path;
}

static char *make_outside(const struct bench *b)
{
	char *path = in_bench(b, "outside");

	CHECK_INT(mkdir(path, 0777), 0);
	return path;
}

static int count_entries(const char *dir)
{
	DIR *d = opendir(dir);
	int n = 0;

	while (d && readdir(d))
		n++;
	if (d)
		closedir(d);
	return n - 2;
}

/* Ends in any way; the log is to be freed. */
static char *run_to_end(struct bench *b, struct trial *t, json_t *config)
{
	t->may_fail = true;
	trial_write(t, config);
	trial_start(b, t);
	CHECK(bench_wait(b, &t->dones, 1, 30));
	if (t->pid > 0)
		CHECK(bench_wait(b, &t->exits, 1, 30));
	return trial_log(t);
}

static void root_link(const struct bench *b, const char *name, const char *target)
{
	auto_free char *path = xasprintf("%s/rootfs/%s", b->dir, name);

	CHECK_INT(symlink(target, path), 0);
}

static void add_mount(json_t *config, const char *source, const char *destination)
{
	json_array_append_new(json_object_get(config, "mounts"),
			      json_pack("{s:s, s:s, s:s, s:[s,s]}", "destination", destination, "type", "bind",
					"source", source, "options", "rbind", "rw"));
}

/* --- runc 2024-21626: a directory the runtime had open --- */

TEST("a working directory that is a descriptor of the runtime shows nothing of the host")
{
	struct bench b;

	EACH_RUNTIME(b)
	{
		auto_free char *marker = make_marker(&b);
		auto_free char *script = xasprintf("cat %s%s 2>/dev/null; exit 0", UP, marker);

		for (int fd = 3; fd < 12; fd++)
			for (int linked = 0; linked < 2; linked++) {
				struct trial *t = trial_new(&b);
				json_t *config = bench_config(&b, t, script);
				auto_free char *cwd = xasprintf("/proc/self/fd/%d", fd);
				auto_free char *name = xasprintf("work%d", fd);
				auto_free char *link = xasprintf("/work%d", fd);
				auto_free char *log = NULL;

				if (linked)
					root_link(&b, name, cwd);
				jsonx_set_new(config, "process.cwd", json_string(linked ? link : cwd));
				log = run_to_end(&b, t, config);
				if (strstr(log, MARKER))
					test_fail(__FILE__, __LINE__, "%s: out by %s", both[which_], cwd);
			}
	}
}

struct answer {
	int n, status;
};

static void on_exec(void *arg, int status, const struct err *e)
{
	struct answer *a = arg;

	(void)e;
	a->status = status;
	a->n++;
}

/* Runs `sh -c script` in the container and gives back what it printed. */
static char *exec_in(struct bench *b, struct trial *t, const char *cwd, int uid, const char *script)
{
	auto_free char *path = in_bench(b, "exec-output");
	json_auto_t *process =
		json_pack("{s:b, s:{s:i,s:i}, s:[s,s,s], s:[s], s:s, s:b}", "terminal", 0, "user", "uid", uid, "gid",
			  uid, "args", "/bin/sh", "-c", script, "env", "PATH=/bin", "cwd", cwd, "noNewPrivileges", 1);
	auto_sbuf struct sbuf text = SBUF(65536);
	auto_close int out = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	struct exec_start x = { .id = t->id, .process = process, .stdin_fd = -1, .stdout_fd = out, .stderr_fd = out };
	struct answer a = { 0 };
	struct err e = ERR_INIT;

	b->runtime->ops->exec(b->runtime, &x, on_exec, &a);
	CHECK(bench_wait(b, &a.n, 1, 30));
	CHECK_INT(file_read(path, 65536, &text, &e), 0);
	return sbuf_steal(&text);
}

TEST("a working directory that becomes such a descriptor later does not help an exec")
{
	struct bench b;

	EACH_RUNTIME(b)
	{
		auto_free char *marker = make_marker(&b);
		struct trial *t = trial_run(&b, "while :; do for n in 3 4 5 6 7 8 9 10; do "
						"busybox ln -sfn /proc/self/fd/$n /work; sleep 0.01; done; done");
		auto_free char *script = xasprintf("cat %s%s 2>/dev/null", UP, marker);

		CHECK(bench_wait(&b, &t->dones, 1, 30));
		for (int i = 0; i < 20; i++) {
			auto_free char *said = exec_in(&b, t, "/work", 0, script);

			if (strstr(said, MARKER))
				test_fail(__FILE__, __LINE__, "%s: out by an exec", both[which_]);
		}
	}
}

TEST("an image's working directory in /proc is refused, by text and by links")
{
	static const struct {
		const char *cwd;
		bool fine;
	} rows[] = {
		{ "/", true },
		{ "/app", true },
		{ "/procession", true },
		{ "/nowhere/yet", true },
		{ "/proc", false },
		{ "/proc/self/fd/7", false },
		{ "//proc/./1/cwd", false },
		{ "/app/../proc/self", false },
		{ "/../../proc", false },
		{ "/link", false },
		{ "/deep/link/more", false },
		{ "/up", false },
		{ "/loop", false },
	};
	auto_free char *root = xasprintf("%s/cwd-root", test_dir());
	struct err e = ERR_INIT;
	auto_free char *deep = xasprintf("%s/deep", root);
	auto_free char *link = xasprintf("%s/link", root);
	auto_free char *inner = xasprintf("%s/link", deep);
	auto_free char *up = xasprintf("%s/up", root);
	auto_free char *loop = xasprintf("%s/loop", root);

	CHECK_INT(file_make_dirs(deep, 0755, &e), 0);
	CHECK(symlink("/proc/self/fd/8", link) == 0 && symlink("../link", inner) == 0 &&
	      symlink("../../../../proc/1/root", up) == 0 && symlink("loop", loop) == 0);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		json_auto_t *config = json_pack("{s:{s:s}}", "process", "cwd", rows[i].cwd);

		err_clear(&e);
		if ((rootfs_check(root, config, &e) == 0) != rows[i].fine)
			test_fail(__FILE__, __LINE__, "%s: %s", rows[i].cwd, e.text);
	}
}

/* --- runc 2019-5736: the runtime's own program, through /proc/self/exe --- */

static void hash_of(const char *path, unsigned char out[SHA256_LEN])
{
	auto_sbuf struct sbuf text = SBUF(64u << 20);
	struct err e = ERR_INIT;

	CHECK_INT(file_read(path, 64u << 20, &text, &e), 0);
	crypto_sha256(text.p, text.n, out);
}

/* Holds every program that passes by, and tries to open it for writing once it has ended.  It writes nothing: should
 * the way be open, this machine shall survive the test.  /other/sleep is there to be caught, or nothing would be
 * proved. */
static const char thief[] =
	"/other/sleep 1000 &\n"
	"own=$(busybox stat -L -c %d:%i /proc/self/exe)\n"
	"hold() {\n"
	"  exec 4<$1/exe || exit\n"
	"  f=$(busybox stat -L -c %d:%i /proc/self/fd/4)\n"
	"  [ \"$f\" = \"$own\" -o -e /tmp/$f ] && exit\n"
	"  true >/tmp/$f\n"
	"  echo saw $f\n"
	"  for k in 1 2 3 4 5 6 7 8; do sleep 0.02; { true >>/proc/self/fd/4; } && echo WRITABLE $f; done\n"
	"}\n"
	"while :; do for p in /proc/[0-9]*; do [ $p = /proc/1 ] || (hold $p) 2>/dev/null; done; done";

static bool caught_something(struct bench *b, struct trial *t)
{
	for (int i = 0; i < 600; i++) {
		auto_free char *log = trial_log(t);

		if (strstr(log, "saw "))
			return true;
		usleep(50000);
		loop_turn(b->loop, true);
	}
	return false;
}

TEST("the runtime's program cannot be written from a container")
{
	struct bench b;

	EACH_RUNTIME(b)
	{
		auto_free char *program = xasprintf("/usr/bin/%s", both[which_]);
		auto_free char *program2 = xasprintf("/usr/sbin/%s", both[which_]);
		const char *host = access(program, F_OK) == 0 ? program : program2;
		auto_free char *copy =
			xasprintf("mkdir %s/rootfs/other && cp /bin/busybox %s/rootfs/other/sleep", b.dir, b.dir);
		int copied = system(copy);
		struct trial *t = trial_run(&b, thief), *itself = trial_new(&b);
		json_t *config = bench_config(&b, itself, "");
		unsigned char before[SHA256_LEN], after[SHA256_LEN];
		auto_free char *script = xasprintf("%s/rootfs/bin/itself", b.dir);
		auto_free char *log = NULL, *own = NULL, *bad = NULL;
		struct stat st;
		struct err e = ERR_INIT;

		CHECK_INT(copied, 0);
		CHECK_INT(stat(host, &st), 0);
		hash_of(host, before);
		CHECK_INT(file_write(script, 0755, STR("#!/proc/self/exe\n"), &e), 0);
		/* The container's program is the runtime itself. */
		json_array_set_new(jsonx_at(config, "process.args"), 0, json_string("/bin/itself"));
		own = run_to_end(&b, itself, config);
		CHECK(bench_wait(&b, &t->dones, 1, 30));
		CHECK(caught_something(&b, t));
		for (int i = 0; i < 25; i++)
			free(exec_in(&b, t, "/", 0, i % 2 ? "sleep 0.03" : "exec /bin/itself"));
		usleep(200000);
		log = trial_log(t);
		bad = xasprintf("WRITABLE %llu:%llu", (unsigned long long)st.st_dev, (unsigned long long)st.st_ino);
		if (strstr(log, bad))
			test_fail(__FILE__, __LINE__, "%s can be written from a container", host);
		hash_of(host, after);
		CHECK(memcmp(before, after, sizeof(before)) == 0);
	}
}

/* --- /dev, /proc and /sys of the image --- */

TEST("an image whose /dev, /proc or /sys is no directory is refused with its name")
{
	static const char *const names[] = { "dev", "proc", "sys" };
	json_auto_t *config = json_object();

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		auto_free char *root = xasprintf("%s/bad-%s", test_dir(), names[i]);
		auto_free char *path = xasprintf("%s/%s", root, names[i]);
		auto_free char *want =
			xasprintf("the image's /%s is a symbolic link; containers are started only where "
				  "it is a directory",
				  names[i]);
		auto_free char *plain =
			xasprintf("the image's /%s is no directory; containers are started only where it "
				  "is a directory",
				  names[i]);
		struct err e = ERR_INIT;

		CHECK_INT(file_make_dirs(root, 0755, &e), 0);
		CHECK_INT(rootfs_check(root, config, &e), 0);
		CHECK_INT(symlink("/tmp", path), 0);
		CHECK_INT(rootfs_check(root, config, &e), -1);
		CHECK_STR(e.text, want);
		CHECK_INT(e.kind, ERR_INVALID);
		CHECK(unlink(path) == 0 && file_write(path, 0644, STR("x"), &e) == 0);
		CHECK_INT(rootfs_check(root, config, &e), -1);
		CHECK_STR(e.text, plain);
		CHECK(unlink(path) == 0 && mkdir(path, 0755) == 0);
		err_clear(&e);
		CHECK_INT(rootfs_check(root, config, &e), 0);
	}
}

TEST("links in the image's /dev lead nowhere, with a terminal and without")
{
	static const char *const names[] = { "null", "console", "ptmx", "pts", "shm", "fd", "stdin", "tty", "mqueue" };
	struct bench b;

	EACH_RUNTIME(b)
	{
		auto_free char *marker = make_marker(&b);
		auto_free char *outside = make_outside(&b);
		auto_sbuf struct sbuf text = SBUF(1024);
		struct err e = ERR_INIT;

		for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
			auto_free char *name = xasprintf("dev/%s", names[i]);

			root_link(&b, name, streq(names[i], "pts") ? outside : marker);
		}
		for (int tty = 0; tty < 2; tty++) {
			struct trial *t = trial_new(&b);
			json_t *config = bench_config(&b, t,
						      "echo gone >/dev/null; { echo gone >/dev/console; } 2>/dev/null; "
						      "ls /dev/pts /dev/fd/ >/dev/null; echo fine");
			auto_free char *log = NULL;

			jsonx_set_new(config, "process.terminal", json_boolean(tty));
			t->tty = tty;
			log = run_to_end(&b, t, config);
			CHECK_STR(t->error.text, "");
			CHECK(strstr(log, "fine") != NULL);
			CHECK(!strstr(log, MARKER));
		}
		CHECK_INT(count_entries(outside), 0);
		CHECK_INT(file_read(marker, 1024, &text, &e), 0);
		CHECK_STR(text.p, MARKER "\n");
	}
}

/* --- runc 2025-31133 and its kin: what masks is made of /dev/null --- */

TEST("volumes in the place of what masks are made of are refused")
{
	static const struct {
		const char *where;
		bool fine;
	} rows[] = {
		{ "/data", true },
		{ "/dev/shm", true },
		{ "/dev/termination-log", true },
		{ "/dev/infiniband", true },
		{ "/sys/fs/cgroup", true },
		{ "/developer", true },
		{ "/", false },
		{ "/dev", false },
		{ "/dev/", false },
		{ "/dev/null", false },
		{ "/dev/../dev/console", false },
		{ "/dev/pts", false },
		{ "/proc", false },
		{ "/proc/sys", false },
		{ "/sys", false },
		{ "/elsewhere", false }, /* links to /dev */
		{ "/elsewhere/null", false },
		{ "/elsewhere/shm", true },
	};
	auto_free char *root = xasprintf("%s/mask-root", test_dir());
	auto_free char *link = xasprintf("%s/elsewhere", root);
	struct err e = ERR_INIT;

	CHECK_INT(file_make_dirs(root, 0755, &e), 0);
	CHECK_INT(symlink("dev", link), 0);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		json_auto_t *config = json_pack("{s:{s:[s]}, s:[]}", "linux", "maskedPaths", "/proc/kcore", "mounts");
		json_auto_t *open = json_object();

		add_mount(config, "/tmp", rows[i].where);
		err_clear(&e);
		if ((rootfs_check(root, config, &e) == 0) != rows[i].fine)
			test_fail(__FILE__, __LINE__, "%s: %s", rows[i].where, e.text);
		/* Without masks there is nothing to get round. */
		json_object_set(open, "mounts", json_object_get(config, "mounts"));
		err_clear(&e);
		CHECK_INT(rootfs_check(root, open, &e), 0);
	}
}

/* --- runc 2021-30465, 2023-27561: targets of mounts through links --- */

TEST("a volume whose place is behind a link stays inside")
{
	struct bench b;

	EACH_RUNTIME(b)
	{
		auto_free char *outside = make_outside(&b);
		auto_free char *marker = make_marker(&b);
		auto_free char *relative = xasprintf("%s%s", UP, outside);
		struct trial *t = trial_new(&b);
		json_t *config = bench_config(&b, t, "cat /abs/x /rel/y; echo fine");
		auto_free char *log = NULL;

		root_link(&b, "abs", outside);
		root_link(&b, "rel", relative);
		root_link(&b, "etc", outside);
		add_mount(config, marker, "/abs/x");
		add_mount(config, marker, "/rel/y");
		add_mount(config, marker, "/etc/hosts");
		log = run_to_end(&b, t, config);
		/* To refuse it is right as well. */
		if (t->pid > 0)
			CHECK_STR(log, MARKER "\n" MARKER "\nfine\n");
		CHECK_INT(count_entries(outside), 0);
	}
}

/* --- crun 2026-30892: whose exec it is --- */

TEST("an exec has the number it was given, and no rights with it")
{
	struct bench b;

	EACH_RUNTIME(b)
	{
		struct trial *t = trial_run(&b, "sleep 1000");
		auto_free char *ids = NULL;

		CHECK(bench_wait(&b, &t->dones, 1, 30));
		ids = exec_in(&b, t, "/", 1000,
			      "busybox id -u; busybox id -g; busybox grep -E 'CapEff|NoNewPrivs' /proc/self/status");
		CHECK_STR(ids, "1000\n1000\nCapEff:\t0000000000000000\nNoNewPrivs:\t1\n");
	}
}

TEST("names of users that look like numbers are not taken for other numbers")
{
	static const char *const names[] = {
		"0x0", "+0", " 0", "4294967296", "-1", "18446744073709551616", "0 ", "00x"
	};
	json_auto_t *container = json_pack("{s:s}", "name", "c");

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		json_auto_t *image = json_pack("{s:{s:s}}", "config", "User", names[i]);
		json_auto_t *user = NULL;
		struct err e = ERR_INIT;

		if (user_resolve(NULL, container, image, "root:x:0:0::/:/bin/sh\n", "", &user, &e) == 0)
			test_fail(__FILE__, __LINE__, "\"%s\" is user %lld", names[i],
				  (long long)jsonx_int_or(user, "uid", -1));
	}
}

/* --- pods that say they are for another system --- */

TEST("a pod for Windows, which some rules let pass, does not start here")
{
	json_auto_t *pod = json_pack("{s:{s:{s:s}}}", "spec", "os", "name", "windows");
	json_auto_t *container = json_pack("{s:s, s:[s]}", "name", "c", "command", "x");
	json_auto_t *env = json_array();
	struct bundle_input in = { .pod = pod, .container = container, .env = env };
	struct err e = ERR_INIT;
	json_t *doc = NULL;

	CHECK_INT(bundle_make(&in, &doc, &e), -1);
	CHECK_STR(e.text, "the pod is for windows, and this node is not");
}

/* --- files of the image that the server reads --- */

TEST("a file of the image is read within the image, whatever links say")
{
	auto_free char *root = xasprintf("%s/read-root", test_dir());
	auto_free char *etc = xasprintf("%s/etc", root);
	auto_free char *secret = xasprintf("%s/read-secret", test_dir());
	auto_free char *up = xasprintf("%s%s", UP, secret);
	static const char *const links[] = { "absolute", "relative", "inside", "magic", "loop" };
	const char *const targets[] = { secret, up, "/etc/passwd", "/proc/self/exe", "loop" };
	struct err e = ERR_INIT;

	CHECK(file_make_dirs(etc, 0755, &e) == 0 && file_write(secret, 0600, STR(MARKER), &e) == 0);
	{
		auto_free char *passwd = xasprintf("%s/passwd", etc);
		auto_free char *fifo = xasprintf("%s/fifo", etc);

		CHECK(file_write(passwd, 0644, STR("root:x:0:0"), &e) == 0 && mkfifo(fifo, 0600) == 0);
	}
	for (size_t i = 0; i < ARRAY_SIZE(links); i++) {
		auto_free char *path = xasprintf("%s/%s", etc, links[i]);

		CHECK_INT(symlink(targets[i], path), 0);
	}
	for (size_t i = 0; i < ARRAY_SIZE(links); i++) {
		auto_free char *path = xasprintf("/etc/%s", links[i]);
		auto_sbuf struct sbuf text = SBUF(1024);

		err_clear(&e);
		CHECK_INT(rootfs_read(root, path, 1000, &text, &e), i == 2 ? 0 : -1);
		CHECK_STR(text.p, i == 2 ? "root:x:0:0" : NULL);
	}
	{
		auto_sbuf struct sbuf text = SBUF(1024);

		err_clear(&e);
		CHECK_INT(rootfs_read(root, "/etc/passwd", 5, &text, &e), -1);
		CHECK_INT(e.kind, ERR_TOO_LARGE);
		CHECK_INT(rootfs_read(root, "/etc/fifo", 1000, &text, &e), -1);
		CHECK_INT(e.kind, ERR_INVALID);
		CHECK_INT(rootfs_read(root, "/etc/none", 1000, &text, &e), -1);
		CHECK_INT(e.kind, ERR_NOT_FOUND);
		CHECK_INT(rootfs_read(root, "/etc", 1000, &text, &e), -1);
	}
}

/* --- all of it together: the document of a user's container --- */

TEST("a user's container has no rights beyond its number")
{
	static const char script[] =
		"busybox grep -E '^(Uid|Gid|Groups|CapInh|CapPrm|CapEff|NoNewPrivs|Seccomp):' /proc/self/status; "
		"busybox mount -t tmpfs x /tmp 2>/dev/null && echo MOUNTED; "
		"cat /proc/kcore 2>/dev/null | head -c 4; "
		"{ echo x >/proc/sys/kernel/core_pattern; } 2>/dev/null && echo WROTE; "
		"{ echo b >/proc/sysrq-trigger; } 2>/dev/null && echo PULLED; "
		"{ true >/new; } 2>/dev/null && echo MADE; echo end";
	struct bench b;

	EACH_RUNTIME(b)
	{
		struct trial *t = trial_new(&b);
		json_auto_t *pod = json_pack("{s:{s:{s:{s:s}}}}", "spec", "securityContext", "seccompProfile", "type",
					     "RuntimeDefault");
		json_auto_t *container = json_pack("{s:s, s:[s,s,s], s:{s:b}}", "name", "c", "command", "/bin/sh", "-c",
						   script, "securityContext", "allowPrivilegeEscalation", 0);
		json_auto_t *image = json_object();
		json_auto_t *env = json_pack("[s]", "PATH=/bin");
		json_auto_t *mounts = json_array();
		json_auto_t *user = json_pack("{s:i, s:i, s:[i], s:s, s:s}", "uid", 1000, "gid", 1001, "groups", 50,
					      "name", "", "home", "/");
		struct bundle_input in = { .pod = pod,
					   .container = container,
					   .image_config = image,
					   .env = env,
					   .mounts = mounts,
					   .cgroup = t->cgroup,
					   .net_ns = "",
					   .ipc_ns = "",
					   .uts_ns = "",
					   .pid_ns = "",
					   .passwd = user,
					   .shm_bytes = 1 << 20 };
		auto_free char *root = in_bench(&b, "rootfs");
		auto_free char *log = NULL;
		json_t *config = NULL;
		struct err e = ERR_INIT;

		CHECK_INT(bundle_make(&in, &config, &e), 0);
		CHECK_INT(rootfs_check(root, config, &e), 0);
		jsonx_set_new(config, "root.path", json_string(root));
		log = run_to_end(&b, t, config);
		CHECK_STR(t->error.text, "");
		CHECK_STR(log, "Uid:\t1000\t1000\t1000\t1000\nGid:\t1001\t1001\t1001\t1001\nGroups:\t50 \n"
			       "CapInh:\t0000000000000000\nCapPrm:\t0000000000000000\nCapEff:\t0000000000000000\n"
			       "NoNewPrivs:\t1\nSeccomp:\t2\nend\n");
	}
}
