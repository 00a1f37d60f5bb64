// SPDX-License-Identifier: Apache-2.0
#include "sched/account_file.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/time.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/jsonx.h"
#include "base/mem.h"
#include "test.h"

#define NOVEMBER 1793836800 /* 2026-11-05 */
#define DECEMBER 1796428800 /* 2026-12-05 */

struct place {
	char dir[64];
	struct account_file *file;
};

static struct place open_place(void)
{
	struct place p = { .dir = "/tmp/account-file-XXXXXX" };
	struct err e = ERR_INIT;

	CHECK(mkdtemp(p.dir) != NULL);
	CHECK_INT(account_file_open(p.dir, &p.file, &e), 0);
	return p;
}

static void reopen(struct place *p)
{
	struct err e = ERR_INIT;

	account_file_free(p->file);
	CHECK_INT(account_file_open(p->dir, &p->file, &e), 0);
}

static void place_done(struct place *p)
{
	auto_free char *command = xasprintf("rm -r %s", p->dir);

	account_file_free(p->file);
	CHECK_INT(system(command), 0);
}

static struct account_record record(const char *job, int64_t ended)
{
	struct account_record r = { .job = str_of(job),
				    .ns = STR("n"),
				    .kind = STR("Job"),
				    .user = STR("ada"),
				    .group = STR(""),
				    .queue = STR("batch"),
				    .uid = str_of(job),
				    .gang = STR(""),
				    .pods = 1,
				    .submitted = ended - 20,
				    .started = ended - 10,
				    .ended = ended,
				    .walltime = ACCOUNT_NO_LIMIT,
				    .state = ACCOUNT_SUCCEEDED };

	r.use = account_use_for(&r, 10);
	return r;
}

static void append(struct place *p, const char *job, int64_t ended, int64_t now)
{
	auto_sbuf struct sbuf line = SBUF(ACCOUNT_LINE_MAX);
	struct account_record r = record(job, ended);
	struct err e = ERR_INIT;

	account_write(&r, &line);
	CHECK_INT(account_file_append(p->file, sbuf_str(&line), now, &e), 0);
}

static void add_name(void *arg, const struct account_record *r)
{
	sbuf_addf(arg, "%.*s ", STR_FMT(r->job));
}

static bool is_there(const struct place *p, const char *name)
{
	auto_free char *path = xasprintf("%s/%s", p->dir, name);

	return access(path, F_OK) == 0;
}

/* Jobs that ended since. */
static const char *since(const struct place *p, int64_t from)
{
	static char out[256];
	auto_sbuf struct sbuf names = SBUF(256);

	account_file_since(p->file, from, add_name, &names);
	snprintf(out, sizeof(out), "%s", names.p ? names.p : "");
	return out;
}

TEST("records go into the file of the month, and are found from a time on")
{
	struct place p = open_place();

	append(&p, "a", NOVEMBER, NOVEMBER);
	append(&p, "b", NOVEMBER + 100, NOVEMBER + 100);
	append(&p, "late", NOVEMBER + 50, DECEMBER);
	append(&p, "c", DECEMBER, DECEMBER);
	CHECK(is_there(&p, "2026-11.csv") && is_there(&p, "2026-12.csv"));
	CHECK_STR(since(&p, 0), "a b late c ");
	CHECK_STR(since(&p, NOVEMBER + 50), "b late c ");
	CHECK_STR(since(&p, DECEMBER), "c ");
	place_done(&p);
}

TEST("what a crash left of a line goes, and the line after it is whole")
{
	struct place p = open_place();
	auto_free char *path = xasprintf("%s/2026-11.csv", p.dir);
	FILE *f;

	append(&p, "a", NOVEMBER, NOVEMBER);
	f = fopen(path, "a");
	fputs("b,n,Job,ada,,batch,0,17", f);
	fclose(f);
	reopen(&p);
	append(&p, "c", NOVEMBER, NOVEMBER);
	CHECK_STR(since(&p, 0), "a c ");
	place_done(&p);
}

TEST("a line that someone spoiled is left out, and its number told")
{
	struct place p = open_place();
	auto_free char *path = xasprintf("%s/2026-11.csv", p.dir);
	auto_sbuf struct sbuf names = SBUF(256);
	auto_free char *says = NULL;
	struct err e = ERR_INIT;
	FILE *f;

	append(&p, "a", NOVEMBER, NOVEMBER);
	f = fopen(path, "a");
	fputs("b,n,Job,ada,,batch,0,soon\n", f);
	fclose(f);
	append(&p, "c", NOVEMBER, NOVEMBER);
	CHECK_INT(account_file_read(path, add_name, &names, &e), 1);
	CHECK_STR(names.p, "a c ");
	says = xasprintf("%s: line 3: submitted: \"soon\" is not what it should be", path);
	CHECK_STR(e.text, says);
	place_done(&p);
}

static void make_old(const struct place *p, const char *name, int64_t when)
{
	auto_free char *path = xasprintf("%s/%s", p->dir, name);
	struct timespec times[2] = { { .tv_sec = when }, { .tv_sec = when } };

	CHECK_INT(utimensat(AT_FDCWD, path, times, 0), 0);
}

