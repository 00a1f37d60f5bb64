// SPDX-License-Identifier: Apache-2.0
/* damage_test.c - every flipped byte is noticed, every crash is not mistaken for damage */
#include "util.h"

static const char *const files[] = { "stoker.db", "stoker.db-wal", "lock" };
enum { DB, WAL, LOCK, FILES };

/* A directory as a killed server leaves it: its files copied while it runs. */
struct image {
	unsigned char *p[FILES];
	ssize_t n[FILES];
};

static struct image image_take(const struct fixture *f)
{
	struct image im;

	for (int i = 0; i < FILES; i++) {
		auto_free char *path = util_path(f, files[i]);

		im.p[i] = util_slurp(path, &im.n[i]);
	}
	return im;
}

static void image_put(const struct fixture *f, const struct image *im)
{
	for (int i = 0; i < FILES; i++) {
		auto_free char *path = util_path(f, files[i]);

		util_spew(path, im->p[i], im->n[i]);
	}
}

static void image_done(struct image *im)
{
	for (int i = 0; i < FILES; i++)
		free(im->p[i]);
}

static void fill(struct fixture *f, int n, size_t size)
{
	auto_free char *data = xmalloc(size + 1);

	memset(data, 'd', size);
	data[size] = '\0';
	for (int i = 0; i < n; i++) {
		char name[16];

		snprintf(name, sizeof(name), "p%03d", i);
		util_put(f, i % 3 ? f->pods : f->events, "ns", name, data);
		if (i % 4 == 0)
			util_turn(f);
	}
	util_turn(f);
}

/* Opens and closes; true if it was refused as damaged, naming `what`. */
static bool refused(struct fixture *f, const char *what)
{
	bool yes;

	if (util_open(f) == 0) {
		util_close(f);
		return false;
	}
	yes = f->e.kind == ERR_CORRUPT && strstr(f->e.text, what) && strstr(f->e.text, "restore");
	if (!yes)
		printf("    %s\n", f->e.text);
	return yes;
}

TEST("a flipped byte anywhere in stoker.db is refused, with its page")
{
	struct fixture f = util_new();
	struct image im;
	int missed = 0;

	fill(&f, 60, 900);
	for (int i = 0; i < 20; i++) { /* so that there are free pages too */
		char name[16];

		snprintf(name, sizeof(name), "p%03d", i);
		util_delete(&f, i % 3 ? f.pods : f.events, "ns", name);
	}
	util_turn(&f);
	f.s->config.history_rows = 1;
	while (compact_step(f.s))
		util_turn(&f);
	util_close(&f);
	im = image_take(&f);
	CHECK_INT(im.n[WAL], -1);
	for (ssize_t at = 0; at < im.n[DB]; at += at < 200 ? 1 : 61) {
		char want[32];

		im.p[DB][at] ^= (unsigned char)(1u << at % 8);
		image_put(&f, &im);
		snprintf(want, sizeof(want), "stoker.db: page %d is damaged", (int)(at / STORE_PAGE) + 1);
		missed += !refused(&f, want);
		im.p[DB][at] ^= (unsigned char)(1u << at % 8);
	}
	CHECK_INT(missed, 0);
	image_put(&f, &im);
	CHECK_INT(util_open(&f), 0);
	image_done(&im);
	util_done(&f);
}

TEST("a page that is zeroed, swapped with another or cut off is refused")
{
	struct fixture f = util_new();
	unsigned char page[STORE_PAGE];
	struct image im;

	fill(&f, 60, 900);
	util_close(&f);
	im = image_take(&f);
	memcpy(page, im.p[DB] + 7 * STORE_PAGE, STORE_PAGE);
	memset(im.p[DB] + 7 * STORE_PAGE, 0, STORE_PAGE);
	image_put(&f, &im);
	CHECK(refused(&f, "page 8 is damaged (it is blank)"));
	memcpy(im.p[DB] + 7 * STORE_PAGE, im.p[DB] + 8 * STORE_PAGE, STORE_PAGE);
	image_put(&f, &im);
	CHECK(refused(&f, "page 8 is damaged (checksum mismatch)"));
	memcpy(im.p[DB] + 7 * STORE_PAGE, page, STORE_PAGE);
	im.n[DB] -= 100;
	image_put(&f, &im);
	CHECK(refused(&f, "the file is cut off before it"));
	im.n[DB] = 1000;
	image_put(&f, &im);
	CHECK(refused(&f, "page 1 is damaged (the file is cut off)"));
	im.n[DB] = 0;
	image_put(&f, &im);
	CHECK(refused(&f, "page 1 is damaged (the file is cut off)"));
	image_done(&im);
	util_done(&f);
}

/* The log is laid out in zeros ahead of its frames; they hold nothing that could be lost. */
static void trim_log(struct image *im)
{
	const unsigned char *log = im->p[WAL];
	ssize_t end = WAL_HEADER;

	while (end + WAL_FRAME <= im->n[WAL] && memcmp(log + end + 8, log + 16, 8) == 0)
		end += WAL_FRAME;
	im->n[WAL] = end;
}

