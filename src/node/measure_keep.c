// SPDX-License-Identifier: Apache-2.0
/* measure_keep.c - one keeper for each running container of a training job
 *
 * It reads the log as a follower does (log_reader.c: a bounded piece a turn), but rests after each small piece, so that
 * a program that prints often does not wake the server for each line.  What counts is added to the file with its place
 * in the log in one write; a server that is killed goes on after the last line that is in the file.  What it had seen
 * since is read again, and nothing is added twice.
 *
 * The file is made anew, thinned out, when so many lines have been added that the old ones are mostly not needed.
 */
#include "node/measure_keep.h"

#include <fcntl.h>
#include <unistd.h>

#include "base/file.h"
#include "base/jsonx.h"
#include "base/log.h"
#include "base/measures.h"
#include "base/mem.h"

#define REST_MS     1000        /* after a piece that was small, */
#define SMALL_BYTES (32 * 1024) /* which is one of less than this; a flood is read as fast as others let us */
#define LINE_BYTES  4096        /* of a line that goes on are kept */
#define PIECE_MOST  (2u * 1024 * 1024)
#define MANY_LINES  8192 /* in the file before it is made anew */
#define RUNS_MOST   64   /* whose files are read for one answer: some milliseconds each at the very most */

struct measure_keeper {
	LIST_ENTRY(measure_keeper) link;
	struct loop *loop;
	char *uid, *log_path, *path;
	struct measures all;
	struct measures_mark at; /* the line that was read last */
	struct log_reader *reader;
	struct logs_listener listener;
	struct loop_timer rest;
	struct sbuf line, out;
	bool ending, warned;
};

static void keeper_free(struct measure_keeper *k)
{
	if (k->link.le_prev)
		LIST_REMOVE(k, link);
	logs_unlisten(&k->listener);
	log_reader_free(k->reader);
	loop_timer_done(&k->rest);
	measures_done(&k->all);
	sbuf_done(&k->line);
	sbuf_done(&k->out);
	free(k->uid);
	free(k->log_path);
	free(k->path);
	free(k);
}

bool measure_keep_wants(const json_t *pod)
{
	const json_t *labels = jsonx_at(pod, "metadata.labels");

	return json_object_get(labels, "training.kubeflow.org/job-name") ||
	       str_same(json_string_value(json_object_get(labels, "group-name")), "kubeflow.org") ||
	       json_object_get(jsonx_at(pod, "metadata.annotations"), "stoker.dev/gang");
}

char *measure_keep_path(const char *log_path)
{
	size_t n = strlen(log_path);

	if (str_ends(log_path, ".log"))
		n -= 4;
	return xasprintf("%.*s.measures", (int)n, log_path);
}

/* ---- the file ---- */

static void warn_once(struct measure_keeper *k, const char *what)
{
	if (!k->warned)
		log_warn("keep measurements path=%s: %s, ignoring", k->path, what);
	k->warned = true;
}

static void append(struct measure_keeper *k)
{
	auto_close int fd = open(k->path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);

	if (fd < 0 || write(fd, k->out.p, k->out.n) != (ssize_t)k->out.n)
		warn_once(k, "it cannot be written");
	sbuf_reset(&k->out);
}

static void write_anew(struct measure_keeper *k)
{
	auto_sbuf struct sbuf text = SBUF(MEASURES_TEXT);
	struct err e = ERR_INIT;

	measures_write(&k->all, &text);
	if (file_place(k->path, 0600, sbuf_str(&text), &e) < 0)
		warn_once(k, e.text);
	k->all.lines = 0;
	sbuf_reset(&k->out);
}

static void save(struct measure_keeper *k)
{
	if (k->all.lines > MANY_LINES || k->out.over)
		write_anew(k);
	else if (k->out.n)
		append(k);
}

/* False if the file is broken; what was good of it is in *ret then. */
static bool load(const char *path, struct measures *ret)
{
	auto_sbuf struct sbuf text = SBUF(MEASURES_TEXT);
	struct err e = ERR_INIT;

	measures_init(ret);
	if (access(path, F_OK) < 0)
		return true;
	if (file_read(path, MEASURES_TEXT, &text, &e) < 0)
		return false;
	return measures_read(ret, sbuf_str(&text)) == text.n;
}

/* ---- lines ---- */

/* Counts the lines of one moment: many can share it.  False for one that was taken before. */
static bool step_on(struct measure_keeper *k, int64_t us)
{
	const struct measures_mark *done = &k->all.mark;

	if (us != k->at.us)
		k->at = (struct measures_mark){ us, 0 };
	k->at.nth++;
	return us != done->us || k->at.nth > done->nth;
}

static void take_line(struct measure_keeper *k, struct str line)
{
	struct measure what;
	int64_t us;

	if (!measures_cut_time(&line, &us) || !step_on(k, us) || !measure_read(line, &what))
		return;
	measures_add(&k->all, &what, us);
	k->all.mark = k->at;
	k->all.lines++;
	measures_write_line(&what, &k->at, &k->out);
}

static void end_line(struct measure_keeper *k)
{
	if (k->line.n)
		take_line(k, sbuf_str(&k->line));
	sbuf_reset(&k->line);
}

/* A progress bar may redraw itself for hours before its line ends: the last drawing is kept, with the line's time. */
static void shorten(struct sbuf *line)
{
	const char *space = line->n > LINE_BYTES ? memchr(line->p, ' ', line->n) : NULL;
	size_t head = space ? (size_t)(space + 1 - line->p) : 0;
	size_t end = line->n;
	const char *cr;

	if (line->n <= LINE_BYTES)
		return;
	while (end > head && line->p[end - 1] == '\r')
		end--;
	cr = memrchr(line->p + head, '\r', end - head);
	if (cr) {
		size_t from = (size_t)(cr + 1 - line->p);

		memmove(line->p + head, line->p + from, line->n - from);
		line->n -= from - head;
	}
	if (line->n > LINE_BYTES)
		line->n = LINE_BYTES;
}

