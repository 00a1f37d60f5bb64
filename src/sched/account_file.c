// SPDX-License-Identifier: Apache-2.0
/* account_file.c - see account_file.h
 *
 * A month is the one in which the line is written, so a closed file never grows.  Whoever asks for a time reads from
 * that month on to the newest file: what ran then may have ended much later.
 */
#include "sched/account_file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>

#include "base/file.h"
#include "base/jsonx.h"
#include "base/limits.h"
#include "base/log.h"
#include "base/mem.h"
#include "loop/gzip.h"
#include "sched/line_file.h"

#define MONTH_LEN  7 /* 2026-11 */
#define FILE_MODE  0600
#define PACK_AFTER 86400 /* seconds without a new line: a clock that was set wrong is noticed by then */
#define SHARES_MAX (64u * 1024 * 1024)

struct account_file {
	char *dir;
	char month[MONTH_LEN + 1]; /* of fd */
	int fd;                    /* -1: none is open */
	int journal;
	size_t journal_bytes;
	int64_t alive;
	struct gzip_pack *pack; /* under way, of this plain file */
	char *packing;
};

/* ---- names ---- */

static void month_of(int64_t when, char out[MONTH_LEN + 1])
{
	time_t t = (time_t)when;
	struct tm tm;

	if (!gmtime_r(&t, &tm) || tm.tm_year < 70 || tm.tm_year > 8000)
		memset(&tm, 0, sizeof(tm)), tm.tm_year = 70;
	snprintf(out, MONTH_LEN + 1, "%04u-%02u", (unsigned)(tm.tm_year + 1900) % 10000,
		 (unsigned)(tm.tm_mon + 1) % 100);
}

static bool is_month(const char *name)
{
	static const char form[] = "dddd-dd.csv";

	for (size_t i = 0; i < sizeof(form) - 1; i++)
		if (form[i] == 'd' ? name[i] < '0' || name[i] > '9' : name[i] != form[i])
			return false;
	return !name[sizeof(form) - 1] || streq(name + sizeof(form) - 1, ".gz");
}

