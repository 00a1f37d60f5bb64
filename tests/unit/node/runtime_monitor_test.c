// SPDX-License-Identifier: Apache-2.0
/* Monitors: logs that rotate, flood and find no room; ends that are told whatever happens. */
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/jsonx.h"
#include "base/mem.h"
#include "base/str.h"
#include "box.h"
#include "monitor/image.h"
#include "monitor/protocol.h"
#include "test.h"

static const char *const both[] = { "crun", "runc" };

#define EACH_RUNTIME(b)                                                                                                \
	for (size_t which_ = 0; which_ < ARRAY_SIZE(both); which_++, bench_close(&(b)))                                \
		if (bench_open(&(b), both[which_]))

/* Turns the loop for a while. */
static void turn_for(struct bench *b, int ms)
{
	for (int64_t end = clock_mono_ms() + ms; clock_mono_ms() < end; usleep(5000))
		loop_turn(b->loop, true);
}

/* --- the program --- */

TEST("the monitor is small and needs no relocation, which nobody would do for it")
{
	static const char dynamic_rela[] = { 7, 0, 0, 0, 0, 0, 0, 0 };
	size_t n = (size_t)(monitor_image_end - monitor_image);

	CHECK(n > 4096 && n < 100 * 1024);
	/* No DT_RELA entry in the dynamic section: of 16 bytes each, it is the only thing in there that starts so. */
	for (size_t at = 0; at + 16 <= n; at += 16)
		CHECK(memcmp(monitor_image + at, dynamic_rela, 8) != 0);
}

TEST("a monitor costs little memory")
{
	struct bench b;

	EACH_RUNTIME(b)
	{
		struct trial *t = trial_run(&b, "seq 1 1000; exec sleep 1000");
		auto_free char *path = NULL;
		auto_sbuf struct sbuf text = SBUF(1 << 16);
		struct err e = ERR_INIT;
		const char *pss;

		CHECK(bench_wait(&b, &t->dones, 1, 30));
		turn_for(&b, 200);
		path = xasprintf("/proc/%d/smaps_rollup", (int)trial_state(&b, t).monitor);
		CHECK(file_read(path, 1 << 16, &text, &e) == 0);
		pss = text.p ? strstr(text.p, "\nPss:") : NULL;
		CHECK(pss != NULL);
		if (pss)
			CHECK(strtol(pss + 5, NULL, 10) < 300);
	}
}

/* --- the log --- */

TEST("lines are whole, long ones are cut, and one without an end is shown soon")
{
	struct bench b;

	EACH_RUNTIME(b)
	{
		struct trial *t =
			trial_run(&b, "printf 'a'; printf 'b\\n'; head -c 40000 /bin/busybox | tr -c x x; echo; "
				      "printf 'prompt> '; sleep 1000");
		auto_sbuf struct sbuf text = SBUF(1 << 20);
		struct err e = ERR_INIT;
		struct str rest, line;
		int n = 0;

		CHECK(bench_wait(&b, &t->dones, 1, 30));
		turn_for(&b, 500);
		CHECK(file_read(t->log, 1 << 20, &text, &e) == 0);
		rest = sbuf_str(&text);
		while (rest.n && str_split(&rest, '\n', &line) && line.n) {
			static const struct {
				const char *tag, *begins;
				size_t n;
			} want[] = { { "F", "ab", 2 },
				     { "P", "xxx", MONITOR_LOG_PART },
				     { "P", "xxx", MONITOR_LOG_PART },
				     { "F", "xxx", 40000 - 2 * MONITOR_LOG_PART },
				     { "P", "prompt> ", 8 } };
			struct str when, stream, tag;
			int64_t us;

			CHECK(str_split(&line, ' ', &when) && str_split(&line, ' ', &stream) &&
			      str_split(&line, ' ', &tag));
			CHECK_INT(when.n, 30);
			{
				auto_free char *stamp = xstrndup(when.p, when.n);

				CHECK(clock_parse_rfc3339(stamp, &us) && llabs(us - clock_wall_micros()) < 60000000);
			}
			CHECK(n < (int)ARRAY_SIZE(want) && str_eq(tag, want[n].tag) && line.n == want[n].n &&
			      str_starts(line.p, want[n].begins) && str_eq(stream, "stdout"));
			n++;
		}
		CHECK_INT(n, 5);
	}
}