static void on_text(void *arg, struct str piece)
{
	struct measure_keeper *k = arg;
	struct str rest = piece;
	const char *nl;

	while (rest.n && (nl = memchr(rest.p, '\n', rest.n))) {
		size_t n = (size_t)(nl - rest.p);

		if (k->line.n) {
			sbuf_add(&k->line, rest.p, n);
			end_line(k);
		} else {
			take_line(k, (struct str){ rest.p, n });
		}
		rest = (struct str){ nl + 1, rest.n - n - 1 };
	}
	sbuf_add(&k->line, rest.p, rest.n);
	shorten(&k->line);
	save(k);
	if (piece.n < SMALL_BYTES && !k->ending) {
		log_reader_pause(k->reader, true);
		loop_timer_set(k->loop, &k->rest, REST_MS);
	}
}

static void on_rested(void *arg)
{
	struct measure_keeper *k = arg;

	log_reader_pause(k->reader, false);
}

/* ---- life ---- */

static void on_end(void *arg)
{
	struct measure_keeper *k = arg;

	end_line(k);
	save(k);
	measures_write_end(&k->out);
	append(k);
	keeper_free(k);
}

static void on_container_ended(void *arg)
{
	struct measure_keeper *k = arg;

	k->ending = true;
	loop_timer_clear(&k->rest);
	log_reader_pause(k->reader, false);
	log_reader_ended(k->reader);
}

static struct measure_keeper *find_keeper(const struct measure_keepers *list, const char *log_path)
{
	struct measure_keeper *k;

	LIST_FOREACH(k, list, link)
	if (streq(k->log_path, log_path))
		return k;
	return NULL;
}

void measure_keep_start(struct loop *loop, struct logs *logs, struct measure_keepers *list, const char *uid,
			const char *log_path)
{
	struct measure_keeper *k;
	struct log_options o = {
		.follow = true, .timestamps = true, .tail_lines = -1, .limit_bytes = -1, .watch = logs_watch(logs)
	};
	struct err e = ERR_INIT;

	if (find_keeper(list, log_path))
		return;
	k = xcalloc(1, sizeof(*k));
	k->loop = loop;
	k->uid = xstrdup(uid);
	k->log_path = xstrdup(log_path);
	k->path = measure_keep_path(log_path);
	k->rest = (struct loop_timer){ .fire = on_rested, .arg = k };
	k->line = SBUF(PIECE_MOST);
	k->out = SBUF(MEASURES_TEXT);
	if (!load(k->path, &k->all))
		write_anew(k);
	o.since_us = k->all.mark.us;
	if (k->all.ended || log_reader_new(loop, log_path, &o, on_text, on_end, k, &k->reader, &e) < 0) {
		if (!k->all.ended)
			warn_once(k, e.text);
		keeper_free(k);
		return;
	}
	k->listener = (struct logs_listener){ .path = k->log_path, .ended = on_container_ended, .arg = k };
	logs_listen(logs, &k->listener);
	LIST_INSERT_HEAD(list, k, link);
}

void measure_keep_pod_ended(struct measure_keepers *list, const char *uid)
{
	struct measure_keeper *k;

	LIST_FOREACH(k, list, link)
	if (streq(k->uid, uid))
		on_container_ended(k);
}

void measure_keep_stop(struct measure_keepers *list)
{
	struct measure_keeper *k;

	while ((k = LIST_FIRST(list)))
		keeper_free(k);
}

/* ---- asked for ---- */

/* Calls `fn` with each run that has measurements, oldest first. */
static void each_run(const json_t *pods, void (*fn)(void *arg, const struct measures_place *at, const char *path),
		     void *arg)
{
	json_t *pod, *container, *attempt;
	size_t i, j, n;

	json_array_foreach (pods, i, pod)
		json_array_foreach (json_object_get(pod, "containers"), j, container)
			json_array_foreach (json_object_get(container, "attempts"), n, attempt) {
				auto_free char *path = measure_keep_path(jsonx_str_or(attempt, "path", ""));
				struct measures_place at = { jsonx_str_or(pod, "pod", ""),
							     jsonx_str_or(container, "name", ""),
							     (int)jsonx_int_or(attempt, "attempt", 0) };

				if (access(path, F_OK) == 0)
					fn(arg, &at, path);
			}
}

struct answer {
	json_t *series;
	size_t runs, skip;
};

static void count_run(void *arg, const struct measures_place *at, const char *path)
{
	struct answer *a = arg;

	(void)at;
	(void)path;
	a->runs++;
}

static void add_run(void *arg, const struct measures_place *at, const char *path)
{
	struct answer *a = arg;
	auto_measures struct measures m = MEASURES;

	if (a->skip) {
		a->skip--;
		return;
	}
	load(path, &m);
	measures_json(&m, at, a->series);
}

json_t *measure_keep_find(const json_t *pods)
{
	struct answer a = { .series = json_array() };

	each_run(pods, count_run, &a);
	a.skip = a.runs > RUNS_MOST ? a.runs - RUNS_MOST : 0;
	size_t left = a.skip;

	each_run(pods, add_run, &a);
	return json_pack("{s:o, s:I}", "series", a.series, "left", (json_int_t)left);
}
