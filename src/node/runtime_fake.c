// SPDX-License-Identifier: Apache-2.0
/* runtime_fake.c - containers that are only timers, for everything above the runtime to be tested without root
 *
 * The bundle's config.json is the script, by annotations:
 *	stoker.dev/fake-seconds       how long it runs (a fraction is fine); for ever if absent
 *	stoker.dev/fake-exit-code     how it ends then; if this one is given alone, at once
 *	stoker.dev/fake-oom           "true": the end is the OOM killer's
 *	stoker.dev/fake-start-error   the start fails with this text
 *	stoker.dev/fake-ignore-term   "true": only SIGKILL ends it
 *	stoker.dev/fake-log           one more line for the log
 * One small file a container in DIR/run/fake holds its start, its script and its end.  The end is a date, so a
 *container "goes on" while no server is there and the next one finds out how it ended.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/jsonx.h"
#include "base/mem.h"
#include "node/runtime_parts.h"

#define FAKE_PID     1000000 /* above any default pid_max a test machine has in use */
#define FAKE_FOREVER (INT64_MAX / 4)
#define CONFIG_MAX   (4u * 1024 * 1024)
#define KEY          "stoker.dev/fake-"

struct fake {
	struct runtime base;
	char *dir;
	struct map boxes;
	pid_t last_pid;
};

struct fake_box {
	struct fake *fake;
	char *id;
	json_t *state; /* as in its file: pid started ends code oom ignore-term finished signal */
	bool ended;
	struct loop_timer timer;
	/* While starting: */
	struct loop_hook begin;
	struct err error;
	void (*done)(void *arg, pid_t pid, const struct err *e);
	void *arg;
};

struct fake_exec {
	struct fake *fake;
	struct loop_hook hook;
	void (*done)(void *arg, int status, const struct err *e);
	void *arg;
	bool missing;
};

static void fake_box_free(void *box)
{
	struct fake_box *b = box;

	loop_unschedule(b->fake->base.loop, &b->begin);
	loop_timer_done(&b->timer);
	json_decref(b->state);
	free(b->id);
	free(b);
}

static int save(struct fake_box *b, struct err *e)
{
	auto_sbuf struct sbuf text = SBUF(CONFIG_MAX);

	jsonx_dump(b->state, &text);
	return state_write(b->fake->dir, b->id, sbuf_str(&text), e);
}

static int64_t number(const struct fake_box *b, const char *key)
{
	return jsonx_int_or(b->state, key, 0);
}

static struct exit_info exit_of(const struct fake_box *b)
{
	return (struct exit_info){
		.code = (int)number(b, "code"),
		.signal = (int)number(b, "signal"),
		.oom = jsonx_bool_or(b->state, "oom", false),
		.finished_us = number(b, "ends"),
	};
}

static void tell_end(struct fake_box *b)
{
	struct runtime *r = &b->fake->base;
	struct exit_info exit = exit_of(b);
	auto_free char *id = xstrdup(b->id);

	b->ended = true;
	r->events.exited(r->events.arg, id, &exit);
}

/* Timers count milliseconds and dates microseconds: the last fraction is waited for too. */
static void set_timer(struct fake_box *b)
{
	int64_t left = number(b, "ends") - clock_wall_micros();

	if (number(b, "ends") < FAKE_FOREVER)
		loop_timer_set(b->fake->base.loop, &b->timer, left > 0 ? (left + 999) / 1000 : 0);
}

static void on_timer(void *arg)
{
	tell_end(arg);
}

static void on_begin(void *arg)
{
	struct fake_box *b = arg;
	struct fake *f = b->fake;
	void (*done)(void *, pid_t, const struct err *) = b->done;
	void *done_arg = b->arg;
	struct err error = b->error;

	if (error.kind != ERR_NONE) {
		map_remove(&f->boxes, b->id);
		done(done_arg, 0, &error);
		return;
	}
	/* Before done(), which may remove it; the end itself comes from a later turn. */
	set_timer(b);
	done(done_arg, (pid_t)number(b, "pid"), NULL);
}

static void write_log(const char *path, const char *text)
{
	char now[CLOCK_MICRO_LEN];
	auto_free char *line = NULL;
	auto_close int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0640);
	ssize_t n;

	clock_rfc3339_micro(clock_wall_micros(), now);
	line = xasprintf("%s stdout F %s\n", now, text);
	n = fd < 0 ? -1 : write(fd, line, strlen(line));
	(void)n;
}

