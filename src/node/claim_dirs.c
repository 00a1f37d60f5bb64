// SPDX-License-Identifier: Apache-2.0
/* claim_dirs.c - a directory of this machine for each claim of the class stoker-local
 *
 * Binding is a controller's work (control/claims.c) and knows nothing of this machine; making and deleting storage is a
 * provisioner's, and this is ours.  The controller marks a claim that needs a volume with our name; we make the
 * directory and then the PersistentVolume that leads to it.  When the claim has gone and the volume is to be deleted,
 * first the directory goes and then the object: a crash in between leaves an object that is looked at again, never a
 * directory that nobody knows of.
 */
#include "node/claim_dirs.h"

#include <stdio.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/jsonx.h"
#include "base/log.h"
#include "base/mem.h"
#include "client/events.h"

#define AGAIN_MS       5000
#define DIR_MODE       0777 /* the data directory above is the server's alone; pods reach theirs by mount */
#define PROVISIONED_BY "pv.kubernetes.io/provisioned-by"
#define ASKED_FOR      "volume.kubernetes.io/storage-provisioner"

struct claim_dirs {
	struct client *client;
	struct events *events;
	const char *dir;
	struct trash *trash;
	struct informer *claims, *volumes, *classes;
	struct loop_hook look;
	struct loop_timer again;
	json_t *busy;          /* names of volumes with a request under way */
	struct pending *first; /* these requests */
};

struct pending {
	struct claim_dirs *owner; /* NULL: nobody waits any more */
	struct pending *next;
	char *volume;
	json_t *claim; /* made for it; NULL: deleted */
};

static const char *annotation(const json_t *obj, const char *name)
{
	return json_string_value(json_object_get(jsonx_at(obj, "metadata.annotations"), name));
}

/* ---- requests ---- */

static struct pending *pending_new(struct claim_dirs *d, const char *volume, const json_t *claim)
{
	struct pending *p = xcalloc(1, sizeof(*p));

	*p = (struct pending){ d, d->first, xstrdup(volume), json_incref((json_t *)claim) };
	d->first = p;
	json_object_set_new(d->busy, volume, json_true());
	return p;
}

static void on_answer(void *arg, const json_t *obj, const struct err *e)
{
	struct pending *p = arg;
	struct claim_dirs *d = p->owner;
	auto_free char *message = xasprintf("Successfully provisioned volume %s", p->volume);

	(void)obj;
	if (d) {
		struct pending **at = &d->first;

		while (*at != p)
			at = &(*at)->next;
		*at = p->next;
		json_object_del(d->busy, p->volume);
		if (e->kind == ERR_NONE && p->claim)
			events_note(d->events, p->claim, "Normal", "ProvisioningSucceeded", "%s", message);
		else if (e->kind != ERR_NONE && e->kind != ERR_EXISTS && e->kind != ERR_NOT_FOUND) {
			log_warn("provision volume=%s: %s, trying again", p->volume, e->text);
			loop_timer_set(d->client->loop, &d->again, AGAIN_MS);
		}
	}
	free(p->volume);
	json_decref(p->claim);
	free(p);
}

/* ---- making ---- */

/* Long names are cut: the uid alone makes it unique. */
static char *claim_path(const struct claim_dirs *d, const json_t *claim)
{
	return xasprintf("%s/claims/%.63s-%.120s-%s", d->dir, jsonx_str_or(claim, "metadata.namespace", ""),
			 jsonx_str_or(claim, "metadata.name", ""), jsonx_str_or(claim, "metadata.uid", ""));
}

static json_t *make_volume(const json_t *claim, const json_t *class, const char *name, const char *path)
{
	json_t *pv = json_pack(
		"{s:s, s:s, s:{s:s, s:{s:s}}, s:{s:O, s:{s:O}, s:{s:s, s:s}, s:s, s:O, s:s}}", "apiVersion", "v1",
		"kind", "PersistentVolume", "metadata", "name", name, "annotations", PROVISIONED_BY,
		CLAIM_DIRS_PROVISIONER, "spec", "accessModes", jsonx_at(claim, "spec.accessModes"), "capacity",
		"storage", jsonx_at(claim, "spec.resources.requests.storage"), "hostPath", "path", path, "type",
		"Directory", "persistentVolumeReclaimPolicy", jsonx_str_or(class, "reclaimPolicy", "Delete"),
		"storageClassName", jsonx_at(claim, "spec.storageClassName"), "volumeMode", "Filesystem");

	jsonx_set_new(pv, "spec.claimRef",
		      json_pack("{s:s, s:s, s:O, s:O, s:O}", "kind", "PersistentVolumeClaim", "apiVersion", "v1",
				"namespace", jsonx_at(claim, "metadata.namespace"), "name",
				jsonx_at(claim, "metadata.name"), "uid", jsonx_at(claim, "metadata.uid")));
	return pv;
}

static int make_dir(const char *path, struct err *e)
{
	if (file_make_dirs(path, 0700, e) < 0)
		return -1;
	if (chmod(path, DIR_MODE) < 0)
		return err_errno(e, ERR_INTERNAL, "cannot set the mode of %s", path);
	return 0;
}

