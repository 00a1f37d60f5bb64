// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <time.h>

#include "base/clock.h"
#include "image_fixture.h"
#include "node/image_keep.h"
#include "node/image_parts.h"

static const struct tar_entry files[] = { { '0', "a", .data = "a" }, { 0 } };
static const struct tar_entry other_files[] = { { '0', "b", .data = "b" }, { 0 } };
static const struct tar_entry *const one[] = { files };
static const struct tar_entry *const other[] = { other_files };

/* As if it had come from a registry, `age` seconds ago. */
static void age_image(struct lab *lab, const char *name, bool pulled, int64_t age)
{
	struct timespec times[2] = { { .tv_sec = clock_wall() - age }, { .tv_sec = clock_wall() - age } };
	auto_free char *used = NULL;
	struct err e = ERR_INIT;
	const char *id;
	json_t *record = image_store_find(lab->images->store, name, &id);

	CHECK(record != NULL);
	if (!record)
		return;
	used = xasprintf("%s/images/used/%s", lab->dir, id + strlen("sha256:"));
	if (pulled)
		json_array_append_new(json_object_get(record, "digests"), json_string("x@sha256:1"));
	CHECK_INT(image_store_save(lab->images->store, &e), 0);
	CHECK_INT(utimensat(AT_FDCWD, used, times, 0), 0);
}

static size_t count(struct lab *lab)
{
	json_auto_t *list = images_list(lab->images);

	return json_array_size(list);
}

TEST("images go by age, but not the only copy of one")
{
	static const struct image_keep_config config = { .max_age = 3600 };
	struct lab *lab = lab_new("keep");
	struct image_keep *k = image_keep_new(lab->loop, lab->images, &config);

	lab_import(lab, one, 1, "pulled");
	lab_import(lab, other, 1, "made-here");
	image_keep_check(k);
	CHECK_INT(count(lab), 2);
	age_image(lab, "docker.io/library/pulled:latest", true, 7200);
	age_image(lab, "docker.io/library/made-here:latest", false, 7200);
	image_keep_check(k);
	CHECK_INT(count(lab), 1);
	CHECK(image_store_find(lab->images->store, "docker.io/library/made-here:latest", &(const char *){ NULL }));
	image_keep_free(k);
	lab_free(lab);
}

TEST("the timer runs while there are images, and not before")
{
	static const struct image_keep_config config = { .check_seconds = 1, .max_age = 3600 };
	struct lab *lab = lab_new("keep-timer");
	struct image_keep *k = image_keep_new(lab->loop, lab->images, &config);
	int64_t end = clock_mono_ms() + 60000;

	lab_import(lab, one, 1, "pulled");
	age_image(lab, "docker.io/library/pulled:latest", true, 7200);
	while (count(lab) && clock_mono_ms() < end)
		loop_turn(lab->loop, false);
	CHECK_INT(count(lab), 0);
	images_settle(lab->images);
	image_keep_free(k);
	lab_free(lab);
}

TEST("what builds cached goes after a day")
{
	struct lab *lab = lab_new("keep-build");
	struct image_keep *k = image_keep_new(lab->loop, lab->images, &(struct image_keep_config){ 0 });
	auto_free char *build = xasprintf("%s/images/build", lab->dir);
	struct timespec old[2] = { { .tv_sec = clock_wall() - 2 * 86400 }, { .tv_sec = clock_wall() - 2 * 86400 } };

	CHECK_INT(mkdir(build, 0700), 0);
	image_keep_check(k);
	CHECK(fixture_exists(build, ""));
	CHECK_INT(utimensat(AT_FDCWD, build, old, 0), 0);
	image_keep_check(k);
	CHECK(!fixture_exists(build, ""));
	image_keep_free(k);
	lab_free(lab);
}
