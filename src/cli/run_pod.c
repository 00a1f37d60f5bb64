// SPDX-License-Identifier: Apache-2.0
/* run_pod.c - see run_pod.h */
#include "cli/run_pod.h"

#include <ctype.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/jsonx.h"
#include "base/limits.h"
#include "base/mem.h"
#include "cli/when.h"
#include "kinds/after.h"
#include "kinds/names.h"
#include "kinds/quantity.h"
#include "kinds/walltime.h"
#include "kinds/work_rules.h"

#define NAME_BYTES 40 /* of what a made name has before its suffix */

/* ---- its name ---- */

static bool is_interpreter(struct str word)
{
	static const char *const names[] = { "sh",      "bash",     "zsh",        "env",       "python",
					     "Rscript", "julia",    "node",       "perl",      "ruby",
					     "java",    "torchrun", "accelerate", "deepspeed", "mpirun" };

	if (word.n > 6 && strncmp(word.p, "python", 6) == 0)
		return true;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (str_eq(word, names[i]))
			return true;
	return false;
}

/* File name without directory and ending. */
static struct str stem(const char *path)
{
	const char *slash = strrchr(path, '/');
	const char *base = slash && slash[1] ? slash + 1 : path;
	const char *dot = strrchr(base, '.');

	return (struct str){ base, dot && dot != base ? (size_t)(dot - base) : strlen(base) };
}

const char *run_pod_script(char *const *command, int n)
{
	if (!is_interpreter(stem(command[0])))
		return NULL;
	for (int i = 1; i < n; i++) {
		if (streq(command[i], "-m") && i + 1 < n)
			return command[i + 1];
		if (streq(command[i], "-c") || streq(command[i], "-e"))
			return NULL;
		if (command[i][0] != '-')
			return command[i];
	}
	return NULL;
}

void run_pod_made_name(char *const *command, int n, const char *suffix, struct sbuf *out)
{
	auto_sbuf struct sbuf text = SBUF(4096);
	struct str first = stem(command[0]);
	const char *script = run_pod_script(command, n);
	char label[NAME_LABEL_LEN];

	/* A Service's name begins with a letter. */
	sbuf_addf(&text, "%s%.*s", isalpha((unsigned char)*first.p) ? "" : "job-", STR_FMT(first));
	if (script)
		sbuf_addf(&text, "-%.*s", STR_FMT(stem(script)));
	name_make_label(text.p, label);
	label[NAME_BYTES] = '\0';
	for (size_t i = strlen(label); i && label[i - 1] == '-'; i--)
		label[i - 1] = '\0';
	sbuf_addf(out, "%s-%s", *label ? label : "job", suffix);
}

int run_pod_name(const struct run_options *o, bool hosts, struct sbuf *out, struct err *e)
{
	const char *complaint;

	if (!o->name) {
		run_pod_made_name(o->command, o->ncommand, o->suffix, out);
		return 0;
	}
	complaint = hosts ? name_check_label_1035(o->name) : name_check_label(o->name);
	if (complaint)
		return err_set(e, ERR_BAD_REQUEST, "--name: \"%s\" cannot be a name: %s", o->name, complaint);
	sbuf_adds(out, o->name);
	return 0;
}

/* ---- what it gets ---- */

int run_pod_memory(const char *text, struct sbuf *out, struct err *e)
{
	size_t n = strspn(text, "0123456789.");
	const char *unit = text + n;
	char letter = (char)toupper((unsigned char)*unit);
	struct quantity q;

	/* b, kb, k, ki, kib ... */
	if (letter && strchr("KMGTP", letter)) {
		unit++;
		unit += *unit == 'i' || *unit == 'I';
	} else {
		letter = '\0';
	}
	unit += *unit == 'b' || *unit == 'B';
	sbuf_addf(out, "%.*s", (int)n, text);
	if (letter)
		sbuf_addf(out, "%ci", letter);
	if (!n || *unit || !quantity_parse(out->p, &q) || q.nano <= 0)
		return err_set(e, ERR_BAD_REQUEST, "--mem: \"%s\" is no size such as 512M, 8G or 1.5T", text);
	return 0;
}

static int set_cpus(const char *text, json_t *limits, struct err *e)
{
	struct quantity q;

	if (!quantity_parse(text, &q) || q.nano <= 0)
		return err_set(e, ERR_BAD_REQUEST, "--cpus: \"%s\" is no number of processors such as 4, 0.5 or 500m",
			       text);
	json_object_set_new(limits, "cpu", jsonx_string(text));
	return 0;
}