static const char *note(const json_t *config, const char *key)
{
	return json_string_value(json_object_get(json_object_get(config, "annotations"), key));
}

static json_t *script(struct fake *f, const json_t *config)
{
	const char *seconds = note(config, KEY "seconds"), *code = note(config, KEY "exit-code");
	int64_t start = clock_wall_micros(), ends = FAKE_FOREVER, status = 0;

	if (seconds)
		ends = start + (int64_t)(strtod(seconds, NULL) * 1e6);
	else if (code)
		ends = start;
	if (code)
		str_int64(code, 0, 255, &status);
	return json_pack("{s:I, s:I, s:I, s:I, s:b, s:b}", "pid", (json_int_t)++f->last_pid, "started",
			 (json_int_t)start, "ends", (json_int_t)ends, "code", (json_int_t)status, "oom",
			 str_same(note(config, KEY "oom"), "true"), "ignore-term",
			 str_same(note(config, KEY "ignore-term"), "true"));
}

static int begin(struct fake_box *b, const struct container_start *c, struct err *e)
{
	json_auto_t *config = state_read_json(c->bundle, "config.json");
	const char *error = note(config, KEY "start-error"), *line = note(config, KEY "log");

	if (!config)
		return err_set(e, ERR_UNAVAILABLE, "cannot read %s/config.json", c->bundle);
	if (error)
		return err_set(e, ERR_INVALID, "%s", error);
	b->state = script(b->fake, config);
	write_log(c->log_path, "started by the fake runtime");
	if (line)
		write_log(c->log_path, line);
	return save(b, e);
}

static void fake_start(struct runtime *r, const struct container_start *c,
		       void (*done)(void *arg, pid_t pid, const struct err *e), void *arg)
{
	struct fake *f = (struct fake *)r;
	struct fake_box *b = xcalloc(1, sizeof(*b));

	b->fake = f;
	b->id = xstrdup(c->id);
	b->done = done;
	b->arg = arg;
	b->error = ERR_INIT;
	b->timer = (struct loop_timer){ .fire = on_timer, .arg = b };
	b->begin = (struct loop_hook){ .run = on_begin, .arg = b, .phase = LOOP_WORK };
	if (map_find(&f->boxes, c->id)) {
		err_set(&b->error, ERR_EXISTS, "container %s exists already", c->id);
		done(arg, 0, &b->error);
		fake_box_free(b);
		return;
	}
	map_set(&f->boxes, b->id, b);
	(void)begin(b, c, &b->error);
	loop_schedule(r->loop, &b->begin);
}

static bool deadly(const struct fake_box *b, int signo)
{
	if (signo == SIGKILL)
		return true;
	return signo != 0 && signo != SIGCHLD && signo != SIGWINCH && signo != SIGCONT &&
	       !jsonx_bool_or(b->state, "ignore-term", false);
}

static int fake_kill(struct runtime *r, const char *id, int signo, bool all, struct err *e)
{
	struct fake_box *b = map_find(&((struct fake *)r)->boxes, id);

	(void)all;
	if (!b || b->ended || !b->state || number(b, "signal") || !deadly(b, signo))
		return 0;
	json_object_set_new(b->state, "code", json_integer(128 + signo));
	json_object_set_new(b->state, "signal", json_integer(signo));
	json_object_set_new(b->state, "ends", json_integer(clock_wall_micros()));
	set_timer(b);
	return save(b, e);
}

static void fake_remove(struct runtime *r, const char *id)
{
	struct fake *f = (struct fake *)r;
	struct fake_box *b = map_find(&f->boxes, id);
	auto_free char *path = xasprintf("%s/%s", f->dir, id);

	if (!b)
		return;
	unlink(path);
	if (b->begin.queued) {
		err_set(&b->error, ERR_CONFLICT, "container %s was removed while it was being started", id);
		return;
	}
	map_remove(&f->boxes, id);
}

static void on_exec(void *arg)
{
	struct fake_exec *x = arg;
	struct err error = ERR_INIT;

	if (x->missing)
		err_set(&error, ERR_NOT_FOUND, "the container is not running");
	x->done(x->arg, x->missing ? -1 : 0, x->missing ? &error : NULL);
	free(x);
}

