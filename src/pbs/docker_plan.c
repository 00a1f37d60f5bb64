// SPDX-License-Identifier: Apache-2.0
/* docker_plan.c - see docker_plan.h
 *
 * Mounts are at the user's own level of the shared directories or below, never as high as the directories themselves:
 * the site's rule.  That the user may read what is there the server sees to, which opens it with the user's rights; the
 * question is asked here too, for the answer comes in fewer words.
 *
 * Kubernetes replaces $(NAME) in arguments and variables; docker does not: a $ is written twice.
 */
#include "pbs/docker_plan.h"

#include <string.h>

#include "base/jsonx.h"
#include "base/limits.h"
#include "base/mem.h"
#include "kinds/condition.h"

#define SHELL_SIGNS "|&;<>()$`*?[#~{}!\\\n"
#define SHM         "/dev/shm"
#define GRACE       10    /* docker stop's */
#define LEFT_BEHIND "600" /* seconds after its end in which whoever waited for it has surely come back */

/* ---- small things ---- */

static json_t *literal(const char *text)
{
	auto_sbuf struct sbuf out = SBUF(LIMIT_BODY);

	for (; *text; text++)
		sbuf_addf(&out, *text == '$' ? "$%c" : "%c", *text);
	return jsonx_stringn(out.p ? out.p : "", out.n);
}

static json_t *list_at(json_t *obj, const char *key)
{
	json_t *list = json_object_get(obj, key);

	if (!list) {
		list = json_array();
		json_object_set_new(obj, key, list);
	}
	return list;
}

/* Is path root or below it?  Both are without ".."; *ret_deeper: not the root itself. */
static bool is_below(const char *root, const char *path, bool *ret_deeper)
{
	size_t n = strlen(root);

	while (n > 1 && root[n - 1] == '/')
		n--;
	if (n < 2 || strncmp(root, path, n) != 0 || (path[n] && path[n] != '/'))
		return false;
	*ret_deeper = path[n] && path[n + strspn(path + n, "/")];
	return true;
}

/* ---- mounts ---- */

enum place { PLACE_NONE, PLACE_TOO_HIGH, PLACE_READ, PLACE_WRITE };

static enum place place_of(const struct docker_ask *ask, const char *path)
{
	enum place best = PLACE_NONE;
	bool deeper;
	json_t *root;
	size_t i;

	if (is_below(ask->home, path, &deeper))
		return PLACE_WRITE;
	json_array_foreach (json_object_get(ask->settings, "readOnlyRoots"), i, root)
		if (json_is_string(root) && is_below(json_string_value(root), path, &deeper))
			best = PLACE_READ;
	json_array_foreach (json_object_get(ask->settings, "hostRoots"), i, root)
		if (json_is_string(root) && is_below(json_string_value(root), path, &deeper)) {
			if (deeper)
				return PLACE_WRITE;
			best = best == PLACE_NONE ? PLACE_TOO_HIGH : best;
		}
	return best;
}

static void say_places(const struct docker_ask *ask, struct sbuf *out)
{
	static const char *const fields[] = { "hostRoots", "readOnlyRoots" };

	sbuf_adds(out, ask->home);
	for (size_t f = 0; f < ARRAY_SIZE(fields); f++) {
		json_t *root;
		size_t i;

		json_array_foreach (json_object_get(ask->settings, fields[f]), i, root)
			sbuf_addf(out, ", %s", json_string_value(root));
	}
}

static bool is_mounted(const json_t *container, const char *target, const char *source, const json_t *spec)
{
	json_t *m;
	size_t i;

	json_array_foreach (json_object_get(container, "volumeMounts"), i, m) {
		const json_t *volume = json_array_get(json_object_get(spec, "volumes"), i);

		if (streq(jsonx_str_or(m, "mountPath", ""), target))
			return !source || streq(jsonx_str_or(volume, "hostPath.path", ""), source);
	}
	return false;
}

