// SPDX-License-Identifier: Apache-2.0
/* job.c - from what was asked for to the PBSJob that is sent
 *
 * A table says which field an option becomes; what is left are the few that say two things or take two.
 */
#include "pbs/job.h"

#include <strings.h>

#include "base/clock.h"
#include "base/jsonx.h"
#include "base/mem.h"
#include "kinds/pbs_array.h"
#include "kinds/pbs_nodes.h"
#include "pbs/checks.h"
#include "pbs/depend.h"
#include "pbs/when.h"
#include "pbs/words.h"

/* ---- values as a PBSJob has them ---- */

static json_t *as_text(const char *value, const struct submitter *who)
{
	(void)who;
	return jsonx_string(value);
}

static json_t *as_number(const char *value, const struct submitter *who)
{
	const char *digits = value + strspn(value, " \t+");
	int64_t n = 0;

	(void)who;
	str_int64(digits, INT32_MIN, INT32_MAX, &n);
	return json_integer(n);
}

/* A flag, or qalter's y or n. */
static json_t *as_flag(const char *value, const struct submitter *who)
{
	(void)who;
	return json_boolean(!streq(value, "n"));
}

static json_t *as_yes(const char *value, const struct submitter *who)
{
	(void)who;
	return json_boolean(streq(value, "y"));
}

static json_t *as_list(const char *value, const struct submitter *who)
{
	json_t *list = json_array();
	struct str rest = str_of(value), part;

	(void)who;
	while (str_split(&rest, ',', &part))
		json_array_append_new(list, jsonx_stringn(part.p, part.n));
	return list;
}

static json_t *as_words(const char *value, const struct submitter *who)
{
	auto_words struct words w = { 0 };
	struct err e = ERR_INIT;
	json_t *list = json_array();

	(void)who;
	if (words_split(str_of(value), false, &w, &e) < 0) /* a quote alone is what it is */
		json_array_append_new(list, jsonx_string(value));
	for (size_t i = 0; i < w.n; i++)
		json_array_append_new(list, jsonx_string(w.items[i]));
	return list;
}

/* Each letter once. */
static json_t *as_points(const char *value, const struct submitter *who)
{
	auto_sbuf struct sbuf points = SBUF(16);

	(void)who;
	for (const char *c = value; *c; c++)
		if (!points.n || !strchr(points.p, *c))
			sbuf_addc(&points, *c);
	return json_string(points.p);
}

/* qsub's flag is the user's hold. */
static json_t *as_hold(const char *value, const struct submitter *who)
{
	return as_points(*value ? value : "u", who);
}

static json_t *as_time(const char *value, const struct submitter *who)
{
	char text[CLOCK_RFC3339_LEN];
	int64_t seconds = 0;

	pbs_when_parse(value, who->now, &seconds);
	clock_rfc3339(seconds, text);
	return json_string(text);
}

static json_t *as_queue(const char *value, const struct submitter *who)
{
	auto_sbuf struct sbuf queue = SBUF(256);

	(void)who;
	destination_queue(value, &queue);
	return queue.n ? jsonx_string(queue.p) : NULL;
}

/* The one without a host, else the first. */
static json_t *as_shell(const char *value, const struct submitter *who)
{
	struct str rest = str_of(value), part, best = { 0 };

	(void)who;
	while (str_split(&rest, ',', &part)) {
		const char *at = memchr(part.p, '@', part.n);

		if (!at || !best.p)
			best = (struct str){ part.p, at ? (size_t)(at - part.p) : part.n };
	}
	return jsonx_stringn(best.p, best.n);
}

static json_t *as_path(const char *value, const struct submitter *who)
{
	auto_sbuf struct sbuf path = SBUF(1 << 16);

	path_prepare(value, &who->place, &path);
	return jsonx_string(path.p ? path.p : "");
}

static json_t *as_directory(const char *value, const struct submitter *who)
{
	auto_free char *path = path_absolute(value, who->place.cwd);

	return jsonx_string(path);
}

static json_t *as_umask(const char *value, const struct submitter *who)
{
	unsigned mask = 0;

	(void)who;
	umask_parse(value, &mask);
	return jsonx_stringf("0%03o", mask);
}

static json_t *as_dependencies(const char *value, const struct submitter *who)
{
	struct err e = ERR_INIT;
	json_t *list = NULL;

	(void)who;
	depend_parse(value, &list, &e);
	return list;
}

struct field_row {
	const char *from; /* an option's letter, or an attribute of -W */
	const char *field;
	json_t *(*as)(const char *value, const struct submitter *who);
};

static const struct field_row option_fields[] = {
	{ "A", "account", as_text },
	{ "a", "executionTime", as_time },
	{ "c", "checkpoint", as_text },
	{ "d", "initialDir", as_directory },
	{ "e", "errorPath", as_path },
	{ "E", "nodeExclusive", as_flag },
	{ "F", "arguments", as_words },
	{ "h", "hold", as_hold },
	{ "i", "attributes.idle_slot_limit", as_text },
	{ "j", "joinPath", as_text },
	{ "k", "keepFiles", as_text },
	{ "K", "killDelaySeconds", as_number },
	{ "m", "mail.points", as_points },
	{ "M", "mail.users", as_list },
	{ "n", "nodeExclusive", as_flag },
	{ "N", "name", as_text },
	{ "o", "outputPath", as_path },
	{ "p", "priority", as_number },
	{ "P", "project", as_text },
	{ "q", "queue", as_queue },
	{ "r", "rerunnable", as_yes },
	{ "S", "shell", as_shell },
	{ "u", "userList", as_list },
};

