// SPDX-License-Identifier: Apache-2.0
/* measure_keep_test.c - points outlive rotation, the pod and the server, and come once */
#include "node/measure_keep.h"

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
#include "test.h"

#define UID "4a5b"

struct desk {
	struct loop *loop;
	struct logs *logs;
	struct logs_config config;
	char *dir, *path;
	json_t *pod;
	int64_t us;
};

static void desk_open(struct desk *d)
{
	struct err e = ERR_INIT;

	CHECK_INT(logs_open(d->loop, &d->config, &d->logs, &e), 0);
	free(d->path);
	CHECK_INT(logs_path(d->logs, d->pod, "main", 0, &d->path, &e), 0);
	logs_measure(d->logs, d->pod, d->path);
}

static struct desk desk_new(const char *label)
{
	struct desk d = { .loop = loop_new(), .us = INT64_C(1763208000000000) };

	log_set_level(LOG_ERROR);
	d.dir = xasprintf("%s/desk-XXXXXX", test_dir());
	if (!mkdtemp(d.dir))
		abort();
	d.config = (struct logs_config){ .dir = d.dir };
	d.pod = json_pack("{s:{s:s, s:s, s:s, s:{s:s}}, s:{s:[{s:s}]}}", "metadata", "name", "p-0", "namespace",
			  "default", "uid", UID, "labels", label, "job", "spec", "containers", "name", "main");
	desk_open(&d);
	return d;
}

static void desk_done(struct desk *d)
{
	logs_free(d->logs);
	loop_free(d->loop);
	json_decref(d->pod);
	free(d->dir);
	free(d->path);
}

/* A server that is killed writes nothing any more; the next one opens. */
static void desk_restart(struct desk *d)
{
	logs_free(d->logs);
	desk_open(d);
}

static void desk_print(struct desk *d, const char *text)
{
	auto_close int fd = open(d->path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	char time[CLOCK_MICRO_LEN];

	clock_rfc3339_micro(d->us, time);
	dprintf(fd, "%s stdout F %s\n", time, text);
}

static void turns(struct desk *d)
{
	for (int i = 0; i < 20; i++)
		loop_turn(d->loop, true);
}

static void desk_end(struct desk *d)
{
	logs_container_ended(d->logs, d->path);
	turns(d);
}

/* "name:at,at,at" of what is kept. */
static void check_kept(struct desk *d, const char *want)
{
	json_auto_t *pods = log_door_find(d->logs, "default", "p-0");
	json_auto_t *found = log_door_measures(d->logs, "default", pods);
	auto_sbuf struct sbuf got = SBUF(64 * 1024);
	json_t *series, *point;
	size_t i, j;

	sbuf_adds(&got, "");
	json_array_foreach (json_object_get(found, "series"), i, series) {
		sbuf_addf(&got, "%s%s:", i ? " " : "", jsonx_str_or(series, "name", ""));
		json_array_foreach (json_object_get(series, "points"), j, point)
			sbuf_addf(&got, "%s%g", j ? "," : "", json_number_value(json_array_get(point, 0)));
	}
	CHECK_STR(got.p, want);
}

TEST("a training job's numbers are kept, another pod's are not")
{
	static const struct {
		const char *label, *want;
	} rows[] = { { "training.kubeflow.org/job-name", "loss:1,2" }, { "app", "" } };

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct desk d = desk_new(rows[i].label);

		desk_print(&d, "epoch 1 loss 0.5");
		desk_print(&d, "hello");
		desk_print(&d, "epoch 2 loss 0.4");
		desk_end(&d);
		check_kept(&d, rows[i].want);
		desk_done(&d);
	}
}

TEST("a new server goes on after the last line that is kept, also among lines of one moment")
{
	struct desk d = desk_new("training.kubeflow.org/job-name");

	desk_print(&d, "epoch 1 loss 0.5");
	desk_print(&d, "noise");
	desk_print(&d, "epoch 2 loss 0.4");
	turns(&d);
	check_kept(&d, "loss:1,2");
	desk_print(&d, "epoch 3 loss 0.3");
	desk_restart(&d);
	turns(&d);
	check_kept(&d, "loss:1,2,3");
	desk_restart(&d);
	d.us++;
	desk_print(&d, "epoch 4 loss 0.2");
	desk_end(&d);
	desk_restart(&d);
	desk_end(&d);
	check_kept(&d, "loss:1,2,3,4");
	desk_done(&d);
}

TEST("a file that was torn off goes on from its last whole line")
{
	struct desk d = desk_new("training.kubeflow.org/job-name");
	auto_free char *path = NULL;
	struct stat st;

	for (int i = 1; i <= 3; i++) {
		auto_free char *line = xasprintf("epoch %d loss 0.5", i);

		d.us++;
		desk_print(&d, line);
	}
	turns(&d);
	path = measure_keep_path(d.path);
	CHECK_INT(stat(path, &st), 0);
	CHECK_INT(truncate(path, st.st_size - 5), 0);
	desk_restart(&d);
	turns(&d);
	check_kept(&d, "loss:1,2,3");
	desk_done(&d);
}

TEST("what rotation takes from the log stays")
{
	struct desk d = desk_new("training.kubeflow.org/job-name");
	auto_free char *old = NULL;

	desk_print(&d, "epoch 1 loss 0.5");
	turns(&d);
	old = xasprintf("%s.1", d.path);
	rename(d.path, old);
	unlink(old);
	d.us++;
	desk_print(&d, "epoch 2 loss 0.4");
	desk_restart(&d);
	desk_end(&d);
	check_kept(&d, "loss:1,2");
	desk_done(&d);
}

TEST("a pod that goes ends the keeping, and a progress bar without end gives its last drawing")
{
	struct desk d = desk_new("training.kubeflow.org/job-name");
	auto_sbuf struct sbuf bar = SBUF(1 << 20);

	for (int i = 1; i <= 2000; i++)
		sbuf_addf(&bar, "%d/2000 [====>...] loss: 0.5\r", i);
	desk_print(&d, bar.p);
	logs_pod_ended(d.logs, "default", "p-0", UID);
	turns(&d);
	check_kept(&d, "loss:2000");
	desk_done(&d);
}

TEST("a flood is thinned out and its file stays small")
{
	struct desk d = desk_new("training.kubeflow.org/job-name");
	auto_close int fd = open(d.path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	auto_sbuf struct sbuf text = SBUF(8 << 20);
	auto_free char *path = measure_keep_path(d.path);
	json_auto_t *pods = NULL;
	json_auto_t *found = NULL;
	const json_t *points;
	struct stat st = { 0 };

	for (int i = 0; i < 30000; i++)
		sbuf_addf(&text, "2026-11-16T05:22:36.%06dZ stdout F step %d loss 0.5\n", i, i);
	CHECK_INT(write(fd, text.p, text.n), text.n);
	logs_container_ended(d.logs, d.path);
	for (int i = 0; i < 5; i++)
		turns(&d);
	CHECK_INT(stat(path, &st), 0);
	CHECK(st.st_size < 1 << 20);
	pods = log_door_find(d.logs, "default", "p-0");
	found = log_door_measures(d.logs, "default", pods);
	points = json_object_get(json_array_get(json_object_get(found, "series"), 0), "points");
	CHECK(json_array_size(points) > 900 && json_array_size(points) <= 2000);
	CHECK_INT(json_number_value(json_array_get(json_array_get(points, json_array_size(points) - 1), 0)), 29999);
	desk_done(&d);
}
