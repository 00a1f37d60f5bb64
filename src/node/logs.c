// SPDX-License-Identifier: Apache-2.0
/* logs.c - which logs there are, whose they are, and where the next one goes
 *
 * The disk is the truth; a short record of each pod is kept in memory, so that a job's name is found without reading
 * thousands of small files.  owner.json is not synced: it is written at a pod's begin and end, and a machine that loses
 * power in that second loses the job's name for it, not the log.  A full disk loses neither: at the end it has its
 * room, and where that is not enough the new file takes the old one's place when it is whole.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/jsonx.h"
#include "base/log.h"
#include "base/mem.h"
#include "node/log_parts.h"
#include "node/log_watch.h"
#include "node/logs_parts.h"

#define KEEP_ATTEMPTS 10
#define DIR_NAME_MAX  200 /* of a pod's name: with the uid it must fit a file name */

char *kept_path(const struct logs *l, const struct kept *k)
{
	return xasprintf("%s/%s/%s", l->root, k->ns, k->dir);
}

static void kept_free(struct kept *k)
{
	free(k->ns);
	free(k->dir);
	free(k->pod);
	free(k->uid);
	free(k->owner);
	free(k->job);
	json_decref(k->doc);
	free(k);
}

void kept_forget(struct logs *l, struct kept *k)
{
	if (map_find(&l->by_uid, k->uid) == k)
		map_remove(&l->by_uid, k->uid);
	TAILQ_REMOVE(&l->kept, k, link);
	kept_free(k);
}

/* ---- owner.json ---- */

static char *owner_path(const struct logs *l, const struct kept *k)
{
	return xasprintf("%s/%s/%s/" LOGS_OWNER, l->root, k->ns, k->dir);
}

json_t *kept_owner(const struct logs *l, const struct kept *k)
{
	auto_sbuf struct sbuf text = SBUF(LOGS_OWNER_MAX);
	auto_free char *path = owner_path(l, k);
	struct err e = ERR_INIT;
	json_t *doc = NULL;

	if (k->doc)
		return json_incref(k->doc);
	if (file_read(path, LOGS_OWNER_MAX, &text, &e) == 0 &&
	    jsonx_parse(text.p ? text.p : "", text.n, NULL, NULL, &doc, &e) == 0 && json_is_object(doc))
		return doc;
	json_decref(doc);
	return json_pack("{s:s, s:s, s:s}", "namespace", k->ns, "pod", k->pod, "uid", k->uid);
}

/* A new one in its place, unless there was none. */
static int owner_write(const struct logs *l, const struct kept *k, const json_t *doc, bool first, struct err *e)
{
	auto_sbuf struct sbuf text = SBUF(LOGS_OWNER_MAX);
	auto_free char *path = owner_path(l, k);
	auto_free char *new = first ? NULL : xasprintf("%s.new", path);
	auto_close int fd = open(first ? path : new, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);

	jsonx_dump(doc, &text);
	if (fd < 0 || write(fd, text.p, text.n) != (ssize_t)text.n || (!first && rename(new, path) < 0))
		return err_errno(e, ERR_INTERNAL, "write %s", path);
	return 0;
}

/* In place, where it has room already: a file more and one less for each pod is more work than all of this. */
static int owner_rewrite(const struct logs *l, const struct kept *k, const json_t *doc, struct err *e)
{
	auto_sbuf struct sbuf text = SBUF(LOGS_OWNER_MAX);
	auto_free char *path = owner_path(l, k);
	auto_close int fd = open(path, O_WRONLY | O_CLOEXEC | O_NOFOLLOW);

	jsonx_dump(doc, &text);
	if (fd >= 0 && pwrite(fd, text.p, text.n, 0) == (ssize_t)text.n && ftruncate(fd, (off_t)text.n) == 0)
		return 0;
	return owner_write(l, k, doc, false, e);
}

/* The job a pod works for, where its labels say more than its owner: a CronJob's or a TFJob's pods carry it. */
static const char *job_label(const json_t *pod)
{
	static const char *const labels[] = { "stoker.dev/job", "training.kubeflow.org/job-name",
					      "batch.kubernetes.io/job-name", "job-name" };

	for (size_t i = 0; i < ARRAY_SIZE(labels); i++) {
		const json_t *v = json_object_get(jsonx_at(pod, "metadata.labels"), labels[i]);

		if (json_string_length(v))
			return json_string_value(v);
	}
	return NULL;
}

static const json_t *controller_of(const json_t *pod)
{
	json_t *ref;
	size_t i;

	json_array_foreach (jsonx_at(pod, "metadata.ownerReferences"), i, ref)
		if (jsonx_bool_or(ref, "controller", false))
			return ref;
	return NULL;
}

static void add_names(json_t *names, const json_t *containers)
{
	json_t *c;
	size_t i;

	json_array_foreach (containers, i, c)
		json_array_append(names, json_object_get(c, "name"));
}