TEST("a log is rotated and only its newest files are kept")
{
	struct bench b;

	EACH_RUNTIME(b)
	{
		struct trial *t = trial_run(&b, "seq 1 1200000");
		auto_free char *log = NULL;
		long first, line;
		const char *at;

		CHECK(bench_wait(&b, &t->exits, 1, 120));
		for (int i = 0; i <= MONITOR_LOG_FILES; i++) {
			auto_free char *part = i ? xasprintf("%s.%d", t->log, i) : xstrdup(t->log);
			struct stat st = { .st_size = 0 };

			CHECK_INT(stat(part, &st), i < MONITOR_LOG_FILES ? 0 : -1);
			CHECK(st.st_size <= MONITOR_LOG_BYTES);
		}
		log = trial_log(t);
		first = line = strtol(log, NULL, 10);
		CHECK(first > 1 && first < 600000);
		for (at = log; *at && strtol(at, NULL, 10) == line; line++)
			at = strchr(at, '\n') + 1;
		CHECK_INT(line, 1200001);
		CHECK_STR(at, "");
	}
}

TEST("a flood is contained and ends when it is told to")
{
	struct bench b;

	EACH_RUNTIME(b)
	{
		struct trial *t = trial_run(&b, "while :; do cat /bin/busybox; done");
		struct err e = ERR_INIT;
		int64_t bytes = 0, asked;

		CHECK(bench_wait(&b, &t->dones, 1, 30));
		for (int round = 0; round < 40 && bytes <= 1000000; round++) {
			turn_for(&b, 1500);
			CHECK_INT(t->exits, 0);
			bytes = 0;
			for (int i = 0; i < 10; i++) {
				auto_free char *part = i ? xasprintf("%s.%d", t->log, i) : xstrdup(t->log);
				struct stat st;

				bytes += stat(part, &st) == 0 ? st.st_size : 0;
			}
		}
		CHECK(bytes > 1000000 && bytes <= (int64_t)MONITOR_LOG_FILES * MONITOR_LOG_BYTES);
		asked = clock_mono_ms();
		CHECK_INT(b.runtime->ops->kill(b.runtime, t->id, SIGKILL, true, &e), 0);
		CHECK(bench_wait(&b, &t->exits, 1, 30));
		CHECK_INT(t->exit.code, 137);
		CHECK(clock_mono_ms() - asked < 20000);
	}
}

TEST("a full disk costs lines, whole ones, and neither the container nor its exit code")
{
	struct bench b;

	EACH_RUNTIME(b)
	{
		struct trial *t = trial_new(&b);
		auto_free char *small = xasprintf("%s/small", b.dir), *ballast = xasprintf("%s/ballast", small);
		auto_free char *log = NULL;
		auto_sbuf struct sbuf zeros = SBUF(1 << 20);
		struct err e = ERR_INIT;
		const char *note;
		long told = 0;

		CHECK(mkdir(small, 0700) == 0 && mount("small", small, "tmpfs", 0, "size=1m") == 0);
		for (int i = 0; i < 512 * 1024; i++)
			sbuf_addc(&zeros, 0);
		CHECK(file_write(ballast, 0600, sbuf_str(&zeros), &e) == 0);
		snprintf(t->log, sizeof(t->log), "%s/small/log", b.dir);
		t->stdin_open = true;
		trial_write(t, bench_config(&b, t, "seq 1 20000; read go; echo after; exit 3"));
		trial_start(&b, t);
		CHECK(bench_wait(&b, &t->dones, 1, 30));
		turn_for(&b, 600);
		CHECK_INT(t->exits, 0);
		unlink(ballast);
		{
			int fd = b.runtime->ops->attach(b.runtime, t->id, &e);

			CHECK(fd >= 0 && send(fd, "go\n", 3, MSG_NOSIGNAL) == 3);
			CHECK(bench_wait(&b, &t->exits, 1, 30));
			close(fd);
		}
		CHECK_INT(t->exit.code, 3);
		CHECK(trial_state(&b, t).dropped > 5000);
		log = trial_log(t);
		CHECK(str_starts(log, "1\n2\n3\n") && str_ends(log, "after\n"));
		/* The disk may have been full more than once. */
		for (note = log; (note = strstr(note, "stoker: ")); note += 8)
			told += strtol(note + 8, NULL, 10);
		CHECK_INT(told, trial_state(&b, t).dropped);
		b.runtime->ops->remove(b.runtime, t->id);
		CHECK_INT(umount(small), 0);
	}
}

