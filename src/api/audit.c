// SPDX-License-Identifier: Apache-2.0
/* audit.c - the audit log
 *
 * Lines gather in memory and leave as one write(2) in the work phase of the turn, after the replies: auditing never
 * holds up a request.  What a crash of the machine loses is at most the page cache; what a crash of the server loses is
 * one turn.  A log that cannot be written is said once, and again when it has recovered and failed anew.
 */
#include "api/audit.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "base/jsonx.h"
#include "base/limits.h"
#include "base/log.h"
#include "base/mem.h"

#define CHAIN_HEX   (SHA256_LEN * 2)
#define CHAIN_TAIL  (sizeof(",\"chain\":\"\"}") - 1 + CHAIN_HEX) /* of a line without its newline */
#define MAX_LINE    (64u * 1024)
#define MAX_PENDING (1024u * 1024) /* a turn with more is written in pieces */

struct audit {
	struct loop *loop;
	char *path, *old_path;
	int64_t max;
	int fd; /* -1: not open */
	int64_t size;
	bool failed;               /* said so already */
	bool first;                /* the next line opens a file or follows a torn one */
	char chain[CHAIN_HEX + 1]; /* of the last line */
	struct sbuf line;          /* being made; kept for its memory */
	struct sbuf pending;
	struct loop_hook flush;
};

/* --- the chain --- */

static void chain_next(const char chain[CHAIN_HEX + 1], struct str line, char out[CHAIN_HEX + 1])
{
	const struct str parts[] = { { chain, CHAIN_HEX }, line };
	auto_sbuf struct sbuf hex = SBUF(CHAIN_HEX);
	unsigned char sum[SHA256_LEN];

	crypto_sha256_parts(parts, ARRAY_SIZE(parts), sum);
	hex_encode(sum, sizeof(sum), &hex);
	memcpy(out, hex.p, CHAIN_HEX + 1);
}

/* Where the last complete line's chain stands, in `tail`, the end of the file; NULL if it ends otherwise. */
static const char *chain_of(struct str tail)
{
	const char *at;

	if (tail.n < CHAIN_TAIL + 1 || tail.p[tail.n - 1] != '\n')
		return NULL;
	at = tail.p + tail.n - 1 - CHAIN_TAIL;
	return memcmp(at, ",\"chain\":\"", 10) == 0 && memcmp(at + 10 + CHAIN_HEX, "\"}", 2) == 0 ? at + 10 : NULL;
}

/* --- the file --- */

static void complain(struct audit *a, const char *what)
{
	if (!a->failed)
		log_error("cannot %s the audit log: %s path=%s", what, strerror(errno), a->path);
	a->failed = true;
}

/* Takes up the chain where the file ends. */
static void resume_chain(struct audit *a)
{
	char tail[CHAIN_TAIL + 1];
	const char *chain;

	a->first = true;
	if (a->size < (int64_t)sizeof(tail))
		return;
	if (pread(a->fd, tail, sizeof(tail), a->size - (int64_t)sizeof(tail)) != (ssize_t)sizeof(tail))
		return;
	chain = chain_of((struct str){ tail, sizeof(tail) });
	if (!chain)
		return;
	memcpy(a->chain, chain, CHAIN_HEX);
	a->first = false;
}