static bool is_taken(const json_t *container, const char *target)
{
	json_t *m;
	size_t i;

	json_array_foreach (json_object_get(container, "volumeMounts"), i, m)
		if (streq(jsonx_str_or(m, "mountPath", ""), target))
			return true;
	return false;
}

/* Volumes and mounts are in the same order. */
static void add_mount(json_t *spec, json_t *container, json_t *volume, const char *target, bool read_only)
{
	json_t *volumes = list_at(spec, "volumes");
	json_t *name = jsonx_stringf("v%zu", json_array_size(volumes));

	json_object_set(volume, "name", name);
	json_array_append_new(volumes, volume);
	json_array_append_new(
		list_at(container, "volumeMounts"),
		json_pack("{s:o, s:o, s:b}", "name", name, "mountPath", jsonx_string(target), "readOnly", read_only));
}

static int mount_host(const struct docker_ask *ask, const struct docker_volume *v, json_t *spec, json_t *container,
		      struct err *e)
{
	enum place place = place_of(ask, v->source);
	auto_sbuf struct sbuf places = SBUF(4096);
	int why;

	if (is_mounted(container, v->target, v->source, spec))
		return 0;
	if (is_taken(container, v->target))
		return err_set(e, ERR_INVALID, "Duplicate mount point: %s", v->target);
	if (place == PLACE_TOO_HIGH)
		return err_set(e, ERR_INVALID, "%s is too high to be mounted: at least the user's level, such as %s/%s",
			       v->source, v->source, ask->user);
	say_places(ask, &places);
	if (place == PLACE_NONE)
		return err_set(e, ERR_INVALID, "%s may not be mounted: only what is below %s", v->source, places.p);
	why = ask->may_read(v->source);
	if (why)
		return err_set(e, ERR_INVALID, "cannot mount %s: %s", v->source, strerror(why));
	add_mount(spec, container, json_pack("{s:{s:o}}", "hostPath", "path", jsonx_string(v->source)), v->target,
		  v->read_only || place == PLACE_READ);
	return 0;
}

static int mount_same(const struct docker_ask *ask, const char *option, const char *path, json_t *spec,
		      json_t *container, struct err *e)
{
	auto_free char *text = xasprintf("%s:%s", path, path);
	struct docker_volume v;
	int r;

	if (path[0] != '/' || strchr(path, ':'))
		return err_set(e, ERR_INVALID, "%s %s: an absolute path without a colon is needed", option, path);
	if (docker_volume_parse(text, &v, e) < 0)
		return err_set(e, ERR_INVALID, "%s %s: the path must have no ..", option, path);
	r = mount_host(ask, &v, spec, container, e);
	docker_volume_done(&v);
	return r < 0 ? err_prefix(e, "%s", option) : 0;
}

static void mount_memory(json_t *spec, json_t *container, const char *target, int64_t bytes)
{
	json_t *volume = json_pack("{s:{s:s}}", "emptyDir", "medium", "Memory");

	if (bytes)
		json_object_set_new(json_object_get(volume, "emptyDir"), "sizeLimit",
				    jsonx_stringf("%lld", (long long)bytes));
	add_mount(spec, container, volume, target, false);
}

/* --tmpfs /run:size=64m,noexec */
static int mount_tmpfs(const char *text, json_t *spec, json_t *container, struct err *e)
{
	struct str rest = str_of(text), target, word;
	auto_free char *path = NULL;
	int64_t bytes = 0;

	if (!str_split(&rest, ':', &target) || !target.n || target.p[0] != '/')
		return err_set(e, ERR_INVALID, "-u: --tmpfs %s: a path that begins with / is needed", text);
	path = xstrndup(target.p, target.n);
	while (rest.n && str_split(&rest, ',', &word)) {
		auto_free char *option = xstrndup(word.p, word.n);

		if (str_starts(option, "size=") && !docker_size_parse(option + 5, &bytes))
			return err_set(e, ERR_INVALID, "-u: --tmpfs %s: \"%s\" is not a size", text, option + 5);
	}
	mount_memory(spec, container, path, bytes);
	return 0;
}

