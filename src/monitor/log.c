// SPDX-License-Identifier: Apache-2.0
/* log.c - the container's output as a log in the CRI form, rotated here
 *
 *	2006-01-02T15:04:05.123456789Z stdout F a whole line
 *
 * P instead of F is a part of a line that goes on: lines are cut at MONITOR_LOG_PART, and a line whose end does not
 * come within LINE_WAIT_MS (a prompt, a progress bar) is written as far as it is there.
 *
 * The log can never stop the container.  A file that is too long is put aside and the oldest is removed.  On a full
 * disk whole lines are dropped, never a piece of one, and counted; the next one that fits is preceded by a note.  For a
 * log the disk is full before it is for others: the server's store is there too, and needs the rest more.  A flood is
 * slowed down to what a disk can stand: the container waits for its pipe.
 */
#include <asm/statfs.h>
#include <errno.h>
#include <fcntl.h>

#include "monitor/monitor.h"
#include "monitor/sys.h"

#define HEAD_MAX     48 /* time, stream, tag */
#define WINDOW_MS    100
#define WINDOW_BYTES (8 * 1024 * 1024)
#define SPARE_PART   16 /* of the file system stays free, */
#define SPARE_MAX    (256LL * 1024 * 1024)

void log_open(struct log *l)
{
	l->fd = (int)sys_open(l->path, O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW, 0640);
	l->size = l->fd < 0 ? 0 : SYS(SYS_lseek, l->fd, 0, 2);
}

void log_reopen(struct log *l)
{
	log_flush(l);
	sys_close(l->fd);
	log_open(l);
}

/* --- rotation --- */

/* LOG or LOG.N */
static bool part_name(const struct log *l, int number, char *out)
{
	char *end;

	if (text_len(l->path) > PATH_BYTES - 8)
		return false;
	end = text_add(out, l->path);
	if (number) {
		*end++ = '.';
		end = text_add_number(end, (uint64_t)number, 1);
	}
	*end = '\0';
	return true;
}

static void rotate(struct log *l)
{
	char from[PATH_BYTES], to[PATH_BYTES];

	for (int i = MONITOR_LOG_FILES - 1; i > 0; i--)
		if (part_name(l, i - 1, from) && part_name(l, i, to))
			SYS(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0);
	sys_close(l->fd);
	log_open(l);
}

/* --- writing --- */

static uint32_t count_lines(const char *text, uint32_t n)
{
	uint32_t lines = 0;

	for (uint32_t i = 0; i < n; i++)
		lines += text[i] == '\n';
	return lines;
}

/* Writes all of out[0..n) or as many whole lines as fit; returns what is in the file. */
static uint32_t write_lines(struct log *l, const char *text, uint32_t n)
{
	uint32_t at = 0, whole;
	long rc = 0;

	while (at < n && (rc = sys_write(l->fd, text + at, n - at)) != 0) {
		if (rc == -EINTR)
			continue;
		if (rc < 0)
			break;
		at += (uint32_t)rc;
	}
	whole = at;
	while (whole && text[whole - 1] != '\n')
		whole--;
	l->size += whole;
	if (whole < at)
		SYS(SYS_ftruncate, l->fd, l->size);
	return whole;
}

static char *head(struct log *l, unsigned char stream, char tag, char *at);

static void tell_dropped(struct log *l)
{
	char note[HEAD_MAX + 96], *end;

	if (!l->not_told)
		return;
	end = head(l, MONITOR_STDERR, 'F', note);
	end = text_add(end, "stoker: ");
	end = text_add_number(end, l->not_told, 1);
	end = text_add(end, " lines are missing here: there was no room for them\n");
	if (write_lines(l, note, (uint32_t)(end - note)))
		l->not_told = 0;
}

/* Leaves the file system enough for others? */
static bool has_room(const struct log *l)
{
	struct statfs fs;
	int64_t spare;

	if (SYS(SYS_fstatfs, l->fd, &fs) < 0 || !fs.f_blocks)
		return true;
	spare = (int64_t)fs.f_blocks / SPARE_PART * (int64_t)fs.f_bsize;
	if (spare > SPARE_MAX)
		spare = SPARE_MAX;
	return (int64_t)fs.f_bavail * (int64_t)fs.f_bsize >= spare + l->n;
}