static bool open_log(struct audit *a, bool resume)
{
	struct stat st;
	char last = '\n';

	if (a->fd >= 0)
		return true;
	a->fd = open(a->path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (a->fd < 0 || fstat(a->fd, &st) < 0) {
		complain(a, "open");
		if (a->fd >= 0)
			close(a->fd);
		a->fd = -1;
		return false;
	}
	a->size = st.st_size;
	if (resume)
		resume_chain(a);
	/* A line cut off by a crash must not swallow the next one. */
	if (a->size && pread(a->fd, &last, 1, a->size - 1) == 1 && last != '\n' && write(a->fd, "\n", 1) == 1)
		a->size++;
	return true;
}

static void write_pending(struct audit *a)
{
	ssize_t n;

	if (!a->pending.n || !open_log(a, false))
		goto out;
	do
		n = write(a->fd, a->pending.p, a->pending.n);
	while (n < 0 && errno == EINTR);
	if (n > 0)
		a->size += n;
	if (n != (ssize_t)a->pending.n) {
		if (n >= 0)
			errno = ENOSPC;
		complain(a, "write");
		a->first = true;
	} else {
		a->failed = false;
	}
out:
	sbuf_reset(&a->pending);
}

static void rotate(struct audit *a)
{
	write_pending(a);
	if (a->fd >= 0)
		close(a->fd);
	a->fd = -1;
	if (rename(a->path, a->old_path) < 0 && errno != ENOENT)
		complain(a, "rotate");
	a->first = true;
	open_log(a, false);
}

static void on_flush(void *arg)
{
	write_pending(arg);
}

struct audit *audit_new(struct loop *loop, const char *dir, int64_t bytes)
{
	struct audit *a = xcalloc(1, sizeof(*a));

	a->loop = loop;
	a->path = xasprintf("%s/audit.log", dir);
	a->old_path = xasprintf("%s/audit.log.1", dir);
	a->max = bytes > 0 ? bytes : AUDIT_BYTES;
	a->fd = -1;
	memset(a->chain, '0', CHAIN_HEX);
	a->first = true;
	sbuf_init(&a->line, MAX_LINE);
	sbuf_init(&a->pending, MAX_PENDING + MAX_LINE);
	a->flush = (struct loop_hook){ .run = on_flush, .arg = a, .phase = LOOP_WORK };
	open_log(a, true);
	return a;
}

void audit_free(struct audit *a)
{
	if (!a)
		return;
	loop_unschedule(a->loop, &a->flush);
	write_pending(a);
	if (a->fd >= 0)
		close(a->fd);
	sbuf_done(&a->line);
	sbuf_done(&a->pending);
	free(a->path);
	free(a->old_path);
	free(a);
}

/* --- one record --- */

static const char *const mutating[] = { "create", "update", "patch", "delete", "deletecollection" };
static const char *const reaching[] = { "exec", "attach", "portforward", "proxy" };

static bool among(const char *word, const char *const *list, size_t n)
{
	for (size_t i = 0; word && i < n; i++)
		if (streq(list[i], word))
			return true;
	return false;
}

bool audit_wanted(const struct audit_event *ev)
{
	return ev->code == 401 || ev->code == 403 || among(ev->verb, mutating, ARRAY_SIZE(mutating)) ||
	       among(ev->subresource, reaching, ARRAY_SIZE(reaching));
}

/* `key` as it stands in the line: `,"user":`.  Text from outside is cut, so that a line stays within MAX_LINE whatever
 * was sent. */
static void add_member(struct sbuf *b, const char *key, const char *value)
{
	size_t n = value ? strnlen(value, 1024) : 0;

	if (!n)
		return;
	while (n && !str_is_utf8(value, n))
		n--;
	sbuf_adds(b, key);
	sbuf_add_json_string(b, value, n);
}

static void add_groups(struct sbuf *b, const struct caller *c)
{
	if (!c->groups || !*c->groups)
		return;
	sbuf_adds(b, ",\"groups\":[");
	for (size_t i = 0; c->groups[i] && i < 64; i++) {
		size_t n = strnlen(c->groups[i], 256);

		if (!str_is_utf8(c->groups[i], n))
			n = 0;
		if (i)
			sbuf_addc(b, ',');
		sbuf_add_json_string(b, c->groups[i], n);
	}
	sbuf_addc(b, ']');
}

static void add_code(struct sbuf *b, int code)
{
	const char digits[] = { (char)('0' + code / 100), (char)('0' + code / 10 % 10), (char)('0' + code % 10) };

	sbuf_adds(b, ",\"code\":");
	if (code >= 100 && code <= 999) /* as all of HTTP's */
		sbuf_add(b, digits, sizeof(digits));
	else
		sbuf_addf(b, "%d", code);
}

static void add_line(struct sbuf *b, const struct audit_event *ev)
{
	char time[CLOCK_MICRO_LEN];

	clock_rfc3339_micro(clock_wall_micros(), time);
	sbuf_adds(b, "{\"time\":\"");
	sbuf_adds(b, time);
	sbuf_addc(b, '"');
	if (ev->caller) {
		add_member(b, ",\"user\":", ev->caller->user);
		add_member(b, ",\"impersonator\":", ev->impersonator);
		add_groups(b, ev->caller);
	}
	add_member(b, ",\"verb\":", ev->verb);
	add_member(b, ",\"group\":", ev->group);
	add_member(b, ",\"version\":", ev->version);
	add_member(b, ",\"resource\":", ev->resource);
	add_member(b, ",\"subresource\":", ev->subresource);
	add_member(b, ",\"namespace\":", ev->ns);
	add_member(b, ",\"name\":", ev->name);
	add_member(b, ",\"path\":", ev->path);
	add_code(b, ev->code);
	add_member(b, ",\"address\":", ev->address);
	add_member(b, ",\"userAgent\":", ev->user_agent);
	if (ev->notes) {
		sbuf_adds(b, ",\"annotations\":");
		jsonx_dump(ev->notes, b);
	}
}

void audit_record(struct audit *a, const struct audit_event *ev)
{
	struct sbuf *line = &a->line;

	if (!audit_wanted(ev))
		return;
	sbuf_reset(line);
	add_line(line, ev);
	if (a->size + (int64_t)(a->pending.n + line->n + 2 * CHAIN_TAIL) > a->max && (a->size || a->pending.n))
		rotate(a);
	if (a->first)
		add_member(line, ",\"prev\":", a->chain);
	a->first = false;
	chain_next(a->chain, sbuf_str(line), a->chain);
	sbuf_adds(line, ",\"chain\":\"");
	sbuf_add(line, a->chain, CHAIN_HEX);
	sbuf_adds(line, "\"}\n");
	sbuf_add(&a->pending, line->p, line->n);
	if (a->pending.n > MAX_PENDING)
		write_pending(a);
	else
		loop_schedule(a->loop, &a->flush);
}

/* --- checking --- */

/* The chain a line says it continues, if it says so: `,"prev":"HEX"` stands right before its own.  NULL if not. */
static const char *prev_of(struct str body)
{
	size_t n = sizeof(",\"prev\":\"\"") - 1 + CHAIN_HEX;
	const char *at;

	if (body.n < n)
		return NULL;
	at = body.p + body.n - n;
	return memcmp(at, ",\"prev\":\"", 9) == 0 ? at + 9 : NULL;
}

/* `chain` is that of the line before, empty for the first line, which must say what it continues. */
static bool line_fits(const char *line, size_t n, char chain[CHAIN_HEX + 1])
{
	const char *own = chain_of((struct str){ line, n });
	const char *prev;
	char want[CHAIN_HEX + 1] = { 0 };
	struct str body;

	if (!own)
		return false;
	body = (struct str){ line, n - 1 - CHAIN_TAIL };
	prev = prev_of(body);
	if (!*chain && !prev)
		return false;
	if (!*chain)
		memcpy(chain, prev, CHAIN_HEX);
	chain_next(chain, body, want);
	memcpy(chain, own, CHAIN_HEX);
	return memcmp(want, own, CHAIN_HEX) == 0;
}

int audit_check(const char *path, struct err *e)
{
	FILE *f = fopen(path, "re");
	auto_free char *line = NULL;
	size_t cap = 0;
	ssize_t n;
	char chain[CHAIN_HEX + 1] = { 0 };
	int rc = 0;

	if (!f)
		return err_errno(e, ERR_NOT_FOUND, "%s", path);
	for (size_t no = 1; rc == 0 && (n = getline(&line, &cap, f)) > 0; no++)
		if (!line_fits(line, (size_t)n, chain))
			rc = err_set(e, ERR_CORRUPT, "%s: line %zu does not fit the chain", path, no);
	fclose(f);
	return rc;
}