static int set_resources(const struct run_options *o, json_t *container, struct err *e)
{
	auto_sbuf struct sbuf mem = SBUF(64);
	json_auto_t *limits = json_object();

	if (o->cpus && set_cpus(o->cpus, limits, e) < 0)
		return -1;
	if (o->mem && run_pod_memory(o->mem, &mem, e) < 0)
		return -1;
	if (o->mem)
		json_object_set_new(limits, "memory", jsonx_string(mem.p));
	if (o->gpus)
		json_object_set_new(limits, "nvidia.com/gpu", jsonx_stringf("%lld", (long long)o->gpus));
	if (json_object_size(limits))
		jsonx_set_new(container, "resources.limits", json_incref(limits));
	return 0;
}

/* ---- environment ---- */

/* A text in which $(X) would be replaced must say that it is meant as it stands. */
static json_t *literal(const char *text)
{
	auto_sbuf struct sbuf out = SBUF(SIZE_MAX / 2);

	if (!strstr(text, "$(") && !strstr(text, "$$"))
		return jsonx_string(text);
	for (; *text; text++)
		sbuf_addf(&out, *text == '$' ? "$$" : "%c", *text);
	return jsonx_string(out.p);
}

void run_pod_variable(json_t *env, const char *key, json_t *variable)
{
	json_t *v;
	size_t i;

	json_object_set_new(variable, "name", jsonx_string(key));
	json_array_foreach (env, i, v)
		if (str_same(jsonx_str(v, "name"), key)) {
			json_array_set_new(env, i, variable);
			return;
		}
	json_array_append_new(env, variable);
}

/* "K=V", or "K" for what the caller has. */
static int add_variable(const struct run_options *o, json_t *env, const char *where, const char *text, struct err *e)
{
	const char *eq = strchr(text, '=');
	auto_free char *key = xstrndup(text, eq ? (size_t)(eq - text) : strlen(text));
	const char *complaint = name_check_env(key);
	const char *value = eq ? eq + 1 : NULL;

	if (complaint)
		return err_set(e, ERR_BAD_REQUEST, "%s: \"%s\" cannot be the name of a variable: %s", where, key,
			       complaint);
	if (!value)
		value = o->variable ? o->variable(key) : NULL;
	if (!value)
		return err_set(e, ERR_BAD_REQUEST, "%s: %s is not set in your environment; write %s=VALUE", where, key,
			       key);
	run_pod_variable(env, key, json_pack("{s:o}", "value", literal(value)));
	return 0;
}

static int add_env_file(const struct run_options *o, json_t *env, const struct run_env_file *f, struct err *e)
{
	struct str rest = f->text;
	struct str line;

	for (int n = 1; rest.n && str_split(&rest, '\n', &line); n++) {
		auto_free char *where = xasprintf("--env-file %s, line %d", f->path, n);
		auto_free char *text = NULL;
		struct str trimmed = str_trim(line);

		if (!trimmed.n || trimmed.p[0] == '#')
			continue;
		/* Spaces at the end belong to the value. */
		text = xstrndup(trimmed.p, (size_t)(line.p + line.n - trimmed.p));
		if (strchr(text, '\r'))
			text[strcspn(text, "\r")] = '\0';
		if (add_variable(o, env, where, text, e) < 0)
			return -1;
	}
	return 0;
}

static int set_env(const struct run_options *o, const json_t *own, json_t *container, struct err *e)
{
	json_auto_t *env = own ? jsonx_copy(own) : json_array();

	for (size_t i = 0; i < o->nenv_files; i++)
		if (add_env_file(o, env, &o->env_files[i], e) < 0)
			return -1;
	for (size_t i = 0; i < o->env.n; i++)
		if (add_variable(o, env, "--env", o->env.items[i], e) < 0)
			return -1;
	if (json_array_size(env))
		json_object_set(container, "env", env);
	return 0;
}

/* ---- volumes ---- */

struct volume {
	char *source, *path; /* owned */
	bool claim, read_only;
};

static void volume_done(struct volume *v)
{
	free(v->source);
	free(v->path);
}
#define auto_volume __attribute__((cleanup(volume_done)))

static int bad_volume(const char *text, struct err *e)
{
	return err_set(e, ERR_BAD_REQUEST,
		       "--volume: \"%s\" is not HOST:PATH[:ro] or claim:NAME:PATH[:ro], with an absolute PATH", text);
}

