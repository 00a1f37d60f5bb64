// SPDX-License-Identifier: Apache-2.0
/* image_keep.c - a timer that prunes
 *
 * It sleeps while the store is empty and is woken by the first image that comes or is used (image_notice()); a machine
 * without images has no wake-ups.  Each look costs one statvfs() and a reading of the index; files are removed by a
 * child process (image_gc.c).
 */
#include "node/image_keep.h"

#include <sys/stat.h>

#include "base/jsonx.h"
#include "base/log.h"
#include "base/mem.h"
#include "node/image_build.h"

#define CHECK_SECONDS   300
#define MIN_AGE         120
#define HIGH_PERCENT    85
#define LOW_PERCENT     80
#define BUILD_CACHE_AGE (24 * 3600) /* cached steps of builds; the next build makes them anew */

struct image_keep {
	struct loop *loop;
	struct images *images;
	struct image_keep_config config;
	struct loop_timer timer;
};

static void arm(struct image_keep *k)
{
	if (!loop_timer_pending(&k->timer))
		loop_timer_set(k->loop, &k->timer, k->config.check_seconds * 1000);
}

static void on_noticed(void *arg)
{
	arm(arg);
}

static bool is_empty(const struct image_keep *k)
{
	auto_free char *build = image_store_path(k->images->store, "build");
	struct stat st;

	return json_object_size(image_store_images(k->images->store)) == 0 && stat(build, &st) < 0;
}

void image_keep_check(struct image_keep *k)
{
	const struct images_policy policy = {
		.nameless = true,
		.spare_local = true,
		.max_age = k->config.max_age,
		.min_age = k->config.min_age,
		.high_percent = k->config.high_percent,
		.low_percent = k->config.low_percent,
	};
	json_auto_t *removed = NULL;
	struct err e = ERR_INIT;
	json_t *image;
	size_t i;

	build_storage_expire(k->images->store, BUILD_CACHE_AGE);
	if (images_prune(k->images, &policy, &removed, &e) < 0)
		log_warn("prune images error=%s, ignoring", e.text);
	json_array_foreach (removed, i, image) {
		const char *name = json_string_value(json_array_get(json_object_get(image, "names"), 0));

		log_info("image removed id=%.19s name=%s bytes=%lld", jsonx_str_or(image, "id", ""), name ? name : "-",
			 (long long)jsonx_int_or(image, "bytes", 0));
	}
}

static void on_timer(void *arg)
{
	struct image_keep *k = arg;

	image_keep_check(k);
	if (!is_empty(k))
		arm(k);
}

struct image_keep *image_keep_new(struct loop *loop, struct images *images, const struct image_keep_config *config)
{
	struct image_keep *k = xcalloc(1, sizeof(*k));
	struct image_keep_config c = *config;

	c.check_seconds = c.check_seconds ? c.check_seconds : CHECK_SECONDS;
	c.min_age = c.min_age ? c.min_age : MIN_AGE;
	c.high_percent = c.high_percent ? c.high_percent : HIGH_PERCENT;
	c.low_percent = c.low_percent ? c.low_percent : LOW_PERCENT;
	*k = (struct image_keep){
		.loop = loop, .images = images, .config = c, .timer = { .fire = on_timer, .arg = k }
	};
	images->noticed = on_noticed;
	images->noticed_arg = k;
	if (!is_empty(k))
		arm(k);
	return k;
}

void image_keep_free(struct image_keep *k)
{
	if (!k)
		return;
	k->images->noticed = NULL;
	loop_timer_done(&k->timer);
	free(k);
}
