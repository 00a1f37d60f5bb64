// SPDX-License-Identifier: Apache-2.0
/* image_commit.c - `stoker image commit`: keep what was changed in a pod's container
 *
 * Which container it is, the API says; its files are below the data directory, where the pod's worker keeps them:
 *
 *	DIR/pods/UID/scratch/CONTAINER                   what the container changed
 *	DIR/run/pods/UID/containers/CONTAINER/config.json   its OCI document: where something was mounted, and its
 *control group
 *
 * So this runs on the pod's node, as whoever owns DIR.
 */
#include <stdio.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/jsonx.h"
#include "base/limits.h"
#include "base/mem.h"
#include "cli/connect.h"
#include "cli/image_session.h"
#include "node/runtime.h"

struct commit_settings {
	struct connect_settings connect;
	const char *data, *ns, *container, *message;
	struct opt_strings changes;
	bool pause, quiet;
};

#define OPT(member_) .offset = offsetof(struct commit_settings, member_)

static const struct opt commit_opts[] = {
	{ .name = "container",
	  .letter = 'c',
	  .type = OPT_STRING,
	  OPT(container),
	  .arg = "NAME",
	  .help = "which container of the pod (default: its only one)" },
	{ .name = "namespace",
	  .letter = 'n',
	  .type = OPT_STRING,
	  OPT(ns),
	  .arg = "NAME",
	  .help = "the pod's namespace (default: yours)" },
	{ .name = "change",
	  .type = OPT_STRINGS,
	  OPT(changes),
	  .arg = "LINE",
	  .help = "a line of a Dockerfile: 'CMD [\"python\"]', 'ENV A=b'; may be repeated" },
	{ .name = "message", .letter = 'm', .type = OPT_STRING, OPT(message), .arg = "TEXT", .help = "what was done" },
	{ .name = "pause", .type = OPT_FLAG, OPT(pause), .help = "stop the container's processes meanwhile" },
	IMAGE_QUIET_OPT(struct commit_settings),
	IMAGE_DATA_OPT(struct commit_settings),
	CONNECT_OPTS,
	OPT_END,
};

/* What the API knows of the container. */
struct target {
	char *uid, *ns, *container, *node;
};

static void target_done(struct target *t)
{
	free(t->uid);
	free(t->ns);
	free(t->container);
	free(t->node);
}

static int choose_container(const json_t *pod, const char *wanted, const char **ret, struct err *e)
{
	const json_t *containers = jsonx_at(pod, "spec.containers");
	auto_sbuf struct sbuf names = SBUF(1024);
	json_t *c;
	size_t i;

	json_array_foreach ((json_t *)containers, i, c) {
		const char *name = jsonx_str_or(c, "name", "");

		if (wanted ? streq(name, wanted) : json_array_size(containers) == 1) {
			*ret = name;
			return 0;
		}
		sbuf_addf(&names, "%s%s", i ? ", " : "", name);
	}
	if (wanted)
		return err_set(e, ERR_NOT_FOUND, "the pod has no container %s; it has %s", wanted, names.p);
	return err_set(e, ERR_BAD_REQUEST, "the pod has containers %s; choose one with -c", names.p);
}

/* A name that is part of a path. */
static bool is_plain(const char *s)
{
	return *s && *s != '.' && !strchr(s, '/');
}

static int find_target(const struct commit_settings *s, const char *pod_name, struct target *ret, struct err *e)
{
	struct connection c;
	json_auto_t *pod = NULL;
	struct ref ref = { .api_version = "v1", .plural = "pods", .name = pod_name };
	const char *container = NULL;
	int r;

	if (connect_open(&s->connect, &c, e) < 0)
		return -1;
	ret->ns = xstrdup(s->ns ? s->ns : client_default_namespace(c.client));
	ref.ns = ret->ns;
	r = client_get_wait(c.client, &ref, &pod, e);
	connect_close(&c);
	if (r < 0 || choose_container(pod, s->container, &container, e) < 0)
		return -1;
	ret->uid = xstrdup(jsonx_str_or(pod, "metadata.uid", ""));
	ret->container = xstrdup(container);
	ret->node = xstrdup(jsonx_str_or(pod, "spec.nodeName", ""));
	if (!is_plain(ret->uid) || !is_plain(ret->container))
		return err_set(e, ERR_INVALID, "the server gave the pod the uid \"%s\"", ret->uid);
	return 0;
}

