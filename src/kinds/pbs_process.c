// SPDX-License-Identifier: Apache-2.0
/* pbs_process.c - from a PBS job to a process
 *
 * The user's login shell runs the script, as a login shell; so `module` and everything else that profiles set up is
 * there.  A script that names its interpreter by #! is executed by the shell; one that does not, or names this very
 * shell, is read by it: the shell of the account, never another.  The directory is the home, as in Torque, not the one
 * it was submitted from.
 *
 * The environment is what this machine gives to everybody, then what was submitted, then what is known only now; later
 * ones win, so that a submitted PBS_JOBID or HOME means nothing.
 */
#include "kinds/pbs_process.h"

#include <stdio.h>

#include "base/jsonx.h"
#include "base/mem.h"
#include "kinds/pbs_expand.h"
#include "kinds/pbs_id.h"
#include "kinds/pbs_nodes.h"
#include "kinds/pbs_staging.h"
#include "kinds/pbs_values.h"

#define TEXT_MAX     (64u * 1024)
#define FILE_MAX     (16u * 1024 * 1024)
#define BASE_PATH    "/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin"
#define MOM_PORT     "15003"
#define VERSION      "TORQUE-6.1.3" /* MPI programs look for it */
#define DEFAULT_MASK 077
/* On a job's other nodes: a signal for the job is not the end of it there. */
#define WAIT      "trap '' HUP INT QUIT ALRM USR1 USR2; exec sleep infinity"
#define SEPARATOR "spec.attributes.array_separator" /* before an element's number: "-", and "." for -J */

/* ---- names ---- */

static const char *server_of(const json_t *job)
{
	const char *dot = strchr(jsonx_str_or(job, "status.id", ""), '.');

	return dot ? dot + 1 : "";
}

const char *pbs_process_hosts(const json_t *job, int index, const char *field)
{
	const json_t *run = json_object_get(job, "status");
	const char *text;
	json_t *one;
	size_t i;

	if (index >= 0) {
		run = NULL;
		json_array_foreach (jsonx_at(job, "status.active"), i, one)
			if (jsonx_int_or(one, "index", -1) == index)
				run = one;
	}
	text = json_string_value(json_object_get(run, field));
	return text && *text ? text : NULL;
}

