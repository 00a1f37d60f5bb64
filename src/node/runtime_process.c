// SPDX-License-Identifier: Apache-2.0
/* runtime_process.c - processes of the host: what differs from containers
 *
 * The monitor reads the file "process" in its directory and starts the process itself (monitor/process.c).  The file
 * stays as long as the container would: the next server and every exec beside it take from there who the user is and
 * what the environment was.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>

#include "base/file.h"
#include "base/jsonx.h"
#include "base/mem.h"
#include "node/process_spec.h"
#include "node/runtime_parts.h"

#define JOINS_MAX (64u * 1024)

bool box_is_process(const struct box *b)
{
	return !*b->bundle;
}

/* --- the start --- */

/* Where it has no group of its own it must leave the server's, as monitors do: "ROOT/stoker-x/..." is in `joins` for
 * the same ROOT, or the line counts. */
static void add_rest(struct sbuf *out, const char *joins, const char *monitors)
{
	struct str rest = str_of(monitors), line;

	while (rest.n && str_split(&rest, '\n', &line)) {
		auto_free char *path = xstrndup(line.p, line.n);
		char *group = strstr(path, "/stoker-");

		if (group)
			group[strlen("/stoker-")] = '\0';
		if (group && !strstr(joins, path))
			sbuf_addf(out, "%.*s\n", STR_FMT(line));
	}
}

static int write_spec(const struct box *b, const json_t *process, const char *joins, struct err *e)
{
	auto_sbuf struct sbuf text = SBUF(PROCESS_SPEC_MAX), all = SBUF(JOINS_MAX);
	auto_free char *path = xasprintf("%s/" MONITOR_PROCESS, b->dir);
	auto_close int fd = -1;

	sbuf_adds(&all, joins);
	add_rest(&all, joins, b->oci->join);
	if (process_spec_encode(process, all.p ? all.p : "", &text, e) < 0)
		return -1;
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0 || write(fd, text.p, text.n) != (ssize_t)text.n)
		return err_errno(e, errno == ENOSPC ? ERR_STORAGE_FULL : ERR_INTERNAL, "cannot write %s", path);
	return 0;
}

int process_record(const struct box *b, const struct container_start *c, struct err *e)
{
	if (c->process)
		return write_spec(b, c->process, c->joins ? c->joins : "", e);
	return c->files ? write_spec(b, c->files, "", e) : 0;
}

/* --- afterwards --- */

static bool read_spec(const struct box *b, struct sbuf *out)
{
	auto_free char *path = xasprintf("%s/" MONITOR_PROCESS, b->dir);
	struct err e = ERR_INIT;

	return file_read(path, PROCESS_SPEC_MAX, out, &e) == 0 && out->n;
}

void process_failed(const struct box *b, const struct monitor_record *record, struct err *e)
{
	static const struct {
		uint32_t step;
		const char *word, *what, *field;
	} rows[] = {
		{ MONITOR_STEP_STDOUT, START_NO_OUTPUT, "cannot write the output file", "stdout" },
		{ MONITOR_STEP_STDERR, START_NO_OUTPUT, "cannot write the error file", "stderr" },
		{ MONITOR_STEP_CHDIR, START_NO_DIR, "cannot enter the working directory", "cwd" },
		{ MONITOR_STEP_EXEC, START_NO_EXEC, "cannot execute the program", "program" },
		{ MONITOR_STEP_MEMORY, START_NO_MEMORY, "its memory is too little to execute", "program" },
	};
	auto_sbuf struct sbuf text = SBUF(PROCESS_SPEC_MAX);
	json_auto_t *spec = read_spec(b, &text) ? process_spec_decode(sbuf_str(&text)) : NULL;

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (rows[i].step == record->step) {
			const char *path = jsonx_str_or(spec, rows[i].field, "");

			err_set(e, ERR_INVALID, "%s: %s%s%s: %s", rows[i].word, rows[i].what, *path ? " " : "", path,
				strerror(record->code));
			return;
		}
	err_set(e, ERR_UNAVAILABLE, "cannot start a process: %s", strerror(record->code));
}

json_t *oci_process(struct runtime *r, const char *id)
{
	struct box *b = map_find(&((struct oci *)r)->boxes, id);
	auto_sbuf struct sbuf text = SBUF(PROCESS_SPEC_MAX);

	return b && box_is_process(b) && read_spec(b, &text) ? process_spec_decode(sbuf_str(&text)) : NULL;
}

/* A description that only a descriptor leads to. */
static int spec_in_memory(struct str text, struct err *e)
{
	int fd = memfd_create(MONITOR_PROCESS, MFD_CLOEXEC);

	if (fd >= 0 && write(fd, text.p, text.n) == (ssize_t)text.n)
		return fd;
	err_errno(e, ERR_UNAVAILABLE, "cannot describe a process");
	if (fd >= 0)
		close(fd);
	return -1;
}

pid_t process_exec(const struct box *b, const struct exec_start *start, struct err *e)
{
	static const char *const argv[] = { MONITOR_NAME, MONITOR_EXEC, NULL };
	auto_sbuf struct sbuf old = SBUF(PROCESS_SPEC_MAX), text = SBUF(PROCESS_SPEC_MAX);
	auto_free char *joins = read_spec(b, &old) ? process_spec_joins(sbuf_str(&old)) : NULL;
	json_auto_t *process = json_copy((json_t *)start->process);
	auto_close int fd = -1;
	struct spawn s = {
		.argv = argv,
		.program_fd = b->oci->monitor_program,
		.fds = { start->stdin_fd, start->tty ? start->stdin_fd : start->stdout_fd,
			 start->tty ? start->stdin_fd : start->stderr_fd },
		.tty = start->tty,
	};

	/* The first argument is the program now. */
	json_object_del(process, "program");
	if (!joins)
		return err_set(e, ERR_NOT_FOUND, "container %s has left no description", b->id);
	if (process_spec_encode(process, joins, &text, e) < 0 || (fd = spec_in_memory(sbuf_str(&text), e)) < 0)
		return -1;
	s.pass[0] = fd;
	return spawn_start(&s, e);
}