/* The container's OCI document, or NULL. */
static json_t *read_document(const char *dir)
{
	auto_free char *path = xasprintf("%s/config.json", dir);
	auto_sbuf struct sbuf text = SBUF(LIMIT_BODY);
	struct err e = ERR_INIT;
	json_t *doc = NULL;

	if (file_read(path, LIMIT_BODY, &text, &e) < 0 || !text.p ||
	    jsonx_parse(text.p, text.n, NULL, NULL, &doc, &e) < 0)
		return NULL;
	return doc;
}

static json_t *mount_points(const json_t *document)
{
	json_t *list = json_array();
	json_t *m;
	size_t i;

	json_array_foreach (jsonx_at(document, "mounts"), i, m)
		json_array_append_new(list, jsonx_string(jsonx_str_or(m, "destination", "")));
	return list;
}

static int find_scratch(const struct target *t, const char *pod, const char *dir, char **ret, struct err *e)
{
	auto_free char *scratch = xstrdup(dir);
	struct stat st;

	if (stat(scratch, &st) < 0)
		return err_set(e, ERR_NOT_FOUND,
			       "the files of pod %s are not in %s; it must be started and not yet cleaned up, and this "
			       "must run "
			       "on its node%s%s with the server's --data",
			       pod, dir, *t->node ? " " : "", t->node);
	*ret = TAKE(scratch);
	return 0;
}

static int commit(const struct command *cmd, const struct commit_settings *s, const struct target *t, const char *pod,
		  const char *name, struct err *e)
{
	auto_sbuf struct sbuf data = SBUF(4096);
	auto_free char *dir = NULL;
	auto_free char *bundle = NULL;
	auto_free char *scratch = NULL;
	auto_free char *made_by = xasprintf("stoker image commit %s/%s (%s)", t->ns, pod, t->container);
	json_auto_t *changes = json_array();
	json_auto_t *document = NULL;
	json_auto_t *skip = NULL;
	struct commit_options o;
	struct image_session session;
	struct cgroups groups;
	const char *cgroup;
	int status;

	if (s->data)
		sbuf_adds(&data, s->data);
	else
		default_data_dir(&data);
	dir = xasprintf("%s/pods/%s/scratch/%s", data.p, t->uid, t->container);
	bundle = xasprintf("%s/run/pods/%s/containers/%s", data.p, t->uid, t->container);
	if (image_session_open(data.p, s->quiet, &session, e) < 0)
		return command_fail(cmd, e);
	document = read_document(bundle);
	skip = mount_points(document);
	cgroup = jsonx_str_or(document, "linux.cgroupsPath", "");
	cgroups_find(&groups);
	if (find_scratch(t, pod, dir, &scratch, e) < 0 || (s->pause && cgroup_freeze(&groups, cgroup, true, e) < 0)) {
		image_session_close(&session);
		return command_fail(cmd, e);
	}
	for (size_t i = 0; i < s->changes.n; i++)
		json_array_append_new(changes, jsonx_string(s->changes.items[i]));
	o = (struct commit_options){ .scratch = scratch,
				     .name = name,
				     .skip = skip,
				     .changes = changes,
				     .made_by = made_by,
				     .comment = s->message,
				     .pull = { .progress = image_session_progress, .arg = &session } };
	images_commit(session.images, &o, image_session_done, &session);
	status = image_session_wait(cmd, &session);
	if (s->pause)
		(void)!cgroup_freeze(&groups, cgroup, false, e);
	return status;
}

static int run_commit(const struct command *cmd, int argc, char **argv)
{
	struct commit_settings s = { 0 };
	struct target t = { 0 };
	struct err e = ERR_INIT;
	char **rest;
	int status;
	int n;

	if (command_parse(cmd, &s, argc, argv, 2, 2, &rest, &n) < 0)
		return 2;
	if (find_target(&s, rest[0], &t, &e) < 0)
		status = command_fail(cmd, &e);
	else
		status = commit(cmd, &s, &t, rest[0], rest[1], &e);
	target_done(&t);
	opt_strings_done(&s.changes);
	return status;
}

const struct command cmd_image_commit = {
	.name = "image commit",
	.args = "POD NAME [-c CONTAINER]",
	.summary = "Make an image from a changed container",
	.details = "What was changed in the container becomes a layer on the image it started from; volumes are not "
		   "part of\n"
		   "it. Runs on the pod's node.\n\n"
		   "Example:\n"
		   "  kubectl exec -it box -- pip install torchmetrics\n"
		   "  stoker image commit box lab/torch:2 -m 'with torchmetrics'\n",
	.opts = commit_opts,
	.run = run_commit,
};