TEST("a start on a full disk fails with that reason and leaves nothing")
{
	struct bench b;

	EACH_RUNTIME(b)
	{
		struct trial *t = trial_new(&b);
		auto_free char *containers = xasprintf("%s/run/containers", b.dir);

		trial_write(t, bench_config(&b, t, "exit 0"));
		CHECK(mount("small", containers, "tmpfs", 0, "nr_inodes=3") == 0);
		t->may_fail = true;
		trial_start(&b, t);
		CHECK(bench_wait(&b, &t->dones, 1, 30));
		CHECK_INT(t->pid, 0);
		CHECK(t->error.text[0] != '\0');
		CHECK_INT(umount(containers), 0);
	}
}

/* --- servers and clients --- */

TEST("logs are complete to the byte however often the server dies")
{
	struct bench b;

	EACH_RUNTIME(b)
	{
		struct trial *t = trial_run(&b, "i=0; while [ $i -lt 3000 ]; do i=$((i+1)); echo $i; "
						"[ $((i % 100)) = 0 ] && sleep 0.03; done; exit 21");
		auto_free char *log = NULL;
		const char *at;
		long line = 1;

		CHECK(bench_wait(&b, &t->dones, 1, 30));
		for (int i = 0; i < 3; i++) {
			usleep(100000);
			if (!bench_restart(&b))
				break;
			CHECK_INT(b.found_running + b.found_ended, 1);
		}
		if (b.found_running)
			CHECK(bench_wait(&b, &t->exits, 1, 60));
		CHECK_INT(b.found_running ? t->exit.code : b.found[0].exit.code, 21);
		log = trial_log(t);
		for (at = log; *at && strtol(at, NULL, 10) == line; line++)
			at = strchr(at, '\n') + 1;
		CHECK_INT(line, 3001);
	}
}

TEST("a client that is attached and does not read holds nobody up for long")
{
	struct bench b;

	EACH_RUNTIME(b)
	{
		struct trial *t = trial_new(&b);
		auto_free char *log = NULL;
		struct err e = ERR_INIT;
		int fd;

		t->stdin_open = true;
		trial_write(t, bench_config(&b, t, "read go; seq 1 200000; exit 8"));
		trial_start(&b, t);
		CHECK(bench_wait(&b, &t->dones, 1, 30));
		fd = b.runtime->ops->attach(b.runtime, t->id, &e);
		CHECK(fd >= 0 && send(fd, "go\n", 3, MSG_NOSIGNAL) == 3);
		CHECK(bench_wait(&b, &t->exits, 1, 30));
		CHECK_INT(t->exit.code, 8);
		log = trial_log(t);
		CHECK(str_starts(log, "1\n2\n") && str_ends(log, "\n200000\n"));
		close(fd);
	}
}

