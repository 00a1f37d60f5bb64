// SPDX-License-Identifier: Apache-2.0
#include "node/logs.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/jsonx.h"
#include "base/log.h"
#include "base/mem.h"
#include "node/log_door.h"
#include "node/pod.h"
#include "test.h"

#define NOON 1763208000

struct shelf {
	struct loop *loop;
	struct logs *logs;
	struct logs_config config;
	char *dir;
	/* what a log said */
	struct sbuf got;
	int ended;
};

static struct shelf shelf_new(int64_t keep, int64_t max)
{
	struct shelf s = { .loop = loop_new(), .got = SBUF(1 << 20) };
	struct err e = ERR_INIT;

	log_set_level(LOG_ERROR);
	s.dir = xasprintf("%s/shelf-XXXXXX", test_dir());
	if (!mkdtemp(s.dir))
		abort();
	s.config = (struct logs_config){ .dir = s.dir, .keep_seconds = keep, .max_bytes = max };
	CHECK_INT(logs_open(s.loop, &s.config, &s.logs, &e), 0);
	return s;
}

static void shelf_done(struct shelf *s)
{
	logs_free(s->logs);
	loop_free(s->loop);
	sbuf_done(&s->got);
	free(s->dir);
	clock_fake(-1);
}

static void shelf_reopen(struct shelf *s)
{
	struct err e = ERR_INIT;

	logs_free(s->logs);
	CHECK_INT(logs_open(s->loop, &s->config, &s->logs, &e), 0);
}

static void shelf_turns(struct shelf *s)
{
	for (int i = 0; i < 20; i++)
		loop_turn(s->loop, true);
}

static json_t *pod_of(const char *name, const char *more)
{
	auto_free char *text =
		xasprintf("{'metadata':{'name':'%s','namespace':'lab','uid':'uid-%s','creationTimestamp':"
			  "'2025-11-15T12:00:00Z'%s},'spec':{'initContainers':[{'name':'setup'}],"
			  "'containers':[{'name':'main'},{'name':'aside'}]}}",
			  name, name, more);
	struct err e = ERR_INIT;
	json_t *doc = NULL;

	for (char *p = text; *p; p++)
		*p = *p == '\'' ? '"' : *p;
	CHECK_INT(jsonx_parse(text, strlen(text), NULL, NULL, &doc, &e), 0);
	return doc;
}

/* A log of `bytes` for an attempt; returns its path. */
static char *put_log(struct shelf *s, const json_t *pod, const char *container, int attempt, size_t bytes)
{
	struct err e = ERR_INIT;
	char *path = NULL;
	int fd;

	CHECK_INT(logs_path(s->logs, pod, container, attempt, &path, &e), 0);
	CHECK_STR(e.text, "");
	fd = open(path, O_WRONLY | O_CREAT | O_APPEND, 0600);
	CHECK(fd >= 0);
	while (bytes >= 34) {
		CHECK_INT(write(fd, "2025-11-15T12:00:00Z stdout F abc\n", 34), 34);
		bytes -= 34;
	}
	close(fd);
	return path;
}

static size_t count_by(struct shelf *s, const char *name)
{
	json_auto_t *list = logs_find(s->logs, "lab", name);

	return json_array_size(list);
}

TEST("a log has its place by namespace, pod, container and attempt")
{
	struct shelf s = shelf_new(0, 0);
	json_auto_t *pod = pod_of("train-0", "");
	auto_free char *path = put_log(&s, pod, "main", 2, 0);
	auto_free char *want = xasprintf("%s/logs/lab/train-0_uid-train-0/main/2.log", s.dir);
	auto_free char *other = NULL;
	struct err e = ERR_INIT;

	CHECK_STR(path, want);
	CHECK_INT(logs_path(s.logs, pod, "../../etc", 0, &other, &e), -1);
	CHECK_INT(e.kind, ERR_INVALID);
	json_object_set_new(json_object_get(pod, "metadata"), "namespace", json_string(".."));
	json_object_set_new(json_object_get(pod, "metadata"), "uid", json_string("other"));
	CHECK_INT(logs_path(s.logs, pod, "main", 0, &other, &e), -1);
	shelf_done(&s);
}

TEST("the longest name a pod can have fits a directory")
{
	struct shelf s = shelf_new(0, 0);
	char name[254];
	json_auto_t *pod = NULL;
	auto_free char *path = NULL;

	memset(name, 'a', 253);
	name[253] = '\0';
	pod = pod_of(name, "");
	json_object_set_new(json_object_get(pod, "metadata"), "uid",
			    json_string("51f3a1f2-6a1c-4e55-9a57-1f0f6a8e9b11"));
	path = put_log(&s, pod, "main", 0, 34);
	shelf_reopen(&s);
	CHECK_INT(count_by(&s, name), 1);
	shelf_done(&s);
}