TEST("a killed server's log is replayed, whole or torn")
{
	struct fixture f = util_new();
	struct image im;
	int lost = 0;

	fill(&f, 8, 100);
	im = image_take(&f);
	util_close(&f);
	CHECK(im.n[WAL] > WAL_HEADER);
	trim_log(&im);
	image_put(&f, &im);
	CHECK_INT(util_open(&f), 0);
	CHECK_INT(store_count(f.s, f.pods, NULL) + store_count(f.s, f.events, NULL), 8);
	util_close(&f);
	/* Without the mark, as after a power cut: the last transaction may be torn at any byte. */
	im.n[LOCK] = -1;
	for (ssize_t cut = 1; cut < 5000; cut += 331) {
		im.n[WAL] -= cut;
		image_put(&f, &im);
		im.n[WAL] += cut;
		if (util_open(&f) < 0) {
			lost++;
			continue;
		}
		CHECK(store_count(f.s, f.pods, NULL) + store_count(f.s, f.events, NULL) >= 4);
		util_close(&f);
	}
	CHECK_INT(lost, 0);
	image_done(&im);
	util_done(&f);
}

TEST("a flipped byte anywhere in a killed server's log is refused, with its frame")
{
	struct fixture f = util_new();
	struct image im;
	int missed = 0;

	fill(&f, 12, 100);
	im = image_take(&f);
	util_close(&f);
	CHECK(im.n[WAL] > WAL_FRAME);
	trim_log(&im);
	for (ssize_t at = 0; at < im.n[WAL]; at += at % WAL_FRAME < 64 ? 1 : 173) {
		im.p[WAL][at] ^= 0x10;
		image_put(&f, &im);
		missed += !refused(&f, "stoker.db-wal: ");
		im.p[WAL][at] ^= 0x10;
	}
	CHECK_INT(missed, 0);
	im.n[WAL] = -1;
	image_put(&f, &im);
	CHECK(refused(&f, "stoker.db-wal is missing"));
	image_done(&im);
	util_done(&f);
}

TEST("without a mark, damage before whole commits of the log is refused")
{
	struct fixture f = util_new();
	struct image im;

	fill(&f, 12, 100);
	im = image_take(&f);
	im.n[LOCK] = -1;
	util_close(&f);
	im.p[WAL][WAL_HEADER + WAL_FRAME_HDR + 100] ^= 1;
	image_put(&f, &im);
	CHECK(refused(&f, "stoker.db-wal: frame 1 is damaged"));
	im.p[WAL][WAL_HEADER + WAL_FRAME_HDR + 100] ^= 1;
	im.p[WAL][3] ^= 1;
	image_put(&f, &im);
	CHECK(refused(&f, "stoker.db-wal: its header is damaged"));
	image_done(&im);
	util_done(&f);
}

TEST("a page torn by a crash in a checkpoint is made whole from the log")
{
	struct fixture f = util_new();
	struct image before;
	struct image after;

	fill(&f, 100, 900);
	before = image_take(&f);
	txn_checkpoint(f.s);
	after = image_take(&f);
	util_close(&f);
	CHECK(after.n[DB] > before.n[DB]);
	/* The log as before the checkpoint, the database half written. */
	free(before.p[DB]);
	before.p[DB] = xmemdup(after.p[DB], (size_t)after.n[DB]);
	before.n[DB] = after.n[DB] - 3 * STORE_PAGE - 1000;
	memset(before.p[DB] + 5 * STORE_PAGE + 512, 0, 1024);
	image_put(&f, &before);
	CHECK_INT(util_open(&f), 0);
	CHECK_INT(store_count(f.s, f.pods, NULL) + store_count(f.s, f.events, NULL), 100);
	image_done(&before);
	image_done(&after);
	util_done(&f);
}

static void flip_in_place(const struct fixture *f, const char *name, off_t at)
{
	auto_free char *path = util_path(f, name);
	auto_close int fd = open(path, O_RDWR | O_CLOEXEC);
	unsigned char c = 0;

	CHECK_INT(pread(fd, &c, 1, at), 1);
	c ^= 4;
	CHECK_INT(pwrite(fd, &c, 1, at), 1);
}

static bool count_row(void *arg, const struct record *r)
{
	(void)r;
	++*(int *)arg;
	return true;
}