static json_t *owner_of(const json_t *pod)
{
	const json_t *ref = controller_of(pod);
	const char *job = job_label(pod);
	json_t *names = json_array();
	json_t *inits = json_array();
	json_t *doc;

	add_names(inits, jsonx_at(pod, "spec.initContainers"));
	add_names(names, jsonx_at(pod, "spec.containers"));
	doc = json_pack("{s:s, s:s, s:s, s:s, s:I, s:o, s:o}", "namespace", jsonx_str_or(pod, "metadata.namespace", ""),
			"pod", jsonx_str_or(pod, "metadata.name", ""), "uid", jsonx_str_or(pod, "metadata.uid", ""),
			"created", jsonx_str_or(pod, "metadata.creationTimestamp", ""), "made",
			(json_int_t)clock_wall_micros(), "inits", inits, "containers", names);
	if (ref)
		json_object_set_new(doc, "owner",
				    json_pack("{s:s, s:s}", "kind", jsonx_str_or(ref, "kind", ""), "name",
					      jsonx_str_or(ref, "name", "")));
	if (job)
		json_object_set_new(doc, "job", jsonx_string(job));
	return doc;
}

static char *copy_of(const char *s)
{
	return s ? xstrdup(s) : NULL;
}

/* On the list, in order of age; takes nothing over. */
static struct kept *kept_add(struct logs *l, const char *ns, const char *dir, const json_t *doc)
{
	struct kept *k = xcalloc(1, sizeof(*k));
	struct kept *before;

	k->ns = xstrdup(ns);
	k->dir = xstrdup(dir);
	k->pod = xstrdup(jsonx_str_or(doc, "pod", ""));
	k->uid = xstrdup(jsonx_str_or(doc, "uid", ""));
	k->owner = copy_of(jsonx_str(doc, "owner.name"));
	k->job = copy_of(jsonx_str(doc, "job"));
	k->made_us = jsonx_int_or(doc, "made", 0);
	k->ended = jsonx_int_or(doc, "ended", 0);
	TAILQ_FOREACH_REVERSE(before, &l->kept, kept_list, link)
	if (before->made_us <= k->made_us)
		break;
	if (before)
		TAILQ_INSERT_AFTER(&l->kept, before, k, link);
	else
		TAILQ_INSERT_HEAD(&l->kept, k, link);
	map_set(&l->by_uid, k->uid, k);
	return k;
}

/* ---- opening ---- */

/* One pod's directory that was there before us. */
static void load_pod(struct logs *l, const char *ns, const char *dir)
{
	const char *cut = strrchr(dir, '_');
	auto_free char *pod = cut ? xstrndup(dir, (size_t)(cut - dir)) : NULL;
	json_auto_t *doc = NULL;

	if (!cut || cut == dir || !cut[1])
		return;
	doc = kept_owner(l, &(struct kept){ .ns = (char *)ns, .dir = (char *)dir, .pod = pod, .uid = (char *)cut + 1 });
	if (jsonx_str(doc, "pod") && jsonx_str(doc, "uid"))
		kept_add(l, ns, dir, doc);
}

static void load_namespace(struct logs *l, const char *ns)
{
	auto_free char *path = xasprintf("%s/%s", l->root, ns);
	DIR *dir = opendir(path);
	struct dirent *d;

	while (dir && (d = readdir(dir)))
		if (d->d_name[0] != '.')
			load_pod(l, ns, d->d_name);
	if (dir)
		closedir(dir);
}

int logs_open(struct loop *loop, const struct logs_config *config, struct logs **ret, struct err *e)
{
	struct logs *l = xcalloc(1, sizeof(*l));
	struct dirent *d;
	DIR *dir;

	l->loop = loop;
	l->config = *config;
	l->root = xasprintf("%s/logs", config->dir);
	l->watch = log_watch_new(loop);
	TAILQ_INIT(&l->kept);
	LIST_INIT(&l->listeners);
	LIST_INIT(&l->measures);
	map_init(&l->by_uid, NULL);
	logs_keep_start(l);
	if (file_make_dirs(l->root, 0700, e) < 0) {
		logs_free(l);
		return -1;
	}
	dir = opendir(l->root);
	if (!dir) {
		err_errno(e, ERR_INTERNAL, "open %s", l->root);
		logs_free(l);
		return -1;
	}
	while ((d = readdir(dir)))
		if (d->d_name[0] != '.')
			load_namespace(l, d->d_name);
	closedir(dir);
	logs_keep_look(l);
	*ret = l;
	return 0;
}

void logs_free(struct logs *l)
{
	struct kept *k;
	struct logs_listener *who;

	if (!l)
		return;
	logs_keep_stop(l);
	measure_keep_stop(&l->measures);
	while ((who = LIST_FIRST(&l->listeners)))
		logs_unlisten(who);
	while ((k = TAILQ_FIRST(&l->kept)))
		kept_forget(l, k);
	map_done(&l->by_uid);
	log_watch_free(l->watch);
	free(l->root);
	free(l);
}

/* ---- the next log ---- */

