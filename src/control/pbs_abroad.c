// SPDX-License-Identifier: Apache-2.0
/* pbs_abroad.c - see pbs_abroad.h
 *
 * What the process is comes from kinds/pbs_process.c, as on a node here; what is left out is the PATH of this machine
 * and the login shell, which would undo what the image has set up.
 *
 * Output goes to the user's files if they lie in a directory that the nodes share; else it stays in the pod's log.
 */
#include "control/pbs_abroad.h"

#include <ctype.h>

#include "base/jsonx.h"
#include "base/limits.h"
#include "base/mem.h"
#include "control/pod_template.h"
#include "kinds/pbs_far.h"
#include "kinds/pbs_id.h"

#define AUX   PBS_SPOOL "/aux"
#define SPOOL PBS_SPOOL "/spool"
#define NODES "nodes"
#define SHELL "/bin/bash" /* or /bin/sh, where there is none */
#define MODE  0555        /* a script that names its interpreter is executed */
#define CARDS 64

/* sh -c WRAPPER pbs OUT ERR JOINED UMASK RANK PROGRAM ARGS...  The words are those of reasons[] in pbs_words.c. */
static const char wrapper[] =
	"out=$1 err=$2 joined=$3 rank=$5\n"
	"umask \"$4\"\n"
	"shift 5\n"
	"echo $$ >" PBS_FAR_PID "\n"
	"fail() { echo \"$1\" 2>/dev/null >/dev/termination-log; echo \"PBS: $2\" >&2; exit 1; }\n"
	"if [ \"$rank\" = 0 ]; then\n"
	"  if [ \"$PBS_NUM_NODES\" -gt 1 ]; then\n"
	"    while [ ! -s " SPOOL "/" NODES " ]; do sleep 1; done\n"
	"    cat " SPOOL "/" NODES " >\"$PBS_NODEFILE\"\n"
	"  else\n"
	"    i=0\n"
	"    while [ $i -lt \"$PBS_NUM_PPN\" ]; do echo \"$STOKER_NODE\"; i=$((i + 1)); done >\"$PBS_NODEFILE\"\n"
	"  fi\n"
	"  i=$STOKER_GPUS\n"
	"  [ $i = 0 ] || while [ $i -gt 0 ]; do i=$((i - 1)); echo \"$STOKER_NODE-gpu$i\"; done >\"$PBS_GPUFILE\"\n"
	"fi\n"
	"for f in \"$out\" \"$err\"; do\n"
	"  [ -z \"$f\" ] || (: >\"$f\") 2>/dev/null || fail " PBS_NO_OUTPUT " \"cannot write $f\"\n"
	"done\n"
	/* Empty by now; what qmsg writes stands behind, and is not written over. */
	"[ -z \"$out\" ] || exec >>\"$out\"\n"
	"[ -z \"$err\" ] || exec 2>>\"$err\"\n"
	"case $joined in stdout) exec 2>&1 ;; stderr) exec >&2 ;; esac\n"
	/* Who sits down tells the size of the terminal, and then wants to see a prompt. */
	"i=0\n"
	"while [ \"$PBS_ENVIRONMENT\" = PBS_INTERACTIVE ] && [ $i -lt 50 ] &&\n"
	"  [ \"$(stty size 2>/dev/null)\" = '0 0' ]; do sleep 0.1; i=$((i + 1)); done\n"
	"program=$1\n"
	"shift\n"
	"[ \"$program\" != " SHELL " ] || [ -x " SHELL " ] || program=/bin/sh\n"
	"command -v \"$program\" >/dev/null 2>&1 || fail ExecFailed \"there is no program $program in this image\"\n"
	"exec \"$program\" \"$@\"\n";

/* ---- what can run ---- */

int pbs_abroad_check(const struct pbs_order *o, struct err *e)
{
	const struct pbs_account *a = o->set->abroad->account;
	const char *owner = jsonx_str_or(o->spec, "owner", "");

	if (!*pbs_order_image(o))
		return err_set(e, ERR_INVALID,
			       "jobs run in containers here, and neither -l image= nor its queue names one");
	if (!a || !a->uid)
		return err_set(e, ERR_INVALID, "its owner \"%.60s\" has no account where the operator runs", owner);
	if (strlen(jsonx_str_or(o->spec, "script", "")) > PBS_SCRIPT_MOST)
		return err_set(e, ERR_INVALID, "its script is longer than %d bytes", PBS_SCRIPT_MOST);
	return 0;
}

/* ---- directories ---- */

static bool is_below(const char *path, const char *root)
{
	size_t n = strlen(root);

	while (n > 1 && root[n - 1] == '/')
		n--;
	return root[0] == '/' && strncmp(path, root, n) == 0 && (path[n] == '/' || !path[n] || n == 1);
}

static bool below_any(const char *path, const json_t *roots)
{
	json_t *root;
	size_t i;

	json_array_foreach ((json_t *)roots, i, root)
		if (json_is_string(root) && is_below(path, json_string_value(root)))
			return true;
	return false;
}