static int add_mounts(const struct docker_ask *ask, json_t *spec, json_t *container, struct err *e)
{
	const struct docker_options *o = &ask->options;
	int64_t bytes;

	/* First, for others may be mounted below them.  Without a size there is as much shared memory as half of the
	 * machine's, which is what --ipc=host is written for. */
	if (o->shm_size && docker_size_parse(o->shm_size, &bytes))
		mount_memory(spec, container, SHM, bytes);
	for (size_t i = 0; i < o->tmpfs.n; i++)
		if (mount_tmpfs(o->tmpfs.items[i], spec, container, e) < 0)
			return -1;
	if (ask->may_read(ask->home) == 0 && mount_same(ask, "home", ask->home, spec, container, e) < 0)
		return -1;
	if ((ask->proc && mount_same(ask, "-P", ask->proc, spec, container, e) < 0) ||
	    (ask->data && mount_same(ask, "-D", ask->data, spec, container, e) < 0))
		return -1;
	for (size_t i = 0; i < o->volumes.n; i++) {
		struct docker_volume v;
		int r;

		if (docker_volume_parse(o->volumes.items[i], &v, e) < 0)
			return err_prefix(e, "-u");
		r = mount_host(ask, &v, spec, container, e);
		docker_volume_done(&v);
		if (r < 0)
			return err_prefix(e, "-u: -v %s", o->volumes.items[i]);
	}
	return 0;
}

/* ---- variables ---- */

static void set_variable(json_t *env, struct str name, const char *value)
{
	json_t *one = json_pack("{s:o, s:o}", "name", jsonx_stringn(name.p, name.n), "value", literal(value));
	json_t *old;
	size_t i;

	json_array_foreach (env, i, old)
		if (str_eq(name, jsonx_str_or(old, "name", ""))) {
			json_array_set_new(env, i, one);
			return;
		}
	json_array_append_new(env, one);
}

/* NAME=value, or NAME for the caller's own. */
static int add_variable(const struct docker_ask *ask, json_t *env, const char *text, struct err *e)
{
	const char *equals = strchr(text, '=');
	struct str name = { text, equals ? (size_t)(equals - text) : strlen(text) };
	const char *value = equals ? equals + 1 : ask->variable(text);

	if (!name.n)
		return err_set(e, ERR_INVALID, "-u: invalid environment variable: %s", text);
	if (value)
		set_variable(env, name, value);
	return 0;
}

static int add_variables(const struct docker_ask *ask, json_t *container, struct err *e)
{
	json_t *env = list_at(container, "env");
	struct str rest = ask->env_text, line;

	set_variable(env, STR("HOME"), ask->home);
	set_variable(env, STR("USER"), ask->user);
	set_variable(env, STR("LOGNAME"), ask->user);
	while (rest.n && str_split(&rest, '\n', &line)) {
		auto_free char *text = xstrndup(line.p, line.n);

		if (text[0] && text[0] != '#' && add_variable(ask, env, text, e) < 0)
			return -1;
	}
	for (size_t i = 0; i < ask->options.env.n; i++)
		if (add_variable(ask, env, ask->options.env.items[i], e) < 0)
			return -1;
	return 0;
}

/* ---- the command ---- */

static bool needs_shell(const char *command)
{
	size_t word = strcspn(command, " \t");

	return strpbrk(command, SHELL_SIGNS) || memchr(command, '=', word);
}