void log_flush(struct log *l)
{
	uint32_t written = 0, lost;

	if (!l->n)
		return;
	if (l->size && l->size + l->n > MONITOR_LOG_BYTES)
		rotate(l);
	if (l->fd < 0)
		log_open(l);
	if (l->fd >= 0 && has_room(l)) {
		tell_dropped(l);
		written = write_lines(l, l->out, l->n);
	}
	lost = count_lines(l->out + written, l->n - written);
	l->dropped += lost;
	l->not_told += lost;
	l->window_bytes += l->n;
	l->n = 0;
}

int log_wait_ms(struct log *l, int64_t now_ms)
{
	if (now_ms - l->window_ms >= WINDOW_MS || now_ms < l->window_ms) {
		l->window_ms = now_ms;
		l->window_bytes = 0;
	}
	return l->window_bytes > WINDOW_BYTES ? (int)(l->window_ms + WINDOW_MS - now_ms) : 0;
}

/* --- lines --- */

/* Days since 1970 to a date, counting years from March so that the leap day is the last. */
static void make_date(struct log *l, int64_t second)
{
	int64_t days = second / 86400, rest = second % 86400;
	int64_t z = days + 719468, era = z / 146097, day = z - era * 146097;
	int64_t year = (day - day / 1460 + day / 36524 - day / 146096) / 365;
	int64_t in_year = day - (365 * year + year / 4 - year / 100), month = (5 * in_year + 2) / 153;
	int64_t of_month = in_year - (153 * month + 2) / 5 + 1;
	char *at = l->date;

	month += month < 10 ? 3 : -9;
	at = text_add_number(at, (uint64_t)(year + era * 400 + (month <= 2)), 4);
	*at++ = '-';
	at = text_add_number(at, (uint64_t)month, 2);
	*at++ = '-';
	at = text_add_number(at, (uint64_t)of_month, 2);
	*at++ = 'T';
	at = text_add_number(at, (uint64_t)(rest / 3600), 2);
	*at++ = ':';
	at = text_add_number(at, (uint64_t)(rest / 60 % 60), 2);
	*at++ = ':';
	at = text_add_number(at, (uint64_t)(rest % 60), 2);
	*at = '\0';
	l->second = second;
}

static char *head(struct log *l, unsigned char stream, char tag, char *at)
{
	uint32_t ns;
	int64_t second = sys_clock_wall(&ns);

	if (second != l->second)
		make_date(l, second);
	at = text_add(at, l->date);
	*at++ = '.';
	at = text_add_number(at, ns, 9);
	at = text_add(at, stream == MONITOR_STDERR ? "Z stderr " : "Z stdout ");
	*at++ = tag;
	*at++ = ' ';
	return at;
}

static void add_record(struct log *l, const struct stream *s, char tag, const char *first, size_t n_first,
		       const char *second, size_t n_second)
{
	char *at;

	if (l->n + HEAD_MAX + n_first + n_second > OUT_MAX)
		log_flush(l);
	at = head(l, s->number, tag, l->out + l->n);
	memcpy(at, first, n_first);
	memcpy(at + n_first, second, n_second);
	at += n_first + n_second;
	*at++ = '\n';
	l->n = (uint32_t)(at - l->out);
}

static size_t find_newline(const char *text, size_t n)
{
	size_t i = 0;

	while (i < n && text[i] != '\n')
		i++;
	return i;
}

void log_take(struct log *l, struct stream *s, const char *text, size_t n)
{
	while (n) {
		size_t room = MONITOR_LOG_PART - s->n, len = find_newline(text, n < room ? n : room);

		if (len < n && len < room) {
			add_record(l, s, 'F', s->line, s->n, text, len);
			s->n = 0;
			text += len + 1;
			n -= len + 1;
		} else if (len == room && len < n) {
			/* Whether the line ends just here is known: more is there. */
			bool ends = text[len] == '\n';

			add_record(l, s, ends ? 'F' : 'P', s->line, s->n, text, len);
			s->n = 0;
			text += len + ends;
			n -= len + ends;
		} else {
			if (!s->n)
				s->since_ms = sys_clock_ms();
			memcpy(s->line + s->n, text, len);
			s->n += (uint32_t)len;
			text += len;
			n -= len;
		}
	}
}

void log_part(struct log *l, struct stream *s)
{
	if (s->n)
		add_record(l, s, 'P', s->line, s->n, "", 0);
	s->n = 0;
}