static bool is_shared(const struct pbs_abroad *a, const char *path)
{
	return !a->shared || a->shared(a->arg, path);
}

/* Without those that another one contains, for a path is mounted once. */
static void add_roots(const struct pbs_abroad *a, json_t *all, const json_t *more)
{
	json_t *root;
	size_t i;

	json_array_foreach ((json_t *)more, i, root)
		if (json_is_string(root) && !below_any(json_string_value(root), all) &&
		    is_shared(a, json_string_value(root)))
			json_array_append(all, root);
}

/* Where its output may be: the shared directories and its owner's home. */
static json_t *writable_roots(const struct pbs_order *o)
{
	const char *home = o->set->abroad->account->home;
	json_auto_t *own = home && *home ? json_pack("[s]", home) : json_array();
	json_t *all = json_array();

	add_roots(o->set->abroad, all, o->set->host_roots);
	add_roots(o->set->abroad, all, own);
	return all;
}

/* A node that does not have it must not make an empty one up. */
static void mount_root(json_t *spec, json_t *container, const char *path, bool read_only)
{
	pbs_pod_mount(spec, container, json_pack("{s:{s:s, s:s}}", "hostPath", "path", path, "type", "Directory"), path,
		      read_only);
}

static void mount_all(const struct pbs_order *o, const json_t *roots, json_t *spec, json_t *container)
{
	json_auto_t *all = json_copy((json_t *)roots);
	json_t *root;
	size_t i;

	add_roots(o->set->abroad, all, o->set->read_only_roots);
	json_array_foreach (all, i, root)
		mount_root(spec, container, json_string_value(root), i >= json_array_size(roots));
}

static json_t *downward_item(const char *path, const char *note)
{
	return json_pack("{s:s, s:{s:o}}", "path", path, "fieldRef", "fieldPath",
			 jsonx_stringf("metadata.annotations['%s']", note));
}

static void mount_spool(const struct pbs_place *p, json_t *spec, json_t *container)
{
	auto_sbuf struct sbuf id = SBUF(1024);
	auto_free char *script = NULL;
	json_t *items = json_array();

	pbs_id_of(p->job, p->index, &id);
	script = xasprintf("%s.SC", id.p);
	json_array_append_new(items, downward_item(script, PBS_SCRIPT_NOTE));
	json_array_append_new(items, downward_item(NODES, PBS_NODES_NOTE));
	pbs_pod_mount(spec, container, json_pack("{s:{}}", "emptyDir"), AUX, false);
	if (p->rank == 0)
		pbs_pod_mount(spec, container,
			      json_pack("{s:{s:i, s:O}}", "downwardAPI", "defaultMode", MODE, "items", items), SPOOL,
			      true);
	json_decref(items);
}

/* ---- the process ---- */

/* $(NAME) means a variable to Kubernetes, and $$ a dollar sign. */
static json_t *literal(const char *text)
{
	auto_sbuf struct sbuf out = SBUF(4u * 1024 * 1024);

	for (; *text; text++) {
		if (*text == '$')
			sbuf_addc(&out, '$');
		sbuf_addc(&out, *text);
	}
	return jsonx_string(out.n ? out.p : "");
}

/* As all versions of Kubernetes have it; a shell's exported functions have others. */
static bool is_env_name(const char *name, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!isalnum((unsigned char)name[i]) && !strchr("_-.", name[i]))
			return false;
	return n && !isdigit((unsigned char)name[0]);
}

static void add_env(json_t *env, const char *name, json_t *value)
{
	json_array_append_new(env, json_pack("{s:s, s:o}", "name", name, "value", value));
}

static json_t *env_of(const struct pbs_order *o, const struct pbs_place *p, const json_t *doc)
{
	json_t *env = json_array();
	json_t *v;
	size_t i;

	json_array_foreach (json_object_get(doc, "env"), i, v) {
		const char *text = json_string_value(v);
		size_t n = strcspn(text, "=");
		auto_free char *name = xstrndup(text, n);

		/* The image has a PATH, the pod a name; and how many lines the node file has is not known there yet. */
		if (!is_env_name(text, n) || streq(name, "HOSTNAME") || streq(name, "PBS_NP") ||
		    (streq(name, "PATH") && !jsonx_at(o->spec, "env.PATH")))
			continue;
		add_env(env, name, literal(text + n + 1));
	}
	add_env(env, "PBS_NP", jsonx_stringf("%d", o->nodes.tasks));
	add_env(env, "STOKER_GPUS", jsonx_stringf("%zu", p->ncards));
	json_array_append_new(env, json_pack("{s:s, s:{s:{s:s}}}", "name", "STOKER_NODE", "valueFrom", "fieldRef",
					     "fieldPath", "spec.nodeName"));
	return env;
}

static const char *file_of(const json_t *doc, const char *key, const json_t *roots)
{
	const char *path = jsonx_str_or(doc, key, "");

	return streq(path, "/dev/null") || (*path && below_any(path, roots)) ? path : "";
}