static int by_number(const void *a, const void *b)
{
	const int *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

size_t pbs_process_cards(const json_t *job, int index, const char *node, int *ret, size_t max)
{
	struct str rest = str_of(pbs_process_hosts(job, index, "execGpus")), one, host;
	auto_free char *wanted = xasprintf("%s-gpu", node);
	size_t n = 0;

	while (rest.n && n < max && str_split(&rest, '+', &one)) {
		auto_free char *text = NULL;
		int64_t number;

		str_split(&one, '/', &host);
		text = xstrndup(one.p, one.n);
		if (str_eq(host, wanted) && str_int64(text, 0, INT32_MAX, &number))
			ret[n++] = (int)number;
	}
	if (n)
		qsort(ret, n, sizeof(*ret), by_number);
	return n;
}

/* "n.o77", "n.o77-3" */
static char *default_name(const struct pbs_place *p, char letter)
{
	const char *name = jsonx_str_or(p->job, "spec.name", "STDIN"), *slash = strrchr(name, '/');

	return xasprintf("%s.%c%lld", slash ? slash + 1 : name, letter,
			 (long long)jsonx_int_or(p->job, "status.sequence", 0));
}

static void add_suffix(const struct pbs_place *p, struct sbuf *path)
{
	bool dot = streq(jsonx_str_or(p->job, SEPARATOR, ""), ".");

	if (p->index >= 0 && !str_eq(sbuf_str(path), "/dev/null"))
		sbuf_addf(path, "%c%d", dot ? '.' : '-', p->index);
}

/* ---- node and GPU file ---- */

/* "0-1,4" are three. */
static int64_t count_slots(struct str slots)
{
	struct str part;
	int64_t n = 0;

	while (slots.n && str_split(&slots, ',', &part)) {
		auto_free char *text = xstrndup(part.p, part.n);
		char *dash = strchr(text, '-');
		int64_t first = 0, last = 0;

		if (dash)
			*dash = '\0';
		if (str_int64(text, 0, INT32_MAX, &first) && (!dash || str_int64(dash + 1, first, INT32_MAX, &last)))
			n += dash ? last - first + 1 : 1;
	}
	return n;
}

/* The request for this node. */
static int own_slots(const struct pbs_place *p)
{
	struct pbs_nodes nodes = { 0 };
	struct err e = ERR_INIT;
	int ppn = 1;

	if (pbs_nodes_of(jsonx_at(p->job, "spec.resources"), &nodes, &e) == 0 && nodes.n)
		ppn = nodes.reqs[0].ppn;
	pbs_nodes_done(&nodes);
	return ppn;
}

void pbs_node_file(const struct pbs_place *p, struct sbuf *out)
{
	const char *text = p->alone ? NULL : pbs_process_hosts(p->job, p->index, "execHost");
	struct str rest = str_of(text), one, host;

	if (p->alone)
		for (int i = 0, n = own_slots(p); i < n; i++)
			sbuf_addf(out, "%s\n", p->node);
	while (rest.n && str_split(&rest, '+', &one)) {
		str_split(&one, '/', &host);
		for (int64_t i = 0, n = count_slots(one); i < n && !out->over; i++)
			sbuf_addf(out, "%.*s\n", STR_FMT(host));
	}
}

void pbs_gpu_file(const struct pbs_place *p, struct sbuf *out)
{
	const char *text = p->alone ? NULL : pbs_process_hosts(p->job, p->index, "execGpus");
	struct str rest = str_of(text), one, host;

	if (p->alone)
		for (size_t i = p->ncards; i > 0; i--)
			sbuf_addf(out, "%s-gpu%d\n", p->node, p->cards[i - 1]);
	/* "G102-gpu/6" is written G102-gpu6. */
	while (rest.n && str_split(&rest, '+', &one)) {
		str_split(&one, '/', &host);
		sbuf_addf(out, "%.*s%.*s\n", STR_FMT(host), STR_FMT(one));
	}
}

static int count_lines(const struct sbuf *text)
{
	int n = 0;

	for (size_t i = 0; i < text->n; i++)
		n += text->p[i] == '\n';
	return n;
}

/* ---- environment ---- */

static void set(json_t *env, const char *name, const char *value)
{
	json_object_set_new(env, name, jsonx_string(value ? value : ""));
}

static void set_number(json_t *env, const char *name, long long value)
{
	json_object_set_new(env, name, jsonx_stringf("%lld", value));
}

/* Unless it was submitted. */
static void set_missing(json_t *env, const char *name, const char *value)
{
	if (value && *value && !json_object_get(env, name))
		set(env, name, value);
}

static void add_origin(const struct pbs_place *p, json_t *env)
{
	const char *server = server_of(p->job), *dir = jsonx_str_or(p->job, "spec.initialDir", "");

	set_missing(env, "PBS_O_WORKDIR", jsonx_str_or(p->job, "spec.workingDir", ""));
	set_missing(env, "PBS_O_HOST", jsonx_str_or(p->job, "spec.submitHost", ""));
	set_missing(env, "PBS_O_QUEUE", jsonx_str_or(p->job, "spec.queue", ""));
	set_missing(env, "PBS_O_LOGNAME", p->account->name);
	set_missing(env, "PBS_O_HOME", p->account->home);
	set_missing(env, "PBS_O_SERVER", server);
	set_missing(env, "PBS_O_INITDIR", dir);
	set(env, "PBS_SERVER", server);
}

static void add_counts(const struct pbs_place *p, json_t *env)
{
	auto_sbuf struct sbuf lines = SBUF(FILE_MAX);
	struct pbs_nodes nodes = { 0 };
	struct err e = ERR_INIT;
	bool known = pbs_nodes_of(jsonx_at(p->job, "spec.resources"), &nodes, &e) == 0 && nodes.n;
	int64_t seconds;

	pbs_node_file(p, &lines);
	set_number(env, "PBS_NP", count_lines(&lines));
	set_number(env, "PBS_NUM_NODES", known ? nodes.count : 1);
	set_number(env, "PBS_NUM_PPN", known ? nodes.reqs[0].ppn : 1);
	pbs_nodes_done(&nodes);
	if (pbs_time_parse(jsonx_str_or(p->job, "spec.resources.walltime", ""), &seconds) && seconds > 0)
		set_number(env, "PBS_WALLTIME", seconds);
}

/* In the order of exec_gpus, which is descending. */
static void add_cards(const struct pbs_place *p, json_t *env)
{
	auto_sbuf struct sbuf text = SBUF(TEXT_MAX);

	for (size_t i = p->ncards; i > 0; i--)
		sbuf_addf(&text, "%s%d", text.n ? "," : "", p->hidden ? (int)i - 1 : p->cards[i - 1]);
	if (text.n)
		set(env, "CUDA_VISIBLE_DEVICES", text.p);
}

static void add_element(const struct pbs_place *p, json_t *env)
{
	if (p->index < 0)
		return;
	set_number(env, "PBS_ARRAYID", p->index);
	set_number(env, "PBS_ARRAY_INDEX", p->index);
	set(env, "PBS_ARRAY_ID", jsonx_str_or(p->job, "status.id", ""));
}

static void add_names(const struct pbs_place *p, const char *id, json_t *env)
{
	const char *name = jsonx_str_or(p->job, "spec.name", "STDIN");
	bool terminal = jsonx_bool_or(p->job, "spec.interactive", false);
	auto_free char *element = p->index >= 0 ? xasprintf("%s-%d", name, p->index) : xstrdup(name);
	auto_free char *file = xasprintf("%s/aux/%s", p->dir, id), *cards = xasprintf("%sgpu", file);

	set(env, "PBS_JOBID", id);
	set(env, "PBS_JOBNAME", element);
	set(env, "PBS_QUEUE", jsonx_str_or(p->job, "spec.queue", "batch"));
	set(env, "PBS_ENVIRONMENT", terminal ? "PBS_INTERACTIVE" : "PBS_BATCH");
	set(env, "ENVIRONMENT", terminal ? "INTERACTIVE" : "BATCH");
	set(env, "PBS_NODEFILE", file);
	set(env, "PBS_GPUFILE", cards);
}

static json_t *environment(const struct pbs_place *p, const char *id)
{
	const struct pbs_account *a = p->account;
	json_t *env = json_object(), *value;
	const char *name;

	set(env, "PATH", BASE_PATH);
	if (p->socket)
		set(env, "STOKER_SOCKET", p->socket);
	json_object_foreach (jsonx_at(p->job, "spec.env"), name, value)
		if (*name && !strchr(name, '='))
			set(env, name, json_string_value(value));
	add_origin(p, env);
	add_names(p, id, env);
	set_number(env, "PBS_NODENUM", p->rank);
	set(env, "PBS_TASKNUM", "1");
	set(env, "PBS_VNODENUM", "0");
	add_counts(p, env);
	add_element(p, env);
	set(env, "PBS_JOBCOOKIE", jsonx_str_or(p->job, "metadata.uid", ""));
	set(env, "PBS_MOMPORT", MOM_PORT);
	set(env, "PBS_VERSION", VERSION);
	set(env, "PBS_JOBDIR", a->home);
	add_cards(p, env);
	set(env, "HOME", a->home);
	set(env, "USER", a->name);
	set(env, "LOGNAME", a->name);
	set(env, "SHELL", a->shell);
	set(env, "HOSTNAME", p->node);
	return env;
}

/* ---- output ---- */

static const char *lookup(void *env, const char *name)
{
	return json_string_value(json_object_get(env, name));
}

/* What stands before a colon is a host if an absolute path follows and there is no directory in it. */
static const char *without_host(const char *path)
{
	size_t n = strcspn(path, ":/");

	return path[n] == ':' && n && (path[n + 1] == '/' || path[n + 1] == '$' || path[n + 1] == '~') ? path + n + 1
												       : path;
}

/* In the home directory; with a d it is written where it belongs at once, as everything is here. */
static bool is_kept(const struct pbs_place *p, char letter)
{
	const char *letters = jsonx_str_or(p->job, "spec.keepFiles", "n");

	return strchr(letters, letter) && !strchr(letters, 'd');
}

static char *output_path(const struct pbs_place *p, json_t *env, char letter, struct err *e)
{
	const char *text = without_host(jsonx_str_or(p->job, letter == 'o' ? "spec.outputPath" : "spec.errorPath", ""));
	const char *home = p->account->home, *dir = jsonx_str_or(p->job, "spec.workingDir", "");
	auto_free char *name = default_name(p, letter);
	auto_sbuf struct sbuf path = SBUF(TEXT_MAX), whole = SBUF(TEXT_MAX);
	bool apart = pbs_expand_tells_apart(text);

	if (!*dir)
		dir = home;
	if (is_kept(p, letter)) {
		text = "";
		dir = home;
		apart = false;
	}
	if (pbs_expand(text, lookup, env, &path, e) < 0) {
		err_prefix(e, PBS_NO_OUTPUT);
		return NULL;
	}
	if (!path.n || path.p[path.n - 1] == '/') {
		sbuf_adds(&path, name);
		apart = false;
	}
	if (path.p[0] != '/')
		sbuf_addf(&whole, "%s/", dir);
	sbuf_adds(&whole, path.p);
	if (!apart)
		add_suffix(p, &whole);
	if (whole.over || path.over) {
		err_set(e, ERR_INVALID, PBS_NO_OUTPUT ": the path of a file is longer than %u bytes", TEXT_MAX);
		return NULL;
	}
	return sbuf_steal(&whole);
}

static int add_output(const struct pbs_place *p, json_t *env, json_t *doc, struct err *e)
{
	const char *join = jsonx_str_or(p->job, "spec.joinPath", "n");
	auto_free char *out = NULL, *err = NULL;

	/* A terminal has no files, and who only waits says nothing. */
	if (p->rank > 0 || jsonx_bool_or(p->job, "spec.interactive", false))
		return 0;
	if (!streq(join, "eo") && !(out = output_path(p, env, 'o', e)))
		return -1;
	if (!streq(join, "oe") && !(err = output_path(p, env, 'e', e)))
		return -1;
	set(doc, "stdout", out);
	set(doc, "stderr", err);
	set(doc, "joined", streq(join, "oe") ? "stdout" : streq(join, "eo") ? "stderr" : "");
	return 0;
}

/* "022", "22", "18": octal if it begins with 0 or has three digits that could be. */
static int mask_of(const json_t *job)
{
	const char *text = jsonx_str_or(job, "spec.umask", "");
	size_t n = strlen(text);
	bool octal = n && strspn(text, "01234567") == n && (text[0] == '0' || n >= 3);
	int64_t value;

	if (octal && n <= 4)
		return (int)strtol(text, NULL, 8) & 0777;
	return str_int64(text, 0, 0777, &value) ? (int)value : DEFAULT_MASK;
}

static json_t *user_of(const struct pbs_place *p)
{
	const struct pbs_account *a = p->account;

	return json_pack("{s:I, s:I, s:o, s:i}", "uid", (json_int_t)a->uid, "gid", (json_int_t)a->gid, "additionalGids",
			 a->groups ? json_incref((json_t *)a->groups) : json_array(), "umask", mask_of(p->job));
}

/* ---- what is run ---- */

/* -S path[@host],...: the one for this host, else that without a host, else the account's. */
static char *shell_of(const struct pbs_place *p)
{
	struct str rest = str_of(jsonx_str_or(p->job, "spec.shell", "")), one, path;
	char *best = NULL;

	while (rest.n && str_split(&rest, ',', &one)) {
		bool host = memchr(one.p, '@', one.n) != NULL;

		str_split(&one, '@', &path);
		if (path.n && (host ? str_eq(one, p->node) : !best)) {
			free(best);
			best = xstrndup(path.p, path.n);
		}
	}
	return best ? best : xstrdup(p->account->shell && *p->account->shell ? p->account->shell : "/bin/sh");
}

static void add_quoted(struct sbuf *out, const char *text)
{
	sbuf_adds(out, " '");
	for (; *text; text++)
		if (*text == '\'')
			sbuf_adds(out, "'\\''");
		else
			sbuf_addc(out, *text);
	sbuf_addc(out, '\'');
}

/* For the shell: exec 'program' 'argument'... */
static json_t *exec_args(const char *login, const char *program, const json_t *arguments, size_t from)
{
	auto_sbuf struct sbuf command = SBUF(FILE_MAX);

	sbuf_adds(&command, "exec");
	add_quoted(&command, program);
	for (size_t i = from; i < json_array_size(arguments); i++)
		add_quoted(&command, json_string_value(json_array_get(arguments, i)));
	return json_pack("[s, s, o]", login, "-c", jsonx_string(command.p));
}

/* Does it begin with #! and anything but the shell's own name? */
static bool wants_another(const char *script, const char *shell)
{
	struct str rest = str_of(script), line;

	if (!str_starts(script, "#!"))
		return false;
	str_split(&rest, '\n', &line);
	return !str_eq(str_trim((struct str){ line.p + 2, line.n - 2 }), shell);
}

static json_t *script_args(const struct pbs_place *p, const char *id, const char *shell, const char *login)
{
	auto_free char *script = xasprintf("%s/spool/%s.SC", p->dir, id);
	json_t *args;

	if (wants_another(jsonx_str_or(p->job, "spec.script", ""), shell))
		return exec_args(login, script, jsonx_at(p->job, "spec.arguments"), 0);
	args = json_pack("[s, o]", login, jsonx_string(script));
	json_array_extend(args, jsonx_at(p->job, "spec.arguments"));
	return args;
}

bool pbs_has_script(const struct pbs_place *p)
{
	return p->rank == 0 && !jsonx_bool_or(p->job, "spec.interactive", false) &&
	       !json_array_size(jsonx_at(p->job, "spec.command"));
}

static void add_program(const struct pbs_place *p, const char *id, json_t *doc)
{
	const json_t *command = jsonx_at(p->job, "spec.command");
	auto_free char *shell = shell_of(p);
	const char *slash = strrchr(shell, '/');
	auto_free char *login = xasprintf("-%s", slash ? slash + 1 : shell);

	if (p->rank > 0) {
		set(doc, "program", "/bin/sh");
		json_object_set_new(doc, "args", json_pack("[s, s, s]", "sh", "-c", WAIT));
	} else if (jsonx_bool_or(p->job, "spec.interactive", false)) {
		set(doc, "program", shell);
		json_object_set_new(
			doc, "args",
			json_array_size(command)
				? exec_args(login, json_string_value(json_array_get(command, 0)), command, 1)
				: json_pack("[s]", login));
	} else if (json_array_size(command)) {
		set(doc, "program", json_string_value(json_array_get(command, 0)));
		json_object_set(doc, "args", (json_t *)command);
	} else {
		set(doc, "program", shell);
		json_object_set_new(doc, "args", script_args(p, id, shell, login));
	}
}

static char *directory(const struct pbs_place *p)
{
	const char *dir = jsonx_str_or(p->job, "spec.initialDir", "");

	if (!*dir)
		return xstrdup(*p->account->home ? p->account->home : "/");
	return *dir == '/' ? xstrdup(dir) : xasprintf("%s/%s", p->account->home, dir);
}

/* Limits that the kernel sets for single processes. */
static json_t *limits_of(const json_t *job)
{
	static const struct {
		const char *resource, *type;
		bool (*parse)(const char *text, int64_t *ret);
	} rows[] = {
		{ "pvmem", "RLIMIT_AS", pbs_size_parse },
		{ "file", "RLIMIT_FSIZE", pbs_size_parse },
		{ "pcput", "RLIMIT_CPU", pbs_time_parse },
	};
	const json_t *resources = jsonx_at(job, "spec.resources");
	json_t *limits = json_array();

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const char *text = json_string_value(json_object_get(resources, rows[i].resource));
		int64_t most;

		if (text && rows[i].parse(text, &most) && most > 0)
			json_array_append_new(limits, json_pack("{s:s, s:I, s:I}", "type", rows[i].type, "soft",
								(json_int_t)most, "hard", (json_int_t)most));
	}
	return limits;
}

