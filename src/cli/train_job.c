// SPDX-License-Identifier: Apache-2.0
/* train_job.c - see train_job.h
 *
 * Every part of a job runs the same command in the same place (run_pod.c), because programs read from their environment
 * which part they are.  MPI is the exception: mpirun runs in the launcher, and workers only wait for it.
 */
#include "cli/train_job.h"

#include "base/jsonx.h"
#include "base/mem.h"
#include "cli/find.h"
#include "cli/train_guess.h"
#include "kinds/rest.h"
#include "kinds/walltime.h"

#define PARTS_MAX 4
#define WORKERS   10000
#define HOSTFILE  "/etc/mpi/hostfile"

/* Some pods of one type. */
struct part {
	const char *type;
	int64_t n;
	bool no_gpus; /* it computes nothing */
	bool bare;    /* nor needs anything else that is meant for workers */
	bool idle;    /* without a command */
};

struct parts {
	struct part items[PARTS_MAX];
	size_t n;
};

struct making {
	const struct run_options *run;
	const struct train_options *o;
	const char *restart; /* one of TRAIN_RESTARTS */
	int64_t least, most; /* --elastic; 0: not */
	char **words;        /* of mpirun; the array is owned */
	char *np;
};

static int64_t said(int64_t n, int64_t otherwise)
{
	return n >= 0 ? n : otherwise;
}

static void add_part(struct parts *p, struct part part)
{
	if (part.n > 0)
		p->items[p->n++] = part;
}

/* ---- the frameworks ---- */

/* Parameter servers are led by a chief that only coordinates; without them a chief is one more worker. */
static void tensorflow_parts(const struct making *m, struct parts *ret)
{
	const struct train_options *o = m->o;
	int64_t ps = said(o->ps, 0);
	bool chief = o->chief || (ps && !o->no_chief);

	add_part(ret, (struct part){ "Chief", chief, .no_gpus = ps > 0 });
	add_part(ret, (struct part){ "PS", ps, .no_gpus = true });
	add_part(ret, (struct part){ "Worker", said(o->workers, 1) });
	add_part(ret, (struct part){ "Evaluator", o->evaluator });
}

/* torchrun's workers agree among themselves who leads. */
static void pytorch_parts(const struct making *m, struct parts *ret)
{
	add_part(ret, (struct part){ "Master", !m->most });
	add_part(ret, (struct part){ "Worker", said(m->o->workers, m->most) });
}

static void paddle_parts(const struct making *m, struct parts *ret)
{
	add_part(ret, (struct part){ "Master", said(m->o->ps, 0), .no_gpus = true });
	add_part(ret, (struct part){ "Worker", said(m->o->workers, 1) });
}

static void mpi_parts(const struct making *m, struct parts *ret)
{
	add_part(ret, (struct part){ "Launcher", 1, .no_gpus = true, .bare = true });
	add_part(ret, (struct part){ "Worker", said(m->o->workers, 1), .idle = true });
}

static void pytorch_spec(const struct making *m, json_t *spec)
{
	if (m->o->nproc)
		json_object_set_new(spec, "nprocPerNode", jsonx_string(m->o->nproc));
	if (m->most)
		json_object_set_new(spec, "elasticPolicy",
				    json_pack("{s:I, s:I, s:s, s:I}", "minReplicas", (json_int_t)m->least,
					      "maxReplicas", (json_int_t)m->most, "rdzvBackend", "c10d", "maxRestarts",
					      (json_int_t)said(m->o->backoff, TRAIN_BACKOFF)));
}

static void mpi_spec(const struct making *m, json_t *spec)
{
	json_object_set_new(spec, "slotsPerWorker", json_integer(said(m->o->slots, 1)));
}

enum { TENSORFLOW = 1, PYTORCH = 2, PADDLE = 4, MPI = 8 };