TEST("logs are found by pod, owner and job, also after a restart")
{
	struct shelf s = shelf_new(0, 0);
	json_auto_t *a =
		pod_of("train-abc", ",'ownerReferences':[{'kind':'X','name':'no'},{'kind':'Job','name':'train-27',"
				    "'controller':true}],'labels':{'job-name':'train-27'}");
	json_auto_t *b = pod_of("tf-worker-0", ",'labels':{'training.kubeflow.org/job-name':'mnist'}");
	json_auto_t *c = pod_of("tf-worker-1", ",'labels':{'training.kubeflow.org/job-name':'mnist'}");
	json_auto_t *list = NULL;

	clock_fake(NOON);
	free(put_log(&s, b, "main", 0, 34));
	clock_fake(NOON + 1);
	free(put_log(&s, c, "main", 0, 34));
	clock_fake(NOON + 2);
	free(put_log(&s, a, "main", 0, 68));
	free(put_log(&s, a, "main", 1, 34));
	free(put_log(&s, a, "setup", 0, 34));
	for (int round = 0; round < 2; round++) {
		CHECK_INT(count_by(&s, "train-abc"), 1);
		CHECK_INT(count_by(&s, "train-27"), 1);
		CHECK_INT(count_by(&s, "mnist"), 2);
		CHECK_INT(count_by(&s, "no"), 0);
		json_decref(list);
		list = logs_find(s.logs, "lab", "mnist");
		CHECK_STR(jsonx_str(json_array_get(list, 0), "pod"), "tf-worker-0");
		CHECK_STR(jsonx_str(json_array_get(list, 1), "job"), "mnist");
		json_decref(list);
		list = logs_find(s.logs, "lab", "train-27");
		CHECK_STR(jsonx_str(json_array_get(list, 0), "owner.kind"), "Job");
		CHECK(json_is_null(json_object_get(json_array_get(list, 0), "ended")));
		shelf_reopen(&s);
	}
	const json_t *containers = jsonx_at(json_array_get(list, 0), "containers");
	CHECK_INT(json_array_size(containers), 2);
	CHECK_STR(jsonx_str(json_array_get(containers, 0), "name"), "setup");
	CHECK(jsonx_bool_or(json_array_get(containers, 0), "init", false));
	CHECK(!jsonx_bool_or(json_array_get(containers, 1), "init", false));
	const json_t *attempts = json_object_get(json_array_get(containers, 1), "attempts");
	CHECK_INT(json_array_size(attempts), 2);
	CHECK_INT(jsonx_int_or(json_array_get(attempts, 0), "bytes", 0), 68);
	CHECK(str_ends(jsonx_str_or(json_array_get(attempts, 1), "path", ""), "/main/1.log"));
	json_auto_t *elsewhere = logs_find(s.logs, "other", "mnist");
	CHECK_INT(json_array_size(elsewhere), 0);
	shelf_done(&s);
}

TEST("a lost owner.json costs the job's name, not the log")
{
	struct shelf s = shelf_new(0, 0);
	json_auto_t *pod = pod_of("p", ",'labels':{'job-name':'j'}");
	auto_free char *path = put_log(&s, pod, "main", 0, 34);
	auto_free char *owner = xasprintf("%s/logs/lab/p_uid-p/owner.json", s.dir);
	struct err e = ERR_INIT;

	CHECK_INT(count_by(&s, "j"), 1);
	CHECK_INT(file_write(owner, 0600, STR("{\"pod\":"), &e), 0);
	shelf_reopen(&s);
	CHECK_INT(count_by(&s, "p"), 1);
	CHECK_INT(count_by(&s, "j"), 0);
	shelf_done(&s);
}

TEST("old attempts lose their logs")
{
	struct shelf s = shelf_new(0, 0);
	json_auto_t *pod = pod_of("loop", "");
	json_auto_t *list = NULL;

	for (int i = 0; i < 15; i++)
		free(put_log(&s, pod, "main", i, 34));
	list = logs_find(s.logs, "lab", "loop");
	const json_t *attempts =
		json_object_get(json_array_get(jsonx_at(json_array_get(list, 0), "containers"), 0), "attempts");
	CHECK_INT(json_array_size(attempts), 10);
	CHECK_INT(jsonx_int_or(json_array_get(attempts, 0), "attempt", 0), 5);
	shelf_done(&s);
}