static const struct field_row attribute_fields[] = {
	{ "depend", "dependencies", as_dependencies },
	{ "group_list", "groupList", as_list },
	{ "umask", "umask", as_umask },
	{ "stagein", "stageIn", as_list },
	{ "stageout", "stageOut", as_list },
	{ "x", "attributes.x", as_text },
	{ "job_radix", "attributes.job_radix", as_text },
	{ "fault_tolerant", "attributes.fault_tolerant", as_text },
	{ "sandbox", "attributes.sandbox", as_text },
	{ "run_count", "attributes.run_count", as_text },
	{ "release_nodes_on_stageout", "attributes.release_nodes_on_stageout", as_text },
	{ "pwd", "attributes.pwd", as_text },
};

static void put_fields(json_t *spec, const struct pairs *p, const struct field_row *rows, size_t n,
		       const struct submitter *who)
{
	for (size_t i = 0; i < n; i++) {
		const char *value = pairs_find(p, rows[i].from);
		json_t *v = value ? rows[i].as(value, who) : NULL;

		if (v)
			jsonx_set_new(spec, rows[i].field, v);
	}
}

/* ---- what is made of several options ---- */

bool job_is_interactive(const struct ask *a)
{
	const char *said = pairs_find(&a->attributes, "interactive");

	return ask_find(a, 'I') || (said && strcasecmp(said, "true") == 0);
}

static void put_name(json_t *spec, const struct ask *a)
{
	auto_sbuf struct sbuf name = SBUF(256);
	bool standard_input = !a->script || streq(a->script, "-");

	if (ask_find(a, 'N'))
		return;
	if (a->command || !standard_input)
		name_from_path(a->command ? a->command[0] : a->script, &name);
	json_object_set_new(spec, "name", jsonx_string(name.n ? name.p : "STDIN"));
}

/* Both streams in one file: the other path is that of the file. */
static void put_join(json_t *spec, const struct ask *a)
{
	const char *join = ask_find(a, 'j');
	bool to_error = join && streq(join, "eo");
	json_t *path = json_object_get(spec, to_error ? "errorPath" : "outputPath");

	if (join && !streq(join, "n") && path)
		json_object_set(spec, to_error ? "outputPath" : "errorPath", path);
}

/* OpenPBS's arrays end their files in .INDEX, Torque's in -INDEX. */
static void put_array(json_t *spec, const struct ask *a)
{
	const char *steps = ask_find(a, 'J');
	const char *text = ask_find(a, 't') ? ask_find(a, 't') : steps;
	size_t n = text ? strcspn(text, "%") : 0;
	json_t *array;
	int64_t slots;

	if (!text)
		return;
	array = json_object();
	json_object_set_new(array, "request", jsonx_stringn(text, n));
	if (text[n] && str_int64(text + n + 1, 1, INT32_MAX, &slots))
		json_object_set_new(array, "slots", json_integer(slots));
	json_object_set_new(spec, "array", array);
	if (text == steps)
		jsonx_set_new(spec, "attributes.array_separator", json_string("."));
}

static const char *variable_in(char *const *environment, const char *name)
{
	size_t n = strlen(name);

	for (char *const *v = environment; *v; v++)
		if (strncmp(*v, name, n) == 0 && (*v)[n] == '=')
			return *v + n + 1;
	return NULL;
}

static void put_environment(json_t *env, const struct ask *a, const struct submitter *who)
{
	for (char *const *v = who->environment; ask_find(a, 'V') && *v; v++) {
		const char *equals = strchr(*v, '=');
		auto_free char *name = equals && equals > *v ? xstrndup(*v, (size_t)(equals - *v)) : NULL;

		if (name && str_is_utf8(name, strlen(name)))
			json_object_set_new(env, name, jsonx_string(equals + 1));
	}
	for (size_t i = 0; i < a->variables.n; i++)
		json_object_set_new(env, a->variables.items[i].name, jsonx_string(a->variables.items[i].value));
}

/* The submitter's own, which PBS passes on under names of their own. */
static void put_origin(json_t *env, const json_t *spec, const struct submitter *who)
{
	static const char *const passed[] = { "HOME", "LOGNAME", "PATH", "SHELL", "MAIL", "LANG", "TZ" };
	const char *queue = jsonx_str(spec, "queue");
	const char *start = jsonx_str(spec, "initialDir");
	const char *server = variable_in(who->environment, "PBS_DEFAULT");

	for (size_t i = 0; i < ARRAY_SIZE(passed); i++) {
		auto_free char *name = xasprintf("PBS_O_%s", passed[i]);
		const char *value = variable_in(who->environment, passed[i]);

		if (!value && streq(passed[i], "HOME"))
			value = "/";
		if (value)
			json_object_set_new(env, name, jsonx_string(value));
	}
	json_object_set_new(env, "PBS_O_HOST", jsonx_string(who->place.host));
	json_object_set_new(env, "PBS_O_WORKDIR", jsonx_string(jsonx_str_or(spec, "workingDir", "/")));
	if (start)
		json_object_set_new(env, "PBS_O_INITDIR", jsonx_string(start));
	if (queue)
		json_object_set_new(env, "PBS_O_QUEUE", jsonx_string(queue));
	if (server && *server)
		json_object_set_new(env, "PBS_O_SERVER", jsonx_string(server));
}