static const struct framework {
	const char *name;
	unsigned bit;
	const struct kind *kind;
	const char *specs, *container;
	void (*parts)(const struct making *m, struct parts *ret);
	void (*spec)(const struct making *m, json_t *spec); /* or NULL */
	bool needs_worker;
} frameworks[] = {
	{ "tensorflow", TENSORFLOW, &kind_tfjob, "tfReplicaSpecs", "tensorflow", tensorflow_parts, NULL, true },
	{ "pytorch", PYTORCH, &kind_pytorchjob, "pytorchReplicaSpecs", "pytorch", pytorch_parts, pytorch_spec, false },
	{ "paddle", PADDLE, &kind_paddlejob, "paddleReplicaSpecs", "paddle", paddle_parts, NULL, true },
	{ "mpi", MPI, &kind_mpijob, "mpiReplicaSpecs", "mpi", mpi_parts, mpi_spec, true },
};

static const struct framework *framework_of(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(frameworks); i++)
		if (streq(frameworks[i].name, name))
			return &frameworks[i];
	return NULL;
}

/* ---- what was said wrong ---- */

static int check_options(const struct train_options *o, const struct framework *f, struct err *e)
{
	const struct {
		const char *option;
		bool given;
		unsigned frameworks;
		const char *names;
	} rows[] = {
		{ "ps", o->ps >= 0, TENSORFLOW | PADDLE, "tensorflow and paddle" },
		{ "chief", o->chief, TENSORFLOW, "tensorflow" },
		{ "no-chief", o->no_chief, TENSORFLOW, "tensorflow" },
		{ "evaluator", o->evaluator, TENSORFLOW, "tensorflow" },
		{ "slots", o->slots >= 0, MPI, "mpi" },
		{ "nproc-per-node", o->nproc, PYTORCH, "pytorch" },
		{ "elastic", o->elastic, PYTORCH, "pytorch" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (rows[i].given && !(rows[i].frameworks & f->bit))
			return err_set(e, ERR_BAD_REQUEST, "--%s is for %s, and this is %s (--framework)",
				       rows[i].option, rows[i].names, f->name);
	if (o->chief && o->no_chief)
		return err_set(e, ERR_BAD_REQUEST, "--chief and --no-chief exclude each other");
	if (f->needs_worker && o->workers == 0)
		return err_set(e, ERR_BAD_REQUEST, "--workers: \"0\" is not a number from 1 to %d", WORKERS);
	return 0;
}

/* "2:8" */
static int parse_elastic(struct making *m, struct err *e)
{
	const char *text = m->o->elastic;
	const char *colon = text ? strchr(text, ':') : NULL;
	auto_free char *least = NULL;

	if (!text)
		return 0;
	least = xstrndup(text, colon ? (size_t)(colon - text) : 0);
	if (!colon || !str_int64(least, 1, WORKERS, &m->least) || !str_int64(colon + 1, 1, WORKERS, &m->most) ||
	    m->least > m->most)
		return err_set(e, ERR_BAD_REQUEST, "--elastic: \"%s\" is not MIN:MAX, such as 1:4", text);
	if (m->o->workers >= 0 && (m->o->workers < m->least || m->o->workers > m->most))
		return err_set(e, ERR_BAD_REQUEST, "--workers: \"%lld\" is not within --elastic %s",
			       (long long)m->o->workers, text);
	return 0;
}

/* Does something start the processes of a node? */
static bool has_starter(const struct run_options *run)
{
	static const char *const words[] = { "torchrun", "torch.distributed", "accelerate", "deepspeed" };

	for (int i = 0; i < run->ncommand; i++)
		for (size_t w = 0; w < ARRAY_SIZE(words); w++)
			if (strstr(run->command[i], words[w]))
				return true;
	return false;
}

static int check_nproc(const struct making *m, struct err *e)
{
	const char *text = m->o->nproc;
	int64_t n = 0;

	if (!text)
		return 0;
	if (!streq(text, "auto") && !streq(text, "cpu") && !streq(text, "gpu") && !str_int64(text, 1, 1024, &n))
		return err_set(e, ERR_BAD_REQUEST, "--nproc-per-node: \"%s\" is not auto, cpu, gpu or a number", text);
	if (n != 1 && !has_starter(m->run))
		return err_set(e, ERR_BAD_REQUEST,
			       "--nproc-per-node: nothing here starts several processes; write `-- torchrun %s...`",
			       run_pod_script(m->run->command, m->run->ncommand) ? "SCRIPT " : "");
	return 0;
}

static int check_hang(const struct train_options *o, struct err *e)
{
	int64_t seconds = 0;

	if (o->hang_after && (!walltime_parse(o->hang_after, &seconds) || seconds <= 0))
		return err_set(e, ERR_BAD_REQUEST, "--hang-after: \"%s\" is no time such as 90s, 10m or 1h",
			       o->hang_after);
	return 0;
}

/* ---- the job ---- */

/* The command of a launcher, unless the user wrote mpirun himself. */
static void wrap_mpi(struct making *m, struct run_options *run)
{
	int n = 0;

	if (train_is_mpirun(run->command[0]))
		return;
	m->np = xasprintf("%lld", (long long)(said(m->o->workers, 1) * said(m->o->slots, 1)));
	m->words = xcalloc((size_t)run->ncommand + 6, sizeof(*m->words));
	m->words[n++] = (char *)"mpirun";
	m->words[n++] = (char *)"-np";
	m->words[n++] = m->np;
	m->words[n++] = (char *)"--hostfile";
	m->words[n++] = (char *)HOSTFILE;
	for (int i = 0; i < run->ncommand; i++)
		m->words[n++] = run->command[i];
	run->command = m->words;
	run->ncommand = n;
}

/* Open MPI does not run as root unless it is told twice; the root of a container is harmless. */
static json_t *launcher_env(void)
{
	json_t *env = json_array();

	run_pod_variable(env, "OMPI_ALLOW_RUN_AS_ROOT", json_pack("{s:s}", "value", "1"));
	run_pod_variable(env, "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", json_pack("{s:s}", "value", "1"));
	return env;
}

static json_t *make_template(struct making *m, const struct framework *f, const struct part *part, const json_t *labels,
			     struct err *e)
{
	struct run_options run = *m->run;
	json_auto_t *env = NULL;
	json_t *template;
	json_t *spec;

	if (part->no_gpus)
		run.gpus = 0;
	if (part->bare)
		run.cpus = run.mem = NULL;
	if (part->idle)
		run.ncommand = 0;
	if (f->bit == MPI && !part->idle) {
		env = launcher_env();
		wrap_mpi(m, &run);
	}
	spec = run_pod_spec(&run, f->container, env, e);
	if (!spec)
		return NULL;
	template = json_pack("{s:o}", "spec", spec);
	if (json_object_size(labels))
		jsonx_set_new(template, "metadata.labels", jsonx_copy(labels));
	return template;
}

static const char *restart_policy(const char *restart)
{
	static const struct {
		const char *said, *policy;
	} rows[] = {
		{ "never", "Never" },
		{ "onfailure", "OnFailure" },
		{ "exitcode", "ExitCode" },
		{ "gang", "OnFailure" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (streq(rows[i].said, restart))
			return rows[i].policy;
	return NULL;
}

static json_t *make_replicas(struct making *m, const struct framework *f, const json_t *labels, struct err *e)
{
	json_auto_t *specs = json_object();
	struct parts parts = { .n = 0 };

	f->parts(m, &parts);
	for (size_t i = 0; i < parts.n; i++) {
		const struct part *p = &parts.items[i];
		json_t *template = make_template(m, f, p, labels, e);

		if (!template)
			return NULL;
		json_object_set_new(specs, p->type,
				    json_pack("{s:I, s:s, s:o}", "replicas", (json_int_t)p->n, "restartPolicy",
					      restart_policy(m->restart), "template", template));
	}
	return json_incref(specs);
}

static json_t *make_policy(const struct making *m, struct err *e)
{
	json_auto_t *policy = json_object();

	if (run_pod_times(m->run, policy, e) < 0)
		return NULL;
	if (!streq(m->restart, "never"))
		json_object_set_new(policy, "backoffLimit", json_integer(said(m->o->backoff, TRAIN_BACKOFF)));
	if (m->run->queue)
		jsonx_set_new(policy, "schedulingPolicy.queue", jsonx_string(m->run->queue));
	return json_incref(policy);
}

static json_t *make_meta(const struct making *m, const char *name, const json_t *labels, json_t *annotations)
{
	json_t *meta = run_pod_meta(m->run, name, labels);

	if (streq(m->restart, "gang"))
		json_object_set_new(annotations, "stoker.dev/restart", json_string("gang"));
	if (m->o->hang_after)
		json_object_set_new(annotations, "stoker.dev/hang-after", jsonx_string(m->o->hang_after));
	if (json_object_size(annotations))
		json_object_set(meta, "annotations", annotations);
	return meta;
}

static int make(struct making *m, const struct framework *f, json_t **ret, struct err *e)
{
	auto_sbuf struct sbuf name = SBUF(1024);
	json_auto_t *labels = json_object();
	json_auto_t *annotations = json_object();
	json_auto_t *policy = NULL;
	json_auto_t *replicas = NULL;
	json_t *spec;
	char version[64];

	if (check_options(m->o, f, e) < 0 || parse_elastic(m, e) < 0 || check_nproc(m, e) < 0 ||
	    check_hang(m->o, e) < 0 || run_pod_name(m->run, true, &name, e) < 0 ||
	    run_pod_labels(m->run, labels, e) < 0 || run_pod_start(m->run, annotations, e) < 0)
		return -1;
	policy = make_policy(m, e);
	replicas = policy ? make_replicas(m, f, labels, e) : NULL;
	if (!replicas)
		return -1;
	spec = json_pack("{s:O, s:O}", "runPolicy", policy, f->specs, replicas);
	if (f->spec)
		f->spec(m, spec);
	kind_api_version(f->kind, version, sizeof(version));
	*ret = json_pack("{s:s, s:s, s:o, s:o}", "apiVersion", version, "kind", f->kind->kind, "metadata",
			 make_meta(m, name.p, labels, annotations), "spec", spec);
	return 0;
}

/* Who says how many restarts there may be wants some. */
static const char *restart_of(const struct train_options *o)
{
	if (o->restart)
		return o->restart;
	return o->backoff > 0 || o->elastic ? "onfailure" : "never";
}

int train_job_make(const struct run_options *run, const struct train_options *o, const struct kind **ret_kind,
		   json_t **ret_job, struct err *e)
{
	struct making m = { .run = run, .o = o, .restart = restart_of(o) };
	const char *name = o->framework ? o->framework : train_guess(run, o);
	const struct framework *f = name ? framework_of(name) : NULL;
	int r;

	if (!f)
		return err_set(e, ERR_BAD_REQUEST,
			       "--framework: nothing here says which it is; choose tensorflow, pytorch, paddle or mpi");
	r = make(&m, f, ret_job, e);
	free(m.words);
	free(m.np);
	if (r == 0)
		*ret_kind = f->kind;
	return r;
}

/* ---- a manifest ---- */

static bool is_training(const struct kind *k)
{
	for (size_t i = 0; i < ARRAY_SIZE(frameworks); i++)
		if (frameworks[i].kind == k)
			return true;
	return false;
}

int train_job_of_manifest(const json_t *docs, const char *ns, const struct kind **ret_kind, json_t **ret_job,
			  struct err *e)
{
	json_t *doc = json_array_get(docs, 0);
	const struct kind *k = workload_of(doc);
	const char *own = jsonx_str(doc, "metadata.namespace");

	if (json_array_size(docs) != 1)
		return err_set(e, ERR_BAD_REQUEST,
			       "%zu objects, but one training job is expected; use `kubectl apply -f` for these, then "
			       "`stoker follow NAME`",
			       json_array_size(docs));
	if (!k || !is_training(k))
		return err_set(e, ERR_BAD_REQUEST, "kind: \"%s\" is not TFJob, PyTorchJob, PaddleJob or MPIJob",
			       jsonx_str_or(doc, "kind", ""));
	if (own && ns && !streq(own, ns))
		return err_set(e, ERR_BAD_REQUEST, "metadata.namespace is \"%s\", but --namespace says \"%s\"", own,
			       ns);
	*ret_kind = k;
	*ret_job = json_incref(doc);
	return 0;
}