TEST("damage met by a running server fails that request and stops writes")
{
	struct fixture f = util_new();
	int rows = 0;

	fill(&f, 100, 900);
	util_close(&f);
	CHECK_INT(util_open(&f), 0);
	for (int page = 4; page < 20; page++)
		flip_in_place(&f, "stoker.db", page * STORE_PAGE + 700);
	CHECK_INT(store_list(f.s, &(struct store_range){ .kind = f.pods }, count_row, &rows, &f.e), -1);
	CHECK_INT(f.e.kind, ERR_CORRUPT);
	CHECK(strstr(f.e.text, "stoker.db: page "));
	CHECK(store_trouble(f.s) != NULL);
	CHECK_INT(util_put(&f, f.pods, "a", "x", "v"), -1);
	CHECK_INT(f.e.kind, ERR_UNAVAILABLE);
	util_done(&f);
}

TEST("a turn in which a read met damage is not committed")
{
	struct fixture f = util_new();
	struct store_after waiter = { .fn = util_on_after, .arg = &f };
	int rows = 0;

	fill(&f, 100, 900);
	util_close(&f);
	CHECK_INT(util_open(&f), 0);
	CHECK(util_put(&f, f.pods, "a", "x", "v") > 0);
	store_after(f.s, &waiter);
	for (int page = 4; page < 20; page++)
		flip_in_place(&f, "stoker.db", page * STORE_PAGE + 700);
	CHECK_INT(store_list(f.s, &(struct store_range){ .kind = f.pods }, count_row, &rows, &f.e), -1);
	util_turn(&f);
	CHECK_INT(f.after_calls, 1);
	CHECK_INT(f.after_err.kind, ERR_UNAVAILABLE);
	util_done(&f);
}

TEST("a byte flipped in the running server's log does not reach stoker.db")
{
	struct fixture f = util_new();
	char named[64];
	int last;

	fill(&f, 100, 900);
	last = f.s->wal_frames; /* surely the newest image of its page */
	flip_in_place(&f, "stoker.db-wal", WAL_HEADER + (last - 1) * WAL_FRAME + 700);
	txn_checkpoint(f.s);
	CHECK(store_trouble(f.s) && strstr(store_trouble(f.s), "stoker.db-wal: frame "));
	util_close(&f);
	snprintf(named, sizeof(named), "stoker.db-wal: frame %d is damaged", last);
	CHECK(refused(&f, named));
	util_done(&f);
}

TEST("a mark that cannot be cleared at the end keeps the log it claims")
{
	struct fixture f = util_new();
	auto_free char *path = util_path(&f, "lock");
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	fill(&f, 100, 900);
	CHECK(fd >= 0 && dup2(fd, f.s->lock.fd) >= 0); /* as a disk that takes no more writes */
	close(fd);
	util_close(&f);
	CHECK_INT(util_open(&f), 0);
	CHECK_INT(store_count(f.s, f.pods, NULL) + store_count(f.s, f.events, NULL), 100);
	util_done(&f);
}

TEST("a database of a newer schema is refused untouched, naming both versions")
{
	struct fixture f = util_new();
	struct image images[2];

	util_put(&f, f.pods, "a", "x", "v");
	util_turn(&f);
	sqlite3_exec(f.s->db, "PRAGMA user_version = 99", NULL, NULL, NULL);
	images[0] = image_take(&f); /* the new version is in the log */
	util_close(&f);
	images[1] = image_take(&f); /* it is in stoker.db */
	for (int k = 0; k < 2; k++) {
		struct image after;

		image_put(&f, &images[k]);
		CHECK_INT(util_open(&f), -1);
		CHECK(strstr(f.e.text, "schema version 99") && strstr(f.e.text, "up to 1"));
		after = image_take(&f);
		for (int i = 0; i < FILES; i++) {
			CHECK_INT(after.n[i], images[k].n[i]);
			CHECK(after.n[i] <= 0 || memcmp(after.p[i], images[k].p[i], (size_t)after.n[i]) == 0);
		}
		image_done(&after);
		image_done(&images[k]);
	}
	util_done(&f);
}

TEST("a commit without a change, after a failed one, does not claim frames the log has not")
{
	struct fixture f = util_new();
	auto_free char *big = xmalloc(2u << 20);
	struct image im;

	memset(big, 'x', (2u << 20) - 1);
	big[(2u << 20) - 1] = '\0';
	fill(&f, 100, 900);
	txn_checkpoint(f.s);
	util_put(&f, f.pods, "a", "x", "v");
	/* The log begins anew with this commit, which fails behind the new header. */
	vfs_fail(f.s->vfs, &(struct store_fail){ .writes = true, .after = 3, .code = SQLITE_FULL });
	util_turn(&f);
	vfs_fail(f.s->vfs, &(struct store_fail){ 0 });
	f.s->full_timer.fire(f.s);
	CHECK_INT(util_put(&f, f.pods, "a", "big", big), -1);
	CHECK_INT(f.e.kind, ERR_TOO_LARGE);
	util_turn(&f);
	im = image_take(&f);
	util_close(&f);
	image_put(&f, &im);
	CHECK_INT(util_open(&f), 0);
	CHECK_INT(store_count(f.s, f.pods, NULL) + store_count(f.s, f.events, NULL), 100);
	image_done(&im);
	util_done(&f);
}