TEST("logs of pods that are gone go when they are old, those of the living never")
{
	struct shelf s = shelf_new(100, 0);
	json_auto_t *alive = pod_of("alive", "");
	json_auto_t *gone = pod_of("gone", "");
	json_auto_t *later = pod_of("later", "");
	auto_free char *dir = xasprintf("%s/logs/lab", s.dir);

	clock_fake(NOON);
	free(put_log(&s, alive, "main", 0, 34));
	free(put_log(&s, gone, "main", 0, 34));
	free(put_log(&s, later, "main", 0, 34));
	logs_pod_ended(s.logs, "lab", "gone", "uid-gone");
	clock_fake(NOON + 99);
	logs_pod_ended(s.logs, "lab", "later", "uid-later");
	shelf_turns(&s);
	CHECK_INT(count_by(&s, "gone"), 1);
	clock_fake(NOON + 100);
	shelf_reopen(&s); /* the end is known after a restart too */
	shelf_turns(&s);
	CHECK_INT(count_by(&s, "gone"), 0);
	CHECK_INT(count_by(&s, "later"), 1);
	clock_fake(NOON + 100000);
	shelf_reopen(&s);
	shelf_turns(&s);
	CHECK_INT(count_by(&s, "later"), 0);
	CHECK_INT(count_by(&s, "alive"), 1);
	logs_pod_ended(s.logs, "lab", "alive", "uid-alive");
	clock_fake(NOON + 200001);
	shelf_reopen(&s);
	shelf_turns(&s);
	CHECK_INT(access(dir, F_OK), -1);
	shelf_done(&s);
}

TEST("an old log goes by itself when its time has come")
{
	struct shelf s = shelf_new(1, 0);
	json_auto_t *pod = pod_of("gone", "");

	free(put_log(&s, pod, "main", 0, 34));
	logs_pod_ended(s.logs, "lab", "gone", "uid-gone");
	for (int i = 0; i < 6000 && count_by(&s, "gone"); i++) {
		loop_turn(s.loop, true);
		usleep(10000);
	}
	CHECK_INT(count_by(&s, "gone"), 0);
	shelf_done(&s);
}

TEST("when all logs together are too large, those that ended first go")
{
	struct shelf s = shelf_new(0, 20000);
	static const char *const names[] = { "a", "b", "c", "d" };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		json_auto_t *pod = pod_of(names[i], "");

		free(put_log(&s, pod, "main", 0, 8000));
	}
	shelf_turns(&s);
	CHECK_INT(count_by(&s, "d"), 1); /* too large, but all live */
	clock_fake(NOON);
	logs_pod_ended(s.logs, "lab", "c", "uid-c");
	clock_fake(NOON + 1);
	logs_pod_ended(s.logs, "lab", "a", "uid-a");
	logs_pod_ended(s.logs, "lab", "b", "uid-b");
	shelf_turns(&s);
	CHECK_INT(count_by(&s, "c"), 0);
	CHECK_INT(count_by(&s, "a") + count_by(&s, "b"), 1);
	CHECK_INT(count_by(&s, "d"), 1);
	shelf_done(&s);
}

static bool only_a(void *arg, const char *uid)
{
	(void)arg;
	return streq(uid, "uid-a");
}

TEST("pods that went while the server was away are known to be gone")
{
	struct shelf s = shelf_new(100, 0);
	json_auto_t *a = pod_of("a", "");
	json_auto_t *b = pod_of("b", "");

	clock_fake(NOON);
	free(put_log(&s, a, "main", 0, 34));
	free(put_log(&s, b, "main", 0, 34));
	shelf_reopen(&s);
	logs_settle(s.logs, only_a, NULL);
	clock_fake(NOON + 200);
	shelf_reopen(&s);
	shelf_turns(&s);
	CHECK_INT(count_by(&s, "a"), 1);
	CHECK_INT(count_by(&s, "b"), 0);
	shelf_done(&s);
}

/* ---- the door ---- */

static void on_text(void *arg, struct str piece)
{
	struct shelf *s = arg;

	sbuf_add(&s->got, piece.p, piece.n);
}

static void on_end(void *arg, const struct err *e)
{
	struct shelf *s = arg;

	CHECK_INT(e->kind, ERR_NONE);
	s->ended++;
}