static bool is_plain(const char *name)
{
	return *name && *name != '.' && !strchr(name, '/') && strlen(name) <= NAME_MAX;
}

static void drop_attempt(const char *dir, int attempt)
{
	auto_free char *measures = xasprintf("%s/%d.measures", dir, attempt);

	unlink(measures);
	for (int i = 0; i < LOG_PARTS; i++) {
		auto_free char *path =
			i ? xasprintf("%s/%d.log.%d", dir, attempt, i) : xasprintf("%s/%d.log", dir, attempt);

		unlink(path);
	}
}

static int kept_begin(struct logs *l, const json_t *pod, struct kept **ret, struct err *e)
{
	const char *ns = jsonx_str_or(pod, "metadata.namespace", "");
	const char *name = jsonx_str_or(pod, "metadata.name", "");
	const char *uid = jsonx_str_or(pod, "metadata.uid", "");
	json_auto_t *doc = owner_of(pod);
	auto_free char *dir = xasprintf("%.*s_%s", DIR_NAME_MAX, name, uid);
	auto_free char *path = xasprintf("%s/%s/%s", l->root, ns, dir);
	struct kept *k;

	if (!is_plain(ns) || !is_plain(dir) || !*uid || !*name)
		return err_set(e, ERR_INVALID, "pod %s/%s (%s): no directory can have this name", ns, name, uid);
	if (file_make_dirs(path, 0700, e) < 0)
		return -1;
	k = kept_add(l, ns, dir, doc);
	if (owner_write(l, k, doc, true, e) < 0) {
		kept_forget(l, k);
		return -1;
	}
	k->doc = json_incref(doc);
	*ret = k;
	return 0;
}

static void set_ended(struct logs *l, struct kept *k, int64_t when)
{
	json_auto_t *doc = kept_owner(l, k);
	struct err e = ERR_INIT;

	k->ended = when;
	k->measured_ms = 0;
	if (when)
		json_object_set_new(doc, "ended", json_integer(when));
	else
		json_object_del(doc, "ended");
	if (when) {
		json_decref(k->doc);
		k->doc = NULL;
	}
	if (owner_rewrite(l, k, doc, &e) < 0)
		log_warn("note the end of a pod pod=%s/%s: %s, ignoring", k->ns, k->pod, e.text);
}

int logs_path(struct logs *l, const json_t *pod, const char *container, int attempt, char **ret, struct err *e)
{
	struct kept *k = map_find(&l->by_uid, jsonx_str_or(pod, "metadata.uid", ""));
	auto_free char *base = NULL;
	auto_free char *dir = NULL;

	if (!is_plain(container))
		return err_set(e, ERR_INVALID, "container %s: no directory can have this name", container);
	if (!k && kept_begin(l, pod, &k, e) < 0)
		return -1;
	if (k->ended)
		set_ended(l, k, 0);
	base = kept_path(l, k);
	dir = xasprintf("%s/%s", base, container);
	if (file_make_dirs(dir, 0700, e) < 0)
		return -1;
	if (attempt >= KEEP_ATTEMPTS)
		drop_attempt(dir, attempt - KEEP_ATTEMPTS);
	*ret = xasprintf("%s/%d.log", dir, attempt);
	return 0;
}

void logs_pod_ended(struct logs *l, const char *ns, const char *pod, const char *uid)
{
	struct kept *k = map_find(&l->by_uid, uid);

	(void)ns;
	(void)pod;
	measure_keep_pod_ended(&l->measures, uid);
	if (!k || k->ended)
		return;
	set_ended(l, k, clock_wall());
	logs_keep_look(l);
}

void logs_settle(struct logs *l, bool (*lives)(void *arg, const char *uid), void *arg)
{
	struct kept *k;

	TAILQ_FOREACH(k, &l->kept, link)
	if (!k->ended && !lives(arg, k->uid))
		set_ended(l, k, clock_wall());
	logs_keep_look(l);
}

/* ---- those who follow ---- */

void logs_listen(struct logs *l, struct logs_listener *listener)
{
	LIST_INSERT_HEAD(&l->listeners, listener, link);
}

void logs_unlisten(struct logs_listener *listener)
{
	if (!listener->link.le_prev)
		return;
	LIST_REMOVE(listener, link);
	listener->link.le_prev = NULL;
}

void logs_container_ended(struct logs *l, const char *log_path)
{
	struct logs_listener *who;
	struct logs_listener *next;

	for (who = LIST_FIRST(&l->listeners); who; who = next) {
		next = LIST_NEXT(who, link);
		if (streq(who->path, log_path))
			who->ended(who->arg);
	}
}

struct log_watch *logs_watch(struct logs *l)
{
	return l->watch;
}

void logs_measure(struct logs *l, const json_t *pod, const char *log_path)
{
	if (log_path && measure_keep_wants(pod))
		measure_keep_start(l->loop, l, &l->measures, jsonx_str_or(pod, "metadata.uid", ""), log_path);
}
