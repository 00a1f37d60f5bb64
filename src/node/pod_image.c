// SPDX-License-Identifier: Apache-2.0
/* pod_image.c - a container's image: is it here, may it be fetched, and its root file system
 *
 * imagePullPolicy decides as in Kubernetes, with one exception: an image that never came from a registry (built,
 * imported or committed here) is not asked for there, whatever the policy.  A failed pull is shown as ErrImagePull,
 * then as ImagePullBackOff until it is tried again.  Of several pull secrets for a registry each is tried.
 */
#include <dirent.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "base/jsonx.h"
#include "base/limits.h"
#include "base/mem.h"
#include "node/image_name.h"
#include "node/pod_parts.h"

#define SHOW_ERROR_MS 1500 /* ErrImagePull is seen this long before it turns into ImagePullBackOff */

#define ERR_PULL "ErrImagePull"

/* ---- credentials ---- */

static void add_auths(json_t *auths, const json_t *secret, const char *key, const char *path)
{
	const char *text = json_string_value(json_object_get(json_object_get(secret, "data"), key));
	auto_sbuf struct sbuf plain = SBUF(LIMIT_OBJECT);
	json_auto_t *doc = NULL;
	struct err e = ERR_INIT;

	if (!text || !base64_decode(text, strlen(text), &plain) || !plain.p ||
	    jsonx_parse(plain.p, plain.n, NULL, NULL, &doc, &e) < 0)
		return;
	json_object_update(auths, *path ? jsonx_at(doc, path) : doc);
}

/* Of the pod's pull secrets those that know the image's registry: an array of "auths", to be tried in turn. */
static json_t *auths_of(const struct pod *p, const char *image)
{
	json_auto_t *objects = pod_objects(p);
	auto_sbuf struct sbuf whole = SBUF(LIMIT_STATUS_TEXT);
	struct err e = ERR_INIT;
	json_t *list = json_array();
	json_t *ref;
	size_t i;

	if (image_normalize(image, &whole, &e) < 0)
		return list;
	json_array_foreach (jsonx_at(p->obj, "spec.imagePullSecrets"), i, ref) {
		auto_free char *key = xasprintf("secrets/%s", jsonx_str_or(ref, "name", ""));
		const json_t *secret = json_object_get(objects, key);
		json_auto_t *auths = json_object();

		add_auths(auths, secret, ".dockerconfigjson", "auths");
		add_auths(auths, secret, ".dockercfg", "");
		if (image_auth_pick(auths, whole.p))
			json_array_append(list, auths);
	}
	return list;
}

/* A secret that is missing is no error yet: the image may be for everyone. */
static void note_missing_secrets(struct ctr *c)
{
	json_auto_t *objects = pod_objects(c->pod);
	auto_sbuf struct sbuf names = SBUF(4096);
	json_t *ref;
	size_t i;

	json_array_foreach (jsonx_at(c->pod->obj, "spec.imagePullSecrets"), i, ref) {
		auto_free char *key = xasprintf("secrets/%s", jsonx_str_or(ref, "name", ""));

		if (!json_object_get(objects, key))
			sbuf_addf(&names, "%s%s", names.n ? ", " : "", jsonx_str_or(ref, "name", ""));
	}
	if (names.n)
		events_note(c->pod->parts->events, c->pod->obj, "Warning", "FailedToRetrieveImagePullSecret",
			    "Unable to retrieve some image pull secrets (%s); attempting to pull the image may not "
			    "succeed.",
			    names.p);
}

/* ---- pulling ---- */

static void wait_for_image(struct ctr *c, const char *reason, const char *message, int64_t until_ms)
{
	ctr_event(c, "Warning", "Failed", "Error: %s", reason);
	ctr_wait(c, reason, message);
	c->state = CTR_WAITING;
	c->not_before_ms = until_ms;
	pod_kick(c->pod);
}

static void pull_failed(struct ctr *c, const char *image, const struct err *e)
{
	int64_t now = clock_mono_ms();

	ctr_event(c, "Warning", "Failed", "Failed to pull image \"%s\": %s", image, e->text);
	c->pull_failures++;
	c->pull_after_ms = now + pod_backoff_ms(c->pull_failures);
	wait_for_image(c, ERR_PULL, e->text, now + SHOW_ERROR_MS);
}

static void on_pulled(void *arg, const struct image_info *info, const struct err *e);

/* False: there is none with this number. */
static bool pull_with_secret(struct ctr *c, const char *image, size_t number)
{
	json_auto_t *auths = auths_of(c->pod, image);
	struct pull_options o = { .auths = json_array_get(auths, number) };

	if (number && !o.auths)
		return false;
	c->pulling = true;
	c->pull_secret = number;
	images_pull(c->pod->parts->images, image, &o, on_pulled, ctr_ticket(c));
	return true;
}