/* Who asks to go before others is not heard. */
static int nice_of(const json_t *job)
{
	const char *text = jsonx_str_or(job, "spec.resources.nice", "");
	int64_t nice;

	return str_int64(text, 0, 19, &nice) ? (int)nice : 0;
}

static json_t *env_list(const json_t *env)
{
	json_t *list = json_array(), *value;
	const char *name;

	json_object_foreach ((json_t *)env, name, value)
		json_array_append_new(list, jsonx_stringf("%s=%s", name, json_string_value(value)));
	return list;
}

int pbs_process(const struct pbs_place *p, json_t **ret, struct err *e)
{
	json_auto_t *doc = json_object();
	json_auto_t *env = NULL;
	auto_sbuf struct sbuf id = SBUF(TEXT_MAX);
	auto_free char *dir = directory(p);

	pbs_id_of(p->job, p->index, &id);
	env = environment(p, id.p);
	if (add_output(p, env, doc, e) < 0)
		return -1;
	add_program(p, id.p, doc);
	if (pbs_stage_around(p, env, doc, e) < 0)
		return -1;
	set(doc, "cwd", dir);
	json_object_set_new(doc, "env", env_list(env));
	json_object_set_new(doc, "user", user_of(p));
	json_object_set_new(doc, "rlimits", limits_of(p->job));
	if (nice_of(p->job))
		json_object_set_new(doc, "nice", json_integer(nice_of(p->job)));
	*ret = TAKE(doc);
	return 0;
}

int pbs_process_files(const struct pbs_place *p, json_t **ret, struct err *e)
{
	json_auto_t *doc = json_object();
	json_auto_t *env = NULL;
	auto_sbuf struct sbuf id = SBUF(TEXT_MAX);

	pbs_id_of(p->job, p->index, &id);
	env = environment(p, id.p);
	if (add_output(p, env, doc, e) < 0)
		return -1;
	json_object_set_new(doc, "user", user_of(p));
	*ret = TAKE(doc);
	return 0;
}