static int add_command(const struct docker_ask *ask, json_t *container, struct err *e)
{
	json_t *args = list_at(container, "args");
	auto_words struct words words = { 0 };

	if (ask->options.entrypoint)
		json_object_set_new(container, "command", json_pack("[o]", literal(ask->options.entrypoint)));
	if (ask->script) {
		const char *dir = ask->proc ? ask->proc : ask->home;
		auto_free char *path =
			ask->script[0] == '/' ? xstrdup(ask->script) : xasprintf("%s/%s", dir, ask->script);

		json_array_append_new(args, literal(path));
		return 0;
	}
	if (needs_shell(ask->command)) {
		json_array_append_new(args, json_string("/bin/sh"));
		json_array_append_new(args, json_string("-c"));
		json_array_append_new(args, literal(ask->command));
		return 0;
	}
	if (words_split(str_of(ask->command), false, &words, e) < 0)
		return err_prefix(e, "-c");
	if (!words.n)
		return err_set(e, ERR_INVALID, "-c: there is no command in \"%s\"", ask->command);
	for (size_t i = 0; i < words.n; i++)
		json_array_append_new(args, literal(words.items[i]));
	return 0;
}

/* ---- the pod ---- */

static void add_rest(const struct docker_ask *ask, json_t *spec, json_t *container)
{
	const struct docker_options *o = &ask->options;

	if (o->in) {
		json_object_set_new(container, "stdin", json_true());
		/* A terminal outlives a connection: one may come back to it. */
		json_object_set_new(container, "stdinOnce", json_boolean(!o->tty));
	}
	if (o->tty)
		json_object_set_new(container, "tty", json_true());
	if (o->read_only)
		jsonx_set_new(container, "securityContext.readOnlyRootFilesystem", json_true());
	if (o->hostname)
		json_object_set_new(spec, "hostname", jsonx_string(o->hostname));
	if (!ask->job_pod && ask->cards > 0)
		jsonx_set_new(container, "resources.limits",
			      json_pack("{s:o}", "nvidia.com/gpu", jsonx_stringf("%d", ask->cards)));
}

int docker_plan(const struct docker_ask *ask, json_t **ret, struct err *e)
{
	const char *dir = ask->options.workdir ? ask->options.workdir : "/";
	json_auto_t *notes = json_pack("{s:s, s:s}", "stoker.dev/await-attach", "true",
				       "stoker.dev/ttl-seconds-after-finished", LEFT_BEHIND);
	json_auto_t *container =
		json_pack("{s:s, s:o, s:s, s:o}", "name", DOCKER_CONTAINER, "image", jsonx_string(ask->image),
			  "imagePullPolicy", "IfNotPresent", "workingDir", jsonx_string(dir));
	json_auto_t *spec =
		json_pack("{s:s, s:i, s:b, s:b, s:[O]}", "restartPolicy", "Never", "terminationGracePeriodSeconds",
			  GRACE, "automountServiceAccountToken", 0, "enableServiceLinks", 0, "containers", container);

	if (add_command(ask, container, e) < 0 || add_variables(ask, container, e) < 0 ||
	    add_mounts(ask, spec, container, e) < 0)
		return -1;
	add_rest(ask, spec, container);
	if (ask->job_pod)
		json_object_set_new(notes, "stoker.dev/in-job", jsonx_string(ask->job_pod));
	*ret = json_pack("{s:s, s:s, s:{s:s, s:{s:s}, s:O}, s:O}", "apiVersion", "v1", "kind", "Pod", "metadata",
			 "generateName", "startdocker-", "labels", "app.kubernetes.io/name", "startdocker",
			 "annotations", notes, "spec", spec);
	return 0;
}

/* ---- its end ---- */

/* Texts of runtimes, in small letters, and what docker makes of them. */
static const struct {
	const char *says, *tail;
	int status;
} start_errors[] = {
	{ "exec format error", "exec format error", DOCKER_NO_FORMAT },
	{ "permission denied", "permission denied", DOCKER_CANNOT_RUN },
	{ "operation not permitted", "permission denied", DOCKER_CANNOT_RUN },
	{ "is a directory", "permission denied", DOCKER_CANNOT_RUN },
	{ "no such file or directory", "no such file or directory", DOCKER_NOT_FOUND },
	{ "not found", "executable file not found in $PATH", DOCKER_NOT_FOUND },
};