/* Every command succeeds and says nothing. */
static void *fake_exec(struct runtime *r, const struct exec_start *start,
		       void (*done)(void *arg, int status, const struct err *e), void *arg)
{
	struct fake *f = (struct fake *)r;
	struct fake_box *b = map_find(&f->boxes, start->id);
	struct fake_exec *x = xcalloc(1, sizeof(*x));

	*x = (struct fake_exec){ .fake = f, .done = done, .arg = arg, .missing = !b || b->ended };
	x->hook = (struct loop_hook){ .run = on_exec, .arg = x, .phase = LOOP_WORK };
	loop_schedule(r->loop, &x->hook);
	return x;
}

static void fake_exec_kill(struct runtime *r, void *exec)
{
	(void)r;
	(void)exec;
}

static int fake_exec_resize(struct runtime *r, void *exec, int rows, int cols, struct err *e)
{
	(void)r;
	(void)exec;
	(void)rows;
	(void)cols;
	return err_set(e, ERR_UNAVAILABLE, "the fake runtime has no terminals");
}

static int fake_attach(struct runtime *r, const char *id, struct err *e)
{
	(void)r;
	return err_set(e, ERR_UNAVAILABLE, "cannot attach to container %s: the fake runtime has no streams", id);
}

static int fake_resize(struct runtime *r, const char *id, int rows, int cols, struct err *e)
{
	(void)id;
	return fake_exec_resize(r, NULL, rows, cols, e);
}

static int fake_reopen_log(struct runtime *r, const char *id, struct err *e)
{
	(void)r;
	(void)id;
	(void)e;
	return 0;
}

static void find_one(struct fake *f, const char *id, void (*fn)(void *, const struct found *), void *arg)
{
	struct fake_box *b = xcalloc(1, sizeof(*b));
	struct found found = { .id = id };

	b->fake = f;
	b->id = xstrdup(id);
	b->timer = (struct loop_timer){ .fire = on_timer, .arg = b };
	b->state = state_read_json(f->dir, id);
	if (!b->state) {
		fake_box_free(b);
		return;
	}
	map_set(&f->boxes, id, b);
	found.pid = (pid_t)number(b, "pid");
	if (found.pid > f->last_pid)
		f->last_pid = found.pid;
	found.started_us = number(b, "started");
	found.running = number(b, "ends") > clock_wall_micros();
	b->ended = !found.running;
	if (found.running)
		set_timer(b);
	else
		found.exit = exit_of(b);
	fn(arg, &found);
}

static int fake_adopt(struct runtime *r, void (*fn)(void *arg, const struct found *f), void *arg, struct err *e)
{
	struct fake *f = (struct fake *)r;
	size_t n = 0, cap = 0;
	char **ids = NULL;
	DIR *dir = opendir(f->dir);
	struct dirent *d;

	if (!dir)
		return err_errno(e, ERR_INTERNAL, "%s", f->dir);
	while ((d = readdir(dir)))
		if (d->d_name[0] != '.' && !map_find(&f->boxes, d->d_name))
			ARRAY_PUSH(ids, n, cap, xstrdup(d->d_name));
	closedir(dir);
	for (size_t i = 0; i < n; i++) {
		find_one(f, ids[i], fn, arg);
		free(ids[i]);
	}
	free(ids);
	return 0;
}

static void fake_free(struct runtime *r)
{
	struct fake *f = (struct fake *)r;

	map_done(&f->boxes);
	free(f->dir);
	free(f);
}

static const struct runtime_ops fake_ops = {
	.name = "fake",
	.start = fake_start,
	.kill = fake_kill,
	.remove = fake_remove,
	.exec = fake_exec,
	.exec_kill = fake_exec_kill,
	.exec_resize = fake_exec_resize,
	.attach = fake_attach,
	.resize = fake_resize,
	.reopen_log = fake_reopen_log,
	.adopt = fake_adopt,
	.free = fake_free,
};

int fake_open(struct loop *loop, const struct runtime_config *config, struct runtime **ret, struct err *e)
{
	struct fake *f = xcalloc(1, sizeof(*f));

	f->base = (struct runtime){ .ops = &fake_ops, .loop = loop };
	f->dir = xasprintf("%s/run/fake", config->dir);
	f->last_pid = FAKE_PID;
	map_init(&f->boxes, fake_box_free);
	if (file_make_dirs(f->dir, 0700, e) < 0) {
		fake_free(&f->base);
		return -1;
	}
	*ret = &f->base;
	return 0;
}