static void on_pulled(void *arg, const struct image_info *info, const struct err *e)
{
	struct ctr *c = ticket_use(arg);
	const char *image;
	double seconds;

	if (!c)
		return;
	image = jsonx_str_or(c->spec, "image", "");
	c->pulling = false;
	if (!info) {
		if (e->kind != ERR_FORBIDDEN || !pull_with_secret(c, image, c->pull_secret + 1))
			pull_failed(c, image, e);
		return;
	}
	seconds = (double)(clock_mono_ms() - c->pull_began_ms) / 1000;
	ctr_event(c, "Normal", "Pulled",
		  "Successfully pulled image \"%s\" in %.3fs (%.3fs including waiting). Image size: %lld bytes.", image,
		  seconds, seconds, (long long)info->bytes);
	c->pulled = true;
	c->pull_failures = 0;
	if (c->state == CTR_STARTING)
		ctr_start(c);
	else
		pod_kick(c->pod);
}

/* Says once more why the last try failed. */
static void back_off(struct ctr *c, const char *image)
{
	auto_sbuf struct sbuf text = SBUF(LIMIT_STATUS_TEXT);

	sbuf_addf(&text, "Back-off pulling image \"%s\"", image);
	ctr_event(c, "Normal", "BackOff", "%s", text.p);
	if (str_same(c->wait_reason, ERR_PULL))
		sbuf_addf(&text, ": " ERR_PULL ": %s", c->wait_message);
	wait_for_image(c, "ImagePullBackOff", text.p, c->pull_after_ms);
}

static int pull(struct ctr *c, const char *image)
{
	int64_t now = clock_mono_ms();

	if (c->pull_failures && c->pull_after_ms > now) {
		back_off(c, image);
		return -1;
	}
	note_missing_secrets(c);
	ctr_event(c, "Normal", "Pulling", "Pulling image \"%s\"", image);
	c->pull_began_ms = now;
	pull_with_secret(c, image, 0);
	return 1;
}

void ctr_pull_cancel(struct ctr *c)
{
	if (!c->pulling)
		return;
	c->ticket->ctr = NULL;
	c->ticket = NULL;
	c->pulling = false;
	c->state = CTR_WAITING;
}

int ctr_image(struct ctr *c, struct image_info *ret)
{
	const char *image = jsonx_str_or(c->spec, "image", "");
	const char *policy = jsonx_str_or(c->spec, "imagePullPolicy", "IfNotPresent");
	auto_sbuf struct sbuf whole = SBUF(1024);
	struct err e = ERR_INIT;
	bool here;

	if (image_normalize(image, &whole, &e) < 0) {
		auto_free char *text = xasprintf("Failed to apply default image tag \"%s\": %s", image, e.text);

		ctr_event(c, "Warning", "InspectFailed", "%s", text);
		wait_for_image(c, "InvalidImageName", text, clock_mono_ms() + pod_backoff_ms(1));
		return -1;
	}
	here = images_find(c->pod->parts->images, image, ret, &e) == 0;
	if (here && (c->pulled || !streq(policy, "Always") || !*ret->digest)) {
		if (!c->pulled)
			ctr_event(c, "Normal", "Pulled", "Container image \"%s\" already present on machine", image);
		c->pulled = false;
		return 0;
	}
	if (here)
		image_info_done(ret);
	if (streq(policy, "Never")) {
		auto_free char *text =
			xasprintf("Container image \"%s\" is not present with pull policy of Never", image);

		ctr_event(c, "Warning", "ErrImageNeverPull", "%s", text);
		wait_for_image(c, "ErrImageNeverPull", text, clock_mono_ms() + pod_backoff_ms(1));
		return -1;
	}
	return pull(c, image);
}

bool ctr_fetch(struct ctr *c)
{
	struct image_info info = { 0 };

	if (!c->pulled && !c->pod->parts->fake && ctr_image(c, &info) != 0)
		return false;
	image_info_done(&info);
	if (!c->pulled)
		ctr_wait(c, NULL, NULL);
	c->pulled = true;
	return true;
}

/* ---- root file systems ---- */

char *ctr_dir(const struct ctr *c)
{
	return xasprintf("%s/containers/%s", c->pod->run_dir, c->name);
}

char *ctr_scratch(const struct ctr *c)
{
	return xasprintf("%s/scratch/%s", c->pod->dir, c->name);
}

int ctr_rootfs_make(struct ctr *c, struct err *e)
{
	auto_free char *dir = ctr_dir(c);
	auto_free char *scratch = ctr_scratch(c);
	auto_free char *rootfs = xasprintf("%s/rootfs", dir);

	/* Each run begins with the image as it is. */
	images_unmount(scratch, rootfs);
	return images_mount(c->pod->parts->images, jsonx_str_or(c->spec, "image", ""), scratch, rootfs, false, e);
}

void ctr_rootfs_remove(struct ctr *c)
{
	auto_free char *dir = ctr_dir(c);
	auto_free char *scratch = ctr_scratch(c);
	auto_free char *rootfs = xasprintf("%s/rootfs", dir);

	if (!c->pod->parts->fake)
		images_unmount(scratch, rootfs);
}

void pod_rootfs_sweep(const char *dir, const char *run_dir)
{
	auto_free char *scratches = xasprintf("%s/scratch", dir);
	DIR *d = opendir(scratches);
	struct dirent *entry;

	while (d && (entry = readdir(d))) {
		auto_free char *scratch = xasprintf("%s/%s", scratches, entry->d_name);
		auto_free char *rootfs = xasprintf("%s/containers/%s/rootfs", run_dir, entry->d_name);

		if (entry->d_name[0] != '.')
			images_unmount(scratch, rootfs);
	}
	if (d)
		closedir(d);
}