static bool find_start_error(const char *program, const char *message, struct docker_end *ret)
{
	for (size_t i = 0; i < ARRAY_SIZE(start_errors); i++)
		if (strcasestr(message, start_errors[i].says)) {
			ret->status = start_errors[i].status;
			sbuf_addf(&ret->words, "exec: \"%s\": %s", program ? program : "", start_errors[i].tail);
			return true;
		}
	return false;
}

static void could_not_start(const json_t *pod, const char *message, struct docker_end *ret)
{
	const json_t *c = json_array_get(jsonx_at(pod, "spec.containers"), 0);
	const json_t *command = json_object_get(c, "command");
	const json_t *args = json_array_size(command) ? command : json_object_get(c, "args");

	ret->status = DOCKER_FAILED;
	if (!find_start_error(json_string_value(json_array_get(args, 0)), message, ret))
		sbuf_adds(&ret->words, message);
}

void docker_look_at_output(const char *program, const char *output, struct docker_end *ret)
{
	/* crun's beginning, and runc's */
	if (ret->status == 1 && !ret->words.n &&
	    (str_starts(output, "exec container process ") || str_starts(output, "exec /")))
		find_start_error(program, output, ret);
}

/* Waiting for these is in vain. */
static bool is_hopeless(const char *reason)
{
	static const char *const reasons[] = { "ErrImagePull",         "ImagePullBackOff",
					       "ErrImageNeverPull",    "InvalidImageName",
					       "ImageInspectError",    "CreateContainerConfigError",
					       "CreateContainerError", "RunContainerError" };

	for (size_t i = 0; i < ARRAY_SIZE(reasons); i++)
		if (streq(reason, reasons[i]))
			return true;
	return false;
}

static void look_at_waiting(const json_t *pod, const json_t *waiting, struct docker_end *ret)
{
	const char *image = jsonx_str_or(json_array_get(jsonx_at(pod, "spec.containers"), 0), "image", "");
	const char *reason = jsonx_str_or(waiting, "reason", "");
	const char *message = jsonx_str_or(waiting, "message", "");

	/* What is mounted is there now or not at all. */
	ret->over = is_hopeless(reason) || str_starts(message, "MountVolume.SetUp failed");
	ret->status = DOCKER_FAILED;
	if (ret->over && strstr(reason, "Image"))
		sbuf_addf(&ret->words, "Unable to find image '%s': %s", image, message);
	else
		sbuf_adds(&ret->words, message);
}

static const char *why_unplaced(const json_t *pod)
{
	const json_t *c = condition_of(pod, "PodScheduled");

	return condition_holds(pod, "PodScheduled") ? "" : jsonx_str_or(c, "message", "");
}

void docker_look(const json_t *pod, struct docker_end *ret)
{
	const json_t *state = jsonx_at(json_array_get(jsonx_at(pod, "status.containerStatuses"), 0), "state");
	const json_t *terminated = json_object_get(state, "terminated");
	const char *phase = jsonx_str_or(pod, "status.phase", "");
	const char *message = jsonx_str_or(pod, "status.message", "");

	*ret = (struct docker_end){ .words = SBUF(4096), .running = json_object_get(state, "running") != NULL };
	if (terminated) {
		ret->over = true;
		ret->status = (int)jsonx_int_or(terminated, "exitCode", DOCKER_FAILED);
		if (streq(jsonx_str_or(terminated, "reason", ""), "StartError"))
			could_not_start(pod, jsonx_str_or(terminated, "message", ""), ret);
		else if (streq(jsonx_str_or(terminated, "reason", ""), "OOMKilled"))
			sbuf_adds(&ret->words, "the container was killed: out of memory");
	} else if (streq(phase, "Failed") || streq(phase, "Succeeded")) {
		ret->over = true;
		ret->status = streq(phase, "Failed") ? DOCKER_FAILED : 0;
		sbuf_adds(&ret->words, message);
	} else if (json_object_get(state, "waiting")) {
		look_at_waiting(pod, json_object_get(state, "waiting"), ret);
	} else if (!ret->running) {
		sbuf_adds(&ret->words, why_unplaced(pod));
	}
}
