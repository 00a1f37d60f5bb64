// SPDX-License-Identifier: Apache-2.0
/* volume_claim.c - persistentVolumeClaim: from the claim to its PersistentVolume to files
 *
 * The claim and the volume must name each other: a claim that was deleted and made again does not get the old one's
 * data.  Who may have which volume was decided when they were bound (control/claims.c), so the owner's roots do not
 * apply here.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/jsonx.h"
#include "base/mem.h"
#include "node/volume_parts.h"

#define DONE "done"

/* ---- local: a directory of this machine, with fsGroup ---- */

struct own_tree {
	char *path;
	gid_t gid;
	bool only_on_mismatch;
};

static void own_in_child(const void *arg, struct sbuf *result)
{
	const struct own_tree *o = arg;
	struct err e = ERR_INIT;

	if (volume_own_tree(o->path, o->gid, o->only_on_mismatch, &e) < 0)
		sbuf_adds(result, e.text);
	else
		sbuf_adds(result, DONE);
}

/* Once for each pod; a large tree takes its time. */
static int own_apart(const struct volume *v, const char *path, struct err *e)
{
	auto_free char *job = xasprintf("own-%s", v->name);
	auto_sbuf struct sbuf result = SBUF(4096);
	enum volume_job state = volume_job_look(v->c->dir, job, &result);
	struct own_tree o = {
		.path = xstrdup(path),
		.gid = v->c->fs_group,
		.only_on_mismatch = streq(jsonx_str_or(v->c->pod, "spec.securityContext.fsGroupChangePolicy", "Always"),
					  "OnRootMismatch"),
	};
	int r = 0;

	if (state == VOLUME_JOB_DONE && !streq(result.p, DONE)) {
		r = err_set(e, ERR_INTERNAL, "%s", result.p);
		volume_job_forget(v->c->dir, job);
	} else if (state != VOLUME_JOB_DONE) {
		if (state == VOLUME_JOB_NONE)
			r = volume_job_start(v->c->dir, job, own_in_child, NULL, &o, e);
		if (r == 0)
			r = err_set(e, ERR_UNAVAILABLE, "giving %s to group %u", path, (unsigned)o.gid);
		e->retry_after = 1;
	}
	free(o.path);
	return r;
}

static int local_prepare(const struct volume *v, struct err *e)
{
	const char *path = jsonx_str_or(v->source, "path", "");
	struct stat st;

	if (stat(path, &st) < 0)
		return errno == ENOENT ? err_set(e, ERR_NOT_FOUND, "path \"%s\" does not exist", path)
				       : err_errno(e, ERR_INTERNAL, "path \"%s\"", path);
	if (!S_ISDIR(st.st_mode))
		return err_set(e, ERR_INVALID, "path \"%s\" is not a directory", path);
	return v->c->fs_group == (gid_t)-1 || v->read_only || geteuid() != 0 ? 0 : own_apart(v, path, e);
}

/* ---- the claim ---- */

static const struct volume_type kinds_of_pv[] = {
	{ "hostPath", volume_host_prepare, volume_host_root, false },
	{ "local", local_prepare, volume_host_root, false },
	{ "nfs", volume_nfs_prepare, NULL, false },
};

static const json_t *find(const struct volume *v, const char *plural, const char *name)
{
	auto_free char *key = xasprintf("%s/%s", plural, name);
	const json_t *obj = json_object_get(v->c->objects, key);

	return json_is_object(obj) ? obj : NULL;
}

static int find_pv(const struct volume *v, const json_t **ret, struct err *e)
{
	const char *name = jsonx_str_or(v->source, "claimName", "");
	const json_t *claim = find(v, "persistentvolumeclaims", name);
	const char *pv_name = jsonx_str_or(claim, "spec.volumeName", "");
	const json_t *pv;

	if (!claim)
		return err_set(e, ERR_NOT_FOUND, "persistentvolumeclaim \"%s\" not found", name);
	if (!streq(jsonx_str_or(claim, "status.phase", "Pending"), "Bound") || !*pv_name)
		return err_set(e, ERR_NOT_FOUND, "persistentvolumeclaim \"%s\" is not bound to a volume yet", name);
	pv = find(v, "persistentvolumes", pv_name);
	if (!pv)
		return err_set(e, ERR_NOT_FOUND, "persistentvolume \"%s\" of claim \"%s\" not found", pv_name, name);
	if (!str_same(jsonx_str(pv, "spec.claimRef.uid"), jsonx_str(claim, "metadata.uid")))
		return err_set(e, ERR_FORBIDDEN, "persistentvolume \"%s\" is not bound to claim \"%s\"", pv_name, name);
	if (streq(jsonx_str_or(pv, "spec.volumeMode", "Filesystem"), "Block"))
		return err_set(e, ERR_INVALID, "persistentvolume \"%s\": volumeMode Block is not supported", pv_name);
	*ret = pv;
	return 0;
}

/* The PersistentVolume as if it were the pod's volume. */
static int resolve(const struct volume *v, struct volume *ret, const struct volume_type **ret_type, struct err *e)
{
	const json_t *pv = NULL;

	if (find_pv(v, &pv, e) < 0)
		return -1;
	*ret = *v;
	ret->trusted = true;
	ret->options = jsonx_at(pv, "spec.mountOptions");
	for (size_t i = 0; i < ARRAY_SIZE(kinds_of_pv); i++) {
		ret->source = json_object_get(json_object_get(pv, "spec"), kinds_of_pv[i].name);
		if (ret->source) {
			*ret_type = &kinds_of_pv[i];
			return 0;
		}
	}
	return err_set(e, ERR_INVALID,
		       "persistentvolume \"%s\" is of a type that is not supported here; hostPath, local and nfs are",
		       jsonx_str_or(pv, "metadata.name", ""));
}

int volume_claim_prepare(const struct volume *v, struct err *e)
{
	const struct volume_type *type;
	struct volume real;

	return resolve(v, &real, &type, e) < 0 ? -1 : type->prepare(&real, e);
}

int volume_claim_root(const struct volume *v, char **ret, struct err *e)
{
	const struct volume_type *type;
	struct volume real;

	if (resolve(v, &real, &type, e) < 0)
		return -1;
	if (type->root)
		return type->root(&real, ret, e);
	*ret = xstrdup(real.path);
	return 0;
}
