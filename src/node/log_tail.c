// SPDX-License-Identifier: Apache-2.0
/* log_tail.c - the last words of a container, for its status
 *
 * Read at once and not in the loop's turns: a status needs little, and what is read is bounded by it.  Each byte of
 * text costs at most a record's head beside it.
 */
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "node/log_parts.h"
#include "node/logs.h"

#define HEAD_BYTES 48
#define READ_MAX   (1024 * 1024)

/* Up to `want` bytes from the end of the parts, in front of which a record may be cut off. */
static void read_back(const struct log_parts *p, size_t want, struct sbuf *out)
{
	size_t sizes[LOG_PARTS] = { 0 };
	size_t first = p->n;
	size_t have = 0;

	while (first > 0 && have < want) {
		struct stat st;

		first--;
		sizes[first] = fstat(p->fds[first], &st) == 0 ? (size_t)st.st_size : 0;
		have += sizes[first];
	}
	for (size_t i = first; i < p->n; i++) {
		size_t skip = have > want ? have - want : 0;
		size_t n;
		auto_free char *buf = NULL;
		ssize_t got;

		skip = skip < sizes[i] ? skip : sizes[i];
		n = sizes[i] - skip;
		have -= skip;
		buf = xmalloc(n + 1);
		got = pread(p->fds[i], buf, n, (off_t)skip);
		if (got > 0)
			sbuf_add(out, buf, (size_t)got);
	}
}

/* The last `lines` lines, and of them the last `bytes` bytes, beginning with a whole character. */
static struct str cut(struct str text, size_t bytes, int lines)
{
	size_t at = text.n - (text.n && text.p[text.n - 1] == '\n');

	while (at > 0 && (text.p[at - 1] != '\n' || --lines > 0))
		at--;
	if (text.n - at > bytes)
		at = text.n - bytes;
	while (at && at < text.n && ((unsigned char)text.p[at] & 0xc0) == 0x80)
		at++;
	return (struct str){ text.p + at, text.n - at };
}

void log_tail(const char *path, size_t bytes, int lines, struct sbuf *out)
{
	size_t want = bytes < READ_MAX / HEAD_BYTES ? bytes * HEAD_BYTES : READ_MAX;
	auto_sbuf struct sbuf raw = SBUF(READ_MAX);
	auto_sbuf struct sbuf text = SBUF(READ_MAX);
	struct log_parts parts;
	struct err e = ERR_INIT;
	struct str rest;
	struct str line;
	struct str said;

	if (!bytes || lines <= 0 || log_parts_open(path, &parts, &e) < 0)
		return;
	read_back(&parts, want, &raw);
	log_parts_close(&parts);
	rest = sbuf_str(&raw);
	while (rest.n && str_split(&rest, '\n', &line)) {
		bool is_stderr;
		bool partial;
		int64_t us;

		if (!log_line_parse(line, &us, &is_stderr, &partial, &said))
			continue;
		sbuf_add(&text, said.p, said.n);
		if (!partial)
			sbuf_addc(&text, '\n');
	}
	if (!text.n)
		return;
	said = cut(sbuf_str(&text), bytes, lines);
	sbuf_add(out, said.p, said.n);
}