TEST("a month that is over is packed to less than 40 bytes a record, and read as before")
{
	struct place p = open_place();
	auto_free char *packed = xasprintf("%s/2026-11.csv.gz", p.dir);
	auto_sbuf struct sbuf lines = SBUF(1 << 24);
	auto_sbuf struct sbuf names = SBUF(1 << 20);
	struct err e = ERR_INIT;
	size_t nlines = 5000;
	struct stat st;

	srandom(1);
	for (size_t i = 0; i < nlines; i++) {
		static const char *const users[] = { "ada", "grace", "linus", "barbara", "edsger" };
		struct account_record r = record("x", NOVEMBER + (int64_t)i * 60 + random() % 60);
		auto_free char *job = xasprintf("train-%s-%zu", users[random() % 5], i);
		auto_free char *uid =
			xasprintf("%08lx-%04lx-4%03lx", random() & 0xffffffff, random() & 0xffff, random() & 0xfff);

		r.job = str_of(job);
		r.user = r.ns = str_of(users[random() % 5]);
		r.uid = str_of(uid);
		r.gpus = (double)(random() % 4);
		r.cpus_milli = 1000 * (1 + random() % 8);
		r.memory_bytes = (int64_t)(1 + random() % 16) << 30;
		r.started = r.ended - 60 - random() % 20000;
		r.submitted = r.started - random() % 600;
		r.use = account_use_for(&r, r.ended - r.started);
		account_write(&r, &lines);
	}
	printf("# %zu bytes a record as text\n", lines.n / nlines);
	CHECK(lines.n / nlines < 200);
	CHECK_INT(account_file_append(p.file, sbuf_str(&lines), NOVEMBER, &e), 0);
	append(&p, "new", DECEMBER, DECEMBER);
	/* Not before it is quiet. */
	make_old(&p, "2026-11.csv", DECEMBER - 100);
	CHECK(!account_file_tidy(p.file, DECEMBER));
	make_old(&p, "2026-11.csv", DECEMBER - 100000);
	while (account_file_tidy(p.file, DECEMBER))
		;
	CHECK(is_there(&p, "2026-11.csv.gz") && !is_there(&p, "2026-11.csv") && is_there(&p, "2026-12.csv"));
	CHECK_INT(stat(packed, &st), 0);
	printf("# %zu bytes a record packed\n", (size_t)st.st_size / nlines);
	CHECK((size_t)st.st_size / nlines < 40);
	CHECK_INT(st.st_mode & 0777, 0600);
	CHECK_INT(account_file_read(packed, add_name, &names, &e), 0);
	CHECK(strstr(names.p, "-4999 ") != NULL);
	/* Killed between packing and removing: the month is there twice, and counts once. */
	append(&p, "again", NOVEMBER + 4997 * 60, NOVEMBER);
	CHECK(strstr(since(&p, NOVEMBER + 4996 * 60), "-4998 ") != NULL);
	CHECK(strstr(since(&p, NOVEMBER + 4996 * 60), "new ") != NULL);
	CHECK(strstr(since(&p, NOVEMBER + 4996 * 60), "again") == NULL);
	place_done(&p);
}

TEST("the journal outlives the server, and is made anew in one piece")
{
	struct place p = open_place();
	auto_sbuf struct sbuf line = SBUF(ACCOUNT_LINE_MAX);
	auto_sbuf struct sbuf anew = SBUF(ACCOUNT_LINE_MAX);
	auto_sbuf struct sbuf names = SBUF(256);
	struct account_record r = record("a", NOVEMBER);
	struct err e = ERR_INIT;

	account_write(&r, &line);
	CHECK_INT(account_file_note(p.file, sbuf_str(&line), &e), 0);
	reopen(&p);
	CHECK(account_file_alive(p.file) >= clock_wall() - 10);
	account_file_journal(p.file, add_name, &names);
	CHECK_STR(names.p, "a ");
	account_title(&anew);
	r.job = STR("b");
	account_write(&r, &anew);
	CHECK_INT(account_file_rewrite(p.file, sbuf_str(&anew), &e), 0);
	CHECK_INT(account_file_note(p.file, sbuf_str(&line), &e), 0);
	sbuf_reset(&names);
	account_file_journal(p.file, add_name, &names);
	CHECK_STR(names.p, "b a ");
	place_done(&p);
}

TEST("shares that cannot be read are none")
{
	struct place p = open_place();
	auto_free char *path = xasprintf("%s/shares.json", p.dir);
	json_auto_t *saved = json_pack("{s:i}", "at", 5);
	json_auto_t *back = NULL;
	struct err e = ERR_INIT;

	CHECK(account_file_shares(p.file) == NULL);
	CHECK_INT(account_file_save_shares(p.file, saved, &e), 0);
	back = account_file_shares(p.file);
	CHECK_INT(jsonx_int_or(back, "at", 0), 5);
	CHECK_INT(file_write(path, 0600, STR("{\"at\":"), &e), 0);
	CHECK(account_file_shares(p.file) == NULL);
	place_done(&p);
}