TEST("input of any size arrives in order, and with its end")
{
	struct bench b;

	EACH_RUNTIME(b)
	{
		struct trial *t = trial_new(&b);
		auto_free char *log = NULL;
		char packet[10000];
		struct err e = ERR_INIT;
		int fd;

		t->stdin_open = true;
		trial_write(t, bench_config(&b, t, "sleep 0.3; cat | tail -c 1000000000 >/tmp/in; ls -l /tmp/in"));
		trial_start(&b, t);
		CHECK(bench_wait(&b, &t->dones, 1, 30));
		fd = b.runtime->ops->attach(b.runtime, t->id, &e);
		CHECK(fd >= 0);
		memset(packet, 'x', sizeof(packet));
		for (int i = 0; i < 100;) {
			ssize_t n = send(fd, packet, sizeof(packet), MSG_NOSIGNAL);

			i += n > 0;
			if (n < 0)
				usleep(1000);
		}
		close(fd);
		CHECK(bench_wait(&b, &t->exits, 1, 30));
		log = trial_log(t);
		CHECK(strstr(log, " 1000000 ") != NULL);
	}
}

/* --- ends --- */

TEST("what a container leaves behind goes with it, and does not keep its end from being told")
{
	struct bench b;

	EACH_RUNTIME(b)
	{
		struct trial *own = trial_run(&b, "(sleep 1000 &) & exit 5"), *shared = trial_new(&b);
		json_t *config = bench_config(&b, shared, "(sleep 1000 &); (sleep 1000 &); exit 6");
		struct cgroup_usage u = { .pids = -1 };
		struct err e = ERR_INIT;
		int64_t from = clock_mono_ms();

		/* In the host's pid namespace the kernel kills nobody for it. */
		json_array_remove(jsonx_at(config, "linux.namespaces"), 0);
		trial_write(shared, config);
		trial_start(&b, shared);
		CHECK(bench_wait(&b, &own->exits, 1, 30) && bench_wait(&b, &shared->exits, 1, 30));
		CHECK(clock_mono_ms() - from < 30000);
		CHECK_INT(own->exit.code, 5);
		CHECK_INT(shared->exit.code, 6);
		for (int i = 0; i < 6000 && u.pids; i++) {
			usleep(10000);
			CHECK_INT(cgroup_read(cgroups_here(), shared->cgroup, &u, &e), 0);
		}
		CHECK_INT(u.pids, 0);
	}
}

/* The pids group of this process, "" if there is no v1 controller. */
static char *pids_group(void)
{
	auto_sbuf struct sbuf text = SBUF(1 << 16);
	struct err e = ERR_INIT;
	char *at, *end;

	if (file_read("/proc/self/cgroup", 1 << 16, &text, &e) < 0 || !text.p || !(at = strstr(text.p, ":pids:")))
		return xstrdup("");
	at += 6;
	end = strchr(at, '\n');
	return xasprintf("/sys/fs/cgroup/pids%.*s", (int)(end - at), at);
}

static void enter(const char *dir)
{
	auto_free char *path = xasprintf("%s/cgroup.procs", dir);
	int fd = open(path, O_WRONLY);

	CHECK(fd >= 0 && write(fd, "0", 1) == 1);
	close(fd);
}

TEST("a fork that fails is the reason of a failed start")
{
	struct bench b;

	EACH_RUNTIME(b)
	{
		auto_free char *home = pids_group(), *group = xasprintf("/stoker-%s/few", b.prefix);
		auto_free char *few = xasprintf("/sys/fs/cgroup/pids%s", group);
		struct err e = ERR_INIT;

		if (!home[0])
			continue;
		/* Room for this process alone, then for a monitor but not for its runtime. */
		for (int room = 1; room <= 2; room++) {
			struct trial *t = trial_new(&b);

			t->may_fail = true;
			trial_write(t, bench_config(&b, t, "exit 0"));
			CHECK(cgroup_make(cgroups_here(), group, &(struct cgroup_limits){ .pids = room }, &e) == 0);
			enter(few);
			trial_start(&b, t);
			CHECK(bench_wait(&b, &t->dones, 1, 30));
			enter(home);
			CHECK(strstr(t->error.text, "Resource temporarily unavailable") != NULL);
			CHECK_INT(t->pid, 0);
		}
		cgroup_remove(cgroups_here(), group);
	}
}