static void provision(struct claim_dirs *d, const json_t *claim)
{
	const json_t *class = informer_find(d->classes, NULL, jsonx_str_or(claim, "spec.storageClassName", ""));
	auto_free char *name = xasprintf("pvc-%s", jsonx_str_or(claim, "metadata.uid", ""));
	auto_free char *path = claim_path(d, claim);
	json_auto_t *pv = NULL;
	struct err e = ERR_INIT;

	if (!class || json_object_get(d->busy, name) || informer_find(d->volumes, NULL, name))
		return;
	if (streq(jsonx_str_or(claim, "spec.volumeMode", ""), "Block"))
		err_set(&e, ERR_INVALID, CLAIM_DIRS_PROVISIONER " makes directories, not block devices");
	else
		make_dir(path, &e);
	if (e.kind != ERR_NONE) {
		auto_free char *message = xasprintf("failed to provision volume with StorageClass \"%s\": %s",
						    jsonx_str_or(class, "metadata.name", ""), e.text);

		events_note(d->events, claim, "Warning", "ProvisioningFailed", "%s", message);
		if (e.kind != ERR_INVALID)
			loop_timer_set(d->client->loop, &d->again, AGAIN_MS);
		return;
	}
	pv = make_volume(claim, class, name, path);
	d->client->ops->create(d->client, &(struct ref){ .api_version = "v1", .plural = "persistentvolumes" }, pv,
			       on_answer, pending_new(d, name, claim));
}

/* ---- deleting ---- */

/* Only what is directly in our own directory is ours, whatever the object says. */
static bool is_ours(const struct claim_dirs *d, const char *path)
{
	auto_free char *base = xasprintf("%s/claims/", d->dir);
	const char *name = str_starts(path, base) ? path + strlen(base) : "";

	return *name && *name != '.' && !strchr(name, '/');
}

static void reclaim(struct claim_dirs *d, const json_t *volume)
{
	const char *name = jsonx_str_or(volume, "metadata.name", "");
	const char *path = jsonx_str_or(volume, "spec.hostPath.path", "");

	if (json_object_get(d->busy, name) || jsonx_at(volume, "metadata.deletionTimestamp"))
		return;
	if (!is_ours(d, path)) {
		log_warn("delete volume=%s: %s is not a directory of ours, leaving it", name, path);
		return;
	}
	trash_put(d->trash, path);
	d->client->ops->remove(d->client,
			       &(struct ref){ .api_version = "v1", .plural = "persistentvolumes", .name = name }, NULL,
			       on_answer, pending_new(d, name, NULL));
}

/* ---- when ---- */

static bool wants_volume(const json_t *claim)
{
	return str_same(annotation(claim, ASKED_FOR), CLAIM_DIRS_PROVISIONER) &&
	       !*jsonx_str_or(claim, "spec.volumeName", "") && !jsonx_at(claim, "metadata.deletionTimestamp");
}

static bool is_to_go(const json_t *volume)
{
	return str_same(annotation(volume, PROVISIONED_BY), CLAIM_DIRS_PROVISIONER) &&
	       streq(jsonx_str_or(volume, "status.phase", ""), "Released") &&
	       streq(jsonx_str_or(volume, "spec.persistentVolumeReclaimPolicy", ""), "Delete");
}

static void on_look(void *arg)
{
	struct claim_dirs *d = arg;
	const json_t *obj;
	size_t pos = 0;

	if (!informer_synced(d->claims) || !informer_synced(d->volumes) || !informer_synced(d->classes))
		return;
	while (informer_next(d->claims, &pos, &obj))
		if (wants_volume(obj))
			provision(d, obj);
	pos = 0;
	while (informer_next(d->volumes, &pos, &obj))
		if (is_to_go(obj))
			reclaim(d, obj);
}

static void on_again(void *arg)
{
	struct claim_dirs *d = arg;

	loop_schedule(d->client->loop, &d->look);
}

static void on_change(void *arg, const json_t *obj, const json_t *old)
{
	(void)obj;
	(void)old;
	on_again(arg);
}

struct claim_dirs *claim_dirs_new(struct client *c, const char *dir, struct trash *trash)
{
	struct claim_dirs *d = xcalloc(1, sizeof(*d));
	struct informer_handlers h = { .change = on_change, .synced = on_again, .arg = d };

	d->client = c;
	d->events = events_new(c, CLAIM_DIRS_PROVISIONER, NULL);
	d->dir = dir;
	d->trash = trash;
	d->busy = json_object();
	d->look = (struct loop_hook){ .run = on_look, .arg = d, .phase = LOOP_WORK };
	d->again = (struct loop_timer){ .fire = on_again, .arg = d };
	d->claims = informer_new(c, &(struct ref){ .api_version = "v1", .plural = "persistentvolumeclaims" }, NULL, &h);
	d->volumes = informer_new(c, &(struct ref){ .api_version = "v1", .plural = "persistentvolumes" }, NULL, &h);
	d->classes = informer_new(c, &(struct ref){ .api_version = "storage.k8s.io/v1", .plural = "storageclasses" },
				  NULL, &h);
	return d;
}

void claim_dirs_free(struct claim_dirs *d)
{
	if (!d)
		return;
	informer_free(d->claims);
	informer_free(d->volumes);
	informer_free(d->classes);
	loop_unschedule(d->client->loop, &d->look);
	loop_timer_done(&d->again);
	for (struct pending *p = d->first; p; p = p->next)
		p->owner = NULL;
	events_free(d->events);
	json_decref(d->busy);
	free(d);
}