TEST("a follower through the door ends when its container does")
{
	struct shelf s = shelf_new(0, 0);
	json_auto_t *pod = pod_of("p", "");
	auto_free char *path = put_log(&s, pod, "main", 0, 34);
	auto_free char *other = put_log(&s, pod, "main", 1, 34);
	struct kubelet_log_handlers h = { on_text, on_end, &s };
	struct kubelet_log_request q = { .follow = true, .tail_lines = -1, .limit_bytes = -1 };
	struct pod_container c = { .log_path = path, .running = true };
	struct kubelet_log *log = NULL;
	struct err e = ERR_INIT;

	CHECK_INT(log_door_open(s.loop, s.logs, &c, &q, &h, &log, &e), 0);
	shelf_turns(&s);
	CHECK_STR(s.got.p, "abc\n");
	logs_container_ended(s.logs, other);
	shelf_turns(&s);
	CHECK_INT(s.ended, 0);
	log_door_pause(log, true);
	free(put_log(&s, pod, "main", 0, 34));
	logs_container_ended(s.logs, path);
	shelf_turns(&s);
	CHECK_INT(s.ended, 0);
	log_door_pause(log, false);
	shelf_turns(&s);
	CHECK_STR(s.got.p, "abc\nabc\n");
	CHECK_INT(s.ended, 1);
	/* One that is not running has nothing to wait for. */
	c.running = false;
	CHECK_INT(log_door_open(s.loop, s.logs, &c, &q, &h, &log, &e), 0);
	shelf_turns(&s);
	CHECK_INT(s.ended, 2);
	/* And one may leave at any time. */
	c.running = true;
	CHECK_INT(log_door_open(s.loop, s.logs, &c, &q, &h, &log, &e), 0);
	shelf_turns(&s);
	log_door_close(log);
	logs_container_ended(s.logs, path);
	shelf_turns(&s);
	CHECK_INT(s.ended, 2);
	shelf_done(&s);
}

TEST("a container that has never run has no log")
{
	struct shelf s = shelf_new(0, 0);
	auto_free char *path = xasprintf("%s/none.log", s.dir);
	struct kubelet_log_handlers h = { on_text, on_end, &s };
	struct kubelet_log_request q = { .of = { "lab", "p", "u", "c" }, .tail_lines = -1, .limit_bytes = -1 };
	struct kubelet_log *log = NULL;
	struct err e = ERR_INIT;

	CHECK_INT(log_door_open(s.loop, s.logs, &(struct pod_container){ 0 }, &q, &h, &log, &e), -1);
	CHECK_INT(e.kind, ERR_NOT_FOUND);
	CHECK_INT(log_door_open(s.loop, s.logs, &(struct pod_container){ .log_path = path }, &q, &h, &log, &e), -1);
	CHECK_STR(e.text, "container \"c\" in pod \"p\" has no log");
	shelf_done(&s);
}

TEST("logs of a pod that is gone are read by its uid and attempt, and their paths are not shown")
{
	static const struct {
		const char *container;
		int attempt;
		bool previous;
		const char *want, *error;
	} rows[] = {
		{ "main", -1, false, "abc\nabc\n", "" },
		{ "main", -1, true, "abc\n", "" },
		{ "main", 0, false, "abc\n", "" },
		{ "main", 7, false, "", "no log of container \"main\" in pod \"p\" is kept" },
		{ "aside", -1, true, "", "previous terminated container \"aside\" in pod \"p\" not found" },
		{ "nobody", -1, false, "", "no log of container \"nobody\" in pod \"p\" is kept" },
	};
	struct shelf s = shelf_new(0, 0);
	json_auto_t *pod = pod_of("p", "");
	json_auto_t *list = NULL;
	struct kubelet_log_handlers h = { on_text, on_end, &s };

	free(put_log(&s, pod, "main", 0, 34));
	free(put_log(&s, pod, "main", 1, 68));
	free(put_log(&s, pod, "aside", 0, 34));
	logs_pod_ended(s.logs, "lab", "p", "uid-p");
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct kubelet_log_request q = { .of = { "lab", "p", "uid-p", rows[i].container },
						 .attempt = rows[i].attempt,
						 .previous = rows[i].previous,
						 .follow = true,
						 .tail_lines = -1,
						 .limit_bytes = -1 };
		struct kubelet_log *log;
		struct err e = ERR_INIT;

		sbuf_reset(&s.got);
		s.ended = 0;
		CHECK_INT(log_door_kept(s.loop, s.logs, &q, &h, &log, &e), *rows[i].error ? -1 : 0);
		shelf_turns(&s);
		CHECK_STR(e.text, rows[i].error);
		CHECK_STR(s.got.p ? s.got.p : "", rows[i].want);
		CHECK_INT(s.ended, *rows[i].error ? 0 : 1);
	}
	list = log_door_find(s.logs, "lab", "p");
	auto_sbuf struct sbuf text = SBUF(4096);
	jsonx_dump(list, &text);
	CHECK(!strstr(text.p, s.dir) && strstr(text.p, "\"attempt\":1"));
	shelf_done(&s);
}