bool job_script_is_command(const struct ask *a)
{
	return ask_find(a, 'I') && ask_find(a, 'x') && a->script && !streq(a->script, "-");
}

static void put_program(json_t *spec, const struct ask *a, struct str script, const char *cwd)
{
	json_t *command = a->command || job_script_is_command(a) ? json_array() : NULL;

	if (!a->command && command) {
		auto_free char *path = path_absolute(a->script, cwd);

		json_array_append_new(command, jsonx_string(path));
		for (size_t i = 0; i < a->nextra; i++)
			json_array_append_new(command, jsonx_string(a->extra[i]));
	}
	for (char *const *word = a->command; word && *word; word++)
		json_array_append_new(command, jsonx_string(*word));
	if (command)
		json_object_set_new(spec, "command", command);
	else if (script.n)
		json_object_set_new(spec, "script", jsonx_stringn(script.p, script.n));
}

json_t *job_make(const struct ask *a, const struct submitter *who, struct str script)
{
	json_t *spec = json_object();
	json_t *env = json_object();
	const char *image = pairs_find(&a->resources, "image");
	const char *workdir = ask_find(a, 'w');

	put_program(spec, a, script, who->place.cwd);
	put_name(spec, a);
	json_object_set_new(spec, "rerunnable", json_boolean(who->rerunnable));
	put_fields(spec, &a->options, option_fields, ARRAY_SIZE(option_fields), who);
	put_fields(spec, &a->attributes, attribute_fields, ARRAY_SIZE(attribute_fields), who);
	put_join(spec, a);
	put_array(spec, a);
	if (job_is_interactive(a)) {
		json_object_set_new(spec, "interactive", json_true());
		json_object_set_new(spec, "rerunnable", json_false());
	}
	json_object_set_new(spec, "resources", pairs_json(&a->resources));
	if (image)
		json_object_set_new(spec, "image", jsonx_string(image));
	json_object_set_new(spec, "workingDir", workdir ? as_directory(workdir, who) : jsonx_string(who->place.cwd));
	put_environment(env, a, who);
	put_origin(env, spec, who);
	json_object_set_new(spec, "env", env);
	json_object_set_new(spec, "submitHost", jsonx_string(who->place.host));
	json_object_set_new(spec, "submitArgs", jsonx_string(who->arguments));
	/* No record of who set which field until somebody applies to it: for most jobs nobody ever does. */
	return json_pack("{s:s, s:s, s:{s:[{}]}, s:o}", "apiVersion", "stoker.dev/v1", "kind", "PBSJob", "metadata",
			 "managedFields", "spec", spec);
}

json_t *job_changes(const struct ask *a, const struct submitter *who)
{
	json_t *spec = json_object();
	const char *image = pairs_find(&a->resources, "image");
	const char *slots = ask_find(a, 't');
	int64_t n;

	put_fields(spec, &a->options, option_fields, ARRAY_SIZE(option_fields), who);
	put_fields(spec, &a->attributes, attribute_fields, ARRAY_SIZE(attribute_fields), who);
	put_join(spec, a);
	slots = slots ? strchr(slots, '%') : NULL;
	if (slots && str_int64(slots + 1, 1, INT32_MAX, &n))
		jsonx_set_new(spec, "array.slots", json_integer(n));
	if (a->resources.n)
		json_object_set_new(spec, "resources", pairs_json(&a->resources));
	if (image)
		json_object_set_new(spec, "image", jsonx_string(image));
	if (a->variables.n)
		json_object_set_new(spec, "env", pairs_json(&a->variables));
	return spec;
}

int job_check(struct ask *a, struct err *e)
{
	json_auto_t *resources = pairs_json(&a->resources);
	bool array = ask_find(a, 't') || ask_find(a, 'J');
	struct pbs_nodes nodes = { 0 };
	struct err why = ERR_INIT;

	if (job_is_interactive(a) && array)
		return ask_refuse(a, e, REFUSE_PLAIN, 2, "interactive job can not be job array.");
	if (ask_find(a, 'x') && !job_is_interactive(a))
		return ask_refuse(a, e, REFUSE_USAGE, 2, "-x may only be given with -I");
	if (ask_find(a, 'i') && !array)
		return ask_refuse(a, e, REFUSE_PLAIN, 4, "-i may only be given with a job array (-t)");
	if (pbs_nodes_of(resources, &nodes, &why) < 0)
		return ask_refuse(a, e, REFUSE_PLAIN, 4, "%s", why.text);
	pbs_nodes_done(&nodes);
	return 0;
}
