// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "node/log_parts.h"
#include "node/log_watch.h"
#include "node/logs.h"
#include "test.h"

#define NOON 1763208000 /* 2025-11-15T12:00:00Z */

/* A log that a test writes and someone reads. */
struct bench {
	struct loop *loop;
	char *dir, *path;
	int fd;
	int64_t at; /* time of the next record */
	struct log_reader *reader;
	struct sbuf got;
	int ended;
	size_t largest;
	bool pause_on_text, free_on_text;
};

static struct bench bench_new(void)
{
	struct bench b = { .loop = loop_new(), .fd = -1, .at = NOON, .got = SBUF(256u << 20) };

	b.dir = xasprintf("%s/log-XXXXXX", test_dir());
	if (!mkdtemp(b.dir))
		abort();
	b.path = xasprintf("%s/0.log", b.dir);
	return b;
}

static void bench_done(struct bench *b)
{
	log_reader_free(b->reader);
	loop_free(b->loop);
	if (b->fd >= 0)
		close(b->fd);
	sbuf_done(&b->got);
	free(b->dir);
	free(b->path);
}

static void bench_raw(struct bench *b, const char *p, size_t n)
{
	if (b->fd < 0)
		b->fd = open(b->path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	CHECK_INT(write(b->fd, p, n), n);
}

static void bench_record(struct bench *b, const char *tag, const char *text)
{
	char time[CLOCK_RFC3339_LEN];
	auto_free char *line = NULL;

	clock_rfc3339(b->at++, time);
	line = xasprintf("%.19s.123456789+00:00 stdout %s %s\n", time, tag, text);
	bench_raw(b, line, strlen(line));
}

static void bench_lines(struct bench *b, int from, int to)
{
	for (int i = from; i < to; i++) {
		char text[16];

		snprintf(text, sizeof(text), "line %d", i);
		bench_record(b, "F", text);
	}
}

/* As the monitor does it: from the oldest on, then a new file. */
static void bench_rotate(struct bench *b, int keep)
{
	for (int i = keep - 1; i > 0; i--) {
		auto_free char *from = i > 1 ? xasprintf("%s.%d", b->path, i - 1) : xstrdup(b->path);
		auto_free char *to = xasprintf("%s.%d", b->path, i);

		rename(from, to);
	}
	close(b->fd);
	b->fd = open(b->path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
}

static void on_text(void *arg, struct str piece)
{
	struct bench *b = arg;

	sbuf_add(&b->got, piece.p, piece.n);
	if (piece.n > b->largest)
		b->largest = piece.n;
	if (b->pause_on_text)
		log_reader_pause(b->reader, true);
	if (b->free_on_text) {
		log_reader_free(b->reader);
		b->reader = NULL;
	}
}

static void on_end(void *arg)
{
	struct bench *b = arg;

	b->ended++;
}

static void bench_open(struct bench *b, struct log_options o)
{
	struct err e = ERR_INIT;

	sbuf_reset(&b->got);
	b->ended = 0;
	log_reader_free(b->reader);
	CHECK_INT(log_reader_new(b->loop, b->path, &o, on_text, on_end, b, &b->reader, &e), 0);
	CHECK_INT(b->got.n, 0);
}

static void bench_turns(struct bench *b)
{
	for (int i = 0; i < 8; i++)
		loop_turn(b->loop, true);
}

/* All that a reader with these options sees. */
static const char *bench_read(struct bench *b, struct log_options o)
{
	bench_open(b, o);
	for (int i = 0; i < 100000 && !b->ended; i++)
		loop_turn(b->loop, true);
	CHECK_INT(b->ended, 1);
	return b->got.p ? b->got.p : "";
}

#define ALL .tail_lines = -1, .limit_bytes = -1

TEST("a log is read with its rotated parts, oldest first")
{
	struct bench b = bench_new();

	CHECK_STR(bench_read(&b, (struct log_options){ ALL }), "");
	bench_lines(&b, 0, 2);
	bench_rotate(&b, 5);
	bench_lines(&b, 2, 3);
	bench_rotate(&b, 5);
	CHECK_STR(bench_read(&b, (struct log_options){ ALL }), "line 0\nline 1\nline 2\n");
	bench_lines(&b, 3, 5);
	CHECK_STR(bench_read(&b, (struct log_options){ ALL }), "line 0\nline 1\nline 2\nline 3\nline 4\n");
	bench_done(&b);
}

TEST("tail, since, limit and timestamps are kubectl's")
{
	static const struct {
		struct log_options o;
		const char *want;
	} rows[] = {
		{ { .tail_lines = 0, .limit_bytes = -1 }, "" },
		{ { .tail_lines = 1, .limit_bytes = -1 }, "e\n" },
		{ { .tail_lines = 2, .limit_bytes = -1 }, "d\ne\n" },
		{ { .tail_lines = 3, .limit_bytes = -1 }, "c1c2\nd\ne\n" },
		{ { .tail_lines = 4, .limit_bytes = -1 }, "b\nc1c2\nd\ne\n" },
		{ { .tail_lines = 5, .limit_bytes = -1 }, "a\nb\nc1c2\nd\ne\n" },
		{ { .tail_lines = 500, .limit_bytes = -1 }, "a\nb\nc1c2\nd\ne\n" },
		{ { ALL, .since_us = (NOON + 5) * 1000000LL }, "e\n" },
		{ { .tail_lines = 2, .limit_bytes = -1, .since_us = (NOON + 1) * 1000000LL }, "d\ne\n" },
		{ { .tail_lines = -1, .limit_bytes = 1 }, "a" },
		{ { .tail_lines = -1, .limit_bytes = 6 }, "a\nb\nc1" },
		{ { .tail_lines = -1, .limit_bytes = 13 }, "a\nb\nc1c2\nd\ne\n" },
		{ { .tail_lines = 2, .limit_bytes = 3 }, "d\ne" },
		{ { .tail_lines = 3, .limit_bytes = -1, .timestamps = true },
		  "2025-11-15T12:00:02.123456789Z c1c2\n2025-11-15T12:00:04.123456789Z d\n"
		  "2025-11-15T12:00:05.123456789Z e\n" },
	};
	struct bench b = bench_new();

	bench_record(&b, "F", "a");
	bench_record(&b, "F", "b");
	bench_rotate(&b, 5);
	bench_record(&b, "P", "c1");
	bench_rotate(&b, 5);
	bench_record(&b, "F", "c2");
	bench_record(&b, "F", "d");
	bench_raw(&b, "this is no record\n", 18);
	bench_record(&b, "F", "e");
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		CHECK_STR(bench_read(&b, rows[i].o), rows[i].want);
	bench_done(&b);
}

TEST("one of the two streams is read alone, with its lines whole")
{
	static const char text[] = "2025-11-15T12:00:00.1Z stdout P a\n"
				   "2025-11-15T12:00:00.2Z stderr F x\n"
				   "2025-11-15T12:00:00.3Z stdout F b\n"
				   "2025-11-15T12:00:00.4Z stderr P y\n";
	struct bench b = bench_new();

	bench_raw(&b, text, sizeof(text) - 1);
	CHECK_STR(bench_read(&b, (struct log_options){ ALL, .stream = 1 }), "ab\n");
	CHECK_STR(bench_read(&b, (struct log_options){ ALL, .stream = 2 }), "x\ny");
	CHECK_STR(bench_read(&b, (struct log_options){ ALL }), "ax\nb\ny");
	bench_done(&b);
}

TEST("a line that is not finished counts as one")
{
	struct bench b = bench_new();

	bench_lines(&b, 0, 3);
	bench_record(&b, "P", "Password: ");
	CHECK_STR(bench_read(&b, (struct log_options){ .tail_lines = 1, .limit_bytes = -1 }), "Password: ");
	CHECK_STR(bench_read(&b, (struct log_options){ .tail_lines = 2, .limit_bytes = -1 }), "line 2\nPassword: ");
	bench_done(&b);
}

TEST("the tail is found across blocks whatever the length of lines")
{
	struct bench b = bench_new();
	auto_sbuf struct sbuf want = SBUF(16u << 20);
	auto_free char *text = xmalloc(70000);
	unsigned seed = 7;

	memset(text, 'x', 70000);
	for (int i = 0; i < 600; i++) {
		size_t n;

		seed = seed * 1103515245u + 12345u;
		n = (seed >> 16) % 100 ? (seed >> 16) % 2000 : 69000;
		text[n] = '\0';
		bench_record(&b, "F", text);
		if (i >= 600 - 412) {
			sbuf_adds(&want, text);
			sbuf_addc(&want, '\n');
		}
		text[n] = 'x';
		if (i % 150 == 149)
			bench_rotate(&b, 5);
	}
	CHECK_STR(bench_read(&b, (struct log_options){ .tail_lines = 412, .limit_bytes = -1 }), want.p);
	bench_done(&b);
}

TEST("a reader does a bounded piece of work in a turn, and none while paused")
{
	struct bench b = bench_new();

	bench_lines(&b, 0, 60000); /* about 3 MB */
	bench_open(&b, (struct log_options){ ALL });
	loop_turn(b.loop, true);
	CHECK(b.got.n > 0 && b.got.n < 320 * 1024);
	log_reader_pause(b.reader, true);
	for (int i = 0; i < 50; i++)
		loop_turn(b.loop, true);
	CHECK(b.got.n < 320 * 1024 && !b.ended);
	log_reader_pause(b.reader, false);
	for (int i = 0; i < 50; i++)
		loop_turn(b.loop, true);
	CHECK_INT(b.ended, 1);
	CHECK(str_ends(b.got.p, "\nline 59999\n"));
	CHECK(b.largest < 400 * 1024);
	bench_done(&b);
}

TEST("a reader may be paused and freed from its own callback")
{
	struct bench b = bench_new();

	bench_lines(&b, 0, 30000);
	b.pause_on_text = true;
	bench_open(&b, (struct log_options){ ALL });
	for (int i = 0; i < 20; i++)
		loop_turn(b.loop, true);
	CHECK(b.got.n > 0 && b.got.n < 320 * 1024);
	b.free_on_text = true;
	log_reader_pause(b.reader, false);
	for (int i = 0; i < 20; i++)
		loop_turn(b.loop, true);
	CHECK(!b.reader && !b.ended && b.got.n < 640 * 1024);
	bench_done(&b);
}

TEST("who does not follow gets what was there, and a whole last line")
{
	struct bench b = bench_new();

	bench_lines(&b, 0, 1);
	bench_raw(&b, "2025-11-15T12:00:00Z stdout F ha", 32);
	bench_open(&b, (struct log_options){ ALL });
	bench_raw(&b, "lf\n", 3);
	bench_lines(&b, 1, 2);
	bench_turns(&b);
	CHECK_INT(b.ended, 1);
	CHECK_STR(b.got.p, "line 0\nhalf\n");
	bench_done(&b);
}

TEST("a follower sees lines as they come and ends with the container")
{
	struct bench b = bench_new();

	bench_open(&b, (struct log_options){ ALL, .follow = true }); /* before there is a file */
	bench_turns(&b);
	bench_lines(&b, 0, 1);
	bench_turns(&b);
	CHECK_STR(b.got.p, "line 0\n");
	bench_raw(&b, "2025-11-15T12:00:00Z std", 24);
	bench_turns(&b);
	bench_raw(&b, "err F torn\n", 11);
	bench_turns(&b);
	CHECK_STR(b.got.p, "line 0\ntorn\n");
	CHECK_INT(b.ended, 0);
	bench_lines(&b, 1, 2);
	log_reader_ended(b.reader);
	bench_turns(&b);
	CHECK_STR(b.got.p, "line 0\ntorn\nline 1\n");
	CHECK_INT(b.ended, 1);
	bench_done(&b);
}

TEST("a follower from the end sees only what is new")
{
	struct bench b = bench_new();

	bench_lines(&b, 0, 5);
	bench_open(&b, (struct log_options){ .tail_lines = 0, .limit_bytes = 9, .follow = true });
	bench_turns(&b);
	CHECK_INT(b.got.n, 0);
	bench_lines(&b, 5, 7);
	bench_turns(&b);
	CHECK_STR(b.got.p, "line 5\nli");
	CHECK_INT(b.ended, 1);
	bench_done(&b);
}

TEST("rotation loses and doubles nothing for a follower, however often it happens between two looks")
{
	for (int burst = 1; burst <= 4; burst++) {
		struct bench b = bench_new();
		auto_sbuf struct sbuf want = SBUF(1u << 20);
		int n = 0;

		bench_lines(&b, n, n + 1);
		n++;
		bench_open(&b, (struct log_options){ ALL, .follow = true });
		for (int round = 0; round < 20; round++) {
			if (round % 3)
				bench_turns(&b);
			for (int i = 0; i < burst; i++) {
				bench_lines(&b, n, n + 2);
				n += 2;
				bench_rotate(&b, 6);
				if (i % 2)
					bench_lines(&b, n, n + 1), n++;
			}
			bench_turns(&b);
		}
		log_reader_ended(b.reader);
		bench_turns(&b);
		for (int i = 0; i < n; i++)
			sbuf_addf(&want, "line %d\n", i);
		CHECK_STR(b.got.p, want.p);
		CHECK_INT(b.ended, 1);
		bench_done(&b);
	}
}

TEST("a follower that was paused while its file was rotated away goes on with the oldest there is")
{
	struct bench b = bench_new();

	bench_lines(&b, 0, 1);
	bench_open(&b, (struct log_options){ ALL, .follow = true });
	bench_turns(&b);
	log_reader_pause(b.reader, true);
	for (int i = 1; i < 8; i++) {
		bench_lines(&b, i, i + 1);
		bench_rotate(&b, 4);
	}
	log_reader_pause(b.reader, false);
	bench_turns(&b);
	/* Its own file is still open, and was whole. */
	CHECK_STR(b.got.p, "line 0\nline 1\nline 5\nline 6\nline 7\n");
	bench_done(&b);
}

#define FLOOD     20000
#define PER_PART  200
#define PER_GRANT (PER_PART * (LOG_PARTS - 2)) /* no further ahead, or files are removed that nobody has read */

static void flood(struct bench *b, int grants)
{
	char byte;

	for (int i = 0; i < FLOOD; i++) {
		bench_lines(b, i, i + 1);
		if (i % PER_PART == PER_PART - 1)
			bench_rotate(b, LOG_PARTS);
		if (i % PER_GRANT == PER_GRANT - 1 && read(grants, &byte, 1) != 1)
			_exit(1);
	}
	_exit(0);
}

TEST("while another process rotates as fast as it can, a follower has every line once")
{
	struct bench b = bench_new();
	int granted = 0;
	int n = 0;
	int pipe_fds[2];
	char *at;
	pid_t pid;

	CHECK_INT(pipe(pipe_fds), 0);
	bench_open(&b, (struct log_options){ ALL, .follow = true });
	pid = fork();
	if (pid == 0)
		flood(&b, pipe_fds[0]);
	for (int i = 0; i < 50000 && n < FLOOD; i++) {
		loop_turn(b.loop, true);
		usleep(100);
		if (b.got.p && (at = memrchr(b.got.p, ' ', b.got.n)))
			n = (int)strtol(at, NULL, 10) + 1;
		for (; granted < n / PER_GRANT; granted++)
			CHECK_INT(write(pipe_fds[1], "x", 1), 1);
	}
	n = 0;
	at = b.got.p;
	for (char *nl; at && (nl = strchr(at, '\n')); at = nl + 1, n++)
		if (strtol(at + 5, NULL, 10) != n) {
			test_fail(__FILE__, __LINE__, "line %d is \"%.20s\"", n, at);
			break;
		}
	CHECK_INT(n, FLOOD);
	close(pipe_fds[0]);
	close(pipe_fds[1]);
	CHECK_INT(waitpid(pid, NULL, 0), pid);
	bench_done(&b);
}

static int make(const struct bench *b, int part)
{
	auto_free char *name = part ? xasprintf("%s.%d", b->path, part) : xstrdup(b->path);

	return open(name, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
}

static bool same(int a, int b)
{
	struct stat x;
	struct stat y;

	return fstat(a, &x) == 0 && fstat(b, &y) == 0 && x.st_ino == y.st_ino;
}

TEST("what follows a part is found in the midst of renaming, and after the part was removed")
{
	struct bench b = bench_new();
	auto_free char *third = xasprintf("%s.3", b.path);
	struct log_parts parts;
	struct err e = ERR_INIT;
	int fds[4] = { make(&b, 0), make(&b, 1), -1, make(&b, 3) }; /* 2 has become 3, 1 is not yet 2 */
	int next = -1;

	CHECK_INT(log_parts_open(b.path, &parts, &e), 0);
	CHECK_INT(parts.n, 3);
	CHECK(same(parts.fds[0], fds[3]) && same(parts.fds[1], fds[1]) && same(parts.fds[2], fds[0]));
	log_parts_close(&parts);
	CHECK_INT(log_parts_next(b.path, fds[0], &next), LOG_NEXT_NONE);
	CHECK_INT(log_parts_next(b.path, fds[3], &next), LOG_NEXT_FOUND);
	CHECK(same(next, fds[1]));
	close(next);
	CHECK_INT(log_parts_next(b.path, fds[1], &next), LOG_NEXT_FOUND);
	CHECK(same(next, fds[0]));
	close(next);
	unlink(third);
	CHECK_INT(log_parts_next(b.path, fds[3], &next), LOG_NEXT_FOUND);
	CHECK(same(next, fds[1]));
	close(next);
	unlink(b.path); /* renamed, and the new one not made */
	CHECK_INT(log_parts_next(b.path, fds[1], &next), LOG_NEXT_NONE);
	for (size_t i = 0; i < ARRAY_SIZE(fds); i++)
		if (fds[i] >= 0)
			close(fds[i]);
	bench_done(&b);
}

TEST("a record without end, or of any length, harms nothing")
{
	struct bench b = bench_new();
	auto_free char *much = xmalloc(3 << 20);

	memset(much, 'x', 3 << 20);
	bench_lines(&b, 0, 1);
	bench_raw(&b, much, 3 << 20);
	bench_raw(&b, "\n", 1);
	bench_lines(&b, 1, 2);
	bench_raw(&b, "2025-11-15T12:00:00Z stdout F torn", 34);
	bench_rotate(&b, 5);
	bench_lines(&b, 2, 3);
	CHECK_STR(bench_read(&b, (struct log_options){ ALL }), "line 0\nline 1\ntorn\nline 2\n");
	CHECK_STR(bench_read(&b, (struct log_options){ .tail_lines = 4, .limit_bytes = -1 }),
		  "line 0\nline 1\ntorn\nline 2\n");
	bench_done(&b);
}

TEST("many followers share one inotify, and none is left")
{
	struct bench b = bench_new();
	struct log_watch *w = log_watch_new(b.loop);
	struct log_options o = { ALL, .follow = true, .watch = w };
	struct log_reader *more[200];
	struct err e = ERR_INIT;

	for (size_t i = 0; i < ARRAY_SIZE(more); i++)
		CHECK_INT(log_reader_new(b.loop, b.path, &o, on_text, on_end, &b, &more[i], &e), 0);
	bench_turns(&b);
	bench_lines(&b, 0, 1);
	bench_turns(&b);
	CHECK_INT(b.got.n, ARRAY_SIZE(more) * 7);
	for (size_t i = 0; i < ARRAY_SIZE(more); i++)
		log_reader_free(more[i]);
	log_watch_free(w);
	bench_done(&b);
}

TEST("the tail of a log is its last lines and bytes, in whole characters")
{
	struct bench b = bench_new();
	auto_sbuf struct sbuf out = SBUF(4096);

	log_tail(b.path, 100, 10, &out);
	CHECK_INT(out.n, 0);
	bench_lines(&b, 0, 3);
	bench_rotate(&b, 5);
	bench_record(&b, "P", "Tra");
	bench_record(&b, "F", "ceback");
	bench_record(&b, "F", "no m\xc3\xa9mory");
	log_tail(b.path, 100, 3, &out);
	CHECK_STR(out.p, "line 2\nTraceback\nno m\xc3\xa9mory\n");
	sbuf_reset(&out);
	log_tail(b.path, 100, 80, &out);
	CHECK_STR(out.p, "line 0\nline 1\nline 2\nTraceback\nno m\xc3\xa9mory\n");
	sbuf_reset(&out);
	log_tail(b.path, 6, 80, &out);
	CHECK_STR(out.p, "mory\n");
	bench_done(&b);
}

TEST("a line of a log is taken apart")
{
	static const struct {
		const char *line;
		bool good, is_stderr, partial;
		const char *text;
	} rows[] = {
		{ "2026-11-15T23:08:38.1Z stdout F hello  you ", true, false, false, "hello  you " },
		{ "2026-11-15T23:08:38+01:00 stderr P x", true, true, true, "x" },
		{ "2026-11-15T23:08:38Z stdout F ", true, false, false, "" },
		{ "2026-11-15T23:08:38Z stdout F", true, false, false, "" },
		{ "2026-11-15T23:08:38Z stdout F:last x", true, false, false, "x" },
		{ "2026-11-15T23:08:38Z stdout Full x", false, false, false, "" },
		{ "2026-11-15T23:08:38Z stdin F x", false, false, false, "" },
		{ "2026-11-15 stdout F x", false, false, false, "" },
		{ "", false, false, false, "" },
		{ "   ", false, false, false, "" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct str text = { "", 0 };
		bool is_stderr = false;
		bool partial = false;
		int64_t us;

		CHECK_INT(log_line_parse(str_of(rows[i].line), &us, &is_stderr, &partial, &text), rows[i].good);
		CHECK_INT(is_stderr, rows[i].is_stderr);
		CHECK_INT(partial, rows[i].partial);
		CHECK(str_eq(text, rows[i].text));
	}
}