/* HOST:PATH[:ro], claim:NAME:PATH[:ro]. */
static int parse_volume(const char *text, struct volume *ret, struct err *e)
{
	auto_volume struct volume v = { .claim = str_starts(text, "claim:") };
	const char *from = text + (v.claim ? strlen("claim:") : 0);
	const char *colon = strchr(from, ':');
	size_t n;

	if (!colon || colon == from)
		return bad_volume(text, e);
	n = strlen(colon + 1);
	v.read_only = str_ends(colon + 1, ":ro");
	if (v.read_only || str_ends(colon + 1, ":rw"))
		n -= 3;
	v.source = xstrndup(from, (size_t)(colon - from));
	v.path = xstrndup(colon + 1, n);
	if (v.path[0] != '/' || strchr(v.path, ':'))
		return bad_volume(text, e);
	*ret = (struct volume){ TAKE(v.source), TAKE(v.path), v.claim, v.read_only };
	return 0;
}

static bool is_at_or_above(const char *above, const char *path)
{
	size_t n = strlen(above);

	while (n > 1 && above[n - 1] == '/')
		n--;
	return strncmp(above, path, n) == 0 && (n == 1 || !path[n] || path[n] == '/');
}

bool run_pod_covers(const struct opt_strings *volumes, const char *path)
{
	for (size_t i = 0; i < volumes->n; i++) {
		auto_volume struct volume v = { 0 };
		struct err e = ERR_INIT;

		if (parse_volume(volumes->items[i], &v, &e) == 0 && is_at_or_above(v.path, path))
			return true;
	}
	return false;
}

static void put_volume(json_t *container, json_t *spec, const struct volume *v, const char *cwd)
{
	size_t n = json_array_size(json_object_get(spec, "volumes"));
	auto_free char *name = xasprintf("v%zu", n);
	json_t *volume = json_pack("{s:s}", "name", name);
	json_t *mount = json_pack("{s:s, s:o}", "name", name, "mountPath", jsonx_string(v->path));

	if (v->claim)
		jsonx_set_new(volume, "persistentVolumeClaim.claimName", jsonx_string(v->source));
	else if (v->source[0] == '/')
		jsonx_set_new(volume, "hostPath.path", jsonx_string(v->source));
	else
		jsonx_set_new(volume, "hostPath.path", jsonx_stringf("%s/%s", cwd, v->source));
	if (v->read_only)
		json_object_set_new(mount, "readOnly", json_true());
	if (!n) {
		json_object_set_new(spec, "volumes", json_array());
		json_object_set_new(container, "volumeMounts", json_array());
	}
	json_array_append_new(json_object_get(spec, "volumes"), volume);
	json_array_append_new(json_object_get(container, "volumeMounts"), mount);
}

/* A node makes a host path that is not there, as root; a slip of the pen should not. */
static int check_host_path(const struct run_options *o, const char *text, const struct volume *v, struct err *e)
{
	auto_free char *path = v->source[0] == '/' ? xstrdup(v->source) : xasprintf("%s/%s", o->cwd, v->source);

	if (v->claim || !o->is_missing || !o->is_missing(path))
		return 0;
	return err_set(e, ERR_NOT_FOUND, "--volume %s: %s does not exist on this machine", text, path);
}

static int set_volumes(const struct run_options *o, json_t *container, json_t *spec, struct err *e)
{
	if (o->mount) {
		put_volume(container, spec, &(struct volume){ (char *)o->mount, (char *)o->mount, false, false },
			   o->cwd);
		jsonx_set_new(json_array_get(json_object_get(spec, "volumes"), 0), "hostPath.type",
			      json_string("Directory"));
	}
	for (size_t i = 0; i < o->volumes.n; i++) {
		auto_volume struct volume v = { 0 };

		if (parse_volume(o->volumes.items[i], &v, e) < 0 || check_host_path(o, o->volumes.items[i], &v, e) < 0)
			return -1;
		put_volume(container, spec, &v, o->cwd);
	}
	return 0;
}

/* ---- labels and times ---- */

static int add_label(const char *text, json_t *labels, struct err *e)
{
	const char *eq = strchr(text, '=');
	auto_free char *key = xstrndup(text, eq ? (size_t)(eq - text) : 0);
	const char *complaint = eq ? name_check_qualified(key) : "KEY=VALUE is expected";

	if (!complaint)
		complaint = name_check_label_value(eq + 1);
	if (complaint)
		return err_set(e, ERR_BAD_REQUEST, "--label: \"%s\": %s", text, complaint);
	json_object_set_new(labels, key, jsonx_string(eq + 1));
	return 0;
}

