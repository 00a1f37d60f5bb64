// SPDX-License-Identifier: Apache-2.0
/* pod_mounts.c - everything that is mounted into a container besides its root and the system's own
 *
 *	volumeMounts, the pod's /etc files, the termination message, an account for its user, the driver of its cards
 *
 * A volume mounted by the user at the same place wins over a file of ours.
 */
#include <sys/stat.h>

#include "base/file.h"
#include "base/jsonx.h"
#include "base/limits.h"
#include "base/mem.h"
#include "node/bundle.h"
#include "node/host_users.h"
#include "node/pod_parts.h"

static bool has_mount(const json_t *list, const char *target)
{
	json_t *m;
	size_t i;

	json_array_foreach ((json_t *)list, i, m)
		if (str_same(jsonx_str(m, "destination"), target))
			return true;
	return false;
}

static void add_bind(json_t *list, const char *source, const char *target, const char *propagation, bool read_only)
{
	json_array_append_new(list,
			      json_pack("{s:s, s:s, s:s, s:[s,s,s]}", "destination", target, "type", "bind", "source",
					source, "options", "rbind", propagation, read_only ? "ro" : "rw"));
}

static const char *propagation_of(const json_t *mount)
{
	const char *text = jsonx_str_or(mount, "mountPropagation", "None");

	return streq(text, "Bidirectional") ? "rshared" : streq(text, "HostToContainer") ? "rslave" : "rprivate";
}

static int add_volume(const struct volume_context *v, const struct ctr *c, const json_t *mount, const json_t *vars,
		      json_t *list, struct err *e)
{
	auto_sbuf struct sbuf sub = SBUF(4096);
	auto_free char *source = NULL;
	const char *expr = jsonx_str(mount, "subPathExpr");
	const char *plain = jsonx_str(mount, "subPath");
	const char *target = jsonx_str_or(mount, "mountPath", "");
	auto_free char *absolute = *target == '/' ? xstrdup(target) : xasprintf("/%s", target);

	if (expr && *expr)
		env_expand(expr, vars, &sub);
	else if (plain)
		sbuf_adds(&sub, plain);
	if (volume_source(v, c->spec, mount, sub.n ? sub.p : NULL, &source, e) < 0)
		return -1;
	add_bind(list, source, absolute, propagation_of(mount), volume_is_read_only(c->pod->obj, mount));
	return 0;
}

static int add_volumes(struct ctr *c, const json_t *env, json_t *list, struct err *e)
{
	json_auto_t *objects = pod_objects(c->pod);
	json_auto_t *vars = env_object(env);
	auto_free char *dir = xasprintf("%s/volumes", c->pod->dir);
	struct volume_context v;
	json_t *mount;
	size_t i;

	pod_volume_context(c->pod, objects, &v);
	v.dir = dir;
	json_array_foreach (json_object_get(c->spec, "volumeMounts"), i, mount)
		if (add_volume(&v, c, mount, vars, list, e) < 0)
			return -1;
	return 0;
}

static void add_texts(const struct pod *p, json_t *list)
{
	static const struct {
		const char *file, *target;
	} rows[] = { { "hosts", "/etc/hosts" },
		     { "resolv.conf", "/etc/resolv.conf" },
		     { "hostname", "/etc/hostname" } };

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		auto_free char *source = xasprintf("%s/%s", p->dir, rows[i].file);

		if (!has_mount(list, rows[i].target))
			add_bind(list, source, rows[i].target, "rprivate", false);
	}
}

char *ctr_file(const struct ctr *c, const char *what)
{
	return xasprintf("%s/%s.%s", c->pod->dir, what, c->name);
}

/* An empty file that anyone in the container may write to. */
static int add_termination_log(const struct ctr *c, json_t *list, struct err *e)
{
	const char *target = jsonx_str_or(c->spec, "terminationMessagePath", "/dev/termination-log");
	auto_free char *path = ctr_file(c, "termination-log");

	if (!*target || has_mount(list, target))
		return 0;
	if (file_place(path, 0666, STR(""), e) < 0)
		return -1;
	add_bind(list, path, target, "rprivate", false);
	return 0;
}

static int add_account(const struct ctr *c, const char *name, char *text /* taken */, json_t *list, struct err *e)
{
	auto_free char *owned = text;
	auto_free char *path = ctr_file(c, name);
	auto_free char *target = xasprintf("/etc/%s", name);

	if (!owned || has_mount(list, target))
		return 0;
	if (file_place(path, 0644, str_of(owned), e) < 0)
		return -1;
	add_bind(list, path, target, "rprivate", false);
	return 0;
}

int ctr_mounts(struct ctr *c, const struct ctr_accounts *a, const json_t *env, const json_t *cards, json_t **ret,
	       struct err *e)
{
	json_auto_t *list = json_array();

	if (add_volumes(c, env, list, e) < 0 || add_termination_log(c, list, e) < 0 ||
	    add_account(c, "passwd", user_add_passwd(a->passwd, a->user), list, e) < 0 ||
	    add_account(c, "group", user_add_group(a->group, a->user, host_group_name), list, e) < 0)
		return -1;
	add_texts(c->pod, list);
	if (cards)
		json_array_extend(list, (json_t *)cards);
	*ret = TAKE(list);
	return 0;
}