static char *path_of(const struct account_file *f, const char *name)
{
	return xasprintf("%s/%s", f->dir, name);
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

static int wanted(const struct dirent *d)
{
	return is_month(d->d_name);
}

/* Names of all months' files in order; NULL-terminated, to be freed with all items. */
static char **months(const struct account_file *f)
{
	struct dirent **found = NULL;
	int n = scandir(f->dir, &found, wanted, by_name);
	char **names = xcalloc((size_t)(n > 0 ? n : 0) + 1, sizeof(*names));

	for (int i = 0; i < n; i++) {
		names[i] = xstrdup(found[i]->d_name);
		free(found[i]);
	}
	free(found);
	return names;
}

static void free_names(char **names)
{
	for (size_t i = 0; names[i]; i++)
		free(names[i]);
	free(names);
}

/* ---- writing ---- */

static int open_lines(const char *path, int *ret, struct err *e)
{
	auto_sbuf struct sbuf title = SBUF(ACCOUNT_LINE_MAX);
	int fd;

	if (line_file_open(path, ACCOUNT_LINE_MAX, &fd, e) < 0)
		return -1;
	account_title(&title);
	if (lseek(fd, 0, SEEK_END) == 0 && line_file_add(fd, path, sbuf_str(&title), e) < 0) {
		close(fd);
		return -1;
	}
	*ret = fd;
	return 0;
}

static int open_month(struct account_file *f, int64_t now, struct err *e)
{
	char month[MONTH_LEN + 1];
	auto_free char *path = NULL;

	month_of(now, month);
	if (f->fd >= 0 && streq(f->month, month))
		return 0;
	path = xasprintf("%s/%s.csv", f->dir, month);
	if (f->fd >= 0)
		close(f->fd);
	f->fd = -1;
	if (open_lines(path, &f->fd, e) < 0)
		return -1;
	memcpy(f->month, month, sizeof(month));
	return 0;
}

int account_file_append(struct account_file *f, struct str lines, int64_t now, struct err *e)
{
	if (open_month(f, now, e) < 0)
		return -1;
	return line_file_keep(f->fd, f->dir, lines, e);
}

int account_file_note(struct account_file *f, struct str lines, struct err *e)
{
	if (line_file_add(f->journal, f->dir, lines, e) < 0)
		return -1;
	f->journal_bytes += lines.n;
	return 0;
}

int account_file_rewrite(struct account_file *f, struct str journal, struct err *e)
{
	auto_free char *path = path_of(f, "running.csv");
	int fd;

	if (file_place(path, FILE_MODE, journal, e) < 0)
		return -1;
	fd = open(path, O_RDWR | O_APPEND | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0)
		return line_file_error(path, e);
	close(f->journal);
	f->journal = fd;
	f->journal_bytes = journal.n;
	return 0;
}

size_t account_file_journal_bytes(const struct account_file *f)
{
	return f->journal_bytes;
}

/* ---- reading ---- */

struct reading {
	struct account_columns columns;
	account_each *each;
	void *arg;
	int64_t from;
	bool titled, bad_title;
	int bad;
	size_t line;
	struct err *first; /* of the bad ones */
};

static bool read_line(void *arg, struct str line)
{
	struct reading *r = arg;
	struct account_record record;
	struct err e = ERR_INIT;

	r->line++;
	if (!r->titled) {
		r->titled = true;
		r->bad_title = account_columns_read(line, &r->columns, r->first) < 0;
		return !r->bad_title;
	}
	if (!line.n || (line.n == 1 && line.p[0] == '\r'))
		return true;
	if (account_read(&r->columns, line, &record, &e) < 0) {
		if (!r->bad++)
			err_set(r->first, e.kind, "line %zu: %s", r->line, e.text);
		return true;
	}
	if (!record.ended || record.ended >= r->from)
		r->each(r->arg, &record);
	return true;
}

static int read_from(const char *path, int64_t from, account_each *each, void *arg, struct err *e)
{
	struct reading r = { .each = each, .arg = arg, .from = from, .first = e };

	if (gzip_lines(path, ACCOUNT_LINE_MAX, read_line, &r, e) < 0)
		return -1;
	if (r.bad || r.bad_title)
		err_prefix(e, "%s", path);
	return r.bad_title ? -1 : r.bad;
}

int account_file_read(const char *path, account_each *each, void *arg, struct err *e)
{
	return read_from(path, INT64_MIN, each, arg, e);
}

/* A month that was packed and not yet removed is there twice. */
static bool is_superseded(char **names, size_t i)
{
	auto_free char *packed = xasprintf("%s.gz", names[i]);

	return names[i + 1] && streq(names[i + 1], packed);
}

void account_file_since(const struct account_file *f, int64_t from, account_each *each, void *arg)
{
	char **names = months(f);
	char first[MONTH_LEN + 1];

	month_of(from > 0 ? from : 0, first);
	for (size_t i = 0; names[i]; i++) {
		auto_free char *path = path_of(f, names[i]);
		struct err e = ERR_INIT;

		if (strncmp(names[i], first, MONTH_LEN) < 0 || is_superseded(names, i))
			continue;
		if (read_from(path, from, each, arg, &e) != 0)
			log_warn("read the accounts: %s, ignoring", e.text);
	}
	free_names(names);
}

void account_file_journal(const struct account_file *f, account_each *each, void *arg)
{
	auto_free char *path = path_of(f, "running.csv");
	struct err e = ERR_INIT;

	if (account_file_read(path, each, arg, &e) != 0)
		log_warn("read what ran: %s, ignoring", e.text);
}

/* ---- shares ---- */

int account_file_save_shares(const struct account_file *f, const json_t *shares, struct err *e)
{
	auto_free char *path = path_of(f, "shares.json");
	auto_sbuf struct sbuf text = SBUF(SHARES_MAX);

	jsonx_dump(shares, &text);
	return file_place(path, FILE_MODE, sbuf_str(&text), e);
}

json_t *account_file_shares(const struct account_file *f)
{
	auto_free char *path = path_of(f, "shares.json");
	auto_sbuf struct sbuf text = SBUF(SHARES_MAX);
	struct err e = ERR_INIT;
	json_t *doc = NULL;

	if (file_read(path, SHARES_MAX, &text, &e) < 0 ||
	    jsonx_parse(text.p ? text.p : "", text.n, NULL, NULL, &doc, &e) < 0)
		return NULL;
	return doc;
}

/* ---- packing ---- */

/* The oldest plain month that is over, or NULL; what is left of a packed one goes on the way. */
static char *next_to_pack(const struct account_file *f, int64_t now)
{
	char **names = months(f);
	char present[MONTH_LEN + 1];
	char *found = NULL;

	month_of(now, present);
	for (size_t i = 0; names[i] && !found; i++) {
		auto_free char *path = path_of(f, names[i]);
		struct stat st;

		if (str_ends(names[i], ".gz") || strncmp(names[i], present, MONTH_LEN) >= 0)
			continue;
		if (is_superseded(names, i))
			unlink(path);
		else if (stat(path, &st) == 0 && st.st_mtime + PACK_AFTER < now)
			found = TAKE(path);
	}
	free_names(names);
	return found;
}

bool account_file_tidy(struct account_file *f, int64_t now)
{
	struct err e = ERR_INIT;
	int r;

	if (!f->pack) {
		auto_free char *to = NULL;

		free(f->packing);
		f->packing = next_to_pack(f, now);
		if (!f->packing)
			return false;
		to = xasprintf("%s.gz", f->packing);
		if (gzip_pack_new(f->packing, to, &f->pack, &e) < 0) {
			log_warn("pack the accounts: %s, ignoring", e.text);
			return false;
		}
		return true;
	}
	r = gzip_pack_step(f->pack, &e);
	if (r > 0)
		return true;
	if (r < 0)
		log_warn("pack the accounts: %s, ignoring", e.text);
	else
		unlink(f->packing);
	gzip_pack_free(TAKE(f->pack));
	return r == 0;
}

/* ---- life ---- */

static int64_t newest_change(const struct account_file *f)
{
	static const char *const names[] = { "running.csv", "shares.json" };
	int64_t newest = 0;
	struct stat st;

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		auto_free char *path = path_of(f, names[i]);

		if (stat(path, &st) == 0 && st.st_mtime > newest)
			newest = st.st_mtime;
	}
	return newest;
}

int64_t account_file_alive(const struct account_file *f)
{
	return f->alive;
}

int account_file_open(const char *dir, struct account_file **ret, struct err *e)
{
	struct account_file *f = xcalloc(1, sizeof(*f));
	auto_free char *journal = NULL;

	f->dir = xstrdup(dir);
	f->fd = f->journal = -1;
	journal = path_of(f, "running.csv");
	f->alive = newest_change(f);
	if (file_make_dirs(dir, 0700, e) < 0 || open_lines(journal, &f->journal, e) < 0) {
		account_file_free(f);
		return -1;
	}
	f->journal_bytes = (size_t)lseek(f->journal, 0, SEEK_END);
	*ret = f;
	return 0;
}

void account_file_free(struct account_file *f)
{
	if (!f)
		return;
	if (f->fd >= 0)
		close(f->fd);
	if (f->journal >= 0)
		close(f->journal);
	gzip_pack_free(f->pack);
	free(f->packing);
	free(f->dir);
	free(f);
}