int run_pod_labels(const struct run_options *o, json_t *labels, struct err *e)
{
	const char *complaint = o->queue ? name_check_label_value(o->queue) : NULL;

	for (size_t i = 0; i < o->labels.n; i++)
		if (add_label(o->labels.items[i], labels, e) < 0)
			return -1;
	if (complaint || (o->queue && !*o->queue))
		return err_set(e, ERR_BAD_REQUEST, "--queue: \"%s\" cannot be the name of a queue", o->queue);
	if (o->queue)
		json_object_set_new(labels, "stoker.dev/queue", jsonx_string(o->queue));
	return 0;
}

int run_pod_times(const struct run_options *o, json_t *spec, struct err *e)
{
	int64_t limit = 0;
	int64_t keep = 0;

	if (o->time && (!walltime_parse(o->time, &limit) || limit <= 0))
		return err_set(e, ERR_BAD_REQUEST, "--time: \"%s\" is no time such as 90, 30m, 12h or 1:30:00",
			       o->time);
	if (!clock_parse_duration(o->keep ? o->keep : RUN_KEEP, &keep) || keep < 0)
		return err_set(e, ERR_BAD_REQUEST, "--keep: \"%s\" is no time such as 0, 1h or 30d", o->keep);
	if (limit)
		json_object_set_new(spec, "activeDeadlineSeconds", json_integer(limit));
	if (keep > INT32_MAX)
		keep = INT32_MAX;
	json_object_set_new(spec, "ttlSecondsAfterFinished", json_integer(o->remove ? 0 : keep));
	return 0;
}

/* ---- the whole ---- */

static json_t *make_container(const struct run_options *o, const char *name)
{
	json_t *c = json_pack("{s:s, s:o}", "name", name, "image", jsonx_string(o->image ? o->image : RUN_IMAGE));

	if (o->ncommand)
		json_object_set_new(c, "command", json_array());
	for (int i = 0; i < o->ncommand; i++)
		json_array_append_new(json_object_get(c, "command"), literal(o->command[i]));
	if (o->workdir)
		json_object_set_new(c, "workingDir", jsonx_string(o->workdir));
	return c;
}

json_t *run_pod_spec(const struct run_options *o, const char *name, const json_t *env, struct err *e)
{
	json_auto_t *container = make_container(o, name);
	/* The first process of a namespace of its own ignores signals that it does not handle; a command from a shell
	 * counts on them, at least to end by them. */
	json_auto_t *spec = json_pack("{s:b, s:[O]}", "shareProcessNamespace", 1, "containers", container);

	if (set_resources(o, container, e) < 0 || set_env(o, env, container, e) < 0 ||
	    set_volumes(o, container, spec, e) < 0)
		return NULL;
	if (o->priority_class)
		json_object_set_new(spec, "priorityClassName", jsonx_string(o->priority_class));
	/* Not spec.nodeName: that would go past the scheduler, which counts what is free. */
	if (o->node)
		json_object_set_new(spec, "nodeSelector",
				    json_pack("{s:o}", "kubernetes.io/hostname", jsonx_string(o->node)));
	return json_incref(spec);
}

static int set_after(const struct run_options *o, json_t *annotations, struct err *e)
{
	auto_sbuf struct sbuf text = SBUF(LIMIT_ANNOTATIONS);
	struct after *list = NULL;
	size_t n;

	for (size_t i = 0; i < o->after.n; i++)
		sbuf_addf(&text, "%s%s", i ? "," : "", o->after.items[i]);
	if (!text.n)
		return o->after.n ? err_set(e, ERR_BAD_REQUEST, "--after: \"\" is no workload such as ok:job/prepare")
				  : 0;
	if (after_parse(text.p, &list, &n, e) < 0) {
		e->kind = ERR_BAD_REQUEST;
		return err_prefix(e, "--after");
	}
	free(list);
	json_object_set_new(annotations, AFTER_ANNOTATION, jsonx_string(text.p));
	return 0;
}

int run_pod_start(const struct run_options *o, json_t *annotations, struct err *e)
{
	char text[CLOCK_RFC3339_LEN];
	int64_t begin;

	if (o->begin) {
		if (when_parse("--begin", o->begin, o->now, &begin, e) < 0)
			return -1;
		clock_rfc3339(begin, text);
		json_object_set_new(annotations, NOT_BEFORE_ANNOTATION, json_string(text));
	}
	return set_after(o, annotations, e);
}

json_t *run_pod_meta(const struct run_options *o, const char *name, const json_t *labels)
{
	json_t *meta = json_pack("{s:o, s:o}", "name", jsonx_string(name), "namespace", jsonx_string(o->ns));

	if (json_object_size(labels))
		json_object_set_new(meta, "labels", jsonx_copy(labels));
	return meta;
}