static json_t *command_of(const struct pbs_place *p, const json_t *doc, const json_t *roots)
{
	json_t *command = json_pack("[s, s, o, s]", "/bin/sh", "-c", literal(wrapper), "pbs");
	const char *out = file_of(doc, "stdout", roots);
	const char *err = file_of(doc, "stderr", roots);
	const char *joined = jsonx_str_or(doc, "joined", "");
	json_t *v;
	size_t i;

	json_array_append_new(command, literal(out));
	json_array_append_new(command, literal(err));
	json_array_append_new(command, jsonx_string(joined));
	json_array_append_new(command, jsonx_stringf("%03o", (unsigned)jsonx_int_or(doc, "user.umask", 077)));
	json_array_append_new(command, jsonx_stringf("%d", p->rank));
	json_array_append_new(command, literal(jsonx_str_or(doc, "program", "")));
	json_array_foreach (json_object_get(doc, "args"), i, v)
		if (i > 0)
			json_array_append_new(command, literal(json_string_value(v)));
	return command;
}

static void set_identity(const struct pbs_account *a, json_t *spec, json_t *container)
{
	json_t *who = json_pack("{s:I, s:I, s:b}", "runAsUser", (json_int_t)a->uid, "runAsGroup", (json_int_t)a->gid,
				"runAsNonRoot", 1);

	if (json_array_size(a->groups))
		json_object_set(who, "supplementalGroups", (json_t *)a->groups);
	json_object_set_new(spec, "securityContext", who);
	json_object_set_new(container, "securityContext", json_pack("{s:b}", "allowPrivilegeEscalation", 0));
}

/* For pbsdsh, which has no API there that knows the job: kinds/pbs_far.h. */
static void add_launch(const struct pbs_order *o, int index, int run, json_t *spec, json_t *env)
{
	auto_sbuf struct sbuf text = SBUF(LIMIT_OBJECT);
	json_auto_t *doc = NULL;
	json_t *pods = json_array();

	for (int rank = 0; rank < o->nodes.count; rank++) {
		auto_sbuf struct sbuf name = SBUF(512);

		pbs_id_pod(jsonx_str_or(o->job, "metadata.name", ""), index, rank, run, &name);
		json_array_append_new(pods, jsonx_string(name.p));
	}
	doc = json_pack("{s:O, s:o, s:O?}", "namespace", jsonx_at(o->job, "metadata.namespace"), "pods", pods,
			"resources", json_object_get(o->spec, "resources"));
	jsonx_dump(doc, &text);
	add_env(env, PBS_FAR_JOB, literal(text.p));
	if (!o->set->abroad->launch || o->nodes.count < 2)
		return;
	json_object_set_new(spec, "serviceAccountName", jsonx_string(o->set->abroad->launch));
	json_object_set_new(spec, "automountServiceAccountToken", json_true());
}

void pbs_abroad_container(const struct pbs_order *o, int index, int rank, int run, json_t *spec, json_t *container)
{
	struct pbs_account account = *o->set->abroad->account;
	json_auto_t *roots = writable_roots(o);
	json_auto_t *doc = NULL;
	int cards[CARDS];
	struct pbs_place p = { .job = o->job,
			       .index = index,
			       .rank = rank,
			       .alone = o->nodes.count == 1,
			       .account = &account,
			       .node = "",
			       .dir = PBS_SPOOL,
			       .cards = cards,
			       .hidden = true };
	struct err e = ERR_INIT;

	account.shell = SHELL;
	for (int gpus = pbs_order_req(o, rank)->gpus; p.ncards < CARDS && (int)p.ncards < gpus; p.ncards++)
		cards[p.ncards] = (int)p.ncards;
	/* A path that cannot be made out is none that could be opened. */
	if (pbs_process(&p, &doc, &e) < 0)
		doc = json_pack("{s:s, s:[s, s, o]}", "program", "/bin/sh", "args", "sh", "-c",
				json_string("echo " PBS_NO_OUTPUT " >/dev/termination-log; exit 1"));
	json_object_set_new(container, "command", command_of(&p, doc, roots));
	json_object_set_new(container, "env", env_of(o, &p, doc));
	if (rank == 0)
		add_launch(o, index, run, spec, json_object_get(container, "env"));
	/* The script must not be process 1, whom signals do not reach. */
	json_object_set_new(spec, "shareProcessNamespace", json_true());
	json_object_set_new(container, "workingDir", jsonx_string(jsonx_str_or(doc, "cwd", "/")));
	set_identity(&account, spec, container);
	mount_spool(&p, spec, container);
	mount_all(o, roots, spec, container);
}

char *pbs_abroad_nodes(const struct pbs_order *o, int index, const struct pod_facts *first)
{
	struct pbs_place p = { .job = o->job, .index = index };
	auto_sbuf struct sbuf lines = SBUF(PBS_SCRIPT_MOST / 4);

	if (o->nodes.count < 2 || json_object_get(jsonx_at(first->obj, "metadata.annotations"), PBS_NODES_NOTE))
		return NULL;
	pbs_node_file(&p, &lines);
	return lines.n && !lines.over ? sbuf_steal(&lines) : NULL;
}
